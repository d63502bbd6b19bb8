"""The map from the documents to the notebooks: where each of their items is shown."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path

import pandas as pd

__all__ = ["DOCUMENT_TITLES", "DocumentMap", "document_map"]

DOCUMENT_TITLES = {
    "report": "Report: minimum enclosing ball and anomaly detection",
    "slides": "Slides: anomaly detection on biological data",
    "me2": "Paper: maximum excluding ellipsoids",
    "derived": "Facts derived on the way",
}

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


@dataclass(frozen=True)
class DocumentMap:
    """Rows of `document_map`, with links to the notebooks that are there.

    Attributes
    ----------
    frame : pandas.DataFrame
        Columns document, kind, item, what, notebook.
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
            items = ", ".join(rows["item"])
            body.append(
                f'<tr><th scope="row">{escape(items)}</th><td>{escape(what)}</td>'
                f"<td>{_link(notebook)}</td></tr>"
            )
        return (
            '<div style="overflow-x:auto"><table>'
            f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
        )


def _link(notebook):
    if (NOTEBOOKS / f"{notebook}.ipynb").exists():
        return f'<a href="{notebook}.ipynb">{notebook}</a>'
    return f"{notebook} (not written yet)"


def document_map(document=None):
    """Where each equation, algorithm, lemma, figure and table is shown.

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
    with (files("mebnb.published") / "document_map.csv").open(encoding="utf-8") as file:
        frame = pd.read_csv(file)
    known = list(dict.fromkeys(frame["document"]))
    if document is None:
        return DocumentMap(frame)
    if document not in known:
        raise ValueError(
            f"document must be one of {', '.join(known)}, found {document!r}"
        )
    return DocumentMap(frame[frame["document"] == document].reset_index(drop=True))
