"""Labels as words, and the one that is nominal."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mebnb.your_data.words import TableError, listed

__all__ = ["read_labels"]


def read_labels(frame, label, nominal):
    if label is None:
        if nominal is not None:
            raise TableError(f"nominal needs a label, found {nominal!r} and no label")
        return None, None
    labels = _words(frame[label])
    counts = labels.value_counts()
    if len(counts) < 2:
        raise TableError(
            f"label must name a column of two or more values, found {len(counts)} in "
            f"{label!r}"
        )
    if nominal is None:
        return labels, counts.index[0]
    found = [word for word in counts.index if _same(word, nominal)]
    if not found:
        raise TableError(
            f"nominal must be a value of {label!r} ({listed(counts.index, 10)}), "
            f"found {nominal!r}"
        )
    return labels, found[0]


def _same(word, value):
    """Whether a label is the value: the same word or, 1.0 and 1, the same number."""
    if isinstance(value, (bool, np.bool_)):
        return word.lower() == str(value).lower()
    if word == str(value).strip():
        return True
    try:
        return not isinstance(value, str) and float(word) == float(value)
    except (TypeError, ValueError):
        return False


def _words(column):
    """Labels as words; 1.0 is 1, as a column with missing values has it."""
    if pd.api.types.is_float_dtype(column.dtype):
        whole = ((column.dropna() % 1 == 0) & (column.dropna().abs() < 2**53)).all()
        column = column.astype("Int64") if whole else column
    words = column.astype("string").str.strip()
    return words.mask(words == "").rename(column.name)
