"""Checks of what the documents do not print and the package rests on."""

from __future__ import annotations

from mebnb.documents.derived import (
    hard as _derived_hard,
)
from mebnb.documents.derived import (
    me2 as _derived_me2,
)
from mebnb.documents.derived import (
    soft as _derived_soft,
)

__all__ = ["ENTRIES"]

ENTRIES = _derived_hard.ENTRIES + _derived_soft.ENTRIES + _derived_me2.ENTRIES
