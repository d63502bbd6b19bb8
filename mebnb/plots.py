"""Every figure's recipe, in one style.

An algorithm has the same colour, marker and line everywhere; the colours are told
apart by colour-blind readers (Okabe and Ito). Recipes draw on given axes or return a
figure; `show` puts a figure into the notebook together with a text that says what
it shows.
"""

from __future__ import annotations

import contextlib
import itertools
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from IPython.display import display
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Ellipse, Polygon
from matplotlib.ticker import MaxNLocator

__all__ = [
    "ALGORITHM_STYLES",
    "BOUND_STYLES",
    "CLOUD_STYLES",
    "COLORS",
    "DETECTOR_STYLES",
    "METHOD_STYLES",
    "RULE_STYLES",
    "SCALING_STYLES",
    "AlgorithmStyle",
    "against",
    "ball_2d",
    "ball_3d",
    "blending",
    "bounds",
    "by_set",
    "circles_2d",
    "circumcircle",
    "components_2d",
    "contamination_curves",
    "convergence",
    "counts_by_rule",
    "detectors_2d",
    "distribution_over_splits",
    "ellipsoids_2d",
    "feature_search",
    "fermat_spiral",
    "gaps_by_step",
    "in_panels",
    "iterates_2d",
    "line_search",
    "multipliers_2d",
    "nu_property",
    "over_rates",
    "paths_2d",
    "primal_and_dual",
    "published_beside",
    "regions_2d",
    "scores_by_factor",
    "scores_over_splits",
    "show",
    "soft_balls_2d",
    "step_lengths",
    "steps_on_face",
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
    # The faulty rules of `mebnb.steps`.
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


def ball_3d(points, ball, anomalies, names):
    """Points in space inside their ball, drawn as a wire net, and anomalies.

    Parameters
    ----------
    points : ndarray, shape (m, 3)
    ball : Solution
    anomalies : ndarray, shape (k, 3)
        Crosses; those outside of the ball in a stronger colour.
    names : sequence of str
        The three axes' labels.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        fig = plt.figure(figsize=(6.4, 5.2))
        ax = fig.add_subplot(projection="3d", computed_zorder=False)
        longitude, latitude = np.mgrid[0 : 2 * np.pi : 37j, 0 : np.pi : 19j]
        sphere = (
            np.cos(longitude) * np.sin(latitude),
            np.sin(longitude) * np.sin(latitude),
            np.cos(latitude),
        )
        net = [c + ball.radius * x for c, x in zip(ball.center, sphere, strict=True)]
        ax.plot_wireframe(*net, color=COLORS["grey"], lw=0.4, alpha=0.5, zorder=1)
        ax.scatter(*points.T, s=12, color=NOMINAL, label="nominal, training", zorder=2)
        # An anomaly on the sphere, such as one that equals a support point, is inside.
        reach = ball.radius * (1 + 1e-6)
        beyond = np.linalg.norm(anomalies - ball.center, axis=1) > reach
        for chosen, color, label in (
            (~beyond, COLORS["orange"], "anomaly inside"),
            (beyond, ANOMALY, "anomaly outside"),
        ):
            look = {"s": 18, "marker": "x", "color": color, "label": label}
            ax.scatter(*anomalies[chosen].T, zorder=3, **look)
        ax.scatter(
            *points[ball.support].T,
            s=80,
            facecolors="none",
            edgecolors=BALL,
            linewidths=1.6,
            label="support point",
            zorder=4,
        )
        ends = [ball.center - ball.radius, ball.center + ball.radius]
        every = np.vstack([points, anomalies, *ends])
        middle = (every.min(axis=0) + every.max(axis=0)) / 2
        reach = np.ptp(every, axis=0).max() / 2
        axes = (ax.xaxis, ax.yaxis, ax.zaxis)
        for axis, name, at in zip(axes, names, middle, strict=True):
            axis.set_label_text(name)
            axis.set_view_interval(at - reach, at + reach, ignore=True)
            axis.set_major_locator(MaxNLocator(4))
        # Equal lengths on equal sides: the ball is round.
        ax.set_box_aspect((1, 1, 1), zoom=1.1)
        ax.view_init(elev=18, azim=-60)
        _legend_below(fig, [ax])
        return fig


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
            *np.vstack([ball.center, points[row]]).T,
            color=COLORS["orange"],
            lw=1,
            zorder=1,
        )
        ax.scatter(*points[row], s=900 * weight, color=COLORS["orange"], alpha=0.45)
        ax.annotate(
            f"{weight:.2f}", points[row], textcoords="offset points", xytext=(8, 8)
        )


def detectors_2d(panels):
    """Balls as detectors in the plane: what they were fitted on and what they judge.

    Parameters
    ----------
    panels : dict of str -> (Split, Solution)
        Title -> a split with two features and the ball of its training points.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        fig, axes = _panels(len(panels), width=4.2, height=4.0)
        for ax, (title, (split, ball)) in zip(axes, panels.items(), strict=True):
            nominal = split.test[~split.test_is_anomaly]
            anomalies = split.test[split.test_is_anomaly]
            ball_2d(ax, split.train, ball, anomalies=anomalies, label="training points")
            if len(nominal):
                ax.scatter(
                    *nominal.T,
                    s=9,
                    color=COLORS["green"],
                    label="nominal test points",
                    linewidths=0,
                )
            ax.set_title(title)
        _legend_below(fig, axes)
        return fig


CIRCLE_LOOKS = ((BALL, "-"), (COLORS["red"], "--"), (COLORS["blue"], "-."))


def circles_2d(panels):
    """Points in the plane with circles about them, some points marked.

    Parameters
    ----------
    panels : dict of str -> (points, marked, circles)
        Title -> points, shape (m, 2); rows to mark; and label -> (center, radius), at
        most three labels, each with the same look in every panel.

    Returns
    -------
    matplotlib.figure.Figure
    """
    labels = list(dict.fromkeys(c for *_, circles in panels.values() for c in circles))
    looks = dict(zip(labels, CIRCLE_LOOKS, strict=False))
    with style():
        fig, axes = _panels(len(panels), width=3.1, height=3.2)
        for ax, (title, (points, marked, circles)) in zip(
            axes, panels.items(), strict=True
        ):
            points = np.asarray(points)
            ax.scatter(*points.T, s=14, color=COLORS["sky"], linewidths=0, zorder=2)
            ring = {"facecolors": "none", "edgecolors": COLORS["orange"]}
            ax.scatter(
                *points[marked].T,
                s=70,
                linewidths=1.8,
                label="core set",
                zorder=3,
                **ring,
            )
            for label, (center, radius) in circles.items():
                color, line = looks[label]
                ax.add_patch(
                    Circle(center, radius, fill=False, color=color, ls=line, lw=1.4)
                )
                ax.plot([], [], color=color, ls=line, label=label)
                ax.plot(*center, marker="+", ms=10, mew=1.6, color=color, ls="")
            ax.autoscale_view()
            ax.set_aspect("equal")
            ax.set_xlabel("$x_1$")
            ax.set_ylabel("$x_2$")
            ax.set_title(title)
        _legend_below(fig, axes)
        return fig


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
        values.plot(
            frame["radius"] ** 2, color=COLORS["red"], label="primal: max $d_i$"
        )
        values.plot(
            frame["gamma"], color=COLORS["blue"], ls="--", label=r"dual: $\gamma$"
        )
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


def distribution_over_splits(
    frame, columns, marked=None, marked_label="published split"
):
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


def scores_over_splits(frame, columns, group="detector"):
    """Scores of several detectors, one row each, one dot a split, the mean as a bar.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row for each detector and split, as `Evaluation.frame`.
    columns : dict of str -> str
        Column name -> axis label.
    group : str
        Column that names the detectors; rows keep their order.

    Returns
    -------
    matplotlib.figure.Figure
    """
    names = list(frame[group].unique())
    with style():
        fig, axes = plt.subplots(
            1,
            len(columns),
            figsize=(2.2 + 3.2 * len(columns), 0.9 + 0.42 * len(names)),
            sharey=True,
            squeeze=False,
        )
        for ax, (column, label) in zip(axes[0], columns.items(), strict=True):
            look = {"color": NOMINAL, "alpha": 0.5, "size": 4, "jitter": 0.18}
            sns.stripplot(frame, x=column, y=group, order=names, ax=ax, **look)
            means = frame.groupby(group)[column].mean()[names]
            ax.plot(
                means, range(len(names)), ls="", marker="|", ms=16, mew=2, color=BALL
            )
            ax.set_xlabel(label)
            ax.set_ylabel("")
        return fig


THRESHOLD_LOOKS = {
    "recall": ("recall", COLORS["red"], "-"),
    "false_alarms": ("false alarms", COLORS["blue"], "--"),
    "f1": ("F1", COLORS["black"], "-."),
}


def scores_by_threshold(frame, marks):
    """What a detector finds, and at what price, as its threshold moves.

    Parameters
    ----------
    frame : pandas.DataFrame
        From `mebnb.protocols.threshold_scores`.
    marks : dict of str -> float
        Label -> threshold to mark with a vertical line.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        fig, ax = plt.subplots(figsize=(6.6, 3.4))
        for column, (label, color, line) in THRESHOLD_LOOKS.items():
            ax.plot(frame[column], color=color, ls=line, label=label)
        tones = itertools.cycle([COLORS["grey"], COLORS["orange"], COLORS["green"]])
        for (label, at), color in zip(marks.items(), tones, strict=False):
            ax.axvline(at, color=color, lw=1.2, ls=":", label=label)
        ax.set_xlabel("threshold: distance from the center")
        ax.set_ylabel("share")
        _legend_below(fig, [ax])
        return fig


def feature_search(search, chosen):
    """Recall against the number of features kept.

    Parameters
    ----------
    search : pandas.DataFrame
        From `mebnb.protocols.slides_feature_search`.
    chosen : int
        The number to mark.

    Returns
    -------
    matplotlib.figure.Figure
    """
    looks = {
        "recall_train": ("training side", COLORS["blue"], "o", "-"),
        "recall_test": ("test side", COLORS["orange"], "s", "--"),
    }
    with style():
        fig, ax = plt.subplots(figsize=(6.0, 3.2))
        for column, (label, color, marker, line) in looks.items():
            ax.plot(search[column], color=color, marker=marker, ls=line, label=label)
        ax.axvline(chosen, color=BALL, lw=1.0, ls=":", label=f"K = {chosen}")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_xlabel("number of features, K")
        ax.set_ylabel("recall")
        ax.set_ylim(0.0, 1.0)
        _legend_below(fig, [ax])
        return fig


# --- iterates that can be seen -----------------------------------------------------

# A direction looks like the algorithm that it is named after.
DIRECTION_COLORS = {
    "FW": ALGORITHM_STYLES["frank_wolfe"].color,
    "away": ALGORITHM_STYLES["away_step"].color,
    "pairwise": ALGORITHM_STYLES["pairwise"].color,
    "plus": ALGORITHM_STYLES["core_set"].color,
    "minus": ALGORITHM_STYLES["core_set_away"].color,
    "drop": COLORS["red"],
    "swap": COLORS["red"],
}
DIRECTION_LABELS = {
    "FW": "towards the farthest point",
    "away": "away from the nearest active point",
    "pairwise": "pairwise: from the nearest active point to the other end",
    "plus": "plus: towards the farthest point",
    "minus": "minus: away from the nearest point of the core set",
    "drop": "largest step: an active point is dropped",
}


def iterates_2d(points, states, at=(0, 1, 2, 3, 5, 8)):
    """Iterates of one run in the plane, one panel an iteration.

    Each panel shows the active points (rings as large as their weight), the path of
    the center so far, the trial ball of radius sqrt(gamma), the enclosing ball, and the
    direction of the next step with the points that span it.

    Parameters
    ----------
    points : ndarray, shape (m, 2)
    states : sequence of State
        What the solver's callback saw, from iteration 0.
    at : sequence of int
        Iterations to draw; those beyond the last are left out.

    Returns
    -------
    matplotlib.figure.Figure
    """
    points = np.asarray(points)
    at = [t for t in at if t < len(states)]
    with style():
        fig, axes = _panels(len(at), width=3.4, height=3.5, most=2)
        used = []
        for ax, t in zip(axes, at, strict=True):
            _plane(ax, points, states[-1])
            _iterate(ax, points, states[: t + 1])
            title = f"t = {t}, gap {states[t].fw_gap:.2g}"
            if t + 1 < len(states):
                used.append(states[t + 1].kind)
                _next_direction(ax, points, states[t], states[t + 1])
                title += f"\nnext: {states[t + 1].kind}"
            ax.set_title(title)
        fig.legend(handles=_iterate_handles(used), loc="outside lower center", ncols=2)
        return fig


def paths_2d(points, runs, styles=ALGORITHM_STYLES):
    """The path of the center in the plane, one panel a run.

    Parameters
    ----------
    points : ndarray, shape (m, 2)
    runs : dict of str -> sequence of State
        Keys name styles.
    styles : mapping of str -> style with `label` and `color`

    Returns
    -------
    matplotlib.figure.Figure
    """
    points = np.asarray(points)
    with style():
        fig, axes = _panels(len(runs), width=3.4, height=3.5, most=2)
        for ax, (name, states) in zip(axes, runs.items(), strict=True):
            _plane(ax, points, states[-1])
            _iterate(ax, points, states, color=styles[name].color)
            ax.set_title(f"{styles[name].label}\n{len(states) - 1} steps")
        fig.legend(handles=_iterate_handles(()), loc="outside lower center", ncols=2)
        return fig


def _plane(ax, points, last):
    """The points, and a window about the last ball."""
    ax.scatter(*points.T, s=14, color=COLORS["sky"], linewidths=0, zorder=2)
    reach = 1.35 * last.radius
    for limits, middle in zip((ax.set_xlim, ax.set_ylim), last.center, strict=True):
        limits(middle - reach, middle + reach)
    ax.set_aspect("equal")
    ax.set_xlabel("$x_1$")
    ax.set_ylabel("$x_2$")


def _iterate(ax, points, states, color=BALL):
    """Active points, both balls and the path of the center up to the last state."""
    state = states[-1]
    trial = max(state.gamma, 0.0) ** 0.5
    ax.add_patch(Circle(state.center, trial, fill=False, color=BALL, lw=1.4))
    ax.add_patch(
        Circle(state.center, state.radius, fill=False, color=BALL, lw=1.0, ls="--")
    )
    ax.scatter(
        *points[state.support].T,
        s=30 + 300 * state.weights,
        facecolors="none",
        edgecolors=COLORS["orange"],
        linewidths=1.8,
        zorder=3,
    )
    path = np.array([seen.center for seen in states])
    ax.plot(*path.T, color=color, lw=1.0, marker=".", ms=4, zorder=4)
    ax.plot(*state.center, marker="+", ms=11, mew=1.8, color=BALL, zorder=5)


def _ends(now, then):
    """The points that a step moved weight to and took weight from; None where neither.

    A step towards a point takes from all others, a step away gives to all others.
    """
    rows = np.union1d(now.support, then.support)
    change = np.zeros(rows.size)
    change[np.searchsorted(rows, then.support)] += then.weights
    change[np.searchsorted(rows, now.support)] -= now.weights
    comes = then.kind in ("FW", "plus", "pairwise")
    goes = then.kind not in ("FW", "plus")
    towards = int(rows[change.argmax()]) if comes else None
    away = int(rows[change.argmin()]) if goes else None
    return towards, away


def _next_direction(ax, points, now, then):
    color = DIRECTION_COLORS[then.kind]
    for end in _ends(now, then):
        if end is not None:
            line = np.array([now.center, points[end]])
            ax.plot(*line.T, color=color, lw=1.0, ls=":", zorder=3)
    _arrow(ax, now.center, then.center - now.center, 0.5 * then.radius, color)


def _arrow(ax, origin, direction, length, color):
    """An arrow of given length; none where the direction vanishes."""
    norm = float(np.hypot(*direction))
    if norm > 0.0:
        ax.annotate(
            "",
            xy=origin + direction * (length / norm),
            xytext=origin,
            arrowprops={
                "arrowstyle": "-|>",
                "color": color,
                "lw": 2.0,
                "shrinkA": 0,
                "shrinkB": 0,
            },
            zorder=6,
        )


def _iterate_handles(kinds):
    plain = {"color": BALL, "marker": ""}
    ring = {"mfc": "none", "mec": COLORS["orange"], "mew": 1.8, "ms": 9, "ls": ""}
    handles = [
        Line2D([], [], label="trial ball, radius $\\sqrt{\\gamma}$", **plain),
        Line2D([], [], label="enclosing ball", ls="--", lw=1.0, **plain),
        Line2D([], [], label="active point, size = weight", marker="o", **ring),
        Line2D([], [], label="path of the center", color=BALL, marker=".", lw=1.0),
    ]
    for kind, label in DIRECTION_LABELS.items():
        if kind in kinds:
            color = DIRECTION_COLORS[kind]
            handles.append(
                Line2D([], [], label=label, color=color, marker=">", lw=2.0, ms=6)
            )
    return handles


def steps_on_face(panels, *, at=0):
    """Steps over triangles of three points, each the simplex of their weights.

    A center inside the triangle belongs to exactly one set of weights, and the dual
    value there is R^2 - |c - o|^2 with o and R from the circle through the corners: its
    level lines are circles about o. So the triangle is a picture of the dual problem.

    Parameters
    ----------
    panels : dict of str -> (corners, states, directions)
        Title -> three points in the plane, the states of a run on them, and the
        directions drawn as arrows at one state: any of "FW", "away", "pairwise".
    at : int
        The state at which the arrows start.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        sides = np.array([np.ptp(corners, axis=0) for corners, _, _ in panels.values()])
        height = 0.5 + 3.2 * (sides[:, 1] / sides[:, 0]).max()
        fig, axes = _panels(len(panels), width=3.6, height=height, most=2)
        kinds = []
        for ax, (title, panel) in zip(axes, panels.items(), strict=True):
            corners, states, directions = panel
            _face(ax, corners)
            kinds += _path_on_face(ax, states) + list(directions)
            for kind in directions:
                _direction_on_face(ax, corners, states[at], kind)
            ax.set_title(title)
        handles = [
            Line2D([], [], color=DIRECTION_COLORS[kind], label=label, lw=2.0)
            for kind, label in DIRECTION_LABELS.items()
            if kind in kinds
        ]
        if handles:
            fig.legend(handles=handles, loc="outside lower center", ncols=2)
        return fig


def circumcircle(corners):
    """Center and radius of the circle through three points of the plane.

    Parameters
    ----------
    corners : ndarray, shape (3, 2)
        Not on one line.

    Returns
    -------
    center : ndarray, shape (2,)
    radius : float
    """
    first, rest = corners[0], corners[1:]
    center = np.linalg.solve(
        2.0 * (rest - first), (rest**2).sum(axis=1) - (first**2).sum()
    )
    return center, float(np.hypot(*(first - center)))


def _face(ax, corners):
    """The triangle, the level lines of the dual value in it, the best center."""
    outline = Polygon(corners, closed=True, fill=False, color=BALL, lw=1.2)
    ax.add_patch(outline)
    middle, _ = circumcircle(corners)
    for radius in np.linspace(0.0, np.hypot(*(corners - middle).T).max(), 13)[1:]:
        level = Circle(middle, radius, fill=False, color=COLORS["grey"], lw=0.6)
        ax.add_patch(level)
        level.set_clip_path(outline)
    best = _best_center(corners, middle)
    ax.plot(*best, marker="*", ms=12, color=COLORS["orange"], ls="", zorder=5)
    inside = corners.mean(axis=0)
    for number, corner in enumerate(corners, start=1):
        ax.annotate(
            f"$a_{number}$",
            corner + 0.12 * (corner - inside),
            ha="center",
            va="center",
        )
    low, high = corners.min(axis=0), corners.max(axis=0)
    margin = 0.16 * (high - low).max()
    ax.set_xlim(low[0] - margin, high[0] + margin)
    ax.set_ylim(low[1] - margin, high[1] + margin)
    ax.set_aspect("equal")
    ax.set_axis_off()


def _best_center(corners, middle):
    """Circumcenter of an acute triangle, else the middle of the longest edge."""
    weights = np.linalg.solve(
        np.vstack([corners.T, np.ones(3)]), np.append(middle, 1.0)
    )
    if weights.min() >= 0.0:
        return middle
    return np.delete(corners, weights.argmin(), axis=0).mean(axis=0)


def _path_on_face(ax, states):
    """The centers, each step in the colour of its kind; the kinds that occur."""
    for now, then in itertools.pairwise(states):
        segment = np.array([now.center, then.center])
        ax.plot(*segment.T, color=DIRECTION_COLORS[then.kind], lw=1.3, zorder=3)
    path = np.array([state.center for state in states])
    ax.plot(*path.T, color=BALL, marker="o", ms=3, ls="", zorder=4)
    return [state.kind for state in states[1:]]


def _direction_on_face(ax, corners, state, kind):
    distances = ((corners - state.center) ** 2).sum(axis=1)
    towards = corners[distances.argmax()]
    away = corners[state.support[distances[state.support].argmin()]]
    direction = {
        "FW": towards - state.center,
        "away": state.center - away,
        "pairwise": towards - away,
    }[kind]
    length = 0.22 * np.ptp(corners, axis=0).max()
    _arrow(ax, state.center, direction, length, DIRECTION_COLORS[kind])


# --- gaps and rates ----------------------------------------------------------------


def bounds(solution, optimum):
    """How the dual value and the enclosing radius close in on the optimum.

    Left: gamma and gamma + gap, between which r*^2 lies. Right, on a log axis: the gap
    beside the error gamma* - gamma that it bounds.

    Parameters
    ----------
    solution : Solution
        With a trace.
    optimum : float
        gamma* = r*^2.

    Returns
    -------
    matplotlib.figure.Figure
    """
    frame = solution.trace.to_frame()
    t, gamma, gap = frame["iteration"], frame["gamma"], frame["fw_gap"]
    with style():
        fig, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.4))
        left.fill_between(t, gamma, gamma + gap, color=COLORS["sky"], alpha=0.3, lw=0)
        left.plot(t, gamma + gap, color=COLORS["red"], label="$\\gamma$ + gap")
        left.plot(t, gamma, color=COLORS["blue"], label="$\\gamma$")
        left.axhline(optimum, color=BALL, ls="--", lw=1.2, label="$r_*^2$")
        left.set_ylabel("squared radius")
        error = optimum - gamma
        right.plot(t, gap, color=COLORS["red"], label="FW gap")
        right.plot(
            t[error > 0],
            error[error > 0],
            color=COLORS["blue"],
            ls="--",
            label="error $\\gamma_* - \\gamma$",
        )
        right.set_yscale("log")
        right.set_ylabel("squared units")
        for ax in (left, right):
            ax.set_xlabel("iteration")
            ax.legend()
        return fig


