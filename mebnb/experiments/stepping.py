"""Frames for figures that a reader steps through: a run, tolerances, shares left out."""

from __future__ import annotations

import math

import numpy as np

from mebnb.report.stepping import (
    Arrow,
    Circle,
    Crosses,
    Dots,
    Frame,
    Line,
    Rings,
    Words,
)
from mebnb.report.words import counted
from mebnb.solvers.balls import dense_weights
from mebnb.solvers.core_sets import core_set
from mebnb.solvers.exact import minimum_enclosing_ball
from mebnb.solvers.plain import squared_distances
from mebnb.solvers.soft import soft_ball

__all__ = ["share_frames", "step_frames", "tolerance_frames"]

# A part of the points' extent; of a shorter arrow nobody sees the direction.
LEAST_ARROW = 1 / 20


# --- the steps of a run --------------------------------------------------------------
def step_frames(points, states, rival=None):
    """A frame for the start of a run and for each of its steps.

    Each shows the points that carry weight, the path of the center, both balls, and
    the step to come: an arrow from center to center, dotted lines to its points. Of a
    short step the arrow is longer, and the line tells how many times.

    Parameters
    ----------
    points : ndarray, shape (m, 2)
    states : sequence of State
        What the solver's callback saw. Its choices are the same on every machine, also
        where two are as good but for rounding.
    rival : {None, "away", "local"}
        The gap that the algorithm holds against the Frank-Wolfe gap, as in
        `beside_plain`.

    Returns
    -------
    list of Frame
    """
    weights = [dense_weights(state, len(points)) for state in states]
    trail = np.array([state.center for state in states])
    frames = []
    for t, state in enumerate(states):
        line = f"t = {t}: {_gaps(points, state, rival)}; weight on {_listed(state.support)}."
        marks = [
            Dots("point", points),
            Circle("enclosing", state.center, state.radius),
            Circle("trial", state.center, max(state.gamma, 0.0) ** 0.5),
            Rings("weight", points[state.support], state.weights),
            Line("trail", trail[: t + 1]),
            Dots("center", trail[[t]]),
        ]
        named = set(state.support)
        if t + 1 < len(states):
            then = states[t + 1]
            ends = _ends(then.kind, weights[t + 1] - weights[t], rival)
            line += f" Next: {_told(then, ends, new=weights[t][then.support] == 0)}"
            ends = [end for end in ends if end is not None]
            arrow, times = _arrow(points, then.kind, *trail[t : t + 2])
            line += f" The arrow is drawn {times} times as long." * (times > 1)
            marks += [Line("way", [trail[t], points[end]]) for end in ends]
            marks.append(arrow)
            named.update(ends)
        else:
            line += " Here the run ends."
        marks += [Words(str(number), points[number]) for number in sorted(named)]
        frames.append(Frame(line, marks))
    return frames


def _gaps(points, state, rival):
    told = f"radius {state.radius:.3f}, gap {state.fw_gap:.3f}"
    if rival == "away":
        told += f", away gap {state.away_gap:.3f}"
    elif rival == "local":
        distances = squared_distances(points[state.support], state.center)
        told += f", local gap {np.ptp(distances):.3f}"
    return told


def _ends(kind, change, rival):
    """The point that weight goes to and the one it comes from; None is all others."""
    if kind in ("FW", "plus"):
        return int(change.argmax()), None
    alone = kind in ("away", "minus") or rival == "away"
    return None if alone else int(change.argmax()), int(change.argmin())


def _arrow(points, kind, start, end):
    """The arrow of a step, and how many times as long as the step it is."""
    length = float(np.hypot(*(end - start)))
    least = LEAST_ARROW * float(np.ptp(points, axis=0).max())
    times = math.ceil(least / length) if length else 1
    return Arrow(kind, [start, start + times * (end - start)]), times


