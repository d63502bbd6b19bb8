"""What notebook 01 measures: one identity, what follows from it, and small supports."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mebnb.experiments.sets import normal_cloud
from mebnb.solvers.balls import dual_value, frank_wolfe_gap, squared_distances
from mebnb.solvers.exact import minimum_enclosing_ball

__all__ = [
    "SQUARE",
    "consequences",
    "hard_clouds",
    "reduce_support",
    "reduction_table",
    "shortfall_terms",
    "simplex_weights",
]

# The corners of a square, in turn: their ball has many optimal weights.
SQUARE = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
# A weight below this part of the largest is rounding.
ZERO = 1e-12


def hard_clouds(seed):
    """Small clouds in general position, with ties, and degenerate ones.

    Parameters
    ----------
    seed : int

    Returns
    -------
    dict of str -> ndarray, shape (m, n)
    """
    cloud = normal_cloud(30, 3, seed)
    turns = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
    flat = np.column_stack([normal_cloud(20, 2, seed), np.zeros(20)])
    return {
        "random": cloud,
        "square (ties)": SQUARE,
        "regular 12-gon (ties)": np.column_stack([np.cos(turns), np.sin(turns)]),
        "each point twice": np.repeat(cloud, 2, axis=0),
        "flat": flat,
        "on a line": np.outer(normal_cloud(15, 1, seed)[:, 0], [1.0, 2.0, 2.0]),
    }


def simplex_weights(m, count, seed):
    """Random points of the simplex: inside, near the vertices and on small faces.

    Parameters
    ----------
    m, count : int
        Length and number.
    seed : int

    Returns
    -------
    ndarray, shape (count, m)
    """
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(m, 0.2), size=count)
    for row in weights[1::2]:
        row[rng.permutation(m)[: m // 2]] = 0.0
    weights[weights.sum(axis=1) == 0.0] = 1.0
    return weights / weights.sum(axis=1, keepdims=True)


def shortfall_terms(points, weights, ball):
    """The three terms of the identity for gamma* - gamma(u).

    Parameters
    ----------
    points : ndarray, shape (m, n)
    weights : ndarray, shape (m,)
        u, on the simplex.
    ball : Solution
        The smallest ball.

    Returns
    -------
    shortfall : float
        gamma* - gamma(u).
    depth : float
        sum_i u_i (gamma* - |a_i - c*|^2).
    shift : float
        |c(u) - c*|^2.
    """
    best = ball.lower_bound**2
    depth = weights @ (best - squared_distances(points, ball.center))
    shift = float(np.sum((weights @ points - ball.center) ** 2))
    return best - dual_value(points, weights), float(depth), shift


def consequences(clouds, seed, count=200):
    """The identity and its consequences on random weights and random centers.

    Parameters
    ----------
    clouds : dict of str -> ndarray, shape (m, n)
    seed : int
    count : int
        Weights, and centers, tried on each cloud.

    Returns
    -------
    pandas.DataFrame
        One row a cloud. `identity`: largest error over gamma*. `center`: least
        excess of the squared enclosing radius about a center over gamma*, divided by
        the squared shift of the center, at least 1 in theory. `dual`: largest squared
        shift over gamma* - gamma(u), at most 1. `gap`: largest squared shift over the
        gap, at most 1/2; `bracket`: largest (gamma* - gamma(u)) over the gap, at most 1.
    """
    rows = {}
    for label, points in clouds.items():
        ball = minimum_enclosing_ball(points, rtol=1e-12)
        best = ball.lower_bound**2
        errors, dual, gaps, bracket = [], [], [], []
        for u in simplex_weights(len(points), count, seed):
            shortfall, depth, shift = shortfall_terms(points, u, ball)
            if shortfall < 1e-9 * best:  # optimal weights: quotients of rounding
                continue
            gap = frank_wolfe_gap(points, u)
            errors.append(abs(shortfall - depth - shift) / best)
            dual.append(shift / shortfall)
            gaps.append(shift / gap)
            bracket.append(shortfall / gap)
        rows[label] = {
            "identity": max(errors),
            "center": min(_excess_over_shift(points, ball, seed, count)),
            "dual": max(dual),
            "gap": max(gaps),
            "bracket": max(bracket),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("cloud")


def _excess_over_shift(points, ball, seed, count):
    """(max_i |a_i - c|^2 - r*^2) / |c - c*|^2 at random centers, near ones and far."""
    rng = np.random.default_rng(seed)
    sizes = ball.radius * np.geomspace(1e-3, 10.0, count)
    for size, way in zip(sizes, rng.standard_normal((count, points.shape[1]))):
        center = ball.center + size * way / np.linalg.norm(way)
        excess = squared_distances(points, center).max() - ball.radius**2
        yield float(excess) / size**2


# --- Caratheodory -------------------------------------------------------------------
def reduce_support(points, weights):
    """Take points out of a support until it is affinely independent, the center kept.

    While the points with weight are affinely dependent there are numbers l with
    sum l_i = 0 and sum l_i a_i = 0. Weights move along l until the first one is 0.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    weights : ndarray, shape (m,)
        On the simplex.

    Returns
    -------
    list of ndarray, shape (m,)
        The weights given and those after each point that left: at most n + 1 of the
        last are positive.
    """
    found = [np.array(weights, dtype=float)]
    while True:
        u = found[-1].copy()
        active = np.flatnonzero(u)
        relation = _affine_relation(points[active])
        if relation is None:
            return found
        ratios = np.full(len(active), np.inf)
        falling = relation > 0.0
        ratios[falling] = u[active][falling] / relation[falling]
        u[active] -= ratios.min() * relation
        u[active[ratios.argmin()]] = 0.0
        u[u < ZERO * u.max()] = 0.0
        found.append(u / u.sum())


def _affine_relation(points):
    """Numbers l, not all 0, with sum l_i = 0 and sum l_i a_i = 0; None if only 0 does.

    Of the first point that depends on those before it: the numbers are then unique.
    """
    apart = points - points[0]
    lifted = np.column_stack(
        [apart / (np.abs(apart).max() or 1.0), np.ones(len(points))]
    )
    for k in range(1, len(points)):
        if np.linalg.matrix_rank(lifted[: k + 1], tol=1e-9) <= k:
            relation = np.zeros(len(points))
            before = np.linalg.lstsq(lifted[:k].T, lifted[k], rcond=None)[0]
            relation[:k], relation[k] = -before, 1.0
            return relation
    return None


def reduction_table(clouds):
    """Optimal weights on all points of the sphere, reduced to a small support.

    Parameters
    ----------
    clouds : dict of str -> ndarray, shape (m, n)
        All points on their smallest sphere, equal weights optimal.

    Returns
    -------
    pandas.DataFrame
        One row a cloud: points and dimension, support before and after, and by how
        much center and dual value moved at most, over the radius and its square.
    """
    rows = {}
    for label, points in clouds.items():
        m, n = points.shape
        steps = reduce_support(points, np.full(m, 1.0 / m))
        first, gamma = steps[0] @ points, dual_value(points, steps[0])
        moved = max(np.linalg.norm(u @ points - first) for u in steps)
        lost = max(abs(dual_value(points, u) - gamma) for u in steps)
        rows[label] = {
            "n + 1": n + 1,
            "support before": m,
            "support after": np.count_nonzero(steps[-1]),
            "center moved": moved / gamma**0.5,
            "dual value changed": lost / gamma,
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("cloud")
