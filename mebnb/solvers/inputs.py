"""What is accepted as points, weights and limits, and how rows are read block by block.

The lowest room: everything that is computed from a user's array goes through here.
"""

from __future__ import annotations

import math
from numbers import Integral, Real

import numpy as np

__all__ = [
    "check_limits",
    "check_number",
    "check_points",
    "check_weights",
    "readable",
    "readable_blocks",
    "row_blocks",
]

# Rows are read in blocks of about this many bytes as float64: small enough to stay in
# a core's cache while differences are formed, so that a pass reads the data once.
BLOCK_BYTES = 256 * 1024
# Compiled loops need no such care, only few calls.
LARGE_BLOCK_BYTES = 8 * 1024 * 1024
# Whole numbers from here on may be rounded on their way to float64.
EXACT = 2.0**53
# The types that are read as they are.
FLOATS = np.dtype(np.float64), np.dtype(np.float32)


def check_points(points, name="points", finite=True):
    """Return the points as a real (m, n) array, or say what is wrong with them.

    float64 and float32 arrays come back as they are (no copy, any memory
    layout, also memory-mapped); everything else that is real and numeric
    becomes float64. The input is never modified.

    Parameters
    ----------
    points : array_like, shape (m, n)
        One point a row: an array, nested lists or a data frame.
    name : str
        The argument's name, for the messages.
    finite : bool
        Whether to look for NaN and infinity, which reads all the data. A solver whose
        first pass notices them looks only then.

    Returns
    -------
    ndarray, shape (m, n), float32 or float64

    Raises
    ------
    TypeError
        When the entries are not real numbers (text, complex, objects).
    ValueError
        When the shape is not (m, n) with m, n >= 1, the rows are ragged, or an
        entry is NaN or infinite.

    Examples
    --------
    >>> check_points([[0, 0], [3, 4]]).dtype
    dtype('float64')
    """
    array = _as_real_array(points, name)
    if array.ndim != 2:
        hint = (
            "; one feature is a column: reshape(-1, 1)"
            if array.ndim == 1 and array.size
            else ""
        )
        raise ValueError(
            f"{name} must have two dimensions (points, features), found "
            f"{array.ndim} with shape {array.shape}{hint}"
        )
    if array.shape[0] == 0 or array.shape[1] == 0:
        raise ValueError(
            f"{name} must hold at least one point and one feature, found shape "
            f"{array.shape}"
        )
    if finite:
        _refuse_non_finite(array, name)
    return array


def _as_real_array(points, name):
    if type(points) is np.ndarray and points.dtype in FLOATS:
        return points
    if hasattr(points, "toarray") and hasattr(points, "nnz"):
        raise TypeError(f"{name} must be a dense array, found {type(points).__name__}")
    if isinstance(points, np.ma.MaskedArray):
        raise TypeError(
            f"{name} must not be a masked array; drop or fill the masked entries first"
        )
    if hasattr(points, "__dlpack__") and not isinstance(points, np.ndarray):
        points = _on_the_cpu(points, name)
    try:
        array = np.asarray(points)
    except ValueError as error:
        if "inhomogeneous" in str(error):
            raise ValueError(
                f"{name} must have rows of equal length, found ragged rows"
            ) from None
        raise
    if array is not points and array.dtype == np.float64:
        array = _with_whole_numbers(points, array)
    kind = array.dtype.kind
    if kind == "O":
        # A data frame of nullable or mixed numeric columns arrives as objects.
        return _numbers_of_objects(array, name)
    if kind == "c":
        raise TypeError(f"{name} must hold real numbers, found complex numbers")
    if kind not in "fiub":
        raise TypeError(f"{name} must hold real numbers, found dtype {array.dtype}")
    native = array.dtype.newbyteorder("=")
    if native in FLOATS:
        return array if array.dtype.isnative else array.astype(native)
    if array.dtype == np.longdouble and array.size:
        with np.errstate(over="ignore"):
            narrowed = array.astype(np.float64)
        if np.any(np.isinf(narrowed) & np.isfinite(array)):
            raise ValueError(f"{name} holds extended-precision numbers beyond float64")
        return narrowed
    numbers = array.astype(np.float64)
    if array.dtype.itemsize == 8 and np.abs(numbers).max(initial=0.0) >= EXACT:
        for value, number in zip(array.ravel(), numbers.ravel(), strict=True):
            _refuse_rounded(int(value), float(number), name)
    return numbers


