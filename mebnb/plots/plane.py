"""Figures of points in the plane and in space: balls, steps, regions."""

from __future__ import annotations

import itertools

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Ellipse, Polygon
from matplotlib.ticker import MaxNLocator

from mebnb.plots.looks import (
    ALGORITHM_STYLES,
    ANOMALY,
    BALL,
    COLORS,
    NOMINAL,
    legend_below,
    panel_grid,
    place_legend,
    style,
)

__all__ = [
    "CIRCLE_LOOKS",
    "DIRECTION_COLORS",
    "DIRECTION_LABELS",
    "ball_2d",
    "ball_3d",
    "circles_2d",
    "circumcircle",
    "components_2d",
    "detectors_2d",
    "ellipsoids_2d",
    "fermat_spiral",
    "iterates_2d",
    "multipliers_2d",
    "paths_2d",
    "regions_2d",
    "soft_balls_2d",
    "steps_on_face",
    "widths_2d",
]


# --- pictures in the plane ---------------------------------------------------------
def _as_plane(ax, title=""):
    ax.set_aspect("equal")
    ax.set_xlabel("$x_1$")
    ax.set_ylabel("$x_2$")
    ax.set_title(title)


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
    _as_plane(ax)


@style()
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
    legend_below(fig, [ax])
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


@style()
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
    fig, axes = panel_grid(len(panels), height=3.4)
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
    legend_below(fig, axes)
    return fig


CIRCLE_LOOKS = ((BALL, "-"), (COLORS["red"], "--"), (COLORS["blue"], "-."))


@style()
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
    fig, axes = panel_grid(len(panels), height=3.2)
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
        _as_plane(ax, title)
    legend_below(fig, axes)
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
    "pairwise": "pairwise: from nearest to the other end",
    "plus": "plus: towards the farthest point",
    "minus": "minus: away from the nearest core point",
    "drop": "largest step: an active point is dropped",
}


@style()
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
    fig, axes = panel_grid(len(at), height=3.5)
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
    place_legend(fig, axes, _iterate_handles(used))
    return fig


@style()
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
    fig, axes = panel_grid(len(runs), height=3.5)
    for ax, (name, states) in zip(axes, runs.items(), strict=True):
        _plane(ax, points, states[-1])
        _iterate(ax, points, states, color=styles[name].color)
        ax.set_title(f"{styles[name].label}\n{len(states) - 1} steps")
    place_legend(fig, axes, _iterate_handles(()))
    return fig


def _plane(ax, points, last):
    """The points, and a window about the last ball."""
    ax.scatter(*points.T, s=14, color=COLORS["sky"], linewidths=0, zorder=2)
    reach = 1.35 * last.radius
    for limits, middle in zip((ax.set_xlim, ax.set_ylim), last.center, strict=True):
        limits(middle - reach, middle + reach)
    _as_plane(ax)


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
    return {handle.get_label(): handle for handle in handles}


@style()
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
    sides = np.array([np.ptp(corners, axis=0) for corners, _, _ in panels.values()])
    height = 0.5 + 2.9 * (sides[:, 1] / sides[:, 0]).max()
    fig, axes = panel_grid(len(panels), height=height)
    kinds = []
    for ax, (title, panel) in zip(axes, panels.items(), strict=True):
        corners, states, directions = panel
        _face(ax, corners)
        kinds += _path_on_face(ax, states) + list(directions)
        _directions_on_face(ax, corners, states[at], directions)
        ax.set_title(title)
    handles = {
        label: Line2D([], [], color=DIRECTION_COLORS[kind], lw=2.0)
        for kind, label in DIRECTION_LABELS.items()
        if kind in kinds
    }
    if handles:
        place_legend(fig, axes, handles)
    return fig


@style()
def widths_2d(panels):
    """Triangles with their width, their diameter, and their extent in one direction.

    Parameters
    ----------
    panels : dict of str -> (corners, face, center)
        Title -> three points in the plane; which of them lie on the one of the two
        nearest flats; and a point from which the best center is looked for.

    Returns
    -------
    matplotlib.figure.Figure
    """
    fig, axes = panel_grid(len(panels), height=3.3)
    for ax, (title, (corners, face, center)) in zip(axes, panels.items(), strict=True):
        ax.add_patch(Polygon(corners, closed=True, fill=False, color=BALL, lw=1.2))
        _width_and_diameter(ax, corners, face)
        _extent(ax, corners, center)
        low, high = corners.min(axis=0), corners.max(axis=0)
        middle, half = (low + high) / 2, 0.65 * (high - low).max()
        ax.set_xlim(middle[0] - half, middle[0] + half)
        ax.set_ylim(middle[1] - half, middle[1] + half)
        _as_plane(ax, title)
    legend_below(fig, axes)
    return fig


