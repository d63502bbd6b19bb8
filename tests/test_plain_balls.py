"""The finite methods as textbooks have them, held to the exact ball."""

import dataclasses
import inspect
import itertools
import math
import sys

import numpy as np
import pytest
import rational
from kkt import assert_optimal, ball_of_weights
from scipy.optimize import nnls

import mebnb
from mebnb.experiments.exact_ball import METHODS, watching
from mebnb.experiments.sets import normal_cloud, sphere_cloud
from mebnb.solvers import plain_balls
from mebnb.solvers.balls import enclosing_radius, squared_distances

each = pytest.mark.parametrize("name", METHODS)
PLAIN = [name for name in METHODS if name != "active_set"]
TIED = [rational.ties, rational.repeats, rational.regular, rational.normal]


def convex_weights(points, ball):
    """Weights on the simplex, of the support alone, for the center."""
    rows = points[ball.support] - ball.center
    reach = np.abs(rows).max() or 1.0
    system = np.vstack([rows.T / reach, np.ones(len(rows))])
    found, _ = nnls(system, np.append(np.zeros(points.shape[1]), 1.0))
    weights = np.zeros(len(points))
    np.add.at(weights, ball.support, found)
    return weights / weights.sum()


@each
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_a_plain_ball_is_optimal_and_the_exact_one(name, n):
    for seed in range(6):
        points = normal_cloud(25, n, seed)
        ball, best = METHODS[name](points), mebnb.minimum_enclosing_ball(points)
        told = ball_of_weights(points, convex_weights(points, ball))
        lower = min(told.lower_bound, told.radius)  # equal but for the last bit
        assert_optimal(points, dataclasses.replace(told, lower_bound=lower))
        np.testing.assert_allclose(ball.center, best.center, atol=1e-9)
        assert math.sqrt(ball.square) == pytest.approx(best.radius, rel=1e-9)
        assert sorted(ball.support) == list(best.support)
        assert min(ball.weights) > 0


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("family", TIED, ids=lambda family: family.__name__)
def test_ties_and_repeated_rows(name, family):
    rng = np.random.default_rng(3)
    for _ in range(25):
        points = family(rng)
        ball = METHODS[name](points)
        _, square, _ = rational.smallest_ball(points)
        true = math.sqrt(square)
        assert enclosing_radius(points, ball.center) <= true * (1 + 1e-9) + 1e-15
        assert math.sqrt(ball.square) == pytest.approx(true, rel=1e-9)
        assert len(set(ball.support)) == len(ball.support) <= points.shape[1] + 1


@each
def test_the_order_of_the_rows_does_not_matter(name):
    points = normal_cloud(20, 3, 8)
    ball = METHODS[name](points)
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(20)
        other = METHODS[name](points[order])
        np.testing.assert_allclose(other.center, ball.center, atol=1e-12)
        assert sorted(order[other.support]) == sorted(ball.support)


def test_ball_through_rows_has_them_on_its_sphere_and_its_center_in_their_span():
    points = normal_cloud(6, 4, 2) + 10
    for size in range(1, 6):
        ball = plain_balls.ball_through(points, list(range(size)))
        np.testing.assert_allclose(
            squared_distances(points[:size], ball.center), ball.square, atol=1e-9
        )
        np.testing.assert_allclose(ball.weights @ points[:size], ball.center)
        assert ball.weights.sum() == pytest.approx(1.0)


def test_the_ball_of_no_row_holds_no_point():
    ball = plain_balls.ball_through(np.zeros((3, 2)), [])
    assert ball.misses(np.zeros(2)) and ball.support == []
    assert ball.square == -1.0 and ball.weights.size == 0


@pytest.mark.parametrize("name", PLAIN)
def test_the_ball_of_one_row_is_that_row(name):
    ball = METHODS[name](np.array([[3.0, 1.0]]))
    assert (ball.center.tolist(), ball.square, ball.support) == ([3.0, 1.0], 0.0, [0])


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("scale", [2.0**-30, 2.0**30])
def test_the_unit_does_not_matter(name, scale):
    points = normal_cloud(20, 3, 5)
    ball, other = METHODS[name](points), METHODS[name](scale * points)
    assert list(other.support) == list(ball.support)
    assert other.square == pytest.approx(scale**2 * ball.square, rel=1e-12)


def test_a_row_on_the_sphere_is_not_outside():
    ball = plain_balls.ball_through(np.array([[0.1, 0.2], [0.7, -0.3]]), [0, 1])
    for angle in np.linspace(0, 6, 50):
        way = math.sqrt(ball.square) * np.array([math.cos(angle), math.sin(angle)])
        assert not ball.misses(ball.center + way)
        assert ball.misses(ball.center + (1 + 1e-11) * way)


