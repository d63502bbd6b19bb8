"""The slides' Algorithms 1 to 4, line by line, on clouds small enough to enumerate."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import sympy as sp

from mebnb.derivations import _literal_slides as literal
from mebnb.derivations._clouds import (
    algebra,
    ball_by_enumeration,
    clouds,
    distances2,
    pair_start,
    phi,
    residual,
    simplex_points,
    worst,
    z_of,
)
from mebnb.derivations._literal_slides import CannotRun, unit
from mebnb.derivations.entries import Entry

_slide = partial(Entry, document="slides")

CLOUDS = clouds(31, 4) + clouds(32, 2, m=7, n=3)
# A pair start that is far from optimal, in the plane (errata, c^0).
KITE = np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 2.5], [3.0, -2.6]])
# Lemma 3.1's tight instance: the pair start has a third of the dual value.
TRIANGLE = np.array([[1.0, 0.0], [0.0, 0.0], [0.5, 0.75**0.5], [0.5, -(0.75**0.5)]])

CENTER_TOLERANCE = 1e-4


# --- measures ----------------------------------------------------------------------


def _missed(run, points):
    """Distance from the optimal ball and off the simplex, 1 for an endless loop."""
    ball = ball_by_enumeration(points)
    u = run.weights
    if not np.isfinite(u).all():
        return math.inf
    return max(
        float(np.linalg.norm(u @ points - ball.center)) / ball.radius,
        abs(float(u.sum()) - 1.0),
        -float(u.min()),
        run.mismatch,
        0.0 if run.finished else 1.0,
    )


def _ends_at_the_optimum(algorithm):
    """A measure whose form is the set of lines to replace."""

    def measure(lines):
        violations = []
        for points in CLOUDS:
            try:
                violations.append(_missed(algorithm(points, **lines), points))
            except (CannotRun, ValueError):
                return math.inf
        return worst(violations)

    return measure


_pairwise = _ends_at_the_optimum(literal.pairwise)
_blended = _ends_at_the_optimum(literal.blended)


def _frank_wolfe_steps_gain(lines):
    """Share of Algorithm 2's FW steps that do not raise phi, beside what it misses."""
    steps = [
        step
        for points in CLOUDS
        for step in literal.blended(points, **lines).log
        if step.kind == "FW" and step.gap > 1e-6
    ]
    idle = sum(step.gained <= 0.0 for step in steps) / len(steps)
    return max(idle, _blended(lines))


def _every_start(starts):
    """Algorithm 2 from each of the starts (start line, whether the mean is an atom)."""
    return worst(
        _blended({"start": start, "uniform_atom": uniform}) for start, uniform in starts
    )


def _gap_at_the_end(stops):
    """By how much r*^2 - phi exceeds eps when Algorithm 2 stops (or at step 2000)."""
    eps = 1e-6
    return worst(
        (
            ball_by_enumeration(points).radius ** 2
            - phi(points, literal.blended(points, eps, stops=stops).weights)
        )
        / eps
        - 1.0
        for points in CLOUDS
    )


def _meb_a(lines, eps=1e-8):
    """Algorithm 4: the optimum reached, all points inside, radius <= (1 + eps) r*."""
    violations = []
    for points in CLOUDS + (KITE, TRIANGLE):
        try:
            run = literal.meb_a(points, eps, **lines)
        except CannotRun:
            return math.inf
        violations.append(_missed(run, points))
        violations.append(_not_a_bound(run, points, eps))
    return worst(violations)


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


def _guarantees(lines):
    """The (1 + eps) ball and core set at several eps; nothing is asked of the center."""
    violations = []
    for eps in (0.3, 0.1, 0.01, 0.001):
        for points in (*CLOUDS, KITE, TRIANGLE, *clouds(33, 10, m=10)):
            run = literal.meb_a(points, eps, **lines)
            violations.append(_not_a_bound(run, points, eps))
            violations.append(0.0 if run.finished else 1.0)
    return worst(violations)


