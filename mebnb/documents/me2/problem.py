"""Sections 2 and 3 of the paper: SVDD, the problem, its Lagrangian, what is claimed."""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from mebnb.documents.entries import Entry
from mebnb.documents.toolkit.me2_instances import (
    Problem,
    dataset,
    in_unit_ball,
    random_problem,
    solve,
    solve_primal,
    solved,
    squared,
)
from mebnb.documents.toolkit.symbols import (
    damaged,
    ellipsoid,
    equals,
    frobenius,
    in_metric,
    stationary,
)

_entry = partial(Entry, document="me2")
symbolic = partial(_entry, kind="symbolic", spoil=damaged(ellipsoid))
_equals = partial(equals, symbols=ellipsoid)


# --- SVDD, equation (1) -------------------------------------------------------------


@cache
def _svdd_cloud(n):
    rng = np.random.default_rng(n)
    return rng.normal(size=(n, 2)) * [1.0, 2.0]


@cache
def _svdd_primal(n, share):
    """Optimal value, center and squared radius of (1), by SLSQP on the primal."""
    from scipy.optimize import minimize

    points = _svdd_cloud(n)

    def value(v):
        return v[2] + share * v[3:].sum()

    def slope(v):
        return np.concatenate([[0, 0, 1], np.full(n, share)])

    def slack(v):
        return v[2] + v[3:] - np.sum((points - v[:2]) ** 2, axis=1)

    def slack_slope(v):
        return np.hstack([2 * (points - v[:2]), np.ones((n, 1)), np.eye(n)])

    start = np.concatenate([points.mean(axis=0), [1.0], np.zeros(n)])
    start[3:] = np.maximum(0, np.sum((points - start[:2]) ** 2, axis=1) - 1)
    found = minimize(
        value,
        start,
        jac=slope,
        bounds=[(None, None)] * 2 + [(0, None)] * (n + 1),
        constraints={"type": "ineq", "fun": slack, "jac": slack_slope},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    return float(found.fun), found.x[:2], float(found.x[2])


def _svdd_dual_gap(cap):
    """Largest gap between (1) and its dual with weights capped by form(mu, n)."""
    from scipy.optimize import minimize

    worst = 0.0
    for n, mu in ((6, 2.0), (9, 3.0)):
        points = _svdd_cloud(n)
        gram = points @ points.T
        if not 1 / n < cap(mu, n):
            return np.inf
        found = minimize(
            lambda u, gram=gram: u @ gram @ u - np.diag(gram) @ u,
            np.full(n, 1 / n),
            jac=lambda u, gram=gram: 2 * gram @ u - np.diag(gram),
            bounds=[(0, min(1.0, cap(mu, n)))] * n,
            constraints={
                "type": "eq",
                "fun": lambda u: u.sum() - 1,
                "jac": lambda u: np.ones_like(u),
            },
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-15},
        )
        primal = _svdd_primal(n, mu / n)[0]
        worst = max(worst, abs(primal + found.fun) / primal)
    return worst


def _svdd_outside(limit):
    """By how many points more than form(mu, n) lie outside the ball of (1)."""
    worst = 0.0
    for mu in (1.5, 2.0, 3.0, 6.0):
        n = 18
        _, center, gamma = _svdd_primal(n, mu / n)
        distances = np.sum((_svdd_cloud(n) - center) ** 2, axis=1)
        worst = max(worst, np.sum(distances > gamma + 1e-6) - limit(mu, n))
    return worst


def _svdd_encloses(mu):
    """How far, relatively, the farthest point lies beyond the ball for mu = form(n)."""
    n = 9
    _, center, gamma = _svdd_primal(n, mu(n) / n)
    farthest = np.sum((_svdd_cloud(n) - center) ** 2, axis=1).max()
    return farthest / gamma - 1 if gamma > 1e-9 else np.inf


@cache
def _ball_and_ellipsoid(cloud, power):
    """log(volume of the ellipsoid / volume of the ball), both smallest enclosing.

    The ellipsoid is the smallest ball in the metric M = covariance^power.
    """
    from mebnb.solvers.core_sets import core_set

    if cloud == "stretched":
        rng = np.random.default_rng(3)
        points = rng.normal(size=(200, 3)) * [1.0, 2.0, 5.0]
    else:
        points = dataset(cloud)[0]
    values, vectors = np.linalg.eigh(np.cov(points.T))
    root = values ** (power / 2)
    ball = core_set(points, eps=1e-3, away=True)
    round_ball = core_set(points @ vectors * root, eps=1e-3, away=True)
    d = points.shape[1]
    return d * np.log(round_ball.radius / ball.radius) - np.log(root).sum()


