"""What notebooks 01, 02, 03 and 06 measure beside their proofs."""

import itertools

import numpy as np
import pandas as pd
import pytest

from mebnb import away_step, check_derivations, core_set, minimum_enclosing_ball
from mebnb.documents.checks import DerivationTable
from mebnb.experiments import convergence, core_sets, dual_derivation
from mebnb.experiments import frank_wolfe_rates as rates
from mebnb.experiments.convergence import error_parts
from mebnb.experiments.dual_derivation import SQUARE, hard_clouds
from mebnb.experiments.sets import normal_cloud
from mebnb.solvers.balls import dual_value, enclosing_radius, squared_diameter

CUBE = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))


# --- the dual ----------------------------------------------------------------------
def test_random_weights_lie_on_the_simplex_and_on_faces():
    weights = dual_derivation.simplex_weights(9, 40, 3)
    assert weights.min() >= 0.0
    assert np.allclose(weights.sum(axis=1), 1.0)
    assert (np.count_nonzero(weights[1::2], axis=1) <= 5).all()


def test_the_terms_of_the_shortfall_by_hand():
    points = np.array([[-1.0], [1.0], [0.0]])
    ball = minimum_enclosing_ball(points)
    terms = dual_derivation.shortfall_terms(points, np.array([0.5, 0.0, 0.5]), ball)
    # gamma(u) = 1/4; half of the weight lies 1 deep; the center is off by 1/2.
    assert terms == pytest.approx((0.75, 0.5, 0.25))


def test_consequences_hold_on_every_cloud_and_are_not_idle():
    frame = dual_derivation.consequences(hard_clouds(2), 2, count=60)
    assert frame["identity"].max() < 1e-12
    assert frame["center"].min() >= 1.0 - 1e-9
    assert frame["dual"].max() <= 1.0 + 1e-9
    assert frame["gap"].max() <= 0.5 + 1e-9
    assert frame["bracket"].max() <= 1.0 + 1e-9
    # On a circle no weight is deep: the whole shortfall is the shift.
    assert frame.loc["square (ties)", "dual"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("points", "left"),
    [(SQUARE, 2), (CUBE, 2), (np.vstack([np.eye(4), -np.eye(4)]), 2), (np.eye(5), 5)],
)
def test_a_support_is_reduced_and_the_ball_is_kept(points, left):
    m, n = points.shape
    steps = dual_derivation.reduce_support(points, np.full(m, 1.0 / m))
    sizes = [np.count_nonzero(u) for u in steps]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == m
    assert left == sizes[-1] <= n + 1
    for u in steps:
        assert u.min() >= 0.0
        assert u.sum() == pytest.approx(1.0)
        assert np.allclose(u @ points, points.mean(axis=0))
        assert dual_value(points, u) == pytest.approx(dual_value(points, steps[0]))


def test_repeated_points_are_dependent():
    points = np.repeat(np.array([[-1.0, 0.0], [1.0, 0.0]]), 3, axis=0)
    last = dual_derivation.reduce_support(points, np.full(6, 1 / 6))[-1]
    assert np.count_nonzero(last) == 2


# --- core sets ---------------------------------------------------------------------
def test_the_proof_of_the_first_lemma_on_clouds():
    sets = {str(k): normal_cloud(40, 3, k) for k in range(5)}
    balls = {label: minimum_enclosing_ball(points) for label, points in sets.items()}
    frame = core_sets.pair_table(sets, balls)
    assert frame["in the lens"].all()
    assert (frame["gamma* / D^2"] <= frame["rim^2 / D^2"] + 1e-9).all()
    assert (frame["rim^2 / D^2"] <= 0.75 + 1e-9).all()
    assert (frame["farthest^2 / D^2"] <= 1.75).all()


