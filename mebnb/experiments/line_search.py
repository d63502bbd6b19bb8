"""What notebook 07 measures: step rules on sets, on stretched clouds, along one line."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd

from mebnb.experiments.convergence import SOLVERS, thinness
from mebnb.solvers.balls import dense_weights, squared_distances
from mebnb.solvers.exact import minimum_enclosing_ball
from mebnb.solvers.frank_wolfe import away_step
from mebnb.solvers.steps import Line

__all__ = [
    "condition_grid",
    "flat_ring",
    "grid_table",
    "line_at",
    "ring_grid",
    "rule_grid",
]


def rule_grid(sets, algorithms, rules, levels, *, max_iter):
    """Iterations and passes of every algorithm and rule to each relative gap."""
    rows = []
    for label, points in sets.items():
        for name in algorithms:
            for rule, step in rules.items():
                options = {"step": step, "gap": "relative", "max_iter": max_iter}
                whole = SOLVERS[name](points, tol=min(levels), **options)
                for level in levels:
                    reached = whole.trace.iterations_to(level)
                    ball = None
                    if reached is not None:
                        ball = SOLVERS[name](points, tol=level, trace=False, **options)
                    rows.append(
                        {
                            "set": label,
                            "algorithm": name,
                            "rule": rule,
                            "level": level,
                            "iterations": math.nan if ball is None else ball.iterations,
                            "passes": math.nan if ball is None else ball.passes,
                        }
                    )
    return pd.DataFrame(rows)


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
