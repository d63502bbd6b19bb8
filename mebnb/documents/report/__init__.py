"""The report: equations, algorithms, claims, tables and data, section by section."""

from __future__ import annotations

from mebnb.documents.report import (
    algorithms,
    core_sets,
    duality,
    experiments,
    frank_wolfe,
    line_search,
    tables,
)

__all__ = ["ENTRIES"]

_PARTS = (duality, frank_wolfe, algorithms, core_sets, line_search, tables, experiments)
ENTRIES = [entry for part in _PARTS for entry in part.ENTRIES]
