"""The ball with slack and kernels: duality, recovery of the radius, steps."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from scipy.optimize import linprog
from sklearn.svm import OneClassSVM

from mebnb.documents.entries import Entry
from mebnb.documents.toolkit.clouds import (
    ball_by_enumeration,
    clouds,
    distances2,
    over,
    phi,
    simplex_points,
    soft_weights,
    worst,
    z_of,
)

_derived = partial(Entry, document="derived")

CLOUDS = clouds(81, 4, m=8) + clouds(82, 2, m=9, n=3)
CAPS = (0.15, 0.22, 0.3, 0.45)
CASES = [(points, cap) for points in CLOUDS for cap in CAPS]
# SLSQP's weights are good to about 1e-8.
SLSQP_TOLERANCE = 1e-6
FREE = 1e-5


def primal(points, center, rho, cap):
    """rho + C sum xi with the least slack xi = max(0, d - rho)."""
    return rho + cap * np.maximum(distances2(points, center) - rho, 0.0).sum()


def best_primal(points, center, cap):
    """The least primal value at a center: convex and piecewise linear in rho."""
    knots = [0.0, *distances2(points, center)]
    return min(primal(points, center, rho, cap) for rho in knots)


def capped(u, cap):
    """min(C, s u) with s such that the sum is 1."""
    low, high = 1.0, 1e6
    for _ in range(100):
        middle = math.sqrt(low * high)
        total = np.minimum(cap, middle * u).sum()
        low, high = (middle, high) if total < 1.0 else (low, middle)
    return np.minimum(cap, high * u)


def _weights_in_the_box(points, cap, count=10):
    return [capped(u, cap) for u in simplex_points(83, count, len(points))]


# --- duality -----------------------------------------------------------------------


def _weak_duality(form):
    """Dual values above primal values; the gap that is left at the optimum."""
    value, box = form
    violations = []
    for points, cap in CASES:
        optimum = soft_weights(points, min(box(cap), 1.0))
        least = best_primal(points, soft_weights(points, cap) @ points, cap)
        violations.append(abs(value(points, optimum) - least))
        for u in _weights_in_the_box(points, box(cap)):
            violations.append(value(points, u) - least)
            for rho in (0.0, 0.5, 2.0):
                violations.append(
                    value(points, u) - primal(points, u @ points, rho, cap)
                )
    return max(0.0, worst(violations))


def _free_distance(points, u, cap):
    """Mean squared distance of the points with 0 < u_s < C."""
    free = (u > FREE) & (u < cap - FREE)
    if not free.any():
        return math.nan
    return float(distances2(points, u @ points)[free].mean())


@over(CASES)
def _recovery(form, points, cap):
    """|rho + C sum xi - Phi*|, and how far free points lie from rho."""
    u = soft_weights(points, cap)
    rho = form(points, u, cap)
    if math.isnan(rho):
        return 0.0
    free = (u > FREE) & (u < cap - FREE)
    spread = np.abs(distances2(points, u @ points)[free] - rho).max()
    missed = abs(primal(points, u @ points, rho, cap) - phi(points, u))
    return missed, spread / 10.0


def _in_the_box(count):
    """(points, C, u) with u in the box."""
    return [
        (points, cap, u)
        for points, cap in CASES
        for u in _weights_in_the_box(points, cap, count)
    ]


@over(lambda: _in_the_box(3))
def _linear_minimisation(form, points, cap, u):
    """Against linear programming over the capped simplex, maximising sum s_i d_i."""
    distance = distances2(points, u @ points)
    program = linprog(
        -distance,
        A_eq=np.ones((1, len(u))),
        b_eq=[1.0],
        bounds=(0.0, cap),
        method="highs",
    )
    vertex = form(distance, cap)
    missed = abs(vertex @ distance + program.fun)
    return missed, abs(vertex.sum() - 1.0), vertex.max() - cap


def _greedy(distance, cap):
    """C on the farthest points, as long as it lasts."""
    vertex, left = np.zeros(len(distance)), 1.0
    for i in np.argsort(-distance):
        vertex[i] = min(cap, left)
        left -= vertex[i]
    return vertex


def _even_split(distance, cap):
    count = math.ceil(1.0 / cap)
    vertex = np.zeros(len(distance))
    vertex[np.argsort(-distance)[:count]] = 1.0 / count
    return vertex


def _all_on_the_farthest(distance, cap):
    return np.eye(len(distance))[int(distance.argmax())]


@over(lambda: _in_the_box(5))
def _gap(form, points, cap, u):
    """Against the slope towards the best vertex of the capped simplex."""
    distance = distances2(points, u @ points)
    slope = (_greedy(distance, cap) - u) @ distance
    return abs(form(points, u, cap) - slope)


@over(CASES)
def _counts(form, points, cap):
    """#outside - low(C) and high(C) - #support, where they are positive."""
    low, high = form
    u = soft_weights(points, cap)
    rho = _free_distance(points, u, cap)
    if math.isnan(rho):
        return 0.0
    outside = (distances2(points, u @ points) > rho + 1e-5).sum()
    return outside - low(cap), high(cap) - (u > FREE).sum()


