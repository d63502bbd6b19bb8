"""Facts about the MEB's dual that no document prints and the package rests on."""

from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np
from scipy.optimize import linprog

from mebnb.documents.entries import Entry
from mebnb.documents.toolkit.clouds import (
    TRIANGLE,
    away_gap,
    ball_by_enumeration,
    clouds,
    distances2,
    exact_steps,
    fw_gap,
    gradient_of_f,
    over,
    pair_start,
    pair_weights,
    phi,
    simplex_points,
    worst,
    z_of,
)
from mebnb.documents.toolkit.symbols import (
    damaged,
    equals,
    gradient_of,
    on_simplex,
    squared_norm,
)
from mebnb.solvers.balls import dense_weights, dual_value, gradient
from mebnb.solvers.core_sets import core_set
from mebnb.solvers.frank_wolfe import away_step, blended_pairwise, frank_wolfe, pairwise
from mebnb.solvers.steps import ExactStep, Line

_derived = partial(Entry, document="derived")
symbolic = partial(_derived, kind="symbolic", spoil=damaged())

CLOUDS = clouds(61, 6) + clouds(62, 3, m=8, n=3)


def _samples(count=8, seed=63):
    """(points, u): every cloud with points of the simplex, some on its faces."""
    for points in CLOUDS:
        m = len(points)
        for k, u in enumerate(simplex_points(seed, count, m)):
            face = u * (np.arange(m) >= k % 3)
            yield points, face / face.sum()


# --- gaps --------------------------------------------------------------------------


def _slopes(s):
    """<-grad f(u), e_i - u>, one a vertex."""
    gradient = gradient_of(-s.phi, s.u)
    return [-gradient.dot(vertex - s.u) for vertex in s.unit]


@over(lambda: _samples(4))
def _fw_gap(form, points, u):
    """Against the largest slope over the simplex, by linear programming."""
    slope = -gradient_of_f(points, u)
    best = linprog(-slope, A_eq=np.ones((1, len(u))), b_eq=[1.0], method="highs").fun
    return abs(form(points, u) - (-best - slope @ u))


@over(_samples)
def _away_gap(form, points, u):
    """Against the largest slope away from an atom with weight."""
    slope = -gradient_of_f(points, u)
    largest = max(slope @ u - slope[i] for i in np.flatnonzero(u))
    return abs(form(points, u) - largest)


@over(_samples)
def _bounds_the_primal_gap(form, points, u):
    """r*^2 - Phi(u) above the form, relative; the form at the optimum, too."""
    ball = ball_by_enumeration(points)
    missing = ball.radius**2 - phi(points, u)
    return (
        (missing - form(points, u)) / ball.radius**2,
        form(points, ball.weights) / ball.radius**2,
    )


# --- other forms of Phi ------------------------------------------------------------


def _from_pairs(s):
    """Phi and d_i from the matrix D of squared distances."""
    D = s.sp.Matrix(3, 3, lambda i, j: squared_norm(s.points[i] - s.points[j]))
    return [(s.u.T * D * s.u)[0] / 2, *(row - s.phi for row in D * s.u)]


@over(lambda: _samples(4))
def _after_a_shift(form, points, u):
    """Relative error of the dual value of a cloud moved by 10^6."""
    return abs(form(points + 1e6, u) / phi(points, u) - 1.0)


# --- one identity, and what follows from it ----------------------------------------


def _about_any_point(s):
    """sum_i u_i |a_i - c|^2 with a free c."""
    return sum(w * squared_norm(point - s.c) for w, point in zip(s.u, s.points))


@over(_samples)
def _shortfall(form, points, u):
    """r*^2 - Phi(u) less the form, relative."""
    ball = ball_by_enumeration(points)
    best = ball.radius**2
    found = form(u, best - distances2(points, ball.center), u @ points - ball.center)
    return abs(best - phi(points, u) - found) / best


@over(lambda: itertools.product(CLOUDS, np.geomspace(1e-3, 10.0, 9)))
def _enclosing_radius(least, points, share):
    """The bound at centers all around c*, less the squared enclosing radius there."""
    ball = ball_by_enumeration(points)
    ways = np.random.default_rng(71).normal(size=(200, points.shape[1]))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    shift = share * ball.radius
    return [
        least(ball.radius**2, shift**2)
        - distances2(points, ball.center + shift * way).max()
        for way in ways
    ]


# --- how far the center is ---------------------------------------------------------


