"""A pass over all rows: the farthest of them from a center, by any number of threads.

What a pass finds is defined row by row: the `most` farthest rows beyond a cut, of
equally far ones those that come first. So it is the same, to the last bit, for any
number of workers and any size of blocks.
"""

from __future__ import annotations

import itertools
import math
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
from numba import config, njit

from mebnb.solvers.inputs import check_number, check_points, readable, readable_blocks

__all__ = [
    "Rows",
    "Shell",
    "check_workers",
    "compiled",
    "farthest_rows",
    "fold",
    "measure",
    "measure_rows",
    "part",
    "share_out",
]

# A worker gets about this many blocks, so that the last one keeps no other waiting.
SHARES = 4
# A block smaller than this takes longer to hand out than to read.
LEAST_BLOCK_BYTES = 1024 * 1024
MOST_BLOCK_BYTES = 8 * 1024 * 1024
EPS = float(np.finfo(np.float64).eps)

# Sums may be reordered, so that they run in vector registers, but NaN and infinity
# keep their meaning: they are how bad input is noticed at no cost. The order of a sum
# is that of one compiled loop over one contiguous row, wherever the row stands; a test
# holds the loops over float32 and float64 to the same bits.
ORDER = {"reassoc", "contract", "nsz"}
# Numba's rewrites serve expressions of whole arrays, of which there are none.
OPTIONS = {
    "cache": True, "nogil": True, "error_model": "numpy", "_nrt": False,
    "no_cfunc_wrapper": True, "no_rewrites": True,
}  # fmt: skip
compiled = njit(fastmath=ORDER, **OPTIONS)
# A function that only compiled code calls does without an entrance from Python, which
# takes as long to compile as the function itself, and without a file of its own.
PART = OPTIONS | {"no_cpython_wrapper": True, "cache": False}
part = njit(fastmath=ORDER, **PART)


@part
def squared_distance(row, scale, center):
    """Squared distance of a scaled row from a center, as float64."""
    total = 0.0
    for j in range(center.size):
        difference = scale * row[j] - center[j]
        total += difference * difference
    return total


@compiled
def _scan(rows, start, center, scale, cut, inner, found, squared, count, kept):
    """Collect the rows farther than sqrt(cut) from a center, until `found` is full.

    The squared distances of all rows are `kept`, if there is room for them.

    Returns read, count, inner: how many rows were read, how many are collected now, and
    a bound on the squared distances of the rows let go. count is -1 when a squared
    distance is not finite.
    """
    there = kept.size > 0
    for i in range(rows.shape[0]):
        distance = squared_distance(rows[i], scale, center)
        if there:
            kept[i] = distance
        if distance <= cut:
            inner = max(inner, distance)
            continue
        if not distance < np.inf:
            return i, -1, np.inf
        found[count], squared[count] = start + i, distance
        count += 1
        if count == found.size:
            return i + 1, count, inner
    return rows.shape[0], count, inner


@part
def measure(rows, scale, center, squared):
    """Write the squared distances of scaled rows from a center."""
    for i in range(rows.shape[0]):
        squared[i] = squared_distance(rows[i], scale, center)


@compiled
def _measure(rows, scale, center, squared, step, near):
    """Measure the rows that may be at least `near` to a center that made a `step`.

    Where the triangle inequality says of a row that it is nearer, it is not read: its
    bound takes the place of its squared distance.

    Returns how many were measured.
    """
    # Twice what rounding adds to a distance of n squares, once for each of two centers.
    slack = 1.0 + 4.0 * (center.size + 8) * EPS
    count = 0
    for i in range(rows.shape[0]):
        bound = (math.sqrt(squared[i]) + step) * slack
        if bound < near:
            squared[i] = bound * bound
        else:
            squared[i] = squared_distance(rows[i], scale, center)
            count += 1
    return count


# Room for no distances.
NOWHERE = np.empty(0)


