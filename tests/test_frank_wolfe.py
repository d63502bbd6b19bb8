"""The Frank-Wolfe family and Yildirim's algorithms: answers, invariances, stops."""

import importlib
import inspect
import itertools
import math
import re
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from kkt import assert_optimal
from rational import farthest_square, smallest_ball

from mebnb import away_step, blended_pairwise, core_set, frank_wolfe, pairwise, verify
from mebnb.solvers import plain
from mebnb.solvers.balls import (
    Solution,
    dense_weights,
    dual_value,
    squared_distances,
)
from mebnb.solvers.steps import STEP_RULES, StepRule

# The package's attribute of that name is the function; this is the module.
MODULE = importlib.import_module("mebnb.solvers.frank_wolfe")
LINEAR = [away_step, pairwise, blended_pairwise]
FAMILY = [frank_wolfe, *LINEAR]


def core_set_first(points, **kwargs):
    return core_set(points, eps=1e-3, **kwargs)


def core_set_second(points, **kwargs):
    return core_set(points, eps=1e-6, away=True, **kwargs)


ALL = [*FAMILY, core_set_first, core_set_second]
names = {"ids": lambda value: getattr(value, "__name__", str(value))}


def cloud(seed=0, m=60, n=4):
    return np.random.default_rng(seed).normal(size=(m, n))


# --- known answers -----------------------------------------------------------------

KNOWN = {
    "one point": ([[1.0, 2.0, 3.0]], 0.0),
    "all equal": ([[2.0, 1.0]] * 5, 0.0),
    "two points": ([[0.0, 0.0], [3.0, 4.0]], 2.5),
    "duplicates": ([[0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 1]], math.sqrt(3) / 2),
    "square": ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], math.sqrt(2) / 2),
    "triangle": ([[1, 0], [-0.5, math.sqrt(3) / 2], [-0.5, -math.sqrt(3) / 2]], 1.0),
    "one feature": ([[3.0], [7.0], [4.0]], 2.0),
    "collinear": ([[0, 0], [1, 1], [2, 2], [5, 5]], 5 / math.sqrt(2)),
    "integers": ([[-6, -4, 5], [0, -2, 0], [-2, -6, -1]], 4.0942835631),
    "simplex": (np.eye(3), math.sqrt(2 / 3)),
    "cross-polytope": (np.vstack([np.eye(4), -np.eye(4)]), 1.0),
    "nearly coplanar": (
        [
            [-2.45, 5.5e-9, -2.45],
            [-2.45, -2.3e-8, 2.45],
            [2.45, -2.7e-8, 2.45],
            [2.45, 2.2e-8, -2.45],
        ],
        3.4648232,
    ),
}


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("solver", LINEAR, **names)
@pytest.mark.parametrize("start", ["first", "pair", "uniform"])
def test_known_balls(solver, name, start):
    points, radius = KNOWN[name]
    ball = solver(points, start=start, gap="relative", tol=1e-12, max_iter=20_000)
    assert ball.radius == pytest.approx(radius, rel=1e-8, abs=1e-12)
    assert ball.lower_bound == pytest.approx(radius, rel=1e-8, abs=1e-12)
    assert_optimal(points, ball)


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("away", [False, True])
def test_known_core_sets(name, away):
    points, radius = KNOWN[name]
    ball = core_set(points, eps=1e-3, away=away, max_iter=20_000)
    assert ball.converged
    assert ball.lower_bound <= radius * (1 + 1e-8) + 1e-12
    assert radius * (1 - 1e-8) <= ball.radius <= radius * (1 + 1e-3) + 1e-12
    assert_optimal(points, ball, rtol=1e-3)


# --- optimality conditions ---------------------------------------------------------


@pytest.mark.parametrize("solver", LINEAR, **names)
@pytest.mark.parametrize("shape", [(60, 4), (5, 30), (200, 2)])
def test_kkt_conditions(solver, shape):
    points = cloud(3, *shape)
    ball = solver(points, gap="relative", tol=1e-13, max_iter=50_000)
    assert np.all(ball.weights > 0)
    assert_optimal(points, ball, rtol=1e-13)
    distances = np.sqrt(squared_distances(points, ball.center))
    np.testing.assert_allclose(distances[ball.support], ball.radius, rtol=1e-6)


@pytest.mark.parametrize("start", ["first", "pair", "uniform"])
def test_kkt_conditions_of_plain_frank_wolfe(start):
    points = cloud(3, 60, 4)
    ball = frank_wolfe(points, start=start, gap="relative", tol=1e-3, max_iter=20_000)
    assert_optimal(points, ball, rtol=1e-3)


@pytest.mark.parametrize("solver", LINEAR, **names)
@pytest.mark.parametrize("step", STEP_RULES)
def test_every_step_rule_reaches_the_ball(solver, step):
    points = cloud(1, 40, 3)
    best = away_step(points, gap="relative", tol=1e-12, max_iter=5000).radius
    ball = solver(points, step=step, gap="relative", tol=1e-2, max_iter=50_000)
    assert ball.converged
    assert best <= ball.radius * (1 + 1e-12)
    assert ball.radius <= best * 1.006
    assert_optimal(points, ball, rtol=0.01)


clouds = arrays(
    float,
    st.tuples(st.integers(1, 12), st.integers(1, 4)),
    elements=st.integers(-20, 20).map(float),
)


