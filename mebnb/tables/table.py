"""A table as points: which columns are used and which rows, and why."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from mebnb.tables.errors import TableError
from mebnb.tables.numbers import looks_like_dates, read_numbers, read_truth
from mebnb.tables.reading import read_file

__all__ = ["MOST_MISSING", "Table", "read_table"]

MOST_MISSING = 0.2
"""A column with more missing values than this share is left out, not its rows."""

CODES = (-99999, -9999, -999, -99, 99, 999, 9999, 99999)
"""Numbers that often stand for a missing value."""


@dataclass(frozen=True, repr=False, eq=False)
class Table:
    """Points from a file, and what was done to get them.

    Attributes
    ----------
    name : str
        The file's name without its ending.
    values : pandas.DataFrame of float64, shape (m, n)
        The used columns of the rows without a missing value.
    rows : ndarray of int, shape (m,)
        Their row numbers in the file, counted from 1 below the header.
    total : int
        Rows in the file.
    readings : pandas.DataFrame
        One row for each column of the file: type, missing, least, greatest, used, why.
    notes : list of str
        What a reader of the results should know.
    labels : pandas.Series of str, or None
        Of the same rows; missing where the file has none.
    nominal : str or None
        The label that counts as nominal.
    identities : pandas.Series, or None
        Of all rows in the file.
    """

    name: str
    values: pd.DataFrame
    rows: np.ndarray
    total: int
    readings: pd.DataFrame
    notes: list[str]
    labels: pd.Series | None = None
    nominal: str | None = None
    identities: pd.Series | None = None

    @property
    def identity(self):
        """The names of the rows that are used, or None."""
        if self.identities is None:
            return None
        return self.identities.iloc[self.rows - 1]

    @property
    def is_nominal(self):
        """ndarray of bool, shape (m,): rows to learn from; all without a label."""
        if self.labels is None:
            return np.ones(len(self.rows), dtype=bool)
        return (self.labels == self.nominal).to_numpy(dtype=bool, na_value=False)

    @property
    def is_judged(self):
        """ndarray of bool, shape (m,): rows whose label is known."""
        if self.labels is None:
            return np.zeros(len(self.rows), dtype=bool)
        return self.labels.notna().to_numpy()

    def encoded(self):
        """The values, as a data set has them."""
        return self.values

    def take(self, chosen):
        """The same table with some of its rows.

        Parameters
        ----------
        chosen : ndarray of bool or of int

        Returns
        -------
        Table
        """
        labels = self.labels
        return replace(
            self,
            values=self.values.iloc[chosen].reset_index(drop=True),
            rows=self.rows[chosen],
            labels=None if labels is None else labels.iloc[chosen].reset_index(drop=True),
        )

    def sample(self, size, seed=0):
        """At most `size` rows, drawn without replacement, in file order.

        Parameters
        ----------
        size : int
        seed : int

        Returns
        -------
        Table
            This one where it has no more rows.
        """
        if len(self.rows) <= size:
            return self
        drawn = np.random.default_rng(seed).choice(len(self.rows), size, replace=False)
        return self.take(np.sort(drawn))

    def named(self, chosen):
        """Row numbers and, where there are, names of some of the rows.

        Parameters
        ----------
        chosen : ndarray of int

        Returns
        -------
        pandas.DataFrame
        """
        named = pd.DataFrame({"row": self.rows[chosen]})
        if self.identities is not None:
            named[self.identities.name] = self.identity.iloc[chosen].to_numpy()
        if self.labels is not None:
            named[self.labels.name] = self.labels.iloc[chosen].to_numpy()
        return named

    def __repr__(self):
        m, n = self.values.shape
        return f"Table({self.name}: {m} of {self.total} rows, {n} columns)"


def read_table(
    path, *, label=None, nominal=None, columns=(), leave=(), identity=None
):
    """Read a CSV or Parquet file as points.

    Columns of numbers are used, also those with percent signs, decimal commas or
    thousands apart. Text, dates, constants, running numbers, repeated columns and
    columns with more than `MOST_MISSING` missing are left out, then the rows with a
    missing value. `readings` and `notes` say so.

    Parameters
    ----------
    path : path
        Delimiter, encoding, header and decimal sign of a CSV are found out. A file may
        be packed as .gz, .bz2 or .xz.
    label : str, optional
        The column that tells nominal rows from others.
    nominal : str, optional
        Its value for nominal rows; the most frequent one by default.
    columns : sequence of str
        The columns to use, in this order; all that serve by default. Each must hold
        numbers, and none is left out for another reason.
    leave : sequence of str
        Columns to leave out.
    identity : str, optional
        The column that names the rows; by default the first of running numbers or of
        different words.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        A ValueError: no such file or column, not a table, no column of numbers, no row
        without a missing value.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "shop.csv"
    >>> size = file.write_text("id;price;share\\n1;2,50;10 %\\n2;3,75;?\\n3;2,00;30 %\\n")
    >>> table = read_table(file, leave=["id"])
    >>> table.values["price"].tolist()
    [2.5, 2.0]
    >>> print(table.readings.loc["share", "why"])
    percent signs taken off
    """
    kept = [name for name in (label, identity) if name is not None]
    frame, decimal, notes = read_file(path, text=kept)
    _check_names(frame, label, columns, leave, identity)
    readings, numbers = {}, {}
    seen = {}
    for name in frame.columns:
        if name == label:
            readings[name] = _reading("label", frame[name], why="the label")
            continue
        values, kind, why = _numbers(frame[name], decimal)
        readings[name] = _reading(kind, frame[name] if values is None else values)
        reason = _objection(name, values, kind, columns, leave, identity)
        if reason is None and not columns:
            reason = _weakness(values, seen, name)
        readings[name]["used"] = "no" if reason else "yes"
        readings[name]["why"] = reason or why
        if reason is None:
            numbers[name] = values
    readings = pd.DataFrame.from_dict(readings, orient="index").rename_axis("column")
    for name in columns:
        if name not in numbers:
            raise TableError(
                f"column {name!r} must hold numbers, found {readings.loc[name, 'type']}: "
                f"{_shown(frame[name])}"
            )
    if not numbers:
        raise TableError(_nothing_to_use(path, readings))
    values = pd.DataFrame(numbers, copy=False)[list(columns) or list(numbers)]
    labels, nominal = _labels(frame, label, nominal)
    names = _identities(frame, identity, readings)
    total = len(frame)
    del frame, numbers
    complete = np.isfinite(values.to_numpy()).all(axis=1)
    if not complete.any():
        raise TableError(_no_complete_row(path, values))
    rows = np.flatnonzero(complete) + 1
    if len(rows) < total:
        values = values[complete].reset_index(drop=True)
        labels = None if labels is None else labels[complete].reset_index(drop=True)
    table = Table(
        Path(path).stem, values, rows, total, readings, notes, labels, nominal, names
    )
    notes += _remarks(table)
    return table


# --- columns -------------------------------------------------------------------------


def _check_names(frame, label, columns, leave, identity):
    asked = {"label": [label], "columns": columns, "leave": leave, "identity": [identity]}
    for argument, names in asked.items():
        for name in names:
            if name is not None and name not in frame.columns:
                known = ", ".join(map(str, frame.columns[:30]))
                more = ", ..." if len(frame.columns) > 30 else ""
                raise TableError(
                    f"{argument} must name columns of the file ({known}{more}), "
                    f"found {name!r}"
                )
    if label is not None and label in columns:
        raise TableError(f"columns must not hold the label, found {label!r}")


def _numbers(column, decimal):
    """A column's values as float64, or None; its type; what was done to read it."""
    if pd.api.types.is_bool_dtype(column.dtype):
        return _as_float(column), "yes or no", "true is 1, false is 0"
    if pd.api.types.is_numeric_dtype(column.dtype):
        values = _as_float(column)
        infinite = int(np.isinf(values).sum())
        values[np.isinf(values)] = np.nan
        told = f"infinite in {_rows(infinite)}, which counts as missing"
        return values, "number", told if infinite else ""
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        return None, "date", ""
    if column.isna().all():
        return None, "empty", ""
    truth = read_truth(column)
    if truth is not None:
        return truth, "yes or no", "true is 1, false is 0"
    read = read_numbers(column, decimal)
    if read is None:
        return None, "date" if looks_like_dates(column) else "text", ""
    done = {"percent": "percent signs taken off"}.get(read.kind, "")
    if read.unread_rows:
        shown = ", ".join(map(repr, read.unread))
        done = f"{done}; " if done else ""
        done += f"no number in {_rows(read.unread_rows)}, which counts as missing: {shown}"
    return read.values, read.kind, done


