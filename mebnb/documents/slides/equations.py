"""The slides' formulas: dual, gradient, linear minimisation, step rule, Hessian, L."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from scipy.optimize import linprog, minimize

from mebnb.documents.entries import Entry
from mebnb.documents.toolkit.clouds import (
    ball_by_enumeration,
    clouds,
    distances2,
    gradient_of_f,
    over,
    phi,
    simplex_points,
    worst,
    z_of,
)
from mebnb.documents.toolkit.symbols import damaged, equals, gradient_of, squared_norm

_slide = partial(Entry, document="slides")
symbolic = partial(_slide, kind="symbolic", spoil=damaged())

# The third point lies inside the ball of the first two: its best weight is 0.
INNER = np.array([[-1.0, 0.0], [1.0, 0.0], [0.25, 0.1]])
TIGHT = np.array([[-1.0], [1.0]])


# --- measures ----------------------------------------------------------------------


@over(clouds(11) + (INNER,))
def _dual_is_attained(form, points):
    """Difference of the optimal values; 1 more where the maximiser is not admitted."""
    value, admits = form
    ball = ball_by_enumeration(points)
    gap = abs(value(points, ball.weights) - ball.radius**2)
    best = max(value(points, u) for u in simplex_points(12, 200, len(points)))
    return gap + max(0.0, best - ball.radius**2) + (not admits(ball.weights))


@over(clouds(13, 4) + (INNER,))
def _minimum_over(form, points):
    """|min of the objective over the feasible set + r*^2|, by SLSQP."""
    objective, total = form
    m = len(points)
    low = minimize(
        lambda u: objective(points, u),
        np.full(m, total(m) / m),
        bounds=[(0.0, 1.0)] * m,
        constraints={"type": "eq", "fun": lambda u: u.sum() - total(m)},
        options={"ftol": 1e-13, "maxiter": 500},
    )
    return abs(low.fun + ball_by_enumeration(points).radius ** 2)


@over(lambda: ((points, u) for points in clouds(14) for u in simplex_points(15, 5, 6)))
def _vertex_minimises(form, points, u):
    """By how much the chosen vertex misses the minimum of the linear programme."""
    gradient = gradient_of_f(points, u)
    program = linprog(
        gradient, A_eq=np.ones((1, len(points))), b_eq=[1.0], method="highs"
    )
    return abs(gradient[form(points, u, gradient)] - program.fun)


def _short_step_descends(form):
    """What is missing to the decrease <grad f, d>^2 / (2 L |d|^2) after one step."""
    step, update = form
    violations = []
    for points in (TIGHT,) + clouds(16):
        m = len(points)
        lipschitz = np.linalg.eigvalsh(2.0 * points @ points.T)[-1]
        for u in simplex_points(17, 10, m) + (np.linspace(1.0, 2.0, m) / (1.5 * m),):
            gradient = gradient_of_f(points, u)
            d = np.zeros(m)
            d[gradient.argmin()] += 1.0
            d[gradient.argmax()] -= 1.0
            slope = gradient @ d
            promised = slope**2 / (2.0 * lipschitz * (d @ d))
            after = update(u, step(-gradient, d, lipschitz), d)
            got = phi(points, after) - phi(points, u)
            violations.append(max(0.0, promised - got) / promised)
    return worst(violations)


@over(clouds(18))
def _smallest_lipschitz_constant(form, points):
    """Relative distance of L from the largest |grad f(u) - grad f(v)| / |u - v|."""
    top = np.linalg.eigh(points @ points.T)[1][:, -1]
    change = gradient_of_f(points, 0.0 * top)
    slopes = [
        np.linalg.norm(gradient_of_f(points, v) - change) / np.linalg.norm(v)
        for v in (top, *(u - top for u in simplex_points(19, 50, len(points))))
    ]
    return abs(form(points) / max(slopes) - 1.0)


@over(clouds(20))
def _is_a_bound_on_directions(form, points):
    """A moved cloud keeps L, and d'Hd <= L |d|^2 for all d that sum to zero."""
    violations = [abs(form(points + 10.0) / form(points) - 1.0)]
    for u in simplex_points(21, 20, len(points)):
        d = u - u.mean()
        image = d @ points
        violations.append(2.0 * (image @ image) / (form(points) * (d @ d)) - 1.0)
    return violations


@over(clouds(22))
def _contains(form, points):
    """Share of a cloud's points that do not belong to the set."""
    ball = ball_by_enumeration(points)
    return 1.0 - form(np.sqrt(distances2(points, ball.center)), ball.radius).mean()


def _smaller_problem(form):
    """Share of clouds on which a claim about the dual's size is wrong.

    The primal has a center and gamma for its variables, the dual one weight a point.
    """
    wrong = []
    for m, n in [(250, 4), (70, 2), (30, 500), (3, 2), (5, 3), (4, 3)]:
        (points,) = clouds(23, 1, m, n)
        weights = np.full(m, 1.0 / m)
        primal = [*(weights @ points), phi(points, weights)]
        dual = gradient_of_f(points, weights)
        wrong.append(form(m, n) != (len(dual) < len(primal)))
    return float(np.mean(wrong))


