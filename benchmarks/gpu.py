"""The ball of points in the memory of a CUDA card: `python -m benchmarks.gpu`.

A normal cloud of float32 is drawn on the card. Timed are the ball, and the plain pass
that reads every row once: what the card allows. Where the cloud has not many rows, the
ball of the same rows in the memory of the host stands beside it, and has to have the
same bits. The least time of each counts. Writes gpu.csv and gpu_machine.csv; needs CuPy
or PyTorch, and a card.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.machine import describe

__all__ = ["SHAPES", "card", "compare", "least_ms", "main"]

RESULTS = Path(__file__).with_name("results")
SHAPES = (
    *((10**6, 10), (10**7, 10), (10**8, 10), (10**9, 10)),
    *((10**6, 100), (10**7, 100), (10**6, 1000)),
)
# The host holds as many rows beside, at most so many entries.
ON_THE_HOST = 10**8


def compare(m, n, draw, repeats):
    """One row of the table.

    Parameters
    ----------
    m, n : int
    draw : callable
        m, n -> float32 array on the card, and its copy on the host for few entries.
    repeats : int
        Timed calls, after one that is not timed.

    Returns
    -------
    dict
    """
    from mebnb import minimum_enclosing_ball
    from mebnb.solvers.devices import DeviceRows
    from mebnb.solvers.passes import farthest_rows

    points, copied = draw(m, n)
    rows, center = DeviceRows(points), np.zeros(n)
    ball = minimum_enclosing_ball(points)
    plain_ms = least_ms(lambda: farthest_rows(rows, center, 1.0, 1, math.inf), repeats)
    ball_ms = least_ms(lambda: minimum_enclosing_ball(points), repeats)
    host_ms = same = None
    if copied is not None:
        here = minimum_enclosing_ball(copied)
        host_ms = least_ms(lambda: minimum_enclosing_ball(copied), repeats)
        same = bool(
            np.array_equal(here.center, ball.center) and here.radius == ball.radius
        )
    return {
        "m": m,
        "n": n,
        "plain_pass_ms": plain_ms,
        "gigabytes_a_second": 4 * m * n / plain_ms / 1e6,
        "ball_ms": ball_ms,
        "passes_read": ball.passes,
        "allowed_ms": 2 * ball.passes * plain_ms + 30,
        "support": ball.support.size,
        "relative_error": ball.relative_error,
        "host_ms": host_ms,
        "same_bits": same,
    }


def least_ms(call, repeats):
    """The least time of some calls, in milliseconds."""
    times = []
    for _ in range(repeats + 1):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times[1:]) * 1e3


def card():
    """The name of the card and what draws clouds on it, or None where there is none."""
    from numba import cuda

    if not cuda.is_available():
        return None
    draw = next(
        (
            draw
            for name, draw in (("cupy", _in_cupy), ("torch", _in_torch))
            if importlib.util.find_spec(name)
        ),
        None,
    )
    if draw is None:
        return None
    name = cuda.get_current_device().name
    return (name.decode() if isinstance(name, bytes) else str(name)), draw


def _in_cupy(m, n):
    import cupy

    points = cupy.random.default_rng(0).standard_normal((m, n), dtype=cupy.float32)
    return points, points.get() if m * n <= ON_THE_HOST else None


def _in_torch(m, n):
    import torch

    generator = torch.Generator(device="cuda").manual_seed(0)
    points = torch.empty((m, n), dtype=torch.float32, device="cuda")
    for rows in points.split(max(1, 10**8 // n)):
        rows.normal_(generator=generator)
    return points, points.cpu().numpy() if m * n <= ON_THE_HOST else None


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu",
        description="The ball of points in the memory of a CUDA card.",
    )
    parser.add_argument("--repeats", type=int, default=5, help="timed calls of each")
    parser.add_argument(
        "--out", type=Path, default=RESULTS, metavar="FOLDER", help="for the CSV files"
    )
    options = parser.parse_args(arguments)
    if options.repeats < 1:
        parser.error(f"--repeats must be at least 1, found {options.repeats}")
    found = card()
    if found is None:
        sys.exit(
            "no CUDA card was found that Numba and CuPy or PyTorch can use; nothing was "
            "measured and no file was written"
        )
    name, draw = found
    machine = describe() | {"card": name}
    rows = []
    for m, n in SHAPES:
        rows.append(compare(m, n, draw, options.repeats))
        print(f"{m} x {n} measured", flush=True)
    table = pd.DataFrame(rows)
    print(table.to_string(index=False, float_format=lambda value: f"{value:.3g}"))
    machine["load_average_at_end"] = f"{os.getloadavg()[0]:.2f}"
    options.out.mkdir(parents=True, exist_ok=True)
    facts = pd.Series(machine, name="value").rename_axis("fact")
    for name, frame in (("gpu", table), ("gpu_machine", facts)):
        frame.to_csv(
            options.out / f"{name}.csv",
            index=name.endswith("machine"),
            float_format="%.6g",
            lineterminator="\n",
        )


if __name__ == "__main__":
    main()
