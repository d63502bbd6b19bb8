"""Text as numbers: percent signs, decimal commas, thousands, and what is a date."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd

__all__ = ["Numbers", "looks_like_dates", "read_numbers", "read_truth"]

MOSTLY = 0.9
"""A column of text is one of numbers when this share of its entries are numbers."""

BLANKS = re.compile(r"[\s\u00a0\u202f']")
WRITINGS = {
    ".": re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)?(\.\d*)?([eE][+-]?\d+)?"),
    ",": re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+)?(,\d*)?([eE][+-]?\d+)?"),
}


@dataclass(frozen=True)
class Numbers:
    """A column of text read as numbers.

    Attributes
    ----------
    values : ndarray of float, shape (m,)
        NaN where the entry is missing or is no number.
    kind : str
        "number", "percent", or how it is written.
    unread : tuple of str
        Different entries that are no numbers, the first five.
    unread_rows : int
        Rows that hold such an entry.
    """

    values: np.ndarray
    kind: str
    unread: tuple[str, ...]
    unread_rows: int


def read_numbers(column, decimal="."):
    """Read a column of text as numbers.

    Parameters
    ----------
    column : pandas.Series of str
    decimal : {".", ","}
        The file's decimal sign, where a column can be read in both ways.

    Returns
    -------
    Numbers or None
        None where fewer than `MOSTLY` of the entries are numbers.
    """
    codes, entries = pd.factorize(column.astype(object))
    texts = [str(entry).strip() for entry in entries]
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    if not counts.sum():
        return None
    percent = [text.endswith("%") for text in texts]
    bare = [BLANKS.sub("", text.removesuffix("%")) for text in texts]
    other = "," if decimal == "." else "."
    if any(re.fullmatch(r"[+-]?\d+,(\d{1,2}|\d{4,})", text) for text in bare):
        # One entry that is no whole number of thousands settles it for its column.
        decimal, other = (",", ".") if decimal == "." else (decimal, other)
    found = {sign: _values(bare, sign) for sign in (decimal, other)}
    read = {sign: counts[np.isfinite(found[sign])].sum() for sign in found}
    sign = max(found, key=read.get)
    if read[sign] < MOSTLY * counts.sum():
        return None
    values = found[sign]
    unread = np.flatnonzero(~np.isfinite(values))
    return Numbers(
        values=np.append(values, np.nan)[codes],
        kind=_kind(bare, sign, any(percent)),
        unread=tuple(texts[at] for at in unread[:5]),
        unread_rows=int(counts[unread].sum()),
    )


def _values(texts, sign):
    """Each text as a number, NaN where it is none in this way of writing."""
    pattern, thousands = WRITINGS[sign], "," if sign == "." else "."
    values = np.full(len(texts), np.nan)
    for at, text in enumerate(texts):
        if pattern.fullmatch(text) and any(map(str.isdigit, text)):
            values[at] = float(text.replace(thousands, "").replace(",", "."))
    return values


def _kind(texts, sign, percent):
    if percent:
        return "percent"
    if sign == "," and any("," in text for text in texts):
        return "number, decimal comma"
    if sign == "." and any("," in text for text in texts):
        return "number, thousands apart"
    return "number"


def read_truth(column):
    """A column of "true" and "false" as 1 and 0, NaN where missing; else None."""
    codes, entries = pd.factorize(column.astype(object))
    words = [str(entry).strip().lower() for entry in entries[:3]]
    if len(entries) > 2 or not set(words) <= {"true", "false"}:
        return None
    return np.append([float(word == "true") for word in words], np.nan)[codes]


def looks_like_dates(column, looked_at=200):
    """Whether most of the first different entries of a column of text are dates."""
    entries = pd.Series(column.dropna().unique()[:looked_at], dtype=object).astype(str)
    if entries.empty or not entries.str.contains(r"\d").mean() > MOSTLY:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dates = pd.to_datetime(entries, errors="coerce", format="mixed", utc=True)
        first = pd.to_datetime(
            entries, errors="coerce", format="mixed", utc=True, dayfirst=True
        )
    return bool(max(dates.notna().mean(), first.notna().mean()) > MOSTLY)