class Shell:
    """The farthest rows from a center, of the blocks that it has been shown.

    Parameters
    ----------
    center : ndarray, shape (n,)
    scale : float
        What the rows are multiplied with.
    most : int
        How many rows are kept.
    cut : float
        Rows at this squared distance and below are let go.
    copies : bool
        Whether the rows are kept beside their numbers, as they pass only once.
    kept : ndarray, shape (m,) or (0,)
        Where the squared distances of all m rows are written, if anywhere.

    Attributes
    ----------
    rows : ndarray of int, shape (k,)
        Row numbers of the rows kept, ascending once it is merged.
    squared : ndarray, shape (k,)
        Their squared distances.
    values : ndarray, shape (k, n)
        The rows themselves, as float64, where copies are kept.
    inner : float
        The largest squared distance of a row that was let go, 0 if none was; infinite
        when an entry is not finite or a square overflows.
    """

    def __init__(self, center, scale, most, cut, copies=True, kept=NOWHERE):
        self.center, self.scale, self.most, self.cut = center, scale, most, cut
        self.copies, self._kept = copies, kept
        self.inner = 0.0
        # Twice the room, so that rows are let go only once in so many.
        self._found, self._squared = np.empty(2 * most, np.int64), np.empty(2 * most)
        self._count, self._pieces = 0, []

    def take(self, start, block):
        """Look at a block of rows; later blocks come from farther down the data.

        Parameters
        ----------
        start : int
            Number of the block's first row.
        block : ndarray, shape (k, n)
            C-contiguous.
        """
        read, held = 0, self._count
        kept = self._kept[start : start + len(block)]
        while read < len(block) and self.inner < np.inf:
            more, self._count, self.inner = _scan(
                *(block[read:], start + read, self.center, self.scale),
                *(self.cut, self.inner, self._found, self._squared, self._count),
                kept[read:],
            )
            read += more
            if self._count == self._found.size:
                held = self._let_go(held)
        if self.copies and self._count > held:
            fresh = self._found[held : self._count] - start
            self._pieces.append(block[fresh].astype(np.float64, copy=False))

    def take_some(self, rows, block):
        """Look at some rows that need not be neighbours, all from farther down the data.

        Parameters
        ----------
        rows : ndarray of int, shape (k,)
            Their numbers, ascending.
        block : ndarray, shape (k, n)
            C-contiguous.
        """
        first = rows[0]
        self.take(first, block)
        fresh = self.rows >= first
        self.rows[fresh] = rows[self.rows[fresh] - first]

    @property
    def rows(self):
        return self._found[: max(self._count, 0)]

    @property
    def squared(self):
        return self._squared[: max(self._count, 0)]

    @property
    def values(self):
        return np.concatenate([np.empty((0, self.center.size)), *self._pieces])

    @property
    def farthest(self):
        """The largest squared distance of all rows."""
        return max(self.inner, self.squared.max(initial=0.0))

    def _let_go(self, held):
        """Keep `most` rows; return how many of the first `held`, which have values."""
        keep = _farthest(self.rows, self.squared, self.most)
        self.inner = max(self.inner, self.squared[~keep].max())
        if self._pieces:
            self._pieces = [self.values[keep[:held]]]
        for column in (self._found, self._squared):
            column[: self.most] = column[keep]
        self._count = self.most
        # Rows to come that are as far as the last one have higher numbers.
        self.cut = self.squared.min()
        return int(np.count_nonzero(keep[:held]))

    def merged(self, others):
        """One shell of this one and others, of other rows from the same center.

        Parameters
        ----------
        others : list of Shell

        Returns
        -------
        Shell
            Which takes no more blocks.
        """
        parts = [self, *others]
        whole = Shell(self.center, self.scale, self.most, self.cut, self.copies)
        whole.inner = max(part.inner for part in parts)
        rows = np.concatenate([part.rows for part in parts])
        squared = np.concatenate([part.squared for part in parts])
        if whole.inner == np.inf:
            return whole
        order = rows.argsort()
        if rows.size > self.most:
            keep = _farthest(rows, squared, self.most)
            whole.inner = max(whole.inner, squared[~keep].max())
            order = order[keep[order]]
        # No room for more: it travels between processes.
        whole._found, whole._squared = rows[order], squared[order]
        whole._count = order.size
        if self.copies:
            whole._pieces = [np.concatenate([part.values for part in parts])[order]]
        return whole


def _farthest(rows, squared, most):
    """Which are the `most` farthest; of equally far rows, those of lower number."""
    least = np.partition(squared, -most)[-most]
    keep = squared > least
    ties = np.flatnonzero(squared == least)
    ties = ties[rows[ties].argsort()]
    keep[ties[: most - np.count_nonzero(keep)]] = True
    return keep


# --- workers -----------------------------------------------------------------------


def check_workers(workers, large=True):
    """How many threads may work: the number given, else what the process may use.

    Parameters
    ----------
    workers : int or None
        None takes the cores that the process may run on, but no more than
        NUMBA_NUM_THREADS and OMP_NUM_THREADS allow where they are set.
    large : bool
        Whether more than one pays; else it is one.

    Returns
    -------
    int

    Raises
    ------
    TypeError, ValueError
        When it is no whole number of at least 1.
    """
    if workers is not None:
        check_number("workers", workers, 1, whole=True)
    if not large:
        return 1
    if workers is not None:
        return int(workers)
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    # OpenMP takes a list, one number for each level of nesting.
    told = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if told.isdecimal() and int(told) > 0:
        cores = min(cores, int(told))
    return max(1, min(cores, config.NUMBA_NUM_THREADS))


