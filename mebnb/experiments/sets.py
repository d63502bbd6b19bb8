"""The sets and clouds that experiments run on, and the balls that grow as points are left out."""

from __future__ import annotations

import numpy as np

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
    "left_out",
    "normal_cloud",
    "outside_of",
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
    """Points spread evenly over the unit sphere: all of them equally far from 0."""
    cloud = normal_cloud(m, n, seed)
    return cloud / np.sqrt(squared_distances(cloud, np.zeros(n)))[:, None]


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
        if outside_of(ball, points[[row]]):
            found.append(row)
    return np.array(found)


def outside_of(ball, points):
    """Which points lie outside of a ball by more than rounding.

    Parameters
    ----------
    ball : Solution
    points : ndarray, shape (m, n)

    Returns
    -------
    ndarray of bool, shape (m,)
    """
    return squared_distances(points, ball.center) > ball.radius**2 * (1 + 1e-9)
