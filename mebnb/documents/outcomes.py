"""The documents' core-set algorithms run line by line, as printed and as corrected.

The checks ask whether a line is right; a notebook shows what a wrong one does. Both
read the same lines: those of the entries.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mebnb.documents.slides.core_sets import ENTRIES
from mebnb.documents.toolkit.clouds import ball_by_enumeration, pair_weights, reach
from mebnb.documents.toolkit.lines_of_the_report import run_core_set
from mebnb.documents.toolkit.lines_of_the_slides import CannotRun, meb_a
from mebnb.solvers.balls import dense_weights, squared_distances

__all__ = [
    "MEB_A_OUTCOMES",
    "LiteralIterate",
    "compare_iterates",
    "meb_a_outcomes",
    "report_core_set_iterates",
    "slides_meb_a_iterates",
]

RIGHT = "right ball"
WRONG = "wrong ball"
ENDLESS = "does not end"
BROKEN = "cannot run"
MEB_A_OUTCOMES = (RIGHT, WRONG, ENDLESS, BROKEN)


@dataclass(frozen=True)
class LiteralIterate:
    """One iterate of a line-by-line run: the step that led to it and the weights."""

    kind: str
    weights: np.ndarray


# --- what a printed line does --------------------------------------------------------


def meb_a_outcomes(clouds, eps=1e-3, limit=300):
    """Run slides Algorithm 4 on small clouds, each wrong line as printed in turn.

    Parameters
    ----------
    clouds : sequence of ndarray, shape (m, n)
        Of at most a dozen points each, whose balls enumeration finds.
    eps : float
    limit : int
        Most iterations; a run that reaches it counts as one that does not end.

    Returns
    -------
    pandas.DataFrame
        Indexed by the line; one column an outcome (`MEB_A_OUTCOMES`) with the number
        of clouds, and `worst`, the largest factor by which a returned ball is too
        small for the points.
    """
    rows = []
    for name, lines in _meb_a_lines().items():
        runs = [_meb_a_outcome(points, lines, eps, limit) for points in clouds]
        outcomes = [outcome for outcome, _ in runs]
        rows.append(
            {"line": name}
            | {outcome: outcomes.count(outcome) for outcome in MEB_A_OUTCOMES}
            | {"worst": max(reach for _, reach in runs)}
        )
    return pd.DataFrame(rows).set_index("line")


def _meb_a_lines():
    """Label -> the lines that replace the corrected ones, from the check list."""
    lines = {"all lines corrected": {}}
    for entry in ENTRIES:
        if entry.id.startswith("S-A4") and entry.fails_as_read:
            lines[f"{entry.id} as printed"] = entry.printed
        if entry.id == "S-A4-gamma":
            kept = "first value kept"
            lines[f"{entry.id}, {kept}"] = entry.spoiled[kept]
    return lines


def _meb_a_outcome(points, lines, eps, limit):
    """The outcome, and reach / radius of the returned ball (1 where there is none)."""
    try:
        run = meb_a(points, eps, limit, **lines)
    except CannotRun:
        return BROKEN, 1.0
    if not run.finished or not math.isfinite(run.radius):
        return ENDLESS, 1.0
    farthest = reach(points, run.weights @ points)
    largest = (1.0 + eps) * ball_by_enumeration(points).radius
    holds = farthest <= run.radius * (1.0 + 1e-9)
    small = run.radius <= largest * (1.0 + 1e-9)
    return (RIGHT if holds and small else WRONG), max(1.0, farthest / run.radius)


# --- iterate by iterate --------------------------------------------------------------


def report_core_set_iterates(points, eps=1e-3, limit=300):
    """Report Algorithm 3, corrected, line by line.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    eps : float
    limit : int
        Most iterates.

    Returns
    -------
    list of LiteralIterate
    """
    run = run_core_set(points, eps=eps, limit=limit)
    kinds = ["start"] + ["plus"] * (len(run.history) - 1)
    return [
        LiteralIterate(kind, record[0])
        for kind, record in zip(kinds, run.history, strict=True)
    ]


def slides_meb_a_iterates(points, eps=1e-3, limit=300):
    """Slides Algorithms 3 and 4, corrected, line by line.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    eps : float
    limit : int
        Most iterates.

    Returns
    -------
    list of LiteralIterate
    """
    run = meb_a(points, eps, limit - 1)
    return [LiteralIterate("start", pair_weights(points))] + [
        LiteralIterate(step.kind, step.u) for step in run.log
    ]


def compare_iterates(points, literal, states, *, away=False):
    """Set a line-by-line run beside what a solver's callback saw.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    literal : sequence of LiteralIterate
    states : sequence of State
    away : bool
        Whether the algorithms choose between both gaps.

    Returns
    -------
    pandas.DataFrame
        One row for each iterate that both have: `literal` and `solver` (kinds of step),
        `gamma`, `fw_gap`, `away_gap` of the solver; `apart`, the largest difference of
        a weight; `tie`, whether the step that follows is one of several that are
        equally good up to 1e-9, so that rounding decides it.
    """
    rows = []
    for one, state in zip(literal, states, strict=False):
        weights = dense_weights(state, len(one.weights))
        rows.append(
            {
                "literal": one.kind,
                "solver": state.kind,
                "gamma": state.gamma,
                "fw_gap": state.fw_gap,
                "away_gap": state.away_gap,
                "apart": float(np.abs(weights - one.weights).max()),
                "tie": _is_tie(points, state, away),
            }
        )
    return pd.DataFrame(rows).rename_axis("t")


def _is_tie(points, state, away):
    """Several farthest points in different places, or both gaps equal."""
    if away and abs(state.fw_gap - state.away_gap) <= 1e-9 * state.gamma:
        return True
    distances = squared_distances(points, state.center)
    farthest = points[distances >= (1.0 - 1e-9) * distances.max()]
    return len(np.unique(farthest, axis=0)) > 1
