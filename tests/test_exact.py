"""The exact ball: right answers, certificates, every kind of input, few passes."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import cvxpy
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kkt import assert_optimal
from rational import FAMILIES, exactly, farthest_square
from rational import smallest_ball as exact_ball

import mebnb
from mebnb import minimum_enclosing_ball, verify
from mebnb.solvers import exact, passes
from mebnb.solvers.passes import Rows, farthest_rows
from mebnb.solvers.warming import warm_up

EPS = np.finfo(float).eps
UNIT = np.vstack([np.zeros(3), np.eye(3)])  # radius sqrt(2/3): the origin lies inside


def normal(m, n, seed=0):
    return np.random.default_rng(seed).normal(size=(m, n))


def on_a_sphere(m, n, seed=0):
    points = normal(m, n, seed)
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def gap_allowed(points, radius):
    """1e-12, and what rounding of the center to float64 may add."""
    reach = float(np.linalg.norm(np.abs(points).max(axis=0)))
    return 1e-12 + EPS * reach / radius if radius else 0.0


def check(points, ball, gap=None):
    """The conditions of optimality, from the points alone."""
    points = np.asarray(points, dtype=np.float64)
    m, n = points.shape
    gap = gap_allowed(points, ball.radius) if gap is None else gap
    assert ball.lower_bound <= ball.radius
    assert ball.relative_error <= gap
    # The weights lie on the simplex, on few affinely independent points.
    assert ball.weights.shape == ball.support.shape
    assert np.all(ball.weights > 0.0) and abs(ball.weights.sum() - 1.0) <= 1e-14
    assert np.all(np.diff(ball.support) > 0)
    assert ball.support[0] >= 0 and ball.support[-1] < m
    assert ball.support.size <= n + 1
    # The center is their mean, they lie on the sphere, and nothing lies outside.
    slack = max(gap, 1e-12) * max(ball.radius, 1e-300)
    origin = points[ball.support[0]]
    center = origin + ball.weights @ (points[ball.support] - origin)
    assert np.linalg.norm(center - ball.center) <= slack * math.sqrt(n)
    distances = np.linalg.norm(points - ball.center, axis=1)
    assert distances.max() <= ball.radius * (1.0 + 1e-12)
    assert distances.max() >= ball.radius * (1.0 - 1e-12)
    assert np.all(distances[ball.support] >= ball.radius - 2.0 * slack)
    assert_optimal(points, ball, rtol=max(gap, 1e-12))


# --- inputs that broke others ------------------------------------------------------

CORNERS = np.array(list(itertools.product((0.0, 1.0), repeat=10)))
NEARLY_FLAT = [
    [-2.45, 5.5e-9, -2.45],
    [-2.45, -2.3e-8, 2.45],
    [2.45, -2.7e-8, 2.45],
    [2.45, 2.2e-8, -2.45],
]
PIXELS = [[2085, 1415], [2087, 1415], [2089, 1414], [2089, 1414], [2087, 1412]]

BROKE_OTHERS = {
    "one point": ([[1, 2, 3]], 0.0, 0.0),
    "duplicates": (
        [[0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 1]],
        math.sqrt(3) / 2,
        4e-15,
    ),
    "integers": ([[-6, -4, 5], [0, -2, 0], [-2, -6, -1]], 4.0942835631, 2e-11),
    "nearly coplanar": (NEARLY_FLAT, 3.4648232, 1e-8),
    "identity of order 3": (np.eye(3), math.sqrt(2 / 3), 4e-15),
    "identity of order 1000": (np.eye(1000), math.sqrt(999 / 1000), 4e-15),
    "flat": ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], math.sqrt(2) / 2, 4e-15),
    "pixels": (np.array(PIXELS, np.float32), 2.10237960416286, 1e-12),
    "corners of a cube": (CORNERS, math.sqrt(10) / 2, 4e-15),
    "corners, ten of each": (np.repeat(CORNERS, 10, axis=0), math.sqrt(10) / 2, 4e-15),
}


@pytest.mark.parametrize("case", BROKE_OTHERS)
def test_inputs_that_broke_others(case):
    points, radius, rtol = BROKE_OTHERS[case]
    ball = minimum_enclosing_ball(points)
    assert ball.radius == pytest.approx(radius, rel=rtol, abs=0.0)
    assert ball.converged
    check(points, ball)


def test_pixels_exactly():
    """The circle through (2085, 1415), (2089, 1414), (2087, 1412), by fractions."""
    radius = smallest_ball([[Fraction(x) for x in row] for row in PIXELS])
    assert BROKE_OTHERS["pixels"][1] == pytest.approx(math.sqrt(radius), rel=1e-14)


@pytest.mark.parametrize(
    "scale", [5e-324, 1e-310, 1e-200, 1e-150, 1e-100, 1e100, 1e150, 1e200, 1.7e308]
)
def test_scales_where_squares_overflow_or_vanish(scale):
    points = UNIT * scale
    ball = minimum_enclosing_ball(points)
    # Numbers below 2e-308 are kept to a multiple of 5e-324 only.
    spacing = 5e-324
    assert ball.radius == pytest.approx(
        math.sqrt(2 / 3) * scale, rel=4e-15, abs=spacing
    )
    np.testing.assert_allclose(ball.center, np.full(3, scale / 3), 1e-14, spacing)
    assert ball.lower_bound <= ball.radius and ball.converged
    # A third of 5e-324 is no float64: that ball cannot be proved, as it is not the best.
    expected = "cannot certify" if scale == 5e-324 else "passed"
    assert verify(points, ball).verdict == expected


def test_scales_change_nothing_but_the_scale():
    points = normal(60, 4)
    one, other = (
        minimum_enclosing_ball(points),
        minimum_enclosing_ball(points * 2.0**700),
    )
    np.testing.assert_array_equal(one.support, other.support)
    assert other.radius == pytest.approx(one.radius * 2.0**700, rel=1e-14)


def test_a_cloud_far_from_the_origin():
    points = normal(10_000, 10)
    shifted = points + 1e8
    ball = minimum_enclosing_ball(shifted)
    # The shift itself rounds the points to 1.5e-8.
    assert ball.radius == pytest.approx(minimum_enclosing_ball(points).radius, abs=1e-7)
    assert ball.relative_error <= 1e-8
    check(shifted, ball, gap=1e-8)


def test_rounding_that_forbids_rtol_is_admitted():
    ball = minimum_enclosing_ball([[1e8], [1e8 + 2**-26]])
    assert not ball.converged
    assert ball.radius == 2**-26
    assert ball.lower_bound == pytest.approx(2**-27, rel=4e-15)
    assert ball.message == (
        "radius / lower bound - 1 = 1.0e+00, which rounding of the center to float64 "
        "explains"
    )


def test_one_outlier():
    points = np.vstack([normal(200, 3), [[1e12, 0.0, 0.0]]])
    ball = minimum_enclosing_ball(points)
    near = minimum_enclosing_ball(points).support[0]
    assert ball.radius == pytest.approx((1e12 - points[near, 0]) / 2, rel=4e-15)
    check(points, ball)


def test_an_outlier_beyond_all_squares():
    points = np.vstack([normal(200, 3), [[0.0, 1e200, 0.0]]])
    ball = minimum_enclosing_ball(points)
    assert ball.radius == pytest.approx(5e199, rel=4e-15)
    assert verify(points, ball)


def test_the_largest_radius():
    largest = np.finfo(float).max
    ball = minimum_enclosing_ball([[largest], [-largest]])
    assert ball.radius == largest and ball.center == 0.0
    with pytest.raises(ValueError) as caught:
        minimum_enclosing_ball([[largest, largest], [-largest, -largest]])
    assert str(caught.value) == (
        "points must have a radius below the largest float64, 1.8e308; divide them by "
        "a constant first"
    )


@pytest.mark.parametrize("value", [0.0, 0.1, 1e8 / 3, 1e-310, -1e300])
@pytest.mark.parametrize("m", [1, 2, 7, 3000])
def test_all_points_equal(m, value):
    ball = minimum_enclosing_ball(np.full((m, 4), value))
    assert ball.radius == 0.0 and ball.lower_bound == 0.0 and ball.converged
    np.testing.assert_array_equal(ball.center, np.full(4, value))
    np.testing.assert_array_equal(ball.weights, [1.0])
    assert verify(np.full((m, 4), value), ball)


@pytest.mark.parametrize("points", [[[0.0], [5e-324]], [[5e-324], [0.0], [1.5e-323]]])
def test_a_center_between_the_smallest_numbers(points):
    ball = minimum_enclosing_ball(points)
    far = np.abs(np.array(points) - ball.center).max()
    assert ball.radius == far and ball.lower_bound <= far
    gap = far / (ball.lower_bound or 5e-324) - 1.0
    assert ball.message.startswith(f"radius / lower bound - 1 = {gap:.1e}")


# --- shapes ------------------------------------------------------------------------

SHAPES = {
    "two points": normal(2, 5),
    "one feature": normal(500, 1),
    "more features than points": normal(12, 300),
    "square": normal(50, 50),
    "collinear": np.outer(normal(400, 1), [1.0, 2.0, 3.0]) + [4.0, 5.0, 6.0],
    "in a plane of space": normal(300, 2) @ normal(2, 7, seed=1),
    "nearly in a plane": normal(300, 2) @ normal(2, 7, 1) + 1e-9 * normal(300, 7, 2),
    "cocircular": np.c_[np.cos(np.arange(100.0)), np.sin(np.arange(100.0))]
    + [5.0, 7.0],
    "on a sphere": on_a_sphere(2000, 3),
    "on a sphere of dimension 40": on_a_sphere(2000, 40),
    "thin": normal(2000, 10) * np.logspace(0, -13, 10),
    "ten of each": np.repeat(normal(100, 10), 10, axis=0),
    "heavy tails": np.random.default_rng(0).standard_cauchy((2000, 6)),
    "regular simplex": np.eye(40),
    "simplex with unequal edges": np.diag(np.linspace(1.0, 2.0, 300)),
    "cross-polytope": np.vstack([np.eye(30), -np.eye(30)]),
    "wide": normal(70, 3000),
    "long": normal(150_000, 3),
    "large": normal(120_000, 10),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name):
    ball = minimum_enclosing_ball(SHAPES[name])
    assert ball.converged
    check(SHAPES[name], ball)


def test_answers_known_by_symmetry():
    assert minimum_enclosing_ball(SHAPES["cross-polytope"]).radius == pytest.approx(1.0)
    assert minimum_enclosing_ball(SHAPES["cocircular"]).radius == pytest.approx(1.0)
    values = SHAPES["one feature"]
    ball = minimum_enclosing_ball(values)
    assert ball.radius == pytest.approx((values.max() - values.min()) / 2, rel=4e-15)
    np.testing.assert_array_equal(
        np.sort(values[ball.support, 0]), [values.min(), values.max()]
    )


# --- kinds of input ----------------------------------------------------------------


def variants(points, folder):
    """The same numbers, each way a user may hold them."""
    fixed = points.copy()
    fixed.flags.writeable = False
    spaced = np.zeros((2 * points.shape[0], 2 * points.shape[1]))
    spaced[::2, 1::2] = points
    np.save(folder / "points.npy", points)
    return {
        "lists": points.tolist(),
        "frame": pd.DataFrame(points),
        "objects": points.astype(object),
        "Fortran order": np.asfortranarray(points),
        "read-only": fixed,
        "non-contiguous": spaced[::2, 1::2],
        "reversed twice": points[::-1].copy()[::-1],
        "big-endian": points.astype(">f8"),
        "memory-mapped": np.load(folder / "points.npy", mmap_mode="r"),
    }


@pytest.mark.parametrize("small", [True, False])
def test_kinds_of_input_give_one_answer(tmp_path, monkeypatch, small):
    if not small:
        monkeypatch.setattr(exact, "SMALL", 0)
    points = normal(2000, 5)
    expected = minimum_enclosing_ball(points)
    for name, same in variants(points, tmp_path).items():
        before = np.array(same, dtype=np.float64)
        ball = minimum_enclosing_ball(same)
        assert ball.radius == expected.radius, name
        np.testing.assert_array_equal(ball.center, expected.center)
        np.testing.assert_array_equal(ball.support, expected.support)
        np.testing.assert_array_equal(ball.weights, expected.weights)
        np.testing.assert_array_equal(np.array(same, dtype=np.float64), before)


def test_integers_and_booleans():
    whole = np.random.default_rng(0).integers(-50, 50, size=(300, 4))
    expected = minimum_enclosing_ball(whole.astype(float)).radius
    for kind in (np.int8, np.int64):
        assert minimum_enclosing_ball(whole.astype(kind)).radius == expected
    assert minimum_enclosing_ball(np.eye(3, dtype=bool)).radius == pytest.approx(
        math.sqrt(2 / 3)
    )


@pytest.mark.parametrize("m", [300, 60_000])
def test_float32_is_computed_in_float64(m):
    points = (normal(m, 20) + 100.0).astype(np.float32)
    ball = minimum_enclosing_ball(points)
    expected = minimum_enclosing_ball(points.astype(np.float64))
    assert ball.radius == pytest.approx(expected.radius, rel=1e-14)
    check(points, ball)


@pytest.mark.large  # compiles the exact solve for float32
def test_wide_float32_is_solved_where_it_lies():
    points = normal(700, 1500).astype(np.float32)
    ball = minimum_enclosing_ball(points)
    expected = minimum_enclosing_ball(points.astype(np.float64))
    assert ball.radius == pytest.approx(expected.radius, rel=1e-14)
    np.testing.assert_array_equal(ball.support, expected.support)
    check(points, ball)


def test_the_same_input_gives_the_same_output_bit_for_bit():
    points = SHAPES["large"]
    one, other = minimum_enclosing_ball(points), minimum_enclosing_ball(points.copy())
    assert one.radius == other.radius and one.lower_bound == other.lower_bound
    assert one.iterations == other.iterations and one.passes == other.passes
    np.testing.assert_array_equal(one.center, other.center)
    np.testing.assert_array_equal(one.weights, other.weights)


TWO = "points must have two dimensions (points, features), found "
SOME = "points must hold at least one point and one feature, found shape "
REAL = "points must hold real numbers, found "
FINITE = "points must be finite, found "

NOT_POINTS = {
    "NaN": (
        [[0, 0, 0], [1, 0, 0], [math.nan, 1, 0]],
        ValueError,
        FINITE + "NaN in row 2, column 0",
    ),
    "infinity": (
        [[0.0, 1.0], [2.0, math.inf]],
        ValueError,
        FINITE + "infinity in row 1, column 1",
    ),
    "both": (
        [[0.0, -math.inf], [math.nan, 0.0]],
        ValueError,
        FINITE + "infinity in row 0, column 1",
    ),
    "nothing": ([], ValueError, TWO + "1 with shape (0,)"),
    "no feature": (np.zeros((3, 0)), ValueError, SOME + "(3, 0)"),
    "ragged": (
        [[1, 2], [3]],
        ValueError,
        "points must have rows of equal length, found ragged rows",
    ),
    "a vector": (
        [1.0, 2.0],
        ValueError,
        TWO + "1 with shape (2,); one feature is a column: reshape(-1, 1)",
    ),
    "complex": ([[1j, 2.0]], TypeError, REAL + "complex numbers"),
    "text": ([["a", "b"]], TypeError, REAL + "dtype <U1"),
}


@pytest.mark.parametrize("case", NOT_POINTS)
def test_what_is_not_points_is_refused(case):
    points, kind, message = NOT_POINTS[case]
    with pytest.raises(kind) as caught:
        minimum_enclosing_ball(points)
    assert str(caught.value) == message


@pytest.mark.parametrize("row, column", [(0, 0), (77_777, 3), (149_999, 9)])
@pytest.mark.parametrize("value, name", [(np.nan, "NaN"), (-np.inf, "infinity")])
def test_the_first_pass_notices_what_is_not_finite(row, column, value, name):
    points = normal(150_000, 10)
    points[row, column] = value
    with pytest.raises(ValueError) as caught:
        minimum_enclosing_ball(points)
    assert str(caught.value) == (
        f"points must be finite, found {name} in row {row}, column {column}"
    )


@pytest.mark.parametrize(
    "options, kind, message",
    [
        (
            {"rtol": -1.0},
            ValueError,
            "rtol must be finite and at least 0.0, found -1.0",
        ),
        (
            {"rtol": math.nan},
            ValueError,
            "rtol must be finite and at least 0.0, found nan",
        ),
        (
            {"rtol": math.inf},
            ValueError,
            "rtol must be finite and at least 0.0, found inf",
        ),
        ({"rtol": "1e-3"}, TypeError, "rtol must be a number, found '1e-3'"),
        ({"rtol": None}, TypeError, "rtol must be a number, found None"),
        (
            {"max_iter": 0},
            ValueError,
            "max_iter must be finite and at least 1, found 0",
        ),
        ({"max_iter": 2.0}, TypeError, "max_iter must be an integer, found 2.0"),
    ],
)
def test_options_out_of_range(options, kind, message):
    with pytest.raises(kind) as caught:
        minimum_enclosing_ball(UNIT, **options)
    assert str(caught.value) == message


# --- stopping ----------------------------------------------------------------------


def test_messages_tell_what_was_reached():
    points = normal(3000, 30)
    done = minimum_enclosing_ball(points)
    assert done.converged and done.trace is None
    assert done.message == (
        f"radius / lower bound - 1 = {done.relative_error:.1e}, within rtol = 1e-10"
    )
    short = minimum_enclosing_ball(points, max_iter=1)
    assert not short.converged and short.iterations == 1
    assert short.message == (
        f"radius / lower bound - 1 = {short.relative_error:.1e} after max_iter = 1 "
        "rounds"
    )
    assert verify(points, short, rtol=short.relative_error * 1.0001)


def test_no_tolerance_reaches_rounding():
    for points in (normal(3000, 30), on_a_sphere(3000, 3), normal(200_000, 10)):
        ball = minimum_enclosing_ball(points, rtol=0)
        assert ball.relative_error <= 2e-14
        assert ball.converged or ball.message == (
            f"radius / lower bound - 1 = {ball.relative_error:.1e}, which rounding of "
            "the center to float64 explains"
        )


@pytest.mark.parametrize("rtol", [1e-1, 1e-3, 1e-6])
def test_rtol_is_kept(rtol):
    points = on_a_sphere(5000, 20) * (1 + 1e-2 * np.abs(normal(5000, 1, seed=3)))
    best = minimum_enclosing_ball(points).radius
    ball = minimum_enclosing_ball(points, rtol=rtol)
    assert ball.converged and ball.relative_error <= rtol
    assert ball.lower_bound <= best * (1 + 1e-14)
    assert best <= ball.radius * (1 + 1e-14)
    assert verify(points, ball, rtol=rtol)


def test_a_limit_on_large_data_still_gives_a_ball():
    points = normal(120_000, 10)
    best = minimum_enclosing_ball(points).radius
    for limit in (1, 3):
        ball = minimum_enclosing_ball(points, max_iter=limit)
        assert ball.iterations == limit and not ball.converged
        assert ball.lower_bound <= best <= ball.radius
        assert verify(points, ball, rtol=1.0)


# --- few passes --------------------------------------------------------------------


@pytest.mark.parametrize("name", SHAPES)
def test_shells_give_the_ball_of_all_rows(monkeypatch, name):
    points = np.concatenate([SHAPES[name]] * 3)
    expected = minimum_enclosing_ball(points).radius
    monkeypatch.setattr(exact, "SMALL", 0)
    monkeypatch.setattr(exact, "SPARSE", 0)
    monkeypatch.setattr(exact, "SHELL_BYTES", 1)
    ball = minimum_enclosing_ball(points)
    assert ball.radius == pytest.approx(expected, rel=2e-12)
    check(points, ball)


def test_large_data_need_little_more_than_one_pass():
    ball = minimum_enclosing_ball(normal(400_000, 3))
    assert 1.0 < ball.passes < 1.1
    ball = minimum_enclosing_ball(normal(100_000, 30))
    assert ball.passes < 1.3
    ball = minimum_enclosing_ball(normal(5_000, 300))
    assert ball.passes < 2.3


def test_sorted_rows_do_not_mislead_the_sample():
    points = normal(150_000, 8)
    points = points[np.argsort((points**2).sum(axis=1))]
    ball = minimum_enclosing_ball(points)
    assert ball.passes < 3.0
    check(points, ball)


def test_a_sample_of_equal_rows():
    points = np.zeros((300_000, 4))
    points[[17, 123_456, 299_999]] = [[1, 0, 0, 0], [0, 2, 0, 0], [0, 0, 0, 3e-300]]
    ball = minimum_enclosing_ball(points)
    assert ball.radius == pytest.approx(math.sqrt(5) / 2, rel=4e-15)
    np.testing.assert_array_equal(ball.support, [17, 123_456])
    points[[17, 123_456]] = 0.0
    assert minimum_enclosing_ball(points).radius == pytest.approx(1.5e-300, rel=4e-15)


def test_a_ball_that_grows_about_the_same_center():
    points = np.tile([[-1.0, 0.0], [1.0, 0.0]], (300_000, 1))
    points[[4, 77]] *= 3.0
    ball = minimum_enclosing_ball(points)
    assert ball.radius == 3.0 and ball.lower_bound == pytest.approx(3.0, rel=4e-15)
    np.testing.assert_array_equal(ball.support, [4, 77])


def test_equal_rows_of_large_data():
    assert minimum_enclosing_ball(np.full((300_000, 4), 0.3)).radius == 0.0


def test_the_far_offset_of_large_data():
    points = normal(200_000, 6) + 1e8
    ball = minimum_enclosing_ball(points)
    assert ball.relative_error <= 1e-8
    check(points, ball, gap=1e-8)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=60),
    st.data(),
)
def test_the_farthest_come_first(values, data):
    keep = data.draw(st.integers(1, len(values)))
    found, squared = np.arange(len(values)), np.array(values, dtype=float)
    rest = as_python(exact._keep_farthest)(found, squared, len(values), keep)
    np.testing.assert_array_equal(squared, np.array(values)[found])
    assert sorted(found) == list(range(len(values)))
    assert sorted(squared[:keep]) == sorted(values)[len(values) - keep :]
    assert rest == squared[keep - 1] == min(squared[:keep])


def test_a_shell_holds_the_farthest_rows_and_bounds_the_others():
    points, center = normal(5000, 3), np.full(3, 0.1)
    distances = ((points - center) ** 2).sum(axis=1)
    order = np.argsort(-distances)
    shell = farthest_rows(Rows(points), center, 1.0, 40, 0.0)
    np.testing.assert_array_equal(shell.rows, np.sort(order[:40]))
    joined = Rows(points).join(points[:1], shell.rows, shell)
    np.testing.assert_array_equal(joined, points[[0, *shell.rows]])
    assert shell.inner == pytest.approx(distances[order[40]], rel=1e-14)
    assert shell.farthest == pytest.approx(distances.max(), rel=1e-14)
    # A cut above all rows leaves the bound alone.
    shell = farthest_rows(Rows(points), center, 1.0, 40, 1e9)
    assert shell.rows.size == 0 and shell.inner == shell.farthest


# --- the pieces of the climb -------------------------------------------------------

KERNELS = ["_dot", "_back", "_drop", "_factorise", "_exchange", "_climb"]
KERNELS += ["_outside", "_collect", "_keep_farthest", "_farthest_last"]


def as_python(kernel):
    """What a compiled function is made of."""
    return getattr(kernel, "py_func", kernel)


@pytest.fixture
def kernels(monkeypatch):
    """The module with the kernels as plain Python, which calls itself."""
    for name in KERNELS:
        monkeypatch.setattr(exact, name, as_python(getattr(exact, name)))
    return exact


@pytest.mark.parametrize("cut", [0.0, 4.0, 9.0])
@pytest.mark.parametrize("m", [1, 5, exact.STRETCH, exact.STRETCH + 1, 300])
def test_the_farthest_rows_are_collected_stretch_by_stretch(kernels, m, cut):
    for seed in range(20):
        measured = np.random.default_rng(seed).integers(0, 10, m).astype(float)
        found, squared = np.empty(6, np.int64), np.empty(6)
        count, inner = kernels._collect(measured, cut, 6, found, squared)
        far = np.sort(measured[measured > cut])
        assert count < 6 and (count == 0) == (far.size == 0)
        np.testing.assert_array_equal(measured[found[:count]], squared[:count])
        assert sorted(squared[:count]) == list(far[far.size - count :])
        assert inner == np.delete(measured, found[:count]).max(initial=0.0)
        assert count == 0 or squared[count - 1] == far[-1]


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("place", [0, exact.STRETCH, 3 * exact.STRETCH - 1])
def test_a_distance_that_is_not_finite_is_noticed(kernels, value, place):
    measured = np.ones(3 * exact.STRETCH)
    measured[place] = value
    found, squared = np.empty(6, np.int64), np.empty(6)
    assert kernels._collect(measured, 2.0, 6, found, squared) == (-1, np.inf)


SIGMA = 3.0


class Core:
    """The core set of some points, counted from the first; M = gram + sigma.

    Its steps are the kernels' with the arrays that they work on.
    """

    def __init__(self, kernels, points, weights, active):
        self.kernels, most = kernels, points.shape[1] + 1
        differences = points - points[0]
        self.gram = differences @ differences.T
        self.M = self.gram + SIGMA
        self.weights = np.array(weights, dtype=float)
        self.active = np.array([*active, *[-1] * len(points)])
        self.factor = np.zeros((most + 1, most + 1))
        self.target, *self.turn = np.zeros((3, most + 1))

    def factorise(self, done, size):
        return self.kernels._factorise(
            self.weights, self.active, self.gram, self.factor, SIGMA, done, size
        )

    def drop(self, size, position):
        self.kernels._drop(
            self.weights, self.active, self.factor, *self.turn, size, position
        )

    def exchange(self, size):
        return self.kernels._exchange(
            self.weights, self.active, self.factor, *self.turn, size
        )

    def climb(self, size):
        arrays = self.weights, self.active, self.gram, self.factor
        return self.kernels._climb(*arrays, self.target, *self.turn, size)


def assert_factor(core, size):
    rows = core.active[:size]
    L, M = np.tril(core.factor[:size, :size]), core.M[np.ix_(rows, rows)]
    np.testing.assert_allclose(L @ L.T, M, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_the_factor_is_that_of_the_support(kernels, seed):
    points = normal(8, 5, seed=seed)
    points[4] = 0.25 * points[1] + 0.75 * points[6]
    core = Core(kernels, points, [0.125] * 8, [6, 3, 1, 4, 7])
    size = core.factorise(0, 2)
    assert size == 2
    size = core.factorise(size, 5)
    assert core.active[:4].tolist() == [6, 3, 1, 7] and size == 4
    assert core.weights.tolist() == [0.125] * 4 + [0.0] + [0.125] * 3
    assert_factor(core, size)
    for position in (1, 0, 1):
        left = np.delete(core.active[:size], position)
        gone = core.active[position]
        core.drop(size, position)
        size -= 1
        assert core.active[:size].tolist() == left.tolist() and core.weights[gone] == 0
        assert_factor(core, size)


@pytest.mark.parametrize("seed", range(5))
def test_an_exchange_moves_weight_and_leaves_the_center(kernels, seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(6, 3))
    weights = np.append(rng.dirichlet(np.ones(4)), [0.0, 0.0])
    core = Core(kernels, points, weights, [2, 0, 3, 1, 5])
    assert core.factorise(0, 4) == 4
    assert core.factorise(4, 5) == 4  # no room, and its row is kept
    center, before = weights @ points, core.weights.copy()
    weight = core.exchange(4)
    assert_factor(core, 3)
    after = core.weights.copy()
    after[5] += weight
    np.testing.assert_allclose(after @ points, center, atol=1e-12)
    assert after.min() >= 0.0 and after.sum() == pytest.approx(1.0, rel=1e-12)
    gone = set(range(4)) - set(core.active[:3].tolist())
    assert len(gone) == 1 and weight > 0.0 and before[list(gone)] > 0.0


@pytest.mark.parametrize("seed", range(8))
def test_a_climb_ends_at_the_best_weights_and_never_falls(kernels, seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(6, 5))
    weights = rng.dirichlet(np.ones(6))
    core = Core(kernels, points, weights, range(6))
    size = core.factorise(0, 6)

    def dual(u):
        return u @ ((points - u @ points) ** 2).sum(axis=1)

    values, drop, back = [dual(core.weights)], kernels._drop, kernels._back

    def watched(weights, *others):
        # The others may be on the way still; the one that leaves is at zero.
        drop(weights, *others)
        assert weights.min() >= 0.0

    def aimed(*arguments):
        # Every step starts from weights of sum one, no lower than the one before.
        assert core.weights.sum() == pytest.approx(1.0)
        values.append(dual(core.weights))
        back(*arguments)

    kernels._drop, kernels._back = watched, aimed
    size = core.climb(size)
    kernels._drop, kernels._back = drop, back
    values.append(dual(core.weights))
    assert core.weights.sum() == pytest.approx(1.0)
    assert (np.diff(values) >= -1e-13 * values[-1]).all()
    assert np.flatnonzero(core.weights).tolist() == sorted(core.active[:size])
    assert_factor(core, size)
    rows = core.active[:size]
    apart = np.linalg.norm(points - core.weights @ points, axis=1)
    np.testing.assert_allclose(apart[rows], apart[rows[0]], rtol=1e-12)
    # Those farther than the sphere of these weights are found, and no others.
    gamma = values[-1]
    slots, squared = np.zeros(6, int), np.zeros(6)
    count = kernels._outside(core.weights, core.gram, 6, 0.01, slots, squared)
    outside = np.flatnonzero((apart**2 > 1.01 * gamma) & (core.weights == 0.0))
    assert slots[:count].tolist() == outside.tolist()
    np.testing.assert_allclose(squared[:count], apart[outside] ** 2, rtol=1e-12)


ROUNDS = ["_rounds", "_difference", "_sum", "measure"]


@pytest.mark.parametrize("rare", ["_exchange", "forgotten"])
def test_every_climb_starts_from_weights_of_sum_one(kernels, monkeypatch, rare):
    """Also after a point took another's place, and after the core set was forgotten."""
    for name in ROUNDS:
        monkeypatch.setattr(exact, name, as_python(getattr(exact, name)))
    python = as_python(passes.squared_distance)
    monkeypatch.setattr(passes, "squared_distance", python)
    climb, exchange, outside = kernels._climb, kernels._exchange, kernels._outside
    seen, core_points = Counter(), []

    def watched(weights, active, gram, *others):
        assert weights[active[: others[-1]]].sum() == pytest.approx(1.0, rel=1e-9)
        return climb(weights, active, gram, *others)

    def counted(*arguments):
        seen["_exchange"] += 1
        return exchange(*arguments)

    def looked(weights, gram, known, *others):
        seen["forgotten"] += bool(core_points) and known < core_points[-1]
        core_points.append(known)
        return outside(weights, gram, known, *others)

    monkeypatch.setattr(exact, "_climb", watched)
    monkeypatch.setattr(exact, "_exchange", counted)
    monkeypatch.setattr(exact, "_outside", looked)
    for seed in range(10):
        points = normal(400, 3, seed=seed)
        if rare == "forgotten":  # a thin shell takes many rounds
            points /= np.linalg.norm(points, axis=1, keepdims=True)
            points *= np.random.default_rng(seed).uniform(0.99, 1.0, (400, 1))
        core_points.clear()
        check(points, minimum_enclosing_ball(points))
    assert seen[rare] > 0


