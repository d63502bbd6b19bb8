"""Text as numbers: percent and currency signs, decimal commas, thousands; and dates."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd

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
LOOKALIKES = str.maketrans({"\u2212": "-", "\u2019": "'"})  # minus sign, apostrophe
BLANKS = re.compile(r"[\s\u00a0\u202f']")
GROUPED = re.compile(r"[+-]?\d{1,3}([\s\u00a0\u202f']\d{3})+([.,]\d*)?")
WRITINGS = {
    ".": re.compile(
        r"[+-]?(([1-9]\d{0,2}(,\d{3})+|\d+)(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII
    ),
    ",": re.compile(
        r"[+-]?(([1-9]\d{0,2}(\.\d{3})+|\d+)(,\d*)?|,\d+)([eE][+-]?\d+)?", re.ASCII
    ),
}
UNIT = re.compile(r"(.*\d[.,]?)\s+([^\d\s.,%()]{1,6})")
SIGNED = {sign: re.compile(rf"[+-]?\d+\{sign}\d+") for sign in ".,"}
GROUPS = {sign: re.compile(rf"[+-]?[1-9]\d{{0,2}}(\{sign}\d{{3}})+") for sign in ".,"}
WORDS = re.compile(r"[+-]?(inf|infinity)", re.IGNORECASE)


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
    """

    values: np.ndarray
    kind: str
    read_rows: int
    unread_rows: int
    unread: tuple[str, ...]
    done: tuple[str, ...]


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
        text = bare(text)
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
    unit, plain = _without_unit(entries, counts)
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
        done=(*unit, *_done(kept, sign, counts[known])),
    )


def _without_unit(entries, counts):
    """Entries without a unit that most of them end in, and a word on it."""
    found = [UNIT.fullmatch(entry) for entry in entries]
    units = Counter()
    for match, count in zip(found, counts, strict=True):
        if match:
            units[match[2]] += int(count)
    unit, rows = units.most_common(1)[0] if units else ("", 0)
    if 2 * rows < counts.sum() or not rows:
        return [], entries
    plain = [
        match[1] if match and match[2] == unit else entry
        for match, entry in zip(found, entries, strict=True)
    ]
    return [f"{unit!r} taken off"], plain


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
    """Whether most of the first different entries of a column of text are dates."""
    entries = pd.Series(entries[:looked_at], dtype=object)
    if not entries.str.contains(r"\d").mean() > 0.9:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = [
            pd.to_datetime(
                entries, errors="coerce", format="mixed", utc=True, dayfirst=day_first
            )
            for day_first in (False, True)
        ]
    return bool(max(dates.notna().mean() for dates in read) > 0.9)