def _covariance_covers_more(power):
    """Largest log(ball volume / ellipsoid volume) over a cloud and two real sets."""
    return max(
        -_ball_and_ellipsoid(name, power) for name in ("stretched", "yeast3", "wine4")
    )


# --- (2) and what R means -----------------------------------------------------------


def _rule_agrees_with_loss(threshold):
    """Negatives on which loss > 0 and the rule |x - c|_M^2 <= form(R) disagree."""
    wrong = 0
    for problem, optimum in solved():
        distances = squared(optimum.M, problem.y)
        clear = np.abs(distances - optimum.R) > 1e-6
        inside = distances <= threshold(optimum.R)
        charged = problem.loss(optimum.R, optimum.M) > 0
        wrong += int(np.sum((inside != charged)[clear]))
    return float(wrong)


def _scaling_of_B(power):
    """Change of R / s^2 when lengths are multiplied by s and B by s^form."""
    problem, optimum = solved()[0]
    s = 3.0
    stretched = Problem(
        s * problem.y, problem.mu / s**2, problem.lam * s**2, s**power * problem.B
    )
    return abs(solve(stretched).R / s**2 - optimum.R)


# --- the Lagrangian, equations (3) to (6) -------------------------------------------


def printed_lagrangian(s):
    """(3) and appendix A term by term; the sign of the last one differs in (3)."""
    return (
        sum(s.xi) / s.sp.Integer(s.n)
        + s.mu * (s.B - s.R) ** 2
        + s.lam * frobenius(s.M - s.I)
        - sum(
            s.alpha[k] * (in_metric(s, k, s.M) - s.R + s.xi[k]) + s.gamma[k] * s.xi[k]
            for k in range(s.n)
        )
        - s.beta * s.R
        + s.delta * (s.R - s.B)
    )


def _cap_on_alpha(cap):
    """Distance of the primal optimum from the dual one with alpha <= form(n)."""
    worst = 0.0
    for seed in (1, 3, 8, 12):
        problem = random_problem(seed)
        primal = solve_primal(problem)
        # gamma = 1/n - cap at the cap: a negative one is no multiplier.
        worst = max(worst, cap(problem.n) - 1 / problem.n)
        worst = max(worst, abs(solve(problem, cap(problem.n)).dual - primal) / primal)
    return worst


def _form_of_M(form):
    """Violation of a statement about M or its weights over forty optima."""
    return max(float(form(problem, optimum)) for problem, optimum in solved())


def _smallest_eigenvalue_below(bound):
    return _form_of_M(lambda p, o: bound - np.linalg.eigvalsh(o.M)[0])


def _rank_claim(form):
    """|predicted - numerical rank of M| for collinear negatives in R^5."""
    line = np.linspace(0.2, 1.0, 8)[:, None] * np.array([[0.5, 0.3, 0.1, 0.4, 0.2]])
    optimum = solve(Problem(line, 1.0, 0.01, 4.0))
    predicted = form(optimum.M, line)
    return float(abs(predicted - np.linalg.matrix_rank(optimum.M, tol=1e-8)))


_LAMBDAS = (1e-3, 1e-2, 1e-1, 1.0, 1e2)
_MUS = (0.3, 0.75, 1.0, 2.0, 10.0)


@cache
def _picture():
    """Sixty negatives around the center in the plane, as in the paper's figures."""
    rng = np.random.default_rng(11)
    return 1.6 * in_unit_ball(rng, 20, 2) * [1.0, 0.4]


@cache
def _solved_picture(mu, lam):
    return solve(Problem(_picture(), mu, lam, 2.0))


def _departure(lam):
    return float(np.linalg.norm(_solved_picture(1.0, lam).M - np.eye(2)))


def _monotone(sequence):
    """form(values) gives the differences that must not be positive."""
    return lambda form: float(np.max(form(np.array(sequence()))))


def _metric_along_lambda():
    return [_departure(lam) for lam in _LAMBDAS]


