"""Find the notebooks of the clone, choose among them, read them."""

from __future__ import annotations

import warnings
from pathlib import Path

import nbformat

from mebnb.report import ReportError
from mebnb.report.words import escaped
from mebnb.writing import write_file

CLONE = Path(__file__).resolve().parents[2]


def notebooks_folder():
    """The folder `notebooks/` of the clone that this package is installed from.

    Raises
    ------
    ReportError
        When the package is installed without its clone.
    """
    folder = CLONE / "notebooks"
    if not (CLONE / "pyproject.toml").is_file() or not folder.is_dir():
        raise ReportError(
            "the notebooks are not part of the installed package: clone the repository "
            "and install it from there with 'pip install --editable .'"
        )
    return folder


def list_notebooks(folder):
    """The notebooks of a folder in reading order, which is the order of their names."""
    return sorted(Path(folder).glob("*.ipynb"))


def select_notebooks(folder, only=()):
    """The notebooks that were asked for, in reading order.

    Parameters
    ----------
    folder : path
    only : iterable of str
        Numbers ("09" or "9"), names ("09_breast_cancer", with or without
        ".ipynb") or comma lists of them; empty for all.

    Returns
    -------
    list of Path

    Raises
    ------
    ReportError
        For an unknown notebook; the message lists the known ones.
    """
    known = list_notebooks(folder)
    if not known:
        raise ReportError(f"no notebook in {folder}")
    wanted = [word.strip() for words in only for word in words.split(",")]
    if not wanted:
        return known
    chosen = {_find(word, known) for word in wanted}
    return [path for path in known if path in chosen]


def _find(word, known):
    for path in known:
        number = path.stem.split("_")[0]
        same_number = (
            word.isdecimal() and number.isdecimal() and int(word) == int(number)
        )
        if same_number or word in (path.stem, path.name):
            return path
    names = ", ".join(path.stem for path in known)
    raise ReportError(f"unknown notebook {word!r}; known are {names}")


def read_notebook(path):
    """Read a notebook file as nbformat 4.

    Raises
    ------
    ReportError
        When there is no such file or it is not a notebook.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise ReportError(f"cannot read {path}: {error.strerror}") from None
    return parse_notebook(content, path)


def parse_notebook(content, what):
    """The bytes of a notebook file as nbformat 4.

    Parameters
    ----------
    content : bytes
    what : object
        How the message names the file.

    Raises
    ------
    ReportError
        When it is not a notebook.
    """
    try:
        with warnings.catch_warnings():
            # Cells without ids, from old notebooks, get one silently.
            warnings.simplefilter("ignore")
            return nbformat.reads(content.decode("utf-8"), as_version=4)
    except Exception:  # nbformat raises many kinds for a broken file
        raise ReportError(f"{what} is not a Jupyter notebook") from None


def write_notebook(notebook, path):
    """Write a notebook, whole or not at all."""
    write_file(path, nbformat.writes(notebook) + "\n")


def tags(cell):
    """The tags of a cell."""
    return cell.metadata.get("tags", [])


def title_of(notebook, fallback):
    """The text of the first heading, as Markdown; where there is none, other words."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for line in cell.source.splitlines():
                if line.startswith("#"):
                    return line.lstrip("#").strip()
    return escaped(fallback)