def _start_is_right(form):
    """Algorithm 3 against its meaning: weights, bounds on r*, factor of Lemma 3.1."""
    violations = []
    for points in (*CLOUDS, KITE, TRIANGLE, *clouds(34, 40, m=8)):
        start = form(points)
        ball = ball_by_enumeration(points)
        u, center = start["u"], start["c"]
        distance = distances2(points, center)
        on_core = distance[sorted(start["core"])]
        violations += [
            abs(u.sum() - 1.0),
            float(np.abs(u @ points - center).max()),
            abs(start["gamma"] - u @ distance),
            # gamma is a lower bound on r*^2 that misses it by a factor 3 at most,
            max(0.0, start["gamma"] / ball.radius**2 - 1.0),
            max(0.0, 1.0 - 3.0 * start["gamma"] / ball.radius**2),
            # delta+ is what the ball about c^0 needs to hold all points,
            abs((1.0 + start["plus"]) * start["gamma"] - distance.max()),
            # delta- does the same for the nearest of the core set.
            abs((1.0 - start["minus"]) * start["gamma"] - on_core.min()),
            abs(start["delta"] - max(start["plus"], start["minus"])),
        ]
    return worst(violations)


def _algorithm_3(points, pair=pair_start, half=0.5, minus=lambda ratio: 1.0 - ratio):
    first, second = pair(points)
    u = np.zeros(len(points))
    u[first] += half
    u[second] += half
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
        s = algebra()
        lam, d, gamma = sp.symbols("lambda d gamma", positive=True)
        moved = (1 - sign * lam) * s.u + sign * lam * sp.Matrix([0, 0, 1])
        value = s.phi.subs(dict(zip(s.u, moved, strict=True)), simultaneous=True)
        parabola = s.phi + sign * lam * (s.d[2] - s.phi) - lam**2 * s.d[2]
        slope = sign * (d - gamma) - 2 * form(sign * (d / gamma - 1)) * d
        return max(residual((value - parabola).subs(s.simplex)), residual(slope))

    return measure


def _best_minus_step(form):
    """phi on a fine grid of feasible minus steps against phi at the step taken."""
    violations = []
    for points in CLOUDS:
        m = len(points)
        for u in simplex_points(35, 20, m):
            distance = distances2(points, u @ points)
            nearest = int(distance.argmin())
            gamma = phi(points, u)
            taken = form(1.0 - distance[nearest] / gamma, u[nearest])

            def moved(lam, u=u, nearest=nearest):
                after = (1.0 + lam) * u
                after[nearest] -= lam
                return after

            largest = u[nearest] / (1.0 - u[nearest])
            grid = [phi(points, moved(t)) for t in np.linspace(0.0, largest, 201)]
            after = moved(taken)
            violations.append(max(0.0, max(grid) - phi(points, after)) / gamma)
            violations.append(max(0.0, -after.min() - 1e-15))
    return worst(violations)


def _gain(sign):
    """Residual of the gain in phi of an unclipped step, in gamma and delta."""

    def measure(form):
        gamma, delta, lam = sp.symbols("gamma delta lambda", positive=True)
        # Along u + lambda (e - u): phi = gamma + lambda (d - gamma) - lambda^2 d, with
        # d = (1 + delta) gamma; along u + lambda (u - e) with d = (1 - delta) gamma.
        distance = (1 + sign * delta) * gamma
        value = gamma + sign * lam * (distance - gamma) - lam**2 * distance
        best = sp.solve(sp.diff(value, lam), lam)[0]
        return residual(value.subs(lam, best) - gamma - form(gamma, delta))

    return measure


# --- Algorithm 1 -------------------------------------------------------------------


def _all_transfer_up(s):
    s.alpha[s.a] += s.lam
    s.alpha[s.w] += s.lam


def _transfer_to_the_wrong_atom(s):
    s.alpha[s.a] -= s.lam
    s.alpha[0] += s.lam


def _start_at_a_data_point(s):
    return s.points[0], {0}