def _center_ratio(measure_of_gap):
    """A measure: largest |c - c*| / (factor sqrt(gap)) less 1."""

    def measure(factor):
        ratios = []
        for points, u in _samples(40):
            ball = ball_by_enumeration(points)
            gap = measure_of_gap(points, u, ball)
            if gap > 1e-12:
                shift = np.linalg.norm(u @ points - ball.center)
                ratios.append(shift / (factor * math.sqrt(gap)))
        return max(0.0, worst(ratios) - 1.0)

    return measure


@over(CLOUDS + (TRIANGLE,))
def _kkt(solution, points):
    """Largest of the five residuals of the optimality conditions."""
    center, gamma, u = solution(points)
    distance = distances2(points, center)
    return (
        abs(u.sum() - 1.0),
        np.linalg.norm(center - u @ points),
        (distance - gamma).max(),
        -u.min(),
        np.abs(u * (distance - gamma)).max(),
    )


def _optimum(points):
    ball = ball_by_enumeration(points)
    return ball.center, ball.radius**2, ball.weights


def _optimum_with(center=None, gamma=1.0, weights=None):
    def solution(points):
        ball = ball_by_enumeration(points)
        u = ball.weights if weights is None else weights(ball.weights)
        c = ball.center if center is None else center(points)
        return c, gamma * ball.radius**2, u

    return solution


# --- derivatives -------------------------------------------------------------------


@over(lambda: _samples(3))
def _against_differences(form, points, u):
    """Relative distance from central differences of f = -Phi."""
    h = 1e-5
    differences = [
        (phi(points, u - h * e) - phi(points, u + h * e)) / (2.0 * h)
        for e in np.eye(len(u))
    ]
    error = np.abs(form(points, u) - np.array(differences)).max()
    return error / (1.0 + np.abs(differences).max())


@over(CLOUDS)
def _hessian(form, points):
    """Against second differences; negative eigenvalues; rank above n."""
    m, n = points.shape
    matrix = form(points)
    values = np.linalg.eigvalsh(matrix)
    violations = [-values[0], (values > 1e-9 * values[-1]).sum() > n]
    for u in simplex_points(64, 3, m):
        d = u - 1.0 / m
        second = 2.0 * phi(points, u) - phi(points, u + d) - phi(points, u - d)
        violations.append(abs(d @ matrix @ d - second))
    return violations


# --- steps and guarantees ----------------------------------------------------------

DEGENERATE = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [-1.0, 0.0]])


def _directions(u):
    """(d, largest step): towards, away and pairwise directions."""
    vertices = np.eye(len(u))
    active = np.flatnonzero(u)
    for i in range(len(u)):
        yield vertices[i] - u, 1.0
        for j in active:
            if i != j:
                yield vertices[i] - vertices[j], u[j]
    for j in active:
        if u[j] < 1.0:
            yield u - vertices[j], u[j] / (1.0 - u[j])


def _against_a_grid(rule):
    """f at the rule's step less f on 2001 steps; weights that leave the simplex.

    One cloud has a repeated point and, for one u, an atom at the center: there the
    parabola is a straight line.
    """
    violations = []
    instances = [(p, u) for p, u in _samples(1)]
    instances.append((DEGENERATE, np.array([0.4, 0.4, 0.2, 0.0])))
    for points, u in instances:
        gradient_u = gradient_of_f(points, u)
        for d, largest in _directions(u):
            slope, image = -(gradient_u @ d), d @ points
            if slope <= 0.0:
                continue
            curvature = float(image @ image)
            step = rule(Line(float(slope), curvature, float(largest)))
            grid = u + np.append(np.linspace(0.0, largest, 2001), step)[:, None] * d
            centers = grid @ points
            values = z_of(centers) - grid @ z_of(points)
            violations.append(float(values[-1] - values[:-1].min()))
            violations.append(-float((u + step * d).min()))
    return max(0.0, worst(violations))


SOLVERS = {
    "away steps": away_step,
    "pairwise": pairwise,
    "blended": blended_pairwise,
    "core set": frank_wolfe,
}


