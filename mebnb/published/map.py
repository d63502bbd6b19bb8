"""The map from the documents to the notebooks: the cell that treats each of their items.

A cell is named by its id, which JupyterLab and the exported pages both understand in a
link (`#cell-id=R-E12`). `mebnb.report.storing` keeps the ids that are linked here and
numbers all others.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path

import pandas as pd

__all__ = [
    "DOCUMENT_TITLES",
    "DocumentMap",
    "cell_link",
    "document_map",
    "entry_places",
    "linked_cells",
]

DOCUMENT_TITLES = {
    "report": "Report: minimum enclosing ball and anomaly detection",
    "slides": "Slides: anomaly detection on biological data",
    "me2": "Paper: maximum excluding ellipsoids",
    "derived": "Facts derived on the way",
}

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


@dataclass(frozen=True)
class DocumentMap:
    """Rows of `document_map`, with links to the cells of the notebooks that are there.

    Attributes
    ----------
    frame : pandas.DataFrame
        Columns document, kind, item, what, notebook, cell.
    """

    frame: pd.DataFrame

    def __repr__(self):
        return self.frame.to_string(index=False)

    def _repr_html_(self):
        head = "".join(
            f'<th scope="col">{name}</th>' for name in ("item", "what", "shown in")
        )
        body = []
        columns = ["document", "kind", "what", "notebook"]
        for (_, _, what, notebook), rows in self.frame.groupby(columns, sort=False):
            items = ", ".join(
                cell_link(notebook, row.cell, row.item) for row in rows.itertuples()
            )
            body.append(
                f'<tr><th scope="row">{items}</th><td>{escape(what)}</td>'
                f"<td>{_link(notebook)}</td></tr>"
            )
        return (
            '<div style="overflow-x:auto"><table>'
            f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
        )


def _link(notebook):
    if _is_there(notebook):
        return f'<a href="{notebook}.ipynb">{notebook}</a>'
    return f"{notebook} (not written yet)"


def _is_there(notebook):
    return (NOTEBOOKS / f"{notebook}.ipynb").exists()


def cell_link(notebook, cell, text):
    """A link to a cell, as HTML; the bare text where the notebook is not there.

    Parameters
    ----------
    notebook : str
        File name without ".ipynb".
    cell : str
        The cell's id.
    text : str

    Returns
    -------
    str
    """
    if not _is_there(notebook):
        return escape(text)
    return f'<a href="{notebook}.ipynb#cell-id={cell}">{escape(text)}</a>'


@functools.cache
def entry_places():
    """The cell that shows each entry of the check list.

    Returns
    -------
    dict of str to (str, str)
        Id of the entry -> notebook, id of the cell.
    """
    frame = _read("entry_places.csv")
    cells = zip(frame["notebook"], frame["cell"], strict=True)
    return dict(zip(frame["entry"], cells, strict=True))


def linked_cells(notebook):
    """The cells of a notebook that something links to; their ids must not change.

    Parameters
    ----------
    notebook : str
        File name without ".ipynb".

    Returns
    -------
    set of str
        Ids of cells.
    """
    frame = document_map().frame
    items = frame.loc[frame["notebook"] == notebook, "cell"]
    return {
        *items,
        *(cell for name, cell in entry_places().values() if name == notebook),
    }


def _read(name):
    with (files("mebnb.published") / name).open(encoding="utf-8") as file:
        return pd.read_csv(file)


def document_map(document=None):
    """The cell that treats each equation, algorithm, lemma, figure and table.

    Parameters
    ----------
    document : str or None
        "report", "slides", "me2"; None for all.

    Returns
    -------
    DocumentMap

    Raises
    ------
    ValueError
        For an unknown document.
    """
    frame = _read("document_map.csv")
    known = list(dict.fromkeys(frame["document"]))
    if document is None:
        return DocumentMap(frame)
    if document not in known:
        raise ValueError(
            f"document must be one of {', '.join(known)}, found {document!r}"
        )
    return DocumentMap(frame[frame["document"] == document].reset_index(drop=True))
