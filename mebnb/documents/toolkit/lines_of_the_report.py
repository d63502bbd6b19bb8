"""Algorithms 1 to 3 of the report line by line, so that any line can be exchanged.

These runs exist to be broken: a check puts a printed line in the place of the right
one and looks at the ball that comes out. They are for clouds of a few points, whose
smallest ball `smallest_ball` finds by trying every support. The solvers of the
package are `mebnb.solvers.frank_wolfe` and `mebnb.solvers.core_sets`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from types import SimpleNamespace

import numpy as np

from mebnb.documents.toolkit.clouds import ball_by_enumeration
from mebnb.solvers.balls import dual_value, frank_wolfe_gap, gradient, squared_distances

# --- small clouds with a known smallest ball ---------------------------------------


def cloud(points):
    """Points with everything the equations speak of.

    Parameters
    ----------
    points : array_like, shape (m, n)

    Returns
    -------
    types.SimpleNamespace
        `points` (m, n), `A` its transpose, `z`, and the optimum `center`, `radius`,
        `weights` found without any solver.
    """
    points = np.asarray(points, dtype=float)
    ball = ball_by_enumeration(points)
    return SimpleNamespace(
        points=points,
        A=points.T,
        z=np.sum(points**2, axis=1),
        m=points.shape[0],
        n=points.shape[1],
        center=ball.center,
        radius=ball.radius,
        weights=ball.weights,
    )


@lru_cache(maxsize=1)
def clouds():
    """Six small clouds: random ones, one with m < n, an obtuse triangle."""
    rng = np.random.default_rng(20)
    shapes = [(5, 2), (6, 3), (7, 2), (4, 3), (3, 5)]
    return tuple(cloud(rng.normal(size=shape)) for shape in shapes) + (
        cloud([[0.0, 0.0], [4.0, 0.0], [1.0, 0.5]]),
    )


@lru_cache(maxsize=1)
def gaussian_cloud():
    """Sixty normal points in R^5, large enough for drop steps and slow tails."""
    return np.random.default_rng(7).normal(size=(60, 5))


def random_weights(m, count, seed=3):
    """Points of the simplex, most of them on some face.

    Parameters
    ----------
    m, count, seed : int

    Returns
    -------
    ndarray, shape (count, m)
    """
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=(count, m)) * (rng.random((count, m)) < 0.7)
    weights[weights.sum(axis=1) == 0.0] = 1.0
    return weights / weights.sum(axis=1, keepdims=True)


def phi_of(A, z, u):
    """Phi(u) = u'z - |Au|^2 as (19) has it."""
    return z @ u - (A @ u) @ (A @ u)


def grad_of(A, z, u):
    """The gradient 2 A'A u - z of f = -Phi as (29) has it."""
    return 2 * A.T @ (A @ u) - z


def off_simplex(u):
    """Violation of sum 1 and of the sign."""
    return abs(float(u.sum()) - 1.0) + max(0.0, -float(u.min()))


def farthest_from(points, center):
    """Index of the point farthest from a center."""
    return int(np.argmax(squared_distances(points, center)))


def step_to_boundary(contains, x, d):
    """Largest alpha with x + alpha d in a convex set, by bisection from 64."""
    low, high = 0.0, 64.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if contains(x + middle * d):
            low = middle
        else:
            high = middle
    return low


def vertex(m, index):
    """Unit vector e_index of R^m."""
    unit = np.zeros(m)
    unit[index] = 1.0
    return unit


# --- line searches on q(alpha) = curvature alpha^2 + slope alpha over [0, upper] ------


def line_minimum(curvature, slope, upper):
    """Minimiser of q over [0, upper], convex or not.

    Parameters
    ----------
    curvature, slope, upper : float

    Returns
    -------
    float
    """
    candidates = [0.0, upper]
    if curvature > 0 and 0 < -slope / (2 * curvature) < upper:
        candidates.append(-slope / (2 * curvature))
    return min(candidates, key=lambda alpha: curvature * alpha**2 + slope * alpha)


