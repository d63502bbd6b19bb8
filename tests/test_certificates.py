"""Certificates: right balls pass, wrong ones fail, and doubtful ones are called so."""

import dataclasses
import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
import rational
from kkt import assert_optimal

from mebnb import (
    Solution,
    away_step,
    blended_pairwise,
    core_set,
    frank_wolfe,
    minimum_enclosing_ball,
    pairwise,
    verify,
)
from mebnb.solvers.certificates import EPS, _integers, _lowest_bit, _rank, _ratio

SQUARE = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, -0.5]])


def ball(**changes):
    """The smallest ball of SQUARE, or something like it."""
    fields = dict(
        center=np.zeros(2),
        radius=1.0,
        lower_bound=1.0,
        support=np.array([0, 1]),
        weights=np.array([0.5, 0.5]),
        iterations=3,
        converged=True,
        message="by hand",
        independent=True,
    )
    return Solution(**fields | changes)


def claims(solution, points=SQUARE, **options):
    table = verify(points, solution, **options).table
    return dict(zip(table["claim"], table["passed"], strict=True))


# --- right balls -------------------------------------------------------------------


@pytest.mark.parametrize("exact", [False, True])
def test_a_right_ball_is_verified(exact):
    certificate = verify(SQUARE, ball(), exact=exact)
    assert certificate and certificate.passed is True
    assert certificate.verdict == "passed"
    assert certificate.radius == 1.0 and certificate.lower_bound == 1.0
    assert certificate.message == "passed: every claim holds"


def test_a_certificate_shows_itself():
    certificate = verify(SQUARE, ball(radius=1.0 - 1e-9))
    message = "failed: 'every point inside' is violated by 1.0e-09, tolerance 1.0e-12"
    assert certificate.message == message
    for shown in (repr(certificate), certificate._repr_html_()):
        assert message in shown and "lower bound = dual value" in shown
    # Rows have no numbers, which would say nothing.
    assert repr(certificate).splitlines()[2].split()[0] == "finite,"
    assert "<th>0</th>" not in certificate._repr_html_()
    # Of several claims that are violated the first is told.
    wrong = verify(SQUARE, ball(center=np.array([0.25, 0.0]), lower_bound=0.5))
    assert wrong.message.startswith("failed: 'center = weighted points' is violated by")


def test_rtol_of_verify():
    loose = ball(radius=1.001)
    for exact in (False, True):
        assert not verify(SQUARE, loose, exact=exact)
        assert verify(SQUARE, loose, rtol=1e-2, exact=exact)


@pytest.mark.parametrize("rtol", [-1.0, math.nan, math.inf])
def test_a_senseless_rtol_is_refused(rtol):
    with pytest.raises(ValueError, match="^rtol must be finite and at least 0"):
        verify(SQUARE, ball(), rtol=rtol)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-200, 1e150, 1e200, 1.7e308])
def test_verify_at_every_scale(scale, exact):
    points = SQUARE * scale
    assert verify(points, ball(radius=scale, lower_bound=scale), exact=exact)
    if scale > 1e-300:
        short = ball(radius=scale * (1 - 1e-9), lower_bound=scale)
        assert not verify(points, short, exact=exact)


def test_verify_reads_float32_without_loss():
    points = (np.random.default_rng(0).normal(size=(200, 3)) / 3).astype(np.float32)
    solution = minimum_enclosing_ball(points)
    table = verify(points, solution).table
    assert table["violation"].max() < 1e-14
    moved = dataclasses.replace(solution, radius=solution.radius * (1 - 1e-11))
    assert not verify(points, moved)


# --- wrong in one field ------------------------------------------------------------

