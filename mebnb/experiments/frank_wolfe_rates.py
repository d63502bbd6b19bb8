"""What notebooks 02 and 03 measure beside their proofs: bounds, constants, factors.

Frank-Wolfe with exact steps and with 2/(t+2) against the bounds of its 1/t rate, and
away steps against the bound of their linear one.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from mebnb.experiments.convergence import simplex_width
from mebnb.solvers.balls import dual_value, gradient, squared_diameter
from mebnb.solvers.exact import minimum_enclosing_ball
from mebnb.solvers.frank_wolfe import away_step, frank_wolfe

__all__ = [
    "PRIMAL_BOUND",
    "bound_table",
    "constant_table",
    "curvature_table",
    "drop_table",
    "gap_to_error",
    "last_support",
    "nearest_of_the_flats",
    "promise_table",
    "sparse_table",
]

# The bounds are (constant) D^2 / (t + 2), with D the diameter of the points.
PRIMAL_BOUND = 4.0
GAP_BOUNDS = {"exact": 8.0, "diminishing": 13.5}

# Parts of the error below it, over gamma*, are rounding.
LEAST_WEIGHT = 1e-9


# --- the 1/t rate ------------------------------------------------------------------
def curvature_table(sets, diameters2, seed, count=200):
    """The curvature of f = -gamma over the simplex, on random weights.

    Parameters
    ----------
    sets : dict of str -> ndarray, shape (m, n)
    diameters2 : dict of str -> float
    seed : int
    count : int
        Triples u, s, alpha of random weights, s a vertex in every other one.

    Returns
    -------
    pandas.DataFrame
        One row a set. `identity`: largest difference of (f(y) - f(u) - <f'(u), y - u>) /
        alpha^2, with y = u + alpha (s - u), from |A (s - u)|^2, over D^2. `largest`: the
        largest |A (s - u)|^2 of these, over D^2.
    """
    rng, rows = np.random.default_rng(seed), {}
    for label, points in sets.items():
        m, diameter2 = len(points), diameters2[label]
        off, largest = 0.0, 0.0
        for k in range(count):
            u = rng.dirichlet(np.full(m, 0.1))
            s = np.eye(1, m, rng.integers(m))[0] if k % 2 else rng.dirichlet(np.ones(m))
            alpha = rng.uniform(0.1, 1.0)
            y = u + alpha * (s - u)
            above = dual_value(points, u) - dual_value(points, y)
            above -= alpha * (gradient(points, u) @ (s - u))
            moved2 = float((((s - u) @ points) ** 2).sum())
            off = max(off, abs(above / alpha**2 - moved2) / diameter2)
            largest = max(largest, moved2 / diameter2)
        rows[label] = {"identity": off, "largest": largest}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("set")


def bound_table(split, diameters2, gammas):
    """Errors and gaps of runs over the bounds that are proved for them.

    Parameters
    ----------
    split : dict of str -> dict of str -> DataFrame
        split[set][rule] as `error_parts` gives it.
    diameters2, gammas : dict of str -> float
        D^2 and gamma* of each set.

    Returns
    -------
    pandas.DataFrame
        One row a set and rule: the largest part, over t from 1 on, that the error and
        the least gap so far reach of their bounds.
    """
    rows = {}
    for label, frames in split.items():
        unit = diameters2[label] / gammas[label]
        for rule, frame in frames.items():
            t = frame.index.to_numpy()[1:]
            least = np.minimum.accumulate(frame["gap"].to_numpy()[1:])
            error = frame["error"].to_numpy()[1:]
            rows[label, rule] = {
                "D^2 / gamma*": unit,
                "error / bound": (error * (t + 2) / (PRIMAL_BOUND * unit)).max(),
                "gap / bound": (least * (t + 2) / (GAP_BOUNDS[rule] * unit)).max(),
            }
    index = ["set", "step"]
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(index)


def sparse_table(count, steps):
    """Frank-Wolfe on the unit vectors, beside the least error of t + 1 points.

    Parameters
    ----------
    count : int
        N, the number of vertices.
    steps : sequence of int
        Below N.

    Returns
    -------
    pandas.DataFrame
        Indexed by t: points with weight, the error, 1/(t + 1) - 1/N, the lower bound D^2
        / (4 (t + 1)) where it holds (t + 1 at most N/2; else NaN), and the upper bound.
    """
    errors, sizes = [], []

    def look(state):
        errors.append(1.0 - 1.0 / count - state.gamma)
        sizes.append(state.support.size)

    frank_wolfe(np.eye(count), tol=0.0, max_iter=max(steps), callback=look)
    rows = [
        {
            "t": t,
            "points": sizes[t],
            "error": errors[t],
            "least of t + 1 points": 1.0 / (t + 1) - 1.0 / count,
            "D^2 / (4 (t + 1))": 0.5 / (t + 1) if t + 1 <= count / 2 else math.nan,
            "4 D^2 / (t + 2)": PRIMAL_BOUND * 2.0 / (t + 2),
        }
        for t in steps
    ]
    return pd.DataFrame(rows).set_index("t")


def gap_to_error(frame):
    """Half of the gap over the error, and the slope of 1/error, at each step.

    Parameters
    ----------
    frame : DataFrame
        Of exact steps, as `error_parts` gives it.

    Returns
    -------
    half_gap : ndarray
        g / (2 (gamma* - gamma)).
    slope : ndarray
        What gamma* / (gamma* - gamma) gains in the next step.
    predicted : ndarray
        The same by Lemma 3.2, from error and gap alone.
    """
    error, gap = frame["error"].to_numpy(), frame["gap"].to_numpy()
    half_gap = gap / (2.0 * error)
    gain = gap**2 / (4.0 * (1.0 - error + gap))
    predicted = 1.0 / (error - gain) - 1.0 / error
    return half_gap[:-1], np.diff(1.0 / error), predicted[:-1]


def constant_table(frames, at):
    """The constant of the 1/t rate of exact steps, and what decides it.

    Parameters
    ----------
    frames : dict of str -> DataFrame
        Of exact steps, as `error_parts` gives them.
    at : sequence of int
        Iterations at which t (gamma* - gamma) / gamma* is shown.

    Returns
    -------
    pandas.DataFrame
        One row a set: the product at each t; `g / (2 error)`, its mean over the second
        half of the run, and 1 over the mean of its square; `Lemma 3.2` and `weight`,
        the largest relative error of the recursion of 1/error and of the rule that the
        inner part shrinks by 1 - alpha, over that half. Sets on which no weight is left
        on inner points have no such rate and are left out.
    """
    rows = {}
    for label, frame in frames.items():
        if frame["inside"].iloc[-1] < LEAST_WEIGHT:
            continue
        half_gap, slope, predicted = gap_to_error(frame)
        late = slice(len(half_gap) // 2, None)
        error, gap = frame["error"].to_numpy()[:-1], frame["gap"].to_numpy()[:-1]
        kept = 1.0 - gap / (2.0 * (1.0 - error + gap))
        inside = frame["inside"].to_numpy()
        ratio = inside[1:] / inside[:-1]
        rows[label] = {f"t = {t}": t * frame["error"].loc[t] for t in at} | {
            "g / (2 error), mean": half_gap[late].mean(),
            "1 / mean square": 1.0 / (half_gap[late] ** 2).mean(),
            "Lemma 3.2": np.abs(slope / predicted - 1.0)[late].max(),
            "weight": np.abs(ratio / kept - 1.0)[late].max(),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("set")


# --- the linear rate ---------------------------------------------------------------
def nearest_of_the_flats(corners):
    """Where the two nearest flats through opposite faces of a simplex come nearest.

    Parameters
    ----------
    corners : ndarray, shape (k, n)
        Affinely independent.

    Returns
    -------
    weights : ndarray, shape (k,)
        Of the two nearest points: those of the one face sum to 1, those of the other
        too. None is negative: the nearest points lie in the faces.
    face : ndarray of bool, shape (k,)
        The one face.
    """
    _, face = simplex_width(corners)
    one, other = np.flatnonzero(face), np.flatnonzero(~face)
    base = corners[one[0]] - corners[other[0]]
    along = np.vstack(
        [corners[one[1:]] - corners[one[0]], corners[other[0]] - corners[other[1:]]]
    )
    moved = np.linalg.lstsq(along.T, -base, rcond=None)[0] if len(along) else []
    weights = np.empty(len(corners))
    weights[one[1:]] = moved[: one.size - 1]
    weights[other[1:]] = moved[one.size - 1 :]
    for face_, first in ((one, one[0]), (other, other[0])):
        weights[first] = 1.0 - weights[face_[1:]].sum()
    return weights, face


def last_support(points, least=LEAST_WEIGHT, max_iter=20_000):
    """Away steps from the last change of the active set on, and what the proof uses.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    least : float
        Errors down to this part of gamma*; below it rounding shows.
    max_iter : int

    Returns
    -------
    frame : DataFrame
        One row an iterate, relative to gamma*: `error`, `shift` = |c - c*|^2, `gaps` =
        the sum of FW gap and away gap over the active set, `larger` = the larger one.
    support : ndarray of int
        The active set.
    """
    best = minimum_enclosing_ball(points)
    gamma, rows = best.lower_bound**2, []
    support = np.empty(0, dtype=int)

    def look(state):
        nonlocal support, rows
        if not np.array_equal(state.support, support):
            support, rows = state.support.copy(), []
        off = state.center - best.center
        rows.append(
            {
                "error": (gamma - state.gamma) / gamma,
                "shift": off @ off / gamma,
                "gaps": (state.fw_gap + state.away_gap) / gamma,
                "larger": max(state.fw_gap, state.away_gap) / gamma,
            }
        )

    away_step(points, gap="relative", tol=1e-12, max_iter=max_iter, callback=look)
    frame = pd.DataFrame(rows)
    return frame[frame["error"] > least], support


def promise_table(sets):
    """The linear rate of away steps on the last support, beside its bound.

    Parameters
    ----------
    sets : dict of str -> ndarray, shape (m, n)

    Returns
    -------
    pandas.DataFrame
        One row a set. `shift / error`: smallest and largest |c - c*|^2 over the error,
        both 1 by the identity; `gaps / bound`: least sum of gaps over 2 w sqrt(error);
        `gain / bound`: least (g^2 / (4 error)) over (w^2 / 4), with g the larger gap;
        `rate / promised`: the logarithm of the mean factor an iteration over that of
        the bound. Sets whose last support has no 2 to 16 points, or fewer than two
        iterates, are left out.
    """
    rows = {}
    for label, points in sets.items():
        frame, support = last_support(points)
        if not 2 <= support.size <= 16 or len(frame) < 2:
            continue
        corners = points[support]
        gamma = minimum_enclosing_ball(points).lower_bound ** 2
        width2 = simplex_width(corners)[0] ** 2 / gamma
        diameter2 = squared_diameter(corners) / gamma
        error = frame["error"].to_numpy()
        share = frame["shift"] / frame["error"]
        mean = (math.log(error[-1]) - math.log(error[0])) / (len(error) - 1)
        rows[label] = {
            "shift / error": (share.min(), share.max()),
            "gaps / bound": (frame["gaps"] / (2.0 * np.sqrt(width2 * error))).min(),
            "larger / bound": (frame["larger"] / np.sqrt(width2 * error)).min(),
            "rate / promised": mean / math.log1p(-width2 / (4.0 * diameter2)),
            "factor, mean": math.exp(mean),
            "promised": 1.0 - width2 / (4.0 * diameter2),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("set")


def drop_table(runs, begin=1):
    """Drops against their bound, and what they remove.

    Parameters
    ----------
    runs : dict of str -> Solution
        Away-step runs with a trace.
    begin : int
        Points with weight at the start.

    Returns
    -------
    pandas.DataFrame
        One row a run: steps, points taken in, drops, drops over (steps + begin - 1) / 2,
        and the least share of the error removed by a drop and by another step, over
        errors down to 1e-9 gamma* (1 where there is no such step).
    """
    rows = {}
    for label, run in runs.items():
        gamma = np.asarray(run.trace.gamma)
        error = gamma[-1] - gamma
        counted = error[:-1] > 1e-9 * gamma[-1]
        removed = (error[:-1] - error[1:])[counted] / error[:-1][counted]
        drop = np.array(run.trace.kind[1:]) == "drop"
        among = drop[counted]
        rows[label] = {
            "steps": run.iterations,
            "taken in": int((np.diff(run.trace.active) > 0).sum()),
            "drops": int(drop.sum()),
            "drops / bound": 2.0 * drop.sum() / (run.iterations + begin - 1),
            "least share removed by a drop": removed[among].min(initial=1.0),
            "by another step": removed[~among].min(initial=1.0),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("set")
