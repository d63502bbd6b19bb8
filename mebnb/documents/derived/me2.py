"""Facts about the excluding ellipsoid (ME2) that the paper does not print."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
from scipy.optimize import minimize

from mebnb.documents.entries import Entry
from mebnb.documents.toolkit.clouds import worst
from mebnb.documents.toolkit.me2_instances import (
    Pair,
    Problem,
    in_unit_ball,
    pairs,
    random_problem,
    solve,
    solve_primal,
    solved,
)

_derived = partial(Entry, document="derived")

ACTIVE = 1e-6


# --- the regularised hinge ---------------------------------------------------------


def svec(matrix):
    """Upper triangle with off-diagonals times root 2: <A, B> = svec(A)'svec(B)."""
    rows, columns = np.triu_indices(len(matrix))
    scale = np.where(rows == columns, 1.0, np.sqrt(2.0))
    return scale * matrix[rows, columns]


@cache
def _problems():
    """Sixteen problems, half of them with B < 1/(2 mu)."""
    found = [random_problem(seed) for seed in range(8)]
    for seed in range(8):
        problem = random_problem(seed, B=0.5)
        found.append(Problem(problem.y, 0.3 + 0.08 * seed, problem.lam, problem.B))
    return found


def _maximum_of_the_dual(problem, kernel):
    """max b'a - a'Ka/4 over 0 <= a <= 1/n with b_i = B - |y_i|^2, by SLSQP."""
    b = problem.B - np.sum(problem.y**2, axis=1)
    n = problem.n
    found = minimize(
        lambda a: a @ kernel @ a / 4.0 - b @ a,
        np.full(n, 0.5 / n),
        jac=lambda a: kernel @ a / 2.0 - b,
        bounds=[(0.0, 1.0 / n)] * n,
        method="SLSQP",
        options={"ftol": 1e-16, "maxiter": 1000},
    )
    return -float(found.fun)


def _hinge_value(form):
    """|optimal value of the hinge problem - optimal value of the paper's problem|."""
    return worst(
        abs(_maximum_of_the_dual(problem, form(problem)) - solve_primal(problem))
        for problem in _problems()
    )


def _kernel(problem):
    return 1.0 / problem.mu + (problem.y @ problem.y.T) ** 2 / problem.lam


def _feature_inner_products(form):
    """Features against the kernel; size of the problem against 1 + d (d + 1) / 2."""
    violations = []
    for problem in _problems():
        features = form(problem)
        violations.append(
            float(np.abs(features @ features.T - _kernel(problem)).max())
            / np.abs(_kernel(problem)).max()
        )
        size = 1 + problem.d * (problem.d + 1) // 2
        violations.append(float(features.shape[1] != size))
    return worst(violations)


def _features(problem, root=np.sqrt):
    ones = np.full((problem.n, 1), 1.0 / root(problem.mu))
    outer = np.array([svec(np.outer(y, y)) for y in problem.y])
    return np.hstack([ones, outer / root(problem.lam)])


def _plain_triangle(problem):
    rows, columns = np.triu_indices(problem.d)
    outer = problem.y[:, rows] * problem.y[:, columns]
    ones = np.full((problem.n, 1), 1.0 / np.sqrt(problem.mu))
    return np.hstack([ones, outer / np.sqrt(problem.lam)])


def _objective_identity(form):
    """|v|^2 + (1/n) sum [B - |y|^2 - <v, psi>]_+ against F, at random R, M."""
    rng, violations = np.random.default_rng(91), []
    for problem in _problems():
        for _ in range(5):
            R = rng.uniform(0.0, problem.B)
            step = rng.normal(size=(problem.d, problem.d))
            M = np.eye(problem.d) + step + step.T
            v = form(problem, R, M)
            margin = problem.B - np.sum(problem.y**2, axis=1) - _features(problem) @ v
            value = v @ v + np.maximum(margin, 0.0).mean()
            violations.append(abs(value - problem.objective(R, M)) / (1.0 + value))
    return worst(violations)


def _vector(problem, R, M):
    return np.append(
        np.sqrt(problem.mu) * (problem.B - R),
        np.sqrt(problem.lam) * svec(M - np.eye(problem.d)),
    )


def _exact_when(condition):
    """Share of problems on which the condition and the equality of values differ."""
    differ = []
    for problem in _problems():
        hinge = _maximum_of_the_dual(problem, _kernel(problem))
        equal = abs(hinge - solve_primal(problem)) < 1e-6
        differ.append(equal != condition(problem.B, problem.mu))
    return float(np.mean(differ))


# --- the range of R ----------------------------------------------------------------


