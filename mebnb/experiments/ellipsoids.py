"""What notebook 15 measures on excluding ellipsoids: shape, scale, stability, bound.

Each study is a table or a handful of curves; the solver and the constants are those of
`mebnb.solvers.ellipsoids`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from mebnb.solvers.balls import squared_distances
from mebnb.solvers.ellipsoids import (
    excluding_ellipsoid,
    excluding_path,
    generalisation_bound,
    stability_constant,
)

__all__ = [
    "SCALINGS",
    "bound_curves",
    "bound_table",
    "examples_needed",
    "optimality_table",
    "planar_classes",
    "replacement_table",
    "scale_curves",
    "scale_paths",
    "scale_table",
    "shape_table",
]

SCALINGS = {
    "in [0, 1]": MinMaxScaler,
    "standardised": StandardScaler,
    "as they are": FunctionTransformer,
}

# Tight, for differences of two solutions times n.
TOLERANCE = 1e-13
# A negative that acts lies on the boundary, up to the root of the solver's tolerance: on
# which side of it would be for the last bit to say, and that differs between builds.
ON_BOUNDARY = 1e-4


# --- in the plane ------------------------------------------------------------------


def planar_classes(points, seed):
    """Negatives in a square and positives in narrow gaps between them."""
    rng = np.random.default_rng(seed)
    grid = np.array([(x, y) for y in (1.0, 3.0) for x in (0.8, 2.0, 3.2)])
    centers = grid + rng.uniform(-0.15, 0.15, size=grid.shape)
    turns = rng.uniform(0.0, np.pi, size=len(centers))
    along = np.column_stack([np.cos(turns), np.sin(turns)])
    across = np.column_stack([-along[:, 1], along[:, 0]])
    negatives = rng.uniform(0.0, 4.0, size=(points, 2))
    y = negatives[:, None] - centers
    lengthwise = np.abs(np.einsum("nki,ki->nk", y, along))
    crosswise = np.abs(np.einsum("nki,ki->nk", y, across))
    gap = np.any((lengthwise < 1.0) & (crosswise < 0.2), axis=1)
    return negatives[~gap], centers


def shape_table(found, negatives):
    """How far ellipsoids are from balls, and what they keep out: means, a row a lambda."""
    rows = {}
    for lam, ellipsoids in found.items():
        rows[lam] = {
            "R": np.mean([e.R for e in ellipsoids]),
            "|M - I|": np.mean(
                [np.linalg.norm(e.M - np.eye(len(e.M))) for e in ellipsoids]
            ),
            "volume": np.mean(
                [e.R ** (len(e.M) / 2) / np.prod(np.diag(e.L)) for e in ellipsoids]
            ),
            "negatives inside": np.mean(
                [_inside(e.squared_distances(negatives), e.R) for e in ellipsoids]
            ),
            "inside the ball": np.mean(
                [
                    _inside(squared_distances(negatives, e.center), e.R)
                    for e in ellipsoids
                ]
            ),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("lambda")


def _inside(distances, R):
    """How many lie clearly inside; those that hold the ellipsoid lie on its border."""
    return np.sum(distances < R * (1.0 - 1e-6))


def optimality_table(found, negatives, mu, lam, B):
    """The optimality conditions of one solution, each with its largest violation."""
    alpha, y = found.multipliers, negatives - found.center
    n, d = y.shape
    left = found.R - found.squared_distances(negatives)
    bent = np.eye(d) + (y.T * alpha) @ y / (2.0 * lam)
    return pd.Series(
        {
            "alpha from 0 to 1/n": max(0.0, -alpha.min(), alpha.max() - 1.0 / n),
            "R in closed form": abs(found.R - max(0.0, B - alpha.sum() / (2.0 * mu))),
            "M in closed form": np.abs(found.M - bent).max(),
            "who is inside has alpha 1/n": np.max(
                np.maximum(0.0, left) * (1.0 / n - alpha)
            ),
            "who is outside has alpha 0": np.max(np.maximum(0.0, -left) * alpha),
            "primal less dual": found.gap,
        },
        name="residual",
    )


# --- scale -------------------------------------------------------------------------


def scale_paths(X, y, mus, lams, B):
    """Scaled negatives and the paths of every positive, for each of `SCALINGS`."""
    scaled = {name: scaler().fit_transform(X) for name, scaler in SCALINGS.items()}
    return {
        name: (
            points[y == 0],
            [
                excluding_path(points[y == 0], center, mus, lams, B)
                for center in points[y == 1]
            ],
        )
        for name, points in scaled.items()
    }


def scale_table(paths, B):
    """What B means for features of one scale or another; negatives act within sqrt(B)."""
    rows = {}
    for name, (negatives, ellipsoids) in paths.items():
        centers = np.array([path.center for path in ellipsoids])
        distances = ((negatives[None] - centers[:, None]) ** 2).sum(axis=2)
        R = np.array([path.R for path in ellipsoids])
        rows[name] = {
            "largest |x|": f"{np.sqrt((negatives**2).sum(axis=1)).max():.2f}",
            "median |x - c|^2": f"{np.median(distances):.3f}",
            "within sqrt(B)": f"{np.mean(distances < B):.1%}",
            "smallest R": f"{R.min():.4f}",
            "largest R": f"{R.max():.4f}",
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("features")


def scale_curves(paths, B):
    """Share of the negatives inside over lambda, and smallest R over mu with its floor.

    A negative on the boundary is not inside.
    """
    inside, smallest = {}, {}
    for name, (negatives, ellipsoids) in paths.items():
        first = ellipsoids[0]
        shares = [_shares_inside(path, negatives) for path in ellipsoids]
        inside[name] = first.lams, np.mean(shares, axis=0)
        R = np.array([path.R for path in ellipsoids])
        smallest[name] = first.mus, R.min(axis=(0, 1))
    smallest["floor"] = first.mus, np.maximum(0.0, B - 0.5 / first.mus)
    return {"negatives inside": inside, "smallest R": smallest}


def _shares_inside(path, negatives):
    """The share of the negatives inside for each lambda, at the first mu."""
    slack = path.threshold[:, 0, None] - path.squared_distances(negatives)[:, 0]
    return np.mean(slack > ON_BOUNDARY, axis=1)


# --- stability ---------------------------------------------------------------------


def replacement_table(negatives, center, sizes, mu, lam, B, *, trials=20, seed=0):
    """How far the loss moves when one negative is replaced, times n, beside the constants."""
    if max(sizes) >= len(negatives):
        raise ValueError(
            f"sizes must be less than the {len(negatives)} negatives, found "
            f"{max(sizes)}"
        )
    rng = np.random.default_rng(seed)
    rows = {}
    for n in sizes:
        order = rng.permutation(len(negatives))
        sample, rest = negatives[order[:n]], negatives[order[n:]]
        found = excluding_ellipsoid(sample, center, mu, lam, B, TOLERANCE)
        ends = _ends(found, B)
        seen = np.vstack([negatives, center, ends])
        losses = _loss_at(found, seen)

        def moved(i, new, n=n, sample=sample, seen=seen, losses=losses):
            other = sample.copy()
            other[i] = new
            then = excluding_ellipsoid(other, center, mu, lam, B, TOLERANCE)
            return n * np.abs(_loss_at(then, seen) - losses).max()

        # As the definition of stability has it: a random negative, another of the sample.
        drawn = [
            moved(rng.integers(n), rest[rng.integers(len(rest))]) for _ in range(trials)
        ]
        # To harm: the nearest or the one that bends most goes; one on the center, beyond
        # every ellipsoid or at an end of the present one comes.
        lengths = squared_distances(sample, center)
        going = {int(lengths.argmin()), int((found.multipliers * lengths).argmax())}
        chosen = [moved(i, new) for i in going for new in (center, *ends)]
        rows[n] = {"drawn": max(drawn), "worst": max(drawn + chosen)}
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("n")
    table["sharp"] = stability_constant(mu, lam, B, sharp=True)
    table["paper"] = stability_constant(mu, lam, B)
    return table


def _ends(found, B):
    """Points on the ellipsoid's thinnest and thickest axis, the last beyond sqrt(B)."""
    values, vectors = np.linalg.eigh(found.M)
    axes = [vectors[:, k] * np.sqrt(found.R / values[k]) for k in (0, -1)]
    steps = [share * axis for axis in axes for share in (0.5, 0.75, 0.95)]
    beyond = 2.0 * np.sqrt(B) * vectors[:, 0]
    return found.center + np.array([*steps, beyond])


