"""How a text file writes its table: encoding, delimiter, header, decimal sign.

All of it is guessed from the head of the file; nobody who sends a CSV says it.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mebnb.report.words import counted
from mebnb.your_data.marks import BEGINNING, alike_marked, is_marked
from mebnb.your_data.numbers import GROUPS, MISSING, SIGNED, bare, is_number, sign_votes
from mebnb.your_data.sources import ENCODINGS, find_encoding
from mebnb.your_data.words import TableError, cut

__all__ = [
    "ROW_NAME",
    "SEPARATORS",
    "SPACES",
    "Dialect",
    "check_row_names",
    "check_width",
    "find_dialect",
    "split_lines",
    "unique_names",
]

HEAD_LINES = 300
MOST_COLUMNS = 30_000  # each is looked at by itself, which takes about a millisecond
DELIMITERS = (";", "\t", "|", ",")  # of equally regular ones the first: 1,5;2,5
SPACES = r"\s+"
SEPARATORS = {
    ";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas", SPACES: "spaces",
}  # fmt: skip
ROW_NAME = "row name"  # of a column that R writes without a name
MOST_ABOVE = 100  # lines of free text above the header, at most
RANGE = re.compile(r"[+-]?[\d.,]+\s*[-\u2013]\s*[+-]?[\d.,]+")  # such as 3-8
ONE_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
LINE_ENDS = re.compile(r"\r\n|\r|\n")  # what pandas takes for one
EXCEL = re.compile(
    r"sep=(.)", re.IGNORECASE
)  # a first line that Excel writes and reads
QUOTED = re.compile(r'"((?:[^"\\]|\\.|"")*)"')
CUT = re.compile(r"[+-]?(\d+,\d+|\d{1,3},\d{3}(\.\d*)?)")
ESCAPED = re.compile(r'\\"(?!\s*(?:[,;\t|]|$))', re.MULTILINE)
"""A quote behind a backslash that does not end its field, as databases write it."""


@dataclass(frozen=True)
class Dialect:
    """How a text file writes its table.

    Attributes
    ----------
    encoding : str
    delimiter : str
        `SPACES` stands for any run of blanks.
    escape : str or None
        The sign before a quote within quotes; None where quotes are doubled.
    names : tuple of str
        Of the columns, each different.
    above : int
        Lines of the file above its first row: free text, the header, units below it.
    decimal : str
        "." or ",".
    notes : tuple of str
        What a reader of the file should know.
    """

    encoding: str
    delimiter: str
    escape: str | None
    names: tuple[str, ...]
    above: int
    decimal: str
    notes: tuple[str, ...]


def find_dialect(source, decimal=None):
    """Guess how a text file writes its table.

    Parameters
    ----------
    source : Source
    decimal : {".", ","}, optional
        The decimal sign where the head of the file leaves it open.

    Returns
    -------
    Dialect

    Raises
    ------
    TableError
        When the file is empty, holds no text, or its lines do not fit together.
    """
    encoding = find_encoding(source)
    head, whole = source.head()
    lines = LINE_ENDS.split(head.decode(encoding.name, errors="replace"))
    lines = (lines if whole else lines[:-1])[:HEAD_LINES]
    if not any(line.strip(" \t\ufeff") for line in lines):
        raise TableError(f"{source.name} is empty")
    escape = "\\" if ESCAPED.search("\n".join(lines)) else None
    excel = EXCEL.fullmatch(lines[0].strip(' \ufeff"'))
    delimiter = excel[1] if excel else _delimiter(lines, escape)
    rows = split_lines(lines, delimiter, escape)
    rows = [[], *rows[1:]] if excel else rows
    if not any(rows):
        raise TableError(f"{source.name} holds no values, delimiters only")
    check_width(source.name, max(map(len, rows)))
    above, names, lacks = _layout(rows, lines, source.name)
    if lacks == ROW_NAME:
        _check_short_header(rows[above + 1 :], lines, delimiter, above, source.name)
    names, body, notes = _header(rows, above, names, lacks)
    unique, renamed = unique_names(names)
    if renamed:
        notes.append(f"names that came twice were numbered: {', '.join(renamed[:5])}")
    decimal = _decimal(body, delimiter, decimal)
    if decimal == ",":
        notes.append("decimal commas")
    return Dialect(
        encoding=encoding.name,
        delimiter=delimiter,
        escape=escape,
        names=tuple(unique),
        above=_lines_of(len(rows) - len(body), lines, delimiter, escape),
        decimal=decimal,
        notes=(*_written_in(encoding, delimiter, escape), *notes),
    )


def check_width(name, width):
    """Refuse a table of too many columns."""
    if width > MOST_COLUMNS:
        raise TableError(f"{name} has {width} columns; expected {MOST_COLUMNS} at most")


def _written_in(encoding, delimiter, escape):
    signs = SEPARATORS.get(delimiter, repr(delimiter))
    yield f"fields separated by {signs}, text in {ENCODINGS[encoding.name]}"
    if encoding.bad_bytes:
        yield f"bytes that stand for no letter, read as \ufffd: {encoding.bad_bytes}"
    if escape:
        yield "quotes within quotes stand behind a backslash"


def _header(rows, above, names, lacks):
    """The names of the columns, the rows below them, and what is to be said of both."""
    notes = []
    if any(rows[:above]):
        notes.append(f"lines above the table, skipped: {above}")
    first, body = rows[above], rows[above + 1 :]
    started = ", ".join(field[:30] for field in first[:4])
    if lacks is None and not _is_header(first, body):
        notes.append(f"no header: the first line, {started}, counts as data")
        return [""] * len(names), rows[above:], notes
    if lacks == ROW_NAME:
        names = [ROW_NAME, *names]
        notes.append("the header lacks a name for the first column: it names the rows")
    elif lacks == "trailing":
        names = [*names, ""]
    if any(is_number(name) for name in names if name):
        notes.append(f"the first line, {started}, is taken as the header")
    if _is_units(body):
        units = ", ".join(field[:30] for field in body[0] if field)
        notes.append(f"the line below the header is skipped: {units}")
        body = body[1:]
    return names, body, notes


def _lines_of(count, lines, delimiter, escape):
    """How many lines the first rows take; a quoted field may hold line ends."""
    reader = _reader(lines, delimiter, escape)
    try:
        for _ in itertools.islice(reader, count):
            pass
    except csv.Error:
        return count
    return reader.line_num


# --- delimiter and layout ------------------------------------------------------------


def _delimiter(lines, escape):
    """The sign that cuts the lines most regularly into two or more fields."""
    regular = {}
    for sign in (*DELIMITERS, SPACES):
        rows = [row for row in split_lines(lines, sign, escape) if row]
        # R leaves a field out of the first line; among blanks that must not count.
        widths = Counter(len(row) for row in rows[sign == SPACES :])
        width, count = widths.most_common(1)[0] if widths else (0, 0)
        share = count / max(widths.total(), 1)
        if width > 1 and (sign != SPACES or (share >= 0.9 and len(rows[0]) > 1)):
            regular[sign] = share
    # Words have blanks, too: these count only where all else fails.
    spaced = regular.pop(SPACES, None)
    if not regular:
        return "," if spaced is None else SPACES
    best = max(_beside_quotes(regular, lines), key=regular.get)
    if best == "," and _is_one_column(lines):
        return ";"  # which is in no line
    blanks = (
        spaced
        and _is_regular(lines, SPACES, escape)
        and not _is_regular(lines, best, escape)
    )
    return SPACES if blanks else best


def _beside_quotes(signs, lines):
    """Those of some signs that stand beside quotation marks; all, where none does."""
    text = "\n".join(lines)
    beside = [sign for sign in signs if f'"{sign}' in text or f'{sign}"' in text]
    return beside or signs


def _is_one_column(lines):
    """Whether decimal commas stand below a header without one."""
    head, *rest = [line.strip() for line in lines if line.strip()]
    return "," not in head and all(ONE_COMMA.fullmatch(line) for line in rest)


def _is_regular(lines, sign, escape):
    """Whether every line, the first too, has as many fields: 1,5 2,5 below a b."""
    return len({len(row) for row in split_lines(lines, sign, escape) if row}) == 1


def split_lines(lines, delimiter, escape=None):
    """The fields of each line; none where it is blank.

    Parameters
    ----------
    lines : list of str
    delimiter, escape
        As in `Dialect`.

    Returns
    -------
    list of list of str
    """
    try:
        rows = list(_reader(lines, delimiter, escape))
    except csv.Error:
        rows = [line.split(delimiter) for line in lines]
    return [[field.strip() for field in row] if any(row) else [] for row in rows]


def _reader(lines, delimiter, escape):
    if delimiter == SPACES:
        delimiter, lines = " ", [line.strip().replace("\t", " ") for line in lines]
    return csv.reader(
        lines, delimiter=delimiter, escapechar=escape, skipinitialspace=True
    )


def _layout(rows, lines, name):
    """Lines above the table, the names in its first line, and what these lack.

    That is `ROW_NAME`, as R writes a table, "trailing" where each other line ends in a
    delimiter, "sign" where a lone # stands before the names, or None.
    """
    width = Counter(len(row) for row in rows if row).most_common(1)[0][0]
    first = next(
        at
        for at, row in enumerate(rows)
        if len(row) == width and not _stands_alone(rows, lines, at)
    )
    last = max(first - 1, 0)  # a line of delimiters alone says nothing
    while last and not rows[last] and lines[last].strip(" "):
        last -= 1
    before, below = rows[last] if first else [], rows[first:]
    if before and not _has_words(rows[first], below[1:]):
        words = all(before) and _could_be_names(before)
        aligned = _is_aligned(before, below)
        if words and len(before) == width - 1 and not aligned:
            trailing = not any(row[-1] for row in below if len(row) == width)
            if trailing or len(before) > 1 or not is_number(below[0][0]):
                return last, before, "trailing" if trailing else ROW_NAME
        if words and before[0] == "#" and len(before) == width + 1:
            return last, before[1:], "sign"
        if len(before) > 1 or width == 2 or aligned:
            raise TableError(
                f"{name}, line {first}: {counted(len(before), 'field')} where "
                f"most lines have {width}; a field that holds the delimiter, such as a "
                "decimal comma, must stand in quotes"
            )
    first = _past_free_text(rows, first, width)
    if first > MOST_ABOVE:
        raise TableError(
            f"{name}: the table begins in line {first + 1}; expected within the first "
            f"{MOST_ABOVE}"
        )
    names = list(rows[first])
    if names[0].startswith("#") and _has_words(names, rows[first + 1 :]):
        names[0] = names[0].lstrip("# ")
    return first, names, None


def _stands_alone(rows, lines, at):
    """Whether a blank line follows, as below a title; further lines come after it."""
    return any(rows[at + 2 :]) and not rows[at + 1] and not lines[at + 1].strip(" ")


def _could_be_names(fields):
    """Words, or numbers that look like names, behind a sign for remarks maybe."""
    fields = fields[1:] if fields[0] == "#" else fields
    if any(map(is_number, fields)):
        return all(map(is_number, fields)) and _are_names(
            list(map(_plain_number, fields))
        )
    return True


def _is_aligned(before, below):
    """Whether blanks, not delimiters, set several names in one field apart."""
    if len(before) > 1 or " " not in before[0]:
        return False
    first = [row[0] for row in below if row]
    return "  " in before[0] or all(" " in f and BEGINNING.match(f) for f in first)


def _past_free_text(rows, first, width):
    """The header's line: below remarks, and below lines that hardly fill a field."""
    for at in range(first, min(len(rows) - 1, first + MOST_ABOVE)):
        row = rows[at]
        if len(row) != width or row[0].startswith("#"):
            continue
        if sum(map(bool, row)) > width / 2:
            return at if _has_words(row, rows[at + 1 :]) else first
    return first