def fold(blocks, new, workers):
    """Show every block of rows to one of several takers, each in a thread of its own.

    Parameters
    ----------
    blocks : iterable of (int, ndarray)
        Numbers of first rows, and rows. One thread at a time asks for the next.
    new : callable
        () -> taker, whose `take(start, block)` is called with ascending starts.
    workers : int

    Returns
    -------
    list
        The takers, in no order.

    Raises
    ------
    Exception
        That of the first block that has one, whoever was faster; no further block is
        asked for then.
    """
    blocks, places, turn = iter(blocks), itertools.count(), threading.Lock()
    takers, errors = [], []

    def work():
        place = 0
        try:
            takers.append(taker := new())
            while not errors:
                with turn:
                    place = next(places)
                    item = next(blocks, None)
                if item is None:
                    break
                taker.take(*item)
        except BaseException as error:
            errors.append((place, error))

    with ThreadPoolExecutor(max(workers - 1, 1)) as pool:
        for _ in range(workers - 1):
            pool.submit(work)
        work()
    if errors:
        raise min(errors, key=lambda pair: pair[0])[1]
    return takers


def share_out(blocks, work, workers):
    """Call `work` for every block, each call in one of several threads.

    Parameters
    ----------
    blocks : iterable of (int, ndarray)
        See fold.
    work : callable
        (start, block) -> None, which writes what it finds where it belongs.
    workers : int
    """
    fold(blocks, lambda: SimpleNamespace(take=work), workers)


def farthest_rows(source, center, scale, most, cut, kept=NOWHERE):
    """One pass: the `most` farthest rows beyond a cut.

    Parameters
    ----------
    source : Rows
        Or what else has a `fold` method.
    center, scale, most, cut, kept
        See Shell.

    Returns
    -------
    Shell
    """
    copies = source.passes_by
    first, *others = source.fold(lambda: Shell(center, scale, most, cut, copies, kept))
    return first.merged(others)


class _Distances:
    """Writes the squared distances of the rows that it is shown where they belong."""

    def __init__(self, center, scale, squared, step, near):
        self.center, self.scale, self.squared = center, scale, squared
        self.step, self.near, self.count = step, near, 0

    def take(self, start, block):
        there = self.squared[start : start + len(block)]
        self.count += _measure(
            block, self.scale, self.center, there, self.step, self.near
        )


def measure_rows(source, center, scale, squared, step=0.0, near=0.0):
    """One pass: the squared distances of all rows that may be far from a center.

    Parameters
    ----------
    source : Rows
    center, scale
        See Shell.
    squared : ndarray, shape (m,)
        Where they are written. There are squared distances from another center, or
        bounds of them; infinity where nothing is known.
    step : float
        How far that center was from this one.
    near : float
        Of a row that is nearer by what is known, a bound that is smaller than near
        squared is written.

    Returns
    -------
    int
        How many rows were read.
    """
    takers = source.fold(lambda: _Distances(center, scale, squared, step, near))
    return sum(taker.count for taker in takers)


class Rows:
    """The rows of an array, as a solver reads them.

    Parameters
    ----------
    points : ndarray, shape (m, n)
        float32 or float64, in any memory layout.
    workers : int
    held : Blocks or None
        Where the points came from, if they were read into memory here.
    """

    # They can be looked up again, and a shell need not keep them.
    passes_by = False

    def __init__(self, points, workers=1, held=None):
        self.points, self.workers, self.held = points, workers, held
        self.shape = points.shape

    def blocks(self):
        """Walk over the rows: number of a block's first row, and the block."""
        share = 8 * self.points.size // (SHARES * self.workers)
        size = min(max(share, LEAST_BLOCK_BYTES), MOST_BLOCK_BYTES)
        return readable_blocks(self.points, size)

    def fold(self, new):
        """See the function of this name."""
        return fold(self.blocks(), new, self.workers)

    def gather(self, rows):
        """Some rows as float64, and what part of all rows was read for them.

        Parameters
        ----------
        rows : ndarray of int, shape (k,)

        Returns
        -------
        values : ndarray, shape (k, n)
        read : float
        """
        values = self.join(np.empty((0, self.shape[1])), rows, None)
        return values, len(rows) / self.shape[0]

    def join(self, held, rows, shell):
        """Rows that are held, and below them others.

        Parameters
        ----------
        held : ndarray, shape (k, n)
        rows : ndarray of int
            Numbers of the others, which the shell has.
        shell : Shell

        Returns
        -------
        ndarray, shape (k + rows.size, n)
        """
        k = len(held)
        values = np.empty((k + len(rows), self.shape[1]))
        values[:k] = held
        # What is copied as it stands comes over in a third of the time.
        plain = readable(self.points)
        direct = plain is not None and plain.dtype == np.float64
        size = max(1, 2**17 // self.shape[1])  # no second copy lives
        for start in range(0, len(rows), size):
            some = rows[start : start + size]
            below = values[k + start : k + start + len(some)]
            if direct:
                plain.take(some, axis=0, out=below, mode="clip")
            else:
                below[:] = self.points[some]
        return values

    def whole(self):
        """All rows, as an array."""
        return self.points

    def refuse_non_finite(self):
        """Name the first entry that is not finite."""
        check_points(self.points)

    def locate(self, rows):
        """Files and rows in them, where the points came from files."""
        return None if self.held is None else self.held.locate(rows)
