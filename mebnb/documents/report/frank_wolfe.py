"""The report on Frank-Wolfe: equations (29) to (35) and what it says in words."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from mebnb.documents.entries import Entry
from mebnb.documents.toolkit.clouds import (
    distances2,
    farthest_from,
    gaussian_cloud,
    gradient_of_f,
    off_simplex,
    over,
    phi,
    random_weights,
    small_clouds,
    step_to_boundary,
    vertex,
    z_of,
)
from mebnb.documents.toolkit.lines_of_the_report import (
    PLAIN,
    AwayLines,
    BlendedLines,
    run_away_step,
    run_blended,
    run_core_set,
    with_rule,
)
from mebnb.documents.toolkit.symbols import damaged, equals, gradient_of

report = partial(Entry, document="report")
symbolic = partial(report, kind="symbolic", spoil=damaged())

# --- Frank-Wolfe: (29) to (35) -----------------------------------------------------


def _cases():
    """Clouds with weights on the simplex, 25 a cloud."""
    return [(k, u) for k in small_clouds() for u in random_weights(k.m, 25)]


def _farthest(k, u):
    return farthest_from(k.points, u @ k.points)


def _support(u):
    return set(np.flatnonzero(u > 0).tolist())


@over(_cases)
def _oracle_fails(linear, k, u):
    """Of (30): its minimum over the simplex is not the farthest point's vertex."""
    g = linear(k.points, u)
    inner = min(float(s @ g) for s in random_weights(k.m, 20, seed=5))
    return int(np.argmin(g)) != _farthest(k, u) or inner < g.min() - 1e-12


@over(_cases)
def _not_the_vertex(choose, k, u):
    """Of (31), (32): the answer is no unit vector, or not the farthest point's."""
    return not np.array_equal(choose(k.points, u), vertex(k.m, _farthest(k, u)))


@over(_cases)
def _not_the_index(choose, k, u):
    return choose(k.points, u) != _farthest(k, u)


def _best_of(g, candidates):
    return min(candidates, key=lambda s: float(s @ g))


def _units(m):
    return [vertex(m, i) for i in range(m)]


@over(_cases)
def _lost_descent(indices, k, u):
    """The worst of the allowed vertices, measured by the slope it gives away."""
    g = gradient_of_f(k.points, u)
    return [g[i] - g.min() for i in indices(g)]


@over(_cases)
def _chain_of_gaps(form, k, u):
    """How far g_FW >= slope toward u* >= objective above its optimum is violated."""
    objective, slope = form
    g = slope(k.points, u)
    gap, toward = -g @ (vertex(k.m, int(np.argmin(g))) - u), -g @ (k.weights - u)
    above = objective(k.points, u) - objective(k.points, k.weights)
    return toward - gap, above - toward, -above


def _exact_steps():
    """The steps of Frank-Wolfe with exact line search on a normal cloud."""
    run = run_core_set(gaussian_cloud(), eps=0.005)
    return [delta / (2 * (1 + delta)) for _, _, _, delta, _, _ in run.history[:-1]]


def _largest_rise(steps):
    return max(0.0, max(b - a for a, b in itertools.pairwise(steps())))


def _below_vertices(form):
    """How far a linear function falls below its least value at the extreme points."""
    extreme, members = form
    rng = np.random.default_rng(11)
    return max(
        float((extreme @ g).min() - (members @ g).min())
        for g in rng.normal(size=(40, extreme.shape[1]))
    )


def _updates_off_simplex(update):
    rng = np.random.default_rng(12)
    return max(
        off_simplex(update(u, vertex(len(u), rng.integers(len(u))), rng.random()))
        for _, u in _cases()
    )