def test_trial_radii_grow_as_the_second_lemma_says():
    sets = {"cloud": normal_cloud(200, 4, 1), "simplex": np.eye(50)}
    sets["no step at all"] = normal_cloud(20, 1, 1)
    balls = {label: minimum_enclosing_ball(points) for label, points in sets.items()}
    runs = {label: core_set(points, eps=1e-3) for label, points in sets.items()}
    frame = core_sets.growth_table(runs, balls, [0.1, 1e-9])
    assert (frame["recursion"] > -1e-12).all()
    assert (frame["missing / bound"] <= 1.0).all()
    assert frame["missing / bound"]["simplex"] > 0.5
    assert (frame["steps / allowed, 0.1"].astype(float) < 1.0).all()
    assert (frame["steps / allowed, 1e-09"] == "-").any()


def test_core_sets_of_a_simplex():
    frame = core_sets.simplex_table([2, 5, 10])
    assert np.allclose(frame["factor measured"], frame["by the formula"])
    assert (frame["needed by inclusion"] == frame.index + 1).all()
    assert list(frame["needed by radii"]) == [2, 3, 6]


def test_the_section_is_true_to_scale():
    points, marked, circles = core_sets.simplex_section(2)
    triangle = minimum_enclosing_ball(np.eye(3))
    center, radius = circles["smallest ball"]
    assert radius == pytest.approx(triangle.radius)
    assert np.linalg.norm(points[marked[0]] - center) == pytest.approx(radius)
    assert np.linalg.norm(points[1] - center) == pytest.approx(radius)
    grown = circles["the same, grown by 1 + 1/k"][1]
    assert grown < points[1, 1]


def test_balls_are_enclosed_without_listing_their_points():
    rng = np.random.default_rng(4)
    centers, radii = rng.standard_normal((12, 2)), rng.uniform(0.1, 1.0, 12)
    core, weights, gammas, deltas = core_sets.union_of_balls(centers, radii, 0.01)
    c = weights @ core
    reach = (np.linalg.norm(centers - c, axis=1) + radii).max()
    assert gammas[-1] ** 0.5 <= reach <= 1.01 * gammas[-1] ** 0.5
    turns = np.linspace(0.0, 2.0 * np.pi, 2000)
    rim = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    listed = (centers[:, None] + radii[:, None, None] * rim).reshape(-1, 2)
    best = minimum_enclosing_ball(listed).radius
    assert gammas[-1] ** 0.5 <= best * (1 + 1e-4)
    assert reach <= 1.01 * best * (1 + 1e-4)
    gain = [1 + d**2 / (4 * (1 + d)) for d in deltas[:-1]]
    assert np.allclose(np.divide(gammas[1:], gammas[:-1]), gain)


def test_the_barrier_method_finds_the_ball():
    cloud = normal_cloud(100, 3, 5)
    best = minimum_enclosing_ball(cloud).radius
    center, radius, steps = core_sets.barrier_ball(cloud, 1e-6)
    assert radius == pytest.approx(enclosing_radius(cloud, center))
    assert best <= radius * (1 + 1e-12) <= best * (1 + 1e-6)
    assert core_sets.barrier_ball(cloud, 1e-2)[-1] < steps
    run = core_set(cloud, eps=0.01)
    frame = core_sets.cost_table({"cloud": cloud}, {"cloud": run}, [0.1, 1e-9])
    assert list(frame["steps"]) == [str(run.trace.iterations_to(0.21)), "-"]


# --- lines instead of tables -------------------------------------------------------
def test_ticks_say_what_came_out_and_fold_the_statement():
    table = check_derivations(ids=["R-E01", "R-E06"])
    lines = repr(table.ticks()).splitlines()
    assert lines[0] == "✓ R-E01 HOLDS: holds (tolerance 1e-09)"
    assert lines[1].startswith("✓ R-E06 WRONG: printed form fails: m = 5 points")
    page = table.ticks()._repr_html_()
    before, folded = page.split("<details>")
    assert "<table" not in before
    assert "<table" in folded
    broken = table.frame.assign(passed=[False, None]).astype({"passed": "boolean"})
    broken["violation"] = 1.0
    marks = [line[0] for line in repr(DerivationTable(broken).ticks()).splitlines()]
    assert marks == ["✗", "?"]


