"""The report: notebooks run with papermill, exported to HTML that reads anywhere.

`notebooks` finds and reads them, `parameters` checks what is asked of them,
`running` runs one, `pages` turns one into a page (`maths` its formulas), `index`
writes the first page, and `making` does all of it in order. `sweeping` runs one
notebook over a grid of parameters and gathers what it tells `record`. `book`
prints all pages as one; `archiving` keeps a report in one file, and `verifying` runs
and compares it again (`unpacking` reads the file, `comparing` the outputs).
"""

from __future__ import annotations

from mebnb.report.recording import record

__all__ = ["CELL_TIMEOUT", "ReportError", "record"]

# Seconds that one cell may take unless told otherwise.
CELL_TIMEOUT = 1800


class ReportError(ValueError):
    """Something asked of the report cannot be done; the message says what and why."""
