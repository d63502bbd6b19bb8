"""The minimum enclosing ball to full accuracy: `minimum_enclosing_ball`.

The method is a core set with a fully corrective solve, and few passes over the data.

1. A sample of sqrt(m (n + 1)) rows is solved exactly. By Clarkson's sampling lemma
   about as many of the other rows, sqrt(m (n + 1)), lie outside the sample's ball.
2. One pass over the data keeps the farthest rows, a shell of about twice that size,
   and the distance of the farthest row that was let go.
3. The shell is solved exactly. When the center moved by no more than the room between
   the rows let go and the new sphere, every row is inside, and the work is done
   without a second look; else step 2 is repeated from the new center.

Exact on a set of rows means: repeatedly take the farthest rows into the core set and
solve the dual on the core set by an active-set method on a Cholesky factor, until no
row is outside. The support stays affinely independent, at most n + 1 points.

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

from mebnb.balls import Solution, check_points, row_blocks

__all__ = ["minimum_enclosing_ball"]

EPS = float(np.finfo(np.float64).eps)
# Squared distances outside of these lose digits or overflow: scale the data first.
TINY, HUGE = 1e-200, 1e200
# A point whose squared distance from the span of the support is below this part of its
# squared length counts as lying in it; the violation this can hide is no larger.
DEPENDENT = 1e-14
COLUMNS = 256

# What the core set is: `count` holds the number of known points and of active ones.
_Core = namedtuple(
    "_Core", "ids inside gram factor rhs active weights target column count"
)

CONVERGED, LIMIT, ROUNDING, UNSCALED = 0, 1, 2, 3

# Sums may be reordered, so that they run in vector registers, but NaN and infinity
# keep their meaning: they are how bad input is noticed at no cost.
_compiled = njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})


# --- the pass ----------------------------------------------------------------------


@_compiled
def _squared_distance(rows, i, center, scale):
    total = 0.0
    for j in range(center.shape[0]):
        difference = scale * rows[i, j] - center[j]
        total += difference * difference
    return total


@_compiled
def _keep_farthest(ids, distances, count, keep):
    """Bring the `keep` largest to the front; return the largest of the others."""
    low, high = 0, count - 1
    while low < high:
        pivot = distances[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while distances[i] > pivot:
                i += 1
            while distances[j] < pivot:
                j -= 1
            if i <= j:
                ids[i], ids[j] = ids[j], ids[i]
                distances[i], distances[j] = distances[j], distances[i]
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
        largest = max(largest, distances[i])
    return largest


@_compiled
def _scan(rows, first, center, scale, cut, inner, ids, distances, count):
    """Collect the rows farther than sqrt(cut) from a center, the farthest if too many.

    Returns count, cut, inner: how many are collected, the cut in force, and the largest
    squared distance of the rows that were not. count is -1 when a squared distance
    is not finite.
    """
    capacity = ids.shape[0]
    for i in range(rows.shape[0]):
        distance = _squared_distance(rows, i, center, scale)
        if distance <= cut:
            inner = max(inner, distance)
            continue
        if not distance < np.inf:
            return -1, cut, inner
        ids[count] = first + i
        distances[count] = distance
        count += 1
        if count == capacity:
            count = capacity // 2
            cut = _keep_farthest(ids, distances, capacity, count)
            inner = max(inner, cut)
    return count, cut, inner


# --- the dual on the core set ------------------------------------------------------
#
# With local points d_i, z_i = |d_i|^2 and the bordered Gram matrix M = D D' + sigma on the
# active points, the weights solve 2 M u + lambda = z, sum u = 1. M = R'R is kept
# as its triangular factor R, together with R'^-1 1 and R'^-1 z (rows 0, 1 of rhs).


@_compiled
def _append(factor, rhs, size, column, diagonal, energy):
    """Grow the factor by one point; False when it lies in the span of the others."""
    rest = diagonal
    ones, energies = 1.0, energy
    for j in range(size):
        entry = column[j] / factor[j, j]
        column[j] = entry
        for i in range(j + 1, size):
            column[i] -= entry * factor[j, i]
        rest -= entry * entry
        ones -= entry * rhs[0, j]
        energies -= entry * rhs[1, j]
    if rest <= DEPENDENT * diagonal or size == factor.shape[0]:
        return False
    root = math.sqrt(rest)
    for j in range(size):
        factor[j, size] = column[j]
    factor[size, size] = root
    rhs[0, size] = ones / root
    rhs[1, size] = energies / root
    return True


@_compiled
def _remove(factor, rhs, size, position):
    """Shrink the factor by one point, with plane rotations."""
    for i in range(size):
        for j in range(max(i - 1, position), size - 1):
            factor[i, j] = factor[i, j + 1]
    for i in range(position, size - 1):
        # After the shift, row i + 1 starts one column early: rotate that entry away.
        radius = math.hypot(factor[i, i], factor[i + 1, i])
        cosine, sine = factor[i, i] / radius, factor[i + 1, i] / radius
        for j in range(i, size - 1):
            upper, lower = factor[i, j], factor[i + 1, j]
            factor[i, j] = cosine * upper + sine * lower
            factor[i + 1, j] = cosine * lower - sine * upper
        for k in range(2):
            upper, lower = rhs[k, i], rhs[k, i + 1]
            rhs[k, i] = cosine * upper + sine * lower
            rhs[k, i + 1] = cosine * lower - sine * upper


@_compiled
def _back_substitute(factor, size, vector):
    """Solve R x = vector in place."""
    for j in range(size - 1, -1, -1):
        total = vector[j]
        for i in range(j + 1, size):
            total -= factor[j, i] * vector[i]
        vector[j] = total / factor[j, j]


@_compiled
def _equalise(factor, rhs, size, energies, total, out):
    """Weights with the given sum that make 2 M u - z constant; z given as R'^-1 z."""
    ones, mixed = 0.0, 0.0
    for j in range(size):
        ones += rhs[0, j] * rhs[0, j]
        mixed += rhs[0, j] * energies[j]
    multiplier = (0.5 * mixed - total) / ones
    for j in range(size):
        out[j] = 0.5 * energies[j] - multiplier * rhs[0, j]
    _back_substitute(factor, size, out)


