"""Every figure's recipe, in one style.

An algorithm has the same colour, marker and line everywhere; the colours are told
apart by colour-blind readers (Okabe and Ito). Recipes draw on given axes or return a
figure; `show` puts a figure into the notebook together with a text that says what
it shows.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from IPython.display import display
from matplotlib.patches import Circle

__all__ = [
    "ALGORITHM_STYLES",
    "AlgorithmStyle",
    "COLORS",
    "ball_2d",
    "convergence",
    "distribution_over_splits",
    "fermat_spiral",
    "multipliers_2d",
    "primal_and_dual",
    "show",
    "style",
]

COLORS = {
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "green": "#009E73",
    "yellow": "#F0E442",
    "blue": "#0072B2",
    "red": "#D55E00",
    "purple": "#CC79A7",
    "black": "#000000",
    "grey": "#6E6E6E",
}

NOMINAL, ANOMALY, BALL = COLORS["blue"], COLORS["red"], COLORS["black"]


@dataclass(frozen=True)
class AlgorithmStyle:
    """How one algorithm looks in every figure."""

    label: str
    color: str
    marker: str
    line: str

    @property
    def kwargs(self):
        """Keyword arguments for `Axes.plot`; markers are thinned out."""
        return {
            "label": self.label,
            "color": self.color,
            "marker": self.marker,
            "linestyle": self.line,
        }


ALGORITHM_STYLES = {
    "frank_wolfe": AlgorithmStyle("Frank-Wolfe", COLORS["grey"], "v", ":"),
    "away_step": AlgorithmStyle("away-step (ASFW)", COLORS["blue"], "o", "-"),
    "pairwise": AlgorithmStyle("pairwise (PFW)", COLORS["purple"], "D", "-."),
    "blended_pairwise": AlgorithmStyle(
        "blended pairwise (BPFW, BPCG)", COLORS["red"], "s", "--"
    ),
    "core_set": AlgorithmStyle("core set (APPFW)", COLORS["green"], "^", "-"),
    "core_set_away": AlgorithmStyle(
        "core set with away steps, MEB(A)", COLORS["orange"], "P", "-."
    ),
}

STYLE = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "figure.constrained_layout.use": True,
    "figure.dpi": 110,
    "font.size": 10,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "savefig.dpi": 110,
}


@contextlib.contextmanager
def style():
    """The project's figure style, for the figures made inside the `with` block."""
    with plt.rc_context(STYLE):
        yield


def show(fig, alt):
    """Show a figure in the notebook with its alternative text, then close it.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
    alt : str
        What the figure shows, for readers who cannot see it.

    Raises
    ------
    ValueError
        When the text is empty.
    """
    if not alt or not alt.strip():
        raise ValueError("alt must say what the figure shows, found an empty text")
    display(fig, metadata={"image/png": {"alt": " ".join(alt.split())}})
    plt.close(fig)


# --- pictures in the plane ---------------------------------------------------------


def ball_2d(ax, points, ball, *, anomalies=None, label="points"):
    """Points in the plane, their ball, its center, and the support points marked.

    Parameters
    ----------
    ax : matplotlib Axes
    points : ndarray, shape (m, 2)
    ball : Solution
    anomalies : ndarray, shape (k, 2), or None
        Drawn as crosses.
    label : str
        Legend entry of the points.
    """
    points = np.asarray(points)
    ax.scatter(*points.T, s=9, color=NOMINAL, alpha=0.6, label=label, linewidths=0)
    if anomalies is not None:
        ax.scatter(
            *np.asarray(anomalies).T, s=16, marker="x", color=ANOMALY, label="anomalies"
        )
    ax.add_patch(Circle(ball.center, ball.radius, fill=False, color=BALL, lw=1.4))
    ax.plot(*ball.center, marker="+", ms=11, mew=1.6, color=BALL, ls="", label="center")
    ax.scatter(
        *points[ball.support].T,
        s=70,
        facecolors="none",
        edgecolors=COLORS["orange"],
        linewidths=1.8,
        label="support points",
        zorder=3,
    )
    ax.set_aspect("equal")
    ax.set_xlabel("$x_1$")
    ax.set_ylabel("$x_2$")


def fermat_spiral(count):
    """Points on a Fermat spiral, radius sqrt(k) at k golden angles (report Figure 1).

    Parameters
    ----------
    count : int

    Returns
    -------
    ndarray, shape (count, 2)
    """
    k = np.arange(1, count + 1)
    angle = k * np.pi * (3.0 - np.sqrt(5.0))
    return np.sqrt(k)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