# --- entries -----------------------------------------------------------------------


def _objective(points, u):
    return -phi(points, u)


ENTRIES = [
    _slide(
        id="S-X-sphere",
        place="Definition",
        statement=r"The smallest sphere of $\mathbb{R}^n$ that contains the points; "
        "called an $n$-sphere.",
        verdict="HARMLESS",
        measure=_contains,
        true=lambda distance, radius: distance <= radius * (1.0 + 1e-9),
        printed=lambda distance, radius: np.isclose(distance, radius, rtol=1e-9),
        spoiled={
            "open ball": lambda distance, radius: distance < radius * (1.0 - 1e-9),
        },
        corrected=r"The ball $\{a : \|a-c\| \le r\}$; its surface, the sphere, holds "
        "the support only.",
        witness="points -1, 0, 1: the sphere of the MEB misses 0",
    ),
    _slide(
        id="S-X-sphere-dimension",
        place="The dual",
        statement="In high dimension the dual is the smaller problem.",
        verdict="HARMLESS",
        measure=_smaller_problem,
        true=lambda m, n: m < n + 1,
        printed=lambda m, n: True,
        spoiled={"the other way round": lambda m, n: n + 1 < m},
        corrected="The dual has $m$ variables, the primal $n+1$: smaller only for $m "
        r"\le n$, which of the four data sets holds for the gene expressions alone.",
        witness="data set 1: 250 points of 4 features",
        kind="arithmetic",
    ),
    _slide(
        id="S-E01",
        place="(D1)",
        statement=r"$\max_\mu \phi(\mu) = \sum_j \mu_j (a^j)^T a^j - \left(\sum_j "
        r"\mu_j a^j\right)^T \sum_j \mu_j a^j$ subject to $\sum_j \mu_j = 1$, $\mu_i > "
        "0$",
        verdict="LOST IN THE SCAN",
        measure=_dual_is_attained,
        true=(phi, lambda u: u.min() >= 0.0),
        printed=(phi, lambda u: u.min() > 0.0),
        spoiled={
            "plus": (
                lambda p, u: u @ z_of(p) + (u @ p) @ (u @ p),
                lambda u: u.min() >= 0.0,
            ),
            "first term halved": (
                lambda p, u: 0.5 * u @ z_of(p) - (u @ p) @ (u @ p),
                lambda u: u.min() >= 0.0,
            ),
        },
        corrected=r"$\mu_i \ge 0$ (lost in the scan): a point inside the ball has "
        "weight 0, and with $>$ the supremum is not attained.",
        witness="points (-1,0), (1,0), (.25,.1): the only maximiser is (.5, .5, 0)",
        tolerance=1e-8,
    ),
    _slide(
        id="S-E02",
        place="(D2)",
        statement=r"$\min_{\mu \in \Delta^{m-1}} -\phi(\mu)$ with $\Delta^{m-1} = "
        r"\{\mu : \sum_{i=1}^m \mu_j = 1,\ \mu_j \ge 0\}$",
        verdict="HARMLESS",
        measure=_minimum_over,
        true=(_objective, lambda m: 1.0),
        printed=(_objective, lambda m: 1.0 / m),
        spoiled={
            "maximised": (phi, lambda m: 1.0),
            "sum two": (_objective, lambda m: 2.0),
        },
        corrected=r"The sum runs over $j$: as printed, with $i$, it would say $m \mu_j "
        "= 1$, leaving one feasible point.",
        witness="read to the letter (sum of all weights 1/m here) the value is too "
        "small",
        tolerance=1e-6,
    ),
    symbolic(
        id="S-E03",
        place="Gradient",
        statement=r"$\nabla_i(-\phi(\mu)) = 2 (a^i)^T \sum_j a^j \mu_j - (a^i)^T a^i$",
        measure=equals(lambda s: gradient_of(-s.phi, s.u)),
        true=lambda s: [2 * a.dot(s.center) - z for a, z in zip(s.points, s.z)],
        spoiled={"index": lambda s: [2 * s.points[0].dot(s.center) - z for z in s.z]},
    ),
    _slide(
        id="S-E04",
        place="(1)",
        statement=r"$w_t = \mathrm{argmin}_{w \in \Delta^{m-1}} w^T "
        r"\nabla(-\phi(\mu_t))$ is attained at $e_i$ with $i$ the index of the "
        "smallest gradient entry.",
        measure=_vertex_minimises,
        true=lambda points, u, gradient: int(gradient.argmin()),
        spoiled={
            "largest entry": lambda points, u, gradient: int(gradient.argmax()),
            "smallest modulus": lambda p, u, gradient: int(np.abs(gradient).argmin()),
            "nearest point": lambda p, u, g: int(distances2(p, u @ p).argmin()),
        },
    ),
    _slide(
        id="S-E04-farthest",
        place="(1)",
        statement=r"The vertex of (1) belongs to the point farthest from $A\mu_t$.",
        measure=_vertex_minimises,
        true=lambda points, u, gradient: int(distances2(points, u @ points).argmax()),
        spoiled={
            "farthest from the origin": lambda p, u, g: int(z_of(p).argmax()),
            "farthest from the mean": lambda p, u, g: int(
                distances2(p, p.mean(axis=0)).argmax()
            ),
        },
    ),
    _slide(
        id="S-E05",
        place="Step rule",
        statement=r"$\lambda_t = \frac{\langle -\nabla\phi(\mu), d_t \rangle}{L "
        r"\|d_t\|^2}$",
        verdict="AMBIGUOUS",
        measure=_short_step_descends,
        true=(
            lambda grad_phi, d, lipschitz: grad_phi @ d / (lipschitz * (d @ d)),
            lambda u, step, d: u + step * d,
        ),
        printed=(
            lambda grad_phi, d, lipschitz: -grad_phi @ d / (lipschitz * (d @ d)),
            lambda u, step, d: u + step * d,
        ),
        spoiled={
            "twice as far": (
                lambda grad_phi, d, lipschitz: (
                    2.0 * grad_phi @ d / (lipschitz * (d @ d))
                ),
                lambda u, step, d: u + step * d,
            ),
            "length for its square": (
                lambda grad_phi, d, lipschitz: (
                    grad_phi @ d / (lipschitz * math.sqrt(d @ d))
                ),
                lambda u, step, d: u + step * d,
            ),
        },
        corrected=r"$\langle \nabla\phi, d\rangle / (L\|d\|^2)$ for $d$ = towards $-$ "
        r"away and $\mu + \lambda d$; the printed sign belongs to $d$ = away $-$ "
        r"towards and $\mu - \lambda d$ (S-E05-away).",
        witness="points -1, 1: with the printed sign phi falls",
    ),
    _slide(
        id="S-E05-away",
        place="Step rule",
        statement=r"$\mu_{t+1} = \mu_t - \lambda_t d_t$ with $d_t$ = away $-$ towards "
        r"and $\lambda_t = \frac{\langle -\nabla\phi(\mu), d_t \rangle}{L \|d_t\|^2}$: "
        "the one reading that fits the printed sign.",
        measure=_short_step_descends,
        true=(
            lambda grad_phi, d, lipschitz: -grad_phi @ -d / (lipschitz * (d @ d)),
            lambda u, step, d: u - step * -d,
        ),
        spoiled={
            "plus": (
                lambda grad_phi, d, lipschitz: -grad_phi @ -d / (lipschitz * (d @ d)),
                lambda u, step, d: u + step * -d,
            ),
        },
    ),
    symbolic(
        id="S-E06",
        place="Hessian",
        statement=r"$h_{ij} = -\frac{\partial^2 \phi(\mu)}{\partial\mu_i "
        r"\partial\mu_j} = 2 (a^j)^T a^i$",
        measure=equals(lambda s: s.sp.hessian(-s.phi, list(s.u))),
        true=lambda s: [2 * b.dot(a) for a in s.points for b in s.points],
        spoiled={
            "distances": lambda s: [
                squared_norm(b - a) for a in s.points for b in s.points
            ]
        },
    ),
    _slide(
        id="S-E07",
        place="Lipschitz constant",
        statement=r"$L = \lambda_{\max}(H) > 0$ is the Lipschitz constant of the "
        "gradient.",
        verdict="HARMLESS",
        measure=_smallest_lipschitz_constant,
        true=lambda p: float(np.linalg.eigvalsh(2.0 * p @ p.T)[-1]),
        spoiled={
            "factor 2 lost": lambda p: float(np.linalg.eigvalsh(p @ p.T)[-1]),
            "trace": lambda p: 2.0 * float(z_of(p).sum()),
            "smallest eigenvalue": lambda p: float(np.linalg.eigvalsh(p @ p.T)[0]),
        },
        corrected=r"Right for $A \ne 0$ (for $A = 0$ there is nothing to do), but it "
        "depends on where the origin lies: see S-E07-origin.",
        tolerance=1e-9,
    ),
    _slide(
        id="S-E07-origin",
        place="Lipschitz constant",
        statement=r"$L = \lambda_{\max}(2A^TA)$ as the constant of the short step, "
        "whatever the origin of the data.",
        verdict="HARMLESS",
        measure=_is_a_bound_on_directions,
        true=lambda p: float(
            2.0 * np.linalg.norm(p - p.mean(axis=0), 2) ** 2,
        ),
        printed=lambda p: 2.0 * float(np.linalg.norm(p, 2) ** 2),
        spoiled={
            "factor 2 lost": lambda p: float(
                np.linalg.norm(p - p.mean(axis=0), 2) ** 2
            ),
            "centred on the first point": lambda p: float(
                np.linalg.norm(p - p[0], 2) ** 2
            ),
        },
        corrected=r"Directions sum to zero, so $\lambda_{\max}(2PA^TAP)$ with the data "
        "centred is enough; it does not change when the cloud is moved, and never "
        "exceeds the printed constant.",
        witness="six normal points moved by (10, 10): L grows more than ten times",
        tolerance=1e-9,
    ),
]
