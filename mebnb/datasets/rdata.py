"""Reads what R's `save` wrote, as far as the ALL data need it.

R's serialisation in XDR form (R Internals, section 1.8): a stream of items, each
a flag word and, by its type, nested items or big-endian numbers.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["RObject", "read_rdata"]

OPENERS = {
    b"\x1f\x8b": gzip.decompress,
    b"BZ": bz2.decompress,
    b"\xfd7": lzma.decompress,
}


@dataclass
class RObject:
    """A value of R with its attributes.

    Attributes
    ----------
    value : object
        ndarray, list (of a list or character vector), dict (of an environment or
        a pair list), str or None.
    attributes : dict
        Name -> RObject; the slots of an S4 object.
    """

    value: Any = None
    attributes: dict = field(default_factory=dict)

    def __getitem__(self, name):
        """An attribute, a slot or a member, by name."""
        if name in self.attributes:
            return self.attributes[name]
        if isinstance(self.value, dict):
            return self.value[name]
        return self.value[self.attributes["names"].value.index(name)]

    def strings(self):
        """The entries of a character vector or of a factor, as a list of str."""
        if "levels" in self.attributes:
            levels = self.attributes["levels"].value
            return [levels[code - 1] for code in self.value]
        return self.value


def read_rdata(content):
    """Read an .rda file.

    Parameters
    ----------
    content : bytes
        The file, plain or packed by gzip, bzip2 or xz.

    Returns
    -------
    RObject
        Its value is a dict: name -> RObject.

    Raises
    ------
    ValueError
        When it is not such a file, or holds a type that is not read here.
    """
    opener = OPENERS.get(content[:2], bytes)
    try:
        content = opener(content)
        if content[:7] not in (b"RDX2\nX\n", b"RDX3\nX\n"):
            raise ValueError("not R data in XDR form")
        return _Reader(content, start=7).file()
    except (EOFError, OSError, lzma.LZMAError, struct.error) as error:
        raise ValueError(f"R data cut off or damaged ({error})") from None


class _Reader:
    """One pass over the stream; symbols and environments may be referred back to."""

    def __init__(self, content, start):
        self.content = content
        self.at = start
        self.references = []

    def file(self):
        version = self.integer()
        self.at += 8
        if version == 3:
            self.at += self.integer()
        return self.item()

    def integer(self):
        (number,) = struct.unpack_from(">i", self.content, self.at)
        self.at += 4
        return number

    def numbers(self, kind):
        count = self.integer()
        numbers = np.frombuffer(self.content, kind, count, self.at)
        self.at += numbers.nbytes
        return numbers

    def item(self):
        flags = self.integer()
        kind, has_attributes = flags & 0xFF, bool(flags & 0x200)
        if kind in SINGLETONS:
            return RObject(None)
        if kind == 255:
            return self.references[(flags >> 8 or self.integer()) - 1]
        if kind not in READERS:
            raise ValueError(f"R type {kind} is not read here")
        found = READERS[kind](self, flags)
        if has_attributes and kind not in PAIRED:
            found.attributes = self.item().value
        return found

    def symbol(self, flags):
        name = self.item()
        self.references.append(name)
        return name

    def pair_list(self, flags):
        """Nested pairs as a dict; entries without a tag are named by their place."""
        members = {}
        while flags & 0xFF in PAIR_LISTS:
            if flags & 0x200:
                self.item()
            tag = self.item().value if flags & 0x400 else len(members)
            members[tag] = self.item()
            flags = self.integer()
        if flags & 0xFF not in SINGLETONS:
            raise ValueError("a pair list of R that does not end in NULL")
        return RObject(members)

    def function(self, flags):
        """A closure or a promise; nothing of it is kept."""
        parts = bool(flags & 0x200) + bool(flags & 0x400) + 2
        for _ in range(parts):
            self.item()
        return RObject()

    def builtin(self, flags):
        self.at += self.integer()
        return RObject()

    def environment(self, flags):
        found = RObject({})
        self.references.append(found)
        self.integer()
        self.item()
        frame, table, attributes = self.item(), self.item(), self.item()
        for part in [frame, *(table.value or [])]:
            found.value.update(part.value or {})
        found.attributes = attributes.value or {}
        return found

    def namespace(self, flags):
        self.integer()
        found = RObject([self.item().value for _ in range(self.integer())])
        self.references.append(found)
        return found

    def text(self, flags):
        size = self.integer()
        if size < 0:
            return RObject("NA")
        raw = self.content[self.at : self.at + size]
        if len(raw) < size:
            raise EOFError("the file ends inside a text")
        self.at += size
        return RObject(raw.decode("utf-8", errors="replace"))

    def texts(self, flags):
        return RObject([self.item().value for _ in range(self.integer())])

    def members(self, flags):
        return RObject([self.item() for _ in range(self.integer())])


SINGLETONS = {254, 253, 252, 251, 250, 242, 241}
PAIR_LISTS = {2, 6}
PAIRED = PAIR_LISTS | {3, 5}
"""Types whose attributes stand before their parts."""
READERS = {
    1: _Reader.symbol,
    2: _Reader.pair_list,
    3: _Reader.function,
    4: _Reader.environment,
    5: _Reader.function,
    6: _Reader.pair_list,
    7: _Reader.builtin,
    8: _Reader.builtin,
    9: _Reader.text,
    10: lambda reader, flags: RObject(reader.numbers(">i4")),
    13: lambda reader, flags: RObject(reader.numbers(">i4")),
    14: lambda reader, flags: RObject(reader.numbers(">f8")),
    16: _Reader.texts,
    19: _Reader.members,
    25: lambda reader, flags: RObject(),
    249: _Reader.namespace,
}