@_compiled
def _drop(core, position):
    """Take an active point out of the factor; it stays in the core set."""
    size = core.count[1] - 1
    _remove(core.factor, core.rhs, size + 1, position)
    core.inside[core.active[position]] = False
    for i in range(position, size):
        core.active[i] = core.active[i + 1]
        core.weights[i] = core.weights[i + 1]
    core.count[1] = size


@_compiled
def _climb(core):
    """Maximise the dual over the active points, dropping those whose weight vanishes.

    Each step goes straight toward the maximiser on the affine hull and stops where the
    first weight reaches zero, so the dual value never falls.
    """
    target, weights = core.target, core.weights
    while True:
        size = core.count[1]
        _equalise(core.factor, core.rhs, size, core.rhs[1], 1.0, target)
        step = np.inf
        for j in range(size):
            if target[j] <= 0.0:
                ratio = weights[j] / (weights[j] - target[j]) if weights[j] > 0.0 else 0.0
                step = min(step, ratio)
        if step == np.inf:
            for j in range(size):
                weights[j] = target[j]
            return
        for j in range(size - 1, -1, -1):
            if target[j] <= 0.0 and weights[j] <= step * (weights[j] - target[j]):
                _drop(core, j)
            else:
                weights[j] += step * (target[j] - weights[j])


@_compiled
def _exchange(core):
    """Make room for a point in the span of the active ones; return its weight.

    core.column holds R'^-1 m for the new point. Its affine coordinates x say how weight
    moves from the active points to it without moving the center.
    """
    column, weights, size = core.column, core.weights, core.count[1]
    _back_substitute(core.factor, size, column)
    best, position = np.inf, -1
    for j in range(size):
        if column[j] > 1e-12 and weights[j] < best * column[j]:
            best, position = weights[j] / column[j], j
    for j in range(size):
        weights[j] = max(weights[j] - best * column[j], 0.0)
    _drop(core, position)
    return best


@_compiled
def _gram(rows, scale, origin, ids, old, new, gram):
    """Fill the rows old to new of the Gram matrix of the core points, and mirror them."""
    n = rows.shape[1]
    width = min(COLUMNS, n)
    for start in range(0, n, width):
        width = min(width, n - start)
        local = np.empty((new, width))
        for i in range(new):
            for j in range(width):
                local[i, j] = scale * rows[ids[i], start + j] - origin[start + j]
        products = np.dot(local[old:], local.T)
        for i in range(old, new):
            for j in range(i + 1):
                if start == 0:
                    gram[i, j] = products[i - old, j]
                else:
                    gram[i, j] += products[i - old, j]
    for i in range(old, new):
        for j in range(i):
            gram[j, i] = gram[i, j]


