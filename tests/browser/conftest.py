"""A headless Chromium for the tests; `make test-browser` runs them."""

import os

import pytest

from mebnb.report.printing import find_browser


@pytest.fixture(scope="session")
def chromium():
    """A running browser of this machine, without its sandbox where root starts it."""
    from playwright.sync_api import sync_playwright

    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_browser(), args=["--no-sandbox"] if root else []
        )
        yield browser
        browser.close()
