"""Checks of the slides: formulas, algorithm lines, claims, data and tables."""

from __future__ import annotations

from mebnb.documents.slides import (
    algorithms as _slides_algorithms,
)
from mebnb.documents.slides import (
    claims as _slides_claims,
)
from mebnb.documents.slides import (
    core_sets as _slides_core_sets,
)
from mebnb.documents.slides import (
    equations as _slides_equations,
)
from mebnb.documents.slides import (
    tables as _slides_tables,
)

__all__ = ["ENTRIES"]

ENTRIES = (
    _slides_equations.ENTRIES
    + _slides_algorithms.ENTRIES
    + _slides_core_sets.ENTRIES
    + _slides_claims.ENTRIES
    + _slides_tables.ENTRIES
)
