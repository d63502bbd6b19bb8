"""Pytest plugins: measure the tests on the module as it is; run the quick ones alone.

With the kernels as plain Python a large cloud takes minutes. A test that takes longer
than `SLOW`, or that fails so, is left out; it runs compiled in `make test`. With a
fault, a test that takes longer than `ENDLESS` has found it.
"""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

SLOW = 1.5
"""Seconds of CPU that a test may take."""
ENDLESS = 16.0
"""Seconds of CPU after which a mutant's loop is taken for one that does not end."""


class TooSlow(BaseException):
    """Ends a test that takes too long; nothing that catches exceptions catches it."""


def _stop(signum, frame):
    raise TooSlow


class Watch:
    """End a test that takes longer than so many seconds of CPU."""

    def __init__(self, limit):
        self.limit = limit
        signal.signal(signal.SIGVTALRM, _stop)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        """Run a test under the watch."""
        signal.setitimer(signal.ITIMER_VIRTUAL, self.limit)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)


class Measuring(Watch):
    """Write the tests that pass in time, quickest first, one a line."""

    def __init__(self, file):
        super().__init__(SLOW)
        self.file = Path(file)
        self.seconds = {}
        self.left_out = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        """Time a test with its fixtures."""
        begun = time.process_time()
        result = yield
        if item.nodeid not in self.left_out:
            self.seconds[item.nodeid] = time.process_time() - begun
        return result

    def pytest_runtest_logreport(self, report):
        """Leave out what did not pass."""
        if not report.passed:
            self.left_out.append(report.nodeid)

    def pytest_sessionfinish(self):
        """Write the choice."""
        quick = sorted(self.seconds, key=self.seconds.get)
        self.file.write_text("\n".join(quick), encoding="utf-8")
        self.file.with_suffix(".out").write_text("\n".join(self.left_out))


class Choosing(Watch):
    """Run the chosen tests, in their order, and note the one that fails."""

    def __init__(self, chosen, file):
        super().__init__(ENDLESS)
        self.rank = {name: at for at, name in enumerate(chosen)}
        self.file = Path(file)

    def pytest_collection_modifyitems(self, items):
        """Keep the chosen tests."""
        items[:] = sorted(
            (item for item in items if item.nodeid in self.rank),
            key=lambda item: self.rank[item.nodeid],
        )

    def pytest_runtest_logreport(self, report):
        """Write down what failed."""
        if report.failed:
            self.file.write_text(report.nodeid, encoding="utf-8")
