"""The studies that the notebooks on the algorithms share, and their pictures."""

import itertools
import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.stats import linregress

from mebnb import (
    away_step,
    core_set,
    frank_wolfe,
    minimum_enclosing_ball,
    pairwise,
    plots,
    soft_ball,
)
from mebnb.datasets import DatasetNotAvailable
from mebnb.experiments import (
    blended_pairwise,
    costs,
    gene_expression,
    line_search,
    sets,
)
from mebnb.experiments import convergence as studies
from mebnb.experiments.convergence import SOLVERS, kind_counts, rate_table, run_each
from mebnb.experiments.sets import normal_cloud
from mebnb.plots import plane
from mebnb.solvers.balls import dual_value
from mebnb.solvers.faulty_steps import (
    ArmijoOffTheSimplex,
    ArmijoWithoutTheEnd,
    GoldenSectionMidpoint,
    GoldenSectionWithSignSlip,
    GrowingStep,
)
from mebnb.solvers.rates import linear_rate, power_rate
from mebnb.solvers.steps import (
    Armijo,
    Line,
    RelaxedStep,
    ShortStep,
    lipschitz_constant,
    step_rule,
)

CLOUD = normal_cloud(60, 2, 4)


def states_of(name, points=CLOUD, **options):
    states = []
    SOLVERS[name](points, callback=states.append, **({"max_iter": 30} | options))
    return states


def test_published_training_sets_have_their_shapes():
    found = sets.training_sets("uniform", "Gaussian", "breast cancer")
    shapes = {name: points.shape for name, points in found.items()}
    assert shapes == {
        "uniform": (8000, 15),
        "Gaussian": (8000, 10),
        "breast cancer": (178, 30),
    }


def test_unknown_set_is_refused():
    with pytest.raises(ValueError, match="sets must be from uniform"):
        sets.training_sets("iris")


def test_missing_sets_are_told_and_left_out(monkeypatch):
    def not_here(name):
        raise DatasetNotAvailable(f"The data set {name} is elsewhere.")

    monkeypatch.setattr(sets, "load_dataset", not_here)
    found, missing = sets.available_sets("Gaussian", "churn")
    assert list(found) == ["Gaussian"]
    assert missing == ["The data set iranian_churn is elsewhere."]


@pytest.mark.parametrize("name", SOLVERS)
def test_kinds_add_up_and_explain_the_active_set(name):
    ball = SOLVERS[name](CLOUD, gap="relative", tol=1e-10, max_iter=500)
    counts = kind_counts(ball)
    assert sum(counts.values()) == ball.iterations
    active = np.diff(ball.trace.active)
    assert counts["drop"] == (active < 0).sum()
    assert counts["swap"] <= (np.array(ball.trace.kind[1:]) == "drop").sum()


def test_a_swap_is_a_drop_that_lets_a_new_point_in():
    # The center 3.6 is nearest to 4, whose weight 0.1 is less than the exact step asks.
    points = np.array([[0.0], [4.0], [8.0], [10.0]])
    start = ([0, 1, 2], [0.5, 0.1, 0.4])
    ball = SOLVERS["pairwise"](points, start=start, tol=1e-12, max_iter=1)
    assert kind_counts(ball) == dict(FW=0, away=0, pairwise=0, drop=0, swap=1)
    assert list(ball.support) == [0, 2, 3]


def test_rates_tell_linear_from_one_over_t():
    cloud = normal_cloud(500, 6, 4)
    runs = run_each({"cloud": cloud}, SOLVERS, tol=1e-12, max_iter=2000)
    table = rate_table(runs, str)
    powers = table["exponent of t"].astype(float)
    fits = table["R2, log gap on t"].astype(float)
    assert -1.3 < powers["cloud", "frank_wolfe"] < -0.8
    for name in ("away_step", "pairwise", "blended_pairwise"):
        assert powers["cloud", name] < -3 and fits["cloud", name] > 0.9


