"""Checks of what the documents do not print and the package rests on."""

from __future__ import annotations

from mebnb.documents.derived import hard, me2, soft

__all__ = ["ENTRIES"]

_PARTS = (hard, soft, me2)
ENTRIES = [entry for part in _PARTS for entry in part.ENTRIES]
