"""The command line: exit codes, and one clear sentence for what cannot be done."""

import dataclasses
import errno
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from mebnb import cli, writing
from mebnb.report import book, making, notebooks, printing, running, sweeping


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A clone with one notebook that need not run."""
    folder = tmp_path / "notebooks"
    folder.mkdir()
    cells = [
        nbformat.v4.new_markdown_cell("# A ball\n\nIt is small."),
        nbformat.v4.new_code_cell(
            "seed: int = 1  # which split\neps: float = 0.1  # tolerance",
            metadata={"tags": ["parameters"]},
        ),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "09_ball.ipynb")
    monkeypatch.setattr(notebooks, "notebooks_folder", lambda: folder)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--only", "09", "-p", "seed", "notanumber"],
            "parameter seed of 09_ball (which split) must be an int, "
            "found 'notanumber'",
        ),
        (
            ["--only", "09", "-p", "sed", "7"],
            "unknown parameter 'sed'; 09_ball has seed, eps",
        ),
        (["--only", "99"], "unknown notebook '99'; known are 09_ball"),
        (
            ["-p", "eps", "-inf"],
            "parameter eps of 09_ball (tolerance) must be finite, found '-inf'",
        ),
        (["--stored", "-p", "seed", "1"], "-p needs a run; leave it or --stored out"),
    ],
)
def test_senseless_reports_are_refused_before_anything_runs(
    clone, words, sentence, capsys
):
    out = clone / "out"
    assert cli.main(["report", "--out", str(out), *words]) == 2
    printed = capsys.readouterr()
    assert printed.err == f"mebnb: {sentence}\n" and printed.out == ""
    assert not out.exists()


def test_negative_numbers_are_values(clone, capsys):
    words = cli._shielded(["report", "-p", "eps", "-1e-5", "--jobs", "2"])
    arguments = cli._parser().parse_args(words)
    assert arguments.parameters == [["eps", " -1e-5"]] and arguments.jobs == 2


@pytest.mark.parametrize(
    "words", [["--jobs", "0"], ["--timeout", "nan"], ["-p", "seed"]]
)
def test_senseless_options_are_refused(clone, words, capsys):
    with pytest.raises(SystemExit) as refusal:
        cli.main(["report", *words])
    assert refusal.value.code == 2


def test_stored_report_ends_with_the_path_of_the_index(clone, capsys):
    assert cli.main(["report", "--stored", "--out", str(clone / "out")]) == 0
    assert capsys.readouterr().out == f"{clone / 'out' / 'index.html'}\n"
    assert (clone / "out" / "09_ball.html").exists()


def test_problem_of_a_page_names_notebook_and_cell_and_fails(clone, capsys):
    path = Path(clone) / "notebooks" / "09_ball.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(nbformat.v4.new_markdown_cell(r"so \eqref{eq:none}"))
    nbformat.write(notebook, path)
    assert cli.main(["report", "--stored", "--out", str(clone / "out")]) == 1
    assert capsys.readouterr().err == (
        "mebnb: 09_ball, cell 3: reference to an unknown equation: eq:none\n"
        "mebnb: failed: 09_ball\n"
    )


# --- run and export ------------------------------------------------------------------

HELP = """
  seed: int = 1  # which split
  eps: float = 0.1  # tolerance