@pytest.mark.parametrize("rate", [linear_rate, power_rate])
def test_a_rate_needs_three_gaps_in_the_band_with_its_ends(rate):
    gaps = [1.0, 0.1, 0.01, 0.001, 1e-4]
    assert 0.9 < rate(gaps, above=0.001, below=0.1)[1] < 1.0 + 1e-12
    assert math.isnan(rate(gaps, above=0.0011, below=0.1)[0])
    assert math.isnan(rate(gaps, above=0.001, below=0.09)[0])
    assert math.isnan(rate([0.01] * 5, above=0.001, below=0.1)[0])


@pytest.mark.parametrize(("rate", "of"), [(linear_rate, float), (power_rate, np.log)])
def test_a_rate_is_a_least_squares_line_through_the_least_gaps_so_far(rate, of):
    t = np.arange(1, 30)
    noise = np.random.default_rng(0).normal(size=29)
    gaps = np.exp(-0.5 * t + 0.1 * noise)
    assert (np.diff(gaps) < 0.0).all()
    rises = np.concatenate([[3.0], gaps, [2.0]])  # neither end lies in the band
    line = linregress([of(x) for x in t], np.log(gaps))
    slope, r2 = rate(rises[:-1], above=1e-12, below=1.0)
    assert slope == pytest.approx(
        math.exp(line.slope) if rate is linear_rate else line.slope, rel=1e-12
    )
    assert r2 == pytest.approx(line.rvalue**2, rel=1e-12)
    repeated = np.append(gaps, gaps[-1])
    assert rate(np.append(gaps, 2.0)) == rate(repeated)


def test_too_short_a_run_has_no_rate():
    runs = run_each({"pair": np.array([[0.0], [2.0]])}, ["away_step"], tol=1e-12)
    row = rate_table(runs, str).iloc[0]
    assert row["exponent of t"] == "too short"


def test_errors_on_the_last_support_fall_by_the_factor_of_the_theorem():
    points = normal_cloud(300, 4, 3)
    ball = away_step(points, gap="relative", tol=1e-12, max_iter=20_000)
    frame = studies.errors_on_the_last_support(points, ball)
    error, gap = frame["error"].to_numpy(), frame["gap"].to_numpy()
    assert len(frame) > 5 and (gap >= error * (1 - 1e-6)).all()
    bound = 1 - 1 / (4 * studies.thinness(points[ball.support]))
    assert (error[1:] / error[:-1] <= bound).all()
    assert (
        error[-1]
        > 1e-9
        > studies.errors_on_the_last_support(points, ball, 0.0)["error"].min()
    )
    kept = len(ball.trace.active) - len(
        studies.errors_on_the_last_support(points, ball, -1.0)
    )
    assert len(set(ball.trace.active[kept:])) == 1
    assert ball.trace.active[kept - 1] != ball.trace.active[kept]


def test_frank_wolfe_never_gets_rid_of_wrong_weight():
    held = studies.wrong_weight(CLOUD, max_iter=400)
    t = np.array([100, 200, 400])
    assert np.all(held[t] > 0)
    assert np.ptp(t * held[t]) < 0.2 * (t * held[t]).mean()


def test_the_error_is_made_of_two_parts_and_below_the_gap():
    for step in ("exact", "diminishing"):
        parts = studies.error_parts(CLOUD, step, max_iter=300)
        assert len(parts) == 301 and (parts >= -1e-12).all(axis=None)
        together = parts["inside"] + parts["center"]
        np.testing.assert_allclose(together, parts["error"], atol=1e-12)
        assert (parts["error"] <= parts["gap"] + 1e-12).all()


def test_the_open_loop_step_falls_faster_in_error_than_exact_steps():
    t = slice(100, None)
    exact, fixed = (studies.error_parts(CLOUD, s) for s in ("exact", "diminishing"))
    assert fixed["error"].iloc[-1] < exact["error"].iloc[-1] / 50
    assert fixed["gap"].iloc[-1] > fixed["error"].iloc[-1] * 50
    times = fixed.index[t].to_numpy()
    assert (times**2 * fixed["inside"][t]).max() < 2 * (
        times**2 * fixed["inside"][t]
    ).min()


