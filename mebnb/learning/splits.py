"""Splits of a data set into what a detector sees and what it is judged on.

The published splits are rebuilt to the row: `report_split`, `report_uniform` and
`report_gaussian` are the report's, `slides_split` is the slides'. `honest_split`
is the one to trust. A data set is anything with a name, numeric features
(`encoded()`) and `is_nominal`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from sklearn.preprocessing import MinMaxScaler, StandardScaler

__all__ = [
    "SCALERS",
    "Split",
    "fitted_scaler",
    "honest_split",
    "seen_in_training",
    "without_repeats",
]


SCALERS = {"standard": StandardScaler, "minmax": MinMaxScaler, "none": None}


@dataclass(frozen=True, repr=False, eq=False)
class Split:
    """Points to fit on and points to judge by; anomalies are the positive class.

    Attributes
    ----------
    name : str
        The data set and the protocol.
    train : ndarray, shape (m, n)
        Nominal training points: the ball is fitted on these.
    test : ndarray, shape (k, n)
    test_is_anomaly : ndarray of bool, shape (k,)
    feature_names : tuple of str
    train_rows, test_rows : ndarray of int
        Row numbers in the data set; for synthetic points their own numbers.
    whole_train : ndarray, shape (m', n)
        The training side with the anomalies that a protocol put there; equal to
        `train` where it put none.
    whole_train_is_anomaly : ndarray of bool, shape (m',)
    """

    name: str
    train: np.ndarray
    test: np.ndarray
    test_is_anomaly: np.ndarray
    feature_names: tuple[str, ...]
    train_rows: np.ndarray
    test_rows: np.ndarray
    whole_train: np.ndarray
    whole_train_is_anomaly: np.ndarray

    def __repr__(self):
        anomalies = int(self.test_is_anomaly.sum())
        return (
            f"Split({self.name}: train {self.train.shape[0]} nominal, test "
            f"{self.test.shape[0] - anomalies} nominal + {anomalies} anomalies, "
            f"{self.train.shape[1]} features)"
        )


def built_split(name, values, rows, is_anomaly, feature_names):
    """A Split from the values of both sides and their row numbers."""
    train, test = values
    train_rows, test_rows = rows
    train_is_anomaly = is_anomaly[train_rows]
    return Split(
        name=name,
        train=np.ascontiguousarray(train[~train_is_anomaly]),
        test=np.ascontiguousarray(test),
        test_is_anomaly=is_anomaly[test_rows],
        feature_names=tuple(feature_names),
        train_rows=train_rows[~train_is_anomaly],
        test_rows=test_rows,
        whole_train=np.ascontiguousarray(train),
        whole_train_is_anomaly=train_is_anomaly,
    )


# --- the honest one ----------------------------------------------------------------
def honest_split(dataset, seed=0, nominal_fraction=0.5, scaling="standard"):
    """Split a data set so that the test says something about new data.

    Nominal rows with equal features stay on one side. Distinct nominal points are shuffled
    and the first share of them trains; every other row tests, and so does every
    anomaly. One whose features equal those of a training point stays: a detector
    that accepts its training points misses it, and that miss is real. The scaler is
    fitted on the training rows.

    Selection of features or components belongs into the detector, as a
    scikit-learn pipeline: there it is fitted on nominal training rows alone.

    Parameters
    ----------
    dataset : Dataset
    seed : int
    nominal_fraction : float
        Share of the distinct nominal points that train, strictly between 0 and 1.
    scaling : {"standard", "minmax", "none"}

    Returns
    -------
    Split

    Raises
    ------
    ValueError
        When an argument is out of range or nothing would be left to train on.
    """
    features = dataset.encoded()
    # Zero added: -0.0 and 0.0 are the same value, but not the same bytes.
    values = features.to_numpy() + 0.0
    is_anomaly = ~np.asarray(dataset.is_nominal)
    _, point = np.unique(values, axis=0, return_inverse=True)
    point = point.ravel()
    nominal_points = np.unique(point[~is_anomaly])
    np.random.default_rng(seed).shuffle(nominal_points)
    cut = share_of(nominal_fraction, nominal_points.size)
    seen = np.isin(point, nominal_points[:cut])
    train_rows = np.flatnonzero(seen & ~is_anomaly)
    test_rows = np.flatnonzero(~seen | is_anomaly)
    train, test = values[train_rows], values[test_rows]
    return built_split(
        f"{dataset.name}, honest",
        scaled_alike(scaling, train, [train, test]),
        (train_rows, test_rows),
        is_anomaly,
        features.columns,
    )


def seen_in_training(dataset, split):
    """How many test rows repeat the features of a row that the detector was fitted on.

    Parameters
    ----------
    dataset : Dataset
    split : Split
        Of this data set.

    Returns
    -------
    pandas.DataFrame
        Index: the data set's labels. Columns "test rows", "seen" (repeated in
        training) and "share".
    """
    values = dataset.encoded().to_numpy() + 0.0
    known = {row.tobytes() for row in values[split.train_rows]}
    seen = [values[row].tobytes() in known for row in split.test_rows]
    labels = dataset.labels.to_numpy()[split.test_rows]
    table = pd.Series(seen).groupby(labels).agg(["size", "sum", "mean"])
    return table.set_axis(["test rows", "seen", "share"], axis=1).rename_axis("label")


# --- what the splits share ---------------------------------------------------------
def share_of(fraction, total):
    if not 0 < fraction < 1:
        raise ValueError(
            f"nominal_fraction must lie strictly between 0 and 1, found {fraction!r}"
        )
    count = int(fraction * total)
    if count == 0:
        raise ValueError(
            f"nominal_fraction must leave a row to train on, found {fraction!r} of "
            f"{total} nominal rows"
        )
    return count


def fitted_scaler(scaling, points):
    """A scaler fitted to points, or None for no scaling.

    Parameters
    ----------
    scaling : {"standard", "minmax", "none"}
    points : ndarray, shape (m, n)

    Returns
    -------
    StandardScaler, MinMaxScaler or None

    Raises
    ------
    ValueError
        For another scaling.
    """
    if scaling not in list(SCALERS):
        raise ValueError(
            f"scaling must be one of {', '.join(SCALERS)}; found {scaling!r}"
        )
    return SCALERS[scaling] and SCALERS[scaling]().fit(points)


def scaled_alike(scaling, fit_on, arrays):
    scaler = fitted_scaler(scaling, fit_on)
    return [scaler.transform(array) if scaler else array for array in arrays]


def without_repeats(split):
    """A split whose training points are distinct.

    A row that is held out of training but equals a row in it looks nearer than any new
    point, so that a threshold read off it is too tight where the test has none such.

    Parameters
    ----------
    split : Split

    Returns
    -------
    Split
        With the first of equal training rows; the test side is the same.
    """
    _, first = np.unique(split.train, axis=0, return_index=True)
    first.sort()
    return replace(split, train=split.train[first], train_rows=split.train_rows[first])
