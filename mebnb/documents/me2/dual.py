"""Equations (7) and (8) and appendix A of the paper: the dual and the way to it."""

from __future__ import annotations

from functools import partial

import numpy as np

from mebnb.documents.entries import Entry
from mebnb.documents.toolkit.me2_algebra import (
    frobenius,
    lagrangian,
    printed_lagrangian,
    quadratic,
    stationary,
    symbolic,
)
from mebnb.documents.toolkit.me2_instances import (
    Problem,
    random_problem,
    solve,
    solve_primal,
    squared,
)

_entry = partial(Entry, document="me2")


# --- the dual, equation (7) ---------------------------------------------------------


def _negative_lagrangian(s):
    """Minus the Lagrangian at its stationary point, with gamma_k = 1/n - alpha_k."""
    R, M = stationary()
    value = lagrangian(s).subs(dict(zip(s.M, M, strict=True))).subs(s.R, R)
    return -value.subs(
        {g: s.sp.Rational(1, s.n) - a for g, a in zip(s.gamma, s.alpha, strict=True)}
    )


def _dual_objective(quarter=4, square=True, middle=1, cross=1, ridge=1):
    def form(s):
        gram = s.G2 if square else s.G
        a = s.sp.Matrix(s.alpha)
        shift = s.B + s.beta / (2 * s.mu) - s.delta / (2 * s.mu)
        return (
            (a.T * gram * a)[0] / (quarter * s.lam)
            + ridge * s.total**2 / (4 * s.mu)
            + (s.beta**2 + s.delta**2) / (4 * s.mu)
            + sum(s.alpha[k] * s.G[k, k] for k in range(s.n))
            - middle * shift * s.total
            + s.beta * (s.B - cross * s.delta / (2 * s.mu))
        )

    return form


def _strong_duality(objective):
    """|min of (7) + min of (2)| with form(alpha, beta, delta, problem) as the dual."""
    from scipy.optimize import minimize

    worst = 0.0
    for seed, mu in ((1, 0.2), (3, 3.0), (8, 1.0)):
        problem = random_problem(seed).replace(mu=mu)
        n = problem.n

        def value(v, problem=problem, n=n):
            return objective(v[:n], v[n], v[n + 1], problem)

        found = minimize(
            value,
            np.concatenate([np.full(n, 0.5 / n), [0.1, 0.1]]),
            bounds=[(0, 1 / n)] * n + [(0, None)] * 2,
            method="SLSQP",
            options={"maxiter": 1000, "ftol": 1e-15},
        )
        primal = solve_primal(problem)
        worst = max(worst, abs(found.fun + primal) / primal)
    return worst


def _numeric_dual(quarter=4.0, box=1.0, floor=1.0):
    def form(alpha, beta, delta, p):
        gram = p.y @ p.y.T
        total = alpha.sum()
        return (
            alpha @ (gram**2) @ alpha / (quarter * p.lam)
            + (total**2 + beta**2 + delta**2) / (4 * p.mu)
            + alpha @ np.diag(gram)
            - (box * p.B + (beta - delta) / (2 * p.mu)) * total
            + floor * beta * (p.B - delta / (2 * p.mu))
        )

    return form


def _sizes_of_ones(form):
    """Error of alpha' 1 1' alpha = s^2 and alpha' 1 = s; infinite when sizes clash."""
    alpha = np.array([0.2, 0.3, 0.1])
    shape, length = form(n=3, d=2)
    try:
        return abs(alpha @ np.ones(shape) @ alpha - 0.36) + abs(
            alpha @ np.ones(length) - 0.6
        )
    except ValueError:
        return np.inf