WRONG = {
    "weights off the simplex": (
        {"weights": np.array([0.5, 0.5 + 1e-9])},
        "weights on the simplex",
    ),
    "negative weight": ({"weights": np.array([1.5, -0.5])}, "weights on the simplex"),
    "weights that cancel": ({"weights": np.array([1, -1])}, "weights on the simplex"),
    "huge weights": ({"weights": np.full(2, 1e308)}, "weights on the simplex"),
    "other weights": (
        {"weights": np.array([0.6, 0.4])},
        "center = weighted points",
    ),
    "center moved": ({"center": np.array([1e-9, 0.0])}, "center = weighted points"),
    "center far": ({"center": np.array([0.0, 1e300])}, "every point inside"),
    "radius too small": ({"radius": 1.0 - 1e-9}, "every point inside"),
    "radius zero": ({"radius": 0.0}, "every point inside"),
    "radius too large": ({"radius": 1.0 + 2e-9}, "radius / lower bound - 1"),
    "radius huge": ({"radius": 1e300}, "radius / lower bound - 1"),
    "bound doubled": ({"lower_bound": 2.0}, "lower bound = dual value"),
    "bound halved": ({"lower_bound": 0.5}, "lower bound = dual value"),
    "bound zero": ({"lower_bound": 0.0}, "lower bound = dual value"),
    "bound a little high": (
        {"lower_bound": 1.0 + 1e-11},
        "lower bound = dual value",
    ),
    "other support": ({"support": np.array([0, 2])}, "radius / lower bound - 1"),
    "NaN radius": ({"radius": math.nan}, "finite, no length negative"),
    "infinite radius": ({"radius": math.inf}, "finite, no length negative"),
    "negative radius": ({"radius": -1.0}, "finite, no length negative"),
    "NaN bound": ({"lower_bound": math.nan}, "finite, no length negative"),
    "negative bound": ({"lower_bound": -1.0}, "finite, no length negative"),
    "NaN center": ({"center": np.array([0, math.nan])}, "finite, no length negative"),
    "NaN weight": (
        {"weights": np.array([0.5, math.nan])},
        "finite, no length negative",
    ),
}


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("case", WRONG)
def test_a_field_that_is_wrong_fails(case, exact):
    changes, claim = WRONG[case]
    certificate = verify(SQUARE, ball(**changes), exact=exact)
    assert certificate.verdict == "failed" and not certificate.passed
    table = certificate.table.set_index("claim")
    assert table.loc[claim, "verdict"] == "failed"


@pytest.mark.parametrize("case", WRONG)
def test_the_battery_of_conditions_refuses_it_too(case):
    assert_optimal(SQUARE, ball())
    with pytest.raises(AssertionError), np.errstate(all="ignore"):
        assert_optimal(SQUARE, ball(**WRONG[case][0]))


@pytest.mark.parametrize("name", ["radius", "lower_bound", "center"])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("off", [1e-14, 1e-200, 1e200])
def test_all_points_equal_leave_no_room(name, exact, off):
    points = np.zeros((3, 2))
    right = Solution(
        points[0], 0.0, 0.0, np.array([1]), np.array([1.0]), 0, True, "by hand"
    )
    assert verify(points, right, exact=exact)
    wrong = dataclasses.replace(right, **{name: getattr(right, name) + off})
    assert not verify(points, wrong, exact=exact)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("scale", [1.0, 8.0, 2.0**-40, 2.0**200])
def test_the_table_by_hand(exact, scale):
    # The mean is 0, the dual value 1, and (-1, 0) is 5/4 from the center.
    wrong = ball(
        center=np.array([0.25 * scale, 0.0]), radius=scale, lower_bound=0.5 * scale
    )
    certificate = verify(SQUARE * scale, wrong, exact=exact)
    assert (certificate.radius, certificate.lower_bound) == (1.25 * scale, scale)
    table = certificate.table
    np.testing.assert_allclose(table["violation"], [0, 0, 0.25, 0.25, 0.5, 0.25, 0])
    # 22.5 = n / 4 + k + 20 operations, each rounded once.
    error = 0.0 if exact else 22.5 * EPS
    tight = 1e-12 + error
    np.testing.assert_allclose(
        table["tolerance"], [0.0, 1e-12, tight, tight, tight, 1e-9, 0.0], rtol=1e-14
    )
    # The spacing of float64 at the radius 1, the bound 1/2 and the center 1/4.
    rounding = np.array([0.0, 0.0, 0.0, 1.0, 0.5, 0.25 + 45.0, 0.0]) * EPS
    np.testing.assert_allclose(table["rounding"], 0.0 if exact else rounding)


