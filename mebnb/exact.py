"""The minimum enclosing ball to full accuracy: `minimum_enclosing_ball`.

The method is a core set with a fully corrective solve, and few passes over the data.

1. A sample of sqrt(m (n + 1)) rows is solved exactly. By Clarkson's sampling lemma
   about as many of the other rows lie outside the sample's ball.
2. One pass over the data keeps the farthest rows, a shell of twice that number, and
   the distance of the farthest row that was let go.
3. The shell is solved exactly. When the center has moved by no more than the room
   between the rows let go and the new sphere, every row is inside, and the work is
   done without a second look; else step 2 is repeated from the new center.

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
from numbers import Integral, Real

import numpy as np
from numba import njit

from mebnb.balls import (
    Solution,
    check_points,
    coordinate_spread,
    readable,
    readable_blocks,
)

__all__ = ["minimum_enclosing_ball"]

EPS = float(np.finfo(np.float64).eps)
# Squared distances outside of these lose digits or overflow: scale the data first.
TINY, HUGE = 1e-200, 1e200
# A point whose squared distance from the span of the support is below this part of its
# squared length counts as lying in it; the violation this can hide is no larger.
DEPENDENT = 1e-14
# Up to this many entries a sample does not pay, and a copy of the rows does not hurt.
SMALL = 1_000_000
# A shell may always take this many bytes, and an eighth of the data.
SHELL_BYTES = 16 * 1024 * 1024
# Tiles of matrix products: columns of points, rows of the factor.
COLUMNS, PANEL = 512, 64

SOLVED, LIMIT, STUCK = 0, 1, 2

# What an exact solve returns. Rows, center, gamma, farthest and cut are those of the
# scaled data; farthest and cut are squared distances: of the farthest row, and the
# one beyond which a row counts as outside.
_Ball = namedtuple("_Ball", "support weights center gamma farthest cut rounds state")


def minimum_enclosing_ball(points, *, rtol=1e-10, max_iter=1000):
    """Smallest ball that holds all points, with a certificate that it is the smallest.

    Exact up to rounding at the default tolerance: the support comes from a finite
    method, and center, radius and lower bound are computed anew from it by differences.

    Parameters
    ----------
    points : array_like, shape (m, n)
        One point a row: an array (also float32, memory-mapped, read-only, in any
        memory layout), nested lists or a data frame. Never modified.
    rtol : float
        The largest accepted radius / lower_bound - 1. The last digits are nearly free,
        so the solver aims at rtol / 200, or at what rounding allows.
    max_iter : int
        The largest number of rounds, each of which takes the farthest rows in.

    Returns
    -------
    Solution
        lower_bound <= r* <= radius up to rounding; `converged` says whether rtol was
        met, `message` why the solver stopped and what was reached. `iterations`
        counts rounds, `passes` the rows read, in multiples of m.

    Raises
    ------
    TypeError
        When the entries are not real numbers, or rtol or max_iter are no numbers.
    ValueError
        When the points are empty, ragged, not two-dimensional, NaN or infinite, when
        the radius exceeds float64, or when rtol or max_iter are out of range.

    Notes
    -----
    Samples are drawn with a fixed seed: the same input gives the same output, bit for
    bit. Where squares would overflow or vanish, the data are scaled by a power of two.

    Examples
    --------
    >>> ball = minimum_enclosing_ball([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]])
    >>> ball.center, ball.radius, ball.support
    (array([1., 0.]), 1.0, array([0, 1]))
    """
    points = check_points(points, finite=False)
    rtol, max_iter = _check_rtol(rtol), _check_max_iter(max_iter)
    scale = 1.0
    ball, passes = _solve(points, scale, rtol, max_iter)
    if not TINY < ball.farthest < HUGE:
        check_points(points)
        spread = coordinate_spread(points, points[0].astype(np.float64))
        if spread == 0.0:
            ball = ball._replace(center=points[0].astype(np.float64), farthest=0.0)
        else:
            scale = 2.0 ** min(-math.frexp(spread)[1], 1023)
            ball, passes = _solve(points, scale, rtol, max_iter)
    return _solution(ball, scale, rtol, passes)


def _check_rtol(rtol):
    if not isinstance(rtol, Real):
        raise TypeError(f"rtol must be a number, found {rtol!r}")
    if not 0.0 <= rtol < math.inf:
        raise ValueError(f"rtol must be finite and at least 0, found {rtol!r}")
    return float(rtol)


def _check_max_iter(max_iter):
    if not isinstance(max_iter, Integral):
        raise TypeError(f"max_iter must be an integer, found {max_iter!r}")
    if max_iter < 1:
        raise ValueError(f"max_iter must be at least 1, found {max_iter!r}")
    return int(max_iter)


def _solution(ball, scale, rtol, passes):
    radius = math.sqrt(ball.farthest) / scale
    if radius == math.inf:
        raise ValueError(
            "points must have a radius below the largest float64, 1.8e308; divide them "
            "by a constant first"
        )
    gap = 0.0
    if ball.farthest > 0.0:
        gap = math.sqrt(ball.farthest / ball.gamma) - 1.0 if ball.gamma else math.inf
    reached = f"radius / lower bound - 1 = {max(gap, 0.0):.1e}"
    if gap <= rtol:
        message = f"{reached}, within rtol = {rtol:g}"
    elif ball.state == LIMIT:
        message = f"{reached} after max_iter = {ball.rounds} rounds"
    else:
        message = f"{reached}, the least that rounding of the coordinates allows"
    order = np.argsort(ball.support)
    return Solution(
        center=ball.center / scale,
        radius=radius,
        lower_bound=min(math.sqrt(ball.gamma) / scale, radius),
        support=ball.support[order],
        weights=ball.weights[order],
        iterations=ball.rounds,
        converged=gap <= rtol,
        message=message,
        passes=passes,
    )


# --- few passes over large data ----------------------------------------------------


def _solve(points, scale, rtol, limit):
    """The ball of the scaled points, and the passes over the data that it took."""
    m, n = points.shape
    aim = max(rtol / 100.0, 1e-14)
    batch = min(4 + 3 * math.isqrt(n), 256)
    sample = math.isqrt(m * (n + 1))
    if m * n <= SMALL:
        rows = points
        if not (points.flags.carray and points.dtype == np.float64):
            rows = np.array(points, dtype=np.float64, order="C")
    elif 10 * sample >= m:
        rows = readable(points)
    else:
        rows = None
    if rows is not None:
        ball = _Ball(*_core_ball(rows, scale, np.empty(0), batch, aim, limit))
        return ball, ball.rounds + 1.0
    return _solve_by_shells(points, scale, sample, batch, aim, limit)


def _solve_by_shells(points, scale, sample, batch, aim, limit):
    """Steps 1 to 3 of the module's description."""
    m, n = points.shape
    room = max(m * points.itemsize // 64, SHELL_BYTES // (8 * n))
    keep = min(2 * sample, max(room, 2))
    rows = _spread_out(m, keep // 2)
    values = _gather(points, rows)
    ball = _Ball(*_core_ball(values, scale, np.empty(0), batch, aim, limit))
    ball = ball._replace(support=rows[ball.support])
    passes = rows.size / m
    # A cut that about `keep` of all rows will pass.
    share = max(keep * rows.size // m, 1)
    inner = _shell(values, ball.center, scale, share, 0.0)[1]
    del values
    while ball.farthest < HUGE:
        cut = min(inner, ball.cut)
        found, inner, farthest = _shell(points, ball.center, scale, keep, cut)
        passes += 1.0
        rounds = ball.rounds
        ball = ball._replace(farthest=farthest)
        if farthest <= ball.cut:
            return ball._replace(state=SOLVED), passes
        if rounds >= limit:
            return ball._replace(state=LIMIT), passes
        rows = np.concatenate([ball.support, np.setdiff1d(found, ball.support)])
        fresh = _Ball(
            *_core_ball(
                _gather(points, rows), scale, ball.weights, batch, aim, limit - rounds
            )
        )
        passes += rows.size / m
        fresh = fresh._replace(support=rows[fresh.support], rounds=rounds + fresh.rounds)
        shift = float(np.linalg.norm(fresh.center - ball.center))
        if shift == 0.0:
            return ball._replace(state=STUCK), passes
        ball = fresh
        if (math.sqrt(inner) + shift) * (1.0 + 1e-14) <= math.sqrt(ball.farthest):
            break
    return ball, passes


def _spread_out(m, count):
    """Row numbers, one drawn at random from each of `count` equal stretches."""
    edges = np.arange(count + 1) * m // count
    draws = np.random.default_rng(0).random(count)
    return edges[:-1] + (draws * np.diff(edges)).astype(np.int64)


def _gather(points, rows):
    """Some rows, as float64 in row order; piece by piece, so that no second copy lives."""
    values = np.empty((rows.size, points.shape[1]))
    size = max(1, 2**17 // points.shape[1])
    for start in range(0, rows.size, size):
        values[start : start + size] = points[rows[start : start + size]]
    return values


def _shell(points, center, scale, keep, cut):
    """One pass: the farthest rows from a center, and what bounds all the others.

    Blocks of rows may be scanned anywhere, in any order: the shell of the whole is
    found among the shells of its parts.

    Returns
    -------
    rows : ndarray of int
        The farthest rows beyond sqrt(cut), at most `keep`, in no order.
    inner, farthest : float
        Largest squared distance of the other rows, and of all; farthest is infinite
        when an entry is not finite or a square overflows.
    """
    found, squared = np.empty(2 * keep, np.int64), np.empty(2 * keep)
    count, inner = 0, 0.0
    for start, block in readable_blocks(points):
        count, cut, inner = _scan(
            block, start, center, scale, cut, inner, found, squared, count
        )
        if count < 0:
            return found[:0], math.inf, math.inf
    if count > keep:
        inner = max(inner, _keep_farthest(found, squared, count, keep))
        count = keep
    return found[:count], inner, max(inner, squared[:count].max(initial=0.0))


# --- compiled: the scan ------------------------------------------------------------

# Sums may be reordered, so that they run in vector registers, but NaN and infinity
# keep their meaning: they are how bad input is noticed at no cost.
_compiled = njit(
    cache=True,
    nogil=True,
    error_model="numpy",
    fastmath={"reassoc", "contract", "nsz"},
)


# No reordering here: origin + center would lose the center's digits. Numba hands the
# caller's freedom on to a function that names none of its own.
@njit(cache=True, nogil=True, fastmath={"contract"})
def _from_origin(entry, scale, origin, center):
    return (scale * entry - origin) - center


@_compiled
def _scan(rows, start, center, scale, cut, inner, found, squared, count):
    """Collect the rows farther than sqrt(cut) from a center; the farthest, if too many.

    Returns count, cut, inner: how many are collected, the cut now in force, and the
    largest squared distance of the rows that were let go. count is -1 when a squared
    distance is not finite.
    """
    for i in range(rows.shape[0]):
        distance = 0.0
        for j in range(center.shape[0]):
            difference = scale * rows[i, j] - center[j]
            distance += difference * difference
        if distance <= cut:
            inner = max(inner, distance)
            continue
        if not distance < np.inf:
            return -1, cut, np.inf
        found[count] = start + i
        squared[count] = distance
        count += 1
        if count == found.shape[0]:
            count = count // 2
            cut = _keep_farthest(found, squared, found.shape[0], count)
            inner = max(inner, cut)
    return count, cut, inner


@_compiled
def _keep_farthest(found, squared, count, keep):
    """Bring the `keep` farthest to the front; return the largest of the others."""
    low, high = 0, count - 1
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
                i += 1
                j -= 1
        if keep <= j:
            high = j
        elif keep >= i:
            low = i
        else:
            break
    largest = 0.0
    for i in range(keep, count):
        largest = max(largest, squared[i])
    return largest


@_compiled
def _farthest_rows(rows, center, scale, cut, found, squared, keep):
    """Collect up to `keep` rows beyond the cut; return their number and the farthest."""
    count, cut, inner = _scan(rows, 0, center, scale, cut, 0.0, found, squared, 0)
    if count > keep:
        _keep_farthest(found, squared, count, keep)
        count = keep
    for i in range(count):
        inner = max(inner, squared[i])
    return count, inner


# --- compiled: the dual on the core set --------------------------------------------

# Of the core points, `ids` are the rows, `weights` the dual weights, `chosen` marks the
# support, and `gram` holds the inner products of their differences d_i from the origin.
# `active` lists the support in the order of the factor; `sizes` counts core points and
# support. With z_i = |d_i|^2 and M_ij = d_i'd_j + sigma the maximiser of the dual on
# the affine hull of the support solves 2 M u + lambda = z, sum u = 1; sigma makes M
# definite as long as the support is affinely independent. `factor` is R of M = R'R,
# `rhs` has the rows R'^-1 1 and R'^-1 z. `target` and `columns` are work space.
_Core = namedtuple(
    "_Core", "ids weights chosen gram active sizes sigma factor rhs target columns"
)


@_compiled
def _core_ball(rows, scale, start_weights, batch, aim, limit):
    """Exact ball of all rows, in memory; returns the fields of _Ball.

    Parameters
    ----------
    rows : ndarray, shape (m, n)
        C-contiguous and finite, or farthest is infinite.
    scale : float
        A power of two that the rows are multiplied with.
    start_weights : ndarray, shape (k,)
        Weights of the first k rows to start from; may be empty.
    batch : int
        How many rows a round may add to the core set.
    aim : float
        Squared distances beyond gamma * (1 + aim) are outside.
    limit : int
        The largest number of rounds.
    """
    m, n = rows.shape
    most = min(m, n + 1)
    capacity = most + 4 * batch
    found, squared = np.empty(capacity, np.int64), np.empty(capacity)
    buffer = found[: 2 * batch]
    origin, center, local = np.empty(n), np.empty(n), np.empty(n)
    start = start_weights.size
    _mean(rows, scale, start if start else m, origin)
    count, farthest = _farthest_rows(rows, origin, scale, 0.0, buffer, squared, batch)
    core = _Core(
        np.empty(capacity, np.int64),
        np.empty(capacity),
        np.empty(capacity, np.bool_),
        np.empty((capacity, capacity)),
        np.empty(most, np.int64),
        np.empty(2, np.int64),
        farthest,
        np.empty((most, most)),
        np.empty((2, most)),
        np.empty(most),
        np.empty((PANEL, most)),
    )
    core.sizes[:] = 0
    if not TINY < farthest < HUGE:
        for j in range(n):
            center[j] = scale * rows[0, j]
        core.ids[0], core.weights[0] = 0, 1.0
        return core.ids[:1], core.weights[:1], center, 0.0, farthest, 0.0, 0, SOLVED
    if not start and m <= n + 1 and _equally_far(rows, scale, origin, farthest):
        # As a regular simplex is, which would have to enter the core set whole.
        support, weights = np.empty(m, np.int64), np.empty(m)
        for i in range(m):
            support[i], weights[i] = i, 1.0 / m
        gamma = farthest * (1.0 - 8.0 * EPS)
        return support, weights, origin, gamma, farthest, farthest, 1, SOLVED
    if start:
        for i in range(start):
            found[i] = i
        _take_in(core, rows, scale, origin, found, start)
        for i in range(0, start, PANEL):
            _activate(core, found[i:start])
        for i in range(start):
            core.weights[i] = start_weights[i] if core.chosen[i] else 0.0
        _climb(core)
    else:
        _keep_farthest(found, squared, count, 1)
        _take_in(core, rows, scale, origin, found, count)
        found[0] = 0
        _activate(core, found[:1])
        core.weights[0] = 1.0

    rounds, state = 0, LIMIT
    gamma, cut = 0.0, 0.0
    while state == LIMIT and rounds < limit:
        _maximise(core, aim, found, squared)
        gamma = _locate(core, rows, scale, origin, local)
        length = 0.0
        for j in range(n):
            center[j] = origin[j] + local[j]
            if core.sizes[1] == 1:
                center[j] = scale * rows[core.ids[core.active[0]], j]
            length += center[j] * center[j]
        # What rounding of the center and of a distance may add.
        rounding = EPS * (math.sqrt(gamma * length) + 8.0 * gamma)
        cut = gamma * (1.0 + 2.0 * aim) + rounding
        count, farthest = _farthest_rows(rows, center, scale, cut, buffer, squared, batch)
        rounds += 1
        if count == 0:
            state = SOLVED
        elif _take_in(core, rows, scale, origin, found, count) == 0:
            state = STUCK
    size = core.sizes[1]
    support, weights = np.empty(size, np.int64), np.empty(size)
    for i in range(size):
        support[i] = core.ids[core.active[i]]
        weights[i] = core.weights[core.active[i]]
    return support, weights, center, gamma, farthest, cut, rounds, state


@_compiled
def _mean(rows, scale, count, mean):
    """Mean of some of the first `count` rows: a center to start from."""
    mean[:] = 0.0
    stride = max(1, count // max(mean.size, 512))
    used = 0
    for i in range(0, count, stride):
        used += 1
        for j in range(mean.size):
            mean[j] += scale * rows[i, j]
    for j in range(mean.size):
        mean[j] /= used


@_compiled
def _equally_far(rows, scale, mean, farthest):
    """Whether all rows have the same distance from their mean, which proves it the center.

    Not where rounding of the mean would count.
    """
    length = 0.0
    for j in range(mean.size):
        length += mean[j] * mean[j]
    if length * EPS > farthest:
        return False
    for i in range(rows.shape[0]):
        distance = 0.0
        for j in range(mean.size):
            difference = scale * rows[i, j] - mean[j]
            distance += difference * difference
        if distance < farthest * (1.0 - 8.0 * EPS):
            return False
    return True


@_compiled
def _take_in(core, rows, scale, origin, found, count):
    """Add rows to the core set; return how many are new to it."""
    if core.sizes[0] + count > core.ids.size:
        _forget(core)
    old = core.sizes[0]
    new = old
    for i in range(count):
        known = False
        for j in range(old):
            known |= core.ids[j] == found[i]
        if not known:
            core.ids[new] = found[i]
            core.weights[new], core.chosen[new] = 0.0, False
            new += 1
    core.sizes[0] = new
    if new > old:
        _fill_gram(core, rows, scale, origin, old, new)
    return new - old


@_compiled
def _forget(core):
    """Keep only the support in the core set."""
    kept = 0
    for i in range(core.sizes[0]):
        if not core.chosen[i]:
            continue
        column = 0
        for j in range(core.sizes[0]):
            if core.chosen[j]:
                core.gram[kept, column] = core.gram[i, j]
                column += 1
        core.ids[kept], core.weights[kept] = core.ids[i], core.weights[i]
        for j in range(core.sizes[1]):
            if core.active[j] == i:
                core.active[j] = kept
        kept += 1
    core.chosen[:kept] = True
    core.sizes[0] = kept


@_compiled
def _fill_gram(core, rows, scale, origin, old, new):
    """Inner products of the core points old to new with all, tile by tile."""
    gram, n = core.gram, origin.size
    for start in range(0, n, COLUMNS):
        width = min(COLUMNS, n - start)
        local = np.empty((new, width))
        for i in range(new):
            row = rows[core.ids[i]]
            for j in range(width):
                local[i, j] = _from_origin(row[start + j], scale, origin[start + j], 0.0)
        for top in range(old, new, PANEL):
            end = min(top + PANEL, new)
            products = np.dot(local[top:end], local[:end].T)
            for i in range(top, end):
                for j in range(i + 1):
                    gram[i, j] = products[i - top, j] + (gram[i, j] if start else 0.0)
    for i in range(old, new):
        for j in range(i):
            gram[j, i] = gram[i, j]


@_compiled
def _maximise(core, aim, slots, squared):
    """Bring the weights to the maximum of the dual on the core set.

    All points outside join the support at once, as far as they are affinely independent
    of it; the climb drops those that do not belong. A point in the span of the support
    takes another one's place.
    """
    most = core.active.size
    for _ in range(20 * core.ids.size):
        count = _outside(core, aim, slots, squared)
        if count == 0:
            return
        fits = min(count, max(most - core.sizes[1], 1))
        _keep_farthest(slots, squared, count, fits)
        added = 0
        for start in range(0, fits, PANEL):
            added += _activate(core, slots[start:fits])
        if added == 0:
            _keep_farthest(slots, squared, count, 1)
            _activate(core, slots[:1])
            weight = _exchange(core)
            added = _activate(core, slots[:1])
            if added == 1:
                core.weights[slots[0]] = weight
        _climb(core)
        if added == 0:  # rounding hides what is left
            return


@_compiled
def _outside(core, aim, slots, squared):
    """Collect the core points outside the ball of the weights."""
    known, weights = core.sizes[0], core.weights
    gamma, length = 0.0, 0.0
    for i in range(known):
        if not core.chosen[i]:
            continue
        product = 0.0
        for j in range(known):
            product += core.gram[i, j] * weights[j]
        length += weights[i] * product
        gamma += weights[i] * (core.gram[i, i] - product)
    count = 0
    for i in range(known):
        if core.chosen[i]:
            continue
        product = 0.0
        for j in range(known):
            product += core.gram[i, j] * weights[j]
        distance = core.gram[i, i] - 2.0 * product + length
        if distance > gamma * (1.0 + aim):
            slots[count] = i
            squared[count] = distance
            count += 1
    return count


@_compiled
def _activate(core, slots):
    """Let the first PANEL of some core points into the support, with weight 0.

    Those in the span of the support stay out. Returns how many came in, and leaves
    R'^-1 m of the new points in core.columns.
    """
    first, count, columns = core.sizes[1], min(slots.size, PANEL), core.columns
    for c in range(count):
        for j in range(first):
            columns[c, j] = core.gram[slots[c], core.active[j]] + core.sigma
    _forward(core, first, count)
    size = first
    for c in range(count):
        slot, column = slots[c], columns[c]
        for j in range(first, size):
            # Row j - first holds column j of the factor.
            total = core.gram[slot, core.active[j]] + core.sigma
            for i in range(j):
                total -= columns[j - first, i] * column[i]
            column[j] = total / core.factor[j, j]
        energy = core.gram[slot, slot]
        rest, ones, energies = energy + core.sigma, 1.0, energy
        for j in range(size):
            rest -= column[j] * column[j]
            ones -= column[j] * core.rhs[0, j]
            energies -= column[j] * core.rhs[1, j]
        if size == core.active.size or rest <= DEPENDENT * (energy + core.sigma):
            continue
        root = math.sqrt(rest)
        for j in range(size):
            core.factor[j, size] = column[j]
            columns[size - first, j] = column[j]
        core.factor[size, size] = root
        core.rhs[0, size], core.rhs[1, size] = ones / root, energies / root
        core.active[size], core.chosen[slot] = slot, True
        size += 1
    core.sizes[1] = size
    return size - first


@_compiled
def _forward(core, size, count):
    """Solve R'y = x for the first `count` rows x of core.columns, in place."""
    factor, columns = core.factor, core.columns
    for start in range(0, size, PANEL):
        stop = min(start + PANEL, size)
        for c in range(count):
            for j in range(start, stop):
                entry = columns[c, j] / factor[j, j]
                columns[c, j] = entry
                for i in range(j + 1, stop):
                    columns[c, i] -= entry * factor[j, i]
        if stop < size:
            left = columns[:count, start:stop].copy()
            products = np.dot(left, factor[start:stop, stop:size].copy())
            for c in range(count):
                for i in range(size - stop):
                    columns[c, stop + i] -= products[c, i]


@_compiled
def _back(core, size, vector):
    """Solve R x = vector in place."""
    for j in range(size - 1, -1, -1):
        total = vector[j]
        for i in range(j + 1, size):
            total -= core.factor[j, i] * vector[i]
        vector[j] = total / core.factor[j, j]


@_compiled
def _equalise(core, energies, total):
    """Set target to weights of the given sum that make 2 M u - z constant.

    energies is R'^-1 z.
    """
    size, ones = core.sizes[1], core.rhs[0]
    square, mixed = 0.0, 0.0
    for j in range(size):
        square += ones[j] * ones[j]
        mixed += ones[j] * energies[j]
    multiplier = (0.5 * mixed - total) / square
    for j in range(size):
        core.target[j] = 0.5 * energies[j] - multiplier * ones[j]
    _back(core, size, core.target)


@_compiled
def _climb(core):
    """Maximise the dual over the support, dropping points whose weight vanishes.

    Each step goes straight toward the maximiser on the affine hull and stops where the
    first weight reaches zero, so the dual value never falls.
    """
    target, weights, active = core.target, core.weights, core.active
    while True:
        _equalise(core, core.rhs[1], 1.0)
        size = core.sizes[1]
        step = 1.0
        free = True
        for j in range(size):
            if target[j] <= 0.0:
                weight = weights[active[j]]
                step = min(step, weight / (weight - target[j]) if weight else 0.0)
                free = False
        for j in range(size - 1, -1, -1):
            weight = weights[active[j]]
            if free:
                weights[active[j]] = target[j]
            elif target[j] <= 0.0 and weight <= step * (weight - target[j]):
                _drop(core, j)
            else:
                weights[active[j]] += step * (target[j] - weight)
        if free:
            return


@_compiled
def _exchange(core):
    """Drop a point to make room for one in the span; return the new one's weight.

    core.columns[0] holds R'^-1 m of the new point. Its affine coordinates x tell how
    weight moves to it without moving the center.
    """
    size, weights, coordinates = core.sizes[1], core.weights, core.columns[0]
    _back(core, size, coordinates)
    best, position = np.inf, 0
    for j in range(size):
        weight = weights[core.active[j]]
        if coordinates[j] > 1e-12 and weight < best * coordinates[j]:
            best, position = weight / coordinates[j], j
    for j in range(size):
        slot = core.active[j]
        weights[slot] = max(weights[slot] - best * coordinates[j], 0.0)
    _drop(core, position)
    return best


@_compiled
def _drop(core, position):
    """Take a point out of the support, with plane rotations of the factor."""
    factor, rhs, size = core.factor, core.rhs, core.sizes[1] - 1
    core.chosen[core.active[position]] = False
    core.weights[core.active[position]] = 0.0
    for i in range(position, size):
        core.active[i] = core.active[i + 1]
    for i in range(size + 1):
        for j in range(max(i - 1, position), size):
            factor[i, j] = factor[i, j + 1]
    for i in range(position, size):
        # Row i + 1 now starts one column early: rotate that entry away.
        radius = math.hypot(factor[i, i], factor[i + 1, i])
        cosine, sine = factor[i, i] / radius, factor[i + 1, i] / radius
        for j in range(i, size):
            upper, lower = factor[i, j], factor[i + 1, j]
            factor[i, j] = cosine * upper + sine * lower
            factor[i + 1, j] = cosine * lower - sine * upper
        for k in range(2):
            upper, lower = rhs[k, i], rhs[k, i + 1]
            rhs[k, i] = cosine * upper + sine * lower
            rhs[k, i + 1] = cosine * lower - sine * upper
    core.sizes[1] = size


@_compiled
def _locate(core, rows, scale, origin, local):
    """Center less origin, and dual value, anew from the support by differences.

    The squared distances of the support should be equal; what is left of their
    differences corrects the weights, twice at most.
    """
    size, weights, squared = core.sizes[1], core.weights, core.columns[0]
    for attempt in range(3):
        local[:] = 0.0
        for i in range(size):
            row, weight = rows[core.ids[core.active[i]]], weights[core.active[i]]
            for j in range(local.size):
                local[j] += weight * _from_origin(row[j], scale, origin[j], 0.0)
        gamma, low, high = 0.0, np.inf, 0.0
        for i in range(size):
            row = rows[core.ids[core.active[i]]]
            distance = 0.0
            for j in range(local.size):
                difference = _from_origin(row[j], scale, origin[j], local[j])
                distance += difference * difference
            squared[i] = distance
            gamma += weights[core.active[i]] * distance
            low, high = min(low, distance), max(high, distance)
        if attempt == 2 or high - low <= 32.0 * EPS * high:
            break
        _forward(core, size, 1)
        _equalise(core, squared, 0.0)
        for i in range(size):
            if weights[core.active[i]] + core.target[i] <= 0.0:
                return gamma
        for i in range(size):
            weights[core.active[i]] += core.target[i]
    return gamma
