"""What notebooks 04 and 05 measure beside their proofs: swaps, rates, what a step gains.

A step is good if it is no drop and no swap: then it has the length that its step rule
asked for. With d_i the squared distances from the center, w the width and D the diameter
of the simplex that the active points span, all statements hang on one inequality: the
error is at most (max d - min d)^2 / (4 w^2), see `error_over_bound`.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd

from mebnb.experiments.convergence import (
    SOLVERS,
    errors_on_the_last_support,
    simplex_width,
)
from mebnb.solvers.balls import squared_diameter, squared_distances
from mebnb.solvers.exact import minimum_enclosing_ball

__all__ = [
    "error_over_bound",
    "rate_row",
    "set_changes",
    "sublinear_row",
    "swap_bound_digits",
    "swap_row",
    "tied_cloud",
    "walk_of",
]


# --- the inequality ----------------------------------------------------------------
def error_over_bound(corners, weights):
    """Error of weights on a simplex, over the bound on it by the pairwise gap.

    Parameters
    ----------
    corners : ndarray, shape (k, n)
        Affinely independent.
    weights : ndarray, shape (k,)
        On the simplex, not optimal; some may be 0.

    Returns
    -------
    float
        4 w^2 (gamma* - gamma) / (max d - min d)^2 with the largest d over all corners and
        the smallest over those with weight; at most 1.
    """
    best = minimum_enclosing_ball(corners, rtol=1e-13).lower_bound ** 2
    distances = squared_distances(corners, weights @ corners)
    gap = distances.max() - distances[weights > 0.0].min()
    width, _ = simplex_width(corners)
    return 4.0 * width**2 * (best - weights @ distances) / gap**2


# --- swap steps --------------------------------------------------------------------
def walk_of(name, points, **options):
    """The states of one run, the start first.

    Parameters
    ----------
    name : str
        Key of `SOLVERS`.
    points : ndarray, shape (m, n)
    **options
        Of the solver.

    Returns
    -------
    list of State
    """
    states = []
    SOLVERS[name](points, gap="relative", callback=states.append, **options)
    return states


def swap_bound_digits(m):
    """Number of decimal digits of 3 m! + 1.

    Parameters
    ----------
    m : int

    Returns
    -------
    int

    Examples
    --------
    >>> swap_bound_digits(10), len(str(3 * math.factorial(10) + 1))
    (8, 8)
    """
    return math.floor((math.log(3.0) + math.lgamma(m + 1.0)) / math.log(10.0)) + 1


def swap_row(m, n, repeats, seed):
    """Swap steps of pairwise runs from random weights on random clouds.

    Half of the clouds are normal, half lie on a sphere.

    Parameters
    ----------
    m, n : int
        Points and features.
    repeats : int
    seed : int

    Returns
    -------
    dict
        Counts over all runs; whether each swap left the sorted weights as they were, and
        whether each step raised the dual value.
    """
    rng = np.random.default_rng(seed)
    total, bad = dict.fromkeys(("steps", "swap steps"), 0), [0]
    permuted = rising = True
    for repeat in range(repeats):
        points = rng.normal(size=(m, n))
        if repeat % 2:
            points /= np.linalg.norm(points, axis=1, keepdims=True)
        rows = np.sort(rng.choice(m, int(rng.integers(1, m + 1)), replace=False))
        start = rows, rng.dirichlet(np.ones(rows.size))
        states = walk_of("pairwise", points, start=start, tol=1e-6, max_iter=500)
        bad.append(0)
        for before, after in itertools.pairwise(states):
            swap = after.kind == "drop" and after.support.size == before.support.size
            total["steps"] += 1
            total["swap steps"] += swap
            bad.append(bad[-1] + 1 if after.kind == "drop" else 0)
            rising &= after.gamma > before.gamma
            if swap:
                held = np.sort(after.weights), np.sort(before.weights)
                permuted &= bool(np.allclose(*held, rtol=0.0, atol=1e-12))
    return (
        {"points": m, "features": n, "runs": repeats}
        | total
        | {
            "most swaps and drops in a row": max(bad),
            "3 m! + 1": f"{3 * math.factorial(m) + 1:.2g}",
            "swaps only move weights": permuted,
            "dual value rose": bool(rising),
        }
    )


# --- rates -------------------------------------------------------------------------
def rate_row(points, ball, constant=None):
    """The factor of the primal error on the last support, and what is promised.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    ball : Solution
        Of pairwise or blended pairwise steps, with its trace.
    constant : float, optional
        What stands for the squared distance of the two points in the step length: L of
        the short step. None stands for the exact step, with D^2 of the support.

    Returns
    -------
    dict of str -> text
        The largest and the mean factor measured, beside the promised 1 - w^2 / constant;
        "-" where the run ended before it had the support of the smallest ball.
    """
    best = minimum_enclosing_ball(points).support.size
    names = "steps", "mean factor", "largest factor", "promised"
    if ball.support.size != best or not 2 <= best <= 16:
        return dict.fromkeys(names, "-")
    corners = points[ball.support]
    width, _ = simplex_width(corners)
    error = errors_on_the_last_support(points, ball)["error"].to_numpy()
    steps = error.size - 1
    if steps < 1:
        return dict.fromkeys(names, "-")
    values = (
        (error[-1] / error[0]) ** (1.0 / steps),
        (error[1:] / error[:-1]).max(),
        1.0 - width**2 / (squared_diameter(corners) if constant is None else constant),
    )
    told = [f"{steps}", *(f"{value:.4f}" for value in values)]
    return dict(zip(names, told, strict=True))


def sublinear_row(points, ball):
    """The primal error of a whole run beside the bound that knows no dimension.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    ball : Solution
        Of blended pairwise steps from one point, with its trace.

    Returns
    -------
    dict
        Largest t * error and largest error * (t + 32) / 32, over the steps t >= 1, with
        the error relative to gamma*. The bound says that the second is at most 1.
    """
    # At least gamma*, so that the error is not told too small.
    best = ball.trace.gamma[-1] + ball.trace.fw_gap[-1]
    error = 1.0 - np.asarray(ball.trace.gamma)[1:] / best
    t = np.arange(1, error.size + 1)
    return {
        "points": len(points),
        "features": points.shape[1],
        "steps": ball.iterations,
        "largest t * error": float((t * error).max()),
        "largest error / bound": float((error * (t + 32) / 32).max()),
    }


# --- what a step does to the active set --------------------------------------------
def tied_cloud(seed):
    """Points on a grid, many of them twice: full of ties.

    Parameters
    ----------
    seed : int

    Returns
    -------
    ndarray, shape (40, 3)
    """
    return np.random.default_rng(seed).integers(0, 4, size=(40, 3)).astype(float)


def set_changes(states):
    """How many points each step let in and let go.

    Parameters
    ----------
    states : sequence of State

    Returns
    -------
    pandas.DataFrame
        One row a step: `kind`, `came`, `left`.
    """
    rows = []
    for before, after in itertools.pairwise(states):
        old, new = set(before.support.tolist()), set(after.support.tolist())
        rows.append(
            {"kind": after.kind, "came": len(new - old), "left": len(old - new)}
        )
    return pd.DataFrame(rows, columns=["kind", "came", "left"])