ALGORITHM_1 = [
    _slide(
        id="S-A1-req",
        place="Alg 1, start",
        statement="Starts from a point $\\mu_0 \\in \\mathcal{A}$ with "
        "$S_0 = \\{\\mu_0\\}$.",
        verdict="HARMLESS",
        measure=_pairwise,
        true={"start": literal.start_at_vertex},
        printed={"start": _start_at_a_data_point},
        spoiled={"no vertex in the set": {"start": literal.start_without_vertex}},
        corrected="$\\mu_0$ is a vertex of $\\Delta^{m-1}$; a data point lives in "
        "$\\mathbb{R}^n$ and holds no weights.",
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A1-req-gap",
        place="Alg 1, gap",
        statement="$d_t^{FW} = e_{\\mu_t} - e_{i_t^w}$, "
        "$g_t^{FW} = \\langle \\nabla(-\\phi(\\mu_t)), d_t^{FW}\\rangle$; "
        "returns $x_t$ when $g_t^{FW} < \\epsilon$",
        verdict="HARMLESS",
        measure=_pairwise,
        true={"gap": lambda s: s.grad @ (s.mu - unit(s, s.w))},
        spoiled={
            "other sign": {"gap": lambda s: s.grad @ (unit(s, s.w) - s.mu)},
            "gradient at the vertex alone": {"gap": lambda s: -s.grad[s.w]},
        },
        corrected="$d_t^{FW} = \\mu_t - e_{i_t^w}$, an ascent direction of "
        "$-\\phi$ whose slope is the gap; what is returned is $\\mu_t$.",
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A1-req-set",
        place="Alg 1, active set",
        statement="$S_{t+1} \\leftarrow \\{e_{i^w} \\in A : \\alpha^{t+1} > 0\\}$",
        verdict="HARMLESS",
        measure=_pairwise,
        true={"active": lambda s: set(np.flatnonzero(s.alpha > 0.0).tolist())},
        printed={"active": lambda s: {s.w}},
        spoiled={
            "nothing leaves": {"active": lambda s: s.active | {s.w}},
            "nothing enters": {"active": lambda s: s.active - {s.w} or {s.w}},
        },
        corrected="$S_{t+1} = \\{e_j : \\alpha_j^{t+1} > 0\\}$ with $j$ over all atoms; "
        "the bound index is called $i^w$ in print. With the vertex $i_t^w$ alone in the "
        "set the away atom would lose its meaning.",
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A1-towards",
        place="Alg 1, $i_t^w$",
        statement="$i_t^w \\leftarrow \\mathrm{argmin}_i (-\\nabla\\phi(\\mu_t))_i$",
        verdict="HOLDS",
        measure=_pairwise,
        true={},
        spoiled={
            "argmax": {
                "towards": lambda s: literal._best(s.grad, range(s.m), largest=True)
            },
            "over the active set": {
                "towards": lambda s: literal._best(s.grad, s.active, largest=False)
            },
        },
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A1-away",
        place="Alg 1, $i_t^a$",
        statement="$i_t^a \\leftarrow \\mathrm{argmax}_{j : e_j \\in S_t} "
        "(-\\nabla\\phi(\\mu_t))_j$",
        verdict="HOLDS",
        measure=_pairwise,
        true={},
        spoiled={
            "argmin": {
                "away": lambda s: literal._best(s.grad, s.active, largest=False)
            },
            "over all vertices": {
                "away": lambda s: literal._best(s.grad, range(s.m), largest=True)
            },
        },
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A1-direction",
        place="Alg 1, $d_t$",
        statement="$d_t \\leftarrow e_{i_t^w} - e_{i_t^a}$, "
        "$\\mu_{t+1} \\leftarrow \\mu_t + \\lambda_t d_t$",
        verdict="HOLDS",
        measure=_pairwise,
        true={},
        spoiled={
            "turned round": {"direction": lambda s: unit(s, s.a) - unit(s, s.w)},
            "minus": {"update": lambda s: s.mu - s.lam * s.d},
            "from the iterate": {"direction": lambda s: unit(s, s.w) - s.mu},
        },
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A1-lambda",
        place="Alg 1, step",
        statement="$\\lambda_t \\leftarrow \\max\\left(0, \\min\\left(\\lambda_{\\max}, "
        "\\frac{\\langle -\\nabla\\phi(\\mu_t), d_t\\rangle}{L\\|d_t\\|_2^2}"
        "\\right)\\right)$ with $d_t = e_{i_t^w} - e_{i_t^a}$",
        verdict="WRONG",
        measure=_pairwise,
        true={"step": literal.short_step},
        printed={"step": literal.short_step_back},
        spoiled={
            "L lost": {"step": lambda s: -(s.grad @ s.d) / (s.d @ s.d)},
            "L to the fourth": {
                "step": lambda s: -(s.grad @ s.d) / (s.lipschitz**4 * (s.d @ s.d))
            },
        },
        corrected="$\\langle \\nabla\\phi(\\mu_t), d_t\\rangle / (L \\|d_t\\|^2)$, "
        "clipped to $[0, \\alpha_{i_t^a}]$.",
        witness="any cloud: the printed quotient is negative, so that lambda = 0 from "
        "the first step on and the radius stays 0",
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A1-upd",
        place="Alg 1, weights",
        statement="$\\alpha_{i_t^a}^{(t+1)} = \\alpha_{i_t^a}^{(t)} - \\lambda_t$, "
        "$\\alpha_{i_t^w}^{(t+1)} = \\alpha_{i_t^w}^{(t)} + \\lambda_t$",
        verdict="HOLDS",
        measure=_pairwise,
        true={},
        spoiled={
            "both grow": {"transfer": _all_transfer_up},
            "to another atom": {"transfer": _transfer_to_the_wrong_atom},
        },
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A1-upd-cap",
        place="Alg 1, $\\lambda_{\\max}$",
        statement="$\\lambda_{\\max} \\leftarrow \\alpha_{i_t^a}$",
        verdict="HOLDS",
        measure=_pairwise,
        true={"cap": lambda s: s.alpha[s.a]},
        spoiled={
            "no cap": {"cap": lambda s: math.inf},
            "weight of the other atom": {"cap": lambda s: s.alpha[s.w]},
            "half of it": {"cap": lambda s: 0.5 * s.alpha[s.a]},
        },
        tolerance=CENTER_TOLERANCE,
    ),
]


