"""The report: equations, algorithms, claims, tables and data, section by section."""

from __future__ import annotations

from mebnb.derivations import (
    _report_algorithms,
    _report_core_sets,
    _report_duality,
    _report_experiments,
    _report_frank_wolfe,
    _report_line_search,
    _report_tables,
)

ENTRIES = [
    *_report_duality.ENTRIES,
    *_report_frank_wolfe.ENTRIES,
    *_report_algorithms.ENTRIES,
    *_report_core_sets.ENTRIES,
    *_report_line_search.ENTRIES,
    *_report_tables.ENTRIES,
    *_report_experiments.ENTRIES,
]
