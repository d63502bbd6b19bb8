"""The report from the ball to its dual and back: equations (1) to (28)."""

from __future__ import annotations

import cmath
import itertools
import math
from functools import cache, partial

import numpy as np

from mebnb.documents.entries import Entry
from mebnb.documents.toolkit.clouds import (
    cloud,
    over,
    phi,
    random_weights,
    small_clouds,
    vertex,
    z_of,
)
from mebnb.documents.toolkit.symbols import (
    ball,
    damaged,
    equals,
    gradient_of,
    on_simplex,
    residual,
    squared_norm,
)

report = partial(Entry, document="report")
symbolic = partial(report, kind="symbolic", spoil=damaged())

# --- the primal: (1) to (5) --------------------------------------------------------


def _membership_faults(inside):
    """Points c + t (3, 4) with |(3, 4)| = 5, held against |t| <= 1 for r = 5."""
    center = np.array([2.0, -1.0])
    return sum(
        inside(center + t * np.array([3.0, 4.0]), center, 5.0) != (abs(t) <= 1)
        for t in (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5)
    )


def _chain_faults(form):
    """Lattice points at which the three conditions of (2) do not say the same."""
    conditions, radii = form
    faults = 0
    for x, y, r in itertools.product((0, 1, 2, 3), (0, 1, 4), radii):
        distance = math.hypot(x, y)
        faults += len({bool(condition(distance, r)) for condition in conditions}) > 1
    return faults


_CHAIN = (
    lambda d, r: d <= r,
    lambda d, r: d**2 <= r**2 + 1e-12,
    lambda d, r: d**2 - r**2 <= 1e-12,
)

# Points 1, -1, 3 on a line: center 1, radius 2, squared radius 4.
_LINE = (1.0, -1.0, 3.0)
_CENTERS = np.arange(-3.0, 5.0, 0.5)
_NONNEGATIVE = np.arange(0.0, 8.5, 0.5)
_ANY_SIGN = np.arange(-8.0, 8.5, 0.5)


def _primal_faults(
    over=("c", "r"),
    radii=_NONNEGATIVE,
    constraint=lambda a, c, r: (a - c) ** 2 - r**2,
    objective=lambda r: r**2,
    points=_LINE,
    radius=lambda r: r,
):
    """Optimal pairs (c, r) of a lattice that are not the ball, or the ball missed."""
    feasible = [
        (c, r)
        for c, r in itertools.product(_CENTERS, radii)
        if all(constraint(a, c, r) <= 0 for a in points)
    ]
    if over == ("c",):
        optimal = feasible  # the objective does not depend on c
    else:
        least = min((objective(r) for _, r in feasible), default=None)
        optimal = [pair for pair in feasible if objective(pair[1]) == least]
    return len({(c, radius(r)) for c, r in optimal} ^ {(1.0, 2.0)})


def _negative_curvature(constraint):
    """How negative the Hessian of one constraint gets, over (c, radius variable)."""
    s = ball()
    variables = s.sp.Matrix([*s.c, s.r])
    hessian = s.sp.hessian(constraint(s.points[0], s.c, s.r), list(variables))
    values = np.array(hessian.subs({s.r: 1}).tolist(), dtype=float)
    return max(0.0, -float(np.linalg.eigvalsh(values).min()))


_GAMMA_FORM = {
    "constraint": lambda a, c, g: a * a - 2 * a * c + c * c - g,
    "objective": lambda g: g,
    "radius": math.sqrt,
}

