"""Algorithms 1 to 3 of the report, line by line.

A check runs the algorithm with one line exchanged for the form and measures the ball
that comes out; in Algorithms 1 and 2 the gradient is that of f = -Phi, as (44) says.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import partial

import numpy as np

from mebnb.documents.entries import Entry
from mebnb.documents.toolkit.clouds import (
    cloud,
    distances2,
    farthest_from,
    over,
    phi,
    reach,
    small_clouds,
    vertex,
)
from mebnb.documents.toolkit.lines_of_the_report import (
    AwayLines,
    BlendedLines,
    CoreLines,
    core_set_faults,
    line_minimum,
    run_away_step,
    run_blended,
    run_core_set,
    shortfall,
)

report = partial(Entry, document="report", tolerance=1e-6)


def _line_of(lines, faults):
    """Maker of entries whose form takes the place of one line of an algorithm."""

    def entry(line, **said):
        return report(
            measure=lambda form: faults(replace(lines, **{line: form})),
            true=getattr(lines, line),
            **said,
        )

    return entry


_away = partial(shortfall, run_away_step)
_blended = partial(shortfall, run_blended)
away_line = _line_of(AwayLines(), _away)
blended_line = _line_of(BlendedLines(), _blended)
core_line = _line_of(CoreLines(), core_set_faults)


def _largest_of(g, indices):
    return max(indices, key=lambda i: g[i])


def _smallest_of(g, indices):
    return min(indices, key=lambda i: g[i])


def _line_maximum(curvature, slope, upper):
    return line_minimum(-curvature, -slope, upper)


# --- Algorithm 1 -------------------------------------------------------------------

AWAY = [
    away_line(
        "start",
        id="R-A1-L1",
        statement=r"$u^0\leftarrow[1\ 0\ \dots\ 0]\in\mathbb{R}^m,\ "
        r"S^0\leftarrow\{u^0\}$",
        spoiled={
            "zero": lambda m: np.zeros(m),
            "two ones": lambda m: vertex(m, 0) + vertex(m, 1),
        },
    ),
    away_line(
        "towards",
        id="R-A1-L3",
        statement=r"$s^t\leftarrow \mathrm{LMO}(\nabla\Phi(u^t))$, $d_{FW}^t\leftarrow "
        "s^t-u^t$",
        verdict="AMBIGUOUS",
        corrected=r"holds with $f=-\Phi$ for $\Phi$",
        spoiled={
            "largest component": lambda g: int(np.argmax(g)),
            "largest in size": lambda g: int(np.argmax(np.abs(g))),
            "last vertex": lambda g: len(g) - 1,
        },
    ),
    away_line(
        "away",
        id="R-A1-L4",
        statement=r"$v^t\leftarrow\operatorname{argmax}_{v\in "
        r"S^t}\langle\nabla\Phi(u^t),v\rangle$, $d_A^t\leftarrow u^t-v^t$",
        verdict="AMBIGUOUS",
        corrected=r"holds with $f=-\Phi$ for $\Phi$",
        spoiled={
            "smallest": lambda g, active: _smallest_of(g, active),
            "over all vertices": lambda g, active: _largest_of(g, range(len(g))),
        },
    ),
    away_line(
        "gap",
        id="R-A1-L5",
        statement=r"Stop when $g_{FW}^t\leftarrow\langle-\nabla\Phi(u^t),d_{FW}^t"
        r"\rangle\le\varepsilon$.",
        verdict="AMBIGUOUS",
        corrected=r"holds with $f=-\Phi$ for $\Phi$",
        spoiled={
            "sign": lambda g, u, s: float(g @ (vertex(len(u), s) - u)),
            "squared": lambda g, u, s: float(g @ (vertex(len(u), s) - u)) ** 2 * 1e-6,
        },
    ),
    away_line(
        "prefer_towards",
        id="R-A1-L6",
        statement=r"Take the Frank-Wolfe direction if $\langle-\nabla\Phi(u^t),"
        r"d_{FW}^t\rangle\ge\langle-\nabla\Phi(u^t),d_A^t\rangle$.",
        verdict="AMBIGUOUS",
        corrected=r"holds with $f=-\Phi$ for $\Phi$",
        spoiled={
            "other way round": lambda towards, away: towards <= away,
            "never away": lambda towards, away: True,
            "always away": lambda towards, away: False,
        },
    ),
    away_line(
        "towards_max",
        id="R-A1-L7",
        statement=r"$\alpha_{max}=1$ for the Frank-Wolfe direction",
        spoiled={"no step": lambda: 0.0, "a thousandth": lambda: 1e-3},
    ),
    away_line(
        "away_max",
        id="R-A1-L9",
        statement=r"$\alpha_{max}=\omega_{v^t}/(1-\omega_{v^t})$ for the away "
        "direction",
        corrected=r"(where $\omega_{v^t}=1$ the away gap is 0: take the other branch)",
        spoiled={
            "one": lambda weight: 1.0,
            "a thousandth": lambda weight: 1e-3 * weight,
            "inverted": lambda weight: (1 - weight) / weight,
        },
    ),
    away_line(
        "search",
        id="R-A1-L11",
        statement=r"$\alpha^t\in\operatorname{argmin}_{\alpha\in[0,\alpha_{max}]}"
        r"\Phi(u^t+\alpha d^t)$",
        verdict="AMBIGUOUS",
        printed=_line_maximum,
        corrected=r"holds with $f=-\Phi$ for $\Phi$, as lines 3 to 6 do: so read, "
        "Algorithm 1 stands as a whole",
        witness="with the Phi of (19) the minimum lies at an end and Phi falls",
        spoiled={
            "half the step": lambda a, b, upper: 0.5 * line_minimum(a, b, upper),
            "not clipped": lambda a, b, upper: -b / (2 * a),
        },
    ),
    away_line(
        "update",
        id="R-A1-L12",
        statement=r"$u^t\leftarrow u^{t-1}+\alpha^td^t$",
        verdict="HARMLESS",
        corrected=r"$u^{t+1}\leftarrow u^t+\alpha^td^t$; line 3 of the next round "
        "reads the new iterate",
        spoiled={
            "sign": lambda u, d, alpha: u - alpha * d,
            "step not used": lambda u, d, alpha: u + d,
        },
    ),
    away_line(
        "active",
        id="R-A1-L13",
        statement=r"$S^t\leftarrow\{v : \omega_v^t>0\}$",
        verdict="HARMLESS",
        corrected=r"$S^{t+1}$ from $\omega^{t+1}$",
        spoiled={
            "never shrinks": lambda u, before: (
                before | set(np.flatnonzero(u > 0).tolist())
            ),
            "never grows": lambda u, before: before,
        },
    ),
]

# --- Algorithm 2 -------------------------------------------------------------------


def _late_steps(form):
    """Gaps evaluated after the first one at or below 1e-6."""
    gaps = run_blended(small_clouds()[0].points, eps=form, limit=200).gaps
    first = next(i for i, gap in enumerate(gaps) if gap <= 1e-6)
    return float(len(gaps) - 1 - first)


def _drops_when(rule):
    """Algorithm 2 with atoms leaving the active set when the rule says so."""

    def after(active, a, alpha, upper):
        return active - {a} if rule(alpha, upper) else active

    return _blended(replace(BlendedLines(), after_pair=after))


BLENDED = [
    blended_line(
        "start",
        id="R-A2-L1",
        statement=r"$u^0\leftarrow[1\ 0\ \dots\ 0]\in\mathbb{R}^m,\ "
        r"S^0\leftarrow\{u^0\}$",
        spoiled={
            "zero": lambda m: np.zeros(m),
            "all ones": lambda m: np.ones(m),
        },
    ),
    blended_line(
        "away",
        id="R-A2-L3",
        statement=r"$a^t\leftarrow\operatorname{argmax}_{v\in "
        r"S^t}\langle\nabla\Phi(u^t),v\rangle$",
        verdict="AMBIGUOUS",
        corrected=r"holds with $f=-\Phi$ for $\Phi$",
        spoiled={
            "smallest": lambda g, active: _smallest_of(g, active),
            "over all vertices": lambda g, active: _largest_of(g, range(len(g))),
        },
    ),
    blended_line(
        "local",
        id="R-A2-L4",
        statement=r"$s^t\leftarrow\operatorname{argmax}_{v\in "
        r"S^t}\langle\nabla\Phi(u^t),v\rangle$",
        verdict="AMBIGUOUS",
        printed=lambda g, active: _largest_of(g, active),
        corrected=r"holds with the dual value $\Phi$; with $\nabla f$: "
        r"$\operatorname{argmin}_{v\in S^t}$",
        witness="with f for Phi s = a and every pairwise direction is zero",
        spoiled={"first atom": lambda g, active: min(active)},
    ),
    blended_line(
        "globally",
        id="R-A2-L5",
        statement=r"$w^t\leftarrow\operatorname{argmax}\nabla\Phi(u^t)$",
        verdict="AMBIGUOUS",
        printed=lambda g: int(np.argmax(g)),
        corrected=r"holds with the dual value $\Phi$; with $\nabla f$: "
        r"$\operatorname{argmin}_{v\in V}\langle\nabla f(u^t),v\rangle$",
        witness="with f for Phi w is the nearest point: the run never leaves e_1, radius 0",
        spoiled={"last vertex": lambda g: len(g) - 1},
    ),
    blended_line(
        "prefer_pair",
        id="R-A2-L6",
        statement=r"Pairwise step if $\langle\nabla\Phi(u^t),a^t-s^t\rangle\ge\langle"
        r"\nabla\Phi(u^t),u^t-w^t\rangle$, else a Frank-Wolfe step.",
        verdict="AMBIGUOUS",
        corrected=r"holds with $f=-\Phi$ for $\Phi$",
        spoiled={
            "other way round": lambda pair, towards: pair <= towards,
            "never pairwise": lambda pair, towards: False,
            "always pairwise": lambda pair, towards: True,
        },
    ),
    blended_line(
        "pair_max",
        id="R-A2-L8",
        statement=r"$\alpha_{max}\leftarrow u^t[a_t]$",
        spoiled={
            "one": lambda weight: 1.0,
            "as for away steps": lambda weight: weight / (1 - weight),
            "half the weight": lambda weight: weight / 2,
        },
    ),
    blended_line(
        "pair_search",
        id="R-A2-L9",
        statement=r"$\alpha^t\leftarrow\operatorname{argmax}_{\alpha\in[0,"
        r"\alpha_{max}]}\Phi(u^t-\alpha d^t)$",
        verdict="AMBIGUOUS",
        printed=_line_maximum,
        corrected=r"holds with the dual value $\Phi$; with $f$: "
        r"$\operatorname{argmin} f(u^t-\alpha d^t)$, as in line 17",
        witness="with f for Phi: the largest f lies at an end of the interval, mostly at 0",
        spoiled={
            "half the step": lambda a, b, upper: 0.5 * line_minimum(a, b, upper),
            "sign of the direction": lambda a, b, upper: line_minimum(a, -b, upper),
        },
    ),
    report(
        id="R-A2-literal",
        place="Alg 2",
        statement=r"The lines that name $\Phi$ together, as they are printed.",
        verdict="WRONG",
        measure=lambda form: _blended(replace(BlendedLines(), **form)),
        true={},
        printed={
            "local": _largest_of,
            "globally": lambda g: int(np.argmax(g)),
            "pair_search": _line_maximum,
        },
        corrected=r"No single reading of $\Phi$ makes them run: lines 3, 6 and 17 hold "
        r"with $f$ for $\Phi$, lines 4, 5 and 9 with the dual value. With $f$: "
        r"$\operatorname{argmin}$ in lines 4, 5 and 9, as in the authors' code",
        witness="lines 3 and 4 are one formula: a = s in either reading; with f for Phi "
        "the run never leaves e_1, radius 0",
        spoiled={
            "dual value throughout": {
                "away": _smallest_of,
                "prefer_pair": lambda pair, towards: pair <= towards,
                "search": _line_maximum,
            },
            "lines 4 and 9": {"local": _largest_of, "pair_search": _line_maximum},
            "lines 5 and 9": {
                "globally": lambda g: int(np.argmax(g)),
                "pair_search": _line_maximum,
            },
            "every sign turned": {
                "away": _smallest_of,
                "globally": lambda g: int(np.argmax(g)),
                "local": _largest_of,
                "pair_search": _line_maximum,
                "search": _line_maximum,
            },
        },
    ),
    blended_line(
        "after_pair",
        id="R-A2-L10",
        place="Alg 2 L10 to L14",
        statement=r"If $\alpha^t<\alpha_{max}$ then $S^t\leftarrow S^{t-1}$ (descent "
        r"step), else $S^t\leftarrow S^{t-1}\setminus\{a^t\}$ (drop step).",
        corrected="$S^{t+1}$ on the left, $S^t$ on the right",
        spoiled={
            "never removed": lambda active, a, alpha, upper: active,
            "removed at once": lambda active, a, alpha, upper: active - {a},
            "only the dropped one left": lambda active, a, alpha, upper: (
                active if alpha < upper else {a}
            ),
        },
    ),
    blended_line(
        "search",
        id="R-A2-L17",
        statement=r"$\alpha^t\leftarrow\operatorname{argmin}\Phi(u^t-\alpha d^t)$ with "
        "$d^t=u^t-w^t$",
        verdict="AMBIGUOUS",
        corrected=r"over $[0,1]$; holds with $f=-\Phi$ for $\Phi$",
        spoiled={
            "largest": _line_maximum,
            "always one": lambda a, b, upper: 1.0,
        },
    ),
    blended_line(
        "after_towards",
        id="R-A2-L18",
        statement=r"$S^t\leftarrow S^{t-1}\cup\{w^t\}$, or $\{w^t\}$ if $\alpha^t=1$",
        spoiled={
            "not added": lambda active, w, alpha: active,
            "replaced": lambda active, w, alpha: {w},
        },
    ),
    blended_line(
        "update",
        id="R-A2-L20",
        statement=r"$u^t\leftarrow u^{t-1}-\alpha^td^t$",
        verdict="HARMLESS",
        corrected=r"$u^{t+1}\leftarrow u^t-\alpha^td^t$",
        spoiled={
            "sign": lambda u, d, alpha: u + alpha * d,
            "step not used": lambda u, d, alpha: u - d,
        },
    ),
    report(
        id="R-A2-stop",
        place="Alg 2",
        statement="The loop ends at the iteration limit; no gap is tested.",
        verdict="AMBIGUOUS",
        measure=_late_steps,
        true=1e-6,
        printed=-math.inf,
        corrected=r"stop when $\langle\nabla f(u^t),u^t-w^t\rangle\le\varepsilon$",
        witness="five points of R^2: the optimum is met and the loop goes on",
        spoiled={"far too tight": 1e-14},
    ),
    report(
        id="R-A2-txt",
        place="Alg 2 text",
        statement=r"The away vertex leaves when $\alpha^t$ is larger than "
        r"$\alpha_{max}$.",
        verdict="HARMLESS",
        measure=_drops_when,
        true=lambda alpha, upper: alpha == upper,
        printed=lambda alpha, upper: alpha > upper,
        corrected=r"when it equals $\alpha_{max}$; it cannot be larger",
        witness="a step clipped to [0, alpha_max] is never larger: no atom leaves",
        spoiled={"smaller": lambda alpha, upper: alpha < upper},
    ),
]

# --- Algorithm 3 -------------------------------------------------------------------


def _pair_faults(form):
    """Of lines 1 to 4: the run, and a pair nearer than the lines promise."""
    first, second = form
    lines = replace(CoreLines(), first=first, second=second)
    return core_set_faults(lines) + _distance_lost(form)


@over(small_clouds)
def _distance_lost(form, k):
    first, second = form
    p = first(k.points, np.zeros(k.m))
    q = second(k.points, np.zeros(k.m), p)
    return [
        distances.max() - distances[chosen]
        for chosen, center in ((p, 0), (q, p))
        for distances in [distances2(k.points, k.points[center])]
    ]


def _entrywise_farthest(u, center):
    """Line 1 as printed: over i <= n, between entries of u."""
    return int(np.argmax((u - center) ** 2))


@over(lambda: itertools.product(small_clouds(), ((0, 1), (1, 2), (2, 2))))
def _start_faults(start, k, pair):
    """Weights off the simplex or not optimal for the pair, also for p = q."""
    p, q = pair
    u = start(k.m, p, q)
    half = np.sum((k.points[p] - k.points[q]) ** 2) / 4
    return abs(u.sum() - 1), abs(phi(k.points, u) - half)


def _assigned(m, p, q):
    """As printed: for p = q the second assignment overwrites the first."""
    u = np.zeros(m)
    u[p] = 0.5
    u[q] = 0.5
    return u


@over(lambda: itertools.product(small_clouds(), (0.2, 0.05)))
def _returned_radius_faults(radius, k, eps):
    """Points outside the returned ball, and its excess over (1 + eps) r*."""
    run = run_core_set(k.points, eps=eps)
    r = radius(run.gamma, run.delta)
    return reach(k.points, run.c) / r - 1, r / ((1 + eps) * k.radius) - 1


def _one_place(form):
    """Algorithm 3 on coincident points: the ball must be the point itself."""
    place = cloud(np.tile([1.0, 2.0], (3, 1)))
    try:
        run = run_core_set(place.points, replace(CoreLines(), delta=form))
    except ArithmeticError:
        return math.inf
    return float(run.steps + abs(run.delta))


CORE = [
    report(
        id="R-A3-L1",
        statement=r"$p\leftarrow\operatorname{argmax}_{i=1,\dots,n}\lVert "
        r"u_i-u_1\rVert^2,\ q\leftarrow\operatorname{argmax}_{i=1,\dots,n}\lVert "
        r"u_i-u_p\rVert^2$",
        verdict="WRONG",
        measure=_pair_faults,
        true=(CoreLines().first, CoreLines().second),
        printed=(
            lambda points, u: _entrywise_farthest(u[: points.shape[1]], u[0]),
            lambda points, u, p: _entrywise_farthest(u[: points.shape[1]], u[p]),
        ),
        corrected=r"$\lVert a_i-a_1\rVert^2$ and $\lVert a_i-a_p\rVert^2$ over "
        r"$i=1,\dots,m$; the authors' code has it so",
        witness="u is zero before line 2: p = q = 1",
        spoiled={
            "first n points only": (
                lambda points, u: farthest_from(points[: points.shape[1]], points[0]),
                lambda points, u, p: farthest_from(
                    points[: points.shape[1]], points[p]
                ),
            ),
            "q far from the first point": (
                lambda points, u: farthest_from(points, points[0]),
                lambda points, u, p: farthest_from(points, points[0]),
            ),
        },
    ),
    report(
        id="R-A3-L3",
        place="Alg 3 L2, L3",
        statement=r"$u^0\leftarrow 0$; $u_p^0\leftarrow\frac12,\ "
        r"u_q^0\leftarrow\frac12$: a feasible solution of the dual, the best one for "
        "the pair",
        verdict="HARMLESS",
        measure=_start_faults,
        true=CoreLines().start,
        printed=_assigned,
        corrected=r"add $\frac12$ to $u_p^0$ and to $u_q^0$",
        witness="all points equal: p = q, and the weights sum to 1/2",
        spoiled={
            "ones": lambda m, p, q: vertex(m, p) + vertex(m, q),
            "a third and two thirds": lambda m, p, q: (
                vertex(m, p) / 3 + 2 * vertex(m, q) / 3
            ),
        },
    ),
    core_line(
        "core",
        id="R-A3-L4",
        statement=r"$S^0\leftarrow\{a_p,a_q\}$",
        spoiled={
            "one of them": lambda p, q: {p},
            "the first point too": lambda p, q: {0, p, q},
        },
    ),
    core_line(
        "center",
        id="R-A3-L5",
        statement=r"$c^0\leftarrow\sum_{i=1}^n u_i^0a_i=\langle u^0,a\rangle$",
        verdict="WRONG",
        printed=lambda points, u: u[: points.shape[1]] @ points[: points.shape[1]],
        corrected=r"$c^0\leftarrow Au^0=\sum_{i=1}^m u_i^0a_i$",
        witness="five points of R^2 with p or q above 2: half the sum is lost",
        spoiled={
            "mean of the points": lambda points, u: points.mean(axis=0),
            "doubled": lambda points, u: 2 * u @ points,
        },
    ),
    core_line(
        "gamma",
        id="R-A3-L6",
        statement=r"$v^0\leftarrow\Phi(u^0)$, read as $\gamma^0$ from line 8 on",
        verdict="LOST IN THE SCAN",
        printed=lambda points, u: {"v": phi(points, u)}["gamma"],
        corrected=r"$\gamma^0\leftarrow\Phi(u^0)$; the missing line 9 sets "
        r"$t\leftarrow 0$",
        witness="line 8 reads a name that was never set",
        spoiled={
            "radius for its square": lambda points, u: math.sqrt(phi(points, u)),
            "z'u": lambda points, u: float(np.sum(points**2, axis=1) @ u),
        },
    ),
    core_line(
        "farthest",
        id="R-A3-L7",
        statement=r"$\kappa\leftarrow\operatorname{argmax}_i\lVert a_i-c^0\rVert^2$",
        corrected=r"over $i=1,\dots,m$",
        spoiled={
            "nearest": lambda points, c, initial: int(np.argmin(distances2(points, c))),
            "first n points only": lambda points, c, initial: farthest_from(
                points[: points.shape[1]], c
            ),
        },
    ),
    core_line(
        "delta",
        id="R-A3-L8",
        statement=r"$\delta^0\leftarrow\left(\lVert a_\kappa-c^0\rVert^2/\gamma^0"
        r"\right)-1$",
        spoiled={
            "without the 1": lambda distance, gamma: distance / gamma,
            "inverted": lambda distance, gamma: gamma / distance - 1,
            "lengths for squares": lambda distance, gamma: (
                math.sqrt(distance / gamma) - 1
            ),
        },
    ),
    report(
        id="R-A3-L8-zero",
        place="Alg 3 L8",
        statement=r"The quotient $\lVert a_\kappa-c^0\rVert^2/\gamma^0$ exists.",
        verdict="HARMLESS",
        measure=_one_place,
        true=lambda distance, gamma: 0.0 if distance == 0 else distance / gamma - 1,
        printed=lambda distance, gamma: distance / gamma - 1,
        corrected=r"when all points coincide, $\gamma^0=0$: return the point, with "
        r"$\delta=0$",
        witness="three times the point (1, 2): 0 / 0",
        spoiled={
            "one": lambda distance, gamma: 1.0 if distance == 0 else distance / gamma,
        },
    ),
    core_line(
        "go_on",
        id="R-A3-L10",
        statement=r"While $\delta^t>(1+\varepsilon)^2-1$ and $t<\mathrm{maxIter}$",
        spoiled={
            "3 eps": lambda delta, eps: delta > 3 * eps,
            "at least one step too few": lambda delta, eps: delta > 1,
            "never": lambda delta, eps: False,
        },
    ),
    core_line(
        "alpha",
        id="R-A3-L12",
        statement=r"$\alpha^t\leftarrow\delta^t/[2(1+\delta^t)]$",
        spoiled={
            "delta / 2": lambda delta: delta / 2,
            "sign": lambda delta: -delta / (2 * (1 + delta)),
            "no step": lambda delta: 0.0,
        },
    ),
    core_line(
        "weights",
        id="R-A3-L14",
        place="Alg 3 L13, L14",
        statement=r"$t\leftarrow t+1$; $u^t\leftarrow(1-\alpha^{t-1})u^{t-1}+"
        r"\alpha^{t-1}e_\kappa$",
        spoiled={
            "not shrunk": lambda u, alpha, unit: u + alpha * unit,
            "shares exchanged": lambda u, alpha, unit: alpha * u + (1 - alpha) * unit,
        },
    ),
    core_line(
        "shift",
        id="R-A3-L15",
        statement=r"$c^t\leftarrow(1-\alpha^{t-1})c^{t-1}+\alpha^{t-1}a_\kappa$",
        spoiled={
            "not shrunk": lambda c, alpha, point: c + alpha * point,
            "sign": lambda c, alpha, point: (1 + alpha) * c - alpha * point,
        },
    ),
    core_line(
        "grow",
        id="R-A3-L16",
        statement=r"$S^t\leftarrow S^t\cup\{a_\kappa\}$",
        verdict="HARMLESS",
        corrected=r"$S^t\leftarrow S^{t-1}\cup\{a_\kappa\}$; $S^t$ has no value yet",
        spoiled={
            "replaced": lambda core, k: {k},
            "not added": lambda core, k: core,
        },
    ),
    core_line(
        "gamma",
        id="R-A3-L17",
        statement=r"$\gamma^t\leftarrow\Phi(u^t)$",
        spoiled={
            "negated": lambda points, u: -phi(points, u),
            "farthest distance": lambda points, u: float(
                distances2(points, u @ points).max()
            ),
        },
    ),
    core_line(
        "farthest",
        id="R-A3-L18",
        statement=r"$\kappa\leftarrow\operatorname{argmax}_i\lVert a_i-c^t\rVert^2$",
        spoiled={
            "from the first center": lambda points, c, initial: farthest_from(
                points, initial
            ),
            "from the origin": lambda points, c, initial: farthest_from(points, 0 * c),
        },
    ),
    core_line(
        "delta",
        id="R-A3-L19",
        statement=r"$\delta^t\leftarrow\left(\lVert a_\kappa-c^t\rVert^2/\gamma^t"
        r"\right)-1$",
        spoiled={
            "difference of squares": lambda distance, gamma: (distance - gamma) / 100,
            "plus one": lambda distance, gamma: distance / gamma + 1,
        },
    ),
    report(
        id="R-A3-out",
        place="Alg 3, end",
        statement="No line says what is returned.",
        verdict="AMBIGUOUS",
        measure=_returned_radius_faults,
        true=lambda gamma, delta: math.sqrt((1 + delta) * gamma),
        printed=lambda gamma, delta: math.sqrt(gamma),
        corrected=r"return $c^t$, $S^t$, $u^t$ and $\sqrt{(1+\delta^t)\gamma^t}$",
        witness="the radius of the trial ball leaves the farthest point outside",
        spoiled={
            "1 + delta outside the root": lambda gamma, delta: (
                (1 + delta) * math.sqrt(1.2 * gamma)
            ),
            "radius not rooted": lambda gamma, delta: (1 + delta) * gamma,
        },
    ),
]

ENTRIES = [*AWAY, *BLENDED, *CORE]
