"""Measure the grid: `python -m benchmarks.run [--cases GLOB] [--solvers GLOB] ...`.

Each cloud is written to a file once and read by a process for each solver, one process
at a time, one thread each. A process may take 10 s a call and 12 GiB; a solver whose
matrix would exceed 4 GiB is not started. Where a peer comes near, it and ours take turns
three times. Writes grid.csv and machine.csv into the folder of --out and prints the table
and, at the end, each bound with what was found.
"""

from __future__ import annotations

import argparse
import math
import os
import signal
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.cases import CASES, NotHere, select
from benchmarks.limits import MATRIX_BYTES, Outcome, watch
from benchmarks.machine import describe
from benchmarks.peers_environment import ROOT, PeersMissing, peers_python
from benchmarks.solvers import SOLVERS
from benchmarks.verdicts import OURS, check_bounds, judge

__all__ = ["main", "measure_case"]

RESULTS = Path(__file__).with_name("results")

# Solvers that are at most so many times slower than ours are measured in so many runs.
CLOSE, RUNS = 3.0, 3

COLUMNS = {
    "case": "case",
    "solver": "solver",
    "status": "status",
    "median_ms": "median ms",
    "min_ms": "min ms",
    "ratio": "ratio",
    "radius_error": "error",
    "inside": "inside",
    "extra_mib": "extra MiB",
    "passes": "passes",
    "product_ms": "A v ms",
    "note": "note",
}
"""Columns of the printed table and their headings."""

LAYOUT = (
    *((22, True), (24, True), (11, True)),
    *((11, False), (9, False), (8, False), (8, False), (8, False)),
    *((11, False), (9, False), (9, False), (0, True)),
)
"""Width of each printed column, and whether it is set to the left."""

WRITTEN = (
    *("case", "kind", "m", "n", "solver", "ours", "version", "status", "note"),
    *("median_ms", "min_ms", "repeats", "runs", "ratio", "worst_ratio"),
    *("radius", "enclosing"),
    *("best_lower_bound", "radius_error", "outside", "inside", "gap", "support"),
    *("extra_mib", "passes", "product_ms"),
)
"""Columns of grid.csv."""


# --- measuring ---------------------------------------------------------------------


def measure_case(case, solvers, repeats, folder, start, late):
    """Measure every solver on one cloud.

    Parameters
    ----------
    case : Case
    solvers : list of Solver
    repeats : int
    folder : path
        Where the points are kept meanwhile.
    start : callable
        (solver, path, repeats) -> Outcome: run the worker.
    late : dict
        Solver name -> cases on which it ran out of time; extended here.

    Returns
    -------
    list of dict
        A row for each solver.

    Raises
    ------
    NotHere
        When the data of the case are not on this machine.
    """
    path = Path(folder) / "points.npy"
    np.save(path, case.points())
    outcomes = {}
    for solver in solvers:
        outcome = not_started(case, solver, late) or start(solver, path, repeats)
        if outcome.status == "time":
            late.setdefault(solver.name, []).append(case)
        outcomes[solver.name] = [outcome]
    close = _close(outcomes)
    for _ in range(RUNS - 1):
        for solver in solvers:
            if solver.name in close:
                outcomes[solver.name].append(start(solver, path, repeats))
    path.unlink()
    return [_row(case, solver, outcomes[solver.name]) for solver in solvers]


def _close(outcomes):
    """Names of ours and of the peers that come near it, if any does."""
    times = {
        name: np.median(runs[0].values["times"])
        for name, runs in outcomes.items()
        if runs[0].status == "done"
    }
    if OURS not in times:
        return set()
    close = {name for name, time in times.items() if time <= CLOSE * times[OURS]}
    return close if len(close) > 1 else set()


def not_started(case, solver, late):
    """The outcome of a solver that need not or must not be started, else None."""
    size = solver.matrix_bytes(case.m, case.n)
    if size > MATRIX_BYTES:
        note = f"not started: a matrix of {size / 2**30:.0f} GiB"
        return Outcome("matrix", note, {})
    if not solver.always:
        for smaller in late.get(solver.name, ()):
            if smaller.within(case):
                note = f"not started: out of time at {smaller.name}"
                return Outcome("time", note, {})
    return None


def _row(case, solver, runs):
    outcome, values = runs[0], runs[0].values
    times = [1e3 * np.array(run.values.get("times", [math.nan])) for run in runs]
    run_ms = [float(np.median(each)) for each in times]
    products = 1e3 * np.array(values.get("products") or [math.nan])
    lower_bound = values.get("lower_bound", math.nan)
    extra = values.get("extra_bytes", math.nan)
    largest = max(values.get("radius", math.nan), values.get("enclosing", math.nan))
    return {
        "case": case.name,
        "kind": case.kind,
        "m": case.m,
        "n": case.n,
        "solver": solver.name,
        "ours": solver.ours,
        "version": values.get("version", ""),
        "status": outcome.status,
        "note": outcome.note,
        "median_ms": float(np.median(run_ms)),
        "min_ms": float(min(map(min, times))),
        "run_ms": run_ms,
        "runs": len(runs),
        "repeats": len(values.get("times", ())),
        "radius": values.get("radius", math.nan),
        "enclosing": values.get("enclosing", math.nan),
        "lower_bound": lower_bound,
        "verified": values.get("verified"),
        "gap": largest / lower_bound - 1.0 if lower_bound else math.nan,
        "support": values.get("support"),
        "extra_bytes": extra,
        "extra_mib": extra / 2**20,
        "passes": values.get("passes", math.nan),
        "product_ms": float(np.median(products)),
    }