FRANK_WOLFE = [
    report(
        id="R-X-u0",
        place="before (29)",
        statement=r"The midpoint $u_0=\frac{1}{n}\mathbf{1}$ of the simplex is a "
        "feasible start.",
        verdict="WRONG",
        measure=lambda form: max(off_simplex(form(k.m, k.n)) for k in small_clouds()),
        true=lambda m, n: np.full(m, 1 / m),
        printed=lambda m, n: np.full(m, 1 / n),
        corrected=r"$\frac{1}{m}\mathbf{1}$",
        witness="m = 5 points in R^2: the weights sum to 2.5",
        spoiled={
            "all ones": lambda m, n: np.ones(m),
            "1/(m - 1)": lambda m, n: np.full(m, 1 / (m - 1)),
        },
    ),
    report(
        id="R-X-alpha",
        place="before (29)",
        statement=r"The step size $\alpha_t\in[0,1]$ becomes smaller with time.",
        verdict="WRONG",
        measure=_largest_rise,
        true=lambda: [2 / (t + 2) for t in range(50)],
        printed=_exact_steps,
        corrected="true of the rule $2/(t+2)$; exact steps go up and down",
        witness="exact steps, on which the report settles, on 60 normal points of R^5",
        spoiled={"t/(t + 2)": lambda: [t / (t + 2) for t in range(50)]},
    ),
    report(
        id="R-X-feasible",
        place="before (29)",
        statement=r"$u^{t+1}=u^t+\alpha_t[s^t-u^t]$ with $\alpha_t\in[0,1]$ stays in "
        "the simplex.",
        measure=_updates_off_simplex,
        true=lambda u, s, alpha: u + alpha * (s - u),
        spoiled={
            "u not subtracted": lambda u, s, alpha: u + alpha * s,
            "away from s": lambda u, s, alpha: u - alpha * (s - u),
        },
    ),
    symbolic(
        id="R-E29",
        statement=r"$\nabla(-\Phi(u))=2A^TAu-z$",
        measure=equals(lambda s: gradient_of(s.f(s.u), s.u)),
        true=lambda s: 2 * s.A.T * s.A * s.u - s.z,
    ),
    report(
        id="R-E30",
        statement=r"$s_t=\operatorname{argmin}_{s\in\Delta^{m-1}}\, "
        r"s^T\left[2A^TAu_t-z\right]$",
        measure=_oracle_fails,
        true=gradient_of_f,
        spoiled={
            "factor 2": lambda p, u: p @ (u @ p) - z_of(p),
            "sign": lambda p, u: -gradient_of_f(p, u),
            "z lost": lambda p, u: 2 * p @ (u @ p),
        },
    ),
    report(
        id="R-X-vertex",
        place="after (30)",
        statement="Over a convex set a linear function has its minimum at a vertex.",
        verdict="HARMLESS",
        measure=_below_vertices,
        true=(np.eye(3), random_weights(3, 60)),
        printed=(np.zeros((1, 2)), np.array([[t, t] for t in np.arange(0.0, 5.0)])),
        corrected="over a compact convex set, as the simplex is, at one extreme point "
        "at least",
        witness="the ray {(t, t)}: one vertex, and no minimum of -x",
        spoiled={
            "two of three vertices": (np.eye(3)[:2], random_weights(3, 60)),
        },
    ),
    report(
        id="R-E31",
        statement=r"$s_t=\operatorname{argmin}_{e_i\in\mathbb{R}^m}\, "
        r"e_i^T\left[2A^TAu_t-z\right]$",
        measure=_not_the_vertex,
        true=lambda p, u: _best_of(gradient_of_f(p, u), _units(len(u))),
        spoiled={
            "first n vertices only": lambda p, u: _best_of(
                gradient_of_f(p, u), _units(len(u))[: p.shape[1]]
            ),
            "largest": lambda p, u: _best_of(-gradient_of_f(p, u), _units(len(u))),
        },
    ),
    report(
        id="R-E32",
        statement=r"$e_j=\operatorname{argmin}_{e_i\in\mathbb{R}^m}\, "
        r"e_i^T\left[2A^TAu_t-z\right]$",
        measure=_not_the_vertex,
        true=lambda p, u: vertex(
            len(u), int(np.argmin(np.eye(len(u)) @ gradient_of_f(p, u)))
        ),
        spoiled={
            "sign of z": lambda p, u: _best_of(
                gradient_of_f(p, u) + 2 * z_of(p), _units(len(u))
            ),
            "an interior point": lambda p, u: _best_of(
                gradient_of_f(p, u), random_weights(len(u), 20)
            ),
        },
    ),
    report(
        id="R-E33",
        statement=r"$j=\operatorname{argmin}_{i\in\{1,\dots,m\}}\left[2A^TAu_t-z"
        r"\right]_i$",
        measure=_not_the_index,
        true=lambda p, u: int(np.argmin(gradient_of_f(p, u))),
        spoiled={
            "largest component": lambda p, u: int(np.argmax(gradient_of_f(p, u))),
            "largest norm": lambda p, u: int(np.argmax(z_of(p))),
            "largest in size": lambda p, u: int(np.argmax(np.abs(gradient_of_f(p, u)))),
        },
    ),
    report(
        id="R-E34",
        statement=r"$u_{t+1}=u_t+\alpha_t[e_i-u_t]$",
        verdict="LOST IN THE SCAN",
        measure=_lost_descent,
        true=lambda g: [int(np.argmin(g))],
        printed=lambda g: range(len(g)),
        corrected="$e_j$ with the $j$ of (33), which the scan reads as $i$",
        witness="u = e_1: the choice i = 1 stands still while the gap is positive",
        spoiled={
            "largest component": lambda g: [int(np.argmax(g))],
            "first vertex": lambda g: [0],
        },
    ),
    report(
        id="R-E35",
        statement=r"$g_{FW}^t:=\langle-\nabla\Phi(u^t),d_{FW}^t\rangle\ge\langle-"
        r"\nabla\Phi(u^t),u^*-u^t\rangle\ge\Phi(u^t)-\Phi(u^*)$",
        verdict="AMBIGUOUS",
        measure=_chain_of_gaps,
        true=(lambda p, u: -phi(p, u), gradient_of_f),
        printed=(phi, lambda p, u: -gradient_of_f(p, u)),
        corrected=r"with the minimised $f=-\Phi$ in the place of $\Phi$: "
        r"$\langle-\nabla f(u),s-u\rangle\ge f(u)-f^*$",
        witness="with the Phi of (19) the order turns round: Phi(u) - Phi(u*) <= 0",
        spoiled={
            "half the gradient": (
                lambda p, u: -phi(p, u),
                lambda p, u: 0.5 * gradient_of_f(p, u),
            ),
            "objective doubled": (lambda p, u: -2 * phi(p, u), gradient_of_f),
        },
    ),
]

