"""Frank-Wolfe on the dual of the minimum enclosing ball: one loop, four directions.

The loop minimises f = -Phi over the unit simplex. With D_ij = |a_i - a_j|^2 the dual
value is Phi(u) = u'Du / 2 and the squared distance of a point from the center c = A u
is d_i = (D u)_i - Phi(u). So the loop keeps the vector D u and the columns of D that
belong to atoms it has met: a step among known atoms costs no pass over the data, a
step to a new atom costs one, nothing depends on where the origin is, and no m x m
matrix is ever formed.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.linalg.blas import daxpy, dscal

from mebnb.solvers.balls import Solution, Trace, squared_distances, summing_origin
from mebnb.solvers.inputs import check_limits, check_points, check_weights, row_blocks
from mebnb.solvers.steps import Line, step_rule

__all__ = ["State", "away_step", "blended_pairwise", "frank_wolfe", "pairwise"]

# Kept columns of D may take this many bytes; the least recently used go first.
KEPT_BYTES = 256 * 1024**2
# After this many steps D u is recomputed from the center, which removes its drift.
REFRESH_EVERY = 500
# Outside of this range squared distances overflow or lose digits.
SMALLEST_SQUARE, LARGEST_SQUARE = 1e-280, 1e280

STARTS = ("first", "pair", "uniform")


@dataclass(frozen=True)
class State:
    """What a callback is shown at each gap evaluation.

    Attributes
    ----------
    iteration : int
    gamma, fw_gap, away_gap, radius : float
        Dual value, both gaps (squared units) and enclosing radius.
    kind : str
        The step that led here: "start", "FW", "away", "pairwise", "drop", "plus",
        "minus".
    step : float
        Its length; NaN at the start.
    support : ndarray of int, shape (k,)
    weights : ndarray, shape (k,)
    center : ndarray, shape (n,)
    farthest : int
        The point that linear minimisation chooses.
    """

    iteration: int
    gamma: float
    fw_gap: float
    away_gap: float
    radius: float
    kind: str
    step: float
    support: np.ndarray
    weights: np.ndarray
    center: np.ndarray
    farthest: int


# Inner products over the active set are summed in a fixed order. Iteration counts hang
# on the last bit where two atoms tie, and so they are the same on every machine.


@njit(cache=True)
def _on_active(product, weights, active):
    """gamma = u'Du / 2 and the positions of the nearest and the farthest active atom."""
    total, lowest, highest = 0.0, 0, 0
    for k in range(active.size):
        value = product[active[k]]
        total += weights[active[k]] * value
        if value < product[active[lowest]]:
            lowest = k
        if value > product[active[highest]]:
            highest = k
    return 0.5 * total, lowest, highest


# --- the iterate -------------------------------------------------------------------