def _rows(count):
    return f"{count} row" if count == 1 else f"{count} rows"


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


def _objection(name, values, kind, columns, leave, identity):
    """Why a column may not be used at all, or None."""
    if name == identity:
        return "names the rows"
    if name in leave:
        return "left out as asked"
    if columns and name not in columns:
        return "not among the columns asked for"
    if values is None:
        return {
            "date": "a date is no distance; turn it into a number, such as days, to use it",
            "text": "words have no distance; turn them into numbers to use them",
            "empty": "every value is missing",
        }[kind]
    return None


def _weakness(values, seen, name):
    """Why a column of numbers does not serve, or None."""
    missing = np.isnan(values).mean()
    if missing == 1:
        return "every value is missing"
    if missing > MOST_MISSING:
        return f"missing in {missing:.0%} of the rows"
    if np.nanmin(values) == np.nanmax(values):
        return "constant"
    if _counts_rows(values):
        return "a running number, which names the row"
    digest = hashlib.blake2b((values + 0.0).tobytes()).digest()
    if digest in seen:
        return f"repeats column {seen[digest]}"
    seen[digest] = name
    return None


def _counts_rows(values):
    """Whether the values count on by one from a start of 0 or 1, for five rows or more."""
    if len(values) < 5 or values[0] not in (0.0, 1.0):
        return False
    return bool((np.diff(values) == 1.0).all())