@pytest.mark.parametrize("k", [2, 4, 6])
def test_thinness_of_the_unit_simplex(k):
    # Its width is 2 / sqrt(k) for even k, its diameter sqrt(2).
    assert studies.thinness(np.eye(k)) == pytest.approx(k / 2)


def test_thinness_is_the_nearest_pair_of_opposite_flats():
    corners = normal_cloud(4, 3, 2)
    widths = []
    for one, other in (([0], [1, 2, 3]), ([0, 1], [2, 3]), ([1, 2], [0, 3]),
                       ([1], [0, 2, 3]), ([2], [0, 1, 3]), ([3], [0, 1, 2]),
                       ([0, 2], [1, 3])):  # fmt: skip
        base = corners[one[0]] - corners[other[0]]
        along = [corners[i] - corners[one[0]] for i in one[1:]]
        along += [corners[i] - corners[other[0]] for i in other[1:]]
        along = np.array(along).T
        rest = base - along @ np.linalg.lstsq(along, base, rcond=None)[0]
        widths.append(np.linalg.norm(rest))
    diameter = max(np.linalg.norm(a - b) for a in corners for b in corners)
    assert studies.thinness(corners) == pytest.approx((diameter / min(widths)) ** 2)


def test_thinness_refuses_too_many_corners():
    with pytest.raises(ValueError, match="corners must be 2 to 16 points, found 17"):
        studies.thinness(np.eye(17))


def test_level_table_tells_iterations_and_misses():
    runs = run_each({"cloud": CLOUD}, ["away_step", "frank_wolfe"], tol=1e-10)
    table = studies.level_table(runs, str)
    reached = runs["cloud"]["away_step"].trace.iterations_to(1e-6)
    assert table.loc[("cloud", "away_step"), "1e-06"] == str(reached)
    assert table.loc[("cloud", "frank_wolfe"), "1e-09"] == "-"


def test_gain_of_a_single_step():
    # Exact steps from the first point: f is a parabola, and half way is the optimum of
    # a pair, so that the one step removes all of the error.
    runs = run_each({"pair": np.array([[0.0], [2.0]])}, ["frank_wolfe"], tol=1e-12)
    row = studies.gain_table(runs, str).loc[("pair", "frank_wolfe", "FW")]
    assert row["steps"] == 1 and row["share removed, median"] == "100 %"


def test_exact_steps_do_not_care_for_the_origin_and_short_ones_do():
    rules = {"exact": "exact", "short": ShortStep(centered=False)}
    near, far = (
        studies.run_rules({"cloud": CLOUD + shift}, "pairwise", rules, tol=1e-2)[
            "cloud"
        ]
        for shift in (0.0, 3.0)
    )
    assert far["exact"].iterations <= near["exact"].iterations + 10
    assert far["short"].iterations > 2 * near["short"].iterations


def test_blending_test_explains_every_step():
    states = states_of("blended_pairwise", tol=1e-9, max_iter=200)
    frame = blended_pairwise.blending_gaps(CLOUD, states)
    decided = frame[:-1]
    went = decided["next"] == "FW"
    assert went.any() and not went.all()
    assert (went == (decided["local"] < decided["fw_gap"])).all()


def test_exact_pairwise_steps_end_in_ties_and_away_steps_do_not():
    three = CLOUD[SOLVERS["away_step"](CLOUD, tol=1e-9).support]
    assert len(three) == 3
    options = {"start": ([0, 1, 2], [0.5, 0.3, 0.2]), "tol": 1e-6, "max_iter": 100}
    tied = {
        name: studies.tied_iterates(three, states_of(name, three, **options))
        for name in ("blended_pairwise", "away_step")
    }
    assert tied["blended_pairwise"][1:].mean() > 0.9
    assert not tied["away_step"].any()


def test_rounding_moves_pairwise_counts_and_no_others():
    cloud = sets.training_sets("breast cancer")["breast cancer"]
    options = {"tol": 1e-3, "repeats": 4}
    count = blended_pairwise.counts_under_rounding
    assert np.ptp(count(cloud, "blended_pairwise", step="exact", **options)) > 0
    assert np.ptp(count(cloud, "away_step", step="exact", **options)) == 0
    assert np.ptp(count(cloud, "blended_pairwise", step="armijo", **options)) <= 2