def _starter(solvers):
    """Function that runs a worker, in the environment that the solver needs."""
    pythons, reason = {"main": sys.executable}, ""
    if any(solver.environment == "peers" for solver in solvers):
        try:
            pythons["peers"] = str(peers_python())
        except PeersMissing as error:
            reason = str(error)
            print(reason, file=sys.stderr)

    def start(solver, path, repeats, **limits):
        if solver.environment not in pythons:
            return Outcome("missing", reason, {})
        command = [pythons[solver.environment], "-m", "benchmarks.worker"]
        return watch([*command, solver.name, str(path), str(repeats)], ROOT, **limits)

    return start


def _compile(solvers, folder, start):
    """Let our solvers fill their cache of compiled code, outside of any limit."""
    rng = np.random.default_rng(0)
    path = Path(folder) / "warm.npy"
    for shape in ((500, 3), (100, 200), (300_000, 4)):
        np.save(path, rng.standard_normal(shape))
        for solver in solvers:
            if solver.ours:
                start(solver, path, 1, call_seconds=300.0)
    path.unlink()


# --- the table ---------------------------------------------------------------------


def lines_of(table):
    """Lines of text of judged rows, for reading while the run goes on."""
    shown = table[list(COLUMNS)].copy()
    shown["inside"] = shown["inside"].map({True: "yes", False: "no"}).fillna("")
    for column, form in (
        ("median_ms", "{:.3g}"),
        ("min_ms", "{:.3g}"),
        ("ratio", "{:.2f}"),
        ("radius_error", "{:.0e}"),
        ("extra_mib", "{:.1f}"),
        ("passes", "{:.2f}"),
        ("product_ms", "{:.3g}"),
    ):
        shown[column] = [
            "" if pd.isna(value) else form.format(value) for value in shown[column]
        ]
    rows = [tuple(COLUMNS.values()), *shown.itertuples(index=False)]
    return ["".join(map(_cell, row, LAYOUT)).rstrip() for row in rows]


def _cell(text, layout):
    width, left = layout
    return f"{text:<{width}}" if left else f"{text:>{width - 2}}  "


def write(table, machine, folder):
    """Write grid.csv and machine.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    table[list(WRITTEN)].to_csv(
        folder / "grid.csv", index=False, float_format="%.17g", lineterminator="\n"
    )
    pd.Series(machine).rename_axis("fact").rename("value").to_csv(
        folder / "machine.csv", lineterminator="\n"
    )


# --- the command -------------------------------------------------------------------


def main(arguments=None):
    options = _options(arguments)
    cases, solvers = select(CASES, options.cases), select(SOLVERS, options.solvers)
    if not cases or not solvers:
        sys.exit(f"No case matches {options.cases!r} or no solver {options.solvers!r}.")
    folder = options.out
    if folder is None and (len(cases), len(solvers)) == (len(CASES), len(SOLVERS)):
        folder = RESULTS
    # Ended from outside, the run takes its worker and its scratch files with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    machine = describe()
    print("\n".join(f"{fact}: {value}" for fact, value in machine.items()), flush=True)
    start = _starter(solvers)
    rows, late, skipped = [], {}, []
    with tempfile.TemporaryDirectory() as scratch:
        _compile(solvers, scratch, start)
        for case in cases:
            try:
                found = measure_case(
                    case, solvers, options.repeats, scratch, start, late
                )
            except NotHere as reason:
                skipped.append(f"{case.name} skipped: {reason}")
                continue
            rows += found
            heading = 0 if case is cases[0] else 1
            judged = judge(pd.DataFrame(found))
            print("\n".join(lines_of(judged)[heading:]), flush=True)
    if not rows:
        sys.exit("\n".join(skipped))
    table = judge(pd.DataFrame(rows))
    machine["load_average_at_end"] = f"{os.getloadavg()[0]:.2f}"
    if folder is not None:
        write(table, machine, folder)
    print("", *check_bounds(table), *skipped, sep="\n")


def _options(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.run", description=__doc__.split("\n")[0]
    )
    parser.add_argument(
        "--cases", default="*", metavar="GLOB", help="clouds, as 'normal:1000x*,cube:*'"
    )
    parser.add_argument("--solvers", default="*", metavar="GLOB", help="solvers")
    parser.add_argument(
        "--repeats", type=int, default=10_000, help="most timed calls (default 10000)"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="where the CSV files go; by default benchmarks/results for the whole "
        "grid, nowhere for a part of it",
    )
    options = parser.parse_args(arguments)
    if options.repeats < 1:
        parser.error(f"--repeats must be at least 1, found {options.repeats}")
    return options


if __name__ == "__main__":
    main()