def _has_words(first, body):
    """Whether the first line names the columns, and not by numbers."""
    return bool(_words(first, body)) and _is_header(first, body)


def _words(first, body):
    """Where the first line holds a word: no number, nor part of one above its like."""
    return [
        at
        for at, field in enumerate(first)
        if field and not is_number(field) and not _has_its_like(field, body, at)
    ]


def _has_its_like(field, rows, at):
    """Whether a number with marks, or a range, stands above one with the same."""
    if is_marked(field):
        return any(alike_marked(field, row[at]) for row in rows if len(row) > at)
    return bool(RANGE.fullmatch(field)) and _mostly(RANGE.fullmatch, rows, at)


def _is_header(first, body):
    """Whether the first line names the columns.

    It does where it holds words above numbers, or no number at all. Numbers are names
    where they are years or rise one by one (or as wavelengths do) and those below do not.
    """
    body = [row for row in body if len(row) == len(first)]
    words = _words(first, body)
    if any(_mostly(_holds_number, body, at) for at in words):
        return True
    numbered = [at for at, field in enumerate(first) if field and at not in words]
    if not numbered or not body:
        return bool(words)
    found = [_plain_number(first[at]) for at in numbered]
    below = [[_plain_number(row[at]) for at in numbered] for row in body]
    alike = sum(_are_names(row) for row in below)
    return _are_names(found) and alike < 0.5 * len(body)


