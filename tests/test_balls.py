"""The base room: input checks, distances and solutions."""

import itertools
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mebnb import Solution, Trace
from mebnb.solvers import rates
from mebnb.solvers.balls import (
    beyond,
    coordinate_spread,
    dense_weights,
    dual_value,
    enclosing_radius,
    frank_wolfe_gap,
    gradient,
    kkt_residuals,
    squared_distances,
    summing_origin,
)
from mebnb.solvers.inputs import (
    LARGE_BLOCK_BYTES,
    check_limits,
    check_number,
    check_points,
    check_weights,
    readable,
    readable_blocks,
    row_blocks,
)

NUMBERS = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])


# --- input -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "points",
    [
        NUMBERS.tolist(),
        pd.DataFrame(NUMBERS),
        pd.DataFrame(NUMBERS, dtype="Int64"),
        NUMBERS.astype(int),
        NUMBERS.astype(np.uint8),
        NUMBERS.astype(np.float16),
        NUMBERS.astype(np.longdouble),
        NUMBERS.astype(object),
        NUMBERS.astype(">f8"),
    ],
    ids=lambda points: f"{type(points).__name__}-{getattr(points, 'dtype', '')}",
)
def test_numbers_of_any_kind_become_float64(points):
    array = check_points(points)
    assert array.dtype == np.float64 and array.dtype.isnative
    np.testing.assert_array_equal(array, NUMBERS)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_floats_come_back_as_they_are(dtype, order):
    points = np.array(NUMBERS, dtype=dtype, order=order)
    points.flags.writeable = False
    assert check_points(points) is points
    assert check_points(points, finite=False) is points


def test_big_endian_float32_stays_float32():
    assert check_points(NUMBERS.astype(">f4")).dtype == np.dtype("=f4")


def test_true_and_false_are_numbers():
    np.testing.assert_array_equal(check_points([[True, False]]), [[1.0, 0.0]])


TWO = "points must have two dimensions (points, features), found "
SOME = "points must hold at least one point and one feature, found shape "
REAL = "points must hold real numbers, found "
FINITE = "points must be finite, found "
COLUMN = "; one feature is a column: reshape(-1, 1)"
HOLES = pd.DataFrame({"a": [1, None]}, dtype="Int64").astype(object)
WORDS = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
MASKED = np.ma.masked_array(NUMBERS, NUMBERS > 3)

