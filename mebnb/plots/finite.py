"""Figures of the finite methods for the smallest ball: their steps in the plane."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.patches import Circle

from mebnb.plots.looks import ANOMALY, BALL, COLORS, legend_below, panel_grid, style
from mebnb.plots.plane import CIRCLE_LOOKS

__all__ = ["Scene", "balls_tried_2d", "scenes_2d"]


class Scene(NamedTuple):
    """One panel of `scenes_2d`.

    Attributes
    ----------
    title : str
    circles : dict of str -> (center, radius)
        At most three; a label has the same look in every panel.
    ringed, crossed : sequence of int
        Rows to mark.
    known : sequence of int or None
        Rows drawn in full colour, the others pale; None is all.
    path : sequence of ndarray
        Where the center has been.
    """

    title: str
    circles: dict
    ringed: object = ()
    crossed: object = ()
    known: object = None
    path: object = ()


@style()
def scenes_2d(points, scenes, *, ringed, crossed="outside", known="rows"):
    """The same points in every panel, with circles about them and rows marked.

    Parameters
    ----------
    points : ndarray, shape (m, 2)
    scenes : list of Scene
    ringed, crossed, known : str
        What the legend says of the marked rows, and of those in full colour.

    Returns
    -------
    matplotlib.figure.Figure
    """
    labels = list(dict.fromkeys(label for scene in scenes for label in scene.circles))
    looks = dict(zip(labels, CIRCLE_LOOKS, strict=False))
    fig, axes = panel_grid(len(scenes), height=3.5)
    for ax, scene in zip(axes, scenes, strict=True):
        rows = np.arange(len(points)) if scene.known is None else scene.known
        dot = {"s": 14, "linewidths": 0}
        pale = np.delete(points, rows, axis=0)
        if len(pale):
            ax.scatter(*pale.T, color=COLORS["grey"], alpha=0.35, label="others", **dot)
        ax.scatter(*points[rows].T, color=COLORS["blue"], label=known, zorder=2, **dot)
        for label, circle in scene.circles.items():
            _circle(ax, *circle, label, *looks[label])
        _marked(ax, points, scene, ringed, crossed)
        if len(scene.path) > 1:
            walk = {"color": COLORS["green"], "lw": 1.2, "marker": ".", "ms": 5}
            ax.plot(*np.array(scene.path).T, label="path of the center", **walk)
        ax.set_title(scene.title)
    _same_window(axes, points, [c for s in scenes for c in s.circles.values()])
    legend_below(fig, axes)
    return fig


def _circle(ax, center, radius, label, color, line):
    ax.add_patch(Circle(center, radius, fill=False, color=color, ls=line, lw=1.4))
    ax.plot(*center, marker="+", ms=10, mew=1.6, color=color, ls="")
    ax.plot([], [], color=color, ls=line, label=label)


def _marked(ax, points, scene, ringed, crossed):
    if len(scene.ringed):
        ring = {"facecolors": "none", "edgecolors": COLORS["orange"]}
        rows = points[np.asarray(scene.ringed, int)]
        ax.scatter(*rows.T, s=70, linewidths=1.8, label=ringed, zorder=3, **ring)
    if len(scene.crossed):
        cross = {"marker": "x", "color": ANOMALY}
        rows = points[np.asarray(scene.crossed, int)]
        ax.scatter(*rows.T, s=40, linewidths=1.8, label=crossed, zorder=4, **cross)


def _same_window(axes, points, circles):
    ends = [points.min(axis=0), points.max(axis=0)]
    ends += [np.add(c, side * r) for c, r in circles for side in (-1.0, 1.0)]
    low, high = np.min(ends, axis=0), np.max(ends, axis=0)
    margin = 0.04 * (high - low).max() + 1e-9
    for ax in axes:
        ax.set_xlim(low[0] - margin, high[0] + margin)
        ax.set_ylim(low[1] - margin, high[1] + margin)
        ax.set_aspect("equal")
        ax.set_xlabel("$x_1$")
        ax.set_ylabel("$x_2$")


@style()
def balls_tried_2d(points, panels):
    """All the balls that methods computed on the way, over each other, and the last.

    Parameters
    ----------
    points : ndarray, shape (m, 2)
    panels : dict of str -> list of (center, radius)
        Title -> balls in the order in which they were computed.

    Returns
    -------
    matplotlib.figure.Figure
    """
    fig, axes = panel_grid(len(panels), height=3.5)
    for ax, (title, balls) in zip(axes, panels.items(), strict=True):
        ax.scatter(*points.T, s=14, color=COLORS["blue"], linewidths=0, label="points")
        for center, radius in balls[:-1]:
            ax.add_patch(
                Circle(
                    center, radius, fill=False, color=COLORS["sky"], lw=0.8, alpha=0.6
                )
            )
        ax.plot([], [], color=COLORS["sky"], lw=0.8, label="balls computed on the way")
        ax.add_patch(Circle(*balls[-1], fill=False, color=BALL, lw=1.6))
        ax.plot([], [], color=BALL, lw=1.6, label="smallest ball")
        ax.set_title(title)
    last = [balls[-1] for balls in panels.values()]
    grown = [(center, 1.25 * radius) for center, radius in last]
    _same_window(axes, points, grown)
    legend_below(fig, axes)
    return fig