def _are_names(numbers):
    """Whether numbers look like names: years, 0, 1, 2, or a rising scale of five or more.

    Measured values may rise by chance, but in steps of very different sizes.
    """
    if all(1900 <= x <= 2100 and x == int(x) for x in numbers):
        return len(set(numbers)) == len(numbers)
    steps = [b - a for a, b in itertools.pairwise(numbers)]
    rise = all(step > 0.0 for step in steps)  # NaN is no step
    counts_on = numbers == [numbers[0] + at for at in range(len(numbers))]
    starts = numbers[0] == 0 or (numbers[0] == 1 and len(numbers) > 2)
    scale = len(numbers) >= 5 and max(steps) <= 10.0 * min(steps)
    return rise and (scale or (counts_on and starts))


def _plain_number(field):
    try:
        return float(bare(field).replace(",", "."))
    except ValueError:
        return float("nan")


def _holds_number(field):
    return is_number(field) or is_marked(field)


def _mostly(kind, rows, at):
    """Whether more than half of the fields of a column are of a kind."""
    fields = [row[at] for row in rows if len(row) > at and row[at] not in MISSING]
    return sum(map(bool, map(kind, fields))) > 0.5 * len(fields)


def _is_units(body):
    """Whether the first line holds words where the others hold numbers, and no number."""
    words = (
        [at for at, field in enumerate(body[0]) if field not in MISSING] if body else []
    )
    if len(body) < 3 or any(_holds_number(body[0][at]) for at in words):
        return False
    rest = [row for row in body[1:] if len(row) == len(body[0])]
    return any(_mostly(_holds_number, rest, at) for at in words)


