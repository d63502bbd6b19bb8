"""Section 4.1 to Proposition 1 and appendix B of the paper: uniform stability."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from mebnb.documents.entries import Entry
from mebnb.documents.toolkit.me2_instances import (
    Problem,
    arbitrary_pairs,
    in_unit_ball,
    pairs,
    solve,
    squared,
)
from mebnb.documents.toolkit.symbols import damaged, ellipsoid, equals, frobenius

_entry = partial(Entry, document="me2")
symbolic = partial(_entry, kind="symbolic", spoil=damaged(ellipsoid))
_equals = partial(equals, symbols=ellipsoid)

_STEPS = (0.1, 0.5, 1.0)


def _over_pairs(form):
    """Largest form(pair), left side less right side, over all replace-one pairs."""
    return float(max(form(pair) for pair in pairs()))


def _over_pairs_and_steps(form):
    return float(max(form(pair, t) for pair in pairs() for t in _STEPS))


def _over_all_parameters(form):
    """The same for pairs of parameters that solve nothing."""
    return float(max(form(pair, t) for pair in arbitrary_pairs() for t in _STEPS))


def _at(pair, t, other=False):
    """(R, M) moved by t Delta away from the one optimum towards the other."""
    start, end = pair.optimum, pair.other_optimum
    if other:
        start, end = end, start
    return start.R + t * (end.R - start.R), start.M + t * (end.M - start.M)


# --- definition 1, theorem 1 --------------------------------------------------------


def _stability_order(form):
    """Spread of sup_x |loss change| / form(n) over n; all negatives lie on the center.

    One of them is replaced by one beyond sqrt(B); the loss is largest at x = c.
    """
    ratios = []
    for n in (5, 10, 20, 40):
        inside = np.zeros((n, 1))
        replaced = inside.copy()
        replaced[0] = 3.0
        before = solve(Problem(inside, 1.0, 1.0, 2.0))
        after = solve(Problem(replaced, 1.0, 1.0, 2.0))
        ratios.append(abs(before.R - after.R) / form(n))
    return max(ratios) / min(ratios) - 1


def _generalisation(form):
    """What form(beta, n, K, delta) lacks to McDiarmid's bound and to an exact tail.

    The first part: L - L_hat changes by at most beta/n + ((n-1) beta/n + K)/n when one
    example is replaced, and has mean at most beta/n. The second part: a model that
    learns nothing (beta = 0) with the loss x of a fair coin, where the chance of
    L > L_hat + form is a binomial sum and must not exceed delta.
    """
    from scipy.stats import binom

    worst = 0.0
    for beta in (0.0, 1.0, 50.0):
        for n in (20, 400):
            for K in (1.0, 4.0):
                for delta in (0.01, 0.1):
                    change = beta / n + beta / n + K / n
                    spread = change * math.sqrt(n * math.log(1 / delta) / 2)
                    lack = beta / n + spread - form(beta, n, K, delta)
                    worst = max(worst, lack / (beta + K))
    for n in (100, 1000):
        for delta in (0.01, 0.1):
            largest = math.ceil(n * (0.5 - form(0.0, n, 1.0, delta))) - 1
            worst = max(worst, float(binom.cdf(largest, n, 0.5)) - delta)
    return worst


def _stability_bound(share=1.0, deviation=2.0, loss=1.0):
    def form(beta, n, K, delta):
        width = math.sqrt(math.log(1 / delta) / (2 * n))
        return share * beta / n + (deviation * beta + loss * K) * width

    return form


# --- lemma 1 ------------------------------------------------------------------------


def _lipschitz(form):
    """Largest |loss change| / |(M, R) change| over form(B), less 1.

    Random pairs of parameters, and the two extremes: only R moves; only M moves,
    along y y' for an example at distance 2 B.
    """
    rng = np.random.default_rng(7)
    worst = 0.0
    for B in (0.25, 0.5, 1.0, 2.0):
        y = np.vstack([2 * B * in_unit_ball(rng, 40, 2), [[2 * B, 0.0]]])
        outer = np.outer(y[-1], y[-1]) / (2 * B) ** 2
        moves = [(0.1 * B, np.zeros((2, 2))), (0.0, 1e-3 * outer)]
        for _ in range(20):
            step = rng.normal(size=(2, 2))
            moves.append((rng.normal() * B, 0.1 * (step + step.T)))
        for dR, dM in moves:
            R, M = 5 * B**2 + B, np.eye(2)
            change = np.abs(
                np.maximum(0, R + dR - squared(M + dM, y))
                - np.maximum(0, R - squared(M, y))
            ).max()
            size = abs(dR) + np.linalg.norm(dM)
            worst = max(worst, change / size / form(B) - 1)
    return float(worst)


def _hinge_slope(constant):
    """Largest |[a]_+ - [b]_+| / |a - b| less form."""
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=(2, 500))
    return float(
        np.max(np.abs(np.maximum(a, 0) - np.maximum(b, 0)) / np.abs(a - b)) - constant
    )


def _quadratic_against_norm(form):
    """Largest |y' D y| / (form(B) |D|_F) less 1 for examples within 2 B of c."""
    rng = np.random.default_rng(9)
    worst = 0.0
    for B in (0.5, 1.0, 3.0):
        for y in np.vstack([2 * B * in_unit_ball(rng, 100, 3), [[2 * B, 0, 0]]]):
            step = rng.normal(size=(3, 3))
            for D in (step + step.T, np.outer(y, y)):
                if np.linalg.norm(D) > 0:
                    ratio = abs(y @ D @ y) / (form(B) * np.linalg.norm(D))
                    worst = max(worst, ratio - 1)
    return float(worst)


