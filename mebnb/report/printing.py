"""Print pages to PDF with a Chromium that is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from mebnb.report import ReportError
from mebnb.writing import write_file

BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
TIMEOUT = 120


def find_browser():
    """The path of an installed Chromium or Chrome.

    Raises
    ------
    ReportError
        When there is none.
    """
    for name in BROWSERS:
        found = shutil.which(name)
        if found:
            return found
    raise ReportError("--pdf needs Chromium or Google Chrome, and none is installed")


def print_pages(files, browser):
    """Write a PDF beside each HTML file.

    Returns
    -------
    list of Path

    Raises
    ------
    ReportError
        When the browser does not write one.
    """
    return [_print(Path(file).resolve(), browser) for file in files]


def _print(file, browser):
    target = file.with_suffix(".pdf")
    with tempfile.TemporaryDirectory(prefix="mebnb-") as profile:
        printed = Path(profile) / "page.pdf"
        command = [
            browser,
            "--headless",
            "--disable-gpu",
            "--disable-background-networking",
            "--no-pdf-header-footer",
            f"--user-data-dir={profile}",
            f"--print-to-pdf={printed}",
            file.as_uri(),
        ]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # Chromium refuses its sandbox to root
        try:
            subprocess.run(command, capture_output=True, timeout=TIMEOUT, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ReportError(f"{browser} did not print {file.name}: {error}") from None
        if not printed.exists():
            raise ReportError(f"{browser} did not print {file.name}")
        write_file(target, printed.read_bytes())
    return target
