"""The paper's protocol: splits, fits, and the four counts of each.

A run is a table of whole numbers, from which every score follows; the one that the
notebook shows is kept beside this file, in `results.csv`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from mebnb.datasets import load_dataset
from mebnb.learning.rare_classes import (
    ABLATION,
    C5_TREES,
    METHODS,
    PAPER,
    READINGS,
    RIVALS,
    STANDARDISED,
    has_c50,
)

__all__ = [
    "COLUMNS",
    "FEWER",
    "SETS",
    "Fit",
    "examples",
    "fresh_splits",
    "full_protocol",
    "repeats_training",
    "run",
    "split",
    "standardised_protocol",
    "stored_run",
    "stored_standardised_run",
    "thinned",
    "unseen",
]

SETS = {
    "Yeast3": "yeast3",
    "Abalone": "abalone6",
    "Wine": "wine4",
    "Abalone17": "abalone17",
    "Yeast6": "yeast6",
    "Abalone20": "abalone20",
    "Abalone19": "abalone19",
}
"""The paper's names of its sets -> ours, in the order of Table 1."""

FEWER = (25, 18, 12)
"""Positives left in Yeast6 for 98.3, 98.8 and 99.2 % of negatives (Figure 3)."""

COLUMNS = (
    "experiment",
    "dataset",
    "positives",
    "repeat",
    "method",
    "tp",
    "fp",
    "fn",
    "tn",
    "average_precision",
    "unseen_tp",
    "unseen_fp",
    "unseen_fn",
    "unseen_tn",
    "unseen_average_precision",
)
"""Of a run: "unseen" are the test rows that do not repeat a training row."""


@dataclass(frozen=True)
class Fit:
    """One method to be fitted on one split.

    Attributes
    ----------
    experiment : str
        "fresh split", "one split" or "fewer positives".
    dataset : str
        From `SETS`.
    positives : int or None
        How many are kept; None for all.
    repeat : int
        Seed of the method, and of the draw of positives.
    split_seed : int
    method : str
        From `METHODS`.
    """

    experiment: str
    dataset: str
    positives: int | None
    repeat: int
    split_seed: int
    method: str


@cache
def examples(dataset):
    """Features and classes of one of the paper's sets.

    Parameters
    ----------
    dataset : str
        From `SETS`.

    Returns
    -------
    X : ndarray, shape (m, d)
        A nominal feature is one 0/1 column per value.
    y : ndarray of int, shape (m,)
        1 for the rare class.

    Raises
    ------
    ValueError
        For an unknown name.
    """
    if dataset not in SETS:
        raise ValueError(f"dataset must be one of {', '.join(SETS)}; found {dataset!r}")
    data = load_dataset(SETS[dataset])
    return data.encoded().to_numpy(), data.is_anomaly.astype(int)


def thinned(X, y, positives, seed):
    """The same examples with only some of the positives, drawn at random.

    Fewer positives of the same seed are a part of more.

    Parameters
    ----------
    X : ndarray, shape (m, d)
    y : ndarray, shape (m,)
    positives : int or None
        None keeps all.
    seed : int

    Returns
    -------
    X, y : ndarray
    """
    rows = np.flatnonzero(y == 1)
    if positives is None:
        return X, y
    if not 5 <= positives <= len(rows):
        raise ValueError(
            f"positives must be None or from 5 to {len(rows)}, found {positives!r}"
        )
    dropped = np.random.default_rng(seed).permutation(rows)[positives:]
    return np.delete(X, dropped, axis=0), np.delete(y, dropped)


def split(X, y, seed):
    """Four fifths to train on and a fifth to test on, with the same shares of classes.

    Parameters
    ----------
    X : ndarray, shape (m, d)
    y : ndarray, shape (m,)
    seed : int

    Returns
    -------
    train_X, test_X, train_y, test_y : ndarray
    """
    return train_test_split(X, y, test_size=0.2, stratify=y, random_state=seed)


def repeats_training(train_X, test_X):
    """Which test rows have the features of a training row, entry for entry.

    Parameters
    ----------
    train_X : ndarray, shape (k, d)
    test_X : ndarray, shape (l, d)

    Returns
    -------
    ndarray of bool, shape (l,)

    Examples
    --------
    >>> repeats_training(np.array([[1, 2], [3, 4]]), np.array([[3, 4], [3, 5]]))
    array([ True, False])
    """
    rows = np.vstack([train_X, test_X])
    number = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    return np.isin(number[len(train_X) :], number[: len(train_X)])


