"""The solvers held to the textbook forms of their algorithms."""

import inspect
import math

import nbformat
import numpy as np
import pytest
from kkt import assert_optimal, ball_of_weights

import mebnb
from mebnb.experiments.plain_steps import COLUMNS, beside_plain
from mebnb.report.pages import build_pages
from mebnb.report.source import show_source
from mebnb.solvers import plain


def core_set_away(points, **options):
    return mebnb.core_set(points, away=True, **options)


# Plain form and solver, the name of the tolerance, the gap held against the FW gap.
FAMILY = {
    "frank_wolfe": (mebnb.frank_wolfe, "tol", None),
    "away_step": (mebnb.away_step, "tol", "away"),
    "pairwise": (mebnb.pairwise, "tol", None),
    "blended_pairwise": (mebnb.blended_pairwise, "tol", "local"),
    "core_set": (mebnb.core_set, "eps", None),
    "core_set_away": (core_set_away, "eps", "away"),
}
# Fewest steps, over all clouds, that no tie decides.
COMPARED = {
    "frank_wolfe": 6000,
    "away_step": 400,
    "pairwise": 130,
    "blended_pairwise": 200,
    "core_set": 800,
    "core_set_away": 280,
}
LOOSE = {"tol": 0.05, "eps": 0.01}


def clouds():
    """Normal clouds in 2 to 5 dimensions, on a grid.

    There the middle of two points is exact, and the tie after the first step from the
    first point is one for both sides, who then take the point with the smaller number.
    """
    for n in (2, 3, 4, 5):
        for seed in range(8):
            points = np.random.default_rng(seed).normal(size=(40, n))
            yield np.round(points * 1024) / 1024


def both(name, points, tolerance):
    """The plain weights and steps, the solver's ball and states."""
    solver, called, _ = FAMILY[name]
    weights, steps = getattr(plain, name)(points, tolerance)
    states = []
    ball = solver(
        points, **{called: tolerance}, max_iter=10_000, callback=states.append
    )
    return weights, steps, ball, states


@pytest.mark.parametrize("name", FAMILY)
def test_solver_takes_the_plain_steps(name):
    _, called, rival = FAMILY[name]
    compared = 0
    for points in clouds():
        _, steps, ball, states = both(name, points, LOOSE[called])
        table = beside_plain(points, steps, states, rival)
        tie = table["tie"].to_numpy(copy=True)
        if name == "pairwise":
            tie[1] = False  # exact on the grid
        decided = int(tie.argmax()) if tie.any() else len(tie)
        same = table.iloc[:decided][["same points", "same length", "same weights"]]
        assert same.all(axis=None), table
        assert tie.any() or len(steps) == ball.iterations
        compared += decided
    assert compared >= COMPARED[name]


@pytest.mark.parametrize("name", FAMILY)
def test_plain_form_and_solver_end_with_the_same_ball(name):
    slow = name in ("frank_wolfe", "core_set")
    tolerance = LOOSE[FAMILY[name][1]] if slow else 1e-10
    for points in clouds():
        weights, _, ball, _ = both(name, points, tolerance)
        d = plain.squared_distances(points, weights @ points)
        gap = tolerance * (3 if name.startswith("core_set") else 1 / (weights @ d))
        assert d.max() <= (1 + gap) * (weights @ d)
        assert_optimal(points, ball_of_weights(points, weights), rtol=gap)
        assert math.sqrt(d.max()) == pytest.approx(ball.radius, rel=1.1 * gap)
        assert ball.converged


def test_beside_plain_tells_other_steps_apart():
    """The comparison can fail: pairwise steps are not away steps."""
    points = next(clouds())
    states = []
    mebnb.away_step(points, callback=states.append)
    table = beside_plain(points, plain.pairwise(points, 1e-3)[1], states)
    for column in ("same points", "same length", "same weights"):
        assert not table[column].all()


def test_beside_plain_without_a_step_has_its_columns():
    points = np.array([[-1.0, 0.0], [1.0, 0.0]])
    states = []
    mebnb.core_set(points, eps=0.1, callback=states.append)
    table = beside_plain(points, plain.core_set(points, 0.1)[1], states)
    assert table.empty
    assert list(table) == COLUMNS
    assert table[~table["tie"].cummax()].empty


def test_exact_ball_is_the_plain_one():
    for points in clouds():
        weights = plain.minimum_enclosing_ball(points, 1e-12)
        ball = mebnb.minimum_enclosing_ball(points)
        assert_optimal(points, ball_of_weights(points, weights))
        center = weights @ points
        radius = math.sqrt(plain.squared_distances(points, center).max())
        assert radius == pytest.approx(ball.radius, rel=1e-9)
        np.testing.assert_allclose(center, ball.center, atol=1e-9)
        assert np.array_equal(np.flatnonzero(weights), ball.support)
        np.testing.assert_allclose(weights[ball.support], ball.weights, atol=1e-9)


