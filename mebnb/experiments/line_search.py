"""What notebook 07 measures: step rules on sets, on stretched clouds, along one line."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd

from mebnb.experiments.convergence import SOLVERS, thinness
from mebnb.solvers.balls import dense_weights, squared_diameter, squared_distances
from mebnb.solvers.exact import minimum_enclosing_ball
from mebnb.solvers.frank_wolfe import away_step, frank_wolfe
from mebnb.solvers.steps import Line, RelaxedStep, StepRule, step_rule

__all__ = [
    "BacktrackingStep",
    "condition_grid",
    "flat_ring",
    "grid_table",
    "line_at",
    "relaxation_grid",
    "relaxation_table",
    "ring_grid",
    "rule_grid",
    "share_of_bound",
    "two_line_factor",
    "two_point_steps",
    "watched_steps",
]


class BacktrackingStep(StepRule):
    """slope / (M |d|^2), clipped, with an estimate M of L that it finds on the way.

    M shrinks before each step and doubles until the step meets the bound that L would
    give: f(u + alpha d) <= f(u) - alpha slope + alpha^2 M |d|^2 / 2.

    References
    ----------
    F. Pedregosa, G. Negiar, A. Askari and M. Jaggi, Linearly convergent Frank-Wolfe
    with backtracking line-search, Proceedings of Machine Learning Research 108 (2020).
    """

    shrink, grow = 0.9, 2.0

    def __init__(self):
        self.estimate = None

    def prepare(self, points):
        """A rule with no estimate yet, for each run finds its own."""
        return BacktrackingStep()

    def __call__(self, line):
        """The step in [0, line.largest]."""
        norm2 = line.norm2()
        if self.estimate is None:
            self.estimate = 2.0 * line.curvature / norm2
        self.estimate *= self.shrink
        # On a parabola the bound says curvature <= M |d|^2 / 2.
        while line.curvature > 0.5 * self.estimate * norm2:
            self.estimate *= self.grow
        return min(line.slope / (self.estimate * norm2), line.largest)


def rule_grid(runs, levels):
    """Iterations of every algorithm and rule to each relative gap; passes of the run.

    Parameters
    ----------
    runs : dict of str -> dict of str -> dict of str -> Solution
        runs[algorithm][set][rule], as `run_rules` makes them, traced.
    levels : sequence of float

    Returns
    -------
    pandas.DataFrame
        One row a set, algorithm, rule and level; NaN iterations where the run never
        came to the level.
    """
    rows = [
        {
            "set": label,
            "algorithm": name,
            "rule": rule,
            "level": level,
            "iterations": ball.trace.iterations_to(level),
            "passes": ball.passes,
        }
        for label in next(iter(runs.values()))
        for name, of_algorithm in runs.items()
        for rule, ball in of_algorithm[label].items()
        for level in levels
    ]
    return pd.DataFrame(rows).astype({"iterations": float})


def grid_table(grid, algorithms, rules):
    """Iterations of a `rule_grid` to its levels, the widest first; a column a rule."""
    rows = grid.sort_values("level", ascending=False, kind="stable")
    cells = rows.groupby(["set", "algorithm", "rule"], sort=False)["iterations"].agg(
        lambda counts: ", ".join("-" if math.isnan(k) else f"{k:.0f}" for k in counts)
    )
    return cells.unstack(sort=False).rename(index=algorithms, columns=rules)


def condition_grid(points, factors, rules, *, tol=1e-6, max_iter=2000):
    """Away-step iterations to a relative gap when one feature is multiplied."""
    rows = []
    for factor in factors:
        cloud = points * np.append(factor, np.ones(points.shape[1] - 1))
        spread = np.linalg.svd(cloud - cloud.mean(axis=0), compute_uv=False)
        support = away_step(cloud, gap="relative", tol=1e-9, max_iter=20_000).support
        row = {"condition number": spread[0] / spread[-1], "support": support.size}
        fits = 2 <= support.size <= 16
        row["thinness"] = thinness(cloud[support]) if fits else math.nan
        for rule, step in rules.items():
            ball = away_step(
                cloud, step=step, gap="relative", tol=tol, max_iter=max_iter
            )
            row[rule] = ball.iterations if ball.converged else math.nan
        rows.append(row)
    return pd.DataFrame(rows)


def flat_ring(noise, seed, m=300):
    """Points of a circle in a plane of space, moved by normal noise: a flat ring."""
    random = np.random.default_rng(seed)
    angles = random.uniform(0.0, 2.0 * np.pi, m)
    circle = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(m)])
    return circle + noise * random.normal(size=(m, 3))


def ring_grid(noises, seeds, rules, *, tol=1e-6, max_iter=10_000):
    """Away-step iterations on flat rings, nearly in a plane and nearly on a sphere.

    Medians over the seeds; a run that reaches the limit counts as the limit.
    """
    rows = []
    for noise, seed in itertools.product(noises, seeds):
        cloud = flat_ring(noise, seed)
        spread = np.linalg.svd(cloud - cloud.mean(axis=0), compute_uv=False)
        best = minimum_enclosing_ball(cloud)
        row = {"noise": noise, "condition number": spread[0] / spread[-1]}
        row["thinness"] = thinness(cloud[best.support])
        apart = np.sqrt(squared_distances(cloud, best.center)) / best.radius
        row["within 1 % of the sphere"] = int((apart > 0.99).sum())
        for rule, step in rules.items():
            row[rule] = away_step(
                cloud,
                step=step,
                gap="relative",
                tol=tol,
                max_iter=max_iter,
                trace=False,
            ).iterations
        rows.append(row)
    return pd.DataFrame(rows).groupby("noise", sort=False).median()


def line_at(points, state, kind):
    """The line that an "FW", "away" or "pairwise" step would search at an iterate."""
    distances = squared_distances(points, state.center)
    weights = dense_weights(state, len(points))
    s = int(distances.argmax())
    v = int(state.support[distances[state.support].argmin()])
    if kind == "FW":
        slope, curvature, largest = distances[s] - state.gamma, distances[s], 1.0
        norm2 = weights @ weights - 2.0 * weights[s] + 1.0
    elif kind == "away":
        slope, curvature = state.gamma - distances[v], distances[v]
        largest = weights[v] / (1.0 - weights[v])
        norm2 = weights @ weights - 2.0 * weights[v] + 1.0
    elif kind == "pairwise":
        apart = points[s] - points[v]
        slope, curvature = distances[s] - distances[v], apart @ apart
        largest, norm2 = weights[v], 2.0
    else:
        raise ValueError(f"kind must be FW, away or pairwise, found {kind!r}")
    return Line(
        slope=float(slope),
        curvature=float(curvature),
        largest=float(largest),
        norm2=lambda: float(norm2),
        iteration=state.iteration,
        center=lambda: state.center,
    )


# --- steps measured in exact steps -------------------------------------------------
class _Watched(StepRule):
    """Passes a rule's steps on and keeps slope, curvature, largest step and step."""

    def __init__(self, rule):
        self.rule, self.seen = step_rule(rule), []

    def prepare(self, points):
        self.rule = self.rule.prepare(points)
        return self

    def __call__(self, line):
        step = self.rule(line)
        self.seen.append((line.slope, line.curvature, line.largest, step))
        return step