@settings(max_examples=60, deadline=None)
@given(clouds, st.sampled_from(LINEAR), st.sampled_from(["exact", "golden", "armijo"]))
def test_certificate_on_integer_clouds(points, solver, step):
    ball = solver(points, step=step, gap="relative", tol=1e-6, max_iter=20_000)
    assert ball.converged, ball.message
    assert_optimal(points, ball, rtol=1e-6)


@settings(max_examples=40, deadline=None)
@given(clouds, st.floats(-50, 50), st.sampled_from([0.25, 2.0, 1024.0]))
def test_radius_moves_with_translation_and_scaling(points, shift, scale):
    base = away_step(points, gap="relative", tol=1e-9, max_iter=20_000)
    moved = away_step(scale * points + shift, gap="relative", tol=1e-9, max_iter=20_000)
    assert moved.radius == pytest.approx(scale * base.radius, rel=1e-7, abs=1e-9)


def test_radius_ignores_rotation_permutation_and_duplication():
    points = cloud(5, 50, 4)
    rotation, _ = np.linalg.qr(cloud(6, 4, 4))
    order = np.random.default_rng(7).permutation(50)
    options = dict(gap="relative", tol=1e-11, max_iter=20_000)
    base = away_step(points, **options).radius
    for other in (points @ rotation, points[order], np.repeat(points, 3, axis=0)):
        assert away_step(other, **options).radius == pytest.approx(base, rel=1e-9)


def test_dual_value_never_falls_with_exact_steps():
    for solver in ALL:
        gamma = solver(cloud(8, 80, 5), max_iter=300).trace.to_frame()["gamma"]
        assert np.all(np.diff(gamma) >= -1e-12 * gamma.iloc[-1])


def test_every_iterate_bounds_the_optimum_from_both_sides():
    points = cloud(9, 80, 5)
    best = away_step(points, gap="relative", tol=1e-13, max_iter=20_000)
    for solver in ALL:
        frame = solver(points, max_iter=200).trace.to_frame()
        assert np.all(frame["gamma"] <= best.lower_bound**2 * (1 + 1e-12))
        assert np.all(frame["radius"] >= best.radius * (1 - 1e-12))
        np.testing.assert_allclose(
            frame["fw_gap"], frame["radius"] ** 2 - frame["gamma"], atol=1e-12
        )


# --- the two identities, against the textbook form of Yildirim's algorithms ----------


@pytest.mark.parametrize("away", [False, True])
def test_core_set_is_frank_wolfe_from_the_pair(away):
    points = cloud(10, 50, 5)
    algorithm = plain.core_set_away if away else plain.core_set
    steps = algorithm(points, 0.01)[1]
    literal = [dual_value(points, step.weights) for step in steps]
    solver = away_step if away else frank_wolfe
    ours = core_set(points, eps=1e-12, away=away, max_iter=len(steps))
    theirs = solver(points, start="pair", tol=0.0, max_iter=len(steps))
    for ball in (ours, theirs):
        gamma = ball.trace.to_frame()["gamma"][1:]
        np.testing.assert_allclose(gamma, literal, rtol=1e-10)


# --- starts, stops, bookkeeping ----------------------------------------------------


def test_warm_starts_continue_where_the_solution_stopped():
    points = cloud(11)
    first = away_step(points, max_iter=5)
    assert not first.converged
    for start in (first, (first.support, first.weights)):
        second = away_step(points, start=start, tol=1e-9)
        assert second.trace.gamma[0] == pytest.approx(first.lower_bound**2, rel=1e-12)
        assert second.converged
    assert away_step(points, start=second, tol=1e-6).iterations == 0


def test_pair_start_is_at_least_a_third_of_the_optimum():
    for seed in range(30):
        points = cloud(seed, 20, 2)
        frame = away_step(points, start="pair", tol=1e-9).trace.to_frame()
        assert frame["gamma"].iloc[0] >= frame["gamma"].iloc[-1] / 3


def test_uniform_start_begins_at_the_mean():
    points = cloud(12, 30, 3)
    seen = []
    ball = pairwise(points, start="uniform", tol=1e-8, callback=seen.append)
    np.testing.assert_allclose(seen[0].center, points.mean(axis=0), atol=1e-14)
    assert seen[0].gamma == pytest.approx(points.var(axis=0).sum())
    assert seen[0].support.size == 30
    assert ball.support.size <= 4


class Watched(StepRule):
    """A part of the largest step; what each line says is kept."""

    def __init__(self):
        self.lengths, self.changes = [], []

    def __call__(self, line):
        step = 0.4 * min(line.largest, 1.0)
        self.lengths.append(line.norm2())
        self.changes.append(line.change(step))
        return step


def test_a_direction_is_measured_in_the_space_of_the_weights():
    m, rule = 12, Watched()
    points = cloud(12, m, 3)
    # From the atom of all points to one of them: (1 - 1/m)^2 + (m - 1) / m^2.
    pairwise(points, start="uniform", step=rule, max_iter=1, tol=0)
    assert rule.lengths == pytest.approx([1.0 - 1.0 / m])
    # From one vertex to another, and from 0.6 and 0.4 of two to a third.
    rule = Watched()
    frank_wolfe(points, step=rule, max_iter=2, tol=0)
    assert rule.lengths == pytest.approx([2.0, 1.0 + 0.6**2 + 0.4**2])
    rule = Watched()
    pairwise(points, step=rule, max_iter=2, tol=0)
    assert rule.lengths == [2.0, 2.0]
    # Away steps: against the dense vectors of weights, also where one weight is nearly all.
    rule, seen = Watched(), []
    near = ([3, 4, 5], [1.0 - 2e-9, 1e-9, 1e-9])
    away_step(points, start=near, step=rule, max_iter=9, tol=0, callback=seen.append)
    dense = [dense_weights(state, m) for state in seen]
    for now, then, length in zip(dense, dense[1:], rule.lengths, strict=False):
        direction = (then - now) / np.abs(then - now).max()
        moved = np.flatnonzero(direction)
        vertex = moved[np.argmax(np.abs(then - now)[moved])]
        expected = np.sum((np.eye(m)[vertex] - now) ** 2)
        assert length == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("start", ["first", "uniform"])