def _width_and_diameter(ax, corners, face):
    """The two nearest flats, a corner and an edge, and the longest side."""
    edge = corners[face] if face.sum() == 2 else corners[~face]
    corner = corners[~face][0] if face.sum() == 2 else corners[face][0]
    along = (edge[1] - edge[0]) / np.hypot(*(edge[1] - edge[0]))
    foot = edge[0] + along * (along @ (corner - edge[0]))
    look = {"color": COLORS["orange"]}
    for point in (foot, corner):
        ax.axline(point, point + along, lw=1.0, **look)
    ax.plot(*np.transpose([foot, corner]), lw=3.0, label="$w$", **look)
    far = max(
        itertools.combinations(corners, 2),
        key=lambda pair: np.hypot(*(pair[0] - pair[1])),
    )
    ax.plot(*np.transpose(far), color=COLORS["purple"], lw=4.0, alpha=0.5, label="$D$")


def _extent(ax, corners, center):
    """The center, the best one, and how far the corners reach in that direction."""
    best, _ = circumcircle(corners)
    ax.plot(*best, marker="*", ms=12, color=COLORS["red"], ls="", label="$c_*$")
    ax.plot(*center, marker="o", ms=6, color=COLORS["blue"], ls="", label="$c$")
    towards = (best - center) / np.hypot(*(best - center))
    across = np.array([-towards[1], towards[0]])
    reach = corners @ towards
    near, far = corners[reach.argmin()], corners[reach.argmax()]
    look = {"color": COLORS["blue"]}
    for point in (near, far):
        ax.axline(point, point + across, lw=1.0, ls="--", **look)
    ends = np.transpose([near, near + np.ptp(reach) * towards])
    ax.plot(*ends, lw=1.8, label="extent along $c_* - c$", **look)


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


def _directions_on_face(ax, corners, state, kinds):
    """Arrows on one scale, so that they add up as the directions do."""
    distances = ((corners - state.center) ** 2).sum(axis=1)
    towards = corners[distances.argmax()]
    away = corners[state.support[distances[state.support].argmin()]]
    directions = {
        "FW": towards - state.center,
        "away": state.center - away,
        "pairwise": towards - away,
    }
    norms = {kind: float(np.hypot(*directions[kind])) for kind in kinds}
    scale = 0.3 * np.ptp(corners, axis=0).max() / max(norms.values(), default=1.0)
    for kind, norm in norms.items():
        color = DIRECTION_COLORS[kind]
        _arrow(ax, state.center, directions[kind], scale * norm, color)


# --- classes of unequal size -------------------------------------------------------
@style()
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
    fig, axes = panel_grid(len(panels), height=3.5)
    for ax, (title, (negatives, ellipsoids)) in zip(axes, panels.items(), strict=True):
        ax.scatter(*negatives.T, s=10, color=NOMINAL, label="negatives", linewidths=0)
        centers = np.array([ellipsoid.center for ellipsoid in ellipsoids])
        ax.plot(*centers.T, "x", color=ANOMALY, mew=1.8, ms=7, label="positives")
        for ellipsoid in ellipsoids:
            ax.add_patch(_outline(ellipsoid))
        ax.plot([], [], color=BALL, lw=1.3, label="$|x - c|_M^2 = R$")
        ax.autoscale_view()
        _as_plane(ax, title)
    legend_below(fig, axes)
    return fig


def _outline(ellipsoid):
    values, vectors = np.linalg.eigh(ellipsoid.M)
    width, height = 2.0 * np.sqrt(ellipsoid.threshold / values)
    angle = np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0]))
    return Ellipse(
        ellipsoid.center, width, height, angle=angle, fill=False, ec=BALL, lw=1.3
    )


# --- soft balls ----------------------------------------------------------------------
@style()
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
    fig, axes = panel_grid(len(panels), height=3.3)
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
        _as_plane(ax, title)
    _share_limits(axes)
    legend_below(fig, axes)
    return fig


def _share_limits(axes):
    """The widest limits for all, so that sizes can be compared."""
    low = np.min([(ax.get_xlim()[0], ax.get_ylim()[0]) for ax in axes], axis=0)
    high = np.max([(ax.get_xlim()[1], ax.get_ylim()[1]) for ax in axes], axis=0)
    for ax in axes:
        ax.set_xlim(low[0], high[0])
        ax.set_ylim(low[1], high[1])


@style()
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
    legend_below(fig, [ax])
    return fig


def _apart(points, marked):
    """Marked points whose labels would not cover that of an earlier one."""
    reach, kept = 0.08 * np.ptp(points, axis=0).max(), []
    for at, text in marked:
        if all(np.abs(points[at] - points[other]).max() > reach for other, _ in kept):
            kept.append((at, text))
    return kept


@style()
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
    fig, axes = panel_grid(len(panels), height=3.0)
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
        ax.plot([], [], color=BALL, lw=1.4, label="edge of what is accepted")
        outside = detector.predict(points) == -1
        dots = {"s": 9, "color": NOMINAL, "alpha": 0.6, "lw": 0, "label": "inside"}
        ax.scatter(*points[~outside].T, **dots)
        cross = {"s": 20, "marker": "x", "color": ANOMALY, "label": "outside"}
        ax.scatter(*points[outside].T, **cross)
        _as_plane(ax, title)
    legend_below(fig, axes)
    return fig