def test_blended_steps_need_fewer_points_of_a_sphere():
    runs = run_each(
        {"sphere": sets.sphere_cloud(1000, 30, 3)},
        ["blended_pairwise", "pairwise"],
        tol=1e-6,
    )
    table = blended_pairwise.sparsity_table(runs, str).astype(int)["active at the end"]
    assert table["sphere", "blended_pairwise"] < 0.8 * table["sphere", "pairwise"]


@pytest.mark.parametrize("name", ["away_step", "pairwise", "blended_pairwise"])
@pytest.mark.parametrize(
    "rule",
    [
        GoldenSectionMidpoint(),
        GoldenSectionWithSignSlip(),
        ArmijoOffTheSimplex(),
        ArmijoWithoutTheEnd(),
    ],
    ids=lambda rule: type(rule).__name__,
)
def test_faulty_rules_never_drop_a_point_and_do_not_arrive(name, rule):
    ball = SOLVERS[name](CLOUD, step=rule, tol=1e-3, max_iter=300)
    assert not ball.converged
    assert "drop" not in ball.trace.kind


def test_armijo_without_the_end_is_armijo_on_a_shorter_line():
    line = Line(slope=2.0, curvature=0.5, largest=1.0)
    assert step_rule("armijo")(line) == 1.0
    assert ArmijoWithoutTheEnd()(line) == 0.5


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("frank_wolfe", "exact"),
        ("frank_wolfe", "short"),
        ("away_step", "exact"),
        ("away_step", "short"),
        ("away_step", "armijo"),
        ("pairwise", "short"),  # exact pairwise steps end in ties
    ],
)
def test_line_at_is_the_line_that_the_solver_searched(name, rule):
    ready = step_rule(rule).prepare(CLOUD)
    for now, then in itertools.pairwise(states_of(name, step=rule)):
        kind = {"drop": "pairwise" if name == "pairwise" else "away"}
        line = line_search.line_at(CLOUD, now, kind.get(then.kind, then.kind))
        assert ready(line) == pytest.approx(then.step, rel=1e-6)


def test_line_at_refuses_other_kinds():
    with pytest.raises(ValueError, match="kind must be FW, away or pairwise"):
        line_search.line_at(CLOUD, states_of("away_step")[1], "plus")


def test_rule_grid_agrees_with_single_runs():
    rules = {"exact": "exact", "short": "short"}
    runs = studies.run_rules(
        {"cloud": CLOUD}, "away_step", rules, tol=1e-6, max_iter=300
    )
    grid = line_search.rule_grid({"away_step": runs}, [1e-2, 1e-6])
    ball = SOLVERS["away_step"](CLOUD, gap="relative", tol=1e-6)
    first = SOLVERS["away_step"](CLOUD, gap="relative", tol=1e-2)
    table = line_search.grid_table(grid, {"away_step": "AFW"}, {k: k for k in rules})
    assert table.loc[("cloud", "AFW"), "exact"] == (
        f"{first.iterations}, {ball.iterations}"
    )
    assert table.loc[("cloud", "AFW"), "short"].endswith(", -")
    exact = grid[(grid["rule"] == "exact") & (grid["level"] == 1e-6)]
    assert exact["passes"].item() == ball.passes


def test_stretching_a_feature_does_not_cost_iterations():
    table = line_search.condition_grid(
        normal_cloud(100, 4, 1), (1.0, 1e3), {"exact": "exact"}
    )
    assert table["condition number"][1] > 300 * table["condition number"][0]
    assert table["exact"][1] < table["exact"][0]
    assert table["thinness"][1] == pytest.approx(1.0) and table["support"][1] == 2


def test_flat_rings_cost_iterations_with_either_rule():
    table = line_search.ring_grid((0.1, 0.01), range(3), {"exact": "exact"})
    assert table["condition number"].iloc[1] > 8 * table["condition number"].iloc[0]
    assert table["exact"].iloc[1] > 5 * table["exact"].iloc[0]
    assert (table["within 1 % of the sphere"] > 0).all()