@pytest.mark.parametrize("solver", [frank_wolfe, away_step, pairwise])
def test_a_line_says_what_the_step_changes(solver, start):
    rule, seen = Watched(), []
    points = cloud(5, 15, 3)
    solver(points, start=start, step=rule, max_iter=20, tol=0, callback=seen.append)
    gammas = np.array([state.gamma for state in seen])
    np.testing.assert_allclose(np.diff(gammas), [-c for c in rule.changes], atol=1e-12)
    for state in seen:
        assert state.weights.sum() == pytest.approx(1.0, abs=1e-12)
        mean = state.weights @ points[state.support]
        np.testing.assert_allclose(state.center, mean, atol=1e-12)


def test_a_full_step_leaves_one_vertex():
    points, seen = cloud(3), []
    run = {"step": "diminishing", "max_iter": 40, "tol": 0}
    frank_wolfe(points, **run, callback=seen.append)
    assert seen[1].weights.tolist() == [1.0] and seen[1].gamma == 0.0
    np.testing.assert_array_equal(seen[1].center, points[seen[1].support[0]])
    for state in seen[2:]:
        assert state.weights.sum() == pytest.approx(1.0, abs=1e-12)
        apart = ((points[state.support] - state.center) ** 2).sum(axis=1)
        assert state.gamma == pytest.approx(state.weights @ apart, rel=1e-12)


def test_passes_are_looks_at_all_points():
    # The columns of the two points, and one from the center, before it is called right.
    ball = frank_wolfe([[0.0], [2.0]])
    assert (ball.iterations, ball.passes) == (1, 3.0)


def test_tolerances_are_what_they_say():
    points = 7.0 * cloud(13)
    absolute = away_step(points, gap="absolute", tol=1e-2)
    assert absolute.radius**2 - absolute.lower_bound**2 <= 1e-2
    assert "absolute gap" in absolute.message
    relative = away_step(points, gap="relative", tol=1e-2)
    assert (
        relative.radius**2 - relative.lower_bound**2 <= 1e-2 * relative.lower_bound**2
    )
    eps = core_set(points, eps=1e-2)
    assert eps.radius <= eps.lower_bound * 1.01 * (1 + 1e-12)


def test_a_callback_is_called_without_a_trace_too():
    states = []
    ball = away_step(cloud(), trace=False, callback=states.append)
    assert ball.trace is None and len(states) == ball.iterations + 1


def test_seconds_of_a_trace_lie_within_those_of_the_call():
    away_step(cloud())
    begun = time.perf_counter()
    seconds = away_step(cloud()).trace.seconds
    assert seconds[0] >= 0.0 and seconds == sorted(seconds)
    assert seconds[-1] <= time.perf_counter() - begun


def test_where_both_gaps_are_equal_weight_is_taken_away():
    # About 0 the squares are 4, 4, 1, 1 and their mean is 5/2: both gaps are 3/2.
    points = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    ball = core_set(points, away=True, start=(range(4), [0.25] * 4), max_iter=1)
    assert ball.trace.fw_gap[0] == ball.trace.away_gap[0] == 1.5
    assert ball.trace.kind[1] in ("minus", "drop")


def test_two_sided_stop_is_the_stricter_one():
    points = cloud(14, 300, 6)
    one = core_set(points, eps=1e-3, away=True, two_sided=False)
    two = core_set(points, eps=1e-3, away=True)
    assert one.iterations <= two.iterations
    frame = two.trace.to_frame().iloc[-1]
    assert max(frame.fw_gap, frame.away_gap) <= frame.gamma * (1.001**2 - 1) * (
        1 + 1e-9
    )


def test_limits_stop_and_say_so():
    ball = away_step(cloud(15), max_iter=3, tol=1e-12)
    assert (ball.iterations, ball.converged) == (3, False)
    assert ball.message == "iteration limit 3 reached"
    ball = away_step(cloud(15), time_limit=1e-9, tol=0.0)
    assert not ball.converged
    assert ball.message == "time limit 1e-09 s reached"
    # One vertex bounds nothing from below, but the ball holds all points.
    certificate = verify(cloud(15), ball, rtol=10)
    assert certificate.table.set_index("claim").loc["every point inside", "passed"]
    assert not certificate


def test_callback_sees_each_iterate_and_may_stop():
    seen = []

    def stop_after_four(state):
        seen.append(state)
        return state.iteration == 4

    ball = away_step(cloud(16), callback=stop_after_four, tol=1e-12)
    assert [state.iteration for state in seen] == [0, 1, 2, 3, 4]
    assert ball.message == "stopped by the callback" and not ball.converged
    np.testing.assert_allclose(
        seen[-1].weights @ cloud(16)[seen[-1].support], seen[-1].center, atol=1e-14
    )


