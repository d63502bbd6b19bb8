"""The slides' Algorithms 3 and 4, MEB(A), line by line."""

from __future__ import annotations

import itertools
import math
from functools import partial
from types import SimpleNamespace

import numpy as np

from mebnb.documents.entries import Entry
from mebnb.documents.slides.algorithms import CLOUDS, line_of, missed
from mebnb.documents.toolkit import lines_of_the_slides as literal
from mebnb.documents.toolkit.clouds import (
    KITE,
    TRIANGLE,
    ball_by_enumeration,
    clouds,
    distances2,
    over,
    pair_start,
    phi,
    simplex_points,
    vertex,
    z_of,
)
from mebnb.documents.toolkit.lines_of_the_slides import CannotRun
from mebnb.documents.toolkit.symbols import (
    ball,
    damaged_formula,
    on_simplex,
    residual,
)

_slide = partial(Entry, document="slides")
symbolic = partial(_slide, kind="symbolic")


# --- measures ----------------------------------------------------------------------


@over(CLOUDS + (KITE, TRIANGLE))
def _meb_a(lines, points, eps=1e-8):
    """Algorithm 4: the optimum reached, all points inside, radius <= (1 + eps) r*."""
    try:
        run = literal.meb_a(points, eps, **lines)
    except CannotRun:
        return math.inf
    return missed(run, points), _not_a_bound(run, points, eps)


meb_a_line = line_of(_meb_a)


def _not_a_bound(run, points, eps):
    """Points outside, a radius above (1 + eps) r*, or a core set that is none."""
    best = ball_by_enumeration(points).radius
    farthest = math.sqrt(distances2(points, run.weights @ points).max())
    core = ball_by_enumeration(points[sorted(run.core)]).radius if run.core else 0.0
    return max(
        farthest / run.radius - 1.0,
        run.radius / best - (1.0 + eps),
        best / (1.0 + eps) - core,
    )


MORE_CLOUDS = (*CLOUDS, KITE, TRIANGLE, *clouds(33, 10, m=10))


@over(lambda: itertools.product(MORE_CLOUDS, (0.3, 0.1, 0.01, 0.001)))
def _guarantees(lines, points, eps):
    """The (1 + eps) ball and core set at several eps; the center is free."""
    run = literal.meb_a(points, eps, **lines)
    return _not_a_bound(run, points, eps), not run.finished


@over((*CLOUDS, KITE, TRIANGLE, *clouds(34, 40, m=8)))
def _start_is_right(form, points):
    """Algorithm 3 against its meaning: weights, bounds on r*, factor of Lemma 3.1."""
    start = SimpleNamespace(**form(points))
    best = ball_by_enumeration(points).radius
    distance = distances2(points, start.c)
    return (
        abs(start.u.sum() - 1.0),
        np.abs(start.u @ points - start.c).max(),
        abs(start.gamma - start.u @ distance),
        # gamma is a lower bound on r*^2 that misses it by a factor 3 at most,
        start.gamma / best**2 - 1.0,
        1.0 - 3.0 * start.gamma / best**2,
        # delta+ is what the ball about c^0 needs to hold all points,
        abs((1.0 + start.plus) * start.gamma - distance.max()),
        # delta- does the same for the nearest of the core set.
        abs((1.0 - start.minus) * start.gamma - distance[sorted(start.core)].min()),
        abs(start.delta - max(start.plus, start.minus)),
    )


def _algorithm_3(points, pair=pair_start, half=0.5, minus=lambda ratio: 1.0 - ratio):
    first, second = pair(points)
    u = half * vertex(len(points), first) + half * vertex(len(points), second)
    center = u @ points
    gamma = phi(points, u)
    distance = distances2(points, center)
    plus = distance.max() / gamma - 1.0 if gamma > 0.0 else math.inf
    down = minus(distance[[first, second]].min() / gamma) if gamma > 0.0 else 0.0
    return {
        "u": u,
        "c": center,
        "gamma": gamma,
        "core": {first, second},
        "plus": plus,
        "minus": down,
        "delta": max(plus, down),
    }


def _stationary(sign):
    """Residual of d phi/d lambda at the step.

    The weights move to (1 - sign lambda) u + sign lambda e_3; with d = |a_3 - Au|^2 and
    gamma = phi(u), delta = sign (d / gamma - 1).
    """

    def measure(form):
        s = ball()
        lam, d, gamma = s.sp.symbols("lambda d gamma", positive=True)
        value = s.Phi((1 - sign * lam) * s.u + sign * lam * s.unit[2])
        far = s.distances[2]
        parabola = s.phi + sign * lam * (far - s.phi) - lam**2 * far
        slope = sign * (d - gamma) - 2 * form(sign * (d / gamma - 1)) * d
        return residual(on_simplex(value - parabola), slope)

    return measure