PRIMAL = [
    report(
        id="R-E01",
        statement=r"$\mathcal{B}_{c,r}=\{a\in\mathbb{R}^n : \lVert a-c\rVert\le r\}$",
        measure=_membership_faults,
        true=lambda a, c, r: np.linalg.norm(a - c) <= r,
        spoiled={
            "open ball": lambda a, c, r: np.linalg.norm(a - c) < r,
            "outside": lambda a, c, r: np.linalg.norm(a - c) >= r,
            "distance squared, radius not": lambda a, c, r: np.sum((a - c) ** 2) <= r,
        },
    ),
    report(
        id="R-E02",
        statement=r"$\lVert a-c\rVert\le r \iff \lVert a-c\rVert^2\le r^2 \iff \lVert "
        r"a-c\rVert^2-r^2\le 0$",
        verdict="HARMLESS",
        measure=_chain_faults,
        true=(_CHAIN, (0, 1, 2, 5)),
        printed=(_CHAIN, (-2, -1, 0, 1, 2, 5)),
        corrected=r"for $r\ge 0$ only",
        witness="r = -2, |a - c| = 1: the left side is false, the others true",
        spoiled={
            "radius not squared": (
                (_CHAIN[0], lambda d, r: d**2 <= r, _CHAIN[2]),
                (0, 1, 2, 5),
            ),
            "last sign turned": (
                (_CHAIN[0], _CHAIN[1], lambda d, r: d**2 - r**2 >= 0),
                (0, 1, 2, 5),
            ),
        },
    ),
    report(
        id="R-E03",
        statement=r"$c^*,r^*=\operatorname{argmin}_{c,r}\, r^2$ s.t. $\lVert "
        r"a_1-c\rVert^2-r^2\le 0,\ \dots,\ \lVert a_m-c\rVert^2-r^2\le 0$",
        verdict="HARMLESS",
        measure=lambda form: _primal_faults(**form),
        true={},
        printed={"radii": _ANY_SIGN},
        corrected=r"$\operatorname{argmin}$ over $c$ and $r\ge 0$",
        witness="points 1, -1, 3: r = -2 has the same objective as r = 2",
        spoiled={
            "last point left out": {"points": _LINE[:-1]},
            "distance not squared": {"constraint": lambda a, c, r: abs(a - c) - r**2},
            "sign of the constraint": {
                "constraint": lambda a, c, r: r**2 - (a - c) ** 2
            },
        },
    ),
    report(
        id="R-E04",
        statement=r"$c^*,r^*=\operatorname{argmin}_{c}\, r^2$ s.t. $\lVert "
        r"a_i-c\rVert^2-r^2\le 0,\ i=1,\dots,m$",
        verdict="LOST IN THE SCAN",
        measure=lambda form: _primal_faults(**form),
        true={"over": ("c", "r")},
        printed={"over": ("c",), "radii": _ANY_SIGN},
        corrected=r"$\operatorname{argmin}_{c,\,r\ge 0}$; (3) still has the second variable",
        witness="points 1, -1, 3: with c as the only variable every feasible pair is "
        "optimal",
        spoiled={
            "r maximised": {"objective": lambda r: -(r**2)},
            "first point only": {"points": _LINE[:1]},
        },
    ),
    report(
        id="R-X-convex",
        place="before (2)",
        statement="Finding the center and the radius is a convex problem with one "
        r"quadratic constraint a point, $\lVert a_i-c\rVert^2-r^2\le 0$.",
        verdict="HARMLESS",
        kind="symbolic",
        measure=_negative_curvature,
        true=lambda a, c, gamma: squared_norm(a - c) - gamma,
        printed=lambda a, c, r: squared_norm(a - c) - r**2,
        corrected=r"convex in $(c,\gamma)$ with $\gamma=r^2$; in $(c,r)$ the "
        r"constraint is a cone, convex only through $r\ge 0$",
        witness="the Hessian in (c, r) is diag(2, 2, -2)",
        spoiled={
            "distance subtracted": lambda a, c, g: g - squared_norm(a - c),
            "gamma squared": lambda a, c, g: squared_norm(a - c) - g**2,
        },
    ),
    report(
        id="R-E05",
        statement=r"$c^*,r^*=\operatorname{argmin}_{c}\,\gamma$ s.t. "
        r"$a_i^Ta_i-2a_i^Tc+c^Tc-\gamma\le 0,\ i=1,\dots,m$",
        verdict="HARMLESS",
        measure=lambda form: _primal_faults(**(_GAMMA_FORM | form)),
        true={},
        printed={"over": ("c",), "radius": lambda gamma: gamma},
        corrected=r"$c^*,\gamma^*=\operatorname{argmin}_{c,\gamma}\gamma$ and "
        r"$r^*=\sqrt{\gamma^*}$",
        witness="points 1, -1, 3: gamma* = 4 is not the radius 2",
        spoiled={
            "gamma read as the radius": {"radius": lambda gamma: gamma},
            "cross term": {"constraint": lambda a, c, g: a * a - a * c + c * c - g},
            "sign of c'c": {
                "constraint": lambda a, c, g: a * a - 2 * a * c - c * c - g
            },
        },
    ),
]