@cache
def _extremes():
    """Problems whose R is known: all negatives at the center, and all far away."""
    found = []
    for B, mu in [(4.0, 0.75), (4.0, 10.0), (1.0, 2.0), (0.3, 1.0)]:
        near = Problem(np.zeros((5, 2)), mu, 0.1, B)
        far = Problem(np.full((5, 2), 2.0 * np.sqrt(B)), mu, 0.1, B)
        found.append((near, solve(near), far, solve(far)))
    return found


def _range_of_R(form):
    """R* outside of [low, high] on random problems; both ends met at the extremes."""
    low, high = form
    violations = []
    for problem, optimum in solved():
        violations.append(low(problem.B, problem.mu) - optimum.R)
        violations.append(optimum.R - high(problem.B, problem.mu))
    for near, least, far, most in _extremes():
        violations.append(abs(least.R - low(near.B, near.mu)))
        violations.append(abs(most.R - high(far.B, far.mu)))
    return max(0.0, worst(violations))


def _lowest(B, mu):
    return max(0.0, B - 1.0 / (2.0 * mu))


def _reaches_B(form):
    """Share of problems where R* = B and the form disagree."""
    cases = list(solved())
    # Squared lengths between B and B^2: both sides of B = 1.
    for B, length2 in ((0.5, 0.3), (2.0, 3.0)):
        between = Problem(np.full((4, 1), np.sqrt(length2)), 1.0, 0.1, B)
        cases.append((between, solve(between)))
    cases += [(far, most) for _, _, far, most in _extremes()]
    wrong = []
    for problem, optimum in cases:
        lengths = np.sum(problem.y**2, axis=1)
        wrong.append(form(lengths, problem.B) != (problem.B - optimum.R < 1e-7))
    return float(np.mean(wrong))


# --- screening ---------------------------------------------------------------------


@cache
def _spread_out():
    """Problems in which some negatives lie far beyond sqrt(B), with their optima."""
    rng, found = np.random.default_rng(92), []
    for _ in range(12):
        y = 2.5 * in_unit_ball(rng, 14, 2)
        problem = Problem(
            y, float(10 ** rng.uniform(-0.2, 1)), float(10 ** rng.uniform(-2, 0)), 1.5
        )
        found.append((problem, solve(problem)))
    return found


def _active_are_near(form):
    """Largest |y_i|^2 - limit among negatives with a multiplier, where positive."""
    violations = []
    for problem, optimum in [*_spread_out(), *solved()]:
        active = optimum.alpha > ACTIVE
        if active.any():
            lengths = np.sum(problem.y[active] ** 2, axis=1)
            violations.append(float(lengths.max()) - form(problem, optimum))
    return max(0.0, worst(violations))


def _screened(form):
    """Change of R and M when the rows beyond a limit are left out, 1/n kept."""
    violations = []
    for problem, optimum in _spread_out():
        kept = np.sum(problem.y**2, axis=1) < form(problem)
        R, M = problem.B, np.eye(problem.d)
        if kept.any():
            reduced = solve(problem.replace(y=problem.y[kept]), cap=1.0 / problem.n)
            R, M = reduced.R, reduced.M
        violations.append(abs(R - optimum.R))
        violations.append(float(np.abs(M - optimum.M).max()))
    return worst(violations)


# --- gap and stability -------------------------------------------------------------


def _recovered(problem, alpha):
    R = float(np.clip(problem.B - alpha.sum() / (2.0 * problem.mu), 0.0, problem.B))
    M = np.eye(problem.d) + (problem.y.T * alpha) @ problem.y / (2.0 * problem.lam)
    return R, M


def _dual(problem, alpha, quarter=4.0, beta=None):
    lengths = np.sum(problem.y**2, axis=1)
    gram = (problem.y @ problem.y.T) ** 2
    total = alpha.sum()
    if beta is None:
        beta = max(0.0, total - 2.0 * problem.mu * problem.B)
    penalty = (total - beta) ** 2 / (4.0 * problem.mu)
    return (
        problem.B * (total - beta)
        - lengths @ alpha
        - alpha @ gram @ alpha / (quarter * problem.lam)
        - penalty
    )


def _gap_is_one(form):
    """Dual above primal at random multipliers; the gap at the optimum."""
    rng, violations = np.random.default_rng(93), []
    for problem, optimum in solved():
        size = 1.0 + optimum.primal
        violations.append(
            abs(
                problem.objective(*_recovered(problem, optimum.alpha))
                - form(problem, optimum.alpha)
            )
            / size
        )
        for _ in range(10):
            alpha = rng.uniform(0.0, 1.0 / problem.n, size=problem.n)
            alpha *= rng.random(problem.n) < 0.7
            gap = problem.objective(*_recovered(problem, alpha)) - form(problem, alpha)
            violations.append(-gap / size)
    return max(0.0, worst(violations))