def _radius_along_mu():
    return [_solved_picture(mu, 0.05).R for mu in _MUS]


def _learned_against_round(form):
    """Violation of form(learned, round) over several mu and lambda.

    Each side is (log volume, negatives strictly inside); the round side has M = I.
    """
    worst = -np.inf
    for mu in (0.75, 2.0):
        for lam in (1e-3, 1e-2, 5e-2):
            learned = _solved_picture(mu, lam)
            round_one = _solved_picture(mu, 1e6)
            sides = [
                (
                    np.log(o.R) - 0.5 * np.linalg.slogdet(o.M)[1],
                    np.sum(squared(o.M, _picture()) < o.R - 1e-7),
                )
                for o in (learned, round_one)
            ]
            worst = max(worst, float(form(*sides)))
    return worst


# --- the entries --------------------------------------------------------------------

SVDD = [
    _entry(
        id="P-E01",
        statement=r"$\min_{R, c, \xi} R^2 + \frac{\mu}{n} \sum_i \xi_i$ subject to "
        r"$\|x_i - c\|^2 \le R^2 + \xi_i$, $\xi_i \ge 0$: the dual has the weights $0 "
        r"\le u_i \le \mu/n$",
        measure=_svdd_dual_gap,
        true=lambda mu, n: mu / n,
        spoiled={
            "cap mu": lambda mu, n: mu,
            "cap mu/(n-2)": lambda mu, n: mu / (n - 2),
            "cap 1/mu": lambda mu, n: 1 / mu,
        },
        tolerance=1e-7,
    ),
    _entry(
        id="P-E01-out",
        place="after (1)",
        statement=r"$\mu$ controls the share outside the ball: at most $n/\mu$ points",
        measure=_svdd_outside,
        true=lambda mu, n: n / mu,
        spoiled={
            "n/(3 mu)": lambda mu, n: n / (3 * mu),
            "mu": lambda mu, n: mu,
        },
    ),
    _entry(
        id="P-X-svdd",
        place="before (1)",
        statement="SVDD learns the smallest ball that holds all training points",
        verdict="AMBIGUOUS",
        measure=_svdd_encloses,
        true=lambda n: n,
        printed=lambda n: n / 3,
        spoiled={"mu = n/2": lambda n: n / 2},
        corrected=r"only for $\mu \ge n$, where slack costs more than radius; "
        r"otherwise up to $n/\mu$ points stay outside",
        witness=r"nine points, $\mu = 3$: points lie outside",
        tolerance=1e-6,
    ),
    _entry(
        id="P-X-cov",
        place="Section 2, on [WGP10]",
        statement="with $M$ taken from the covariance, ellipsoids cover a larger "
        "volume than spheres",
        verdict="AMBIGUOUS",
        measure=_covariance_covers_more,
        true=1,
        spoiled={"M = covariance^(-1)": -1, "M = covariance^(-1/2)": -0.5},
        corrected=r"true of $M = \Sigma$, which is no merit: the smallest ellipsoid "
        "that holds the data is larger than the smallest ball. In the usual metric "
        r"$\Sigma^{-1}$ it is smaller on the cloud and on red wine, not on yeast",
        witness="a stretched Gaussian cloud, yeast and red wine, each enclosed both "
        "ways",
        kind="data",
    ),
]