# --- lemma 2 and appendix B ---------------------------------------------------------


def _lemma_2(signs=(1, -1, -1, 1), bound=lambda pair, t: t / pair.problem.n):
    """Left less right side; signs of N at theta, theta + tD, theta^i - tD, theta^i."""

    def form(pair, t):
        start, moved, end, back = _penalties(pair, t)
        values = (start, moved, back, end)
        left = sum(sign * value for sign, value in zip(signs, values, strict=True))
        return left - 2 * pair.lipschitz * pair.norm * bound(pair, t)

    return form


def _places(pair, t):
    """theta, theta + t Delta, theta^i, theta^i - t Delta."""
    return [_at(pair, step, other) for other in (False, True) for step in (0, t)]


def _losses(pair, t):
    """Mean losses at the four places, on S and on S^i."""
    return [
        [problem.loss(*place).mean() for place in _places(pair, t)]
        for problem in (pair.problem, pair.other)
    ]


def _penalties(pair, t):
    return [pair.problem.penalty(*place) for place in _places(pair, t)]


def _convex_step(power=1, sign=1):
    def form(pair, t):
        start, moved, end, _ = _losses(pair, t)[1]
        return sign * ((moved - start) - t**power * (end - start))

    return form


def _optimality(sign=1):
    """F at each optimum less F at a step away from it, on its own sample."""

    def form(pair, t):
        S, other = _losses(pair, t)
        N = _penalties(pair, t)
        first = S[0] + N[0] - S[1] - N[1]
        second = other[2] + N[2] - other[3] - N[3]
        return max(sign * first, sign * second)

    return form


def _seventeen(signs=(1, -1, 1, -1)):
    """(17): mean losses on S^i at theta + tD, theta, theta^i - tD, theta^i."""

    def form(pair, t):
        start, moved, end, back = _losses(pair, t)[1]
        values = (moved, start, back, end)
        return sum(sign * value for sign, value in zip(signs, values, strict=True))

    return form


def _eighteen(losses=(1, -1, -1, 1), penalties=(1, -1, 1, -1)):
    """(18): losses S^i moved, S moved, S^i start, S start; N at the four places."""

    def form(pair, t):
        S, other = _losses(pair, t)
        values = (other[1], S[1], other[0], S[0])
        left = sum(sign * value for sign, value in zip(losses, values, strict=True))
        return left + sum(
            sign * value
            for sign, value in zip(penalties, _penalties(pair, t), strict=True)
        )

    return form


def _H(pair, t):
    S, other = _losses(pair, t)
    return other[1] - other[0] - S[1] + S[0]


def _H_bound(bound):
    return lambda pair, t: (
        abs(_H(pair, t)) - 2 * pair.lipschitz * pair.norm * bound(t, pair.problem.n)
    )


def _H_of_one_example(signs=(1, -1, -1, 1)):
    """|H| against (1/n) of the four losses at x_i and x_i' alone."""

    def form(pair, t):
        new, old = pair.other.y[:1], pair.problem.y[:1]
        moved, start = _at(pair, t), _at(pair, 0)
        loss = pair.problem.loss
        values = (
            loss(*moved, new)[0],
            loss(*start, new)[0],
            loss(*moved, old)[0],
            loss(*start, old)[0],
        )
        total = sum(sign * value for sign, value in zip(signs, values, strict=True))
        return abs(abs(_H(pair, t)) - abs(total) / pair.problem.n)

    return form


