"""The soft ball beside scikit-learn's one-class SVM, on the same problems.

Linear: OneClassSVM with its own linear kernel solves another problem, a half-space.
The ball is its problem for the shifted kernel h - |x - y|^2 / 2, whose diagonal is
constant; that kernel has to be computed beforehand, and its time counts. Both run to
a relative duality gap of 1e-6.

RBF: OneClassSVM runs to its own default tolerance, the ball to the gap that
OneClassSVM has reached.

Gaps are those of the ball's problem, computed anew from the weights of either side.
One thread, the least time of calls in turn: `python -m benchmarks.soft`. At the end of
the table two threads stand beside one, where the matrix products have one in both.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import OneClassSVM
from threadpoolctl import threadpool_limits

__all__ = ["compare", "grow", "main", "one_class_svm", "relative_gap", "share"]

NU, TOLERANCE = 0.05, 1e-6
MOST_GROWTH, MOST_RBF = 1.2, 2.0
SIZES, MOST_SECONDS = (10_000, 100_000, 1_000_000), 1.0
RESULTS = Path(__file__).with_name("results")
CLOUDS = {
    "normal": lambda rng, m, n: rng.standard_normal((m, n)),
    "skewed": lambda rng, m, n: np.exp(0.5 * rng.standard_normal((m, n))),
}


def cloud(kind, m, n):
    """The same points every time, shape (m, n)."""
    return CLOUDS[kind](np.random.default_rng([20080101, m, n]), m, n)


def shifted_kernel(points):
    """h - |x - y|^2 / 2 with h half the largest squared distance, shape (m, m)."""
    local = points - points.mean(axis=0)
    squared = np.einsum("ij,ij->i", local, local)
    kernel = local @ local.T
    kernel -= 0.5 * squared
    kernel -= 0.5 * squared[:, None]
    kernel -= kernel.min()
    return kernel


def one_class_svm(points, linear, tol):
    """Weights of scikit-learn's solution, sum 1, shape (m,)."""
    if linear:
        given = shifted_kernel(points)
        machine = OneClassSVM(kernel="precomputed", nu=NU, tol=tol).fit(given)
    else:
        machine = OneClassSVM(kernel="rbf", nu=NU, tol=tol).fit(points)
    weights = np.zeros(len(points))
    weights[machine.support_] = machine.dual_coef_[0]
    return weights / weights.sum()


def relative_gap(points, weights, linear):
    """(primal - dual) / dual of weights in the soft ball's problem."""
    if linear:
        distances = ((points - weights @ points) ** 2).sum(axis=1)
    else:
        support = np.flatnonzero(weights)
        gamma = 1.0 / (points.shape[1] * points.var())
        kernel = rbf_kernel(points, points[support], gamma=gamma)
        inner = kernel @ weights[support]
        distances = 1.0 - 2.0 * inner + weights @ inner
    share = NU * len(points)
    full = int(share + 1e-9)
    farthest = np.sort(distances)[::-1]
    primal = (farthest[:full].sum() + (share - full) * farthest[full]) / share
    dual = weights @ distances
    return (primal - dual) / dual


def compare(kind, m, n, linear, repeats):
    """The ball and the one-class SVM to the same gap, in turn.

    Parameters
    ----------
    kind : str
        Of `CLOUDS`.
    m, n : int
    linear : bool
        Else RBF with gamma="scale".
    repeats : int
        Timed calls of each, after one of ours that is not timed.

    Returns
    -------
    dict
        A row of the table; ratio is our least time over that of the one-class SVM.
    """
    from mebnb import soft_ball

    points = cloud(kind, m, n)
    tol = _svm_tolerance(points) if linear else 1e-3
    weights = one_class_svm(points, linear, tol)
    reached = relative_gap(points, weights, linear)
    aim = TOLERANCE if linear else reached

    def ours():
        kernel = None if linear else "rbf"
        return soft_ball(points, NU, kernel=kernel, tol=aim, workers=1)

    ball = ours()
    theirs = partial(one_class_svm, points, linear, tol)
    times = np.array([(seconds(ours), seconds(theirs)) for _ in range(repeats)])
    own, other = times.min(axis=0)
    return {
        "problem": "linear" if linear else "rbf",
        "points": f"{kind} {m} x {n}",
        "soft_ball_s": own,
        "soft_ball_gap": ball.relative_gap,
        "one_class_svm_s": other,
        "one_class_svm_gap": reached,
        "ratio": own / other,
    }


