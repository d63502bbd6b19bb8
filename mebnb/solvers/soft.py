"""The ball with slack, in the plane of the data or of a kernel: `soft_ball`.

Support vector data description (SVDD) pays for points outside instead of forbidding
them:

    minimise rho + C sum_i xi_i  over center c, squared radius rho >= 0, slack xi >= 0
    with |a_i - c|^2 <= rho + xi_i.

Its dual is that of the minimum enclosing ball with a box: maximise
Phi(u) = sum_i u_i |a_i - c|^2, c = sum_i u_i a_i, over sum_i u_i = 1, 0 <= u_i <= C.
With C = 1 / (nu m), at most nu m points lie outside and at least nu m have weight.

The solver takes pairwise steps: weight goes from a point that is too near to one that
is too far, as far as the box allows; the pair is chosen by its gain, to second order.
They run on a working set: the points that some violating pair contains, the worst ones
where these are many; all others, which no step could use, are shrunk away. A round of
steps costs one kernel column for each point whose weight changed. Passes over large
data and columns of the RBF kernel are shared out to threads in blocks, so that no bit
hangs on the number of threads. The vertices of the box on the simplex are not the unit
vectors: the best one fills the farthest points up to C, which gives the start, the
duality gap and the Frank-Wolfe step.

Sources: Tax and Duin, Support vector data description, Machine Learning 54 (2004);
Fan, Chen and Lin, Working set selection using second order information, J. Machine
Learning Research 6 (2005); Joachims, Making large-scale SVM learning practical (1999);
Chang, Tsai and Lin, A revisit to support vector data description, National Taiwan
University (2013), for small C and the interval of rho.
"""

from __future__ import annotations

import math
import operator
import sys
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Real
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.linalg import LinAlgError, cholesky

from mebnb.solvers.balls import coordinate_spread, dense_weights, squared_distances
from mebnb.solvers.exact import SMALL, minimum_enclosing_ball
from mebnb.solvers.inputs import check_points, row_blocks
from mebnb.solvers.passes import Rows, check_workers, share_out

__all__ = ["SoftBall", "least_radii", "price_of_slack", "soft_ball", "verify_soft"]

EPS = float(np.finfo(np.float64).eps)
# 1 / C counts as a whole number when it differs from one by no more than this part.
WHOLE = 1e-12
# A working set that was half full for so many rounds is doubled, up to this many points,
# whose Gram matrix takes 32 MiB.
PATIENCE, LARGEST = 8, 2048
# Kernel columns are kept up to this many bytes, and computed in blocks of this many
# entries, which stay in a core's cache.
CACHE_BYTES = 256 * 1024 * 1024
BLOCK = 2**16
# Up to this many entries of a kernel take one thread less time than several to start.
FEW = 2**18
# Squared distances outside of these lose digits or overflow.
TINY, HUGE = 1e-280, 1e280
# Points that lie farther from the origin than so many times their own extent are moved
# there: their center, as float64 holds it, would cost that many times the rounding.
FAR = 1024.0
# The RBF kernel is taken from products while no exponent can be larger, so that the
# cancellation in them stays within the rounding that is stated; else from differences.
NEAR = 64.0


