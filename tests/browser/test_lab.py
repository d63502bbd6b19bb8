"""JupyterLab on the notebooks: opened, Run All Cells, and looked at."""

import base64
import contextlib
import os
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
from payloads import PAYLOADS, PIXEL, SECRET, write_csv
from playwright.sync_api import TimeoutError

from mebnb.cli import main
from mebnb.report.notebooks import notebooks_folder, read_notebook

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("lab")]

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
        server = subprocess.Popen(
            command, stdout=log, stderr=log, env=os.environ | trust_of(root)
        )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(120):
            try:
                urllib.request.urlopen(f"{address}/api", timeout=5)
                break
            except OSError:
                assert server.poll() is None, (root / "log.txt").read_text()
                time.sleep(0.5)
        yield address, root
    finally:
        server.terminate()
        try:
            server.wait(timeout=30)
        except subprocess.TimeoutExpired:  # its kernels end slowly on a busy machine
            server.kill()


def trust_of(root):
    """Variables under which notebooks are trusted: a list beside them, not the user's."""
    return {"JUPYTER_DATA_DIR": str(root / "data")}


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


def figures_of(path):
    cells = nbformat.read(path, 4).cells
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    return sum("image/png" in output.get("data", {}) for output in outputs)


@pytest.mark.parametrize("name", ["00_overview", "09_breast_cancer"])
def test_run_all_cells_shows_what_is_stored(lab, chromium, name):
    lab, _ = lab
    stored = nbformat.read(notebooks_folder() / f"{name}.ipynb", 4)
    code = [cell for cell in stored.cells if cell.cell_type == "code"]
    pictures = figures_of(notebooks_folder() / f"{name}.ipynb")
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


# --- a stranger's file ----------------------------------------------------------------

HOSTILE = "<img src=x onerror=alert(1)> $\\frac{1}{$.csv"
OUTPUTS = ".jp-Notebook .jp-OutputArea-output"
HARMS = ("evil.example", SECRET, "hostname", "onerror", "javascript:")


@pytest.fixture(scope="module")
def hostile(lab, tmp_path_factory):
    """Notebook 18 executed on a hostile file, in the folder of the JupyterLab."""
    _, root = lab
    folder = root / "hostile"
    folder.mkdir()
    (folder / SECRET).write_bytes(base64.b64decode(PIXEL))
    words = PAYLOADS[::2]
    given = write_csv(folder / HOSTILE, words)
    given |= {"path": HOSTILE, "top": "100", "sample": "100", "honest_splits": "2"}
    asked = [word for item in given.items() for word in ("-p", *item)]
    with contextlib.chdir(folder):
        assert main(["run", "18", *asked, "-o", "18.ipynb"]) == 0
    return folder / "18.ipynb", words


def watched(chromium, lab, did):
    """A page that notes in `did` what a stranger's words must not bring about."""
    page = chromium.new_context(viewport={"width": 1280, "height": 1000}).new_page()
    page.on("dialog", lambda dialog: (did.append("dialog"), dialog.dismiss()))
    page.on("popup", lambda opened: did.append(f"popup {opened.url}"))
    page.on("pageerror", lambda error: did.append(f"error: {error}"))

    def asked(sent):
        elsewhere = not sent.url.startswith((lab, "data:", "blob:"))
        if elsewhere or any(word in sent.url for word in HARMS):
            did.append(f"asked {sent.url}")

    page.on("request", asked)
    return page


def open_hostile(page, lab, path, as_often):
    page.goto(
        f"{lab}/lab/workspaces/hostile-{as_often}/tree/hostile/{path.name}?token={TOKEN}"
    )
    shown = sum(
        len(cell.outputs)
        for cell in read_notebook(path).cells
        if cell.cell_type == "code"
    )
    page.wait_for_function(
        f"count => document.querySelectorAll('{OUTPUTS}').length >= count",
        arg=shown,
        timeout=PATIENCE,
    )


def look_over(page, did, words, figures):
    """Lay out every cell, click what was shown, and note in `did` what came of it."""
    page.add_style_tag(content="* { content-visibility: visible !important; }")
    page.evaluate(
        f"document.querySelectorAll('{OUTPUTS} :not(a):not(a *)')"
        ".forEach(e => e.click && e.click())"
    )
    if page.evaluate("window.P") is not None:
        did.append("ran a script")
    links = page.evaluate("[...document.links].map(a => a.protocol)")
    did += [f"links to {scheme}" for scheme in {*links} - {"http:", "https:"}]
    pictures = page.locator(f"{OUTPUTS} img").evaluate_all("all => all.map(e => e.src)")
    kinds = {source[:15] for source in pictures}  # a drawing where it is trusted
    if len(pictures) != figures or kinds - {"data:image/png;", "data:image/svg+"}:
        did.append(f"pictures {[source[:80] for source in pictures]}")
    did += [] if figures else ["no figure to look at"]
    did += ["a formula"] * page.locator(f"{OUTPUTS} mjx-container").count()
    told = " ".join(page.locator(OUTPUTS).all_inner_texts())
    seen = " ".join(told.replace("\\n", " ").split())
    did += [f"hides {w}" for w in words if " ".join(w.split())[:40] not in seen]


def test_a_strangers_words_do_nothing_in_lab(lab, chromium, hostile):
    (address, root), (path, words) = lab, hostile
    did = []
    page = watched(chromium, address, did)
    open_hostile(page, address, path, 1)  # not trusted: what JupyterLab lets through
    look_over(page, did, words, figures_of(path))
    assert did == []
    page.context.close()

    trust = [sys.executable, "-m", "jupyter", "trust", str(path)]
    subprocess.run(trust, check=True, env=os.environ | trust_of(root))
    page = watched(chromium, address, did)
    open_hostile(page, address, path, 2)
    look_over(page, did, words, figures_of(path))
    assert did == []

    _run_all(page)
    code = [cell for cell in read_notebook(path).cells if cell.cell_type == "code"]
    page.wait_for_function(
        "count => { const all = [...document.querySelectorAll("
        "'.jp-Notebook .jp-CodeCell .jp-InputPrompt')].map(e => e.textContent);"
        " return all.length >= count && all.every(t => /^\\[\\d+\\]:?$/.test(t.trim())); }",
        arg=len(code),
        timeout=PATIENCE,
    )
    look_over(page, did, words, figures_of(path))
    assert did == []
    page.context.close()