NO_FREE_POINT = [
    (np.array([[-1.0], [1.0], [0.0]]), np.array([0.5, 0.5, 0.0])),
    (np.array([[-1.0], [1.0], [0.2], [-0.3]]), np.array([0.5, 0.5, 0.0, 0.0])),
]


def _interval(form):
    """The primal value is Phi* on the whole interval of rho and larger beyond it."""
    violations = []
    for points, u in NO_FREE_POINT:
        low, high = form(distances2(points, u @ points), u, 0.5)

        def excess(rho, points=points, u=u):
            return primal(points, u @ points, rho, 0.5) - phi(points, u)

        violations += [abs(excess(rho)) for rho in (low, 0.5 * (low + high), high)]
        violations.append(float(excess(high + 0.01) <= 1e-12))
        if low > 0.01:
            violations.append(float(excess(low - 0.01) <= 1e-12))
    return worst(violations)


def _optimal_interval(distance, u, cap):
    return distance[u < cap].max(), distance[u > 0.0].min()


def _degenerate(form):
    """Primal value of the claimed solution above the least one found, C < 1/m."""
    rng, violations = np.random.default_rng(84), []
    for points in CLOUDS:
        cap = 0.8 / len(points)
        center, rho = form(points)
        claimed = primal(points, center, rho, cap)
        spread = float(np.sqrt(z_of(points - points.mean(axis=0)).max()))
        rivals = points.mean(axis=0) + 0.5 * spread * rng.normal(
            size=(200, points.shape[1])
        )
        least = min(
            min(best_primal(points, c, cap) for c in rivals),
            best_primal(points, points.mean(axis=0), cap),
        )
        violations.append(claimed - least)
    return max(0.0, worst(violations))


@over(CLOUDS)
def _hard_limit(cap, points):
    """|Phi* of the soft ball - r*^2| for a cap."""
    soft = phi(points, soft_weights(points, cap))
    return abs(soft - ball_by_enumeration(points).radius ** 2)


# --- pairwise steps ----------------------------------------------------------------


def _pairwise_with_slack(points, cap, largest):
    """Exact pairwise steps over the capped simplex, from equal weights."""
    m = len(points)
    u = np.full(m, 1.0 / m)
    for _ in range(600):
        distance = distances2(points, u @ points)
        towards = int(np.where(u < cap, distance, -np.inf).argmax())
        away = int(np.where(u > 0.0, distance, np.inf).argmin())
        slope = distance[towards] - distance[away]
        if slope < 1e-9:
            return u, True
        curvature = distances2(points[[towards]], points[away])[0]
        room = largest(u[away], cap - u[towards])
        step = min(slope / (2.0 * curvature), room)
        # The ends of the interval are met exactly, so that atoms leave the free set.
        u[towards] = cap if step == cap - u[towards] else u[towards] + step
        u[away] = 0.0 if step == u[away] else u[away] - step
    return u, False


@over(CASES)
def _reaches_the_optimum(largest, points, cap):
    u, finished = _pairwise_with_slack(points, cap, largest)
    missed = abs(phi(points, u) - phi(points, soft_weights(points, cap)))
    return missed, -u.min(), u.max() - cap, not finished


# --- kernels -----------------------------------------------------------------------


def _square_kernel(x, y):
    return (x @ y.T + 1.0) ** 2


def _square_features(points):
    """Explicit features of (x'y + 1)^2 for points in the plane."""
    x, y = points.T
    root = math.sqrt(2.0)
    return np.column_stack(
        [np.ones(len(points)), root * x, root * y, x**2, y**2, root * x * y]
    )


def _rbf(points, gamma=0.4):
    return np.exp(-gamma * ((points[:, None] - points[None]) ** 2).sum(axis=2))


@over(clouds(85, 4, m=8))
def _kernel_objective(form, points):
    """Against f = -Phi of the explicit features."""
    kernel, features = _square_kernel(points, points), _square_features(points)
    return [abs(form(kernel, u) + phi(features, u)) for u in simplex_points(86, 5, 8)]


def _kernel_distance(form):
    """Against distances of the explicit features, for points that are new, too."""
    violations = []
    for points, new in zip(clouds(85, 4, m=8), clouds(87, 4, m=5), strict=True):
        kernel, cross = _square_kernel(points, points), _square_kernel(new, points)
        own = np.diag(_square_kernel(new, new))
        for u in simplex_points(86, 5, 8):
            exact = distances2(_square_features(new), u @ _square_features(points))
            violations.append(float(np.abs(form(own, cross, kernel, u) - exact).max()))
    return worst(violations)


