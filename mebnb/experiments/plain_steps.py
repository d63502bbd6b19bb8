"""The steps of a plain algorithm beside those of the solver that does the work."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mebnb.solvers.balls import dense_weights
from mebnb.solvers.plain import squared_distances

__all__ = ["beside_plain"]

# Two weights, or two step lengths, that differ by no more are the same.
SAME = 1e-12
# Squared distances that differ by less than this part of gamma are tied: exact steps
# make them equal, and rounding tells them apart.
TIED = 1e-9
COLUMNS = [
    *("towards", "away from", "length", "solver"),
    *("same points", "same length", "same weights", "tie"),
]


def beside_plain(points, steps, states, rival=None):
    """Whether a solver takes the steps of the plain algorithm.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    steps : sequence of mebnb.solvers.plain.Step
        Of the plain algorithm.
    states : sequence of State
        What the solver's callback saw, its start first.
    rival : {None, "away", "local"}
        The gap that the algorithm holds against the Frank-Wolfe gap, if any: the away
        gap, or the difference of squared distances within the active set.

    Returns
    -------
    pandas.DataFrame
        One row a step that both took: `towards`, `away from` (a point, or "-" for
        the iterate) and `length` of the plain step; `solver`, the kind of the solver's;
        `same points`, `same length`, `same weights`, the last two to 1e-12; and `tie`:
        whether other choices were as good but for rounding, so that a difference here
        and from here on says nothing. No row where the start was good enough.
    """
    rows = []
    for step, before, after in zip(steps, states, states[1:], strict=False):
        old, new = (dense_weights(state, len(points)) for state in (before, after))
        rows.append(
            {
                "towards": "-" if step.towards is None else str(step.towards),
                "away from": "-" if step.away is None else str(step.away),
                "length": float(step.alpha),
                "solver": after.kind,
                "same points": _ends(step) == _moved(old, new, after.step, step),
                "same length": bool(abs(step.alpha - after.step) <= SAME),
                "same weights": bool(np.abs(step.weights - new).max() <= SAME),
                "tie": _is_tie(points, old, step, rival),
            }
        )
    numbers = pd.RangeIndex(1, len(rows) + 1, name="step")
    return pd.DataFrame(rows, index=numbers, columns=COLUMNS)


def _ends(step):
    return {int(end) for end in (step.towards, step.away) if end is not None}


def _moved(old, new, length, step):
    """The points whose weights changed by more than the factor all weights share."""
    shared = 1.0
    if step.away is None:
        shared -= length
    elif step.towards is None:
        shared += length
    return set(np.flatnonzero(np.abs(new - shared * old) > SAME).tolist())


def _is_tie(points, weights, step, rival):
    """Whether rounding chose the points of the step, or the kind of step."""
    distances = squared_distances(points, weights @ points)
    gamma = weights @ distances
    active = np.flatnonzero(weights)

    def tied(chosen, among):
        if chosen is None:
            return False
        close = np.abs(distances[among] - distances[chosen]) <= TIED * gamma
        return np.count_nonzero(close) > 1

    nearest, farthest = distances[active].min(), distances[active].max()
    rivals = {"away": gamma - nearest, "local": farthest - nearest}
    gap = distances.max() - gamma
    return bool(
        tied(step.towards, np.arange(len(points)))
        or tied(step.away, active)
        or (rival is not None and abs(rivals[rival] - gap) <= TIED * gamma)
    )