def unique_names(names):
    """Names made different: empty ones are numbered, repeated ones get a number."""
    unique, renamed, taken = [], [], set()
    for at, name in enumerate(names, start=1):
        name = " ".join(name.split()) or f"column {at}"
        again, base = 1, name
        while name in taken:
            again += 1
            name = f"{base} ({again})"
        if again > 1:
            renamed.append(name)
        unique.append(name)
        taken.add(name)
    return unique, renamed


# --- names of rows -------------------------------------------------------------------


def _check_short_header(body, lines, delimiter, above, name):
    """A header one field short is R's, unless a field may have fallen apart below it.

    R writes the names of rows without a name of their own, and words in quotes. Words
    without quotes may hold the delimiter, as may whole numbers with a decimal comma.
    """
    texts = "\n".join(lines[above + 1 :])
    quoted = {re.sub(r'\\"|""', '"', text) for text in QUOTED.findall(texts)}
    bare_word = next(
        (
            at
            for at, row in enumerate(body)
            for field in row[1:]
            if not _holds_number(field) and field not in quoted
        ),
        None,
    )
    if bare_word is not None:
        raise _short_header(body, bare_word, above, name)
    as_in_r = all(row[0] in quoted for row in body if row)
    if delimiter == "," and not as_in_r and _may_be_cut(body):
        raise _short_header(body, 0, above, name)
    check_row_names(pd.Series([row[0] for row in body if row]), name, above + 2)


