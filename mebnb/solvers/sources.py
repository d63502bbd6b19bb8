"""Rows that are not an array in memory: files, tables, Dask, and blocks by a function.

A solver reads them block by block, each block once a pass, the next one while others
are looked at. The only file of this room that knows of pyarrow and Dask: neither is
imported before somebody hands over a file or a table.
"""

from __future__ import annotations

import glob
import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace

import numpy as np

from mebnb.solvers.inputs import (
    LARGE_BLOCK_BYTES,
    check_number,
    check_points,
    readable,
)
from mebnb.solvers.passes import fold

__all__ = ["Blocks", "Stream", "by_blocks", "opened"]

# An Arrow table is read in blocks of about this many rows.
TABLE_ROWS = 2**17
# Columns become rows in tiles of about this many entries, which the cache holds.
TILE = 2**17
# A shell of many chunks is merged from this many at a time.
MERGED = 8


class Blocks:
    """Points that come block by block.

    Parameters
    ----------
    read : callable
        k -> array_like, shape (rows, n): block k, the same in every pass. Called from
        one thread at a time.
    count : int
        How many blocks there are.
    rows : sequence of int, or None
        How many rows each block has. None has them counted, in a pass of its own.

    Attributes
    ----------
    count : int
    names : list of str or None
        Of the columns, where the blocks come from a table or from files.

    Examples
    --------
    >>> from mebnb import Blocks, minimum_enclosing_ball
    >>> halves = [[[0.0, 0.0], [2.0, 0.0]], [[1.0, 0.5]]]
    >>> blocks = Blocks(lambda k: halves[k], 2)
    >>> blocks.shape
    (3, 2)
    >>> round(minimum_enclosing_ball(blocks).radius, 12)
    1.0
    """

    def __init__(self, read, count, rows=None):
        if not callable(read):
            raise TypeError(f"read must be a function of a number, found {read!r}")
        check_number("count", count, 1, whole=True)
        if rows is not None and len(rows) != count:
            raise ValueError(f"rows must hold {count} numbers, found {len(rows)}")
        self._read, self.count = read, int(count)
        self._rows, self._columns = rows, None
        self._marks, self._starts = {}, None
        self._files, self.names = None, None
        # Whether several threads may read at once.
        self.side_by_side = False

    @classmethod
    def from_parquet(cls, path, columns=None):
        """The rows of Parquet files, a block for each of their row groups.

        Parameters
        ----------
        path : str or path
            A file, a folder of files, or a pattern such as 'many/*.parquet'.
        columns : list of str, or None
            The columns that are coordinates, in this order; None takes all.

        Returns
        -------
        Blocks

        Raises
        ------
        ValueError
            When there is no such file or column, or no row.
        TypeError
            When a column does not hold numbers.
        """
        from pyarrow import dataset
        from pyarrow.parquet import ParquetFile

        path = os.fspath(path)
        pattern = glob.has_magic(path) and not os.path.exists(path)
        found = sorted(glob.glob(path)) if pattern else [path]
        if not found or not all(map(os.path.exists, found)):
            raise ValueError(f"no file is called {path}")
        data = dataset.dataset(found if len(found) > 1 else found[0], format="parquet")
        if not data.files:
            raise ValueError(f"{path} must hold Parquet files, found none")
        columns = _chosen_columns(data.schema, columns)
        files, groups, rows = [], [], []
        for fragment in sorted(data.get_fragments(), key=lambda piece: piece.path):
            _check_file(fragment, columns)
            first = 0
            for group in fragment.row_groups:
                files.append((fragment.path, first))
                groups.append((fragment.metadata, group.id))
                rows.append(group.num_rows)
                first += rows[-1]
        if not groups:
            raise ValueError(f"{path} holds no rows")

        def read(k):
            # By the types of its own file: those of the first may be narrower. A file
            # that is mapped into memory is not copied before it is decoded; the threads
            # are those of the stream.
            file, first = files[k]
            metadata, group = groups[k]
            with ParquetFile(file, metadata=metadata, memory_map=True) as whole:
                table = whole.read_row_group(group, columns, use_threads=False)
            return _columns_of_table(table, f"rows {first + 1} and on of {file}")

        blocks = cls(read, len(groups), rows)
        blocks._files, blocks.names = files, columns
        blocks.side_by_side = True
        return blocks

    @classmethod
    def from_arrow(cls, table, columns=None):
        """The rows of an Arrow table.

        Parameters
        ----------
        table : pyarrow.Table
        columns : list of str, or None
            The columns that are coordinates, in this order; None takes all.

        Returns
        -------
        Blocks
        """
        table = table.select(_chosen_columns(table.schema, columns))
        starts = range(0, max(table.num_rows, 1), TABLE_ROWS)
        rows = [min(TABLE_ROWS, table.num_rows - start) for start in starts]

        def read(k):
            return _columns_of_table(table.slice(starts[k], TABLE_ROWS), f"block {k}")

        blocks = cls(read, len(starts), rows)
        blocks.names = table.column_names
        return blocks

    @property
    def rows(self):
        """How many rows each block has."""
        _ = self.shape
        return list(self._rows)

    @property
    def shape(self):
        """Numbers of points and features."""
        if self._rows is None:
            self._rows = self._count()
        if self._starts is None:
            self._starts = np.concatenate([[0], np.cumsum(self._rows)]).astype(np.int64)
            if self._starts[-1] == 0:
                raise ValueError("points must hold at least one point, found no rows")
        if self._columns is None:
            self.block(int(np.flatnonzero(self._rows)[0]))
        return int(self._starts[-1]), self._columns

    def _count(self):
        return [self.block(k).shape[0] for k in range(self.count)]

    def block(self, k):
        """Block k as a C-contiguous array, or what is wrong with it."""
        return self.fetch(k)[:]

    def fetch(self, k):
        """Block k as it comes: an array, or Columns; or what is wrong with it."""
        block = self._read(k)
        if not isinstance(block, Columns):
            block = checked_block(block, k, self._columns)
        self._columns = block.shape[1] if len(block) else self._columns
        if self._rows is not None and len(block) != self._rows[k]:
            raise ValueError(
                f"block {k} must have the {self._rows[k]} rows that it had or was said "
                f"to have, found {len(block)}"
            )
        # A few rows tell a block that is drawn anew from one that is read again.
        few = block[[0, len(block) // 2, -1]].tobytes() if len(block) else b""
        if self._marks.setdefault(k, few) != few:
            raise ValueError(
                f"block {k} must be the same in every pass, found other rows than "
                "when it was read first"
            )
        return block

    def start(self, k):
        """Number of the first row of block k."""
        return int(self._starts[k])

    def holders(self, rows):
        """The blocks that hold some rows."""
        return np.searchsorted(self._starts, rows, side="right") - 1

    def locate(self, rows):
        """Where some rows stand in their files.

        Parameters
        ----------
        rows : sequence of int
            Row numbers.

        Returns
        -------
        list of (str, int), or None
            File, and row in it; None where the blocks come from no files.
        """
        if self._files is None:
            return None
        _ = self.shape
        places = []
        for row, k in zip(rows, self.holders(rows), strict=True):
            file, first = self._files[k]
            places.append((file, first + int(row) - self.start(k)))
        return places

    def fold(self, new, show):
        """Show all blocks to takers; see `mebnb.solvers.passes.fold`."""
        tiled = show(range(self.count), lambda: _Tiled(new()))
        return [each.taker for each in tiled]


class _Tiled:
    """Shows a taker blocks tile by tile, each while a core's cache still holds it."""

    def __init__(self, taker):
        self.taker = taker

    def take(self, start, read):
        block = read()
        size = max(1, TILE // block.shape[1])
        for at in range(0, len(block), size):
            self.taker.take(start + at, block[at : at + size])


class _Chunks(Blocks):
    """The row chunks of a Dask array; a pass is a task for each, where they are."""

    def __init__(self, array):
        import dask

        if array.ndim != 2:
            raise ValueError(
                "points must have two dimensions (points, features), found "
                f"{array.ndim}"
            )
        if array.numblocks[1] != 1:
            raise ValueError(
                "points must have one chunk of columns, found "
                f"{array.numblocks[1]}; call points.rechunk({{1: -1}}) first"
            )
        self._array = array
        self._tasks = array.to_delayed().ravel().tolist()
        super().__init__(lambda k: self._tasks[k].compute(), len(self._tasks))
        if not np.isnan(array.chunks[0]).any():
            self._rows = [int(size) for size in array.chunks[0]]
        self._dask = dask

    def mapped(self, function, dtype):
        """A function of the rows, one value a row, as an array that is not computed yet."""
        return self._array.map_blocks(
            _of_rows, function, dtype, drop_axis=1, dtype=dtype, meta=np.empty(0, dtype)
        )

    def _count(self):
        length = self._dask.delayed(len)
        return list(self._dask.compute(*[length(task) for task in self._tasks]))

    def fold(self, new, show):
        look, merge = self._dask.delayed(_look), self._dask.delayed(_merge)
        shells = [
            look(new, task, k, self.start(k), self._rows[k], self._columns)
            for k, task in enumerate(self._tasks)
        ]
        while len(shells) > MERGED:
            parts = range(0, len(shells), MERGED)
            shells = [merge(shells[at : at + MERGED]) for at in parts]
        return list(self._dask.compute(*shells))


def _of_rows(block, function, dtype):
    return function(block) if len(block) else np.empty(0, dtype)


def _look(new, block, k, start, rows, columns):
    block = checked_block(block, k, columns)
    if len(block) != rows:
        raise ValueError(f"block {k} must have {rows} rows again, found {len(block)}")
    taker = new()
    taker.take(start, block)
    return taker.merged([])


def _merge(shells):
    return shells[0].merged(shells[1:])


def checked_block(values, k, columns):
    """A block as a C-contiguous float32 or float64 array.

    Parameters
    ----------
    values : array_like
    k : int
        Its number, for the messages.
    columns : int or None
        How many columns it must have, where that is known.

    Returns
    -------
    ndarray, shape (rows, n)
    """
    shape = np.shape(values) if hasattr(values, "shape") else None
    if shape is not None and len(shape) == 2 and shape[0] == 0:
        return np.empty((0, columns or shape[1]))
    block = check_points(values, f"block {k}", finite=False)
    if columns is not None and block.shape[1] != columns:
        raise ValueError(
            f"block {k} must have {columns} columns as those before it, found "
            f"{block.shape[1]}"
        )
    rows = readable(block)
    return np.array(block, order="C") if rows is None else rows


def _chosen_columns(schema, columns):
    from pyarrow import types

    chosen = list(schema.names if columns is None else columns)
    for name in chosen:
        if name not in schema.names:
            raise ValueError(f"no column is called {name!r}; there are {schema.names}")
        kind = schema.field(name).type
        if not (
            types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
        ):
            raise TypeError(f"column {name!r} must hold real numbers, found {kind}")
    if not chosen:
        raise ValueError("columns must name at least one column")
    if len(set(chosen)) < len(chosen):
        again = next(name for name in chosen if chosen.count(name) > 1)
        raise ValueError(f"columns must name each column once, found {again!r} again")
    return chosen


def _check_file(fragment, columns):
    """Say which of many files lacks a column, or has no numbers in it."""
    try:
        _chosen_columns(fragment.physical_schema, columns)
    except (ValueError, TypeError) as error:
        raise type(error)(f"{fragment.path}: {error}") from None


class Columns:
    """Rows that are held column by column, and made where they are looked at.

    Parameters
    ----------
    columns : list of ndarray, shape (k,)
        float32 or float64; the rows are of the narrowest type that holds all.
    """

    def __init__(self, columns):
        self.columns, self.dtype = columns, np.result_type(*columns)
        self.shape = len(columns[0]), len(columns)

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, rows):
        """Some rows, by a slice or by their numbers, as a C-contiguous array."""
        columns = [column[rows] for column in self.columns]
        numbers = np.empty((len(columns[0]), len(columns)), self.dtype)
        size = max(1, TILE // len(columns))
        for start in range(0, len(numbers), size):
            tile = slice(start, start + size)
            for j, column in enumerate(columns):
                numbers[tile, j] = column[tile]
        return numbers


def _columns_of_table(table, what):
    """The rows of a table, or which of its columns does not hold numbers."""
    columns = []
    for name in table.column_names:
        column = table.column(name)
        if column.null_count:
            raise ValueError(
                f"{what} must hold numbers, found nothing in column {name!r}"
            )
        values = np.asarray(column.to_numpy())
        if len(values):
            values = check_points(
                values[:, None], f"column {name!r} of {what}", finite=False
            )
        columns.append(values.reshape(-1))
    return Columns(columns)


class Stream:
    """Blocks as a solver reads them; the counterpart of `mebnb.solvers.passes.Rows`.

    A row group of a file is read by the worker that looks at it: all cores are busy, and
    none waits for another. Other blocks are read by one thread, ahead of the workers.
    For each worker there are at most two blocks in memory.

    Parameters
    ----------
    held : Blocks
    workers : int
    """

    # A second look at a row costs a whole block.
    passes_by = True

    def __init__(self, held, workers=1):
        self.held, self.workers = held, workers
        self.shape = held.shape

    def blocks(self):
        """Walk over the rows: number of a block's first row, and the block."""
        for start, read in self._ahead(range(self.held.count), self.held.block):
            yield start, read()

    def _ahead(self, numbers, read):
        """Some blocks, each read while those before it are looked at.

        Yields the number of a block's first row, and a function that gives the block.
        """
        readers = self.workers if self.held.side_by_side else 1
        with ThreadPoolExecutor(readers) as pool:
            coming = deque()
            for k in numbers:
                coming.append((self.held.start(k), pool.submit(read, k).result))
                if len(coming) > readers:
                    yield coming.popleft()
            yield from coming

    def _show(self, numbers, new):
        """Show some blocks to takers, each as a function that gives it."""
        held = self.held
        if held.side_by_side:
            blocks = ((held.start(k), partial(held.fetch, k)) for k in numbers)
        else:
            blocks = self._ahead(numbers, held.fetch)
        return fold(blocks, new, self.workers)

    def fold(self, new):
        """See `mebnb.solvers.passes.fold`."""
        return self.held.fold(new, self._show)

    def gather(self, rows):
        """Some rows as float64, and what part of all rows was read for them."""
        rows = np.asarray(rows)
        values = np.empty((rows.size, self.shape[1]))
        needed = np.unique(self.held.holders(rows)).tolist()

        def pick(start, read):
            block = read()
            mine = (start <= rows) & (rows < start + len(block))
            values[mine] = block[rows[mine] - start]

        self._show(needed, lambda: SimpleNamespace(take=pick))
        sizes = self.held.rows
        return values, sum(sizes[k] for k in needed) / self.shape[0]

    def join(self, held, rows, shell):
        """See `mebnb.solvers.passes.Rows.join`."""
        return np.concatenate([held, shell.values[np.searchsorted(shell.rows, rows)]])

    def whole(self):
        """All rows, as an array; an entry that is not finite is refused."""
        kept = []
        for k, (_, block) in enumerate(self.blocks()):
            if len(block):
                kept.append(check_points(block, f"block {k}"))
        return np.concatenate(kept)

    def locate(self, rows):
        """Files and rows in them, where the points came from files."""
        return self.held.locate(rows)

    def refuse_non_finite(self):
        """Name the first block with an entry that is not finite."""
        for k, (_, block) in enumerate(self.blocks()):
            if len(block):
                check_points(block, f"block {k}")


def opened(points):
    """What a path or a table holds: Blocks, or an array; anything else as it is.

    Parameters
    ----------
    points : object

    Returns
    -------
    object
    """
    if isinstance(points, (np.ndarray, list, tuple, Blocks)):
        return points
    if isinstance(points, (str, os.PathLike)):
        path = os.fspath(points)
        if not path.endswith(".npy"):
            return Blocks.from_parquet(path)
        if not os.path.exists(path):
            raise ValueError(f"no file is called {path}")
        return _mapped(path)
    package = type(points).__module__.partition(".")[0]
    if package == "pyarrow" and hasattr(points, "schema"):
        return Blocks.from_arrow(points)
    if package in ("dask", "dask_expr"):
        return _Chunks(_array_of_frame(points) if hasattr(points, "dtypes") else points)
    return points


def _mapped(path):
    """An array in a .npy file, read where it is looked at."""
    try:
        return np.load(path, mmap_mode="r")
    except (ValueError, EOFError, OSError):  # whose words would have one load a pickle
        raise ValueError(f"{path} must hold an array of numbers as .npy") from None


def by_blocks(function, points, dtype=np.float64):
    """One value a row, computed block by block where the rows are not in memory.

    Parameters
    ----------
    function : callable
        Rows -> ndarray, shape (rows,). Blocks whose columns have names come as frames.
    points : object
        As `minimum_enclosing_ball` takes them; what lies in memory is handed on whole.
    dtype : dtype
        Of the values.

    Returns
    -------
    ndarray or dask.array.Array, shape (m,)
        Of a Dask array or frame a lazy array with the same row chunks.
    """
    source = opened(points)
    if isinstance(source, _Chunks):
        return source.mapped(function, dtype)
    if isinstance(source, Blocks):
        blocks = (_named(block, source.names) for _, block in Stream(source).blocks())
    elif isinstance(source, np.memmap) and source.ndim == 2 and source.size:
        size = max(1, LARGE_BLOCK_BYTES // (8 * source.shape[1]))
        blocks = (source[at : at + size] for at in range(0, len(source), size))
    else:
        return function(source)
    return np.concatenate([_of_rows(block, function, dtype) for block in blocks])


def _named(block, names):
    if names is None:
        return block
    import pandas as pd

    return pd.DataFrame(block, columns=names, copy=False)


def _array_of_frame(frame):
    for name, kind in frame.dtypes.items():
        if getattr(kind, "kind", "O") not in "fiub":
            raise TypeError(f"column {name!r} must hold real numbers, found {kind}")
    return frame.to_dask_array()
