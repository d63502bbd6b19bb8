"""JupyterLab on the notebooks: opened, Run All Cells, and looked at."""

import contextlib
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import nbformat
import pytest
from formulas import written_formulas
from playwright.sync_api import TimeoutError

from mebnb.report.notebooks import notebooks_folder

pytestmark = pytest.mark.browser

TOKEN = "a-test-on-this-machine"
PATIENCE = 120_000  # milliseconds
RUN_ALL = re.compile(r"^Run All Cells$")


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The address of a JupyterLab on a copy of the notebooks."""
    root = tmp_path_factory.mktemp("lab")
    shutil.copytree(notebooks_folder(), root / "notebooks")
    for path in (root / "notebooks").glob("*.ipynb"):
        _forget_outputs(path)  # what is seen later must come from a run
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        *("--ip=127.0.0.1", f"--port={port}", f"--IdentityProvider.token={TOKEN}"),
        f"--ServerApp.root_dir={root}",
        f"--LabApp.user_settings_dir={root / 'settings'}",
        f"--LabApp.workspaces_dir={root / 'workspaces'}",
        "--LabApp.news_url=",
    ]
    with open(root / "log.txt", "w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(120):
            try:
                urllib.request.urlopen(f"{address}/api", timeout=5)
                break
            except OSError:
                assert server.poll() is None, (root / "log.txt").read_text()
                time.sleep(0.5)
        yield address
    finally:
        server.terminate()
        server.wait(timeout=30)


def _run_all(page):
    """Run All Cells; once more where the kernel was not up yet and nothing came of it."""
    page.locator("#jp-main-statusbar").get_by_text("Idle").first.wait_for(
        timeout=PATIENCE
    )
    begun = "[...document.querySelectorAll('.jp-InputPrompt')].some("
    begun += "e => /\\[(\\*|\\d+)\\]/.test(e.textContent))"
    for _ in range(4):
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.locator(".lm-Menu-itemLabel").get_by_text(RUN_ALL).click()
        with contextlib.suppress(TimeoutError):
            page.wait_for_function(begun, timeout=PATIENCE / 8)
            return
    raise AssertionError("Run All Cells did not begin")


def _forget_outputs(path):
    notebook = nbformat.read(path, 4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nbformat.write(notebook, path)


@pytest.mark.parametrize("name", ["00_overview", "09_breast_cancer"])
def test_run_all_cells_shows_what_is_stored(lab, chromium, name):
    stored = nbformat.read(notebooks_folder() / f"{name}.ipynb", 4)
    code = [cell for cell in stored.cells if cell.cell_type == "code"]
    pictures = sum(
        "image/png" in output.get("data", {})
        for cell in code
        for output in cell.outputs
    )
    context = chromium.new_context(viewport={"width": 1280, "height": 1000})
    page = context.new_page()
    asked, complaints = [], []
    page.on("request", lambda sent: asked.append(sent.url))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{lab}/lab/workspaces/{name}/tree/notebooks/{name}.ipynb?token={TOKEN}")
    page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=PATIENCE)
    idle = page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]')
    idle.first.wait_for(state="attached", timeout=PATIENCE)

    assert page.locator(".jp-Notebook .jp-OutputArea-output").count() == 0
    _run_all(page)

    prompts = page.locator(".jp-Notebook .jp-CodeCell .jp-InputPrompt")
    page.wait_for_function(
        "count => { const all = [...document.querySelectorAll("
        "'.jp-Notebook .jp-CodeCell .jp-InputPrompt')].map(e => e.textContent);"
        " return all.length >= count && all.every(t => /^\\[\\d+\\]:?$/.test(t.trim())); }",
        arg=len(code),
        timeout=PATIENCE,
    )
    assert [int(re.sub(r"\D", "", t)) for t in prompts.all_text_contents()] == list(
        range(1, len(code) + 1)
    )
    errors = page.locator(
        '.jp-Notebook [data-mime-type="application/vnd.jupyter.error"]'
    )
    assert errors.count() == 0
    assert page.locator(".jp-Notebook .jp-OutputArea img").count() == pictures
    formulas = page.locator(".jp-Notebook .jp-MarkdownCell mjx-container").count()
    assert formulas >= written_formulas(stored, outputs=False) > 0
    assert page.locator(".jp-Notebook mjx-merror").count() == 0
    assert [url for url in asked if not url.startswith((lab, "data:", "blob:"))] == []
    assert complaints == []
    context.close()
