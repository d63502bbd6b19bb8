"""The documents' experiments, run as they were run, one row of their tables at a time.

What a table of the report or the slides calls an algorithm, a radius or an iteration
is said here once: the report counts gap evaluations (steps + 1) and prints sqrt(gamma)
as the radius of ASFW and BPFW; the slides count steps and start at the uniform point.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.preprocessing import StandardScaler

from mebnb.balls import squared_distances
from mebnb.core_sets import core_set
from mebnb.detectors import BallDetector
from mebnb.evaluation import (
    SLIDES_PROTOCOL,
    SlidesProtocol,
    evaluate_splits,
    honest_split,
    report_split,
    slides_split,
)
from mebnb.evaluation.splits import SCALERS
from mebnb.frank_wolfe import away_step, blended_pairwise, pairwise
from mebnb.published import compare, published_table
from mebnb.steps import STEP_RULES, ShortStep, lipschitz_constant

__all__ = [
    "REPORT_ALGORITHMS",
    "SLIDES_ALGORITHMS",
    "SLIDES_STEPS",
    "check_choice",
    "check_parameters",
    "components_study",
    "last_best",
    "leakage_study",
    "outside",
    "repeated_points",
    "report_comparison",
    "report_ends",
    "report_row",
    "report_solution",
    "report_spread",
    "report_table",
    "report_threshold",
    "rounding_ranges",
    "run_times",
    "scaling_study",
    "slides_comparisons",
    "slides_feature_search",
    "slides_not_run",
    "slides_overview",
    "slides_recall",
    "slides_rounding_ranges",
    "slides_runs",
    "slides_solution",
    "slides_step_rules",
    "slides_table",
    "slides_threshold",
    "slides_told",
    "slides_variant",
    "threshold_scores",
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
SLIDES_STEPS = ("short", "diminishing")
SCALINGS = tuple(SCALERS)
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
        Any of seed, points, m, n, eps, epsilons, algorithms, step, steps, rules,
        max_iter, features, components, repeats, nominal_fraction, extra_splits,
        honest_splits, scaling, n_uniform, n_gaussian, dimensions, perturbations, nu,
        nus, counts, top, sample.

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
    "points": (
        "a whole number from 1 to 100000",
        lambda v: _whole(v, 1) and v <= 100_000,
    ),
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
    "n_uniform": (
        "a whole number from 1 to 1000",
        lambda v: _whole(v, 1) and v <= 1000,
    ),
    "n_gaussian": (
        "a whole number from 1 to 1000",
        lambda v: _whole(v, 1) and v <= 1000,
    ),
    "dimensions": (
        "a list of different whole numbers from 1 to 1000",
        lambda v: _filled_list(v, lambda n: _whole(n, 1) and n <= 1000),
    ),
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
    "rules": _names_from(STEP_RULES),
    "steps": (
        f"a list of different names from {', '.join(SLIDES_STEPS)}",
        lambda v: _filled_list(v, lambda step: step in SLIDES_STEPS),
    ),
    "scaling": (
        f"one of {', '.join(SCALINGS)}",
        lambda v: isinstance(v, str) and v in SCALINGS,
    ),
    "features": ("a whole number >= 1", lambda v: _whole(v, 1)),
    "components": ("a whole number >= 1", lambda v: _whole(v, 1)),
    "honest_splits": (
        "a whole number from 2 to 1000",
        lambda v: _whole(v, 2) and v <= 1000,
    ),
    "repeats": ("a whole number from 1 to 1000", lambda v: _whole(v, 1) and v <= 1000),
    "perturbations": (
        "a whole number from 1 to 1000",
        lambda v: _whole(v, 1) and v <= 1000,
    ),
    "nu": ("a number strictly between 0 and 1", lambda v: _number(v) and 0 < v < 1),
    "nus": (
        "a list of one to three different numbers strictly between 0 and 1",
        lambda v: (
            _filled_list(v, lambda nu: _number(nu) and 0 < nu < 1) and len(v) <= 3
        ),
    ),
    "counts": (
        "a list of different whole numbers from 0 to 100",
        lambda v: _filled_list(v, lambda k: _whole(k, 0) and k <= 100),
    ),
    "top": ("a whole number from 1 to 1000", lambda v: _whole(v, 1) and v <= 1000),
    "sample": (
        "a whole number from 10 to 20000",
        lambda v: _whole(v, 10) and v <= 20_000,
    ),
    "extra_splits": (
        "a whole number from 0 to 1000",
        lambda v: _whole(v, 0) and v <= 1000,
    ),
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
        reasons=_everywhere(table.columns.drop(keys), reason),
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


def slides_runs(split, algorithms, steps, *, tol=1e-4, max_iter=100_000):
    """Train the slides' algorithms with each of their step rules.

    Parameters
    ----------
    split : Split
        From `slides_split`.
    algorithms : sequence of str
        From "PFW", "BPCG", "MEB_A".
    steps : sequence of str
        From "short", "diminishing". MEB(A) takes no step rule: it runs once and
        stands under each.
    tol : float
    max_iter : int

    Returns
    -------
    dict of str -> dict of str -> Solution
        runs[step][algorithm], each with a trace.
    """
    fixed = {
        name: slides_solution(name, split.train, tol=tol, max_iter=max_iter)
        for name in algorithms
        if name == "MEB_A"
    }
    return {
        step: {
            name: fixed[name]
            if name in fixed
            else slides_solution(name, split.train, step, tol=tol, max_iter=max_iter)
            for name in algorithms
        }
        for step in steps
    }


def slides_table(split, runs):
    """What the slides' Tables 2 to 5 say of the runs, and what they leave out.

    Parameters
    ----------
    split : Split
    runs : dict of str -> dict of str -> Solution
        From `slides_runs`.

    Returns
    -------
    pandas.DataFrame
        One row for each run: step, algorithm, iterations, converged, gap (at the end,
        squared units), threshold, recall_train, recall_test.
    """
    return pd.DataFrame(
        [
            {
                "step": step,
                "algorithm": name,
                "iterations": ball.iterations,
                "converged": ball.converged,
                "gap": ball.radius**2 - ball.lower_bound**2,
                "threshold": slides_threshold(name, ball),
                **slides_recall(name, split, ball),
            }
            for step, balls in runs.items()
            for name, ball in balls.items()
        ]
    )


def slides_overview(table):
    """The table of the slides' runs as a notebook shows it.

    Parameters
    ----------
    table : pandas.DataFrame
        From `slides_table`.

    Returns
    -------
    pandas.DataFrame
        Formatted; indexed by step and algorithm. The last two columns are recalls.
    """
    shown = table.assign(
        gap=[f"{gap:.1e}" for gap in table["gap"]],
        threshold=[f"{threshold:.5f}" for threshold in table["threshold"]],
    )
    shown = shown.rename(columns={"recall_train": "training", "recall_test": "test"})
    return shown.round(4).set_index(["step", "algorithm"])


def slides_told(table):
    """How the slides' runs ended, in words for the text beside a figure.

    Parameters
    ----------
    table : pandas.DataFrame
        From `slides_table`.

    Returns
    -------
    str
    """
    return "; ".join(
        f"{row.step} step, {row.algorithm}: gap {row.gap:.0e} after {row.iterations} "
        f"steps{'' if row.converged else ', not converged'}"
        for row in table.itertuples()
    )


def slides_step_rules(split, runs, *, tol=1e-4, max_iter=100_000):
    """What the short step's constant L costs: steps of PFW and BPCG by step rule.

    L is the largest eigenvalue of 2 A'A. Every direction sums to zero, so that moving
    the origin changes neither the problem nor the steps that are safe, only L.

    Parameters
    ----------
    split : Split
    runs : dict of str -> dict of str -> Solution
        From `slides_runs`: its short-step runs are the first row.
    tol, max_iter
        As given to `slides_runs`.

    Returns
    -------
    pandas.DataFrame
        Index: the rule. Columns L (squared units of the data) and the algorithms'
        steps, all text; "not in 1000" where the run did not converge.
    """
    solvers = {"PFW": pairwise, "BPCG": blended_pairwise}
    solvers = {name: run for name, run in solvers.items() if name in runs["short"]}
    options = {"start": "uniform", "tol": tol, "max_iter": max_iter, "trace": False}
    as_they_are, centered = (
        f"{lipschitz_constant(split.train, centered=flag):.1f}"
        for flag in (False, True)
    )
    rows = {
        "short, L of the data as they are": {"L": as_they_are}
        | {name: runs["short"][name] for name in solvers},
        "short, L of centered data": {"L": centered}
        | {
            name: run(split.train, step="short", **options)
            for name, run in solvers.items()
        },
        "exact": {"L": "not needed"}
        | {
            name: run(split.train, step="exact", **options)
            for name, run in solvers.items()
        },
    }
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("step rule")
    return table.map(lambda cell: cell if isinstance(cell, str) else _steps_of(cell))


def _steps_of(ball):
    return f"{'' if ball.converged else 'not in '}{ball.iterations}"


_JUDGED = ("iterations", "recall_train", "recall_test")


def slides_rounding_ranges(
    split, runs, *, tol=1e-4, repeats=10, longest=5000, size=1e-15, seed=0
):
    """What tiny perturbations of the training points do to the slides' tables.

    Parameters
    ----------
    split : Split
    runs : dict of str -> dict of str -> Solution
        From `slides_runs`.
    tol : float
        As given to `slides_runs`.
    repeats : int
        Perturbed runs; the unperturbed one counts too.
    longest : int
        Runs that took more steps are left out, for they would take long; and those
        that did not converge, whose count is the limit.
    size : float
        Each coordinate is multiplied by 1 + size * a standard normal number.
    seed : int

    Returns
    -------
    dict of (step, algorithm, column) -> (lowest, highest)
        For iterations, recall_train and recall_test.
    """
    rng = np.random.default_rng(seed)
    short = [
        (step, name, ball)
        for step, balls in runs.items()
        for name, ball in balls.items()
        if ball.converged and ball.iterations <= longest
    ]
    seen = {(step, name): [_judged(name, split, ball)] for step, name, ball in short}
    for _ in range(repeats):
        points = split.train * (1.0 + size * rng.standard_normal(split.train.shape))
        for step, name, _ in short:
            # Ties may make a run longer than the one on the data as they are.
            ball = slides_solution(
                name, points, step, tol=tol, max_iter=20 * longest, trace=False
            )
            seen[step, name].append(_judged(name, split, ball))
    return {
        (*run, column): (min(values), max(values))
        for run, judged in seen.items()
        for column, values in zip(_JUDGED, zip(*judged, strict=True), strict=True)
    }


def _judged(name, split, ball):
    recall = slides_recall(name, split, ball)
    return ball.iterations, recall["recall_train"], recall["recall_test"]


# Number -> published table, step rule, judged columns.
_SLIDES_TABLES = {
    2: ("slides_table2_short_step", "short", ["iterations"]),
    3: ("slides_table3_diminishing_step", "diminishing", ["iterations"]),
    4: ("slides_table4_recall_short_step", "short", ["recall_train", "recall_test"]),
    5: (
        "slides_table5_recall_diminishing_step",
        "diminishing",
        ["recall_train", "recall_test"],
    ),
}


def slides_comparisons(dataset, split, runs, *, search=None, ranges=None, reason=None):
    """The slides' Tables 1 to 5 for one data set, published beside reproduced.

    Parameters
    ----------
    dataset : Dataset
    split : Split
    runs : dict of str -> dict of str -> Solution
        From `slides_runs`; a table whose step rule did not run is left out.
    search : pandas.DataFrame, optional
        From `slides_feature_search`, for Table 1.
    ranges : dict, optional
        From `slides_rounding_ranges`.
    reason : str, optional
        Why cells differ, where the runs are not the published experiment.

    Returns
    -------
    dict of str -> Comparison
        "Table 1" to "Table 5", those that there is something to compare with.
    """
    found = {}
    if search is not None:
        published = _published_rows("slides_table1_optimal_k", dataset.name)
        row = {"features": len(search), "optimal_k": last_best(search)}
        found["Table 1"] = compare(
            published,
            pd.DataFrame([{"dataset": dataset.name} | row]),
            keys="dataset",
            reasons=_everywhere(["features", "optimal_k"], reason),
        )
    table = slides_table(split, runs)
    for number, (name, step, columns) in _SLIDES_TABLES.items():
        rows = table.loc[table["step"] == step, ["algorithm", *columns]]
        published = _published_rows(name, dataset.name).drop(columns="dataset")
        published = published[published["algorithm"].isin(rows["algorithm"])]
        rows = rows[rows["algorithm"].isin(published["algorithm"])]
        if published.empty:
            continue
        found[f"Table {number}"] = compare(
            published,
            rows,
            keys="algorithm",
            times="time_ms" if "time_ms" in published else (),
            rounding={
                cell[1:]: seen
                for cell, seen in (ranges or {}).items()
                if cell[0] == step and cell[2] in columns
            },
            reasons=_everywhere(columns, reason),
        )
    return found


def slides_not_run(dataset_name, reason):
    """The slides' rows for a data set that did not run, published beside nothing.

    Parameters
    ----------
    dataset_name : str
    reason : str
        Why not: the remark of every cell but the times.

    Returns
    -------
    dict of str -> Comparison
        As `slides_comparisons`, every verdict "not comparable".
    """
    found = {}
    for number, (name, _, columns) in _SLIDES_TABLES.items():
        published = _published_rows(name, dataset_name).drop(columns="dataset")
        found[f"Table {number}"] = compare(
            published,
            published[["algorithm"]],
            keys="algorithm",
            times="time_ms" if "time_ms" in published else (),
            reasons=_everywhere(columns, reason),
        )
    return found


def _published_rows(name, dataset_name):
    table = published_table(name).drop(columns="dataset_no")
    return table[table["dataset"] == dataset_name]


def _everywhere(columns, reason):
    return None if reason is None else dict.fromkeys(columns, reason)


def slides_feature_search(
    dataset, *, algorithm="MEB_A", step="diminishing", protocol=None, seed=22
):
    """Recall for each number of features, as the slides' search for K (Table 1).

    The features enter in the order of their ANOVA F against the anomaly labels. The
    slides trained BPCG; any algorithm that converges gives the same ball.

    Parameters
    ----------
    dataset : Dataset
    algorithm : str
        From "PFW", "BPCG", "MEB_A"; the last needs the fewest steps by far.
    step : str
        For PFW and BPCG.
    protocol : SlidesProtocol, optional
        By default the published one of this data set; its number of features is not
        used.
    seed : int
        Of the split.

    Returns
    -------
    pandas.DataFrame
        Index K = 1, 2, ...; columns feature (the one that comes in), recall_train,
        recall_test.
    """
    protocol = protocol or SLIDES_PROTOCOL[dataset.name]
    rows, known = [], set()
    for count in range(1, dataset.encoded().shape[1] + 1):
        split = slides_split(dataset, replace(protocol, features=count), seed)
        ball = slides_solution(algorithm, split.train, step, trace=False)
        new = set(split.feature_names) - known
        known |= new
        recall = slides_recall(algorithm, split, ball)
        rows.append({"K": count, "feature": ", ".join(sorted(new)), **recall})
    return pd.DataFrame(rows).set_index("K")


def last_best(search):
    """The slides' K: the last number of features with the best TRAINING recall.

    Parameters
    ----------
    search : pandas.DataFrame
        From `slides_feature_search`.

    Returns
    -------
    int
    """
    recall = search["recall_train"]
    return int(recall.index[recall == recall.max()][-1])


# --- what the protocols hide -------------------------------------------------------


def repeated_points(dataset):
    """How often rows repeat, and what labels the same features carry.

    Parameters
    ----------
    dataset : Dataset

    Returns
    -------
    pandas.DataFrame
        One column, count.
    """
    vectors = dataset.features.assign(
        label=dataset.labels, nominal=dataset.is_nominal
    ).groupby(list(dataset.features.columns), sort=False)
    sizes, kinds = vectors.size(), vectors["nominal"].nunique()
    return pd.Series(
        {
            "rows": len(dataset.features),
            "distinct feature vectors": len(sizes),
            "largest number of rows with one vector": sizes.max(),
            "vectors with more than one label": (vectors["label"].nunique() > 1).sum(),
            "vectors both nominal and anomalous": (kinds > 1).sum(),
        },
        name="count",
    ).to_frame()


def threshold_scores(split, center, radii):
    """Scores of a fixed center when the threshold moves.

    Parameters
    ----------
    split : Split
    center : ndarray, shape (n,)
    radii : sequence of float

    Returns
    -------
    pandas.DataFrame
        Indexed by radius: recall, false_alarms, precision (NaN without an alarm), f1.
    """
    anomaly = split.test_is_anomaly
    rows = {}
    for radius in radii:
        flagged = outside(split.test, center, radius)
        hits, alarms = np.sum(flagged & anomaly), np.sum(flagged)
        rows[radius] = {
            "recall": flagged[anomaly].mean(),
            "false_alarms": flagged[~anomaly].mean(),
            "precision": hits / alarms if alarms else np.nan,
            "f1": 2 * hits / (alarms + np.sum(anomaly)),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("radius")


SELECTIONS = ("labels", "random", "components", "all")


def slides_variant(
    dataset, seed, *, selection="labels", scaler_sees="all", protocol=None
):
    """The slides' split with another choice of features or another scaler.

    Parameters
    ----------
    dataset : Dataset
    seed : int
        Of the split, and of a random choice.
    selection : str
        "labels": the K features with the largest ANOVA F against the anomaly labels,
        as in the slides; "random": any K features; "components": the K first
        principal components of the nominal training rows; "all": every feature.
    scaler_sees : str
        What the scaler, where the protocol has one, is fitted on: "all" training rows,
        as in the slides, or the "nominal" ones.
    protocol : SlidesProtocol, optional
        By default the published one of this data set.

    Returns
    -------
    Split

    Raises
    ------
    ValueError
        For an unknown word.
    """
    check_choice("selection", selection, SELECTIONS)
    check_choice("scaler_sees", scaler_sees, ("all", "nominal"))
    protocol = protocol or SLIDES_PROTOCOL[dataset.name]
    count = dataset.encoded().shape[1]
    whole = SlidesProtocol(features=count, decimals=protocol.decimals)
    split = slides_split(dataset, whole, seed)
    if protocol.scaled:
        seen = split.whole_train if scaler_sees == "all" else split.train
        split = _changed(split, StandardScaler().fit(seen).transform)
    if selection == "all":
        return split
    if selection == "components":
        return _changed(split, PCA(protocol.features).fit(split.train).transform)
    if selection == "random":
        rng = np.random.default_rng(seed)
        kept = np.sort(rng.choice(count, protocol.features, replace=False))
    else:
        chosen = SelectKBest(f_classif, k=protocol.features)
        chosen.fit(split.whole_train, split.whole_train_is_anomaly)
        kept = chosen.get_support(indices=True)
    names = tuple(split.feature_names[column] for column in kept)
    return replace(_changed(split, lambda points: points[:, kept]), feature_names=names)


def _changed(split, transform):
    return replace(
        split,
        train=transform(split.train),
        test=transform(split.test),
        whole_train=transform(split.whole_train),
    )


def leakage_study(dataset, seeds, protocol=None):
    """The hard ball on the slides' splits, with and without a look at the labels.

    Parameters
    ----------
    dataset : Dataset
    seeds : sequence of int
    protocol : SlidesProtocol, optional
        By default the published one of this data set.

    Returns
    -------
    Evaluation
        Its "detectors" are the variants: the first is the slides'.
    """
    protocol = protocol or SLIDES_PROTOCOL[dataset.name]
    variants = {"labels pick K features": {}}
    if protocol.scaled:
        variants["labels pick K, scaler on nominal rows"] = {"scaler_sees": "nominal"}
    variants |= {
        "any K features": {"selection": "random", "scaler_sees": "nominal"},
        "K principal components": {
            "selection": "components",
            "scaler_sees": "nominal",
        },
        "all features": {"selection": "all", "scaler_sees": "nominal"},
    }
    splits = {
        name: lambda seed, options=options: slides_variant(
            dataset, seed, protocol=protocol, **options
        )
        for name, options in variants.items()
    }
    return evaluate_splits(BallDetector(), splits, seeds)


def components_study(
    dataset, seeds, components, nominal_fraction=0.5, scaling="standard"
):
    """The hard ball on honest splits, with principal components found in several ways.

    Parameters
    ----------
    dataset : Dataset
    seeds : sequence of int
    components : int
        Fewer than the training rows.
    nominal_fraction : float
    scaling : str
        As `honest_split` takes them.

    Returns
    -------
    Evaluation
        Its "detectors" are the ways: all features; the components of all rows, test
        rows and anomalies included, as when they are taken before the split; those of
        the nominal training rows; what the latter leave over.

    Raises
    ------
    ValueError
        When there are not more training rows than components.
    """

    def components_of(rows):
        # The solver for wide data draws random numbers.
        return PCA(components, random_state=0).fit(rows)

    def split_of(seed, transform_for):
        split = honest_split(dataset, seed, nominal_fraction, scaling)
        if not 1 <= components < len(split.train):
            raise ValueError(
                f"components must be 1 to {len(split.train) - 1}, fewer than the "
                f"training rows, found {components!r}"
            )
        return _changed(split, transform_for(split))

    def left_over(split):
        found = components_of(split.train)
        return lambda rows: rows - found.inverse_transform(found.transform(rows))

    ways = {
        "all features": lambda split: lambda rows: rows,
        "components of all rows": lambda split: (
            components_of(np.vstack([split.train, split.test])).transform
        ),
        "components of the training rows": lambda split: (
            components_of(split.train).transform
        ),
        "what these leave over": left_over,
    }
    splits = {
        name: lambda seed, way=way: split_of(seed, way) for name, way in ways.items()
    }
    return evaluate_splits(BallDetector(), splits, seeds)


def scaling_study(dataset, seeds, nominal_fraction=0.5, scalings=SCALINGS):
    """The hard ball on the report's splits, scaled in several ways.

    Parameters
    ----------
    dataset : Dataset
    seeds : sequence of int
        123 is the report's.
    nominal_fraction : float
    scalings : sequence of str
        From "standard", "minmax", "none".

    Returns
    -------
    Evaluation
        Its "detectors" are the scalings.
    """
    splits = {
        scaling: lambda seed, scaling=scaling: report_split(
            dataset, seed, nominal_fraction, scaling
        )
        for scaling in scalings
    }
    return evaluate_splits(BallDetector(), splits, seeds)
