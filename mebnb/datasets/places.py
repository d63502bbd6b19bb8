"""Where a data set's file is on this machine: the clone, the cache, a mirror folder."""

from __future__ import annotations

import gzip
import os
import warnings
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
    mirror = os.environ.get(MIRROR)
    if mirror and not Path(mirror).is_dir():
        elsewhere = f"{MIRROR} names {mirror}, which is not a folder"
    else:
        elsewhere = f"the folder named by {MIRROR} may hold it as {card.mirror_file}"
    if card.committed and not _is_clone():
        elsewhere = f"a clone of the project has it in data/, and {elsewhere}"
    return DatasetNotAvailable(
        f"The data set {card.name} is not available: {' '.join(why.split())}; it comes "
        f"from {card.address or card.source}, and {elsewhere}."
    )


def cache_folder():
    """The folder of the downloads; it need not exist yet.

    Returns
    -------
    pathlib.Path
    """
    # Its tqdm warns in every notebook that there are no widgets.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
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


def _is_clone():
    # Beside an installed package may lie a data folder that is not ours.
    return (CLONE / "pyproject.toml").is_file()


def _name(card):
    return card.file.rsplit("/", 1)[-1]


def _candidates(card):
    if _is_clone():
        path = CLONE / "data" / card.file
        yield "clone", path
        yield "clone", path.with_name(f"{_name(card)}.gz")
    yield "cache", cache_folder() / card.file
    if os.environ.get(MIRROR):
        path = Path(os.environ[MIRROR]) / card.file
        for name in (card.mirror_file.rsplit("/", 1)[-1], *card.official_names):
            yield "mirror", path.with_name(name)