# --- Algorithm 2 -------------------------------------------------------------------


def _printed_drop(s):
    s.active = s.active - {s.s}
    s.alpha[s.s] += s.lam


def _drop_keeps_the_weight(s):
    s.active = s.active - {s.a}
    s.alpha[s.s] += s.lam


def _fw_without_shrinking(s):
    s.alpha[s.w] += s.lam
    s.active = s.active | {s.w}


def _fw_forgets_the_others(s):
    s.alpha *= 1.0 - s.lam
    s.alpha[s.w] += s.lam
    s.active = {s.w}


_KEPT_MEAN = (literal.start_with_uniform_atom, True)

ALGORITHM_2 = [
    _slide(
        id="S-A2-init",
        place="Alg 2, start",
        statement="$\\mu_0 \\leftarrow \\frac{1}{m} \\mathbf{1}$, $S_0 \\leftarrow "
        "\\{\\mu_0\\}$, then an extremum over $e_j \\in S_t$",
        verdict="AMBIGUOUS",
        measure=_every_start,
        true=[
            (literal.start_at_vertex, False),
            (literal.start_with_all_vertices, False),
            _KEPT_MEAN,
        ],
        printed=[(literal.start_without_vertex, False)],
        spoiled={
            "the mean outside of the set": [
                (lambda s: (literal.start_with_all_vertices(s)[0], {0}), False)
            ],
        },
        corrected="A vertex; or $S_0 = \\{e_1, \\dots, e_m\\}$; or the mean kept as an "
        "atom beside the vertices, which is what the tables were made with. All three "
        "end at the optimum.",
        witness="to the letter no vertex is in the set and the first extremum is over "
        "nothing",
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A2-choice",
        place="Alg 2, $i_t^a, i_t^s, i_t^w$",
        statement="$i_t^a = \\mathrm{argmax}_{S_t}$, $i_t^s = \\mathrm{argmin}_{S_t}$, "
        "$i_t^w = \\mathrm{argmin}_{j \\le m}$ of $(-\\nabla\\phi(\\mu_t))_j$",
        verdict="HOLDS",
        measure=_blended,
        true={},
        spoiled={
            "away and local exchanged": {
                "away": literal.BLENDED["local"],
                "local": literal.BLENDED["away"],
            },
            "global argmax": {
                "towards": lambda s: literal._best(s.grad, range(s.m), largest=True)
            },
            "global over the active set": {
                "towards": lambda s: literal._best(s.grad, s.active, largest=False)
            },
        },
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A2-test",
        place="Alg 2, blending test",
        statement="$\\langle -\\nabla\\phi(\\mu_t), e_{i_t^a} - e_{i_t^a}\\rangle \\ge "
        "\\langle -\\nabla\\phi(\\mu_t), \\mu_t - e_{i_t^w}\\rangle$, then "
        "$d_t = e_{i_t^s} - e_{i_t^s}$",
        verdict="HARMLESS",
        measure=_blended,
        true={},
        printed={
            "test": lambda s: 0.0 >= s.grad @ (s.mu - unit(s, s.w)),
            "local_direction": lambda s: unit(s, s.s) - unit(s, s.s),
        },
        spoiled={
            "never a local step": {"test": lambda s: False},
            "always a local step": {"test": lambda s: True},
            "local step turned round": {
                "local_direction": lambda s: unit(s, s.s) - unit(s, s.a)
            },
        },
        corrected="$e_{i_t^a} - e_{i_t^s}$ in both places; the scan lost the second "
        "letter. To the letter only the slow Frank-Wolfe steps would remain.",
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A2-cap",
        place="Alg 2, $\\Lambda_t^*$",
        statement="$\\Lambda_t^* \\leftarrow c[\\mu_t](e_{i_t^a})$",
        verdict="HOLDS",
        measure=_blended,
        true={},
        spoiled={
            "no cap": {"cap": lambda s: math.inf},
            "weight of the other atom": {"cap": lambda s: s.alpha[s.s]},
        },
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A2-lambda",
        place="Alg 2, pairwise step",
        statement="$\\lambda_t \\leftarrow \\max\\left(0, \\min\\left(\\Lambda_t^*, "
        "\\frac{\\langle \\nabla\\phi(\\mu_t), d_t\\rangle}{L\\|d_t\\|_2^2}"
        "\\right)\\right)$ with $d_t = e_{i_t^a} - e_{i_t^s}$ and "
        "$\\mu_{t+1} \\leftarrow \\mu_t - \\lambda_t d_t$",
        verdict="WRONG",
        measure=_blended,
        true={"local_step": literal.short_step_back},
        printed={"local_step": literal.short_step, "global_step": literal.short_step},
        spoiled={
            "plus": {"update": lambda s: s.mu + s.lam * s.d},
            "L lost": {"local_step": lambda s: s.grad @ s.d / (s.d @ s.d)},
        },
        corrected="$\\langle -\\nabla\\phi(\\mu_t), d_t\\rangle / (L\\|d_t\\|^2)$: "
        "$d_t$ points from towards to away and $\\mu_t - \\lambda_t d_t$ runs along it "
        "backwards.",
        witness="any cloud from the first vertex, with the FW step as printed: both "
        "quotients are negative, lambda = 0 for ever, radius 0",
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A2-lambda-FW",
        place="Alg 2, FW step",
        statement="$\\lambda_t \\leftarrow \\max\\left(0, \\min\\left(1, "
        "\\frac{\\langle \\nabla\\phi(\\mu_t), d_t\\rangle}{L\\|d_t\\|_2^2}"
        "\\right)\\right)$ with $d_t = \\mu_t - e_{i_t^w}$ and "
        "$\\mu_{t+1} \\leftarrow \\mu_t - \\lambda_t d_t$",
        verdict="WRONG",
        measure=_frank_wolfe_steps_gain,
        true={"global_step": literal.short_step_back},
        printed={"global_step": literal.short_step},
        spoiled={
            "direction turned round": {
                "global_direction": lambda s: unit(s, s.w) - s.mu
            },
            "full step": {"global_step": lambda s: 1.0},
        },
        corrected="$\\langle -\\nabla\\phi(\\mu_t), d_t\\rangle / (L\\|d_t\\|^2)$.",
        witness="any cloud from the first vertex: lambda = 0 at the first step; the FW "
        "step then only names the atom, and correct local steps do all the work",
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A2-descent",
        place="Alg 2, descent step",
        statement="$\\lambda_t < \\Lambda_t^*$: $S_{t+1} = S_t$, "
        "$\\alpha_{i^a} \\leftarrow \\alpha_{i^a} - \\lambda_t$, "
        "$\\alpha_{i^s} \\leftarrow \\alpha_{i^s} + \\lambda_t$",
        verdict="HOLDS",
        measure=_blended,
        true={},
        spoiled={
            "weights not moved": {"local_transfer": lambda s: None},
            "exchanged": {
                "local_transfer": lambda s: (
                    s.alpha.__setitem__(s.a, s.alpha[s.a] + s.lam),
                    s.alpha.__setitem__(s.s, s.alpha[s.s] - s.lam),
                )
            },
        },
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A2-drop",
        place="Alg 2, drop step",
        statement="$S_{t+1} \\leftarrow S_t \\setminus \\{e_{i_t^s}\\}$, "
        "$\\alpha_{i_t^s} = 0$, $\\alpha_{i_t^s} = \\alpha_{i_{t-1}^s} + \\lambda_t$",
        verdict="WRONG",
        measure=_blended,
        true={},
        printed={"drop": _printed_drop},
        spoiled={
            "weight of the dropped atom kept": {"drop": _drop_keeps_the_weight},
            "nothing dropped": {"drop": lambda s: None},
        },
        corrected="$S_t \\setminus \\{e_{i_t^a}\\}$, $\\alpha_{i_t^a} = 0$, "
        "$\\alpha_{i_t^s} \\leftarrow \\alpha_{i_t^s} + \\lambda_t$ (letters lost in "
        "the scan): the away atom is the one whose weight is used up.",
        witness="the first drop step removes the atom that has just gained weight",
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A2-FW",
        place="Alg 2, FW step",
        statement="$S_{t+1} \\leftarrow S_t \\cup \\{w_t\\}$ (only $w_t$ when "
        "$\\lambda_t = 1$), $\\alpha_t = (1-\\lambda_t)\\alpha_{t-1}$, "
        "$\\alpha_{i_t^w} \\leftarrow \\alpha_{i_t^w} + \\lambda_t$",
        verdict="HOLDS",
        measure=_blended,
        true={},
        spoiled={
            "others not shrunk": {"global_transfer": _fw_without_shrinking},
            "only the vertex kept": {"global_transfer": _fw_forgets_the_others},
        },
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A2-stop",
        place="Alg 2, stopping",
        statement="Runs for $t = 0, \\dots, T-1$; no stopping rule is listed.",
        verdict="HARMLESS",
        measure=_gap_at_the_end,
        true=lambda s, eps: s.gap < eps,
        printed=lambda s, eps: False,
        spoiled={
            "local gap": lambda s, eps: s.grad @ (unit(s, s.a) - unit(s, s.s)) < eps,
            "a thousand times eps": lambda s, eps: s.gap < 1e3 * eps,
        },
        corrected="Stop at FW gap $\\le \\epsilon$ as in Algorithm 1, which bounds "
        "$\\phi^* - \\phi$; the text says that both share the rule.",
    ),
]


