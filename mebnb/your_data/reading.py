"""From a file to typed columns: text as pandas reads it, Parquet as it is."""

from __future__ import annotations

import lzma
import re
import warnings
import zlib
from pathlib import Path

import pandas as pd

from mebnb.your_data.dialect import SEPARATORS, find_dialect, open_binary, read_head
from mebnb.your_data.numbers import MISSING
from mebnb.your_data.words import TableError

__all__ = ["check_path", "read_file"]

TOO_LONG = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")
OTHERS = {
    **dict.fromkeys(
        (".xls", ".xlsx", ".xlsm", ".ods"), "a spreadsheet; save it as CSV"
    ),
    **dict.fromkeys((".zip", ".zst", ".tar", ".7z"), "an archive; unpack it first"),
    ".json": "JSON; expected a CSV or Parquet file",
}


def check_path(path):
    """A path, or a TableError that says what was found instead."""
    try:
        path = Path(path).expanduser()
        path.stat()
        is_folder = path.is_dir()
    except FileNotFoundError:
        raise TableError(f"there is no file {path}") from None
    except TypeError:
        raise TableError(
            f"path must be a text or a path, found {type(path).__name__}"
        ) from None
    except (OSError, ValueError, RuntimeError) as error:
        raise TableError(
            f"path must name a file, found {str(path)[:80]!r}: {error}"
        ) from None
    if is_folder:
        raise TableError(f"{path} is a folder; expected a CSV or Parquet file")
    return path


def read_file(path, text=(), decimal=None):
    """Read a CSV or Parquet file.

    Parameters
    ----------
    path : path
    text : sequence of str
        Columns that stay text, word by word: labels and names of rows.
    decimal : {".", ","}, optional
        The decimal sign where the head of a CSV leaves it open.

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
    path = check_path(path)
    other = OTHERS.get(path.suffix.lower())
    if other:
        raise TableError(f"{path.name} is {other}")
    try:
        with open_binary(path) as file:
            is_parquet = file.read(4) == b"PAR1"
        read = _parquet(path) if is_parquet else _text(path, text, decimal)
    except FileNotFoundError:
        raise TableError(f"there is no file {path}") from None
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise TableError(f"{path.name} cannot be read: {why}") from None
    if read[0].shape[1] == 0:
        raise TableError(f"{path.name} has no columns")
    if read[0].shape[0] == 0:
        raise TableError(f"{path.name} has a header and no rows")
    return read


def _parquet(path):
    try:
        frame = pd.read_parquet(path)
    except Exception as error:  # pyarrow's own errors share no public base
        why = str(error).splitlines()[0].replace(str(path), path.name)
        raise TableError(f"{path.name} is no Parquet that can be read: {why}") from None
    if not isinstance(frame.index, pd.RangeIndex):
        named = all(name and name not in frame.columns for name in frame.index.names)
        frame = frame.reset_index(drop=not named)
    frame.columns = [str(name) for name in frame.columns]
    return frame, ".", ["Parquet"]


def _text(path, text, decimal):
    dialect = find_dialect(path, decimal)
    kept = [name for name in text if name in dialect.names]
    missing = {name: list(MISSING) for name in dialect.names if name not in kept}
    options = {
        "sep": dialect.delimiter,
        "names": list(dialect.names),
        "header": 0 if dialect.header else None,
        "skiprows": list(dialect.skipped),
        # With commas between fields too, a decimal comma is left to our own reading.
        "decimal": "." if dialect.delimiter == "," else dialect.decimal,
        "index_col": False,
        "na_values": missing | dict.fromkeys(kept, ""),
        "keep_default_na": False,
        "dtype": dict.fromkeys(kept, str),
        "skipinitialspace": True,
        "low_memory": False,  # one type a column, however long the file
    }
    notes, encoding = list(dialect.notes), dialect.encoding
    try:
        frame = _read(path, encoding, options)
    except UnicodeDecodeError:
        # A head of plain letters tells nothing; one with umlauts in UTF-8 does.
        plain = read_head(path)[0].isascii()
        notes.append(
            "further down the text is in Windows-1252"
            if plain
            else "bytes that are no UTF-8 were replaced by \ufffd"
        )
        options["encoding_errors"] = "replace"
        frame = _read(path, "cp1252" if plain else encoding, options)
    return frame, dialect.decimal, notes


def _read(path, encoding, options):
    try:
        with open_binary(path) as file, warnings.catch_warnings():
            # pandas would drop what has no name, and only warn.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(file, encoding=encoding, **options)
    except pd.errors.ParserError as error:
        raise TableError(f"{path.name}, {_parse_problem(error, options)}") from None
    except pd.errors.ParserWarning:
        raise TableError(
            f"{path.name} has rows of more fields than the {len(options['names'])} of its "
            "header; a field that holds the delimiter must stand in quotes"
        ) from None


def _parse_problem(error, options):
    too_long = TOO_LONG.search(str(error))
    if too_long:
        expected, line, found = too_long.groups()
        signs = SEPARATORS.get(options["sep"], options["sep"])
        return (
            f"line {line}: {found} fields where {expected} are expected; the fields are "
            f"separated by {signs}, and a field that holds one must stand in quotes"
        )
    if "EOF inside string" in str(error):
        return "a quoted field is opened and never closed"
    return " ".join(str(error).split())
