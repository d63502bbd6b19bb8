"""From a file to typed columns: text as pandas reads it, Parquet as it is."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from mebnb.tables.dialect import find_dialect, open_binary
from mebnb.tables.errors import TableError

__all__ = ["MISSING", "read_file"]

MISSING = (
    *("", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "NULL", "Null", "null", "<NA>"),
    *("None", "none", "nil", "#N/A", "#NA", "N.A.", "n.a.", "?", "-", "--", "."),
    *("#DIV/0!", "#VALUE!", "#REF!", "#NULL!", "#NUM!", "missing"),
)
"""What stands for a missing value, in every column but the label."""

TOO_LONG = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")
SPREADSHEETS = (".xls", ".xlsx", ".xlsm", ".ods")


def read_file(path, text=()):
    """Read a CSV or Parquet file.

    Parameters
    ----------
    path : path
    text : sequence of str
        Columns that stay text, word by word: labels and names of rows.

    Returns
    -------
    frame : pandas.DataFrame
    decimal : {".", ","}
        The decimal sign of the file.
    notes : list of str
        How it was read.

    Raises
    ------
    TableError
        When it cannot be read; the message says why.
    """
    path = Path(path).expanduser()
    if path.is_dir():
        raise TableError(f"{path} is a folder; expected a CSV or Parquet file")
    if path.suffix.lower() in SPREADSHEETS:
        raise TableError(f"{path.name} is a spreadsheet; save the sheet as CSV first")
    try:
        with open_binary(path) as file:
            is_parquet = file.read(4) == b"PAR1"
        return _parquet(path) if is_parquet else _text(path, text)
    except FileNotFoundError:
        raise TableError(f"there is no file {path}") from None
    except (OSError, EOFError) as error:
        why = getattr(error, "strerror", None) or error
        raise TableError(f"{path.name} cannot be read: {why}") from None


def _parquet(path):
    try:
        frame = pd.read_parquet(path)
    except ImportError:
        raise TableError("reading Parquet needs pyarrow: pip install pyarrow") from None
    except Exception as error:  # pyarrow's own errors share no public base
        why = str(error).splitlines()[0]
        raise TableError(f"{path.name} is damaged Parquet: {why}") from None
    if not isinstance(frame.index, pd.RangeIndex):
        named = [name is not None for name in frame.index.names]
        frame = frame.reset_index(drop=not any(named))
    frame.columns = [str(name) for name in frame.columns]
    return frame, ".", ["Parquet"]


def _text(path, text):
    dialect = find_dialect(path)
    kept = [name for name in text if name in dialect.names]
    empty = {name: list(MISSING) for name in dialect.names if name not in kept}
    options = {
        "sep": dialect.delimiter,
        "names": list(dialect.names),
        "header": 0 if dialect.header else None,
        "skiprows": dialect.above,
        "decimal": dialect.decimal,
        "index_col": False,
        "na_values": empty | dict.fromkeys(kept, ""),
        "keep_default_na": False,
        "dtype": dict.fromkeys(kept, str),
        "skipinitialspace": True,
        "low_memory": False,  # one type a column, however long the file
    }
    notes = list(dialect.notes)
    try:
        frame = _read(path, dialect.encoding, options)
    except UnicodeDecodeError:
        notes.append("some bytes are no UTF-8: text read as latin-1")
        frame = _read(path, "latin-1", options)
    if len(frame) == 0:
        raise TableError(f"{path.name} has a header and no rows")
    return frame, dialect.decimal, notes


def _read(path, encoding, options):
    try:
        return pd.read_csv(path, encoding=encoding, **options)
    except pd.errors.ParserError as error:
        raise TableError(f"{path.name}, {_parse_problem(error, options)}") from None


def _parse_problem(error, options):
    too_long = TOO_LONG.search(str(error))
    if too_long:
        expected, line, found = too_long.groups()
        return (
            f"line {line}: {found} fields where {expected} are expected; a field that "
            f"holds the delimiter {options['sep']!r} must stand in quotes"
        )
    if "EOF inside string" in str(error):
        return "a quoted field is opened and never closed"
    return " ".join(str(error).split())
