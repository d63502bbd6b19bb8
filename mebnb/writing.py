"""Files that are whole or not there: written beside their place, then renamed."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import tempfile
from pathlib import Path

__all__ = ["CannotWrite", "check_file", "check_folder", "write_file"]

PROBE = 4096  # bytes, a block of most disks: a full one refuses these


class CannotWrite(OSError):
    """A file cannot be written; the message says which and why."""

    def __str__(self):
        return f"cannot write {self.filename}: {self.strerror}"


def write_file(path, content):
    """Write a file whole or not at all; a file that is there stays until then.

    Parameters
    ----------
    path : path
        A device or a pipe, such as /dev/stdout, is written to directly.
    content : str, bytes or callable
        A str is written as UTF-8. A callable is given the open binary file, so that
        what is large need not be held whole.

    Raises
    ------
    CannotWrite
        When there is no such folder, no right to write, no space.
    """
    data = content.encode() if isinstance(content, str) else content
    write = data if callable(data) else lambda file: file.write(data)
    with _told(path):
        if _is_stream(path):
            with open(path, "wb") as file:
                write(file)
        else:
            _replace(Path(path).resolve(), write)


def check_file(path):
    """See that a file can be written later: before work that would be lost.

    Parameters
    ----------
    path : path
        Its folder is made where needed.

    Raises
    ------
    CannotWrite
    """
    path = Path(path)
    with _told(path):
        _check_target(path)
    if not _is_stream(path):
        check_folder(path.resolve().parent, path)


def check_folder(folder, what=None):
    """See that files can be written into a folder, which is made where needed.

    Parameters
    ----------
    folder : path
    what : path, optional
        What the message names instead.

    Raises
    ------
    CannotWrite
    """
    with _told(what or folder):
        if os.path.exists(folder) and not os.path.isdir(folder):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(bytes(PROBE))
            probe.flush()


@contextlib.contextmanager
def _told(path):
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise CannotWrite(error.errno, reason, os.fspath(path)) from None


def _is_stream(path):
    path = Path(path)
    return path.exists() and not path.is_file() and not path.is_dir()


def _check_target(path):
    # Renaming would replace what may not be written to, and fails late for a folder.
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _replace(path, write):
    _check_target(path)
    # A name of its own: two that write the same file do not meet half-way.
    beside = path.with_name(f".mebnb-{secrets.token_hex(4)}.partial")
    try:
        with beside.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())  # some disks say only now that they are full
        if path.exists():
            shutil.copymode(path, beside)
        beside.replace(path)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()