# --- proposition 1 ------------------------------------------------------------------


def _eleven(theta, factor=1.0):
    def form(pair):
        p, o, q = pair.problem, pair.optimum, pair.other_optimum
        tau = np.sum((q.M - o.M) ** 2) / 2
        left = p.mu * theta(p.B, o.R, q.R) + p.lam * tau
        return left - factor * pair.lipschitz * pair.norm / p.n

    return form


def _fourteen(factor):
    def form(pair):
        p, o, q = pair.problem, pair.optimum, pair.other_optimum
        left = p.mu * (q.R - o.R) ** 2 + p.lam * np.sum((q.M - o.M) ** 2)
        return left - factor(p.n) * pair.lipschitz * pair.norm

    return form


def _theta(s):
    """B-terms of N at the two optima less those at the two half-way points."""
    other = s.sp.Symbol("R^i")
    half = (s.R + other) / 2
    return (s.B - s.R) ** 2 + (s.B - other) ** 2 - 2 * (s.B - half) ** 2


def _other_M(s):
    return s.sp.Matrix(s.d, s.d, lambda i, j: s.sp.Symbol(f"w{i + 1}{j + 1}"))


def _tau(s):
    """lambda-terms of N at the two optima less those at the two half-way points."""
    W = _other_M(s)
    half = (s.M + W) / 2
    return frobenius(s.M - s.I) + frobenius(W - s.I) - 2 * frobenius(half - s.I)


def _tau_printed(third):
    def form(s):
        W = _other_M(s)
        step = (W - s.M) / 2
        return (
            frobenius(s.M - s.I)
            - frobenius(s.M + step - s.I)
            + frobenius(third(s, W))
            - frobenius(W - step - s.I)
        )

    return form


def _tau_cross(weight, anchor=1):
    """Lines 3 to 5 of tau: half the squares plus `weight` times the cross term."""

    def form(s):
        W = _other_M(s)
        cross = sum(a * b for a, b in zip(s.M - s.I, W - anchor * s.I, strict=True))
        squares = frobenius(s.M - s.I) + frobenius(W - anchor * s.I)
        return squares / 2 + s.sp.Rational(weight) * cross

    return form


def _norm_equivalence(form):
    """Largest form(a, b) / (a^2 + b^2) less 1, over sizes from 1e-12 to 1e3."""
    sizes = np.concatenate([[0.0], np.logspace(-12, 3, 31)])
    a, b = (grid.ravel()[1:] for grid in np.meshgrid(sizes, sizes))
    return float(np.max(form(a, b) / (a**2 + b**2)) - 1)


_WEIGHTS = ((1.0, 1.0), (0.75, 100.0), (10.0, 0.1), (2.0, 1.5))


def _largest_change(k, mu, lam, n):
    """The largest a + b with mu a^2 + lam b^2 <= 2 k (a + b) / n, as (14) allows."""
    angle = np.linspace(0, np.pi / 2, 20001)
    a, b = np.cos(angle), np.sin(angle)
    return float(np.max(2 * k * (a + b) ** 2 / (n * (mu * a**2 + lam * b**2))))


def _change_against(kappa):
    """Largest a + b that (14) allows over 2 k / (n form min(mu, lambda)), less 1."""
    return max(
        _largest_change(4.0, mu, lam, 50) / (2 * 4.0 / (50 * kappa * min(mu, lam))) - 1
        for mu, lam in _WEIGHTS
    )


def _beta_against(form):
    """Largest loss change n k (a + b) that (14) and Lemma 1 allow over form, less 1."""
    worst = max(
        50 * k * _largest_change(k, mu, lam, 50) / form(k, mu, lam) - 1
        for mu, lam in _WEIGHTS
        for k in (1.0, 16.0)
    )
    for pair in pairs():
        p = pair.problem
        moved = np.abs(
            p.loss(pair.optimum.R, pair.optimum.M)
            - p.loss(pair.other_optimum.R, pair.other_optimum.M)
        ).max()
        worst = max(worst, moved * p.n / form(pair.lipschitz, p.mu, p.lam) - 1)
    return worst