@dataclass(frozen=True, repr=False, eq=False)
class SoftBall:
    """A ball with slack, its weights, and the two values that bound the optimum.

    Attributes
    ----------
    center : ndarray, shape (n,), or None
        None for kernels: there the center is known by its weights only.
    rho : float
        Squared radius: the middle of `rho_interval`, its upper end for C >= 1.
    rho_interval : (float, float)
        All squared radii that are optimal with this center. The two are equal when
        some point has a weight between 0 and C, or nu m is not whole.
    support : ndarray of int, shape (k,)
        Row numbers of the points with positive weight, ascending: on the sphere or
        outside.
    weights : ndarray, shape (k,)
        Their weights, 0 < u <= C, sum 1 (m C for C < 1 / m).
    outside : ndarray of int
        Row numbers of the points outside, |a_i - c|^2 > rho, ascending.
    C, nu : float
        Price of slack and nu = 1 / (C m).
    primal, dual : float
        rho + C sum xi and Phi(u), computed anew at the end: dual <= optimum <= primal.
    gaps : ndarray
        (primal - dual) / dual at the start and after each iteration.
    iterations : int
        Rounds of pairwise steps, or Frank-Wolfe steps.
    steps : int
        Steps in all.
    converged : bool
        Whether (primal - dual) / dual <= tol, and rounding is too small to feign it.
    message : str
        Why the solver stopped.
    rounding : float
        Bound on what rounding does to a squared distance and to the two values.
    kernel : callable or None
        (k, n), (l, n) -> (k, l); None for the linear kernel.
    support_points : ndarray, shape (k, n)
        For a precomputed kernel (k, 1), the row numbers.
    norm2 : float
        |c|^2, of the center in the space of the kernel; 0 for the linear kernel.
    """

    center: np.ndarray | None
    rho: float
    rho_interval: tuple[float, float]
    support: np.ndarray
    weights: np.ndarray
    outside: np.ndarray
    C: float
    nu: float
    primal: float
    dual: float
    gaps: np.ndarray
    iterations: int
    steps: int
    converged: bool
    message: str
    rounding: float
    kernel: object
    support_points: np.ndarray
    norm2: float

    @property
    def radius(self):
        """sqrt(rho), in units of the data (or of the space of the kernel)."""
        return math.sqrt(self.rho)

    @property
    def gap(self):
        """primal - dual, at least 0 up to rounding."""
        return self.primal - self.dual

    @property
    def relative_gap(self):
        """gap / dual; 0 where both values are 0."""
        return _relative(self.gap, self.dual)

    @property
    def free(self):
        """Row numbers of the points with 0 < u < C, which lie on the sphere."""
        return self.support[self.weights < self.C]

    def squared_distances(self, points, diagonal=None):
        """Squared distances from the center.

        Parameters
        ----------
        points : array_like, shape (k, n)
            New points; for a precomputed kernel the values k(new, training point),
            shape (k, m).
        diagonal : array_like, shape (k,), optional
            The values k(new, new), for a precomputed kernel only.

        Returns
        -------
        ndarray, shape (k,)

        Raises
        ------
        ValueError
            When the shape is wrong or the diagonal is missing.
        """
        points = check_points(points)
        if self.kernel is None:
            _check_width(points, self.center.size)
            return squared_distances(points, self.center)
        share = self.weights / self.weights.sum()
        if self.kernel is _precomputed:
            if diagonal is None:
                raise ValueError(
                    "diagonal must give k(x, x) of each point for a precomputed kernel"
                )
            if points.shape[1] <= self.support[-1]:
                raise ValueError(
                    "points must hold k(new, training point) in one column for each "
                    f"training point, found {points.shape[1]} columns"
                )
            inner = points[:, self.support] @ share
            own = np.asarray(diagonal, dtype=np.float64)
        else:
            _check_width(points, self.support_points.shape[1])
            inner = _weighted(self.kernel, points, self.support_points, share)
            own = _diagonal(self.kernel, points)
        return np.maximum(own - 2.0 * inner + self.norm2, 0.0)

    def _rows(self):
        return [
            ("radius", f"{self.radius:.8g}"),
            ("primal value", f"{self.primal:.8g}"),
            ("(primal - dual) / dual", f"{self.relative_gap:.1e}"),
            ("nu", f"{self.nu:.4g}"),
            ("C", f"{self.C:.4g}"),
            ("points outside", str(self.outside.size)),
            ("support", f"{self.support.size} points, {self.free.size} of them free"),
            ("converged", str(self.converged)),
            ("message", self.message),
        ]

    def __repr__(self):
        state = "converged" if self.converged else "not converged"
        return (
            f"SoftBall(radius {self.radius:.8g}, nu {self.nu:.4g}, "
            f"{self.outside.size} outside, {self.support.size} support points, "
            f"relative gap {self.relative_gap:.1e}, {state})"
        )

    def _repr_html_(self):
        rows = "".join(
            f'<tr><th scope="row">{name}</th><td>{value}</td></tr>'
            for name, value in self._rows()
        )
        return f"<table><tbody>{rows}</tbody></table>"


def soft_ball(
    points,
    nu=None,
    *,
    C=None,
    kernel=None,
    gamma=None,
    tol=1e-8,
    method="pairwise",
    max_iter=1000,
    workers=None,
):
    """The ball with slack (SVDD), with a certificate that it is optimal.

    Parameters
    ----------
    points : array_like, shape (m, n)
        One point a row; for ``kernel="precomputed"`` the kernel matrix, shape (m, m).
    nu : float
        In (0, 1]: at most nu m points lie outside, at least nu m have weight; 0.05
        where neither nu nor C is given. nu < 1 / m is the hard ball.
    C : float
        Instead of nu: the price of slack, positive. C >= 1 is the hard ball;
        C < 1 / m, cheaper than any point, gives rho = 0 about the mean.
    kernel : {None, "linear", "rbf", "precomputed"} or callable
        None is the linear kernel, the ball in the space of the data. "rbf" is
        exp(-gamma |x - y|^2). A callable takes (k, n) and (l, n) arrays and returns
        the (k, l) matrix of a positive semidefinite kernel.
    gamma : float or "scale"
        Of the RBF kernel: positive, or 1 / (n times the variance of the entries) as
        scikit-learn has it, the default.
    tol : float
        The largest accepted (primal - dual) / dual.
    method : {"pairwise", "frank_wolfe"}
        Frank-Wolfe steps, exact, toward the best vertex, converge slowly: they are
        here to be looked at.
    max_iter : int
        The largest number of rounds of pairwise steps, or of Frank-Wolfe steps.
    workers : int or None
        How many threads pass over large data or compute columns of the RBF kernel. None
        takes the cores that the process may run on, but no more than NUMBA_NUM_THREADS
        and OMP_NUM_THREADS allow where they are set. Up to a million entries of the
        points, or 262,144 of the kernel at a time, are left to one, and so are kernels
        of one's own. The answer is the same bit for bit for any number.

    Returns
    -------
    SoftBall

    Raises
    ------
    TypeError, ValueError
        When an argument is out of range, nu and C are both given, the points are not
        finite numbers in two dimensions, their squared distances leave float64, or the
        kernel is not symmetric, finite and positive semidefinite as far as it is seen.

    Notes
    -----
    The linear kernel never forms more than the Gram matrix of a working set.
    Slack enters as a squared distance, so that a far outlier still pulls the center by
    C times its own shift: less than the hard ball's half, but without bound.
    `mebnb.solvers.soft_plain` has the version that bounds it.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.append(np.linspace(-1.0, 1.0, 99), 50.0)[:, None]
    >>> ball = soft_ball(points, nu=0.05)
    >>> ball.outside, ball.support.size, ball.converged
    (array([ 0,  1,  2,  3, 99]), 5, True)
    """
    points = check_points(points)
    m = points.shape[0]
    share, C = price_of_slack(nu, C, m)
    tol, max_iter = _check_limits(tol, max_iter)
    if method not in _METHODS:
        raise ValueError(
            f"method must be one of {', '.join(map(repr, _METHODS))}, found {method!r}"
        )
    space = _space(points, kernel, gamma, check_workers(workers))
    cap = min(C, 1.0)
    if share > m * (1.0 + WHOLE):
        result = np.full(m, C), 0, []
    elif C >= 1.0 and isinstance(space, _Linear):
        hard = minimum_enclosing_ball(points, workers=workers)
        result = dense_weights(hard, m), hard.iterations, []
    else:
        guess = _guess(space, cap, max_iter)
        result = _METHODS[method](space, guess, cap, tol, max_iter)
    return _certified(space, share, C, tol, *result)


