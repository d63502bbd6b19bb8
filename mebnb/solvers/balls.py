"""The problem itself: distances, dual value, gaps, and what a solver returns.

Points are the rows of an (m, n) array. A ball is a center c and a radius r; the
minimum enclosing ball (MEB) is the smallest one that holds every point. Its
dual is a concave maximisation over weights u on the unit simplex; the center
that belongs to u is c = sum_i u_i a_i and the dual value is
gamma = sum_i u_i |a_i - c|^2, a lower bound on the squared radius of the MEB.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numba import njit

from mebnb.solvers.devices import distances_there, on_a_device
from mebnb.solvers.inputs import check_points, readable_blocks, row_blocks
from mebnb.solvers.rates import linear_rate, power_rate
from mebnb.solvers.sources import by_blocks

__all__ = [
    "Solution", "Trace", "beyond", "coordinate_spread", "dense_weights", "dual_value",
    "enclosing_radius", "frank_wolfe_gap", "gradient", "kkt_residuals",
    "squared_diameter", "squared_distances",
]  # fmt: skip

# Distances that a solver found agree to about this part where they ought to be equal.
ON_THE_SPHERE = 1e-6
# A sum of coordinates carries their rounding. Where a column is this many times farther
# from zero than the cloud is wide, sums are taken from a row instead: nearer, their
# rounding is that of the cloud's own differences, and no row needs to be chosen.
FAR = 16.0


# --- the problem -------------------------------------------------------------------


def squared_distances(points, center, origin=None):
    """Squared distances |a_i - c|^2 of all points from a center.

    This is the one pass over the data that every solver is made of. Distances
    are formed by differences, in float64, block by block: no cancellation far
    from the origin and no second array of the data's size.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    center : ndarray, shape (n,)
    origin : ndarray, shape (n,), or None
        What the center is counted from, 0 if None.

    Returns
    -------
    ndarray, shape (m,)

    Examples
    --------
    >>> squared_distances(np.array([[3.0, 4.0], [0.0, 0.0]]), np.zeros(2))
    array([25.,  0.])
    """
    points = np.asarray(points)
    center = np.broadcast_to(np.asarray(center, dtype=np.float64), points.shape[1:])
    center = np.ascontiguousarray(center)
    distances = np.empty(points.shape[0])
    for start, block in readable_blocks(points):
        if origin is not None:
            block = np.subtract(block, origin, dtype=np.float64)
        _fill_squared_distances(block, center, distances[start : start + len(block)])
    return distances


@njit(cache=True, nogil=True, error_model="numpy")
def _fill_squared_distances(rows, center, distances):
    # Four sums in a fixed order: fast, and the same last bit on every processor, on
    # which Frank-Wolfe's choices among tied points hang.
    n = center.shape[0]
    for i in range(rows.shape[0]):
        first = second = third = fourth = 0.0
        j = 0
        while j + 4 <= n:
            a = rows[i, j] - center[j]
            b = rows[i, j + 1] - center[j + 1]
            c = rows[i, j + 2] - center[j + 2]
            d = rows[i, j + 3] - center[j + 3]
            first += a * a
            second += b * b
            third += c * c
            fourth += d * d
            j += 4
        while j < n:
            a = rows[i, j] - center[j]
            first += a * a
            j += 1
        distances[i] = (first + second) + (third + fourth)


def coordinate_spread(points, origin):
    """Largest coordinate difference from an origin.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    origin : ndarray, shape (n,)

    Returns
    -------
    float
        max_ij |a_ij - o_j|, at most the largest float64.
    """
    largest = 0.0
    with np.errstate(over="ignore"):
        for _, block in row_blocks(points):
            differences = np.subtract(block, origin, dtype=np.float64)
            largest = max(largest, float(np.abs(differences, out=differences).max()))
    return min(largest, np.finfo(float).max)


def summing_origin(points, width):
    """Where weighted sums of the points start: the first row in columns far from zero.

    A center is a weighted mean. Summed as sum_i u_i a_i it is off by the rounding of
    the coordinates, however narrow the cloud; o + sum_i u_i (a_i - o) is not.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    width : float
        Largest distance from the first row.

    Returns
    -------
    ndarray, shape (n,), or None
        0 in the other columns; None where no column is far.
    """
    first = points[0].astype(np.float64)
    far = np.abs(first) > FAR * width
    return np.where(far, first, 0.0) if far.any() else None


def _mean_from_origin(points, weights):
    """Origin and, counted from there, weighted mean."""
    width = enclosing_radius(points, points[0])
    origin = summing_origin(points, width)
    if origin is None:
        return None, weights @ points
    return origin, weights @ np.subtract(points, origin, dtype=np.float64)


def dense_weights(ball, m):
    """The weights of a ball or an iterate as one vector, 0 outside of the support.

    Parameters
    ----------
    ball : object
        With `support` and `weights`.
    m : int
        Number of points.

    Returns
    -------
    ndarray, shape (m,)
    """
    weights = np.zeros(m)
    weights[ball.support] = ball.weights
    return weights


def squared_diameter(points):
    """Largest squared distance of two points.

    Of two points at distance D both are at least D - R from a center from which none is
    farther than R, so that a pair found first leaves few to compare.

    Parameters
    ----------
    points : ndarray, shape (m, n)

    Returns
    -------
    float
    """
    depths = squared_distances(points, points.mean(axis=0))
    found = squared_distances(points, points[depths.argmax()]).max()
    least = max(math.sqrt(found) - math.sqrt(depths.max()), 0.0)
    kept = np.unique(points[depths >= least**2 * (1.0 - 1e-9)], axis=0)
    return float(max(squared_distances(kept, point).max() for point in kept))


def dual_value(points, weights):
    """Dual value Phi(u) = sum_i u_i |a_i - A u|^2 (report eqs. 19 and 22).

    Equal to u'z - u'A'Au with z_i = |a_i|^2 on the simplex, but free of the
    cancellation of that form.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    weights : ndarray, shape (m,)
        Nonnegative, sum 1.

    Returns
    -------
    float
        gamma, in squared units of the data; a lower bound on r*^2.
    """
    origin, mean = _mean_from_origin(points, weights)
    return float(weights @ squared_distances(points, mean, origin))


def gradient(points, weights):
    """Gradient 2 A'A u - z of f = -Phi at u (report eq. 29).

    Parameters
    ----------
    points : ndarray, shape (m, n)
    weights : ndarray, shape (m,)

    Returns
    -------
    ndarray, shape (m,)
    """
    return 2.0 * (points @ (weights @ points)) - np.einsum("ij,ij->i", points, points)


def frank_wolfe_gap(points, weights):
    """Frank-Wolfe gap max_i |a_i - c|^2 - gamma at weights u (report eq. 35).

    It equals the duality gap of the MEB and bounds r*^2 - gamma.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    weights : ndarray, shape (m,)

    Returns
    -------
    float
    """
    origin, mean = _mean_from_origin(points, weights)
    distances = squared_distances(points, mean, origin)
    return float(distances.max() - weights @ distances)


def enclosing_radius(points, center):
    """Radius max_i |a_i - c| of the smallest ball about a center that holds all points.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    center : ndarray, shape (n,)

    Returns
    -------
    float
    """
    return math.sqrt(float(squared_distances(points, center).max()))


def beyond(distances, radius):
    """Which distances exceed a radius by more than a solver's last bits.

    A point that repeats a support point lies on the sphere, on either side of it by
    rounding; on the sphere is inside.

    Parameters
    ----------
    distances : ndarray
    radius : float

    Returns
    -------
    ndarray of bool
    """
    return distances > radius * (1.0 + ON_THE_SPHERE)


def kkt_residuals(points, weights, center, gamma):
    """Violations of the optimality conditions (report eqs. 12 to 25).

    Parameters
    ----------
    points : ndarray, shape (m, n)
    weights : ndarray, shape (m,)
        The multipliers u.
    center : ndarray, shape (n,)
    gamma : float
        The squared radius.

    Returns
    -------
    dict of str -> float
        Nonnegative, 0 where the condition holds; squared units of the data for
        feasibility and complementarity.
    """
    excess = squared_distances(points, center) - gamma
    outside = float(excess.max(initial=0.0))
    origin, mean = _mean_from_origin(points, weights)
    local = center if origin is None else center - origin
    return {
        "stationarity in c: |c 1'u - A u|": float(
            np.linalg.norm(local * weights.sum() - mean)
        ),
        "stationarity in gamma: |1 - 1'u|": abs(1.0 - float(weights.sum())),
        "primal feasibility: max(|a_i - c|^2 - gamma, 0)": outside,
        "dual feasibility: max(-u_i, 0)": max(-float(weights.min()), 0.0),
        "complementarity: max u_i ||a_i - c|^2 - gamma|": float(
            np.abs(weights * excess).max()
        ),
    }


# --- what a solver returns ---------------------------------------------------------


@dataclass
class Trace:
    """What a solver saw at each gap evaluation, row 0 being the start.

    The columns `kind` and `step` name the step that led to the row; they are
    "start" and NaN in row 0. `seconds` counts from the first evaluation and
    leaves out the bookkeeping of the trace itself.
    """

    gamma: list = field(default_factory=list)
    fw_gap: list = field(default_factory=list)
    away_gap: list = field(default_factory=list)
    radius: list = field(default_factory=list)
    kind: list = field(default_factory=list)
    step: list = field(default_factory=list)
    active: list = field(default_factory=list)
    seconds: list = field(default_factory=list)

    def append(self, gamma, fw_gap, away_gap, radius, kind, step, active, seconds):
        """Add one row."""
        self.gamma.append(gamma)
        self.fw_gap.append(fw_gap)
        self.away_gap.append(away_gap)
        self.radius.append(radius)
        self.kind.append(kind)
        self.step.append(step)
        self.active.append(active)
        self.seconds.append(seconds)

    def __len__(self):
        return len(self.gamma)

    def to_frame(self):
        """The trace as a table.

        Returns
        -------
        pandas.DataFrame
            Columns iteration, gamma, fw_gap, away_gap, radius, kind, step, active,
            seconds; one row a gap evaluation.
        """
        import pandas as pd  # a quarter of a second that the ball does not need

        columns = {"iteration": np.arange(len(self))}
        columns |= dict(vars(self).items())
        return pd.DataFrame(columns)

    def relative_gaps(self):
        """FW gap / gamma at each gap evaluation; infinite where gamma is 0.

        Returns
        -------
        ndarray, shape (iterations + 1,)
        """
        gamma, gap = np.array(self.gamma), np.array(self.fw_gap)
        relative = np.full(gamma.shape, math.inf)
        np.divide(gap, gamma, out=relative, where=gamma > 0.0)
        return relative

    def iterations_to(self, level):
        """Steps taken until FW gap / gamma is first at most a level.

        Parameters
        ----------
        level : float

        Returns
        -------
        int or None
            None when the trace never gets there.
        """
        reached = np.flatnonzero(self.relative_gaps() <= level)
        return int(reached[0]) if reached.size else None

    def linear_rate(self, above=1e-12, below=1e-3):
        """Factor an iteration and R2 of log gap on t; see `mebnb.solvers.rates.linear_rate`."""
        return linear_rate(self.relative_gaps(), above, below)

    def power_rate(self, above=1e-12, below=1e-1):
        """Exponent and R2 of log gap on log t; see `mebnb.solvers.rates.power_rate`."""
        return power_rate(self.relative_gaps(), above, below)


@dataclass(frozen=True, repr=False)
class Solution:
    """A ball that holds all points, and weights that bound how far it is from optimal.

    Attributes
    ----------
    center : ndarray, shape (n,)
        The center, the weighted mean of the support.
    radius : float
        The enclosing radius max_i |a_i - c|: every point lies inside.
    lower_bound : float
        sqrt(gamma), so that lower_bound <= r* <= radius.
    support : ndarray of int, shape (k,)
        Row numbers of the points with positive weight, ascending.
    weights : ndarray, shape (k,)
        Their weights, positive, sum 1.
    iterations : int
        Steps taken. The report counts gap evaluations, one more.
    converged : bool
        Whether the stopping rule was met (not a limit).
    message : str
        Why the solver stopped.
    passes : float
        Passes over the whole data.
    trace : Trace or None
    independent : bool
        Whether the solver promises an affinely independent support, at most n + 1
        points; `verify` then holds it to that. Frank-Wolfe makes no such promise.
    places : list of (str, int), or None
        Of points from files: file, and row in it, of each support point.
    """

    center: np.ndarray
    radius: float
    lower_bound: float
    support: np.ndarray
    weights: np.ndarray
    iterations: int
    converged: bool
    message: str
    passes: float = math.nan
    trace: Trace | None = None
    independent: bool = False
    places: list | None = None

    @classmethod
    def at_once(cls, **fields):
        """The solution of these fields, those with a default aside if they are left out.

        Field by field, as a frozen class sets them, takes twice as long: a twentieth of
        the whole call on small data.
        """
        solution = object.__new__(cls)
        object.__setattr__(solution, "__dict__", fields)
        return solution

    def distances(self, points):
        """Distances of points from the center.

        Parameters
        ----------
        points : array_like, path, table or Blocks; shape (m, n)
            As `minimum_enclosing_ball` takes them. Of a Dask array or frame the answer
            is a lazy Dask array with the same row chunks; of an array on a device it is
            one of the same library on that device; what lies on disk is read block by
            block.

        Returns
        -------
        ndarray, dask.array.Array or array on a device, shape (m,)

        Raises
        ------
        TypeError, ValueError
            As `minimum_enclosing_ball` does, and for another number of columns than the
            center has.
        """
        if on_a_device(points):
            return distances_there(points, self.center)
        return by_blocks(self._distances, points)

    def _distances(self, points):
        points = check_points(points)
        if points.shape[1] != len(self.center):
            raise ValueError(
                f"points must have {len(self.center)} columns, found {points.shape[1]}"
            )
        return np.sqrt(squared_distances(points, self.center))

    @property
    def relative_error(self):
        """radius / lower_bound - 1, an upper bound on radius / r* - 1."""
        if self.radius == 0.0:
            return 0.0
        if self.lower_bound == 0.0:
            return math.inf
        return self.radius / self.lower_bound - 1.0

    def _rows(self):
        return [
            ("radius", f"{self.radius:.8g}"),
            ("lower bound", f"{self.lower_bound:.8g}"),
            ("radius / lower bound - 1", f"{self.relative_error:.1e}"),
            ("center", f"{self.center.shape[0]} coordinates"),
            ("support", f"{self.support.shape[0]} points"),
            ("iterations", str(self.iterations)),
            ("converged", str(self.converged)),
            ("message", self.message),
        ]

    def __repr__(self):
        body = ", ".join(f"{name} {value}" for name, value in self._rows()[:3])
        state = "converged" if self.converged else "not converged"
        return (
            f"Solution({body}, {self.support.shape[0]} support points, "
            f"{self.iterations} iterations, {state})"
        )

    def _repr_html_(self):
        rows = "".join(
            f'<tr><th scope="row">{name}</th><td>{value}</td></tr>'
            for name, value in self._rows()
        )
        return f"<table><tbody>{rows}</tbody></table>"
