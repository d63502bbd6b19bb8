"""Text as numbers: percent and currency signs, decimal commas, thousands; and dates."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from mebnb.your_data.marks import Peeled, common_unit, peel

__all__ = [
    "MISSING",
    "Numbers",
    "bare",
    "is_number",
    "looks_like_dates",
    "read_numbers",
    "read_truth",
    "sign_votes",
]

MISSING = (
    *("", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "NULL", "Null", "null", "<NA>"),
    *("None", "none", "nil", "#N/A", "#NA", "N.A.", "n.a.", "k.A.", "k. A.", "?", "-"),
    *("--", ".", "#DIV/0!", "#VALUE!", "#REF!", "#NULL!", "#NUM!", "missing"),
)
"""What stands for a missing value, in every column but the label."""

CURRENCIES = "$€£¥₹"
FIRST_DIGITS = "٠۰߀०০੦૦୦௦౦೦൦๐໐༠၀០᠐０"
"""The zero of each script whose digits 0 to 9 follow one another, as all do."""

LOOKALIKES = {
    **{ord(zero) + digit: str(digit) for zero in FIRST_DIGITS for digit in range(10)},
    **str.maketrans({"\u2212": "-", "\u2019": "'", "٫": ".", "٬": ","}),
    **str.maketrans({"．": ".", "，": ",", "－": "-"}),
}
BLANKS = re.compile(r"[\s\u00a0\u202f'_]")
GROUPED = re.compile(r"[+-]?\d{1,3}([\s\u00a0\u202f'_]\d{3})+([.,]\d*)?")
# A mantissa before an exponent has no thousands: 1,025E+01 is 10.25.
WRITINGS = {
    sign: re.compile(
        rf"[+-]?([1-9]\d{{0,2}}(\{apart}\d{{3}})+(\{sign}\d*)?"
        rf"|(\d+(\{sign}\d*)?|\{sign}\d+)([eE][+-]?\d+)?)",
        re.ASCII,
    )
    for sign, apart in (".,", ",.")
}
SIGNED = {sign: re.compile(rf"[+-]?\d*\{sign}\d+([eE][+-]?\d+)?") for sign in ".,"}
GROUPS = {sign: re.compile(rf"[+-]?[1-9]\d{{0,2}}(\{sign}\d{{3}})+") for sign in ".,"}
WORDS = re.compile(r"[+-]?(inf|infinity)", re.IGNORECASE)
SCRIPTS = re.compile(r"(?![0-9])\d")
TIME = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?\s*([ap]\.?m\.?)?\s*(z|utc|[+-]\d{2}:?\d{2})?"
MONTH = r"[^\W\d_]{3,10}\.?"
DATE = re.compile(
    rf"([^\W\d_]{{2,10}}\.?,?\s+)?("  # the day of the week
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\s?\d{1,2}[-/.]\s?(\d{4}|\d{2})"
    r"|(18|19|20)\d\d[-/](0[1-9]|1[0-2])|(0?[1-9]|1[0-2])[-/](18|19|20)\d\d"
    r"|\d{4}-?(W\d{2}(-?\d)?|Q[1-4])"
    rf"|\d{{1,2}}\.?[-\s/]?{MONTH}[-\s/,]*(\d{{4}}|\d{{2}})"
    rf"|{MONTH}\s*\d{{1,2}}(st|nd|rd|th)?,?\s+\d{{4}}|{MONTH}[-\s]\d{{4}}"
    rf")([T\s,]+{TIME})?|{TIME}",
    re.IGNORECASE,
)
"""A date or a time, with three parts or a year at least: 0 1/2 is none."""


@dataclass(frozen=True)
class Numbers:
    """A column of text read as numbers, as far as it is one.

    Attributes
    ----------
    values : ndarray of float, shape (m,)
        NaN where the entry is missing or is no number.
    kind : str
        "number", or how it is written.
    read_rows, unread_rows : int
        Rows that hold a number; rows that hold something else.
    unread : tuple of str
        The first five different entries that are no numbers.
    done : tuple of str
        What was taken off or apart.
    zero_led : bool
        Whether whole numbers are filled up with leading zeros.
    rounded : bool
        Whether a whole number has more digits than a double holds.
    """

    values: np.ndarray
    kind: str
    read_rows: int
    unread_rows: int
    unread: tuple[str, ...]
    done: tuple[str, ...]
    zero_led: bool
    rounded: bool


def bare(text):
    """A number's text without percent and currency signs and blanks between thousands.

    In parentheses it is negative, as accountants write it.
    """
    text = text.translate(LOOKALIKES).strip()
    inner = text.removesuffix("%").strip().strip(CURRENCIES).strip()
    if inner.startswith("(") and inner.endswith(")"):
        inner = "-" + inner[1:-1].strip().strip(CURRENCIES).strip()
    elif inner[:1] in ("-", "+"):
        inner = inner[0] + inner[1:].strip().strip(CURRENCIES).strip()
    return BLANKS.sub("", inner) if GROUPED.fullmatch(inner) else inner


def is_number(text):
    """Whether a field is a number in one way of writing, infinite, or missing."""
    if text in MISSING or WORDS.fullmatch(text):
        return True
    text = bare(text)
    return any(pattern.fullmatch(text) for pattern in WRITINGS.values())


def sign_votes(texts, counts=None):
    """How many entries can have a comma, and a point, as decimal sign only.

    1,5 can; 1,500 cannot tell, as it may be a thousand and a half.

    Parameters
    ----------
    texts : iterable of str
    counts : sequence of int, optional
        How often each comes; once by default.

    Returns
    -------
    commas, points : int
    """
    votes = {",": 0, ".": 0}
    for at, text in enumerate(texts):
        text = bare(peel(text).number)
        for sign in votes:
            if SIGNED[sign].fullmatch(text) and not GROUPS[sign].fullmatch(text):
                votes[sign] += 1 if counts is None else int(counts[at])
    return votes[","], votes["."]


def read_numbers(codes, entries, decimal="."):
    """Read a column of text as numbers.

    Parameters
    ----------
    codes : ndarray of int, shape (m,)
        The entry of each row, -1 where it is missing.
    entries : list of str
        The different entries of the column.
    decimal : {".", ","}
        The file's decimal sign; the other one where more entries can be read by it.

    Returns
    -------
    Numbers
    """
    counts = np.bincount(codes[codes >= 0], minlength=len(entries))
    plain, marks = _without_marks(entries, counts)
    texts = [bare(entry) for entry in plain]
    readings = {
        sign: _values(texts, sign) for sign in (decimal, *",.".replace(decimal, ""))
    }
    read = {sign: counts[np.isfinite(v)].sum() for sign, v in readings.items()}
    # Nine in ten by the file's own sign are enough; the rest are slips of the pen.
    sign = decimal if read[decimal] >= 0.9 * counts.sum() else max(read, key=read.get)
    values = readings[sign]
    known = np.isfinite(values)
    kept = [entry for entry, ok in zip(plain, known, strict=True) if ok]
    return Numbers(
        values=np.append(values, np.nan)[codes],
        kind="number, decimal comma" if sign == "," else "number",
        read_rows=int(read[sign]),
        unread_rows=int(counts[~known].sum()),
        unread=tuple(entries[at] for at in np.flatnonzero(~known)[:5]),
        done=(
            *_marks_said(marks, known, counts),
            *_done(kept, sign, counts[known]),
        ),
        zero_led=_is_zero_led(kept),
        rounded=any(map(_is_rounded, kept)),
    )


def _without_marks(entries, counts):
    """The unit of most entries, the entries without it, and the marks of each.

    Where the units differ only those with the common one can be compared.
    """
    peeled = [Peeled(entry) if is_number(entry) else peel(entry) for entry in entries]
    unit = common_unit(peeled, counts)
    fits = [part.unit in ("", unit) for part in peeled]
    plain = [
        part.number if fit else entry
        for part, entry, fit in zip(peeled, entries, fits, strict=True)
    ]
    marks = [
        (*part.marks, *([repr(unit)] if unit and part.unit else [])) if fit else ()
        for part, fit in zip(peeled, fits, strict=True)
    ]
    return plain, marks


def _marks_said(marks, known, counts):
    """Which marks were taken off, and in how many rows where that is not all."""
    rows = Counter()
    for kinds, is_known, count in zip(marks, known, counts, strict=True):
        rows.update(dict.fromkeys(kinds, int(count)) if is_known else {})
    total = int(counts[known].sum())
    for kind, found in rows.items():
        where = "" if found == total else f" in {found} of {total} rows"
        yield f"{kind} taken off{where}"


def _is_zero_led(entries):
    """Whether all are digits alone, and some begin with a zero: 007, a code."""
    return all(map(str.isdecimal, entries)) and any(
        entry[0] == "0" and len(entry) > 1 for entry in entries
    )


def _is_rounded(entry):
    return entry.isdecimal() and int(float(entry)) != int(entry)


def _values(texts, sign):
    """Each text as a number, NaN where it is none in this way of writing."""
    thousands = "," if sign == "." else "."
    values = np.full(len(texts), np.nan)
    for at, text in enumerate(texts):
        if WRITINGS[sign].fullmatch(text):
            values[at] = float(text.replace(thousands, "").replace(",", "."))
    return values


def _done(entries, sign, counts):
    percent = np.array([entry.endswith("%") for entry in entries], dtype=bool)
    if percent.any():
        rows = counts[percent].sum()
        rest = counts.sum() - rows
        yield "percent signs taken off" + (
            f" in {rows} of {rows + rest} rows; the others are taken as they are"
            if rest
            else ""
        )
    if any(mark in entry for entry in entries for mark in CURRENCIES):
        yield "currency signs taken off"
    if any(SCRIPTS.search(entry) for entry in entries):
        yield "digits of another script are read as 0 to 9"
    thousands = "," if sign == "." else "."
    grouped = [e for e in entries if thousands in bare(e)]
    if grouped:
        value = bare(grouped[0]).replace(thousands, "").replace(",", ".")
        yield f"{grouped[0]} is read as {value}"
    signed = [e for e in entries if sign in bare(e)]
    if sign == "," and signed and all(GROUPS[","].fullmatch(bare(e)) for e in signed):
        yield f"{signed[0]} is read as {bare(signed[0]).replace(',', '.')}"


def read_truth(codes, entries):
    """A column of "true" and "false" as 1 and 0, NaN where missing; else None.

    Parameters as in `read_numbers`.
    """
    words = [entry.lower() for entry in entries[:3]]
    if not words or len(entries) > 2 or not set(words) <= {"true", "false"}:
        return None
    return np.append([float(word == "true") for word in words], np.nan)[codes]


def looks_like_dates(entries, looked_at=200):
    """Whether most of the first different entries of a column of text are dates or times."""
    entries = entries[:looked_at]
    found = sum(bool(DATE.fullmatch(entry)) for entry in entries)
    return found > 0.9 * len(entries)