# --- input -------------------------------------------------------------------------


def price_of_slack(nu, C, m):
    """nu m and C from one of nu and C; nu = 0.05 where neither is given.

    Parameters
    ----------
    nu, C : float or None
    m : int
        Number of points.

    Returns
    -------
    share : float
        nu m = 1 / C.
    C : float

    Raises
    ------
    TypeError, ValueError
        When both are given or one is out of range.
    """
    if nu is not None and C is not None:
        raise ValueError("nu and C say the same, C = 1 / (nu m); give one of them")
    if C is not None:
        C = _number("C", C)
        if not C > 0.0:
            raise ValueError(f"C must be positive, found {C!r}")
        if math.isinf(1.0 / C):
            raise ValueError(f"C must be large enough for 1 / C, found {C!r}")
        return 1.0 / C, C
    nu = 0.05 if nu is None else _number("nu", nu)
    if not 0.0 < nu <= 1.0:
        raise ValueError(f"nu must be in (0, 1], found {nu!r}")
    share = nu * m
    # The smallest nu have no 1 / (nu m) in float64; any C >= 1 is the hard ball.
    return share, min(1.0 / share, sys.float_info.max)


def _number(name, value):
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, found {value!r}")
    value = float(value)
    if not math.isfinite(value):
        raise ValueError(f"{name} must be finite, found {value!r}")
    return value


def _check_limits(tol, max_iter):
    tol = _number("tol", tol)
    if tol < 0.0:
        raise ValueError(f"tol must be at least 0, found {tol!r}")
    try:
        max_iter = operator.index(max_iter)
    except TypeError:
        raise TypeError(f"max_iter must be an integer, found {max_iter!r}") from None
    if max_iter < 1:
        raise ValueError(f"max_iter must be at least 1, found {max_iter!r}")
    return tol, max_iter


def _check_width(points, n):
    if points.shape[1] != n:
        raise ValueError(
            f"points must have {n} features like the training points, found "
            f"{points.shape[1]}"
        )


# --- the space: distances from a weighted mean, linear or by a kernel ----------------


def _space(points, kernel, gamma, workers=1):
    if gamma is not None and kernel != "rbf":
        raise ValueError(f"gamma goes with kernel='rbf', found kernel={kernel!r}")
    if kernel is None or (isinstance(kernel, str) and kernel == "linear"):
        return _Linear.of(points, workers)
    if isinstance(kernel, str) and kernel == "rbf":
        points = points.astype(np.float64, copy=False)
        return _Kernel(points, _rbf_of(points, gamma), workers)
    if isinstance(kernel, str) and kernel == "precomputed":
        return _Precomputed(_check_kernel_matrix(points))
    if callable(kernel):
        points = points.astype(np.float64, copy=False)
        space = _Kernel(points, partial(_checked, kernel=kernel))
        _refuse_indefinite(space.gram(_sample(space.m, space.working)))
        return space
    raise ValueError(
        "kernel must be None, 'linear', 'rbf', 'precomputed' or a function of two "
        f"arrays of points, found {kernel!r}"
    )


def _rbf_of(points, gamma):
    """The RBF kernel about the mean of the points."""
    _, exponent = math.frexp(float(np.abs(points).max()))
    if exponent >= sys.float_info.max_exp:
        raise ValueError(
            "points must be less than 2^1023, so that they have differences"
        )
    # Scaled by a power of two, the variance neither overflows nor vanishes.
    local = np.ldexp(points, -exponent)
    origin = np.ldexp(local.mean(axis=0), exponent)
    if gamma is None or (isinstance(gamma, str) and gamma == "scale"):
        variance = float(local.var())
        root = 1.0
        if variance > 0.0:
            root = math.ldexp(math.sqrt(1.0 / (points.shape[1] * variance)), -exponent)
        return _Rbf(root, origin)
    if isinstance(gamma, str):
        raise ValueError(f"gamma must be a positive number or 'scale', found {gamma!r}")
    gamma = _number("gamma", gamma)
    if not gamma > 0.0:
        raise ValueError(f"gamma must be positive, found {gamma!r}")
    return _Rbf(math.sqrt(gamma), origin)