def test_last_bits_of_weights_and_radius():
    def verdict(**changes):
        return verify(SQUARE, ball(**changes)).verdict

    for off, said in ((0.5e-12, "passed"), (1.5e-12, "failed")):
        assert verdict(radius=1.0 - off) == said
        assert verdict(weights=np.array([0.5, 0.5 + off])) == said
    # A ball that is a little larger violates no claim about the inside; weights that
    # sum to a little more have the mean of those that are divided by their sum.
    large, heavy = ball(radius=1.0 + 1e-10), ball(weights=np.full(2, 0.5 + 2e-13))
    for solution in (large, heavy):
        table = verify(SQUARE, solution).table.set_index("claim")["violation"]
        assert 0.0 <= table["every point inside"] < 1e-15
        assert 0.0 <= table["center = weighted points"] < 1e-15
    # Weights below 0 by less than the last bits make a dual value below 0.
    tilted = ball(
        center=np.array([-1.0, 0.0]),
        radius=2.0,
        lower_bound=0.0,
        weights=np.array([1.0 + 1e-13, -1e-13]),
    )
    for exact in (False, True):
        certificate = verify(SQUARE, tilted, exact=exact)
        assert certificate.lower_bound == 0.0 and certificate.verdict == "failed"


@pytest.mark.parametrize("exact", [False, True])
def test_a_center_may_be_rounded_where_it_lies(exact):
    # All of it exact, and the center may be off by the spacing of float64 at 2^30.
    points, center = SQUARE + 2.0**30, np.full(2, 2.0**30)
    right = ball(center=center)
    violation = verify(points, right, exact=exact).table["violation"]
    assert violation[2] == 0.0 and violation[3] == 0.0
    off = verify(points, ball(center=np.nextafter(center, 0.0)), exact=exact).table
    assert off["violation"][2] == 0.0 and off["violation"][3] > 0.0
    two = verify(points, ball(center=center + [2.0**-20, 0.0]), exact=exact).table
    spacing = math.sqrt(2.0) * 2.0**-22
    assert two["violation"][2] == pytest.approx(2.0**-20 - spacing, rel=1e-7)


def test_multiples_of_the_last_bit():
    for values, lowest in (
        *(([4.0, 0.0], -50), ([-1.0], -52), ([1.0], -52), ([8.0, 0.25], -54)),
        *(([0.0], 0), ([2.0**60], 0), ([], 0)),
    ):
        assert _lowest_bit(values) == lowest
        found = _integers(values, lowest)
        assert [Fraction(int(x)) * Fraction(2) ** lowest for x in found] == values


def test_a_part_of_nothing():
    assert _ratio(0, 0) == _ratio(0, 3) == 0 and _ratio(1, 0) == math.inf
    assert _ratio(Fraction(1), 2) == Fraction(1, 2) and _ratio(-1, 1) == -1
    assert _ratio(Fraction(1), 1) == 1


def test_points_the_solver_never_saw_are_noticed():
    more = np.vstack([SQUARE, [[3.0, 0.0]]])
    assert not claims(ball(), more)["every point inside"]


