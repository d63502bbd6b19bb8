"""The slides' Algorithms 1 and 2, line by line, on clouds small enough to enumerate."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from mebnb.documents.entries import Entry
from mebnb.documents.toolkit import lines_of_the_slides as literal
from mebnb.documents.toolkit.clouds import (
    ball_by_enumeration,
    clouds,
    over,
    phi,
    worst,
)
from mebnb.documents.toolkit.lines_of_the_slides import CannotRun, unit

_slide = partial(Entry, document="slides")

CLOUDS = clouds(31, 4) + clouds(32, 2, m=7, n=3)

CENTER_TOLERANCE = 1e-4


# --- measures ----------------------------------------------------------------------


@np.errstate(over="ignore", invalid="ignore")  # wrong lines may run away
def missed(run, points):
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

    @over(CLOUDS)
    def measure(lines, points):
        try:
            return missed(algorithm(points, **lines), points)
        except (CannotRun, ValueError):
            return math.inf

    return measure


def line_of(measure):
    """Maker of entries whose form takes the place of one line of an algorithm.

    The right form is the line that stands in the table; a form that replaces several
    lines is a mapping.
    """

    def entry(line, *, spoiled, printed=None, **said):
        def lines(form):
            return form if isinstance(form, dict) else {line: form}

        return _slide(
            measure=measure,
            true={},
            printed=None if printed is None else lines(printed),
            spoiled={damage: lines(form) for damage, form in spoiled.items()},
            tolerance=CENTER_TOLERANCE,
            **said,
        )

    return entry


_blended = _ends_at_the_optimum(literal.blended)
pairwise_line = line_of(_ends_at_the_optimum(literal.pairwise))
blended_line = line_of(_blended)


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


@over(CLOUDS)
def _gap_at_the_end(stops, points, eps=1e-6):
    """By how much r*^2 - phi exceeds eps when Algorithm 2 stops (or at step 2000)."""
    u = literal.blended(points, eps, stops=stops).weights
    return (ball_by_enumeration(points).radius ** 2 - phi(points, u)) / eps - 1.0


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
    pairwise_line(
        "start",
        id="S-A1-req",
        place="Alg 1, start",
        statement=r"Starts from a point $\mu_0 \in \mathcal{A}$ with $S_0 = "
        r"\{\mu_0\}$.",
        verdict="HARMLESS",
        printed=_start_at_a_data_point,
        spoiled={"no vertex in the set": literal.start_without_vertex},
        corrected=r"$\mu_0$ is a vertex of $\Delta^{m-1}$; a data point lives in "
        r"$\mathbb{R}^n$ and holds no weights.",
    ),
    pairwise_line(
        "gap",
        id="S-A1-req-gap",
        place="Alg 1, gap",
        statement=r"$d_t^{FW} = e_{\mu_t} - e_{i_t^w}$, $g_t^{FW} = \langle "
        r"\nabla(-\phi(\mu_t)), d_t^{FW}\rangle$; returns $x_t$ when $g_t^{FW} < "
        r"\epsilon$",
        verdict="HARMLESS",
        spoiled={
            "other sign": lambda s: s.grad @ (unit(s, s.w) - s.mu),
            "gradient at the vertex alone": lambda s: -s.grad[s.w],
        },
        corrected=r"$d_t^{FW} = \mu_t - e_{i_t^w}$, an ascent direction of $-\phi$ "
        r"whose slope is the gap; what is returned is $\mu_t$.",
    ),
    pairwise_line(
        "active",
        id="S-A1-req-set",
        place="Alg 1, active set",
        statement=r"$S_{t+1} \leftarrow \{e_{i^w} \in A : \alpha^{t+1} > 0\}$",
        verdict="HARMLESS",
        printed=lambda s: {s.w},
        spoiled={
            "nothing leaves": lambda s: s.active | {s.w},
            "nothing enters": lambda s: s.active - {s.w} or {s.w},
        },
        corrected=r"$S_{t+1} = \{e_j : \alpha_j^{t+1} > 0\}$ with $j$ over all atoms; "
        "the bound index is called $i^w$ in print. With the vertex $i_t^w$ alone in "
        "the set the away atom would lose its meaning.",
    ),
    pairwise_line(
        "towards",
        id="S-A1-towards",
        place="Alg 1, $i_t^w$",
        statement=r"$i_t^w \leftarrow \mathrm{argmin}_i (-\nabla\phi(\mu_t))_i$",
        spoiled={
            "argmax": lambda s: literal._best(s.grad, range(s.m), largest=True),
            "over the active set": lambda s: literal._best(
                s.grad, s.active, largest=False
            ),
        },
    ),
    pairwise_line(
        "away",
        id="S-A1-away",
        place="Alg 1, $i_t^a$",
        statement=r"$i_t^a \leftarrow \mathrm{argmax}_{j : e_j \in S_t} "
        r"(-\nabla\phi(\mu_t))_j$",
        spoiled={
            "argmin": lambda s: literal._best(s.grad, s.active, largest=False),
            "over all vertices": lambda s: literal._best(
                s.grad, range(s.m), largest=True
            ),
        },
    ),
    pairwise_line(
        "direction",
        id="S-A1-direction",
        place="Alg 1, $d_t$",
        statement=r"$d_t \leftarrow e_{i_t^w} - e_{i_t^a}$, $\mu_{t+1} \leftarrow "
        r"\mu_t + \lambda_t d_t$",
        spoiled={
            "turned round": lambda s: unit(s, s.a) - unit(s, s.w),
            "minus": {"update": lambda s: s.mu - s.lam * s.d},
            "from the iterate": lambda s: unit(s, s.w) - s.mu,
        },
    ),
    pairwise_line(
        "step",
        id="S-A1-lambda",
        place="Alg 1, step",
        statement=r"$\lambda_t \leftarrow \max\left(0, \min\left(\lambda_{\max}, "
        r"\frac{\langle -\nabla\phi(\mu_t), d_t\rangle}{L\|d_t\|_2^2}\right)\right)$ "
        "with $d_t = e_{i_t^w} - e_{i_t^a}$",
        verdict="WRONG",
        printed=literal.short_step_back,
        spoiled={
            "L lost": lambda s: -(s.grad @ s.d) / (s.d @ s.d),
            "L to the fourth": lambda s: (
                -(s.grad @ s.d) / (s.lipschitz**4 * (s.d @ s.d))
            ),
        },
        corrected=r"$\langle \nabla\phi(\mu_t), d_t\rangle / (L \|d_t\|^2)$, clipped "
        r"to $[0, \alpha_{i_t^a}]$; the authors' code has it so.",
        witness="any cloud: the printed quotient is negative, so that lambda = 0 from "
        "the first step on and the radius stays 0",
    ),
    pairwise_line(
        "transfer",
        id="S-A1-upd",
        place="Alg 1, weights",
        statement=r"$\alpha_{i_t^a}^{(t+1)} = \alpha_{i_t^a}^{(t)} - \lambda_t$, "
        r"$\alpha_{i_t^w}^{(t+1)} = \alpha_{i_t^w}^{(t)} + \lambda_t$",
        spoiled={
            "both grow": _all_transfer_up,
            "to another atom": _transfer_to_the_wrong_atom,
        },
    ),
    pairwise_line(
        "cap",
        id="S-A1-upd-cap",
        place=r"Alg 1, $\lambda_{\max}$",
        statement=r"$\lambda_{\max} \leftarrow \alpha_{i_t^a}$",
        spoiled={
            "no cap": lambda s: math.inf,
            "weight of the other atom": lambda s: s.alpha[s.w],
            "half of it": lambda s: 0.5 * s.alpha[s.a],
        },
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
        statement=r"$\mu_0 \leftarrow \frac{1}{m} \mathbf{1}$, $S_0 \leftarrow "
        r"\{\mu_0\}$, then an extremum over $e_j \in S_t$",
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
        corrected=r"A vertex; or $S_0 = \{e_1, \dots, e_m\}$; or the mean kept as an "
        "atom beside the vertices, which is what the tables were made with. All three "
        "end at the optimum.",
        witness="to the letter no vertex is in the set and the first extremum is over "
        "nothing",
        tolerance=CENTER_TOLERANCE,
    ),
    blended_line(
        "towards",
        id="S-A2-choice",
        place="Alg 2, choice of points",
        statement=r"$i_t^a = \mathrm{argmax}_{S_t}$, $i_t^s = \mathrm{argmin}_{S_t}$, "
        r"$i_t^w = \mathrm{argmin}_{j \le m}$ of $(-\nabla\phi(\mu_t))_j$",
        spoiled={
            "away and local exchanged": {
                "away": literal.BLENDED["local"],
                "local": literal.BLENDED["away"],
            },
            "global argmax": lambda s: literal._best(s.grad, range(s.m), largest=True),
            "global over the active set": lambda s: literal._best(
                s.grad, s.active, largest=False
            ),
        },
    ),
    blended_line(
        "test",
        id="S-A2-test",
        place="Alg 2, blending test",
        statement=r"$\langle -\nabla\phi(\mu_t), e_{i_t^a} - e_{i_t^a}\rangle \ge "
        r"\langle -\nabla\phi(\mu_t), \mu_t - e_{i_t^w}\rangle$, then $d_t = e_{i_t^s} "
        "- e_{i_t^s}$",
        verdict="LOST IN THE SCAN",
        printed={
            "test": lambda s: s.grad @ (s.mu - unit(s, s.w)) <= 0.0,
            "local_direction": lambda s: unit(s, s.s) - unit(s, s.s),
        },
        spoiled={
            "never a local step": lambda s: False,
            "always a local step": lambda s: True,
            "local step turned round": {
                "local_direction": lambda s: unit(s, s.s) - unit(s, s.a)
            },
        },
        corrected="$e_{i_t^a} - e_{i_t^s}$ in both places; the scan lost the other "
        "letter. To the letter only the slow Frank-Wolfe steps would remain.",
        witness="any cloud: the left side is 0 and the local direction is zero",
    ),
    blended_line(
        "cap",
        id="S-A2-cap",
        place=r"Alg 2, $\Lambda_t^*$",
        statement=r"$\Lambda_t^* \leftarrow c[\mu_t](e_{i_t^a})$",
        spoiled={
            "no cap": lambda s: math.inf,
            "weight of the other atom": lambda s: s.alpha[s.s],
        },
    ),
    blended_line(
        "local_step",
        id="S-A2-lambda",
        place="Alg 2, pairwise step",
        statement=r"$\lambda_t \leftarrow \max\left(0, \min\left(\Lambda_t^*, "
        r"\frac{\langle \nabla\phi(\mu_t), d_t\rangle}{L\|d_t\|_2^2}\right)\right)$ "
        r"with $d_t = e_{i_t^a} - e_{i_t^s}$ and $\mu_{t+1} \leftarrow \mu_t - "
        r"\lambda_t d_t$",
        verdict="WRONG",
        printed={"local_step": literal.short_step, "global_step": literal.short_step},
        spoiled={
            "plus": {"update": lambda s: s.mu + s.lam * s.d},
            "L lost": lambda s: s.grad @ s.d / (s.d @ s.d),
        },
        corrected=r"$\langle -\nabla\phi(\mu_t), d_t\rangle / (L\|d_t\|^2)$: $d_t$ "
        r"points from towards to away and $\mu_t - \lambda_t d_t$ runs along it "
        "backwards; the authors' code has it so.",
        witness="any cloud from the first vertex, with the FW step as printed: both "
        "quotients are negative, lambda = 0 for ever, radius 0",
    ),
    _slide(
        id="S-A2-lambda-FW",
        place="Alg 2, FW step",
        statement=r"$\lambda_t \leftarrow \max\left(0, \min\left(1, \frac{\langle "
        r"\nabla\phi(\mu_t), d_t\rangle}{L\|d_t\|_2^2}\right)\right)$ with $d_t = "
        r"\mu_t - e_{i_t^w}$ and $\mu_{t+1} \leftarrow \mu_t - \lambda_t d_t$",
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
        corrected=r"$\langle -\nabla\phi(\mu_t), d_t\rangle / (L\|d_t\|^2)$; "
        "the authors' code has it so.",
        witness="any cloud from the first vertex: lambda = 0 at the first step; the "
        "FW step then only names the atom, and correct local steps do all the work",
        tolerance=CENTER_TOLERANCE,
    ),
    blended_line(
        "local_transfer",
        id="S-A2-descent",
        place="Alg 2, descent step",
        statement=r"$\lambda_t < \Lambda_t^*$: $S_{t+1} = S_t$, $\alpha_{i^a} "
        r"\leftarrow \alpha_{i^a} - \lambda_t$, $\alpha_{i^s} \leftarrow \alpha_{i^s} "
        r"+ \lambda_t$",
        spoiled={
            "weights not moved": lambda s: None,
            "exchanged": lambda s: (
                s.alpha.__setitem__(s.a, s.alpha[s.a] + s.lam),
                s.alpha.__setitem__(s.s, s.alpha[s.s] - s.lam),
            ),
        },
    ),
    blended_line(
        "drop",
        id="S-A2-drop",
        place="Alg 2, drop step",
        statement=r"$S_{t+1} \leftarrow S_t \setminus \{e_{i_t^s}\}$, $\alpha_{i_t^s} "
        r"= 0$, $\alpha_{i_t^s} = \alpha_{i_{t-1}^s} + \lambda_t$",
        verdict="LOST IN THE SCAN",
        printed=_printed_drop,
        spoiled={
            "weight of the dropped atom kept": _drop_keeps_the_weight,
            "nothing dropped": lambda s: None,
        },
        corrected=r"$S_t \setminus \{e_{i_t^a}\}$, $\alpha_{i_t^a} = 0$, "
        r"$\alpha_{i_t^s} \leftarrow \alpha_{i_t^s} + \lambda_t$ (letters lost in the "
        "scan): the away atom is the one whose weight is used up.",
        witness="the first drop step removes the atom that has just gained weight",
    ),
    blended_line(
        "global_transfer",
        id="S-A2-FW",
        place="Alg 2, FW step",
        statement=r"$S_{t+1} \leftarrow S_t \cup \{w_t\}$ (only $w_t$ when $\lambda_t "
        r"= 1$), $\alpha_t = (1-\lambda_t)\alpha_{t-1}$, $\alpha_{i_t^w} \leftarrow "
        r"\alpha_{i_t^w} + \lambda_t$",
        spoiled={
            "others not shrunk": _fw_without_shrinking,
            "only the vertex kept": _fw_forgets_the_others,
        },
    ),
    _slide(
        id="S-A2-stop",
        place="Alg 2, stopping",
        statement=r"Runs for $t = 0, \dots, T-1$; no stopping rule is listed.",
        verdict="HARMLESS",
        measure=_gap_at_the_end,
        true=lambda s, eps: s.gap < eps,
        printed=lambda s, eps: False,
        spoiled={
            "local gap": lambda s, eps: s.grad @ (unit(s, s.a) - unit(s, s.s)) < eps,
            "a thousand times eps": lambda s, eps: s.gap < 1e3 * eps,
        },
        corrected=r"Stop at FW gap $\le \epsilon$ as in Algorithm 1, which bounds "
        r"$\phi^* - \phi$; the text says that both share the rule.",
    ),
]


ENTRIES = ALGORITHM_1 + ALGORITHM_2
