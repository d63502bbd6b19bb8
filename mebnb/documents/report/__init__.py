"""The report: equations, algorithms, claims, tables and data, section by section."""

from __future__ import annotations

from mebnb.documents.report import (
    algorithms as _report_algorithms,
)
from mebnb.documents.report import (
    core_sets as _report_core_sets,
)
from mebnb.documents.report import (
    duality as _report_duality,
)
from mebnb.documents.report import (
    experiments as _report_experiments,
)
from mebnb.documents.report import (
    frank_wolfe as _report_frank_wolfe,
)
from mebnb.documents.report import (
    line_search as _report_line_search,
)
from mebnb.documents.report import (
    tables as _report_tables,
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
