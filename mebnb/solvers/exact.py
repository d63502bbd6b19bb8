"""The minimum enclosing ball to full accuracy: `minimum_enclosing_ball`.

The method is a core set with a fully corrective solve, and few passes over the data.

1. A sample of sqrt(m (n + 1)) rows is solved exactly. By Clarkson's sampling lemma
   about as many of the other rows lie outside the sample's ball.
2. One pass over the data keeps the farthest rows, a shell of two to four times that
   number, and a bound on the distances of the rows that were let go.
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

import numpy as np
from numba import njit

from mebnb.solvers.balls import Solution, coordinate_spread
from mebnb.solvers.inputs import check_number, check_points, readable, readable_blocks

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
# Tiles of matrix products: columns and rows.
COLUMNS, PANEL = 384, 32

# A ball of scaled data. farthest and cut are squared distances: of the farthest row,
# and the one beyond which a row counts as outside.
_Ball = namedtuple("_Ball", "support weights center gamma farthest cut rounds passes")


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
        so the solver aims at rtol / 100, or at what rounding allows.
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
    check_number("rtol", rtol, 0.0)
    check_number("max_iter", max_iter, 1, whole=True)
    scale = 1.0
    ball = _solve(points, scale, rtol, max_iter)
    if not TINY < ball.farthest < HUGE:
        check_points(points)
        first = points[0].astype(np.float64)
        spread = coordinate_spread(points, first)
        if spread == 0.0:
            ball = ball._replace(center=first, farthest=0.0)
        else:
            scale = 2.0 ** min(-math.frexp(spread)[1], 1023)
            ball = _solve(points, scale, rtol, max_iter)
    return _solution(ball, scale, rtol, max_iter)


def _solution(ball, scale, rtol, max_iter):
    radius = math.sqrt(ball.farthest) / scale
    if radius == math.inf:
        raise ValueError(
            "points must have a radius below the largest float64, 1.8e308; divide them "
            "by a constant first"
        )
    lower_bound = min(math.sqrt(ball.gamma) / scale, radius)
    gap = radius / (lower_bound or math.ulp(0.0)) - 1.0 if radius else 0.0
    message = f"radius / lower bound - 1 = {gap:.1e}"
    if gap <= rtol:
        message += f", within rtol = {rtol:g}"
    elif ball.rounds >= max_iter:
        message += f" after max_iter = {max_iter} rounds"
    else:
        message += ", the least that rounding of the coordinates allows"
    order = np.argsort(ball.support)
    return Solution(
        *(ball.center / scale, radius, lower_bound),
        *(ball.support[order], ball.weights[order]),
        *(ball.rounds, gap <= rtol, message, ball.passes),
    )


# --- few passes over large data ----------------------------------------------------


def _solve(points, scale, rtol, max_iter):
    """The ball of the scaled points, from all rows at once or from few of them."""
    m, n = points.shape
    aim, limit = max(float(rtol) / 100.0, 1e-14), int(max_iter)
    batch = min(4 + 4 * math.isqrt(n), 256)
    sample, small = math.isqrt(m * (n + 1)), m * n <= SMALL
    if small and not (points.flags.carray and points.dtype == np.float64):
        points = np.array(points, dtype=np.float64, order="C")
    rows = readable(points)
    if rows is not None and (small or 10 * sample >= m):
        return _Ball(*_core_ball(rows, scale, np.empty(0), batch, aim, limit))
    return _solve_by_shells(points, scale, sample, batch, aim, limit)


def _solve_by_shells(points, scale, sample, batch, aim, limit):
    """Steps 1 to 3 of the module's description."""
    m, n = points.shape
    room = max(m * points.itemsize // 64, SHELL_BYTES // (8 * n), 4)
    most = min(4 * sample, room)
    drawn = np.random.default_rng(0).choice(m, most // 4, replace=False, shuffle=False)
    rows = np.sort(drawn)
    values = _gather(points, rows)
    ball = _Ball(*_core_ball(values, scale, np.empty(0), batch, aim, limit))
    ball = ball._replace(support=rows[ball.support], passes=rows.size / m)
    # A cut that about half of `most` of all rows will pass.
    inner = _shell(values, ball.center, scale, max(most * most // (6 * m), 2), 0.0)[1]
    del values
    while ball.farthest < HUGE:
        cut = min(inner, ball.cut)
        found, inner, farthest = _shell(points, ball.center, scale, most, cut)
        ball = ball._replace(farthest=farthest, passes=ball.passes + 1.0)
        if farthest <= ball.cut or ball.rounds >= limit:
            break
        rows = np.concatenate([ball.support, np.setdiff1d(found, ball.support)])
        start, rest = ball.weights, limit - ball.rounds
        new = _Ball(*_core_ball(_gather(points, rows), scale, start, batch, aim, rest))
        shift = float(np.linalg.norm(new.center - ball.center))
        if shift == 0.0 and new.gamma <= ball.gamma * (1.0 + 1e-14):
            break
        rounds, passes = ball.rounds + new.rounds, ball.passes + rows.size / m
        ball = new._replace(support=rows[new.support], rounds=rounds, passes=passes)
        if (math.sqrt(inner) + shift) * (1.0 + 1e-14) <= math.sqrt(ball.farthest):
            break
    return ball


def _gather(points, rows):
    """Some rows as float64, piece by piece, so that no second copy lives."""
    values = np.empty((rows.size, points.shape[1]))
    size = max(1, 2**17 // points.shape[1])
    for start in range(0, rows.size, size):
        values[start : start + size] = points[rows[start : start + size]]
    return values


def _shell(points, center, scale, most, cut):
    """One pass: the farthest rows from a center, and what bounds all the others.

    Blocks of rows may be scanned anywhere, in any order: the shell of the whole is
    found among the shells of its parts.

    Returns
    -------
    rows : ndarray of int
        The rows beyond sqrt(cut), in no order; if there are `most` or more, the
        farthest half of that or more.
    inner, farthest : float
        A bound on the squared distances of the other rows, and the largest of all;
        infinite when an entry is not finite or a square overflows.
    """
    found, squared = np.empty(most, np.int64), np.empty(most)
    count, inner = 0, 0.0
    for start, block in readable_blocks(points):
        count, cut, inner = _scan(
            block, start, center, scale, cut, inner, found, squared, count
        )
        if count < 0:
            return found[:0], math.inf, math.inf
    return found[:count], inner, max(inner, squared[:count].max(initial=0.0))


# --- compiled: the scan ------------------------------------------------------------

# Sums may be reordered, so that they run in vector registers, but NaN and infinity
# keep their meaning: they are how bad input is noticed at no cost.
_ORDER = {"reassoc", "contract", "nsz"}
_compiled = njit(cache=True, nogil=True, error_model="numpy", fastmath=_ORDER)


# No reordering here: origin + center would lose the center's digits. Numba hands the
# caller's freedom on to a function that names none of its own.
@njit(cache=True, nogil=True, fastmath={"contract"})
def _difference(entry, scale, origin, center):
    return (scale * entry - origin) - center


@_compiled
def _dot(x, y, size):
    total = 0.0
    for i in range(size):
        total += x[i] * y[i]
    return total


@_compiled
def _squared_distance(row, scale, center):
    total = 0.0
    for j in range(center.size):
        difference = scale * row[j] - center[j]
        total += difference * difference
    return total


@_compiled
def _scan(rows, start, center, scale, cut, inner, found, squared, count):
    """Collect the rows farther than sqrt(cut) from a center; the farthest, if too many.

    Returns count, cut, inner: how many are collected, fewer than `found` can hold, the
    cut now in force, and a bound on the squared distances of the rows let go. count is
    -1 when a squared distance is not finite.
    """
    for i in range(rows.shape[0]):
        distance = _squared_distance(rows[i], scale, center)
        if distance <= cut:
            inner = max(inner, distance)
            continue
        if not distance < np.inf:
            return -1, cut, np.inf
        found[count], squared[count] = start + i, distance
        count += 1
        if count == found.size:
            cut = _keep_farthest(found, squared, count, count // 2)
            inner, count = cut, count // 2
    return count, cut, inner


@_compiled
def _keep_farthest(found, squared, count, keep):
    """Bring the `keep` farthest to the front, the nearest of them last; return it."""
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
                i, j = i + 1, j - 1
        if j < keep - 1 < i:
            break
        low, high = (low, j) if keep - 1 <= j else (i, high)
    return squared[keep - 1] if count > 0 else 0.0


# --- compiled: the dual on the core set --------------------------------------------

# Of the core points, `ids` are the rows, `weights` the dual weights, `chosen` marks the
# support, and `gram` holds the inner products of their differences d_i from the origin.
# `active` lists the support in the order of the factor; `sizes` counts core points and
# support. With z_i = |d_i|^2 and M_ij = d_i'd_j + sigma the maximiser of the dual on
# the affine hull of the support solves 2 M u + lambda = z, sum u = 1; sigma makes M
# definite as long as the support is affinely independent. `factor` is L of M = L L';
# `work` is three vectors of work space, the first of them the climb's target.
_Core = namedtuple("_Core", "ids weights chosen gram active sizes sigma factor work")


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
        A round adds fewer than this many rows to the core set.
    aim : float
        Squared distances beyond gamma * (1 + aim) are outside.
    limit : int
        The largest number of rounds.
    """
    m, n = rows.shape
    most, start = min(m, n + 1), start_weights.size
    batch = min(batch, m + 1)
    capacity = most + 2 * batch
    found, squared = np.empty(capacity, np.int64), np.empty(capacity)
    buffer = found[:batch]
    origin, center, local = np.empty(n), np.empty(n), np.empty(n)
    _mean(rows, scale, start if start else m, center)
    count, _, inner = _scan(rows, 0, center, scale, 0.0, 0.0, buffer, squared, 0)
    farthest = max(inner, _keep_farthest(found, squared, count, 1))
    if not TINY < farthest < HUGE:
        for j in range(n):
            center[j] = scale * rows[0, j]
        return np.arange(1), np.full(1, 1.0), center, 0.0, farthest, 0.0, 0, 1.0
    if not start and m <= n + 1 and _equally_far(rows, scale, center, farthest):
        # As a regular simplex is, which would have to enter the core set whole.
        gamma, equal = farthest * (1.0 - 8.0 * EPS), np.full(m, 1.0 / m)
        return np.arange(m), equal, center, gamma, farthest, farthest, 1, 2.0
    ids, weights = np.empty(capacity, np.int64), np.empty(capacity)
    chosen, gram = np.empty(capacity, np.bool_), np.empty((capacity, capacity))
    active, sizes = np.empty(most + 1, np.int64), np.empty(2, np.int64)
    factor, work = np.empty((most + 1, most + 1)), np.empty((3, most + 1))
    core = _Core(ids, weights, chosen, gram, active, sizes, farthest, factor, work)
    first = np.arange(start) if start else found[:1].copy()
    for j in range(n):
        origin[j] = scale * rows[first[0], j]
    _restart(core, rows, scale, origin, first, start_weights if start else np.ones(1))
    _take_in(core, rows, scale, origin, found[:count])

    for rounds in range(1, limit + 1):  # noqa: B007 (returned below)
        _maximise(core, aim, found, squared)
        gamma = _locate(core, rows, scale, origin, local)
        for j in range(n):
            center[j] = origin[j] + local[j]
        # What rounding of the center and of a distance may add.
        rounding = EPS * (math.sqrt(gamma * _dot(center, center, n)) + 8.0 * gamma)
        cut = gamma * (1.0 + 2.0 * aim) + rounding
        count, _, inner = _scan(rows, 0, center, scale, cut, 0.0, buffer, squared, 0)
        farthest = max(inner, _keep_farthest(found, squared, count, 1))
        support, shares = ids[active[: sizes[1]]], weights[active[: sizes[1]]]
        if sizes[0] + count > capacity:  # forget all but the support
            _restart(core, rows, scale, origin, support, shares)
        if count == 0 or _take_in(core, rows, scale, origin, found[:count]) == 0:
            break
    return support, shares, center, gamma, farthest, cut, rounds, rounds + 1.0


@_compiled
def _mean(rows, scale, count, mean):
    """Mean of some of the first `count` rows: a center to start from."""
    mean[:] = 0.0
    used = range(0, count, max(1, count // max(mean.size, 128)))
    share = scale / len(used)
    for i in used:
        for j in range(mean.size):
            mean[j] += share * rows[i, j]


@_compiled
def _equally_far(rows, scale, mean, farthest):
    """Whether all rows have the same distance from their mean, the center then.

    Not where rounding of the mean would count.
    """
    if _dot(mean, mean, mean.size) * EPS > farthest:
        return False
    for i in range(rows.shape[0]):
        if _squared_distance(rows[i], scale, mean) < farthest * (1.0 - 8.0 * EPS):
            return False
    return True


@_compiled
def _restart(core, rows, scale, origin, ids, weights):
    """Make some rows the core set and its support."""
    core.sizes[:] = 0
    _take_in(core, rows, scale, origin, ids)
    for i in range(ids.size):
        core.active[i], core.weights[i], core.chosen[i] = i, weights[i], True
    core.sizes[1] = ids.size
    _factorise(core, 0)


@_compiled
def _take_in(core, rows, scale, origin, found):
    """Add rows to the core set; return how many are new to it."""
    old = new = core.sizes[0]
    for row in found:
        known = False
        for j in range(old):
            known |= core.ids[j] == row
        if not known:
            core.ids[new], core.weights[new], core.chosen[new] = row, 0.0, False
            new += 1
    core.sizes[0] = new
    _fill_gram(core, rows, scale, origin, old)
    return new - old


@_compiled
def _fill_gram(core, rows, scale, origin, old):
    """Inner products of the core points from `old` on with all, tile by tile."""
    gram, new, n = core.gram, core.sizes[0], origin.size
    # Space is asked for once: getting it from the system can cost more than the work.
    local, space = np.empty((new, min(COLUMNS, n))), np.empty(PANEL * new)
    for start in range(0, n, COLUMNS):
        there = origin[start : start + COLUMNS]
        local[:, there.size :] = 0.0
        for i in range(new):
            row, here = rows[core.ids[i], start : start + COLUMNS], local[i]
            for j in range(there.size):
                here[j] = _difference(row[j], scale, there[j], 0.0)
        for top in range(old, new, PANEL):
            end = min(top + PANEL, new)
            products = space[: (end - top) * end].reshape((end - top, end))
            np.dot(local[top:end], local[:end].T, products)
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
    most = core.active.size - 1
    for _ in range(20 * core.ids.size):
        count, size = _outside(core, aim, slots, squared), core.sizes[1]
        if count == 0:
            return
        fits = min(count, max(most - size, 1))
        _keep_farthest(slots, squared, count, fits)
        if not _join(core, slots[:fits]):
            _keep_farthest(slots, squared, fits, 1)
            _join(core, slots[:1])
            weight = _exchange(core)
            if not _join(core, slots[:1]):
                _climb(core)
                return  # rounding hides what is left
            core.weights[slots[0]] = weight
        _climb(core)


@_compiled
def _outside(core, aim, slots, squared):
    """Collect the core points outside the ball of the weights."""
    known, gram, weights = core.sizes[0], core.gram, core.weights
    gamma, length, count = 0.0, 0.0, 0
    for i in range(known):
        product = _dot(gram[i], weights, known)
        length += weights[i] * product
        gamma += weights[i] * (gram[i, i] - product)
        squared[i] = gram[i, i] - 2.0 * product
    for i in range(known):
        if not core.chosen[i] and squared[i] + length > gamma * (1.0 + aim):
            slots[count], squared[count] = i, squared[i] + length
            count += 1
    return count


@_compiled
def _join(core, slots):
    """Let core points into the support, with weight 0; whether any came in."""
    size = core.sizes[1]
    for i in range(slots.size):
        core.active[size + i], core.chosen[slots[i]] = slots[i], True
    core.sizes[1] = size + slots.size
    _factorise(core, size)
    return core.sizes[1] > size


@_compiled
def _factorise(core, done):
    """Finish the factor after `done` rows; points in the span of others leave.

    The row of the last point that left stays below the factor.
    """
    active, factor = core.active, core.factor
    for i in range(done, core.sizes[1]):
        slot, row = active[i], factor[done]
        for j in range(done):
            product = core.gram[slot, active[j]] + core.sigma
            row[j] = (product - _dot(row, factor[j], j)) / factor[j, j]
        diagonal = core.gram[slot, slot] + core.sigma
        rest = diagonal - _dot(row, row, done)
        if done < active.size - 1 and rest > DEPENDENT * diagonal:
            row[done] = math.sqrt(rest)
            active[done] = slot
            done += 1
        else:
            core.weights[slot], core.chosen[slot] = 0.0, False
    core.sizes[1] = done


@_compiled
def _forward(core, vector):
    """Solve L y = vector in place."""
    for i in range(core.sizes[1]):
        row = core.factor[i]
        vector[i] = (vector[i] - _dot(row, vector, i)) / row[i]


@_compiled
def _back(core, vector):
    """Solve L'x = vector in place."""
    for i in range(core.sizes[1] - 1, -1, -1):
        row = core.factor[i]
        vector[i] /= row[i]
        for j in range(i):
            vector[j] -= vector[i] * row[j]


@_compiled
def _equalise(core):
    """Set target to the weights of sum 1 that make 2 M u - z constant."""
    target, ones, size = core.work[0], core.work[1], core.sizes[1]
    for j in range(size):
        ones[j], target[j] = 1.0, core.gram[core.active[j], core.active[j]]
    _forward(core, ones)
    _forward(core, target)
    multiplier = (0.5 * _dot(ones, target, size) - 1.0) / _dot(ones, ones, size)
    for j in range(size):
        target[j] = 0.5 * target[j] - multiplier * ones[j]
    _back(core, target)


@_compiled
def _climb(core):
    """Maximise the dual over the support, dropping points whose weight vanishes.

    Each step goes straight toward the maximiser on the affine hull and stops where the
    first weight reaches zero, so the dual value never falls.
    """
    target, weights, active = core.work[0], core.weights, core.active
    blocked = True
    while blocked:
        _equalise(core)
        size, step, blocked = core.sizes[1], 1.0, False
        for j in range(size):
            if target[j] <= 0.0:
                weight, blocked = weights[active[j]], True
                step = min(step, weight / (weight - target[j]) if weight else 0.0)
        for j in range(size - 1, -1, -1):
            weight = weights[active[j]]
            if target[j] <= 0.0 and weight <= step * (weight - target[j]):
                _drop(core, j)
            else:
                moved = max(weight + step * (target[j] - weight), 0.0)
                weights[active[j]] = moved if blocked else target[j]


@_compiled
def _drop(core, position):
    """Take a point out of the support, with plane rotations of the factor."""
    active, cosines, sines = core.active, core.work[1], core.work[2]
    core.weights[active[position]], core.chosen[active[position]] = 0.0, False
    core.sizes[1] -= 1
    for i in range(position, core.sizes[1]):
        # Each row moves up; the entry that now stands right of the diagonal goes.
        active[i], row, old = active[i + 1], core.factor[i], core.factor[i + 1]
        for j in range(position):
            row[j] = old[j]
        carry = old[position]
        for j in range(position, i):
            row[j] = cosines[j] * carry + sines[j] * old[j + 1]
            carry = cosines[j] * old[j + 1] - sines[j] * carry
        row[i] = math.hypot(carry, old[i + 1])
        cosines[i], sines[i] = carry / row[i], old[i + 1] / row[i]


@_compiled
def _exchange(core):
    """Drop a point to make room for one in the span; return the new one's weight.

    The row below the factor is that of the new point. Its affine coordinates x tell how
    weight moves to it without moving the center.
    """
    size, active, weights = core.sizes[1], core.active, core.weights
    coordinates = core.factor[size]
    _back(core, coordinates)
    best, position = np.inf, 0
    for j in range(size):
        weight = weights[active[j]]
        if coordinates[j] > 1e-12 and weight < best * coordinates[j]:
            best, position = weight / coordinates[j], j
    for j in range(size):
        weight = weights[active[j]] - best * coordinates[j]
        weights[active[j]] = max(weight, 0.0)
    _drop(core, position)
    return best


@_compiled
def _locate(core, rows, scale, origin, local):
    """Center less origin, and dual value, anew from the support by differences."""
    gamma, local[:] = 0.0, 0.0
    for slot in core.active[: core.sizes[1]]:
        row, weight = rows[core.ids[slot]], core.weights[slot]
        for j in range(local.size):
            local[j] += weight * _difference(row[j], scale, origin[j], 0.0)
    for slot in core.active[: core.sizes[1]]:
        row, weight = rows[core.ids[slot]], core.weights[slot]
        for j in range(local.size):
            difference = _difference(row[j], scale, origin[j], local[j])
            gamma += weight * difference * difference
    return gamma