def _kernel_values(kernel, u):
    own = np.diag(kernel)
    inner = kernel @ u
    return own @ u - u @ inner, own - 2.0 * inner + u @ inner


@over(clouds(85, 4, m=8))
def _centring(form, points):
    """Change of Phi and of the distances; row sums that are left."""
    kernel = _square_kernel(points, points)
    other = form(kernel)
    violations = [np.abs(other.sum(axis=1)).max() / np.trace(kernel)]
    for u in simplex_points(86, 5, 8):
        before, after = _kernel_values(kernel, u), _kernel_values(other, u)
        violations.append(abs(before[0] - after[0]) / before[0])
        violations.append(np.abs(before[1] - after[1]).max() / before[0])
    return violations


def _centred(kernel):
    projection = np.eye(len(kernel)) - 1.0 / len(kernel)
    return projection @ kernel @ projection


@over(clouds(88, 3, m=30))
def _one_class_svm(form, points):
    """Relative gap of scikit-learn's one-class weights in the soft ball's problem."""
    kernel_of, cap_of = form
    kernel, nu = kernel_of(points), 0.3
    machine = OneClassSVM(kernel="precomputed", nu=nu, tol=1e-10).fit(kernel)
    u = np.zeros(30)
    u[machine.support_] = machine.dual_coef_[0]
    u /= u.sum()
    cap = cap_of(nu, 30)
    value, distance = _kernel_values(kernel, u)
    gap = (_greedy(distance, cap) - u) @ distance
    return abs(gap) / value, u.max() - cap