def watched_steps(points, algorithm, rule, *, tol=1e-6, max_iter=500):
    """The steps of a run as multiples of the exact one, and what they gain.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    algorithm : str
        Key of `SOLVERS`.
    rule : str or StepRule
    tol : float
        Relative gap.
    max_iter : int

    Returns
    -------
    pandas.DataFrame
        One row a step whose line has its lowest point before the end: `omega`, the
        step over slope / (2 curvature); `gain`, the rise of the dual value that the run
        measured, over slope^2 / (4 curvature); `off`, by how much that rise differs from
        omega (2 - omega) slope^2 / (4 curvature), over the largest dual value.
    """
    watched = _Watched(rule)
    ball = SOLVERS[algorithm](
        points, step=watched, gap="relative", tol=tol, max_iter=max_iter
    )
    slope, curvature, largest, step = np.array(watched.seen).T
    gammas = np.array(ball.trace.gamma)
    inside = 2.0 * largest * curvature > slope
    rise = np.diff(gammas)[inside]
    slope, curvature, step = slope[inside], curvature[inside], step[inside]
    omega = 2.0 * step * curvature / slope
    best = slope**2 / (4.0 * curvature)
    off = np.abs(rise - omega * (2.0 - omega) * best) / gammas.max()
    return pd.DataFrame({"omega": omega, "gain": rise / best, "off": off})


