"""Without their data, notebooks and tagged cells are skipped under nbval, by name."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from mebnb.datasets import CACHE, MIRROR, list_datasets

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"


def write(path, *cells):
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = [
        new_code_cell(source, execution_count=k, metadata={"tags": tags})
        for k, (source, tags) in enumerate(cells, start=1)
    ]
    nbformat.write(new_notebook(cells=made, metadata={"kernelspec": kernel}), path)


def run(folder, **environment):
    shutil.copy(NOTEBOOKS / "conftest.py", folder)
    answer = subprocess.run(
        [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider"]
        + ["--nbval", "--nbval-current-env", "."],
        cwd=folder,
        env={**os.environ, MIRROR: "", CACHE: str(folder / "cache"), **environment},
        capture_output=True,
        text=True,
    )
    return answer.returncode, " ".join(answer.stdout.split())


def test_a_notebook_without_its_data_is_skipped_by_name(tmp_path):
    write(tmp_path / "11_vertebral_column.ipynb", ("1 / 0", []), ("1 / 0", []))
    write(
        tmp_path / "98_other.ipynb",
        ("x = 1", []),
        ("1 / 0", ["needs-iranian_churn"]),
        ("assert x == 1", ["needs-breast_cancer"]),
    )
    code, said = run(tmp_path)
    assert code == 0, said
    assert "2 passed, 3 skipped" in said
    assert "11_vertebral_column: The data set vertebral_column is not available" in said
    assert "98_other: The data set iranian_churn is not available" in said


def test_drawings_are_not_compared_and_words_are(tmp_path):
    path = tmp_path / "98_other.ipynb"
    shows = (
        "from IPython.display import display\n"
        "display({'image/svg+xml': '<svg/>', 'text/plain': 'a figure'}, raw=True)"
    )
    write(path, (shows, []))
    notebook = nbformat.read(path, 4)
    for words, code in (("a figure", 0), ("another", 1)):
        data = {"image/svg+xml": "<svg>older</svg>", "text/plain": words}
        notebook.cells[0].outputs = [nbformat.v4.new_output("display_data", data)]
        nbformat.write(notebook, path)
        assert run(tmp_path)[0] == code


def test_whole_notebooks_are_named_as_their_files_are():
    named = runpy.run_path(str(NOTEBOOKS / "conftest.py"))["NOTEBOOKS"]
    for stem, names in named.items():
        assert re.fullmatch(r"\d\d_[a-z_]+", stem)
        assert set(names) <= set(list_datasets().index)
