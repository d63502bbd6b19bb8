"""What the first ball costs where nothing is compiled yet: `python -m benchmarks.first_call`.

CPU seconds of a process of its own, whose folder of compiled code is empty, and of one
after it: the least of some turns, as a machine's speed wanders. Writes first_call.csv.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

RESULTS = Path(__file__).with_name("results")
STEPS = ("import", "first ball", "second ball")
STATES = ("nothing compiled yet", "compiled before")
TURNS = 7

MEASURE = """
import json
import time
import numpy as np
points = np.random.default_rng(0).normal(size=(100, 3))
marks = [time.process_time()]
from mebnb import minimum_enclosing_ball
marks.append(time.process_time())
for _ in range(2):
    minimum_enclosing_ball(points)
    marks.append(time.process_time())
print(json.dumps([end - start for start, end in zip(marks, marks[1:])]))
"""


def measure():
    """CPU seconds of the import and the first two balls: compiling, and compiled."""
    turns = [one_turn() for _ in range(TURNS)]
    least = pd.concat(turns).groupby("process", sort=False).min()
    return least.reset_index()


def one_turn():
    """A process with an empty folder of compiled code, and one after it."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        for state in STATES:
            done = subprocess.run(
                [sys.executable, "-c", MEASURE],
                env=environment,
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            )
            seconds = dict(zip(STEPS, json.loads(done.stdout), strict=True))
            rows.append({"process": state, **seconds})
    return pd.DataFrame(rows)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.first_call",
        description="CPU seconds of the first ball where nothing is compiled yet.",
    )
    parser.add_argument(
        "--out", type=Path, default=RESULTS, metavar="FOLDER", help="for the CSV file"
    )
    options = parser.parse_args(arguments)
    table = measure()
    print(table.to_string(index=False))
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "first_call.csv"
    table.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")


if __name__ == "__main__":
    main()
