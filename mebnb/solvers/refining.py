"""The smallest ball in rational arithmetic, from a support that is nearly right.

Where points nearly coincide, or nearly lie in each other's span, float64 cannot tell
which of them hold the ball. A float64 is a rational number, so the same active-set
method finds it exactly: the farthest row enters, the weights go straight toward the
best ones on the support until the first of them vanishes, and its row leaves. The
squared radius grows with each row that enters, so this ends.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

__all__ = ["refine"]

# Numerators grow with the size of the support, and the work with its fourth power.
MOST = 24


def refine(source, scale, support, limit):
    """Exact center and radius, unless the support is too large or too many rows enter.

    Parameters
    ----------
    source : Rows
        Or what else has `gather` and `blocks`.
    scale : float
        A power of two by which squares are kept from overflow when the farthest row
        is looked for.
    support : ndarray of int
    limit : int
        The largest number of rows that enter.

    Returns
    -------
    support : ndarray of int
        Affinely independent.
    weights : ndarray
        Positive, the exact ones rounded.
    center : list of Fraction
    square : Fraction
        The squared radius.
    entered : int
        How many rows entered. None instead of all these when there is no answer.
    """
    held = source.gather(support)[0]
    hull = _Hull(_exactly(held[0]))
    for row, point in zip(support, held, strict=True):
        hull.enter(int(row), point)
    for entered in range(limit + 1):
        if len(hull.rows) > MOST:
            return None
        center, square = hull.ball()
        row, point = _farthest(source, scale, center)
        outside = _squared(_exactly(point), center) > square
        if not outside:
            weights = np.array([float(hull.weights[i]) for i in hull.rows])
            return np.array(hull.rows), weights, center, square, entered
        hull.enter(row, point)
    return None


class _Hull:
    """An affinely independent support, and the best weights on it."""

    def __init__(self, origin):
        self.origin = origin
        self.rows, self.edges, self.weights = [], {}, {}

    def enter(self, row, point):
        """Let a row in, and those out that do not belong any more."""
        edge = [x - y for x, y in zip(_exactly(point), self.origin, strict=True)]
        if row in self.edges:
            return
        self.edges[row] = edge
        if not self.rows:
            self.rows, self.weights[row] = [row], Fraction(1)
            return
        weight = Fraction(0)
        shares = self._coordinates(edge)
        if shares is not None:
            # In the span: weight moves to it without moving the center.
            leaving = min(
                (r for r in self.rows if shares[r] > 0),
                key=lambda r: self.weights[r] / shares[r],
            )
            weight = self.weights[leaving] / shares[leaving]
            for r in self.rows:
                self.weights[r] -= weight * shares[r]
            self._leave(leaving)
        self.rows.append(row)
        self.weights[row] = weight
        self._climb()

    def ball(self):
        """Center and squared radius."""
        offset = self._mean(self.weights)
        center = [x + y for x, y in zip(self.origin, offset, strict=True)]
        return center, _squared(self.edges[self.rows[0]], offset)

    def _mean(self, weights):
        columns = zip(*(self.edges[r] for r in self.rows), strict=True)
        return [_dot([weights[r] for r in self.rows], column) for column in columns]

    def _leave(self, row):
        self.rows.remove(row)
        del self.edges[row], self.weights[row]

    def _coordinates(self, edge):
        """Affine coordinates of a point in the span of the support, else None."""
        first, *rest = self.rows
        base = self.edges[first]
        legs = [_minus(self.edges[r], base) for r in rest]
        leg = _minus(edge, base)
        shares = _solve([[_dot(a, b) for b in legs] for a in legs], _times(legs, leg))
        offset = [_dot(shares, column) for column in zip(*legs, strict=True)] or [
            Fraction(0)
        ] * len(leg)
        if offset != leg:
            return None
        return {first: 1 - sum(shares), **dict(zip(rest, shares, strict=True))}

    def _climb(self):
        """Straight toward the best weights, dropping a row where one vanishes."""
        while True:
            target = self._target()
            blocking = [r for r in self.rows if target[r] <= 0]
            if not blocking:
                self.weights = target
                return
            steps = {r: self._step(r, target) for r in blocking}
            leaving = min(steps, key=steps.get)
            for r in self.rows:
                self.weights[r] += steps[leaving] * (target[r] - self.weights[r])
            self._leave(leaving)

    def _step(self, row, target):
        weight = self.weights[row]
        return weight / (weight - target[row]) if weight else Fraction(0)

    def _target(self):
        """Weights of the center that is equally far from the whole support."""
        first, *rest = self.rows
        legs = [_minus(self.edges[r], self.edges[first]) for r in rest]
        gram = [[_dot(a, b) for b in legs] for a in legs]
        shares = _solve(gram, [gram[i][i] / 2 for i in range(len(legs))])
        return {first: 1 - sum(shares), **dict(zip(rest, shares, strict=True))}


def _farthest(source, scale, center):
    """The row that is farthest from a center, as float64 sees it, and its entries."""
    near = np.array([float(x) for x in center])
    rest = np.array([float(x - Fraction(float(y))) for x, y in zip(center, near)])
    farthest, found = -1.0, None
    for start, block in source.blocks():
        differences = (block * scale - near * scale) - rest * scale
        squared = np.einsum("ij,ij->i", differences, differences)
        place = int(squared.argmax())
        if squared[place] > farthest:
            farthest, found = squared[place], (start + place, block[place].copy())
    return found


def _exactly(point):
    return [Fraction(float(x)) for x in point]


def _dot(one, other):
    return sum((x * y for x, y in zip(one, other, strict=True)), Fraction(0))


def _minus(one, other):
    return [x - y for x, y in zip(one, other, strict=True)]


def _times(rows, vector):
    return [_dot(row, vector) for row in rows]


def _squared(one, other):
    difference = _minus(one, other)
    return _dot(difference, difference)


def _solve(matrix, right):
    """Solution of a definite system, by elimination without a search for pivots."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i, row in enumerate(rows):
        for below in rows[i + 1 :]:
            factor = below[i] / row[i]
            for j in range(i, len(row)):
                below[j] -= factor * row[j]
    solution = []
    for i in range(len(rows) - 1, -1, -1):
        known = _dot(rows[i][i + 1 : -1], solution)
        solution.insert(0, (rows[i][-1] - known) / rows[i][i])
    return solution