def _svm_tolerance(points):
    """The largest power of ten with which the one-class SVM reaches the gap."""
    for tol in 10.0 ** np.arange(1, -7, -1):
        if relative_gap(points, one_class_svm(points, True, tol), True) <= TOLERANCE:
            return tol
    raise RuntimeError("the one-class SVM does not reach the gap")


def grow(kind, sizes, n, repeats):
    """Our time on the linear problem for several numbers of points.

    Returns
    -------
    list of dict
        Rows of the table; ratio is the time a point over that of the first size.
    """
    from mebnb import soft_ball

    rows = []
    for m in sizes:
        points = cloud(kind, m, n)
        ours = partial(soft_ball, points, NU, tol=TOLERANCE, workers=1)
        ball = ours()
        own = min(seconds(ours) for _ in range(repeats))
        first = rows[0]["soft_ball_s"] / sizes[0] if rows else own / m
        rows.append(
            {
                "problem": "linear, growth",
                "points": f"{kind} {m} x {n}",
                "soft_ball_s": own,
                "soft_ball_gap": ball.relative_gap,
                "ratio": own / m / first,
            }
        )
    return rows


def share(kind, m, n, linear, repeats):
    """Two workers and one, in turn.

    Returns
    -------
    dict
        A row of the table; ratio is the least time of two over that of one.
    """
    from mebnb import soft_ball

    points, kernel = cloud(kind, m, n), None if linear else "rbf"
    calls = [
        partial(soft_ball, points, NU, kernel=kernel, tol=TOLERANCE, workers=workers)
        for workers in (1, 2)
    ]
    ball = calls[0]()
    times = np.array([[seconds(call) for call in calls] for _ in range(repeats)])
    one, two = times.min(axis=0)
    return {
        "problem": "two workers, " + ("linear" if linear else "rbf"),
        "points": f"{kind} {m} x {n}",
        "soft_ball_s": one,
        "soft_ball_gap": ball.relative_gap,
        "two_workers_s": two,
        "ratio": two / one,
    }


def seconds(run):
    """How long a call takes, without what it returns."""
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def measure(repeats):
    """All rows of the table."""
    rows = []
    for kind in CLOUDS:
        rows.append(compare(kind, 10_000, 30, True, repeats))
        rows += grow(kind, SIZES, 30, 3 * repeats)
        rows += [compare(kind, 10_000, n, False, repeats) for n in (10, 30)]
    rows.append(share("normal", 1_000_000, 30, True, 3 * repeats))
    rows.append(share("normal", 10_000, 30, False, 3 * repeats))
    rows.append(share("normal", 100_000, 10, False, repeats))
    return rows


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.soft",
        description="The soft ball beside scikit-learn's one-class SVM.",
    )
    parser.add_argument("--repeats", type=int, default=3, help="timed calls of each")
    parser.add_argument(
        "--out", type=Path, default=RESULTS, metavar="FOLDER", help="for the CSV file"
    )
    options = parser.parse_args(arguments)
    if options.repeats < 1:
        parser.error(f"--repeats must be at least 1, found {options.repeats}")
    with threadpool_limits(1):
        table = pd.DataFrame(measure(options.repeats))
    print(table.to_string(index=False, float_format=lambda value: f"{value:.3g}"))
    options.out.mkdir(parents=True, exist_ok=True)
    table.to_csv(
        options.out / "soft.csv", index=False, float_format="%.6g", lineterminator="\n"
    )
    for line in verdicts(table):
        print(line)


def verdicts(table):
    """What is claimed of each row, whether it is met, and by how much."""
    for row in table.itertuples():
        most, claim = BOUNDS[row.problem]
        word = "met" if row.ratio <= most else "NOT MET"
        yield f"{word:<12} {row.points}: {claim}: {row.ratio:.3g}"
    slowest = table.loc[table["problem"] == "linear, growth", "soft_ball_s"].max()
    word = "met" if slowest <= MOST_SECONDS else "NOT MET"
    yield f"{word:<12} linear, {SIZES[-1]} points: a second: {slowest:.3g} s"


BOUNDS = {
    "linear": (1.0, "linear, to the same gap, less time than the one-class SVM"),
    "linear, growth": (
        MOST_GROWTH,
        f"a point takes at most {MOST_GROWTH:g} times as long as one of the first size",
    ),
    "two workers, linear": (1.0, "linear, two workers take less time than one"),
    "two workers, rbf": (1.0, "RBF, two workers take less time than one"),
    "rbf": (MOST_RBF, f"RBF, to the same gap, at most {MOST_RBF:g} times its time"),
}


if __name__ == "__main__":
    main()
