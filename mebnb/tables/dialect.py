"""How a text file writes its table: encoding, delimiter, header, decimal sign.

All of it is guessed from the head of the file; nobody who sends a CSV says it.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import lzma
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from mebnb.tables.errors import TableError

__all__ = ["Dialect", "find_dialect", "open_binary"]

HEAD_BYTES = 1 << 18
HEAD_LINES = 300
DELIMITERS = (";", "\t", "|", ",")  # of equally regular ones the first: 1,5;2,5
SPACES = r"\s+"
NAMES = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas", SPACES: "spaces"}
MOST_ABOVE = 20  # lines of free text above the header, at most

NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)*|[.,]\d+)([eE][+-]?\d+)?\s*%?")
COMMA = re.compile(r"[+-]?\d+,\d+\s*%?")
POINT = re.compile(r"[+-]?\d+\.\d+\s*%?")

OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


@dataclass(frozen=True)
class Dialect:
    """How a text file writes its table.

    Attributes
    ----------
    encoding : str
    delimiter : str
        `SPACES` stands for any run of blanks.
    names : tuple of str
        Of the columns, each different.
    header : bool
        Whether the names stand in the file.
    above : int
        Lines above the table.
    decimal : str
        "." or ",".
    notes : tuple of str
        What a reader of the file should know.
    """

    encoding: str
    delimiter: str
    names: tuple[str, ...]
    header: bool
    above: int
    decimal: str
    notes: tuple[str, ...]


def open_binary(path):
    """Open a file for its bytes, unpacked where the name ends in .gz, .bz2 or .xz."""
    return OPENERS.get(Path(path).suffix.lower(), open)(path, "rb")


def find_dialect(path):
    """Guess how a text file writes its table.

    Parameters
    ----------
    path : path

    Returns
    -------
    Dialect

    Raises
    ------
    TableError
        When the file is empty or holds no text.
    """
    path = Path(path)
    with open_binary(path) as file:
        head = file.read(HEAD_BYTES)
        whole = not file.read(1)
    encoding = _encoding(head, path.name)
    lines = head.decode(encoding, errors="ignore").splitlines()
    lines = (lines if whole else lines[:-1])[:HEAD_LINES]
    if not any(line.strip() for line in lines):
        raise TableError(f"{path.name} is empty")
    delimiter = _delimiter(lines)
    rows = _rows(lines, delimiter)
    above, names, trailing = _layout(rows)
    header = _is_header(names)
    notes = [f"fields separated by {NAMES[delimiter]}, text in {encoding}"]
    if above:
        notes.append(f"lines above the table skipped: {above}")
    if trailing:
        names = [*names, ""]
    elif len(names) < _width(rows):
        names = ["row name", *names]
        notes.append("the header lacks a name for the first column: it names the rows")
    if not header:
        names = [""] * len(names)
        notes.append("no header: the columns are numbered")
    unique, renamed = _unique(names)
    if renamed:
        notes.append(f"names that came twice were numbered: {', '.join(renamed[:5])}")
    body = [field for row in rows[above + header :] for field in row]
    decimal = "," if delimiter != "," and _decimal_comma(body) else "."
    if decimal == ",":
        notes.append("decimal commas")
    return Dialect(
        encoding, delimiter, tuple(unique), header, above, decimal, tuple(notes)
    )


# --- encoding ------------------------------------------------------------------------


def _encoding(head, name):
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if head.startswith(b"PK\x03\x04"):
        raise TableError(
            f"{name} is a spreadsheet or a ZIP archive; save the sheet as CSV first"
        )
    if b"\0" in head:
        raise TableError(f"{name} holds no text; expected CSV or Parquet")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, final=False)
    except UnicodeDecodeError:
        return "cp1252" if _decodes(head, "cp1252") else "latin-1"
    return "utf-8-sig" if head.startswith(codecs.BOM_UTF8) else "utf-8"


def _decodes(content, encoding):
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


# --- delimiter and layout ------------------------------------------------------------


def _delimiter(lines):
    """The sign that cuts the lines most regularly into two or more fields."""
    regular = {}
    for sign in DELIMITERS:
        widths = Counter(len(row) for row in _rows(lines, sign) if row)
        width, count = widths.most_common(1)[0]
        if width > 1:
            regular[sign] = count / widths.total()
    if regular:
        return max(regular, key=regular.get)
    widths = Counter(len(line.split()) for line in lines if line.strip())
    width, count = widths.most_common(1)[0]
    return SPACES if width > 1 and count >= 0.9 * widths.total() else ","


def _rows(lines, delimiter):
    """The fields of each line; none where it is blank."""
    if delimiter == SPACES:
        return [line.split() for line in lines]
    try:
        rows = list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
    except csv.Error:
        rows = [line.split(delimiter) for line in lines]
    return [[field.strip() for field in row] if any(row) else [] for row in rows]


def _width(rows):
    return Counter(len(row) for row in rows if row).most_common(1)[0][0]


def _layout(rows):
    """Lines above the table, its first line, and whether lines end in a delimiter."""
    width = _width(rows)
    first = next(at for at, row in enumerate(rows) if len(row) == width)
    remarks = first
    while remarks < len(rows) - 1 and rows[remarks] and rows[remarks][0].startswith("#"):
        remarks += 1
    if len(rows[remarks]) == width and _is_header(rows[remarks]):
        first = remarks  # else the line with the sign is the header itself
    below = [row for row in rows[first:] if len(row) == width]
    before = rows[first - 1] if first else []
    if len(before) == width - 1 > 0 and all(before) and not _is_header(below[0]):
        return first - 1, before, not any(row[-1] for row in below)
    return (first if first <= MOST_ABOVE else 0), below[0], False


def _is_header(fields):
    """Whether the first line names the columns.

    Numbers are names where they count on (0, 1, 2, as pandas writes them) or are years.
    """
    numbers = [field for field in fields if NUMBER.fullmatch(field)]
    if not numbers:
        return True
    if not all(field.isdecimal() for field in numbers) or len(numbers) < 2:
        return False
    found = [int(field) for field in numbers]
    counts_on = all(b - a == 1 for a, b in zip(found, found[1:], strict=False))
    years = all(1900 <= number <= 2100 for number in found)
    return len(set(found)) == len(found) and (counts_on or years)


def _unique(names):
    """Names made different: empty ones are numbered, repeated ones get a number."""
    unique, renamed = [], []
    for at, name in enumerate(names, start=1):
        name = " ".join(name.split()) or f"column {at}"
        again, base = 1, name
        while name in unique:
            again += 1
            name = f"{base} ({again})"
        if again > 1:
            renamed.append(name)
        unique.append(name)
    return unique, renamed


def _decimal_comma(fields):
    commas = sum(bool(COMMA.fullmatch(field)) for field in fields)
    points = sum(bool(POINT.fullmatch(field)) for field in fields)
    return commas > points
