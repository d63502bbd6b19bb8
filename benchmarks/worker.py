"""Measure one solver on one cloud: `python -m benchmarks.worker SOLVER POINTS REPEATS`.

Runs in any environment that has NumPy and the solver. Writes events to its standard
output; see `benchmarks.limits`.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import json
import math
import os
import resource
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.limits import CALL_SECONDS, MEMORY_BYTES, REPEAT_SECONDS
from benchmarks.solvers import GAP, by_name, farthest_distance

__all__ = ["main", "measure"]

# Calls are repeated until they have taken this long together and are at least three.
ENOUGH_SECONDS, ENOUGH_CALLS = 0.3, 3
# A second call this long is a timing of its own; a slow solver is not called again.
SLOW_SECONDS = 1.0


def measure(call, points, repeats, tell, product=None):
    """Call a solver again and again and tell of each stage.

    Parameters
    ----------
    call : callable
        points -> Answer.
    points : ndarray, shape (m, n)
    repeats : int
        Most timed calls.
    tell : callable
        (event, **values).
    product : callable or None
        Timed after the calls, as often: one matrix-vector product over the same data.

    Returns
    -------
    Answer
        Of the last call.

    Raises
    ------
    TimeoutError
        When a repeated call is over the limit of one call.
    """
    tell("ready")
    answer, _ = _timed(call, points)
    tell("first")
    before = _start_of_peak()
    answer, seconds = _timed(call, points)
    extra = _peak() - before
    tell("second", extra_bytes=extra)

    times, products = [], []
    if seconds > SLOW_SECONDS:
        times.append(seconds)
    limit = time.perf_counter() + REPEAT_SECONDS
    while len(times) < repeats and not _enough(times, limit):
        answer, seconds = _timed(call, points)
        times.append(seconds)
    while product is not None and len(products) < max(len(times), ENOUGH_CALLS):
        products.append(_timed(product, points)[1])
    if max(times) > CALL_SECONDS:
        raise TimeoutError(f"a call took {max(times):.1f} s")
    tell("timed", times=times, products=products)
    return answer


def _enough(times, limit):
    if time.perf_counter() > limit or (times and times[0] > SLOW_SECONDS):
        return bool(times)
    return len(times) >= ENOUGH_CALLS and sum(times) >= ENOUGH_SECONDS


def _timed(call, points):
    began = time.perf_counter()
    result = call(points)
    return result, time.perf_counter() - began


# --- memory ------------------------------------------------------------------------


def _start_of_peak():
    """Give free pages back, forget the peak, return the resident size."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
    except (OSError, AttributeError):
        return math.nan
    return _status("VmRSS")


def _peak():
    return _status("VmHWM")


def _status(field):
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return 1024 * int(line.split()[1])
    except OSError:
        pass
    return math.nan


# --- the check of an answer --------------------------------------------------------


def checked(answer, points):
    """What the answer is worth, from the points alone.

    Returns
    -------
    dict
        radius (as given), enclosing (the farthest point from the given center), and
        for ours lower_bound, verified and passes.
    """
    values = {
        "radius": float(answer.radius),
        "enclosing": farthest_distance(points, answer.center),
    }
    if answer.solution is not None:
        from mebnb import verify

        certificate = verify(points, answer.solution, rtol=GAP)
        values |= {
            "lower_bound": certificate.lower_bound,
            "verified": certificate.passed,
            "passes": float(answer.solution.passes),
            "support": int(answer.solution.support.size),
        }
    return values


# --- the process -------------------------------------------------------------------


def main(arguments):
    name, path, repeats = arguments[0], arguments[1], int(arguments[2])
    tell = _teller()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    solver = by_name(name)
    try:
        points = np.load(path)
        if solver.prepare is not None:
            solver.prepare(points.shape[1])
        call = solver.load()
    except Exception as error:  # not installed, or built for another NumPy
        tell("failed", status="missing", note=_reason(error))
        return
    try:
        vector = np.ones(points.shape[1])
        product = (lambda data: data @ vector) if solver.ours else None
        answer = measure(call, points, repeats, tell, product)
        own = solver.version or (lambda: importlib.metadata.version(solver.package))
        tell("done", version=own(), **checked(answer, points))
    except TimeoutError as error:
        tell("failed", status="time", note=str(error))
    except MemoryError:
        note = f"more than {MEMORY_BYTES / 2**30:g} GiB asked for"
        tell("failed", status="memory", note=note)
    except Exception as error:  # whatever a solver raises is its result
        tell("failed", status="error", note=_reason(error))


def _teller():
    """Events go to the standard output, and nothing that a solver prints does."""
    channel = os.fdopen(os.dup(1), "w")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)

    def tell(event, **values):
        print(json.dumps({"event": event, **values}), file=channel, flush=True)

    return tell


def _reason(error):
    """First line of an error, without a path of this machine."""
    first = (str(error).splitlines() or [""])[0]
    words = [word for word in first.split() if os.sep not in word]
    return f"{type(error).__name__}: {' '.join(words)}"[:100]


if __name__ == "__main__":
    main(sys.argv[1:])
