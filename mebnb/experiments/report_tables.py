"""The documents' experiments, run as they were run, one row of their tables at a time.

What a table of the report or the slides calls an algorithm, a radius or an iteration
is said here once: the report counts gap evaluations (steps + 1) and prints sqrt(gamma)
as the radius of ASFW and BPFW; the slides count steps and start at the uniform point.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from mebnb.experiments.published_splits import (
    report_split,
)
from mebnb.experiments.rounding import shaken
from mebnb.learning.splits import SCALERS
from mebnb.published.compare import compare
from mebnb.solvers.balls import squared_distances
from mebnb.solvers.core_sets import core_set
from mebnb.solvers.frank_wolfe import away_step, blended_pairwise

__all__ = [
    "REPORT_ALGORITHMS",
    "SCALINGS",
    "outside",
    "report_comparison",
    "report_ends",
    "report_row",
    "report_solution",
    "report_spread",
    "report_table",
    "report_threshold",
    "rounding_ranges",
    "run_times",
]


# Names in the tables -> keys of the figures' styles.
REPORT_ALGORITHMS = {
    "ASFW": "away_step",
    "BPFW": "blended_pairwise",
    "APPFW": "core_set",
}

SCALINGS = tuple(SCALERS)


def outside(points, center, radius, slack=0.0):
    """Which points lie outside of a ball.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    center : ndarray, shape (n,)
    radius, slack : float
        A point is outside when its distance exceeds radius + slack.

    Returns
    -------
    ndarray of bool, shape (m,)
    """
    return np.sqrt(squared_distances(points, center)) > radius + slack


# --- the report --------------------------------------------------------------------
def report_solution(name, points, epsilon, *, max_iter=1000, trace=True):
    """Train one of the report's algorithms as the report did.

    Parameters
    ----------
    name : str
        "ASFW", "BPFW" (first vertex, absolute FW gap <= epsilon) or "APPFW"
        (farthest pair, delta+ <= (1 + epsilon)^2 - 1).
    points : ndarray, shape (m, n)
    epsilon : float
    max_iter : int
    trace : bool

    Returns
    -------
    Solution

    Raises
    ------
    ValueError
        For an unknown name.
    """
    if name == "APPFW":
        return core_set(points, eps=epsilon, max_iter=max_iter, trace=trace)
    solvers = {"ASFW": away_step, "BPFW": blended_pairwise}
    if name not in solvers:
        raise ValueError(
            f"algorithm must be one of {', '.join(REPORT_ALGORITHMS)}, found {name!r}"
        )
    return solvers[name](points, tol=epsilon, max_iter=max_iter, trace=trace)


def report_threshold(name, ball):
    """The radius that the report printed and used as the threshold.

    sqrt(gamma), a lower bound that leaves training points outside, for ASFW and
    BPFW; the enclosing radius for APPFW.
    """
    return ball.radius if name == "APPFW" else ball.lower_bound


def report_row(name, split, epsilon, ball):
    """One row of the report's tables, columns named as in the published CSV files.

    Parameters
    ----------
    name : str
    split : Split
    epsilon : float
    ball : Solution

    Returns
    -------
    dict
    """
    threshold = report_threshold(name, ball)
    flagged = outside(split.test, ball.center, threshold)
    anomaly = split.test_is_anomaly
    tp = int(np.sum(flagged & anomaly))
    fn = int(np.sum(~flagged & anomaly))
    fp = int(np.sum(flagged & ~anomaly))
    return {
        "algorithm": name,
        "epsilon": epsilon,
        "iterations": ball.iterations + 1,
        "radius": threshold,
        "active_set_size": ball.support.size,
        "fn": fn,
        "fp": fp,
        "recall_pct": 100.0 * tp / (tp + fn),
        "f1_pct": 100.0 * 2 * tp / (2 * tp + fp + fn),
    }


def report_table(split, algorithms, epsilons, *, max_iter=1000):
    """Run the report's algorithms on a split for each epsilon.

    Parameters
    ----------
    split : Split
    algorithms : sequence of str
        From "ASFW", "BPFW", "APPFW".
    epsilons : sequence of float
    max_iter : int

    Returns
    -------
    table : pandas.DataFrame
        One row for each pair, as `report_row`.
    balls : dict of (str, float) -> Solution
    """
    balls = {
        (name, epsilon): report_solution(name, split.train, epsilon, max_iter=max_iter)
        for name in algorithms
        for epsilon in epsilons
    }
    rows = [report_row(name, split, eps, ball) for (name, eps), ball in balls.items()]
    return pd.DataFrame(rows), balls


def rounding_ranges(split, name, epsilons, *, repeats=30, size=1e-15, seed=0):
    """What tiny perturbations of the training points do to a row of the report.

    Parameters
    ----------
    split : Split
    name : str
    epsilons : sequence of float
    repeats : int
        Perturbed runs; the unperturbed one counts too.
    size : float
        Each coordinate is multiplied by 1 + size * a standard normal number.
    seed : int

    Returns
    -------
    dict of (name, epsilon, column) -> (lowest, highest)
        For iterations, radius and active_set_size, as `compare` takes them.
    """
    columns = ("iterations", "radius", "active_set_size")
    seen = {(name, epsilon, column): [] for epsilon in epsilons for column in columns}
    for points in shaken(split.train, repeats, size=size, seed=seed):
        for epsilon in epsilons:
            ball = report_solution(name, points, epsilon, trace=False)
            values = (
                ball.iterations + 1,
                report_threshold(name, ball),
                ball.support.size,
            )
            for column, value in zip(columns, values, strict=True):
                seen[name, epsilon, column].append(value)
    return {cell: (min(values), max(values)) for cell, values in seen.items()}


def report_ends(split, table, balls):
    """How the report's runs ended: what its tables leave out.

    Parameters
    ----------
    split : Split
    table : pandas.DataFrame
    balls : dict of (str, float) -> Solution
        Both from `report_table`.

    Returns
    -------
    pandas.DataFrame
        Formatted; indexed by algorithm and epsilon.
    """
    rows = []
    for row in table.itertuples():
        ball = balls[row.algorithm, row.epsilon]
        # The point that sets the radius is not outside by its last bit.
        beyond = outside(split.train, ball.center, row.radius * (1 + 1e-12))
        rows.append(
            {
                "algorithm": row.algorithm,
                "epsilon": row.epsilon,
                "converged": ball.converged,
                "lower bound": f"{ball.lower_bound:.6f}",
                "enclosing radius": f"{ball.radius:.6f}",
                "relative gap": f"{(ball.radius / ball.lower_bound) ** 2 - 1:.0e}",
                "training points outside of the printed radius": int(beyond.sum()),
            }
        )
    return pd.DataFrame(rows).set_index(["algorithm", "epsilon"])


def report_comparison(published, split, table, *, repeats=30, reason=None):
    """One of the report's tables with epsilons, published beside reproduced.

    Parameters
    ----------
    published : str
        Name of the published table.
    split : Split
    table : pandas.DataFrame
        From `report_table`.
    repeats : int
        Perturbed runs of BPFW, see `rounding_ranges`.
    reason : str, optional
        Why cells differ, where the run is not the published experiment.

    Returns
    -------
    Comparison
    """
    keys = ["algorithm", "epsilon"]
    epsilons = table.loc[table["algorithm"] == "BPFW", "epsilon"]
    return compare(
        published,
        table,
        keys=keys,
        times="cpu_ms",
        rounding=rounding_ranges(split, "BPFW", list(epsilons), repeats=repeats),
        reasons=everywhere(table.columns.drop(keys), reason),
    )


def report_spread(dataset, name, epsilon, seeds, **options):
    """One algorithm of the report on further splits.

    Parameters
    ----------
    dataset : Dataset
    name : str
    epsilon : float
    seeds : iterable of int
    **options
        nominal_fraction and scaling, as `report_split` takes them.

    Returns
    -------
    pandas.DataFrame
        One row a seed, as `report_row`, with a column seed.
    """
    rows = []
    for seed in seeds:
        split = report_split(dataset, seed, **options)
        ball = report_solution(name, split.train, epsilon, trace=False)
        rows.append(report_row(name, split, epsilon, ball) | {"seed": seed})
    return pd.DataFrame(rows)


def run_times(balls, names):
    """What runs cost on this machine.

    Parameters
    ----------
    balls : dict of tuple -> Solution
        With traces.
    names : sequence of str
        What the parts of a key are.

    Returns
    -------
    pandas.DataFrame
        Indexed by the key: milliseconds, passes over the data, and microseconds a step.
    """
    rows = {
        key: {
            "milliseconds": round(1e3 * ball.trace.seconds[-1], 2),
            "passes over the data": int(ball.passes),
            "microseconds a step": round(
                1e6 * ball.trace.seconds[-1] / max(ball.iterations, 1), 1
            ),
        }
        for key, ball in balls.items()
    }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index = pd.MultiIndex.from_tuples(rows, names=names)
    return table


def everywhere(columns, reason):
    return None if reason is None else dict.fromkeys(columns, reason)
