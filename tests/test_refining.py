"""The ball in rational arithmetic, held to the search through all subsets."""

from fractions import Fraction

import numpy as np
import pytest
from rational import exactly, smallest_ball, squared_distance

from mebnb.solvers import refining
from mebnb.solvers.passes import Rows
from mebnb.solvers.refining import refine

SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [0.5, 0.0]])
OBTUSE = np.array([[-5.0, 0.0], [5.0, 0.0], [0.0, 1.0]])


def clouds():
    """Small clouds with many ties, each with a support to start from."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        m, n = rng.integers(2, 9), rng.integers(1, 4)
        points = rng.integers(-3, 4, size=(m, n)) / 4.0
        yield points, rng.choice(m, size=rng.integers(1, m + 1), replace=False)


def assert_the_smallest(points, found):
    """Center and square are exact, and the weights are those of the center."""
    support, weights, center, square, _ = found
    expected_center, expected_square, _ = smallest_ball(points)
    assert center == expected_center and square == expected_square
    rows = [exactly(points)[i] for i in support]
    assert all(squared_distance(row, center) == square for row in rows)
    assert weights.min() > 0.0 and weights.sum() == pytest.approx(1.0, rel=1e-15)
    np.testing.assert_allclose(
        weights @ points[support], [float(x) for x in center], rtol=0, atol=1e-15
    )
    legs = points[support[1:]] - points[support[0]]
    assert np.linalg.matrix_rank(legs) == len(support) - 1


def test_ties_of_all_kinds_against_all_subsets():
    for points, support in clouds():
        found = refine(Rows(points), 1.0, support, 100)
        assert_the_smallest(points, found)


class Watched(refining._Hull):
    """Holds each move to what the method promises."""

    moves = 0

    def enter(self, row, point):
        before = self.ball() if self.rows else (None, Fraction(-1))
        outside = (
            not self.rows
            or squared_distance(exactly([point])[0], before[0]) > before[1]
        )
        super().enter(row, point)
        center, square = self.ball()
        assert square > before[1] or not outside
        assert set(self.rows) == set(self.edges) == set(self.weights)
        assert min(self.weights.values()) > 0 and sum(self.weights.values()) == 1

    def _leave(self, row):
        # Inside the simplex all the way: the first weight that vanishes is its row's.
        assert self.weights[row] == 0 and min(self.weights.values()) >= 0
        # A row that is in the span of others gets its weight after that.
        assert len(self.rows) < len(self.edges) or sum(self.weights.values()) == 1
        Watched.moves += 1
        super()._leave(row)


def test_each_row_leaves_with_its_weight_and_each_that_enters_raises_the_square(
    monkeypatch,
):
    monkeypatch.setattr(refining, "_Hull", Watched)
    for points, support in clouds():
        assert_the_smallest(points, refine(Rows(points), 1.0, support, 100))
    assert Watched.moves > 50


def test_a_row_in_the_span_takes_weight_without_moving_the_center(monkeypatch):
    monkeypatch.setattr(refining._Hull, "_climb", lambda hull: None)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        points = rng.integers(-9, 10, size=(5, 3)) / 1.0
        hull = refining._Hull(exactly(points)[0])
        for row in range(4):
            hull.enter(row, points[row])
        hull.weights = {r: Fraction(int(rng.integers(1, 9)), 8) for r in hull.rows}
        before, total = hull._mean(hull.weights), sum(hull.weights.values())
        hull.enter(4, points[4])
        assert hull._mean(hull.weights) == before and len(hull.rows) == 4
        assert min(hull.weights.values()) >= 0 and hull.weights[4] > 0
        assert sum(hull.weights.values()) == total


def test_every_order_of_an_obtuse_triangle_drops_the_inner_corner():
    for support in ([0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0]):
        found = refine(Rows(OBTUSE), 1.0, np.array(support), 10)
        assert sorted(found[0]) == [0, 1] and list(found[1]) == [0.5, 0.5]
        assert found[2:4] == ([0, 0], 25)


def test_weights_by_hand():
    # Circumcentre (1, 3/4): weights 5/16 at each end of the base, 3/8 at the top.
    points = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 2.0]])
    support, weights, center, square, entered = refine(
        Rows(points), 1.0, np.arange(3), 0
    )
    assert dict(zip(support.tolist(), weights, strict=True)) == {
        0: 0.3125,
        1: 0.3125,
        2: 0.375,
    }
    assert (center, square, entered) == ([1, Fraction(3, 4)], Fraction(25, 16), 0)


def test_rows_that_enter_are_counted_and_limited():
    points = np.array([[0.0], [1.0], [2.0]])
    assert refine(Rows(points), 1.0, np.array([0, 2]), 0)[2:] == ([1], 1, 0)
    assert refine(Rows(points), 1.0, np.array([0]), 1)[2:] == ([1], 1, 1)
    assert refine(Rows(points), 1.0, np.array([0]), 0) is None
    assert refine(Rows(points), 1.0, np.array([1]), 2)[4] == 2
    assert refine(Rows(points), 1.0, np.array([1]), 1) is None


def test_one_point_and_equal_points():
    points = np.array([[3.0, 4.0], [3.0, 4.0]])
    for support in ([0], [0, 1]):
        found = refine(Rows(points), 1.0, np.array(support), 0)
        assert found[0].size == 1 and list(found[1]) == [1.0]
        assert found[2:] == ([3, 4], 0, 0)


def test_a_support_that_is_too_large_has_no_answer(monkeypatch):
    assert refining.MOST == 24
    monkeypatch.setattr(refining, "MOST", 3)
    for size, there in ((3, True), (4, False)):
        found = refine(Rows(np.eye(size)), 1.0, np.arange(size), 0)
        assert (found is not None) == there
        if there:
            assert found[2:4] == ([Fraction(1, size)] * size, 1 - Fraction(1, size))


@pytest.mark.parametrize("scale", [2.0**-600, 2.0**600])
def test_the_scale_keeps_squares_from_overflow_and_underflow(scale):
    points = SQUARE / scale
    support, _, center, square, _ = refine(Rows(points), scale, np.array([4]), 10)
    assert len(support) == 2
    assert center == [0, 0] and square == 2 / Fraction(scale) ** 2


def test_the_farthest_row_is_told_where_float64_cannot_hold_the_center():
    # The center is 1 + 2**-53, between two float64; so are the distances.
    points = np.array([[1.0], [1.0 + 2.0**-52], [1.0 + 2.0**-53]])
    center = [1 + Fraction(1, 2**53)]
    assert (
        refining._farthest(Rows(points), 1.0, [center[0] - Fraction(1, 2**60)])[0] == 1
    )
    assert (
        refining._farthest(Rows(points), 1.0, [center[0] + Fraction(1, 2**60)])[0] == 0
    )


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
def test_what_float64_cannot_hold_of_the_center_decides_in_its_size(scale):
    # From 1 + x the rows are 2**-40 - 2**-53 + x and 2**-40 - x away.
    points = np.array([[1.0 - 2.0**-40 + 2.0**-53], [1.0 + 2.0**-40]])
    for x, farthest in [(Fraction(3, 2**55), 0), (Fraction(1, 2**55), 1)]:
        assert refining._farthest(Rows(points), scale, [1 + x])[0] == farthest
