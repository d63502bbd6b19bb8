"""Every equation, algorithm line, claim and table rule of the documents, checked by machine.

`report`, `slides`, `me2` and `derived` each hold a list `ENTRIES`; `entries` says what
an entry is; `check_derivations` runs them and returns the outcome as a table.
"""

from __future__ import annotations

from mebnb.documents.checks import (
    DerivationTable,
    Errata,
    Statements,
    all_entries,
    also_checked,
    check_derivations,
    errata,
    holding,
)

__all__ = [
    "DerivationTable",
    "Errata",
    "Statements",
    "all_entries",
    "also_checked",
    "check_derivations",
    "errata",
    "holding",
]