# --- the rates of Frank-Wolfe and of away steps ------------------------------------
CLOUDS = {f"{m} x {n}": normal_cloud(m, n, 4) for m, n in ((30, 3), (200, 5))}


@pytest.mark.parametrize("points", [*CLOUDS.values(), CUBE, SQUARE, np.eye(5)])
def test_the_diameter_is_the_farthest_pair(points):
    brute = max(((points - a) ** 2).sum(axis=1).max() for a in points)
    assert squared_diameter(points) == pytest.approx(brute)


def test_the_curvature_is_the_squared_length_and_reaches_the_diameter():
    pair = {"pair": np.array([[-1.0], [1.0]])}
    table = rates.curvature_table(
        CLOUDS | pair, dict.fromkeys([*CLOUDS, "pair"], 4.0), 1
    )
    assert table["identity"].max() < 1e-12
    assert 0.8 < table.loc["pair", "largest"] <= 1.0


def split_of(clouds, max_iter=1000):
    rules = ("exact", "diminishing")
    return {
        k: {r: error_parts(c, r, max_iter) for r in rules} for k, c in clouds.items()
    }


def test_runs_stay_below_the_bounds_of_the_slow_rate():
    balls = {k: minimum_enclosing_ball(c) for k, c in CLOUDS.items()}
    diameters2 = {k: squared_diameter(c) for k, c in CLOUDS.items()}
    gammas = {k: ball.lower_bound**2 for k, ball in balls.items()}
    table = rates.bound_table(split_of(CLOUDS, 300), diameters2, gammas)
    assert table[["error / bound", "gap / bound"]].max(axis=None) <= 1.0
    assert table["error / bound"].min() > 0.01
    # Two points on the line: after the first step all is exact, by hand.
    frame = error_parts(np.array([[0.0], [3.0], [1.0]]), "exact", 4)
    table = rates.bound_table({"line": {"exact": frame}}, {"line": 9.0}, {"line": 2.25})
    assert table.iloc[0].tolist() == pytest.approx([4.0, 0.0, 0.0], abs=1e-12)


def test_the_bounds_over_t_by_hand():
    frame = pd.DataFrame({"error": [1.0, 0.5, 0.1], "gap": [2.0, 1.0, 1.5]})
    row = rates.bound_table({"a": {"exact": frame}}, {"a": 6.0}, {"a": 3.0}).iloc[0]
    assert row["error / bound"] == pytest.approx(0.5 * 3 / (4.0 * 2.0))
    # The least gap so far counts.
    assert row["gap / bound"] == pytest.approx(1.0 * 4 / (8.0 * 2.0))


def test_frank_wolfe_on_unit_vectors_is_as_good_as_so_few_points_can_be():
    table = rates.sparse_table(20, [1, 4, 9, 15])
    assert (table["points"] == table.index + 1).all()
    assert np.allclose(table["error"], table["least of t + 1 points"])
    lower = table["D^2 / (4 (t + 1))"]
    assert (lower.fillna(0.0) <= table["error"] + 1e-12).all()
    assert lower.isna().tolist() == [False, False, False, True]
    assert (table["error"] <= table["4 D^2 / (t + 2)"]).all()


def test_the_recursion_of_the_error_and_the_constant_one():
    line = np.array([[0.4], [-0.3], [-1.0], [1.0]])
    frames = {"line": error_parts(line, "exact", 2000)}
    frames |= {k: f["exact"] for k, f in split_of(CLOUDS, 2000).items()}
    frames["pair"] = error_parts(line[2:], "exact", 2000)
    table = rates.constant_table(frames, [100, 2000])
    assert list(table.index) == ["line", *CLOUDS]
    assert table["Lemma 3.2"].max() < 1e-6 and table["weight"].max() < 1e-9
    # Two points on the sphere: the value lies in the middle of the bracket.
    assert table.loc["line", "g / (2 error), mean"] == pytest.approx(1.0, abs=1e-2)
    assert table.loc["line", "t = 2000"] == pytest.approx(1.0, abs=1e-2)
    assert np.allclose(table["t = 2000"], table["1 / mean square"], rtol=0.02)


