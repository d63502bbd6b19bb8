"""The slides' algorithms, line by line, with every line replaceable.

A printed line that is wrong must be runnable, so each algorithm is a loop over a
table of lines; `pairwise(points, away=...)` runs it with one line replaced. The
loops follow the slides, not the package's solvers, and keep the slides' two
conventions: d = towards - away with mu + lambda d in Algorithm 1, d = away - towards
with mu - lambda d in Algorithm 2. The tables below hold the corrected lines.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np

from mebnb.documents.toolkit.clouds import distances2, gradient_of_f, pair_start, phi


class CannotRun(Exception):
    """A line refers to something that does not exist."""


@dataclass
class Run:
    """Where an algorithm ended.

    `mismatch` is how far mu is from the weights alpha of its atoms; `log` has one
    namespace a step.
    """

    weights: np.ndarray
    finished: bool
    iterations: int
    radius: float = float("nan")
    core: frozenset = frozenset()
    mismatch: float = 0.0
    log: list = field(default_factory=list)


def _best(score, candidates, largest):
    """Index among the candidates with the largest or smallest score."""
    members = sorted(candidates)
    if not members:
        raise CannotRun("an extremum over an empty set")
    values = np.asarray(score)[members]
    return members[int(values.argmax() if largest else values.argmin())]


def unit(state, index):
    """The index-th atom as a vector of weights."""
    return state.atoms[index]


def _state(points, uniform_atom):
    m = points.shape[0]
    atoms = np.eye(m)
    if uniform_atom:
        atoms = np.vstack([atoms, np.full(m, 1.0 / m)])
    return SimpleNamespace(
        points=points,
        m=m,
        atoms=atoms,
        lipschitz=2.0 * np.linalg.norm(points, 2) ** 2,
        t=0,
        log=[],
    )


def _ended(state, finished):
    run = Run(state.mu, finished, len(state.log), log=state.log)
    run.mismatch = float(np.abs(state.alpha @ state.atoms - state.mu).max())
    return run


# --- starts ------------------------------------------------------------------------


def start_at_vertex(state):
    """mu_0 = e_1, S_0 = {e_1}."""
    alpha = np.zeros(len(state.atoms))
    alpha[0] = 1.0
    return alpha, {0}


def start_with_all_vertices(state):
    """mu_0 = 1/m, S_0 = {e_1, ..., e_m}."""
    alpha = np.zeros(len(state.atoms))
    alpha[: state.m] = 1.0 / state.m
    return alpha, set(range(state.m))


def start_with_uniform_atom(state):
    """mu_0 = 1/m kept as an atom of its own beside the vertices."""
    alpha = np.zeros(len(state.atoms))
    alpha[-1] = 1.0
    return alpha, {state.m}


def start_without_vertex(state):
    """mu_0 = 1/m, S_0 = {mu_0}, the away vertex sought among e_j in S_0: none is."""
    return np.full(len(state.atoms), 1.0 / state.m), set()


# --- Algorithm 1 -------------------------------------------------------------------


def _transfer(state):
    state.alpha[state.a] -= state.lam
    state.alpha[state.w] += state.lam


def short_step(state):
    """<grad phi, d> / (L |d|^2) for d = towards - away."""
    return -(state.grad @ state.d) / (state.lipschitz * (state.d @ state.d))


PAIRWISE = {
    "start": start_at_vertex,
    "towards": lambda s: _best(s.grad, range(s.m), largest=False),
    "away": lambda s: _best(s.atoms @ s.grad, s.active, largest=True),
    "gap": lambda s: s.grad @ (s.mu - unit(s, s.w)),
    "direction": lambda s: unit(s, s.w) - unit(s, s.a),
    "cap": lambda s: s.alpha[s.a],
    "step": short_step,
    "update": lambda s: s.mu + s.lam * s.d,
    "transfer": _transfer,
    "active": lambda s: set(np.flatnonzero(s.alpha > 0.0).tolist()),
}


@np.errstate(all="ignore")  # wrong lines may overflow
def pairwise(points, eps=1e-9, limit=500, uniform_atom=False, **lines):
    """Algorithm 1 (PFW) with some lines replaced."""
    line = {**PAIRWISE, **lines}
    s = _state(points, uniform_atom)
    s.alpha, s.active = line["start"](s)
    s.mu = s.alpha @ s.atoms
    for s.t in range(limit):
        s.grad = gradient_of_f(points, s.mu)
        s.w = line["towards"](s)
        s.a = line["away"](s)
        s.gap = line["gap"](s)
        if s.gap < eps:
            return _ended(s, True)
        s.d = line["direction"](s)
        s.cap = line["cap"](s)
        s.lam = max(0.0, min(s.cap, line["step"](s)))
        before, weights = set(s.active), s.mu
        s.mu = line["update"](s)
        line["transfer"](s)
        s.active = line["active"](s)
        s.log.append(
            SimpleNamespace(
                kind="drop" if s.lam >= s.cap else "pairwise",
                gap=s.gap,
                before=before,
                after=set(s.active),
                changed=int(np.count_nonzero(s.mu != weights)),
            )
        )
    return _ended(s, False)


# --- Algorithm 2 -------------------------------------------------------------------


def _local_transfer(state):
    state.alpha[state.a] -= state.lam
    state.alpha[state.s] += state.lam


def _drop(state):
    state.active = state.active - {state.a}
    state.alpha[state.a] = 0.0
    state.alpha[state.s] += state.lam


def short_step_back(state):
    """<-grad phi, d> / (L |d|^2) for d = away - towards."""
    return (state.grad @ state.d) / (state.lipschitz * (state.d @ state.d))


def exact_step_back(state):
    """The minimiser of f(mu - lambda d) over all lambda."""
    image = state.d @ state.points
    return (state.grad @ state.d) / (2.0 * max(image @ image, 1e-300))


def _frank_wolfe_transfer(state):
    state.alpha *= 1.0 - state.lam
    state.alpha[state.w] += state.lam
    state.active = {state.w} if state.lam == 1.0 else state.active | {state.w}


BLENDED = {
    "start": start_at_vertex,
    "away": lambda s: _best(s.atoms @ s.grad, s.active, largest=True),
    "local": lambda s: _best(s.atoms @ s.grad, s.active, largest=False),
    "towards": lambda s: _best(s.grad, range(s.m), largest=False),
    "gap": lambda s: s.grad @ (s.mu - unit(s, s.w)),
    "test": lambda s: (
        s.grad @ (unit(s, s.a) - unit(s, s.s)) >= s.grad @ (s.mu - unit(s, s.w))
    ),
    "local_direction": lambda s: unit(s, s.a) - unit(s, s.s),
    "cap": lambda s: s.alpha[s.a],
    "local_step": short_step_back,
    "local_transfer": _local_transfer,
    "drop": _drop,
    "global_direction": lambda s: s.mu - unit(s, s.w),
    "global_step": short_step_back,
    "global_transfer": _frank_wolfe_transfer,
    "update": lambda s: s.mu - s.lam * s.d,
    "stops": lambda s, eps: s.gap < eps,
}


@np.errstate(all="ignore")  # wrong lines may overflow
def blended(points, eps=1e-9, limit=500, uniform_atom=False, **lines):
    """Algorithm 2 (BPCG) with some lines replaced."""
    line = {**BLENDED, **lines}
    s = _state(points, uniform_atom)
    s.alpha, s.active = line["start"](s)
    s.mu = s.alpha @ s.atoms
    for s.t in range(limit):
        s.grad = gradient_of_f(points, s.mu)
        s.a = line["away"](s)
        s.s = line["local"](s)
        s.w = line["towards"](s)
        s.gap = line["gap"](s)
        if line["stops"](s, eps):
            return _ended(s, True)
        before = set(s.active)
        if line["test"](s):
            s.d = line["local_direction"](s)
            s.cap = line["cap"](s)
            s.lam = max(0.0, min(s.cap, _step(line["local_step"], s)))
            kind = "pairwise" if s.lam < s.cap else "drop"
            line["local_transfer" if s.lam < s.cap else "drop"](s)
        else:
            s.d = line["global_direction"](s)
            s.lam = max(0.0, min(1.0, _step(line["global_step"], s)))
            kind = "FW"
            line["global_transfer"](s)
        local = s.grad @ (unit(s, s.a) - unit(s, s.s))
        weights = s.mu
        s.mu = line["update"](s)
        s.log.append(
            SimpleNamespace(
                kind=kind,
                gap=s.gap,
                local=local,
                before=before,
                after=set(s.active),
                gained=phi(points, s.mu) - phi(points, weights),
            )
        )
    return _ended(s, False)


def _step(rule, state):
    """A step; a direction of length zero has none."""
    return rule(state) if state.d @ state.d > 0.0 else 0.0


# --- Algorithms 3 and 4 ------------------------------------------------------------


def _shift_weights(state, sign, atom):
    before = state.u[state.k - 1]
    lam = state.lam[state.k - 1]
    after = (1.0 - sign * lam) * before
    after[atom] += sign * lam
    return after


def _shift_center(state, sign, atom):
    lam = state.lam[state.k - 1]
    return (1.0 - sign * lam) * state.c[state.k - 1] + sign * lam * state.points[atom]


def _next(state):
    return state.k + 1


def _store_gamma(state):
    state.gamma[state.k] = phi(state.points, state.u[state.k])


MEB_A = {
    "pair": pair_start,
    "half": 0.5,
    "advance": _next,
    "plus_step": lambda s: s.delta[s.k] / (2.0 * (1.0 + s.delta[s.k])),
    "plus_center": lambda s: _shift_center(s, +1, s.kappa),
    "plus_core": lambda s: s.core[s.k - 1] | {s.kappa},
    "minus_step": lambda s: (
        s.minus[s.k] / (2.0 * (1.0 - s.minus[s.k])) if s.minus[s.k] < 1.0 else np.inf
    ),
    "minus_cap": lambda s: s.u[s.k][s.xi] / max(1.0 - s.u[s.k][s.xi], 1e-300),
    "drops": lambda lam, cap: lam == cap,
    "minus_center": lambda s: _shift_center(s, -1, s.xi),
    "gamma": _store_gamma,
    "kappa": lambda s: int(distances2(s.points, s.c[s.k]).argmax()),
    "xi": lambda s: _best(distances2(s.points, s.c[s.k]), s.core[s.k], largest=False),
    "delta_plus": lambda s: (
        distances2(s.points, s.c[s.k])[s.kappa] / s.gamma[s.k] - 1.0
    ),
    "delta_minus": lambda s: 1.0 - distances2(s.points, s.c[s.k])[s.xi] / s.gamma[s.k],
    "delta": lambda s: max(s.plus[s.k], s.minus[s.k]),
    "stops": lambda s, eps: s.delta[s.k] <= (1.0 + eps) ** 2 - 1.0,
    "radius": lambda s: np.sqrt((1.0 + s.delta[s.k]) * s.gamma[s.k]),
}


@np.errstate(all="ignore")  # wrong lines may overflow
def meb_a(points, eps=1e-6, limit=500, **lines):
    """Algorithms 3 (start) and 4 (loop), MEB(A), with some lines replaced.

    Quantities with an upper index k are kept for every k, so that a line which names
    an old index reads the old value.
    """
    line = {**MEB_A, **lines}
    s = SimpleNamespace(points=points, k=0, log=[])
    first, second = line["pair"](points)
    weights = np.zeros(points.shape[0])
    weights[[first, second]] = line["half"]
    s.u, s.c = {0: weights}, {0: weights @ points}
    s.core, s.gamma, s.lam = {0: {first, second}}, {0: phi(points, weights)}, {}
    s.plus, s.minus, s.delta = {}, {}, {}
    s.kappa = int(distances2(points, s.c[0]).argmax())
    s.xi = _best(distances2(points, s.c[0]), s.core[0], largest=False)
    _measure_deltas(s, line)
    for _ in range(limit):
        if line["stops"](s, eps):
            return _meb_run(s, line, True)
        try:
            kind = _meb_step(s, line)
            _measure_again(s, line)
        except (KeyError, IndexError, ZeroDivisionError) as error:
            raise CannotRun(f"a line reads what does not exist: {error}") from None
        s.log.append(
            SimpleNamespace(kind=kind, gap=s.plus[s.k] * s.gamma[s.k], u=s.u[s.k])
        )
    return _meb_run(s, line, False)


def _meb_step(s, line):
    if s.delta[s.k] > s.minus[s.k]:
        s.lam[s.k] = line["plus_step"](s)
        s.k = line["advance"](s)
        s.u[s.k] = _shift_weights(s, +1, s.kappa)
        s.c[s.k] = line["plus_center"](s)
        s.core[s.k] = line["plus_core"](s)
        return "plus"
    cap = line["minus_cap"](s)
    s.lam[s.k] = min(line["minus_step"](s), cap)
    drop = line["drops"](s.lam[s.k], cap)
    s.core[s.k + 1] = s.core[s.k] - {s.xi} if drop else s.core[s.k]
    s.k += 1
    s.u[s.k] = _shift_weights(s, -1, s.xi)
    if drop:
        s.u[s.k][s.xi] = 0.0
    s.c[s.k] = line["minus_center"](s)
    return "drop" if drop else "minus"


def _measure_again(s, line):
    line["gamma"](s)
    s.kappa = line["kappa"](s)
    s.xi = line["xi"](s)
    _measure_deltas(s, line)


def _measure_deltas(s, line):
    s.plus[s.k] = line["delta_plus"](s)
    s.minus[s.k] = line["delta_minus"](s)
    s.delta[s.k] = line["delta"](s)


def _meb_run(s, line, finished):
    run = Run(s.u[s.k], finished, s.k, float(line["radius"](s)), frozenset(s.core[s.k]))
    run.log = s.log
    return run