REFUSED = {
    "center": (
        {"center": np.zeros(3)},
        "solution.center must have shape (2,) like the points, found (3,)",
    ),
    "lengths": (
        {"weights": np.ones(1)},
        "solution.support and solution.weights must have the same length >= 1, "
        "found (2,) and (1,)",
    ),
    "empty": (
        {"support": np.array([], int), "weights": np.array([])},
        "solution.support and solution.weights must have the same length >= 1, "
        "found (0,) and (0,)",
    ),
    "two dimensions": (
        {"support": np.array([[0], [1]]), "weights": np.full((2, 1), 0.5)},
        "solution.support and solution.weights must have the same length >= 1, "
        "found (2, 1) and (2, 1)",
    ),
    "float rows": (
        {"support": np.array([0.0, 1.0])},
        "solution.support must hold row numbers, whole numbers of an integer type, "
        "found dtype float64",
    ),
    "a mask": (
        {"support": np.array([True, True])},
        "solution.support must hold row numbers, whole numbers of an integer type, "
        "found dtype bool",
    ),
    "row 4": (
        {"support": np.array([0, 4])},
        "solution.support must index the 4 points, found 0 to 4",
    ),
    "row -1": (
        {"support": np.array([-1, 1])},
        "solution.support must index the 4 points, found -1 to 1",
    ),
    "a row twice": (
        {"support": np.array([1, 1])},
        "solution.support must hold distinct rows, found repeats",
    ),
    "converged": (
        {"converged": None},
        "solution.converged must be True or False, found None",
    ),
    "iterations": (
        {"iterations": -1},
        "solution.iterations must be finite and at least 0, found -1",
    ),
    "part of an iteration": (
        {"iterations": 2.5},
        "solution.iterations must be an integer, found 2.5",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_the_points_is_refused(case):
    changes, message = REFUSED[case]
    with pytest.raises((ValueError, TypeError)) as caught:
        verify(SQUARE, ball(**changes))
    assert str(caught.value) == message


# --- affine independence -----------------------------------------------------------

LINE = np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
INDEPENDENCE = "support affinely independent"


def on_the_line(rows, weights, **changes):
    return ball(support=np.array(rows), weights=np.array(weights), **changes)


@pytest.mark.parametrize("exact", [False, True])
def test_independence_is_checked_where_it_is_promised(exact):
    kept = on_the_line([0, 2], [0.5, 0.5])
    assert verify(LINE, kept, exact=exact)
    for rows in ([0, 1, 2], [0, 1, 2, 3]):
        broken = on_the_line(rows, [0.5, *[0.0] * (len(rows) - 2), 0.5])
        broken = dataclasses.replace(
            broken, weights=np.isin(rows, [0, 2]).astype(float) / 2
        )
        found = verify(LINE, broken, exact=exact)
        assert not found.table.set_index("claim").loc[INDEPENDENCE, "passed"]
        unpromised = dataclasses.replace(broken, independent=False)
        assert verify(LINE, unpromised, exact=exact)


@pytest.mark.parametrize("exact", [False, True])
def test_repeated_rows_are_dependent_beyond_doubt(exact):
    points = np.array([[-1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    repeated = on_the_line([0, 1, 2], [0.5, 0.25, 0.25])
    assert verify(points, repeated, exact=exact).verdict == "failed"


def test_nearly_dependent_rows_need_exact_arithmetic():
    near = LINE.copy()
    near[1, 1] = 1e-17
    solution = on_the_line([0, 1, 2], [0.5, 0.0, 0.5])
    assert verify(near, solution).verdict == "cannot certify"
    assert verify(near, solution, exact=True).verdict == "passed"
    assert verify(LINE, solution).verdict == "cannot certify"
    assert verify(LINE, solution, exact=True).verdict == "failed"


@pytest.mark.parametrize("exact", [False, True])
def test_more_rows_than_a_simplex_has_are_dependent(exact):
    weights = np.array([0.5, 0.5, 0.0, 0.0])
    four = ball(support=np.arange(4), weights=weights)
    table = verify(SQUARE, four, exact=exact).table.iloc[-1]
    assert tuple(table)[1:] == (1.0, 0.0, 0.0, "failed", False)
    one = Solution(np.ones(2), 0.0, 0.0, np.zeros(1, int), np.ones(1), 0, True, "")
    one = dataclasses.replace(one, independent=True)
    assert verify(np.ones((3, 2)), one, exact=exact)


@pytest.mark.parametrize(
    ("rise", "said"),
    [(20 * EPS, "cannot certify"), (28 * EPS, "passed"), (0.5, "passed")],
)
def test_how_nearly_dependent_rounding_can_make_rows(rise, said):
    # The singular values are about sqrt(2) and rise / sqrt(2), against 12 EPS sqrt(2).
    points = np.array([[-1.0, 0.0], [1.0, 0.0], [1.0, 2.0 * rise]])
    solution = ball(support=np.arange(3), weights=np.array([0.5, 0.5, 0.0]))
    row = verify(points, solution).table.iloc[-1]
    assert row["verdict"] == said
    assert row["rounding"] == float(said == "cannot certify")
    # An edge is as long as another for this.
    points[2, 0] = -1.0
    points[2, 1] *= 2.0**-60
    assert verify(points, solution).table.iloc[-1]["verdict"] == "passed"


def test_rows_that_seem_one_row_from_where_the_ball_is_large():
    points = np.array([[-1e300, 0.0], [-1e300, 5e-324], [1e300, 0.0]])
    for rows, weights in [([0, 1], [0.5, 0.5]), ([0, 1, 2], [0.5, 0.0, 0.5])]:
        solution = on_the_line(rows, weights, radius=1e300, lower_bound=1e300)
        verdicts = [
            verify(points, solution, exact=exact).table.set_index("claim")["verdict"]
            for exact in (False, True)
        ]
        assert [v[INDEPENDENCE] for v in verdicts] == ["cannot certify", "passed"]


def test_rank_of_whole_numbers():
    rng = np.random.default_rng(0)
    for m, n in itertools.product(range(1, 6), repeat=2):
        for most in range(min(m, n) + 1):
            left, right = rng.integers(-2, 3, (m, most)), rng.integers(-2, 3, (most, n))
            left[:, :1] *= rng.integers(
                0, 2
            )  # columns of zeros, and pivots further down
            matrix = left @ right
            whole = matrix.astype(object) * 2**70
            assert _rank(whole) == np.linalg.matrix_rank(matrix)


# --- wrong balls beside numbers that blind -----------------------------------------

BESIDE = np.array([[1.0, 3.0], [2.0, 2.0], [1.0, -3.0], [-2.0, 2.0]])


def beside(points, value):
    return np.column_stack([points, np.full(len(points), value)])


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("value", [1e9, 1e12, 1e15, 2.0**60])
def test_a_large_constant_column_hides_nothing(value, exact):
    points = beside(BESIDE, value)
    right = away_step(points, gap="relative", tol=1e-9)
    assert right.radius == pytest.approx(3.0731814857642954, rel=1e-9)
    assert verify(points, right, exact=exact)
    about_a_row = dataclasses.replace(
        right,
        center=points[0],
        radius=6.0,
        lower_bound=0.0,
        support=np.array([0]),
        weights=np.array([1.0]),
    )
    assert verify(points, about_a_row, exact=exact).verdict == "failed"
    moved = right.center.copy()
    moved[-1] = np.nextafter(value, 0.0)
    assert not verify(points, dataclasses.replace(right, center=moved), exact=exact)


def test_what_float64_cannot_hold_is_not_passed():
    points = np.array([[1e8], [1e8 + 2**-26]])
    solution = Solution(
        points[0], 2.0**-26, 2.0**-27, np.arange(2), np.full(2, 0.5), 1, False, ""
    )
    certificate = verify(points, solution)
    assert certificate.verdict == "cannot certify" and not certificate
    assert certificate.message == (
        "cannot certify: 'radius / lower bound - 1' is violated by 1.0e+00, tolerance "
        "1.0e-09; rounding to float64 alone may cause 2.0e+00"
    )
    # Twice the smallest radius: rational arithmetic says no.
    assert verify(points, solution, exact=True).verdict == "failed"
    assert verify(points, solution, rtol=1.0, exact=True)


@pytest.mark.parametrize("offset", [2**53, 2**60, -(2**60)])
def test_whole_numbers_that_float64_rounds_are_refused(offset):
    points = np.array([[offset], [offset + 1], [offset + 3]])
    solution = Solution(
        np.array([float(offset)]), 0.0, 0.0, np.array([0]), np.ones(1), 0, True, ""
    )
    with pytest.raises(ValueError) as caught:
        verify(points, solution)
    first = next(int(x) for x in points.ravel() if int(float(x)) != x)
    assert str(caught.value) == (
        "points must hold whole numbers that float64 can hold, found "
        f"{first}, which would be read as {float(first):.0f}; subtract one row from "
        "all first"
    )


@pytest.mark.parametrize("center", [0.0, 5e-324])
@pytest.mark.parametrize("bound", [0.0, 5e-324])
def test_the_smallest_floats_get_an_answer(center, bound):
    points = np.array([[5e-324], [0.0]])
    solution = ball(center=np.array([center]), radius=5e-324, lower_bound=bound)
    assert verify(points, solution).verdict == "cannot certify"
    assert verify(points, solution, exact=True).verdict == "failed"


def test_tolerance_below_the_arithmetic_needs_exact_arithmetic():
    assert verify(SQUARE, ball(), rtol=0.0).verdict == "cannot certify"
    assert verify(SQUARE, ball(), rtol=0.0, exact=True).verdict == "passed"


def test_the_gap_is_that_of_the_ball_that_holds_all_points():
    # A radius may be short by a solver's last bits; the gap counts from the farthest row.
    moved = ball(center=np.array([1e-13, 0.0]))
    assert verify(SQUARE, moved, rtol=1e-12, exact=True)
    assert verify(SQUARE, moved, rtol=5e-14, exact=True).verdict == "failed"


def test_exact_arithmetic_on_many_rows():
    points = np.random.default_rng(0).normal(size=(100_000, 10))
    points[:5000] *= 8.0 / np.linalg.norm(points[:5000], axis=1, keepdims=True)
    solution = minimum_enclosing_ball(points)
    for exact in (False, True):
        assert verify(points, solution, exact=exact)
        shrunk = dataclasses.replace(solution, radius=solution.radius * (1 - 1e-11))
        assert verify(points, shrunk, exact=exact).verdict == "failed"


# --- against rational arithmetic ---------------------------------------------------


def relative(solver, **options):
    return lambda points: solver(points, gap="relative", tol=1e-7, **options)


FAMILY = [
    relative(frank_wolfe, max_iter=200),
    relative(away_step, max_iter=500),
    relative(pairwise, max_iter=500),
    relative(blended_pairwise, max_iter=500),
    relative(away_step, start="uniform", max_iter=500),
    lambda points: core_set(points, eps=1e-3),
    lambda points: core_set(points, eps=1e-6, away=True),
]


def test_rational_balls():
    """Known answers; and every ball is proved: rows inside, support on the sphere."""
    _, square, support = rational.smallest_ball(np.eye(3))
    assert square == Fraction(2, 3) and len(support) == 3
    assert rational.smallest_ball([[1, 2, 3]])[1] == 0
    assert rational.smallest_ball([[2**60], [2**60 + 1], [2**60 + 3]])[:2] == (
        [2**60 + Fraction(3, 2)],
        Fraction(9, 4),
    )
    for family, seed in itertools.product(rational.FAMILIES, range(3)):
        points = family(np.random.default_rng(seed))
        center, square, support = rational.smallest_ball(points)
        rows = rational.exactly(points)
        distances = [rational.squared_distance(row, center) for row in rows]
        assert max(distances) == square
        assert all(rational.squared_distance(row, center) == square for row in support)


def off_by(square, best):
    """sqrt(square / best) - 1."""
    if square == best:
        return 0.0
    return math.expm1(0.5 * math.log1p(float(square / best - 1))) if best else math.inf


def examine(points, solution, rtol):
    """Hold verdicts to the exact ball; return the verdict and how far off the ball is."""
    best = rational.smallest_ball(points)[1]
    reach = rational.farthest_square(points, solution.center)
    square = Fraction(solution.radius) ** 2
    found = verify(points, solution, rtol=rtol)
    decided = verify(points, solution, rtol=rtol, exact=True)
    allowed, bits = Fraction(rtol), Fraction(1, 10**11)
    if found or decided:
        assert max(reach, square) <= best * (1 + allowed) ** 2
        assert reach <= square * (1 + bits) ** 2
        assert Fraction(solution.lower_bound) ** 2 <= best * (1 + bits) ** 2
    # Where float64 decides, it decides rightly; else it says that it cannot.
    assert decided.verdict in ("passed", "failed")
    assert found.verdict in (decided.verdict, "cannot certify")
    if solution.converged:
        assert found.verdict != "failed", found
    return found.verdict, off_by(max(reach, square), best)


REFUSALS = [
    "squared distances overflow or vanish",
    "whole numbers that float64 can hold",
]


def survey(family, seeds, solve, rtol):
    """Verdicts and errors over some clouds of a family; "refused" is a verdict, too."""
    found = []
    for seed in seeds:
        points = family(np.random.default_rng(seed))
        try:
            solution = solve[seed % len(solve)](points)
            found.append(examine(points, solution, rtol))
        except ValueError as error:
            if not any(reason in str(error) for reason in REFUSALS):
                raise
            found.append(("refused", 0.0))
    return found


def assert_some_pass(family, found):
    """A survey in which nothing passes would show nothing."""
    verdicts = [verdict for verdict, _ in found]
    if family is rational.large_integers:
        assert "passed" in verdicts or set(verdicts) == {"refused"}
    else:
        assert verdicts.count("passed") > len(verdicts) / 4


names = {"ids": lambda family: family.__name__}


@pytest.mark.parametrize("family", rational.FAMILIES, **names)
def test_no_verified_ball_is_wrong(family):
    found = survey(family, range(50), [minimum_enclosing_ball], 1e-9)
    assert_some_pass(family, found)


@pytest.mark.parametrize("family", rational.FAMILIES, **names)
def test_no_verified_ball_of_the_frank_wolfe_family_is_wrong(family):
    assert_some_pass(family, survey(family, range(50), FAMILY, 1e-3))


@pytest.mark.large
@pytest.mark.parametrize("family", rational.FAMILIES, **names)
def test_no_verified_ball_is_wrong_among_many(family):
    seeds = range(50, 1050)
    for solve, rtol in (([minimum_enclosing_ball], 1e-9), (FAMILY, 1e-3)):
        found = survey(family, seeds, solve, rtol)
        verdicts = dict(Counter(verdict for verdict, _ in found))
        passed = [error for verdict, error in found if verdict == "passed"]
        worst = max(passed, default=0.0)
        print(f"{family.__name__}, to {rtol:g}: {verdicts}, off by {worst:.1e} at most")
        assert_some_pass(family, found)
