"""Pytest plugins: measure the tests on the module as it is; run the quick ones alone.

With the kernels as plain Python a large cloud takes minutes. A test that takes longer
than `SLOW`, or that fails so, is left out; it runs compiled in `make test`.
"""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

SLOW = 1.0
"""Seconds of CPU that a test may take."""


class TooSlow(BaseException):
    """Ends a test that takes too long; nothing that catches exceptions catches it."""


def _stop(signum, frame):
    raise TooSlow


class Measuring:
    """Write the tests that pass in time, quickest first, one a line."""

    def __init__(self, file):
        self.file = Path(file)
        self.seconds = {}
        self.left_out = []
        signal.signal(signal.SIGVTALRM, _stop)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        """Time a test, and end it when it is slow."""
        signal.setitimer(signal.ITIMER_VIRTUAL, SLOW)
        begun = time.process_time()
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
            self.seconds[item.nodeid] = time.process_time() - begun

    def pytest_runtest_logreport(self, report):
        """Leave out what did not pass."""
        if not report.passed:
            self.seconds.pop(report.nodeid, None)
            self.left_out.append(report.nodeid)

    def pytest_sessionfinish(self):
        """Write the choice."""
        quick = sorted(self.seconds, key=self.seconds.get)
        self.file.write_text("\n".join(quick), encoding="utf-8")
        self.file.with_suffix(".out").write_text("\n".join(self.left_out))


class Choosing:
    """Run the chosen tests, in their order."""

    def __init__(self, chosen):
        self.rank = {name: at for at, name in enumerate(chosen)}

    def pytest_collection_modifyitems(self, items):
        """Keep the chosen tests."""
        items[:] = sorted(
            (item for item in items if item.nodeid in self.rank),
            key=lambda item: self.rank[item.nodeid],
        )
