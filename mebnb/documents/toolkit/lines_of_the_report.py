"""Algorithms 1 to 3 of the report line by line, so that any line can be exchanged.

These runs exist to be broken: a check puts a printed line in the place of the right
one and looks at the ball that comes out. The solvers of the package are
`mebnb.solvers.frank_wolfe` and `mebnb.solvers.core_sets`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from types import SimpleNamespace

import numpy as np

from mebnb.documents.toolkit.clouds import (
    TRIANGLE,
    cloud,
    distances2,
    farthest_from,
    gradient_of_f,
    off_simplex,
    over,
    pair_weights,
    phi,
    reach,
    small_clouds,
    vertex,
)

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
    gap: Callable = lambda g, u, s: float(g @ (u - vertex(len(u), s)))  # 5
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
        g = gradient_of_f(points, u)
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
        g = gradient_of_f(points, u)
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
    gamma: Callable = phi  # 6, 17
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
        delta = lines.delta(float(distances2(points[[k]], c)[0]), gamma)
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


@cache
def starts():
    """Pairs (cloud, u^0) with Algorithm 3's start, the tight one of Lemma 3.1 too."""
    rng = np.random.default_rng(4)
    some = [*small_clouds(), *(cloud(rng.normal(size=(5, 2))) for _ in range(40))]
    pairs = [(k, pair_weights(k.points)) for k in some]
    # The pair found from the first point may be the second and the third.
    return (*pairs, (cloud(TRIANGLE), np.array([0.0, 0.5, 0.5, 0.0])))


# --- how wrong the outcome is ------------------------------------------------------


BREAKDOWNS = (ArithmeticError, IndexError, KeyError, ValueError)


def shortfall(run_algorithm, lines):
    """How far the runs stay from the smallest balls, and their weights off the simplex.

    Parameters
    ----------
    run_algorithm : callable
        `run_away_step` or `run_blended`.
    lines : AwayLines or BlendedLines

    Returns
    -------
    float
        The largest over the small clouds of the relative distance between the dual
        value and r*^2 plus the violation of the simplex and the mismatch between the
        active set and the support; infinite for a run that breaks down.
    """

    @over(small_clouds)
    def off(lines, k):
        try:
            with np.errstate(all="ignore"):
                run = run_algorithm(k.points, lines, limit=600)
                missing = abs(phi(k.points, run.u) / k.radius**2 - 1.0)
        except BREAKDOWNS:
            return math.inf
        return missing + off_simplex(run.u) + _mismatch(run.active, run.u)

    return off(lines)


def _mismatch(indices, u):
    """Number of indices that are not in the support of u, or the other way round."""
    return len(indices ^ set(np.flatnonzero(u > 0).tolist()))


@over(small_clouds)
def core_set_faults(lines, k, eps=0.02):
    """What is wrong with the balls of Algorithm 3, as `shortfall` says it.

    Points outside sqrt((1 + delta) gamma), a radius above (1 + eps) r*, weights off the
    simplex, c different from A u, gamma from Phi(u), the core set from the support.
    """
    try:
        with np.errstate(all="ignore"):
            run = run_core_set(k.points, lines, eps, limit=600)
            radius = math.sqrt((1 + run.delta) * run.gamma)
            return (
                reach(k.points, run.c) / radius - 1,
                radius / ((1 + eps) * k.radius) - 1,
                off_simplex(run.u),
                np.abs(run.c - run.u @ k.points).max(),
                abs(run.gamma - phi(k.points, run.u)),
                _mismatch(run.core, run.u),
            )
    except BREAKDOWNS:
        return math.inf
