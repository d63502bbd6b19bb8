"""What the methods cost: iterations, passes over the data and support to an accuracy."""

from __future__ import annotations

import contextlib
import math

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

from mebnb.experiments.convergence import SOLVERS
from mebnb.solvers import soft
from mebnb.solvers.core_sets import core_set
from mebnb.solvers.exact import minimum_enclosing_ball

__all__ = ["CountingKernel", "cost_grid", "cost_table", "gap_told", "rows_read"]


class CountingKernel:
    """exp(-gamma |x - y|^2), which counts the entries that were asked for.

    Parameters
    ----------
    gamma : float
    """

    def __init__(self, gamma):
        self.gamma, self.entries = gamma, 0

    def __call__(self, x, y):
        self.entries += len(x) * len(y)
        return np.exp(-self.gamma * cdist(x, y, "sqeuclidean"))


@contextlib.contextmanager
def rows_read():
    """Count the rows of which `soft_ball` takes distances meanwhile.

    Yields
    ------
    list of int
        One number a call.
    """
    original, seen = soft.squared_distances, []

    def counted(points, *where):
        seen.append(len(points))
        return original(points, *where)

    soft.squared_distances = counted
    try:
        yield seen
    finally:
        soft.squared_distances = original


def _frank_wolfe_kind(name):
    def solve(points, level, max_iter):
        ball = SOLVERS[name](
            points, gap="relative", tol=level, max_iter=max_iter, trace=False
        )
        return _of_solution(ball)

    return solve


def _core_set_kind(away):
    def solve(points, level, max_iter):
        eps = math.sqrt(1.0 + level) - 1.0
        return _of_solution(
            core_set(points, eps, away, max_iter, two_sided=False, trace=False)
        )

    return solve


def _exact(points, level, max_iter):
    return _of_solution(minimum_enclosing_ball(points))


def _of_solution(ball):
    reached = (ball.radius / ball.lower_bound) ** 2 - 1.0
    return ball.converged, ball.iterations, ball.passes, ball.support.size, reached


def _soft(points, level, max_iter):
    with rows_read() as seen:
        ball = soft.soft_ball(points, tol=level, max_iter=max_iter)
    return _of_soft(ball, sum(seen) / len(points))


def _kernel(points, level, max_iter):
    kernel = CountingKernel(1.0 / (points.shape[1] * points.var()))
    ball = soft.soft_ball(points, kernel=kernel, tol=level, max_iter=max_iter)
    return _of_soft(ball, kernel.entries / len(points))


def _of_soft(ball, passes):
    return ball.converged, ball.iterations, passes, ball.support.size, ball.relative_gap


METHODS = {
    "frank_wolfe": _frank_wolfe_kind("frank_wolfe"),
    "away_step": _frank_wolfe_kind("away_step"),
    "pairwise": _frank_wolfe_kind("pairwise"),
    "blended_pairwise": _frank_wolfe_kind("blended_pairwise"),
    "core_set": _core_set_kind(False),
    "core_set_away": _core_set_kind(True),
    "exact": _exact,
    "soft": _soft,
    "kernel": _kernel,
}


def cost_grid(sets, levels, *, max_iter):
    """Run every method on every set to relative gaps, and count.

    The gap is that of each problem: FW gap over dual value for the ball, primal less
    dual over dual value for the soft balls (nu = 0.05; in the space of an RBF kernel
    for `kernel`). The core sets get the eps that belongs to the level. The exact ball
    has no level.

    Parameters
    ----------
    sets : dict of str -> ndarray, shape (m, n)
    levels : sequence of float
    max_iter : int

    Returns
    -------
    pandas.DataFrame
        One row a set, method and level: `iterations`, `passes` (of a soft ball the rows
        of which it takes distances, over m, its Gram matrices apart; of a kernel the
        columns, that is entries over m), `operations` = passes m n, `support`,
        `certified` (the gap at the end). A run that did not arrive has NaN iterations.
    """
    rows = []
    for label, points in sets.items():
        m, n = points.shape
        for method, solve in METHODS.items():
            for level in levels:
                arrived, iterations, passes, support, reached = solve(
                    points, level, max_iter
                )
                rows.append(
                    {
                        "set": label,
                        "method": method,
                        "level": level,
                        "iterations": iterations if arrived else math.nan,
                        "passes": passes,
                        "operations": passes * m * n,
                        "support": support,
                        "certified": reached,
                    }
                )
    return pd.DataFrame(rows)


def cost_table(grid, names):
    """Iterations and passes of a `cost_grid`, a column a set; "-" where a run fell short.

    Passes have two digits.

    Parameters
    ----------
    grid : pandas.DataFrame
    names : mapping of str -> str
        What the methods are called.

    Returns
    -------
    pandas.DataFrame
        Indexed by (method, gap).
    """
    told = grid.assign(
        cell=[
            "-"
            if math.isnan(row.iterations)
            else f"{row.iterations:.0f} / {float(f'{row.passes:.2g}'):.0f}"
            for row in grid.itertuples()
        ],
        method=grid["method"].map(names),
        gap=grid["level"].map("{:g}".format),
    )
    return told.set_index(["method", "gap", "set"])["cell"].unstack(sort=False)


def gap_told(gap, level):
    """A gap in one digit; what lies below the level, or below rounding, in words."""
    reached = next((f"below {k:g}" for k in (1e-12, level) if gap <= k), None)
    return reached or f"{gap:.0e}"
