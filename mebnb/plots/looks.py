"""One look for every figure.

An algorithm has the same colour, marker and line everywhere; the colours are told
apart by colour-blind readers (Okabe and Ito). `show` puts a figure into the notebook
together with a text that says what it shows.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import matplotlib.pyplot as plt
from IPython.display import display

__all__ = [
    "ALGORITHM_STYLES",
    "ANOMALY",
    "BALL",
    "BOUND_STYLES",
    "CLOUD_STYLES",
    "COLORS",
    "DETECTOR_STYLES",
    "METHOD_STYLES",
    "NOMINAL",
    "RULE_STYLES",
    "SCALING_STYLES",
    "STYLE",
    "AlgorithmStyle",
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

# Step rules, where a figure compares these for one algorithm.
RULE_STYLES = {
    "exact": AlgorithmStyle("exact", COLORS["black"], "o", "-"),
    "short": AlgorithmStyle("short, L of centred data", COLORS["orange"], "s", "--"),
    "short_uncentred": AlgorithmStyle(
        "short, L of the data as they are", COLORS["red"], "D", "-."
    ),
    "diminishing": AlgorithmStyle("2/(t+2)", COLORS["grey"], "v", ":"),
    "golden": AlgorithmStyle("golden section", COLORS["purple"], "P", "-."),
    "armijo": AlgorithmStyle("Armijo", COLORS["green"], "^", "--"),
    # The faulty rules of `mebnb.solvers.steps`.
    "growing": AlgorithmStyle("t/(t+2)", COLORS["grey"], "X", ":"),
    "golden_slip": AlgorithmStyle("golden section along -d", COLORS["red"], "x", ":"),
    "golden_midpoint": AlgorithmStyle(
        "golden section, midpoint", COLORS["sky"], "d", "-."
    ),
    "armijo_off": AlgorithmStyle("Armijo as printed", COLORS["red"], "X", "--"),
    "armijo_no_end": AlgorithmStyle(
        "Armijo from half the largest step", COLORS["sky"], "<", "--"
    ),
}

# Methods for classes of unequal size: the paper's eight, then those beside them.
METHOD_STYLES = {
    "RF": AlgorithmStyle("RF", COLORS["grey"], "v", ":"),
    "DT": AlgorithmStyle("DT", COLORS["sky"], "s", "-"),
    "DT_O": AlgorithmStyle("DT_O", COLORS["green"], "^", "--"),
    "DT_U": AlgorithmStyle("DT_U", COLORS["orange"], "D", "-."),
    "DT_OU": AlgorithmStyle("DT_OU", COLORS["purple"], "P", ":"),
    "LSVM": AlgorithmStyle("LSVM", COLORS["black"], "s", "--"),
    "RBFSVM": AlgorithmStyle("RBFSVM", COLORS["red"], "D", "-."),
    "ME2": AlgorithmStyle("ME2", COLORS["blue"], "o", "-"),
    "k-NN": AlgorithmStyle("k-NN", COLORS["purple"], "D", "-."),
    "balanced forest": AlgorithmStyle("balanced forest", COLORS["green"], "v", "--"),
    "gradient boosting": AlgorithmStyle(
        "gradient boosting", COLORS["orange"], "P", ":"
    ),
    "logistic regression": AlgorithmStyle(
        "logistic regression", COLORS["sky"], "s", "-"
    ),
}

# Features of one scale or another.
SCALING_STYLES = {
    "in [0, 1]": AlgorithmStyle("features in [0, 1]", COLORS["blue"], "o", "-"),
    "standardised": AlgorithmStyle("standardised", COLORS["red"], "s", "--"),
    "as they are": AlgorithmStyle("as they are", COLORS["green"], "^", "-."),
    "floor": AlgorithmStyle("B - 1 / (2 mu)", COLORS["grey"], "", ":"),
}

# Detectors, where a line stands for one.
DETECTOR_STYLES = {
    "hard ball": AlgorithmStyle("hard ball", COLORS["black"], "o", "-"),
    "soft ball": AlgorithmStyle("soft ball", COLORS["blue"], "s", "--"),
    "soft ball, plain slack": AlgorithmStyle(
        "soft ball, plain slack", COLORS["purple"], "D", "-."
    ),
    "soft ball, RBF": AlgorithmStyle("soft ball, RBF", COLORS["green"], "^", "-."),
    "distance to the mean": AlgorithmStyle(
        "distance to the mean", COLORS["grey"], "v", ":"
    ),
}

# Clouds of one size and shape, with and without dependent features.
CLOUD_STYLES = {
    "data": AlgorithmStyle("nominal rows", COLORS["blue"], "o", "-"),
    "shuffled": AlgorithmStyle("columns shuffled", COLORS["orange"], "s", "--"),
    "normal": AlgorithmStyle("normal cloud", COLORS["grey"], "v", ":"),
}

# Constants and bounds of the theory beside what is measured.
BOUND_STYLES = {
    "paper": AlgorithmStyle("the paper's, mended", COLORS["red"], "s", "--"),
    "sharp": AlgorithmStyle("sharp", COLORS["green"], "^", "-"),
    "trivial": AlgorithmStyle("B, never exceeded", COLORS["black"], "", ":"),
    "worst": AlgorithmStyle("measured, worst exchange tried", COLORS["blue"], "o", "-"),
    "drawn": AlgorithmStyle("measured, random exchange", COLORS["sky"], "v", "-."),
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


def panel_grid(count, width, height, most=3):
    """A figure of `count` panels, at most `most` in a row; two fit a phone."""
    columns = 2 if count in (2, 4) else min(most, count)
    rows = -(-count // columns)
    fig, axes = plt.subplots(
        rows, columns, figsize=(width * columns, height * rows + 0.6), squeeze=False
    )
    for ax in axes.flat[count:]:
        ax.remove()
    fig.get_layout_engine().set(h_pad=0.09)
    return fig, list(axes.flat[:count])


def legend_below(fig, axes):
    """One legend for all panels, each label once."""
    seen = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        seen |= dict(zip(labels, handles, strict=True))
    # About what a column takes in inches: line, gaps, and the letters of a label.
    width = 0.6 + 0.075 * max(map(len, seen))
    ncols = max(1, min(3, int(fig.get_figwidth() / width), len(seen)))
    fig.legend(seen.values(), seen.keys(), loc="outside lower center", ncols=ncols)
