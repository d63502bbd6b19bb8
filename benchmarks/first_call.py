"""What the first ball costs where nothing is compiled yet: `python -m benchmarks.first_call`.

CPU seconds of a process of its own, whose folder of compiled code is empty.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

MEASURE = """
import time
import numpy as np
points = np.random.default_rng(0).normal(size=(100, 3))
marks = [time.process_time()]
from mebnb import minimum_enclosing_ball
marks.append(time.process_time())
for _ in range(2):
    minimum_enclosing_ball(points)
    marks.append(time.process_time())
for name, start, end in zip(("import", "first ball", "second ball"), marks, marks[1:]):
    print(f"{name:12} {end - start:.6f} s")
"""


def main():
    """Print the CPU seconds of the import and of the first two balls."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        subprocess.run([sys.executable, "-c", MEASURE], env=environment, check=True)


if __name__ == "__main__":
    main()
