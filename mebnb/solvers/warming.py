"""Compile the solvers before somebody waits for them: `python -m mebnb.solvers.warming`.

Compiled code is kept beside the package, or in the folder of NUMBA_CACHE_DIR, so this
is paid once for an installation.
"""

from __future__ import annotations

import numpy as np

from mebnb.solvers.core_sets import core_set
from mebnb.solvers.exact import minimum_enclosing_ball
from mebnb.solvers.frank_wolfe import (
    away_step,
    blended_pairwise,
    frank_wolfe,
    pairwise,
)
from mebnb.solvers.soft import soft_ball

__all__ = ["warm_up"]


def warm_up(tell=print):
    """Run each solver once on a small cloud, which compiles what it calls.

    Parameters
    ----------
    tell : callable
        Takes a line of text; called before each solver.
    """
    points = np.random.default_rng(0).normal(size=(60, 3))
    large = np.resize(points, (340_000, 3))  # read in few passes, by other functions
    wide = np.random.default_rng(0).normal(size=(60, 1_000))  # left to matrix products
    work = {
        "the exact ball": [
            lambda: minimum_enclosing_ball(points),
            lambda: minimum_enclosing_ball(wide),
        ],
        "its passes over large data": [
            lambda: minimum_enclosing_ball(large),
            lambda: minimum_enclosing_ball(large.astype(np.float32)),
        ],
        "Frank-Wolfe and its kin": [
            lambda solver=solver: solver(points)
            for solver in (frank_wolfe, away_step, pairwise, blended_pairwise)
        ],
        "core sets": [lambda: core_set(points), lambda: core_set(points, away=True)],
        "the soft ball": [
            lambda: soft_ball(points, nu=0.2),
            lambda: soft_ball(points, nu=0.2, kernel="rbf", gamma=1.0),
        ],
    }
    for name, calls in work.items():
        tell(f"Compiling {name}")
        for call in calls:
            call()


if __name__ == "__main__":
    warm_up()