def fresh_splits(
    sets, methods, repeats, positives=None, *, first=0, experiment="fresh split"
):
    """Fits on a new split for each repeat.

    Parameters
    ----------
    sets : sequence of str
        Different names from `SETS`.
    methods : sequence of str
        From `METHODS`.
    repeats : int
    positives : int or None
    first : int
        Seed of the first repeat; the others follow.
    experiment : str

    Returns
    -------
    list of Fit

    Raises
    ------
    ValueError
        For sets that are none or not known.
    """
    if not sets or len(set(sets)) < len(sets) or not set(sets) <= set(SETS):
        raise ValueError(
            f"sets must be a list of different names from {', '.join(SETS)}, "
            f"found {sets!r}"
        )
    return [
        Fit(experiment, dataset, positives, repeat, repeat, method)
        for dataset in sets
        for repeat in range(first, first + repeats)
        for method in methods
    ]


def full_protocol(repeats):
    """Every fit behind the tables and figures of the notebook.

    The paper's methods, rivals and ablation on fresh splits; the other readings on the
    first third of these; the paper's methods on one split, half as often; Yeast6 with
    fewer positives, half as often. Without c50py its four trees are left out.

    Parameters
    ----------
    repeats : int

    Returns
    -------
    list of Fit
    """
    trees = C5_TREES if has_c50() else ()
    sets = list(SETS)
    main = (*PAPER, *trees, *RIVALS, *ABLATION)
    fits = fresh_splits(sets, main, repeats)
    fits += fresh_splits(sets, READINGS, max(1, repeats // 3))
    half = max(1, repeats // 2)
    fits += [
        Fit("one split", dataset, None, repeat, 0, method)
        for dataset in sets
        for repeat in range(half)
        for method in PAPER
    ]
    shown = (*PAPER, *trees, *RIVALS)
    for positives in FEWER:
        fits += fresh_splits(
            ["Yeast6"], shown, half, positives, experiment="fewer positives"
        )
    return fits


def standardised_protocol(repeats):
    """Where an ellipsoid can act: ME2 on standardised features, with and without it.

    Parameters
    ----------
    repeats : int
        The same splits as in `full_protocol`.

    Returns
    -------
    list of Fit
    """
    return fresh_splits(list(SETS), STANDARDISED, repeats)


def run(fits, tell=None):
    """Fit and count, in the given order, on one thread.

    Parameters
    ----------
    fits : iterable of Fit
    tell : callable or None
        Called with each Fit before it begins.

    Returns
    -------
    pandas.DataFrame
        `COLUMNS`, one row a fit: true and false positives and negatives of the test
        part, and the average precision of the method's score; the same once more for
        the test rows that do not repeat a training row.
    """
    rows = []
    with threadpool_limits(1):
        for fit in fits:
            if tell is not None:
                tell(fit)
            rows.append(_judged(fit))
    return pd.DataFrame(rows, columns=COLUMNS)


def _judged(fit):
    X, y = thinned(*examples(fit.dataset), fit.positives, fit.repeat)
    train_X, test_X, train_y, test_y = split(X, y, fit.split_seed)
    model = METHODS[fit.method].make(fit.repeat).fit(train_X, train_y)
    called, truth = model.predict(test_X) == 1, test_y == 1
    rarity = _rarity(model, test_X)
    new = ~repeats_training(train_X, test_X)
    return (
        fit.experiment,
        fit.dataset,
        int(y.sum()),
        fit.repeat,
        fit.method,
        *_counted(called, truth, rarity),
        *_counted(called[new], truth[new], rarity[new]),
    )


def _counted(called, truth, rarity):
    return (
        int(np.sum(called & truth)),
        int(np.sum(called & ~truth)),
        int(np.sum(~called & truth)),
        int(np.sum(~called & ~truth)),
        float(average_precision_score(truth, rarity)),
    )


def _rarity(model, X):
    """The higher, the more an example looks like class 1."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1]


def unseen(frame):
    """A run as it stands when test rows that repeat a training row are left out.

    Parameters
    ----------
    frame : pandas.DataFrame
        From `run` or `stored_run`.

    Returns
    -------
    pandas.DataFrame
        Without the columns `unseen_*`: the columns that they stand beside have their
        values, so that every table can be made of either.
    """
    beside = [name for name in COLUMNS if name.startswith("unseen_")]
    names = {name: name.removeprefix("unseen_") for name in beside}
    return frame.drop(columns=names.values()).rename(columns=names)


def stored_run():
    """The run of the full protocol that the project keeps.

    Returns
    -------
    pandas.DataFrame
        As `run`.
    """
    return _kept("results.csv")


def stored_standardised_run():
    """The run of `standardised_protocol` that the project keeps.

    Returns
    -------
    pandas.DataFrame
        As `run`.
    """
    return _kept("standardised.csv")


def _kept(name):
    path = files("mebnb.experiments.rare_classes") / name
    with path.open(encoding="utf-8") as file:
        return pd.read_csv(file)