@cache
def _unbounded_pairs():
    """The pairs, and samples whose negatives lie far beyond B, one of them replaced.

    In the last two one negative leaves the center, where all of them were.
    """
    rng, found = np.random.default_rng(95), list(pairs())
    for problem, optimum in _spread_out():
        y = problem.y.copy()
        y[0] = 0.3 * rng.normal(size=2)
        other = problem.replace(y=y)
        found.append(Pair(problem, optimum, other, solve(other)))
    for mu, lam in ((1.0, 100.0), (10.0, 1000.0)):
        still = Problem(np.zeros((8, 2)), mu, lam, 1.0)
        other = still.replace(y=np.vstack([[[9.0, 0.0]], np.zeros((7, 2))]))
        found.append(Pair(still, solve(still), other, solve(other)))
    return found


def _stability(samples):
    """A measure: change of the loss over constant / n, less 1, at many examples."""

    def measure(constant):
        rng, violations = np.random.default_rng(94), []
        for pair in samples():
            one, other, d = pair.optimum, pair.other_optimum, pair.problem.d
            y = np.vstack(
                [
                    pair.problem.y,
                    pair.other.y,
                    in_unit_ball(rng, 50, d),
                    5.0 * in_unit_ball(rng, 50, d),
                    np.zeros((1, d)),
                ]
            )
            before = pair.problem.loss(one.R, one.M, y)
            after = pair.problem.loss(other.R, other.M, y)
            bound = constant(pair.problem) / pair.problem.n
            violations.append(float(np.abs(before - after).max()) / bound - 1.0)
        return max(0.0, worst(violations))

    return measure