def _told(then, ends, new):
    """The step in words; `new` tells which points with weight had none before."""
    towards, away = ends
    comes = ", which is new" if new.any() else ""
    goes = f"; {away} is dropped" if then.kind == "drop" else ""
    if away is None:
        return f"{then.step:.3f} of the way to {towards}, the farthest{comes}."
    if towards is None:
        return f"step {then.step:.3f} away from {away}, the nearest of these{goes}."
    return f"weight {then.step:.3f} from {away} to {towards}{comes}{goes}."


def _listed(numbers):
    *first, last = map(str, numbers)
    return f"{', '.join(first)} and {last}" if first else last


# --- one frame a run -----------------------------------------------------------------
def tolerance_frames(points, epsilons):
    """A frame for each tolerance: the core set and the ball that it gives.

    Parameters
    ----------
    points : ndarray, shape (m, 2)
    epsilons : sequence of float

    Returns
    -------
    list of Frame
        Radii that a circle cannot show apart stand in a corner, enlarged.
    """
    best = minimum_enclosing_ball(points, rtol=1e-12)
    frames = []
    for eps in epsilons:
        ball = core_set(points, eps=eps, max_iter=100_000)
        line = (
            f"eps = {eps:g}: after {counted(ball.iterations, 'step')} "
            f"{ball.support.size} points stand for {len(points)}. The radius "
            f"{ball.radius:.4f} is {_percent(ball.radius / best.radius - 1)} above the "
            f"smallest; certified are {_percent(ball.relative_error)}."
        )
        inset, times = _radii_enlarged(best, ball)
        if inset:
            line += f" In the corner the radii are {times} times as far apart."
        marks = [
            Dots("point", points),
            Circle("enclosing", ball.center, ball.radius),
            Circle("trial", ball.center, ball.lower_bound),
            Circle("smallest", best.center, best.radius),
            Rings("weight", points[ball.support], ball.weights),
            Dots("center", [ball.center]),
            *inset,
        ]
        frames.append(Frame(line, marks))
    return frames


def _radii_enlarged(best, ball):
    """Lines as far apart as three radii many times over, where no circle is; how many."""
    times = int(0.2 * best.radius / (ball.radius - ball.lower_bound))
    if times < 2:
        return [], 1
    right, top = best.center + best.radius * np.array([1.0, -0.8])
    left = right - 0.25 * best.radius
    radii = {
        "enclosing": ball.radius,
        "smallest": best.radius,
        "trial": ball.lower_bound,
    }
    heights = {look: top - times * (ball.radius - r) for look, r in radii.items()}
    return [Line(look, [[left, y], [right, y]]) for look, y in heights.items()], times


def share_frames(points, shares):
    """The hard ball, then a frame for each share that may be left outside.

    Parameters
    ----------
    points : ndarray, shape (m, 2)
    shares : sequence of float
        Values of nu in (0, 1].

    Returns
    -------
    list of Frame
    """
    hard = minimum_enclosing_ball(points)
    line = f"Hard: radius {hard.radius:.3f}, nothing outside; {_carry(hard)}."
    frames = [_soft(points, hard, np.zeros(0, dtype=int), line)]
    for nu in shares:
        ball = soft_ball(points, nu)
        line = (
            f"nu = {nu:g}: radius {ball.radius:.3f}, {ball.outside.size} outside, at most "
            f"nu m = {nu * len(points):.4g}; {_carry(ball)}."
        )
        frames.append(_soft(points, ball, ball.outside, line))
    return frames


def _carry(ball):
    return f"{counted(ball.support.size, 'point')} with weight"


def _percent(part):
    return f"{100 * part:.3g} %"


def _soft(points, ball, outside, line):
    inside = np.setdiff1d(np.arange(len(points)), outside)
    on_sphere = np.setdiff1d(ball.support, outside)
    marks = [
        Dots("point", points[inside]),
        Crosses("outside", points[outside]),
        Circle("trial", ball.center, ball.radius),
        Rings("weight", points[on_sphere], np.zeros(on_sphere.size)),
        Dots("center", [ball.center]),
    ]
    return Frame(line, marks)
