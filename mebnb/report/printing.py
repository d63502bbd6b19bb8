"""Print HTML to PDF with a Chromium that is installed."""

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
    raise ReportError(
        "--pdf needs Chromium or Google Chrome, and none is installed; Debian has it as "
        "'apt-get install chromium', other systems at www.google.com/chrome"
    )


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
    targets = []
    for file in files:
        target = Path(file).resolve().with_suffix(".pdf")
        write_file(target, print_file(file, browser))
        targets.append(target)
    return targets


def print_file(file, browser, timeout=TIMEOUT):
    """The PDF of an HTML file.

    Parameters
    ----------
    file : path
    browser : path
        From `find_browser`.
    timeout : float
        Seconds.

    Returns
    -------
    bytes

    Raises
    ------
    ReportError
        When the browser does not write one.
    """
    file = Path(file).resolve()
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
            subprocess.run(command, capture_output=True, timeout=timeout, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ReportError(f"{browser} did not print {file.name}: {error}") from None
        if not printed.exists():
            raise ReportError(f"{browser} did not print {file.name}")
        return printed.read_bytes()
