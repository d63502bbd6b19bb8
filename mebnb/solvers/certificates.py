"""Is a ball the smallest one? `verify` answers from the points alone.

The answer has three values. A ball passes when its radius is proved to exceed a lower
bound on the smallest radius by no more than `rtol`, and when every other field of the
solution is what it says. It fails when it is wrong. Between the two lie balls whose
numbers are as good as float64 has them and yet too coarse: far from the origin the
nearest float64 to the center can be farther off than rtol allows. Of those `verify`
says that it cannot certify them.

Nothing here depends on where the origin is. All arithmetic is on differences from a
row, each rounded once, so that the radius about the center as given, and the dual value
of the weights as given, are known to a few units of rounding (N. J. Higham, Accuracy
and Stability of Numerical Algorithms, 2nd ed., chapter 3). Only the center itself can
be coarse, by half the spacing of float64 in each column that varies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mebnb.solvers.balls import coordinate_spread, squared_distances
from mebnb.solvers.inputs import check_number, check_points, row_blocks

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Certificate", "verify"]

PASSED, FAILED, UNDECIDED = "passed", "failed", "cannot certify"
EPS = float(np.finfo(np.float64).eps)
# What a solver's own last bits may add to a claim that should hold exactly.
LAST_BITS = Fraction(1, 10**12)


@dataclass(frozen=True)
class Certificate:
    """The outcome of `verify`: claims, each with its violation and tolerance.

    Attributes
    ----------
    table : pandas.DataFrame
        Columns claim, violation, tolerance, rounding, verdict, passed; the numbers are
        relative. A claim is passed when its violation is at most its tolerance.
        `rounding` is how much of a violation float64 alone may cause; it excuses none,
        it only turns "failed" into "cannot certify".
    lower_bound, radius : float
        Both recomputed from the points, the center, the support and its weights; NaN
        where the numbers or the weights make no sense.
    """

    table: pd.DataFrame
    lower_bound: float
    radius: float

    @property
    def passed(self):
        """Whether every claim holds."""
        return self.verdict == PASSED

    @property
    def verdict(self):
        """One of "passed", "failed" and "cannot certify"."""
        verdicts = set(self.table["verdict"])
        return next(v for v in (FAILED, UNDECIDED, PASSED) if v in verdicts)

    @property
    def message(self):
        """The verdict and its reason, a sentence."""
        if self.passed:
            return f"{PASSED}: every claim holds"
        row = self.table[self.table["verdict"] == self.verdict].iloc[0]
        sentence = (
            f"{self.verdict}: {row['claim']!r} is violated by {row['violation']:.1e}, "
            f"tolerance {row['tolerance']:.1e}"
        )
        if self.verdict == FAILED:
            return sentence
        return f"{sentence}; rounding to float64 alone may cause {row['rounding']:.1e}"

    def __bool__(self):
        return self.passed

    def __repr__(self):
        return f"{self.message}\n{self.table.to_string(index=False)}"

    def _repr_html_(self):
        return f"<p>{self.message}</p>{self.table.to_html(index=False)}"


def verify(points, solution, rtol=1e-9, *, exact=False):
    """Check every field of a solution against the points; reuse nothing of a solver.

    Parameters
    ----------
    points : array_like, shape (m, n)
    solution : Solution
    rtol : float
        The largest accepted radius / lower_bound - 1.
    exact : bool
        Decide every claim in rational arithmetic, so that the answer is "passed" or
        "failed". Distances are rounded to tell which rows can be the farthest, and
        only those are measured exactly.

    Returns
    -------
    Certificate
        Claims: every number is finite and no length negative; the weights lie on the
        simplex; the center is the weighted mean of the support, up to the spacing of
        float64 in columns that vary; every point lies within the radius; the lower
        bound is the dual value of the weights; the radius exceeds it by no more than
        rtol; and, where `solution.independent` promises it, the support is affinely
        independent.

    Raises
    ------
    ValueError, TypeError
        When the solution does not fit the points: its shapes, a support that is no
        list of distinct row numbers, `converged` or `iterations` of another kind. What
        the solver's own rule for `converged` was cannot be told from the points. Also
        when the points are whole numbers that float64 would round.

    Examples
    --------
    >>> from mebnb import Solution
    >>> points = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 0.5]])
    >>> ball = Solution(np.zeros(2), 1.0, 1.0, np.array([0, 1]), np.array([0.5, 0.5]),
    ...                 0, True, "by hand")
    >>> verify(points, ball).verdict
    'passed'
    """
    points = check_points(points)
    check_number("rtol", rtol, 0.0)
    center, support, weights = _check_fields(points, solution)
    ball = _Ball(
        center, float(solution.radius), float(solution.lower_bound), support, weights
    )
    claims = [_finiteness(ball)]
    if claims[0].verdict == PASSED:
        claims.append(_simplex(weights))
    if claims[-1].verdict == FAILED:
        return Certificate(_table(claims), math.nan, math.nan)
    frame = _Frame(points, ball)
    found = (_measure_exactly if exact else _measure)(ball, frame)
    claims += _claims(found, Fraction(float(rtol)))
    if solution.independent:
        claims.append(_independence(points[support], frame, exact))
    unit = Fraction(2) ** found.exponent
    lower_bound, radius = (_root(x) * unit for x in (found.gamma, found.farthest))
    return Certificate(_table(claims), _as_float(lower_bound), _as_float(radius))


# --- the fields --------------------------------------------------------------------


class _Ball(NamedTuple):
    center: np.ndarray
    radius: float
    lower_bound: float
    support: np.ndarray
    weights: np.ndarray


def _check_fields(points, solution):
    """Center, support and weights as arrays; refuse what does not fit the points."""
    m, n = points.shape
    support = np.asarray(solution.support)
    weights = np.asarray(solution.weights, dtype=np.float64)
    center = np.asarray(solution.center, dtype=np.float64)
    if center.shape != (n,):
        raise ValueError(
            f"solution.center must have shape ({n},) like the points, found "
            f"{center.shape}"
        )
    if support.shape != weights.shape or support.ndim != 1 or support.size == 0:
        raise ValueError(
            "solution.support and solution.weights must have the same length >= 1, "
            f"found {support.shape} and {weights.shape}"
        )
    if support.dtype.kind not in "iu":
        raise ValueError(
            "solution.support must hold row numbers, whole numbers of an integer type, "
            f"found dtype {support.dtype}"
        )
    if support.min() < 0 or support.max() >= m:
        raise ValueError(
            f"solution.support must index the {m} points, found {support.min()} to "
            f"{support.max()}"
        )
    if np.unique(support).size < support.size:
        raise ValueError("solution.support must hold distinct rows, found repeats")
    if not isinstance(solution.converged, (bool, np.bool_)):
        raise TypeError(
            f"solution.converged must be True or False, found {solution.converged!r}"
        )
    check_number("solution.iterations", solution.iterations, 0, whole=True)
    return center, support, weights


# --- what is measured --------------------------------------------------------------


class _Measures(NamedTuple):
    """What the claims are about, as fractions in units of 2**exponent.

    `deviation`, `farthest` and `gamma` are squares: of the center from the weighted
    mean, of the farthest row from the center, and the dual value. `spacing` is that of
    float64 at the center, and `error` bounds the relative error of the square roots.
    """

    deviation: Fraction
    farthest: Fraction
    gamma: Fraction
    radius: Fraction
    lower_bound: Fraction
    spacing: Fraction
    error: Fraction
    exponent: int


class _Frame:
    """The rows seen from the first support row, in a unit near the ball's size.

    The unit is a power of two, so that squares neither overflow nor vanish and scaling
    rounds nothing. Differences are taken first: a column that does not vary is zero.
    """

    def __init__(self, points, ball):
        self.points = points
        self.origin = points[ball.support[0]].astype(np.float64)
        spread = coordinate_spread(points, self.origin)
        reach = coordinate_spread(ball.center[None, :], self.origin)
        largest = max(spread, reach, ball.radius, ball.lower_bound)
        self.exponent = math.frexp(largest)[1]
        n, k = points.shape[1], ball.support.size
        # Of the sums over columns (four at a time) and over the support.
        self.error = EPS * (n / 4 + k + 20)

    def differences(self, rows, center):
        """(rows - center) / 2**exponent, each rounded once."""
        rows = np.asarray(rows, dtype=np.float64)
        exponent = self.exponent
        if exponent > 1000:  # where differences may overflow, halves do not
            rows, center, exponent = 0.5 * rows, 0.5 * center, exponent - 1
        differences = rows - center
        first = -exponent // 2  # 2**1074 is no float64
        differences *= 2.0**first
        differences *= 2.0 ** (-exponent - first)
        return differences

    def squared_distances(self, center):
        """Squared distances of all rows from a center."""
        squares, zero = np.empty(self.points.shape[0]), np.zeros(center.size)
        for start, block in row_blocks(self.points):
            differences = self.differences(block, center)
            squares[start : start + len(block)] = squared_distances(differences, zero)
        return squares

    def spacing(self, center):
        """How far rounding to float64 may move a center, in units of 2**exponent.

        In a column that does not vary nothing is rounded: the center has its value.
        """
        varies = np.zeros(center.size, dtype=bool)
        for _, block in row_blocks(self.points):
            varies |= (block != self.origin).any(axis=0)
        spacings = np.spacing(np.abs(center[varies]))
        scaled = self.differences(spacings, np.zeros(spacings.size))
        return float(np.linalg.norm(scaled))


def _measure(ball, frame):
    """The measures in float64 on differences from a row."""
    rows = frame.differences(frame.points[ball.support], frame.origin)
    shares = ball.weights / ball.weights.sum()
    mean = shares @ rows
    off = frame.differences(ball.center, frame.origin) - mean
    return _measures(
        ball,
        frame,
        deviation=float(off @ off),
        farthest=float(frame.squared_distances(ball.center).max()),
        gamma=max(float(shares @ squared_distances(rows, mean)), 0.0),
        error=frame.error,
        exponent=frame.exponent,
    )


def _measure_exactly(ball, frame):
    """The same measures in integers: multiples of a power of two that fits them all."""
    squares = frame.squared_distances(ball.center)
    # No other row can be the farthest: squares are right to twice the error.
    near = squares >= squares.max() * (1.0 - 8.0 * frame.error)
    points = frame.points
    taken = [points[ball.support], points[near], ball.center[None, :]]
    exponent = min(map(_lowest_bit, taken))
    rows, far, (center,) = (_integers(array, exponent) for array in taken)
    weights = _integers(ball.weights, _lowest_bit(ball.weights))
    total = int(weights.sum())
    rows, center, far = rows - rows[0], center - rows[0], far - center
    mean = weights @ rows  # times total
    gamma = Fraction(int(weights @ (rows**2).sum(axis=1)), total)
    return _measures(
        ball,
        frame,
        deviation=Fraction(int(((center * total - mean) ** 2).sum()), total**2),
        farthest=Fraction(int((far**2).sum(axis=1).max())),
        gamma=max(gamma - Fraction(int((mean**2).sum()), total**2), Fraction(0)),
        error=0,
        exponent=exponent,
    )


def _measures(ball, frame, *, deviation, farthest, gamma, error, exponent):
    unit = Fraction(2) ** exponent
    spacing = Fraction(frame.spacing(ball.center)) * Fraction(2) ** frame.exponent
    return _Measures(
        deviation=Fraction(deviation),
        farthest=Fraction(farthest),
        gamma=Fraction(gamma),
        radius=Fraction(ball.radius) / unit,
        lower_bound=Fraction(ball.lower_bound) / unit,
        spacing=spacing / unit,
        error=Fraction(error),
        exponent=exponent,
    )


def _lowest_bit(values):
    """Exponent of the last bit that any of the values may have set."""
    values = np.asarray(values, dtype=np.float64)
    exponents = np.frexp(values[values != 0.0])[1]
    return int(exponents.min(initial=53)) - 53


def _integers(values, exponent):
    """Values / 2**exponent as Python's integers."""
    mantissas, exponents = np.frexp(np.asarray(values, dtype=np.float64))
    shifts = np.where(mantissas == 0.0, 0, exponents - 53 - exponent)
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    return whole.astype(object) << shifts.astype(object)