def test_the_pieces_of_a_sum_are_the_sum_and_what_it_lost():
    for x, y in [(1.0, 2.0**-60), (2.0**-60, 1.0), (1e16, 1.0), (1.0, 3.0 * 2.0**-54)]:
        total, lost = as_python(exact._sum)(x, y)
        assert Fraction(total) + Fraction(lost) == Fraction(x) + Fraction(y)
        assert total == x + y


# --- against others ----------------------------------------------------------------


def smallest_ball(points):
    """Squared radius by fractions: the best of the balls spanned by few points."""
    best = None
    n = len(points[0])
    for size in range(1, min(len(points), n + 1) + 1):
        for chosen in itertools.combinations(points, size):
            center = circumcenter(chosen)
            if center is None:
                continue
            radius = squared(chosen[0], center)
            if best is not None and radius >= best:
                continue
            if all(squared(point, center) <= radius for point in points):
                best = radius
    return best


def squared(point, center):
    return sum((a - b) ** 2 for a, b in zip(point, center))


def circumcenter(chosen):
    """Center in the affine hull at equal distance from all; None if dependent."""
    first, *others = chosen
    edges = [[a - b for a, b in zip(point, first)] for point in others]
    rows = [
        [2 * sum(a * b for a, b in zip(edge, other)) for other in edges]
        + [sum(a * a for a in edge)]
        for edge in edges
    ]
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [entry / rows[k][k] for entry in rows[k]]
        for i in range(len(rows)):
            if i != k:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k])]
    moves = zip(*[[row[-1] * a for a in edge] for row, edge in zip(rows, edges)])
    return [a + sum(move) for a, move in zip(first, moves)] if others else list(first)


