"""A table as points: which columns are used and which rows, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from mebnb.your_data.columns import (
    Roles,
    check_wishes,
    find_identity,
    list_of_names,
    read_columns,
)
from mebnb.your_data.labels import read_labels
from mebnb.your_data.reading import check_path, read_file
from mebnb.your_data.remarks import no_complete_row, nothing_to_use, remarks
from mebnb.your_data.rows import rows_of
from mebnb.your_data.words import TableError, did_you_mean, listed

__all__ = ["Table", "beside_ours", "read_rows", "read_table"]

OURS = (
    *("row", "score", "alarm", "mostly", "value there", "median there", "weight"),
    *("equal rows", "p_value", "discovery", "reason", "clears_at"),
)
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
        Rows in the file, without empty ones and closing totals.
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
    columns with more than a fifth missing are left out, then the rows with a
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
    >>> size = file.write_text("price;share\\n2,50;10 %\\n3,75;?\\n" + "2,00;30 %\\n" * 4)
    >>> table = read_table(file)
    >>> table.rows.tolist(), table.values["price"].tolist()
    ([1, 3, 4, 5, 6], [2.5, 2.0, 2.0, 2.0, 2.0])
    >>> print(table.readings.loc["share", "why"])
    percent signs taken off
    """
    path, columns, leave = (
        check_path(path),
        list_of_names("columns", columns),
        list_of_names("leave", leave),
    )
    frame, decimal, notes = read_file(path, text=[n for n in (label, identity) if n])
    check_wishes(frame, label, columns, leave, identity)
    whole, apart = rows_of(frame, notes)
    frame = whole[~apart]
    if len(frame) == 1:
        raise TableError(f"{path.name} holds one row; a ball needs two or more")
    roles = Roles(label, columns, leave, identity)
    numbers, readings, decimal = read_columns(frame, decimal, roles)
    if not numbers:
        raise TableError(nothing_to_use(path, readings))
    identity = identity or find_identity(frame, readings)
    labels, nominal = read_labels(frame, label, nominal)
    table = _complete(path, whole, apart, numbers, readings, notes, identity, decimal)
    if not len(table.rows):
        raise TableError(no_complete_row(path, readings))
    if labels is not None:
        labels = labels.loc[table.rows - 1].reset_index(drop=True)
    table = replace(table, labels=labels, nominal=nominal)
    return replace(table, notes=[*notes, *remarks(table, len(frame))])


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
    if not isinstance(identity, (str, type(None))):
        raise TableError(f"identity must be a name, found {identity!r}")
    frame, decimal, notes = read_file(
        path, text=[identity] if identity else [], decimal=decimal
    )
    lacking = [name for name in columns if name not in frame.columns]
    if lacking:
        raise TableError(
            f"{path.name} lacks {', '.join(map(repr, lacking[:5]))}; it must have the "
            f"columns of the model, found {listed(frame.columns)}"
            f"{did_you_mean(lacking[0], frame.columns)}"
        )
    whole, apart = rows_of(frame, notes)
    frame = whole[~apart]
    if identity not in frame.columns or identity in columns:
        identity = None
    roles = Roles(None, list(columns), [], identity)
    # A model asks for its columns: what is no number costs its row a score, no more.
    numbers, readings, decimal = read_columns(frame, decimal, roles, mostly=1e-9)
    table = _complete(path, whole, apart, numbers, readings, notes, identity, decimal)
    lost = len(frame) - len(table.rows)
    if lost:
        notes.append(
            f"rows without a score, as a value is missing: {lost} of {len(frame)}"
        )
    return table


def _complete(path, whole, apart, numbers, readings, notes, identity, decimal):
    """The table of the rows that lack no value; those set apart keep their number."""
    complete = np.logical_and.reduce([np.isfinite(v) for v in numbers.values()])
    values = pd.DataFrame(numbers, copy=False)
    if not complete.all():
        values = values[complete].reset_index(drop=True)
    return Table(
        name=path.name,
        values=values,
        rows=np.flatnonzero(~apart)[complete] + 1,
        total=len(whole),
        readings=readings,
        notes=notes,
        identities=None if identity is None else _names(whole[identity], apart),
        decimal=decimal,
    )


def _names(column, apart):
    """Names of rows as they are written; whole numbers stay so beside a missing one."""
    if not pd.api.types.is_float_dtype(column.dtype):
        return column
    kept = column.where(~apart)
    whole = (kept.dropna() % 1 == 0).all() and kept.abs().max() < 2**53
    return kept.astype("Int64") if whole else column