REFUSED = {
    "empty list": ([], ValueError, TWO + "1 with shape (0,)"),
    "no feature": ([[]], ValueError, SOME + "(1, 0)"),
    "no point": (np.zeros((0, 3)), ValueError, SOME + "(0, 3)"),
    "vector": ([1.0, 2.0], ValueError, TWO + "1 with shape (2,)" + COLUMN),
    "stack": (np.zeros((2, 2, 2)), ValueError, TWO + "3 with shape (2, 2, 2)"),
    "scalar": (3.0, ValueError, TWO + "0 with shape ()"),
    "ragged": (
        [[1.0, 2.0], [3.0]],
        ValueError,
        "points must have rows of equal length, found ragged rows",
    ),
    "NaN": ([[0.0], [np.nan]], ValueError, FINITE + "NaN in row 1, column 0"),
    "infinity": (
        [[0.0, -np.inf], [np.nan, 2.0]],
        ValueError,
        FINITE + "infinity in row 0, column 1",
    ),
    "float32 NaN": (
        np.array([[0.0, np.nan]], np.float32),
        ValueError,
        FINITE + "NaN in row 0, column 1",
    ),
    "missing value": (HOLES, TypeError, REAL + "objects such as <NA>"),
    "complex": ([[1.0 + 2.0j, 0.0]], TypeError, REAL + "complex numbers"),
    "text": ([["a", "b"]], TypeError, REAL + "dtype <U1"),
    "text column": (WORDS, TypeError, REAL + "objects such as 'x'"),
    "dates": (
        np.array([["2020-01-01"]], "M8[D]"),
        TypeError,
        REAL + "dtype datetime64[D]",
    ),
    "sparse": (
        sparse.csr_array(NUMBERS),
        TypeError,
        "points must be a dense array, found csr_array",
    ),
    "masked": (
        MASKED,
        TypeError,
        "points must not be a masked array; drop or fill the masked entries first",
    ),
    "beyond float64": (
        np.array([[np.longdouble("1e4000")]]),
        ValueError,
        "points holds extended-precision numbers beyond float64",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_points_is_refused(case):
    points, kind, message = REFUSED[case]
    with pytest.raises(kind) as caught:
        check_points(points)
    assert str(caught.value) == message


def test_the_message_names_the_argument():
    with pytest.raises(ValueError, match="^test_points must be finite"):
        check_points([[np.nan]], name="test_points")


def test_only_the_finite_scan_can_be_left_out():
    assert np.isnan(check_points([[np.nan]], finite=False)).all()
    with pytest.raises(ValueError):
        check_points([1.0], finite=False)


def test_the_largest_floats_are_finite():
    points = np.full((40, 3), np.finfo(float).max)
    assert check_points(points) is points


def test_non_finite_entries_are_found_in_any_block():
    points = np.zeros((100_000, 2))
    points[98_765, 1] = np.inf
    with pytest.raises(ValueError) as caught:
        check_points(points)
    assert str(caught.value) == (
        "points must be finite, found infinity in row 98765, column 1"
    )


def test_weights_come_back_positive_with_sum_one():
    indices, weights = check_weights([3, 0, 2], [0.5, 0.0, 0.5 + 5e-7], 4)
    assert indices.tolist() == [3, 2] and weights.sum() == pytest.approx(1.0)
    assert weights[0] == 0.5 / (1.0 + 5e-7)


@pytest.mark.parametrize(
    ("indices", "weights", "message"),
    [
        ([], [], r"same length >= 1, found shapes \(0,\) and \(0,\)"),
        ([[0]], [[1.0]], "same length >= 1"),
        ([0], [0.5, 0.5], "same length >= 1"),
        ([0.0], [1.0], "distinct whole numbers"),
        ([1, 1], [0.5, 0.5], "distinct whole numbers"),
        ([4], [1.0], "index the 4 points, found 4 to 4"),
        ([-1, 3], [0.5, 0.5], "index the 4 points, found -1 to 3"),
        ([0, 1], [1.5, -0.5], "found smallest -0.5 and sum 1"),
        ([0, 1], [0.5, 0.5 + 2e-6], r"found smallest 0.5 and sum 1\b"),
        ([0, 1], [0.5, 0.5 - 2e-6], "sum to 1, found"),
    ],
)
def test_weights_off_the_simplex_are_refused(indices, weights, message):
    with pytest.raises(ValueError, match=message):
        check_weights(indices, weights, 4)


LIMITS = dict(tol=0.0, max_iter=0, time_limit=None)


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"tol": -1e-9}, ValueError),
        ({"tol": np.inf}, ValueError),
        ({"tol": np.nan}, ValueError),
        ({"tol": "1"}, ValueError),
        ({"max_iter": True}, TypeError),
        ({"max_iter": 1.5}, TypeError),
        ({"max_iter": -1}, ValueError),
        ({"time_limit": 0.0}, ValueError),
        ({"time_limit": np.nan}, ValueError),
    ],
)
def test_limits_that_make_no_sense_are_refused(changes, kind):
    for good in ({}, {"tol": np.float32(1)}, {"max_iter": np.int64(3)}):
        check_limits(**LIMITS | good)
    check_limits(0, 0, 1e-300)
    with pytest.raises(kind, match=next(iter(changes))):
        check_limits(**LIMITS | changes)


@pytest.mark.parametrize(
    ("value", "whole", "kind"),
    [
        (1.0, True, TypeError),
        (True, True, TypeError),
        (True, False, TypeError),
        ("1", False, TypeError),
        (0, True, ValueError),
        (0.5, False, ValueError),
        (np.inf, False, ValueError),
        (np.nan, False, ValueError),
    ],
)
def test_a_number_below_its_least_or_of_another_kind_is_refused(value, whole, kind):
    for right in (1, 3, np.int64(2)):
        check_number("n", right, 1, whole=True)
    for right in (1, 1.0, np.float32(2.5)):
        check_number("n", right, 1)
    with pytest.raises(kind, match="^n must be"):
        check_number("n", value, 1, whole=whole)


# --- blocks and distances ----------------------------------------------------------


def layouts(points):
    """The same numbers in every way memory can hold them."""
    spaced = np.zeros((2 * points.shape[0], 3 * points.shape[1]), points.dtype)
    spaced[::2, ::3] = points
    fixed = points.copy()
    fixed.flags.writeable = False
    unaligned = np.zeros(points.nbytes + 1, np.uint8)[1:].view(points.dtype)
    unaligned = unaligned.reshape(points.shape)
    unaligned[:] = points
    return {
        "C": points,
        "F": np.asfortranarray(points),
        "read-only": fixed,
        "spaced": spaced[::2, ::3],
        "reversed": points[::-1].copy()[::-1],
        "unaligned": unaligned,
    }


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "layout", ["C", "F", "read-only", "spaced", "reversed", "unaligned"]
)
def test_distances_in_every_layout(layout, dtype):
    points = np.random.default_rng(0).normal(size=(70, 7)).astype(dtype)
    center = np.random.default_rng(1).normal(size=7)
    expected = ((points.astype(np.float64) - center) ** 2).sum(axis=1)
    points = layouts(points)[layout]
    before = points.copy()
    np.testing.assert_allclose(squared_distances(points, center), expected, rtol=1e-14)
    np.testing.assert_array_equal(points, before)
    assert points.flags.writeable == (layout != "read-only")