QUANTITIES = {
    "relative_gap": ("FW gap / $\\gamma$", "log"),
    "active": ("active-set size", "linear"),
}


def by_set(
    runs,
    quantity="relative_gap",
    *,
    xscale="linear",
    fit_band=None,
    guide=None,
    styles=ALGORITHM_STYLES,
):
    """One quantity over the iterations, one panel a set, one line a run.

    A linear axis ends soon after the longest run that converged.

    Parameters
    ----------
    runs : dict of str -> dict of str -> Solution
        runs[set][style key], each with a trace.
    quantity : str
        "relative_gap" (on a log axis) or "active".
    xscale : str
        "linear", where a straight gap is a linear rate, or "log", where it is a power.
    fit_band : (float, float) or None
        Draw the line fitted to log gap on t where the gap lies in this band.
    guide : float or None
        Draw t^guide, for the eye.
    styles : mapping of str -> style

    Returns
    -------
    matplotlib.figure.Figure
    """
    ylabel, yscale = QUANTITIES[quantity]
    with style():
        fig, axes = _panels(len(runs), width=3.6, height=2.9, most=2)
        for ax, (label, solutions) in zip(axes, runs.items(), strict=True):
            for name, solution in solutions.items():
                t, values = _over_iterations(solution.trace, quantity)
                shown = np.isfinite(values) & (t > 0)
                ax.plot(
                    t[shown],
                    values[shown],
                    markevery=_spread_out(int(shown.sum()), xscale),
                    **styles[name].kwargs,
                )
                if fit_band is not None:
                    _fitted_line(ax, solution.trace, *fit_band)
            if guide is not None:
                t = np.geomspace(1, max(len(s.trace) for s in solutions.values()), 50)
                name = f"$t^{{{guide:g}}}$"
                ax.plot(t, t**guide, color=BALL, lw=0.8, ls="--", label=name)
            ax.set_xscale(xscale)
            ax.set_yscale(yscale)
            if quantity == "active":
                ax.yaxis.set_major_locator(MaxNLocator(integer=True))
            done = [s.iterations for s in solutions.values() if s.converged]
            if xscale == "linear" and done:
                ax.set_xlim(-0.05 * max(done), 1.4 * max(done))
            ax.set_title(label)
            ax.set_xlabel("iteration")
            ax.set_ylabel(ylabel)
        _legend_below(fig, axes)
        return fig


