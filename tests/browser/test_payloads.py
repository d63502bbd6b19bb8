"""A page shows the words of a stranger; it does nothing that they say.

The words come in twice: as a notebook's own Markdown, HTML and messages, where what is
markup stays harmless markup, and as data and parameters of notebook 18, where nothing
is markup at all.
"""

import base64

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from payloads import DRAWING, DRAWINGS, PAYLOADS, PIXEL, SECRET, write_csv

from mebnb.cli import main
from mebnb.report.making import export_files
from mebnb.report.notebooks import read_notebook, write_notebook
from mebnb.report.stepping import MIMETYPE

pytestmark = pytest.mark.browser

BATCH = 15  # payloads on one page
SCHEMES = {"http:", "https:", "mailto:", "file:"}
SEEN = """selector => [...document.querySelectorAll(selector)].map(e => {
    e.scrollIntoView({block: 'center'});
    const box = e.getBoundingClientRect();
    const top = document.elementFromPoint(box.left + 1, box.top + box.height / 2);
    return e.checkVisibility({visibilityProperty: true}) && box.height > 5
        && box.width > 5 && (top === e || e.contains(top));
})"""
WIDE = """width => [...document.querySelectorAll('main *')].filter(
    e => e.getBoundingClientRect().right > width + 1).map(e => e.outerHTML.slice(0, 80))
    .slice(-1)"""


@pytest.fixture(scope="module")
def context(chromium):
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    yield context
    context.close()


def look_at(context, file, beside=False):
    """Open a page, click what can be clicked, and say what it did that it must not."""
    page, did = context.new_page(), []
    page.on("dialog", lambda dialog: (did.append("dialog"), dialog.dismiss()))
    page.on("popup", lambda opened: did.append(f"popup {opened.url}"))
    page.on("console", lambda said: did.append(f"console: {said.text}"))
    page.on("pageerror", lambda error: did.append(f"error: {error}"))
    page.on(
        "request",
        lambda sent: (
            did.append(f"asked {sent.url}")
            if sent.url.partition("#")[0] != file.as_uri() and sent.url[:5] != "data:"
            else None
        ),
    )
    page.goto(file.as_uri())
    page.evaluate(
        "document.querySelectorAll('main *:not(a):not(a *)').forEach(e => e.click && e.click())"
    )
    if page.evaluate("window.P") is not None:
        did.append("ran a script")
    schemes = page.evaluate("[...document.links].map(a => a.protocol)")
    did += [f"links to {scheme}" for scheme in set(schemes) - SCHEMES]
    files = page.evaluate(
        "[...document.links].map(a => a.href.split('#')[0])"
        ".filter(h => h.startsWith('file:'))"
    )
    folder = file.parent.as_uri() if beside else file.as_uri()
    did += [f"links to {place}" for place in files if not place.startswith(folder)]
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        if page.evaluate("document.documentElement.scrollWidth") > width:
            did.append(f"is wider than {width}: {page.evaluate(WIDE, width)}")
    page.set_viewport_size({"width": 1280, "height": 900})
    for part in ("main h1", "main h2"):
        seen = page.evaluate(SEEN, part)
        if not seen or not all(seen):
            did.append(f"hides {part}")
    return page, did


def stranger(words):
    """Cells of a stranger that hold words wherever a notebook holds any."""
    shown = new_code_cell("show()", execution_count=2)
    shown.outputs = [
        new_output("display_data", {"text/html": words}),
        new_output("display_data", {"text/markdown": words}),
        new_output("display_data", {"text/markdown": f"- {words}\n- `{words}`"}),
        new_output("display_data", {"text/latex": words}),
        new_output("display_data", {"text/plain": words}),
        new_output("display_data", {"image/svg+xml": words, "text/plain": "a drawing"}),
        new_output("display_data", {"image/png": words, "text/plain": "a picture"}),
        new_output("display_data", {MIMETYPE: steps_of(words)}),
        new_output("display_data", {MIMETYPE: {"name": words}, "text/html": words}),
        new_output("stream", name="stdout", text=words),
        new_output("stream", name="stderr", text=words),
        new_output("error", ename=words, evalue=words, traceback=[words]),
    ]
    return [
        new_markdown_cell("Before it\n\n## Before"),
        new_markdown_cell(f"# {words}"),
        new_markdown_cell(words),
        new_markdown_cell(f"| a |\n|---|\n| {words} |"),
        shown,
        new_markdown_cell("## After"),
    ]


def steps_of(words):
    """What a figure to step through is drawn from, with words where it holds any."""
    frame = {"line": words, "paths": {"point": "M9 9h0"}, "words": {words: "9 9"}}
    return {"name": "steps", "about": words, "frames": [frame, frame]}


def parameters_of(batch):
    names = {f"words_{at}": words for at, words in enumerate(batch)}
    lines = [f"{name}: str = 'x'  # {words!r}" for name, words in names.items()]
    cell = new_code_cell("\n".join(lines), execution_count=1)
    cell.metadata["tags"] = ["parameters"]
    metadata = {
        "papermill": {"parameters": names},
        "mebnb": {"source": batch[0], "provenance": {w: w for w in batch}},
    }
    return cell, metadata