_over_clouds = over(small_clouds)

# --- the dual: (6) to (21) ---------------------------------------------------------


def _dual_faults(objective, largest=True):
    """Duality gap at the optimum, better points on the simplex, wrong curvature."""
    sign = 1.0 if largest else -1.0

    @_over_clouds
    def faults(objective, k):
        best = sign * objective(k.points, k.weights)
        others = random_weights(k.m, 60)
        values, middle = (
            np.array([sign * objective(k.points, u) for u in weights])
            for weights in (others, (others[1:] + others[:-1]) / 2)
        )
        convexity = (values[1:] + values[:-1]) / 2 - middle
        return abs(best - k.radius**2), values.max() - best, convexity.max()

    return faults(objective)


def _dual_with_dimension(form):
    objective, dimension = form
    wrong = sum(abs(dimension(k.m, k.n) - k.m) for k in small_clouds())
    return float(wrong) or _dual_faults(objective)


def _at_center(expression, center):
    """The expression with a center put in for c."""
    return expression.subs(dict(zip(ball().c, center, strict=True)), simultaneous=True)


@cache
def _slope_in_center():
    s = ball()
    return gradient_of(s.lagrangian, s.c)


def _stationary_in_c(form):
    """Of (12): the derivative, and that it vanishes at the center given."""
    derivative, center = form(ball())
    slope = _slope_in_center()
    return residual(derivative - slope, _at_center(slope, center))


def _stationary_in_radius(form):
    """Of (13): the derivative, and the roots with 1'u != 1 on a lattice."""
    s = ball()
    name, derivative = form(s)
    lagrangian = s.lagrangian if name == "r" else s.lagrangian.subs(s.r**2, s.gamma)
    variable = s.r if name == "r" else s.gamma
    violation = residual(derivative - s.sp.diff(lagrangian, variable))
    for radius, total in itertools.product((0, 1, 2), (0, s.sp.Rational(1, 2), 2)):
        at = {variable: radius, s.u[0]: total, s.u[1]: 0, s.u[2]: 0}
        violation += derivative.subs(at) == 0
    return float(violation)


def _in_lagrangian(form):
    """c as in the form makes the derivative of L vanish wherever 1'u = 1."""
    return residual(on_simplex(_at_center(_slope_in_center(), form(ball()))))


_LAGRANGIAN = equals(lambda s: s.lagrangian)
# The Lagrangian where 1'u = 1, and there with c = Au.
_ON_SIMPLEX = equals(lambda s: s.lagrangian, modulo=on_simplex)
_AT_CENTER = equals(lambda s: _at_center(s.lagrangian, s.center), modulo=on_simplex)


@_over_clouds
def _above_the_ball(nonnegative, k):
    """How far the dual exceeds r*^2 over the weights that are allowed."""
    return [
        phi(k.points, u) - k.radius**2
        for i, j in itertools.permutations(range(k.m), 2)
        for step in np.linspace(0.0, 1.0, 21)
        for u in [k.weights + step * (vertex(k.m, i) - vertex(k.m, j))]
        if u.min() >= 0 or not nonnegative
    ]


def _l11(s):
    Au = s.A * s.u
    return s.r**2 + s.u.dot(s.z) - 2 * s.c.dot(Au) + s.c.dot(s.c) * s.total