# --- Frank-Wolfe and away steps ----------------------------------------------------


@over(small_clouds)
def _share_inside(share, k):
    """The ball's share of the points against the claimed one."""
    inside = distances2(k.points, k.center) <= k.radius**2 * (1 + 1e-9)
    return abs(inside.mean() - share)


@over(small_clouds)
def _vertices_needed(count, k):
    """Optimal weight that lies outside the hull of the first `count` unit vectors."""
    return k.weights[count(k.m, k.n) :].sum()


# What the captions of the report say that a figure shows.
_PANELS = {1: ("spiral and ball",), 2: ("left", "middle", "right")}


@lru_cache(maxsize=1)
def _plain_gaps():
    """Smallest gap so far of Frank-Wolfe with exact steps, 1500 steps."""
    run = run_away_step(gaussian_cloud(), PLAIN, limit=1500)
    return np.minimum.accumulate(run.gaps)


def _power_fault(power):
    """Distance of `power` from p in gap ~ t^-p between steps 100 and 1500."""
    t = np.arange(100, 1500)
    slope = np.polyfit(np.log(t), np.log(_plain_gaps()[t]), 1)[0]
    return abs(power + slope)


def _late_choices(predicted):
    """Number of late vertices that the prediction misses or has too many."""
    chosen = []

    def towards(g):
        chosen.append(int(np.argmin(g)))
        return chosen[-1]

    run_away_step(gaussian_cloud(), replace(PLAIN, towards=towards), limit=600)
    face = _support(run_away_step(gaussian_cloud()).u)
    late = set(chosen[200:])
    return float(len(late ^ predicted(face)))


def _decade_growth(run):
    """How much longer the gap takes from 1e-6 to 1e-9 than from 1e-3 to 1e-6."""
    gaps = run(gaussian_cloud())
    reached = [
        next((i for i, g in enumerate(gaps) if g <= e), None)
        for e in (1e-3, 1e-6, 1e-9)
    ]
    if None in reached:
        return math.inf
    return max(0.0, (reached[2] - reached[1]) / (reached[1] - reached[0]) - 2)


_SLOW = {
    "Frank-Wolfe": lambda points: run_away_step(points, PLAIN).gaps,
    "away steps of length 2/(t + 2)": lambda points: (
        run_away_step(
            points, replace(AwayLines(), **with_rule(lambda t: 2 / (t + 2)))
        ).gaps
    ),
}


def _in_simplex(u):
    return off_simplex(u) < 1e-9


def _in_square(x):
    return bool(np.abs(x).max() <= 1 + 1e-12)


_CORNERS = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])


def _conservative_faults(sets):
    """omega_v / (1 - omega_v) against the distance to the boundary, over the sets."""
    places = {"simplex": (_in_simplex, np.eye(4)), "square": (_in_square, _CORNERS)}
    faults = []
    for weights in random_weights(4, 10):
        v = int(np.argmax(weights))
        if weights[v] > 0.95:
            continue
        for contains, atoms in (places[name] for name in sets):
            x = weights @ atoms
            true = step_to_boundary(contains, x, x - atoms[v])
            faults.append(abs(true - weights[v] / (1 - weights[v])))
    return max(faults)