@_compiled
def _mean(rows, scale, mean):
    m, n = rows.shape
    for j in range(n):
        mean[j] = 0.0
    for i in range(m):
        for j in range(n):
            mean[j] += scale * rows[i, j]
    for j in range(n):
        mean[j] /= m


@_compiled
def _farthest_rows(rows, center, scale, cut, found, squared, keep):
    """The `keep` farthest rows beyond sqrt(cut), and the largest squared distance."""
    count, cut, inner = _scan(rows, 0, center, scale, cut, 0.0, found, squared, 0)
    if count < 0:
        return count, np.inf
    if count > keep:
        _keep_farthest(found, squared, count, keep)
        count = keep
    for i in range(count):
        inner = max(inner, squared[i])
    return count, inner


@_compiled
def _forget(core):
    """Leave only the active points in the core set."""
    fresh = 0
    known = core.count[0]
    for i in range(known):
        if not core.inside[i]:
            continue
        into = 0
        for j in range(known):
            if core.inside[j]:
                core.gram[fresh, into] = core.gram[i, j]
                into += 1
        core.ids[fresh] = core.ids[i]
        for j in range(core.count[1]):
            if core.active[j] == i:
                core.active[j] = fresh
        fresh += 1
    for i in range(known):
        core.inside[i] = i < fresh
    core.count[0] = fresh


@_compiled
def _take_in(core, rows, scale, origin, found, count):
    """Add rows to the core set; return how many are new to it."""
    if core.count[0] + count > core.ids.shape[0]:
        _forget(core)
    old = core.count[0]
    new = old
    for i in range(count):
        repeated = False
        for j in range(old):
            repeated |= core.ids[j] == found[i]
        if not repeated:
            core.ids[new] = found[i]
            core.inside[new] = False
            new += 1
    if new > old:
        _gram(rows, scale, origin, core.ids, old, new, core.gram)
    core.count[0] = new
    return new - old


@_compiled
def _activate(core, sigma, slot, weight):
    """Let a core point carry weight; False when it lies in the span of the active ones."""
    size = core.count[1]
    for j in range(size):
        core.column[j] = core.gram[slot, core.active[j]] + sigma
    energy = core.gram[slot, slot]
    if not _append(core.factor, core.rhs, size, core.column, energy + sigma, energy):
        return False
    core.active[size] = slot
    core.weights[size] = weight
    core.inside[slot] = True
    core.count[1] = size + 1
    return True


@_compiled
def _outside(core, aim, slots, squared):
    """The core points outside the ball of the current weights."""
    size = core.count[1]
    gamma, square = 0.0, 0.0
    for i in range(size):
        product = 0.0
        for j in range(size):
            product += core.gram[core.active[i], core.active[j]] * core.weights[j]
        square += core.weights[i] * product
        gamma += core.weights[i] * (core.gram[core.active[i], core.active[i]] - product)
    count = 0
    for i in range(core.count[0]):
        if core.inside[i]:
            continue
        product = 0.0
        for j in range(size):
            product += core.gram[i, core.active[j]] * core.weights[j]
        distance = core.gram[i, i] - 2.0 * product + square
        if distance > gamma * (1.0 + aim):
            slots[count] = i
            squared[count] = distance
            count += 1
    return count


@_compiled
def _solve_core(core, sigma, aim, slots, squared):
    """Bring the weights to the optimum of the dual on the core set."""
    while True:
        count = _outside(core, aim, slots, squared)
        if count == 0:
            return
        room = core.factor.shape[0] - core.count[1]
        _keep_farthest(slots, squared, count, 1)
        if 1 < room < count:
            _keep_farthest(slots, squared, count, room)
        added = 0
        for i in range(min(room, count)):
            added += _activate(core, sigma, slots[i], 0.0)
        if added == 0:
            _keep_farthest(slots, squared, count, 1)
            _activate(core, sigma, slots[0], 0.0)
            weight = _exchange(core)
            if not _activate(core, sigma, slots[0], weight):
                return
        _climb(core)


