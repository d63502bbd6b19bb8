"""Excluding ellipsoids: every problem of the paper's grid certified, and timed.

For each of the paper's seven sets, one repeat of its protocol: the grid of 72 pairs of
mu and lambda for every positive of the training part, once on the negatives of its fold
and once on all negatives. On each set a few of these problems also go to Clarabel by
way of cvxpy, in the form that is easiest for it (`hinge_model`), compiled once and
given new numbers for each pair. One thread; ours and theirs in turn in one run:
`python -m benchmarks.ellipsoids`.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd

__all__ = ["certify", "compare", "hinge_model", "main"]

RESULTS = Path(__file__).with_name("results")

MUS = (0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 2.0, 10.0)
LAMS = tuple(10.0**k for k in range(2, -7, -1))
B = 4.0
TOLERANCE = 1e-8
ACCURACY = 1e-8
LEAST_RATIO = 200.0
# Of lambda and of mu, the pairs that Clarabel gets: 9 on each set, 63 in all.
CHOSEN = [(i, j) for i in (0, 4, 8) for j in (0, 5, 7)]


def training_part(name, seed=0):
    """Negatives, positives and folds of one repeat, features in [0, 1].

    Returns
    -------
    negatives, positives : ndarray
    folds : (ndarray of 0 and 1, ndarray of 0 and 1)
        Of the negatives and of the positives, split evenly.
    """
    from sklearn.preprocessing import MinMaxScaler

    from mebnb.experiments.rare_classes import examples, split

    X, _, y, _ = split(*examples(name), seed)
    X = MinMaxScaler().fit_transform(X)
    rng = np.random.default_rng(seed)
    folds = [rng.permutation(np.arange(count) % 2) for count in np.bincount(y)]
    return X[y == 0], X[y == 1], folds


def certify(name):
    """Solve the grid for every positive of a set, and look at the gaps.

    Parameters
    ----------
    name : str
        From `mebnb.experiments.rare_classes.SETS`.

    Returns
    -------
    dict
        set, fewest and most negatives, problems, ms_each, repeat_seconds (what one
        repeat of the protocol takes of this: the grids on the folds and, for each
        positive, one problem on all negatives), largest_gap (over max(1, primal)),
        certified (how many problems have at most the tolerance).
    """
    from mebnb.solvers.ellipsoids import excluding_path

    negatives, positives, folds = training_part(name)
    halves = [negatives[folds[0] == fold] for fold in (0, 1)]
    gaps, seconds = [], {"fold": 0.0, "all": 0.0}
    excluding_path(negatives, positives[0], MUS, LAMS, B)
    for center, fold in zip(positives, folds[1], strict=True):
        for part, rows in (("fold", halves[fold]), ("all", negatives)):
            began = time.perf_counter()
            path = excluding_path(rows, center, MUS, LAMS, B, TOLERANCE)
            seconds[part] += time.perf_counter() - began
            gaps.append((path.gap / np.maximum(1.0, path.primal)).ravel())
    gaps = np.concatenate(gaps)
    pairs = len(MUS) * len(LAMS)
    return {
        "set": name,
        "fewest": min(map(len, halves)),
        "most": len(negatives),
        "problems": len(gaps),
        "ms_each": 1e3 * sum(seconds.values()) / len(gaps),
        "repeat_seconds": seconds["fold"] + seconds["all"] / pairs,
        "largest_gap": gaps.max(),
        "certified": int(np.sum(gaps <= TOLERANCE)),
    }


def hinge_model(negatives, center):
    """The problem for cvxpy, with mu and lambda as parameters.

    The metric enters through svec(M - I), so that the penalty is a plain sum of
    squares and nothing is semidefinite; negatives beyond sqrt(B) are left out.

    Returns
    -------
    callable
        mu, lam -> value, R.
    """
    import cvxpy as cp

    y = negatives - center
    lengths = (y**2).sum(axis=1)
    near = lengths < B
    y, lengths = y[near], lengths[near]
    i, j = np.triu_indices(y.shape[1])
    features = y[:, i] * y[:, j] * np.where(i == j, 1.0, np.sqrt(2.0))
    mu, lam = cp.Parameter(nonneg=True), cp.Parameter(nonneg=True)
    w, R = cp.Variable(features.shape[1]), cp.Variable()
    loss = cp.sum(cp.pos(R - lengths - features @ w)) / len(negatives)
    value = loss + mu * cp.square(B - R) + lam * cp.sum_squares(w)
    problem = cp.Problem(cp.Minimize(value), [R >= 0, R <= B])
    tight = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)

    def solve(new_mu, new_lam):
        mu.value, lam.value = new_mu, new_lam
        problem.solve(solver="CLARABEL", **tight)
        return problem.value, float(R.value)

    return solve


def compare(name):
    """Time one center's problems, and set the values beside Clarabel's.

    Parameters
    ----------
    name : str

    Returns
    -------
    pandas.DataFrame
        One row a pair: set, n, mu, lam, ours_ms (mean over a path, median over as many
        paths as there are pairs), clarabel_ms, ratio, value_error (|difference| of the
        optimal values over max(1, value)), R_error.
    """
    from mebnb.solvers.ellipsoids import excluding_path

    negatives, positives, _ = training_part(name)
    center = positives[len(positives) // 2]

    def path():
        return excluding_path(negatives, center, MUS, LAMS, B, TOLERANCE)

    path()
    solve = hinge_model(negatives, center)
    solve(1.0, 1.0)
    rows = []
    for i, j in CHOSEN:
        began = time.perf_counter()
        found = path()
        ours = (time.perf_counter() - began) / found.R.size
        began = time.perf_counter()
        value, R = solve(MUS[j], LAMS[i])
        theirs = time.perf_counter() - began
        rows.append(
            {
                "set": name,
                "n": len(negatives),
                "mu": MUS[j],
                "lam": LAMS[i],
                "ours_ms": 1e3 * ours,
                "clarabel_ms": 1e3 * theirs,
                "ratio": np.nan,
                "value_error": abs(value - found.primal[i, j]) / max(1.0, value),
                "R_error": abs(R - found.R[i, j]),
            }
        )
    table = pd.DataFrame(rows)
    table["ours_ms"] = table["ours_ms"].median()
    table["ratio"] = table["clarabel_ms"] / table["ours_ms"]
    return table


def main(arguments=None):
    from mebnb.experiments.rare_classes import SETS

    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.ellipsoids", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    parser.add_argument(
        "--out", type=Path, default=RESULTS, metavar="FOLDER", help="for the CSV files"
    )
    options = parser.parse_args(arguments)
    grid = pd.DataFrame([certify(name) for name in options.sets])
    print(_text(grid), end="\n\n")
    pairs = pd.concat([compare(name) for name in options.sets], ignore_index=True)
    print(_text(pairs), end="\n\n")
    options.out.mkdir(parents=True, exist_ok=True)
    for table, name in ((grid, "ellipsoids_grid"), (pairs, "ellipsoids_clarabel")):
        table.to_csv(
            options.out / f"{name}.csv",
            index=False,
            float_format="%.6g",
            lineterminator="\n",
        )
    print(*_bounds(grid, pairs), sep="\n")


def _bounds(grid, pairs):
    """Each bound with what was found."""
    total, certified = grid["problems"].sum(), grid["certified"].sum()
    error, ratio = pairs["value_error"].max(), pairs["ratio"].median()
    protocol = 10 * grid["repeat_seconds"].sum()
    for met, words in (
        (
            certified == total,
            f"gap at most {TOLERANCE:g} max(1, primal): {certified} of {total} "
            f"problems, largest {grid['largest_gap'].max():.1e}",
        ),
        (
            error <= ACCURACY,
            f"values agree with Clarabel to {ACCURACY:g} on {len(pairs)} problems: "
            f"largest difference {error:.1e}",
        ),
        (
            ratio >= LEAST_RATIO,
            f"at least {LEAST_RATIO:g} times faster than cvxpy with Clarabel, warm: "
            f"median {ratio:.0f}, least {pairs['ratio'].min():.0f}",
        ),
        (
            protocol <= 300.0,
            "every ellipsoid of ten repeats of the protocol within five minutes: "
            f"{protocol:.0f} s",
        ),
    ):
        yield f"{'met' if met else 'NOT MET':<12} {words}"


def _text(table):
    return table.to_string(index=False, float_format=lambda value: f"{value:.3g}")


if __name__ == "__main__":
    main()