@over(lambda: ((p, u) for p in CLOUDS for u in simplex_points(35, 20, len(p))))
def _best_minus_step(form, points, u):
    """phi on a fine grid of feasible minus steps against phi at the step taken."""
    distance = distances2(points, u @ points)
    nearest = int(distance.argmin())
    gamma = phi(points, u)

    def moved(lam):
        return (1.0 + lam) * u - lam * vertex(len(u), nearest)

    after = moved(form(1.0 - distance[nearest] / gamma, u[nearest]))
    largest = u[nearest] / (1.0 - u[nearest])
    best = max(phi(points, moved(t)) for t in np.linspace(0.0, largest, 201))
    return (best - phi(points, after)) / gamma, -after.min() - 1e-15


def _gain(sign):
    """Residual of the gain in phi of an unclipped step, in gamma and delta."""

    def measure(form):
        sp = ball().sp
        gamma, delta, lam = sp.symbols("gamma delta lambda", positive=True)
        # Along u + lambda (e - u): phi = gamma + lambda (d - gamma) - lambda^2 d, with
        # d = (1 + delta) gamma; along u + lambda (u - e) with d = (1 - delta) gamma.
        distance = (1 + sign * delta) * gamma
        value = gamma + sign * lam * (distance - gamma) - lam**2 * distance
        best = sp.solve(sp.diff(value, lam), lam)[0]
        return residual(value.subs(lam, best) - gamma - form(gamma, delta))

    return measure


# --- the lines ----------------------------------------------------------------------


def _stale_gamma(s):
    s.gamma[0] = phi(s.points, s.u[s.k])


def _first_gamma(s):
    s.gamma[s.k] = s.gamma[0]


def _point_number_k(s):
    if s.k > len(s.points):
        raise IndexError(f"there is no point number {s.k}")
    return s.k - 1


