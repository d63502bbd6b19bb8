"""The splits of the report and of the slides, rebuilt to the row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import train_test_split

from mebnb.learning.splits import built_split, scaled_alike, share_of

__all__ = [
    "SLIDES_PROTOCOL",
    "SlidesProtocol",
    "report_gaussian",
    "report_split",
    "report_uniform",
    "slides_split",
]


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
    cut = share_of(nominal_fraction, nominal_rows.size)
    train_rows = nominal_rows[order[:cut]]
    test_rows = np.concatenate([nominal_rows[order[cut:]], np.flatnonzero(is_anomaly)])

    features = dataset.encoded()
    values = features.to_numpy()
    train, test = values[train_rows], values[test_rows]
    scaled = scaled_alike(scaling, train, [train, test])
    return built_split(
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
    return built_split(
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
    train, test = scaled_alike(
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
    return built_split(
        f"{dataset.name}, slides",
        (train[:, kept], test[:, kept]),
        (train_rows, test_rows),
        is_anomaly,
        features.columns[kept],
    )