def gaps_by_step(runs, tol=None):
    """Gap against iteration on log axes, one panel a step rule (slides, Figures 2 to 5).

    The gap is not monotone: it is drawn thin, and the smallest one so far on top.

    Parameters
    ----------
    runs : dict of str -> dict of str -> Solution
        runs[step rule][style key], each with a trace.
    tol : float or None
        Where the runs stop, drawn as a line.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        fig, axes = _panels(len(runs), width=4.0, height=3.2)
        for ax, (step, solutions) in zip(axes, runs.items(), strict=True):
            for name, solution in solutions.items():
                gap = np.array(solution.trace.fw_gap)
                t = np.arange(1, gap.size + 1)
                look = ALGORITHM_STYLES[name]
                ax.plot(t, gap, color=look.color, lw=0.5, alpha=0.25)
                every = _spread_out(gap.size, "log")
                lowest = np.minimum.accumulate(gap)
                ax.plot(t, lowest, markevery=every, **look.kwargs)
            if tol is not None:
                ax.axhline(tol, color=BALL, lw=0.8, ls=":", label=f"tolerance {tol:g}")
            ax.set_xscale("log")
            ax.set_yscale("log")
            ax.set_title(f"{step} step")
            ax.set_xlabel("gap evaluation")
            ax.set_ylabel("FW gap (squared units)")
        _legend_below(fig, axes)
        return fig


def in_panels(
    panels,
    xlabel,
    ylabel,
    *,
    guides=None,
    xscale="log",
    yscale="log",
    styles=ALGORITHM_STYLES,
):
    """Measured values against a parameter, one panel a set or quantity, one line a run.

    Parameters
    ----------
    panels : dict of str -> dict of str -> (x, y)
        panels[title][style key].
    xlabel : str
    ylabel : str or dict of str -> str
        The latter by title.
    guides : dict of str -> callable or None
        Label -> y as a function of x, drawn thin in every panel.
    xscale, yscale : str
    styles : mapping of str -> style

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        fig, axes = _panels(len(panels), width=3.4, height=2.9)
        for ax, (title, lines) in zip(axes, panels.items(), strict=True):
            for name, (x, y) in lines.items():
                ax.plot(x, y, **styles[name].kwargs)
            every = np.concatenate([np.asarray(x, float) for x, _ in lines.values()])
            span = np.geomspace(every.min(), every.max(), 50)
            for label, function in (guides or {}).items():
                ax.plot(span, function(span), color=BALL, lw=0.8, ls="--", label=label)
            ax.set_xscale(xscale)
            ax.set_yscale(yscale)
            ax.set_title(title)
            ax.set_xlabel(xlabel)
            ax.set_ylabel(ylabel if isinstance(ylabel, str) else ylabel[title])
        _legend_below(fig, axes)
        return fig


