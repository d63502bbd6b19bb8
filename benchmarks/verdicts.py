"""What the measurements are worth: marks, ratios, and the bounds of the project.

Works on the table of one run, a row per cloud and solver; nothing is measured here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

__all__ = ["OURS", "Bound", "check_bounds", "judge"]

OURS = "minimum_enclosing_ball"

# A peer whose radius is off by more than this, or that leaves a point out by more than
# this share of its radius, has answered wrongly.
WRONG = 1e-6


def judge(table):
    """Mark wrong answers and compare times, cloud by cloud.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns case, solver, ours (bool), status, median_ms, run_ms (list, the median
        of each run), radius, enclosing, lower_bound (ours; NaN for peers), verified
        (ours; None for peers).

    Returns
    -------
    pandas.DataFrame
        The same rows, with
        best_lower_bound: the largest certified one of the cloud;
        radius_error: |radius / best lower bound - 1|;
        outside: how far beyond the radius the farthest point lies, relative to it;
        inside: whether no point does, rounding (1e-12) aside;
        status: "done" became "right", "wrong" or "unchecked" (no lower bound known);
        ratio: median time over that of the best peer that answers rightly;
        worst_ratio: the largest of these ratios in one run.
    """
    table = table.copy()
    certified = table["lower_bound"].where(table["verified"].eq(True))
    bound = certified.groupby(table["case"]).transform("max")
    table["best_lower_bound"] = bound
    table["radius_error"] = _relative(table["radius"], bound).abs()
    table["outside"] = _relative(table["enclosing"], table["radius"]).clip(lower=0.0)
    table["inside"] = (table["outside"] <= 1e-12).where(table["outside"].notna(), None)
    done = table["status"] == "done"
    # Written so that NaN, which compares false, counts as wrong.
    good = (table["radius_error"] <= WRONG) & (table["outside"] <= WRONG)
    good &= ~table["ours"] | table["verified"].eq(True)
    table.loc[done & good, "status"] = "right"
    table.loc[done & ~good, "status"] = "wrong"
    table.loc[done & bound.isna() & ~table["ours"], "status"] = "unchecked"
    table["ratio"] = table["median_ms"] / table["case"].map(best_peer_ms(table))
    table["worst_ratio"] = _worst_ratio(table)
    return table


def _worst_ratio(table):
    """The largest ratio that a row has in one run, where the cloud's best peer ran too."""
    runs = table[["case", "ours", "status", "run_ms"]].explode("run_ms")
    runs["run"] = runs.groupby(level=0).cumcount()
    rivals = runs[~runs["ours"] & (runs["status"] == "right")]
    best = rivals.groupby(["case", "run"])["run_ms"].min().rename("best").reset_index()
    both = runs.reset_index().merge(best, on=["case", "run"])
    return (both["run_ms"] / both["best"]).groupby(both["index"]).max().astype(float)


def _relative(value, reference):
    """value / reference - 1, and 0 where both are 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        result = value / reference - 1.0
    return result.mask((value == 0.0) & (reference == 0.0), 0.0)


def best_peer_ms(table):
    """Median time of the fastest peer that answers rightly, by case.

    Returns
    -------
    pandas.Series
        Indexed by case; a case without such a peer is left out.
    """
    rivals = table[~table["ours"] & (table["status"] == "right")]
    return rivals.groupby("case")["median_ms"].min()


# --- the bounds --------------------------------------------------------------------


@dataclass(frozen=True)
class Bound:
    """One bound with what was found; `met` is None when nothing could be compared."""

    text: str
    met: bool | None
    figure: str

    def __str__(self):
        word = {True: "met", False: "NOT MET", None: "not measured"}[self.met]
        return f"{word:<12} {self.text}: {self.figure}"


def check_bounds(table):
    """Hold `minimum_enclosing_ball` against every bound of the project.

    Parameters
    ----------
    table : pandas.DataFrame
        As `judge` returns it, with columns kind, m, n, product_ms, gap, extra_bytes.

    Returns
    -------
    list of Bound
    """
    ours = table[table["solver"] == OURS].set_index("case")
    lead = _lead(ours, table)
    worst = (1.0 / ours["worst_ratio"]).reindex(lead.index)
    bounds = [
        _at_least(
            "ahead of every peer in every run",
            worst.where(np.isfinite(worst) & lead.notna(), lead),
            1.0,
        )
    ]
    for factor, clouds in (
        (8, ((100_000, 100), (1_000_000, 30), (10_000, 1_000))),
        (5, ((100_000, 30), (1_000_000, 10))),
    ):
        for m, n in clouds:
            here = lead[_normal(ours, m, n).reindex(lead.index)]
            bounds.append(_at_least(f"{factor} times ahead at {m} x {n}", here, factor))
    passes = ours["median_ms"] / ours["product_ms"]
    for n, most in ((2, 6), (3, 6), (10, 4), (30, 4), (100, 6)):
        text = f"at most {most} matrix-vector products at 1000000 x {n}"
        bounds.append(_at_most(text, passes[_normal(ours, 1_000_000, n)], most))
    offset = ours["kind"] == "offset"
    answered = ours["status"] == "right"
    memory = ours["extra_bytes"] / np.maximum(2 * ours["m"] * ours["n"], 64 * 2**20)
    return bounds + [
        _at_most("relative gap <= 1e-12", ours["gap"][~offset], 1e-12),
        _at_most("relative gap <= 1e-8 at offset 1e8", ours["gap"][offset], 1e-8),
        _at_most("every point within radius (1 + 1e-12)", ours["outside"], 1e-12),
        _at_least("every answer verified", answered.astype(float), 1.0),
        _at_most("extra memory over max(data / 4, 64 MiB)", memory, 1.0),
    ]


def _normal(ours, m, n):
    return (ours["kind"] == "normal") & (ours["m"] == m) & (ours["n"] == n)


def _lead(ours, table):
    """How many times faster than the best peer, for the clouds that peers were asked.

    A cloud that no peer solves rightly is won by whoever does solve it.
    """
    lead = (1.0 / ours["ratio"]).where(ours["status"] == "right")
    lead = lead.mask(lead.isna() & (ours["status"] == "right"), math.inf)
    return lead[lead.index.isin(table.loc[~table["ours"], "case"])]


def _at_least(text, values, least):
    return _bound(text, values, values >= least, values.fillna(-math.inf).idxmin)


def _at_most(text, values, most):
    return _bound(text, values, values <= most, values.fillna(math.inf).idxmax)


def _bound(text, values, holds, worst):
    """NaN, a case without an answer of ours, does not hold."""
    if values.empty:
        return Bound(text, None, "no such cloud in this run")
    case = worst()
    figure = f"worst {_short(values[case])} at {case}"
    if not holds.all():
        failing = [f"{name} ({_short(values[name])})" for name in values.index[~holds]]
        figure = f"{len(failing)} of {len(values)} clouds: {', '.join(failing)}"
    return Bound(text, bool(holds.all()), figure)


def _short(value):
    return "no answer" if pd.isna(value) else f"{value:.3g}"