def _away_cases():
    """(u, v, alpha): away steps, among them drop steps."""
    cases = [(np.array([0.5, 0.3, 0.2]), 2, 0.25)]
    for u in random_weights(5, 20):
        v = int(np.flatnonzero(u)[0])
        if u[v] < 1:
            largest = u[v] / (1 - u[v])
            cases += [(u, v, largest), (u, v, 0.5 * largest)]
    return cases


@over(_away_cases)
def _wrong_after_a_drop(rule, u, v, alpha):
    """The active set after a drop step is not the support of the weights."""
    if alpha != u[v] / (1 - u[v]):
        return False
    after = u + alpha * (u - vertex(len(u), v))
    after[np.abs(after) < 1e-12] = 0.0
    return rule(_support(u), v) != _support(after)


@over(_away_cases)
def _away_weight_faults(rule, u, v, alpha):
    return np.abs(rule(u, v, alpha) - (u + alpha * (u - vertex(len(u), v))))


def _reweighted(scale, own):
    def rule(u, v, alpha):
        weights = scale(alpha) * u
        weights[v] += own(alpha)
        return weights

    return rule


@over(list(itertools.product(random_weights(4, 8), range(4), (0.3, 1.0))))
def _towards_faults(rule, u, s, alpha):
    """Weights and active set after Frank-Wolfe steps, alpha = 1 among them."""
    weights, active = rule(u.copy(), _support(u), s, alpha)
    true = u + alpha * (vertex(4, s) - u)
    return np.abs(weights - true).max(), len(active ^ _support(true))


def _towards_rule(share, keep=True):
    def rule(u, active, s, alpha):
        u *= 1 - alpha
        u[s] += share(alpha)
        return u, active | {s} if alpha < 1 or not keep else {s}

    return rule


@lru_cache(maxsize=1)
def _share_of_drops():
    """Largest share of drop steps over normal clouds, for both algorithms."""
    rng = np.random.default_rng(2)
    runs = [
        solver(rng.normal(size=(30, n)))
        for n in (2, 3, 5, 8)
        for solver in (run_away_step, run_blended)
    ]
    return max(run.kinds.count("drop") / run.steps for run in runs)


