"""The documents' experiments, run as they were run, one row of their tables at a time.

What a table of the report or the slides calls an algorithm, a radius or an iteration
is said here once: the report counts gap evaluations (steps + 1) and prints sqrt(gamma)
as the radius of ASFW and BPFW; the slides count steps and start at the uniform point.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from mebnb.balls import squared_distances
from mebnb.core_sets import core_set
from mebnb.frank_wolfe import away_step, blended_pairwise, pairwise
from mebnb.steps import STEP_RULES, ShortStep

__all__ = [
    "REPORT_ALGORITHMS",
    "SLIDES_ALGORITHMS",
    "check_choice",
    "check_parameters",
    "outside",
    "report_row",
    "report_solution",
    "report_table",
    "report_threshold",
    "rounding_ranges",
    "slides_recall",
    "slides_solution",
]

# Names in the tables -> keys of the figures' styles.
REPORT_ALGORITHMS = {
    "ASFW": "away_step",
    "BPFW": "blended_pairwise",
    "APPFW": "core_set",
}
SLIDES_ALGORITHMS = {
    "PFW": "pairwise",
    "BPCG": "blended_pairwise",
    "MEB_A": "core_set_away",
}
# The slides' code asked for this much more before it preferred a pairwise step.
SLIDES_BLENDING_MARGIN = 1e-5
# The slides called a point an anomaly when it lay farther out than this.
SLIDES_SLACK = 1e-6


def check_parameters(*, known=tuple(REPORT_ALGORITHMS), **values):
    """Refuse senseless notebook parameters, in one sentence each.

    Parameters
    ----------
    known : sequence of str
        The names that `algorithms` may hold.
    **values
        Any of seed, points, m, n, eps, epsilons, algorithms, step, max_iter,
        repeats, nominal_fraction, extra_splits.

    Raises
    ------
    ValueError
        Naming the parameter, what was found and what is expected.
    """
    accepted = _ACCEPTED | {"algorithms": _names_from(known)}
    for name, value in values.items():
        expected, accepts = accepted[name]
        if not accepts(value):
            raise ValueError(f"{name} must be {expected}, found {value!r}")


def check_choice(name, value, known):
    """Refuse a notebook parameter that is not one of the known words.

    Raises
    ------
    ValueError
        Naming the parameter, what was found and the known words.
    """
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, found {value!r}")


def _whole(value, lowest):
    return isinstance(value, int) and not isinstance(value, bool) and value >= lowest


def _number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _filled_list(value, accepts):
    if not isinstance(value, (list, tuple)) or not value:
        return False
    return all(accepts(item) for item in value) and len(set(value)) == len(value)


def _names_from(known):
    return (
        f"a list of different names from {', '.join(known)}",
        lambda v: _filled_list(v, lambda name: name in known),
    )


_ACCEPTED = {
    "seed": (
        "a whole number from 0 to 2**32 - 1",
        lambda v: _whole(v, 0) and v < 2**32,
    ),
    "points": ("a whole number from 1 to 100000", lambda v: _whole(v, 1) and v <= 100_000),
    "nominal_fraction": (
        "a number strictly between 0 and 1",
        lambda v: _number(v) and 0 < v < 1,
    ),
    "epsilons": (
        "a list of different numbers > 0 and <= 10",
        lambda v: _filled_list(v, lambda e: _number(e) and 0 < e <= 10),
    ),
    "m": ("a whole number from 2 to 100000", lambda v: _whole(v, 2) and v <= 100_000),
    "n": ("a whole number from 1 to 1000", lambda v: _whole(v, 1) and v <= 1000),
    "eps": (
        "a number from 1e-13 to 0.1",
        lambda v: _number(v) and 1e-13 <= v <= 0.1,
    ),
    "step": (
        f"one of {', '.join(STEP_RULES)}",
        lambda v: isinstance(v, str) and v in STEP_RULES,
    ),
    "max_iter": (
        "a whole number from 10 to 100000",
        lambda v: _whole(v, 10) and v <= 100_000,
    ),
    "repeats": ("a whole number from 1 to 1000", lambda v: _whole(v, 1) and v <= 1000),
    "extra_splits": ("a whole number from 0 to 1000", lambda v: _whole(v, 0) and v <= 1000),
}


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
    rng = np.random.default_rng(seed)
    columns = ("iterations", "radius", "active_set_size")
    seen = {(name, epsilon, column): [] for epsilon in epsilons for column in columns}
    for repeat in range(repeats + 1):
        noise = size * rng.standard_normal(split.train.shape) if repeat else 0.0
        points = split.train * (1.0 + noise)
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


# --- the slides --------------------------------------------------------------------


def slides_solution(
    name, points, step="short", *, tol=1e-4, max_iter=100_000, trace=True
):
    """Train one of the slides' algorithms as the slides did.

    Parameters
    ----------
    name : str
        "PFW", "BPCG" (uniform start kept as an atom, absolute gap <= tol) or "MEB_A"
        (farthest pair, max(delta+, delta-) < (1 + tol)^2 - 1; takes no step rule).
    points : ndarray, shape (m, n)
    step : str
        "short" (L from the data where they are, not centred) or "diminishing".
    tol : float
    max_iter : int
    trace : bool
        MEB(A) always keeps its trace, from which the slides' radius follows.

    Returns
    -------
    Solution

    Raises
    ------
    ValueError
        For an unknown name.
    """
    if name == "MEB_A":
        return core_set(points, eps=tol, away=True, max_iter=max_iter)
    options = {
        "step": ShortStep(centered=False) if step == "short" else step,
        "start": "uniform",
        "tol": tol,
        "max_iter": max_iter,
        "trace": trace,
    }
    if name == "PFW":
        return pairwise(points, **options)
    if name == "BPCG":
        return blended_pairwise(points, margin=SLIDES_BLENDING_MARGIN, **options)
    raise ValueError(
        f"algorithm must be one of {', '.join(SLIDES_ALGORITHMS)}, found {name!r}"
    )


def slides_threshold(name, ball):
    """The radius that the slides used.

    sqrt(gamma) for PFW and BPCG; sqrt((1 + max(delta+, delta-)) gamma) for MEB(A).
    """
    if name != "MEB_A":
        return ball.lower_bound
    last = ball.trace.to_frame().iloc[-1]
    return float(np.sqrt(last["gamma"] + max(last["fw_gap"], last["away_gap"])))


def slides_recall(name, split, ball):
    """Recall on the training and on the test side, as the slides' Tables 4 and 5.

    Parameters
    ----------
    name : str
    split : Split
        From `slides_split`: the training side holds anomalies too, the ball does not
        see them.
    ball : Solution

    Returns
    -------
    dict
        recall_train and recall_test, fractions.
    """
    radius = slides_threshold(name, ball)
    sides = {
        "recall_train": split.whole_train[split.whole_train_is_anomaly],
        "recall_test": split.test[split.test_is_anomaly],
    }
    return {
        side: float(outside(anomalies, ball.center, radius, SLIDES_SLACK).mean())
        for side, anomalies in sides.items()
    }
