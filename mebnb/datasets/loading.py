"""`load_dataset` and `list_datasets`: read, verify, hand over."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mebnb.datasets.cards import CARDS, RULES, Card, card_of
from mebnb.datasets.parsing import breast_cancer, parse, values_hash
from mebnb.datasets.places import MIRROR, DatasetNotAvailable, find, read_file

__all__ = ["Dataset", "list_datasets", "load_dataset"]


@dataclass(frozen=True, repr=False)
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


def load_dataset(name):
    """Load a data set, verified against its card.

    Parameters
    ----------
    name : str
        One of the names in `list_datasets()`.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        When no data set has this name.
    DatasetNotAvailable
        When its file is not on this machine, or is not the published one.

    Examples
    --------
    >>> load_dataset("breast_cancer")
    Dataset(breast_cancer: 569 rows, 30 features, 357 nominal)
    """
    card = card_of(name)
    values = _derive(card) if card.parent else _read(card)
    features, labels = _verified(card, *values)
    return Dataset(name, features, labels, card.nominal, card)


def list_datasets():
    """List the data sets that `load_dataset` knows.

    Returns
    -------
    pandas.DataFrame
        Index: the names. Columns title, rows, features, nominal (rows), licence,
        DOI and place (where it is now).
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


def _place(card):
    if card.parent:
        return _place(card_of(card.parent))
    if not card.file:
        return "scikit-learn"
    place, _ = find(card)
    return place or "not here"


def _read(card):
    if not card.file:
        return breast_cancer()
    _, path = find(card)
    if path is None:
        raise DatasetNotAvailable(
            f"The data set {card.name} is not on this machine: it comes from "
            f"{card.address or card.source}, or from the folder named by {MIRROR} as "
            f"{card.file}."
        )
    content = read_file(path)
    found = hashlib.sha256(content).hexdigest()
    if card.file_sha256 and found != card.file_sha256:
        raise DatasetNotAvailable(
            f"The data set {card.name} is not used because its file {path.name} has "
            f"sha256 {found[:12]}... where the published file has "
            f"{card.file_sha256[:12]}...."
        )
    try:
        return parse(card.name, content)
    except ValueError as error:
        raise DatasetNotAvailable(
            f"The data set {card.name} is not used because {path.name} is {error}."
        ) from None


def _derive(card):
    """Cut an imbalanced set out of its parent, in file order."""
    rule, parent = RULES[card.name], load_dataset(card.parent)
    positive = parent.labels.isin(rule.positive)
    chosen = ~parent.labels.index.isin(rule.without)
    if rule.negative is not None:
        chosen &= positive | parent.labels.isin(rule.negative)
    labels = positive.map({True: "positive", False: "negative"}).rename("class")
    return (
        parent.features[chosen].reset_index(drop=True),
        labels[chosen].reset_index(drop=True),
    )


def _verified(card, features, labels):
    counts = labels.value_counts().to_dict()
    found = values_hash(features, labels)
    if features.shape != (card.rows, card.columns):
        fault = f"{features.shape[0]} x {features.shape[1]} values"
    elif counts != card.counts:
        fault = f"the counts {counts}"
    elif card.value_sha256 and found != card.value_sha256:
        fault = f"values with sha256 {found[:12]}..."
    else:
        return features, labels
    raise DatasetNotAvailable(
        f"The data set {card.name} is not used because it has {fault} and thus is not "
        f"the published one ({card.rows} x {card.columns}, sha256 of the values "
        f"{card.value_sha256[:12]}...)."
    )