def _on_the_cpu(array, name):
    """The memory of another library's array, without a copy."""
    kind, number = array.__dlpack_device__()
    if kind != 1:  # kDLCPU of the DLPack standard
        raise TypeError(
            f"{name} must be on the CPU, found an array on device {kind}:{number}; "
            "copy it to the host first"
        )
    return np.from_dlpack(array)


def _with_whole_numbers(points, array):
    """Objects where NumPy has made floats of whole numbers that may be too large."""
    if array.size == 0 or np.abs(array).max() < EXACT:
        return array
    if isinstance(points, (list, tuple)):
        return np.array(points, dtype=object)
    columns = [np.asarray(points[name]) for name in getattr(points, "columns", ())]
    if any(column.dtype.kind in "iuO" for column in columns):
        return np.column_stack([column.astype(object) for column in columns])
    return array


def _numbers_of_objects(array, name):
    numbers = np.empty(array.shape)
    for place, value in np.ndenumerate(array):
        try:
            # Digits are text, as they are in an array of strings.
            if isinstance(value, (str, bytes)):
                raise TypeError
            numbers[place] = value
        except (TypeError, ValueError):
            raise TypeError(
                f"{name} must hold real numbers, found objects such as {value!r}"
            ) from None
        except OverflowError:
            raise ValueError(f"{name} holds a number beyond float64: {value}") from None
        if isinstance(value, Integral):
            _refuse_rounded(int(value), float(numbers[place]), name)
    return numbers


def _refuse_rounded(value, number, name):
    if int(number) != value:
        raise ValueError(
            f"{name} must hold whole numbers that float64 can hold, found {value}, "
            f"which would be read as {number:.0f}; subtract one row from all first"
        )


def _refuse_non_finite(array, name):
    for start, block in row_blocks(array):
        # A sum is finite only if every entry is; overflow of finite entries is rare
        # and is told apart by the full test.
        with np.errstate(over="ignore", invalid="ignore"):
            total = block.sum(dtype=np.float64)
        if math.isfinite(total):
            continue
        finite = np.isfinite(block)
        if finite.all():
            continue
        row, column = np.argwhere(~finite)[0]
        value = block[row, column]
        what = "NaN" if np.isnan(value) else "infinity"
        raise ValueError(
            f"{name} must be finite, found {what} in row {start + row}, column {column}"
        )


