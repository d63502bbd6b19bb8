"""Where a data set's file is on this machine: the clone, the cache, a mirror folder."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path

from mebnb.datasets.cards import Card

__all__ = [
    "CACHE",
    "MIRROR",
    "DatasetNotAvailable",
    "cache_folder",
    "find",
    "not_available",
    "read_file",
]

MIRROR = "MEBNB_DATA_MIRROR"
"""Environment variable: a folder with a folder of files or archives for each set."""

CACHE = "MEBNB_CACHE"
"""Environment variable: where downloads are kept, in place of the user's cache."""

CLONE = Path(__file__).resolve().parents[2]


class DatasetNotAvailable(RuntimeError):
    """A data set is not here or not as published; one sentence says which and why."""


def not_available(card, why):
    """The error that says why a data set cannot be had, and where it comes from.

    Parameters
    ----------
    card : Card
    why : str
        A clause without a full stop.

    Returns
    -------
    DatasetNotAvailable
    """
    why = " ".join(why.split())
    return DatasetNotAvailable(
        f"The data set {card.name} is not available: {why}; it comes from "
        f"{card.address or card.source}, and the folder named by {MIRROR} may hold it "
        f"as {card.mirror_file}."
    )


def cache_folder():
    """The folder of the downloads; it need not exist yet.

    Returns
    -------
    pathlib.Path
    """
    # Not above: its tqdm warns in every notebook that there are no widgets.
    import pooch

    return Path(os.environ.get(CACHE) or pooch.os_cache("mebnb"))


def find(card: Card):
    """Find a data set's file, or its official archive, without any download.

    Parameters
    ----------
    card : Card

    Returns
    -------
    place : str
        "clone", "cache", "mirror", or "" when it is nowhere.
    path : pathlib.Path or None
    """
    for place, path in _candidates(card):
        if path.is_file():
            return place, path
    return "", None


def read_file(card, path):
    """Bytes of a data set's file, unpacked where it is kept gzipped.

    Parameters
    ----------
    card : Card
    path : pathlib.Path

    Returns
    -------
    bytes

    Raises
    ------
    DatasetNotAvailable
        When the file cannot be read.
    """
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if path.name == f"{_name(card)}.gz" else content
    except (OSError, EOFError, zlib.error) as error:
        raise not_available(card, f"{path} cannot be read ({error})") from None


def _name(card):
    return card.file.rsplit("/", 1)[-1]


def _candidates(card):
    # Beside an installed package may lie a data folder that is not ours.
    if (CLONE / "pyproject.toml").is_file():
        path = CLONE / "data" / card.file
        yield "clone", path
        yield "clone", path.with_name(f"{_name(card)}.gz")
    yield "cache", cache_folder() / card.file
    if os.environ.get(MIRROR):
        path = Path(os.environ[MIRROR]) / card.file
        for name in (card.mirror_file.rsplit("/", 1)[-1], *card.official_names):
            yield "mirror", path.with_name(name)
