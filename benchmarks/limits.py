"""One measurement in a process of its own, watched from outside.

The worker tells what it has reached by lines of JSON; each stage has its own time, so
that imports and checks are not charged to a solver. A worker that overstays is killed.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import time
from dataclasses import dataclass

__all__ = ["CALL_SECONDS", "MATRIX_BYTES", "MEMORY_BYTES", "Outcome", "watch"]

CALL_SECONDS = 10.0
MEMORY_BYTES = 12 * 1024**3
MATRIX_BYTES = 4 * 1024**3

# Imports, reading the points, and after the calls the check of the answer.
ASIDE_SECONDS = 180.0
# What the repeated calls may take together, beside the one that is running.
REPEAT_SECONDS = 5.0

ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMBA_NUM_THREADS",
        "RAYON_NUM_THREADS",
    ),
    "1",
)


@dataclass(frozen=True)
class Outcome:
    """How a measurement ended.

    Attributes
    ----------
    status : str
        "done", "time", "memory", "error" or "missing".
    note : str
        Why, when it is not done.
    values : dict
        What the worker measured, as far as it came.
    """

    status: str
    note: str
    values: dict


def watch(command, cwd=None, call_seconds=CALL_SECONDS, aside_seconds=ASIDE_SECONDS):
    """Run a worker and enforce the time of each stage.

    Stages are opened by the events "ready" (the first call begins), "first" (the
    second), "second" (the repeated calls) and "timed" (the check); "done" ends the
    measurement, "failed" carries a status and a note.

    Parameters
    ----------
    command : list of str
    call_seconds, aside_seconds : float
        What one call, and what everything else, may take.

    Returns
    -------
    Outcome
    """
    allowed = {
        "start": aside_seconds,
        "ready": call_seconds,
        "first": call_seconds,
        "second": call_seconds + REPEAT_SECONDS,
        "timed": aside_seconds,
    }
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=os.environ | ONE_THREAD,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    stage, values = "start", {}
    try:
        for event in _events(process.stdout, lambda: allowed[stage]):  # noqa: B023 (the stage of now)
            if event is None:
                over = stage in ("ready", "first", "second")
                what = "a call" if over else f"the stage after {stage!r}"
                return Outcome(
                    "time" if over else "error",
                    f"{what} took more than {allowed[stage]:g} s",
                    values,
                )
            stage = event.pop("event")
            values |= event
            if stage == "failed":
                return Outcome(values.pop("status"), values.pop("note"), values)
            if stage == "done":
                return Outcome("done", "", values)
        return Outcome(*_death(process.wait()), values)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _events(stream, allowance):
    """Events as they come; None when one has not come within its time."""
    pending = b""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        deadline = time.monotonic() + allowance()
        while True:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                yield None
                return
            chunk = os.read(stream.fileno(), 65536)
            if not chunk:
                return
            *lines, pending = (pending + chunk).split(b"\n")
            for line in lines:
                yield json.loads(line)
                deadline = time.monotonic() + allowance()


def _death(code):
    """What a worker that ended without a word died of."""
    # Compiled code that gets no memory aborts (6); the kernel kills with 9.
    if code in (-6, -9):
        return "memory", f"ended by signal {-code}, most likely for want of memory"
    if code < 0:
        return "error", f"ended by signal {-code}"
    return "error", f"ended with code {code}"