def test_trace_columns_and_kinds():
    columns = [
        "iteration",
        "gamma",
        "fw_gap",
        "away_gap",
        "radius",
        "kind",
        "step",
        "active",
        "seconds",
    ]
    kinds = {
        frank_wolfe: {"FW"},
        away_step: {"FW", "away", "drop"},
        pairwise: {"pairwise", "drop"},
        blended_pairwise: {"FW", "pairwise", "drop"},
    }
    for solver, expected in kinds.items():
        frame = solver(cloud(17, 300, 6), tol=1e-6).trace.to_frame()
        assert list(frame.columns) == columns
        assert frame["kind"].iloc[0] == "start"
        assert set(frame["kind"].iloc[1:]) <= expected
        assert np.all(frame["active"] >= 1)
        assert np.all(np.diff(frame["seconds"]) >= 0)
        assert list(frame["iteration"]) == list(range(len(frame)))
        drops = frame["kind"] == "drop"
        assert np.all(np.diff(frame["active"])[drops[1:]] <= 0)
    frame = core_set(cloud(17, 300, 6), eps=1e-6, away=True).trace.to_frame()
    assert set(frame["kind"].iloc[1:]) == {"plus", "minus", "drop"}
    assert away_step(cloud(17), trace=False).trace is None


def test_linear_rates_down_to_1e12():
    points = np.random.default_rng(18).normal(size=(2000, 8))
    for solver in (*LINEAR, core_set):
        if solver is core_set:
            ball = core_set(
                points, eps=4e-13, away=True, two_sided=False, max_iter=10_000
            )
        else:
            ball = solver(points, gap="relative", tol=1e-12, max_iter=10_000)
        assert ball.converged
        factor, r2 = ball.trace.linear_rate()
        assert 0.5 < factor < 1.0
        assert r2 > 0.9


def test_plain_frank_wolfe_goes_like_one_over_t():
    points = np.random.default_rng(18).normal(size=(2000, 8))
    for ball in (
        frank_wolfe(points, gap="relative", tol=1e-3, max_iter=20_000),
        core_set(points, eps=5e-4, max_iter=20_000),
    ):
        power, r2 = ball.trace.power_rate(above=1e-3)
        assert -1.3 < power < -0.7
        assert r2 > 0.9


def test_trace_counts_steps_to_a_level():
    trace = away_step(cloud(30), gap="relative", tol=1e-6).trace
    assert trace.iterations_to(1e-6) == len(trace) - 1
    assert trace.iterations_to(1e-12) is None
    assert trace.relative_gaps()[0] == math.inf


def test_known_atoms_cost_no_pass():
    ball = away_step(cloud(19, 2000, 6), gap="relative", tol=1e-10, max_iter=400)
    met = len({*ball.support}) + (ball.trace.to_frame()["kind"] == "FW").sum()
    assert ball.passes < ball.iterations
    assert ball.passes <= met + 3


def test_few_kept_columns_change_passes_but_not_the_answer(monkeypatch):
    points = cloud(20, 400, 6)
    reference = blended_pairwise(points, tol=1e-9)
    monkeypatch.setattr(MODULE, "KEPT_BYTES", 2 * 8 * 400)
    few = blended_pairwise(points, tol=1e-9)
    assert few.radius == pytest.approx(reference.radius, rel=1e-9)
    assert few.passes > reference.passes
    assert few.passes <= few.iterations + 4


def test_drift_is_removed(monkeypatch):
    points = cloud(21, 300, 5)
    reference = pairwise(points, gap="relative", tol=1e-12, max_iter=20_000)
    monkeypatch.setattr(MODULE, "REFRESH_EVERY", 7)
    often = pairwise(points, gap="relative", tol=1e-12, max_iter=20_000)
    assert often.radius == pytest.approx(reference.radius, rel=1e-12)


def test_start_at_the_optimum_and_zero_tolerance():
    points = [[-1.0, 0.0], [1.0, 0.0]]
    ball = away_step(points, start="pair", tol=0.0)
    assert (ball.iterations, ball.converged, ball.radius) == (0, True, 1.0)
    ball = away_step(cloud(22), tol=0.0, max_iter=3000)
    assert ball.relative_error < 1e-13


def test_same_input_same_output():
    for solver in ALL:
        one, two = (solver(cloud(23), max_iter=200) for _ in range(2))
        assert one.radius == two.radius
        assert np.array_equal(one.center, two.center)
        assert np.array_equal(one.weights, two.weights)


def test_input_forms_agree_and_are_left_alone():
    points = cloud(24, 30, 3)
    reference = away_step(points, tol=1e-9)
    frozen = points.copy()
    frozen.setflags(write=False)
    wide = np.zeros((30, 6))
    wide[:, ::2] = points
    for form in (
        points.tolist(),
        pd.DataFrame(points),
        np.asfortranarray(points),
        frozen,
        wide[:, ::2],
    ):
        ball = away_step(form, tol=1e-9)
        assert ball.radius == pytest.approx(reference.radius, rel=1e-12)
    single = points.astype(np.float32)
    kept = single.copy()
    ball = away_step(single, gap="relative", tol=1e-10)
    assert verify(single, ball).passed
    assert np.array_equal(single, kept)
    whole = np.round(10 * points).astype(int)
    assert away_step(whole, gap="relative", tol=1e-10).radius == pytest.approx(
        away_step(whole.astype(float), gap="relative", tol=1e-10).radius
    )