PROBLEM = [
    _entry(
        id="P-E02",
        statement=r"$\min \frac1n \sum_i \xi_i + \mu (B-R)^2 + \lambda \|M-I\|_F^2$ "
        r"subject to $\|x_i-c\|_M^2 \ge R - \xi_i$, $\xi_i \ge 0$, $B \ge R \ge 0$",
        verdict="AMBIGUOUS",
        measure=_rule_agrees_with_loss,
        true=lambda R: R,
        printed=lambda R: R**2,
        spoiled={
            "threshold sqrt(R)": np.sqrt,
            "threshold R/2": lambda R: R / 2,
        },
        corrected=r"$R$ is a squared radius: the rule is $\|x-c\|_M^2 \le R$",
        witness="forty random problems: with the threshold $R^2$ negatives that cost "
        "nothing lie inside, or the reverse",
    ),
    _entry(
        id="P-X-B",
        place="after (8)",
        statement=r"$B \ge R$, $B \ge \max \|x\|$ and $B \ge \|c\|$ with one and the "
        "same $B$",
        verdict="AMBIGUOUS",
        measure=_scaling_of_B,
        true=2,
        printed=1,
        spoiled={"a pure number": 0, "a cube": 3},
        corrected="as a bound on $R$ the number $B$ is a squared length; a bound on "
        r"$\|x\|$ is another constant, and the theory can do without it",
        witness="lengths times 3: the same ellipsoid needs $9B$, not $3B$",
        tolerance=1e-6,
    ),
    symbolic(
        id="P-E03",
        statement=r"$\mathcal{L} = \ldots - \beta R + \delta (B - R)$",
        verdict="WRONG",
        measure=_equals(lambda s: s.lagrangian),
        true=printed_lagrangian,
        printed=lambda s: printed_lagrangian(s) + 2 * s.delta * (s.B - s.R),
        corrected=r"$\ldots - \beta R + \delta (R - B)$, as in appendix A",
        witness=r"$\partial_R$ of the printed form carries $-\delta$; a multiplier of "
        r"$R - B \le 0$ must add $+\delta$",
    ),
    symbolic(
        id="P-E04",
        statement=r"$\nabla_R \mathcal{L} = \sum_i \alpha_i + 2\mu R - 2\mu B - \beta$",
        verdict="WRONG",
        measure=_equals(lambda s: s.lagrangian.diff(s.R)),
        true=lambda s: s.total + 2 * s.mu * (s.R - s.B) - s.beta + s.delta,
        printed=lambda s: s.total + 2 * s.mu * (s.R - s.B) - s.beta,
        corrected=r"$\sum_i \alpha_i + 2\mu R - 2\mu B - \beta + \delta$",
        witness=r"printed minus true is $-\delta$",
    ),
    symbolic(
        id="P-E05",
        statement=r"$\nabla_{\xi_i} \mathcal{L} = \frac1n - \gamma_i - \alpha_i$",
        measure=_equals(lambda s: [s.lagrangian.diff(xi) for xi in s.xi]),
        true=lambda s: [
            s.sp.Rational(1, s.n) - g - a for g, a in zip(s.gamma, s.alpha, strict=True)
        ],
    ),
    _entry(
        id="P-E05b",
        place="after (6)",
        statement=r"$(5) \Rightarrow 0 \le \alpha_i \le \frac1n$",
        measure=_cap_on_alpha,
        true=lambda n: 1 / n,
        spoiled={
            "2/n": lambda n: 2 / n,
            "1/(2n)": lambda n: 1 / (2 * n),
            "1": lambda n: 1.0,
        },
        tolerance=1e-6,
    ),
    symbolic(
        id="P-E06a",
        place="before (6)",
        statement=r"$\partial \|M - I\|_F^2 / \partial M = 2 (M - I)$",
        measure=_equals(lambda s: s.M.applyfunc(frobenius(s.M - s.I).diff)),
        true=lambda s: 2 * (s.M - s.I),
        spoiled={"transposed": lambda s: 2 * (s.M.T - s.I)},
    ),
    symbolic(
        id="P-E06",
        statement=r"$\partial \mathcal{L} / \partial M = -\sum_k \alpha_k "
        r"(x_k-c)(x_k-c)^T + 2\lambda (M - I)$",
        measure=_equals(lambda s: s.M.applyfunc(s.lagrangian.diff)),
        true=lambda s: -s.outer + 2 * s.lam * (s.M - s.I),
    ),
    symbolic(
        id="P-E04b",
        place="after (6)",
        statement=r"$R = (\beta - \delta + 2\mu B - \sum_i \alpha_i) / (2\mu)$",
        measure=_equals(lambda s: stationary()[0]),
        true=lambda s: (s.beta - s.delta + 2 * s.mu * s.B - s.total) / (2 * s.mu),
    ),
    symbolic(
        id="P-E06b",
        place="after (6)",
        statement=r"$M = I + \frac{1}{2\lambda} \sum_k \alpha_k (x_k-c)(x_k-c)^T$",
        measure=_equals(lambda s: stationary()[1]),
        true=lambda s: s.I + s.outer / (2 * s.lam),
    ),
    _entry(
        id="P-X-conv",
        place="after (6)",
        statement="$M$ is a convex combination of positive semidefinite rank-1 "
        "matrices",
        verdict="HARMLESS",
        measure=_form_of_M,
        true=lambda p, o: max(-np.min(o.alpha / (2 * p.lam)), np.sum(o.alpha) - 1.0),
        printed=lambda p, o: abs(np.sum(o.alpha / (2 * p.lam)) - 1.0),
        spoiled={
            "weights at most 1/n": lambda p, o: np.max(o.alpha / (2 * p.lam)) - 1 / p.n,
            "weights sum to at most 1": lambda p, o: (
                np.sum(o.alpha / (2 * p.lam)) - 1.0
            ),
        },
        corrected=r"$M - I$ is a conic combination, with weights $\alpha_k/(2\lambda) "
        r"\ge 0$ of sum at most $1/(2\lambda)$",
    ),
    _entry(
        id="P-X-pd",
        place="after (6)",
        statement=r"$M$ is positive definite by construction (in fact $M \succeq I$)",
        measure=_smallest_eigenvalue_below,
        true=1.0,
        spoiled={"M >= 1.01 I": 1.01, "M >= 2 I": 2.0},
    ),
    _entry(
        id="P-X-rank",
        place="Section 3",
        statement="the projection has the size rank $M$, far below $d$ for correlated "
        "features",
        verdict="WRONG",
        measure=_rank_claim,
        true=lambda M, y: M.shape[0],
        printed=lambda M, y: np.linalg.matrix_rank(y),
        spoiled={
            "rank of M - I": lambda M, y: np.linalg.matrix_rank(
                M - np.eye(len(M)), tol=1e-8
            ),
            "rank + 1": lambda M, y: np.linalg.matrix_rank(y) + 1,
        },
        corrected="rank $M = d$ always; it is rank$(M - I)$ that can be small",
        witness=r"eight negatives on a line in $\mathbb{R}^5$: rank 5, not 1",
    ),
    _entry(
        id="P-X-lambda",
        place="Section 3",
        statement=r"the larger $\lambda$, the closer the metric is to the Euclidean "
        "one",
        measure=_monotone(_metric_along_lambda),
        true=lambda norms: np.append(np.diff(norms), norms[-1] - 0.01),
        spoiled={
            "the smaller": lambda norms: -np.diff(norms),
            "already at 0.1": lambda norms: norms[2:] - 0.01,
        },
    ),
    _entry(
        id="P-X-mu",
        place="Section 3",
        statement=r"$\mu$ controls the size: $R$ never falls when $\mu$ grows",
        measure=_monotone(_radius_along_mu),
        true=lambda radii: -np.diff(radii),
        spoiled={
            "R falls": lambda radii: np.diff(radii),
            "R stays": lambda radii: np.abs(np.diff(radii)),
        },
    ),
    _entry(
        id="P-X-fig1",
        place="Figure 1",
        statement=r"$\lambda$ very small leaves $M$ close to the identity",
        verdict="WRONG",
        measure=_departure,
        true=1e4,
        printed=1e-4,
        spoiled={"lambda = 0.01": 1e-2, "lambda = 0.1": 1e-1},
        corrected=r"$\lambda$ very large leaves $M$ close to the identity",
        witness=r"twenty negatives in the plane: $\|M-I\|$ is below 0.01 at $\lambda = "
        r"10^4$ and above 1 at $\lambda = 10^{-4}$",
        tolerance=0.01,
    ),
    _entry(
        id="P-X-larger",
        place="Section 3, Figure 2",
        statement="learning $M$ lets the ellipsoids cover a larger space",
        verdict="AMBIGUOUS",
        measure=_learned_against_round,
        true=lambda learned, round_one: learned[1] - round_one[1],
        printed=lambda learned, round_one: round_one[0] - learned[0],
        spoiled={
            "more negatives inside": lambda learned, round_one: (
                round_one[1] - learned[1]
            ),
            "as many inside": lambda learned, round_one: abs(round_one[1] - learned[1]),
        },
        corrected=r"$M \succeq I$ keeps the ellipsoid inside the ball of radius $\sqrt "
        "R$; on these problems its volume falls and what improves is how many "
        "negatives stay outside",
        witness=r"twenty negatives in the plane, $\lambda = 10^{-3}$ to $0.05$",
    ),
]

ENTRIES = SVDD + PROBLEM