def _signs_of_multipliers(form):
    """Distance of form(total, mu, B) from the beta, delta >= 0 that minimise (7)."""
    from scipy.optimize import minimize

    worst = 0.0
    for total, mu, B in ((0.7, 0.2, 1.0), (0.3, 1.0, 2.0), (1.0, 0.1, 0.5)):
        found = minimize(
            lambda v, t=total, mu=mu, B=B: (
                (v[0] ** 2 + v[1] ** 2) / (4 * mu)
                - (v[0] - v[1]) * t / (2 * mu)
                + v[0] * (B - v[1] / (2 * mu))
            ),
            [0.05, 0.05],
            bounds=[(0, None)] * 2,
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-16},
        )
        worst = max(worst, np.abs(found.x - form(total, mu, B)).max())
    return worst


# --- (8) and the text around it -----------------------------------------------------


def _radius_of_loss(form):
    """Distance between the R of (8) and of (2) when a negative lies on the center.

    One of two negatives is the center itself, the other at distance 1; `form`
    takes R and gives the total loss in front of the penalty.
    """
    from scipy.optimize import minimize

    problem = Problem(np.array([[0.0, 0.0], [1.0, 0.0]]), 0.75, 0.1, 4.0)
    optimum = solve(problem)

    def value(v):
        M = np.diag([v[1], 1.0])
        return form(v[0], squared(M, problem.y)) + problem.penalty(v[0], M)

    best = min(
        (
            minimize(
                value,
                start,
                bounds=[(0, problem.B), (0, None)],
                method="Nelder-Mead",
                options={"xatol": 1e-10, "fatol": 1e-14, "maxiter": 4000},
            )
            for start in ([3.0, 2.0], [1.0, 1.5])
        ),
        key=lambda found: found.fun,
    )
    return abs(best.x[0] - optimum.R)


def _convexity(loss):
    """Largest violation of midpoint convexity of form(R, squared distance)."""
    rng = np.random.default_rng(5)
    R, S = rng.uniform(0, 4, (2, 400))
    q, w = rng.uniform(0, 6, (2, 400))
    middle = loss((R + S) / 2, (q + w) / 2)
    return float(np.max(middle - (loss(R, q) + loss(S, w)) / 2))


# --- appendix A ---------------------------------------------------------------------


def _A(s):
    """Sum of alpha_i |x_i - c|_M^2 at the stationary M."""
    M = stationary()[1]
    return sum(s.alpha[k] * quadratic(s, k, M) for k in range(s.n))


def _N(s):
    return frobenius(stationary()[1] - s.I)


def _D(s):
    R = stationary()[0]
    return s.mu * (s.B - R) ** 2 + R * s.total + s.delta * (R - s.B) - s.beta * R


def _terms_with_R(s):
    """The Lagrangian less what it is without R and its two multipliers."""
    value = lagrangian(s)
    rest = (
        s.sp.Rational(1, s.n) * sum(s.xi)
        + s.lam * frobenius(s.M - s.I)
        - sum(g * x for g, x in zip(s.gamma, s.xi, strict=True))
        - sum(s.alpha[k] * (quadratic(s, k) + s.xi[k]) for k in range(s.n))
    )
    return value - rest


def _A_first(factor=2, outer=True):
    def form(s):
        double = sum(
            s.alpha[i]
            * s.alpha[k]
            * (s.y.row(i) * s.y.row(k).T)[0]
            * ((s.y.row(k) * s.y.row(i).T)[0] if outer else 1)
            for i in range(s.n)
            for k in range(s.n)
        )
        single = sum(s.alpha[i] * (s.y.row(i) * s.y.row(i).T)[0] for i in range(s.n))
        return single + double / (factor * s.lam)

    return form


def _A_gram(factor=2, power=2):
    def form(s):
        a = s.sp.Matrix(s.alpha)
        gram = s.G.applyfunc(lambda entry: entry**power)
        return sum(s.alpha[i] * s.G[i, i] for i in range(s.n)) + (a.T * gram * a)[0] / (
            factor * s.lam
        )

    return form