def _identities(frame, identity, readings):
    if identity is None:
        for name, reading in readings.iterrows():
            running = reading["why"] == "a running number, which names the row"
            words = reading["type"] == "text" and reading["missing"] == 0
            if running or (words and frame[name].is_unique):
                identity = name
                break
    return None if identity is None else frame[identity].rename(identity)


# --- labels --------------------------------------------------------------------------


def _labels(frame, label, nominal):
    if label is None:
        if nominal is not None:
            raise TableError(f"nominal needs a label column, found nominal={nominal!r}")
        return None, None
    labels = _words(frame[label])
    counts = labels.value_counts()
    if len(counts) < 2:
        raise TableError(
            f"label must name a column of two or more values, found {len(counts)} in "
            f"{label!r}"
        )
    nominal = counts.index[0] if nominal is None else str(nominal).strip()
    if nominal not in counts.index:
        known = ", ".join(map(str, counts.index[:10]))
        more = ", ..." if len(counts) > 10 else ""
        raise TableError(
            f"nominal must be a value of {label!r} ({known}{more}), found {nominal!r}"
        )
    return labels, nominal


def _words(column):
    """Labels as words; 1.0 is 1, as a column with missing values has it."""
    if pd.api.types.is_float_dtype(column.dtype):
        whole = (column.dropna() % 1 == 0).all()
        column = column.astype("Int64") if whole else column
    words = column.astype("string").str.strip()
    return words.mask(words == "").rename(column.name)


# --- what to say ---------------------------------------------------------------------


def _nothing_to_use(path, readings):
    name, found = Path(path).name, readings["why"].value_counts()
    if len(readings) == 1 and readings["type"].iloc[0] == "text":
        return (
            f"{name} holds one column of text; expected numbers separated by commas, "
            "semicolons, tabs, bars or spaces"
        )
    reasons = "; ".join(f"{why} ({count})" for why, count in found.items())
    return f"{name} has no column of numbers that can be used: {reasons}"


def _no_complete_row(path, values):
    share = values.isna().mean().sort_values(ascending=False)
    worst = ", ".join(f"{name} ({part:.0%})" for name, part in share.head(3).items())
    return (
        f"{Path(path).name} has no row without a missing value; leave out the columns "
        f"that lack most: {worst}"
    )


def _shown(column):
    entries = column.dropna().unique()[:3]
    return ", ".join(repr(str(entry)) for entry in entries) or "nothing"


def _remarks(table):
    """What in the values a reader of the results should know."""
    remarks, total, kept = [], table.total, len(table.rows)
    if kept < total:
        lost = f"rows left out for a missing value: {total - kept} of {total}"
        if kept < total / 2:
            lost += "; fill the values in, or leave out the columns that lack most"
        remarks.append(lost)
    if table.labels is not None:
        unknown = int(table.labels.isna().sum())
        if unknown:
            remarks.append(f"rows without a label, which are scored only: {unknown}")
    repeated = int(pd.util.hash_pandas_object(table.values, index=False).duplicated().sum())
    if repeated:
        remarks.append(
            f"rows whose values repeat an earlier row: {repeated}; they change no hard "
            "ball and count as often as they come in a soft one"
        )
    for name in table.values:
        remarks += _suspicious(name, table.values[name].to_numpy())
    return remarks


def _suspicious(name, values):
    """A sentence for each end of a column that looks like a code for a missing value."""
    found = []
    for end in (values.min(), values.max()):
        if end in CODES:
            others = values[values != end]
            width = np.ptp(others) if others.size else 0.0
            apart = np.abs(others - end).min() if others.size else 0.0
            if apart > width > 0 and (values == end).sum() > 1:
                found.append(
                    f"{end:g} comes {(values == end).sum()} times in {name}, far from "
                    "all else; if it stands for a missing value, blank it"
                )
    return found
