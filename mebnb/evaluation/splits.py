"""Splits of a data set into what a detector sees and what it is judged on.

The published splits are rebuilt to the row: `report_split`, `report_uniform` and
`report_gaussian` are the report's, `slides_split` is the slides'. `honest_split`
is the one to trust. A data set is anything with a name, numeric features
(`encoded()`) and `is_nominal`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler, StandardScaler

__all__ = [
    "SLIDES_PROTOCOL",
    "SlidesProtocol",
    "Split",
    "fitted_scaler",
    "honest_split",
    "report_gaussian",
    "report_split",
    "report_uniform",
    "seen_in_training",
    "slides_split",
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


def _split(name, values, rows, is_anomaly, feature_names):
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


# --- the report's ------------------------------------------------------------------


def report_split(dataset, seed=123, nominal_fraction=0.5, scaling="standard"):
    """Split a data set as the report did (Datasets, preprocessing).

    The nominal rows are shuffled with NumPy's legacy generator; the first
    int(nominal_fraction * N) train, the rest and every anomaly test. The scaler
    is fitted on the training rows.

    Parameters
    ----------
    dataset : Dataset
    seed : int
        The report used 123.
    nominal_fraction : float
        Share of the nominal rows that train, strictly between 0 and 1.
    scaling : {"standard", "minmax", "none"}
        The report used "standard" (mean 0, standard deviation 1, divisor N).

    Returns
    -------
    Split

    Raises
    ------
    ValueError
        When an argument is out of range or one side would be empty.

    Examples
    --------
    >>> from mebnb.datasets import load_dataset
    >>> report_split(load_dataset("breast_cancer"))
    Split(breast_cancer: train 178 nominal, test 179 nominal + 212 anomalies,
    30 features)
    """
    is_anomaly = ~np.asarray(dataset.is_nominal)
    nominal_rows = np.flatnonzero(~is_anomaly)
    order = np.arange(nominal_rows.size)
    np.random.RandomState(seed).shuffle(order)
    cut = _count(nominal_fraction, nominal_rows.size)
    train_rows = nominal_rows[order[:cut]]
    test_rows = np.concatenate([nominal_rows[order[cut:]], np.flatnonzero(is_anomaly)])

    features = dataset.encoded()
    values = features.to_numpy()
    train, test = values[train_rows], values[test_rows]
    scaled = _scaled(scaling, train, [train, test])
    return _split(
        dataset.name, scaled, (train_rows, test_rows), is_anomaly, features.columns
    )


def report_uniform(seed=123, honest=False, m=8000, n=15):
    """The report's uniform set: 8000 points in 15 dimensions and 2000 anomalies.

    Training points are uniform on [0, 0.7]^n, test points on [0.7, 1]^n. Every
    test point is an anomaly and lies outside the ball about the training cube, so
    that recall is 100 % by geometry and there is nothing to raise a false alarm on.

    Parameters
    ----------
    seed : int
        The report used 123.
    honest : bool
        False seeds the generator again before each array, as the report did; True
        draws all arrays from one stream of a new generator.
    m, n : int
        Training points, at least 8, and features; a quarter as many points test.

    Returns
    -------
    Split

    Raises
    ------
    ValueError
        For fewer than 8 points or no feature.
    """
    _check_size(m, n)
    draw, tests = _draws(seed, honest), m // 4
    train = draw(lambda random: random.uniform(0, 0.7, (n, m)).T)
    test = draw(lambda random: random.uniform(0.7, 1, (n, tests)).T)
    return _synthetic_split("uniform", train, test, np.ones(tests, dtype=bool))


def report_gaussian(seed=123, honest=False, m=8000, n=10):
    """The report's Gaussian set: 8000 points in 10 dimensions, 1000 + 1000 to test.

    Nominal points are standard normal, anomalies normal about (7, ..., 7). With
    the report's seeding each anomaly is a nominal test point plus 7.

    Parameters
    ----------
    seed : int
        The report used 123.
    honest : bool
        As in `report_uniform`.
    m, n : int
        As in `report_uniform`; half of the test points are nominal.

    Returns
    -------
    Split

    Raises
    ------
    ValueError
        For fewer than 8 points or no feature.
    """
    _check_size(m, n)
    draw, half = _draws(seed, honest), m // 8
    train = draw(lambda random: random.normal(0, 1, (n, m)).T)
    nominal = draw(lambda random: random.normal(0, 1, (n, half)).T)
    anomalies = draw(lambda random: random.normal(7, 1, (n, half)).T)
    return _synthetic_split(
        "gaussian",
        train,
        np.vstack([nominal, anomalies]),
        np.arange(2 * half) >= half,
    )


def _check_size(m, n):
    for name, value, least in (("m", m, 8), ("n", n, 1)):
        if not isinstance(value, (int, np.integer)) or value < least:
            raise ValueError(
                f"{name} must be a whole number >= {least}, found {value!r}"
            )


def _draws(seed, honest):
    if honest:
        stream = np.random.default_rng(seed)
        return lambda recipe: recipe(stream)
    return lambda recipe: recipe(np.random.RandomState(seed))


def _synthetic_split(name, train, test, test_is_anomaly):
    m, k = len(train), len(test)
    return _split(
        name,
        (train, test),
        (np.arange(m), np.arange(m, m + k)),
        np.concatenate([np.zeros(m, dtype=bool), test_is_anomaly]),
        [f"x{j + 1}" for j in range(train.shape[1])],
    )


# --- the slides' -------------------------------------------------------------------


@dataclass(frozen=True)
class SlidesProtocol:
    """What the slides did with one data set.

    Attributes
    ----------
    features : int
        K, the number of features kept.
    scaled : bool
        Whether a StandardScaler was fitted, on all training rows.
    decimals : int or None
        Decimals of the file that they read; None for the file as it is.
    """

    features: int
    scaled: bool = False
    decimals: int | None = None


SLIDES_PROTOCOL = {
    "breast_cancer": SlidesProtocol(features=4, scaled=True),
    "vertebral_column": SlidesProtocol(features=2, decimals=2),
    "maternal_risk": SlidesProtocol(features=3),
}


def slides_split(dataset, protocol=None, seed=22):
    """Split a data set as the slides did (Dataset Preprocessing I and II).

    70 % of all rows train, stratified; the scaler, where there is one, is fitted on
    nominal and anomalous training rows together, and the features are picked by
    their ANOVA F against the anomaly labels: labels leak into a method that is
    called unsupervised.

    Parameters
    ----------
    dataset : Dataset
    protocol : SlidesProtocol, optional
        By default the published one of this data set.
    seed : int
        The slides used 22.

    Returns
    -------
    Split

    Raises
    ------
    ValueError
        When there is no published protocol of this data set and none is given, or
        it asks for more features than there are.
    """
    if protocol is None:
        if dataset.name not in SLIDES_PROTOCOL:
            raise ValueError(
                f"protocol must be given for {dataset.name}: the slides' protocol is "
                f"known for {', '.join(SLIDES_PROTOCOL)}"
            )
        protocol = SLIDES_PROTOCOL[dataset.name]
    features = dataset.encoded()
    if not 1 <= protocol.features <= features.shape[1]:
        raise ValueError(
            f"protocol.features must be 1 to {features.shape[1]}, found "
            f"{protocol.features}"
        )
    if protocol.decimals is not None:
        features = features.round(protocol.decimals)
    values = features.to_numpy()
    is_anomaly = ~np.asarray(dataset.is_nominal)
    train_rows, test_rows = train_test_split(
        np.arange(len(values)), test_size=0.3, stratify=is_anomaly, random_state=seed
    )
    train, test = _scaled(
        "standard" if protocol.scaled else "none",
        values[train_rows],
        [values[train_rows], values[test_rows]],
    )
    kept = np.arange(train.shape[1])
    # Nothing to pick where all are kept; constant features would only give warnings.
    if protocol.features < kept.size:
        chosen = SelectKBest(f_classif, k=protocol.features)
        chosen.fit(train, is_anomaly[train_rows])
        kept = chosen.get_support(indices=True)
    return _split(
        f"{dataset.name}, slides",
        (train[:, kept], test[:, kept]),
        (train_rows, test_rows),
        is_anomaly,
        features.columns[kept],
    )


# --- the honest one ----------------------------------------------------------------


def honest_split(dataset, seed=0, nominal_fraction=0.5, scaling="standard"):
    """Split a data set so that the test says something about new data.

    Rows with equal features stay on one side. Distinct nominal points are shuffled
    and the first share of them trains; every other row tests. An anomaly whose
    features equal those of a training point is left out: it would be a test point
    that was seen. The scaler is fitted on the training rows.

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
    cut = _count(nominal_fraction, nominal_points.size)
    seen = np.isin(point, nominal_points[:cut])
    train_rows, test_rows = np.flatnonzero(seen & ~is_anomaly), np.flatnonzero(~seen)
    train, test = values[train_rows], values[test_rows]
    return _split(
        f"{dataset.name}, honest",
        _scaled(scaling, train, [train, test]),
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


def _count(fraction, total):
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


def _scaled(scaling, fit_on, arrays):
    scaler = fitted_scaler(scaling, fit_on)
    return [scaler.transform(array) if scaler else array for array in arrays]