# --- the claims --------------------------------------------------------------------


class _Claim(NamedTuple):
    """That a length is at most tolerance times another, rounding aside."""

    name: str
    violation: Fraction
    tolerance: Fraction
    whole: Fraction = Fraction(1)
    rounding: Fraction = Fraction(0)

    @property
    def verdict(self):
        if self.violation <= self.tolerance * self.whole:
            return PASSED
        allowed = self.tolerance * self.whole + self.rounding
        return UNDECIDED if self.violation <= allowed else FAILED

    def row(self):
        """The row of the table, all numbers in parts of the whole."""
        shown = (
            _as_float(_ratio(self.violation, self.whole)),
            _as_float(self.tolerance),
            _as_float(_ratio(self.rounding, self.whole)),
        )
        return self.name, *shown, self.verdict, self.verdict == PASSED


def _finiteness(ball):
    lengths = (ball.radius, ball.lower_bound)
    finite = np.isfinite(ball.center).all() and np.isfinite(ball.weights).all()
    right = finite and all(math.isfinite(x) and x >= 0.0 for x in lengths)
    return _Claim("finite, no length negative", int(not right), 0)


def _simplex(weights):
    lowest = _lowest_bit(weights)
    total = int(_integers(weights, lowest).sum()) * Fraction(2) ** lowest
    least = Fraction(float(weights.min()))
    return _Claim("weights on the simplex", max(abs(total - 1), -least), LAST_BITS)