def _panels(count, width, height, most=3):
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


def _over_iterations(trace, quantity):
    values = trace.relative_gaps() if quantity == "relative_gap" else trace.active
    values = np.array(values, dtype=float)
    return np.arange(values.size), values


def _spread_out(count, scale):
    """About eight markers along a line, evenly on its axis."""
    if scale == "linear" or count < 2:
        return max(1, count // 8)
    return sorted({int(k) - 1 for k in np.geomspace(1, count, 8)})


def _fitted_line(ax, trace, above, below):
    factor, _ = trace.linear_rate(above, below)
    gap = np.minimum.accumulate(trace.relative_gaps())
    t = np.flatnonzero((gap >= above) & (gap <= below))
    if t.size > 2 and factor > 0:
        middle = np.log(gap[t]).mean()
        line = np.exp(middle + np.log(factor) * (t - t.mean()))
        ax.plot(t, line, color=BALL, lw=0.9, zorder=5, label="fit, log gap on t")


def _legend_below(fig, axes):
    """One legend for all panels, each label once."""
    seen = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        seen |= dict(zip(labels, handles, strict=True))
    # About what a column takes in inches: line, gaps, and the letters of a label.
    width = 0.6 + 0.075 * max(map(len, seen))
    ncols = max(1, min(3, int(fig.get_figwidth() / width), len(seen)))
    fig.legend(seen.values(), seen.keys(), loc="outside lower center", ncols=ncols)


def blending(frame):
    """The two sides of the blending test over the iterations, and who won.

    Parameters
    ----------
    frame : pandas.DataFrame
        From `studies.blending_gaps`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        fig, ax = plt.subplots(figsize=(8.4, 3.6))
        t, local = frame.index, frame["local"].where(frame["local"] > 0)
        ax.plot(t, local, color=COLORS["purple"], lw=1.2, label="local pairwise gap")
        ax.plot(t, frame["fw_gap"], color=BALL, lw=1.2, ls="--", label="FW gap")
        looks = {
            "FW": ("v", COLORS["grey"], "FW step: a point may come in"),
            "drop": ("X", COLORS["red"], "drop step: a point goes"),
        }
        for kind, (marker, color, label) in looks.items():
            rows = frame[frame["next"] == kind]
            ax.plot(
                rows.index,
                rows["fw_gap"],
                marker=marker,
                color=color,
                ms=7,
                ls="",
                label=label,
            )
        ax.set_yscale("log")
        ax.set_xlabel("iteration")
        ax.set_ylabel("gap (squared units)")
        _legend_below(fig, [ax])
        return fig


def counts_by_rule(frame):
    """Iteration counts of repeated runs, one dot a run, one row a rule.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns rule, algorithm (style key) and iterations.

    Returns
    -------
    matplotlib.figure.Figure
    """
    rules = list(dict.fromkeys(frame["rule"]))
    algorithms = list(dict.fromkeys(frame["algorithm"]))
    with style():
        fig, ax = plt.subplots(figsize=(8.0, 0.8 * len(rules) + 1.6))
        for shift, name in zip(
            np.linspace(-0.24, 0.24, len(algorithms)), algorithms, strict=True
        ):
            rows = frame[frame["algorithm"] == name]
            look = ALGORITHM_STYLES[name]
            height = rows["rule"].map(rules.index) + shift
            ax.plot(
                rows["iterations"],
                height,
                color=look.color,
                marker=look.marker,
                ls="",
                alpha=0.5,
                label=look.label,
            )
        ax.set_yticks(range(len(rules)), rules)
        ax.invert_yaxis()
        ax.set_xscale("log")
        ax.set_xlabel("iterations")
        _legend_below(fig, [ax])
        return fig


def line_search(panels, rules):
    """Where step rules end on the parabola along a direction, one panel a line.

    Parameters
    ----------
    panels : dict of str -> Line
    rules : dict of str -> StepRule
        Keys name `RULE_STYLES`; ready for the points.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        fig, axes = _panels(len(panels), width=4.4, height=3.0)
        for ax, (title, line) in zip(axes, panels.items(), strict=True):
            steps = np.linspace(0.0, 1.12 * line.largest, 200)
            ax.plot(steps, [line.change(step) for step in steps], color=BALL, lw=1.0)
            ax.axvline(line.largest, color=COLORS["grey"], lw=1.0, ls="--")
            for name, rule in rules.items():
                step, look = rule(line), RULE_STYLES[name]
                ax.plot(
                    step,
                    line.change(step),
                    color=look.color,
                    marker=look.marker,
                    ms=8,
                    ls="",
                    label=look.label,
                )
            ax.set_title(title)
            ax.set_xlabel("step length (dashed: the largest)")
            ax.set_ylabel("change of $f$ (squared units)")
        _legend_below(fig, axes)
        return fig


def step_lengths(solutions, styles=RULE_STYLES):
    """Step length over the iterations on a log axis, one panel a run.

    Parameters
    ----------
    solutions : dict of str -> Solution
        Keys name styles; each with a trace.
    styles : mapping of str -> style

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        fig, axes = _panels(len(solutions), width=3.6, height=2.6, most=2)
        for ax, (name, solution) in zip(axes, solutions.items(), strict=True):
            steps = np.array(solution.trace.step, dtype=float)
            drops = np.array(solution.trace.kind) == "drop"
            t = np.arange(steps.size)
            for chosen, marker, size, color, label in (
                (~drops, ".", 4, styles[name].color, "step"),
                (drops, "o", 7, BALL, "drop step"),
            ):
                chosen = chosen & (steps > 0)
                look = {"color": color, "marker": marker, "ms": size, "mfc": "none"}
                ax.plot(t[chosen], steps[chosen], ls="", label=label, **look)
            ax.set_yscale("log")
            low, high = np.nanmin(steps[steps > 0]), np.nanmax(steps)
            if high < 10.0 * low:
                ax.set_ylim(low / 10.0, high * 10.0)
            ax.set_title(styles[name].label)
            ax.set_xlabel("iteration")
            ax.set_ylabel("step length")
        axes[0].legend(loc="best")
        return fig


def against(frame, x, y, group, styles, *, guide=None, lines=False):
    """One column against another on log axes, one marker a group.

    Parameters
    ----------
    frame : pandas.DataFrame
    x, y : dict of one column -> its axis label
    group : str
        Column whose values name styles.
    styles : mapping of str -> style
    guide : float or None
        Draw y = guide * x, for the eye.
    lines : bool
        Join the points of a group, in the order of x.

    Returns
    -------
    matplotlib.figure.Figure
    """
    (x, xlabel), (y, ylabel) = *x.items(), *y.items()
    with style():
        fig, ax = plt.subplots(figsize=(6.4, 4.0))
        for name, rows in frame.groupby(group, sort=False):
            rows = rows.sort_values(x)
            look = styles[name].kwargs | ({} if lines else {"linestyle": ""})
            ax.plot(rows[x], rows[y], **look)
        if guide is not None:
            ends = np.array([frame[x].min(), frame[x].max()])
            label = "y = x" if guide == 1 else f"y = {guide:g} x"
            ax.plot(ends, guide * ends, color=BALL, lw=0.8, ls="--", label=label)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel(xlabel)
        ax.set_ylabel(ylabel)
        _legend_below(fig, [ax])
        return fig


# --- classes of unequal size -------------------------------------------------------


def ellipsoids_2d(panels):
    """Excluding ellipsoids in the plane, with what they keep out.

    Parameters
    ----------
    panels : dict of str -> (negatives, ellipsoids)
        Title -> points, shape (n, 2), and one Ellipsoid a center.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        fig, axes = _panels(len(panels), width=4.2, height=4.2)
        for ax, (title, (negatives, ellipsoids)) in zip(
            axes, panels.items(), strict=True
        ):
            ax.scatter(
                *negatives.T, s=10, color=NOMINAL, label="negatives", linewidths=0
            )
            centers = np.array([ellipsoid.center for ellipsoid in ellipsoids])
            ax.plot(*centers.T, "x", color=ANOMALY, mew=1.8, ms=7, label="positives")
            for ellipsoid in ellipsoids:
                ax.add_patch(_outline(ellipsoid))
            ax.plot([], [], color=BALL, lw=1.3, label="$|x - c|_M^2 = R$")
            ax.autoscale_view()
            ax.set_aspect("equal")
            ax.set_xlabel("$x_1$")
            ax.set_ylabel("$x_2$")
            ax.set_title(title)
        _legend_below(fig, axes)
        return fig


def _outline(ellipsoid):
    values, vectors = np.linalg.eigh(ellipsoid.M)
    width, height = 2.0 * np.sqrt(ellipsoid.threshold / values)
    angle = np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0]))
    return Ellipse(
        ellipsoid.center, width, height, angle=angle, fill=False, ec=BALL, lw=1.3
    )


