"""Run tasks side by side; what one cannot keep, the others need not try."""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed, wait


class Interrupted(Exception):
    """The run was stopped before its end."""


def say(line):
    """Print a line at once, also into a file or a pipe."""
    print(line, flush=True)


def run_side_by_side(tasks, run, jobs, say):
    """Run tasks in threads and tell the outcome of each as it comes.

    Parameters
    ----------
    tasks : list
    run : callable
        (task, stop) -> a line of progress. `stop` is a threading.Event; when it is set
        the run ends early with `Interrupted`.
    jobs : int
        Tasks at the same time.
    say : callable
        Gets the lines, numbered.

    Returns
    -------
    list
        The tasks that Ctrl-C left undone, in their order.

    Raises
    ------
    Exception
        The first that `run` raises, after the runs under way have been stopped.
    """
    stop, numbers = threading.Event(), itertools.count(1)

    def start(task):
        if stop.is_set():
            raise Interrupted(task)
        try:
            return run(task, stop)
        except BaseException:
            stop.set()  # here, before this thread begins another
            raise

    def tell(future):
        left.discard(future)
        if not _undone(future):
            say(f"[{next(numbers)}/{len(tasks)}] {future.result()}")

    with ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(start, task): task for task in tasks}
        left = set(futures)
        try:
            for future in as_completed(futures):
                tell(future)
        except KeyboardInterrupt:
            stop.set()
            for future in wait(left).done:
                tell(future)
        except BaseException:
            stop.set()
            raise
    return [task for future, task in futures.items() if _undone(future)]


def _undone(future):
    return isinstance(future.exception(), Interrupted)
