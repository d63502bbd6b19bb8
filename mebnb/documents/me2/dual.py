"""Equations (7) and (8) and appendix A of the paper: the dual and the way to it."""

from __future__ import annotations

from functools import partial

import numpy as np

from mebnb.documents.entries import Entry
from mebnb.documents.me2.problem import printed_lagrangian
from mebnb.documents.toolkit.me2_instances import (
    Problem,
    random_problem,
    solve,
    solve_primal,
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


# --- the dual, equation (7) ---------------------------------------------------------


def _negative_lagrangian(s):
    """Minus the Lagrangian at its stationary point, with gamma_k = 1/n - alpha_k."""
    R, M = stationary()
    gamma = [1 / s.sp.Integer(s.n) - a for a in s.alpha]
    at = zip([*s.M, s.R, *s.gamma], [*M, R, *gamma], strict=True)
    return -s.lagrangian.subs(dict(at))


def _form(s, gram):
    """alpha' gram alpha."""
    alpha = s.sp.Matrix(s.alpha)
    return (alpha.T * gram * alpha)[0]


def _own(s):
    """alpha' diag(G)."""
    return sum(s.alpha[k] * s.G[k, k] for k in range(s.n))


def _dual_objective(gram):
    """(7), with the entrywise square of the Gram matrix or another one in its place."""

    def form(s):
        shift = s.B + (s.beta - s.delta) / (2 * s.mu)
        return (
            _form(s, gram(s)) / (4 * s.lam)
            + (s.total**2 + s.beta**2 + s.delta**2) / (4 * s.mu)
            + _own(s)
            - shift * s.total
            + s.beta * (s.B - s.delta / (2 * s.mu))
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
    return sum(s.alpha[k] * in_metric(s, k, M) for k in range(s.n))


def _N(s):
    return frobenius(stationary()[1] - s.I)


def _D_of(s, R):
    return s.mu * (s.B - R) ** 2 + R * s.total + s.delta * (R - s.B) - s.beta * R


def _D(s):
    return _D_of(s, stationary()[0])


def _terms_with_R(s):
    """The Lagrangian less what it is without R and its two multipliers."""
    gone = [s.R, s.mu, s.beta, s.delta]
    return s.lagrangian - s.lagrangian.subs(dict.fromkeys(gone, 0))


def _double_sum(s, product):
    """Sum of alpha_i alpha_k product(i, k)."""
    indices = range(s.n)
    return sum(
        s.alpha[i] * s.alpha[k] * product(i, k) for i in indices for k in indices
    )


def _A_products(second):
    """Line 1 of A, y_i'y_k times second(s, i, k)."""

    def form(s):
        inner = _double_sum(
            s, lambda i, k: s.y.row(i).dot(s.y.row(k)) * second(s, i, k)
        )
        single = sum(s.alpha[i] * s.y.row(i).dot(s.y.row(i)) for i in range(s.n))
        return single + inner / (2 * s.lam)

    return form


def _A_gram(s, gram):
    """Lines 2 and 3 of A: alpha' diag(G) and half a quadratic form over lambda."""
    return _own(s) + _form(s, gram) / (2 * s.lam)


def _N_entries(power):
    """Line 1 of N: its entries to a power."""
    return lambda s: sum(entry**power for entry in s.outer) / (4 * s.lam**2)


def _N_pairs(own, of_two):
    """Lines 2 to 4 of N: own(s, k) and, for k > l, twice of_two(s, k, l)."""

    def form(s):
        same = sum(s.alpha[k] ** 2 * own(s, k) for k in range(s.n))
        pairs = sum(
            s.alpha[k] * s.alpha[m] * of_two(s, k, m)
            for k in range(s.n)
            for m in range(k)
        )
        return (same + 2 * pairs) / (4 * s.lam**2)

    return form


def _over_entries(product):
    """Sum over i, j of product(y_ki, y_kj, ...) for the rows k, ... of y."""

    def total(s, *rows):
        return sum(
            product(*(s.y[k, column] for k in rows for column in (i, j)))
            for i in range(s.d)
            for j in range(s.d)
        )

    return total


def _squared_length(s, k):
    return s.y.row(k).dot(s.y.row(k))


def _squared_product(s, k, m):
    return s.y.row(k).dot(s.y.row(m)) ** 2


def _N_powers(own, of_two):
    """Line 4 of N: G_kk and G_kl G_lk to their powers."""
    return _N_pairs(
        lambda s, k: s.G[k, k] ** own, lambda s, k, m: (s.G[k, m] * s.G[m, k]) ** of_two
    )


def _stationary_R(s):
    """R as the text after (6) has it."""
    return (s.beta - s.delta + 2 * s.mu * s.B - s.total) / (2 * s.mu)


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


def _D_final(weight):
    """The reduced D; its sum runs over alpha_k times the bracket or the bracket."""
    return lambda s: (
        -(s.total**2 + s.beta**2 + s.delta**2) / (4 * s.mu)
        + weight(s) * (s.B + (s.beta - s.delta) / (2 * s.mu))
        + s.beta * (-s.B + s.delta / (2 * s.mu))
    )


def _final_lagrangian(s):
    square = _form(s, s.G2)
    return (
        -_own(s)
        - square / (2 * s.lam)
        + square / (4 * s.lam)
        + _D_final(lambda s: s.total)(s)
    )


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
    symbolic(
        id="P-E07",
        statement=r"$\alpha^T(\frac{1}{4\lambda} G' + \frac{1}{4\mu} 1_{d \times "
        r"d})\alpha + \frac{\beta^2 + \delta^2}{4\mu} + \alpha^T(\mathrm{diag}(G) - (B "
        r"+ \frac{\beta - \delta}{2\mu}) 1_d) + \beta (B - \frac{\delta}{2\mu})$",
        verdict="HARMLESS",
        measure=_equals(_negative_lagrangian),
        true=_dual_objective(lambda s: s.G2),
        spoiled={"G for G'": _dual_objective(lambda s: s.G)},
        corrected=r"the value holds; the ones have sizes $n \times n$ and $n$",
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
    symbolic(
        id="P-A0",
        place="App. A, Lagrangian",
        statement=r"$\mathcal{L} = \ldots - \beta R + \delta (R - B)$",
        measure=_equals(lambda s: s.lagrangian),
        true=printed_lagrangian,
    ),
    symbolic(
        id="P-AA1",
        place="App. A, A line 1",
        statement=r"$A = \sum_i \alpha_i y_i^T y_i + \frac{1}{2\lambda} \sum_{i,k} "
        r"\alpha_i \alpha_k\, y_i^T y_k\, y_k^T y_i$",
        measure=_equals(_A),
        true=_A_products(lambda s, i, k: s.y.row(k).dot(s.y.row(i))),
        spoiled={"one product only": _A_products(lambda s, i, k: 1)},
    ),
    symbolic(
        id="P-AA2",
        place="App. A, A line 2",
        statement=r"$A = \alpha^T \mathrm{diag}(G) + \frac{1}{2\lambda} \sum_{i,k} "
        r"\alpha_i \alpha_k G_{ik} G_{ki}$",
        measure=_equals(_A),
        true=lambda s: _A_gram(s, s.G.multiply_elementwise(s.G.T)),
        spoiled={"G_ik G_kk": lambda s: _A_gram(s, s.G * s.sp.diag(*s.G.diagonal()))},
    ),
    symbolic(
        id="P-AA",
        place="App. A, A line 3",
        statement=r"$A = \alpha^T \mathrm{diag}(G) + \frac{1}{2\lambda} \alpha^T G' "
        r"\alpha$",
        measure=_equals(_A),
        true=lambda s: _A_gram(s, s.G2),
        spoiled={"G for G'": lambda s: _A_gram(s, s.G)},
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
    symbolic(
        id="P-AN1",
        place="App. A, N line 1",
        statement=r"$N = \frac{1}{4\lambda^2} \sum_{i,j} (\sum_k \alpha_k y_{ki} "
        "y_{kj})^2$",
        measure=_equals(_N),
        true=_N_entries(2),
        spoiled={"no square": _N_entries(1)},
    ),
    symbolic(
        id="P-AN2",
        place="App. A, N line 2",
        statement=r"$N = \frac{1}{4\lambda^2} [\sum_k \alpha_k^2 \sum_{i,j} y_{ki}^2 "
        r"y_{kj}^2 + 2 \sum_{k>l} \alpha_k \alpha_l \sum_{i,j} y_{ki} y_{kj} y_{li} "
        "y_{lj}]$",
        measure=_equals(_N),
        true=_N_pairs(
            _over_entries(lambda ki, kj: ki**2 * kj**2),
            _over_entries(lambda ki, kj, li, lj: ki * kj * li * lj),
        ),
        spoiled={
            "y_ki": _N_pairs(
                _over_entries(lambda ki, kj: ki * kj**2),
                _over_entries(lambda ki, kj, li, lj: ki * kj * li * lj),
            )
        },
    ),
    symbolic(
        id="P-AN3",
        place="App. A, N line 3",
        statement=r"$N = \frac{1}{4\lambda^2} [\sum_k \alpha_k^2 (\sum_i "
        r"y_{ki}^2)(\sum_j y_{kj}^2) + 2 \sum_{k>l} \alpha_k \alpha_l (\sum_i y_{ki} "
        "y_{li})^2]$",
        measure=_equals(_N),
        true=_N_pairs(lambda s, k: _squared_length(s, k) ** 2, _squared_product),
        spoiled={
            "cube of the norm": _N_pairs(
                lambda s, k: _squared_length(s, k) ** 3, _squared_product
            )
        },
    ),
    symbolic(
        id="P-AN4",
        place="App. A, N line 4",
        statement=r"$N = \frac{1}{4\lambda^2} [\sum_k \alpha_k^2 G_{kk}^4 + 2 "
        r"\sum_{k>l} \alpha_k \alpha_l G_{kl}^2 G_{lk}^2]$",
        verdict="WRONG",
        measure=_equals(_N),
        true=_N_powers(2, 1),
        printed=_N_powers(4, 2),
        spoiled={
            "only the first mended": _N_powers(2, 2),
            "only the second mended": _N_powers(4, 1),
        },
        corrected="$G_{kk}^2$ and $G_{kl} G_{lk}$",
        witness="degree: $N$ is of degree 4 in $y$, the printed line of degree 8",
    ),
    symbolic(
        id="P-AN",
        place="App. A, N last line",
        statement=r"$N = \frac{1}{4\lambda^2} \alpha^T G' \alpha$",
        measure=_equals(_N),
        true=lambda s: _form(s, s.G2) / (4 * s.lam**2),
        spoiled={"G for G'": lambda s: _form(s, s.G) / (4 * s.lam**2)},
    ),
    symbolic(
        id="P-AD0",
        place="App. A, definition of D",
        statement=r"$D = \mu(B-R)^2 + R\sum_k\alpha_k + \delta(R-B) - \beta R$ holds "
        "all terms with $R$",
        measure=_equals(_terms_with_R),
        true=lambda s: _D_of(s, s.R),
    ),
    symbolic(
        id="P-AD1",
        place="App. A, D display 1",
        statement=r"with $R$ inserted the third term of $D$ is $\delta \cdot (\beta - "
        r"\delta + 2\mu B - \sum_k \alpha_k)/(2\mu)$",
        verdict="WRONG",
        measure=_equals(_D),
        true=lambda s: _D_of(s, _stationary_R(s)),
        printed=lambda s: _D_of(s, _stationary_R(s)) + s.delta * s.B,
        corrected=r"subtract $\delta B$: the term is $\delta (R - B)$",
        witness=r"true minus printed is $-\delta B$",
    ),
    symbolic(
        id="P-AD2",
        place="App. A, D display 2",
        statement=r"$D$ multiplied out, with $B \sum_k \alpha_k$ and $-B\beta$ inside "
        r"$\frac{1}{2\mu}[\ldots]$",
        verdict="WRONG",
        measure=_equals(_D),
        true=_D_expanded(lambda s: 2 * s.mu),
        printed=_D_expanded(lambda s: 1),
        corrected=r"$2\mu B \sum_k \alpha_k$ and $-2\mu B \beta$",
        witness=r"$\beta = \delta = 0$, $\sum\alpha = 1$: the printed form gives $(2B "
        r"- 1)/(4\mu)$, true is $B - 1/(4\mu)$",
    ),
    symbolic(
        id="P-AD3",
        place="App. A, D final",
        statement=r"$D = -\frac{1}{4\mu}[(\sum\alpha_k)^2 + \beta^2 + \delta^2] + "
        r"\sum_k (B + \frac{\beta - \delta}{2\mu}) + \beta(-B + \frac{\delta}{2\mu})$",
        verdict="HARMLESS",
        measure=_equals(_D),
        true=_D_final(lambda s: s.total),
        printed=_D_final(lambda s: s.n),
        spoiled={"sum without alpha": _D_final(lambda s: s.n)},
        corrected=r"$\sum_k \alpha_k (\ldots)$, as the next display has it",
    ),
    symbolic(
        id="P-AL",
        place="App. A, last display",
        statement=r"$\mathcal{L}(\alpha) = -\alpha^T\mathrm{diag}(G) - "
        r"\frac{1}{2\lambda}\alpha^T G'\alpha + \frac{1}{4\lambda}\alpha^T G'\alpha - "
        r"\frac{1}{4\mu}[\ldots] + \ldots$",
        measure=_equals(lambda s: -_negative_lagrangian(s)),
        true=_final_lagrangian,
    ),
]

ENTRIES = DUAL + APPENDIX_A