def test_far_from_the_origin():
    points = cloud(25, 500, 4)
    near = away_step(points, gap="relative", tol=1e-10)
    far = away_step(points + 1e8, gap="relative", tol=1e-10)
    assert far.radius == pytest.approx(near.radius, rel=1e-7)


# --- large numbers beside small differences ----------------------------------------

BESIDE = {
    "four rows": [[1, 3], [2, 2], [1, -3], [-2, 2]],
    "a core set": [[-1, -1], [2, -1], [2, 1], [-3, 0]],
    "a square": [[0, 0], [1, 0], [0, 1], [1, 1]],
}


def beside(name, value):
    points = np.array(BESIDE[name], dtype=float)
    return np.column_stack([points, np.full(len(points), value)])


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("value", [1e3, 2.0**50, 2.0**60, 1.7e18, -1e300])
@pytest.mark.parametrize("solver", LINEAR, **names)
@pytest.mark.parametrize("start", ["first", "pair", "uniform"])
def test_a_constant_column_changes_nothing(solver, start, value, name):
    options = dict(start=start, gap="relative", tol=1e-9, max_iter=20_000)
    points = beside(name, value)
    _, best, _ = smallest_ball(BESIDE[name])
    ball = solver(points, **options)
    assert ball.converged
    assert ball.radius == pytest.approx(math.sqrt(best), rel=1e-9)
    assert ball.center[2] == pytest.approx(value, rel=1e-15)
    assert_optimal(points, ball)


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("value", [2.0**50, 2.0**60, 1.7e18])
@pytest.mark.parametrize("away", [False, True])
def test_a_core_set_keeps_its_guarantee_beside_a_constant_column(away, value, name):
    eps = 1e-6 if away else 1e-3
    points = beside(name, value)
    _, best, _ = smallest_ball(BESIDE[name])
    ball = core_set(points, eps=eps, away=away)
    assert ball.converged
    assert ball.radius <= (1 + eps) * math.sqrt(best)
    assert_optimal(points, ball, rtol=eps)


@pytest.mark.parametrize("solver", LINEAR, **names)
@pytest.mark.parametrize("start", ["first", "uniform"])
def test_a_center_that_float64_cannot_hold_is_not_called_converged(solver, start):
    points = cloud(28, 40, 3) + 1e12
    ball = solver(points, start=start, gap="relative", tol=1e-9, max_iter=20_000)
    reached = ball.radius**2 / ball.lower_bound**2 - 1
    assert not ball.converged
    assert ball.message == (
        f"relative gap {reached:.2e} > 1e-09, the least that rounding of the center to "
        "float64 allows"
    )
    # Within half a spacing a column of the best; the lower bound is one.
    _, best, _ = smallest_ball(points)
    allowed = math.sqrt(3) * np.spacing(1e12) / 2
    assert ball.lower_bound**2 <= float(best) * (1 + 1e-12)
    assert ball.radius <= math.sqrt(best) * (1 + 1e-8) + allowed
    assert verify(points, ball).verdict == "cannot certify"


@pytest.mark.parametrize("limit", [0, 3])
def test_a_ball_far_away_holds_all_points_when_a_limit_stops_it(limit):
    points = cloud(28, 40, 3) + 1e12
    ball = away_step(points, start="uniform", max_iter=limit)
    reach = farthest_square(points, ball.center)
    assert float(reach) == pytest.approx(ball.radius**2, rel=1e-14)


def test_drift_does_not_pass_for_convergence(monkeypatch):
    """The gap that stops the loop is measured anew before it is believed."""
    update = MODULE._Iterate._update_product

    def drifting(self, *arguments):
        update(self, *arguments)
        self.fw_gap = 0.0

    monkeypatch.setattr(MODULE._Iterate, "_update_product", drifting)
    points = cloud(29)
    ball = away_step(points, gap="relative", tol=1e-8, max_iter=5000)
    assert ball.converged and ball.iterations > 1
    assert_optimal(points, ball, rtol=1e-8)


@pytest.mark.parametrize(("margin", "kind"), [(0.0, "pairwise"), (1e-5, "FW")])
def test_blending_prefers_active_points_at_a_tie(margin, kind):
    # With weights 3/4 and 1/4 the center is (1, 0, 0) and squared distances are 1, 9
    # and 11: the active spread, 8, equals the FW gap, 11 - 3.
    points = [[0, 0, 0], [4, 0, 0], [4, 1, 1]]
    ball = blended_pairwise(
        points, start=([0, 1], [0.75, 0.25]), max_iter=1, margin=margin
    )
    assert ball.trace.kind[1] == kind


# --- the pieces of the loop --------------------------------------------------------


def begun(points, start):
    return MODULE._begin(np.asarray(points, dtype=float), start)


def gridded(shift, m=9, n=3):
    """Points of few digits, for which moving them far away rounds nothing."""
    return np.round(cloud(31, m, n) * 64) / 64 + shift


def extended(points, size):
    """The points' squared distances by hand, and the weights that an atom stands for."""
    D = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    atoms = np.eye(len(points))
    if size > len(points):
        atoms = np.vstack([atoms, np.full(len(points), 1.0 / len(points))])
    return atoms @ D @ atoms.T, atoms