def _loss_at(found, points):
    return np.maximum(0.0, found.R - found.squared_distances(points))


def _losses(negatives, center, points, mu, lam, B):
    found = excluding_ellipsoid(negatives, center, mu, lam, B, TOLERANCE)
    return _loss_at(found, points)


# --- bounds ------------------------------------------------------------------------


def examples_needed(mu, lam, B=4.0, delta=0.05, *, sharp=False):
    """Negatives from which on the bound says more than "the loss is at most B".

    Parameters
    ----------
    mu, lam, B, delta, sharp
        As in `generalisation_bound`; the empirical risk is taken to be 0.

    Returns
    -------
    int

    Examples
    --------
    >>> examples_needed(10.0, 100.0, sharp=True) < 10
    True
    """

    def says_something(n):
        return generalisation_bound(0.0, n, mu, lam, B, delta, sharp=sharp) < B

    high = 1
    while not says_something(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if says_something(middle) else (middle, high)
    return high


def bound_table(negatives, centers, pairs, B, *, delta=0.05, seed=0):
    """The bound beside what it bounds: the loss on the half that was not fitted on."""
    # "needed": examples from which on a bound is below B.
    order = np.random.default_rng(seed).permutation(len(negatives))
    half = len(negatives) // 2
    fitted_on, new = negatives[order[:half]], negatives[order[half:]]
    rows = {}
    for mu, lam in pairs:
        risks = np.mean(
            [
                [
                    _losses(fitted_on, center, points, mu, lam, B).mean()
                    for points in (fitted_on, new)
                ]
                for center in centers
            ],
            axis=0,
        )
        rows[mu, lam] = {
            "n": half,
            "fitted": risks[0],
            "new": risks[1],
            "sharp": generalisation_bound(
                risks[0], half, mu, lam, B, delta, sharp=True
            ),
            "paper": generalisation_bound(risks[0], half, mu, lam, B, delta),
            "needed, sharp": examples_needed(mu, lam, B, delta, sharp=True),
            "needed": examples_needed(mu, lam, B, delta),
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index = pd.MultiIndex.from_tuples(rows, names=["mu", "lambda"])
    return table


def bound_curves(sizes, mu, lam, B, delta=0.05):
    """The two bounds over n without the empirical risk, and the largest loss."""
    bounds = {
        name: [
            generalisation_bound(0.0, n, mu, lam, B, delta, sharp=name == "sharp")
            for n in sizes
        ]
        for name in ("paper", "sharp")
    }
    bounds["trivial"] = [B] * len(sizes)
    return {name: (sizes, values) for name, values in bounds.items()}
