"""What notebooks 04 and 05 measure: what rounding decides, swaps, rates."""

import math

import numpy as np
import pytest

from mebnb.experiments import pairwise_rates, rounding
from mebnb.experiments.convergence import SOLVERS, kind_counts
from mebnb.experiments.sets import normal_cloud, training_sets
from mebnb.solvers.steps import ShortStep, lipschitz_constant

CLOUD = normal_cloud(60, 2, 4)
THREE = normal_cloud(300, 5, 3)


# --- what rounding decides ---------------------------------------------------------
def test_only_the_last_bits_are_shaken():
    first, *copies = rounding.shaken(CLOUD, 3)
    assert first is CLOUD
    assert len(copies) == 3
    for copy in copies:
        assert 0.0 < np.abs(copy / CLOUD - 1.0).max() < 1e-14
    again = list(rounding.shaken(CLOUD, 3))[1:]
    assert all(np.array_equal(*pair) for pair in zip(copies, again, strict=True))
    assert not np.array_equal(*copies[:2])


def test_a_range_spans_all_copies_and_the_points_themselves():
    changed = {"changed": lambda copy: float((copy != CLOUD).any())}
    found = rounding.count_ranges(
        CLOUD, lambda copy: {name: f(copy) for name, f in changed.items()}, 3
    )
    assert found == {"changed": (0.0, 0.0, 1.0)}


@pytest.mark.parametrize(
    ("count", "told"),
    [
        ((58, 58, 58), "58"),
        ((58, 42, 58), "58 (42 to 58)"),
        ((9, 9, math.inf), "9 (9 to -)"),
        ((math.inf,) * 3, "-"),
    ],
)
def test_a_count_tells_its_range_where_there_is_one(count, told):
    assert str(rounding.Count(*count)) == told


def test_steps_to_levels_that_a_run_may_not_reach():
    reached = rounding.steps_to(CLOUD, "frank_wolfe", (0.5, 1e-9), max_iter=50)
    assert reached[0.5] < 50
    assert math.isinf(reached[1e-9])
    assert reached == rounding.steps_to(
        CLOUD, SOLVERS["frank_wolfe"], (0.5, 1e-9), max_iter=50
    )


def test_large_clouds_have_fewer_copies():
    copies = rounding.copies_for
    assert copies(np.ones((100, 3)), 20) == 20
    assert copies(np.ones((8000, 15)), 20) == 6
    assert copies(np.ones((10**5, 3)), 20) == 3


def test_rounding_decides_away_steps_on_repeated_rows():
    rows = training_sets("maternal (slides)")["maternal (slides)"]
    sets = {"rows": rows, "distinct rows": np.unique(rows, axis=0)}
    table = rounding.range_table(sets, ["away_step"], str, (1e-6,), repeats=10)
    assert list(table["1e-06"]) == ["58 (42 to 58)", "54"]
    assert list(table["shaken copies"]) == [10, 10]


# --- the inequality and the rates --------------------------------------------------
def test_the_error_is_at_most_the_squared_gap_over_four_squared_widths():
    rng = np.random.default_rng(5)
    ratios = []
    for k in (2, 3, 5, 8):
        for _ in range(25):
            weights = rng.dirichlet(np.ones(k))
            weights[rng.integers(k)] *= rng.integers(2)
            corners = rng.normal(size=(k, k)) * rng.uniform(0.2, 3.0, k)
            ratios.append(
                pairwise_rates.error_over_bound(corners, weights / weights.sum())
            )
    assert max(ratios) <= 1.0 + 1e-9
    assert min(ratios) < 0.5


def test_the_inequality_is_sharp_on_a_regular_simplex():
    weights = np.array([0.3, 0.3, 0.2, 0.2])
    assert pairwise_rates.error_over_bound(np.eye(4), weights) == pytest.approx(1.0)


def test_a_point_without_weight_does_not_count_as_near():
    corners = np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 1.0]])
    weights = np.array([0.475, 0.525, 0.0])
    # Center (2.1, 0): d = 4.41, 3.61 and 2.21; gamma = 3.99 of 4; the lowest height is 1.
    ratio = pairwise_rates.error_over_bound(corners, weights)
    assert ratio == pytest.approx(4.0 * 0.01 / (4.41 - 3.61) ** 2)


