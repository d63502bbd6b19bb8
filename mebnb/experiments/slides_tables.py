"""The tables of the slides, run as they say and set beside what is published."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd

from mebnb.experiments.published_splits import (
    SLIDES_PROTOCOL,
    slides_split,
)
from mebnb.experiments.report_tables import everywhere, outside
from mebnb.experiments.rounding import shaken
from mebnb.published.compare import compare, published_table
from mebnb.solvers.core_sets import core_set
from mebnb.solvers.frank_wolfe import blended_pairwise, pairwise
from mebnb.solvers.steps import ShortStep, lipschitz_constant

__all__ = [
    "SLIDES_ALGORITHMS",
    "SLIDES_BLENDING_MARGIN",
    "SLIDES_SLACK",
    "SLIDES_STEPS",
    "last_best",
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
]


SLIDES_ALGORITHMS = {
    "PFW": "pairwise",
    "BPCG": "blended_pairwise",
    "MEB_A": "core_set_away",
}

SLIDES_STEPS = ("short", "diminishing")

# The slides' code asked for this much more before it preferred a pairwise step.
SLIDES_BLENDING_MARGIN = 1e-5

# The slides called a point an anomaly when it lay farther out than this.
SLIDES_SLACK = 1e-6


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
    short = [
        (step, name, ball)
        for step, balls in runs.items()
        for name, ball in balls.items()
        if ball.converged and ball.iterations <= longest
    ]
    seen = {(step, name): [_judged(name, split, ball)] for step, name, ball in short}
    copies = shaken(split.train, repeats, size=size, seed=seed)
    for points in itertools.islice(copies, 1, None):
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
            reasons=everywhere(["features", "optimal_k"], reason),
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
            reasons=everywhere(columns, reason),
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
            reasons=everywhere(columns, reason),
        )
    return found


def _published_rows(name, dataset_name):
    table = published_table(name).drop(columns="dataset_no")
    return table[table["dataset"] == dataset_name]


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
