"""One look for every figure.

An algorithm has the same colour, marker and line everywhere; the colours are told
apart by colour-blind readers (Okabe and Ito, with a red that nobody calls orange).
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

__all__ = [
    "ALGORITHM_STYLES",
    "ANOMALY",
    "BALL",
    "BOUND_STYLES",
    "CLOUD_STYLES",
    "COLORS",
    "DARK",
    "DETECTOR_STYLES",
    "FINITE_STYLES",
    "METHOD_STYLES",
    "NOMINAL",
    "RULE_STYLES",
    "SAMPLE_STYLES",
    "SCALING_STYLES",
    "STYLE",
    "AlgorithmStyle",
    "strip_plot",
    "style",
]


COLORS = {
    "orange": "#e69f00",
    "sky": "#56b4e9",
    "green": "#009e73",
    "yellow": "#f0e442",
    "blue": "#0072b2",
    "red": "#cc3311",
    "purple": "#cc79a7",
    "black": "#000000",
    "grey": "#6e6e6e",
}

DARK = {
    "#ffffff": "#16191d",
    COLORS["black"]: "#dfe3e8",
    COLORS["grey"]: "#a3adb8",
    COLORS["orange"]: COLORS["orange"],
    COLORS["sky"]: "#7fd0ff",
    COLORS["green"]: "#0f9f74",
    COLORS["yellow"]: COLORS["yellow"],
    COLORS["blue"]: "#4d97e8",
    COLORS["red"]: "#f2553d",
    COLORS["purple"]: "#c96fae",
}
"""What paper, ink and each colour become on the dark pages of a report."""

COMMAND = re.compile(r"\\[a-z]+|[${}_^]")  # of a formula, of which no letter is seen
PANEL = 3.2  # width of one of two panels in inches; its words stay legible on a phone

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


# Key, label, colour, marker and line of all that is compared in figures.
# fmt: off
_LOOKS = {
    "algorithm": [
        ("frank_wolfe",            "Frank-Wolfe",                       "grey",   "v", ":"),
        ("away_step",              "away-step (ASFW)",                  "blue",   "o", "-"),
        ("pairwise",               "pairwise (PFW)",                    "purple", "D", "-."),
        ("blended_pairwise",       "blended pairwise (BPFW, BPCG)",     "red",    "s", "--"),
        ("core_set",               "core set (APPFW)",                  "green",  "^", "-"),
        ("core_set_away",          "core set with away steps, MEB(A)",  "orange", "P", "-."),
    ],
    "rule": [  # where a figure compares these for one algorithm
        ("exact",                  "exact",                             "black",  "o", "-"),
        ("short",                  "short, L of centred data",          "orange", "s", "--"),
        ("short_uncentred",        "short, L of the data as they are",  "red",    "D", "-."),
        ("diminishing",            "2/(t+2)",                           "blue",   "v", ":"),
        ("golden",                 "golden section",                    "purple", "P", "-."),
        ("armijo",                 "Armijo",                            "green",  "^", "--"),
        # The faulty rules of `mebnb.solvers.faulty_steps`.
        ("growing",                "t/(t+2)",                           "grey",   "X", ":"),
        ("golden_slip",            "golden section along -d",           "red",    "x", ":"),
        ("golden_midpoint",        "golden section, midpoint",          "sky",    "d", "-."),
        ("armijo_off",             "Armijo as printed",                 "red",    "X", "--"),
        ("armijo_no_end",          "Armijo from half the largest step", "sky",    "<", "--"),
    ],
    "method": [  # for classes of unequal size: the paper's eight, then those beside them
        ("RF",                     "RF",                                "grey",   "v", ":"),
        ("DT",                     "DT",                                "sky",    "s", "-"),
        ("DT_O",                   "DT_O",                              "green",  "^", "--"),
        ("DT_U",                   "DT_U",                              "orange", "D", "-."),
        ("DT_OU",                  "DT_OU",                             "purple", "P", ":"),
        ("LSVM",                   "LSVM",                              "black",  "s", "--"),
        ("RBFSVM",                 "RBFSVM",                            "red",    "D", "-."),
        ("ME2",                    "ME2",                               "blue",   "o", "-"),
        ("k-NN",                   "k-NN",                              "purple", "D", "-."),
        ("balanced forest",        "balanced forest",                   "green",  "v", "--"),
        ("gradient boosting",      "gradient boosting",                 "orange", "P", ":"),
        ("logistic regression",    "logistic regression",               "sky",    "s", "-"),
    ],
    "scaling": [  # of the features
        ("in [0, 1]",              "features in [0, 1]",                "blue",   "o", "-"),
        ("standardised",           "standardised",                      "red",    "s", "--"),
        ("as they are",            "as they are",                       "green",  "^", "-."),
        ("floor",                  "B - 1 / (2 mu)",                    "grey",   "",  ":"),
    ],
    "finite": [  # methods that end with the exact ball
        ("welzl",                  "Welzl",                             "grey",   "v", ":"),
        ("move_to_front",          "move to front",                     "sky",    "s", "--"),
        ("pivoting",               "pivoting",                          "purple", "D", "-."),
        ("walking_center",         "walking center",                    "green",  "^", "--"),
        ("active_set",             "active set",                        "orange", "P", "-"),
    ],
    "sample": [  # rows outside of a sample's ball
        ("bound",                  "Clarkson's bound",                  "red",    "",  "--"),
        ("by needed",              "with the needed rows",              "green",  "",  "-"),
        ("outside",                "measured, mean of the samples",     "blue",   "o", ""),
    ],
    "detector": [  # where a line stands for one
        ("hard ball",              "hard ball",                         "black",  "o", "-"),
        ("soft ball",              "soft ball",                         "blue",   "s", "--"),
        ("soft ball, plain slack", "soft ball, plain slack",            "purple", "D", "-."),
        ("soft ball, RBF",         "soft ball, RBF",                    "green",  "^", "-."),
        ("distance to the mean",   "distance to the mean",              "grey",   "v", ":"),
    ],
    "cloud": [  # of one size and shape, with and without dependent features
        ("data",                   "nominal rows",                      "blue",   "o", "-"),
        ("shuffled",               "columns shuffled",                  "orange", "s", "--"),
        ("normal",                 "normal cloud",                      "grey",   "v", ":"),
    ],
    "bound": [  # constants and bounds of the theory beside what is measured
        ("paper",                  "the paper's, mended",               "red",    "s", "--"),
        ("sharp",                  "sharp",                             "green",  "^", "-"),
        ("trivial",                "B, never exceeded",                 "black",  "",  ":"),
        ("worst",                  "measured, worst exchange tried",    "blue",   "o", "-"),
        ("drawn",                  "measured, random exchange",         "sky",    "v", "-."),
    ],
}
# fmt: on


def _styles(group):
    return {
        key: AlgorithmStyle(label, COLORS[color], marker, line)
        for key, label, color, marker, line in _LOOKS[group]
    }


ALGORITHM_STYLES = _styles("algorithm")
RULE_STYLES = _styles("rule")
METHOD_STYLES = _styles("method")
SCALING_STYLES = _styles("scaling")
DETECTOR_STYLES = _styles("detector")
CLOUD_STYLES = _styles("cloud")
BOUND_STYLES = _styles("bound")
FINITE_STYLES = _styles("finite")
SAMPLE_STYLES = _styles("sample")

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
    """The project's figure style: `@style()` over a function, `with style():` in a cell."""
    with plt.rc_context(STYLE):
        yield