DUAL = [
    report(
        id="R-E06",
        statement=r"$u^*=\operatorname{argmax}_u \sum_i u_i a_i^Ta^i-\left(\sum_i "
        r"u_ia_i\right)^T\sum_i u_ia_i$ s.t. $\sum_i u_i=1,\ u\ge 0$, with "
        r"$u\in\mathbb{R}^n$",
        verdict="WRONG",
        measure=_dual_with_dimension,
        true=(phi, lambda m, n: m),
        printed=(phi, lambda m, n: n),
        corrected=r"$u\in\mathbb{R}^m$, one multiplier a point; $a_i^Ta_i$",
        witness="m = 5 points in R^2: five constraints, two multipliers",
        spoiled={
            "sign of the square": (
                lambda p, u: u @ z_of(p) + (u @ p) @ (u @ p),
                lambda m, n: m,
            ),
            "half the square": (
                lambda p, u: u @ z_of(p) - 0.5 * (u @ p) @ (u @ p),
                lambda m, n: m,
            ),
        },
    ),
    symbolic(
        id="R-E07",
        statement=r"$\mathcal{L}(c,r,u)=r^2+\sum_{i=1}^m u_i\left(\lVert "
        r"a_i-c\rVert-r^2\right)$",
        verdict="LOST IN THE SCAN",
        measure=_LAGRANGIAN,
        true=lambda s: (
            s.r**2
            + sum(w * (squared_norm(a - s.c) - s.r**2) for w, a in zip(s.u, s.points))
        ),
        printed=lambda s: (
            s.r**2
            + sum(
                w * (s.sp.sqrt(squared_norm(a - s.c)) - s.r**2)
                for w, a in zip(s.u, s.points)
            )
        ),
        corrected=r"$\lVert a_i-c\rVert^2$, as (8) goes on with; the scan lost the power",
        witness="m = 1, u = 1, r = 1, |a - c| = 2: 2 is printed, 4 is right",
        spoiled={"radius not squared": lambda s: s.lagrangian.subs(s.r**2, s.r)},
    ),
    symbolic(
        id="R-E08",
        statement=r"$\mathcal{L}=r^2+\sum_{i=1}^m u_i\left(a_i^Ta_i-2c^Ta_i+c^Tc-r^2"
        r"\right)$",
        measure=_LAGRANGIAN,
        true=lambda s: (
            s.r**2
            + sum(
                w * (a.dot(a) - 2 * s.c.dot(a) + s.c.dot(s.c) - s.r**2)
                for w, a in zip(s.u, s.points)
            )
        ),
    ),
    symbolic(
        id="R-E09",
        statement=r"$\mathcal{L}=r^2+\sum_i u_iz_i-2c^T\left[\sum_i "
        r"a_iu_i\right]+c^Tc\sum_i u_i-r^2\sum_i u_i$",
        measure=_LAGRANGIAN,
        true=lambda s: (
            s.r**2
            + sum(w * z for w, z in zip(s.u, s.z))
            - 2 * sum(w * s.c.dot(a) for w, a in zip(s.u, s.points))
            + s.c.dot(s.c) * sum(s.u)
            - s.r**2 * sum(s.u)
        ),
        spoiled={
            "c'c without the sum": lambda s: (
                s.lagrangian + s.c.dot(s.c) * (1 - sum(s.u))
            ),
        },
    ),
    symbolic(
        id="R-E10",
        statement=r"$\sum_i u_i=u^T\mathbf{1},\quad \sum_i u_iz_i=u^Tz,\quad \sum_i "
        "a_iu_i=Au$",
        measure=lambda form: residual([left - right for left, right in form(ball())]),
        true=lambda s: (
            (sum(s.u), s.u.dot(s.ones)),
            (sum(w * a.dot(a) for w, a in zip(s.u, s.points)), s.u.dot(s.z)),
            (sum((w * a for w, a in zip(s.u, s.points)), s.sp.zeros(2, 1)), s.A * s.u),
        ),
        spoiled={
            "norms not squared": lambda s: (
                (s.u.dot(s.z.applyfunc(s.sp.sqrt)), s.u.dot(s.z)),
            ),
            "points as rows": lambda s: (
                (
                    sum((w * a for w, a in zip(s.u, s.points)), s.sp.zeros(2, 1)),
                    s.A.reshape(3, 2).T * s.u,
                ),
            ),
        },
    ),
    symbolic(
        id="R-E11",
        statement=r"$\mathcal{L}=r^2+u^Tz-2c^TAu+c^Tc\cdot u^T\mathbf{1}-r^2u^T"
        r"\mathbf{1}$",
        measure=_LAGRANGIAN,
        true=lambda s: _l11(s) - s.r**2 * s.total,
    ),
    symbolic(
        id="R-E12",
        statement=r"$\mathbf{0}=\partial\mathcal{L}/\partial c=-2Au+2(u^T\mathbf{1})c\ "
        r"\Rightarrow\ c=Au/u^T\mathbf{1}$",
        measure=_stationary_in_c,
        true=lambda s: (-2 * s.A * s.u + 2 * s.total * s.c, s.A * s.u / s.total),
        spoiled={
            "not divided": lambda s: (-2 * s.A * s.u + 2 * s.total * s.c, s.A * s.u)
        },
    ),
    symbolic(
        id="R-E13-factor",
        place="(13), derivative",
        statement=r"$\partial\mathcal{L}/\partial r=r-r\,u^T\mathbf{1}=r(1-u^T"
        r"\mathbf{1})$",
        verdict="HARMLESS",
        measure=equals(lambda s: s.sp.diff(s.lagrangian, s.r)),
        true=lambda s: 2 * s.r * (1 - s.total),
        printed=lambda s: s.r * (1 - s.total),
        corrected=r"$2r(1-u^T\mathbf{1})$; the roots are the same",
        witness="r = 1, u = 0: 1 is printed, 2 is right",
        spoiled={"r lost": lambda s: 2 * (1 - s.total)},
    ),
    symbolic(
        id="R-E13",
        statement=r"$0=\partial\mathcal{L}/\partial r=r(1-u^T\mathbf{1})\ \Rightarrow\ "
        r"u^T\mathbf{1}=1$",
        verdict="HARMLESS",
        measure=_stationary_in_radius,
        true=lambda s: ("gamma", 1 - s.total),
        printed=lambda s: ("r", s.r * (1 - s.total)),
        corrected=r"for $r\ne 0$, that is unless all points coincide: "
        r"$\partial\mathcal{L}/\partial r=2r(1-u^T\mathbf{1})$ allows $r=0$; with "
        r"$\gamma=r^2$, $\partial\mathcal{L}/\partial\gamma=1-u^T\mathbf{1}=0$ always "
        "gives it",
        witness="m = 1: r* = 0 and every u is stationary in r",
        spoiled={"in r with the factor 2": lambda s: ("r", 2 * s.r * (1 - s.total))},
    ),
    symbolic(
        id="R-E14",
        statement="$c=Au$",
        measure=_in_lagrangian,
        true=lambda s: s.A * s.u,
        spoiled={"plain mean": lambda s: s.A * s.ones / 3},
    ),
    symbolic(
        id="R-E15",
        statement=r"$\mathcal{L}(c,r,u)=r^2+u^Tz-2c^TAu+c^Tc\cdot "
        r"u^T\mathbf{1}-r^2u^T\mathbf{1}$",
        measure=_LAGRANGIAN,
        true=lambda s: _l11(s) - s.r**2 * s.total,
        spoiled={
            "c'c without 1'u": lambda s: (
                _l11(s) + s.c.dot(s.c) * (1 - s.total) - s.r**2 * s.total
            ),
        },
    ),
    symbolic(
        id="R-E16",
        statement=r"$\mathcal{L}=r^2+u^Tz-2c^TAu+c^Tc-r^2$ where $u^T\mathbf{1}=1$",
        measure=_ON_SIMPLEX,
        true=lambda s: s.u.dot(s.z) - 2 * s.c.dot(s.A * s.u) + s.c.dot(s.c),
        spoiled={
            "r^2 left over": lambda s: (
                s.r**2 + s.u.dot(s.z) - 2 * s.c.dot(s.A * s.u) + s.c.dot(s.c)
            ),
        },
    ),
    symbolic(
        id="R-E17",
        statement=r"$\mathcal{L}=u^Tz-2u^TA^TAu+u^TA^TAu$ at $c=Au$",
        measure=_AT_CENTER,
        true=lambda s: (
            s.u.dot(s.z) - 2 * squared_norm(s.A * s.u) + squared_norm(s.A * s.u)
        ),
    ),
    symbolic(
        id="R-E18",
        statement=r"$\mathcal{L}=u^Tz-u^TA^TAu$",
        measure=_AT_CENTER,
        true=lambda s: s.u.dot(s.z) - (s.u.T * s.A.T * s.A * s.u)[0],
    ),
    symbolic(
        id="R-E19",
        statement=r"$\mathcal{L}=\Phi(u)$, a function of the multipliers alone",
        measure=_AT_CENTER,
        true=lambda s: s.Phi(s.u),
        spoiled={"r^2 added": lambda s: s.Phi(s.u) + s.r**2},
    ),
    report(
        id="R-X-kkt3",
        place="before (20)",
        statement=r"Dual feasibility asks for $u\ge 0$.",
        measure=_above_the_ball,
        true=True,
        spoiled={"multipliers of any sign": False},
    ),
    report(
        id="R-E20",
        statement=r"$u^*=\operatorname{argmax}_u\Phi(u)=\operatorname{argmax}_u\, "
        r"u^Tz-u^TA^TAu$ s.t. $u^T\mathbf{1}=1,\ u\ge 0$; $\Phi$ is concave and the "
        "maximum is the squared radius",
        measure=_dual_faults,
        true=phi,
        spoiled={
            "negated": lambda p, u: -phi(p, u),
            "square twice": lambda p, u: u @ z_of(p) - 2 * (u @ p) @ (u @ p),
            "sign of the square": lambda p, u: u @ z_of(p) + (u @ p) @ (u @ p),
        },
    ),
    report(
        id="R-E21",
        statement=r"$u^*=\operatorname{argmin}_u-\Phi(u)=\operatorname{argmin}_u\, "
        r"u^TA^TAu-u^Tz$ s.t. $u^T\mathbf{1}=1,\ u\ge 0$, a convex problem",
        measure=lambda form: _dual_faults(form, largest=False),
        true=lambda p, u: u @ p @ p.T @ u - u @ z_of(p),
        spoiled={
            "sign": phi,
            "sign of z": lambda p, u: u @ p @ p.T @ u + u @ z_of(p),
        },
    ),
]