"""


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-p", "sed", "7"], "unknown parameter 'sed'; 09_ball has seed, eps" + HELP),
        (
            ["-p", "seed", "x"],
            "parameter seed of 09_ball (which split) must be an int, found 'x'" + HELP,
        ),
        (["-f", "none.yaml"], "cannot read none.yaml: No such file or directory\n"),
    ],
)
def test_senseless_runs_are_refused_with_what_the_notebook_has(
    clone, words, sentence, capsys
):
    out = clone / "out.ipynb"
    assert cli.main(["run", "9", "-o", str(out), *words]) == 2
    assert capsys.readouterr().err == f"mebnb: {sentence}"
    assert not out.exists()


def test_run_does_not_overwrite_the_notebook_itself(clone, capsys):
    path = clone / "notebooks" / "09_ball.ipynb"
    assert cli.main(["run", str(path), "-o", str(path)]) == 2
    assert "-o would overwrite the notebook itself" in capsys.readouterr().err


def test_run_takes_yaml_and_paths_relative_to_the_caller(clone, capsys, monkeypatch):
    path = clone / "notebooks" / "09_ball.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(
        nbformat.v4.new_code_cell("import os; print(eps, os.getcwd())")
    )
    nbformat.write(notebook, path)
    (clone / "given.yaml").write_text("eps: 1e-6\nseed: 3\n")  # YAML: 1e-6 is text
    monkeypatch.chdir(clone)
    words = ["run", "notebooks/09_ball.ipynb", "-f", "given.yaml", "-p", "seed", "5"]
    assert cli.main([*words, "-o", "made/out.ipynb", "--html"]) == 0
    began, ended, *made = capsys.readouterr().out.splitlines()
    assert began == "09_ball: running" and re.fullmatch(r"09_ball: ok, .* s", ended)
    assert made == ["made/out.html", "made/out.ipynb"]
    executed = nbformat.read("made/out.ipynb", as_version=4)
    assert executed.metadata.papermill.parameters == {"eps": 1e-6, "seed": 5}
    assert executed.cells[-1].outputs[0].text == f"1e-06 {clone}\n"
    assert "All notebooks" not in Path("made/out.html").read_text()  # a page alone


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("- 1", "must map names to values, found [1]"), ("a: [", "is not YAML")],
)
def test_parameter_file_must_map_names_to_values(clone, text, sentence, capsys):
    file = clone / "given.yaml"
    file.write_text(text)
    assert cli.main(["run", "9", "-f", str(file), "-o", "out.ipynb"]) == 2
    assert capsys.readouterr().err == f"mebnb: {file} {sentence}\n"


def test_export_of_several_notebooks_writes_an_index(clone, capsys):
    path = clone / "notebooks" / "09_ball.ipynb"
    other = clone / "other.ipynb"
    shutil.copy(path, other)
    out = clone / "pages"
    assert cli.main(["export", str(path), str(other), "-o", str(out)]) == 0
    assert capsys.readouterr().out == f"{out / 'index.html'}\n"
    assert {file.name for file in out.iterdir()} == {
        "index.html",
        "09_ball.html",
        "other.html",
    }
    assert cli.main(["export", str(path), str(path), "-o", str(out)]) == 2
    assert capsys.readouterr().err == (
        "mebnb: two notebooks have the name 09_ball; rename one\n"
    )


def test_pdf_without_a_browser_is_refused_in_one_sentence(clone, capsys, monkeypatch):
    monkeypatch.setattr(printing.shutil, "which", lambda name: None)
    words = ["report", "--stored", "--pdf", "--out", str(clone / "out")]
    assert cli.main(words) == 2
    assert capsys.readouterr().err == (
        "mebnb: --pdf needs Chromium or Google Chrome, and none is installed; Debian "
        "has it as 'apt-get install chromium', other systems at www.google.com/chrome\n"
    )
    assert not (clone / "out").exists()


def test_report_is_printed_as_one_book(clone, capsys, monkeypatch):
    asked = []

    def print_book(index, pages, browser):
        asked.extend([*pages, browser])
        return index.with_name("book.pdf")

    monkeypatch.setattr(printing, "find_browser", lambda: "browser")
    monkeypatch.setattr(book, "print_book", print_book)
    out = clone / "out"
    assert cli.main(["report", "--stored", "--pdf", "--out", str(out)]) == 0
    assert asked == [out / "09_ball.html", "browser"]
    assert capsys.readouterr().out == f"{out / 'index.html'}\n{out / 'book.pdf'}\n"


def test_pdf_is_printed_beside_each_page(clone, capsys):
    if not any(shutil.which(name) for name in printing.BROWSERS):
        pytest.skip("no Chromium is installed")
    path = clone / "notebooks" / "09_ball.ipynb"
    assert cli.main(["export", str(path), "-o", str(clone), "--pdf"]) == 0
    assert (clone / "09_ball.pdf").read_bytes().startswith(b"%PDF")


# --- a tab ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("mebnb sw", {"sweep"}),
        ("mebnb run 12", {"12_maternal_risk"}),
        ("mebnb report --only 00", {"00_overview"}),
        ("mebnb data fetch wine", {"wine4", "wine_red"}),
        ("mebnb sweep 09 --qu", {"--quiet"}),
    ],
)
def test_tab_completes_commands_notebooks_and_data_sets(line, words, tmp_path):
    answer = tmp_path / "answer"
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    printed_to([], stdout=subprocess.PIPE, env={**os.environ, **asked})
    assert {word.strip() for word in answer.read_text().splitlines()} == words


# --- what cannot be written ----------------------------------------------------------


@pytest.fixture
def never_run(monkeypatch):
    """No run may begin."""

    def run(*_, **__):
        raise AssertionError("a notebook was run for nothing")

    for room in (running, making, sweeping):
        monkeypatch.setattr(room, "run_notebook", run)


WRITING = {
    "report": ["report", "--out"],
    "stored": ["report", "--stored", "--out"],
    "run": ["run", "9", "-o"],
    "export": ["export", "notebooks/09_ball.ipynb", "-o"],
    "sweep": ["sweep", "9", "-g", "seed", "0:9", "-o"],
}


@pytest.mark.parametrize("words", WRITING.values(), ids=WRITING)
@pytest.mark.parametrize(
    ("out", "reason"),
    [("file/out", "Not a directory"), ("folder/out", "No space left on device")],
    ids=["below a file", "full disk"],
)
def test_place_that_cannot_be_written_is_refused_before_any_run(
    clone, never_run, words, out, reason, capsys, monkeypatch
):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, reason)

    if out.startswith("folder"):
        monkeypatch.setattr(writing.tempfile, "TemporaryFile", full)
    (clone / "file").write_text("in the way")
    monkeypatch.chdir(clone)
    out = f"{out}.ipynb" if words[0] == "run" else out
    assert cli.main([*words, out]) == 2
    printed = capsys.readouterr()
    assert printed.err == f"mebnb: cannot write {out}: {reason}\n"
    assert printed.out == ""
    assert not [path for path in Path("folder").rglob("*") if path.is_file()]


@pytest.mark.parametrize("name", ["report", "sweep"])
def test_disk_that_is_full_ends_the_runs_at_the_first(clone, name, capsys, monkeypatch):
    runs = []

    def run(path, *_, **__):
        runs.append(path)
        return notebooks.read_notebook(path)

    def full(file):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for room in (making, sweeping):
        monkeypatch.setattr(room, "run_notebook", run)
    monkeypatch.setattr(writing.os, "fsync", full)
    folder = clone / "notebooks"
    for number in range(10, 15):
        shutil.copy(folder / "09_ball.ipynb", folder / f"{number}_ball.ipynb")
    monkeypatch.chdir(clone)
    assert cli.main([*WRITING[name], "out"]) == 2
    assert re.fullmatch(
        r"mebnb: cannot write out/\S+\.ipynb: No space left on device\n",
        capsys.readouterr().err,
    )
    assert len(runs) == 1
    assert not [path for path in Path("out").rglob("*") if path.is_file()]


def printed_to(words, **options):
    """Run the command in an interpreter of its own."""
    return subprocess.run(
        [sys.executable, "-m", "mebnb", *words],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        **options,
    )


@pytest.mark.parametrize(
    "words",
    [["--help"], ["--version"], ["check", "--id", "R-E01"], ["data", "list"]],
    ids=" ".join,
)
def test_output_onto_a_full_disk_ends_in_one_sentence(words):
    with open("/dev/full", "w") as disk:
        done = printed_to(words, stdout=disk)
    assert done.stderr == ("mebnb: standard output: No space left on device\n")
    assert done.returncode == 2


def test_ascii_terminal_shows_what_it_can(tmp_path):
    notebook = nbformat.v4.new_notebook()
    nbformat.write(notebook, tmp_path / "Kügelchen.ipynb")
    done = printed_to(
        ["export", "Kügelchen.ipynb", "-o", "größer"],
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout == "gr\\xf6\\xdfer/K\\xfcgelchen.html\n"


# --- check and data ------------------------------------------------------------------


def test_check_prints_entries_and_a_summary(capsys):
    assert cli.main(["check", "--id", "R-E01"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split()[:3] == ["R-E01", "HOLDS", "passed"]
    summary, seconds = lines[-1].rsplit("; ", 1)
    assert summary == "1 entries (1 HOLDS): 1 passed, 0 failed, 0 without data"
    assert re.fullmatch(r"\d+ s", seconds)


def test_check_names_the_witness_of_what_fails_as_it_is_read(capsys):
    assert cli.main(["check", "--id", "R-E07", "--id", "R-E26"]) == 0
    lost, wrong = capsys.readouterr().out.splitlines()[1:3]
    assert "; form in the scan fails: m = 1, u = 1, r = 1, |a - c| = 2" in lost
    assert "; printed form fails: points -1, 1: Phi = 1" in wrong


def test_check_fails_when_a_check_fails(capsys, monkeypatch):
    from mebnb.documents import checks

    entry = checks.all_entries(ids=["R-E01"])[0]
    spoiled = next(iter(entry.spoiled.values()))
    broken = dataclasses.replace(entry, true=spoiled)
    monkeypatch.setattr(checks, "all_entries", lambda document, ids: [broken])
    assert cli.main(["check"]) == 1
    assert "1 failed: R-E01" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--id", "none"], "mebnb: ids holds unknown entries 'none'; known are R-E01"),
        (
            ["--document", "none"],
            "mebnb: document must be one of report, slides, me2, derived, found 'none'",
        ),
    ],
)
def test_unknown_checks_are_refused(words, sentence, capsys):
    assert cli.main(["check", *words]) == 2
    assert capsys.readouterr().err.startswith(sentence)


def test_data_lists_fetches_and_refuses(capsys):
    assert cli.main(["data", "list"]) == 0
    assert "breast_cancer" in capsys.readouterr().out
    assert cli.main(["data", "fetch", "breast_cancer"]) == 0
    assert capsys.readouterr().out == "breast_cancer: scikit-learn\n"
    assert cli.main(["data", "fetch", "none"]) == 2
    assert capsys.readouterr().err.startswith(
        "mebnb: name must be one of breast_cancer"
    )