def relaxation_table(sets, algorithm, rules, **options):
    """How long the steps of each rule are, measured in exact steps, over several sets.

    Parameters
    ----------
    sets : dict of str -> ndarray, shape (m, n)
    algorithm : str
    rules : dict of str -> str or StepRule
    **options
        Of `watched_steps`.

    Returns
    -------
    pandas.DataFrame
        One row a rule: steps seen; least, median and largest omega; the least gain; the
        share of steps with omega > 2, which lose; the largest `off`.
    """
    rows = {}
    for name, rule in rules.items():
        steps = pd.concat(
            watched_steps(points, algorithm, rule, **options)
            for points in sets.values()
        )
        rows[name] = {
            "steps": len(steps),
            "least": steps["omega"].min(),
            "median": steps["omega"].median(),
            "largest": steps["omega"].max(),
            "least gain": steps["gain"].min(),
            "share above 2": (steps["omega"] > 2.0).mean(),
            "off": steps["off"].max(),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("rule")


def share_of_bound(points, omega, steps=300):
    """Error of relaxed Frank-Wolfe over 4 D^2 / (omega (2 - omega) t), the largest."""
    run = frank_wolfe(points, step=RelaxedStep(omega), tol=0.0, max_iter=steps)
    error = minimum_enclosing_ball(points).lower_bound ** 2 - np.array(run.trace.gamma)
    t = np.arange(1, error.size)
    factor = omega * (2.0 - omega) / (4.0 * squared_diameter(points))
    return float((error[1:] * t * factor).max())


def relaxation_grid(clouds, algorithms, omegas, *, tol=1e-6, max_iter=5000):
    """Iterations to a relative gap with omega times the exact step.

    Parameters
    ----------
    clouds : dict of str -> list of ndarray, shape (m, n)
        Clouds of one kind; the median over them counts. A run that reaches the limit
        counts as the limit.
    algorithms : sequence of str
        Keys of `SOLVERS`.
    omegas : sequence of float
    tol : float
    max_iter : int

    Returns
    -------
    pandas.DataFrame
        Indexed by (set, algorithm), one column an omega.
    """
    options = {"gap": "relative", "tol": tol, "max_iter": max_iter, "trace": False}
    rows = {
        (label, name): {
            omega: np.median(
                [
                    SOLVERS[name](cloud, step=RelaxedStep(omega), **options).iterations
                    for cloud in kind
                ]
            )
            for omega in omegas
        }
        for label, kind in clouds.items()
        for name in algorithms
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(
        ["set", "algorithm"]
    )


def two_point_steps(omega, tol):
    """Pairwise steps with omega on two points, from one of them, to a relative gap.

    The center misses the middle by x times the radius, x shrinks by |1 - omega| in a
    step, and the gap is 2 x / (1 - x). Rounded up, this is the count.
    """
    return np.log(tol / (2.0 + tol)) / np.log(np.abs(1.0 - np.asarray(omega, float)))


def two_line_factor(omega, angle):
    """Factor of the error in one round of relaxed steps along two lines, in the long run.

    Lengths are those in which f is the squared distance from its minimum; there a step
    along the unit vector b takes omega <b, e> b off the error e.

    Parameters
    ----------
    omega : float
    angle : float
        Between the two lines, in radians.

    Returns
    -------
    float
        Spectral radius of the round.
    """
    first, second = np.array([1.0, 0.0]), np.array([np.cos(angle), np.sin(angle)])
    one, two = (np.eye(2) - omega * np.outer(b, b) for b in (first, second))
    return float(np.abs(np.linalg.eigvals(two @ one)).max())