def _A_sum(factor=2, swap=True):
    def form(s):
        double = sum(
            s.alpha[i] * s.alpha[k] * s.G[i, k] * (s.G[k, i] if swap else s.G[k, k])
            for i in range(s.n)
            for k in range(s.n)
        )
        return sum(s.alpha[i] * s.G[i, i] for i in range(s.n)) + double / (
            factor * s.lam
        )

    return form


def _N_entries(inner=2, square=True):
    def form(s):
        total = 0
        for i in range(s.d):
            for j in range(s.d):
                entry = sum(s.alpha[k] * s.y[k, i] * s.y[k, j] for k in range(s.n))
                total += entry**2 if square else entry
        return total / (inner**2 * s.lam**2)

    return form


def _N_split(double=2, factored=False, diagonal=2, off=1):
    """The second (and, factored, third) line of N; `double` counts the pairs k > l."""

    def form(s):
        same = pairs = 0
        for k in range(s.n):
            if factored:
                size = sum(s.y[k, i] ** 2 for i in range(s.d)) ** (diagonal // 2) * sum(
                    s.y[k, j] ** 2 for j in range(s.d)
                )
            else:
                size = sum(
                    s.y[k, i] ** diagonal * s.y[k, j] ** 2
                    for i in range(s.d)
                    for j in range(s.d)
                )
            same += s.alpha[k] ** 2 * size
            for m in range(k):
                product = sum(s.y[k, i] * s.y[m, i] for i in range(s.d))
                pairs += s.alpha[k] * s.alpha[m] * product ** (2 * off)
        return (same + double * pairs) / (4 * s.lam**2)

    return form


def _N_gram(diagonal=2, off=1):
    """The line before the last of N: G_kk^diagonal, (G_kl G_lk)^off."""

    def form(s):
        same = sum(s.alpha[k] ** 2 * s.G[k, k] ** diagonal for k in range(s.n))
        pairs = sum(
            s.alpha[k] * s.alpha[m] * (s.G[k, m] * s.G[m, k]) ** off
            for k in range(s.n)
            for m in range(k)
        )
        return (same + 2 * pairs) / (4 * s.lam**2)

    return form


def _N_last(factor=4, power=2):
    def form(s):
        a = s.sp.Matrix(s.alpha)
        gram = s.G.applyfunc(lambda entry: entry**power)
        return (a.T * gram * a)[0] / (factor * s.lam**2)

    return form


def _D_inserted(upper=1, floor=1):
    """D with R inserted; `upper` weighs the part -delta B that the paper drops."""

    def form(s):
        R = (s.beta - s.delta + 2 * s.mu * s.B - s.total) / (2 * s.mu)
        return (
            s.mu * (s.B - R) ** 2
            + s.total * R
            + s.delta * R
            - upper * s.delta * s.B
            - floor * s.beta * R
        )

    return form


def _D_expanded(weight):
    """D multiplied out; `weight(s)` stands before B sum alpha and before -B beta."""

    def form(s):
        t, b, e, w = s.total, s.beta, s.delta, weight(s)
        return (t**2 + b**2 + e**2 - 2 * e * b - 2 * b * t + 2 * e * t) / (4 * s.mu) + (
            (-(t**2) + b * t - e * t + w * s.B * t)
            + (e * b - e**2 - e * t)
            + (-(b**2) + e * b - w * s.B * b + b * t)
        ) / (2 * s.mu)

    return form


def _D_final(weighted=True, sign=1):
    """The reduced D; its sum runs over alpha_k times the bracket or the bracket."""

    def form(s):
        bracket = s.B + s.beta / (2 * s.mu) - sign * s.delta / (2 * s.mu)
        return (
            -(s.total**2 + s.beta**2 + s.delta**2) / (4 * s.mu)
            + (s.total if weighted else s.n) * bracket
            + s.beta * (-s.B + s.delta / (2 * s.mu))
        )

    return form