def published_beside(panels, xlabel):
    """Published means beside those of a run, one panel a set, one row a method.

    Parameters
    ----------
    panels : dict of str -> pandas.DataFrame
        Title -> index: methods; columns published, published sd, run, run sd.
    xlabel : str

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        fig, axes = _panels(len(panels), width=3.5, height=2.6)
        for ax, (title, table) in zip(axes, panels.items(), strict=True):
            rows = np.arange(len(table))[::-1]
            for shift, name, color, marker in (
                (0.16, "published", COLORS["grey"], "D"),
                (-0.16, "run", COLORS["blue"], "o"),
            ):
                ax.errorbar(
                    table[name],
                    rows + shift,
                    xerr=table[f"{name} sd"],
                    fmt=marker,
                    color=color,
                    ms=4,
                    lw=1.0,
                    label={"published": "published", "run": "reproduced"}[name],
                )
            ax.set_yticks(rows, table.index)
            # A score is not negative, whatever its error bar says.
            ax.set_xlim(left=-0.03 * ax.get_xlim()[1])
            ax.set_title(title)
            ax.set_xlabel(xlabel)
        _legend_below(fig, axes)
        return fig


def over_rates(panels, xlabel, ylabel):
    """A score against a rate, one panel a group of methods, on the same axes.

    Parameters
    ----------
    panels : dict of str -> pandas.DataFrame
        Title -> index: rates; one column a method of `METHOD_STYLES`.
    xlabel, ylabel : str

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        fig, axes = _panels(len(panels), width=3.5, height=3.1)
        top = max(table.to_numpy().max() for table in panels.values())
        for ax, (title, table) in zip(axes, panels.items(), strict=True):
            for method in table:
                ax.plot(table.index, table[method], **METHOD_STYLES[method].kwargs)
            ax.set_ylim(-0.02, 1.05 * top)
            ax.set_xticks(table.index)
            ax.set_title(title)
            ax.set_xlabel(xlabel)
            ax.set_ylabel(ylabel)
        _legend_below(fig, axes)
        return fig