DIRECTIONS = [
    report(
        id="R-X-intro",
        place="Introduction",
        statement="The ball is to hold a certain percentage of the points.",
        verdict="AMBIGUOUS",
        measure=_share_inside,
        true=1.0,
        printed=0.95,
        corrected="all of them; a percentage asks for the ball with slack, whose "
        r"weights obey $u_i\le C$",
        witness="every small cloud: the smallest ball holds all points",
        spoiled={"half": 0.5},
    ),
    report(
        id="R-X-sublinear",
        place="Away-steps text",
        statement="Frank-Wolfe is slow, sublinear, when the solution lies on the "
        r"boundary: gap $\sim 1/t$.",
        measure=_power_fault,
        true=1.0,
        tolerance=0.15,
        spoiled={"1/t^2": 2.0, "1/sqrt(t)": 0.5},
    ),
    report(
        id="R-X-zigzag",
        place="Away-steps text",
        statement="Near the boundary Frank-Wolfe zig-zags between the vertices of the "
        "face that holds the solution.",
        measure=_late_choices,
        true=lambda face: face,
        spoiled={
            "all vertices": lambda face: set(range(60)),
            "one vertex of the face less": lambda face: face - {min(face)},
        },
    ),
    report(
        id="R-X-fig",
        place="Away-steps text",
        statement=r"The feasible set is $C=\mathrm{conv}(\{e_1,\dots,e_n\})$.",
        verdict="WRONG",
        measure=_vertices_needed,
        true=lambda m, n: m,
        printed=lambda m, n: n,
        corrected=r"$\mathrm{conv}(\{e_1,\dots,e_m\})$",
        witness="five points of R^2 whose ball needs the fourth: u_4 > 0",
        spoiled={"m - 1": lambda m, n: m - 1},
    ),
    report(
        id="R-X-figref",
        place="Away-steps text",
        statement="The away step is drawn in the middle of Figure 1.",
        verdict="WRONG",
        kind="arithmetic",
        measure=lambda figure: float("middle" not in _PANELS.get(figure, ())),
        true=2,
        printed=1,
        corrected="Figure 2",
        witness="Figure 1 is the spiral with its ball",
        spoiled={"Figure 3": 3},
    ),
    report(
        id="R-X-afw-linear",
        place="Away-steps text",
        statement="Away steps suffice for linear convergence when the objective is "
        "strongly convex.",
        measure=_decade_growth,
        true=lambda points: run_away_step(points, eps=1e-10).gaps,
        corrected="here $f=g(Au)+b^Tu$ with $g$ strongly convex, which is enough, "
        "although $2A^TA$ is singular for $m>n$",
        spoiled=_SLOW,
    ),
    report(
        id="R-X-maxstep",
        place="Away-steps text",
        statement="The true largest step can be computed for any $C$, the "
        r"conservative one is $\omega_v/(1-\omega_v)$.",
        verdict="WRONG",
        measure=_conservative_faults,
        true=("simplex",),
        printed=("simplex", "square"),
        tolerance=1e-6,
        corrected="not for arbitrary $C$; on the simplex the conservative step is the "
        "true one",
        witness="center of a square as the mean of its corners: 1/3 against 1",
        spoiled={"square": ("square",)},
    ),
    report(
        id="R-X-half",
        place="Away-steps text",
        statement="At most half of the steps are drop steps.",
        measure=lambda bound: max(0.0, _share_of_drops() - bound),
        true=0.5,
        spoiled={"one in fifty": 0.02},
    ),
    report(
        id="R-X-fwupd",
        place="Away-steps text",
        statement=r"Frank-Wolfe step: $\omega_s\leftarrow(1-\alpha)\omega_s+\alpha$, "
        r"the others $\leftarrow(1-\alpha)\omega_v$; $S\leftarrow\{s\}$ if $\alpha=1$, "
        r"else $S\cup\{s\}$.",
        measure=_towards_faults,
        true=_towards_rule(lambda alpha: alpha),
        spoiled={
            "sign": _towards_rule(lambda alpha: -alpha),
            "nothing added": _towards_rule(lambda alpha: 0.0),
            "set kept at alpha = 1": _towards_rule(lambda alpha: alpha, keep=False),
        },
    ),
    report(
        id="R-X-drop",
        place="Away-steps text",
        statement=r"Drop step: $S^{t+1}=\{v^t\}$.",
        verdict="WRONG",
        measure=_wrong_after_a_drop,
        true=lambda active, v: active - {v},
        printed=lambda active, v: {v},
        corrected=r"$S^{t+1}=S^t\setminus\{v^t\}$; the authors' code has it so",
        witness="u = (.5, .3, .2), v = 3, alpha = .25: (.625, .375, 0)",
        spoiled={"nothing removed": lambda active, v: active},
    ),
    report(
        id="R-X-away",
        place="Away-steps text",
        statement=r"Away step: $\omega_v\leftarrow(1+\alpha)\omega_v+\alpha$, the "
        r"others $\leftarrow(1+\alpha)\omega$.",
        verdict="WRONG",
        measure=_away_weight_faults,
        true=_reweighted(lambda alpha: 1 + alpha, lambda alpha: -alpha),
        printed=_reweighted(lambda alpha: 1 + alpha, lambda alpha: alpha),
        corrected=r"$(1+\alpha)\omega_v-\alpha$; the authors' code has it so",
        witness="alpha = .25 on (.5, .3, .2): the weights sum to 1.5",
        spoiled={
            "shrunk": _reweighted(lambda alpha: 1 - alpha, lambda alpha: alpha),
            "twice": _reweighted(lambda alpha: 1 + alpha, lambda alpha: -2 * alpha),
        },
    ),
    report(
        id="R-X-bpcg",
        place="BPCG text",
        statement="BPCG converges linearly in the strongly convex polyhedral case, "
        "plain Frank-Wolfe does not.",
        measure=_decade_growth,
        true=lambda points: run_blended(points, eps=1e-10).gaps,
        spoiled=_SLOW,
    ),
    report(
        id="R-X-swap",
        place="BPCG text",
        statement="BPCG has no swap steps, which move weight to an atom that is not "
        "active.",
        measure=lambda local: float(
            run_blended(gaussian_cloud(), replace(BlendedLines(), local=local)).outside
        ),
        true=lambda g, active: min(active, key=lambda i: g[i]),
        spoiled={"towards any vertex": lambda g, active: int(np.argmin(g))},
    ),
]

ENTRIES = [*FRANK_WOLFE, *DIRECTIONS]
