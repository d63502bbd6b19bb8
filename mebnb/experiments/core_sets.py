"""What notebook 06 measures: Lemma 3.2's consequences, the regular simplex, and costs."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from mebnb.solvers.balls import enclosing_radius, squared_distances
from mebnb.solvers.exact import minimum_enclosing_ball

__all__ = [
    "barrier_ball",
    "cost_table",
    "growth_table",
    "pair_table",
    "simplex_section",
    "simplex_table",
    "union_of_balls",
]

# 2 / e_0 is at least 3 + sqrt(3) when the start has a third of the optimal value.
HEAD_START = 3.0 + math.sqrt(3.0)


# --- Lemma 3.1 ---------------------------------------------------------------------
def pair_table(sets, balls):
    """What the proof of Lemma 3.1 uses, on sets.

    Parameters
    ----------
    sets : dict of str -> ndarray, shape (m, n)
    balls : dict of str -> Solution
        Their smallest balls.

    Returns
    -------
    pandas.DataFrame
        One row a set, lengths over D = |a_p - a_q|: `d`, from the first point to a_p;
        `in the lens`, whether all points lie within d of the first and D of a_p;
        `rim^2`, the squared radius of the lens' rim; gamma* and the largest squared
        distance from the middle, over D^2.
    """
    rows = {}
    for label, points in sets.items():
        first = squared_distances(points, points[0])
        p = points[first.argmax()]
        second = squared_distances(points, p)
        d2, D2 = first.max(), second.max()
        middle = 0.5 * (p + points[second.argmax()])
        rim = D2 * (1.0 - D2 / (4.0 * d2)) if 2.0 * d2 >= D2 else d2
        inside = (first <= d2).all() and (second <= D2).all()
        rows[label] = {
            "d / D": math.sqrt(d2 / D2),
            "in the lens": bool(inside),
            "rim^2 / D^2": rim / D2,
            "gamma* / D^2": balls[label].lower_bound ** 2 / D2,
            "farthest^2 / D^2": squared_distances(points, middle).max() / D2,
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("set")


# --- steps and points --------------------------------------------------------------
def growth_table(runs, balls, epsilons):
    """The recursion of the trial radii, and the bounds that follow, on runs.

    Parameters
    ----------
    runs : dict of str -> Solution
        Of the first algorithm, with a trace, from the pair.
    balls : dict of str -> Solution
        The smallest balls.
    epsilons : sequence of float

    Returns
    -------
    pandas.DataFrame
        One row a set. `recursion`: least excess of a trial radius over the bound by
        the one before, both over r*; not negative but for rounding. `share of (n)`:
        largest missing part 1 - q_t over its bound. Then, for each tolerance, steps
        taken over the 4 / eps + 1 allowed; "-" where the run ended before.
    """
    rows = {}
    for label, run in runs.items():
        shares = np.sqrt(run.trace.gamma) / balls[label].radius
        bound = 2.0 / (np.arange(len(shares)) + HEAD_START)
        excess = shares[1:] - 0.5 * (1.0 + shares[:-1] ** 2)
        rows[label] = {
            # A pair that is optimal leaves no step to look at.
            "recursion": float(excess.min()) if excess.size else 0.0,
            "missing / bound": float(((1.0 - shares) / bound).max()),
        }
        for eps in epsilons:
            steps = run.trace.iterations_to(eps * (2.0 + eps))
            allowed = 4.0 / eps + 1.0
            rows[label][f"steps / allowed, {eps:g}"] = (
                "-" if steps is None else f"{steps / allowed:.3f}"
            )
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("set")


def simplex_table(sizes):
    """How much the ball of k vertices of a regular simplex must grow to hold one more.

    Parameters
    ----------
    sizes : sequence of int
        k, at least 2.

    Returns
    -------
    pandas.DataFrame
        Indexed by k: the factor measured on the unit vectors, the formula, 1 + 1/k, and
        the fewest vertices that are a core set at eps = 1/k, by inclusion and by radii,
        of a simplex with 4 k vertices.
    """
    rows = []
    for k in sizes:
        vertices = np.eye(k + 1)
        core = minimum_enclosing_ball(vertices[:k], rtol=1e-12)
        rows.append(
            {
                "k": k,
                "factor measured": enclosing_radius(vertices, core.center)
                / core.radius,
                "by the formula": math.sqrt((k + 1) / (k - 1)),
                "1 + 1/k": 1.0 + 1.0 / k,
                "needed by inclusion": _fewest(4 * k, 1.0 / k, _reach_over_radius),
                "needed by radii": _fewest(4 * k, 1.0 / k, _radius_over_radius),
            }
        )
    return pd.DataFrame(rows).set_index("k")


def _fewest(count, eps, factor):
    """The fewest of `count` vertices whose factor is at most 1 + eps."""
    return next(
        k for k in range(2, count + 1) if factor(k, count) <= (1 + eps) * (1 + 1e-12)
    )


def _reach_over_radius(k, count):
    vertices = np.eye(count)
    core = minimum_enclosing_ball(vertices[:k], rtol=1e-12)
    return enclosing_radius(vertices, core.center) / core.radius


def _radius_over_radius(k, count):
    core = minimum_enclosing_ball(np.eye(k), rtol=1e-12)
    return minimum_enclosing_ball(np.eye(count), rtol=1e-12).radius / core.radius


def simplex_section(k):
    """The plane through the center of k vertices, one of them, and the vertex left out.

    Parameters
    ----------
    k : int
        At least 2.

    Returns
    -------
    points : ndarray, shape (2, 2)
        One of the k vertices, and the one left out.
    marked : list of int
        The row of the former.
    circles : dict of str -> (center, radius)
        As `mebnb.plots.circles_2d` takes them.
    """
    radius, height = math.sqrt(1.0 - 1.0 / k), math.sqrt(1.0 + 1.0 / k)
    points = np.array([[radius, 0.0], [0.0, height]])
    whole = math.sqrt(1.0 - 1.0 / (k + 1))
    circles = {
        "ball of k vertices": (np.zeros(2), radius),
        "the same, grown by 1 + 1/k": (np.zeros(2), (1.0 + 1.0 / k) * radius),
        "smallest ball": (np.array([0.0, height - whole]), whole),
    }
    return points, [0], circles


# --- infinitely many points --------------------------------------------------------
def union_of_balls(centers, radii, eps):
    """The first algorithm on all points of a union of balls, none of them listed.

    The farthest point of a ball about b from c lies on the ray from c through b. The
    dual has one variable for each point met, and a new one starts with weight 0.

    Parameters
    ----------
    centers : ndarray, shape (k, n)
    radii : ndarray, shape (k,)
    eps : float

    Returns
    -------
    core : ndarray, shape (s, n)
        The points met, the pair first.
    weights : ndarray, shape (s,)
    gammas : list of float
        The dual value before each step and at the end.
    deltas : list of float
        With them, |farthest - c|^2 / gamma - 1.
    """

    def farthest(c):
        apart = np.sqrt(squared_distances(centers, c))
        i = (apart + radii).argmax()
        return centers[i] + radii[i] / apart[i] * (centers[i] - c)

    a_p = farthest(centers.mean(axis=0))
    core = np.array([a_p, farthest(a_p)])
    weights = np.array([0.5, 0.5])
    gammas, deltas = [], []
    while True:
        c = weights @ core
        gammas.append(float(weights @ squared_distances(core, c)))
        point = farthest(c)
        deltas.append(float(np.sum((point - c) ** 2)) / gammas[-1] - 1.0)
        if deltas[-1] <= eps * (2.0 + eps):
            return core, weights, gammas, deltas
        alpha = deltas[-1] / (2.0 * (1.0 + deltas[-1]))
        core, weights = np.vstack([core, point]), np.append(weights, 0.0)  # padded
        weights *= 1.0 - alpha
        weights[-1] += alpha


# --- an interior-point method beside it --------------------------------------------
def barrier_ball(points, eps, growth=10.0):
    """A plain barrier method in (c, gamma): Newton steps, and the ball.

    Minimises weight * gamma - sum_i log(gamma - |a_i - c|^2) for growing weights; at the
    minimiser the duality gap is m / weight.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    eps : float
        Stops when the gap is at most ((1 + eps)^2 - 1) gamma.
    growth : float
        Factor of the weight from one minimiser to the next.

    Returns
    -------
    center : ndarray, shape (n,)
    radius : float
    steps : int
        Newton steps.
    """
    m, n = points.shape
    c = points.mean(axis=0)
    farthest = squared_distances(points, c).max()
    gamma, weight, steps = 2.0 * farthest, m / farthest, 0
    while True:
        decrement = math.inf
        while decrement > 1e-6:
            slack = gamma - squared_distances(points, c)
            slopes = np.column_stack([2.0 * (points - c), np.ones(m)]) / slack[:, None]
            down = slopes.sum(axis=0)
            down[-1] -= weight
            hessian = slopes.T @ slopes
            hessian[np.arange(n), np.arange(n)] += 2.0 * (1.0 / slack).sum()
            step = np.linalg.solve(hessian, down)
            decrement = float(down @ step)
            # A damped step keeps every point inside, and near the end so does a full one.
            length = math.sqrt(max(decrement, 0.0))
            size = 1.0 if length < 0.25 else 1.0 / (1.0 + length)
            c, gamma = c + size * step[:n], gamma + size * step[-1]
            steps += 1
        if m / weight <= eps * (2.0 + eps) * (gamma - m / weight):
            return c, math.sqrt(squared_distances(points, c).max()), steps
        weight *= growth


def cost_table(sets, runs, epsilons):
    """Steps and multiplications of the first algorithm and of the barrier method.

    Parameters
    ----------
    sets : dict of str -> ndarray, shape (m, n)
    runs : dict of str -> Solution
        Of the first algorithm.
    epsilons : sequence of float

    Returns
    -------
    pandas.DataFrame
        One row a set and tolerance; multiplications are m n a step, and m (n + 1)^2 + (n
        + 1)^3 / 3 a Newton step, the leading terms.
    """
    rows = []
    for label, points in sets.items():
        m, n = points.shape
        for eps in epsilons:
            first = runs[label].trace.iterations_to(eps * (2.0 + eps))
            newton = barrier_ball(points, eps)[-1]
            second = newton * (m * (n + 1) ** 2 + (n + 1) ** 3 / 3)
            rows.append(
                {
                    "set": label,
                    "eps": f"{eps:g}",
                    "steps": "-" if first is None else str(first),
                    "Newton steps": newton,
                    "multiplications": "-"
                    if first is None
                    else f"{(first + 1) * m * n:.1e}",
                    "by Newton": f"{second:.1e}",
                }
            )
    return pd.DataFrame(rows).set_index(["set", "eps"])
