"""What becomes of each column of a file, and why."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mebnb.report.words import counted
from mebnb.your_data.codes import NAMES_ROWS, NAMING, why_no_measurement
from mebnb.your_data.dialect import ROW_NAME
from mebnb.your_data.marks import begins_with_number
from mebnb.your_data.numbers import (
    MISSING,
    looks_like_dates,
    read_numbers,
    read_truth,
    sign_votes,
)
from mebnb.your_data.words import (
    TableError,
    cut,
    did_you_mean,
    listed,
    shown_entries,
)

__all__ = ["Roles", "check_wishes", "find_identity", "list_of_names", "read_columns"]

MOST_MISSING = 0.2
"""A column with more missing values than this share is left out, not its rows."""

MOSTLY = 0.9
"""A column of text is one of numbers when this share of its entries are numbers."""

LOST_DIGITS = (
    "whole numbers of more digits than can be told apart as numbers: a name or a code"
)


@dataclass(frozen=True)
class Roles:
    """What was asked of the columns."""

    label: str | None
    columns: list[str]
    leave: list[str]
    identity: str | None


def list_of_names(argument, names):
    if isinstance(names, str) or not hasattr(names, "__iter__"):
        raise TableError(f"{argument} must be a list of names, found {names!r}")
    return list(names)


def check_wishes(frame, label, columns, leave, identity):
    for argument, names in (("columns", columns), ("leave", leave)):
        for name in names:
            _check_name(frame, argument, name)
            if names.count(name) > 1:
                raise TableError(
                    f"{argument} must name each column once, found {name!r}"
                )
    for argument, name in (("label", label), ("identity", identity)):
        if name is not None:
            _check_name(frame, argument, name)
    roles = {
        "columns": columns,
        "leave": leave,
        "identity": [identity],
        "label": [label],
    }
    for (one, names), (other, others) in itertools.combinations(roles.items(), 2):
        both = [name for name in names if name is not None and name in others]
        if both and {one, other} != {"leave", "identity"}:
            raise TableError(
                f"{one} and {other} both name {both[0]!r}; keep one of them"
            )


def _check_name(frame, argument, name):
    if not isinstance(name, str) or name not in frame.columns:
        raise TableError(
            f"{argument} must name a column of the file ({listed(frame.columns)}), "
            f"found {name!r}{did_you_mean(name, frame.columns)}"
        )


def read_columns(frame, decimal, roles, mostly=MOSTLY):
    """The used columns in their order, what is said of each, and the decimal sign."""
    texts = {
        name: _entries(frame[name]) for name in frame.columns if name != roles.label
    }
    decimal = _settled(decimal, texts)
    readings, numbers, seen = {}, {}, {}
    for name in frame.columns:
        if name == roles.label:
            readings[name] = _reading("label", frame[name], why="the label")
            continue
        found = _numbers(frame[name], texts[name], decimal, mostly)
        readings[name] = _reading(
            found.kind, frame[name] if found.values is None else found.values
        )
        reason = _objection(name, found, roles)
        if name in roles.columns and reason:
            entries = shown_entries(frame[name])
            raise TableError(
                f"column {name!r} must hold numbers, found {found.kind}: {entries}"
            )
        if reason is None and not roles.columns:
            reason = _weakness(found, seen, name)
        readings[name]["used"] = "no" if reason else "yes"
        readings[name]["why"] = reason or found.why
        if reason is None:
            numbers[name] = found.values
    readings = pd.DataFrame.from_dict(readings, orient="index").rename_axis("column")
    return {name: numbers[name] for name in roles.columns or numbers}, readings, decimal


@dataclass(frozen=True)
class _Column:
    """A column as numbers, as far as it is one.

    Attributes
    ----------
    values : ndarray of float, or None
    kind : str
    why : str
        What was done to read it, or why it cannot be read.
    zero_led : bool
        Whether its numbers are filled up with leading zeros.
    """

    values: np.ndarray | None
    kind: str
    why: str = ""
    zero_led: bool = False


def _entries(column):
    """Codes and different entries of a column of text; None for other columns."""
    kind = column.dtype.kind
    if kind in "biufcmM" or pd.api.types.is_numeric_dtype(column.dtype):
        return None
    if pd.api.types.is_bool_dtype(column.dtype) or isinstance(
        column.dtype, pd.DatetimeTZDtype
    ):
        return None
    try:
        codes, entries = pd.factorize(column.astype(object))
    except TypeError:  # lists and mappings, which Parquet may hold
        return None
    entries = [str(entry).strip() for entry in entries]
    missing = np.array([entry in MISSING for entry in entries], dtype=bool)
    if missing.any():
        kept = np.append(np.where(missing, -1, np.cumsum(~missing) - 1), -1)
        codes = kept[codes]
        entries = [entry for entry in entries if entry not in MISSING]
    return codes, entries


def _settled(decimal, texts):
    """The decimal sign after all entries of text have spoken."""
    commas = points = 0
    for codes, entries in filter(None, texts.values()):
        counts = np.bincount(codes[codes >= 0], minlength=len(entries))
        found = sign_votes(entries, counts)
        commas, points = commas + found[0], points + found[1]
    return decimal if commas == points else "," if commas > points else "."


def _numbers(column, text, decimal, mostly):
    if text is not None:
        return _numbers_of_text(*text, decimal, mostly)
    if pd.api.types.is_bool_dtype(column.dtype):
        return _Column(_as_float(column), "yes or no", "true is 1, false is 0")
    if column.dtype.kind == "m":
        seconds = column.dt.total_seconds().to_numpy(dtype=float)
        return _Column(seconds, "duration", "in seconds")
    if column.dtype.kind == "M" or isinstance(column.dtype, pd.DatetimeTZDtype):
        return _Column(None, "date")
    if column.dtype.kind == "c":
        return _Column(None, "complex")
    if not pd.api.types.is_numeric_dtype(column.dtype):
        return _Column(None, "nested")
    values = _as_float(column)
    if pd.api.types.is_integer_dtype(column.dtype) and _loses_digits(column, values):
        return _Column(None, "code", LOST_DIGITS)
    infinite = int(np.isinf(values).sum())
    values[np.isinf(values)] = np.nan
    told = f"infinite in {counted(infinite, 'row')}, which counts as missing"
    return _Column(values, "number", told if infinite else "")


def _loses_digits(column, values):
    """Whether some whole number is another one as a double."""
    large = np.abs(values) >= 2.0**53
    return any(
        int(x) != int(y) for x, y in zip(column[large], values[large], strict=True)
    )


def _numbers_of_text(codes, entries, decimal, mostly):
    if not entries:
        return _Column(None, "empty")
    truth = read_truth(codes, entries)
    if truth is not None:
        return _Column(truth, "yes or no", "true is 1, false is 0")
    if looks_like_dates(entries):
        return _Column(None, "date")
    read = read_numbers(codes, entries, decimal)
    if read.rounded:
        return _Column(None, "code", LOST_DIGITS)
    known = read.read_rows + read.unread_rows
    if read.read_rows < mostly * known or not read.read_rows:
        return _text_column(codes, entries, read)
    done = list(read.done)
    if read.unread_rows:
        done.append(
            f"no number in {counted(read.unread_rows, 'row')}, which counts as missing: "
            f"{_shown(read.unread)}"
        )
    return _Column(read.values, read.kind, "; ".join(done), read.zero_led)


def _text_column(codes, entries, read):
    """A column of words, or of numbers with something about them that is not understood."""
    counts = np.bincount(codes[codes >= 0], minlength=len(entries))
    begun = counts[[begins_with_number(entry) for entry in entries]].sum()
    kind = "text" if 2 * begun <= counts.sum() else "numbers in text"
    if not read.read_rows:
        told = f"begins with numbers and is none: {_shown(read.unread)}"
        return _Column(None, kind, told if kind != "text" else "")
    told = f"numbers in {counted(read.read_rows, 'row')} only; others are {_shown(read.unread)}"
    if any(entry[0] in "<>" for entry in read.unread):
        told += "; write a limit, or half of it, as a number"
    return _Column(None, kind, told)


def _shown(entries):
    return ", ".join(repr(cut(entry)) for entry in entries)


def _as_float(column):
    return np.array(column.to_numpy(dtype=np.float64, na_value=np.nan))


def _reading(kind, values, why=""):
    known = isinstance(values, np.ndarray)
    missing = int(np.isnan(values).sum()) if known else int(pd.isna(values).sum())
    some = known and missing < len(values)
    return {
        "type": kind,
        "missing": missing,
        "least": float(np.nanmin(values)) if some else np.nan,
        "greatest": float(np.nanmax(values)) if some else np.nan,
        "used": "no",
        "why": why,
    }


def _objection(name, found, roles):
    """Why a column may not be used at all, or None."""
    if name == roles.identity or (name == ROW_NAME and name not in roles.columns):
        return NAMES_ROWS
    if name in roles.leave:
        return "left out as asked"
    if roles.columns and name not in roles.columns:
        return "not among the columns asked for"
    if found.values is not None:
        return None
    return (
        found.why
        or {
            "date": "a date is no distance; turn it into a number, such as days, to use it",
            "text": "words have no distance; turn them into numbers to use them",
            "empty": "every value is missing",
            "nested": "lists and mappings have no distance; flatten them to use them",
            "complex": "complex numbers; split them into two columns to use them",
        }[found.kind]
    )


def _weakness(found, seen, name):
    """Why a column of numbers does not serve, or None."""
    values = found.values
    missing = np.isnan(values).mean()
    if missing == 1:
        return "every value is missing"
    if missing > MOST_MISSING:
        return f"missing in {missing:.0%} of the rows"
    if np.nanmin(values) == np.nanmax(values):
        return "constant"
    code = why_no_measurement(values, found.zero_led)
    if code:
        return code
    digest = hashlib.blake2b((values + 0.0).tobytes()).digest()
    if digest in seen:
        return f"repeats column {seen[digest]}"
    seen[digest] = name
    return None


def find_identity(frame, readings):
    """The first column that names the rows, or None; its reading says so.

    That is a running number, whole numbers that all differ, or different words. Text that
    begins with numbers is a measurement that could not be read, and names nothing.
    """
    for name, reading in readings.iterrows():
        if reading["used"] == "yes" or reading["why"] == "left out as asked":
            continue
        if reading["why"] in NAMING:
            return name
        words = reading["type"] == "text" and reading["missing"] == 0
        if words and frame[name].is_unique:
            readings.loc[name, "why"] = NAMES_ROWS
            return name
    return None
