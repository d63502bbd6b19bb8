"""The minimum enclosing ball to full accuracy: `minimum_enclosing_ball`.

The method is a core set with a fully corrective solve, and few passes over the data.

1. A sample of sqrt(m (n + 1)) rows is solved exactly. By Clarkson's sampling lemma
   about as many of the other rows lie outside the sample's ball.
2. One pass over the data keeps the farthest rows, a shell of two to four times that
   number, and a bound on the distances of the rows that were let go.
3. The shell is solved exactly. When the center has moved by no more than the room
   between the rows let go and the new sphere, every row is inside, and the work is
   done without a second look; else step 2 is repeated from the new center. Of wide
   data only the rows are looked at first that may be outside by the distance that
   each had before and the step of the center; mostly none is.

Small and wide data go to the exact solve with all their rows.

Exact means: take the farthest rows into the core set, maximise the dual on the core
set with an active-set method on a Cholesky factor, and repeat until no row is
outside. The support stays affinely independent, at most n + 1 points.

Sources: Clarkson, Las Vegas algorithms for linear and integer programming, J. ACM
42 (1995); Kumar, Mitchell and Yildirim, Approximate minimum enclosing balls in high
dimensions using core-sets, J. Exp. Algorithmics 8 (2003); Fischer, Gaertner and Kutz,
Fast smallest-enclosing-ball computation in high dimensions, ESA 2003; Goldfarb and
Idnani, A numerically stable dual method for solving strictly convex quadratic
programs, Math. Programming 27 (1983).
"""

from __future__ import annotations

import math
from collections import namedtuple
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numba import njit

from mebnb.solvers.balls import Solution, coordinate_spread, squared_distances
from mebnb.solvers.devices import DeviceRows, on_a_device
from mebnb.solvers.inputs import check_number, check_points, readable
from mebnb.solvers.passes import (
    ORDER,
    PART,
    Rows,
    Shell,
    check_workers,
    compiled,
    farthest_rows,
    measure,
    measure_rows,
    part,
)
from mebnb.solvers.refining import refine
from mebnb.solvers.sources import Blocks, Stream, opened

__all__ = ["minimum_enclosing_ball"]

EPS = float(np.finfo(np.float64).eps)
# Squared distances outside of these lose digits or overflow: scale the data first.
TINY, HUGE = 1e-200, 1e200
# A point whose squared distance from the span of the support is below this part of its
# squared length counts as lying in it; the violation this can hide is no larger.
DEPENDENT = 1e-14
# Up to this many entries a sample does not pay, and a copy of the rows does not hurt.
SMALL = 1_000_000
# Of up to this many entries the work space, at most 4 MB, is kept for the next call.
SPARED = 2**16
# A sample pays where it is less than one in this many rows.
SPARSE = 10
# A shell may always take this many bytes, and an eighth of the data.
SHELL_BYTES = 16 * 1024 * 1024
# From so many columns on a pass keeps its distances, a small part of what it reads.
WIDE = 16
# Columns of a tile of matrix products.
COLUMNS = 512
# Of this many squared distances it is asked at once whether one is large.
STRETCH = 64
# More multiplications than this are left to the matrix product.
PRODUCTS = 1_000_000
# Compiled code gets a literal 0 a version of its own of every function it hands it to.
NONE = np.int64(0)
# What compiled rounds ask of their caller: inner products, or distances of all rows.
FORM, LOOK = 1, 2

# A ball of scaled data. farthest and cut are squared distances: of the farthest row,
# and the one beyond which a row counts as outside.
_Ball = namedtuple("_Ball", "support weights center gamma farthest cut rounds passes")