@settings(deadline=None, max_examples=80)
@given(
    st.integers(1, 3).flatmap(
        lambda n: st.lists(
            st.lists(st.integers(-4, 4), min_size=n, max_size=n), min_size=1, max_size=7
        )
    )
)
def test_exact_rational_arithmetic(points):
    expected = smallest_ball([[Fraction(x) for x in point] for point in points])
    ball = minimum_enclosing_ball(points)
    assert Fraction(ball.lower_bound) ** 2 <= expected * (1 + Fraction(1e-15) * 4)
    assert expected <= Fraction(ball.radius) ** 2 * (1 + Fraction(1e-15) * 4)
    assert ball.relative_error <= 4e-15


def independent(points):
    center, radius = cvxpy.Variable(points.shape[1]), cvxpy.Variable()
    inside = cvxpy.norm(points - cvxpy.reshape(center, (1, -1), order="C"), axis=1)
    problem = cvxpy.Problem(cvxpy.Minimize(radius), [inside <= radius])
    problem.solve(solver=cvxpy.CLARABEL)
    return center.value, radius.value


@pytest.mark.parametrize(
    "points",
    [
        normal(30, 2),
        normal(200, 5) + 10.0,
        normal(20, 40),
        on_a_sphere(60, 4),
        np.repeat(normal(20, 3), 3, axis=0),
        np.random.default_rng(0).integers(-3, 4, size=(50, 4)).astype(float),
    ],
    ids=["plane", "offset", "wide", "sphere", "repeated", "grid"],
)
def test_agreement_with_clarabel(points):
    center, radius = independent(points)
    ball = minimum_enclosing_ball(points)
    assert ball.radius == pytest.approx(radius, rel=1e-7)
    np.testing.assert_allclose(ball.center, center, atol=1e-4 * radius)