def _one_plus_eps(threshold):
    """Excess over (1 + eps) of radius / r* and of r* / r_S, four algorithms."""
    violations = []
    for points, eps in itertools.product(CLOUDS + (TRIANGLE,), (0.2, 0.05, 0.005)):
        best = ball_by_enumeration(points).radius
        for solver in SOLVERS.values():
            for start in ("first", "pair"):
                ball = solver(
                    points,
                    start=start,
                    gap="relative",
                    tol=threshold(eps),
                    max_iter=20_000,
                    trace=False,
                )
                core = ball_by_enumeration(points[ball.support]).radius
                violations += [
                    ball.radius / best - (1.0 + eps),
                    best / core - (1.0 + eps),
                    1.0 - ball.radius / best,
                ]
    return max(0.0, worst(violations))


# --- what the fast solver uses -----------------------------------------------------


@over(lambda: itertools.product(_samples(40), (1.0, 0.1, 0.01, 0.0)))
def _prunes_no_support(bound, sample, far):
    """Support points that the bound discards, at weights more or less far from best."""
    points, u = sample
    best = ball_by_enumeration(points).weights
    weights = (1.0 - far) * best + far * u
    distance = np.sqrt(distances2(points, weights @ points))
    farthest = float(distance.max())
    # Rounding may lift gamma above the squared radius at the optimum.
    gamma = min(max(phi(points, weights), 0.0), farthest**2)
    return (distance[best > 1e-9] < bound(farthest, gamma) - 1e-9).sum()


def _prunes_something(bound):
    """1 when the bound discards not one point of larger clouds near the optimum."""
    (points,) = clouds(65, 1, m=200, n=2)
    ball = core_set(points, eps=1e-6, away=True)
    distance = np.sqrt(distances2(points, ball.center))
    return float((distance < bound(ball.radius, ball.lower_bound**2)).mean() < 0.5)


def _prune(bound):
    return max(_prunes_no_support(bound), _prunes_something(bound))


_ON_LINES = clouds(66, 2, m=8, n=1)


@over(lambda: itertools.product((*_ON_LINES, *clouds(67, 2, m=8, n=2)), (3, 5)))
def _expected_violators(bound, points, size):
    """Expected violators of a random sample's ball, over every sample, less the bound.

    All samples of s out of m points are enumerated. In one dimension the bound is
    attained: the ball of m points on a line has two points on its surface.
    """
    m, n = points.shape
    outside = []
    for subset in itertools.combinations(range(m), size):
        ball = ball_by_enumeration(points[list(subset)])
        distance = np.sqrt(distances2(points, ball.center))
        outside.append((distance > ball.radius * (1.0 + 1e-9)).sum())
    excess = np.mean(outside) - bound(m, n, size)
    return abs(excess) if n == 1 else excess


# --- Yildirim's algorithms are Frank-Wolfe's ---------------------------------------


def _iterates(solver, points):
    found = []

    def keep(state):
        found.append(dense_weights(state, len(points)))
        return False

    solver(points, callback=keep)
    return found


def _same_method(allowed):
    """A measure: distance of a solver's steps from exact steps of a method.

    The method starts at the pair and may take any direction that `allowed` admits
    among those of largest slope; ties count.
    """

    @over((*clouds(68, 4, m=12, n=3), *clouds(69, 4, m=9, n=2)))
    def measure(solver, points):
        iterates = _iterates(solver, points)
        violations = [np.abs(iterates[0] - pair_weights(points)).max()]
        for u, after in itertools.pairwise(iterates):
            ends = [np.abs(v - after).max() for v in exact_steps(points, u, allowed)]
            violations.append(min(ends, default=1.0))
        return violations

    return measure


def _towards_only(slope, up, down):
    return abs(slope - up) < 1e-9


def _larger_gap(slope, up, down):
    return slope > max(up, down) - 1e-9


def _with(solver, **options):
    return lambda points, callback: solver(points, callback=callback, **options)


_EXACT_PAIR = {"step": "exact", "start": "pair", "gap": "relative", "tol": 2e-3}


def _tie_after_the_first_step(form):
    """|FW gap - away gap| after Algorithm 4's first step, relative.

    Only clouds in which the farthest point is then one of the first pair.
    """
    violations = []
    for points in clouds(70, 40, m=9, n=2):
        first, second = pair_start(points)
        u = np.zeros(len(points))
        u[[first, second]] = form
        distance = distances2(points, u @ points)
        kappa = int(distance.argmax())
        delta = distance[kappa] / phi(points, u) - 1.0
        if delta < 1e-9:
            continue
        step = delta / (2.0 * (1.0 + delta))
        u = (1.0 - step) * u
        u[kappa] += step
        distance = distances2(points, u @ points)
        if int(distance.argmax()) in (first, second):
            violations.append(
                abs(fw_gap(points, u) - away_gap(points, u)) / (u @ distance)
            )
    return worst(violations) if violations else math.inf


