"""The Frank-Wolfe family beside versions that keep nothing.

The plain versions are the textbook forms of `mebnb.solvers.plain`: center and squared
distances of all points anew in every step, and no Gram matrix. Both sides take exact steps from the first vertex to an absolute gap of 1e-3 on the report's
uniform set (8000 x 15), one thread, no trace, in turn in one run:
`python -m benchmarks.frank_wolfe`.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

from mebnb.solvers import plain

__all__ = ["PLAIN", "compare", "main"]

TOLERANCE = 1e-3
LEAST_RATIO = 3.0
RESULTS = Path(__file__).with_name("results")


PLAIN = {
    name: getattr(plain, name) for name in ("away_step", "pairwise", "blended_pairwise")
}
"""The plain versions: points, tol -> (weights, steps)."""


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

    def textbook(name):
        return len(PLAIN[name](points, TOLERANCE)[1])

    rows = []
    for name in PLAIN:
        iterations = ours(name), textbook(name)
        times = np.array(
            [(_seconds(ours, name), _seconds(textbook, name)) for _ in range(repeats)]
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
