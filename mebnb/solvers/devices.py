"""Rows on a GPU or another device: a pass stays there, what decides comes to the host.

A device sums in another order than the loops here, so its squared distances agree with
theirs to a few units in the last place only. It therefore only sifts: every row whose
distance may decide is gathered there and measured anew here, by the loop that measures
rows in memory. So the ball is that of the same rows in memory, bit for bit.

The only file of this room that knows of the array API and of CUDA: neither is imported
before somebody hands over an array that lives on a device.
"""

from __future__ import annotations

import numpy as np

from mebnb.solvers.inputs import check_points
from mebnb.solvers.passes import Shell
from mebnb.solvers.sources import Blocks, Stream

__all__ = ["DeviceRows", "distances_there", "on_a_device"]

# kDLCPU of the DLPack standard.
CPU = 1
# The array API makes float64 copies of what it computes with.
COPIED_ENTRIES = 2**24
# Rows come to the host in pieces of about this many entries.
HOST_ENTRIES = 2**22
EPS = float(np.finfo(np.float64).eps)


def on_a_device(points):
    """Whether an array lives elsewhere than in the memory of the host.

    Parameters
    ----------
    points : object
        A CUDA array, or one that speaks DLPack; anything else lives on the host.

    Returns
    -------
    bool
    """
    if isinstance(points, np.ndarray):
        return False
    if hasattr(points, "__dlpack_device__"):
        return int(points.__dlpack_device__()[0]) != CPU
    return hasattr(points, "__cuda_array_interface__")