def _end_of_proof(s):
    """One use of Lemma 1 on the bound of |Delta|: k times 2 k / (n kappa m)."""
    k, kappa, m = s.sp.symbols("k kappa m", positive=True)
    return k * (2 * k / (s.n * kappa * m))


# --- the entries --------------------------------------------------------------------

STABILITY = [
    _entry(
        id="P-D1",
        place="Definition 1",
        statement=r"uniform stability $\beta/n$: $\sup_x |\ell(\theta_S, x) - "
        r"\ell(\theta_{S^i}, x)| \le \beta/n$",
        measure=_stability_order,
        true=lambda n: 1 / n,
        spoiled={
            "1/n^2": lambda n: 1 / n**2,
            "1/sqrt(n)": lambda n: n**-0.5,
        },
        tolerance=1e-6,
    ),
    _entry(
        id="P-T1th",
        place="Theorem 1",
        statement=r"$L \le \hat L_S + \frac{2\beta}{n} + (4\beta + K) \sqrt{\frac{\ln "
        r"1/\delta}{2n}}$",
        verdict="HARMLESS",
        measure=_generalisation,
        true=_stability_bound(),
        printed=_stability_bound(2.0, 4.0),
        spoiled={
            "K/2": _stability_bound(loss=0.5),
            "beta + K": _stability_bound(deviation=1.0),
            "no beta/n": _stability_bound(share=0.0),
        },
        corrected="with Definition 1 (replace one, not leave one out) "
        r"$\frac{\beta}{n} + (2\beta + K)\sqrt{\ldots}$ suffices",
    ),
    _entry(
        id="P-L1",
        place="Lemma 1",
        statement=r"$|\ell(M,R,x) - \ell(M',R',x)| \le k\,(|R-R'| + \|M-M'\|_F)$, $k = "
        r"\max(1, 4B^2)$",
        measure=_lipschitz,
        true=lambda B: max(1, 4 * B**2),
        spoiled={
            "4 B^2": lambda B: 4 * B**2,
            "max(1, B^2)": lambda B: max(1, B**2),
            "1": lambda B: 1.0,
        },
        tolerance=1e-8,
    ),
    _entry(
        id="P-E09",
        statement="the hinge is 1-Lipschitz",
        measure=_hinge_slope,
        true=1.0,
        spoiled={"0.9-Lipschitz": 0.9, "1/2-Lipschitz": 0.5},
    ),
    _entry(
        id="P-E10",
        statement=r"$|(x-c)^T (M-M') (x-c)| \le 4B^2 \|M-M'\|_F$",
        measure=_quadratic_against_norm,
        true=lambda B: 4 * B**2,
        spoiled={"2 B^2": lambda B: 2 * B**2, "4 B": lambda B: 4 * B},
    ),
    _entry(
        id="P-L2",
        place="Lemma 2",
        statement=r"$N(\theta) - N(\theta + t\Delta) + N(\theta^i - t\Delta) - "
        r"N(\theta^i) \le \frac{2tk}{n} \|\Delta\|$",
        verdict="WRONG",
        measure=_over_pairs_and_steps,
        true=_lemma_2(),
        printed=_lemma_2((1, -1, 1, -1)),
        spoiled={
            "all plus": _lemma_2((1, 1, 1, 1)),
            "one sign": _lemma_2((1, -1, 1, 1)),
            "1/n^2": _lemma_2(bound=lambda pair, t: t / pair.problem.n**2),
        },
        corrected=r"$N(\theta) - N(\theta + t\Delta) - N(\theta^i - t\Delta) + "
        r"N(\theta^i)$",
        witness=r"$n = 10$, $B = \frac12$, $\mu = \lambda = 1$, all $x_i = c$, $x_1' = "
        r"c + (\frac12, 0)$: at $t = 1$ the printed left side is .095, the right side "
        ".010",
    ),
    _entry(
        id="P-E11",
        statement=r"$\mu\,\theta(R) + \lambda\,\tau(M) \le \frac{k}{n} \|\Delta\|$",
        measure=_over_pairs,
        true=_eleven(lambda B, R, S: (R - S) ** 2 / 2),
        spoiled={
            "k/(8n)": _eleven(lambda B, R, S: (R - S) ** 2 / 2, 1 / 8),
            "only the plus terms": _eleven(lambda B, R, S: (B - R) ** 2 + (B - S) ** 2),
        },
    ),
    symbolic(
        id="P-E12",
        statement=r"$\theta(R) = \frac12 (R - R^i)^2$",
        measure=_equals(_theta),
        true=lambda s: (s.R - s.sp.Symbol("R^i")) ** 2 / 2,
    ),
    symbolic(
        id="P-E13",
        statement=r"$\tau(M) = \|M-I\|^2 - \|M + \frac12(M^i-M) - I\|^2 + \|M^i-M\|^2 "
        r"- \|M^i - \frac12(M^i-M) - I\|^2$",
        verdict="WRONG",
        measure=_equals(_tau),
        true=_tau_printed(lambda s, W: W - s.I),
        printed=_tau_printed(lambda s, W: W - s.M),
        spoiled={
            "M - I twice": _tau_printed(lambda s, W: s.M - s.I),
            "M^i": _tau_printed(lambda s, W: W),
        },
        corrected=r"third term $\|M^i - I\|_F^2$",
        witness=r"$M = M^i = 2I$: $\tau = 0$, printed $-\|I\|^2$",
    ),
    symbolic(
        id="P-E13b",
        place="after (13), lines 3 to 5",
        statement=r"$\tau = \frac12(\|M-I\|^2 + \|M^i-I\|^2) + \frac12 \sum_{k,j} "
        r"(m_{kj}-\delta_{kj})(m^i_{kj}-\delta_{kj})$",
        verdict="WRONG",
        measure=_equals(_tau),
        true=_tau_cross("-1"),
        printed=_tau_cross("1/2"),
        corrected=r"minus the whole cross term: $-\sum_{k,j} "
        r"(m_{kj}-\delta_{kj})(m^i_{kj}-\delta_{kj})$",
        witness=r"$M = M^i = 2I$, $d = 2$: $\tau = 0$, printed 3",
    ),
    symbolic(
        id="P-E13c",
        place="after (13), last line",
        statement=r"$\tau(M) = \frac12 \|M - M^i\|_F^2$",
        measure=_equals(_tau),
        true=lambda s: frobenius(s.M - _other_M(s)) / 2,
    ),
    _entry(
        id="P-E14",
        statement=r"$\mu (R^i-R)^2 + \lambda \|M^i-M\|_F^2 \le \frac{2k}{n} "
        r"\|\Delta\|$",
        measure=_over_pairs,
        true=_fourteen(lambda n: 2 / n),
        spoiled={
            "1/(4n)": _fourteen(lambda n: 1 / (4 * n)),
            "2/n^2": _fourteen(lambda n: 2 / n**2),
        },
    ),
    _entry(
        id="P-P1k",
        place="Proposition 1, proof",
        statement=r"some $\kappa > 0$ has $\kappa (|R-R^i| + \|M^i-M\|) \le (R-R^i)^2 "
        r"+ \|M^i-M\|^2$ for all, as norms are equivalent",
        verdict="WRONG",
        measure=_norm_equivalence,
        true=lambda a, b: (a + b) ** 2 / 2,
        printed=lambda a, b: 1e-3 * (a + b),
        spoiled={
            "(a + b)^2": lambda a, b: (a + b) ** 2,
            "kappa = 1e-9": lambda a, b: 1e-9 * (a + b),
        },
        corrected=r"$\frac12 (a+b)^2 \le a^2 + b^2$: the right side is a square, so "
        "the left one must be",
        witness=r"$b = 0$, $a \to 0$: $\kappa a \le a^2$ forces $\kappa \le a$",
    ),
    _entry(
        id="P-P1d",
        place="Proposition 1, proof",
        statement=r"$\|\Delta\| \le \frac{2k}{n \kappa \min(\mu,\lambda)}$",
        verdict="HARMLESS",
        measure=_change_against,
        true=0.5,
        spoiled={"kappa = 1": 1.0, "kappa = 0.6": 0.6},
        corrected=r"with $\kappa = \frac12$, the largest that works: $\|\Delta\| \le "
        r"4k/(n \min(\mu,\lambda))$",
        tolerance=1e-7,
    ),
    _entry(
        id="P-P1b",
        place="Proposition 1",
        statement=r"$\beta = \frac{2k^2}{\kappa \min(\mu,\lambda)}$",
        verdict="HARMLESS",
        measure=_beta_against,
        true=lambda k, mu, lam: 4 * k**2 / min(mu, lam),
        spoiled={
            "kappa = 1": lambda k, mu, lam: 2 * k**2 / min(mu, lam),
            "k for k^2": lambda k, mu, lam: 4 * k / min(mu, lam),
            "max for min": lambda k, mu, lam: 4 * k**2 / max(mu, lam),
        },
        corrected=r"$\beta = 4k^2/\min(\mu,\lambda)$, the printed form with $\kappa = "
        r"\frac12$",
        tolerance=1e-7,
    ),
    symbolic(
        id="P-P1c",
        place="Proposition 1, last display",
        statement=r"$\ldots \le 2k \|\Delta\| \le \frac{2k^2}{n \kappa "
        r"\min(\mu,\lambda)}$",
        verdict="WRONG",
        measure=_equals(_end_of_proof),
        true=lambda s: _chain(s, 1),
        printed=lambda s: _chain(s, 2),
        corrected=r"$\le k \|\Delta\|$, by Lemma 1 used once (not Lemma 2), for $x \in "
        r"\mathbb{R}^d$",
        witness=r"$2k \cdot 2k/(n\kappa m) = 4k^2/(n\kappa m)$, twice what is claimed",
    ),
]