def golden_section(curvature, slope, upper, compare_end=True, tolerance=1e-6):
    """Golden section search; without the comparison it can never return `upper`."""
    ratio = (math.sqrt(5.0) - 1.0) / 2.0

    def q(alpha):
        return curvature * alpha**2 + slope * alpha

    low, high = 0.0, upper
    while high - low > tolerance:
        inner, outer = high - ratio * (high - low), low + ratio * (high - low)
        if q(inner) < q(outer):
            high = outer
        else:
            low = inner
    middle = 0.5 * (low + high)
    return upper if compare_end and q(upper) <= q(middle) else middle


def armijo(curvature, slope, upper, first=0, share=0.1, factor=0.5):
    """First alpha = factor^t upper, t = first, first + 1, ..., with enough decrease."""
    alpha = upper * factor**first
    while curvature * alpha**2 + slope * alpha > share * alpha * slope:
        alpha *= factor
        if alpha < 1e-14:
            return 0.0
    return alpha


# --- Algorithm 1 -------------------------------------------------------------------


@dataclass(frozen=True)
class AwayLines:
    """Algorithm 1 as it must read; g is the gradient of f = -Phi."""

    start: Callable = lambda m: vertex(m, 0)  # 1
    towards: Callable = lambda g: int(np.argmin(g))  # 3
    away: Callable = lambda g, active: max(active, key=lambda i: g[i])  # 4
    gap: Callable = lambda g, u, s: float(g @ u - g[s])  # 5
    prefer_towards: Callable = lambda towards, away: towards >= away  # 6
    towards_max: Callable = lambda: 1.0  # 7
    away_max: Callable = lambda weight: weight / (1.0 - weight)  # 9
    search: Callable = line_minimum  # 11, given f along u + alpha d
    update: Callable = lambda u, d, alpha: u + alpha * d  # 12
    active: Callable = lambda u, before: set(np.flatnonzero(u > 0).tolist())  # 13


PLAIN = replace(AwayLines(), prefer_towards=lambda towards, away: True)
"""Frank-Wolfe without away steps."""


def with_rule(rule):
    """For `replace`: the step is rule(t), cut at the largest one."""
    counter = itertools.count()
    return {"search": lambda curvature, slope, upper: min(rule(next(counter)), upper)}


def run_away_step(points, lines=AwayLines(), eps=1e-9, limit=3000):
    """Algorithm 1.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    lines : AwayLines
    eps : float
        Bound on the absolute gap.
    limit : int

    Returns
    -------
    types.SimpleNamespace
        `u`, `active`, `steps`, `kinds`, `alphas` and the `gaps` at each evaluation.
    """
    m = len(points)
    u = lines.start(m)
    active = set(np.flatnonzero(u).tolist())
    run = SimpleNamespace(kinds=[], alphas=[], gaps=[])
    for _ in range(limit):
        g = gradient(points, u)
        s, v = lines.towards(g), lines.away(g, active)
        run.gaps.append(lines.gap(g, u, s))
        if run.gaps[-1] <= eps:
            break
        d, upper, kind = vertex(m, s) - u, lines.towards_max(), "towards"
        if not lines.prefer_towards(run.gaps[-1], float(g[v] - g @ u)):
            d, upper, kind = u - vertex(m, v), lines.away_max(float(u[v])), "away"
        alpha = lines.search(*_along(points, g, d), upper)
        u = lines.update(u, d, alpha)
        if kind == "away" and alpha == upper:
            kind = "drop"
            u[v] = 0.0 if abs(u[v]) < 1e-12 else u[v]  # what rounding leaves of 0
        active = lines.active(u, active)
        run.kinds.append(kind)
        run.alphas.append(alpha)
    run.u, run.active, run.steps = u, active, len(run.kinds)
    return run


def _along(points, g, d):
    """Curvature and slope of f(u + alpha d) - f(u)."""
    moved = d @ points
    return float(moved @ moved), float(g @ d)


# --- Algorithm 2 -------------------------------------------------------------------