def test_the_backtracking_estimate_stays_between_zero_and_twice_the_constant():
    rule = line_search.BacktrackingStep().prepare(CLOUD)
    assert rule.estimate is None
    steps = line_search.watched_steps(CLOUD, "away_step", rule, tol=1e-8)
    assert steps["omega"].min() > 0.0 and steps["omega"].max() <= 1.0
    line = line_search.line_at(CLOUD, states_of("away_step")[2], "FW")
    rule(line)
    assert line.curvature <= 0.5 * rule.estimate * line.norm2()
    assert rule.estimate <= 2.0 * lipschitz_constant(CLOUD)
    held = 0.5 * rule.estimate
    rule.estimate = 1e-6 * held
    step = rule(line)  # doubles until the bound holds
    doublings = math.log2(rule.estimate / (rule.shrink * 1e-6 * held))
    assert doublings == pytest.approx(round(doublings)) and doublings > 1.0
    assert line.curvature > 0.25 * rule.estimate * line.norm2()
    assert step == min(line.slope / (rule.estimate * line.norm2()), line.largest)
    short = Line(line.slope, line.curvature, line.largest, norm2=line.norm2)
    assert short.change(step) <= (
        -step * line.slope + 0.5 * step**2 * rule.estimate * line.norm2()
    )


def test_steps_measured_in_exact_steps():
    rules = {"exact": "exact", "long": RelaxedStep(1.5), "armijo": "armijo"}
    rules |= {"timid": Armijo(fraction=0.5), "open": "diminishing"}
    table = line_search.relaxation_table({"cloud": CLOUD}, "away_step", rules)
    assert table["off"].max() < 1e-12
    assert table.loc["exact", ["least", "largest"]].tolist() == pytest.approx(
        [1.0, 1.0]
    )
    assert table.loc["long", "median"] == pytest.approx(1.5)
    assert table.loc["long", "least gain"] == pytest.approx(0.75, rel=1e-2)
    assert 0.9 < table.loc["armijo", "least"] < 1.0 < table.loc["armijo", "largest"]
    assert table.loc["armijo", "largest"] <= 1.8
    assert table.loc["armijo", "least gain"] >= 0.36 - 1e-2
    assert table.loc["timid", "least"] > 0.5 and table.loc["timid", "largest"] <= 1.0
    assert (
        table.loc["open", "share above 2"] > 0.1 > table.loc["armijo", "share above 2"]
    )
    assert table.loc["open", "least gain"] < 0.0


@pytest.mark.parametrize("omega", [0.3, 1.0, 1.7])
def test_relaxed_frank_wolfe_keeps_its_bound(omega):
    share = line_search.share_of_bound(CLOUD, omega, 200)
    assert 0.01 < share < 1.0


def test_relaxation_grid_has_the_median_of_single_runs():
    clouds = [CLOUD, normal_cloud(60, 2, 5), normal_cloud(60, 2, 6)]
    grid = line_search.relaxation_grid({"three": clouds}, ["away_step"], (1.0, 1.4))
    counts = [
        away_step(c, step=RelaxedStep(1.4), gap="relative", tol=1e-6).iterations
        for c in clouds
    ]
    assert grid.loc[("three", "away_step"), 1.4] == np.median(counts)


@pytest.mark.parametrize("omega", [0.4, 1.1, 1.5, 1.9])
def test_two_points_take_as_many_steps_as_the_formula_says(omega):
    ball = pairwise([[-1.0], [1.0]], step=RelaxedStep(omega), gap="relative", tol=1e-5)
    assert ball.iterations == math.ceil(line_search.two_point_steps(omega, 1e-5))


