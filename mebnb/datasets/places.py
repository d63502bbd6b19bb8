"""Where a data set's file is on this machine: the clone, a mirror folder."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

from mebnb.datasets.cards import Card

__all__ = ["MIRROR", "DatasetNotAvailable", "find", "read_file"]

MIRROR = "MEBNB_DATA_MIRROR"
"""Environment variable: a folder that holds the files in the layout of `data/`."""

CLONE = Path(__file__).resolve().parents[2]


class DatasetNotAvailable(RuntimeError):
    """A data set is not here or not as published; one sentence says which and why."""


def find(card: Card):
    """Find a data set's file without any download.

    Parameters
    ----------
    card : Card

    Returns
    -------
    place : str
        "clone", "mirror" or "" when it is nowhere.
    path : pathlib.Path or None
        The file, possibly gzipped (then the name ends in .gz).
    """
    for place, folder in _folders():
        path = folder / card.file
        for candidate in (path, path.with_name(path.name + ".gz")):
            if candidate.is_file():
                return place, candidate
    return "", None


def read_file(path):
    """Bytes of a file, unpacked when its name ends in .gz.

    Parameters
    ----------
    path : pathlib.Path

    Returns
    -------
    bytes
    """
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


def _folders():
    # Beside an installed package may lie a data folder that is not ours.
    if (CLONE / "pyproject.toml").is_file():
        yield "clone", CLONE / "data"
    if os.environ.get(MIRROR):
        yield "mirror", Path(os.environ[MIRROR])