@pytest.mark.parametrize("start", range(0, len(PAYLOADS), BATCH))
def test_notebook_of_a_stranger_does_nothing(start, context, tmp_path):
    batch = PAYLOADS[start : start + BATCH]
    (tmp_path / SECRET).write_bytes(base64.b64decode(PIXEL))
    parameters, metadata = parameters_of(batch)
    cells = [parameters, *(cell for words in batch for cell in stranger(words))]
    write_notebook(new_notebook(cells=cells, metadata=metadata), tmp_path / "x.ipynb")
    files, _ = export_files([tmp_path / "x.ipynb"], tmp_path)
    page, did = look_at(context, files[0])
    assert did == []
    assert page.locator("img").count() == 0
    headings = page.locator("main").locator("h1, h2, h3").all_inner_texts()
    assert headings.count("Before") == headings.count("After") == len(batch)
    assert headings[-1] == "How this page was made"
    page.close()


def test_drawings_of_a_stranger_do_nothing(context, tmp_path):
    harmless = DRAWING.format("", "")
    cells = [new_markdown_cell("# Drawings\n\n## Before")]
    for words in (*DRAWINGS, harmless):
        address = base64.b64encode(words.encode()).decode()
        cell = new_code_cell("show()", execution_count=1)
        cell.outputs = [
            new_output(
                "display_data", {"image/svg+xml": words, "text/plain": "a drawing"}
            ),
            new_output(
                "display_data",
                {"text/html": f"<img src='data:image/svg+xml;base64,{address}'>"},
            ),
        ]
        cells.append(cell)
    write_notebook(new_notebook(cells=cells), tmp_path / "x.ipynb")
    files, _ = export_files([tmp_path / "x.ipynb"], tmp_path)
    page, did = look_at(context, files[0])
    assert did == []
    # Those that hold shapes alone: the harmless one, and one whose style was left out.
    assert page.locator("main img").count() == 4
    assert page.locator("svg").count() == 0
    assert "evil.example" not in page.content()
    seen = page.evaluate("[...document.images].map(i => i.complete && i.naturalWidth)")
    assert seen == [90] * 4
    page.close()


def test_titles_and_names_of_files_do_nothing(context, tmp_path):
    for at, words in enumerate(PAYLOADS):
        name = f"{at:03} {words.replace('/', '∕')[:60]}".rstrip()
        cells = [new_markdown_cell(f"# {words}"), new_markdown_cell("text\n\n## Then")]
        write_notebook(new_notebook(cells=cells), tmp_path / f"{name}.ipynb")
    paths = sorted(tmp_path.glob("*.ipynb"))
    assert len(paths) == len(PAYLOADS)
    files, _ = export_files(paths, tmp_path / "out")
    for file in files[:: len(files) // 12]:  # the index, and some that lead on and back
        page, did = look_at(context, file, beside=True)
        assert did == []
        page.close()
    index = context.new_page()
    index.goto(files[0].as_uri())
    assert index.locator("h2 a").count() == len(paths)
    assert all(text.strip() for text in index.locator("h2 a").all_inner_texts())
    places = index.evaluate("[...document.querySelectorAll('h2 a')].map(a => a.href)")
    assert places == [file.as_uri() for file in files[1:]]
    index.close()


# --- the real path -------------------------------------------------------------------


@pytest.mark.parametrize("half", [0, 1])
def test_words_of_a_table_do_nothing(half, context, tmp_path, monkeypatch):
    words = PAYLOADS[half::2]
    assert len(words) < 100  # notebook 18 shows tables of so many rows in full
    monkeypatch.chdir(tmp_path)
    (tmp_path / SECRET).write_bytes(base64.b64decode(PIXEL))
    name = ["<img src=x onerror=alert(1)> $\\frac{1}{$.csv", "`![p](secret.png)`.csv"]
    given = write_csv(tmp_path / name[half], words)
    given |= {"path": name[half], "top": "100", "sample": "100", "honest_splits": "2"}
    asked = [word for item in given.items() for word in ("-p", *item)]

    code = main(["run", "18", *asked, "-o", "18.ipynb", "--html"])

    assert code == 0
    page, did = look_at(context, tmp_path / "18.html")
    assert did == []
    told = page.locator("main").inner_text()
    shown = " ".join(told.replace("\\n", " ").split())  # as pandas shows a new line
    missing = [w for w in words if " ".join(w.split())[:40] not in shown]
    assert missing == []
    assert name[half] in told and str(tmp_path) not in page.content()
    # The pictures are the notebook's own.
    stored = read_notebook(tmp_path / "18.ipynb")
    outputs = [output for cell in stored.cells for output in cell.get("outputs", [])]
    figures = ["image/png" in output.get("data", {}) for output in outputs]
    assert page.locator("img").count() == sum(figures) > 0
    assert page.locator("main h2").last.inner_text() == "How this page was made"
    assert page.locator("main math").count() == 0
    page.close()
    assert nbformat.validate(stored) is None