def test_welzl_needs_a_frame_for_each_row_and_move_to_front_does_not():
    points, before = normal_cloud(400, 2, 1), sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 150)
    try:
        with pytest.raises(RecursionError):
            plain_balls.welzl(points)
        found = plain_balls.move_to_front(points)
    finally:
        sys.setrecursionlimit(before)
    assert not any(found.misses(point) for point in points)


def test_the_center_walks_while_the_ball_holds_all_rows_and_shrinks():
    for seed in range(5):
        points = normal_cloud(40, 3, seed)
        _, stops = plain_balls.walking_center(points)
        radii = []
        for center, S in stops:
            radii.append(enclosing_radius(points, center))
            on_it = np.linalg.norm(points[S] - center, axis=1)
            np.testing.assert_allclose(on_it, radii[-1], rtol=1e-9)
        assert len(stops) > 3
        assert all(b <= a * (1 + 1e-12) for a, b in itertools.pairwise(radii))


def test_a_row_that_meets_the_sphere_at_the_end_of_the_walk_does_not_join():
    points = np.array([[0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]])
    ball, stops = plain_balls.walking_center(points)
    assert (ball.center.tolist(), ball.square, ball.support) == ([0, 0], 1.0, [1, 2])
    assert [rows for _, rows in stops] == [[1], [1, 2]]


def test_a_row_without_weight_does_not_leave_the_walk():
    points = np.array([[-0.5, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    ball, stops = plain_balls.walking_center(points)
    assert [rows for _, rows in stops] == [[1], [1, 2], [1, 2, 3]]
    np.testing.assert_allclose(ball.weights, [0.5, 0.0, 0.5], atol=1e-15)


def test_the_last_row_that_was_outside_moves_to_the_front():
    for seed in range(8):
        points, rows = normal_cloud(60, 2, seed), list(range(60))
        ball = plain_balls.on_the_sphere(points, rows, [])
        assert sorted(rows) == list(range(60))
        assert rows[0] in ball.support and rows[0] != 0


def test_a_row_of_the_sphere_does_not_meet_it_again(monkeypatch):
    monkeypatch.setattr(plain_balls, "SLACK", 0.0)
    for seed in (13, 27, 28, 35):
        points = np.random.default_rng(seed).normal(size=(20, 3))
        with watching(200):
            ball, _ = plain_balls.walking_center(points)
        assert len(set(ball.support)) == len(ball.support)


@pytest.mark.parametrize("size", [3, 10, 40])
def test_sampling_ends_with_the_exact_ball(size):
    for n, seed in itertools.product((1, 2, 6), range(4)):
        points = normal_cloud(500, n, seed)
        sample, looks = plain_balls.sampling_ball(points, size)
        best = mebnb.minimum_enclosing_ball(points)
        assert looks[-1].new.radius == pytest.approx(best.radius, rel=1e-12)
        assert np.unique(sample).size == size
        last = looks[-1]
        proved = last.inner + last.shift <= last.new.radius
        assert proved or last.new.radius <= last.ball.radius
        for look in looks:
            assert 4 * size <= look.shell.size <= 4 * size + n + 1
            gone = np.delete(points, look.shell, axis=0)
            apart = np.linalg.norm(gone - look.ball.center, axis=1)
            assert look.inner == pytest.approx(apart.max(), rel=1e-12)
            assert look.shift == math.dist(look.new.center, look.ball.center)
            # What the stop's proof says of the rows let go.
            seen = enclosing_radius(gone, look.new.center)
            assert seen <= (look.inner + look.shift) * (1 + 1e-12)
        for look in looks[:-1]:
            assert look.inner + look.shift > look.new.radius
            assert look.new.radius > look.ball.radius


def test_a_sample_of_all_rows_is_done_at_once():
    points = normal_cloud(12, 2, 4)
    sample, looks = plain_balls.sampling_ball(points, 12)
    assert sorted(sample) == list(range(12))
    assert len(looks) == 1 and looks[0].inner == 0.0


def test_sampling_ends_where_all_rows_lie_on_the_sphere(monkeypatch):
    asked = []

    def counted(points):
        asked.append(len(points))
        assert len(asked) < 100, "it does not end"
        return mebnb.minimum_enclosing_ball(points)

    monkeypatch.setattr(plain_balls, "minimum_enclosing_ball", counted)
    for seed in (1, 4, 14, 20):
        points = sphere_cloud(300, 6, seed)
        _, looks = plain_balls.sampling_ball(points, 4)
        assert looks[-1].new.radius == pytest.approx(1.0, rel=1e-12)
