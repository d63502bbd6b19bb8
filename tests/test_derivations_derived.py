"""The derived facts: each holds, each can fail, none is left out."""

from __future__ import annotations

from collections import Counter

import pytest

from mebnb.documents.derived import ENTRIES
from mebnb.documents.entries import run_entry, spoiled_forms_that_pass

# Every row of the errata's last section, and what the protocols and notes state.
ERRATA = [
    "X-GAP",
    "X-STABLE",
    "X-CENTRE",
    "X-KKT",
    "X-FD",
    "X-STEP",
    "X-1EPS",
    "X-SOFTW",
    "X-SOFT",
    "X-SOFTPW",
    "X-KER",
    "X-ME2-HINGE",
    "X-ME2-R",
    "X-ME2-SCREEN",
    "X-ME2-GAP",
    "X-ME2-STAB",
]
NOTES = ["X-ID-core", "X-ID-away", "X-PAIRS", "X-PRUNE", "X-CLARKSON"]
NOTES += ["X-STEINER", "X-SHORTFALL", "X-STRONG", "X-GROWTH", "X-SIMPLEX"]
NOTES += ["X-CURVATURE", "X-SPARSE", "X-WEIGHT", "X-MIDDLE", "X-WIDTH"]


def by_id(entry):
    return entry.id


@pytest.mark.parametrize("entry", ENTRIES, ids=by_id)
def test_the_true_form_holds(entry):
    result = run_entry(entry)
    assert result.status == "run"
    assert result.passed, result.violation


@pytest.mark.parametrize("entry", ENTRIES, ids=by_id)
def test_every_spoiled_form_is_rejected(entry):
    assert spoiled_forms_that_pass(entry) == []


def test_every_row_has_an_entry_and_no_id_stands_twice():
    counted = Counter(entry.id for entry in ENTRIES)
    assert [name for name in ERRATA + NOTES if name not in counted] == []
    assert [name for name, count in counted.items() if count > 1] == []
    assert all(entry.document == "derived" for entry in ENTRIES)
    assert all(entry.verdict == "HOLDS" for entry in ENTRIES)
