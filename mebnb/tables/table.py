"""A table as points: which columns are used and which rows, and why."""

from __future__ import annotations

import hashlib
import itertools
import re
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from mebnb.tables.dialect import ROW_NAME
from mebnb.tables.errors import TableError
from mebnb.tables.numbers import (
    MISSING,
    looks_like_dates,
    read_numbers,
    read_truth,
    sign_votes,
)
from mebnb.tables.reading import check_path, read_file

__all__ = ["MOST_MISSING", "Table", "beside_ours", "read_rows", "read_table"]

MOST_MISSING = 0.2
"""A column with more missing values than this share is left out, not its rows."""

CODES = (-99999, -9999, -999, -99, 99, 999, 9999, 99999)
"""Numbers that often stand for a missing value."""

MOSTLY = 0.9
"""A column of text is one of numbers when this share of its entries are numbers."""

TOTALS = ("total", "totals", "sum", "summe", "gesamt", "insgesamt", "somme", "totale")
"""What the last row of a table begins with where it adds up the others."""

NAMED_AS_LABEL = ("label", "class", "target", "fraud", "anomaly", "outlier", "fault")
NAMED_AS_IDENTITY = ("id", "ids", "key", "code", "zip", "plz", "postcode")

RUNNING = "a running number, which names the row"
NAMES_ROWS = "names the rows"
OURS = ("row", "score", "alarm", "mostly", "value there", "weight", "equal rows")
"""Columns of our own tables, beside which a column of the file gets another name."""


@dataclass(frozen=True, repr=False, eq=False)
class Table:
    """Points from a file, and what was done to get them.

    Attributes
    ----------
    name : str
        The file's name.
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
        Names of all rows in the file.
    decimal : {".", ","}
        The file's decimal sign.
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
    decimal: str = "."

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
            labels=None
            if labels is None
            else labels.iloc[chosen].reset_index(drop=True),
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
        for column in (self.identity, self.labels):
            if column is not None:
                named[beside_ours(column.name)] = column.iloc[chosen].to_numpy()
        return named

    def __repr__(self):
        m, n = self.values.shape
        return f"Table({self.name}: {m} of {self.total} rows, {n} columns)"


def beside_ours(name):
    """A column's name, changed where a column of our own tables has it."""
    return f"{name} (file)" if name in OURS else name


def read_table(path, *, label=None, nominal=None, columns=(), leave=(), identity=None):
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
    path, columns, leave = (
        check_path(path),
        _names("columns", columns),
        _names("leave", leave),
    )
    frame, decimal, notes = read_file(path, text=[n for n in (label, identity) if n])
    _check_wishes(frame, label, columns, leave, identity)
    frame = _without_total(frame, notes)
    if len(frame) == 1:
        raise TableError(f"{path.name} holds one row; a ball needs two or more")
    roles = _Roles(label, columns, leave, identity)
    numbers, readings, decimal = _read_columns(frame, decimal, roles)
    if not numbers:
        raise TableError(_nothing_to_use(path, readings))
    identity = identity or _find_identity(frame, readings)
    labels, nominal = _labels(frame, label, nominal)
    table = _complete(path, frame, numbers, readings, notes, identity, decimal)
    if not len(table.rows):
        raise TableError(_no_complete_row(path, readings))
    if labels is not None:
        labels = labels.iloc[table.rows - 1].reset_index(drop=True)
    table = replace(table, labels=labels, nominal=nominal)
    return replace(table, notes=[*notes, *_remarks(table)])


def read_rows(path, columns, identity=None, decimal=None):
    """Read given columns of a file, to score its rows.

    Parameters
    ----------
    path : path
    columns : sequence of str
        Each must be in the file and hold numbers.
    identity : str, optional
        The column that names the rows, where the file has it.
    decimal : {".", ","}, optional
        The decimal sign where no entry of the file settles it.

    Returns
    -------
    Table
        Without labels, and maybe without a complete row.

    Raises
    ------
    TableError
        A ValueError: no such file or column, not a table, a column without a number.
    """
    path = check_path(path)
    frame, decimal, notes = read_file(
        path, text=[identity] if identity else [], decimal=decimal
    )
    lacking = [name for name in columns if name not in frame.columns]
    if lacking:
        raise TableError(
            f"{path.name} lacks {', '.join(map(repr, lacking[:5]))}; it must have the "
            f"columns of the model, found {_listed(frame.columns)}"
        )
    frame = _without_total(frame, notes)
    if identity not in frame.columns or identity in columns:
        identity = None
    roles = _Roles(None, list(columns), [], identity)
    # A model asks for its columns: what is no number costs its row a score, no more.
    numbers, readings, decimal = _read_columns(frame, decimal, roles, mostly=1e-9)
    identity = identity or _find_identity(frame, readings)
    table = _complete(path, frame, numbers, readings, notes, identity, decimal)
    lost = table.total - len(table.rows)
    if lost:
        notes.append(
            f"rows without a score, as a value is missing: {lost} of {table.total}"
        )
    return table