def row_blocks(points):
    """Walk over the rows in blocks that fit into a core's cache.

    Yields
    ------
    start : int
        Index of the block's first row.
    block : ndarray, shape (k, n)
        A view of the rows start to start + k.
    """
    m, n = points.shape
    size = max(1, BLOCK_BYTES // (8 * n))
    for start in range(0, m, size):
        yield start, points[start : start + size]


def readable(points):
    """The points as compiled loops take them, where that needs no copy, else None.

    The loops know C-contiguous, writable float32 and float64 arrays, so that two
    versions of each suffice. They only read: a read-only array is passed on without
    its mark.

    Parameters
    ----------
    points : ndarray, shape (m, n)

    Returns
    -------
    ndarray, shape (m, n), or None
    """
    flags = points.flags
    if points.dtype not in FLOATS:
        return None
    if not (flags.c_contiguous and flags.aligned):
        return None
    return points if flags.writeable else np.asarray(_Unmarked(points))


class _Unmarked:
    """The memory of an array, without a read-only mark."""

    def __init__(self, array):
        self.array = array  # keeps the memory alive
        interface = array.__array_interface__
        self.__array_interface__ = interface | {"data": (interface["data"][0], False)}


def readable_blocks(points, block_bytes=LARGE_BLOCK_BYTES):
    """Walk over the rows in blocks that compiled loops take.

    Blocks are views where `readable` needs no copy, else copies as float64.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    block_bytes : int
        About how large a block is as float64.

    Yields
    ------
    start : int
        Index of the block's first row.
    block : ndarray, shape (k, n)
        The rows start to start + k. Never to be written to.
    """
    m, n = points.shape
    size = max(1, block_bytes // (8 * n))
    whole = readable(points)
    for start in range(0, m, size):
        if whole is None:
            yield start, np.array(points[start : start + size], np.float64, order="C")
        else:
            yield start, whole[start : start + size]


def check_weights(indices, weights, m, name="start"):
    """Return row numbers and weights of a point on the simplex, the positive ones.

    Parameters
    ----------
    indices : array_like of int, shape (k,)
        Distinct row numbers below m.
    weights : array_like, shape (k,)
        Nonnegative, sum 1 to within 1e-6.
    m : int
    name : str
        The argument's name, for the messages.

    Returns
    -------
    indices : ndarray of int
    weights : ndarray
        Positive, sum 1.

    Raises
    ------
    ValueError
        Naming what was found.
    """
    indices = np.asarray(indices)
    weights = np.asarray(weights, dtype=np.float64)
    if indices.ndim != 1 or indices.shape != weights.shape or indices.size == 0:
        raise ValueError(
            f"{name} must hold indices and weights of the same length >= 1, found "
            f"shapes {indices.shape} and {weights.shape}"
        )
    if indices.dtype.kind not in "iu" or np.unique(indices).size != indices.size:
        raise ValueError(f"{name} must hold distinct whole numbers as indices")
    if indices.min() < 0 or indices.max() >= m:
        raise ValueError(
            f"{name} must index the {m} points, found {indices.min()} to "
            f"{indices.max()}"
        )
    total = weights.sum()
    if not (np.all(weights >= 0.0) and abs(total - 1.0) <= 1e-6):
        raise ValueError(
            f"{name} must hold weights >= 0 that sum to 1, found smallest "
            f"{weights.min():.6g} and sum {total:.6g}"
        )
    positive = weights > 0.0
    return indices[positive].astype(np.intp), weights[positive] / total


def check_number(name, value, least, whole=False):
    """Refuse a number that makes no sense.

    Parameters
    ----------
    name : str
        The argument's name, for the messages.
    value : object
    least : float
        The smallest value that is accepted; infinity and NaN never are.
    whole : bool
        Whether it must be an integer.

    Raises
    ------
    ValueError, TypeError
        Naming the argument, what was found and what is expected.
    """
    if type(value) is (int if whole else float) and least <= value < math.inf:
        return
    kind, words = (Integral, "an integer") if whole else (Real, "a number")
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"{name} must be {words}, found {value!r}")
    if not least <= value < math.inf:
        raise ValueError(f"{name} must be finite and at least {least}, found {value!r}")


def check_limits(tol, max_iter, time_limit):
    """Refuse a tolerance, an iteration limit or a time limit that makes no sense.

    Parameters
    ----------
    tol : float
        Finite, >= 0.
    max_iter : int
        >= 0.
    time_limit : float or None
        Seconds, > 0.

    Raises
    ------
    ValueError, TypeError
        Naming the argument, what was found and what is expected.
    """
    if not (isinstance(tol, (int, float, np.number)) and 0.0 <= tol < math.inf):
        raise ValueError(f"tol must be a finite number >= 0, found {tol!r}")
    if isinstance(max_iter, bool) or not isinstance(max_iter, (int, np.integer)):
        raise TypeError(f"max_iter must be a whole number, found {max_iter!r}")
    if max_iter < 0:
        raise ValueError(f"max_iter must be >= 0, found {max_iter}")
    if time_limit is not None and not time_limit > 0.0:
        raise ValueError(
            f"time_limit must be a number of seconds > 0, found {time_limit!r}"
        )
