"""The Frank-Wolfe family beside versions that keep nothing.

The plain versions compute the gradient 2 A'A u - z of f = -Phi anew in every step,
which takes two matrix-vector products with the data, and need no Gram matrix. Both
sides take exact steps from the first vertex to an absolute gap of 1e-3 on the report's
uniform set (8000 x 15), one thread, no trace, in turn in one run:
`python -m benchmarks.frank_wolfe`.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

__all__ = ["PLAIN", "compare", "main"]

TOLERANCE = 1e-3
LEAST_RATIO = 3.0
RESULTS = Path(__file__).with_name("results")


def _plain(choose):
    """A solver from a rule (gradient, weights, center, points) -> direction.

    A direction is (towards, away, largest step); None stands for the iterate.
    """

    def solve(points, tol=TOLERANCE, max_iter=10**6):
        z = np.einsum("ij,ij->i", points, points)
        weights = np.zeros(points.shape[0])
        weights[0] = 1.0
        for iteration in range(max_iter):
            center = points.T @ weights
            gradient = 2.0 * (points @ center) - z
            towards = int(gradient.argmin())
            gap = gradient @ weights - gradient[towards]
            if gap <= tol:
                return center, iteration
            active = np.flatnonzero(weights)
            towards, away, largest = choose(gradient, weights, active, towards, gap)
            _move(points, gradient, weights, center, towards, away, largest)
        return points.T @ weights, max_iter

    return solve


def _move(points, gradient, weights, center, towards, away, largest):
    """Exact step along towards - away, in place."""
    direction = (center if towards is None else points[towards]) - (
        center if away is None else points[away]
    )
    mean = gradient @ weights
    slope = (mean if away is None else gradient[away]) - (
        mean if towards is None else gradient[towards]
    )
    step = min(slope / (2.0 * (direction @ direction)), largest)
    if away is None:
        weights *= 1.0 - step
    elif towards is None:
        weights *= 1.0 + step
    if towards is not None:
        weights[towards] += step
    if away is not None:
        weights[away] = 0.0 if step == largest else weights[away] - step


def _away_step(gradient, weights, active, towards, gap):
    away = active[gradient[active].argmax()]
    if gap >= gradient[away] - gradient @ weights:
        return towards, None, 1.0
    return None, away, weights[away] / (1.0 - weights[away])


def _pairwise(gradient, weights, active, towards, gap):
    away = active[gradient[active].argmax()]
    return towards, away, weights[away]


def _blended_pairwise(gradient, weights, active, towards, gap):
    away = active[gradient[active].argmax()]
    local = active[gradient[active].argmin()]
    if gradient[away] - gradient[local] >= gap:
        return local, away, weights[away]
    return towards, None, 1.0


PLAIN = {
    "away_step": _plain(_away_step),
    "pairwise": _plain(_pairwise),
    "blended_pairwise": _plain(_blended_pairwise),
}
"""The plain versions: points, tol -> (center, iterations)."""


def compare(points, repeats=5):
    """Time each algorithm against its plain version, in turn.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    repeats : int
        Timed calls of each, after one that is not timed.

    Returns
    -------
    pandas.DataFrame
        One row an algorithm: median and minimum of both in ms, both iteration counts,
        ratio (median of the plain version over ours).
    """
    import mebnb

    def ours(name):
        ball = getattr(mebnb, name)(points, tol=TOLERANCE, max_iter=10**6, trace=False)
        return ball.iterations

    def plain(name):
        return PLAIN[name](points)[1]

    rows = []
    for name in PLAIN:
        iterations = ours(name), plain(name)
        times = np.array(
            [(_seconds(ours, name), _seconds(plain, name)) for _ in range(repeats)]
        )
        median, least = 1e3 * np.median(times, axis=0), 1e3 * times.min(axis=0)
        rows.append(
            {
                "algorithm": name,
                "ours_ms": median[0],
                "ours_min_ms": least[0],
                "ours_iterations": iterations[0],
                "plain_ms": median[1],
                "plain_min_ms": least[1],
                "plain_iterations": iterations[1],
                "ratio": median[1] / median[0],
            }
        )
    return pd.DataFrame(rows)


def _seconds(run, name):
    began = time.perf_counter()
    run(name)
    return time.perf_counter() - began


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.frank_wolfe",
        description="The Frank-Wolfe family beside versions that keep nothing.",
    )
    parser.add_argument("--repeats", type=int, default=9, help="timed calls of each")
    parser.add_argument(
        "--out", type=Path, default=RESULTS, metavar="FOLDER", help="for the CSV file"
    )
    options = parser.parse_args(arguments)
    if options.repeats < 1:
        parser.error(f"--repeats must be at least 1, found {options.repeats}")
    from mebnb.experiments.published_splits import report_uniform

    points = np.ascontiguousarray(report_uniform().train)
    table = compare(points, options.repeats)
    print(table.to_string(index=False, float_format=lambda value: f"{value:.3g}"))
    options.out.mkdir(parents=True, exist_ok=True)
    table.to_csv(
        options.out / "frank_wolfe.csv",
        index=False,
        float_format="%.6g",
        lineterminator="\n",
    )
    for row in table.itertuples():
        word = "met" if row.ratio >= LEAST_RATIO else "NOT MET"
        print(
            f"{word:<12} {row.algorithm} at least {LEAST_RATIO:g} times faster than "
            f"its plain version: {row.ratio:.2f}"
        )


if __name__ == "__main__":
    main()
