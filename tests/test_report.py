"""The report: notebooks run, exported, indexed; what goes wrong is told."""

import base64
import hashlib
import io
import itertools
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from PIL import Image

from mebnb import cli
from mebnb.report import ReportError, running
from mebnb.report import notebooks as notebooks_room
from mebnb.report.making import export_stored, is_current, make_report
from mebnb.report.maths import let_scroll, split_formulas, to_mathml, typeset
from mebnb.report.notebooks import read_notebook, select_notebooks
from mebnb.report.pages import NEEDS_SCRIPT, build_pages
from mebnb.report.parameters import (
    Mismatch,
    assign_parameters,
    files_in_full,
    fit,
    notebook_parameters,
)
from mebnb.report.running import fingerprint, run_notebook, status_of

FILES_THAT_MATTER = running._files_that_matter

PARAMETERS = """\
from typing import Optional

seed: int = 1  # which split
eps: float = 0.001  # tolerance of the gap
epsilons: list[float] = [0.1, 0.01]  # tolerances of the table
flag: bool = False  # draw more
name: str = "away_step"  # algorithm
limit: Optional[int] = None  # most steps"""

DUAL = r"""# The dual of the ball

It bounds the radius $r$ from below. More follows.

## Problem and dual

\begin{align}
\max_u \quad & \Phi(u) \label{eq:dual} \\
\text{s.t.} \quad & u \ge 0 \tag{7}
\end{align}

The gap \eqref{eq:gap} bounds the distance to \eqref{eq:dual}. See
[the failure](02_failing.ipynb#What-fails) and [the card](../data.md).

#### A heading two levels too deep
"""

GAP = r"""## The gap

\begin{equation}
g(u) = \max_i \left\lVert a_i - c \right\rVert^2 - \gamma \label{eq:gap}
\end{equation}

## The end"""

FIGURE = """\
import matplotlib.pyplot as plt
from IPython.display import display

fig, ax = plt.subplots(figsize=(3, 2))
ax.plot([1, 2], [1, eps])
display(fig, metadata={"image/png": {"alt": "A line that falls to eps."}})
plt.close(fig)"""

TABLE = """\
import pandas as pd

pd.DataFrame({"eps": epsilons}, index=["first row", "second row"])"""


def write(folder, name, *cells):
    """Write a notebook: Markdown as str, code as (source, tag, ...)."""
    made = []
    for cell in cells:
        if isinstance(cell, str):
            made.append(nbformat.v4.new_markdown_cell(cell))
        else:
            source, *tags = cell
            made.append(nbformat.v4.new_code_cell(source, metadata={"tags": tags}))
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(
        cells=made, metadata={"kernelspec": spec, "language_info": {"name": "python"}}
    )
    path = Path(folder) / f"{name}.ipynb"
    nbformat.write(notebook, path)
    return path


