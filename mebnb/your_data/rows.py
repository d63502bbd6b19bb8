"""Which lines of a table are rows: neither empty ones nor those that sum up others."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from mebnb.your_data.words import cut

__all__ = ["rows_of"]

SUMS = (
    *("total", "totals", "sum", "sums", "grand total", "summe", "gesamt", "insgesamt"),
    *("gesamtsumme", "somme", "totale", "total general", "total général", "suma"),
    *("razem", "totaal", "итого", "合计", "总计", "合計"),
)
OTHERS = (
    *("mean", "average", "avg", "avg.", "median", "min", "max", "minimum", "maximum"),
    *("std", "std.", "sd", "stdev", "std dev", "st.dev.", "standard deviation"),
    *("variance", "var", "count", "mittelwert", "mittel", "durchschnitt", "moyenne"),
    *("media", "promedio", "średnia", "gemiddelde", "среднее", "平均"),
)
PARTS = re.compile(
    r"(sub-?\s?totals?|zwischensumme|teilsumme|sous-?\s?total|subtotale)\b.*",
    re.IGNORECASE,
)
"""What a line within a table begins with where it adds up those above it."""

LONGEST_END = 8
"""Lines at the end of a table that may sum up the others."""


def rows_of(frame, notes):
    """The rows of a table, and which of them sum up others.

    Parameters
    ----------
    frame : pandas.DataFrame
        As it was read.
    notes : list of str
        Takes what was left out.

    Returns
    -------
    frame : pandas.DataFrame
        Without empty rows and closing sums, numbered from 0.
    apart : ndarray of bool
        Rows that add up rows above them, and keep their number.
    """
    frame = _without_empty(frame, notes)
    words = _summing_words(frame)
    kept = len(frame) - _closing(words, len(frame))
    notes += _said(words, kept)
    words = words[words.index < kept]
    apart = np.zeros(kept, dtype=bool)
    apart[[at for at, word in words.items() if PARTS.fullmatch(word)]] = True
    return frame.iloc[:kept], apart


def _without_empty(frame, notes):
    empty = np.ones(len(frame), dtype=bool)
    for name in frame.columns:
        if not empty.any():
            return frame
        empty &= frame[name].isna().to_numpy()
    if empty.any() and not empty.all():
        notes.append(f"lines without any value, which are no rows: {empty.sum()}")
        return frame[~empty].reset_index(drop=True)
    return frame


def _summing_words(frame):
    """The first words of rows that say that they sum up others, by row."""
    found = pd.Series("", index=frame.index, dtype=object)
    undecided = np.ones(len(frame), dtype=bool)
    for name in frame.columns:
        column = frame[name]
        if not pd.api.types.is_string_dtype(column.dtype) or not undecided.any():
            continue
        words = column.astype("string").str.strip(" :").str.lower().fillna("")
        sums = words.isin([*SUMS, *OTHERS]) | words.str.startswith(
            ("total ", "grand total")
        )
        sums |= words.str.fullmatch(PARTS)
        chosen = sums.to_numpy(dtype=bool) & undecided
        found[chosen] = column[chosen].astype(str).str.strip()
        undecided &= (words == "").to_numpy(dtype=bool)
    return found[found != ""]


def _closing(words, length):
    """How many rows at the end sum up those above, each by another word."""
    at = length
    while at - 1 in words.index and length - at < LONGEST_END:
        at -= 1
    closing = words[words.index >= at]
    return len(closing) if closing.is_unique and at >= 2 else 0


def _said(words, kept):
    closing, above = words[words.index >= kept], words[words.index < kept]
    if len(closing) == 1:
        yield (
            f"the last row, which begins with {closing.iloc[0]!r}, is left out as a total"
        )
    elif len(closing):
        yield (
            f"the last {len(closing)} rows, which begin with {_quoted(closing)}, are left "
            "out as totals"
        )
    is_part = above.str.fullmatch(PARTS).astype(bool)
    for chosen, said in (
        (above[is_part], "left out as totals of those above them"),
        (above[~is_part], "that may sum up others; remove them if they do"),
    ):
        if len(chosen):
            yield (
                f"rows {said}: {len(chosen)}, first row {chosen.index[0] + 1}, which begins "
                f"with {cut(chosen.iloc[0])!r}"
            )


def _quoted(words):
    return ", ".join(repr(cut(word)) for word in words)