ENTRIES = [
    _slide(
        id="S-A3",
        place="Alg 3",
        statement=r"$\alpha = \mathrm{argmax}_i \|a^i - a^1\|^2$, $\beta = "
        r"\mathrm{argmax}_i \|a^i - a^\alpha\|^2$, $u^0_\alpha = u^0_\beta = 1/2$, "
        r"$c^0 = \sum_i u_i^0 a^i$, $\gamma^0 = \Phi(u^0)$, $\delta_0^+ = \|a^\kappa - "
        r"c^0\|^2/\gamma^0 - 1$, $\delta_0^- = 1 - \|a^\xi - c^0\|^2/\gamma^0$, "
        r"$\delta_0 = \max\{\delta_0^+, \delta_0^-\}$",
        measure=_start_is_right,
        true=_algorithm_3,
        spoiled={
            "second point farthest from the first": partial(
                _algorithm_3,
                pair=lambda p: (0, int(distances2(p, p[0]).argmax())),
            ),
            "weights one": partial(_algorithm_3, half=1.0),
            "sign of the lower delta": partial(
                _algorithm_3, minus=lambda ratio: ratio - 1.0 - 0.1
            ),
            "nearest point for the second": partial(
                _algorithm_3,
                pair=lambda p: (
                    pair_start(p)[0],
                    int(np.argsort(distances2(p, p[pair_start(p)[0]]))[1]),
                ),
            ),
        },
        corrected=r"All other $u_i^0$ are 0, which is not said; $\alpha$ is also the "
        "name of the weights in Algorithms 1 and 2.",
    ),
    meb_a_line(
        "delta",
        id="S-A4-choice",
        place="Alg 4, plus or minus",
        statement=r"Plus iteration when $\delta_k > \delta_k^-$, minus iteration "
        "otherwise.",
        spoiled={
            "delta is the smaller of the two": lambda s: min(s.plus[s.k], s.minus[s.k]),
            "always a minus iteration": lambda s: s.minus[s.k],
        },
    ),
    meb_a_line(
        "advance",
        id="S-A4-plus",
        place="Alg 4, plus iteration",
        statement=r"$\lambda^k \leftarrow \dots$, then $u^k \leftarrow "
        r"(1-\lambda^{k-1})u^{k-1} + \lambda^{k-1}e^\kappa$ with $k$ unchanged",
        verdict="LOST IN THE SCAN",
        printed=lambda s: s.k,
        spoiled={"advanced twice": lambda s: s.k + 2},
        corrected=r"$k \leftarrow k + 1$ stands between the two lines, as it does in "
        "the minus iteration.",
        witness="k = 0: the update reads lambda^{-1} and u^{-1}",
    ),
    meb_a_line(
        "plus_center",
        id="S-A4-kappa",
        place="Alg 4, plus iteration",
        statement=r"$c^k \leftarrow (1-\lambda^{k-1})c^{k-1} + \lambda^{k-1}a^k$, "
        r"$\mathcal{X}^k \leftarrow \mathcal{X}^{k-1} \cup \{a^k\}$",
        verdict="LOST IN THE SCAN",
        printed={
            "plus_center": lambda s: literal._shift_center(s, 1, _point_number_k(s)),
            "plus_core": lambda s: s.core[s.k - 1] | {_point_number_k(s)},
        },
        spoiled={
            "center only": lambda s: literal._shift_center(s, 1, _point_number_k(s)),
            "core set not grown": {"plus_core": lambda s: s.core[s.k - 1]},
            "center moved away": lambda s: literal._shift_center(s, -1, s.kappa),
        },
        corrected=r"$a^\kappa$ in both places, which the scan reads as $a^k$.",
        witness="points (0,0), (4,0), (1,2.5), (3,-2.6): the center follows the "
        "numbering of the points, not the farthest one",
    ),
    symbolic(
        id="S-A4-lambda+",
        place="Alg 4, plus step",
        statement=r"$\lambda^k \leftarrow \delta_k / [2(1+\delta_k)]$",
        measure=_stationary(+1),
        true=lambda delta: delta / (2 * (1 + delta)),
        spoil=damaged_formula("delta"),
    ),
    symbolic(
        id="S-A4-lambda+gain",
        place="Alg 4, plus step",
        statement=r"A plus iteration raises $\gamma$ by $\gamma\delta^2/(4(1+"
        r"\delta))$.",
        measure=_gain(+1),
        true=lambda gamma, delta: gamma * delta**2 / (4 * (1 + delta)),
        spoiled={"first power": lambda gamma, delta: gamma * delta / (4 * (1 + delta))},
        spoil=damaged_formula("gamma", "delta"),
    ),
    symbolic(
        id="S-A4-lambda-",
        place="Alg 4, minus step",
        statement=r"$\lambda^k \leftarrow \delta_k^- / [2(1-\delta_k^-)]$, unclipped",
        measure=_stationary(-1),
        true=lambda delta: delta / (2 * (1 - delta)),
        spoil=damaged_formula("delta"),
    ),
    _slide(
        id="S-A4-lambda-cap",
        place="Alg 4, minus step",
        statement=r"$\lambda^k \leftarrow \min\left\{\frac{\delta_k^-}{2(1-\delta_k^-"
        r")}, \frac{u_\xi^k}{1-u_\xi^k}\right\}$",
        measure=_best_minus_step,
        true=lambda delta, u: min(delta / (2.0 * (1.0 - delta)), u / (1.0 - u)),
        spoiled={
            "no cap": lambda delta, u: delta / (2.0 * (1.0 - delta)),
            "cap u": lambda delta, u: min(delta / (2.0 * (1.0 - delta)), u),
            "max": lambda delta, u: max(delta / (2.0 * (1.0 - delta)), u / (1.0 - u)),
        },
        corrected=r"Needs care where $\delta_k^- = 1$ (the point is the center) and "
        r"$u_\xi = 1$; a dropped weight is set to 0 outright.",
    ),
    symbolic(
        id="S-A4-lambda-gain",
        place="Alg 4, minus step",
        statement=r"An unclipped minus iteration raises $\gamma$ by "
        r"$\gamma(\delta^-)^2/(4(1-\delta^-))$.",
        measure=_gain(-1),
        true=lambda gamma, delta: gamma * delta**2 / (4 * (1 - delta)),
        spoil=damaged_formula("gamma", "delta"),
    ),
    meb_a_line(
        "drops",
        id="S-A4-drop",
        place="Alg 4, drop step",
        statement=r"$\mathcal{X}_{k+1} \leftarrow \mathcal{X}_k \setminus \{a^\xi\}$ "
        r"when $\lambda^k = u_\xi^k/(1-u_\xi^k)$, else $\mathcal{X}_{k+1} \leftarrow "
        r"\mathcal{X}_k$",
        spoiled={
            "never dropped": lambda lam, cap: False,
            "always dropped": lambda lam, cap: True,
        },
    ),
    meb_a_line(
        "minus_center",
        id="S-A4-minus",
        place="Alg 4, minus iteration",
        statement=r"$c^k \leftarrow (1+\lambda^{k-1})c^{k-1} - \lambda^{k-1}a^\xi$",
        spoiled={
            "towards": lambda s: literal._shift_center(s, 1, s.xi),
            "center not moved": lambda s: s.c[s.k - 1],
        },
    ),
    meb_a_line(
        "gamma",
        id="S-A4-gamma",
        place="Alg 4, end of the loop",
        statement=r"$\gamma^0 \leftarrow \Phi(u^k)$",
        verdict="WRONG",
        printed=_stale_gamma,
        spoiled={"first value kept": _first_gamma},
        corrected=r"$\gamma^k \leftarrow \Phi(u^k)$; the authors' code has it so",
        witness="k = 1: delta_1^+ divides by gamma^1, which no line sets; with the "
        "first value in its place the loop does not end",
    ),
    meb_a_line(
        "kappa",
        id="S-A4-c0",
        place="Alg 4, end of the loop",
        statement=r"$\kappa \leftarrow \mathrm{argmax}_i \|a^i - c^0\|^2$",
        verdict="WRONG",
        printed=lambda s: int(distances2(s.points, s.c[0]).argmax()),
        spoiled={
            "nearest": lambda s: int(distances2(s.points, s.c[s.k]).argmin()),
            "from the origin": lambda s: int(z_of(s.points).argmax()),
        },
        corrected=r"$\|a^i - c^k\|^2$; the authors' code has it so",
        witness="points (0,0), (4,0), (1,2.5), (3,-2.6): the loop stops with a ball "
        "that leaves a point outside",
    ),
    meb_a_line(
        "xi",
        id="S-A4-X0",
        place="Alg 4, end of the loop",
        statement=r"$\xi \leftarrow \mathrm{argmin}_{i : a^i \in \mathcal{X}_0} \|a^i "
        r"- c^k\|^2$",
        verdict="WRONG",
        printed=lambda s: literal._best(
            distances2(s.points, s.c[s.k]), s.core[0], False
        ),
        spoiled={
            "over all points": lambda s: int(distances2(s.points, s.c[s.k]).argmin()),
            "farthest": lambda s: literal._best(
                distances2(s.points, s.c[s.k]), s.core[s.k], True
            ),
        },
        corrected=r"$a^i \in \mathcal{X}_k$; the authors' code has it so",
        witness="clouds in which a point of the first pair is dropped: it is chosen "
        "again, with weight 0 and a step of length 0, without end",
    ),
    _slide(
        id="S-A4-stop",
        place="Alg 4, loop condition",
        statement=r"Loop while $\delta_k > (1+\epsilon)^2 - 1$ with $\delta_k = "
        r"\max\{\delta_k^+, \delta_k^-\}$",
        verdict="HARMLESS",
        measure=_guarantees,
        true={"stops": lambda s, eps: s.plus[s.k] <= (1.0 + eps) ** 2 - 1.0}
        | {"radius": lambda s: math.sqrt((1.0 + s.plus[s.k]) * s.gamma[s.k])},
        printed={},
        spoiled={
            "lower delta alone": {
                "stops": lambda s, eps: s.minus[s.k] <= (1.0 + eps) ** 2 - 1.0
            },
            "four times as lax": {
                "stops": lambda s, eps: s.plus[s.k] <= (1.0 + 4.0 * eps) ** 2 - 1.0
            },
        },
        corrected=r"Both the ball and the core set are guaranteed by $\delta_k^+ \le "
        r"(1+\epsilon)^2 - 1$ alone; asking for $\delta_k^-$ too costs steps.",
    ),
    _slide(
        id="S-A4-out",
        place="Alg 4, output",
        statement=r"Radius $\sqrt{(1+\delta_k)\gamma^k}$",
        verdict="HARMLESS",
        measure=_guarantees,
        true={"radius": lambda s: math.sqrt((1.0 + s.plus[s.k]) * s.gamma[s.k])},
        printed={},
        spoiled={
            "root of gamma": {"radius": lambda s: math.sqrt(s.gamma[s.k])},
            "not the root of 1 + delta": {
                "radius": lambda s: (1.0 + s.plus[s.k]) * math.sqrt(s.gamma[s.k])
            },
        },
        corrected="Valid; the smallest radius about $c^k$ is "
        r"$\sqrt{(1+\delta_k^+)\gamma^k}$.",
    ),
]