def test_the_constant_of_a_gap_twice_the_error_is_one():
    t = np.arange(5.0)
    frame = pd.DataFrame({"error": 1 / (t + 2), "gap": 2 / (t + 2)})
    half_gap, slope, predicted = rates.gap_to_error(frame)
    for values in (half_gap, slope, predicted):
        assert values == pytest.approx([1.0] * 4)


def test_the_nearest_flats_come_nearest_in_their_faces():
    rng = np.random.default_rng(5)
    for _ in range(60):
        k = int(rng.integers(2, 8))
        corners = rng.normal(size=(k, int(rng.integers(k - 1, 9))))
        weights, face = rates.nearest_of_the_flats(corners)
        assert weights.min() > 0.0
        assert weights[face].sum() == pytest.approx(1.0)
        apart = weights[face] @ corners[face] - weights[~face] @ corners[~face]
        width, _ = convergence.simplex_width(corners)
        assert np.linalg.norm(apart) == pytest.approx(width)


def test_away_steps_keep_their_promise_on_the_last_support():
    table = rates.promise_table(CLOUDS | {"pair": np.array([[0.0], [2.0]])})
    assert list(table.index) == list(CLOUDS)
    low, high = np.array(table["shift / error"].tolist()).T
    assert np.allclose(low, 1.0, atol=1e-4) and np.allclose(high, 1.0, atol=1e-4)
    for column in ("gaps / bound", "larger / bound", "rate / promised"):
        assert table[column].min() >= 1.0
    for label, row in table.iterrows():
        frame, support = rates.last_support(CLOUDS[label])
        gamma = minimum_enclosing_ball(CLOUDS[label]).lower_bound ** 2
        width, _ = convergence.simplex_width(CLOUDS[label][support])
        shifts = width * np.sqrt(frame["shift"] / gamma)  # |c - c*| w over gamma*
        least = (frame["gaps"] / shifts).min() / 2.0
        assert row["gaps / bound"] == pytest.approx(least, rel=1e-3)
    assert (table["factor, mean"] < table["promised"]).all()


def test_the_last_support_is_the_one_at_the_end():
    points = CLOUDS["200 x 5"]
    ball = away_step(points, gap="relative", tol=1e-12, max_iter=20_000)
    frame, support = rates.last_support(points)
    assert set(support) == set(ball.support)
    whole = convergence.errors_on_the_last_support(points, ball)
    assert np.allclose(frame["error"], whole["error"], rtol=1e-6)
    assert (frame["larger"] >= frame["gaps"] / 2).all()


def test_at_most_half_of_the_steps_are_drops():
    drawn = {
        k: away_step(c, gap="relative", tol=1e-10, max_iter=5000)
        for k, c in CLOUDS.items()
    }
    table = rates.drop_table(drawn)
    assert (table["drops"] <= table["taken in"]).all() and table["drops"].max() > 0
    assert table["drops / bound"].max() <= 1.0
    assert table["least share removed by a drop"].max() < 1.0
    # From all points more than half may be drops; the bound knows of the start.
    points = CLOUDS["30 x 3"]
    begin = (list(range(30)), np.full(30, 1 / 30))
    many = away_step(points, start=begin, gap="relative", tol=0.1)
    table = rates.drop_table({"all": many}, begin=30).iloc[0]
    assert 2 * table["drops"] > many.iterations
    assert table["drops / bound"] == pytest.approx(
        2 * table["drops"] / (many.iterations + 29)
    )
    assert table["drops / bound"] <= 1.0
