"""From a file to typed columns: text as pandas reads it, Parquet as it is."""

from __future__ import annotations

import io
import lzma
import re
import warnings
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from mebnb.datasets.parsing import NEAREST
from mebnb.your_data.dialect import (
    ROW_NAME,
    SEPARATORS,
    SPACES,
    check_row_names,
    check_width,
    find_dialect,
    split_lines,
    unique_names,
)
from mebnb.your_data.numbers import MISSING
from mebnb.your_data.sources import OPENERS, open_source
from mebnb.your_data.words import TableError

__all__ = ["check_path", "read_file"]

TOO_LONG = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")
OTHERS = {
    **dict.fromkeys(
        (".xls", ".xlsx", ".xlsm", ".ods"), "a spreadsheet; save it as CSV"
    ),
    **dict.fromkeys((".zip", ".zst", ".tar", ".7z"), "an archive; unpack it first"),
}
JSON = re.compile(rb'\s*(\{\s*["}]|\[\s*[\[{"\d\]-])')


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
        source = open_source(path)
        read = _content(source, text, decimal)
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


def _content(source, text, decimal):
    """The table of a source; its first bytes tell what it is."""
    head = source.head()[0]
    if head.startswith(b"PAR1"):
        return _parquet(source)
    if JSON.match(head):
        raise TableError(f"{source.name} is JSON; expected a CSV or Parquet file")
    return _text(source, text, decimal)


def _parquet(source):
    packed = source.content is not None or source.path.suffix.lower() in OPENERS
    try:
        file = io.BytesIO(source.open().read()) if packed else source.path
        check_width(source.name, len(pq.read_schema(file).names))
        frame = pd.read_parquet(file)
    except TableError:
        raise
    except Exception as error:  # pyarrow's own errors share no public base
        why = str(error).splitlines()[0].replace(str(source.path), source.name)
        raise TableError(
            f"{source.name} is no Parquet that can be read: {why}"
        ) from None
    frame.columns = [str(name) for name in frame.columns]
    return _with_index(frame), ".", ["Parquet"]


def _with_index(frame):
    """The frame with an index that names its rows as its first columns."""
    if isinstance(frame.index, pd.RangeIndex):
        return frame
    named = [ROW_NAME if name is None else str(name) for name in frame.index.names]
    names, _ = unique_names([*frame.columns, *named])
    return frame.reset_index(names=names[frame.shape[1] :])


def _text(source, text, decimal):
    dialect = find_dialect(source, decimal)
    kept = [name for name in text if name in dialect.names]
    words = list(MISSING)
    if kept:
        words = dict.fromkeys(dialect.names, words) | dict.fromkeys(kept, "")
    options = {
        "sep": dialect.delimiter,
        "escapechar": dialect.escape,
        "names": list(dialect.names),
        "header": None,
        # With commas between fields too, a decimal comma is left to our own reading.
        "decimal": "." if dialect.delimiter == "," else dialect.decimal,
        "index_col": False,
        "na_values": words,
        "keep_default_na": False,
        "dtype": dict.fromkeys(kept, str),
        "skipinitialspace": True,
        "low_memory": False,  # one type a column, however long the file
    }
    frame = _read(source, dialect, options)
    if dialect.delimiter == SPACES and frame.iloc[:, -1].isna().any():
        _check_even(source, dialect)
    coded = _zero_led(frame, source, dialect)
    if coded:
        options["dtype"] = dict.fromkeys([*kept, *coded], str)
        frame = _read(source, dialect, options)
    if dialect.names[0] == ROW_NAME and len(frame):
        check_row_names(frame[ROW_NAME], source.name, dialect.above + 1)
    return frame, dialect.decimal, list(dialect.notes)


def _open_rows(source, dialect):
    """The text of the rows. Lines above are read here: of \\r alone pandas loses count."""
    file = io.TextIOWrapper(source.open(), dialect.encoding, errors="replace")
    for _ in range(dialect.above):
        file.readline()
    return file


def _check_even(source, dialect):
    """Between blanks a missing field cannot be told: each line must have all of them."""
    width = len(dialect.names)
    with _open_rows(source, dialect) as file:
        for at, line in enumerate(file, start=dialect.above + 1):
            found = len(split_lines([line.rstrip("\n")], SPACES)[0])
            if 0 < found < width:
                raise TableError(
                    f"{source.name}, line {at}: {found} fields where {width} are "
                    "expected; between blanks a missing value needs a word, such as NA"
                )


def _zero_led(frame, source, dialect):
    """Columns of whole numbers, where some number in the file begins with a zero.

    As numbers 007 and 7 are the same; only their text tells that they are codes.
    """
    whole = [name for name in frame if _is_mostly_whole(frame[name])]
    ends = r"\s" if dialect.delimiter == SPACES else re.escape(dialect.delimiter)
    zeros = re.compile(rf'(?:^|[{ends}"\n])\s*0\d+\s*(?=[{ends}"\n]|$)')
    with _open_rows(source, dialect) as file:
        blocks = iter(lambda: file.read(1 << 22) + file.readline(), "")
        found = whole and any(map(zeros.search, blocks))
    return whole if found else []


def _is_mostly_whole(column):
    if not pd.api.types.is_numeric_dtype(column.dtype) or column.dtype.kind == "b":
        return False
    values = column.to_numpy(dtype=float)
    values = values[~np.isnan(values)]
    return bool(len(values)) and bool((values == np.floor(values)).mean() > 0.9)


def _read(source, dialect, options):
    try:
        with _open_rows(source, dialect) as file, warnings.catch_warnings():
            # pandas would drop what has no name, and only warn.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(file, **options, **NEAREST)
    except pd.errors.EmptyDataError:
        return pd.DataFrame(columns=options["names"])
    except pd.errors.ParserError as error:
        raise TableError(f"{source.name}, {_parse_problem(error, dialect)}") from None
    except pd.errors.ParserWarning:
        raise TableError(
            f"{source.name} has rows of more fields than the {len(options['names'])} of its "
            "header; a field that holds the delimiter must stand in quotes"
        ) from None


def _parse_problem(error, dialect):
    too_long = TOO_LONG.search(str(error))
    if too_long:
        expected, line, found = too_long.groups()
        signs = SEPARATORS.get(dialect.delimiter, dialect.delimiter)
        return (
            f"line {int(line) + dialect.above}: {found} fields where {expected} are expected; the fields are "
            f"separated by {signs}, and a field that holds one must stand in quotes"
        )
    if "EOF inside string" in str(error):
        return "a quoted field is opened and never closed"
    return " ".join(str(error).split())
