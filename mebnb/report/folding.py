"""Tables that a reader opens when ready: answers, folded under a word."""

from __future__ import annotations

from mebnb.report.words import escaped, without_formulas

__all__ = ["show_folded"]


def show_folded(table, summary="The numbers"):
    """Show a table under a word that opens it, in Jupyter and in exported pages.

    Parameters
    ----------
    table : pandas.DataFrame
    summary : str
        The word that opens it.
    """
    from IPython.display import display

    shown = without_formulas(table.to_html())
    folded = f"<details><summary>{escaped(summary)}</summary>{shown}</details>"
    display({"text/html": folded, "text/plain": table.to_string()}, raw=True)
