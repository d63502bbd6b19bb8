"""The slides' entries: each holds, each can fail, none is left out."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest

from mebnb.documents.entries import DataMissing, run_entry, spoiled_forms_that_pass
from mebnb.documents.slides import ENTRIES
from mebnb.documents.toolkit import lines_of_the_slides as literal
from mebnb.documents.toolkit.clouds import (
    KITE,
    ball_by_enumeration,
    clouds,
    soft_weights,
)
from mebnb.documents.toolkit.symbols import residual

# Every row of the errata of the slides; further entries go beyond it.
ERRATA = [
    "S-E01",
    "S-E02",
    "S-E03",
    "S-E04",
    "S-E05",
    "S-E06",
    "S-E07",
    "S-A1-req",
    "S-A1-lambda",
    "S-A1-upd",
    "S-A2-init",
    "S-A2-test",
    "S-A2-lambda",
    "S-A2-drop",
    "S-A2-stop",
    "S-A3",
    "S-A4-plus",
    "S-A4-kappa",
    "S-A4-lambda+",
    "S-A4-lambda-",
    "S-A4-gamma",
    "S-A4-c0",
    "S-A4-X0",
    "S-A4-stop",
    "S-A4-out",
    "S-X-lin",
    "S-X-O1e",
    "S-X-bpcg",
    "S-X-recall",
    "S-X-train",
    "S-D-mat",
    "S-D-gene",
    "S-D-rest",
    "S-T23",
    "S-X-sphere",
    "S-X-robust",
    "S-X-pair",
    "S-X-grad",
]

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
        pytest.skip(f"data missing: {missing}")


@pytest.mark.parametrize("entry", [e for e in ENTRIES if e.fails_as_read], ids=by_id)
def test_what_is_wrong_is_mended_and_has_a_witness(entry):
    assert entry.witness and entry.corrected


@pytest.mark.parametrize(
    "entry", [e for e in ENTRIES if e.verdict in ("HARMLESS", "AMBIGUOUS")], ids=by_id
)
def test_every_other_fault_says_what_is_meant(entry):
    assert entry.corrected


def test_every_row_of_the_errata_has_an_entry_and_no_id_stands_twice():
    counted = Counter(entry.id for entry in ENTRIES)
    assert [name for name in ERRATA if name not in counted] == []
    assert [name for name, count in counted.items() if count > 1] == []
    assert all(entry.document == "slides" for entry in ENTRIES)


def test_only_sets_that_are_not_committed_may_be_missing():
    missing = {e.id: outcome(e.id).status for e in ENTRIES}
    missing = {name: status for name, status in missing.items() if status != "run"}
    assert all(status.startswith("data missing: ") for status in missing.values())
    assert {status.split(": ")[1] for status in missing.values()} <= {
        "gene_expression",
        "vertebral_column",
    }


# --- the references themselves -----------------------------------------------------


def test_enumeration_finds_known_balls():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    ball = ball_by_enumeration(square)
    assert ball.radius == pytest.approx(np.sqrt(0.5), abs=1e-12)
    assert ball.center == pytest.approx([0.5, 0.5], abs=1e-12)
    single = ball_by_enumeration(np.array([[1.0, 2.0, 3.0]]))
    assert single.radius == 0.0 and single.weights.tolist() == [1.0]


def test_enumeration_holds_every_point_and_no_smaller_ball_does():
    for points in clouds(1, 5, m=8, n=3):
        ball = ball_by_enumeration(points)
        distance = np.linalg.norm(points - ball.center, axis=1)
        assert distance.max() <= ball.radius * (1 + 1e-12)
        assert np.allclose(ball.weights @ points, ball.center)
        on_the_surface = ball.weights > 1e-12
        assert np.allclose(distance[on_the_surface], ball.radius)


def test_soft_weights_of_three_points_on_a_line():
    points = np.array([[-1.0], [1.0], [0.0]])
    assert soft_weights(points, 0.5) == pytest.approx([0.5, 0.5, 0.0], abs=1e-6)


def test_residual_is_zero_only_for_identities():
    import sympy as sp

    x, y = sp.symbols("x y")
    assert residual((x + y) ** 2 - x**2 - 2 * x * y - y**2) == 0.0
    assert residual(1 / (1 + x) - (1 - x) / (1 - x**2)) == 0.0
    assert residual((x + y) ** 2 - x**2 - y**2) == 2.0  # 2 xy at x = 5/7, y = 7/5
    assert residual(x - 1) == 1e-3  # zero at the sample, but no identity


@pytest.mark.parametrize(
    "algorithm",
    [literal.pairwise, literal.blended, literal.meb_a],
    ids=lambda a: a.__name__,
)
def test_the_corrected_listings_reach_the_optimum(algorithm):
    for points in clouds(2, 3, m=9, n=3):
        run = algorithm(points)
        ball = ball_by_enumeration(points)
        assert run.finished
        assert run.weights @ points == pytest.approx(ball.center, abs=1e-3)


def test_a_line_that_reads_what_does_not_exist_cannot_run():
    (points,) = clouds(3, 1, m=8)
    with pytest.raises(literal.CannotRun):
        literal.blended(points, start=literal.start_without_vertex)
    with pytest.raises(literal.CannotRun):
        literal.meb_a(KITE, advance=lambda s: s.k)