def test_agreement_with_the_frank_wolfe_family():
    points = normal(500, 6)
    ball = minimum_enclosing_ball(points)
    other = mebnb.away_step(points, gap="relative", tol=1e-13, max_iter=100_000)
    assert other.lower_bound <= ball.radius * (1 + 1e-13)
    assert other.lower_bound == pytest.approx(ball.radius, rel=1e-12)
    np.testing.assert_array_equal(ball.support, other.support)


# --- where rounding matters --------------------------------------------------------


def assert_the_smallest(points, ball):
    """Against rational arithmetic: never wrong, and as good as float64 allows."""
    center, square, _ = exact_ball(points)
    far, radius = farthest_square(points, ball.center), Fraction(ball.radius)
    assert far <= radius**2 * (1 + Fraction(1e-14))
    assert Fraction(ball.lower_bound) ** 2 <= square * (1 + Fraction(1e-13))
    support = exactly(np.asarray(points)[ball.support])
    assert len(support) == len({tuple(row) for row in support})
    if ball.converged:
        assert radius**2 <= square * (1 + Fraction(2.1e-10))
        return
    if ball.message.endswith("which rounding of the center to float64 explains"):
        moved = math.hypot(*(np.spacing(x) for x in ball.center))
        assert far <= (math.sqrt(square) * (1 + 1e-12) + moved) ** 2
        return
    nearest = farthest_square(points, [float(x) for x in center])
    assert far <= nearest * (1 + Fraction(1e-13))
    assert ball.message.endswith("as no float64 is nearer to the exact center")