def distances_there(points, center):
    """Distances of an array's rows from a center, on the array's device.

    Parameters
    ----------
    points : array on a device, shape (m, n)
    center : ndarray, shape (n,)

    Returns
    -------
    array on the device, shape (m,), float64
    """
    array = _NamespaceArray(points)
    m, n = array.shape
    if n != center.size:
        raise ValueError(f"points must have {center.size} columns, found {n}")
    return array.distances(_pieces(m, array.entries // n), array.hosted(center))


class DeviceRows(Stream):
    """The rows of an array on a device, as a solver reads them.

    Parameters
    ----------
    points : object, shape (m, n)
        With `__cuda_array_interface__`, or of a library that follows the array API.
    workers : int

    Raises
    ------
    TypeError
        When the entries are not real floating numbers, when the device has no float64,
        or when a package that reads the array is missing.
    ValueError
        When the shape is not (m, n) with m, n >= 1.
    """

    def __init__(self, points, workers=1):
        self.array = _reader(points)
        m, n = self.array.shape
        self._ranges = _pieces(m, self.array.entries // n)
        super().__init__(_Copies(self.array, m, n), workers)
        # Two sums of n squares in any two orders differ by less than this part.
        self.slack = 4.0 * (n + 4) * EPS

    def fold(self, new):
        """Show a shell the rows that may be in it.

        Parameters
        ----------
        new : callable
            () -> Shell

        Returns
        -------
        list of Shell
        """
        shell = new()
        where = self.array.hosted(shell.center), shell.scale
        cuts, rests = [], []
        for start, stop in self._ranges:
            cuts.append(float(shell.cut) * (1.0 - self.slack))
            rows, rest = self.array.sift(start, stop, *where, cuts[-1], np.inf)
            rests.append(rest)
            if rest == np.inf:
                shell.inner = np.inf
                return [shell]
            self._show(shell, rows)
        self._measure_rest(shell, where, cuts, rests)
        return [shell]

    def _measure_rest(self, shell, where, cuts, rests):
        """The largest distance let go, where the device alone has seen it."""
        least = max(rests) * (1.0 - self.slack)
        if max(rests) == 0.0 or max(rests) * (1.0 + self.slack) < shell.inner:
            return
        seen = Shell(shell.center, shell.scale, 1, 0.0, copies=False)
        for (start, stop), cut, rest in zip(self._ranges, cuts, rests, strict=True):
            if rest >= least:
                rows, _ = self.array.sift(start, stop, *where, least * (1.0 - EPS), cut)
                self._show(seen, rows)
        shell.inner = max(shell.inner, seen.farthest)

    def _show(self, shell, rows):
        for start, stop in _pieces(len(rows), HOST_ENTRIES // self.shape[1]):
            some = rows[start:stop]
            shell.take_some(some, self.array.gather(some))

    def gather(self, rows):
        """Some rows as float64, and what part of all rows was read for them."""
        rows = np.asarray(rows, dtype=np.int64)
        values = np.empty((rows.size, self.shape[1]))
        for start, stop in _pieces(rows.size, HOST_ENTRIES // self.shape[1]):
            values[start:stop] = self.array.gather(rows[start:stop])
        return values, rows.size / self.shape[0]

    def whole(self):
        """All rows, in the memory of the host; an entry that is not finite is refused."""
        return check_points(self.gather(np.arange(self.shape[0]))[0])

    def refuse_non_finite(self):
        """Name the first entry that is not finite."""
        for start, block in self.blocks():
            check_points(block, f"points from row {start} on")


class _Copies(Blocks):
    """The rows as blocks in the memory of the host, for what reads all of them."""

    def __init__(self, array, m, n):
        pieces = _pieces(m, HOST_ENTRIES // n)
        super().__init__(
            lambda k: array.gather(np.arange(*pieces[k])),
            *(len(pieces), [stop - start for start, stop in pieces]),
        )
        self._columns = n


def _pieces(m, size):
    """First and last but one of pieces of a size, which hold m rows."""
    size = max(1, size)
    return [(start, min(start + size, m)) for start in range(0, m, size)]


def _shape(points):
    shape = tuple(int(size) for size in points.shape)
    if len(shape) != 2 or 0 in shape:
        raise ValueError(
            "points must have two dimensions (points, features) and at least one of "
            f"each, found shape {shape}"
        )
    return shape


def _reader(points):
    if hasattr(points, "detach"):
        points = points.detach()  # PyTorch: no gradients are asked for
    if hasattr(points, "__cuda_array_interface__"):
        kind = np.dtype(points.__cuda_array_interface__["typestr"])
        from numba import cuda

        if kind in (np.float32, np.float64) and cuda.is_available():
            from mebnb.solvers.cuda import CardArray

            return CardArray(points, _shape(points))
    return _NamespaceArray(points)


class _NamespaceArray:
    """An array on any device, read by the words of the array API standard."""

    def __init__(self, points):
        try:
            import array_api_compat
        except ImportError:
            raise TypeError(
                "points must be on the CPU, found an array on a device; copy it to the "
                "host, or install mebnb[gpu] to leave it there"
            ) from None
        self._compat = array_api_compat
        try:
            self._xp = xp = array_api_compat.array_namespace(points)
        except TypeError:
            raise TypeError(
                "points must be an array of a library that follows the array API, found "
                f"{type(points).__name__} on a device; copy it to the host first"
            ) from None
        if not xp.isdtype(points.dtype, "real floating"):
            raise TypeError(
                "points on a device must hold real floating numbers, found "
                f"{points.dtype}"
            )
        self.shape, self.entries = _shape(points), COPIED_ENTRIES
        self._points, self._device = points, array_api_compat.device(points)
        self._refuse_short_numbers()

    def _refuse_short_numbers(self):
        try:
            kind = self._long(self._points[:1, :]).dtype
        except (TypeError, ValueError, RuntimeError) as error:
            kind = f"{type(error).__name__}: {error}"
        if kind != self._xp.float64:
            raise TypeError(
                "points must be on a device that computes in float64, found "
                f"{self._device} ({kind}); copy them to the host, or switch float64 on "
                "(JAX: jax_enable_x64)"
            )

    def _long(self, values):
        return self._xp.astype(values, self._xp.float64)

    def hosted(self, values):
        """Values of the host, on the device."""
        return self._xp.asarray(values, device=self._device)

    def sift(self, start, stop, center, scale, low, high):
        """Rows whose squared distance from a center lies between two numbers.

        Parameters
        ----------
        start, stop : int
            The rows that are looked at.
        center : array on the device, shape (n,)
        scale : float
            What the rows are multiplied with.
        low, high : float
            Squared distances above low and up to high are between them.

        Returns
        -------
        rows : ndarray of int
            Ascending.
        rest : float
            The largest squared distance up to low, 0 where there is none; infinite when
            a squared distance is not finite.
        """
        xp = self._xp
        squared = self._squared(start, stop, center, scale)
        zero = xp.zeros_like(squared)
        rest = xp.where(squared < np.inf, zero, zero + np.inf)
        rest = xp.max(xp.where(squared <= low, squared, rest))
        (found,) = xp.nonzero((squared > low) & (squared <= high))
        return self._on_the_host(found).astype(np.int64) + start, float(rest)

    def _squared(self, start, stop, center, scale=1.0):
        apart = self._long(self._points[start:stop, :])
        apart = (apart if scale == 1.0 else apart * scale) - center
        return self._xp.sum(apart * apart, axis=1)

    def distances(self, pieces, center):
        """Distances of all rows from a center, on the device."""
        squared = [self._squared(start, stop, center) for start, stop in pieces]
        return self._xp.sqrt(self._xp.concat(squared))

    def gather(self, rows):
        """Some rows as float64, in the memory of the host."""
        chosen = self._xp.take(self._points, self.hosted(rows), axis=0)
        return np.ascontiguousarray(self._on_the_host(self._long(chosen)))

    def _on_the_host(self, values):
        # The standard has no word for it that all libraries know.
        if self._compat.is_torch_array(values):
            return values.cpu().numpy()
        if self._compat.is_cupy_array(values):
            return values.get()
        return np.from_dlpack(values, device="cpu")
