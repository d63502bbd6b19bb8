"""Figures of measured times: who leads on which cloud, and what an entry costs."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from mebnb.plots.looks import ANOMALY, BALL, COLORS, legend_below, style

__all__ = ["cost_lines", "lead_dots"]

MARKERS = "osD^vP"
LINES = ("blue", "orange", "green", "red", "purple", "sky")


@style()
def lead_dots(leads, kinds):
    """How many times as long the best peer takes, one dot a cloud, on a log axis.

    Parameters
    ----------
    leads : pandas.Series
        By the names of the clouds.
    kinds : pandas.Series of str
        Of each cloud, by the same names; each kind is a row, in the order of their first.

    Returns
    -------
    matplotlib.figure.Figure
    """
    rows = list(dict.fromkeys(kinds))
    fig, ax = plt.subplots(figsize=(6.0, 0.3 * len(rows) + 1.2))
    places = np.array([rows.index(kinds[name]) for name in leads.index])
    ahead = leads.to_numpy() >= 1.0
    for here, color, marker, label in (
        (ahead, COLORS["blue"], "o", "the exact ball is ahead"),
        (~ahead, ANOMALY, "X", "the peer is ahead"),
    ):
        look = {"color": color, "marker": marker, "ls": "", "label": label}
        if here.any():
            ax.plot(leads[here], places[here], **look)
    ax.axvline(1.0, color=BALL, lw=0.8, ls="--")
    ax.set_xscale("log")
    ax.set_yticks(range(len(rows)), rows)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlabel("time of the best peer / time of the exact ball")
    legend_below(fig, [ax])
    return fig


@style()
def cost_lines(costs):
    """Nanoseconds an entry against the number of rows, a line for each n.

    Parameters
    ----------
    costs : pandas.DataFrame
        With columns m, n, ns_an_entry.

    Returns
    -------
    matplotlib.figure.Figure
    """
    fig, ax = plt.subplots(figsize=(6.4, 4.0))
    colors = [COLORS[name] for name in LINES]
    lines = [(n, rows) for n, rows in costs.groupby("n") if len(rows) > 1]
    for k, (n, rows) in enumerate(lines):
        rows = rows.sort_values("m")
        look = {"color": colors[k % len(colors)], "marker": MARKERS[k % len(MARKERS)]}
        ax.plot(rows["m"], rows["ns_an_entry"], lw=1.2, label=f"n = {n}", **look)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("rows, m")
    ax.set_ylabel("ns an entry")
    legend_below(fig, [ax])
    return fig
