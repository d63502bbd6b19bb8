"""Figures of detectors: scores over splits, thresholds, rates."""

from __future__ import annotations

import itertools

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

from mebnb.plots.looks import (
    ANOMALY,
    BALL,
    COLORS,
    DETECTOR_STYLES,
    METHOD_STYLES,
    NOMINAL,
    legend_below,
    panel_grid,
    strip_plot,
    style,
)

__all__ = [
    "THRESHOLD_LOOKS",
    "contamination_curves",
    "contributions",
    "counts_beside_law",
    "critical_differences",
    "distribution_over_splits",
    "feature_search",
    "nu_property",
    "over_rates",
    "places_on_a_line",
    "published_beside",
    "scores_by_factor",
    "scores_by_threshold",
    "scores_over_splits",
]


# --- many splits -------------------------------------------------------------------
@style()
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
    fig, axes = panel_grid(len(columns), height=2.2)
    for ax, (column, label) in zip(axes, columns.items(), strict=True):
        strip_plot(
            x=frame[column], ax=ax, color=NOMINAL, alpha=0.6, size=5, jitter=0.25
        )
        mean = frame[column].mean()
        ax.axvline(mean, color=COLORS["grey"], label="mean over splits")
        if marked is not None:
            ax.axvline(marked[column], color=ANOMALY, ls="--", label=marked_label)
        ax.set_xlabel(label)
        ax.set_yticks([])
    legend_below(fig, axes)
    return fig


@style()
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
    fig, axes = panel_grid(len(columns), height=0.4 + 0.42 * len(names), sharey="row")
    for ax, (column, label) in zip(axes, columns.items(), strict=True):
        look = {"color": NOMINAL, "alpha": 0.5, "size": 4, "jitter": 0.18}
        strip_plot(frame, x=column, y=group, order=names, ax=ax, **look)
        means = frame.groupby(group)[column].mean()[names]
        ax.plot(means, range(len(names)), ls="", marker="|", ms=16, mew=2, color=BALL)
        ax.set_xlabel(label)
        ax.set_ylabel("")
    return fig


THRESHOLD_LOOKS = {
    "recall": ("recall", COLORS["red"], "-"),
    "false_alarms": ("false alarms", COLORS["blue"], "--"),
    "f1": ("F1", COLORS["black"], "-."),
}


@style()
def scores_by_threshold(frame, marks):
    """What a detector finds, and at what price, as its threshold moves.

    Parameters
    ----------
    frame : pandas.DataFrame
        From `mebnb.experiments.leaks.threshold_scores`.
    marks : dict of str -> float
        Label -> threshold to mark with a vertical line.

    Returns
    -------
    matplotlib.figure.Figure
    """
    fig, ax = plt.subplots(figsize=(6.6, 3.4))
    for column, (label, color, line) in THRESHOLD_LOOKS.items():
        ax.plot(frame[column], color=color, ls=line, label=label)
    tones = itertools.cycle([COLORS["grey"], COLORS["orange"], COLORS["green"]])
    for (label, at), color in zip(marks.items(), tones, strict=False):
        ax.axvline(at, color=color, lw=1.2, ls=":", label=label)
    ax.set_xlabel("threshold: distance from the center")
    ax.set_ylabel("share")
    legend_below(fig, [ax])
    return fig