def test_a_flat_ring_needs_no_rational_arithmetic(monkeypatch):
    """Nearly dependent points stay in the support until rounding hides them."""
    monkeypatch.setattr(exact, "refine", lambda *call: pytest.fail("refined"))
    for seed in range(8):
        random = np.random.default_rng(seed)
        angles = random.uniform(0.0, 2.0 * np.pi, 12)
        ring = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(12)])
        ring += np.array([1e-9, 1e-9, 3e-5]) * random.normal(size=(12, 3))
        assert minimum_enclosing_ball(ring).converged


SMALL_CLOUD = np.random.default_rng(5).normal(size=(8, 3))
NEAR_DUPLICATES = [
    [-2e-8, 2],
    [1.00000002, 0],
    [1, 2],
    [1.00000001, 2],
    [0.99999998, -1e-8],
]


@pytest.mark.parametrize("value", [2.0**60, 1e16, 1e18 / 3, -1e9])
def test_a_column_that_does_not_vary_costs_nothing(value):
    alone = minimum_enclosing_ball(SMALL_CLOUD)
    beside = minimum_enclosing_ball(np.insert(SMALL_CLOUD, 1, value, axis=1))
    assert beside.converged
    assert beside.radius == pytest.approx(alone.radius, rel=4e-15)
    assert beside.center[1] == value
    np.testing.assert_array_equal(beside.support, alone.support)