MOVES = {
    "pair": [(2, None, 0.25, False), (2, None, 0.5, False), (None, 1, 0.0625, False)],
    "half and half": [
        (None, 1, 1.0, True),
        (4, None, 0.25, False),
        (4, 0, 0.25, False),
    ],
    "to a vertex": [(3, None, 1.0, False), (5, 3, 0.5, False), (5, 3, 0.5, True)],
    "drop": [(3, None, 0.5, False), (None, 0, 1 / 3, True), (4, 1, 1 / 3, True)],
    "new for new": [(3, 1, 0.25, False), (4, 1, 0.25, True)],
}
UNIFORM_MOVES = {
    "to a point": [(2, None, 0.25, False), (2, 9, 0.25, False), (3, 2, 0.125, False)],
    "back": [(2, None, 0.5, False), (9, 2, 0.25, False), (None, 2, 1 / 3, True)],
    "away from all": [(2, None, 0.5, False), (None, 9, 0.5, False), (4, 9, 0.25, True)],
}


@pytest.mark.parametrize("shift", [0.0, 2.0**20])
@pytest.mark.parametrize(
    ("start", "moves"),
    [(([0, 1], [0.5, 0.5]), moves) for moves in MOVES.values()]
    + [("uniform", moves) for moves in UNIFORM_MOVES.values()],
    ids=[*MOVES, *UNIFORM_MOVES],
)
def test_an_iterate_knows_what_its_weights_say(start, moves, shift):
    points = gridded(shift)
    iterate = begun(points, start)
    assert (iterate.columns.origin is None) == (shift == 0.0)
    D, atoms = extended(gridded(0.0), iterate.columns.size)
    u = iterate.weights.copy()
    for towards, away, step, drop in [(None, None, 0.0, False), *moves]:
        if towards is not None or away is not None:
            ends = [u if a is None else np.eye(len(u))[a] for a in (towards, away)]
            direction = ends[0] - ends[1]
            line = iterate.line(towards, away, 7)
            assert line.slope == pytest.approx(D @ u @ direction, abs=1e-12)
            curvature = -0.5 * direction @ D @ direction
            assert line.curvature == pytest.approx(curvature, abs=1e-12)
            assert line.norm2() == pytest.approx(np.sum((atoms.T @ direction) ** 2))
            room = np.inf if away is None else u[away]
            if towards is None:
                room = u[away] / (1.0 - u[away])
            assert line.largest == pytest.approx(
                min(room, 1.0) if away is None else room
            )
            assert line.iteration == 7
            u = u + step * direction
            if drop:
                u[away] = 0.0
            iterate.move(towards, away, step, drop)
        dense = atoms.T @ u
        active = np.flatnonzero(u)
        for _ in range(2):
            np.testing.assert_allclose(iterate.weights, u, atol=1e-15)
            assert sorted(iterate.active) == active.tolist() == sorted(iterate.members)
            assert iterate.product.shape == u.shape
            np.testing.assert_allclose(iterate.product, D @ u, atol=1e-12)
            gamma, vertices = 0.5 * u @ D @ u, (D @ u)[:9]
            assert iterate.gamma == pytest.approx(gamma, abs=1e-12)
            assert iterate.farthest == vertices.argmax()
            assert iterate.radius**2 == pytest.approx(vertices.max() - gamma)
            assert iterate.fw_gap == pytest.approx(vertices.max() - 2 * gamma)
            nearest = active[(D @ u)[active].argmin()]
            assert iterate.away_gap == pytest.approx(2 * gamma - (D @ u)[nearest])
            if active.size > 2:
                assert iterate.nearest == nearest
                assert iterate.farthest_active == active[(D @ u)[active].argmax()]
            np.testing.assert_allclose(iterate.center(), dense @ points, rtol=1e-14)
            rows, weights = iterate.support()
            np.testing.assert_allclose(weights, dense[rows], atol=1e-15)
            assert rows.tolist() == np.flatnonzero(dense).tolist()
            # The same after D u is computed from the center.
            iterate.recompute()


def test_of_active_atoms_that_tie_the_first_counts():
    product, weights = np.array([9.0, 5.0, 3.0, 5.0, 3.0]), np.full(5, 0.25)
    found = MODULE._on_active(product, weights, np.arange(1, 5))
    assert found == (0.5 * 0.25 * 16.0, 1, 0)
    assert MODULE._on_active(product, weights, np.array([1, 3]))[1:] == (0, 0)
    assert MODULE._on_active(product, weights, np.array([2])) == (0.375, 0, 0)


def test_columns_are_kept_within_their_bound_the_least_used_go_first(monkeypatch):
    points = gridded(0.0)
    monkeypatch.setattr(MODULE, "KEPT_BYTES", 3 * 8 * 9)
    columns = MODULE._Columns(points, False, None)
    for atom in (1, 2, 3, 1, 4):
        np.testing.assert_array_equal(columns[atom], extended(points, 9)[0][atom])
    assert list(columns.kept) == [3, 1, 4] and columns.passes == 4
    for size, capacity in ((1, 2), (3 * 8 * 9 - 1, 2), (5 * 8 * 9, 5)):
        monkeypatch.setattr(MODULE, "KEPT_BYTES", size)
        assert MODULE._Columns(points, False, None).capacity == capacity
    assert MODULE._Columns(points, True, None).capacity == 5 * 9 // 10