# --- soft balls ----------------------------------------------------------------------


def soft_balls_2d(panels):
    """Balls with slack in the plane: who is outside, who carries the sphere.

    Parameters
    ----------
    panels : dict of str -> (points, ball)
        Title -> points, shape (m, 2), and anything with a center and a radius.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        fig, axes = _panels(len(panels), width=3.3, height=3.3)
        for ax, (title, (points, ball)) in zip(axes, panels.items(), strict=True):
            distances = np.hypot(*(points - ball.center).T)
            outside = distances > ball.radius * (1 + 1e-4)
            carries = np.abs(distances - ball.radius) <= 1e-4 * ball.radius
            inside = {"s": 9, "color": NOMINAL, "alpha": 0.6, "linewidths": 0}
            ax.scatter(*points[~outside].T, label="inside", **inside)
            cross = {"s": 22, "marker": "x", "color": ANOMALY, "label": "outside"}
            ax.scatter(*points[outside].T, **cross)
            ring = {"facecolors": "none", "edgecolors": COLORS["orange"]}
            ax.scatter(
                *points[carries].T,
                s=70,
                lw=1.8,
                label="on the sphere",
                zorder=3,
                **ring,
            )
            circle = Circle(ball.center, ball.radius, fill=False, color=BALL, lw=1.4)
            ax.add_patch(circle)
            ax.plot(*ball.center, marker="+", ms=11, mew=1.6, color=BALL, ls="")
            ax.set_aspect("equal")
            ax.set_xlabel("$x_1$")
            ax.set_ylabel("$x_2$")
            ax.set_title(title)
        _share_limits(axes)
        _legend_below(fig, axes)
        return fig


def _share_limits(axes):
    """The widest limits for all, so that sizes can be compared."""
    low = np.min([(ax.get_xlim()[0], ax.get_ylim()[0]) for ax in axes], axis=0)
    high = np.max([(ax.get_xlim()[1], ax.get_ylim()[1]) for ax in axes], axis=0)
    for ax in axes:
        ax.set_xlim(low[0], high[0])
        ax.set_ylim(low[1], high[1])


def nu_property(panels):
    """Share of points outside and share with weight, against nu that lies between.

    Parameters
    ----------
    panels : dict of str -> pandas.DataFrame
        Title -> table of `mebnb.soft_studies.nu_table`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    lines = {
        "support": ("share with weight", COLORS["blue"], "s"),
        "outside": ("share outside", COLORS["red"], "x"),
    }
    with style():
        fig, axes = _panels(len(panels), width=3.5, height=3.2)
        for ax, (title, table) in zip(axes, panels.items(), strict=True):
            nu = table.index.to_numpy()
            m = (table["nu m"] / nu).to_numpy()
            for column, (label, color, marker) in lines.items():
                share = table[column] / m
                ax.plot(
                    nu, share, color=color, marker=marker, ls="-", lw=1.0, label=label
                )
            ax.plot([0, 1], [0, 1], color=BALL, ls="--", lw=1.0, label=r"$\nu$")
            ax.set_xlim(0, 1.05 * nu.max())
            ax.set_ylim(0, 1.4 * nu.max())
            ax.set_title(title)
            ax.set_xlabel(r"$\nu$")
            ax.set_ylabel("share of the points")
        _legend_below(fig, axes)
        return fig