def test_points_that_nearly_coincide():
    ball = minimum_enclosing_ball(NEAR_DUPLICATES)
    assert ball.converged and ball.relative_error <= 1e-15
    assert_the_smallest(np.array(NEAR_DUPLICATES), ball)


@pytest.mark.parametrize("noise", [1e-7, 1e-8, 1e-9, 1e-10])
@pytest.mark.parametrize("n", [3, 6])
def test_corners_that_nearly_lie_on_a_sphere(n, noise):
    for corners in (np.vstack([np.eye(n), -np.eye(n)]), CORNERS[: 2**n, -n:]):
        points = corners + noise * normal(*corners.shape, seed=n)
        ball = minimum_enclosing_ball(points)
        assert ball.converged
        check(points, ball)


@pytest.mark.parametrize(
    "points",
    [
        [[2**60], [2**60 + 1], [2**60 + 3]],
        np.array([[2**63 + 1, 0]], dtype=np.uint64),
        [[2**60 + 1, 0.5]],
        pd.DataFrame({"a": [2**60 + 1, 0], "b": [0.5, 1.0]}),
        np.array([[2**60 + 1, 0.5]], dtype=object),
    ],
    ids=["list", "unsigned", "mixed list", "mixed frame", "objects"],
)
def test_whole_numbers_that_float64_would_round_are_refused(points):
    with pytest.raises(ValueError, match=r"points must hold whole numbers that float"):
        minimum_enclosing_ball(points)


