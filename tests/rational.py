"""The smallest ball in rational arithmetic, and clouds on which rounding matters.

A float64 is a rational number, so a cloud of float64 points has one exact answer.
"""

from fractions import Fraction
from itertools import combinations

import numpy as np


def exactly(points):
    """Rows as lists of fractions; whole numbers of any size stay what they are."""
    whole = np.asarray(points).dtype.kind in "iu"
    number = int if whole else float
    return [[Fraction(number(x)) for x in row] for row in np.asarray(points)]


def smallest_ball(points):
    """Center and squared radius of the smallest ball, as fractions.

    The farthest row enters and the ball of the support with it is found by looking at
    all subsets that hold it: the squared radius grows each time, so it ends, at the
    ball of all rows.

    Parameters
    ----------
    points : array_like, shape (m, n)

    Returns
    -------
    center : list of Fraction
    square : Fraction
    support : list of list of Fraction
    """
    rows = exactly(points)
    support = [rows[0]]
    center, square = rows[0], Fraction(0)
    while True:
        far = max(rows, key=lambda row: squared_distance(row, center))
        if squared_distance(far, center) <= square:
            return center, square, support
        center, square, support = _ball_with(far, support)


def squared_distance(one, other):
    """|one - other|^2."""
    return sum((x - y) ** 2 for x, y in zip(one, other, strict=True))


def farthest_square(points, center):
    """max_i |a_i - c|^2, exactly, from a center in float64."""
    center = [Fraction(float(x)) for x in center]
    return max(squared_distance(row, center) for row in exactly(points))


def _ball_with(point, others):
    """The smallest ball of `others` and a point outside of their ball: it is on it."""
    for size in range(1, len(others) + 1):
        for chosen in combinations(others, size):
            found = _through([point, *chosen])
            if found is None:
                continue
            center, square, weights = found
            if all(squared_distance(row, center) <= square for row in others):
                support = [point, *chosen]
                kept = [r for r, w in zip(support, weights, strict=True) if w > 0]
                return center, square, kept
    raise AssertionError("no subset has an enclosing ball")


def _through(rows):
    """Circumscribed ball with its center in the rows' hull, or None.

    With d_i = a_i - a_0 the center is a_0 + sum_i u_i d_i, and being equally far from
    all rows says 2 sum_j (d_i'd_j) u_j = |d_i|^2.
    """
    first, *rest = rows
    differences = [[x - y for x, y in zip(r, first, strict=True)] for r in rest]
    gram = [[_dot(d, e) for e in differences] for d in differences]
    shares = _solve([[2 * x for x in row] for row in gram], _diagonal(gram))
    if shares is None or min(shares) < 0 or sum(shares) > 1:
        return None
    offset = [_dot(shares, column) for column in zip(*differences, strict=True)]
    center = [x + y for x, y in zip(first, offset, strict=True)]
    return center, _dot(offset, offset), [1 - sum(shares), *shares]


def _dot(one, other):
    return sum(x * y for x, y in zip(one, other, strict=True))


def _diagonal(matrix):
    return [row[i] for i, row in enumerate(matrix)]


def _solve(matrix, right):
    """Gaussian elimination; None where the matrix is singular."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for i in range(size):
        pivot = next((j for j in range(i, size) if rows[j][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for j in range(size):
            if j != i and rows[j][i]:
                factor = rows[j][i] / rows[i][i]
                rows[j] = [
                    x - factor * y for x, y in zip(rows[j], rows[i], strict=True)
                ]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


# --- clouds ------------------------------------------------------------------------


def _grid(rng, reach=3):
    m, n = rng.integers(2, 9), rng.integers(1, 4)
    return rng.integers(-reach, reach + 1, size=(m, n)).astype(float)


def ties(rng):
    """Small whole numbers: many rows on the sphere."""
    return _grid(rng)


def repeats(rng):
    """Few rows, each several times."""
    points = _grid(rng, 20)[:4]
    return points[rng.integers(0, len(points), size=9)]


def clusters(rng):
    """Small whole numbers, moved by noise of 1e-6 to 1e-12."""
    points = _grid(rng)
    points = points[rng.integers(0, len(points), size=rng.integers(3, 9))]
    return points + 10.0 ** rng.uniform(-12, -6) * rng.normal(size=points.shape)


def regular(rng):
    """Cross-polytopes, cubes and simplices, moved by noise of 1e-7 to 1e-10, or not."""
    n = int(rng.integers(2, 4))
    corners = {
        0: np.vstack([np.eye(n), -np.eye(n)]),
        1: np.array(np.meshgrid(*[[0.0, 1.0]] * n)).reshape(n, -1).T,
        2: np.vstack([np.zeros(n), np.eye(n)]),
    }
    points = corners[int(rng.integers(3))]
    noise = rng.choice([0.0, 10.0 ** rng.uniform(-10, -7)])
    return points + noise * rng.normal(size=points.shape)


def flat(rng):
    """Rows on a line or nearly so."""
    line = rng.integers(-3, 4, size=(1, 3)).astype(float)
    points = rng.integers(-5, 6, size=(7, 1)) * line
    return points + rng.choice([0.0, 1e-9, 1e-15]) * rng.normal(size=points.shape)


def constant_columns(rng):
    """Columns that do not vary, of size up to 1e18, beside some that do."""
    points = rng.choice([ties, clusters, regular])(rng)
    value = rng.choice([10.0 ** rng.uniform(0, 18), 2.0 ** rng.integers(0, 61)])
    columns = np.full((len(points), rng.integers(1, 3)), value)
    return np.hstack([points, columns][:: rng.choice([1, -1])])


def offsets(rng):
    """Clouds up to 1e12 away from the origin."""
    points = rng.choice([ties, clusters, regular])(rng)
    return points + 10.0 ** rng.uniform(0, 12) * rng.choice([-1, 1], points.shape[1])


def scales(rng):
    """Clouds of size 1e-160 to 1e150."""
    points = rng.choice([ties, clusters, regular, flat])(rng)
    return points * 10.0 ** rng.uniform(-160, 150)


def large_integers(rng):
    """Whole numbers up to 2**62, close to each other or not."""
    points = _grid(rng).astype(np.int64)
    offset = 2 ** int(rng.integers(50, 62))
    return points * 2 ** int(rng.choice([0, 1, 20])) + offset


def normal(rng):
    """Nothing special."""
    return rng.normal(size=(rng.integers(2, 9), rng.integers(1, 5)))


FAMILIES = [
    ties, repeats, clusters, regular, flat, constant_columns, offsets, scales,
    large_integers, normal,
]  # fmt: skip