DEGENERATE = {
    "one point": [[1.0, 2.0]],
    "all equal": [[3.0, 1.0]] * 4,
    "on a line": [[0.0, 0.0], [1.0, 1.0], [3.0, 3.0], [2.0, 2.0]],
    "square": [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]],
    "cross-polytope": np.vstack([np.eye(4), -np.eye(4)]),
    "fewer points than features": np.eye(3, 6),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_exact_plain_ball_where_corners_are_dependent(name):
    points = np.asarray(DEGENERATE[name])
    weights = plain.minimum_enclosing_ball(points, 1e-12)
    ball = mebnb.minimum_enclosing_ball(points)
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(weights @ points, ball.center, atol=1e-9)


@pytest.mark.parametrize("nu", [0.05, 0.13, 0.5])
def test_soft_ball_is_the_plain_one(nu):
    for points in clouds():
        weights, rho = plain.soft_ball(points, nu, 1e-11)
        ball = mebnb.soft_ball(points, nu, tol=1e-12)
        np.testing.assert_allclose(weights @ points, ball.center, atol=1e-9)
        d = plain.squared_distances(points, weights @ points)
        price = 1 / (nu * len(points))
        primal = rho + price * np.maximum(d - rho, 0).sum()
        assert primal == pytest.approx(ball.primal, rel=1e-9)
        assert weights @ d == pytest.approx(ball.dual, rel=1e-9)
        low, high = ball.rho_interval
        assert low - 1e-9 <= rho <= high + 1e-9


@pytest.mark.parametrize("lam", [0.01, 0.3])
def test_excluding_ellipsoid_is_the_plain_one(lam):
    for seed in range(3):
        negatives = np.random.default_rng(seed).normal(size=(25, 2))
        center = np.array([0.1, -0.2])
        R, M, alpha = plain.excluding_ellipsoid(negatives, center, 0.5, lam, 2.0, 1e-13)
        found = mebnb.excluding_ellipsoid(negatives, center, 0.5, lam, 2.0, tol=1e-13)
        assert pytest.approx(found.R, rel=1e-9) == R
        np.testing.assert_allclose(M, found.M, rtol=1e-7, atol=1e-9)
        assert 0 <= alpha.min() <= alpha.max() <= 1 / 25


# --- the source in the page ----------------------------------------------------------


def test_source_is_shown_in_full_also_where_a_page_hides_its_inputs(
    tmp_path, monkeypatch
):
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    show_source(plain.pairwise)
    output = nbformat.v4.new_output("display_data", {"text/markdown": shown[0].data})
    cell = nbformat.v4.new_code_cell("show_source(...)", outputs=[output])
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell("# Title"), cell]
    )
    (page,) = build_pages({"04_page": (notebook, tmp_path)}, with_code=False)
    assert not page.soup.select(".cell.code details")
    told = page.soup.select_one(".highlight pre").get_text()
    code = inspect.getsource(plain.pairwise)
    _, body = code.split("    u = np", 1)
    assert body.strip() in told
    assert told.startswith("def pairwise(points, tol):")
    assert "Parameters" not in told
    assert page.soup.select(".highlight .k")


def test_blending_stays_among_active_points_at_a_tie():
    # After steps of 1/2 and 1/4 all numbers are dyadic, so that the tie is exact: the
    # active spread equals the Frank-Wolfe gap, and no new point may come in.
    points = np.array([[4.0, 6.0], [2.0, 2.0], [6.0, 3.0], [6.0, 5.0]])
    _, steps = plain.blended_pairwise(points, 1e-6)
    first, second, third = steps[:3]
    assert (first.alpha, second.alpha) == (0.5, 0.25)
    d = plain.squared_distances(points, second.weights @ points)
    active = d[second.weights > 0]
    assert active.max() - active.min() == d.max() - second.weights @ d
    assert (third.towards, third.away) == (1, 0)


def test_a_tie_of_both_gaps_is_a_step_towards():
    # Dyadic all along: after two steps the Frank-Wolfe gap is the away gap.
    points = np.array([[-1.0, 1.0], [-2.0, 3.0], [-3.0, -2.0], [1.0, -3.0]])
    _, steps = plain.away_step(points, 1e-3)
    u = steps[1].weights
    assert u.tolist() == [0.3125, 0.375, 0.0, 0.3125]
    d = plain.squared_distances(points, u @ points)
    assert d.max() - u @ d == u @ d - d[u > 0].min() > 0.0
    assert (steps[2].towards, steps[2].away) == (d.argmax(), None)
