"""The machine that a run was made on, without its name and without a path."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import threadpoolctl

from mebnb.report.machine import describe_machine

__all__ = ["describe"]

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("mebnb", "numpy", "scipy", "numba", "pandas", "scikit-learn")


def describe():
    """What a reader needs to judge the times.

    Returns
    -------
    dict of str to str
        In the order in which it is written.
    """
    import numpy  # noqa: F401  (so that its BLAS is loaded and can be asked)

    blas = next(
        (b for b in threadpoolctl.threadpool_info() if b["user_api"] == "blas"), {}
    )
    facts = {
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "commit": _commit(),
        **describe_machine(),
        "load_average_at_start": f"{os.getloadavg()[0]:.2f}",
        "threads": "1",
        "blas": " ".join(
            str(blas.get(key, ""))
            for key in ("internal_api", "version", "architecture")
        ),
        "python": platform.python_version(),
    }
    return facts | {name: importlib.metadata.version(name) for name in PACKAGES}


def _commit():
    """The commit, marked when the tree differs from it; empty outside of a clone."""
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--dirty"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return described.stdout.strip()