def _complete(path, frame, numbers, readings, notes, identity, decimal):
    """The table of the rows that lack no value."""
    complete = np.logical_and.reduce([np.isfinite(v) for v in numbers.values()])
    values = pd.DataFrame(numbers, copy=False)
    if not complete.all():
        values = values[complete].reset_index(drop=True)
    return Table(
        name=path.name,
        values=values,
        rows=np.flatnonzero(complete) + 1,
        total=len(frame),
        readings=readings,
        notes=notes,
        identities=None if identity is None else frame[identity],
        decimal=decimal,
    )


def _without_total(frame, notes):
    """The rows but a last one that adds up the others."""
    words = [
        str(value).strip(" :").lower() for value in frame.iloc[-1] if pd.notna(value)
    ]
    if len(frame) < 3 or not words or words[0] not in TOTALS:
        return frame
    notes.append(
        f"the last row, which begins with {words[0]!r}, is left out as a total"
    )
    return frame.iloc[:-1]


# --- columns -------------------------------------------------------------------------


@dataclass(frozen=True)
class _Roles:
    """What was asked of the columns."""

    label: str | None
    columns: list[str]
    leave: list[str]
    identity: str | None


def _names(argument, names):
    if isinstance(names, str) or not hasattr(names, "__iter__"):
        raise TableError(f"{argument} must be a list of names, found {names!r}")
    return list(names)


def _check_wishes(frame, label, columns, leave, identity):
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
            f"{argument} must name a column of the file ({_listed(frame.columns)}), "
            f"found {name!r}"
        )


def _listed(names, most=30):
    more = ", ..." if len(names) > most else ""
    return ", ".join(_cut(str(name)) for name in names[:most]) + more


def _cut(text, most=40):
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[:most]}..."


def _read_columns(frame, decimal, roles, mostly=MOSTLY):
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
        values, kind, why = _numbers(frame[name], texts[name], decimal, mostly)
        readings[name] = _reading(kind, frame[name] if values is None else values)
        reason = _objection(name, values, kind, why, roles)
        if name in roles.columns and reason:
            raise TableError(
                f"column {name!r} must hold numbers, found {kind}: {_shown(frame[name])}"
            )
        if reason is None and not roles.columns:
            reason = _weakness(values, seen, name)
        readings[name]["used"] = "no" if reason else "yes"
        readings[name]["why"] = reason or why
        if reason is None:
            numbers[name] = values
    readings = pd.DataFrame.from_dict(readings, orient="index").rename_axis("column")
    return {name: numbers[name] for name in roles.columns or numbers}, readings, decimal


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
    """A column's values as float64, or None; its type; what was done to read it."""
    if text is not None:
        return _numbers_of_text(*text, decimal, mostly)
    if pd.api.types.is_bool_dtype(column.dtype):
        return _as_float(column), "yes or no", "true is 1, false is 0"
    if column.dtype.kind in "mM" or isinstance(column.dtype, pd.DatetimeTZDtype):
        return None, "date", ""
    if column.dtype.kind == "c":
        return None, "complex", ""
    if not pd.api.types.is_numeric_dtype(column.dtype):
        return None, "nested", ""
    values = _as_float(column)
    infinite = int(np.isinf(values).sum())
    values[np.isinf(values)] = np.nan
    told = f"infinite in {_rows(infinite)}, which counts as missing"
    return values, "number", told if infinite else ""


