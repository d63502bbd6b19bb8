"""The command line: exit codes, and one clear sentence for what cannot be done."""

from pathlib import Path

import nbformat
import pytest

from mebnb import cli
from mebnb.report import notebooks


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
            "parameter seed of 09_ball (which split) must be an int, found 'notanumber'",
        ),
        (["--only", "09", "-p", "sed", "7"], "unknown parameter 'sed'; 09_ball has seed, eps"),
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
    assert cli._given(arguments) == [("eps", "-1e-5")] and arguments.jobs == 2


@pytest.mark.parametrize("words", [["--jobs", "0"], ["--timeout", "nan"], ["-p", "seed"]])
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