@style()
def feature_search(search, chosen):
    """Recall against the number of features kept.

    Parameters
    ----------
    search : pandas.DataFrame
        From `mebnb.experiments.slides_tables.slides_feature_search`.
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
    fig, ax = plt.subplots(figsize=(6.0, 3.2))
    for column, (label, color, marker, line) in looks.items():
        ax.plot(search[column], color=color, marker=marker, ls=line, label=label)
    ax.axvline(chosen, color=BALL, lw=1.0, ls=":", label=f"K = {chosen}")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("number of features, K")
    ax.set_ylabel("recall")
    ax.set_ylim(0.0, 1.0)
    legend_below(fig, [ax])
    return fig


@style()
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
    fig, axes = panel_grid(len(panels), height=2.6)
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
    legend_below(fig, axes)
    return fig


@style()
def critical_differences(panels):
    """Mean ranks on a line, a panel a comparison, the critical difference as a bar.

    Parameters
    ----------
    panels : dict of str -> (pandas.Series, float)
        Title -> mean ranks, best first, and the critical difference, from
        `mebnb.experiments.rare_classes.tables.mean_ranks`. Methods that lie no farther
        apart are joined.

    Returns
    -------
    matplotlib.figure.Figure
    """
    heights = [len(ranks) for ranks, _ in panels.values()]
    fig, axes = plt.subplots(
        len(panels),
        1,
        figsize=(6.6, 0.3 * sum(heights) + 1.0 * len(panels)),
        height_ratios=heights,
        squeeze=False,
    )
    for ax, (title, (ranks, difference)) in zip(
        axes[:, 0], panels.items(), strict=True
    ):
        rows = np.arange(len(ranks))
        ax.plot(ranks, rows, ls="", marker="o", color=NOMINAL)
        for column, (first, last) in enumerate(joined(ranks.to_numpy(), difference)):
            at = ranks.iloc[last] + 0.25 + 0.18 * column
            ax.plot([at, at], [first, last], color=COLORS["grey"], lw=2.5)
        ax.plot([1, 1 + difference], [-1, -1], color=BALL, lw=2.0, marker="|")
        ax.set_yticks(
            [-1, *rows], [f"critical difference {difference:.2f}", *ranks.index]
        )
        ax.set_ylim(len(ranks) - 0.4, -1.6)
        ax.set_xlim(0.7, len(ranks) + 0.3)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_xlabel("mean rank, 1 is the best")
        ax.set_title(title)
    return fig


def joined(ranks, difference):
    """Largest runs of sorted mean ranks that lie within the critical difference.

    Parameters
    ----------
    ranks : ndarray, shape (k,)
        Sorted.
    difference : float

    Returns
    -------
    list of (int, int)
        First and last place of each run of at least two, none within another.

    Examples
    --------
    >>> joined(np.array([1.0, 2.0, 3.5, 3.6]), 2.0)
    [(0, 1), (1, 3)]
    """
    lasts = np.searchsorted(ranks, ranks + difference, side="right") - 1
    runs, reached = [], -1
    for first, last in enumerate(lasts.tolist()):
        if last > max(first, reached):
            runs.append((first, last))
            reached = last
    return runs


@style()
def places_on_a_line(held, new):
    """Distances of held-out rows on a line, and where new rows fall among them.

    Parameters
    ----------
    held : array_like
        Distances.
    new : dict of str -> float
        Label -> distance.

    Returns
    -------
    matplotlib.figure.Figure
    """
    fig, ax = plt.subplots(figsize=(6.6, 1.9))
    ax.plot(held, np.zeros(len(held)), "o", color=NOMINAL, label="held-out rows")
    for row, (label, distance) in enumerate(new.items()):
        ax.axvline(distance, color=ANOMALY, ls="--", lw=1.0)
        # Labels of near rows go one above the other.
        ax.text(distance, 0.35 + 0.55 * (row % 3), f" {label}", color=ANOMALY)
    ax.set_ylim(-0.5, 2.0)
    ax.set_xlim(right=1.25 * max([*held, *new.values()]))
    ax.set_yticks([])
    ax.set_xlabel("distance from the center of the other rows")
    legend_below(fig, [ax])
    return fig


@style()
def counts_beside_law(counts, law, tested, alpha):
    """How often a division gave each number of false alarms, beside the law.

    Parameters
    ----------
    counts : ndarray of int
    law : scipy.stats distribution
        Of the count.
    tested : int
        Rows that were judged.
    alpha : float
        To be marked.

    Returns
    -------
    matplotlib.figure.Figure
    """
    fig, ax = plt.subplots(figsize=(6.6, 3.0))
    values = np.arange(counts.max() + 2)
    share = np.bincount(counts, minlength=len(values)) / len(counts)
    ax.bar(values / tested, share, width=0.8 / tested, color=NOMINAL, label="divisions")
    look = dict(color=ANOMALY, marker="o", ms=3.5, lw=1.2)
    ax.plot(values / tested, law.pmf(values), label="the law", **look)
    ax.axvline(alpha, color=BALL, ls=":", label="alpha")
    ax.set_xlabel("rate of false alarms")
    ax.set_ylabel("share of the divisions")
    legend_below(fig, [ax])
    return fig


@style()
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
    fig, axes = panel_grid(len(panels), height=3.9)
    top = max(table.to_numpy().max() for table in panels.values())
    for ax, (title, table) in zip(axes, panels.items(), strict=True):
        for method in table:
            ax.plot(table.index, table[method], **METHOD_STYLES[method].kwargs)
        ax.set_ylim(-0.02, 1.05 * top)
        ax.set_xticks(table.index)
        ax.set_title(title)
        ax.set_xlabel(xlabel)
        ax.set_ylabel(ylabel)
        # Of its own: a dozen methods have more names than there are colours.
        below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.22), "fontsize": 9}
        ax.legend(**below, ncols=2, columnspacing=1.0)
    return fig


@style()
def nu_property(panels):
    """Share of points outside and share with weight, against nu that lies between.

    Parameters
    ----------
    panels : dict of str -> pandas.DataFrame
        Title -> table of `mebnb.experiments.soft_balls.nu_table`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    lines = {
        "support": ("share with weight", COLORS["blue"], "s"),
        "outside": ("share outside", COLORS["red"], "x"),
    }
    fig, axes = panel_grid(len(panels), height=3.2)
    for ax, (title, table) in zip(axes, panels.items(), strict=True):
        nu = table.index.to_numpy()
        m = (table["nu m"] / nu).to_numpy()
        for column, (label, color, marker) in lines.items():
            share = table[column] / m
            ax.plot(nu, share, color=color, marker=marker, ls="-", lw=1.0, label=label)
        ax.plot([0, 1], [0, 1], color=BALL, ls="--", lw=1.0, label=r"$\nu$")
        ax.set_xlim(0, 1.05 * nu.max())
        ax.set_ylim(0, 1.4 * nu.max())
        ax.set_title(title)
        ax.set_xlabel(r"$\nu$")
        ax.set_ylabel("share of the points")
    legend_below(fig, axes)
    return fig


