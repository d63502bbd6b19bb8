"""Checks of the slides: formulas, algorithm lines, claims, data and tables."""

from __future__ import annotations

from mebnb.documents.slides import algorithms, claims, core_sets, equations, tables

__all__ = ["ENTRIES"]

_PARTS = (equations, algorithms, core_sets, claims, tables)
ENTRIES = [entry for part in _PARTS for entry in part.ENTRIES]