def contamination_curves(frame, columns):
    """Scores against the number of anomalies in training, mean and middle 90 %.

    Parameters
    ----------
    frame : pandas.DataFrame
        From `mebnb.soft_studies.contamination_study`, for detectors of
        `DETECTOR_STYLES`.
    columns : dict of str -> str
        Column name -> axis label.

    Returns
    -------
    matplotlib.figure.Figure
    """
    counts = sorted(frame["count"].unique())
    places = np.arange(len(counts))
    with style():
        fig, axes = _panels(len(columns), width=4.0, height=3.3)
        for ax, (column, label) in zip(axes, columns.items(), strict=True):
            for name, rows in frame.groupby("detector", sort=False):
                scores = rows.groupby("count")[column]
                look = DETECTOR_STYLES[name].kwargs
                ax.plot(places, scores.mean()[counts], **look)
                low, high = (scores.quantile(q)[counts] for q in (0.05, 0.95))
                ax.fill_between(
                    places, low, high, color=look["color"], alpha=0.12, lw=0
                )
            ax.set_xticks(places, counts)
            ax.set_xlabel("anomalies among the training points")
            ax.set_ylabel(label)
        _legend_below(fig, axes)
        return fig


def components_2d(points, center, radius, alarm, marked=()):
    """Rows in their first two principal components, with the outline of the ball.

    Parameters
    ----------
    points : ndarray, shape (m, 2)
    center : ndarray, shape (2,)
    radius : float
        The outline: a row inside of the ball lies inside of the circle.
    alarm : ndarray of bool, shape (m,)
        Rows outside of the ball, drawn as crosses.
    marked : iterable of (int, str)
        Points that get a label.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        fig, ax = plt.subplots(figsize=(5.6, 4.6))
        ax.scatter(
            *points[~alarm].T,
            s=9,
            color=NOMINAL,
            alpha=0.5,
            linewidths=0,
            label="inside",
        )
        ax.scatter(*points[alarm].T, s=20, marker="x", color=ANOMALY, label="outside")
        ax.add_patch(Circle(center, radius, fill=False, color=BALL, lw=1.4))
        ax.plot(*center, marker="+", ms=11, mew=1.6, color=BALL, ls="", label="center")
        for at, text in _apart(points, marked):
            ax.annotate(
                text, points[at], xytext=(4, 4), textcoords="offset points", fontsize=8
            )
        ax.set_aspect("equal", adjustable="datalim")
        ax.set_xlabel("first principal component")
        ax.set_ylabel("second principal component")
        _legend_below(fig, [ax])
    return fig


def _apart(points, marked):
    """Marked points whose labels would not cover that of an earlier one."""
    reach, kept = 0.08 * np.ptp(points, axis=0).max(), []
    for at, text in marked:
        if all(np.abs(points[at] - points[other]).max() > reach for other, _ in kept):
            kept.append((at, text))
    return kept


def regions_2d(panels):
    """What detectors in the plane accept, and the points they were fitted on.

    Parameters
    ----------
    panels : dict of str -> (points, detector)
        Title -> training points, shape (m, 2), and a fitted detector.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with style():
        fig, axes = _panels(len(panels), width=3.6, height=3.5)
        for ax, (title, (points, detector)) in zip(axes, panels.items(), strict=True):
            low, high = points.min(axis=0), points.max(axis=0)
            margin = 0.35 * (high - low).max()
            x, y = (
                np.linspace(a - margin, b + margin, 160)
                for a, b in zip(low, high, strict=True)
            )
            grid = np.stack(np.meshgrid(x, y), axis=-1)
            values = detector.decision_function(grid.reshape(-1, 2)).reshape(160, 160)
            levels = [0.0, max(values.max(), 1e-12)]
            ax.contourf(x, y, values, levels, colors=[COLORS["sky"]], alpha=0.25)
            ax.contour(x, y, values, [0.0], colors=BALL, linewidths=1.4)
            outside = detector.predict(points) == -1
            ax.scatter(*points[~outside].T, s=9, color=NOMINAL, alpha=0.6, lw=0)
            ax.scatter(*points[outside].T, s=20, marker="x", color=ANOMALY)
            ax.set_aspect("equal")
            ax.set_xlabel("$x_1$")
            ax.set_ylabel("$x_2$")
            ax.set_title(title)
        return fig


def scores_by_factor(table):
    """Recall, false alarms and F1 against the threshold in radii, a panel a detector.

    Parameters
    ----------
    table : pandas.DataFrame
        From `mebnb.soft_studies.factor_study`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    names = table.index.unique("detector")
    with style():
        fig, axes = _panels(len(names), width=4.0, height=3.1)
        for ax, name in zip(axes, names, strict=True):
            for column, (label, color, line) in THRESHOLD_LOOKS.items():
                ax.plot(table.loc[name, column], color=color, ls=line, label=label)
            ax.axvline(1.0, color=COLORS["grey"], lw=1.2, ls=":", label="the radius")
            ax.set_xlabel(r"$\delta$: threshold in radii")
            ax.set_ylabel("share of the test points")
            ax.set_title(name)
        _legend_below(fig, axes)
        return fig