def _final_lagrangian(minus=2, plus=4, cross=1):
    def form(s):
        a = s.sp.Matrix(s.alpha)
        square = (a.T * s.G2 * a)[0]
        return (
            -sum(s.alpha[k] * s.G[k, k] for k in range(s.n))
            - square / (minus * s.lam)
            + square / (plus * s.lam)
            - (s.total**2 + s.beta**2 + s.delta**2) / (4 * s.mu)
            + (s.B + s.beta / (2 * s.mu) - s.delta / (2 * s.mu)) * s.total
            + s.beta * (-s.B + cross * s.delta / (2 * s.mu))
        )

    return form


def _schur(form):
    """Minus the smallest eigenvalue of form(G), at worst over random Gram matrices."""
    rng = np.random.default_rng(2)
    worst = -np.inf
    for _ in range(60):
        y = rng.normal(size=(6, 3))
        worst = max(worst, -np.linalg.eigvalsh(form(y @ y.T))[0])
    return float(worst)


# --- the entries ------------------------------------------------------------------

DUAL = [
    _entry(
        id="P-E07",
        statement=r"$\alpha^T(\frac{1}{4\lambda} G' + \frac{1}{4\mu} 1_{d \times "
        r"d})\alpha + \frac{\beta^2 + \delta^2}{4\mu} + \alpha^T(\mathrm{diag}(G) - (B "
        r"+ \frac{\beta - \delta}{2\mu}) 1_d) + \beta (B - \frac{\delta}{2\mu})$",
        verdict="HARMLESS",
        measure=symbolic(_negative_lagrangian),
        true=_dual_objective(),
        spoiled={
            "1/(2 lambda)": _dual_objective(quarter=2),
            "G for G'": _dual_objective(square=False),
            "+ (B + ...) sum": _dual_objective(middle=-1),
            "+ beta delta": _dual_objective(cross=-1),
            "no 1/(4 mu) term": _dual_objective(ridge=0),
        },
        corrected=r"the value holds; the ones have sizes $n \times n$ and $n$",
        kind="symbolic",
    ),
    _entry(
        id="P-E07b",
        place="(7)",
        statement=r"minimising (7) over $0 \le \alpha_i \le \frac1n$, $\beta, \delta "
        r"\ge 0$ gives minus the optimal value of (2)",
        measure=_strong_duality,
        true=_numeric_dual(),
        spoiled={
            "1/(2 lambda)": _numeric_dual(quarter=2.0),
            "B/2": _numeric_dual(box=0.5),
            "half of beta B": _numeric_dual(floor=0.5),
        },
        tolerance=1e-6,
    ),
    _entry(
        id="P-E07c",
        place="after (7)",
        statement=r"$1_d$ has length $d$ and $1_{d \times d}$ size $d \times d$",
        verdict="HARMLESS",
        measure=_sizes_of_ones,
        true=lambda n, d: ((n, n), n),
        printed=lambda n, d: ((d, d), d),
        spoiled={
            "n x d": lambda n, d: ((n, d), n),
            "1 x 1": lambda n, d: ((n, n), 1),
        },
        corrected=r"$1_n$ and $1_{n \times n}$: $\alpha$ has one entry a negative",
        kind="arithmetic",
    ),
    _entry(
        id="P-E07d",
        place="(7)",
        statement=r"the multipliers of $B \ge R \ge 0$ at the optimum of (7): $\delta "
        r"= 0$, $\beta = \max(0, \sum_i \alpha_i - 2\mu B)$",
        measure=_signs_of_multipliers,
        true=lambda total, mu, B: (max(0.0, total - 2 * mu * B), 0.0),
        spoiled={
            "beta = 0": lambda total, mu, B: (0.0, 0.0),
            "roles swapped": lambda total, mu, B: (0.0, max(0.0, total - 2 * mu * B)),
            "mu B": lambda total, mu, B: (max(0.0, total - mu * B), 0.0),
        },
        tolerance=1e-5,
    ),
    _entry(
        id="P-E08",
        statement=r"(2) equals $\min \sum_i \ell_i + \mu(B-R)^2 + \lambda\|M-I\|_F^2$ "
        r"with $\ell = \frac1n [R^2 - \|x-c\|_M^2]_+$",
        verdict="WRONG",
        measure=_radius_of_loss,
        true=lambda R, q: np.maximum(0, R - q).sum() / 2,
        printed=lambda R, q: np.maximum(0, R**2 - q).sum() / 2,
        spoiled={
            "no 1/n": lambda R, q: np.maximum(0, R - q).sum(),
            "squared hinge": lambda R, q: (np.maximum(0, R - q) ** 2).sum() / 2,
        },
        corrected=r"$\ell = [R - \|x-c\|_M^2]_+$ and the objective "
        r"$\frac1n\sum_i\ell_i + N$",
        witness=r"negatives at distance 0 and 1, $\mu = 3/4$, $\lambda = 0.1$, $B = "
        "4$: another $R$",
        tolerance=1e-5,
    ),
    _entry(
        id="P-E08b",
        place="after (8)",
        statement=r"$F_S = \hat L + N$ with $\hat L = \frac1n \sum_i \ell_i$ and a "
        r"loss that already holds $\frac1n$",
        verdict="WRONG",
        measure=_radius_of_loss,
        true=lambda R, q: np.maximum(0, R - q).mean(),
        printed=lambda R, q: np.maximum(0, R - q).mean() / 2,
        spoiled={
            "sum": lambda R, q: np.maximum(0, R - q).sum(),
            "1/n^3": lambda R, q: np.maximum(0, R - q).mean() / 4,
        },
        corrected=r"$\frac1n$ once: in $\hat L$, not in $\ell$",
        witness="the same two negatives: another $R$",
        tolerance=1e-5,
    ),
    _entry(
        id="P-X-convex",
        place="after (8)",
        statement="the loss is convex in $(M, R)$",
        measure=_convexity,
        true=lambda R, q: np.maximum(0, R - q),
        printed=lambda R, q: np.maximum(0, R**2 - q),
        spoiled={
            "cut off at 1": lambda R, q: np.clip(R - q, 0, 1),
            "minus the hinge": lambda R, q: -np.maximum(0, R - q),
            "sqrt(R)": lambda R, q: np.maximum(0, np.sqrt(R) - q),
        },
        tolerance=1e-12,
    ),
]