# --- from multipliers to the ball: (22) to (28) ------------------------------------


@_over_clouds
def _complementarity(slack, k):
    return np.abs(k.weights * slack(z_of(k.points), k.points, k.center, k.radius))


@_over_clouds
def _total_complementarity(slack, k):
    return abs(k.weights @ slack(z_of(k.points), k.points, k.center, k.radius))


def _slack(power):
    return lambda z, a, c, r: z - 2 * a @ c + c @ c - r**power


def _simplex_faults(member):
    """Mixtures of unit vectors count as members, everything else does not."""
    eighths = [i / 8 for i in range(-2, 11)]
    faults = 0
    for first, second in itertools.product(eighths, eighths):
        for third in (1 - first - second, 0.25):
            u = np.array([first, second, third])
            mixture = u.min() >= 0 and first + second + third == 1
            faults += bool(member(u)) != bool(mixture)
    return faults


# Weights 1/2, 1/2, 0 are optimal here and lie on the lattice of quarters.
_TRIANGLE = cloud([[0.0, 1.0], [2.0, 1.0], [1.0, 1.5]])


def _lattice_minimum(objective):
    """Distance of A u from the center, u the minimiser over quarters of the simplex."""
    lattice = [np.array([i, j, 4 - i - j]) / 4 for i in range(5) for j in range(5 - i)]
    best = min(lattice, key=lambda u: objective(_TRIANGLE.points, u))
    return float(np.linalg.norm(best @ _TRIANGLE.points - _TRIANGLE.center))