def test_two_lines_have_the_best_omega_of_the_proof():
    angle = 0.3
    best = 2.0 / (1.0 + math.sin(angle))
    at = [line_search.two_line_factor(w, angle) for w in (1.0, best, 1.9)]
    assert at[0] == pytest.approx(math.cos(angle) ** 2)
    assert at[1] == pytest.approx(best - 1.0, abs=1e-7)
    assert at[2] == pytest.approx(0.9)
    tried = [line_search.two_line_factor(w, angle) for w in np.linspace(0.5, 1.99, 300)]
    assert at[1] <= min(tried) + 1e-7


def test_costs_are_those_of_single_runs():
    cloud = normal_cloud(80, 3, 2)
    grid = costs.cost_grid({"cloud": cloud}, (1e-2, 1e-6), max_iter=100)
    rows = grid.set_index(["method", "level"])
    run = away_step(cloud, gap="relative", tol=1e-6)
    assert rows.loc[("away_step", 1e-6), "iterations"] == run.iterations
    assert rows.loc[("away_step", 1e-6), "passes"] == run.passes
    assert rows.loc[("away_step", 1e-6), "operations"] == run.passes * 240
    assert math.isnan(rows.loc[("frank_wolfe", 1e-6), "iterations"])
    core = core_set(cloud, math.sqrt(1.01) - 1.0, two_sided=False)
    assert rows.loc[("core_set", 1e-2), "iterations"] == core.iterations > 1
    assert rows.loc[("exact", 1e-6), "certified"] < 1e-12
    reached = rows[rows["iterations"].notna()].reset_index()
    assert (reached["certified"] <= reached["level"] * (1.0 + 1e-9)).all()
    table = costs.cost_table(grid, {name: name for name in costs.METHODS})
    assert table.loc[("frank_wolfe", "1e-06"), "cloud"] == "-"
    assert table.loc[("away_step", "1e-06"), "cloud"] == (
        f"{run.iterations} / {run.passes:.0f}"
    )


def test_a_gap_is_told_as_a_digit_or_a_level():
    told = [costs.gap_told(gap, 1e-6) for gap in (0.0, 1e-6, 2.3e-6, 7e-4)]
    assert told == ["below 1e-12", "below 1e-06", "2e-06", "7e-04"]


def test_rows_and_kernel_entries_are_counted():
    cloud = normal_cloud(80, 3, 1)
    with costs.rows_read() as seen:
        ball = soft_ball(cloud, nu=0.1)
    assert sum(seen) >= 80 * ball.iterations > 0
    before = len(seen)
    soft_ball(cloud, nu=0.1)
    assert len(seen) == before
    kernel = costs.CountingKernel(0.5)
    values = kernel(cloud[:4], cloud)
    assert kernel.entries == 320
    apart = np.sum((cloud[3] - cloud[7]) ** 2)
    assert values[3, 7] == pytest.approx(math.exp(-0.5 * apart))
    named = soft_ball(cloud, nu=0.1, kernel="rbf", gamma=0.5)
    counted = soft_ball(cloud, nu=0.1, kernel=kernel)
    assert counted.rho == pytest.approx(named.rho)
    assert kernel.entries >= 320 + 80 * counted.support.size


def test_rates_in_words():
    runs = run_each({"cloud": CLOUD, "pair": CLOUD[:2]}, ["away_step"], tol=1e-12)
    told = studies.rates_told(runs, "away_step")
    factor, r2 = runs["cloud"]["away_step"].trace.linear_rate(*studies.FIT_BAND)
    assert f"cloud: factor {factor:.4f} an iteration with R2 {r2:.2f}" in told
    assert "pair: reached too soon for a fit" in told


def test_printed_growing_step_does_not_converge():
    good = frank_wolfe(CLOUD, step="diminishing", max_iter=300)
    bad = frank_wolfe(CLOUD, step=GrowingStep(), max_iter=300)
    assert bad.relative_error > 100 * good.relative_error


# --- pictures ----------------------------------------------------------------------


def test_level_lines_of_the_dual_value_are_circles():
    corners = normal_cloud(3, 2, 1)
    center, radius = plots.circumcircle(corners)
    for weights in np.random.default_rng(0).dirichlet(np.ones(3), size=50):
        apart = weights @ corners - center
        expected = radius**2 - apart @ apart
        assert dual_value(corners, weights) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", SOLVERS)
