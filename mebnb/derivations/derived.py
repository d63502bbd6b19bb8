"""Checks of what the documents do not print and the package rests on."""

from __future__ import annotations

from mebnb.derivations import _derived_hard, _derived_me2, _derived_soft

__all__ = ["ENTRIES"]

ENTRIES = _derived_hard.ENTRIES + _derived_soft.ENTRIES + _derived_me2.ENTRIES