def page_of(folder, *cells, own=False):
    """Export cells that were never run; return the finished page."""
    path = write(folder, "09_page", *cells)
    return build_pages({"09_page": (read_notebook(path), Path(folder))}, own=own)[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of notebooks: one that works, one that fails, one without its data."""
    folder = tmp_path_factory.mktemp("clone") / "notebooks"
    folder.mkdir()
    (folder.parent / "data.md").write_text("a card")
    write(
        folder,
        "01_working",
        DUAL,
        (PARAMETERS, "parameters"),
        (FIGURE,),
        GAP,
        (TABLE,),
        ("import os; print(os.getcwd(), os.environ['OMP_NUM_THREADS'])",),
    )
    write(
        folder,
        "02_failing",
        "# A failure\n\n## What fails\n\nThis.",
        ("seed: int = 1  # which split", "parameters"),
        ("print('before')",),
        ("1 / (seed - seed)",),
        ("print('never reached')",),
    )
    write(
        folder,
        "03_without_data",
        "# Without data",
        (
            "class DatasetNotAvailable(Exception): pass\n"
            "raise DatasetNotAvailable('data set x is not on this machine')",
        ),
    )
    return folder


@pytest.fixture(scope="module", autouse=True)
def package(folder):
    """A file that stands for the package in fingerprints."""
    file = running.CLONE / "LICENSE"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "_files_that_matter", lambda: [file])
        yield


@pytest.fixture(scope="module")
def made(folder):
    """The report of the three notebooks, with the lines it printed."""
    paths = select_notebooks(folder)
    parameters = assign_parameters(paths, [("eps", "1e-6"), ("seed", "7")])
    lines = []
    report = make_report(
        paths, parameters, folder.parent / "reports", jobs=2, say=lines.append
    )
    report.lines = lines
    return report


def soup_of(made, name):
    html = (made.index.parent / f"{name}.html").read_text(encoding="utf-8")
    return BeautifulSoup(html, "html.parser")


# --- a whole report ------------------------------------------------------------------


def test_report_runs_all_and_tells_how_each_went(made):
    assert made.failed == ["02_failing"]
    assert made.problems == [] and made.interrupted == []
    told = sorted(re.sub(r"^\[./3\] | +\d+\.\d s$", "", line) for line in made.lines)
    assert [re.sub(" +", " ", line) for line in told] == [
        "01_working ok",
        "02_failing failed",
        "03_without_data data not available",
    ]


def test_working_page_has_typeset_mathematics_with_links(made):
    page = soup_of(made, "01_working")
    text = page.main.get_text()
    assert "$" not in text and "\\" not in text
    assert len(page.select("span.equation math")) == 2
    references = page.select("p > a[href^='#eq']")
    assert [(a.get_text(), a["href"]) for a in references] == [
        ("(2)", "#eq:gap"),
        ("(1)", "#eq:dual"),
    ]
    assert page.find(id="eq:gap").get_text() == "(2)"
    assert "(7)" in text


def test_working_page_shows_the_effective_parameters_in_one_table(made):
    page = soup_of(made, "01_working")
    table = page.select_one(".parameters table")
    rows = {
        row.code.get_text(): [cell.get_text(strip=True) for cell in row.find_all("td")]
        + [row.select_one(".meaning").get_text()]
        for row in table.tbody("tr")
    }
    assert rows["eps"] == ["1e-06", "0.001", "tolerance of the gap"]
    assert rows["seed"] == ["7", "1", "which split"]
    assert rows["epsilons"] == ["[0.1, 0.01]", "same", "tolerances of the table"]
    assert rows["name"] == ["'away_step'", "same", "algorithm"]
    assert "Optional" not in page.get_text()  # neither of the two cells is shown


@pytest.mark.parametrize("given", [None, "8"])
def test_every_library_of_a_kernel_gets_one_thread_whatever_the_shell_says(
    given, monkeypatch
):
    names = [f"{name}_NUM_THREADS" for name in ("OMP", "OPENBLAS", "MKL", "BLIS")]
    names.append("VECLIB_MAXIMUM_THREADS")
    for name in names:
        monkeypatch.delenv(name, raising=False)
        if given:
            monkeypatch.setenv(name, given)
    environment = running._quiet_environment()
    assert {name: environment.get(name) for name in names} == dict.fromkeys(names, "1")


def test_kernel_runs_in_the_notebook_folder_with_one_thread(made, folder):
    assert f"{folder} 1" in soup_of(made, "01_working").get_text()


def test_pages_ask_nobody_for_anything_and_hold_no_script(made):
    for file in made.index.parent.glob("*.html"):
        page = BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")
        assert page.find("iframe") is None
        assert len(page("script")) == (1 if file.name == "search.html" else 0)
        assert not page.find_all("link", href=lambda h: not h.startswith("data:"))
        assert all(image["src"].startswith("data:") for image in page("img"))
        style = "".join(style.get_text() for style in page("style"))
        assert re.findall(r"url\((?!data:)|@import", style) == []


def test_images_have_size_and_the_alternative_text_of_the_figure(made):
    image = soup_of(made, "01_working").select_one("figure img")
    assert image["alt"] == "A line that falls to eps."
    assert int(image["width"]) > 100 and int(image["height"]) > 100


def test_table_headers_say_what_they_head(made):
    table = soup_of(made, "01_working").select_one(".rich table")
    assert [cell["scope"] for cell in table.thead("th")] == ["col"]
    assert [cell["scope"] for cell in table.tbody("th")] == ["row", "row"]
    assert not table.has_attr("border")
    assert table.parent["tabindex"] == "0"


def test_headings_leave_no_level_out_and_make_the_contents(made):
    page = soup_of(made, "01_working")
    levels = [int(h.name[1]) for h in page.main.find_all(re.compile("^h[1-6]$"))]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))
    linked = [a["href"][1:] for a in page.select("nav.contents .sections a")]
    assert linked[0] == "Problem-and-dual" and "The-gap" in linked
    assert all(page.find(id=name) is not None for name in linked)


def test_sidebar_and_menu_list_all_chapters_and_the_sections_of_this_one(made):
    page = soup_of(made, "01_working")
    for place in ("nav.contents", "details.menu"):
        chapters = page.select(f"{place} .chapters > li > a")
        assert [a["href"] for a in chapters] == [
            "01_working.html",
            "02_failing.html",
            "03_without_data.html",
            "errata.html",
            "references.html",
            "functions.html",
            "search.html",
            "status.html",
        ]
        here = page.select(f"{place} [aria-current=page]")
        assert here == chapters[:1]
        assert here[0].parent.select_one(".sections a")["href"] == "#Problem-and-dual"
    assert page.select("details.menu[open]") == []


def test_every_link_resolves(made):
    out = made.index.parent
    for file in out.glob("*.html"):
        page = BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")
        for anchor in page("a", href=True):
            path, _, fragment = anchor["href"].partition("#")
            target = out / path if path else file
            assert target.exists(), anchor
            if fragment:
                html = target.read_text(encoding="utf-8")
                assert BeautifulSoup(html, "html.parser").find(id=fragment), anchor
    page = soup_of(made, "01_working")
    assert page.find("a", string="the failure")["href"] == "02_failing.html#What-fails"
    assert page.find("a", string="the card") is None  # lies outside the report


def test_code_is_folded_and_open_where_it_failed(made):
    working, failing = soup_of(made, "01_working"), soup_of(made, "02_failing")
    assert working.details and not working.select("details[open]")
    assert len(failing.select("details[open]")) == 1


def test_failing_page_shows_the_error_at_its_cell(made):
    page = soup_of(made, "02_failing")
    link = page.select_one(".banner.bad a")
    assert page.select_one(".banner").get_text() == (
        "Failed. In [4]: ZeroDivisionError: division by zero"
    )
    cell = page.find(id=link["href"][1:])
    assert "1 / (seed - seed)" in cell.get_text()
    assert cell.select_one(".error strong").get_text() == "ZeroDivisionError"
    assert "before" in page.get_text()
    assert page.select("pre.output")[-1].find_parent("section") == cell
    assert "papermill-error-cell" not in str(page)


def test_page_without_data_says_so_calmly(made):
    page = soup_of(made, "03_without_data")
    assert page.select_one(".banner.calm").get_text() == (
        "Data not available. In [1]: data set x is not on this machine"
    )
    assert page.select_one(".error") is None


def test_page_without_data_shows_what_is_stored(tmp_path):
    path = write(
        tmp_path,
        "01_data",
        "# Data",
        (
            "class DatasetNotAvailable(Exception): pass\n"
            "raise DatasetNotAvailable('data set x is not on this machine')",
        ),
    )
    stored = read_notebook(path)
    stored.cells[1].outputs = [
        nbformat.v4.new_output("display_data", {"text/plain": "stored words"})
    ]
    nbformat.write(stored, path)
    report = make_report([path], {path: {}}, tmp_path / "out", say=print)
    assert report.failed == []
    page = soup_of(report, "01_data")
    assert page.select_one(".banner.calm").get_text() == (
        "Data not available. this page: shown as stored, with the defaults of all "
        "parameters: data set x is not on this machine"
    )
    assert page.select_one("pre.output").get_text() == "stored words"
    status = soup_of(report, "status").main.get_text()
    assert "data not available" in status and "failed" not in status


def test_day_of_a_stored_notebook_is_that_of_its_commit(tmp_path):
    day = running.commit_day(running.CLONE / "LICENSE")
    known = (running.CLONE / ".git").exists()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d" if known else "", day)
    assert running.commit_day(tmp_path / "x.ipynb") == ""


def test_provenance_is_at_the_end(made):
    facts = soup_of(made, "01_working").select_one(".provenance").get_text(" ")
    for word in ("duration", "Python", "numpy", "mebnb", "01_working.ipynb"):
        assert word in facts


def test_provenance_names_the_data_and_their_hash(tmp_path):
    from mebnb.datasets.cards import CARDS

    page = page_of(tmp_path, "# T", ("load_dataset('breast_cancer')",), own=True)
    facts = page.soup.select_one(".provenance").get_text(" ")
    assert f"data breast_cancer sha256 {CARDS['breast_cancer'].sha256[:16]}" in facts


def test_pages_lead_to_each_other_and_to_the_index(made):
    nav = soup_of(made, "02_failing").select_one("nav.pages")
    assert [a["href"] for a in nav("a")] == [
        "01_working.html",
        "index.html",
        "03_without_data.html",
    ]


def test_summary_leaves_out_a_label_before_the_sentence(tmp_path):
    page = page_of(tmp_path, "# T\n\n**What it shows.** The $n$ [balls](#T). More.")
    assert BeautifulSoup(page.summary, "html.parser").get_text() == "The n balls."
    assert "<a" not in page.summary


def test_first_page_lists_the_chapters_with_their_first_sentence(made):
    index = soup_of(made, "index")
    first, *_ = index.select("ol.cards > li")
    assert first.h3.a["href"] == "01_working.html"
    assert first.h3.get_text() == "01 The dual of the ball"
    assert first.p.get_text() == "It bounds the radius r from below."
    assert first.img["src"].startswith("data:image/png")


def test_status_says_how_each_notebook_went(made):
    status = soup_of(made, "status")
    first, second, third = status.main.select("tbody > tr")
    assert "3 notebooks: 1 ok, 1 failed, 1 data not available." in status.get_text()
    assert first.a["href"] == "01_working.html"
    assert re.search(r"\d+\.\d s · eps = 1e-06 · seed = 7", first.get_text())
    assert "In [4]: ZeroDivisionError: division by zero" in second.get_text()
    assert "data set x is not on this machine" in third.get_text()


def test_executed_notebooks_are_kept_without_paths_of_the_machine(made, folder):
    kept = made.index.parent / "notebooks" / "01_working.ipynb"
    notebook = read_notebook(kept)
    assert notebook.metadata.papermill.input_path == "01_working.ipynb"
    assert notebook.metadata.papermill.parameters == {"eps": 1e-6, "seed": 7}
    assert status_of(notebook) == "ok"


def test_second_run_reuses_what_is_unchanged(made, folder, tmp_path, monkeypatch):
    out = tmp_path / "again"
    shutil.copytree(made.index.parent, out)
    paths = select_notebooks(folder, ["1"])
    given = [("eps", "1e-6"), ("seed", "7")]
    lines = []
    report = make_report(paths, assign_parameters(paths, given), out, say=lines.append)
    assert re.fullmatch(r"\[1/1\] 01_working  unchanged, reused  \d\.\d s", lines[0])
    index = BeautifulSoup((out / "status.html").read_text("utf-8"), "html.parser")
    # The pages that the earlier run left stay in the report.
    assert [("earlier run" in tr.get_text()) for tr in index.select("tbody tr")] == [
        False,
        True,
        True,
    ]
    assert report.failed == []  # 02_failing did not run now

    path = paths[0]
    same = fingerprint(path, {"eps": 1e-6, "seed": 7})
    assert (
        read_notebook(out / "notebooks" / path.name).metadata.mebnb.fingerprint == same
    )
    assert fingerprint(path, {"eps": 1e-5, "seed": 7}) != same
    changed = write(tmp_path, "01_working", DUAL, (PARAMETERS, "parameters"))
    assert fingerprint(changed, {"eps": 1e-6, "seed": 7}) != same
    monkeypatch.setattr(running, "_files_that_matter", list)
    assert fingerprint(path, {"eps": 1e-6, "seed": 7}) != same


def test_fingerprint_covers_files_that_a_path_names(tmp_path, monkeypatch):
    path = write(tmp_path, "01_working", DUAL, (PARAMETERS, "parameters"))
    data = tmp_path / "some.csv"
    data.write_text("a,b\n1,2\n")
    monkeypatch.chdir(tmp_path)
    same = fingerprint(path, {"path": "some.csv", "label": "some.csv"})
    assert fingerprint(path, {"path": "some.csv", "label": "some.csv"}) == same
    data.write_text("a,b\n1,3\n")
    assert fingerprint(path, {"path": "some.csv", "label": "some.csv"}) != same


def stored_run(changing=None):
    """What stands for a worker: the notebook as it is, then something is saved."""

    def work(job, stop):
        shutil.copy(job["input_path"], job["output_path"])
        if changing:
            file, content = changing
            file.write_text(content)

    return work


def test_run_whose_inputs_change_meanwhile_is_marked(tmp_path, monkeypatch):
    path = write(tmp_path, "01_working", "# One", ("1",))
    other = write(tmp_path, "02_other", "# Other", ("2",)).read_text()
    data, package = tmp_path / "some.csv", tmp_path / "balls.py"
    monkeypatch.setattr(running, "CLONE", tmp_path)
    monkeypatch.setattr(running, "_files_that_matter", lambda: [package])
    for changing, status in [
        (None, "ok"),
        ((data, "b"), "inputs changed meanwhile"),
        ((package, "b"), "inputs changed meanwhile"),
        ((path, "{half-saved"), "inputs changed meanwhile"),
        ((path, other), "inputs changed meanwhile"),
    ]:
        data.write_text("a")
        package.write_text("a")
        write(tmp_path, "01_working", "# One", ("1",))
        monkeypatch.setattr(running, "_work", stored_run(changing))
        notebook = run_notebook(path, {"path": str(data)})
        assert status_of(notebook) == status, changing
        target = tmp_path / "kept.ipynb"
        nbformat.write(notebook, target)
        assert is_current(target, path, {"path": str(data)}) == (status == "ok")


@pytest.mark.kernel
def test_a_killed_kernel_leaves_the_whole_notebook_with_the_error(tmp_path, capsys):
    death = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"
    path = write(tmp_path, "01_first", "# One", ("1",), (death,), ("2",))
    target = tmp_path / "kept.ipynb"
    assert cli.main(["run", str(path), "-o", str(target)]) == 1
    assert (
        "DeadKernelError: the kernel died while the cell ran" in capsys.readouterr().err
    )
    kept = nbformat.read(target, as_version=4)
    assert "2" in [cell.source for cell in kept.cells]
    assert "DeadKernelError" in target.read_text(encoding="utf-8")
    assert not list(tmp_path.glob("*.part*"))


def test_report_says_what_was_edited_between_its_run_and_the_end(tmp_path, monkeypatch):
    first = write(tmp_path, "01_first", "# One", ("1",))
    second = write(tmp_path, "02_second", "# Two", ("2",))
    edited = first.read_text().replace('"1"', '"3"')
    monkeypatch.setattr(running, "_files_that_matter", list)

    def work(job, stop):
        stored_run()(job, stop)
        if job["input_path"] == str(second):
            first.write_text(edited)

    monkeypatch.setattr(running, "_work", work)
    paths = [first, second]
    for changed in (["01_first"], []):  # the same call makes it whole
        report = make_report(
            paths, {path: {} for path in paths}, tmp_path / "out", say=print
        )
        assert (report.changed, report.failed) == (changed, [])
        index = (tmp_path / "out" / "status.html").read_text(encoding="utf-8")
        page = (tmp_path / "out" / "01_first.html").read_text(encoding="utf-8")
        assert ("inputs changed meanwhile" in index) == bool(changed)
        assert ("Inputs changed meanwhile." in page) == bool(changed)


def test_paths_are_those_of_the_caller(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some.csv").write_text("")
    values = {
        "path": "some.csv",
        "label": "some.csv",
        "other_path": "none.csv",
        "seed": 1,
    }
    assert files_in_full(values) == values | {"path": str(tmp_path / "some.csv")}


def test_files_are_named_as_the_caller_named_them(tmp_path, monkeypatch):
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some $x.csv").write_text("")
    path = write(
        tmp_path / "there",
        "01_file",
        "# T",
        ("path: str = ''  # a file", "parameters"),
        ("open(path)\nprint(path)\nraise ValueError(path)",),
    )
    out = tmp_path / "out"
    asked = {path: {"path": "some $x.csv"}}
    made = make_report([path], asked, out, say=lambda line: None)
    kept = (out / "notebooks" / "01_file.ipynb").read_text(encoding="utf-8")
    pages = [
        file.read_text(encoding="utf-8") for file in made.index.parent.glob("*.html")
    ]
    assert all(str(tmp_path) not in text for text in [kept, *pages])
    page = soup_of(made, "01_file")
    assert page.select_one("#parameters .changed td").get_text() == "'some $x.csv'"
    assert page.select_one("pre.output").get_text() == "some $x.csv\n"
    assert page.select_one(".error p").get_text() == "ValueError: some $x.csv"
    assert made.problems == [] and page.find("math") is None


def test_traceback_names_no_folder_of_the_machine(tmp_path):
    path = write(tmp_path, "01_fails", "# T", ("import json\njson.loads('{')",))
    made = make_report([path], {path: {}}, tmp_path / "out", say=lambda line: None)
    told = soup_of(made, "01_fails").select_one(".error pre").get_text()
    assert "json/decoder.py" in told
    assert re.findall(r"(?<![\w.])[~/][\w.-]+/", told) == []


def imported_by_notebooks():
    """Modules of the report that the committed notebooks, or what they use, import."""
    package = running.CLONE / "mebnb"
    users = [*(running.CLONE / "notebooks").glob("*.ipynb"), *package.rglob("*.py")]
    users = [f for f in users if not f.is_relative_to(package / "report")]
    users = [f for f in users if f.name != "cli.py"]
    text = "\n".join(file.read_text(encoding="utf-8") for file in users)
    return {f"{name}.py" for name in re.findall(r"from mebnb\.report\.(\w+)", text)}


def test_fingerprint_covers_package_and_data_but_not_the_looks():
    files = {f.relative_to(running.CLONE).as_posix() for f in FILES_THAT_MATTER()}
    assert "mebnb/solvers/balls.py" in files
    assert any(name.startswith("mebnb/published/tables/") for name in files)
    assert "benchmarks/results/grid.csv" in files
    # Steps put the style into what a notebook stores.
    styles = {f"templates/mebnb/{name}" for name in ("stepping.css", "drawing.css")}
    assert {name for name in files if name.startswith("mebnb/report/")} == {
        f"mebnb/report/{name}" for name in imported_by_notebooks() | styles
    }


def test_cell_that_takes_too_long_is_stopped_and_shown(tmp_path):
    path = write(
        tmp_path, "01_slow", "# Slow", ("import time; time.sleep(60)",), ("1",)
    )
    notebook = run_notebook(path, timeout=1)
    assert status_of(notebook) == "failed"
    page = build_pages({"01_slow": (notebook, tmp_path)})[0]
    assert page.soup.select_one(".banner").get_text() == (
        "Failed. In [1]: TimeoutError: the cell took longer than 1 s and was stopped"
    )


INTERRUPTIBLE = """\
import sys
from pathlib import Path
from mebnb import cli
from mebnb.report import notebooks
notebooks.notebooks_folder = lambda: Path(sys.argv[1])
sys.exit(cli.main(["report", "--out", sys.argv[2]]))
"""


def test_interruption_keeps_what_is_finished_and_says_so(tmp_path):
    folder, out, begun = tmp_path / "notebooks", tmp_path / "out", tmp_path / "begun"
    folder.mkdir()
    write(
        folder,
        "01_long",
        "# Long",
        (f"import time; open({str(begun)!r}, 'w'); time.sleep(100)",),
    )
    write(folder, "02_next", "# Never begun", ("1",))
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, str(folder), str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not begun.exists() and process.poll() is None:
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    printed, complaint = process.communicate(timeout=60)
    assert process.returncode == 130, complaint
    assert complaint == "mebnb: interrupted; what was finished is kept\n"
    assert printed == f"{out / 'index.html'}\n"
    text = BeautifulSoup((out / "status.html").read_text(), "html.parser").get_text()
    assert "2 notebooks: all interrupted. The run was interrupted" in text
    assert not (out / "01_long.html").exists()


# --- choosing ------------------------------------------------------------------------


def test_notebooks_are_chosen_by_number_name_or_list(folder):
    names = [path.stem for path in select_notebooks(folder, ["3,1"])]
    assert names == ["01_working", "03_without_data"]
    for word in ("2", "02", "02_failing", "02_failing.ipynb"):
        assert [p.stem for p in select_notebooks(folder, [word])] == ["02_failing"]


def test_unknown_notebook_is_refused_with_the_known_ones(folder):
    with pytest.raises(ReportError) as refusal:
        select_notebooks(folder, ["99"])
    assert str(refusal.value) == (
        "unknown notebook '99'; known are 01_working, 02_failing, 03_without_data"
    )


def test_without_the_clone_the_report_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(notebooks_room, "CLONE", tmp_path)
    with pytest.raises(ReportError) as refusal:
        notebooks_room.notebooks_folder()
    assert str(refusal.value) == (
        "the notebooks are not part of the installed package: clone the repository "
        "and install it from there with 'pip install --editable .'"
    )


def test_file_that_is_no_notebook(tmp_path):
    (tmp_path / "a.ipynb").write_text("no JSON")
    with pytest.raises(ReportError, match="a.ipynb is not a Jupyter notebook"):
        read_notebook(tmp_path / "a.ipynb")
    with pytest.raises(ReportError, match="cannot read .*: No such file or directory"):
        read_notebook(tmp_path / "b.ipynb")


# --- parameters ----------------------------------------------------------------------


def test_parameters_are_read_with_type_default_and_meaning(folder):
    known = notebook_parameters(read_notebook(folder / "01_working.ipynb"))
    assert [(p.name, p.kind, p.default) for p in known.values()] == [
        ("seed", "int", 1),
        ("eps", "float", 0.001),
        ("epsilons", "list[float]", [0.1, 0.01]),
        ("flag", "bool", False),
        ("name", "str", "away_step"),
        ("limit", "Optional[int]", None),
    ]
    assert known["eps"].help == "tolerance of the gap"


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("7", "int", 7),
        ("007", "int", 7),
        ("1", "float", 1.0),
        ("1e-6", "float", 1e-6),
        ("True", "bool", True),
        ("false", "bool", False),
        ("7", "str", "7"),
        ("[0.1, 1]", "list[float]", [0.1, 1.0]),
        ('["a", "b"]', "list[str]", ["a", "b"]),
        ("[]", "list[int]", []),
        ("[1, 2]", "list", [1, 2]),
        ("None", "Optional[int]", None),
        ("3", "Optional[int]", 3),
        ("anything", "", "anything"),
        ("3", "", 3),
    ],
)
def test_text_is_read_as_the_type_of_the_parameter(text, kind, value):
    found = fit(text, kind)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ("notanumber", "int", "an int"),
        ("7.5", "int", "an int"),
        ("True", "int", "an int"),
        ("x", "float", "a float"),
        ("True", "float", "a float"),
        ("nan", "float", "finite"),
        ("inf", "float", "finite"),
        ("1", "bool", "a bool"),
        (7, "str", "a str"),
        ("0.1", "list[float]", "a list[float] written as JSON, such as '[0.1, 0.01]'"),
        ("a", "list[str]", 'a list[str] written as JSON, such as \'["a", "b"]\''),
        ('["a"]', "list[float]", "a list[float], each entry a float"),
        ("[NaN]", "list[float]", "a list[float], each entry finite"),
        ("x", "Optional[int]", "an int or None"),
        ("inf", "", "finite"),
        (10**400, "float", "finite as a float"),
    ],
)
def test_value_of_the_wrong_type_is_refused(value, kind, expected):
    with pytest.raises(Mismatch) as refusal:
        fit(value, kind)
    assert str(refusal.value) == expected


def test_python_values_become_what_papermill_can_write():
    import numpy as np

    assert fit(np.int64(3), "int") == 3
    assert fit((0.1, np.float64(0.2)), "list[float]") == [0.1, 0.2]
    assert fit(np.arange(3), "list[int]") == [0, 1, 2]
    assert fit(Path("a") / "b", "str") == str(Path("a") / "b")


def test_parameter_goes_to_those_that_have_it(folder):
    paths = select_notebooks(folder)
    assigned = assign_parameters(paths, [("seed", "5"), ("eps", "1"), ("seed", "7")])
    assert [assigned[path] for path in paths] == [
        {"seed": 7, "eps": 1.0},
        {"seed": 7},
        {},
    ]


@pytest.mark.parametrize(
    ("only", "given", "sentence"),
    [
        (
            "1",
            ("seed", "notanumber"),
            "parameter seed of 01_working (which split) must be an int, "
            "found 'notanumber'",
        ),
        (
            "1",
            ("sed", "7"),
            "unknown parameter 'sed'; 01_working has seed, eps, epsilons, flag, name, "
            "limit",
        ),
        (
            "1,2",
            ("sed", "7"),
            "unknown parameter 'sed'; the chosen notebooks have seed, eps, epsilons, "
            "flag, name, limit",
        ),
        (
            "3",
            ("seed", "7"),
            "unknown parameter 'seed'; the chosen notebooks have none",
        ),
        (
            "1",
            ("eps", "inf"),
            "parameter eps of 01_working (tolerance of the gap) must be finite, "
            "found 'inf'",
        ),
    ],
)
def test_senseless_parameters_are_refused_in_one_sentence(
    folder, only, given, sentence
):
    with pytest.raises(ReportError) as refusal:
        assign_parameters(select_notebooks(folder, [only]), [given])
    assert str(refusal.value) == sentence


# --- mathematics ---------------------------------------------------------------------


def test_formulas_are_found_in_text():
    text = r"a $x$, $$y$$ \(z\) \begin{align*}u\end{align*} \eqref{e} and 5 dollars"
    formulas = [(f, d) for f, d in split_formulas(text) if d is not None]
    assert formulas == [
        ("x", False),
        ("y", True),
        ("z", False),
        (r"\begin{align*}u\end{align*}", True),
        (r"\eqref{e}", False),
    ]
    assert split_formulas("costs $5 or less") == [("costs $5 or less", None)]


def test_code_and_plain_output_are_no_formulas():
    soup = BeautifulSoup("<code>$x$</code><pre>$y$</pre>", "html.parser")
    assert typeset(soup, lambda node: "") == []
    assert soup.find("math") is None


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (r"$\foo$", 'cell 2: cannot typeset \\foo: Unknown command "\\foo"'),
        (r"see \eqref{eq:none}", "cell 2: reference to an unknown equation: eq:none"),
        (
            r"\begin{equation}x\label{a}\end{equation}"
            "\n\n"
            r"\begin{equation}y\label{a}\end{equation}",
            "cell 2: the label a stands 2 times",
        ),
    ],
)
def test_formula_that_cannot_be_typeset_is_a_problem_of_its_cell(
    tmp_path, source, problem
):
    page = page_of(tmp_path, "# Title", source)
    assert page.problems == [problem]
    assert page.status == "failed"
    assert problem.partition(": ")[2][:20] in page.soup.select_one(".banner").get_text()


def test_tag_in_a_displayed_formula_is_its_number(tmp_path):
    page = page_of(tmp_path, "# T", r"$$x = 1 \tag{13}$$")
    assert page.problems == []
    assert "(13)" in page.soup.select_one(".equation").get_text()


def test_bars_of_a_norm_keep_apart_and_grow_with_tall_content_alone(tmp_path):
    text = (
        r"$\left\lVert x - c \right\rVert^2$ and $\left\lVert \frac{x}{2} \right\rVert$"
    )
    page = page_of(tmp_path, "# T", text)
    bars = page.soup.main.find_all("mo", string="‖")
    assert len(bars) == 4 and all(bar["lspace"] == "0.12em" for bar in bars)
    assert [bar.get("stretchy") for bar in bars] == ["false", "false", None, None]


def test_punctuation_stays_on_the_line_of_its_formula(tmp_path):
    page = page_of(tmp_path, "# T", "With $x$, $y$; and $x$ there, $x$, $$z$$.")
    texts = [span.get_text() for span in page.soup.main.select(".formula")]
    assert texts == ["x,", "y;", "x", "x,"]
    paragraph = page.soup.main.find_all("p")[0]
    assert paragraph.get_text() == "With x, y; and x there, x, z."


def test_bracket_stays_on_the_line_of_the_formula_that_it_opens(tmp_path):
    page = page_of(tmp_path, "# T", "Two ($x$, 1) and [$y$]; the ($z$) is one.")
    texts = [span.get_text() for span in page.soup.main.select(".formula")]
    assert texts == ["(x,", "[y];", "(z)"]
    assert page.soup.main.p.get_text() == "Two (x, 1) and [y]; the (z) is one."


@pytest.mark.parametrize(
    ("latex", "parts"),
    [
        (r"a + b \le -c, d", ["a", "+b", "≤−c,", "d"]),
        (r"f(a + b) = [c - d]", ["f(a+b)", "=[c−d]"]),
        (r"\lVert a - b \rVert^2 - |c - d| = 0", ["‖a−b‖2", "−|c−d|", "=0"]),
        (r"\frac{a + b}{c = d}", ["a+bc=d"]),
    ],
)
def test_long_formula_may_end_a_line_outside_of_its_brackets(latex, parts):
    formula = BeautifulSoup(to_mathml(f"${latex}$"), "html.parser").span
    let_scroll(formula)
    assert [math.get_text() for math in formula("math")] == parts
    cut = [math.contents[0] for math in formula("math")[1:]]
    assert all(sign["form"] == "infix" for sign in cut if sign.name == "mo")
    let_scroll(formula)
    assert [math.get_text() for math in formula("math")] == parts


def test_place_where_a_long_name_may_break_comes_to_the_page(tmp_path):
    table = "| feature | x |\n|---|---|\n| degree_spondylolisthesis | 1 |"
    page = page_of(tmp_path, "# T", table)
    assert "degree_<wbr>spondylolisthesis" in page.html


def test_formulas_stand_in_tables_of_outputs_and_titles_too(tmp_path):
    path = write(tmp_path, "09_page", r"# The value $\gamma$", ("1",))
    notebook = read_notebook(path)
    html = (
        "<table><tr><td>$u \\ge 0$</td></tr></table>"
        "<p>\\begin{align*}x\\end{align*}</p>"
    )
    notebook.cells[1].outputs = [
        nbformat.v4.new_output("display_data", {"text/html": html}),
        nbformat.v4.new_output("display_data", {"text/latex": "$$a < b$$"}),
        nbformat.v4.new_output("display_data", {"text/markdown": "so $c$"}),
    ]
    page = build_pages({"09_page": (notebook, tmp_path)})[0]
    assert len(page.soup.main.find_all("math")) == 5
    assert page.problems == [] and page.title.count("<math>") == 1
    assert "<title>The value γ</title>" in page.html


# --- what a page must not hold -------------------------------------------------------


def test_scripts_and_remote_things_are_removed(tmp_path):
    path = write(
        tmp_path,
        "09_page",
        "# T\n\n<img src='https://example.org/a.png' alt='A'>",
        ("1",),
    )
    notebook = read_notebook(path)
    html = (
        "<style>@import url('https://example.org/x.css');"
        "p {background: url(//e.org/b)}"
        "</style><p onclick='x()'>text</p><script src='https://example.org/x.js'>"
        "</script>"
        "<link rel='stylesheet' href='https://example.org/y.css'>"
    )
    notebook.cells[1].outputs = [
        nbformat.v4.new_output("display_data", {"text/html": html}),
        nbformat.v4.new_output(
            "display_data", {"text/html": "<script>draw()</script>"}
        ),
    ]
    page = build_pages({"09_page": (notebook, tmp_path)}, own=False)[0]
    text = str(page.soup.main)
    assert "<script" not in text and "onclick" not in text and "stylesheet" not in text
    assert "url(" not in text and "@import" not in text
    assert page.soup.find("img") is None
    assert page.soup.find("a", string="A")["href"] == "https://example.org/a.png"
    assert NEEDS_SCRIPT in text


def test_every_page_forbids_what_no_page_needs(made):
    files = sorted(made.index.parent.glob("*.html"))
    assert {file.name for file in files} >= {"index.html", "functions.html"}
    for file in files:
        soup = BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")
        policy = soup.find("meta", {"http-equiv": "Content-Security-Policy"})["content"]
        assert policy.startswith("default-src 'none'; img-src data:;")
        if file.name == "search.html":
            script = soup.find("script").get_text().encode()
            digest = base64.b64encode(hashlib.sha256(script).digest()).decode()
            assert policy.endswith(f"; script-src 'sha256-{digest}'")
        else:
            assert "script" not in policy and soup.find("script") is None


def picture_of(kind):
    content = io.BytesIO()
    Image.new("RGB", (3, 2), "red").save(content, kind)
    return base64.b64encode(content.getvalue()).decode()


def page_with(tmp_path, output, attachments=None, source="text"):
    path = write(tmp_path, "09_page", "# T", source, ("1",))
    notebook = read_notebook(path)
    notebook.cells[1]["attachments"] = attachments or {}
    notebook.cells[2].outputs = [output]
    return build_pages({"09_page": (notebook, tmp_path)}, own=False)[0]


def test_pictures_are_png_whatever_they_were(tmp_path):
    output = nbformat.v4.new_output(
        "display_data", {"image/jpeg": picture_of("JPEG"), "text/plain": "a"}
    )
    attachments = {"a.png": {"image/png": picture_of("PNG")}}
    page = page_with(tmp_path, output, attachments, "![A](attachment:a.png)")
    assert page.problems == []
    found = BeautifulSoup(page.html, "html.parser")("img")
    assert found[0]["alt"] == "A"
    for image in found:
        assert image["src"].startswith("data:image/png;base64,iVBOR")
        assert (image["width"], image["height"]) == ("3", "2")
    assert len(found) == 2


@pytest.mark.parametrize(
    "data",
    [
        {"image/png": "bm90IGEgcGljdHVyZQ=="},
        {"text/html": "<img src='b.png'>"},
        {"text/markdown": "![b](b.png) ![c](/etc/hostname)"},
        {"text/markdown": "![b](attachment:b.png)"},
        {"text/html": "<img src='data:image/svg+xml;base64,PHN2Zy8+'>"},
    ],
)
def test_no_picture_is_read_from_a_file(tmp_path, data):
    (tmp_path / "b.png").write_bytes(base64.b64decode(picture_of("PNG")))
    page = page_with(tmp_path, nbformat.v4.new_output("display_data", data))
    assert page.soup.find("img") is None and "<img" not in page.html
    assert "in the notebook; attach it to the cell" in page.problems[0]


def test_drawing_that_could_hold_a_script_is_left_out(tmp_path):
    data = {"image/svg+xml": "<svg/>", "text/plain": "a drawing"}
    page = page_with(tmp_path, nbformat.v4.new_output("display_data", data))
    assert page.problems == [] and "a drawing" in page.soup.main.get_text()
    assert "svg" not in str(page.soup)


def test_highlighted_source_survives(tmp_path):
    html = '<div class="highlight"><pre><span class="k">def</span> f</pre></div>'
    page = page_with(
        tmp_path, nbformat.v4.new_output("display_data", {"text/html": html})
    )
    assert page.soup.select_one("div.highlight pre span.k").get_text() == "def"
    assert '<span class="k">def</span>' in page.html


def test_piece_ends_where_it_began(tmp_path):
    html = "</div></section></main><p>out</p><plaintext>"
    page = page_with(
        tmp_path, nbformat.v4.new_output("display_data", {"text/html": html})
    )
    assert page.soup.find("p", string="out").find_parent("section")["id"] == "cell-3"
    assert page.soup.select_one("main > section.provenance") is not None


def test_figure_without_alternative_text_is_a_problem_of_our_notebooks_only(tmp_path):
    path = write(tmp_path, "09_page", "# T", ("1",))
    notebook = read_notebook(path)
    png = (
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9"
        "awAAAABJRU5ErkJggg=="
    )
    notebook.cells[1].outputs = [
        nbformat.v4.new_output("display_data", {"image/png": png})
    ]
    ours = build_pages({"09_page": (notebook, tmp_path)}, own=True)[0]
    assert ours.problems == [
        "cell 2: a figure without alternative text; "
        "end the cell with show(fig, alt=...)"
    ]
    other = build_pages({"09_page": (notebook, tmp_path)}, own=False)[0]
    assert other.problems == []
    assert other.soup.img["alt"] == "Figure 1, without a description"


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (
            "[a](#nowhere)",
            "cell 2: link to 09_page.ipynb#nowhere, where nothing has that name",
        ),
        (
            "![a](b.png)",
            "cell 2: no picture 'b.png' in the notebook; attach it to the cell",
        ),
    ],
)
def test_dead_links_and_missing_images_are_problems(tmp_path, source, problem):
    assert page_of(tmp_path, "# T", source).problems == [problem]


def test_link_to_no_file_is_noted_and_undone(tmp_path):
    page = page_of(tmp_path, "# T", "[a](b.md)")
    assert page.notes == ["cell 2: link to b.md, which does not exist"]
    assert page.problems == [] and page.soup.main.find("a", string="a") is None


def test_link_to_no_notebook_fails_the_report(tmp_path):
    page = page_of(tmp_path, "# T", "[a](77_gone.ipynb)", own=True)
    assert page.problems == ["cell 2: link to 77_gone.ipynb, which does not exist"]


# --- stored notebooks ----------------------------------------------------------------


def test_stored_notebooks_are_exported_without_a_run(folder, tmp_path):
    paths = select_notebooks(folder, ["2"])
    report = export_stored(paths, tmp_path / "out", with_code=False)
    assert report.failed == [] and report.problems == []
    page = BeautifulSoup((tmp_path / "out/02_failing.html").read_text(), "html.parser")
    assert page.main.find("details") is None  # without code
    assert "not run for this page" in page.get_text()
    assert "as committed" in (tmp_path / "out/status.html").read_text()