def test_ends_of_a_step_are_the_points_whose_weight_moved(name):
    states = states_of(name, tol=1e-9)
    for now, then in itertools.pairwise(states):
        towards, away = plane._ends(now, then)
        if then.kind == "FW":
            assert towards == now.farthest and away is None
        if then.kind == "drop":
            assert away in now.support and away not in then.support
        if then.kind in ("away", "drop"):
            assert towards is None
        if then.kind == "pairwise":
            moved = then.center - now.center
            apart = CLOUD[towards] - CLOUD[away]
            assert moved == pytest.approx(then.step * apart, abs=1e-12)


@pytest.mark.parametrize("name", SOLVERS)
def test_one_panel_an_iterate(name):
    states = states_of(name)
    fig = plots.iterates_2d(CLOUD, states, at=(0, 1, 2, 10_000))
    titles = [ax.get_title().split(",")[0] for ax in fig.axes if ax.axison]
    assert titles == ["t = 0", "t = 1", "t = 2"]
    # A legend of long lines does not fit into the free place.
    assert fig.legends or fig.axes[-1].get_legend()
    plt.close(fig)


def test_arrows_on_a_face_add_up():
    corners = CLOUD[:3]
    start = states_of("away_step", corners, start=([0, 1, 2], [0.3, 0.3, 0.4]))[:1]
    kinds = ["FW", "away", "pairwise"]
    figure = plots.steps_on_face({"one": (corners, start, kinds)})
    arrows = [t for t in figure.axes[0].texts if t.arrow_patch is not None]
    towards, away, pairwise = (np.subtract(t.xy, t.xyann) for t in arrows)
    assert towards + away == pytest.approx(pairwise)
    plt.close(figure)


def test_width_diameter_and_extent_are_drawn_in_their_lengths():
    corners = np.array([[-1.0, 0.0], [1.0, 0.0], [0.2, 1.5]])
    width, face = studies.simplex_width(corners)
    center = np.array([0.0, 0.1])
    figure = plots.widths_2d({"one": (corners, face, center)})
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    length = {k: np.hypot(*np.ptp(v.get_xydata(), axis=0)) for k, v in lines.items()}
    assert length["$w$"] == pytest.approx(width)
    assert length["$D$"] == pytest.approx(2.0)
    best = plots.circumcircle(corners)[0]
    extent = np.ptp(corners @ (best - center)) / np.hypot(*(best - center))
    assert length["extent along $c_* - c$"] == pytest.approx(extent)
    assert extent >= width
    plt.close(figure)


def test_the_constant_of_the_slow_rate_is_drawn():
    frame = pd.DataFrame({"error": [1.0, 0.5, 0.4], "gap": [2.0, 1.0, 0.4]})
    figure = plots.rate_constant({"one": frame})
    half, times, one = figure.axes[0].lines
    assert half.get_ydata() == pytest.approx([1.0, 0.5])
    assert times.get_ydata() == pytest.approx([0.5, 0.8])
    assert set(one.get_ydata()) == {1.0}
    plt.close(figure)


def test_paths_faces_bounds_and_sets_are_drawn():
    runs = {name: states_of(name) for name in SOLVERS}
    corners = CLOUD[:3]
    walk = states_of("away_step", corners, start=([0, 1, 2], [0.3, 0.3, 0.4]))
    balls = run_each({"a": CLOUD, "b": CLOUD[:20]}, SOLVERS, tol=1e-6, max_iter=50)
    figures = [
        plots.paths_2d(CLOUD, runs),
        plots.steps_on_face({"one": (corners, walk, ["FW", "away", "pairwise"])}),
        plots.bounds(
            balls["a"]["frank_wolfe"], balls["a"]["away_step"].lower_bound ** 2
        ),
        plots.by_set(balls, fit_band=studies.FIT_BAND),
        plots.by_set(balls, "active", xscale="log"),
        plots.blending(blended_pairwise.blending_gaps(CLOUD, runs["blended_pairwise"])),
        plots.counts_by_rule(
            pd.DataFrame(
                [("exact", "pairwise", 5), ("short", "away_step", 9)],
                columns=["rule", "algorithm", "iterations"],
            )
        ),
    ]
    lines = {"a": line_search.line_at(CLOUD, runs["away_step"][2], "FW")}
    rules = {rule: step_rule(rule) for rule in ("exact", "armijo")}
    figures += [
        plots.line_search(lines, rules),
        plots.step_lengths({"exact": balls["a"]["away_step"]}),
    ]
    assert [len(fig.axes) for fig in figures] == [4, 1, 2, 2, 2, 1, 1, 1, 1]
    for fig in figures:
        fig.canvas.draw()
        plt.close(fig)