def _claims(found, rtol):
    """The claims about the ball."""
    unit = Fraction(2) ** found.exponent
    exact = found.error == 0
    tight = LAST_BITS + found.error
    farthest, dual = _root(found.farthest), _root(found.gamma)

    def ulp(length):
        """Spacing of float64 at a length; of no concern to exact arithmetic."""
        return 0 if exact else Fraction(math.ulp(_as_float(length * unit))) / unit

    center_moved = 0 if exact else found.spacing
    return [
        _Claim(
            "center = weighted points",
            max(_root(found.deviation) - found.spacing, 0),
            tight,
            found.radius,
        ),
        _Claim(
            "every point inside",
            max(farthest - found.radius, 0),
            tight,
            found.radius,
            ulp(found.radius),
        ),
        _Claim(
            "lower bound = dual value",
            abs(found.lower_bound - dual),
            tight,
            dual,
            ulp(found.lower_bound),
        ),
        # The arithmetic's own error counts against the ball, so that none passes by it.
        _Claim(
            "radius / lower bound - 1",
            max(farthest, found.radius) - (1 - found.error) * dual,
            rtol,
            dual,
            center_moved + 2 * found.error * dual,
        ),
    ]


def _independence(rows, frame, exact):
    """The claim that rows are affinely independent.

    Full rank stays full rank under changes smaller than the least singular value, and
    rounding is such a change. Where that does not decide, the exact rank does.
    """
    count, n = rows.shape
    name = "support affinely independent"
    if count > n + 1 or len(np.unique(rows, axis=0)) < count:
        return _Claim(name, 1, 0)
    differences = frame.differences(rows[1:], rows[0].astype(np.float64))
    lengths = np.abs(differences).max(axis=1)
    differences /= np.where(lengths > 0.0, lengths, 1.0)[:, None]
    values = np.linalg.svd(differences, compute_uv=False)
    if count == 1 or values[-1] > 4.0 * max(count, n) * EPS * values[0]:
        return _Claim(name, 0, 0)
    if not exact:
        return _Claim(name, 1, 0, rounding=1)
    whole = _integers(rows, _lowest_bit(rows))
    return _Claim(name, int(_rank(whole[1:] - whole[0]) < count - 1), 0)