def test_large_whole_numbers_that_float64_holds_are_taken():
    ball = minimum_enclosing_ball([[2**60], [2**60 + 2**9]])
    assert ball.radius == 2**8 and ball.center == 2**60 + 2**8


@pytest.mark.parametrize(
    "points",
    [
        np.array([["1", "2"], ["3", "4"]], dtype=object),
        pd.DataFrame({"a": ["1", "2"], "b": [1.0, 2.0]}),
        pd.DataFrame({"a": ["1", "2"]}, dtype="string"),
        np.array([[b"1", 2]], dtype=object),
    ],
    ids=["objects", "frame", "text column", "bytes"],
)
def test_digits_in_text_are_refused(points):
    with pytest.raises(TypeError, match=r"points must hold real numbers, found objec"):
        minimum_enclosing_ball(points)


def test_equally_far_rows_that_are_dependent_are_not_all_support():
    square = np.zeros((4, 6))
    square[:, 1:3] = [[1, 1], [1, -1], [-1, 1], [-1, -1]]
    repeated = np.eye(5, 9)[[0, 0, 1, 1, 2, 2]]
    for points, size in ((square, 3), (repeated, 3)):
        ball = minimum_enclosing_ball(points)
        assert ball.support.size <= size
        check(points, ball)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 10**9))