# --- Algorithms 3 and 4 ------------------------------------------------------------


def _stale_gamma(s):
    s.gamma[0] = phi(s.points, s.u[s.k])


def _first_gamma(s):
    s.gamma[s.k] = s.gamma[0]


def _point_number_k(s):
    if s.k > len(s.points):
        raise IndexError(f"there is no point number {s.k}")
    return s.k - 1


ALGORITHMS_3_4 = [
    _slide(
        id="S-A3",
        place="Alg 3",
        statement="$\\alpha = \\mathrm{argmax}_i \\|a^i - a^1\\|^2$, "
        "$\\beta = \\mathrm{argmax}_i \\|a^i - a^\\alpha\\|^2$, $u^0_\\alpha = u^0_\\beta "
        "= 1/2$, $c^0 = \\sum_i u_i^0 a^i$, $\\gamma^0 = \\Phi(u^0)$, "
        "$\\delta_0^+ = \\|a^\\kappa - c^0\\|^2/\\gamma^0 - 1$, "
        "$\\delta_0^- = 1 - \\|a^\\xi - c^0\\|^2/\\gamma^0$, "
        "$\\delta_0 = \\max\\{\\delta_0^+, \\delta_0^-\\}$",
        verdict="HOLDS",
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
        corrected="All other $u_i^0$ are 0, which is not said; $\\alpha$ is also the "
        "name of the weights in Algorithms 1 and 2.",
    ),
    _slide(
        id="S-A4-choice",
        place="Alg 4, plus or minus",
        statement="Plus iteration when $\\delta_k > \\delta_k^-$, minus iteration "
        "otherwise.",
        verdict="HOLDS",
        measure=_meb_a,
        true={},
        spoiled={
            "delta is the smaller of the two": {
                "delta": lambda s: min(s.plus[s.k], s.minus[s.k])
            },
            "always a minus iteration": {"delta": lambda s: s.minus[s.k]},
        },
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A4-plus",
        place="Alg 4, plus iteration",
        statement="$\\lambda^k \\leftarrow \\dots$, then $u^k \\leftarrow "
        "(1-\\lambda^{k-1})u^{k-1} + \\lambda^{k-1}e^\\kappa$ with $k$ unchanged",
        verdict="WRONG",
        measure=_meb_a,
        true={},
        printed={"advance": lambda s: s.k},
        spoiled={"advanced twice": {"advance": lambda s: s.k + 2}},
        corrected="$k \\leftarrow k + 1$ stands between the two lines, as it does in "
        "the minus iteration.",
        witness="k = 0: the update reads lambda^{-1} and u^{-1}",
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A4-kappa",
        place="Alg 4, plus iteration",
        statement="$c^k \\leftarrow (1-\\lambda^{k-1})c^{k-1} + \\lambda^{k-1}a^k$, "
        "$\\mathcal{X}^k \\leftarrow \\mathcal{X}^{k-1} \\cup \\{a^k\\}$",
        verdict="WRONG",
        measure=_meb_a,
        true={},
        printed={
            "plus_center": lambda s: literal._shift_center(s, 1, _point_number_k(s)),
            "plus_core": lambda s: s.core[s.k - 1] | {_point_number_k(s)},
        },
        spoiled={
            "center only": {
                "plus_center": lambda s: literal._shift_center(s, 1, _point_number_k(s))
            },
            "core set not grown": {"plus_core": lambda s: s.core[s.k - 1]},
            "center moved away": {
                "plus_center": lambda s: literal._shift_center(s, -1, s.kappa)
            },
        },
        corrected="$a^\\kappa$ in both places.",
        witness="points (0,0), (4,0), (1,2.5), (3,-2.6): the center follows the "
        "numbering of the points, not the farthest one",
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A4-lambda+",
        place="Alg 4, plus step",
        statement="$\\lambda^k \\leftarrow \\delta_k / [2(1+\\delta_k)]$",
        verdict="HOLDS",
        measure=_stationary(+1),
        true=lambda delta: delta / (2 * (1 + delta)),
        spoiled={
            "factor 2 lost": lambda delta: delta / (1 + delta),
            "minus": lambda delta: delta / (2 * (1 - delta)),
        },
        kind="symbolic",
    ),
    _slide(
        id="S-A4-lambda+gain",
        place="Alg 4, plus step",
        statement="A plus iteration raises $\\gamma$ by "
        "$\\gamma\\delta^2/(4(1+\\delta))$.",
        verdict="HOLDS",
        measure=_gain(+1),
        true=lambda gamma, delta: gamma * delta**2 / (4 * (1 + delta)),
        spoiled={
            "half": lambda gamma, delta: gamma * delta**2 / (2 * (1 + delta)),
            "first power": lambda gamma, delta: gamma * delta / (4 * (1 + delta)),
        },
        kind="symbolic",
    ),
    _slide(
        id="S-A4-lambda-",
        place="Alg 4, minus step",
        statement="$\\lambda^k \\leftarrow \\delta_k^- / [2(1-\\delta_k^-)]$, unclipped",
        verdict="HOLDS",
        measure=_stationary(-1),
        true=lambda delta: delta / (2 * (1 - delta)),
        spoiled={
            "plus": lambda delta: delta / (2 * (1 + delta)),
            "factor 2 lost": lambda delta: delta / (1 - delta),
        },
        kind="symbolic",
    ),
    _slide(
        id="S-A4-lambda-cap",
        place="Alg 4, minus step",
        statement="$\\lambda^k \\leftarrow \\min\\left\\{\\frac{\\delta_k^-}"
        "{2(1-\\delta_k^-)}, \\frac{u_\\xi^k}{1-u_\\xi^k}\\right\\}$",
        verdict="HOLDS",
        measure=_best_minus_step,
        true=lambda delta, u: min(delta / (2.0 * (1.0 - delta)), u / (1.0 - u)),
        spoiled={
            "no cap": lambda delta, u: delta / (2.0 * (1.0 - delta)),
            "cap u": lambda delta, u: min(delta / (2.0 * (1.0 - delta)), u),
            "max": lambda delta, u: max(delta / (2.0 * (1.0 - delta)), u / (1.0 - u)),
        },
        corrected="Needs care where $\\delta_k^- = 1$ (the point is the center) and "
        "$u_\\xi = 1$; a dropped weight is set to 0 outright.",
    ),
    _slide(
        id="S-A4-lambda-gain",
        place="Alg 4, minus step",
        statement="An unclipped minus iteration raises $\\gamma$ by "
        "$\\gamma(\\delta^-)^2/(4(1-\\delta^-))$.",
        verdict="HOLDS",
        measure=_gain(-1),
        true=lambda gamma, delta: gamma * delta**2 / (4 * (1 - delta)),
        spoiled={
            "plus": lambda gamma, delta: gamma * delta**2 / (4 * (1 + delta)),
            "sign": lambda gamma, delta: -gamma * delta**2 / (4 * (1 - delta)),
        },
        kind="symbolic",
    ),
    _slide(
        id="S-A4-drop",
        place="Alg 4, drop step",
        statement="$\\mathcal{X}_{k+1} \\leftarrow \\mathcal{X}_k \\setminus \\{a^\\xi\\}$ "
        "when $\\lambda^k = u_\\xi^k/(1-u_\\xi^k)$, else $\\mathcal{X}_{k+1} "
        "\\leftarrow \\mathcal{X}_k$",
        verdict="HOLDS",
        measure=_meb_a,
        true={},
        spoiled={
            "never dropped": {"drops": lambda lam, cap: False},
            "always dropped": {"drops": lambda lam, cap: True},
        },
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A4-minus",
        place="Alg 4, minus iteration",
        statement="$c^k \\leftarrow (1+\\lambda^{k-1})c^{k-1} - \\lambda^{k-1}a^\\xi$",
        verdict="HOLDS",
        measure=_meb_a,
        true={},
        spoiled={
            "towards": {"minus_center": lambda s: literal._shift_center(s, 1, s.xi)},
            "center not moved": {"minus_center": lambda s: s.c[s.k - 1]},
        },
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A4-gamma",
        place="Alg 4, end of the loop",
        statement="$\\gamma^0 \\leftarrow \\Phi(u^k)$",
        verdict="WRONG",
        measure=_meb_a,
        true={},
        printed={"gamma": _stale_gamma},
        spoiled={"first value kept": {"gamma": _first_gamma}},
        corrected="$\\gamma^k \\leftarrow \\Phi(u^k)$",
        witness="k = 1: delta_1^+ divides by gamma^1, which no line sets; with the "
        "first value in its place the loop does not end",
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A4-c0",
        place="Alg 4, end of the loop",
        statement="$\\kappa \\leftarrow \\mathrm{argmax}_i \\|a^i - c^0\\|^2$",
        verdict="WRONG",
        measure=_meb_a,
        true={},
        printed={"kappa": lambda s: int(distances2(s.points, s.c[0]).argmax())},
        spoiled={
            "nearest": {"kappa": lambda s: int(distances2(s.points, s.c[s.k]).argmin())},
            "from the origin": {"kappa": lambda s: int(z_of(s.points).argmax())},
        },
        corrected="$\\|a^i - c^k\\|^2$",
        witness="points (0,0), (4,0), (1,2.5), (3,-2.6): the loop stops with a ball "
        "that leaves a point outside",
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A4-X0",
        place="Alg 4, end of the loop",
        statement="$\\xi \\leftarrow \\mathrm{argmin}_{i : a^i \\in \\mathcal{X}_0} "
        "\\|a^i - c^k\\|^2$",
        verdict="WRONG",
        measure=_meb_a,
        true={},
        printed={
            "xi": lambda s: literal._best(distances2(s.points, s.c[s.k]), s.core[0], False)
        },
        spoiled={
            "over all points": {
                "xi": lambda s: int(distances2(s.points, s.c[s.k]).argmin())
            },
            "farthest": {
                "xi": lambda s: literal._best(
                    distances2(s.points, s.c[s.k]), s.core[s.k], True
                )
            },
        },
        corrected="$a^i \\in \\mathcal{X}_k$",
        witness="clouds in which a point of the first pair is dropped: it is chosen "
        "again, with weight 0 and a step of length 0, without end",
        tolerance=CENTER_TOLERANCE,
    ),
    _slide(
        id="S-A4-stop",
        place="Alg 4, loop condition",
        statement="Loop while $\\delta_k > (1+\\epsilon)^2 - 1$ with $\\delta_k = "
        "\\max\\{\\delta_k^+, \\delta_k^-\\}$",
        verdict="HARMLESS",
        measure=_guarantees,
        true={"stops": lambda s, eps: s.plus[s.k] <= (1.0 + eps) ** 2 - 1.0} | {
            "radius": lambda s: math.sqrt((1.0 + s.plus[s.k]) * s.gamma[s.k])
        },
        printed={},
        spoiled={
            "lower delta alone": {
                "stops": lambda s, eps: s.minus[s.k] <= (1.0 + eps) ** 2 - 1.0
            },
            "four times as lax": {
                "stops": lambda s, eps: s.plus[s.k] <= (1.0 + 4.0 * eps) ** 2 - 1.0
            },
        },
        corrected="Both the ball and the core set are guaranteed by $\\delta_k^+ \\le "
        "(1+\\epsilon)^2 - 1$ alone; asking for $\\delta_k^-$ too costs steps.",
    ),
    _slide(
        id="S-A4-out",
        place="Alg 4, output",
        statement="Radius $\\sqrt{(1+\\delta_k)\\gamma^k}$",
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
        "$\\sqrt{(1+\\delta_k^+)\\gamma^k}$.",
    ),
]

ENTRIES = ALGORITHM_1 + ALGORITHM_2 + ALGORITHMS_3_4