def _may_be_cut(body):
    """Whether in each row two neighbours may be one number with a comma inside."""
    pairs = [
        {
            at
            for at, pair in enumerate(itertools.pairwise(row))
            if CUT.fullmatch(",".join(pair))
        }
        for row in body
        if len(row) == len(body[0])  # a closing line may be shorter
    ]
    return bool(set.intersection(*pairs))


def check_row_names(column, name, line):
    """Refuse names of rows of which two are the same or that are measurements.

    Parameters
    ----------
    column : pandas.Series
    name : str
        Of the file.
    line : int
        Of the first of them.

    Raises
    ------
    TableError
        It names the first line whose first field names no row.
    """
    texts = column.astype("string").str.strip().fillna("")
    numbers = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=float)
    odd = texts.duplicated().to_numpy(copy=True)
    if any(map(_holds_number, texts)):
        odd[1:] |= np.diff(numbers) != 1.0
    if odd.any():
        at = int(odd.argmax())
        raise TableError(
            f"{name}: the header is one field short, and the first fields do not name the "
            f"rows: {texts.iloc[at]!r} in line {line + at}; a field that holds the "
            "delimiter must stand in quotes"
        )


def _short_header(body, at, above, name):
    shown = ", ".join(repr(cut(field)) for field in body[at][:6])
    return TableError(
        f"{name}, line {above + at + 2}: {len(body[at])} fields where the header has "
        f"{len(body[at]) - 1}: {shown}; a field that holds the delimiter, such as a "
        "decimal comma, must stand in quotes"
    )


# --- decimal sign ----------------------------------------------------------------------


def _decimal(body, delimiter, default):
    """The decimal sign; where no entry settles it what the rest speaks for."""
    commas, points = sign_votes(field for row in body for field in row)
    if commas != points:
        return "," if commas > points else "."
    columns = _columns(body)
    if delimiter == ",":
        quoted = any("," in field for column in columns for field in column)
        return default if quoted and default else "."
    groups = {
        sign: any(_set_apart(column, sign) for column in columns) for sign in ".,"
    }
    if groups["."] != groups[","]:
        return "," if groups["."] else "."
    if default is not None:
        return default
    commas = any(SIGNED[","].fullmatch(field) for column in columns for field in column)
    return "," if commas else "."


def _columns(body):
    width = max(map(len, body), default=0)
    return [
        [bare(row[at]) for row in body if len(row) > at and row[at]]
        for at in range(width)
    ]


def _set_apart(fields, sign):
    """Whether a sign sets thousands apart: 1.011 beside 940, which has three digits too."""
    grouped = [field for field in fields if GROUPS[sign].fullmatch(field)]
    plain = [field for field in fields if field.isdecimal()]
    alike = [field for field in plain if len(field) == 3]
    return bool(
        grouped
        and len(grouped) + len(plain) == len(fields)
        and 2 * len(alike) > len(plain)
    )
