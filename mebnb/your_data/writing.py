"""Files written whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

from mebnb.your_data.words import TableError

__all__ = ["write_whole"]


def write_whole(path, write):
    """Write a file beside its place and move it there; what stood there stays till then.

    Parameters
    ----------
    path : path
        A link is followed. A device or a pipe cannot be replaced and is written to.
    write : callable
        Takes the path to write to.

    Raises
    ------
    TableError
        When it cannot be written; nothing of it is left.
    """
    target = Path(path)
    try:
        target = target.resolve()
        if target.exists() and not target.is_file():
            write(target)
            return
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        partial = target.with_name(f".{os.getpid()}.partial")
        try:
            write(partial)
            if target.exists():
                shutil.copymode(target, partial)
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise TableError(f"cannot write {path}: {error.strerror or error}") from None