@dataclass(frozen=True)
class BlendedLines:
    """Algorithm 2 as it must read; d = away - towards and the update is u - alpha d."""

    start: Callable = lambda m: vertex(m, 0)  # 1
    away: Callable = lambda g, active: max(active, key=lambda i: g[i])  # 3
    local: Callable = lambda g, active: min(active, key=lambda i: g[i])  # 4
    globally: Callable = lambda g: int(np.argmin(g))  # 5
    prefer_pair: Callable = lambda pair, towards: pair >= towards  # 6
    pair_max: Callable = lambda weight: weight  # 8
    pair_search: Callable = line_minimum  # 9, given f along u - alpha d
    after_pair: Callable = lambda active, a, alpha, upper: (  # 10 to 14
        active if alpha < upper else active - {a}
    )
    search: Callable = line_minimum  # 17, given f along u - alpha d
    after_towards: Callable = lambda active, w, alpha: (  # 18
        {w} if alpha == 1.0 else active | {w}
    )
    update: Callable = lambda u, d, alpha: u - alpha * d  # 20


def run_blended(points, lines=BlendedLines(), eps=1e-9, limit=3000):
    """Algorithm 2, stopped at gap <= eps.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    lines : BlendedLines
    eps : float
        Bound on the absolute gap.
    limit : int

    Returns
    -------
    types.SimpleNamespace
        As of `run_away_step`; `outside` counts pairwise steps toward an atom
        that was not active (swap steps).
    """
    m = len(points)
    u = lines.start(m)
    active = set(np.flatnonzero(u).tolist())
    run = SimpleNamespace(kinds=[], alphas=[], gaps=[], outside=0)
    for _ in range(limit):
        g = gradient(points, u)
        a, s, w = lines.away(g, active), lines.local(g, active), lines.globally(g)
        run.gaps.append(float(g @ u - g.min()))
        if run.gaps[-1] <= eps:
            break
        if lines.prefer_pair(float(g[a] - g[s]), float(g @ u - g[w])):
            d, upper = vertex(m, a) - vertex(m, s), lines.pair_max(float(u[a]))
            alpha = lines.pair_search(*_along(points, g, -d), upper)
            run.outside += s not in active
            kind = "descent" if alpha < upper else "drop"
            active = lines.after_pair(active | {s}, a, alpha, upper)
        else:
            d, kind = u - vertex(m, w), "towards"
            alpha = lines.search(*_along(points, g, -d), 1.0)
            active = lines.after_towards(active, w, alpha)
        u = lines.update(u, d, alpha)
        if kind == "drop" and abs(u[a]) < 1e-12:
            u[a] = 0.0
        run.kinds.append(kind)
        run.alphas.append(alpha)
    run.u, run.active, run.steps = u, active, len(run.kinds)
    return run


# --- Algorithm 3 -------------------------------------------------------------------


@dataclass(frozen=True)
class CoreLines:
    """Algorithm 3 as it must read, one function a line."""

    first: Callable = lambda points, u: farthest_from(points, points[0])  # 1
    second: Callable = lambda points, u, p: farthest_from(points, points[p])  # 1
    start: Callable = lambda m, p, q: 0.5 * vertex(m, p) + 0.5 * vertex(m, q)  # 2, 3
    core: Callable = lambda p, q: {p, q}  # 4
    center: Callable = lambda points, u: u @ points  # 5
    gamma: Callable = dual_value  # 6, 17
    farthest: Callable = lambda points, c, initial: farthest_from(points, c)  # 7, 18
    delta: Callable = lambda distance, gamma: distance / gamma - 1.0  # 8, 19
    go_on: Callable = lambda delta, eps: delta > (1.0 + eps) ** 2 - 1.0  # 10
    alpha: Callable = lambda delta: delta / (2.0 * (1.0 + delta))  # 12
    weights: Callable = lambda u, alpha, unit: (1 - alpha) * u + alpha * unit  # 14
    shift: Callable = lambda c, alpha, point: (1 - alpha) * c + alpha * point  # 15
    grow: Callable = lambda core, k: core | {k}  # 16