def _check_kernel_matrix(matrix):
    m, n = matrix.shape
    if m != n:
        raise ValueError(
            f"points must be the square kernel matrix for kernel='precomputed', found "
            f"shape {matrix.shape}"
        )
    largest = float(np.abs(np.diagonal(matrix)).max())
    height = max(1, 16 * BLOCK // m)
    for start in range(0, m, height):
        rows = matrix[start : start + height]
        skew = float(np.abs(rows - matrix[:, start : start + height].T).max())
        if skew > 1e-8 * largest:
            raise ValueError(
                "points must be a symmetric kernel matrix, found entries that differ "
                f"from their mirror image by {skew:.3g}"
            )
    rows = _sample(m, _Kernel.working)
    _refuse_indefinite(matrix[np.ix_(rows, rows)])
    return matrix


def _refuse_indefinite(gram):
    """A principal submatrix with a negative eigenvalue has no Cholesky factor."""
    gram = gram * _unit(gram)
    own = np.diagonal(gram)
    largest = float(np.abs(own).max())
    # Without a diagonal there is nothing but zeros, or negative eigenvalues.
    if largest == 0.0 and not gram.any():
        return
    try:
        cholesky(gram + 1e-8 * largest * np.eye(own.size), check_finite=False)
    except LinAlgError:
        raise _not_a_kernel() from None


def _unit(*arrays):
    """A power of two that brings the largest entry to about 1; exact to multiply by."""
    largest = max(float(np.abs(a).max()) for a in arrays)
    _, exponent = math.frexp(largest)
    return math.ldexp(1.0, max(-1000, min(1000, -exponent)))


def _not_a_kernel():
    return ValueError(
        "kernel must be positive semidefinite, found a negative eigenvalue or squared "
        "distance"
    )


def _checked(x, y, kernel):
    """The values of a caller's kernel, refused when they make no sense."""
    values = np.asarray(kernel(x, y), dtype=np.float64)
    if values.shape != (len(x), len(y)):
        raise ValueError(
            f"kernel must return shape {(len(x), len(y))} for {len(x)} and {len(y)} "
            f"points, found {values.shape}"
        )
    if not np.isfinite(values).all():
        raise ValueError("kernel must return finite values, found NaN or infinity")
    return values


@dataclass(frozen=True)
class _Rbf:
    """exp(-gamma |x - y|^2), gamma = root^2; points are multiplied by the root first.

    Products of centred points are fast and lose what differences keep: with exponents
    up to `NEAR` that is nothing. Beyond it differences are taken, so that the kernel is
    right however far the points lie from the origin and from each other.
    """

    root: float
    origin: np.ndarray

    def __call__(self, x, y):
        return _RbfToward(self, y)(x, 1)

    def local(self, points):
        """Centred and scaled points, and their squared lengths."""
        with np.errstate(over="ignore", invalid="ignore"):
            local = (points - self.origin) * self.root
            return local, np.einsum("ij,ij->i", local, local)


class _RbfToward:
    """The RBF kernel as a function of x alone: what the points y cost is paid once."""

    def __init__(self, kernel, y):
        self.kernel, self.y = kernel, y
        local, self.squares = kernel.local(y)
        self.farthest = self.squares.max()
        with np.errstate(over="ignore"):
            self.doubled = np.multiply(2.0, local, out=local).T

    @cached_property
    def columns(self):
        return np.ascontiguousarray(self.y.T, np.float64)

    def __call__(self, x, workers):
        local, squares = self.kernel.local(x)
        near = 2.0 * (squares.max() + self.farthest) <= NEAR
        values = np.empty((len(x), len(self.y)))

        def fill(start, rows):
            stop = start + len(rows)
            block = values[start:stop]
            if near:
                np.dot(local[start:stop], self.doubled, out=block)
                _to_exponents(block, squares[start:stop], self.squares)
            else:
                rows = np.ascontiguousarray(rows, np.float64)
                _fill_exponents(rows, self.columns, self.kernel.root, block)
            np.exp(block, out=block)

        share_out(_blocks(x, BLOCK // len(self.y)), fill, workers)
        return values


def _blocks(x, height):
    """Rows in blocks, whose size hangs on no number of workers: so does no sum."""
    height = max(1, height)
    return ((start, x[start : start + height]) for start in range(0, len(x), height))


@njit(cache=True, nogil=True, error_model="numpy")
def _to_exponents(block, x2, y2):
    """min(2 x_i y_j - |x_i|^2 - |y_j|^2, 0) of the products that are in the block."""
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            block[i, j] = min(block[i, j] - x2[i] - y2[j], 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def _fill_exponents(rows, columns, root, block):
    """-|root (x_i - y_j)|^2 by differences, for the points y in columns."""
    for i in range(rows.shape[0]):
        block[i] = 0.0
        for c in range(rows.shape[1]):
            for j in range(columns.shape[1]):
                apart = root * (rows[i, c] - columns[c, j])
                block[i, j] -= apart * apart


def _toward(kernel, y):
    """The kernel as a function of x alone."""
    if isinstance(kernel, _Rbf):
        return _RbfToward(kernel, y)
    return lambda x, workers: kernel(x, y)


def _weighted(kernel, x, y, weights, workers=1):
    """sum_j weights_j k(x_i, y_j), block by block."""
    sums, values = np.empty(len(x)), _toward(kernel, y)

    def add(start, rows):
        sums[start : start + len(rows)] = values(rows, 1) @ weights

    share_out(_blocks(x, 4 * BLOCK // len(y)), add, workers)
    return sums


def _diagonal(kernel, x, width=16):
    if isinstance(kernel, _Rbf):
        return np.ones(len(x))
    blocks = (x[start : start + width] for start in range(0, len(x), width))
    return np.concatenate([np.diagonal(kernel(block, block)) for block in blocks])


def _sample(m, count):
    """Row numbers, ascending, drawn with a fixed seed."""
    if m <= count:
        return np.arange(m)
    return np.sort(np.random.default_rng(0).choice(m, count, replace=False))


class _View(NamedTuple):
    """What a weighted mean sees: the squared distances of all points, and itself.

    `center` is None for kernels; `norm2` is |c|^2 there and 0 in the linear space, where
    `farthest` is the largest squared distance.
    """

    distances: np.ndarray
    center: np.ndarray | None = None
    norm2: float = 0.0
    farthest: float = math.nan


class _Linear:
    """Points in their own space, about an origin that is theirs or 0."""

    kernel = None
    working = 512  # the largest working set

    def __init__(self, points, workers=1):
        self.points = self.given = points
        self.m, self.origin, self.workers = points.shape[0], 0.0, workers

    @classmethod
    def of(cls, points, workers=1):
        """The space of a user's points, moved to the origin where they lie far off."""
        space, first = cls(points, workers), points[0].astype(np.float64)
        # Some rows tell: were the others farther apart, it would only be less needed.
        some = points[:: 1 + len(points) // 1024]
        if np.abs(first).max() > FAR * math.sqrt(squared_distances(some, first).max()):
            with np.errstate(over="ignore"):
                space.points = np.subtract(points, first, dtype=np.float64)
            space.origin = first
        return space

    def subset(self, rows):
        return _Linear(self.points[rows], self.workers)

    def view(self, weights):
        """Squared distances of all points from the weighted mean."""
        support = np.flatnonzero(weights)
        share = weights[support]
        rows = self.points[support].astype(np.float64)
        return self._from(rows[0] + (share @ (rows - rows[0])) / share.sum())

    def moved(self, view, rows, change):
        """The view after the weights of some rows changed."""
        return self._from(view.center + change @ (self.points[rows] - view.center))

    def _from(self, center):
        distances = np.empty(self.m)

        def measure(start, rows):
            distances[start : start + len(rows)] = squared_distances(rows, center)

        workers = self.workers if self.points.size > SMALL else 1
        share_out(Rows(self.points, workers).blocks(), measure, workers)
        farthest = float(distances.max())
        vanishes = farthest < TINY and (self.points != self.points[0]).any()
        if vanishes or not farthest < HUGE:
            raise ValueError(
                "points must have squared distances that float64 can hold, found about "
                f"{farthest:.1e}; multiply the points by a constant first"
            )
        return _View(distances, center, farthest=farthest)

    def gram(self, rows, view):
        """Inner products of some points, up to a shift of the origin."""
        local = self.points[rows] - view.center
        return local @ local.T

    def rounding(self, view):
        reach = math.sqrt(view.farthest)
        return 8.0 * EPS * reach * (float(np.linalg.norm(view.center)) + reach)

    def written(self, view):
        """The center as the result holds it, rounded, and the view from there."""
        center = view.center + self.origin
        back = center - self.origin
        return center, view if (back == view.center).all() else self._from(back)

    def kept(self, support):
        return self.given[support].astype(np.float64)


class _Kernel:
    """Points in the space of a kernel; what is kept are the last columns."""

    working = 1024  # more than in the linear space, for a round costs more

    def __init__(self, points, kernel, workers=1):
        self.points, self.kernel, self.workers = points, kernel, workers
        self.m, self.last = points.shape[0], None
        self.own = _diagonal(kernel, points)
        self.size = float(np.abs(self.own).max())
        self.alike = self._all_equal()
        if not (self.size < HUGE and (self.size > TINY or not self.own.any())):
            raise ValueError(
                "kernel must have values that float64 can hold, found a largest k(x, x) "
                f"of {self.size:.1e}; multiply it by a constant first"
            )
        self.columns = OrderedDict()

    def _all_equal(self):
        return bool((self.points == self.points[0]).all())

    def subset(self, rows):
        return _Kernel(self.points[rows], self.kernel, self.workers)

    def view(self, weights):
        # What ends the rounds is asked for again as the proof, and costs as much as they.
        if self.last is None or not np.array_equal(self.last[0], weights):
            self.last = weights.copy(), self._view(weights)
        return self.last[1]

    def _view(self, weights):
        support = np.flatnonzero(weights)
        share = weights[support] / weights[support].sum()
        held, hands = self.points[support], self._hands(support.size)
        inner = _weighted(self.kernel, self.points, held, share, hands)
        norm2 = float(share @ inner[support])
        if self.alike:
            return _View(np.zeros(self.m), norm2=norm2)
        return _View(np.maximum(self.own - 2.0 * inner + norm2, 0.0), norm2=norm2)

    def _hands(self, columns):
        """How many threads pay for so many columns."""
        return self.workers if columns * self.m > FEW else 1

    @cached_property
    def _columns(self):
        return _toward(self.kernel, self.points)

    def moved(self, view, rows, change):
        shift = np.zeros(self.m)
        for row, amount in zip(rows, change, strict=True):
            shift += amount * self._column(row, rows)
        growth = float(change @ (self.own[rows] - view.distances[rows] + shift[rows]))
        distances = view.distances - 2.0 * shift + growth
        return _View(distances, norm2=view.norm2 + growth)

    def gram(self, rows, view=None):
        return self.kernel(self.points[rows], self.points[rows])

    def rounding(self, view):
        return 0.0 if self.alike else 32.0 * EPS * self.size

    def written(self, view):
        return None, view

    def kept(self, support):
        return self.points[support]

    def _column(self, row, wanted):
        """A kernel column; with a missing one, the next wanted are computed too."""
        if row not in self.columns:
            room = max(1, CACHE_BYTES // (8 * self.m))
            rest = wanted[np.searchsorted(wanted, row) :]
            missing = [other for other in rest if other not in self.columns]
            missing = missing[: max(1, min(64, room, 64 * BLOCK // self.m))]
            block = self._columns(self.points[missing], self._hands(len(missing)))
            for other, column in zip(missing, block, strict=True):
                self.columns[other] = column.copy()
            while len(self.columns) > room:
                self.columns.popitem(last=False)
        self.columns.move_to_end(row)
        return self.columns[row]


class _Precomputed(_Kernel):
    """Points known by their kernel matrix: the point is its row number."""

    def __init__(self, matrix):
        self.matrix = matrix
        rows = np.arange(len(matrix))[:, None]
        super().__init__(rows, self._entries)

    def _all_equal(self):
        first = self.matrix[0]
        return bool((first == first[0]).all() and (self.matrix == first[0]).all())

    def subset(self, rows):
        return _Precomputed(self.matrix[np.ix_(rows, rows)])

    def _entries(self, x, y):
        return self.matrix[np.ix_(x[:, 0], y[:, 0])].astype(np.float64, copy=False)


def _precomputed(x, y):
    """Stands for the kernel in a result whose kernel was a matrix."""
    raise ValueError("a precomputed kernel has no values for new points")


# --- the greedy oracle, the start and the certificate --------------------------------


def _vertex(distances, cap):
    """The best vertex: C on the farthest points, what is left on the next."""
    full = _full(cap)
    order = np.argpartition(-distances, full)[: full + 1]
    last = order[distances[order].argmin()]
    vertex = np.zeros(distances.size)
    vertex[order] = cap
    if not _whole(cap):
        vertex[last] = 1.0 - full * cap
    return vertex


def _full(cap):
    """How many points the best vertex fills before the last one."""
    return math.ceil(1.0 / cap * (1.0 - WHOLE)) - 1


def _whole(cap):
    return abs((_full(cap) + 1) * cap - 1.0) <= WHOLE


def _guess(space, cap, max_iter):
    """A vertex to start from: the best about the ball of a sample, or the mean."""
    if space.m <= space.working:
        mean = space.view(np.full(space.m, 1.0 / space.m))
        return _vertex(mean.distances, cap)
    rows = _sample(space.m, max(space.working, space.m // 8))
    sample, box = space.subset(rows), min(1.0, cap * space.m / rows.size)
    guess = _guess(sample, box, max_iter)
    weights = np.zeros(space.m)
    weights[rows] = _pairwise(sample, guess, box, 1e-2, max_iter)[0]
    return _vertex(space.view(weights).distances, cap)


def _relative(gap, value):
    if gap <= 0.0:
        return 0.0
    return gap / value if value > 0.0 else math.inf


def _certified(space, share, C, tol, weights, steps, gaps):
    """The result, with everything in it computed anew from the weights."""
    support = np.flatnonzero(weights)
    mean = space.view(weights)
    center, seen = space.written(mean)
    distances, rounding = seen.distances, space.rounding(mean)
    if share > space.m * (1.0 + WHOLE):
        interval = (0.0, 0.0)
    else:
        interval = least_radii(distances, min(C, 1.0), C > 1.0)
    rho = interval[1] if C >= 1.0 else 0.5 * (interval[0] + interval[1])
    over = distances > rho
    primal = rho + C * float((distances[over] - rho).sum())
    dual = float(weights[support] @ mean.distances[support])
    reached = _relative(primal - dual, dual)
    gaps = np.array([*gaps, reached] if not gaps else [*gaps[:-1], reached])
    told = f"(primal - dual) / dual = {reached:.1e}"
    certain = rounding <= tol * dual
    off = 0.0 if center is None else EPS * float(np.linalg.norm(center))
    least = 4.0 * (rounding + off * math.sqrt(float(distances.max())))
    if reached <= tol and certain:
        message = f"{told}, within tol = {tol:g}"
    elif primal - dual <= least:
        message = f"{told}, the least that rounding allows"
        if not certain:
            message += f": it may be {_relative(rounding, dual):.1e}"
    else:
        message = f"{told} after {gaps.size - 1} iterations"
    return SoftBall(
        center=center,
        rho=rho,
        rho_interval=interval,
        support=support,
        weights=weights[support],
        outside=np.flatnonzero(over),
        C=C,
        nu=share / space.m,
        primal=primal,
        dual=dual,
        gaps=gaps,
        iterations=gaps.size - 1,
        steps=steps,
        converged=reached <= tol and certain,
        message=message,
        rounding=rounding,
        kernel=_precomputed if isinstance(space, _Precomputed) else space.kernel,
        support_points=space.kept(support),
        norm2=mean.norm2,
    )


def verify_soft(points, ball):
    """The relative gap of a linear soft ball, with nothing of the solver reused.

    Both values are recomputed, about a support point and at unit size: the dual at the
    weights, the primal at the center and at each radius that the ball calls optimal.
    The other fields have to agree with them.

    Parameters
    ----------
    points : array_like, shape (m, n)
    ball : SoftBall

    Returns
    -------
    float
        (primal - dual) / dual, or what rounding of these is, where that is more;
        infinite where the weights leave [0, C] or their sum is not 1 (m C for
        C < 1 / m), or a field contradicts the points or another one.

    Raises
    ------
    ValueError
        For a ball of a kernel, whose center nobody can look at, or of points with
        another number of features.
    """
    points = check_points(points)
    if ball.center is None:
        raise ValueError("ball must be of the linear kernel, found one of a kernel")
    _check_width(points, ball.center.size)
    m, price = points.shape[0], min(ball.C, 1.0)
    weights, support = np.asarray(ball.weights), np.asarray(ball.support)
    if not _lawful(weights, support, ball, m):
        return math.inf
    origin = points[support[0]].astype(np.float64)
    unit = _unit(np.array([coordinate_spread(points, origin)]))
    held = unit * (points[support] - origin)
    mean = (weights / weights.sum()) @ held
    dual = float(weights @ squared_distances(held, mean))
    center = unit * (ball.center - origin)
    distances = np.concatenate(
        [squared_distances(unit * (b - origin), center) for _, b in row_blocks(points)]
    )
    radii = unit * (unit * np.array([ball.rho, *ball.rho_interval]))
    # For C >= 1 all prices have one ball, and the lowest does not magnify rounding.
    primals = [r + price * float(np.maximum(distances - r, 0.0).sum()) for r in radii]
    gap, largest = max(primals) - dual, float(distances.max())
    # The center of the result is rounded where it is written, far from the origin.
    off = 4.0 * EPS * float(np.linalg.norm(unit * ball.center))
    near = 1e-9 * largest + off * math.sqrt(largest)
    stated = unit * (unit * np.array([ball.primal, ball.dual]))
    beyond, within = distances[ball.outside], np.delete(distances, ball.outside)
    agrees = (
        radii[1] <= radii[0] <= radii[2]
        and bool((np.abs(stated - [primals[0], dual]) <= near).all())
        and bool((beyond >= radii[0] - near).all())
        and bool((within <= radii[0] + near).all())
        and np.array_equal(ball.support_points, points[support])
    )
    rounding = 16.0 * EPS * largest
    return _relative(max(gap, rounding), dual) if agrees else math.inf


def _lawful(weights, support, ball, m):
    """Whether weights and prices may be those of a soft ball of m points."""
    rows = set(support.tolist()) if support.dtype.kind in "iu" else set()
    if weights.shape != support.shape or not 0 < len(rows) == support.size:
        return False
    if min(rows) < 0 or max(rows) >= m:
        return False
    total, hard = min(1.0, ball.C * m), ball.C >= 1.0 and ball.nu * m <= 1.0 + WHOLE
    return (
        weights.min() >= 0.0
        and weights.max() <= ball.C * (1.0 + WHOLE)
        and abs(weights.sum() - total) <= 1e-9 * total
        and (hard or abs(ball.nu * m * ball.C - 1.0) <= 1e-9)
    )


def least_radii(distances, cap, hard):
    """The (squared) radii that minimise the primal at a center.

    The slope in the radius is 1 - C times the number of points outside.

    Parameters
    ----------
    distances : ndarray, shape (m,)
        Distances from the center, squared where the radius is.
    cap : float
        min(C, 1).
    hard : bool
        Whether C > 1, where only the enclosing radius is optimal.

    Returns
    -------
    low, high : float
    """
    full, m = _full(cap), distances.size
    farthest = -np.partition(-distances, min(full + 1, m - 1))[: full + 2]
    farthest.sort()
    high = float(farthest[-full - 1])
    if hard or not _whole(cap):
        return high, high
    return (0.0 if full + 1 == m else float(farthest[-full - 2])), high


# --- the two methods -----------------------------------------------------------------


def _pairwise(space, weights, cap, tol, max_iter):
    """Rounds of pairwise steps on working sets; weights, steps and relative gaps."""
    view, fresh = space.view(weights), True
    steps, gaps = 0, []
    most, crowded = space.working, 0
    while True:
        distances = view.distances
        gap, dual = _values(distances, weights, cap)
        rows, violation = _working_set(distances, weights, cap, most)
        rounding = space.rounding(view)
        done = gap <= tol * dual or violation <= rounding
        if done and not fresh:
            view, fresh = space.view(weights), True
            continue
        gaps.append(_relative(gap, dual))
        if done or len(gaps) > max_iter:
            return weights, steps, gaps
        crowded += rows.size > most // 2
        if crowded == PATIENCE:
            most, crowded = min(2 * most, LARGEST), 0
        aim = max(0.1 * violation, 0.3 * tol * dual, 0.5 * rounding)
        old, slack, gram = weights[rows], distances[rows], space.gram(rows, view)
        # Steps take products of squared distances, which overflow before these do.
        unit = _unit(slack, np.diagonal(gram))
        gram *= unit
        new, limit = old.copy(), 1000 * rows.size
        taken = _climb(gram, unit * slack, new, cap, unit * aim, limit)
        if taken < 0:
            raise _not_a_kernel()
        steps += taken
        weights[rows] = new
        changed = new != old
        view = space.moved(view, rows[changed], (new - old)[changed])
        fresh = isinstance(space, _Linear)


def _values(distances, weights, cap):
    """Duality gap and dual value."""
    dual = float(weights @ distances)
    return float(_vertex(distances, cap) @ distances) - dual, dual


def _working_set(distances, weights, cap, most):
    """Rows that are in some violating pair, at most the worst, and their violation.

    A pair violates optimality when its farther point has room and its nearer one has
    weight to give.
    """
    takes, gives = weights < cap, weights > 0.0
    farthest = distances[takes].max(initial=-math.inf)
    nearest = distances[gives].min()
    takers = np.flatnonzero(takes & (distances > nearest))
    givers = np.flatnonzero(gives & (distances < farthest))
    takers = _largest(takers, distances[takers], most // 2)
    givers = _largest(givers, -distances[givers], most // 2)
    return np.union1d(takers, givers), farthest - nearest


def _largest(rows, values, most):
    return rows if rows.size <= most else rows[np.argpartition(-values, most)[:most]]


@njit(cache=True, nogil=True, error_model="numpy")
def _climb(gram, distances, weights, cap, aim, limit):
    """Pairwise steps until no pair violates by more than aim; how many, or -1.

    Parameters
    ----------
    gram : ndarray, shape (k, k)
        Kernel of the working set.
    distances : ndarray, shape (k,)
        Squared distances, or what differs from them by a constant; updated.
    weights : ndarray, shape (k,)
        Updated.
    cap, aim : float
    limit : int
        The largest number of steps.
    """
    k, own = distances.size, np.diag(gram).copy()
    scale = np.abs(own).max()
    flat = 1e-15 * scale
    for step in range(limit):
        towards, farthest, nearest = -1, -np.inf, np.inf
        for i in range(k):
            if weights[i] < cap and distances[i] > farthest:
                towards, farthest = i, distances[i]
            if weights[i] > 0.0:
                nearest = min(nearest, distances[i])
        if farthest - nearest <= aim:
            return step
        row, away, best, apart = gram[towards], -1, 0.0, 1.0
        for i in range(k):
            slope = farthest - distances[i]
            if weights[i] > 0.0 and slope > 0.0:
                between = own[towards] + own[i] - 2.0 * row[i]
                if between < -1e-8 * scale:
                    return -1
                between = max(between, flat)
                # The gain is slope^2 / (4 between); without a division.
                if slope * slope * apart > best * between:
                    best, away, apart = slope * slope, i, between
        # The ends of the step are met exactly, so that weights reach 0 and C.
        given, room = weights[away], cap - weights[towards]
        length = min((farthest - distances[away]) / (2.0 * apart), given, room)
        weights[away] = 0.0 if length == given else given - length
        weights[towards] = cap if length == room else weights[towards] + length
        other = gram[away]
        for i in range(k):
            distances[i] -= 2.0 * length * (row[i] - other[i])
    return limit


def _frank_wolfe(space, weights, cap, tol, max_iter):
    """Exact steps toward the best vertex; weights, steps and relative gaps."""
    distances, gaps = space.view(weights).distances, []
    while True:
        vertex = _vertex(distances, cap)
        dual = float(weights @ distances)
        gap = float(vertex @ distances) - dual
        gaps.append(_relative(gap, dual))
        if gap <= tol * dual or len(gaps) > max_iter:
            return weights, len(gaps) - 1, gaps
        ends = space.view(vertex).distances
        # The squared distance of the two centers, by the parallel axis theorem.
        apart = float(vertex @ distances - vertex @ ends)
        step = 1.0 if gap >= 2.0 * apart else gap / (2.0 * apart)
        weights = (1.0 - step) * weights + step * vertex
        distances = (1.0 - step) * distances + step * ends - step * (1.0 - step) * apart


_METHODS = {"pairwise": _pairwise, "frank_wolfe": _frank_wolfe}
