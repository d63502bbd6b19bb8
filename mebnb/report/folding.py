"""Answers that a reader opens when ready: Markdown folded under a word."""

from __future__ import annotations

__all__ = ["show_folded"]


def show_folded(text, *, summary="Solution"):
    """Show Markdown under a word that opens it, in Jupyter and in exported pages.

    Parameters
    ----------
    text : str
        Markdown, with formulas and tables; numbers come from the cell that shows it.
    summary : str
        The word that opens it.
    """
    from IPython.display import Markdown, display

    told = f"<details><summary>{summary}</summary>\n\n{text.strip()}\n\n</details>"
    display(Markdown(told))
