"""Two workers beside one, and the plain pass beside both: `python -m benchmarks.workers`.

Shapes of many rows, and one of many columns. The plain pass reads every row once and
measures its distance from a fixed center: what it gains from a second thread is what
the memory allows, and what a ball takes in multiples of it says how often the data are
read. All calls take turns in one process, and the least time of each counts. Writes
workers.csv and workers_machine.csv.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.machine import describe

__all__ = ["SHAPES", "compare", "main"]

RESULTS = Path(__file__).with_name("results")
SHAPES = ((1_000_000, 10), (1_000_000, 100), (10_000_000, 3), (100_000, 1000))
WORKERS = (1, 2)
GAIN, MOST_PASSES, ALLOWED = 1.6, 2.5, 0.9


def compare(m, n, repeats):
    """One row of the table: a shape, all calls in turn.

    Parameters
    ----------
    m, n : int
    repeats : int
        Timed calls of each, after one that is not timed.

    Returns
    -------
    dict
    """
    from mebnb import minimum_enclosing_ball
    from mebnb.solvers.passes import Rows, farthest_rows

    points = np.random.default_rng([20080101, m, n]).standard_normal((m, n))
    center = np.zeros(n)

    def plain(workers):
        return farthest_rows(Rows(points, workers), center, 1.0, 1, math.inf)

    def ball(workers):
        return minimum_enclosing_ball(points, workers=workers)

    calls = [(call, workers) for call in (ball, plain) for workers in WORKERS]
    one, two, *_ = [call(workers) for call, workers in calls]
    times = np.array(
        [[seconds(call, workers) for call, workers in calls] for _ in range(repeats)]
    )
    ball_1, ball_2, pass_1, pass_2 = (times.min(axis=0) * 1e3).tolist()
    return {
        "m": m,
        "n": n,
        "ball_1_ms": ball_1,
        "ball_2_ms": ball_2,
        "pass_1_ms": pass_1,
        "pass_2_ms": pass_2,
        "ball_gain": ball_1 / ball_2,
        "pass_gain": pass_1 / pass_2,
        "passes_read": one.passes,
        "passes_time_1": ball_1 / pass_1,
        "passes_time_2": ball_2 / pass_2,
        "same_bits": bool(
            np.array_equal(one.center, two.center) and one.radius == two.radius
        ),
    }


def seconds(call, workers):
    """How long a call takes, without what it returns."""
    began = time.perf_counter()
    call(workers)
    return time.perf_counter() - began


def verdicts(table):
    """Sentences about each shape: what was asked for, and whether it was found."""
    for row in table.itertuples():
        allowed = min(GAIN, ALLOWED * row.pass_gain)
        shape = f"{row.m} x {row.n}"
        yield (
            f"{_word(row.ball_gain >= allowed):<8} {shape}: two workers {row.ball_gain:.2f}"
            f" times as fast as one, the plain pass {row.pass_gain:.2f}"
        )
        yield (
            f"{_word(row.passes_time_2 <= MOST_PASSES):<8} {shape}: the time of "
            f"{row.passes_time_2:.2f} plain passes, at most {MOST_PASSES:g}"
        )


def _word(found):
    return "met" if found else "NOT MET"


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.workers",
        description="Two workers beside one, and the plain pass beside both.",
    )
    parser.add_argument("--repeats", type=int, default=9, help="timed calls of each")
    parser.add_argument(
        "--out", type=Path, default=RESULTS, metavar="FOLDER", help="for the CSV files"
    )
    options = parser.parse_args(arguments)
    if options.repeats < 1:
        parser.error(f"--repeats must be at least 1, found {options.repeats}")
    machine = describe() | {"threads": "1 and 2"}
    rows = []
    for m, n in SHAPES:
        rows.append(compare(m, n, options.repeats))
        print(f"{m} x {n} measured", flush=True)
    table = pd.DataFrame(rows)
    print(table.to_string(index=False, float_format=lambda value: f"{value:.3g}"))
    machine["load_average_at_end"] = f"{os.getloadavg()[0]:.2f}"
    options.out.mkdir(parents=True, exist_ok=True)
    for name, frame in (
        ("workers", table),
        ("workers_machine", pd.Series(machine, name="value").rename_axis("fact")),
    ):
        frame.to_csv(
            options.out / f"{name}.csv",
            index=name.endswith("machine"),
            float_format="%.6g",
            lineterminator="\n",
        )
    print(*verdicts(table), sep="\n")


if __name__ == "__main__":
    main()