@_compiled
def _locate(core, rows, scale, origin, local):
    """Center and dual value anew from the active points, by differences."""
    size, n = core.count[1], origin.shape[0]
    for attempt in range(3):
        for j in range(n):
            local[j] = 0.0
        for i in range(size):
            row = core.ids[core.active[i]]
            for j in range(n):
                local[j] += core.weights[i] * (scale * rows[row, j] - origin[j])
        gamma, low, high = 0.0, np.inf, 0.0
        for i in range(size):
            row = core.ids[core.active[i]]
            distance = 0.0
            for j in range(n):
                difference = scale * rows[row, j] - origin[j] - local[j]
                distance += difference * difference
            core.column[i] = distance
            low, high = min(low, distance), max(high, distance)
            gamma += core.weights[i] * distance
        if attempt == 2 or high - low <= 4 * EPS * high:
            break
        for j in range(size):
            core.column[j] /= core.factor[j, j]
            for i in range(j + 1, size):
                core.column[i] -= core.column[j] * core.factor[j, i]
        _equalise(core.factor, core.rhs, size, core.column, 0.0, core.target)
        positive = True
        for j in range(size):
            positive &= core.weights[j] + core.target[j] > 0.0
        if not positive:
            break
        for j in range(size):
            core.weights[j] += core.target[j]
    return gamma


@_compiled
def _core_ball(rows, scale, known_weights, batch, aim, limit):
    """Exact ball of all rows, in memory.

    Parameters
    ----------
    rows : ndarray, shape (m, n)
    scale : float
        A power of two that brings the rows to unit size.
    known_weights : ndarray, shape (k,)
        Weights of the first k rows to start from; empty for none.
    batch : int
        How many rows a round may add to the core set.
    aim : float
        Rows beyond radius * (1 + aim) are taken in.
    limit : int
        The largest number of rounds.

    Returns
    -------
    support, weights, center, gamma, farthest, rounds, state
        center, gamma and farthest (squared) are those of the scaled rows.
    """
    m, n = rows.shape
    most = min(m, n + 1)
    capacity = most + 4 * batch
    core = _Core(
        np.empty(capacity, np.int64),
        np.zeros(capacity, np.bool_),
        np.empty((capacity, capacity)),
        np.empty((most, most)),
        np.empty((2, most)),
        np.empty(most, np.int64),
        np.empty(most),
        np.empty(most),
        np.empty(most),
        np.zeros(2, np.int64),
    )
    found = np.empty(capacity + 2 * batch, np.int64)
    squared = np.empty(capacity + 2 * batch)
    origin, center, local = np.empty(n), np.empty(n), np.empty(n)
    rounds, gamma, state = 0, 0.0, UNSCALED

    start = known_weights.shape[0]
    _mean(rows[:start] if start else rows, scale, origin)
    count, farthest = _farthest_rows(
        rows, origin, scale, 0.0, found[: 2 * batch], squared, batch
    )
    if TINY < farthest < HUGE:
        state = LIMIT
        sigma = farthest
        if start:
            for i in range(start):
                found[i] = i
            _take_in(core, rows, scale, origin, found, start)
            for i in range(start):
                _activate(core, sigma, i, known_weights[i])
            _climb(core)
        else:
            _keep_farthest(found, squared, count, 1)
            _take_in(core, rows, scale, origin, found, count)
            _activate(core, sigma, 0, 1.0)

    while state == LIMIT and rounds < limit:
        _solve_core(core, sigma, aim, found, squared)
        gamma = _locate(core, rows, scale, origin, local)
        length = 0.0
        for j in range(n):
            center[j] = origin[j] + local[j]
            length = max(length, abs(center[j]))
        if core.count[1] == 1:
            for j in range(n):
                center[j] = scale * rows[core.ids[core.active[0]], j]
        cut = gamma * (1 + 2 * aim) + 4 * EPS * math.sqrt(gamma) * (length * math.sqrt(n) + math.sqrt(gamma))
        count, farthest = _farthest_rows(
            rows, center, scale, cut, found[: 2 * batch], squared, batch
        )
        rounds += 1
        if count == 0:
            state = CONVERGED
        elif _take_in(core, rows, scale, origin, found, count) == 0:
            state = ROUNDING
    size = core.count[1]
    support = np.empty(size, np.int64)
    for i in range(size):
        support[i] = core.ids[core.active[i]]
    return support, core.weights[:size], center, gamma, farthest, rounds, state