ENTRIES = [
    _derived(
        id="X-ME2-HINGE",
        place="ME2, dual",
        statement=r"The problem is a hinge with a quadratic penalty: its dual is $\max "
        r"b^T\alpha - \frac{1}{4}\alpha^TK\alpha$ over $0 \le \alpha \le 1/n$ with "
        r"$b_i = B - \|y_i\|^2$ and $K = \frac{1}{\mu}\mathbf{1}\mathbf{1}^T + "
        r"\frac{1}{\lambda} G \circ G$.",
        measure=_hinge_value,
        true=_kernel,
        spoiled={
            "G not squared": lambda p: 1.0 / p.mu + p.y @ p.y.T / p.lam,
            "mu and lambda exchanged": lambda p: (
                1.0 / p.lam + (p.y @ p.y.T) ** 2 / p.mu
            ),
            "constant left out": lambda p: (p.y @ p.y.T) ** 2 / p.lam,
        },
        tolerance=1e-6,
    ),
    _derived(
        id="X-ME2-HINGE-features",
        place="ME2, hinge form",
        statement=r"$\psi_i = (1/\sqrt{\mu}, \mathrm{svec}(y_iy_i^T)/\sqrt{\lambda})$ "
        r"has $\langle\psi_i, \psi_j\rangle = K_{ij}$ and $1 + d(d+1)/2$ entries.",
        measure=_feature_inner_products,
        true=_features,
        spoiled={
            "off-diagonals not weighted": _plain_triangle,
            "no roots": partial(_features, root=lambda value: value),
        },
    ),
    _derived(
        id="X-ME2-HINGE-vector",
        place="ME2, hinge form",
        statement=r"With $v = (\sqrt{\mu}(B-R), \sqrt{\lambda}\,\mathrm{svec}(M-I))$ "
        r"the objective is $\|v\|^2 + \frac{1}{n}\sum_i [B - \|y_i\|^2 - \langle v, "
        r"\psi_i\rangle]_+$.",
        measure=_objective_identity,
        true=_vector,
        spoiled={
            "sign of B - R": lambda p, R, M: _vector(p, 2.0 * p.B - R, M),
            "M for M - I": lambda p, R, M: _vector(p, R, M + np.eye(p.d)),
            "no roots": lambda p, R, M: np.append(
                p.mu * (p.B - R), p.lam * svec(M - np.eye(p.d))
            ),
        },
    ),
    _derived(
        id="X-ME2-HINGE-exact",
        place="ME2, hinge form",
        statement="That form needs no bounds on $R$ and has the problem's value for "
        r"every $B > 0$, also for $B < 1/(2\mu)$.",
        measure=_exact_when,
        true=lambda B, mu: True,
        spoiled={
            "only for B >= 1/(2 mu)": lambda B, mu: 1.0 / (2.0 * mu) <= B,
            "never": lambda B, mu: False,
        },
        corrected=r"For $R < 0$ all losses vanish and the penalty $\mu(B-R)^2$ grows, "
        r"so that $R \ge 0$ is never active; its multiplier $\beta$ serves only to "
        "bound the value from below at multipliers that are not optimal (X-ME2-GAP).",
    ),
    _derived(
        id="X-ME2-R",
        place="ME2, radius",
        statement=r"$R^* \in [\max(0, B - 1/(2\mu)), B]$ whatever the data, both ends "
        "attained.",
        measure=_range_of_R,
        true=(_lowest, lambda B, mu: B),
        spoiled={
            "1/mu": (lambda B, mu: max(0.0, B - 1.0 / mu), lambda B, mu: B),
            "1/(4 mu)": (lambda B, mu: max(0.0, B - 0.25 / mu), lambda B, mu: B),
            "half of B": (_lowest, lambda B, mu: 0.5 * B),
        },
        tolerance=1e-6,
    ),
    _derived(
        id="X-ME2-R-end",
        place="ME2, radius",
        statement=r"$R^* = B$ if and only if no negative lies within $\|y\|^2 < B$.",
        measure=_reaches_B,
        true=lambda lengths, B: not (lengths < B).any(),
        spoiled={
            "squared": lambda lengths, B: not (lengths < B**2).any(),
            "on average": lambda lengths, B: lengths.mean() >= B,
            "never": lambda lengths, B: False,
        },
    ),
    _derived(
        id="X-ME2-SCREEN",
        place="ME2, screening",
        statement=r"$\alpha_i > 0$ implies $\|y_i\|^2 \le R^* \le B$.",
        measure=_active_are_near,
        true=lambda problem, optimum: optimum.R,
        spoiled={
            "half of R": lambda problem, optimum: 0.5 * optimum.R,
            "R divided by the norm of M": lambda problem, optimum: (
                optimum.R / np.linalg.norm(optimum.M, 2)
            ),
        },
        tolerance=1e-6,
    ),
    _derived(
        id="X-ME2-SCREEN-drop",
        place="ME2, screening",
        statement=r"Negatives with $\|y_i\|^2 \ge B$ can be left out when $1/n$ is "
        "kept.",
        measure=_screened,
        true=lambda problem: problem.B,
        spoiled={
            "half of B": lambda problem: 0.5 * problem.B,
            "a third of B": lambda problem: problem.B / 3.0,
        },
        tolerance=1e-5,
    ),
    _derived(
        id="X-ME2-GAP",
        place="ME2, gap",
        statement=r"$F(R(\alpha), M(\alpha)) - D(\alpha) \ge 0$ for every $0 \le "
        r"\alpha \le 1/n$, 0 at the optimum, with $\delta = 0$ and $\beta = \max(0, "
        r"\mathbf{1}^T\alpha - 2\mu B)$.",
        measure=_gap_is_one,
        true=_dual,
        spoiled={
            "1/(8 lambda)": partial(_dual, quarter=8.0),
            "1/(2 lambda)": partial(_dual, quarter=2.0),
            "beta of one tenth": partial(_dual, beta=0.1),
        },
        tolerance=1e-7,
    ),
    _derived(
        id="X-ME2-STAB",
        place="ME2, stability",
        statement="Replacing one of $n$ examples changes the loss by at most "
        r"$\frac{2}{n}\left(\frac{1}{\mu} + \frac{16B^4}{\lambda}\right)$ for examples "
        "and center of length at most $B$.",
        measure=_stability(pairs),
        true=lambda p: 2.0 * (1.0 / p.mu + 16.0 * p.B**4 / p.lam),
        spoiled={
            "a fiftieth": lambda p: 0.04 * (1.0 / p.mu + 16.0 * p.B**4 / p.lam),
            "1/mu left out, B^4 for 16 B^4": lambda p: 2.0 * p.B**4 / p.lam,
        },
    ),
    _derived(
        id="X-ME2-STAB-free",
        place="ME2, stability",
        statement=r"$\frac{2}{n}\left(\frac{1}{\mu} + \frac{B^2}{\lambda}\right)$ is "
        "enough, whatever the length of the examples.",
        measure=_stability(_unbounded_pairs),
        true=lambda p: 2.0 * (1.0 / p.mu + p.B**2 / p.lam),
        spoiled={
            "a twentieth": lambda p: 0.1 * (1.0 / p.mu + p.B**2 / p.lam),
            "1/mu left out": lambda p: 2.0 * p.B**2 / p.lam,
        },
        corrected=r"$M \succeq I$ makes the loss vanish beyond $\|y\|^2 = B$, so that "
        "$B$ takes the place of $(2B)^2$.",
    ),
]