ENTRIES = [
    _derived(
        id="X-SOFTW",
        place="SVDD, weak duality",
        statement=r"$\rho + C\sum_i \xi_i \ge \Phi(u)$ for $0 \le u \le C$, "
        r"$\mathbf{1}^T u = 1$ and $\|a_i - c\|^2 \le \rho + \xi_i$, with equality at "
        "the optimum.",
        measure=_weak_duality,
        true=(phi, lambda cap: cap),
        spoiled={
            "box left out": (phi, lambda cap: 1.0),
            "box doubled": (phi, lambda cap: 2.0 * cap),
            "a percent more": (lambda p, u: 1.01 * phi(p, u), lambda cap: cap),
            "plus": (
                lambda p, u: u @ z_of(p) + (u @ p) @ (u @ p),
                lambda cap: cap,
            ),
        },
        tolerance=SLSQP_TOLERANCE,
    ),
    _derived(
        id="X-SOFT",
        place="SVDD, recovery",
        statement=r"$\rho = \|a_s - c\|^2$ for $0 < u_s < C$, and $\Phi^* = \rho + "
        r"C\sum_i \xi_i$",
        measure=_recovery,
        true=_free_distance,
        spoiled={
            "farthest of the support": lambda p, u, cap: float(
                distances2(p, u @ p)[u > FREE].max()
            ),
            "Phi": lambda p, u, cap: phi(p, u),
            "root": lambda p, u, cap: math.sqrt(_free_distance(p, u, cap)),
        },
        tolerance=1e-4,
    ),
    _derived(
        id="X-SOFT-lmo",
        place="SVDD, linear minimisation",
        statement=r"Over $0 \le s \le C$, $\mathbf{1}^T s = 1$ the best vertex puts "
        "$C$ on the farthest points as long as the sum lasts.",
        measure=_linear_minimisation,
        true=_greedy,
        spoiled={
            "unit vector": _all_on_the_farthest,
            "even split": _even_split,
            "nearest first": lambda distance, cap: _greedy(-distance, cap),
        },
    ),
    _derived(
        id="X-SOFT-gap",
        place="SVDD, gap",
        statement="The FW gap over the capped simplex is the duality gap: the least "
        r"primal value at $c = Au$ minus $\Phi(u)$.",
        measure=_gap,
        true=lambda p, u, cap: best_primal(p, u @ p, cap) - phi(p, u),
        spoiled={
            "hard gap": lambda p, u, cap: float(distances2(p, u @ p).max()) - phi(p, u),
            "at rho = 0": lambda p, u, cap: primal(p, u @ p, 0.0, cap) - phi(p, u),
        },
    ),
    _derived(
        id="X-SOFT-count",
        place="SVDD, counts",
        statement="At most $1/C$ points lie outside, at least $1/C$ have weight.",
        measure=_counts,
        true=(lambda cap: 1.0 / cap, lambda cap: 1.0 / cap),
        spoiled={
            "half as many outside": (lambda cap: 0.5 / cap, lambda cap: 1.0 / cap),
            "twice the support": (lambda cap: 1.0 / cap, lambda cap: 2.0 / cap),
        },
    ),
    _derived(
        id="X-SOFT-interval",
        place="SVDD, recovery",
        statement=r"Without a free point every $\rho \in [\max_{u_i < C} d_i, "
        r"\min_{u_i > 0} d_i]$ is optimal: $[0, 1]$ for points $-1, 1, 0$ and $C = "
        "1/2$.",
        measure=_interval,
        true=_optimal_interval,
        spoiled={
            "only the upper end": lambda d, u, cap: (d[u > 0.0].min(),) * 2,
            "a tenth more": lambda d, u, cap: (
                d[u < cap].max(),
                1.1 * d[u > 0.0].min(),
            ),
        },
        tolerance=1e-12,
    ),
    _derived(
        id="X-SOFT-degenerate",
        place="SVDD, small C",
        statement=r"For $C < 1/m$ the solution is $\rho = 0$ and $c$ the mean.",
        measure=_degenerate,
        true=lambda points: (points.mean(axis=0), 0.0),
        spoiled={
            "center of the hard ball": lambda p: (ball_by_enumeration(p).center, 0.0),
            "some radius": lambda p: (p.mean(axis=0), 0.5),
        },
    ),
    _derived(
        id="X-SOFT-hard",
        place="SVDD, large C",
        statement=r"For $C \ge 1$ the soft ball is the smallest enclosing ball.",
        measure=_hard_limit,
        true=1.0,
        spoiled={"C = .4": 0.4, "C = .2": 0.2},
        tolerance=SLSQP_TOLERANCE,
    ),
    _derived(
        id="X-SOFTPW",
        place="SVDD, pairwise step",
        statement="Exact pairwise steps from the nearest point with weight to the "
        r"farthest with room, at most $\min(u_a, C - u_w)$, reach the optimum.",
        measure=_reaches_the_optimum,
        true=lambda own, room: min(own, room),
        spoiled={
            "room forgotten": lambda own, room: own,
            "weight forgotten": lambda own, room: room,
            "half the room": lambda own, room: 0.5 * min(own, room),
        },
        tolerance=SLSQP_TOLERANCE,
    ),
    _derived(
        id="X-KER",
        place="Kernels, objective",
        statement=r"$f(u) = u^TKu - \mathrm{diag}(K)^Tu$ is $-\Phi$ in feature space.",
        measure=_kernel_objective,
        true=lambda kernel, u: u @ kernel @ u - np.diag(kernel) @ u,
        spoiled={
            "sign": lambda kernel, u: np.diag(kernel) @ u - u @ kernel @ u,
            "diagonal of ones": lambda kernel, u: u @ kernel @ u - u.sum(),
            "half": lambda kernel, u: 0.5 * u @ kernel @ u - np.diag(kernel) @ u,
        },
        tolerance=1e-8,
    ),
    _derived(
        id="X-KER-distance",
        place="Kernels, distance",
        statement=r"$\|\varphi(x) - c\|^2 = k(x,x) - 2\sum_i u_i k(x, a_i) + u^TKu$",
        measure=_kernel_distance,
        true=lambda own, cross, kernel, u: own - 2.0 * cross @ u + u @ kernel @ u,
        spoiled={
            "factor 2 lost": lambda own, cross, kernel, u: (
                own - cross @ u + u @ kernel @ u
            ),
            "last term left out": lambda own, cross, kernel, u: own - 2.0 * cross @ u,
        },
        tolerance=1e-8,
    ),
    _derived(
        id="X-KER-centre",
        place="Kernels, centring",
        statement=r"$PKP$ with $P = I - \mathbf{1}\mathbf{1}^T/m$ leaves $\Phi$ and "
        "all distances as they are.",
        measure=_centring,
        true=_centred,
        spoiled={
            "not centred": lambda kernel: kernel,
            "one side": lambda kernel: kernel - kernel.mean(axis=1)[:, None],
            "scaled to a unit diagonal": lambda kernel: _centred(
                kernel / np.sqrt(np.outer(np.diag(kernel), np.diag(kernel)))
            ),
        },
    ),
    _derived(
        id="X-KER-rbf",
        place="Kernels, one-class SVM",
        statement=r"For a kernel of constant diagonal the soft ball with $C = 1/(\nu "
        "m)$ has the weights of the one-class SVM.",
        measure=_one_class_svm,
        true=(_rbf, lambda nu, m: 1.0 / (nu * m)),
        spoiled={
            "kernel of varying diagonal": (
                lambda p: _square_kernel(p, p),
                lambda nu, m: 1.0 / (nu * m),
            ),
            "C = 1/nu": (_rbf, lambda nu, m: 1.0 / nu),
            "C = 1/m": (_rbf, lambda nu, m: 1.0 / m),
        },
        tolerance=1e-6,
    ),
]