@pytest.mark.parametrize("kept", [(), (1,), (2,), (1, 2)])
@pytest.mark.parametrize("shift", [0.0, 2.0**20])
def test_two_atoms_are_as_far_apart_whatever_is_kept(kept, shift):
    points = gridded(shift)
    apart = extended(gridded(0.0), 9)[0]
    columns = begun(points, "uniform").columns
    for atom in kept:
        columns[atom]
    passes = columns.passes
    assert columns.between(1, 2) == pytest.approx(apart[1, 2])
    assert columns.between(2, 1) == pytest.approx(apart[1, 2])
    from_mean = ((points - points.mean(axis=0)) ** 2).sum(axis=1)
    assert columns.between(1, 9) == pytest.approx(from_mean[1])
    assert columns.between(9, 1) == pytest.approx(from_mean[1])
    assert columns.passes == passes
    assert 9 in columns and (1 in columns) == (1 in kept)
    assert (columns.own_spread(9), columns.own_spread(1)) == pytest.approx(
        (from_mean.mean(), 0.0)
    )


@pytest.mark.parametrize(
    ("towards", "away", "costs"),
    [(2, 1, 1), (2, 0, 1), (0, 2, 1), (0, None, 0), (2, None, 1), (None, 0, 0)],
)
def test_a_step_costs_a_pass_where_its_columns_are_new(towards, away, costs):
    # The column of atom 0 is kept, those of 1 and 2 are not.
    iterate = begun(gridded(0.0), ([0, 1, 2], [0.5, 0.25, 0.25]))
    assert iterate.columns.passes == 2
    iterate.move(towards, away, 0.125, False)
    assert iterate.columns.passes == 2 + costs
    iterate.recompute()
    again = costs if towards == 2 and away == 1 else costs + 1
    assert iterate.columns.passes == 2 + again


def test_rounding_does_not_make_a_length_imaginary():
    iterate = begun([[0.0], [2.0]], "first")
    iterate.reach = iterate.gamma = -1e-20
    assert iterate.radius == 0.0
    ball = iterate.solution(0, False, "", None)
    assert ball.lower_bound == 0.0 and ball.radius == 0.0
    # Almost at the mean, the squared distance from it may come out below 0.
    curvatures = []
    for seed in range(20):
        iterate = begun(cloud(seed), "uniform")
        iterate.move(2, None, 1e-10, False)
        curvatures.append(iterate.line(None, 60, 0).curvature)
    assert min(curvatures) == 0.0 and max(curvatures) < 1e-12


def test_a_single_atom_may_be_left_as_far_as_one_likes():
    assert begun([[0.0], [2.0]], "first").line(None, 0, 0).largest == math.inf


def test_a_pair_has_half_the_weight_each():
    iterate = begun(gridded(0.0), "pair")
    assert iterate.weights[iterate.active].tolist() == [0.5, 0.5]
    (atom, _) = iterate.active
    assert iterate.line(atom, atom, 0).norm2() == 0.0


def test_far_away_the_rounded_center_costs_one_pass_more():
    near, far = (frank_wolfe(np.array([[0.0], [2.0]]) + x) for x in (0.0, 2.0**20))
    assert (near.passes, far.passes) == (3.0, 5.0)
    assert (near.radius, far.radius) == (1.0, 1.0)


def test_gaps_are_relative_to_the_dual_value_where_there_is_one():
    assert MODULE._ratio(1.0, 4.0) == 0.25 and MODULE._ratio(0.5, 0.5) == 1.0
    assert MODULE._ratio(1.0, 0.0) == math.inf
    assert MODULE._ratio(0.0, 0.0) == MODULE._ratio(-1.0, 2.0) == 0.0


def test_a_gap_below_zero_is_told_as_zero():
    iterate = begun([[0.0], [2.0]], "first")
    stop = MODULE.Stop(lambda iterate: -1e-18, 0.0, "some gap")
    assert MODULE._at_the_stop(iterate, stop) == (True, "some gap 0.00e+00 <= 0")


def test_a_direction_that_does_not_descend_ends_the_run():
    # All atoms are as near as each other, and the margin asks for them all the same.
    ball = blended_pairwise(cloud(), margin=-1e9)
    assert (ball.iterations, ball.converged) == (0, False)
    assert ball.message == "no descent direction left at working precision"


def test_a_tie_of_both_gaps_is_a_step_towards():
    # Dyadic, so that both gaps are the same number (see test_plain.py).
    points = np.array([[-1.0, 1.0], [-2.0, 3.0], [-3.0, -2.0], [1.0, -3.0]])
    start = ([0, 1, 3], [0.3125, 0.375, 0.3125])
    trace = away_step(points, start=start, max_iter=1).trace
    assert trace.fw_gap[0] == trace.away_gap[0] > 0.0
    assert trace.kind[1] == "FW"


def test_the_product_is_computed_anew_every_so_many_steps(monkeypatch):
    seen, at = [], []
    recompute = MODULE._Iterate.recompute
    monkeypatch.setattr(
        MODULE._Iterate,
        "recompute",
        lambda self: [at.append(len(seen)), recompute(self)],
    )
    monkeypatch.setattr(MODULE, "REFRESH_EVERY", 3)
    frank_wolfe(cloud(), tol=0.0, max_iter=10, callback=seen.append)
    assert at == [3, 6, 9, 11]


