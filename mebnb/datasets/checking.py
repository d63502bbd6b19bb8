"""Nothing unverified is used: a file's bytes against the card, then its values."""

from __future__ import annotations

import hashlib

from mebnb.datasets.parsing import parse, values_hash
from mebnb.datasets.places import not_available

__all__ = ["check_bytes", "check_values", "parse_verified"]


def check_bytes(card, content, what):
    """Compare the official file's bytes with the card's hash, where it has one.

    Parameters
    ----------
    card : Card
    content : bytes
    what : str
        How the message names the file.

    Raises
    ------
    DatasetNotAvailable
    """
    found = hashlib.sha256(content).hexdigest()
    if card.file_sha256 and found != card.file_sha256:
        raise not_available(
            card,
            f"{what} is not the published one (sha256 {found[:12]}..., expected "
            f"{card.file_sha256[:12]}...)",
        )


def check_values(card, features, labels, what):
    """Compare parsed values with the card: shape, counts and, if known, their hash.

    Parameters
    ----------
    card : Card
    features : pandas.DataFrame
    labels : pandas.Series
    what : str
        How the message names the file.

    Raises
    ------
    DatasetNotAvailable
    """
    counts = labels.value_counts().to_dict()
    if features.shape != (card.rows, card.columns):
        m, n = features.shape
        fault = f"{m} x {n} values, expected {card.rows} x {card.columns}"
    elif counts != card.counts:
        fault = f"the label counts {counts}, expected {card.counts}"
    elif card.value_sha256 and values_hash(features, labels) != card.value_sha256:
        fault = f"other values (expected sha256 {card.value_sha256[:12]}...)"
    else:
        return
    raise not_available(card, f"{what} is not the published one: it has {fault}")


def parse_verified(card, content, what):
    """Parse the bytes of a data set's file and verify them against its card.

    Parameters
    ----------
    card : Card
    content : bytes
    what : str
        How the message names the file.

    Returns
    -------
    features : pandas.DataFrame
    labels : pandas.Series

    Raises
    ------
    DatasetNotAvailable
    """
    if not card.converted:
        check_bytes(card, content, what)
    try:
        features, labels = parse(card.name, content)
    except ValueError as error:
        raise not_available(card, f"{what} is {error}") from None
    check_values(card, features, labels, what)
    return features, labels
