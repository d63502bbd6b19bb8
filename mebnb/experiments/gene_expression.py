"""What notebook 13 measures: balls of few points in many dimensions."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA

from mebnb.experiments.leaks import changed
from mebnb.experiments.sets import left_out, outside_of
from mebnb.learning import evaluate_splits, honest_split
from mebnb.learning.detectors import BallDetector
from mebnb.solvers.balls import squared_distances
from mebnb.solvers.exact import minimum_enclosing_ball

__all__ = [
    "boundary_table",
    "clouds_like",
    "components_study",
    "growing_balls",
    "span_coordinates",
]


def span_coordinates(points):
    """The points in coordinates of the flat that they span: no distance changes."""
    directions, lengths, _ = np.linalg.svd(
        points - points.mean(axis=0), full_matrices=False
    )
    # Centred points have a rank of at most m - 1.
    return (directions * lengths)[:, : max(len(points) - 1, 1)]


def clouds_like(points, seed):
    """The cloud, its columns shuffled, and a normal one as wide, each in its span."""
    # Shuffled, every feature keeps its values and knows nothing of the others; the
    # normal cloud has the data's mean squared distance from the mean.
    rng = np.random.default_rng(seed)
    shuffled = rng.permuted(points, axis=0)
    normal = rng.standard_normal(points.shape)
    normal *= np.sqrt(points.var(axis=0).sum() / normal.var(axis=0).sum())
    clouds = {"data": points, "shuffled": shuffled, "normal": normal}
    return {name: span_coordinates(cloud) for name, cloud in clouds.items()}


def growing_balls(points, sizes, *, repeats, seed=0):
    """Support, share of the other points outside, and radius of random subsets' balls."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(repeats):
        order = rng.permutation(len(points))
        for size in sizes:
            ball = minimum_enclosing_ball(points[order[:size]])
            rows.append(
                {
                    "points": size,
                    "support": ball.support.size / size,
                    "outside": outside_of(ball, points[order[size:]]).mean(),
                    "radius": ball.radius,
                }
            )
    return pd.DataFrame(rows).groupby("points").mean()


def boundary_table(clouds, labels):
    """How much of each cloud lies on the boundary of its smallest ball, in words."""
    columns = {}
    for name, cloud in clouds.items():
        ball = minimum_enclosing_ball(cloud)
        distances = np.sqrt(squared_distances(cloud, ball.center)) / ball.radius
        spread = np.linalg.svd(cloud - cloud.mean(axis=0), compute_uv=False) ** 2
        # The effective dimension is n for a round cloud of many points, 1 for a line;
        # the simplex has the same number of points and mean squared distance.
        simplex = math.sqrt(spread.sum() / len(cloud))
        columns[labels(name)] = {
            "points": str(len(cloud)),
            "effective dimension": f"{spread.sum() ** 2 / (spread**2).sum():.1f}",
            "support points": str(ball.support.size),
            "outside of the ball of the others": str(left_out(cloud).size),
            "points within 5 % of the radius": str(int((distances > 0.95).sum())),
            "nearest point, in radii": f"{distances.min():.2f}",
            "radius over that of a regular simplex": f"{ball.radius / simplex:.3f}",
        }
    return pd.DataFrame(columns)


def components_study(
    dataset, seeds, components, nominal_fraction=0.5, scaling="standard"
):
    """The hard ball on honest splits, with components of all rows, of training rows, left over."""

    def components_of(rows):
        # The solver for wide data draws random numbers.
        return PCA(components, random_state=0).fit(rows)

    def split_of(seed, transform_for):
        split = honest_split(dataset, seed, nominal_fraction, scaling)
        if not 1 <= components < len(split.train):
            raise ValueError(
                f"components must be 1 to {len(split.train) - 1}, fewer than the "
                f"training rows, found {components!r}"
            )
        return changed(split, transform_for(split))

    def left_over(split):
        found = components_of(split.train)
        return lambda rows: rows - found.inverse_transform(found.transform(rows))

    ways = {
        "all features": lambda split: lambda rows: rows,
        "components of all rows": lambda split: (
            components_of(np.vstack([split.train, split.test])).transform
        ),
        "components of the training rows": lambda split: (
            components_of(split.train).transform
        ),
        "what these leave over": left_over,
    }
    splits = {
        name: lambda seed, way=way: split_of(seed, way) for name, way in ways.items()
    }
    return evaluate_splits(BallDetector(), splits, seeds)