def minimum_enclosing_ball(points, *, rtol=1e-10, max_iter=1000, workers=None):
    """Smallest ball that holds all points, with a certificate that it is the smallest.

    Exact up to rounding at the default tolerance: the support comes from a finite
    method, and center, radius and lower bound are computed anew from it by differences.

    Parameters
    ----------
    points : array_like, path, table or Blocks; shape (m, n)
        One point a row: an array (also float32, memory-mapped, read-only, in any
        memory layout), nested lists or a data frame. Also the path of a `.npy` file, a
        Parquet file, a folder or a pattern of them, an Arrow table, a Dask array or
        frame with one chunk of columns, or `Blocks`: these are read block by block,
        but for wide data (m not above 100 (n + 1)), which are taken into memory. An
        array on a GPU (CuPy, PyTorch, JAX) or another device of float64 is passed over
        there, and only the rows that decide are copied to the host; its ball is that of
        the same rows in memory, bit for bit. Never modified.
    rtol : float
        The largest accepted radius / lower_bound - 1. The last digits are nearly free,
        so the solver aims at rtol / 100, or at what rounding allows.
    max_iter : int
        The largest number of rounds, each of which takes the farthest rows in.
    workers : int or None
        How many threads pass over large data. None takes the cores that the process
        may run on, but no more than NUMBA_NUM_THREADS and OMP_NUM_THREADS allow where
        they are set. Up to a million entries are left to one. The answer is the same
        bit for bit for any number. Products of matrices have the threads of BLAS.

    Returns
    -------
    Solution
        lower_bound <= r* <= radius up to rounding; `converged` says whether rtol was
        met, `message` why the solver stopped and what was reached. `iterations`
        counts rounds, `passes` the rows read, in multiples of m.

    Raises
    ------
    TypeError
        When the entries are not real numbers, or rtol, max_iter or workers no numbers.
    ValueError
        When the points are empty, ragged, not two-dimensional, NaN or infinite, when
        the radius exceeds float64, or when rtol, max_iter or workers are out of range.

    Notes
    -----
    Samples are drawn with a fixed seed: the same input gives the same output, bit for
    bit. Where squares would overflow or vanish, the data are scaled by a power of two.

    Examples
    --------
    >>> ball = minimum_enclosing_ball([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]])
    >>> ball.center.round(12), round(ball.radius, 12), ball.support
    (array([1., 0.]), 1.0, array([0, 1]))
    """
    check_number("rtol", rtol, 0.0)
    check_number("max_iter", max_iter, 1, whole=True)
    source = _source(points, workers)
    scale = 1.0
    ball = _solve(source, scale, rtol, max_iter)
    if not TINY < ball.farthest < HUGE:
        source.refuse_non_finite()
        first = source.gather(np.array([0]))[0][0]
        spread = max(
            coordinate_spread(block, first)
            for _, block in source.blocks()
            if len(block)
        )
        if spread == 0.0:
            ball = ball._replace(center=first, farthest=0.0)
        else:
            scale = 2.0 ** min(-math.frexp(spread)[1], 1023)
            ball = _solve(source, scale, rtol, max_iter)
            ball = _about(source, scale, ball, ball.center / scale)
    why = "which rounding of the center to float64 explains"
    gap = math.sqrt(ball.farthest / (ball.gamma or math.inf)) - 1.0
    if gap > rtol and ball.farthest > ball.cut and ball.rounds < max_iter:
        ball, why = _refined(source, scale, ball, max_iter)
    solution = _solution(ball, scale, rtol, max_iter, why)
    places = source.locate(solution.support)
    return solution if places is None else replace(solution, places=places)


def _source(points, workers):
    """The points as passes read them: in memory, or where they lie."""
    points = opened(points)
    if on_a_device(points):
        rows = DeviceRows(points, check_workers(workers))
        return rows if math.prod(rows.shape) > SMALL else Rows(rows.whole())
    if not isinstance(points, Blocks):
        points = check_points(points, finite=False)
        return Rows(points, check_workers(workers, points.size > SMALL))
    large = math.prod(points.shape) > SMALL
    stream = Stream(points, check_workers(workers, large))
    return stream if large else Rows(stream.whole(), held=points)


def _refined(source, scale, ball, max_iter):
    """The ball of exact arithmetic, and why no more can be had.

    Where the exact method gives up, the ball as it was.
    """
    found = refine(source, scale, ball.support, max_iter - ball.rounds)
    if found is None:
        return ball, "as float64 cannot tell apart points that nearly coincide"
    support, weights, center, square, entered = found
    gamma = float(square * Fraction(scale) ** 2)
    rounds, passes = ball.rounds + entered, ball.passes + entered + 1.0
    ball = ball._replace(support=support, weights=weights, gamma=gamma)
    ball = ball._replace(rounds=rounds, passes=passes)
    ball = _about(source, scale, ball, np.array([float(x) for x in center]))
    return ball, "as no float64 is nearer to the exact center"