# --- few points in many dimensions ---------------------------------------------------

WIDE = normal_cloud(12, 40, 3) * np.linspace(0.1, 3.0, 40) + 5.0


def test_coordinates_in_the_span_keep_every_distance():
    flat = gene_expression.span_coordinates(WIDE)
    assert flat.shape == (12, 11)
    apart = [np.linalg.norm(a[:, None] - a[None], axis=2) for a in (WIDE, flat)]
    np.testing.assert_allclose(*apart, rtol=1e-12, atol=1e-12)
    assert np.abs(flat.mean(axis=0)).max() < 1e-12
    assert gene_expression.span_coordinates(WIDE[:1]).shape == (1, 1)


def test_clouds_of_the_same_shape_differ_in_how_features_hang_together():
    line = np.outer(np.arange(12.0), np.ones(40)) + 0.01 * normal_cloud(12, 40, 1)
    clouds = gene_expression.clouds_like(line, seed=5)
    spread = {name: (cloud**2).sum() for name, cloud in clouds.items()}
    for name in ("shuffled", "normal"):
        assert spread[name] == pytest.approx(spread["data"], rel=1e-12)
    table = gene_expression.boundary_table(clouds, str)
    assert float(table.loc["effective dimension", "data"]) == 1.0
    assert float(table.loc["effective dimension", "shuffled"]) > 5
    support, alone = (
        table.loc[row].astype(int)
        for row in ("support points", "outside of the ball of the others")
    )
    assert support["data"] <= 3 < support["shuffled"]
    assert (support == alone).all()


def test_points_outside_of_the_ball_of_the_others_are_the_support():
    found = sets.left_out(WIDE)
    assert list(found) == list(minimum_enclosing_ball(WIDE).support)


def test_share_of_support_is_the_share_of_new_points_outside():
    cloud = normal_cloud(60, 4, 2)
    means = gene_expression.growing_balls(cloud, [5, 20], repeats=60, seed=1)
    assert list(means.index) == [5, 20]
    assert (means["support"] - means["outside"]).abs().max() < 0.1
    assert means["radius"].is_monotonic_increasing
    # Four dimensions: at most five points carry a ball.
    assert means.loc[20, "support"] <= 0.25


def test_pictures_of_clouds_and_thresholds_can_be_drawn():
    sizes, frame = [3, 6], gene_expression.growing_balls(WIDE, [3, 6], repeats=2)
    panel = {"radius": {"data": (sizes, frame["radius"])}}
    look = {"xscale": "linear", "yscale": "linear", "styles": plots.CLOUD_STYLES}
    scores = pd.DataFrame(
        {"recall": [1.0, 0.2], "false_alarms": [0.6, 0.0], "f1": [0.4, 0.3]},
        index=[1.0, 2.0],
    )
    figures = [
        plots.in_panels(panel, "points", "radius", **look),
        plots.scores_by_threshold(scores, {"radius": 1.5}),
    ]
    assert figures[0].axes[0].get_xscale() == "linear"
    for fig in figures:
        fig.canvas.draw()
        plt.close(fig)


def test_kinds_of_a_core_set_are_counted_too():
    ball = core_set(normal_cloud(200, 5, 0), eps=1e-6, away=True)
    counts = kind_counts(ball)
    assert counts["plus"] > 0 and counts["minus"] > 0
    assert sum(counts.values()) == ball.iterations