def _chain(s, factor):
    """The bound factor * k * |Delta| with |Delta| at its bound 2 k / (n kappa m)."""
    k, kappa, m = s.sp.symbols("k kappa m", positive=True)
    return s.sp.Rational(factor) * k * 2 * k / (s.n * kappa * m)


APPENDIX_B = [
    _entry(
        id="P-AB1",
        place="App. B, first two displays",
        statement=r"$\hat L(\theta + t\Delta) - \hat L(\theta) \le t \hat L(\theta^i) "
        r"- t \hat L(\theta)$, by convexity",
        measure=_over_all_parameters,
        true=_convex_step(),
        spoiled={"reversed": _convex_step(sign=-1), "t^2": _convex_step(power=2)},
    ),
    _entry(
        id="P-E17",
        statement=r"$\hat L_{S^i}(\theta + t\Delta) - \hat L_{S^i}(\theta) + \hat "
        r"L_{S^i}(\theta^i - t\Delta) - \hat L_{S^i}(\theta^i) \le 0$",
        measure=_over_all_parameters,
        true=_seventeen(),
        spoiled={
            "reversed": _seventeen((-1, 1, -1, 1)),
            "one sign": _seventeen((1, -1, -1, 1)),
        },
    ),
    _entry(
        id="P-AB",
        place="App. B, optimality",
        statement=r"$F_S(\theta) \le F_S(\theta + t\Delta)$ and $F_{S^i}(\theta^i) \le "
        r"F_{S^i}(\theta^i - t\Delta)$",
        measure=_over_pairs_and_steps,
        true=_optimality(),
        spoiled={
            "reversed": _optimality(-1),
            "without the loss": _lemma_2((1, -1, 0, 0)),
        },
    ),
    _entry(
        id="P-E18",
        statement=r"$\hat L_{S^i}(\theta + t\Delta) - \hat L_S(\theta + t\Delta) - "
        r"\hat L_{S^i}(\theta) + \hat L_S(\theta) + N(\theta) + N(\theta^i) - N(\theta "
        r"+ t\Delta) - N(\theta^i - t\Delta) \le 0$",
        measure=_over_pairs_and_steps,
        true=_eighteen(),
        spoiled={
            "S and S^i swapped": _eighteen(losses=(-1, 1, 1, -1)),
            "N as in Lemma 2": _eighteen(penalties=(1, -1, -1, 1)),
        },
    ),
    _entry(
        id="P-AH1",
        place="App. B, H lines 2 and 3",
        statement=r"$|H|$ is $\frac1n$ of four losses at the two exchanged examples "
        "alone",
        measure=_over_pairs_and_steps,
        true=_H_of_one_example(),
        spoiled={
            "plus": _H_of_one_example((1, -1, 1, -1)),
            "x_i alone": _H_of_one_example((0, 0, 1, -1)),
        },
    ),
    _entry(
        id="P-AH",
        place="App. B, H last line",
        statement=r"$H \le \frac{2t \max(1, 4B^2)}{n} \|\Delta\|$",
        measure=_over_pairs_and_steps,
        true=_H_bound(lambda t, n: t / n),
        spoiled={
            "1/n^2": _H_bound(lambda t, n: t / n**2),
            "t^2": _H_bound(lambda t, n: t**2 / (2 * n)),
        },
    ),
]

ENTRIES = STABILITY + APPENDIX_B