def strip_plot(*args, **kwargs):
    """`seaborn.stripplot` whose dots are shaken apart alike in every run."""
    import seaborn as sns  # nearly a second that the other figures do not need

    # Seaborn draws from NumPy's global generator, which is nobody's to seed for good.
    before = np.random.get_state()
    np.random.seed(0)
    try:
        return sns.stripplot(*args, **kwargs)
    finally:
        np.random.set_state(before)


def panel_grid(count, height, **shared):
    """A figure of `count` panels, at most two in a row, so that a phone shows them.

    `shared` are the words of `plt.subplots` for axes that panels share.
    """
    columns = min(count, 2)
    rows = -(-count // columns)
    width = 2 * PANEL if columns == 2 else 1.4 * PANEL
    fig, axes = plt.subplots(
        rows, columns, figsize=(width, height * rows + 0.6), squeeze=False, **shared
    )
    for ax in axes.flat[count:]:
        ax.remove()
    fig.get_layout_engine().set(h_pad=0.09)
    return fig, list(axes.flat[:count])


def legend_below(fig, axes):
    """One legend for all panels, each label once: see `place_legend`."""
    seen = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        seen |= dict(zip(labels, handles, strict=True))
    place_legend(fig, axes, seen)


def place_legend(fig, axes, handles):
    """A legend where the grid has a free place at its end, else below the panels.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
    axes : list of matplotlib.axes.Axes
        From `panel_grid`.
    handles : dict of str -> artist
        By label.
    """
    grid = axes[0].get_gridspec()
    # The place is a panel, less the room for what stands left of its axes.
    if len(axes) < grid.nrows * grid.ncols and _width(handles, 1) < 0.9 * PANEL:
        free = fig.add_subplot(grid[-1])
        free.axis("off")
        legend = free.legend(handles.values(), handles.keys(), loc="center")
        legend.set_in_layout(False)  # it may reach into the margins of the place
        return
    fitting = [n for n in (3, 2) if _width(handles, n) < fig.get_figwidth()]
    ncols = min(len(handles), max(fitting, default=1))
    fig.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=ncols
    )


def _width(labels, ncols):
    """About what a legend takes in inches: of each column line, gaps and letters."""
    seen = [COMMAND.sub("", label) for label in labels]
    columns = [part for part in np.array_split(seen, ncols) if len(part)]
    return sum(0.6 + 0.075 * max(map(len, part)) for part in columns)
