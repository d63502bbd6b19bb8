"""Files that are packed where their name says so."""

from __future__ import annotations

import bz2
import gzip
import lzma
from contextlib import nullcontext
from pathlib import Path

from mebnb.writing import write_file

__all__ = ["write_packed"]

# No time of day goes into a packed file: the same scores are the same bytes.
PACKINGS = {
    ".gz": lambda file: gzip.GzipFile("", "wb", fileobj=file, mtime=0),
    ".bz2": lambda file: bz2.BZ2File(file, "wb"),
    ".xz": lambda file: lzma.LZMAFile(file, "wb"),  # noqa: SIM115 (the caller closes)
}


def write_packed(path, write):
    """Write a file whole or not at all, packed where it ends in .gz, .bz2 or .xz.

    Parameters
    ----------
    path : path
    write : callable
        Is given the open binary file.

    Raises
    ------
    CannotWrite
        When the file cannot be written; what stood there stays.
    """
    packed = PACKINGS.get(Path(path).suffix.lower(), nullcontext)

    def write_inside(file):
        with packed(file) as inner:
            write(inner)

    write_file(path, write_inside)