@pytest.mark.parametrize("name", ["pairwise", "blended_pairwise"])
def test_the_error_shrinks_as_promised(name):
    ball = SOLVERS[name](THREE, gap="relative", tol=1e-12)
    row = pairwise_rates.rate_row(THREE, ball)
    assert float(row["mean factor"]) <= float(row["largest factor"])
    assert float(row["largest factor"]) <= float(row["promised"]) < 1.0


def test_short_steps_promise_less_and_keep_it():
    constant = lipschitz_constant(THREE)
    options = {"gap": "relative", "tol": 1e-8, "max_iter": 20_000}
    ball = SOLVERS["pairwise"](THREE, step=ShortStep(), **options)
    short = pairwise_rates.rate_row(THREE, ball, constant)
    exact = pairwise_rates.rate_row(THREE, ball)
    assert float(exact["promised"]) < float(short["largest factor"])
    assert float(short["largest factor"]) <= float(short["promised"])


def test_nothing_is_promised_before_the_support_is_found():
    best = SOLVERS["away_step"](THREE, gap="relative", tol=1e-9).support.size
    for steps in range(1, 12):
        ball = SOLVERS["pairwise"](THREE, max_iter=steps)
        if ball.support.size != best:
            assert set(pairwise_rates.rate_row(THREE, ball).values()) == {"-"}


def test_the_bound_without_dimension_holds_on_unit_vectors():
    points = np.eye(60)
    ball = SOLVERS["blended_pairwise"](points, gap="relative", tol=1e-12)
    row = pairwise_rates.sublinear_row(points, ball)
    # After t steps t + 1 weights are equal: the error is (1/(t + 1) - 1/60) / (1 - 1/60).
    t = np.arange(1, 60)
    error = (1 / (t + 1) - 1 / 60) / (1 - 1 / 60)
    assert row["largest t * error"] == pytest.approx((t * error).max())
    bound = 32 / (t + 32)
    assert row["largest error / bound"] == pytest.approx((error / bound).max())
    assert row["largest error / bound"] < 1.0


# --- swaps, and what a step does to the active set ---------------------------------
def test_swaps_only_move_weights_and_end():
    row = pairwise_rates.swap_row(6, 2, repeats=30, seed=1)
    assert row["swap steps"] > 0
    assert row["swaps only move weights"] and row["dual value rose"]
    assert 0 < row["most swaps and drops in a row"] <= 3 * math.factorial(6)


def test_digits_of_the_bound_on_swaps():
    for m in (1, 4, 25):
        digits = len(str(3 * math.factorial(m) + 1))
        assert pairwise_rates.swap_bound_digits(m) == digits


@pytest.mark.parametrize(
    "make", [pairwise_rates.tied_cloud, lambda seed: normal_cloud(40, 3, seed)]
)
def test_blended_steps_never_exchange_points(make):
    for seed in range(10):
        points = make(seed)
        states = pairwise_rates.walk_of("blended_pairwise", points, tol=1e-9)
        steps = pairwise_rates.set_changes(states)
        changes = set(steps.itertuples(index=False, name=None))
        assert changes <= {("FW", 1, 0), ("pairwise", 0, 0), ("drop", 0, 1)}
        kinds = steps["kind"].value_counts()
        assert kinds.get("drop", 0) <= kinds["FW"]


def test_pairwise_steps_do_exchange_points():
    points = np.array([[0.0], [4.0], [8.0], [10.0]])
    start = ([0, 1, 2], [0.5, 0.1, 0.4])
    states = pairwise_rates.walk_of(
        "pairwise", points, start=start, tol=1e-12, max_iter=1
    )
    assert pairwise_rates.set_changes(states).iloc[0].tolist() == ["drop", 1, 1]
    ball = SOLVERS["pairwise"](points, start=start, tol=1e-12, max_iter=1)
    assert kind_counts(ball)["swap"] == 1
