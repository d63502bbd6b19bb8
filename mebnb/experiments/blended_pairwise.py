"""What notebook 05 measures: the blending test, rounding, sparsity."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mebnb.experiments.convergence import SOLVERS, active_distances, kind_counts
from mebnb.experiments.rounding import shaken

__all__ = [
    "blending_gaps",
    "counts_under_rounding",
    "sparsity_table",
]


def blending_gaps(points, states):
    """Both sides of the blending test at each iterate, and the step that follows."""
    spreads = [np.ptp(active_distances(points, state)) for state in states]
    return pd.DataFrame(
        {
            "local": spreads,
            "fw_gap": [state.fw_gap for state in states],
            "next": [state.kind for state in states[1:]] + ["stop"],
        },
        index=pd.RangeIndex(len(states), name="iteration"),
    )


def counts_under_rounding(points, algorithm, *, step, tol, repeats, max_iter=3000):
    """Iterations on the points, then on copies whose last bits are shaken."""
    options = {"step": step, "tol": tol, "max_iter": max_iter, "trace": False}
    copies = shaken(points, repeats)
    return np.array([SOLVERS[algorithm](copy, **options).iterations for copy in copies])


def sparsity_table(runs, labels, level=1e-3):
    """How many points the runs take in, hold at a relative gap, and keep."""
    rows = []
    for label, solutions in runs.items():
        for name, ball in solutions.items():
            active = np.array(ball.trace.active)
            reached = ball.trace.iterations_to(level)
            at_level = "-" if reached is None else active[reached]
            entered = np.maximum(np.diff(active), 0).sum() + kind_counts(ball)["swap"]
            rows.append(
                {
                    "set": label,
                    "algorithm": labels(name),
                    "points taken in": int(active[0] + entered),
                    "largest active set": int(active.max()),
                    f"active at {level:.0e}": at_level,
                    "active at the end": int(active[-1]),
                }
            )
    return pd.DataFrame(rows).astype(str).set_index(["set", "algorithm"])
