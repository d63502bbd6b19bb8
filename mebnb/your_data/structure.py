"""Structure in the nominal rows that a detector may not see, told in sentences."""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from mebnb.learning.choice import candidates, shares_found
from mebnb.learning.clusters import clusters_apart
from mebnb.learning.detectors import BallDetector

__all__ = ["structure_cautions"]

MOST_ROWS = 2000
"""Rows that are looked at, at most: for speed."""

MOST_COLUMNS = 500
FEWEST = 50
"""Rows that differ, below which no structure is looked for."""

CLEARLY = 0.1
"""By this much more of the made-up rows another detector must find."""

TOGETHER = 0.8
FOLLOWS = 0.9
RIDGE = 1e-9
SEES_ALL = ("whitened", "committee")


@threadpool_limits.wrap(limits=1)
def structure_cautions(table, detector, nu):
    """Sentences on correlated columns, clusters, and a detector that is clearly better.

    Parameters
    ----------
    table : Table
    detector : {"ball", "soft", "local", "whitened", "committee"}
        That judges the rows.
    nu : float

    Returns
    -------
    list of str
    """
    points = _sample(table)
    if len(np.unique(points, axis=0)) < FEWEST or points.shape[1] > MOST_COLUMNS:
        return []
    return [
        *_correlated(points, list(table.values), detector),
        *_clustered(points, detector),
        *_better(points, detector, nu),
    ]


def _sample(table):
    """Nominal rows, standardised as seen from the first of them."""
    values = table.values if table.labels is None else table.values[table.is_nominal]
    if len(values) > MOST_ROWS:
        values = values.sample(MOST_ROWS, random_state=0)
    points = values.to_numpy(dtype=float)
    return StandardScaler().fit_transform(points - points[0])


def _correlated(points, names, detector):
    """Pairs of columns that go together; else a column that follows from the others."""
    varies = np.flatnonzero(points.std(axis=0) > 0)
    if len(varies) < 2:
        return []
    correlation = np.corrcoef(points[:, varies], rowvar=False)
    size = np.triu(np.abs(correlation), 1)
    unseen = "" if detector in SEES_ALL else _UNSEEN
    if size.max() >= TOGETHER:
        pairs = np.argwhere(size >= TOGETHER)
        pairs = pairs[np.argsort(-size[tuple(pairs.T)], kind="stable")]
        shown = [
            f"{names[varies[i]]} and {names[varies[j]]} ({correlation[i, j]:.2f})"
            for i, j in pairs[:3]
        ]
        more = f" and {len(pairs) - 3} pairs more" if len(pairs) > 3 else ""
        return [f"Columns are strongly correlated: {', '.join(shown)}{more}.{unseen}"]
    if len(points) < 5 * len(varies):
        return []
    # A column that is a sum of others makes the matrix singular: a little is added.
    ridge = correlation + RIDGE * np.eye(len(correlation))
    explained = 1.0 - 1.0 / np.diag(np.linalg.inv(ridge))
    at = int(explained.argmax())
    if explained[at] < FOLLOWS:
        return []
    return [
        f"{names[varies[at]]} follows from the other columns together (they explain "
        f"{explained[at]:.0%} of it).{unseen}"
    ]


_UNSEEN = (
    " A row that breaks this need not be far from the center: detector whitened looks for "
    "such rows."
)


def _clustered(points, detector):
    sizes = clusters_apart(points)
    if len(sizes) < 2:
        return []
    told = (
        f"The nominal rows form {len(sizes)} clusters with gaps between them, of "
        f"{', '.join(map(str, sizes))} rows."
    )
    if detector in ("ball", "soft"):
        told += (
            " One ball holds what lies between them too: detectors whitened and local do "
            "not."
        )
    return [told]


def _better(points, detector, nu):
    """A sentence where another detector finds clearly more of rows that are made up."""
    compared = candidates(nu)
    if detector == "ball":
        compared = {"ball": BallDetector()} | compared
    if detector not in compared:  # a committee, of all that it could be compared with
        return []
    found = shares_found(compared, points)["mean"]
    best = found.idxmax()
    if found[best] - found[detector] < CLEARLY:
        return []
    return [
        f"Detector {best} is clearly better on rows made up from the nominal ones: at one "
        f"rate of false alarms it finds {found[best]:.0%} of them, {detector} "
        f"{found[detector]:.0%}. Real anomalies may be of another kind."
    ]