class _Columns:
    """Columns of D, one pass over the data each, the recent ones kept.

    Atom m, where it exists, is the uniform point 1/m (1, ..., 1) kept as an atom of
    its own: its D entries are mean squared distances over all points.

    Locations are counted from `origin`, which None puts at 0.
    """

    def __init__(self, points, with_uniform, origin):
        self.points = points
        self.origin = origin
        self.m = points.shape[0]
        self.size = self.m + with_uniform
        self.capacity = max(2, KEPT_BYTES // (8 * self.size))
        self.kept = OrderedDict()
        self.passes = 0
        if with_uniform:
            self.mean = self._mean()
            column = self.distances(self.mean)
            self.uniform_spread = float(column.mean())
            column += self.uniform_spread
            self.uniform = np.append(column, 2.0 * self.uniform_spread)

    def _mean(self):
        if self.origin is None:
            return self.points.mean(axis=0, dtype=np.float64)
        total = np.zeros(self.points.shape[1])
        for _, block in row_blocks(self.points):
            total += np.subtract(block, self.origin, dtype=np.float64).sum(axis=0)
        return total / self.m

    def distances(self, location):
        """Squared distances of all points from a location."""
        self.passes += 1
        return squared_distances(self.points, location, self.origin)

    def __contains__(self, atom):
        return atom in self.kept or atom == self.m

    def __getitem__(self, atom):
        if atom == self.m:
            return self.uniform
        if atom in self.kept:
            self.kept.move_to_end(atom)
            return self.kept[atom]
        self.keep(atom, self.distances(self.location(atom)))
        return self.kept[atom]

    def keep(self, atom, column):
        """Keep the squared distances of all points from a vertex's point."""
        if self.size > self.m:
            column = np.append(column, self.uniform[atom])
        if len(self.kept) >= self.capacity:
            self.kept.popitem(last=False)
        self.kept[atom] = column

    def location(self, atom):
        """The atom's point in R^n, from the origin."""
        if atom == self.m:
            return self.mean
        point = self.points[atom].astype(np.float64)
        return point if self.origin is None else point - self.origin

    def own_spread(self, atom):
        """Mean squared distance of an atom's points from its location; 0 for a vertex."""
        return self.uniform_spread if atom == self.m else 0.0

    def between(self, one, other):
        """Squared distance of two atoms' locations."""
        if one not in self:
            one, other = other, one
        if one in self:
            apart = float(self[one][other])
            return max(apart - self.own_spread(one) - self.own_spread(other), 0.0)
        return float(np.sum((self.location(one) - self.location(other)) ** 2))


class _Iterate:
    """Weights on atoms, D u, and the gaps that follow from them."""

    def __init__(self, columns, atoms, weights):
        self.columns = columns
        self.weights = np.zeros(columns.size)
        self.weights[atoms] = weights
        self._activate(atoms)
        self.fresh = atoms.size == 1
        if self.fresh:
            self.product = columns[int(atoms[0])].copy()
            self.look()
        else:
            self.recompute()

    def _activate(self, atoms):
        self.active = np.ascontiguousarray(atoms, dtype=np.int64)
        self.members = set(self.active.tolist())

    def recompute(self):
        """D u from the center: one pass, no drift; nothing to do where it is fresh."""
        if self.fresh:
            return
        self.weights[self.active] /= self.weights[self.active].sum()
        distances = self.columns.distances(self._location())
        if self.columns.size > self.columns.m:
            distances = np.append(distances, distances.mean())
        # d = D u - gamma, and gamma is the mean of d under u.
        gamma = 2.0 * _on_active(distances, self.weights, self.active)[0]
        self.product = distances + gamma
        self.fresh = True
        self.look()

    def look(self):
        """Refresh the dual value, both gaps, the farthest and the nearest atom."""
        product = self.product
        self.gamma, lowest, highest = _on_active(product, self.weights, self.active)
        self.farthest = int(product[: self.columns.m].argmax())
        self.reach = self.distance(self.farthest)
        self.nearest = int(self.active[lowest])
        self.farthest_active = int(self.active[highest])
        self.fw_gap = float(product[self.farthest]) - 2.0 * self.gamma
        self.away_gap = 2.0 * self.gamma - float(product[self.nearest])

    def distance(self, atom):
        """Squared distance from the center; for the uniform atom the mean over points."""
        return float(self.product[atom]) - self.gamma

    @property
    def radius(self):
        return math.sqrt(max(self.reach, 0.0))

    def _location(self):
        total = np.zeros(self.columns.points.shape[1])
        for atom in self.active:
            total += self.weights[atom] * self.columns.location(int(atom))
        return total

    def center(self):
        """The center A u, rounded to float64 where the points are."""
        origin, location = self.columns.origin, self._location()
        return location if origin is None else origin + location

    def round_center(self):
        """Let the FW gap and the radius be those about the rounded center.

        The dual value belongs to the weights and stays. Far from the origin the two
        differ, and the ball that is returned has the rounded one.
        """
        columns = self.columns
        if columns.origin is not None:
            distances = squared_distances(columns.points, self.center())
            columns.passes += 1
            self.farthest = int(distances.argmax())
            self.reach = float(distances[self.farthest])
            self.fw_gap = self.reach - self.gamma

    def line(self, towards, away, iteration):
        """The parabola along `towards` - `away`; None stands for the iterate itself."""
        columns, u = self.columns, self.weights
        if away is None:
            slope = self.distance(towards) - self.gamma
            curvature = self.distance(towards)  # the farthest point is a vertex
            largest = 1.0
        elif towards is None:
            slope = self.gamma - self.distance(away)
            curvature = self.distance(away) - columns.own_spread(away)
            rest = 1.0 - float(u[away])
            largest = float(u[away]) / rest if rest > 0.0 else math.inf
        else:
            slope = float(self.product[towards]) - float(self.product[away])
            curvature = columns.between(towards, away)
            largest = float(u[away])
        return Line(
            slope,
            max(curvature, 0.0),
            largest,
            iteration,
            partial(self._direction_norm2, towards, away),
            self.center,
        )

    def _direction_norm2(self, towards, away):
        """|towards - away|^2 in the space of the m weights."""
        m, vertices = self.columns.m, [v for v in (towards, away) if v is not None]
        if self.columns.size > m:
            difference = self._as_weights(towards) - self._as_weights(away)
            return float(np.sum(difference**2))
        if len(vertices) == 2:
            return 2.0 * (towards != away)
        others = self.weights[self.active[self.active != vertices[0]]]
        return float(np.sum(others**2) + (1.0 - self.weights[vertices[0]]) ** 2)

    def _as_weights(self, atom):
        """An atom, or None for the iterate, as a vector of m weights."""
        m = self.columns.m
        if atom is None:
            return self.weights[:m] + self._uniform_weight() / m
        if atom == m:
            return np.full(m, 1.0 / m)
        vector = np.zeros(m)
        vector[atom] = 1.0
        return vector

    def _uniform_weight(self):
        return float(self.weights[-1]) if self.columns.size > self.columns.m else 0.0

    def move(self, towards, away, step, drop):
        """Take the step; at most one pass over the data."""
        u = self.weights
        keep = 1.0
        if away is None:
            keep = 1.0 - step
        elif towards is None:
            keep = 1.0 + step
        if keep != 1.0:
            u[self.active] *= keep
        if towards is not None:
            u[towards] += step
        if away is not None:
            u[away] = 0.0 if drop else u[away] - step
        if keep == 0.0:
            self._activate(np.array([towards]))
        else:
            self._update_active(towards, away, drop)
        self._update_product(towards, away, step, keep)

    def _update_active(self, towards, away, drop):
        if drop:
            self.active = self.active[self.active != away]
            self.members.remove(away)
        if towards is not None and towards not in self.members:
            self.active = np.append(self.active, towards)
            self.members.add(towards)

    def _update_product(self, towards, away, step, keep):
        self.fresh = False
        both = towards is not None and away is not None
        if both and towards not in self.columns and away not in self.columns:
            self.recompute()
            return
        if keep != 1.0:
            self.product = dscal(keep, self.product)
        if towards is not None:
            self.product = daxpy(self.columns[towards], self.product, a=step)
        if away is not None:
            self.product = daxpy(self.columns[away], self.product, a=-step)
        self.look()

    def support(self):
        """Row numbers and weights over the points, the uniform atom spread out."""
        m = self.columns.m
        if self._uniform_weight() > 0.0:
            weights = self._as_weights(None)
            return np.arange(m), weights / weights.sum()
        rows = np.sort(self.active)
        weights = self.weights[rows]
        return rows, weights / weights.sum()

    def solution(self, iterations, converged, message, trace):
        """The ball, with radius and dual value recomputed from scratch."""
        self.recompute()
        self.round_center()
        support, weights = self.support()
        gamma = max(self.gamma, 0.0)
        return Solution(
            center=self.center(),
            radius=max(self.radius, math.sqrt(gamma)),
            lower_bound=math.sqrt(gamma),
            support=support,
            weights=weights,
            iterations=iterations,
            converged=converged,
            message=message,
            passes=float(self.columns.passes),
            trace=trace,
        )


# --- directions --------------------------------------------------------------------
# A direction rule sees the iterate and answers (kind, towards, away).


def _frank_wolfe_direction(iterate):
    return "FW", iterate.farthest, None


def _away_step_direction(iterate):
    if iterate.fw_gap >= iterate.away_gap:
        return "FW", iterate.farthest, None
    return "away", None, iterate.nearest


def _pairwise_direction(iterate):
    return "pairwise", iterate.farthest, iterate.nearest


def _blended_direction(margin):
    def choose(iterate):
        local = iterate.farthest_active
        apart = float(iterate.product[local]) - float(iterate.product[iterate.nearest])
        if apart >= iterate.fw_gap + margin:
            return "pairwise", local, iterate.nearest
        return "FW", iterate.farthest, None

    return choose


# --- the loop ----------------------------------------------------------------------


class Stop(NamedTuple):
    """When to stop: measure(iterate) <= tol; `name` is what messages call it."""

    measure: Callable
    tol: float
    name: str


def run(points, choose, stop, step, start, max_iter, time_limit, callback, trace):
    """The loop that every algorithm of this module and of `core_sets` shares.

    Parameters
    ----------
    choose : callable
        iterate -> (kind, towards, away): the direction.
    stop : Stop
    step, start, max_iter, time_limit, callback, trace
        As in `frank_wolfe`.

    Returns
    -------
    Solution
    """
    points = check_points(points)
    check_limits(stop.tol, max_iter, time_limit)
    rule = step_rule(step).prepare(points)
    iterate = _begin(points, start)
    record = Trace() if trace else None
    kind, length, iteration = "start", math.nan, 0
    began, aside = time.perf_counter(), 0.0
    while True:
        seconds = time.perf_counter() - began - aside
        if record is not None or callback is not None:
            if _report(iterate, iteration, kind, length, record, callback, seconds):
                converged, message = False, "stopped by the callback"
                break
            aside = time.perf_counter() - began - seconds
        if stop.measure(iterate) <= stop.tol:
            iterate.recompute()
            if stop.measure(iterate) <= stop.tol:
                converged, message = _at_the_stop(iterate, stop)
                break
        if iteration >= max_iter:
            converged, message = False, f"iteration limit {max_iter} reached"
            break
        if time_limit is not None and seconds > time_limit:
            converged, message = False, f"time limit {time_limit} s reached"
            break
        kind, towards, away = choose(iterate)
        line = iterate.line(towards, away, iteration)
        if line.slope <= 0.0:
            converged, message = False, "no descent direction left at working precision"
            break
        length = rule(line)
        drop = away is not None and length >= line.largest
        iterate.move(towards, away, length, drop)
        kind = "drop" if drop else kind
        iteration += 1
        if iteration % REFRESH_EVERY == 0:
            iterate.recompute()
    return iterate.solution(iteration, converged, message, record)


def _at_the_stop(iterate, stop):
    """Whether the ball about the rounded center meets the tolerance too, and a message."""
    iterate.round_center()
    reached = max(stop.measure(iterate), 0.0)
    if reached <= stop.tol:
        return True, f"{stop.name} {reached:.2e} <= {stop.tol:.6g}"
    return False, (
        f"{stop.name} {reached:.2e} > {stop.tol:.6g}, the least that rounding of the "
        "center to float64 allows"
    )


def _report(iterate, iteration, kind, length, record, callback, seconds):
    """Fill the trace and ask the callback; True when it wants to stop."""
    seen = iterate.gamma, iterate.fw_gap, iterate.away_gap, iterate.radius, kind, length
    if record is not None:
        record.append(*seen, iterate.active.size, seconds)
    if callback is None:
        return False
    state = State(
        iteration, *seen, *iterate.support(), iterate.center(), iterate.farthest
    )
    return bool(callback(state))


def absolute_gap(iterate):
    """FW gap, in squared units of the data."""
    return iterate.fw_gap


def relative_gap(iterate):
    """FW gap / gamma: Yildirim's delta+."""
    return _ratio(iterate.fw_gap, iterate.gamma)


def two_sided_gap(iterate):
    """max(delta+, delta-): the larger of both gaps over gamma."""
    return _ratio(max(iterate.fw_gap, iterate.away_gap), iterate.gamma)


def _ratio(gap, gamma):
    if gap <= 0.0:
        return 0.0
    return gap / gamma if gamma > 0.0 else math.inf


GAPS = {"absolute": absolute_gap, "relative": relative_gap}


def _gap_stop(gap, tol):
    if gap not in GAPS:
        raise ValueError(f"gap must be one of {', '.join(GAPS)}, found {gap!r}")
    return Stop(GAPS[gap], tol, f"{gap} gap")


# --- arguments ---------------------------------------------------------------------


def _begin(points, start):
    """The first iterate; one pass tells whether squares can be trusted."""
    from_first = squared_distances(points, points[0].astype(np.float64))
    _check_spread(points, from_first)
    atoms, weights = _start(points, start, from_first)
    origin = summing_origin(points, math.sqrt(float(from_first.max())))
    uniform = bool(np.any(atoms == points.shape[0]))
    columns = _Columns(points, uniform, origin)
    columns.passes += 1
    columns.keep(0, from_first)
    return _Iterate(columns, atoms, weights)


def _check_spread(points, from_first):
    farthest = float(from_first.max())
    if SMALLEST_SQUARE <= farthest <= LARGEST_SQUARE:
        return
    origin = points[0].astype(np.float64)
    spread = max(float(np.abs(block - origin).max()) for _, block in row_blocks(points))
    if spread > 0.0:
        raise ValueError(
            f"points differ by up to {spread:.0e} in a coordinate, where squared "
            "distances overflow or vanish; scale them, or use minimum_enclosing_ball, "
            "which does"
        )


def _start(points, start, from_first):
    """Atoms and weights to begin with; atom m is the uniform point."""
    m = points.shape[0]
    if isinstance(start, str):
        if start == "first":
            return np.array([0]), np.array([1.0])
        if start == "pair":
            return _pair(points, from_first)
        if start == "uniform":
            return np.array([m]), np.array([1.0])
    elif isinstance(start, Solution):
        return check_weights(start.support, start.weights, m)
    elif isinstance(start, tuple) and len(start) == 2:
        return check_weights(*start, m)
    raise ValueError(
        f"start must be one of {', '.join(STARTS)}, a Solution or (indices, weights), "
        f"found {start!r}"
    )


def _pair(points, from_first):
    """p farthest from the first point, q farthest from p, half the weight each."""
    p = int(from_first.argmax())
    q = int(squared_distances(points, points[p].astype(np.float64)).argmax())
    if p == q:
        return np.array([p]), np.array([1.0])
    return np.array([p, q]), np.array([0.5, 0.5])


# --- the algorithms ----------------------------------------------------------------


# fmt: off
def frank_wolfe(
    points, step="exact", start="first", gap="absolute", tol=1e-3, max_iter=1000, *,
    time_limit=None, callback=None, trace=True,
):
    """Frank-Wolfe: move towards the farthest point (report eqs. 30 to 34).

    Parameters
    ----------
    points : array_like, shape (m, n)
        One point a row.
    step : str or StepRule
        "exact", "short", "diminishing", "golden", "armijo" (see `mebnb.solvers.steps`).
    start : str, Solution or (indices, weights)
        "first" vertex, farthest "pair", or "uniform" (the uniform point kept as an
        extra atom, as in the slides); a Solution or weights for a warm start.
    gap : str
        "absolute": stop at FW gap <= tol (squared units of the data);
        "relative": stop at FW gap / gamma <= tol.
    tol : float
        Tolerance on that gap.
    max_iter : int
        Most steps taken; 1000 is the report's limit.
    time_limit : float or None
        Seconds.
    callback : callable or None
        Called with a `State` at each gap evaluation; a true answer stops.
    trace : bool
        Keep a `Trace`.

    Returns
    -------
    Solution
        With radius and lower bound recomputed from the support at the end.

    Raises
    ------
    ValueError, TypeError
        For senseless arguments, and for points whose squared distances overflow or
        vanish.

    Examples
    --------
    >>> square = [[0, 0], [2, 0], [2, 2], [0, 2]]
    >>> round(frank_wolfe(square, start="pair").radius ** 2, 12)
    2.0
    """
    return run(points, _frank_wolfe_direction, _gap_stop(gap, tol), step, start, max_iter,
               time_limit, callback, trace)


def away_step(
    points, step="exact", start="first", gap="absolute", tol=1e-3, max_iter=1000, *,
    time_limit=None, callback=None, trace=True,
):
    """Away-step Frank-Wolfe (report Algorithm 1, ASFW).

    Moves towards the farthest point or away from the nearest active one, whichever
    promises more; the largest away step drops that atom.

    Parameters
    ----------
    points : array_like, shape (m, n)
        One point a row.
    step : str or StepRule
        "exact", "short", "diminishing", "golden", "armijo" (see `mebnb.solvers.steps`).
    start : str, Solution or (indices, weights)
        "first" vertex, farthest "pair", or "uniform" (the uniform point kept as an
        extra atom, as in the slides); a Solution or weights for a warm start.
    gap : str
        "absolute": stop at FW gap <= tol (squared units of the data);
        "relative": stop at FW gap / gamma <= tol.
    tol : float
        Tolerance on that gap.
    max_iter : int
        Most steps taken; 1000 is the report's limit.
    time_limit : float or None
        Seconds.
    callback : callable or None
        Called with a `State` at each gap evaluation; a true answer stops.
    trace : bool
        Keep a `Trace`.

    Returns
    -------
    Solution
        With radius and lower bound recomputed from the support at the end.

    Raises
    ------
    ValueError, TypeError
        For senseless arguments, and for points whose squared distances overflow or
        vanish.

    References
    ----------
    S. Lacoste-Julien and M. Jaggi, Advances in Neural Information Processing
    Systems 28 (2015), 496-504.
    """
    return run(points, _away_step_direction, _gap_stop(gap, tol), step, start, max_iter,
               time_limit, callback, trace)


def pairwise(
    points, step="exact", start="first", gap="absolute", tol=1e-3, max_iter=1000, *,
    time_limit=None, callback=None, trace=True,
):
    """Pairwise Frank-Wolfe (slides Algorithm 1, PFW).

    Moves weight from the nearest active point to the farthest point.

    Parameters
    ----------
    points : array_like, shape (m, n)
        One point a row.
    step : str or StepRule
        "exact", "short", "diminishing", "golden", "armijo" (see `mebnb.solvers.steps`).
    start : str, Solution or (indices, weights)
        "first" vertex, farthest "pair", or "uniform" (the uniform point kept as an
        extra atom, as in the slides); a Solution or weights for a warm start.
    gap : str
        "absolute": stop at FW gap <= tol (squared units of the data);
        "relative": stop at FW gap / gamma <= tol.
    tol : float
        Tolerance on that gap.
    max_iter : int
        Most steps taken; 1000 is the report's limit.
    time_limit : float or None
        Seconds.
    callback : callable or None
        Called with a `State` at each gap evaluation; a true answer stops.
    trace : bool
        Keep a `Trace`.

    Returns
    -------
    Solution
        With radius and lower bound recomputed from the support at the end.

    Raises
    ------
    ValueError, TypeError
        For senseless arguments, and for points whose squared distances overflow or
        vanish.

    References
    ----------
    S. Lacoste-Julien and M. Jaggi, Advances in Neural Information Processing
    Systems 28 (2015), 496-504.
    """
    return run(points, _pairwise_direction, _gap_stop(gap, tol), step, start, max_iter,
               time_limit, callback, trace)


def blended_pairwise(
    points, step="exact", start="first", gap="absolute", tol=1e-3, max_iter=1000, *,
    margin=0.0, time_limit=None, callback=None, trace=True,
):
    """Blended pairwise conditional gradients (report Algorithm 2, BPFW; slides BPCG).

    Moves weight between active points while their spread of distances is at least
    the FW gap plus `margin`, else towards the farthest point.

    Parameters
    ----------
    points : array_like, shape (m, n)
        One point a row.
    step : str or StepRule
        "exact", "short", "diminishing", "golden", "armijo" (see `mebnb.solvers.steps`).
    start : str, Solution or (indices, weights)
        "first" vertex, farthest "pair", or "uniform" (the uniform point kept as an
        extra atom, as in the slides); a Solution or weights for a warm start.
    gap : str
        "absolute": stop at FW gap <= tol (squared units of the data);
        "relative": stop at FW gap / gamma <= tol.
    tol : float
        Tolerance on that gap.
    max_iter : int
        Most steps taken; 1000 is the report's limit.
    margin : float
        In squared units of the data; the slides' code had 1e-5.
    time_limit : float or None
        Seconds.
    callback : callable or None
        Called with a `State` at each gap evaluation; a true answer stops.
    trace : bool
        Keep a `Trace`.

    Returns
    -------
    Solution
        With radius and lower bound recomputed from the support at the end.

    Raises
    ------
    ValueError, TypeError
        For senseless arguments, and for points whose squared distances overflow or
        vanish.

    References
    ----------
    K. K. Tsuji, K. Tanaka and S. Pokutta, Proceedings of Machine Learning Research
    162 (2022), 21864-21883.
    """
    return run(points, _blended_direction(margin), _gap_stop(gap, tol), step, start,
               max_iter, time_limit, callback, trace)
# fmt: on