def run_core_set(points, lines=CoreLines(), eps=1e-2, limit=3000):
    """Algorithm 3.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    lines : CoreLines
    eps : float
        The ball may be larger than the smallest one by the factor 1 + eps.
    limit : int

    Returns
    -------
    types.SimpleNamespace
        `u`, `c`, `core`, `gamma`, `delta`, `steps`, and `history`: at each
        evaluation (u, c, gamma, delta, core, farthest index).
    """
    m = len(points)
    none = np.zeros(m)
    p = lines.first(points, none)
    q = lines.second(points, none, p)
    u, core = lines.start(m, p, q), lines.core(p, q)
    c = initial = lines.center(points, u)
    run = SimpleNamespace(history=[])
    for _ in range(limit):
        gamma = lines.gamma(points, u)
        k = lines.farthest(points, c, initial)
        delta = lines.delta(float(np.sum((points[k] - c) ** 2)), gamma)
        run.history.append((u, c, gamma, delta, core, k))
        if not lines.go_on(delta, eps):
            break
        alpha = lines.alpha(delta)
        u = lines.weights(u, alpha, vertex(m, k))
        c = lines.shift(c, alpha, points[k])
        core = lines.grow(core, k)
    run.u, run.c, run.core, run.gamma, run.delta = u, c, core, gamma, delta
    run.steps = len(run.history) - 1
    return run


# p = 0 and q = (1/2, sqrt(3)/2) may be the pair found from (1, 0): the worst start.
RHOMBUS = ((1.0, 0.0), (0.0, 0.0), (0.5, math.sqrt(0.75)), (0.5, -math.sqrt(0.75)))


@lru_cache(maxsize=1)
def starts():
    """Pairs (cloud, u^0) with Algorithm 3's start, the tight rhombus among them."""
    rng = np.random.default_rng(4)
    some = [*clouds(), *(cloud(rng.normal(size=(5, 2))) for _ in range(40))]
    pairs = [(k, run_core_set(k.points, eps=1.0).history[0][0]) for k in some]
    return (*pairs, (cloud(RHOMBUS), np.array([0.0, 0.5, 0.5, 0.0])))


def relative_gap(points, u):
    """delta = gap / Phi(u)."""
    return frank_wolfe_gap(points, u) / dual_value(points, u)


# --- how wrong the outcome is ------------------------------------------------------


def shortfall(run_algorithm, lines, some_clouds=None):
    """How far the runs stay from the smallest balls, and their weights off the simplex.

    Parameters
    ----------
    run_algorithm : callable
        `run_away_step` or `run_blended`.
    lines : AwayLines or BlendedLines
    some_clouds : iterable or None
        None for `clouds()`.

    Returns
    -------
    float
        The largest over the clouds of the relative distance between the dual value
        and r*^2 plus the violation of the simplex and the mismatch between the active
        set and the support; infinite for a run that breaks down.
    """
    worst = 0.0
    for item in clouds() if some_clouds is None else some_clouds:
        try:
            with np.errstate(all="ignore"):
                run = run_algorithm(item.points, lines, limit=600)
                squared = item.radius**2
                off = abs(dual_value(item.points, run.u) - squared) / squared
                off += off_simplex(run.u)
        except (ArithmeticError, IndexError, KeyError, ValueError):
            return math.inf
        off += len(run.active ^ set(np.flatnonzero(run.u > 0).tolist()))
        worst = max(worst, off if math.isfinite(off) else math.inf)
    return worst


def core_set_faults(lines, eps=0.02, some_clouds=None):
    """What is wrong with the balls of Algorithm 3, summed over the clouds.

    Parameters
    ----------
    lines : CoreLines
    eps : float
    some_clouds : iterable or None

    Returns
    -------
    float
        Points outside sqrt((1 + delta) gamma), a radius above (1 + eps) r*, weights
        off the simplex, c different from A u, gamma from Phi(u), the core set from
        the support; infinite for a run that breaks down.
    """
    total = 0.0
    for item in clouds() if some_clouds is None else some_clouds:
        try:
            with np.errstate(all="ignore"):
                run = run_core_set(item.points, lines, eps, limit=600)
                radius = math.sqrt((1 + run.delta) * run.gamma)
                reach = math.sqrt(squared_distances(item.points, run.c).max())
                total += max(0.0, reach / radius - 1)
                total += max(0.0, radius / ((1 + eps) * item.radius) - 1)
        except (ArithmeticError, IndexError, KeyError, ValueError):
            return math.inf
        total += off_simplex(run.u)
        total += float(np.abs(run.c - run.u @ item.points).max())
        total += abs(run.gamma - dual_value(item.points, run.u))
        total += len(run.core ^ set(np.flatnonzero(run.u > 0).tolist()))
    return total if math.isfinite(total) else math.inf
