"""Rows in the memory of a CUDA card, looked at by one fused kernel of ours.

A pass reads each entry once and writes nothing but the numbers of the rows that are
asked for.
"""

from __future__ import annotations

import math
from contextlib import nullcontext

import numpy as np
from numba import cuda, float64

__all__ = ["CardArray"]

# A card is asked for rows of about this many entries at a time: 1 GiB of float32.
CARD_ENTRIES = 2**28
THREADS, MOST_LANES = 256, 32
# From about what a card runs at once, below which Numba warns, to a few times as many;
# each block goes on with the rows that are left.
LEAST_BLOCKS, MOST_BLOCKS = 128, 4096


@cuda.jit
def _sift(points, center, scale, low, high, lanes, found, count, rest):
    # A row is summed by `lanes` threads, which read neighbouring entries.
    m, n = points.shape
    sums = cuda.shared.array(THREADS, float64)
    thread = cuda.threadIdx.x
    lane, own, together = thread % lanes, thread // lanes, THREADS // lanes
    farthest = 0.0
    first = cuda.blockIdx.x * together
    while first < m:
        row = first + own
        total = 0.0
        if row < m:
            for j in range(lane, n, lanes):
                difference = scale * points[row, j] - center[j]
                total += difference * difference
        sums[thread] = total
        half = lanes // 2
        while half > 0:
            cuda.syncthreads()
            if lane < half:
                sums[thread] += sums[thread + half]
            half //= 2
        if lane == 0 and row < m:
            total = sums[thread]
            if total <= low:
                farthest = max(farthest, total)
            elif not total < math.inf:
                farthest = math.inf
            elif total <= high:
                found[cuda.atomic.add(count, 0, 1)] = row
        cuda.syncthreads()
        first += cuda.gridDim.x * together
    sums[thread] = farthest
    half = THREADS // 2
    while half > 0:
        cuda.syncthreads()
        if thread < half:
            sums[thread] = max(sums[thread], sums[thread + half])
        half //= 2
    if thread == 0:
        cuda.atomic.max(rest, 0, sums[0])


@cuda.jit
def _gather(points, rows, values):
    n = points.shape[1]
    place = cuda.grid(1)
    while place < values.size:
        i, j = place // n, place % n
        values[i, j] = points[rows[i], j]
        place += cuda.gridsize(1)


class CardArray:
    """An array on a CUDA card.

    Parameters
    ----------
    points : object, shape (m, n)
        float32 or float64, with `__cuda_array_interface__`.
    shape : tuple of int
    """

    def __init__(self, points, shape):
        self.shape, self.entries = shape, CARD_ENTRIES
        self._card = _card_of(points)
        with self._card:
            self._points = cuda.as_cuda_array(points)
        self._found = None
        # A thread has up to eight entries of a row: a warp reads whole lines, few idle.
        self._lanes = min(1 << ((shape[1] - 1) // 8).bit_length(), MOST_LANES)

    def hosted(self, values):
        """Values of the host, on the card."""
        with self._card:
            return cuda.to_device(values)

    def sift(self, start, stop, center, scale, low, high):
        """See `mebnb.solvers.devices`."""
        with self._card:
            if self._found is None:
                # The first call has the most rows.
                self._found = cuda.device_array(stop - start, np.int32)
            count = cuda.to_device(np.zeros(1, np.int32))
            rest = cuda.to_device(np.zeros(1))
            _sift[_blocks((stop - start) * self._lanes), THREADS](
                *(self._points[start:stop], center, float(scale)),
                *(float(low), float(high), self._lanes, self._found, count, rest),
            )
            number = int(count.copy_to_host()[0])
            found = self._found[:number].copy_to_host() if number else ()
            rows = np.sort(np.asarray(found, dtype=np.int64)) + start
            return rows, float(rest.copy_to_host()[0])

    def gather(self, rows):
        """Some rows as float64, in the memory of the host."""
        shape = len(rows), self.shape[1]
        with self._card:
            values = cuda.device_array(shape, np.float64)
            _gather[_blocks(values.size), THREADS](
                self._points, cuda.to_device(np.asarray(rows, np.int64)), values
            )
            return values.copy_to_host()


def _blocks(threads):
    return max(LEAST_BLOCKS, min(-(-threads // THREADS), MOST_BLOCKS))


def _card_of(points):
    """The card that holds an array, as what it is worked on in."""
    if not hasattr(points, "__dlpack_device__"):
        return nullcontext()
    return cuda.gpus[int(points.__dlpack_device__()[1])]