def _about(source, scale, ball, center):
    """The ball about a center of the points as they are, in float64."""
    center = center * scale
    farthest = farthest_rows(source, center, scale, 1, math.inf).farthest
    return ball._replace(center=center, farthest=farthest, passes=ball.passes + 1.0)


def _solution(ball, scale, rtol, max_iter, why):
    radius = math.sqrt(ball.farthest) / scale
    if radius == math.inf:
        raise ValueError(
            "points must have a radius below the largest float64, 1.8e308; divide them "
            "by a constant first"
        )
    lower_bound = min(math.sqrt(ball.gamma) / scale, radius)
    gap = radius / (lower_bound or math.ulp(0.0)) - 1.0 if radius else 0.0
    if gap <= rtol:
        end = f", within rtol = {rtol:g}"
    elif ball.rounds >= max_iter:
        end = f" after max_iter = {max_iter} rounds"
    else:
        end = f", {why}"
    order = ball.support.argsort()
    return Solution.at_once(
        center=ball.center if scale == 1.0 else ball.center / scale,
        radius=radius,
        lower_bound=lower_bound,
        support=ball.support[order],
        weights=ball.weights[order],
        iterations=ball.rounds,
        converged=gap <= rtol,
        message=f"radius / lower bound - 1 = {gap:.1e}{end}",
        passes=ball.passes,
        independent=True,
    )


# --- few passes over large data ----------------------------------------------------


def _solve(source, scale, rtol, max_iter):
    """The ball of the scaled points, from all rows at once or from few of them.

    Which of the two, and all that follows, hangs on the numbers alone: not on their
    type, on the layout or on where they lie.
    """
    m, n = source.shape
    aim, limit = max(float(rtol) / 100.0, 1e-14), int(max_iter)
    batch, small = min(4 + 4 * math.isqrt(n), 256), m * n <= SMALL
    if not small:
        sample = math.isqrt(m * (n + 1))
        if SPARSE * sample < m:
            return _solve_by_shells(source, scale, sample, batch, aim, limit)
    points = source.whole()
    rows = readable(points)
    if rows is None or (small and rows.dtype != np.float64):
        rows = np.array(points, dtype=np.float64 if small else None, order="C")
    return _core_ball(rows, scale, None, batch, aim, limit, source.workers)


