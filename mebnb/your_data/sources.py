"""The bytes of a file, unpacked and as often as they are asked for, and their encoding."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import select
import stat
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mebnb.your_data.words import TableError

__all__ = ["ENCODINGS", "OPENERS", "Encoding", "Source", "find_encoding", "open_source"]

OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8 with a mark at its start",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "utf-32": "UTF-32",
    "cp1252": "Windows-1252",
    "latin-1": "Latin-1",
}
MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8-sig",
}
NOT_IN_CP1252 = b"\x81\x8d\x8f\x90\x9d"
HEAD_BYTES = 1 << 18
BLOCK = 1 << 22
FIRST_BYTE = 5.0
"""Seconds that a pipe may take before its writer is given up; once it writes, no limit."""


@dataclass(frozen=True)
class Source:
    """A file that can be opened again and again.

    Attributes
    ----------
    path : Path
    content : bytes or None
        Of a pipe, which gives its bytes once.
    """

    path: Path
    content: bytes | None = None

    @property
    def name(self):
        return self.path.name

    def open(self):
        """Open for bytes, unpacked where the name ends in .gz, .bz2 or .xz."""
        opener = OPENERS.get(self.path.suffix.lower())
        if self.content is None:
            return (opener or open)(self.path, "rb")
        content = io.BytesIO(self.content)
        return opener(content, "rb") if opener else content

    def blocks(self):
        """The bytes, block by block."""
        with self.open() as file:
            while block := file.read(BLOCK):
                yield block

    def head(self):
        """The first bytes, two lines of them at least, and whether that is all."""
        with self.open() as file:
            head = file.read(HEAD_BYTES)
            while head.count(b"\n") < 2 and len(head) < 1 << 28:
                more = file.read(len(head))
                if not more:
                    return head, True
                head += more
            return head, not file.read(1)


def open_source(path):
    """The source of a path; a pipe is read here, a device is refused."""
    mode = os.stat(path).st_mode
    if stat.S_ISFIFO(mode):
        return Source(path, _read_pipe(path))
    if not stat.S_ISREG(mode):
        raise TableError(f"{path} is a device; expected a CSV or Parquet file")
    return Source(path)


def _read_pipe(path):
    """All that comes out of a pipe; nobody waits for a writer that is not there."""
    # Opened for writing as well it would never end; opened to block it might never begin.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as pipe:
        select.select([pipe], [], [], FIRST_BYTE)
        os.set_blocking(pipe.fileno(), True)
        content = pipe.read()
    if not content:
        raise TableError(f"{path} is a pipe into which nothing was written")
    return content


@dataclass(frozen=True)
class Encoding:
    """How bytes stand for letters.

    Attributes
    ----------
    name : str
        As Python calls it.
    bad_bytes : int
        Bytes that stand for no letter in it.
    """

    name: str
    bad_bytes: int = 0


def find_encoding(source):
    """The encoding of a text file, from all of its bytes.

    A mark at the start decides. Else it is UTF-8 as long as more letters beyond ASCII are
    sound in it than bytes are not: a few bad bytes make no other encoding of it, and what is
    written in another encoding hardly ever gives sound letters.
    """
    head = source.head()[0]
    if head.startswith(b"PK\x03\x04"):
        raise TableError(
            f"{source.name} is a spreadsheet or a ZIP archive; save the sheet as CSV first"
        )
    marked = [name for mark, name in MARKS.items() if head.startswith(mark)]
    name = marked[0] if marked else _by_zeros(head, source.name)
    sound, bad = _count_letters(source, name)
    if not bad or marked or sound > bad:
        return Encoding(name, bad)
    in_cp1252 = not any(
        byte in block for block in source.blocks() for byte in NOT_IN_CP1252
    )
    return Encoding("cp1252" if in_cp1252 else "latin-1")


def _by_zeros(head, name):
    """UTF-8, or UTF-16 without a mark, in which every other byte of plain letters is 0."""
    if b"\0" not in head:
        return "utf-8"
    even, odd = (head[at::2].count(0) / len(head) for at in (0, 1))
    if min(even, odd) == 0 and max(even, odd) > 0.25:
        return "utf-16-be" if even else "utf-16-le"
    raise TableError(f"{name} holds no text; expected CSV or Parquet")


def _count_letters(source, encoding):
    """Letters beyond ASCII that are sound, and bytes that stand for none."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    sound = bad = 0
    for block in source.blocks():
        text = decoder.decode(block)
        replaced = text.count("\ufffd") - block.count("\ufffd".encode())
        bad += max(replaced, 0)
        if not block.isascii():
            plain = np.count_nonzero(np.frombuffer(block, np.uint8) < 128)
            sound += max(len(text) - plain - replaced, 0)
    return sound, bad + decoder.decode(b"", final=True).count("\ufffd")