@style()
def contamination_curves(frame, columns):
    """Scores against the number of anomalies in training, mean and middle 90 %.

    Parameters
    ----------
    frame : pandas.DataFrame
        From `mebnb.experiments.soft_balls.contamination_study`, for detectors of
        `DETECTOR_STYLES`.
    columns : dict of str -> str
        Column name -> axis label.

    Returns
    -------
    matplotlib.figure.Figure
    """
    counts = sorted(frame["count"].unique())
    places = np.arange(len(counts))
    fig, axes = panel_grid(len(columns), height=2.9)
    for ax, (column, label) in zip(axes, columns.items(), strict=True):
        for name, rows in frame.groupby("detector", sort=False):
            scores = rows.groupby("count")[column]
            look = DETECTOR_STYLES[name].kwargs
            ax.plot(places, scores.mean()[counts], **look)
            low, high = (scores.quantile(q)[counts] for q in (0.05, 0.95))
            ax.fill_between(places, low, high, color=look["color"], alpha=0.12, lw=0)
        ax.set_xticks(places, counts)
        ax.set_xlabel("anomalies among the training points")
        ax.set_ylabel(label)
    legend_below(fig, axes)
    return fig


@style()
def scores_by_factor(table):
    """Recall, false alarms and F1 against the threshold in radii, a panel a detector.

    Parameters
    ----------
    table : pandas.DataFrame
        From `mebnb.experiments.soft_balls.factor_study`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    names = table.index.unique("detector")
    fig, axes = panel_grid(len(names), height=2.8)
    for ax, name in zip(axes, names, strict=True):
        for column, (label, color, line) in THRESHOLD_LOOKS.items():
            ax.plot(table.loc[name, column], color=color, ls=line, label=label)
        ax.axvline(1.0, color=COLORS["grey"], lw=1.2, ls=":", label="the radius")
        ax.set_xlabel(r"$\delta$: threshold in radii")
        ax.set_ylabel("share of the test points")
        ax.set_title(name)
    legend_below(fig, axes)
    return fig


@style()
def contributions(shares, most=6):
    """What each column adds to a row's score, a panel a row.

    Parameters
    ----------
    shares : pandas.DataFrame
        Index: the rows' titles. Columns: the columns of the file; of more than `most` those
        that add or take away least are left out.
    most : int

    Returns
    -------
    matplotlib.figure.Figure
    """
    fig, axes = panel_grid(len(shares), height=0.8 + 0.3 * most)
    for ax, (title, row) in zip(axes, shares.iterrows(), strict=True):
        shown = row[row.abs().sort_values(ascending=False, kind="stable").index][:most]
        names = [name if len(name) <= 20 else f"{name[:19]}…" for name in shown.index]
        colors = [ANOMALY if share >= 0 else NOMINAL for share in shown]
        ax.barh(range(len(shown)), shown, color=colors)
        ax.set_yticks(range(len(shown)), names, parse_math=False)
        ax.invert_yaxis()
        ax.axvline(0.0, color=BALL, lw=0.8)
        ax.set_xlabel("share of the score")
        ax.set_title(title)
    return fig