def multipliers_2d(ax, points, ball):
    """The multipliers as weights: disks on the boundary points, area in proportion.

    Lines join the center to the points that carry it.
    """
    ball_2d(ax, points, ball)
    for row, weight in zip(ball.support, ball.weights, strict=True):
        ax.plot(
            *np.vstack([ball.center, points[row]]).T, color=COLORS["orange"], lw=1, zorder=1
        )
        ax.scatter(*points[row], s=900 * weight, color=COLORS["orange"], alpha=0.45)
        ax.annotate(
            f"{weight:.2f}", points[row], textcoords="offset points", xytext=(8, 8)
        )


def primal_and_dual(solution):
    """Squared enclosing radius and dual value closing on each other, and their gap.

    Parameters
    ----------
    solution : Solution
        With a trace.

    Returns
    -------
    matplotlib.figure.Figure
    """
    frame = solution.trace.to_frame()
    with style():
        fig, (values, gap) = plt.subplots(1, 2, figsize=(8.0, 3.3))
        values.plot(frame["radius"] ** 2, color=COLORS["red"], label="primal: max $d_i$")
        values.plot(frame["gamma"], color=COLORS["blue"], ls="--", label=r"dual: $\gamma$")
        values.set_ylabel("squared units")
        values.legend()
        gap.semilogy(frame["fw_gap"].where(frame["fw_gap"] > 0), color=COLORS["black"])
        gap.set_ylabel("gap (squared units)")
        for ax in (values, gap):
            ax.set_xlabel("iteration")
        return fig


# --- convergence -------------------------------------------------------------------


PANELS = {
    "fw_gap": ("FW gap (squared units)", "log"),
    "relative_gap": ("FW gap / gamma", "log"),
    "objective": ("gamma* - gamma (squared units)", "log"),
    "gamma": ("dual value gamma", "linear"),
    "active": ("active-set size", "linear"),
}


def convergence(
    solutions,
    panels=("objective", "fw_gap", "active"),
    *,
    x="iteration",
    gamma=None,
    linear=False,
):
    """Traces of several algorithms, one panel a quantity.

    Parameters
    ----------
    solutions : dict of str -> Solution
        Keys name styles (see `ALGORITHM_STYLES`); each solution has a trace.
    panels : sequence of str
        "gamma", "objective" (gamma* - gamma), "fw_gap", "relative_gap", "active".
    x : str
        "iteration" or "seconds".
    gamma : float or None
        The optimal value gamma*, needed for "objective".
    linear : bool
        Linear axes throughout, as the report has them; no rate can be seen on these.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        fig, axes = plt.subplots(
            1, len(panels), figsize=(3.6 * len(panels), 3.4), squeeze=False
        )
        for ax, panel in zip(axes[0], panels, strict=True):
            ylabel, scale = PANELS[panel]
            scale = "linear" if linear else scale
            for name, solution in solutions.items():
                frame = solution.trace.to_frame()
                values = _panel_values(frame, panel, gamma)
                positive = values > 0 if scale == "log" else np.isfinite(values)
                every = max(1, len(frame) // 8)
                ax.plot(
                    frame[x][positive],
                    values[positive],
                    markevery=every,
                    **ALGORITHM_STYLES[name].kwargs,
                )
            ax.set_yscale(scale)
            ax.set_xlabel("iteration" if x == "iteration" else "seconds")
            ax.set_ylabel(ylabel)
        handles, labels = axes[0][0].get_legend_handles_labels()
        fig.legend(
            handles, labels, loc="outside lower center", ncols=min(3, len(labels))
        )
        return fig


def _panel_values(frame, panel, gamma):
    if panel == "relative_gap":
        return (frame["fw_gap"] / frame["gamma"].where(frame["gamma"] > 0)).to_numpy()
    if panel == "objective":
        return (gamma - frame["gamma"]).to_numpy()
    return frame[panel].to_numpy(dtype=float)


# --- many splits -------------------------------------------------------------------


def distribution_over_splits(frame, columns, marked=None, marked_label="published split"):
    """How scores spread over split seeds, with one split marked.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row a split.
    columns : dict of str -> str
        Column name -> axis label.
    marked : mapping of str -> float or None
        Values of the split to mark.
    marked_label : str

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        fig, axes = plt.subplots(
            1, len(columns), figsize=(3.4 * len(columns), 2.9), squeeze=False
        )
        for ax, (column, label) in zip(axes[0], columns.items(), strict=True):
            sns.stripplot(
                x=frame[column], ax=ax, color=NOMINAL, alpha=0.6, size=5, jitter=0.25
            )
            mean = frame[column].mean()
            ax.axvline(mean, color=COLORS["grey"], label="mean over splits")
            if marked is not None:
                ax.axvline(marked[column], color=ANOMALY, ls="--", label=marked_label)
            ax.set_xlabel(label)
            ax.set_yticks([])
        handles, labels = axes[0][0].get_legend_handles_labels()
        fig.legend(handles, labels, loc="outside lower center", ncols=2)
        return fig
