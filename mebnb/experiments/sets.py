"""The sets and clouds that experiments run on, and the balls that grow as points are left out."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from mebnb.datasets import DatasetNotAvailable, load_dataset
from mebnb.experiments.published_splits import (
    report_gaussian,
    report_split,
    report_uniform,
    slides_split,
)
from mebnb.solvers.balls import squared_distances
from mebnb.solvers.exact import minimum_enclosing_ball

__all__ = [
    "available_sets",
    "boundary_table",
    "clouds_like",
    "growing_balls",
    "left_out",
    "normal_cloud",
    "span_coordinates",
    "sphere_cloud",
    "training_sets",
]


# --- sets --------------------------------------------------------------------------
_TRAINING_SETS = {
    "uniform": lambda: report_uniform(),
    "Gaussian": lambda: report_gaussian(),
    "breast cancer": lambda: report_split(load_dataset("breast_cancer")),
    "churn": lambda: report_split(load_dataset("iranian_churn")),
    "breast cancer (slides)": lambda: slides_split(load_dataset("breast_cancer")),
    "vertebral (slides)": lambda: slides_split(load_dataset("vertebral_column")),
    "maternal (slides)": lambda: slides_split(load_dataset("maternal_risk")),
}


def training_sets(*names):
    """Training points of the documents' experiments, by the names that the tables use.

    Parameters
    ----------
    *names : str
        "uniform", "Gaussian", "breast cancer", "churn" (the report's splits);
        "breast cancer (slides)", "vertebral (slides)", "maternal (slides)".

    Returns
    -------
    dict of str -> ndarray, shape (m, n)

    Raises
    ------
    ValueError
        For an unknown name.
    DatasetNotAvailable
        When the file of a set is not on this machine.

    Examples
    --------
    >>> training_sets("Gaussian")["Gaussian"].shape
    (8000, 10)
    """
    for name in names:
        if name not in _TRAINING_SETS:
            raise ValueError(
                f"sets must be from {', '.join(_TRAINING_SETS)}, found {name!r}"
            )
    return {name: _TRAINING_SETS[name]().train for name in names}


def available_sets(*names):
    """As `training_sets`, with the sets left out whose files are not on this machine.

    Parameters
    ----------
    *names : str

    Returns
    -------
    sets : dict of str -> ndarray, shape (m, n)
    missing : list of str
        One sentence for each set left out: what it is and where it comes from.
    """
    sets, missing = {}, []
    for name in names:
        try:
            sets |= training_sets(name)
        except DatasetNotAvailable as error:
            missing.append(str(error))
    return sets, missing


def normal_cloud(m, n, seed):
    """A standard normal cloud.

    Parameters
    ----------
    m, n : int
        Points and features.
    seed : int

    Returns
    -------
    ndarray, shape (m, n)
    """
    return np.random.default_rng(seed).standard_normal((m, n))


def sphere_cloud(m, n, seed):
    """Points spread evenly over the unit sphere: all of them equally far from 0.

    Parameters
    ----------
    m, n : int
    seed : int

    Returns
    -------
    ndarray, shape (m, n)
    """
    cloud = normal_cloud(m, n, seed)
    return cloud / np.sqrt(squared_distances(cloud, np.zeros(n)))[:, None]


def span_coordinates(points):
    """The points in coordinates of the flat that they span: no distance changes.

    Parameters
    ----------
    points : ndarray, shape (m, n)

    Returns
    -------
    ndarray, shape (m, min(m - 1, n)), at least one column
        With the mean at the origin.
    """
    directions, lengths, _ = np.linalg.svd(
        points - points.mean(axis=0), full_matrices=False
    )
    # Centred points have a rank of at most m - 1.
    return (directions * lengths)[:, : max(len(points) - 1, 1)]


def clouds_like(points, seed):
    """A cloud, and two as large and as wide whose features know nothing of each other.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    seed : int

    Returns
    -------
    dict of str -> ndarray, shape (m, min(m, n))
        "data"; "shuffled", each column permuted on its own, so that every feature
        keeps its values; "normal", standard normal, stretched to the data's mean
        squared distance from the mean. All in coordinates of their span.
    """
    rng = np.random.default_rng(seed)
    shuffled = rng.permuted(points, axis=0)
    normal = rng.standard_normal(points.shape)
    normal *= np.sqrt(points.var(axis=0).sum() / normal.var(axis=0).sum())
    clouds = {"data": points, "shuffled": shuffled, "normal": normal}
    return {name: span_coordinates(cloud) for name, cloud in clouds.items()}


# --- balls of few points in many dimensions ----------------------------------------
def left_out(points):
    """Points that lie outside of the smallest ball of the others.

    These are the support points: their weights are positive and, as the solver's
    support is affinely independent, unique.

    Parameters
    ----------
    points : ndarray, shape (m, n)

    Returns
    -------
    ndarray of int
        Row numbers, ascending.
    """
    found = []
    for row in range(len(points)):
        ball = minimum_enclosing_ball(np.delete(points, row, axis=0))
        if _outside(ball, points[[row]]):
            found.append(row)
    return np.array(found)


def growing_balls(points, sizes, *, repeats, seed=0):
    """Smallest balls of random subsets, and what they say of the points not in them.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    sizes : sequence of int
        Numbers of points, less than m.
    repeats : int
        Subsets of each size.
    seed : int

    Returns
    -------
    pandas.DataFrame
        Indexed by points; means over the subsets of support (share of the points that
        carry the ball), outside (share of the other points beyond it) and radius.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(repeats):
        order = rng.permutation(len(points))
        for size in sizes:
            ball = minimum_enclosing_ball(points[order[:size]])
            rows.append(
                {
                    "points": size,
                    "support": ball.support.size / size,
                    "outside": _outside(ball, points[order[size:]]).mean(),
                    "radius": ball.radius,
                }
            )
    return pd.DataFrame(rows).groupby("points").mean()


def _outside(ball, points):
    return squared_distances(points, ball.center) > ball.radius**2 * (1 + 1e-9)


def boundary_table(clouds, labels):
    """How much of a cloud lies on the boundary of its smallest ball.

    Parameters
    ----------
    clouds : dict of str -> ndarray, shape (m, n)
    labels : callable
        Name of a cloud -> its name in the table.

    Returns
    -------
    pandas.DataFrame
        Formatted; one column a cloud. The effective dimension is (sum of the
        covariance's eigenvalues)^2 / sum of their squares: n for a round cloud of many
        points, 1 for a line. The simplex has the same m and mean squared distance.
    """
    columns = {}
    for name, cloud in clouds.items():
        ball = minimum_enclosing_ball(cloud)
        distances = np.sqrt(squared_distances(cloud, ball.center)) / ball.radius
        spread = np.linalg.svd(cloud - cloud.mean(axis=0), compute_uv=False) ** 2
        simplex = math.sqrt(spread.sum() / len(cloud))
        columns[labels(name)] = {
            "points": str(len(cloud)),
            "effective dimension": f"{spread.sum() ** 2 / (spread**2).sum():.1f}",
            "support points": str(ball.support.size),
            "outside of the ball of the others": str(left_out(cloud).size),
            "points within 5 % of the radius": str(int((distances > 0.95).sum())),
            "nearest point, in radii": f"{distances.min():.2f}",
            "radius over that of a regular simplex": f"{ball.radius / simplex:.3f}",
        }
    return pd.DataFrame(columns)
