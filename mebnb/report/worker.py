"""Run one notebook with papermill, in a process of its own.

Started as a script, so that nothing of the package is imported: reads the arguments
of `papermill.execute_notebook` as one line of JSON from standard input. When that
input ends, the process that asked for the run is gone, and so is the run.
Prints one line of JSON: null, or the error that no cell shows.
"""

import contextlib
import json
import os
import signal
import sys
import threading
import time


def stop_when_orphaned():
    """Stop this process, and through it the kernel, when standard input ends."""
    while os.read(0, 1):  # not through sys.stdin, whose lock would hang the exit
        pass
    os.kill(os.getpid(), signal.SIGTERM)  # nbclient shuts its kernel down
    time.sleep(5)
    os._exit(1)


def main():
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=stop_when_orphaned, daemon=True).start()
    answer = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        import papermill

        try:
            papermill.execute_notebook(**job)
            error = None
        except papermill.PapermillExecutionError:
            error = None  # the notebook holds it
        except Exception as problem:
            error = {"kind": type(problem).__name__, "message": str(problem)}
    print(json.dumps(error), file=answer, flush=True)


if __name__ == "__main__":
    main()