def _numbers_of_text(codes, entries, decimal, mostly):
    if not entries:
        return None, "empty", ""
    truth = read_truth(codes, entries)
    if truth is not None:
        return truth, "yes or no", "true is 1, false is 0"
    read = read_numbers(codes, entries, decimal)
    shown = ", ".join(repr(_cut(entry)) for entry in read.unread)
    if (
        read.read_rows < mostly * (read.read_rows + read.unread_rows)
        or not read.read_rows
    ):
        if looks_like_dates(entries):
            return None, "date", ""
        told = f"numbers in {_rows(read.read_rows)} only; others are {shown}"
        return None, "text", told if read.read_rows else ""
    done = list(read.done)
    if read.unread_rows:
        done.append(
            f"no number in {_rows(read.unread_rows)}, which counts as missing: {shown}"
        )
    return read.values, read.kind, "; ".join(done)


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


def _objection(name, values, kind, why, roles):
    """Why a column may not be used at all, or None."""
    if name == roles.identity or (name == ROW_NAME and name not in roles.columns):
        return NAMES_ROWS
    if name in roles.leave:
        return "left out as asked"
    if roles.columns and name not in roles.columns:
        return "not among the columns asked for"
    if values is not None:
        return None
    return {
        "date": "a date is no distance; turn it into a number, such as days, to use it",
        "text": why or "words have no distance; turn them into numbers to use them",
        "empty": "every value is missing",
        "nested": "lists and mappings have no distance; flatten them to use them",
        "complex": "complex numbers; split them into two columns to use them",
    }[kind]


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
        return RUNNING
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


def _find_identity(frame, readings):
    """The first column that names the rows, or None; its reading says so."""
    for name, reading in readings.iterrows():
        if reading["used"] == "yes" or reading["why"] == "left out as asked":
            continue
        words = reading["type"] == "text" and reading["missing"] == 0
        if reading["why"] in (RUNNING, NAMES_ROWS) or (words and frame[name].is_unique):
            readings.loc[name, "why"] = NAMES_ROWS if words else reading["why"]
            return name
    return None


# --- labels --------------------------------------------------------------------------


def _labels(frame, label, nominal):
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
            f"nominal must be a value of {label!r} ({_listed(counts.index, 10)}), "
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


# --- what to say ---------------------------------------------------------------------


def _nothing_to_use(path, readings):
    name, found = path.name, readings["why"].value_counts()
    if len(readings) == 1 and readings["type"].iloc[0] == "text":
        return (
            f"{name} holds one column of text; expected numbers separated by commas, "
            "semicolons, tabs, bars or spaces"
        )
    reasons = "; ".join(f"{why} ({count})" for why, count in found.items())
    return f"{name} has no column of numbers that can be used: {reasons}"


def _no_complete_row(path, readings):
    used = readings[readings["used"] == "yes"]
    worst = used["missing"].sort_values(ascending=False, kind="stable").head(3)
    worst = ", ".join(f"{name} (in {_rows(count)})" for name, count in worst.items())
    return (
        f"{path.name} has no row without a missing value; leave out the columns "
        f"that lack most: {worst}"
    )


def _shown(column):
    entries = dict.fromkeys(str(entry) for entry in column.dropna()[:1000])
    return ", ".join(repr(_cut(entry)) for entry in list(entries)[:3]) or "nothing"


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
    repeated = int(
        pd.util.hash_pandas_object(table.values, index=False).duplicated().sum()
    )
    if repeated:
        remarks.append(
            f"rows whose values repeat an earlier row: {repeated}; they change no hard "
            "ball and count as often as they come in a soft one"
        )
    for name in table.values:
        values = table.values[name].to_numpy()
        remarks += _suspicious(name, values) + _named_as(
            name, values, table.labels is None
        )
    if table.labels is None:
        remarks += [
            f"{name} sounds like a label; name it as the label if it tells good rows from bad"
            for name in table.readings.index[table.readings["type"] == "text"]
            if _sounds_like(name, NAMED_AS_LABEL)
        ]
    return remarks


def _sounds_like(name, words):
    return any(word in words for word in re.split(r"[^a-z]+", name.lower()))


def _named_as(name, values, unlabelled):
    """A sentence for a used column whose name says that it is no measurement."""
    if _sounds_like(name, NAMED_AS_IDENTITY) and (values == np.floor(values)).all():
        return [
            f"{name} sounds like a name or code; leave it out if it measures nothing"
        ]
    two = unlabelled and np.isin(values, (values.min(), values.max())).all()
    if two and _sounds_like(name, NAMED_AS_LABEL):
        return [f"{name} sounds like a label; name it as the label, or leave it out"]
    return []


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
