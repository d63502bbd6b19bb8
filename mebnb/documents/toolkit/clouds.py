"""What the checks share: tiny clouds, their balls by enumeration, symbols.

Nothing here calls a solver of the package: the references must be independent.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cache, lru_cache
from types import SimpleNamespace

import numpy as np
import sympy as sp
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
def simplex_points(seed, count, m):
    """`count` random points of the unit simplex of R^m."""
    return tuple(np.random.default_rng(seed).dirichlet(np.ones(m), size=count))


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


def pair_start(points):
    """Indices of the point farthest from the first, and of the one farthest from it."""
    one = int(distances2(points, points[0]).argmax())
    return one, int(distances2(points, points[one]).argmax())


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


# --- algebra -----------------------------------------------------------------------


@lru_cache(maxsize=1)
def algebra():
    """Three points in the plane as columns of A, weights u, and what follows from them.

    `simplex` replaces the last weight by 1 - u_1 - u_2.
    """
    matrix = sp.Matrix(2, 3, lambda k, i: sp.Symbol(f"a{k + 1}{i + 1}", real=True))
    u = sp.Matrix(sp.symbols("u1:4", real=True))
    atoms = [matrix[:, i] for i in range(3)]
    z = sp.Matrix([atom.dot(atom) for atom in atoms])
    center = matrix * u
    return SimpleNamespace(
        A=matrix,
        u=u,
        a=atoms,
        z=z,
        center=center,
        phi=u.dot(z) - center.dot(center),
        d=[(atom - center).dot(atom - center) for atom in atoms],
        simplex={u[2]: 1 - u[0] - u[1]},
    )


def residual(expression):
    """0.0 when a rational expression vanishes identically, else its size.

    The size is the sum of the absolute coefficients of its numerator.
    """
    numerator = sp.numer(sp.together(sp.expand(expression)))
    numerator = sp.expand(numerator)
    if numerator == 0:
        return 0.0
    return float(sum(abs(c) for c in sp.Poly(numerator).coeffs()))


def worst(values):
    """The largest of the values; infinity when one is not a number."""
    largest = 0.0
    for value in values:
        if math.isnan(value):
            return math.inf
        largest = max(largest, float(value))
    return largest
