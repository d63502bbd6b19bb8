"""Download on demand: from the official address into the cache, verified on the way.

Everything happens in a scratch folder inside the cache; only a verified file
leaves it, by an atomic move. Two processes may fetch the same set at once: each
works in a folder of its own and the last move wins with the same content.
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
import time
import zipfile
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import urlsplit

import requests

from mebnb.datasets.checking import check_bytes, parse_verified
from mebnb.datasets.converting import convert
from mebnb.datasets.places import cache_folder, not_available, read_file

__all__ = ["fetch", "install"]

TIMEOUT = 30
"""Seconds that a server may stay silent."""

SCRATCH = ".partial-"
DAY = 24 * 60 * 60


def fetch(card):
    """Download a data set, verify it and keep it in the cache.

    Parameters
    ----------
    card : Card
        With an address.

    Returns
    -------
    pathlib.Path
        The file in the cache.

    Raises
    ------
    DatasetNotAvailable
        One sentence: no network, no answer, another file, no space.
    """
    with _scratch_folder(card) as scratch:
        archive = _download(card, scratch)
        official = _official_file(card, archive, scratch, "the download")
        return _keep(card, official.read_bytes(), scratch, "the download")


def install(card, archive):
    """Unpack, verify and keep in the cache what a person has downloaded.

    Parameters
    ----------
    card : Card
    archive : pathlib.Path
        The file at the card's address, or its member.

    Returns
    -------
    pathlib.Path
        The file in the cache.

    Raises
    ------
    DatasetNotAvailable
    """
    content = read_file(card, archive)
    with _scratch_folder(card) as scratch:
        if archive.name != card.member:
            official = _official_file(card, archive, scratch, str(archive))
            content = official.read_bytes()
        return _keep(card, content, scratch, str(archive))


def _keep(card, content, scratch, what):
    """Verify the official file and move it, or what it converts to, into the cache."""
    check_bytes(card, content, what)
    if card.converted:
        try:
            content = convert(card.name, content)
        except ValueError as error:
            raise not_available(card, f"{what} is {error}") from None
    parse_verified(card, content, what)

    finished = scratch / "finished"
    with finished.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    target = cache_folder() / card.file
    target.parent.mkdir(parents=True, exist_ok=True)
    finished.replace(target)
    return target


def _official_file(card, archive, scratch, what):
    """The official file out of what is at the address."""
    if not card.member:
        return archive
    unpack = _pooch().Unzip(extract_dir=str(scratch / "unpacked"))
    try:
        files = map(Path, unpack(str(archive), "download", None))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise not_available(card, f"{what} is not a sound zip file ({error})") from None
    for file in files:
        if file.name == card.member:
            return file
    raise not_available(card, f"{what} has no member {card.member}")


def _download(card, scratch):
    pooch = _pooch()
    try:
        path = pooch.retrieve(
            card.address,
            known_hash=None,
            fname="archive",
            path=scratch,
            downloader=pooch.HTTPDownloader(timeout=TIMEOUT),
        )
    except requests.RequestException as error:
        raise not_available(card, _why(error, card.address)) from None
    return Path(path)


def _pooch():
    # Not above: its tqdm warns in every notebook that there are no widgets.
    import pooch

    # It tells the hash of an unknown file; the check is made here instead.
    pooch.get_logger().setLevel(logging.WARNING)
    return pooch


def _why(error, address):
    """A clause for what went wrong between here and the server."""
    host = urlsplit(address).netloc
    if isinstance(error, requests.HTTPError):
        return f"{host} answers with status {error.response.status_code}"
    # A silence in the middle of a file comes as a ConnectionError.
    if isinstance(error, requests.Timeout) or "timed out" in str(error):
        return f"{host} has been silent for {TIMEOUT} seconds"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return f"the download from {host} broke off"
    if isinstance(error, requests.ConnectionError):
        return f"there is no connection to {host}"
    return f"the download from {host} failed ({type(error).__name__})"


@contextmanager
def _scratch_folder(card):
    """A folder in the cache that is gone afterwards, whatever happens."""
    cache = cache_folder()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(cache)
        scratch = Path(mkdtemp(prefix=SCRATCH, dir=cache))
        try:
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except OSError as error:
        full = error.errno == errno.ENOSPC
        reason = "no space is left" if full else error.strerror
        why = f"the cache {cache} cannot be written ({reason})"
        raise not_available(card, why) from None


def _remove_abandoned(cache):
    """Remove what a killed process left behind more than a day ago."""
    for folder in cache.glob(f"{SCRATCH}*"):
        with suppress(FileNotFoundError):
            if time.time() - folder.stat().st_mtime > DAY:
                shutil.rmtree(folder, ignore_errors=True)
