"""Checks of the slides: formulas, algorithm lines, claims, data and tables."""

from __future__ import annotations

from mebnb.derivations import (
    _slides_algorithms,
    _slides_claims,
    _slides_core_sets,
    _slides_equations,
    _slides_tables,
)

__all__ = ["ENTRIES"]

ENTRIES = (
    _slides_equations.ENTRIES
    + _slides_algorithms.ENTRIES
    + _slides_core_sets.ENTRIES
    + _slides_claims.ENTRIES
    + _slides_tables.ENTRIES
)
