"""`load_dataset`, `list_datasets` and the commands behind `mebnb data`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from mebnb.datasets.cards import CARDS, RULES, Card, card_of
from mebnb.datasets.checking import check_values, parse_verified
from mebnb.datasets.download import fetch, install
from mebnb.datasets.parsing import breast_cancer
from mebnb.datasets.places import (
    MIRROR,
    DatasetNotAvailable,
    find,
    not_available,
    read_file,
)

__all__ = [
    "Dataset",
    "dataset_file",
    "fetch_dataset",
    "gene_expression_labels",
    "list_datasets",
    "load_dataset",
    "verify_datasets",
]


@dataclass(frozen=True, repr=False, eq=False)
class Dataset:
    """A data set as published, row by row in file order.

    Attributes
    ----------
    name : str
    features : pandas.DataFrame, shape (m, n)
    labels : pandas.Series, shape (m,)
    nominal : tuple
        The labels that count as nominal.
    card : Card
        Source, DOI, licence, hash, counts and quirks.
    """

    name: str
    features: pd.DataFrame
    labels: pd.Series
    nominal: tuple
    card: Card

    @property
    def is_nominal(self):
        """ndarray of bool, shape (m,): True where the label is a nominal one."""
        return self.labels.isin(self.nominal).to_numpy()

    @property
    def is_anomaly(self):
        """ndarray of bool, shape (m,): the rows that are not nominal."""
        return ~self.is_nominal

    def encoded(self):
        """Features as numbers: a column of text becomes one 0/1 column per value.

        Returns
        -------
        pandas.DataFrame of float64, shape (m, n')
            Equal to `features` where those are numbers already.
        """
        return pd.get_dummies(self.features, dtype=np.float64).astype(np.float64)

    def __repr__(self):
        m, n = self.features.shape
        return (
            f"Dataset({self.name}: {m} rows, {n} features, "
            f"{int(self.is_nominal.sum())} nominal)"
        )

    def _repr_html_(self):
        return self.card._repr_html_()


def load_dataset(name, download=True):
    """Load a data set, verified against its card.

    It is read from the clone's `data/`, the cache, or the folder named by
    MEBNB_DATA_MIRROR; else it is downloaded from its official address.

    Parameters
    ----------
    name : str
        One of the names in `list_datasets()`.
    download : bool
        Whether a set that is not on this machine is downloaded.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        When no data set has this name.
    DatasetNotAvailable
        When it cannot be had, or is not the published one; one sentence.

    Examples
    --------
    >>> load_dataset("breast_cancer")
    Dataset(breast_cancer: 569 rows, 30 features, 357 nominal)
    """
    card = card_of(name)
    if card.parent:
        features, labels = _derive(card, load_dataset(card.parent, download))
        check_values(card, features, labels, f"the set derived from {card.parent}")
    elif not card.file:
        features, labels = breast_cancer()
        check_values(card, features, labels, "scikit-learn's copy")
    else:
        path = _path(card, download)
        features, labels = parse_verified(card, read_file(card, path), str(path))
    return Dataset(name, features, labels, card.nominal, card)


def gene_expression_labels(download=True):
    """The labels of gene_expression alone, which a mirror may hold without the data.

    Parameters
    ----------
    download : bool
        Whether a missing data set may be fetched from the network.

    Returns
    -------
    pandas.Series of str
        Tumour class of each row.

    Raises
    ------
    DatasetNotAvailable
        When neither the labels nor the data set are at hand.
    """
    mirror = os.environ.get(MIRROR)
    path = Path(mirror or "") / "rnaseq_labels" / "labels.csv"
    if mirror and path.is_file():
        return pd.read_csv(path).iloc[:, -1]
    return load_dataset("gene_expression", download).labels


def list_datasets():
    """List the data sets that `load_dataset` knows.

    Returns
    -------
    pandas.DataFrame
        Index: the names. Columns title, rows, features, nominal (rows), licence,
        DOI and place (where it is now, "not here" if it must be downloaded).
    """
    rows = {
        card.name: {
            "title": card.title,
            "rows": card.rows,
            "features": card.columns,
            "nominal": sum(card.counts[label] for label in card.nominal),
            "licence": card.licence,
            "DOI": card.doi,
            "place": _place(card),
        }
        for card in CARDS.values()
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("name")


def fetch_dataset(name):
    """Make sure that a data set is on this machine and verified.

    Parameters
    ----------
    name : str

    Returns
    -------
    str
        Where it is: "scikit-learn", "clone", "cache" or "mirror".

    Raises
    ------
    ValueError
        When no data set has this name.
    DatasetNotAvailable
        When it cannot be had; one sentence.
    """
    card = card_of(name)
    if card.parent:
        return fetch_dataset(card.parent)
    try:
        load_dataset(name, download=False)
    except DatasetNotAvailable:
        # Absent, or a damaged file in the cache, which a fresh download replaces.
        if not card.address or _place(card) not in ("cache", "not here"):
            raise
        fetch(card)
    return _place(card)


def dataset_file(name):
    """The file of a data set, as its authors published it.

    Parameters
    ----------
    name : str

    Returns
    -------
    pathlib.Path

    Raises
    ------
    ValueError
        When no data set has this name, or it has no file of its own.
    DatasetNotAvailable
        When it cannot be had; one sentence.
    """
    card = card_of(name)
    if card.parent or not card.file:
        raise ValueError(f"name must be of a data set with a file, found {name!r}")
    return _path(card, download=True)


def verify_datasets():
    """Verify every data set that is on this machine; nothing is downloaded.

    Returns
    -------
    pandas.DataFrame
        Index: the names. Columns place, verified (True, False, or None where the
        set is not here) and remark (the fault, in one sentence).
    """
    rows = {}
    for card in CARDS.values():
        place, verified, remark = _place(card), None, ""
        if place != "not here":
            try:
                load_dataset(card.name, download=False)
                verified = True
            except DatasetNotAvailable as error:
                verified, remark = False, str(error)
        rows[card.name] = {"place": place, "verified": verified, "remark": remark}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("name")


def _place(card):
    if card.parent:
        return _place(card_of(card.parent))
    if not card.file:
        return "scikit-learn"
    return find(card)[0] or "not here"


def _path(card, download):
    """The data set's file, fetched or unpacked into the cache if need be."""
    _, path = find(card)
    if path is None:
        if download and card.address:
            return fetch(card)
        raise not_available(card, "it is not on this machine")
    if path.name in card.official_names and card.file.rsplit("/", 1)[-1] != path.name:
        return install(card, path)
    return path


def _derive(card, parent):
    """Cut an imbalanced set out of its parent, in file order."""
    rule = RULES[card.name]
    positive = parent.labels.isin(rule.positive)
    chosen = ~parent.labels.index.isin(rule.without)
    if rule.negative is not None:
        chosen &= positive | parent.labels.isin(rule.negative)
    labels = positive.map({True: "positive", False: "negative"}).rename("class")
    return (
        parent.features[chosen].reset_index(drop=True),
        labels[chosen].reset_index(drop=True),
    )
