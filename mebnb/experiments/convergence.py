"""What the notebooks on the algorithms share: their sets, runs, rates and counts.

A study runs every algorithm on every set. Runs are kept as a dictionary of
dictionaries, runs[set][algorithm] -> Solution, and the tables and figures take that.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from mebnb.solvers.balls import squared_diameter, squared_distances
from mebnb.solvers.exact import minimum_enclosing_ball
from mebnb.solvers.frank_wolfe import away_step, blended_pairwise, frank_wolfe, pairwise

__all__ = [
    "FIT_BAND",
    "SOLVERS",
    "error_parts",
    "errors_on_the_last_support",
    "gain_table",
    "kind_counts",
    "kind_table",
    "level_table",
    "rate_table",
    "rates_told",
    "run_each",
    "run_rules",
    "simplex_width",
    "thinness",
    "tied_iterates",
    "wrong_weight",
]


# Keys of the figures' styles -> solvers with one signature.
SOLVERS = {
    "frank_wolfe": frank_wolfe,
    "away_step": away_step,
    "pairwise": pairwise,
    "blended_pairwise": blended_pairwise,
}

# Band of relative gaps in which rates are fitted.
FIT_BAND = (1e-12, 1e-2)


# --- runs --------------------------------------------------------------------------
def run_each(sets, algorithms, **options):
    """Run algorithms on sets, stopping at a relative gap.

    Parameters
    ----------
    sets : dict of str -> ndarray, shape (m, n)
    algorithms : sequence of str
        Keys of `SOLVERS`.
    **options
        Of the solvers: tol, step, start, max_iter.

    Returns
    -------
    dict of str -> dict of str -> Solution
        runs[set][algorithm].
    """
    return {
        label: {
            name: SOLVERS[name](points, gap="relative", **options)
            for name in algorithms
        }
        for label, points in sets.items()
    }


def run_rules(sets, algorithm, rules, **options):
    """Run one algorithm with several step rules on sets, to a relative gap.

    Parameters
    ----------
    sets : dict of str -> ndarray, shape (m, n)
    algorithm : str
        Key of `SOLVERS`.
    rules : dict of str -> str or StepRule
    **options
        Of the solvers: tol, start, max_iter.

    Returns
    -------
    dict of str -> dict of str -> Solution
        runs[set][rule].
    """
    solver = SOLVERS[algorithm]
    return {
        label: {
            name: solver(points, step=rule, gap="relative", **options)
            for name, rule in rules.items()
        }
        for label, points in sets.items()
    }


def wrong_weight(points, max_iter=1000):
    """Weight that Frank-Wolfe holds, at each iterate, on points of no optimum."""
    right = away_step(points, gap="relative", tol=1e-12, max_iter=20_000).support
    held = []

    def look(state):
        held.append(state.weights[~np.isin(state.support, right)].sum())

    frank_wolfe(points, tol=0.0, max_iter=max_iter, callback=look)
    return np.array(held)


def error_parts(points, step, max_iter=3000):
    """Primal error of Frank-Wolfe at each iterate, and the two parts of which it is made.

    With c* and gamma* of the exact ball, gamma* - gamma(u) is the sum of
    u_i (gamma* - |a_i - c*|^2), to which only points inside contribute, and of
    |c - c*|^2.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    step : str or StepRule
    max_iter : int

    Returns
    -------
    pandas.DataFrame
        One row an iterate, all relative to gamma*: `error`, `gap`, and the parts
        `inside` and `center`.
    """
    best = minimum_enclosing_ball(points)
    gamma = best.lower_bound**2
    depth = gamma - squared_distances(points, best.center)
    rows = []

    def look(state):
        off = state.center - best.center
        rows.append(
            {
                "error": gamma - state.gamma,
                "gap": state.fw_gap,
                "inside": state.weights @ depth[state.support],
                "center": off @ off,
            }
        )

    frank_wolfe(points, step=step, tol=0.0, max_iter=max_iter, callback=look)
    return pd.DataFrame(rows).rename_axis("t") / gamma


def tied_iterates(points, states, within=1e-13):
    """At which iterates rounding chooses the next pair of active points.

    There the farthest or the nearest of more than two active points has a rival whose
    squared distance is the same but for rounding.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    states : sequence of State
    within : float
        Difference of squared distances that counts as a tie, relative to gamma.

    Returns
    -------
    ndarray of bool, one an iterate
    """
    tied = []
    for state in states:
        ranked = np.sort(active_distances(points, state))
        close = np.diff(ranked) <= within * state.gamma
        tied.append(ranked.size > 2 and bool(close[0] or close[-1]))
    return np.array(tied)


def active_distances(points, state):
    return squared_distances(points[state.support], state.center)


def simplex_width(corners):
    """Width of a simplex: the smallest distance of the flats through opposite faces.

    The one flat goes through some corners, the other through the rest. The sum of the
    barycentric coordinates of the former is 1 on the one flat and 0 on the other, so
    that the distance is 1 over the length of its gradient.

    Parameters
    ----------
    corners : ndarray, shape (k, n)
        Affinely independent, k from 2 to 16 (all 2^(k - 1) pairs of faces are tried).

    Returns
    -------
    width : float
    face : ndarray of bool, shape (k,)
        The corners of the one face of the nearest pair.

    Raises
    ------
    ValueError
        For fewer than 2 or more than 16 corners.
    """
    k = len(corners)
    if not 2 <= k <= 16:
        raise ValueError(f"corners must be 2 to 16 points, found {k}")
    coordinates = np.linalg.pinv((corners - corners.mean(axis=0)).T)
    faces = (np.arange(1, 2 ** (k - 1))[:, None] >> np.arange(k)) & 1
    steepness2 = ((faces @ coordinates) ** 2).sum(axis=1)
    nearest = steepness2.argmax()
    return float(steepness2[nearest] ** -0.5), faces[nearest].astype(bool)


def thinness(corners):
    """Squared diameter over squared width of a simplex: 1 for a segment, large if flat.

    Parameters
    ----------
    corners : ndarray, shape (k, n)
        As in `simplex_width`.

    Returns
    -------
    float

    References
    ----------
    Lacoste-Julien and Jaggi (2015): the pyramidal width governs their linear rate. Of
    a simplex it is the width (Pena and Rodriguez 2019 have it as a distance of faces).

    Examples
    --------
    >>> round(thinness(np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]])), 6)
    16.0
    """
    width, _ = simplex_width(corners)
    return squared_diameter(corners) / width**2


# --- tables ------------------------------------------------------------------------
def rate_table(runs, labels):
    """Fitted rates of every run, one row a set and algorithm.

    Both fits take the same band of relative gaps: log gap against t, where a straight
    line is linear convergence, and log gap against log t, where it is a power of t.

    Parameters
    ----------
    runs : dict of str -> dict of str -> Solution
    labels : callable
        algorithm -> its name in the table.

    Returns
    -------
    pandas.DataFrame
        Formatted; indexed by set and algorithm.
    """
    rows = []
    for label, solutions in runs.items():
        for name, ball in solutions.items():
            factor, linear = ball.trace.linear_rate(*FIT_BAND)
            power, fit = ball.trace.power_rate(*FIT_BAND)
            rows.append(
                {
                    "set": label,
                    "algorithm": labels(name),
                    "iterations": ball.iterations,
                    "gap at the end": f"{ball.trace.relative_gaps()[-1]:.0e}",
                    "factor an iteration": _shown(factor, 4),
                    "R2, log gap on t": _shown(linear, 2),
                    "exponent of t": _shown(power, 1),
                    "R2, log gap on log t": _shown(fit, 2),
                }
            )
    return pd.DataFrame(rows).set_index(["set", "algorithm"])


def _shown(value, digits):
    """A number for a table; too few iterations in the band leave none."""
    return "too short" if math.isnan(value) else f"{value:.{digits}f}"


def level_table(runs, labels, levels=(1e-3, 1e-6, 1e-9, 1e-12)):
    """Iterations until the relative gap is down to each level.

    Parameters
    ----------
    runs : dict of str -> dict of str -> Solution
    labels : callable
        algorithm -> its name in the table.
    levels : sequence of float

    Returns
    -------
    pandas.DataFrame
        Indexed by set and algorithm; "-" where the run ended before. The last change
        is the iteration from which on the active set keeps its size.
    """
    rows = []
    for label, solutions in runs.items():
        for name, ball in solutions.items():
            reached = {f"{at:.0e}": ball.trace.iterations_to(at) for at in levels}
            changes = np.flatnonzero(np.diff(ball.trace.active))
            rows.append(
                {"set": label, "algorithm": labels(name)}
                | {at: "-" if t is None else str(t) for at, t in reached.items()}
                | {
                    "last change of the active set": int(changes.max(initial=-1)) + 1,
                    "support": ball.support.size,
                }
            )
    return pd.DataFrame(rows).set_index(["set", "algorithm"])


def errors_on_the_last_support(points, ball, least=1e-9):
    """Primal error and gap of a run from the last change of its active set on.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    ball : Solution
        With its trace.
    least : float
        Errors down to this part of gamma*; below it rounding shows.

    Returns
    -------
    pandas.DataFrame
        One row an iterate, relative to gamma*: `error` and `gap`.
    """
    best = minimum_enclosing_ball(points).lower_bound ** 2
    begin = int(np.flatnonzero(np.diff(ball.trace.active)).max(initial=-1)) + 1
    frame = pd.DataFrame(
        {
            "error": 1.0 - np.asarray(ball.trace.gamma)[begin:] / best,
            "gap": np.asarray(ball.trace.fw_gap)[begin:] / best,
        }
    )
    return frame[frame["error"] > least]


def rates_told(runs, name):
    """The linear rates of one algorithm in words, for the text beside a figure.

    Parameters
    ----------
    runs : dict of str -> dict of str -> Solution
    name : str
        Key of `SOLVERS`; sets on which it did not run are left out.

    Returns
    -------
    str
    """
    told = []
    for label, solutions in runs.items():
        if name in solutions:
            factor, r2 = solutions[name].trace.linear_rate(*FIT_BAND)
            rate = "reached too soon for a fit"
            if not math.isnan(factor):
                rate = f"factor {factor:.4f} an iteration with R2 {r2:.2f}"
            told.append(f"{label}: {rate}")
    return "; ".join(told)


def kind_table(runs, labels):
    """Steps of each kind (see `kind_counts`), one row a set and algorithm.

    Parameters
    ----------
    runs : dict of str -> dict of str -> Solution
    labels : callable

    Returns
    -------
    pandas.DataFrame
        Indexed by set and algorithm; kinds that never occur are left out.
    """
    rows = [
        {"set": label, "algorithm": labels(name), "steps": ball.iterations}
        | kind_counts(ball)
        for label, solutions in runs.items()
        for name, ball in solutions.items()
    ]
    table = pd.DataFrame(rows).set_index(["set", "algorithm"])
    return table.loc[:, (table > 0).any()]


def gain_table(runs, labels):
    """What a step of each kind is worth: the share of the error that it removes.

    Parameters
    ----------
    runs : dict of str -> dict of str -> Solution
        Converged far enough that the last dual value stands for the optimum.
    labels : callable

    Returns
    -------
    pandas.DataFrame
        Indexed by set and algorithm; per kind the number of steps and the median of
        (gain in gamma) / (gamma* - gamma before), over errors down to 1e-9 gamma*.
    """
    rows = []
    for label, solutions in runs.items():
        for name, ball in solutions.items():
            gamma = np.array(ball.trace.gamma)
            error = gamma[-1] - gamma
            counted = error[:-1] > 1e-9 * gamma[-1]
            share = (error[:-1] - error[1:])[counted] / error[:-1][counted]
            kinds = np.array(_kinds(ball))[counted]
            for kind in dict.fromkeys(kinds):
                rows.append(
                    {
                        "set": label,
                        "algorithm": labels(name),
                        "kind": kind,
                        "steps": int((kinds == kind).sum()),
                        "share removed, median": _percent(share[kinds == kind]),
                    }
                )
    return pd.DataFrame(rows).set_index(["set", "algorithm", "kind"])


def _percent(shares):
    percent = 100.0 * float(np.median(shares))
    return f"{percent:.0f} %" if percent >= 9.95 else f"{percent:.1f} %"


def kind_counts(solution):
    """How many steps of each kind a run took.

    A step of largest length that takes an atom out is a "drop" when the active set
    shrinks and a "swap" when a new atom comes in at the same time.

    Parameters
    ----------
    solution : Solution
        With a trace.

    Returns
    -------
    dict of str -> int
        Kinds "FW", "away", "pairwise", "drop", "swap"; of a core set also "plus" and
        "minus".
    """
    counts = dict.fromkeys(("FW", "away", "pairwise", "drop", "swap"), 0)
    for kind in _kinds(solution):
        counts[kind] = counts.get(kind, 0) + 1
    return counts


def _kinds(solution):
    """The kind of each step, swaps told from drops by the size of the active set."""
    kinds, active = solution.trace.kind, solution.trace.active
    return [
        "swap" if kind == "drop" and after == before else kind
        for before, after, kind in zip(active, active[1:], kinds[1:], strict=False)
    ]
