"""The paper's entries: each holds, each can fail, none is left out."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from functools import cache

import pytest

from mebnb.documents.entries import DataMissing, run_entry, spoiled_forms_that_pass
from mebnb.documents.me2 import ENTRIES

# Every row of the errata of the paper; further entries go beyond it.
ERRATA = [
    "P-E01",
    "P-E02",
    "P-E03",
    "P-E04",
    "P-E05",
    "P-E06",
    "P-E04b",
    "P-X-conv",
    "P-E07",
    "P-E08",
    "P-X-B",
    "P-X-rank",
    "P-X-lambda",
    "P-X-fig1",
    "P-X-larger",
    "P-D1",
    "P-T1th",
    "P-L1",
    "P-E09",
    "P-L2",
    "P-E11",
    "P-E12",
    "P-E13",
    "P-E13b",
    "P-E14",
    "P-P1k",
    "P-P1b",
    "P-P1c",
    "P-L3",
    "P-E15",
    "P-L4",
    "P-Th2",
    "P-Xd",
    "P-A0",
    "P-AA",
    "P-AN",
    "P-AN4",
    "P-AD1",
    "P-AD2",
    "P-AD3",
    "P-AL",
    "P-AB",
    "P-T1",
    "P-T1r",
    "P-T2",
    "P-T3",
    "P-T3b",
    "P-X-TN",
    "P-F3",
    "P-X-union",
    "P-X-cov",
]

# Rows that stand for several equations, one entry each.
EXTENDED = ["P-E10", "P-E16", "P-E17", "P-E18", "P-AH"]


BY_ID = {entry.id: entry for entry in ENTRIES}


@cache
def outcome(name):
    return run_entry(BY_ID[name])


def by_id(entry):
    return entry.id


@pytest.mark.parametrize("entry", ENTRIES, ids=by_id)
def test_the_true_form_holds_and_a_wrong_one_fails(entry):
    result = outcome(entry.id)
    if result.status != "run":
        pytest.skip(result.status)
    assert result.passed, (result.violation, result.printed_violation)


@pytest.mark.parametrize("entry", ENTRIES, ids=by_id)
def test_every_spoiled_form_is_rejected(entry):
    try:
        assert spoiled_forms_that_pass(entry) == []
    except DataMissing as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.fails_as_read], ids=by_id)
def test_what_is_wrong_is_named_mended_and_fails(entry):
    assert entry.witness and entry.corrected
    assert outcome(entry.id).printed_violation > entry.tolerance


@pytest.mark.parametrize(
    "entry", [e for e in ENTRIES if e.verdict in ("HARMLESS", "AMBIGUOUS")], ids=by_id
)
def test_every_other_fault_says_what_is_meant(entry):
    assert entry.corrected


def test_every_row_of_the_errata_has_an_entry_and_no_id_stands_twice():
    counted = Counter(entry.id for entry in ENTRIES)
    assert [name for name in ERRATA + EXTENDED if name not in counted] == []
    assert [name for name, count in counted.items() if count > 1] == []
    assert all(entry.document == "me2" for entry in ENTRIES)


def test_listing_the_entries_loads_no_algebra():
    code = (
        "import sys, mebnb.documents.me2;"
        "sys.exit(any(name in sys.modules for name in ('sympy', 'cvxpy')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_reference_solver_closes_its_gap():
    from mebnb.documents.toolkit.me2_instances import pairs, solve_primal, solved

    for problem, optimum in solved():
        assert abs(optimum.primal - optimum.dual) < 1e-9
        assert abs(solve_primal(problem) - optimum.primal) < 1e-7
    for pair in pairs():
        assert abs(pair.other_optimum.primal - pair.other_optimum.dual) < 1e-9
