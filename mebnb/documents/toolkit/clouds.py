"""What the checks share: tiny clouds, their balls by enumeration, what is said of them.

Nothing here calls a solver of the package: the references must be independent.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cache, lru_cache, wraps

import numpy as np
from scipy.optimize import minimize

# The farthest pair is far from optimal here.
KITE = np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 2.5], [3.0, -2.6]])
# Lemma 3.1's tight instance: the farthest pair has a third of the dual value.
TRIANGLE = np.array([[1.0, 0.0], [0.0, 0.0], [0.5, 0.75**0.5], [0.5, -(0.75**0.5)]])


@dataclass(frozen=True)
class Ball:
    """A smallest ball found by enumeration, with the weights that certify it."""

    center: np.ndarray
    radius: float
    weights: np.ndarray


@cache
def clouds(seed, count=6, m=6, n=2):
    """`count` clouds of m normal points in R^n, rows, always the same for a seed."""
    rng = np.random.default_rng(seed)
    return tuple(rng.normal(size=(m, n)) for _ in range(count))


@cache
def gaussian_cloud():
    """Sixty normal points in R^5, large enough for drop steps and slow tails."""
    return np.random.default_rng(7).normal(size=(60, 5))


@cache
def simplex_points(seed, count, m):
    """`count` random points of the unit simplex of R^m."""
    return tuple(np.random.default_rng(seed).dirichlet(np.ones(m), size=count))


def random_weights(m, count, seed=3):
    """`count` points of the unit simplex of R^m as rows, most of them on some face."""
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=(count, m)) * (rng.random((count, m)) < 0.7)
    weights[weights.sum(axis=1) == 0.0] = 1.0
    return weights / weights.sum(axis=1, keepdims=True)


def vertex(m, index):
    """Unit vector e_index of R^m."""
    unit = np.zeros(m)
    unit[index] = 1.0
    return unit


def off_simplex(u):
    """Violation of sum 1 and of the sign."""
    return abs(float(u.sum()) - 1.0) + max(0.0, -float(u.min()))


def z_of(points):
    """z_i = |a_i|^2."""
    return np.einsum("ij,ij->i", points, points)


def phi(points, weights):
    """The dual value as the documents print it: u'z - |A u|^2."""
    center = weights @ points
    return float(weights @ z_of(points) - center @ center)


def gradient_of_f(points, weights):
    """2 A'A u - z, the gradient of f = -Phi."""
    return 2.0 * points @ (weights @ points) - z_of(points)


def distances2(points, center):
    """Squared distances of the rows from a center."""
    return z_of(points - center)


def farthest_from(points, center):
    """Index of the point farthest from a center."""
    return int(distances2(points, center).argmax())


def reach(points, center):
    """Distance of the farthest point from a center."""
    return math.sqrt(distances2(points, center).max())


def fw_gap(points, u):
    """The Frank-Wolfe gap, which is the duality gap: max_i |a_i - Au|^2 - phi(u)."""
    return float(distances2(points, u @ points).max()) - phi(points, u)


def away_gap(points, u):
    """phi(u) - min |a_i - Au|^2 over the points with weight."""
    return phi(points, u) - float(distances2(points, u @ points)[u > 0.0].min())


def pair_start(points):
    """Indices of the point farthest from the first, and of the one farthest from it."""
    one = farthest_from(points, points[0])
    return one, farthest_from(points, points[one])


def pair_weights(points):
    """Half of the weight on each point of the pair."""
    first, second = pair_start(points)
    return 0.5 * vertex(len(points), first) + 0.5 * vertex(len(points), second)


def step_to_boundary(contains, x, d):
    """Largest alpha with x + alpha d in a convex set, by bisection from 64."""
    low, high = 0.0, 64.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if contains(x + middle * d):
            low = middle
        else:
            high = middle
    return low


def exact_steps(points, u, allowed):
    """Where the exact step leads from u along each direction that a rule allows.

    A direction is towards any vertex or away from one with weight; `allowed` compares
    its slope with the largest FW gap and the largest away gap.
    """
    gradient = gradient_of_f(points, u)
    slopes = gradient @ u - gradient
    up, down = slopes.max(), (-slopes[u > 0.0]).max()
    for i, vertex in enumerate(np.eye(len(u))):
        rest = 1.0 - u[i]
        ways = [(slopes[i], vertex - u, 1.0)]
        if u[i] > 0.0 and rest > 0.0:
            ways.append((-slopes[i], u - vertex, u[i] / rest))
        for slope, d, largest in ways:
            if allowed(slope, up, down):
                image = d @ points
                yield u + min(slope / (2.0 * (image @ image)), largest) * d


