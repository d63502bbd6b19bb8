"""What conformal alarms promise, held against simulated splits, and what reasons cost.

A split draws rows to fit on and new rows, most of them alike and some not, from a law
with skewed and correlated columns. For each detector: the rate of false alarms at
three alphas, the share of false discoveries, and how often the bound for all
thresholds at once is exceeded anywhere; each beside what it may be and three standard
errors. The methods other than "split" promise no more than about twice alpha; they are
there to be looked at. Writes alarms.csv and alarms_reasons.csv:
`python -m benchmarks.alarms`.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone
from threadpoolctl import threadpool_limits

__all__ = ["contenders", "main", "reasons", "simulate", "summarise"]

RESULTS = Path(__file__).with_name("results")
ALPHAS = (0.01, 0.05, 0.1)
FDR, CONFIDENCE = 0.1, 0.9
FITTED, NOMINAL, ANOMALIES, COLUMNS = 200, 100, 20, 5
# Of these the other methods are tried too: five and thirty fits a split.
OTHER_METHODS = ("local ball", "distance to the mean")


def contenders():
    """Every detector by its name, unfitted."""
    from mebnb.learning import detectors, local_balls

    balls = {
        "soft ball": detectors.SoftBallDetector(),
        "plain soft ball": detectors.PlainSoftBallDetector(),
        "kernel ball": local_balls.KernelBallDetector(),
        "whitened ball": local_balls.WhitenedBallDetector(),
        "local ball": local_balls.LocalBallDetector(),
        "several balls": local_balls.SeveralBallsDetector(random_state=0),
        "committee": local_balls.Committee(random_state=0),
    }
    return detectors.rival_detectors() | balls


def draw(seed):
    """Rows to fit on and new rows, of which the first `NOMINAL` are like them."""
    rng = np.random.default_rng([18, seed])
    rows = rng.standard_normal((FITTED + NOMINAL + ANOMALIES, COLUMNS))
    rows[:, 1] = 0.9 * rows[:, 0] + 0.4 * rows[:, 1]
    rows = np.exp(0.3 * rows)
    rows[-ANOMALIES:, seed % COLUMNS] += 3.0
    return rows[:FITTED], rows[FITTED:]


def simulate(name, detector, method, splits):
    """One row for each split: what was false, beside what was promised.

    Parameters
    ----------
    name : str
    detector : estimator
    method : str
        Of `ConformalAlarms`.
    splits : int

    Returns
    -------
    pandas.DataFrame
        Columns: detector, method, each alpha, fdr, and (for "split") exceeded.
    """
    from mebnb import ConformalAlarms
    from mebnb.learning.alarms import benjamini_hochberg

    rows = []
    for seed in range(splits):
        old, new = draw(seed)
        alarms = ConformalAlarms(clone(detector), method=method, random_state=seed)
        p_values = alarms.fit(old).p_values(new)
        found = benjamini_hochberg(p_values, FDR)
        row = {"detector": name, "method": method}
        row |= {alpha: np.mean(p_values[:NOMINAL] <= alpha) for alpha in ALPHAS}
        row["fdr"] = found[:NOMINAL].sum() / max(1, found.sum())
        if method == "split":
            row["exceeded"] = _exceeded(alarms, new, p_values)
        rows.append(row)
    return pd.DataFrame(rows)


def _exceeded(alarms, new, p_values):
    """Whether more alarms are false, at any threshold, than the bounds allow."""
    bounds = alarms.false_discovery_bounds(new, CONFIDENCE)
    nominal = np.sort(p_values[:NOMINAL])
    false = np.searchsorted(nominal, bounds.index.to_numpy(), side="right")
    return float((false > bounds["most_false"].to_numpy()).any())


def summarise(frame):
    """Means over the splits with their standard errors, a row for each promise."""
    promises = dict.fromkeys(ALPHAS, "false alarms")
    promises |= {"fdr": "false discoveries", "exceeded": "bound exceeded"}
    limits = {"fdr": FDR, "exceeded": 1 - CONFIDENCE}
    rows = []
    for column, what in promises.items():
        values = frame[column].dropna() if column in frame else []
        if len(values) == 0:
            continue
        limit = limits.get(column, column)
        error = values.std() / np.sqrt(len(values))
        rows.append(
            {
                "detector": frame["detector"].iloc[0],
                "method": frame["method"].iloc[0],
                "promise": what,
                "level": limit,
                "found": values.mean(),
                "standard_error": error,
                "splits": len(values),
                "holds": bool(values.mean() <= limit + 3 * error),
            }
        )
    return rows


def reasons(rows=100_000, columns=10):
    """Microseconds a row of each kind of reason, the least of three calls."""
    from mebnb import WhitenedBallDetector
    from mebnb.learning.reasons import squared_form

    X = np.random.default_rng(0).standard_normal((rows, columns))
    form = squared_form(WhitenedBallDetector().fit(X[:500]))
    found = []
    for kind in ("contributions", "single_changes", "joint_changes"):
        times = []
        for _ in range(3):
            began = time.perf_counter()
            getattr(form, kind)(X)
            times.append(time.perf_counter() - began)
        found.append({"reason": kind, "us_a_row": 1e6 * min(times) / rows})
    return pd.DataFrame(found).assign(rows=rows, columns=columns)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.alarms",
        description="The promises of conformal alarms over simulated splits.",
    )
    parser.add_argument("--splits", type=int, default=1000, help="for each detector")
    parser.add_argument(
        "--out", type=Path, default=RESULTS, metavar="FOLDER", help="for the CSV files"
    )
    options = parser.parse_args(arguments)
    if options.splits < 2:
        parser.error(f"--splits must be at least 2, found {options.splits}")
    runs = [(name, one, "split") for name, one in contenders().items()]
    runs += [
        (name, contenders()[name], method)
        for method in ("cross", "jackknife+")
        for name in OTHER_METHODS
    ]
    options.out.mkdir(parents=True, exist_ok=True)
    table = []
    with threadpool_limits(1):
        _write(reasons(), options.out / "alarms_reasons.csv")
        for run in runs:
            began = time.perf_counter()
            table += summarise(simulate(*run, options.splits))
            print(
                f"{run[0]}, {run[2]}: {time.perf_counter() - began:.1f} s", flush=True
            )
    _write(pd.DataFrame(table), options.out / "alarms.csv")


def _write(table, path):
    print(table.to_string(index=False, float_format=lambda value: f"{value:.4g}"))
    table.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")


if __name__ == "__main__":
    main()