def test_the_families_against_rational_arithmetic(family, seed):
    points = family(np.random.default_rng(seed))
    try:
        ball = minimum_enclosing_ball(points)
    except ValueError as error:
        assert "whole numbers that float64 can hold" in str(error)
        assert not np.array_equal(points.astype(float).astype(object), points)
        return
    assert_the_smallest(points, ball)


# --- properties --------------------------------------------------------------------


@settings(deadline=None, max_examples=200)
@given(st.integers(0, 10**9), st.integers(1, 3), st.integers(20, 200))
def test_shells_of_small_clouds_enclose(seed, n, m):
    """The path of large data, where each stop must be right."""
    points = np.random.default_rng(seed).normal(size=(m, n))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "SHELL_BYTES", 1)
        sample = math.isqrt(m * (n + 1))
        ball = exact._solve_by_shells(Rows(points), 1.0, sample, 8, 1e-12, 1000)
    solution = exact._solution(ball, 1.0, 1e-10, 1000, "")
    assert solution.converged
    assert verify(points, solution)


@pytest.mark.parametrize("wide", [1, 16])
def test_passes_are_the_rows_that_were_read(wide, monkeypatch):
    read = []

    class Counted(Rows):
        def fold(self, new):
            takers = super().fold(new)
            counts = [getattr(taker, "count", self.shape[0]) for taker in takers]
            read.append(sum(counts) / self.shape[0])
            return takers

        def join(self, held, rows, shell):
            read.append(rows.size / self.shape[0])
            return super().join(held, rows, shell)

    monkeypatch.setattr(exact, "SHELL_BYTES", 1)
    monkeypatch.setattr(exact, "WIDE", wide)
    for seed in range(5):
        read.clear()
        source = Counted(normal(300, 3, seed=seed))
        ball = exact._solve_by_shells(source, 1.0, 30, 8, 1e-12, 1000)
        assert ball.passes == pytest.approx(sum(read), rel=1e-12)


@st.composite
def clouds(draw):
    """Small clouds of every kind, tame and degenerate."""
    rng = np.random.default_rng(draw(st.integers(0, 10**9)))
    m, n = draw(st.integers(1, 40)), draw(st.integers(1, 7))
    kind = draw(
        st.sampled_from(
            ["normal", "grid", "corners", "sphere", "repeated", "flat", "thin", "near"]
        )
    )
    points = rng.normal(size=(m, n))
    if kind == "grid":
        points = rng.integers(-3, 4, size=(m, n)).astype(float)
    elif kind == "corners":
        points = rng.integers(0, 2, size=(m, n)).astype(float)
    elif kind in ("sphere", "near"):
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        points *= 1 + (kind == "near") * 1e-9 * rng.normal(size=(m, 1))
    elif kind == "repeated":
        points = points[rng.integers(0, m, size=2 * m)]
    elif kind == "flat":
        points = points[:, :1] * rng.normal(size=n) + rng.normal(size=n)
    elif kind == "thin":
        points *= 10.0 ** -rng.integers(0, 12, size=n)
    return points


PROPERTY = settings(deadline=None, max_examples=150)


@PROPERTY
@given(clouds())
def test_optimality(points):
    ball = minimum_enclosing_ball(points)
    # Two points of a line's sphere may be 1e-9 apart: float64 has no better center.
    size = np.abs(points).max()
    assert ball.converged or ball.radius < 1e-6 * size
    check(points, ball)


@PROPERTY
@given(clouds(), st.integers(0, 10**6))
def test_invariance(points, seed):
    """Moved, turned, scaled, reordered and repeated, the ball moves along."""
    rng = np.random.default_rng(seed)
    m, n = points.shape
    ball = minimum_enclosing_ball(points)
    size = float(np.abs(points).max()) + 1.0

    def same(others, center, scale=1.0):
        other = minimum_enclosing_ball(others)
        slack = 1e-11 * size * scale
        assert abs(other.radius - scale * ball.radius) <= slack
        # Radii that agree to e leave the centers free to differ by sqrt(e).
        assert np.linalg.norm(other.center - center) <= 1e-5 * size * scale

    shift = rng.normal(size=n)
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
    same(points + shift, ball.center + shift)
    same(points @ turn, ball.center @ turn)
    same(points * 1e-3, ball.center * 1e-3, 1e-3)
    same(points[rng.permutation(m)], ball.center)
    same(points[np.r_[rng.integers(0, m, size=m), :m]], ball.center)
    same(np.vstack([points, rng.dirichlet(np.ones(m)) @ points]), ball.center)


@PROPERTY
@given(clouds())
def test_more_points_never_make_it_smaller(points):
    whole = minimum_enclosing_ball(points).radius
    part = minimum_enclosing_ball(points[: (len(points) + 1) // 2]).radius
    assert part <= whole * (1 + 1e-12) + 1e-15


def test_warming_compiles_what_the_first_ball_calls():
    lines = []
    warm_up(lines.append)
    assert len(lines) == 5
    for entrance in (exact._rounds, passes._scan, exact._differences):
        assert entrance.signatures