def test_the_clock_stands_still_while_the_run_is_watched(monkeypatch):
    """Each look at this clock takes a second, and none of those of a report counts."""
    clock = itertools.count(100.0)
    watch = SimpleNamespace(perf_counter=lambda: next(clock))
    monkeypatch.setattr(MODULE, "time", watch)
    ball = frank_wolfe(cloud(), tol=0.0, time_limit=4, callback=lambda state: None)
    assert ball.trace.seconds == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert ball.message == "time limit 4 s reached" and ball.iterations == 4


def test_squares_at_the_edges_are_taken(monkeypatch):
    monkeypatch.setattr(MODULE, "SMALLEST_SQUARE", 4.0)
    monkeypatch.setattr(MODULE, "LARGEST_SQUARE", 9.0)
    for far in (2.0, 3.0):
        assert frank_wolfe([[0.0], [far]]).radius == far / 2
    # The spread that is told is that from the first point.
    for far, told in ((0.25, "2e-01"), (3.125, "3e[+]00")):
        with pytest.raises(ValueError, match=f"differ by up to {told} in a coordinate"):
            frank_wolfe([[far], [0.0], [1.96 * far]])


@pytest.mark.parametrize(
    "start", [(1, 2, 3), (0,), [[0], [1.0]], np.zeros(2), None], ids=str
)
def test_a_start_of_another_form_is_refused(start):
    with pytest.raises(ValueError, match="^start must be one of first, pair, uniform"):
        away_step(SQUARE, start=start)


# --- refusals ----------------------------------------------------------------------

SQUARE = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]

REFUSED = [
    (dict(tol=-1.0), "tol must be a finite number >= 0, found -1.0"),
    (dict(tol=math.nan), "tol must be a finite number >= 0, found nan"),
    (dict(tol="small"), "tol must be a finite number >= 0, found 'small'"),
    (dict(max_iter=-1), "max_iter must be >= 0, found -1"),
    (dict(max_iter=2.5), "max_iter must be a whole number, found 2.5"),
    (dict(max_iter=True), "max_iter must be a whole number, found True"),
    (dict(time_limit=0), "time_limit must be a number of seconds > 0, found 0"),
    (dict(gap="duality"), "gap must be one of absolute, relative, found 'duality'"),
    (
        dict(start="last"),
        "start must be one of first, pair, uniform, a Solution or (indices, weights), "
        "found 'last'",
    ),
    (
        dict(start=([0, 5], [0.5, 0.5])),
        "start must index the 3 points, found 0 to 5",
    ),
    (
        dict(start=([0, 1], [0.9, 0.3])),
        "start must hold weights >= 0 that sum to 1, found smallest 0.3 and sum 1.2",
    ),
    (
        dict(start=([0, 0], [0.5, 0.5])),
        "start must hold distinct whole numbers as indices",
    ),
    (
        dict(start=([0, 1], [1.0])),
        "start must hold indices and weights of the same length >= 1, found shapes "
        "(2,) and (1,)",
    ),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_senseless_arguments_are_refused(options, message):
    with pytest.raises((ValueError, TypeError)) as caught:
        away_step(SQUARE, **options)
    assert str(caught.value) == message


@pytest.mark.parametrize("eps", [0.0, -1.0, math.inf, math.nan, "0.1"])
def test_senseless_eps_is_refused(eps):
    with pytest.raises(ValueError) as caught:
        core_set(SQUARE, eps=eps)
    assert str(caught.value) == f"eps must be a finite number > 0, found {eps!r}"


@pytest.mark.parametrize("scale", [1e-200, 1e150, 1e200])
@pytest.mark.parametrize("solver", ALL, **names)
def test_scales_where_squares_fail_are_refused(solver, scale):
    with pytest.raises(ValueError, match="use minimum_enclosing_ball, which does"):
        solver(scale * np.array(SQUARE))


@pytest.mark.parametrize("solver", ALL, **names)
def test_one_far_outlier(solver):
    points = np.vstack([cloud(26, 50, 3), [[1e12, 0.0, 0.0]]])
    ball = solver(points, max_iter=5000)
    assert ball.radius == pytest.approx(5e11, rel=1e-3)


def test_exact_answers_from_rational_arithmetic():
    rng = np.random.default_rng(27)
    for _ in range(25):
        points = rng.integers(-5, 6, size=(6, 2))
        _, best, _ = smallest_ball(points)
        ball = away_step(points, gap="relative", tol=1e-12, max_iter=20_000)
        assert ball.radius**2 == pytest.approx(float(best), rel=1e-9, abs=1e-12)


def test_solution_shows_itself():
    ball = away_step(SQUARE, tol=1e-9)
    assert isinstance(ball, Solution)
    assert repr(ball).startswith("Solution(radius 0.707106")
    assert '<th scope="row">radius</th>' in ball._repr_html_()


@pytest.mark.parametrize("solver", [away_step, pairwise, blended_pairwise])
def test_the_family_documents_its_arguments_alike(solver):
    """Four docstrings are written out; what they say of the same arguments agrees."""

    def arguments(function):
        text = inspect.getdoc(function)
        return (
            text.split("Parameters\n")[1]
            .split("\nReferences")[0]
            .split("\nExamples")[0]
        )

    assert "tol : float" in arguments(frank_wolfe)
    own = re.sub(r"margin : .*\n    .*\n", "", arguments(solver))
    assert own == arguments(frank_wolfe)
    named = re.findall(r"^(\w+(?:, \w+)*) : ", arguments(solver), flags=re.M)
    assert named == list(inspect.signature(solver).parameters)