RECOVERY = [
    report(
        id="R-E22",
        statement="$c^*=Au^*$",
        measure=_over_clouds(lambda form, k: np.linalg.norm(form(k) - k.center)),
        true=lambda k: k.weights @ k.points,
        spoiled={
            "half": lambda k: k.weights @ k.points / 2,
            "mean of the points": lambda k: k.points.mean(axis=0),
            "mean of the support": lambda k: k.points[k.weights > 0].mean(axis=0),
        },
    ),
    report(
        id="R-E23",
        statement=r"$u_i^*\left(z_i-2c^{*T}a_i+c^{*T}c^*-r^{*T}\right)=0,\ "
        r"i=1,\dots,m$",
        verdict="HARMLESS",
        measure=_complementarity,
        true=_slack(2),
        printed=_slack(1),
        corrected="$r^{*2}$, as in (24)",
        witness="points 0, 4: r* = 2, and the slack at both is z - 2ca + cc = 4",
        spoiled={
            "cross term": lambda z, a, c, r: z - a @ c + c @ c - r**2,
            "sign of c'c": lambda z, a, c, r: z - 2 * a @ c - c @ c - r**2,
        },
    ),
    report(
        id="R-E24",
        statement=r"$\sum_{i=1}^m u_i^*\left(z_i-2c^{*T}a_i+c^{*T}c^*-r^{*2}\right)=0$",
        measure=_total_complementarity,
        true=_slack(2),
        spoiled={
            "r* not squared": _slack(1),
            "cross term": lambda z, a, c, r: z + 2 * a @ c + c @ c - r**2,
        },
    ),
    report(
        id="R-E25",
        statement="$r^{*T}=u^{*T}z-u^{*T}A^TAu^*$",
        verdict="HARMLESS",
        measure=_over_clouds(lambda form, k: abs(form(k))),
        true=lambda k: k.radius**2 - phi(k.points, k.weights),
        printed=lambda k: k.radius - phi(k.points, k.weights),
        corrected="$r^{*2}$ on the left",
        witness="points -2, 2: r* = 2, the right side is 4",
        spoiled={
            "sign of the square": lambda k: (
                k.radius**2 - k.weights @ z_of(k.points) - k.center @ k.center
            ),
            "z lost": lambda k: k.radius**2 + k.center @ k.center,
        },
    ),
    report(
        id="R-E26",
        statement=r"$r^*=\sqrt{-\Phi(u^*)}$",
        verdict="WRONG",
        measure=_over_clouds(
            lambda form, k: abs(form(phi(k.points, k.weights)) - k.radius)
        ),
        true=cmath.sqrt,
        printed=lambda phi: cmath.sqrt(-phi),
        corrected=r"$r^*=\sqrt{\Phi(u^*)}$, as (25) says; the authors' code takes the "
        r"root of $-f$",
        witness="points -1, 1: Phi = 1, and the root of -1 is no radius",
        spoiled={
            "root lost": lambda phi: phi,
            "half": lambda phi: cmath.sqrt(phi) / 2,
        },
    ),
    report(
        id="R-E27",
        statement=r"$\Delta^{m-1}=\{u\in\mathbb{R}^m : u^T\mathbf{1}=1 \wedge u\ge "
        r"0\}$",
        measure=_simplex_faults,
        true=lambda u: u.sum() == 1 and (u >= 0).all(),
        spoiled={
            "sum at most one": lambda u: u.sum() <= 1 and (u >= 0).all(),
            "without the vertices": lambda u: u.sum() == 1 and (u > 0).all(),
            "any sign": lambda u: u.sum() == 1,
        },
    ),
    report(
        id="R-E28",
        statement=r"$u^*=\operatorname{argmin}_{u\in\Delta^{m-1}}-\Phi(u)$",
        measure=_lattice_minimum,
        true=lambda p, u: -phi(p, u),
        spoiled={
            "sign": phi,
            "z lost": lambda p, u: (u @ p) @ (u @ p),
        },
    ),
]

ENTRIES = [*PRIMAL, *DUAL, *RECOVERY]