def test_distances_of_integers_and_from_a_scalar():
    np.testing.assert_array_equal(
        squared_distances(np.array([[3, 4], [0, 1]]), 0.0), [25.0, 1.0]
    )


@pytest.mark.parametrize("n", range(1, 10))
def test_distances_in_every_remainder_of_the_loop(n):
    points = np.arange(5.0 * n).reshape(5, n)
    expected = [sum((x - 1.5) ** 2 for x in row) for row in points]
    np.testing.assert_array_equal(squared_distances(points, np.full(n, 1.5)), expected)


def test_far_from_the_origin_distances_do_not_cancel():
    points = np.array([[1e8, 1e8], [1e8 + 3.0, 1e8 + 4.0]])
    np.testing.assert_array_equal(squared_distances(points, points[0]), [0.0, 25.0])


def test_blocks_cover_the_rows_once():
    for points in (np.arange(3.0 * 100_000).reshape(-1, 3), np.ones((3, 2_000_000))):
        for walk in (row_blocks, readable_blocks):
            starts, blocks = zip(*walk(points))
            assert list(starts) == list(np.cumsum([0, *map(len, blocks)])[:-1])
            np.testing.assert_array_equal(np.concatenate(blocks), points)


@pytest.mark.parametrize(
    ("walk", "size"), [(row_blocks, 256 * 1024), (readable_blocks, 8 * 1024 * 1024)]
)
def test_blocks_have_as_many_rows_as_fit_and_one_at_least(walk, size):
    for n in (1, 3, 1000):
        points = np.broadcast_to(0.0, (2 * size // 8, n))
        starts = [start for start, _ in itertools.islice(walk(points), 3)]
        assert np.diff(starts).tolist() == [size // (8 * n)] * (len(starts) - 1)
        assert len(starts) > 1
    wide = np.broadcast_to(0.0, (3, size // 8 + 1))
    assert [start for start, _ in walk(wide)] == [0, 1, 2]


def test_readable_needs_no_copy_or_is_none():
    points = np.random.default_rng(0).normal(size=(20, 3))
    for name, array in layouts(points).items():
        if name in ("C", "read-only"):
            assert np.shares_memory(readable(array), array)
            assert readable(array).flags.carray
        else:
            assert readable(array) is None
    assert readable(np.ones((2, 2), int)) is None


def test_a_pass_over_columns_first_data_keeps_one_block_only():
    points = np.asfortranarray(np.random.default_rng(0).normal(size=(700_000, 10)))
    tracemalloc.start()
    distances = squared_distances(points, points[0])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - distances.nbytes < 2.5 * LARGE_BLOCK_BYTES < points.nbytes / 2


def test_coordinate_spread():
    points = np.array([[1.0, 2.0], [4.0, -5.0]])
    assert coordinate_spread(points, points[0]) == 7.0
    assert coordinate_spread(points * 5e-324, points[0] * 5e-324) == 7.0 * 5e-324
    largest = np.finfo(float).max
    ends = np.array([[largest], [-largest]])
    assert coordinate_spread(ends, ends[0]) == largest


# --- the problem -------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 20), st.integers(1, 6))
def test_identities_of_the_dual(seed, m, n):
    rng = np.random.default_rng(seed)
    points, weights = rng.normal(size=(m, n)), rng.dirichlet(np.ones(m))
    center = weights @ points
    squares = (points**2).sum(axis=1)
    gamma = dual_value(points, weights)
    scale = squares.max()
    assert gamma == pytest.approx(
        weights @ squares - center @ center, abs=1e-12 * scale
    )
    # The gradient of f = -Phi gives the gap: max over the simplex of g'(u - v).
    slopes = gradient(points, weights)
    gap = weights @ slopes - slopes.min()
    assert frank_wolfe_gap(points, weights) == pytest.approx(gap, abs=1e-12 * scale)
    assert enclosing_radius(points, center) ** 2 == pytest.approx(
        gamma + frank_wolfe_gap(points, weights), abs=1e-12 * scale
    )


@pytest.mark.parametrize("value", [2.0**50, 1.7e18])
def test_dual_quantities_ignore_a_constant_column(value):
    points = np.array([[1.0, 3.0], [2.0, 2.0], [1.0, -3.0], [-2.0, 2.0]])
    weights = np.array([1 / 3, 1 / 3, 1 / 6, 1 / 6])
    beside = np.column_stack([points, np.full(4, value)])
    for function in (dual_value, frank_wolfe_gap):
        assert function(beside, weights) == pytest.approx(
            function(points, weights), rel=1e-14
        )
    center = weights @ points
    gamma = dual_value(points, weights)
    found = kkt_residuals(beside, weights, np.append(center, value), gamma)
    for name, residual in kkt_residuals(points, weights, center, gamma).items():
        assert found[name] == pytest.approx(residual, rel=1e-13, abs=1e-14), name


def test_residuals_by_hand():
    points = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]])
    center = np.ones(2)  # squared distances 2, 10, 5
    weights = np.array([0.5, 0.75, -0.125])  # A u = (3, -3/8)
    residuals = kkt_residuals(points, weights, center, 4.0)
    assert list(residuals.values()) == pytest.approx(
        [np.hypot(1.875, 1.5), 0.125, 6.0, 0.125, 4.5], rel=1e-15
    )
    # A ball that is too large: nothing is outside, and its support is inside.
    residuals = kkt_residuals(points, np.abs(weights), center, 20.0)
    assert list(residuals.values())[1:] == [0.375, 0.0, 0.0, 9.0]


def test_beyond_the_sphere_is_farther_than_its_millionth():
    distances = 3.0 * np.array([0.5, 1.0, 1.0 + 0.9e-6, 1.0 + 1.1e-6, 2.0])
    assert beyond(distances, 3.0).tolist() == [False, False, False, True, True]


def test_sums_start_at_the_first_row_in_columns_sixteen_widths_away():
    points = np.array([[15.9, 16.0, 16.1, -16.1], [16.9, 16.0, 16.1, -16.1]])
    assert summing_origin(points, 1.0).tolist() == [0.0, 0.0, 16.1, -16.1]
    assert summing_origin(points, 2.0) is None


# --- solutions ---------------------------------------------------------------------


def ball(**changes):
    fields = dict(
        center=np.zeros(2),
        radius=1.0,
        lower_bound=1.0,
        support=np.array([0, 1]),
        weights=np.array([0.5, 0.5]),
        iterations=3,
        converged=True,
        message="by hand",
    )
    return Solution(**fields | changes)


def test_relative_error():
    assert ball().relative_error == 0.0
    assert ball(lower_bound=0.5).relative_error == 1.0
    assert ball(lower_bound=0.0).relative_error == np.inf
    assert ball(radius=0.0, lower_bound=0.0).relative_error == 0.0


def test_a_solution_shows_itself():
    shown = repr(ball(converged=False))
    assert shown == (
        "Solution(radius 1, lower bound 1, radius / lower bound - 1 0.0e+00, "
        "2 support points, 3 iterations, not converged)"
    )
    assert '<th scope="row">radius</th><td>1</td>' in ball()._repr_html_()


def test_a_solution_promises_and_measures_nothing_that_nobody_said():
    assert not ball().independent and ball().trace is None and np.isnan(ball().passes)
    assert dense_weights(ball(), 3).tolist() == [0.5, 0.5, 0.0]


def test_gaps_of_a_trace_are_relative_and_infinite_where_gamma_is_zero():
    trace = Trace(gamma=[0.0, 4.0, 8.0, 8.0], fw_gap=[3.0, 2.0, 1.0, 0.0])
    assert trace.relative_gaps().tolist() == [np.inf, 0.5, 0.125, 0.0]
    assert [trace.iterations_to(x) for x in (np.inf, 0.5, 0.2, 0.0)] == [0, 1, 2, 3]
    assert Trace(gamma=[1.0], fw_gap=[1.0]).iterations_to(0.5) is None


def test_rates_of_a_trace_are_fitted_in_their_bands():
    gaps = [2.0**-t for t in range(60)]
    trace = Trace(gamma=[1.0] * 60, fw_gap=gaps)
    assert trace.linear_rate() == rates.linear_rate(gaps, 1e-12, 1e-3)
    assert trace.power_rate() == rates.power_rate(gaps, 1e-12, 1e-1)


def test_a_trace_becomes_a_table():
    trace = Trace()
    row = dict(gamma=1.0, fw_gap=2.0, away_gap=3.0, radius=4.0)
    trace.append(**row, kind="start", step=np.nan, active=1, seconds=0.0)
    trace.append(**row, kind="FW", step=0.5, active=2, seconds=0.1)
    table = trace.to_frame()
    assert len(trace) == 2
    assert list(table.columns) == (
        [
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
    )
    assert table["iteration"].tolist() == [0, 1]