def ball_by_enumeration(points):
    """The smallest enclosing ball of at most a dozen points.

    Every subset of up to n + 1 points has one ball with all of them on its surface and
    the center in their affine hull. The smallest enclosing ball is the one whose
    center is a convex combination of the subset and that holds all points.
    """
    return _enumerate(points.tobytes(), points.shape)


@lru_cache(maxsize=4096)
def _enumerate(data, shape):
    points = np.frombuffer(data).reshape(shape)
    scale = 1.0 + float(np.abs(points - points[0]).max())
    for size in range(1, min(shape[0], shape[1] + 1) + 1):
        for subset in itertools.combinations(range(shape[0]), size):
            rows = list(subset)
            weights = _circumcenter_weights(points[rows] - points[0])
            if weights is None or weights.min() < -1e-12:
                continue
            center = weights @ points[rows]
            radius2 = float(distances2(points[rows], center).max())
            farthest = float(distances2(points, center).max())
            if farthest <= radius2 + 1e-10 * scale**2:
                dense = np.zeros(shape[0])
                dense[rows] = np.maximum(weights, 0.0)
                return Ball(center, math.sqrt(radius2), dense / dense.sum())
    raise ValueError("points must be in general position for the enumeration")


def _circumcenter_weights(points):
    """Barycentric coordinates of the circumcenter; None for dependent points."""
    size = points.shape[0]
    system = np.ones((size + 1, size + 1))
    system[:size, :size] = 2.0 * points @ points.T
    system[size, size] = 0.0
    if np.linalg.matrix_rank(system) < size + 1:
        return None
    return np.linalg.solve(system, np.append(z_of(points), 1.0))[:size]


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points, shape (m, n), with their smallest ball."""

    points: np.ndarray
    center: np.ndarray
    radius: float
    weights: np.ndarray

    @property
    def m(self):
        return self.points.shape[0]

    @property
    def n(self):
        return self.points.shape[1]


def cloud(points):
    """A `Cloud` of points given as rows."""
    points = np.asarray(points, dtype=float)
    ball = ball_by_enumeration(points)
    return Cloud(points, ball.center, ball.radius, ball.weights)


@cache
def small_clouds():
    """Six small clouds: random ones, one with m < n, an obtuse triangle."""
    rng = np.random.default_rng(20)
    shapes = [(5, 2), (6, 3), (7, 2), (4, 3), (3, 5)]
    return tuple(cloud(rng.normal(size=shape)) for shape in shapes) + (
        cloud([[0.0, 0.0], [4.0, 0.0], [1.0, 0.5]]),
    )


# --- the ball with slack -----------------------------------------------------------


def soft_weights(points, cap):
    """Maximiser of phi over 0 <= u <= cap, sum u = 1, by SLSQP."""
    return _soft(points.tobytes(), points.shape, cap)


@lru_cache(maxsize=1024)
def _soft(data, shape, cap):
    points = np.frombuffer(data).reshape(shape)
    centred = points - points.mean(axis=0)
    scale = float(np.abs(centred).max())
    centred = centred / scale
    m = shape[0]
    found = minimize(
        lambda u: -phi(centred, u),
        np.full(m, 1.0 / m),
        jac=lambda u: gradient_of_f(centred, u),
        bounds=[(0.0, cap)] * m,
        constraints={
            "type": "eq",
            "fun": lambda u: u.sum() - 1.0,
            "jac": lambda u: np.ones(m),
        },
        method="SLSQP",
        options={"ftol": 1e-16, "maxiter": 1000},
    )
    u = np.clip(found.x, 0.0, cap)
    return u / u.sum()


# --- how far the worst of several cases is off -----------------------------------------


def worst(values):
    """The largest of the values; infinity when one is not a number."""
    largest = 0.0
    for value in values:
        if math.isnan(value):
            return math.inf
        largest = max(largest, float(value))
    return largest


def over(cases):
    """Makes a measure of what the form misses in one case: the worst of all cases.

    Parameters
    ----------
    cases : iterable, or callable that gives one
        Each case holds the arguments behind the form; one that is no tuple is alone.

    Returns
    -------
    callable
        Decorator of (form, *case) -> float or several floats.
    """

    def decorate(misses):
        @wraps(misses)
        def measure(form):
            return worst(
                missed
                for case in (cases() if callable(cases) else cases)
                for missed in np.ravel(
                    misses(form, *(case if isinstance(case, tuple) else (case,)))
                )
            )

        return measure

    return decorate