# --- how many steps, how many points ----------------------------------------------


@over((*CLOUDS, TRIANGLE, *clouds(72, 2, m=12, n=3)))
def _grows_less(least, points):
    """The bound on the next trial radius, over r*, less that radius."""
    best = ball_by_enumeration(points).radius
    gammas = []
    core_set(
        points, eps=1e-3, max_iter=300, callback=lambda now: gammas.append(now.gamma)
    )
    shares = np.sqrt(gammas) / best
    return [least(before) - after for before, after in itertools.pairwise(shares)]


def _vertices_of_a_simplex(growth):
    """The factor by which the ball of k of k + 1 vertices must grow, against the form."""
    faults = []
    for k in range(2, 9):
        vertices = np.eye(k + 1)
        core = ball_by_enumeration(vertices[:k])
        reach = math.sqrt(distances2(vertices, core.center).max())
        faults.append(abs(reach / core.radius - growth(k)))
        # More than 1 + 1/k, so that k <= 1 / eps points are never enough.
        faults.append(1.0 + 1.0 / k - growth(k))
    return max(0.0, worst(faults))


# --- rates of Frank-Wolfe and of away steps ----------------------------------------


def _diameter2(points):
    return max(float(distances2(points, a).max()) for a in points)


@over(CLOUDS)
def _curvature(bound, points):
    """How far 2 |A(s - u)|^2 exceeds the bound, and how far it stays below it at most."""
    m = len(points)
    ends = [*simplex_points(73, 12, m), *np.eye(m)]
    seen = [2.0 * float(np.sum(((s - u) @ points) ** 2)) for u in ends for s in ends]
    return [max(seen) - bound(points), bound(points) - max(seen)]


def _of_few_points(least):
    """How far the error of k weights on N unit vectors falls below the form, or stays above."""
    faults = []
    for N, k in itertools.product((6, 12), (1, 2, 4, 6)):
        weights = [*simplex_points(74, 10, k), np.full(k, 1.0 / k)]
        points = np.eye(N)
        errors = [
            1.0 - 1.0 / N - phi(points, np.append(u, [0.0] * (N - k))) for u in weights
        ]
        faults += [least(k, N) - min(errors), min(errors) - least(k, N)]
    return max(0.0, worst(faults))


def _states_of_frank_wolfe(points, ball, steps=200):
    """Exact steps from the deepest point, which keeps some weight for ever."""
    states, deepest = [], int(distances2(points, ball.center).argmin())
    begin = ([deepest], [1.0])
    frank_wolfe(points, start=begin, tol=0.0, max_iter=steps, callback=states.append)
    return states


