"""The report's entries: each holds, each can fail, none is left out."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from math_core import LatexToMathML

from mebnb.datasets import DatasetNotAvailable
from mebnb.documents.entries import run_entry, spoiled_forms_that_pass
from mebnb.documents.report import ENTRIES, runs
from mebnb.documents.toolkit import lines_of_the_report as literal
from mebnb.documents.toolkit.clouds import (
    distances2,
    gaussian_cloud,
    phi,
    small_clouds,
)
from mebnb.documents.toolkit.symbols import (
    ball,
    damaged,
    damaged_formula,
    equals,
    residual,
)
from mebnb.report.maths import split_formulas
from mebnb.solvers.core_sets import core_set
from mebnb.solvers.frank_wolfe import away_step, blended_pairwise

EQUATIONS = [f"R-E{number:02d}" for number in range(1, 45)]

# Every row of the errata of the report; further entries go beyond it.
ERRATA = [
    "R-E01",
    "R-E02",
    "R-E03",
    "R-E05",
    "R-E06",
    "R-E07",
    "R-E08",
    "R-E12",
    "R-E13",
    "R-E14",
    "R-E20",
    "R-E22",
    "R-E23",
    "R-E24",
    "R-E25",
    "R-E26",
    "R-E27",
    "R-E29",
    "R-E30",
    "R-E34",
    "R-E35",
    "R-E36",
    "R-E37",
    "R-E38",
    "R-E39",
    "R-E40",
    "R-E41",
    "R-E42",
    "R-E43",
    "R-E44",
    "R-X-intro",
    "R-X-u0",
    "R-X-alpha",
    "R-X-maxstep",
    "R-X-drop",
    "R-X-away",
    "R-X-fwupd",
    "R-X-half",
    "R-X-fig",
    "R-A1-L3",
    "R-A1-L11",
    "R-A1-L12",
    "R-A2-L4",
    "R-A2-L5",
    "R-A2-L9",
    "R-A2-L10",
    "R-A2-stop",
    "R-A2-txt",
    "R-X-tt2",
    "R-X-bpcg",
    "R-X-ball",
    "R-X-carath",
    "R-X-O1e",
    "R-A3-L1",
    "R-A3-L5",
    "R-A3-L6",
    "R-A3-L12",
    "R-A3-L16",
    "R-A3-out",
    "R-L31",
    "R-L32",
    "R-X-dim",
    "R-X-golden",
    "R-X-armijo",
    "R-X-ill",
    "R-X-linear",
    "R-X-naive",
    "R-X-eps",
    "R-X-radius",
    "R-T1",
    "R-T2",
    "R-T3",
    "R-T4",
    "R-T34-its",
    "R-D-bc",
    "R-D-bcdim",
    "R-D-churn",
    "R-D-churndim",
    "R-D-seed",
    "R-X-239",
    "R-X-60",
    "R-X-7",
    "R-X-epsdir",
    "R-X-x3",
    "R-X-x10",
    "R-X-lbl",
    "R-X-sep",
    "R-X-scaling",
    "R-X-until80",
    "R-X-dropcount",
]

BY_ID = {entry.id: entry for entry in ENTRIES}


@cache
def outcome(name):
    return run_entry(BY_ID[name])


def data_at_hand(name):
    if outcome(name).passed is None:
        pytest.skip(f"{name}: {outcome(name).status}")


# --- the entries -------------------------------------------------------------------


@pytest.mark.parametrize("name", BY_ID)
def test_entry_passes(name):
    data_at_hand(name)
    assert outcome(name).passed, outcome(name)


@pytest.mark.parametrize("name", BY_ID)
def test_every_spoiled_form_is_rejected(name):
    data_at_hand(name)
    assert spoiled_forms_that_pass(BY_ID[name]) == []


@pytest.mark.parametrize(
    "name", [entry.id for entry in ENTRIES if entry.printed is not None]
)
def test_printed_form_that_differs_fails_and_names_its_witness(name):
    entry = BY_ID[name]
    assert entry.witness and entry.corrected
    data_at_hand(name)
    assert outcome(name).printed_violation > entry.tolerance


def test_ids_are_unique_and_belong_to_the_report():
    assert len(BY_ID) == len(ENTRIES)
    assert all(entry.document == "report" for entry in ENTRIES)
    assert all(entry.id.startswith("R-") for entry in ENTRIES)


def test_every_equation_and_every_row_of_the_errata_has_an_entry():
    assert set(EQUATIONS + ERRATA) <= set(BY_ID)


def test_formulas_can_be_typeset():
    texts = [text for entry in ENTRIES for text in (entry.statement, entry.corrected)]
    assert all(text.count("$") % 2 == 0 for text in texts)
    formulas = [
        (piece, False)
        for text in texts
        for piece, kind in split_formulas(text)
        if kind is not None
    ]
    converter = LatexToMathML(continue_on_error=False)  # raises for what it cannot read
    pages = converter.convert_all(formulas)
    assert len(pages) == len(formulas) > 100
    assert all("<math" in page for page in pages)


def test_missing_data_are_said_and_not_hidden(monkeypatch):
    def nothing_there(name, download):
        raise DatasetNotAvailable(name)

    monkeypatch.setattr(runs, "load_dataset", nothing_there)
    runs.dataset.cache_clear()
    try:
        found = run_entry(BY_ID["R-D-churndim"])
    finally:
        runs.dataset.cache_clear()
    assert found.passed is None
    assert found.status == "data missing: iranian_churn is not at hand"


# --- what the entries stand on -----------------------------------------------------


def test_literal_algorithms_walk_with_the_solvers():
    points = gaussian_cloud()
    away = away_step(points, tol=1e-3)
    run = literal.run_away_step(points, eps=1e-3)
    assert run.steps == away.iterations
    assert run.kinds.count("drop") == (away.trace.to_frame()["kind"] == "drop").sum()
    dense = np.zeros(len(points))
    dense[away.support] = away.weights
    assert np.allclose(run.u, dense, atol=1e-9)

    three = literal.run_core_set(points, eps=0.01)
    found = core_set(points, eps=0.01)
    assert three.steps == found.iterations
    assert sorted(three.core) == list(found.support)
    assert np.allclose(three.c, found.center, atol=1e-9)

    blended = literal.run_blended(points, eps=1e-9)
    assert phi(points, blended.u) == pytest.approx(
        blended_pairwise(points, tol=1e-9).lower_bound ** 2, abs=1e-8
    )


def test_clouds_know_their_smallest_balls():
    for k in small_clouds():
        distances = distances2(k.points, k.center)
        assert distances.max() == pytest.approx(k.radius**2)
        assert phi(k.points, k.weights) == pytest.approx(k.radius**2)


@pytest.mark.parametrize("upper", [0.2, 1.0])
def test_line_searches_find_the_minimum_of_a_parabola(upper):
    least = min(0.5, upper)
    assert literal.line_minimum(1.0, -1.0, upper) == pytest.approx(least)
    assert literal.golden_section(1.0, -1.0, upper) == pytest.approx(least, abs=1e-5)
    assert literal.line_minimum(-1.0, 0.1, 1.0) == 1.0
    assert literal.armijo(1.0, -1.0, 1.0) == 0.5
    assert literal.armijo(1.0, -1.0, 1.0, first=2) == 0.25


def test_breakdown_counts_as_infinitely_wrong():
    lines = literal.AwayLines(away_max=lambda weight: 1 / 0.0)
    assert literal.shortfall(literal.run_away_step, lines) == np.inf
    lines = literal.CoreLines(gamma=lambda points, u: {}["gamma"])
    assert literal.core_set_faults(lines) == np.inf


def test_residual_is_zero_only_for_identities():
    s = ball()
    assert residual((s.r + 1) ** 2 - s.r**2 - 2 * s.r - 1) == 0.0
    assert residual(s.r - 1) > 0.0
    assert residual(s.u - s.u, s.A * s.u - s.c) > 0.0
    assert equals(lambda s: s.r)(lambda s: s.r * s.total / s.total) == 0.0


def test_every_term_is_damaged_in_three_ways():
    s = ball()

    def claim(s):
        return s.r**2 - 2 * s.gamma, s.alpha * (1 + s.r)

    found = {name: form(s) for name, form in damaged()(claim).items()}
    first, second = claim(s)
    assert found["sign of r**2, part 1"] == (-(s.r**2) - 2 * s.gamma, second)
    assert found["-2*gamma doubled, part 1"] == (s.r**2 - 4 * s.gamma, second)
    assert found["-2*gamma left out, part 1"] == (s.r**2, second)
    assert found["doubled, part 2"] == (first, 2 * second)
    assert found["sign of r, part 2"] == (first, s.alpha * (1 - s.r))
    assert len(found) == 2 * 2 + 4 * 3 and claim(s) not in found.values()


def test_a_damaged_formula_takes_numbers():
    found = damaged_formula("delta")(lambda delta: delta / (2 * (1 + delta)))
    assert found["sign"](2.0) == pytest.approx(-1 / 3)
    assert found["2*delta left out"](2.0) == pytest.approx(1.0)