def _solve_by_shells(source, scale, sample, batch, aim, limit):
    """Steps 1 to 3 of the module's description."""
    m, n = source.shape
    most = min(4 * sample, max(m // 8, SHELL_BYTES // (8 * n), 4))
    drawn = np.random.default_rng(0).choice(m, most // 4, replace=False, shuffle=False)
    rows = np.sort(drawn)
    values, read = source.gather(rows)
    workers = source.workers
    ball = _core_ball(values, scale, None, batch, aim, limit, workers)
    held = values[ball.support]
    ball = ball._replace(support=rows[ball.support], passes=read)
    # A cut that about half of `most` of all rows will pass.
    sampled = Shell(ball.center, scale, max(most * most // (8 * m), 1), 0.0)
    sampled.take(0, values)
    inner = sampled.merged([]).inner
    del values, sampled
    kept = np.full(m if n >= WIDE and not source.passes_by else 0, np.inf)
    while ball.farthest < HUGE:
        cut = min(inner, ball.cut)
        shell = farthest_rows(source, ball.center, scale, most, cut, kept)
        inner, farthest = shell.inner, shell.farthest
        ball = ball._replace(farthest=farthest, passes=ball.passes + 1.0)
        if farthest <= ball.cut or ball.rounds >= limit or farthest == math.inf:
            break
        fresh = np.setdiff1d(shell.rows, ball.support, assume_unique=True)
        rows = np.concatenate([ball.support, fresh])
        values = source.join(held, fresh, shell)
        if not source.passes_by:
            ball = ball._replace(passes=ball.passes + fresh.size / m)
        start, rest = ball.weights, limit - ball.rounds
        new = _core_ball(values, scale, start, batch, aim, rest, workers)
        shift = float(np.linalg.norm(new.center - ball.center))
        if shift == 0.0 and new.gamma <= ball.gamma * (1.0 + 1e-14):
            break
        held, rounds = values[new.support], ball.rounds + new.rounds
        ball = new._replace(
            support=rows[new.support], rounds=rounds, passes=ball.passes
        )
        if (math.sqrt(inner) + shift) * (1.0 + 1e-14) <= math.sqrt(ball.farthest):
            break
        near = _near(ball.gamma)
        if 2 * np.count_nonzero(kept < max(near - shift, 0.0) ** 2) > m:
            read = measure_rows(source, ball.center, scale, kept, shift, near)
            ball = ball._replace(passes=ball.passes + read / m)
            if kept.max() <= ball.cut:
                ball = ball._replace(farthest=float(kept.max()))
                break
    return ball


# --- compiled: the farthest rows ---------------------------------------------------

# A part is optimised and made machine code by itself, and again with every caller. One
# with a single caller becomes a piece of its text before that, or stands there, as much
# does in _rounds; not so _collect and measure, which LLVM makes slower code of in the
# midst of others.
_pasted = njit(fastmath=ORDER, inline="always", **PART)


@part
def _dot(x, y, size):
    total = 0.0
    for i in range(size):
        total += x[i] * y[i]
    return total


@part
def _collect(measured, cut, batch, found, squared):
    """Collect the rows farther than sqrt(cut) from a center; the farthest, if too many.

    Returns count and inner: how many are collected, fewer than `batch`, and a bound on
    the squared distances of the rows let go. count is -1 when a squared distance is not
    finite. The farthest row comes last.
    """
    count, inner = NONE, 0.0
    for start in range(0, measured.size, STRETCH):
        stretch = measured[start : start + STRETCH]
        # Mostly none is farther than what was let go; so many are compared at once.
        beyond = NONE
        for i in range(stretch.size):
            beyond += not stretch[i] <= inner
        for i in range(stretch.size if beyond else NONE):
            distance = stretch[i]
            if distance <= cut:
                if distance > inner:
                    inner = distance
                continue
            if not distance < np.inf:
                return -1, np.inf
            found[count], squared[count] = start + i, distance
            count += 1
            if count == batch:
                inner = cut = _keep_farthest(found, squared, count, count // 2)
                count = count // 2
    _farthest_last(found, squared, count)
    return count, inner


@part
def _keep_farthest(found, squared, count, keep):
    """Bring the `keep` farthest to the front, the nearest of them last; return it."""
    low, high = NONE, count - 1
    while low < high:
        pivot = squared[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while squared[i] > pivot:
                i += 1
            while squared[j] < pivot:
                j -= 1
            if i <= j:
                found[i], found[j] = found[j], found[i]
                squared[i], squared[j] = squared[j], squared[i]
                i, j = i + 1, j - 1
        if keep <= j + 1:
            high = j
        elif keep > i:
            low = i
        else:
            break
    return squared[keep - 1]


@part
def _farthest_last(found, squared, count):
    """Bring the farthest to the end."""
    last = count - 1
    for i in range(last):
        if squared[i] > squared[last]:
            found[i], found[last] = found[last], found[i]
            squared[i], squared[last] = squared[last], squared[i]


# --- all rows in memory ------------------------------------------------------------

# The work space of the last few points, by their shape: where they are followed by others
# of it, a sixth of the time goes into asking for it anew and giving it back.
_spare = {}


def _core_ball(rows, scale, start_weights, batch, aim, limit, workers=1):
    """Exact ball of all rows, in memory.

    Parameters
    ----------
    rows : ndarray, shape (m, n)
        C-contiguous and finite, or farthest is infinite.
    scale : float
        A power of two that the rows are multiplied with.
    start_weights : ndarray, shape (k,), or None
        Weights of the first k rows to start from.
    batch : int
        A round adds fewer than this many rows to the core set.
    aim : float
        Squared distances beyond gamma * (1 + aim) are outside.
    limit : int
        The largest number of rounds.
    workers : int
        How many threads measure the distances of many rows.

    Returns
    -------
    _Ball
    """
    m, n = rows.shape
    start = 0 if start_weights is None else start_weights.size
    batch = min(batch, m + 1)
    if not start and scale == 1.0 and 2 < m <= n + 1:
        ball = _regular_simplex(rows, aim)
        if ball is not None:
            return ball
    most = min(m, n + 1)
    capacity = most + 2 * batch
    # The first center is the mean of every so many rows, or that of the support given.
    stride = 1 if start else max(1, m // max(n, 128))
    first = start or -(-m // stride)
    large = rows.size > SMALL
    small = not start and rows.size <= min(SPARED, SMALL)
    # Nobody else has what is taken from the dictionary.
    work = _spare.pop((m, n, capacity), None) if small else None
    if work is None:
        work = _work_space(m, n, most, capacity, max(capacity, first), large)
    numbers, vectors, gram, factor, places, space, measured = work
    if start:
        vectors[0, :start] = start_weights
    state = first, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0
    # The first look comes from nowhere: its step is none, and no row is known.
    read, before = 0, places[0]
    while True:
        state = _rounds(
            numbers, vectors, gram, factor, places, space, measured, large, rows,
            scale, start, stride, batch, aim, limit, *state,
        )  # fmt: skip
        size, done, known, rounds, gamma, farthest, cut, _, asked = state
        if not asked:
            break
        if asked == FORM:
            _multiply(numbers[0], gram, space, places[1], done, known, rows, scale)
        else:
            center = places[0].copy()
            step, near = float(np.linalg.norm(center - before)), _near(gamma)
            source, before = Rows(rows, workers), center
            read += measure_rows(source, center, scale, measured, step, near)
    if rounds == 0:  # equal rows, or squares that are not finite numbers
        center, one = scale * rows[0].astype(np.float64), np.ones(1)
        return _Ball(np.zeros(1, np.int64), one, center, 0.0, farthest, 0.0, 0, 1.0)
    passes = read / m if read else rounds + 1.0
    slots, center = numbers[1, :size], places[0]
    support, weights = numbers[0][slots], vectors[0][slots]
    if small:
        center = center.copy()
        _spare.clear()
        _spare[m, n, capacity] = work
    return _Ball(support, weights, center, gamma, farthest, cut, rounds, passes)


def _work_space(m, n, most, capacity, length, large):
    """Room for the rounds, as `_rounds` describes it."""
    return (
        np.empty((4, length), np.int64),
        np.empty((5, length)),
        np.empty((capacity, capacity)),
        np.empty((most + 1, most + 1)),
        np.empty((3, n)),
        np.empty((capacity, min(n, COLUMNS))),
        # Many rows are measured by threads. One that is not known yet may be anywhere.
        np.full(m, np.inf) if large else np.empty(m),
    )


def _near(gamma):
    """A distance from the center at which a row is not outside, nor the farthest.

    Some row is at least sqrt(gamma) away from any center; rounding of gamma and of a
    distance is far below the part that is taken off.
    """
    return math.sqrt(gamma) * (1.0 - 1e-9)


def _regular_simplex(rows, aim):
    """The ball of rows that each have a column of their own and are equally far.

    Their mean is the center and all of them are the support, which would have to enter
    the core set whole. In a row's own column all other rows agree, and it differs; so
    no row is in the affine hull of the others.

    Returns None for other rows, mostly at once: two of these rows differ in no column
    that is another row's own.
    """
    m, n = rows.shape
    differ = rows[0] != rows[1]
    if np.count_nonzero(differ) > n - m + 2:
        return None
    common = np.where(differ, rows[2], rows[0])
    differ = rows != common
    own = np.count_nonzero(differ, axis=0) == 1
    if not (differ @ own).all():
        return None
    common = common.astype(np.float64)
    center = common + (rows - common).mean(axis=0)
    squared = squared_distances(rows, center)
    gamma, farthest = float(squared.mean()) * (1.0 - 8.0 * EPS), float(squared.max())
    if not TINY < farthest < HUGE or farthest > gamma * (1.0 + 2.0 * aim):
        return None
    equal = np.full(m, 1.0 / m)
    return _Ball(np.arange(m), equal, center, gamma, farthest, farthest, 1, 3.0)


def _multiply(ids, gram, space, origin, done, known, rows, scale):
    """Inner products of the core points from `done` on with all, tile by tile."""
    new = gram[done:known, :known]
    for start in range(0, origin.size, COLUMNS):
        # One tile is the whole: the differences of the points known before are there.
        first = done if origin.size <= COLUMNS else 0
        width = min(COLUMNS, origin.size - start)
        _differences(ids, rows, scale, origin, start, width, first, known, space)
        local = space[:known, :width]
        if start == 0:
            np.matmul(local[done:], local.T, out=new)
        else:
            new += local[done:] @ local.T
    gram[:done, done:known] = new[:, :done].T


# --- compiled: the rounds ----------------------------------------------------------


@compiled
def _differences(ids, rows, scale, origin, start, width, first, known, space):
    """Differences of core points from the origin, in `width` columns from `start` on."""
    there = origin[start : start + width]
    for i in range(first, known):
        row, here = rows[ids[i], start : start + width], space[i]
        for j in range(width):
            here[j] = scale * row[j] - there[j]


@compiled
def _rounds(
    numbers, vectors, gram, factor, places, space, measured, large, rows,
    scale, start, stride, batch, aim, limit,
    size, done, known, rounds, gamma, farthest, cut, sigma, asked,
):  # fmt: skip
    """Take the farthest rows into the core set and maximise, until none is outside.

    The core points are counted from 0. `ids` are their rows, `weights` their dual
    weights, 0 outside of the support, and `gram` holds the inner products of their
    differences d_i from the origin. `active` lists the support in the order of the
    factor. With z_i = |d_i|^2 and M_ij = d_i'd_j + sigma the maximiser of the dual on
    the affine hull of the support solves 2 M u + lambda = z, sum u = 1; sigma makes M
    definite as long as the support is affinely independent.

    Parameters, beside those of _core_ball
    --------------------------------------
    numbers : ndarray of int, shape (4, k)
        ids, active, and work space.
    vectors : ndarray, shape (5, k)
        weights, and work space.
    gram : ndarray, shape (k, k)
    factor : ndarray, shape (l + 1, l + 1)
        L of M = L L', for a support of up to l points, and the row below it.
    places : ndarray, shape (3, n)
        Center, origin, and center less the support's first row.
    space : ndarray, shape (k, n)
        The differences d_i, as far as they are formed here.
    measured : ndarray, shape (m,)
        Work space for the squared distances of all rows.
    large : bool
        Whether the caller measures them, when asked.
    start : int
        How many rows are the support to start from. If 0, the first center is the mean
        of the rows that are `stride` apart, and the row farthest from it the support.
    size, done, known, rounds : int
        Size of the support, rows of `gram` that are filled, core points, rounds.
    gamma, farthest, cut, sigma : float
        The fields of _Ball, and sigma.
    asked : int
        FORM or LOOK where the call before this one asked for that, which is there now,
        else 0.

    Returns
    -------
    size, done, known, rounds, gamma, farthest, cut, sigma
        As they are now.
    asked : int
        FORM where more products are due than are formed here in good time, LOOK where
        the distances are, 0 at the end.
    """
    ids, active, found, kept = numbers[0], numbers[1], numbers[2], numbers[3]
    weights, squared, target = vectors[0], vectors[1], vectors[2]
    cosines, sines, room = vectors[3], vectors[4], factor.shape[0] - 1
    center, origin, local = places[0], places[1], places[2]
    if known == 0:
        for i in range(size):
            ids[i], active[i] = i * stride, i
            if start == 0:
                weights[i] = 1.0 / size
    while True:
        if asked == 0:
            # Center and dual value, anew from the support by differences from its first
            # row, and how far rounding moves the center.
            first = rows[ids[active[0]]]
            gamma, drift = 0.0, 0.0
            for j in range(local.size):
                local[j] = 0.0
            for i in range(size):
                slot = active[i]
                row, weight = rows[ids[slot]], weights[slot]
                for j in range(local.size):
                    local[j] += weight * _difference(
                        row[j], scale, scale * first[j], 0.0
                    )
            for i in range(size if rounds > 0 else NONE):
                slot = active[i]
                row, weight = rows[ids[slot]], weights[slot]
                for j in range(local.size):
                    difference = _difference(row[j], scale, scale * first[j], local[j])
                    gamma += weight * difference * difference
            for j in range(local.size):
                center[j], lost = _sum(scale * first[j], local[j])
                drift += lost * lost
            if rounds > 0:
                # What rounding of the center and of a distance may add.
                drift = math.sqrt(drift)
                rounding = (2.0 * math.sqrt(gamma) + drift) * drift + 8.0 * EPS * gamma
                cut = gamma * (1.0 + 2.0 * aim) + rounding
            if large:
                asked = LOOK
                break
            measure(rows, scale, center, measured)
        if asked != FORM:
            # The rows outside of the ball about it; without any it is the smallest.
            asked = 0
            count, farthest = _collect(measured, cut, batch, found, squared)
            if count > 0 and squared[count - 1] > farthest:
                farthest = squared[count - 1]
            if count <= 0 or rounds == limit or not TINY < farthest < HUGE:
                break
            if rounds == 0:
                sigma = farthest
                if start == 0:
                    size = NONE + 1
                    ids[0], weights[0] = found[count - 1], 1.0
            if rounds == 0 or known + count > gram.shape[0]:
                # The support alone stays in the core set.
                for i in range(size):
                    slot = active[i]
                    kept[i], squared[i] = ids[slot], weights[slot]
                for i in range(size):
                    ids[i], weights[i], active[i] = kept[i], squared[i], i
                row = rows[ids[0]]
                for j in range(origin.size):
                    origin[j] = scale * row[j]
                known, done = size, NONE
            # Those that are new to the core set join it.
            old = known
            for i in range(count):
                place, j = found[i], NONE
                while j < old and ids[j] != place:
                    j += 1
                if j == old:
                    ids[known], weights[known] = place, 0.0
                    known += 1
            if known == old and rounds > 0:
                break
            products = (known - done) * known * origin.size
            if products > PRODUCTS or origin.size > COLUMNS:
                asked = FORM
                break
            for i in range(done, known):
                row, here = rows[ids[i]], space[i]
                for j in range(origin.size):
                    here[j] = scale * row[j] - origin[j]
                for j in range(i + 1):
                    gram[i, j] = gram[j, i] = _dot(here, space[j], origin.size)
        # The maximum of the dual on the core set. All points outside join the support
        # at once, as far as they are affinely independent of it; the climb drops those
        # that do not belong. A point in the span of the support takes another's place.
        fixed = size if done else NONE
        size = _factorise(weights, active, gram, factor, sigma, fixed, size)
        for _ in range(20 * weights.size):
            count = _outside(weights, gram, known, aim, found, squared)
            if count == 0:
                break
            keep = room - size if room > size else 1
            if count > keep:
                _keep_farthest(found, squared, count, keep)
                count = keep
            _farthest_last(found, squared, count)
            for i in range(count):
                active[size + i] = found[i]
            end = size + count
            grown = _factorise(weights, active, gram, factor, sigma, size, end)
            if grown == size:  # the row below the factor is that of the farthest
                weight = _exchange(weights, active, factor, cosines, sines, size)
                newcomer, fixed = found[count - 1], size - 1
                active[fixed] = newcomer
                grown = _factorise(weights, active, gram, factor, sigma, fixed, size)
                if grown == size:
                    weights[newcomer] = weight
            stuck = grown < size  # rounding hides what is left
            size = _climb(weights, active, gram, factor, target, cosines, sines, grown)
            if stuck:
                break
        asked, done, rounds = 0, known, rounds + 1
    return size, done, known, rounds, gamma, farthest, cut, sigma, asked


# No reordering here, which would lose the digits of the center. Numba hands the
# caller's freedom on to a function that names none of its own.
_strict = njit(fastmath={"contract"}, **PART)


@_strict
def _difference(entry, scale, origin, center):
    return (scale * entry - origin) - center


@_strict
def _sum(x, y):
    """x + y, and what rounding took from it (Knuth)."""
    total = x + y
    other = total - x
    return total, (x - (total - other)) + (y - other)


# --- compiled: the dual on the core set --------------------------------------------


@_pasted
def _outside(weights, gram, known, aim, slots, squared):
    """Collect the core points outside the ball of the weights."""
    gamma, length, count = 0.0, 0.0, NONE
    for i in range(known):
        row, weight = gram[i], weights[i]
        square, product = row[i], _dot(row, weights, known)
        length += weight * product
        gamma += weight * (square - product)
        squared[i] = square - 2.0 * product
    for i in range(known):
        distance = squared[i] + length
        if weights[i] == 0.0 and distance > gamma * (1.0 + aim):
            slots[count], squared[count] = i, distance
            count += 1
    return count


@part
def _factorise(weights, active, gram, factor, sigma, done, size):
    """Finish the factor after `done` rows; points in the span of others leave.

    The row of the last point that left stays below the factor. Returns the size of the
    support that is left.
    """
    for i in range(done, size):
        slot, row = active[i], factor[done]
        for j in range(done):
            product = gram[slot, active[j]] + sigma
            row[j] = (product - _dot(row, factor[j], j)) / factor[j, j]
        diagonal = gram[slot, slot] + sigma
        rest = diagonal - _dot(row, row, done)
        if done < factor.shape[0] - 1 and rest > DEPENDENT * diagonal:
            row[done] = math.sqrt(rest)
            active[done] = slot
            done += 1
        else:
            weights[slot] = 0.0
    return done


@part
def _back(factor, vector, size):
    """Solve L'x = vector in place."""
    for i in range(size - 1, -1, -1):
        row = factor[i]
        value = vector[i] / row[i]
        vector[i] = value
        for j in range(i):
            vector[j] -= value * row[j]


@_pasted
def _climb(weights, active, gram, factor, target, ones, sines, size):
    """Maximise the dual over the support, dropping points whose weight vanishes.

    Each step goes straight toward the maximiser on the affine hull and stops where the
    first weight reaches zero, so the dual value never falls. Returns the size of the
    support that is left.
    """
    step = 0.0
    while step < np.inf:
        # The weights of sum 1 that make 2 M u - z constant.
        length, product = 0.0, 0.0
        for i in range(size):
            row, slot = factor[i], active[i]
            diagonal = row[i]
            one = (1.0 - _dot(row, ones, i)) / diagonal
            share = (gram[slot, slot] - _dot(row, target, i)) / diagonal
            ones[i], target[i] = one, share
            length += one * one
            product += one * share
        multiplier = (0.5 * product - 1.0) / length
        for i in range(size):
            target[i] = 0.5 * target[i] - multiplier * ones[i]
        _back(factor, target, size)
        step = np.inf
        for j in range(size):
            moved = target[j]
            if moved <= 0.0:
                weight, share = weights[active[j]], 0.0
                if weight > 0.0:
                    share = weight / (weight - moved)
                if share < step:
                    step = share
        for j in range(size - 1, -1, -1):
            slot, moved = active[j], target[j]
            weight = weights[slot]
            if moved <= 0.0 and weight <= step * (weight - moved):
                _drop(weights, active, factor, ones, sines, size, j)
                size -= 1
            else:
                if step < np.inf:
                    moved = weight + step * (moved - weight)
                weights[slot] = moved if moved > 0.0 else 0.0
    return size


@part
def _drop(weights, active, factor, cosines, sines, size, position):
    """Take a point out of the support, with plane rotations of the factor."""
    weights[active[position]] = 0.0
    for i in range(position, size - 1):
        # Each row moves up; the entry that now stands right of the diagonal goes.
        active[i], row, old = active[i + 1], factor[i], factor[i + 1]
        for j in range(position):
            row[j] = old[j]
        carry = old[position]
        for j in range(position, i):
            cosine, sine, entry = cosines[j], sines[j], old[j + 1]
            row[j] = cosine * carry + sine * entry
            carry = cosine * entry - sine * carry
        entry = old[i + 1]
        length = math.sqrt(carry * carry + entry * entry)
        row[i], cosines[i], sines[i] = length, carry / length, entry / length


@_pasted
def _exchange(weights, active, factor, cosines, sines, size):
    """Drop a point to make room for one in the span; return the new one's weight.

    The row below the factor is that of the new point. Its affine coordinates x tell how
    weight moves to it without moving the center.
    """
    coordinates = factor[size]
    _back(factor, coordinates, size)
    best, position = np.inf, size - 1
    for j in range(size):
        weight, coordinate = weights[active[j]], coordinates[j]
        if coordinate > 1e-12 and weight < best * coordinate:
            best, position = weight / coordinate, j
    for j in range(size):
        slot = active[j]
        weight = weights[slot] - best * coordinates[j]
        weights[slot] = weight if weight > 0.0 else 0.0
    _drop(weights, active, factor, cosines, sines, size, position)
    return best