APPENDIX_A = [
    _entry(
        id="P-A0",
        place="App. A, Lagrangian",
        statement=r"$\mathcal{L} = \ldots - \beta R + \delta (R - B)$",
        measure=symbolic(lagrangian),
        true=printed_lagrangian(lambda s: s.delta * (s.R - s.B)),
        spoiled={
            "delta (B - R)": printed_lagrangian(lambda s: s.delta * (s.B - s.R)),
            "delta R": printed_lagrangian(lambda s: s.delta * s.R),
        },
        kind="symbolic",
    ),
    _entry(
        id="P-AA1",
        place="App. A, A line 1",
        statement=r"$A = \sum_i \alpha_i y_i^T y_i + \frac{1}{2\lambda} \sum_{i,k} "
        r"\alpha_i \alpha_k\, y_i^T y_k\, y_k^T y_i$",
        measure=symbolic(_A),
        true=_A_first(),
        spoiled={
            "1/(4 lambda)": _A_first(factor=4),
            "one product only": _A_first(outer=False),
        },
        kind="symbolic",
    ),
    _entry(
        id="P-AA2",
        place="App. A, A line 2",
        statement=r"$A = \alpha^T \mathrm{diag}(G) + \frac{1}{2\lambda} \sum_{i,k} "
        r"\alpha_i \alpha_k G_{ik} G_{ki}$",
        measure=symbolic(_A),
        true=_A_sum(),
        spoiled={"G_ik G_kk": _A_sum(swap=False), "1/lambda": _A_sum(factor=1)},
        kind="symbolic",
    ),
    _entry(
        id="P-AA",
        place="App. A, A line 3",
        statement=r"$A = \alpha^T \mathrm{diag}(G) + \frac{1}{2\lambda} \alpha^T G' "
        r"\alpha$",
        measure=symbolic(_A),
        true=_A_gram(),
        spoiled={"G for G'": _A_gram(power=1), "1/(4 lambda)": _A_gram(factor=4)},
        kind="symbolic",
    ),
    _entry(
        id="P-AA-psd",
        place="App. A",
        statement="$G$ positive semidefinite makes its Hadamard square $G'$ so too",
        measure=_schur,
        true=lambda G: G * G,
        spoiled={
            "signed square": lambda G: G * np.abs(G),
            "absolute value": np.abs,
            "diagonal off": lambda G: G * G - np.diag(np.diag(G) ** 2),
        },
    ),
    _entry(
        id="P-AN1",
        place="App. A, N line 1",
        statement=r"$N = \frac{1}{4\lambda^2} \sum_{i,j} (\sum_k \alpha_k y_{ki} "
        "y_{kj})^2$",
        measure=symbolic(_N),
        true=_N_entries(),
        spoiled={
            "1/lambda^2": _N_entries(inner=1),
            "no square": _N_entries(square=False),
        },
        kind="symbolic",
    ),
    _entry(
        id="P-AN2",
        place="App. A, N line 2",
        statement=r"$N = \frac{1}{4\lambda^2} [\sum_k \alpha_k^2 \sum_{i,j} y_{ki}^2 "
        r"y_{kj}^2 + 2 \sum_{k>l} \alpha_k \alpha_l \sum_{i,j} y_{ki} y_{kj} y_{li} "
        "y_{lj}]$",
        measure=symbolic(_N),
        true=_N_split(),
        spoiled={"pairs once": _N_split(double=1), "y_ki": _N_split(diagonal=1)},
        kind="symbolic",
    ),
    _entry(
        id="P-AN3",
        place="App. A, N line 3",
        statement=r"$N = \frac{1}{4\lambda^2} [\sum_k \alpha_k^2 (\sum_i "
        r"y_{ki}^2)(\sum_j y_{kj}^2) + 2 \sum_{k>l} \alpha_k \alpha_l (\sum_i y_{ki} "
        "y_{li})^2]$",
        measure=symbolic(_N),
        true=_N_split(factored=True),
        spoiled={
            "pairs four times": _N_split(double=4, factored=True),
            "cube of the norm": _N_split(factored=True, diagonal=4),
        },
        kind="symbolic",
    ),
    _entry(
        id="P-AN4",
        place="App. A, N line 4",
        statement=r"$N = \frac{1}{4\lambda^2} [\sum_k \alpha_k^2 G_{kk}^4 + 2 "
        r"\sum_{k>l} \alpha_k \alpha_l G_{kl}^2 G_{lk}^2]$",
        verdict="WRONG",
        measure=symbolic(_N),
        true=_N_gram(),
        printed=_N_gram(diagonal=4, off=2),
        spoiled={
            "only the first mended": _N_gram(diagonal=2, off=2),
            "only the second mended": _N_gram(diagonal=4, off=1),
        },
        corrected="$G_{kk}^2$ and $G_{kl} G_{lk}$",
        witness="degree: $N$ is of degree 4 in $y$, the printed line of degree 8",
        kind="symbolic",
    ),
    _entry(
        id="P-AN",
        place="App. A, N last line",
        statement=r"$N = \frac{1}{4\lambda^2} \alpha^T G' \alpha$",
        measure=symbolic(_N),
        true=_N_last(),
        spoiled={"1/(2 lambda^2)": _N_last(factor=2), "G for G'": _N_last(power=1)},
        kind="symbolic",
    ),
    _entry(
        id="P-AD0",
        place="App. A, definition of D",
        statement=r"$D = \mu(B-R)^2 + R\sum_k\alpha_k + \delta(R-B) - \beta R$ holds "
        "all terms with $R$",
        measure=symbolic(_terms_with_R),
        true=lambda s: (
            s.mu * (s.B - s.R) ** 2
            + s.R * s.total
            + s.delta * (s.R - s.B)
            - s.beta * s.R
        ),
        spoiled={
            "- R sum": lambda s: (
                s.mu * (s.B - s.R) ** 2
                - s.R * s.total
                + s.delta * (s.R - s.B)
                - s.beta * s.R
            ),
            "no beta": lambda s: (
                s.mu * (s.B - s.R) ** 2 + s.R * s.total + s.delta * (s.R - s.B)
            ),
        },
        kind="symbolic",
    ),
    _entry(
        id="P-AD1",
        place="App. A, D display 1",
        statement=r"with $R$ inserted the third term of $D$ is $\delta \cdot (\beta - "
        r"\delta + 2\mu B - \sum_k \alpha_k)/(2\mu)$",
        verdict="WRONG",
        measure=symbolic(_D),
        true=_D_inserted(),
        printed=_D_inserted(upper=0),
        spoiled={"+ delta B": _D_inserted(upper=-1), "+ beta R": _D_inserted(floor=-1)},
        corrected=r"subtract $\delta B$: the term is $\delta (R - B)$",
        witness=r"true minus printed is $-\delta B$",
        kind="symbolic",
    ),
    _entry(
        id="P-AD2",
        place="App. A, D display 2",
        statement=r"$D$ multiplied out, with $B \sum_k \alpha_k$ and $-B\beta$ inside "
        r"$\frac{1}{2\mu}[\ldots]$",
        verdict="WRONG",
        measure=symbolic(_D),
        true=_D_expanded(lambda s: 2 * s.mu),
        printed=_D_expanded(lambda s: 1),
        spoiled={
            "mu B": _D_expanded(lambda s: s.mu),
            "- 2 mu B": _D_expanded(lambda s: -2 * s.mu),
        },
        corrected=r"$2\mu B \sum_k \alpha_k$ and $-2\mu B \beta$",
        witness=r"$\beta = \delta = 0$, $\sum\alpha = 1$: the printed form gives $(2B "
        r"- 1)/(4\mu)$, true is $B - 1/(4\mu)$",
        kind="symbolic",
    ),
    _entry(
        id="P-AD3",
        place="App. A, D final",
        statement=r"$D = -\frac{1}{4\mu}[(\sum\alpha_k)^2 + \beta^2 + \delta^2] + "
        r"\sum_k (B + \frac{\beta - \delta}{2\mu}) + \beta(-B + \frac{\delta}{2\mu})$",
        verdict="HARMLESS",
        measure=symbolic(_D),
        true=_D_final(),
        printed=_D_final(weighted=False),
        spoiled={"+ delta": _D_final(sign=-1), "sum without alpha": _D_final(False)},
        corrected=r"$\sum_k \alpha_k (\ldots)$, as the next display has it",
        kind="symbolic",
    ),
    _entry(
        id="P-AL",
        place="App. A, last display",
        statement=r"$\mathcal{L}(\alpha) = -\alpha^T\mathrm{diag}(G) - "
        r"\frac{1}{2\lambda}\alpha^T G'\alpha + \frac{1}{4\lambda}\alpha^T G'\alpha - "
        r"\frac{1}{4\mu}[\ldots] + \ldots$",
        measure=symbolic(lambda s: -_negative_lagrangian(s)),
        true=_final_lagrangian(),
        spoiled={
            "1/(4 lambda) twice": _final_lagrangian(minus=4),
            "1/(2 lambda) twice": _final_lagrangian(plus=2),
            "- beta delta": _final_lagrangian(cross=-1),
        },
        kind="symbolic",
    ),
]

ENTRIES = DUAL + APPENDIX_A