def _rank(rows):
    """Rank of a matrix of Python's integers, by Bareiss's elimination.

    E. H. Bareiss, Mathematics of Computation 22 (1968), 565-578: every division below
    leaves no remainder.
    """
    rank, previous = 0, 1
    for column in range(rows.shape[1]):
        nonzero = np.flatnonzero(rows[rank:, column])
        if nonzero.size == 0:
            continue
        rows[[rank, rank + nonzero[0]]] = rows[[rank + nonzero[0], rank]]
        pivot, rest = rows[rank, column], rows[rank + 1 :]
        rest[:] = (pivot * rest - np.outer(rest[:, column], rows[rank])) // previous
        rank, previous = rank + 1, pivot
    return rank


def _ratio(part, whole):
    """Part / whole, 0 where nothing is there to be divided."""
    if part == 0:
        return Fraction(0)
    return part / whole if whole else math.inf


def _root(square):
    """Square root of a fraction, rounded up in the 128th bit or later."""
    scaled = square.numerator * square.denominator << 256
    root = math.isqrt(scaled)
    root += root * root < scaled
    return Fraction(root, square.denominator << 128)


def _as_float(value):
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _table(claims):
    columns = ["claim", "violation", "tolerance", "rounding", "verdict", "passed"]
    import pandas as pd  # a quarter of a second that the ball does not need

    return pd.DataFrame([claim.row() for claim in claims], columns=columns)