@over(clouds(75, 4, m=8, n=2))
def _inner_part(kept, points):
    """Relative error of the factor by which a late exact step multiplies the inner part."""
    ball = ball_by_enumeration(points)
    depths = ball.radius**2 - distances2(points, ball.center)
    states = _states_of_frank_wolfe(points, ball)
    parts = [now.weights @ depths[now.support] for now in states]
    late = range(len(states) // 2, len(states) - 1)
    assert all(depths[states[t].farthest] < 1e-9 for t in late)
    return [abs(parts[t + 1] / parts[t] / kept(states[t + 1].step) - 1.0) for t in late]


@over(clouds(76, 4, m=6, n=1))
def _middle_of_the_bracket(gap, points):
    """Relative error of the gap after a late exact step, two points on the sphere."""
    ball = ball_by_enumeration(points)
    faults = []
    for now in _states_of_frank_wolfe(points, ball)[100:]:
        error = ball.radius**2 - now.gamma
        shift2 = float(np.sum((now.center - ball.center) ** 2))
        faults.append(abs(gap(error, shift2) / now.fw_gap - 1.0))
    return faults


def _flats(corners):
    """For each pair of opposite faces, the vector from the one flat to the other."""
    k = len(corners)
    for size in range(1, k // 2 + 1):
        for one in itertools.combinations(range(k), size):
            other = [i for i in range(k) if i not in one]
            base = corners[one[0]] - corners[other[0]]
            along = [corners[i] - corners[one[0]] for i in one[1:]]
            along += [corners[i] - corners[other[0]] for i in other[1:]]
            along = np.array(along).reshape(-1, corners.shape[1]).T
            yield base - along @ np.linalg.lstsq(along, base, rcond=None)[0]


@over((*clouds(77, 4, m=12, n=2), *clouds(78, 4, m=14, n=3)))
def _sum_of_the_gaps(least, points):
    """How far both gaps together fall below the form, on the points of the sphere.

    The center is moved in many directions; in the direction of the nearest flats the
    sum must not exceed the form either.
    """
    ball = ball_by_enumeration(points)
    corners = points[ball.weights > 1e-9]
    narrowest = min(_flats(corners), key=np.linalg.norm)
    width = float(np.linalg.norm(narrowest))
    barycentric = np.linalg.pinv(np.vstack([corners.T, np.ones(len(corners))]))
    moves = [
        0.01 * (u - 1.0 / len(u)) @ corners
        for u in simplex_points(79, 12, len(corners))
    ]
    faults = []
    for move in [*moves, 1e-3 * narrowest]:
        u = barycentric @ np.append(ball.center + move, 1.0)
        gaps = np.ptp(distances2(corners, u @ corners))
        faults.append(least(width, float(np.linalg.norm(move))) - gaps)
    return [*faults, -faults[-1]]


ENTRIES = [
    _derived(
        id="X-CURVATURE",
        place="MEB, rates",
        statement=r"The curvature constant of $f$ over the simplex, the largest $2\|A(s - "
        r"u)\|^2$, is $2D^2$ with $D = \max_{i,j} \|a_i - a_j\|$.",
        measure=_curvature,
        true=lambda points: 2.0 * _diameter2(points),
        spoiled={
            "half of it": _diameter2,
            "twice": lambda points: 4.0 * _diameter2(points),
        },
    ),
    _derived(
        id="X-SPARSE",
        place="MEB, rates",
        statement=r"Weights on $k$ of $N$ unit vectors have at least the error "
        r"$\frac{1}{k} - \frac{1}{N}$, and equal ones have it.",
        measure=_of_few_points,
        true=lambda k, N: 1.0 / k - 1.0 / N,
        spoiled={
            "1/k": lambda k, N: 1.0 / k,
            "1/(k + 1)": lambda k, N: 1.0 / (k + 1) - 1.0 / N,
        },
    ),
    _derived(
        id="X-WEIGHT",
        place="MEB, rates",
        statement=r"A step of length $\alpha$ towards a point of the sphere multiplies "
        r"$\sum_i u_i (r^{*2} - \|a_i - c^*\|^2)$ by $1 - \alpha$.",
        measure=_inner_part,
        true=lambda alpha: 1.0 - alpha,
        tolerance=1e-8,
        spoiled={
            "squared": lambda alpha: (1.0 - alpha) ** 2,
            "unchanged": lambda alpha: 1.0,
        },
    ),
    _derived(
        id="X-MIDDLE",
        place="MEB, rates",
        statement=r"With two points on the sphere, each the farthest in turn, exact steps "
        r"have $g = 2(r^{*2} - \Phi(u)) + 2\|c - c^*\|^2$.",
        measure=_middle_of_the_bracket,
        true=lambda error, shift2: 2.0 * (error + shift2),
        tolerance=1e-8,
        spoiled={
            "the error itself": lambda error, shift2: error,
            "shift forgotten": lambda error, shift2: 2.0 * error,
        },
    ),
    _derived(
        id="X-WIDTH",
        place="MEB, rates",
        statement="With all weight on the points of the sphere, affinely independent and "
        r"of width $w$, FW gap and away gap add up to at least $2w\|c - c^*\|$.",
        measure=_sum_of_the_gaps,
        true=lambda width, shift: 2.0 * width * shift,
        spoiled={
            "a tenth more": lambda width, shift: 2.2 * width * shift,
            "half": lambda width, shift: width * shift,
        },
    ),
    symbolic(
        id="X-STEINER",
        place="MEB, one identity",
        statement=r"$\sum_i u_i \|a_i - c\|^2 = \Phi(u) + \|c - Au\|^2$ for every $c$ and "
        r"$\mathbf{1}^T u = 1$",
        measure=equals(_about_any_point, modulo=on_simplex),
        true=lambda s: s.phi + squared_norm(s.c - s.center),
        spoiled={"center forgotten": lambda s: s.phi},
    ),
    _derived(
        id="X-SHORTFALL",
        place="MEB, one identity",
        statement=r"$r^{*2} - \Phi(u) = \sum_i u_i (r^{*2} - \|a_i - c^*\|^2) + \|Au - "
        r"c^*\|^2$",
        measure=_shortfall,
        true=lambda u, depths, shift: u @ depths + shift @ shift,
        spoiled={
            "depth only": lambda u, depths, shift: u @ depths,
            "shift only": lambda u, depths, shift: shift @ shift,
            "shift not squared": lambda u, depths, shift: (
                u @ depths + math.sqrt(shift @ shift)
            ),
        },
    ),
    _derived(
        id="X-STRONG",
        place="MEB, one identity",
        statement=r"$\max_i \|a_i - c\|^2 \ge r^{*2} + \|c - c^*\|^2$ for every $c$: the "
        "smallest ball is unique.",
        measure=_enclosing_radius,
        true=lambda best, shift: best + shift,
        spoiled={
            "a tenth more": lambda best, shift: best + 1.1 * shift,
            "root of the shift": lambda best, shift: best + math.sqrt(shift),
        },
    ),
    _derived(
        id="X-GROWTH",
        place="MEB, guarantees",
        statement=r"$\sqrt{\gamma^{t+1}}/r^* \ge \frac{1}{2}(1 + \gamma^t/r^{*2})$ for exact "
        "steps towards the farthest point.",
        measure=_grows_less,
        true=lambda share: 0.5 * (1.0 + share**2),
        spoiled={
            "not squared": lambda share: 0.5 * (1.0 + share),
            "two thirds": lambda share: (2.0 + share**2) / 3.0,
        },
    ),
    _derived(
        id="X-SIMPLEX",
        place="MEB, guarantees",
        statement=r"The ball of $k$ vertices of a regular simplex holds another vertex "
        r"only when it grows by $\sqrt{(k+1)/(k-1)} > 1 + 1/k$: with $k \le 1/\epsilon$ "
        r"they are no $\epsilon$-core set in the sense of inclusion.",
        measure=_vertices_of_a_simplex,
        true=lambda k: math.sqrt((k + 1) / (k - 1)),
        spoiled={
            "1 + 1/k": lambda k: 1.0 + 1.0 / k,
            "not the root": lambda k: (k + 1) / (k - 1),
        },
    ),
    symbolic(
        id="X-GAP",
        place="MEB, gaps",
        statement=r"$\langle -\nabla f(u), e_i - u\rangle = \|a_i - Au\|^2 - \Phi(u)$ "
        r"for $\mathbf{1}^T u = 1$",
        measure=equals(_slopes, modulo=on_simplex),
        true=lambda s: [d - s.phi for d in s.distances],
    ),
    _derived(
        id="X-GAP-fw",
        place="MEB, gaps",
        statement=r"The FW gap is the duality gap $\max_i \|a_i - c\|^2 - \Phi(u) = "
        r"\delta^+\Phi(u)$.",
        measure=_fw_gap,
        true=fw_gap,
        spoiled={
            "from the mean": lambda p, u: (
                float(distances2(p, p.mean(axis=0)).max()) - phi(p, u)
            ),
            "not squared": lambda p, u: (
                math.sqrt(distances2(p, u @ p).max()) - math.sqrt(phi(p, u))
            ),
        },
    ),
    _derived(
        id="X-GAP-away",
        place="MEB, gaps",
        statement=r"The away gap is $\Phi(u) - \min_{u_i > 0} \|a_i - c\|^2 = "
        r"\delta^-\Phi(u)$.",
        measure=_away_gap,
        true=away_gap,
        spoiled={
            "over all points": lambda p, u: (
                phi(p, u) - float(distances2(p, u @ p).min())
            ),
            "farthest": fw_gap,
        },
    ),
    _derived(
        id="X-GAP-primal",
        place="MEB, gaps",
        statement=r"$r^{*2} - \Phi(u) \le \max_i \|a_i - c\|^2 - \Phi(u)$, with "
        "equality at the optimum, where both are 0.",
        measure=_bounds_the_primal_gap,
        true=fw_gap,
        spoiled={
            "a third of it": lambda p, u: fw_gap(p, u) / 3.0,
            "away gap": away_gap,
        },
    ),
    symbolic(
        id="X-PAIRS",
        place="MEB, solvers",
        statement=r"$\Phi(u) = \frac{1}{2} u^T D u$ and $\|a_i - c\|^2 = \sum_s u_s "
        r"D_{is} - \Phi(u)$ with $D_{is} = \|a_i - a_s\|^2$ and $\mathbf{1}^T u = 1$",
        measure=equals(lambda s: (s.phi, *s.distances), modulo=on_simplex),
        true=_from_pairs,
    ),
    symbolic(
        id="X-STABLE",
        place="MEB, dual value",
        statement=r"$\Phi(u) = \sum_i u_i \|a_i - Au\|^2$ for $\mathbf{1}^T u = 1$",
        measure=equals(lambda s: s.phi, modulo=on_simplex),
        true=lambda s: s.u.dot(s.distances),
        spoiled={
            "squared weights": lambda s: sum(
                w**2 * d for w, d in zip(s.u, s.distances)
            ),
            "from the origin": lambda s: s.u.dot(s.z),
        },
    ),
    _derived(
        id="X-STABLE-shift",
        place="MEB, dual value",
        statement="That form loses no figures far from the origin: error below "
        "$10^{-8}$ after a shift by $10^6$.",
        measure=_after_a_shift,
        true=dual_value,
        spoiled={"u'z - |Au|^2": phi},
        tolerance=1e-8,
    ),
    _derived(
        id="X-CENTRE",
        place="MEB, center",
        statement=r"$\|c - c^*\| \le \sqrt{g/2}$ with the FW gap $g$",
        measure=_center_ratio(lambda p, u, ball: fw_gap(p, u)),
        true=math.sqrt(0.5),
        spoiled={"half of it": 0.5 * math.sqrt(0.5), "root of a fifth": math.sqrt(0.2)},
    ),
    _derived(
        id="X-CENTRE-primal",
        place="MEB, center",
        statement=r"$\|c - c^*\| \le \sqrt{r^{*2} - \Phi(u)}$",
        measure=_center_ratio(lambda p, u, ball: ball.radius**2 - phi(p, u)),
        true=1.0,
        spoiled={"a tenth less": 0.9, "as for the gap": math.sqrt(0.5)},
        tolerance=1e-6,
    ),
    _derived(
        id="X-KKT",
        place="MEB, optimality",
        statement=r"$\mathbf{1}^T u = 1$, $c = Au$, $\|a_i - c\|^2 \le \gamma$, $u \ge "
        r"0$, $u_i(\|a_i - c\|^2 - \gamma) = 0$ hold at the smallest ball.",
        measure=_kkt,
        true=_optimum,
        spoiled={
            "center at the mean": _optimum_with(center=lambda p: p.mean(axis=0)),
            "gamma a percent less": _optimum_with(gamma=0.99),
            "gamma a percent more": _optimum_with(gamma=1.01),
            "weights doubled": _optimum_with(weights=lambda u: 2.0 * u),
            "uniform weights": _optimum_with(weights=lambda u: 0.0 * u + 1.0 / len(u)),
        },
    ),
    _derived(
        id="X-FD",
        place="MEB, gradient",
        statement=r"$\nabla f(u) = 2A^TAu - z$ agrees with central differences.",
        measure=_against_differences,
        true=gradient,
        spoiled={
            "factor 2 lost": lambda p, u: p @ (u @ p) - z_of(p),
            "sign": lambda p, u: z_of(p) - 2.0 * p @ (u @ p),
        },
        tolerance=1e-8,
    ),
    _derived(
        id="X-FD-hessian",
        place="MEB, Hessian",
        statement=r"$\nabla^2 f = 2A^TA$ agrees with second differences, is positive "
        "semidefinite and has rank at most $n$.",
        measure=_hessian,
        true=lambda p: 2.0 * p @ p.T,
        spoiled={
            "factor 2 lost": lambda p: p @ p.T,
            "sign": lambda p: -2.0 * p @ p.T,
            "regularised": lambda p: 2.0 * p @ p.T + 1e-3 * np.eye(len(p)),
        },
    ),
    _derived(
        id="X-STEP",
        place="MEB, exact step",
        statement=r"$\alpha = \min(\alpha_{\max}, \langle -\nabla f, d\rangle / "
        r"(2\|Ad\|^2))$ minimises $f(u + \alpha d)$ over the feasible steps; "
        r"$\alpha_{\max}$ where $Ad = 0$.",
        measure=_against_a_grid,
        true=ExactStep(),
        spoiled={
            "factor 2 lost": lambda line: min(
                line.slope / max(line.curvature, 1e-300), line.largest
            ),
            "no clip": lambda line: line.slope / (2.0 * max(line.curvature, 1e-9)),
            "stays where Ad = 0": lambda line: (
                ExactStep()(line) if line.curvature > 0.0 else 0.0
            ),
        },
        tolerance=1e-12,
    ),
    _derived(
        id="X-1EPS",
        place="MEB, guarantees",
        statement=r"FW gap $\le ((1+\epsilon)^2 - 1)\Phi$ makes the enclosing ball a "
        r"$(1+\epsilon)$-approximation and the support an $\epsilon$-core set, "
        "whatever the algorithm.",
        measure=_one_plus_eps,
        true=lambda eps: (1.0 + eps) ** 2 - 1.0,
        spoiled={
            "four times eps": lambda eps: (1.0 + 4.0 * eps) ** 2 - 1.0,
            "root of eps": lambda eps: math.sqrt(eps),
        },
    ),
    _derived(
        id="X-ID-core",
        place="MEB, identities",
        statement="Yildirim's first algorithm is Frank-Wolfe with exact steps from "
        "the farthest pair.",
        measure=_same_method(_towards_only),
        true=_with(core_set, eps=1e-3),
        spoiled={
            "his second": _with(core_set, eps=1e-3, away=True),
            "from the first point": _with(core_set, eps=1e-3, start="first"),
            "diminishing steps": _with(
                frank_wolfe, **{**_EXACT_PAIR, "step": "diminishing"}
            ),
        },
    ),
    _derived(
        id="X-ID-away",
        place="MEB, identities",
        statement="Yildirim's second algorithm is the away-step method with exact "
        "steps from the farthest pair, ties aside.",
        measure=_same_method(_larger_gap),
        true=_with(core_set, eps=1e-3, away=True),
        spoiled={
            "his first": _with(core_set, eps=1e-3),
            "pairwise": _with(pairwise, **_EXACT_PAIR),
            "from the first point": _with(core_set, eps=1e-3, away=True, start="first"),
        },
    ),
    _derived(
        id="X-AWAY-TIE",
        place="MEB, identities",
        statement="After the first plus step from the pair, FW gap and away gap are "
        "equal when the farthest point is one of the pair: rounding decides the "
        "second step.",
        measure=_tie_after_the_first_step,
        true=[0.5, 0.5],
        spoiled={"unequal weights": [0.45, 0.55]},
        corrected=r"The new point lies at distance $\sqrt{\gamma}$ and the pair's "
        r"weights are equal, so that their deviations from $\gamma$ cancel.",
    ),
    _derived(
        id="X-PRUNE",
        place="MEB, elimination",
        statement=r"With $\rho = \max_i \|a_i - c\|$ and $\gamma = \Phi(u)$ at $c = "
        r"Au$, a point with $\|a_i - c\| < \sqrt{(\rho^2+\gamma)/2} - "
        r"\sqrt{(\rho^2-\gamma)/2}$ is never in the support.",
        measure=_prune,
        true=lambda rho, gamma: (
            math.sqrt((rho**2 + gamma) / 2.0) - math.sqrt((rho**2 - gamma) / 2.0)
        ),
        spoiled={
            "second root left out": lambda rho, gamma: math.sqrt(
                (rho**2 + gamma) / 2.0
            ),
            "second root halved": lambda rho, gamma: (
                math.sqrt((rho**2 + gamma) / 2.0)
                - 0.5 * math.sqrt((rho**2 - gamma) / 2)
            ),
            "nothing": lambda rho, gamma: 0.0,
        },
        corrected=r"With $t = \|c - c^*\|$: $r^* \ge \sqrt{\gamma + t^2}$ and $t^2 \le "
        r"(\rho^2 - \gamma)/2$, and a support point lies at $r^* - t$ or more.",
    ),
    _derived(
        id="X-CLARKSON",
        place="MEB, sampling",
        statement="The ball of a random sample of $s$ out of $m$ points in "
        r"$\mathbb{R}^n$ has at most $(n+1)(m-s)/(s+1)$ violators in expectation; "
        "attained for $n = 1$.",
        measure=_expected_violators,
        true=lambda m, n, s: (n + 1) * (m - s) / (s + 1),
        spoiled={
            "n for n + 1": lambda m, n, s: n * (m - s) / (s + 1),
            "s for s + 1": lambda m, n, s: (n + 1) * (m - s) / s,
        },
    ),
]
