"""The committed tables of the benchmarks, for the notebooks that show them."""

from __future__ import annotations

import pandas as pd

from mebnb.report.notebooks import CLONE

__all__ = ["measured"]


def measured(name):
    """A committed table of the folder benchmarks/results.

    Parameters
    ----------
    name : str
        Without its ending.

    Returns
    -------
    pandas.DataFrame
    """
    return pd.read_csv(CLONE / "benchmarks" / "results" / f"{name}.csv")
