"""The second environment, for peers that cannot live beside the others."""

from __future__ import annotations

import os
import subprocess
import venv
from pathlib import Path

__all__ = ["PeersMissing", "peers_python"]

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".venv" / "peers"
REQUIREMENTS = Path(__file__).with_name("peers.txt")
STAMP = FOLDER / ".installed"


class PeersMissing(RuntimeError):
    """The environment could not be made; one sentence says why."""


def peers_python():
    """Python of the environment of `peers.txt`, which is made when it is not there.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    PeersMissing
    """
    python = FOLDER / "bin" / "python"
    wanted = REQUIREMENTS.read_text(encoding="utf-8")
    if STAMP.is_file() and STAMP.read_text(encoding="utf-8") == wanted:
        return python
    venv.create(FOLDER, clear=True, with_pip=True)
    lines = [line for line in wanted.splitlines() if line and not line.startswith("#")]
    built = [line for line in lines if line.startswith(("cyminiball", "miniball"))]
    _install(python, [line for line in lines if line not in built])
    # Built with what was just installed, never taken from pip's cache: a wheel there
    # may have been built for another NumPy.
    _install(python, ["--no-build-isolation", "--no-cache-dir", *built])
    STAMP.write_text(wanted, encoding="utf-8")
    return python


def _install(python, arguments):
    command = [
        *(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
        *("--constraint", ROOT / "requirements.lock"),
        *arguments,
    ]
    finished = subprocess.run(
        command,
        env=os.environ | {"CYMINIBALL_CYTHONIZE": "1"},
        capture_output=True,
        text=True,
    )
    if finished.returncode:
        lines = [line for line in finished.stderr.splitlines() if "rror" in line]
        raise PeersMissing(
            "The environment for cyminiball and miniball could not be made (it needs "
            f"the package index and a C++ compiler): {lines[-1] if lines else '?'}"
        )
