"""What notebook 17 measures: finite methods, the sampling lemma, the stop, who fails."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections import Counter
from typing import NamedTuple

import numpy as np
import pandas as pd

from mebnb.experiments.sets import normal_cloud, outside_of, sphere_cloud
from mebnb.solvers import plain, plain_balls
from mebnb.solvers.balls import dual_value, enclosing_radius, squared_distances
from mebnb.solvers.certificates import verify
from mebnb.solvers.exact import minimum_enclosing_ball

__all__ = [
    "CLOUDS",
    "METHODS",
    "Growth",
    "TooManyBalls",
    "active_set",
    "balanced_sample",
    "balls_counted",
    "best_sample",
    "core_set_rounds",
    "failures",
    "let_go",
    "looks_table",
    "needed_rows",
    "never_support",
    "offset_table",
    "prefix_balls",
    "sampling_counts",
    "seconds",
    "too_soon",
    "watching",
]

# A center counts as right when its ball is no larger than this, or than what rounding
# of the center to float64 adds.
RIGHT = 1e-9


# --- the plain forms, watched --------------------------------------------------------
def active_set(points):
    """The textbook active-set ball in the form of the other finite methods.

    Parameters
    ----------
    points : ndarray, shape (m, n)

    Returns
    -------
    plain_balls.Ball
    """
    u = plain.minimum_enclosing_ball(points, plain_balls.SLACK)
    S = np.flatnonzero(u)
    c = u @ points
    square = u @ plain.squared_distances(points, c)
    return plain_balls.Ball(c, square, S.tolist(), u[S])


METHODS = {
    "welzl": plain_balls.welzl,
    "move_to_front": plain_balls.move_to_front,
    "pivoting": plain_balls.pivoting,
    "walking_center": lambda points: plain_balls.walking_center(points)[0],
    "active_set": active_set,
}


class TooManyBalls(Exception):
    """A method has asked for more balls than it may."""


@contextlib.contextmanager
def watching(limit):
    """Collect the balls that plain forms ask for meanwhile.

    All of them find a ball through given rows, the active set the way to its center.
    That is their unit of work, and where one that never ends is stopped.

    Parameters
    ----------
    limit : int
        One more raises TooManyBalls.

    Yields
    ------
    list
        What they were answered, in order.
    """
    seen = []

    def watched(function):
        def answer(points, given):
            if len(seen) == limit:
                raise TooManyBalls
            seen.append(function(points, given))
            return seen[-1]

        return answer

    with contextlib.ExitStack() as stack:
        for home, name in ((plain_balls, "ball_through"), (plain, "uphill")):
            stack.enter_context(_replaced(home, name, watched(getattr(home, name))))
        yield seen


@contextlib.contextmanager
def _replaced(home, name, value):
    before = getattr(home, name)
    setattr(home, name, value)
    try:
        yield
    finally:
        setattr(home, name, before)


def balls_counted(dimensions, m, seed, limit, repeats=3):
    """How many balls each method asks for, by dimension.

    Parameters
    ----------
    dimensions : sequence of int
    m : int
        Rows of the normal clouds.
    seed : int
        Of the first cloud; the others have the seeds that follow.
    limit : int
        Where a method is stopped.
    repeats : int
        Clouds for each dimension.

    Returns
    -------
    pandas.DataFrame
        The median over the clouds; a row a dimension, a column a method. `limit` where
        a method was stopped.
    """
    rows = {}
    for n in dimensions:
        clouds = [normal_cloud(m, n, seed + k) for k in range(repeats)]
        rows[n] = {
            name: int(np.median([_count(method, points, limit) for points in clouds]))
            for name, method in METHODS.items()
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("n")


def _count(method, points, limit):
    with watching(limit) as seen, contextlib.suppress(TooManyBalls):
        method(points)
    return len(seen)


def seconds(method, points, runs=3):
    """The shortest time that a method takes, in words where it gives up.

    Parameters
    ----------
    method : callable
    points : ndarray, shape (m, n)
    runs : int

    Returns
    -------
    str
    """
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        try:
            with watching(2_000):
                method(points)
        except RecursionError:
            return "too deep"
        except TooManyBalls:
            return "over 2000 balls"
        times.append(time.perf_counter() - start)
    return f"{1000 * min(times):.1f} ms"


# --- pictures of the steps -----------------------------------------------------------
class Growth(NamedTuple):
    """The ball of the first rows, before and after one that was outside.

    Attributes
    ----------
    row : int
        The row that was outside.
    before, after : Solution
        The balls of the rows before it, and with it.
    """

    row: int
    before: object
    after: object


def prefix_balls(points):
    """The ball of the first 1, 2, ... rows, wherever it has to grow.

    Parameters
    ----------
    points : ndarray, shape (m, n)

    Returns
    -------
    list of Growth
    """
    grown, ball = [], minimum_enclosing_ball(points[:1])
    for row in range(1, len(points)):
        if outside_of(ball, points[[row]]).any():
            larger = minimum_enclosing_ball(points[: row + 1])
            grown.append(Growth(row, ball, larger))
            ball = larger
    return grown


def core_set_rounds(points):
    """The farthest row enters, the weights are solved for exactly, and again.

    Parameters
    ----------
    points : ndarray, shape (m, n)

    Returns
    -------
    list of (Solution, ndarray of int, int)
        The ball of the core set, its support as rows, and the row that is farthest.
    """
    rows, rounds = np.array([0]), []
    while True:
        ball = minimum_enclosing_ball(points[rows])
        support = rows[ball.support]
        far = int(squared_distances(points, ball.center).argmax())
        rounds.append((ball, support, far))
        if not outside_of(ball, points[[far]]).any():
            return rounds
        rows = np.append(support, far)


# --- the sampling lemma ----------------------------------------------------------------


def needed_rows(points):
    """The rows that every support holds: without one of them the ball is smaller.

    Parameters
    ----------
    points : ndarray, shape (m, n)

    Returns
    -------
    list of int
    """
    return [
        row
        for row in minimum_enclosing_ball(points).support.tolist()
        if outside_of(
            minimum_enclosing_ball(np.delete(points, row, axis=0)), points[[row]]
        ).any()
    ]


def sampling_counts(points, sizes, repeats, seed):
    """How many rows lie outside of the ball of a sample, beside Clarkson's bound.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    sizes : sequence of int
        r, below m.
    repeats : int
        Samples of each size.
    seed : int

    Returns
    -------
    pandas.DataFrame
        A row a size: `r`, `outside` (the mean), `error` (its standard error), `bound`
        (n + 1)(m - r) / (r + 1), and `by needed`, the same with the mean number of
        needed rows of samples of r + 1 rows in place of n + 1.
    """
    rng = np.random.default_rng(seed)
    m, n = points.shape
    rows = []
    for r in sizes:
        outside, needed = [], []
        for _ in range(repeats):
            drawn = rng.choice(m, r + 1, replace=False)
            ball = minimum_enclosing_ball(points[drawn[:r]])
            outside.append(np.count_nonzero(outside_of(ball, points)))
            needed.append(len(needed_rows(points[drawn])))
        share = (m - r) / (r + 1)
        rows.append(
            {
                "r": r,
                "outside": np.mean(outside),
                "error": np.std(outside) / math.sqrt(repeats),
                "by needed": share * np.mean(needed),
                "bound": share * (n + 1),
            }
        )
    return pd.DataFrame(rows)


def balanced_sample(m, n):
    """The size of a sample at which it and the rows outside of its ball are as many.

    Parameters
    ----------
    m, n : int

    Returns
    -------
    float
        sqrt((n + 1)(m + 1)) - 1.
    """
    return math.sqrt((n + 1) * (m + 1)) - 1


def best_sample(m, n):
    """The size r at which r + (n + 1)(m - r) / (r + 1) is least, and that sum.

    Parameters
    ----------
    m, n : int

    Returns
    -------
    r : int
    rows : float
    """
    r = np.arange(1, m + 1)
    total = r + (n + 1) * (m - r) / (r + 1)
    return int(r[total.argmin()]), float(total.min())


# --- the stop --------------------------------------------------------------------------
def looks_table(looks):
    """The numbers of the stop, a row a look at all rows.

    Parameters
    ----------
    looks : list of plain_balls.Look

    Returns
    -------
    pandas.DataFrame
        Columns kept (rows), r and new r (before and after), shift, at most (what the
        growth of the radius allows it), inner, inner + shift, stop.
    """
    return pd.DataFrame(
        {
            "look": range(1, len(looks) + 1),
            "kept": [look.shell.size for look in looks],
            "r": [look.ball.radius for look in looks],
            "new r": [look.new.radius for look in looks],
            "shift": [look.shift for look in looks],
            "at most": [_reach(look) for look in looks],
            "inner": [look.inner for look in looks],
            "inner + shift": [look.inner + look.shift for look in looks],
            "stop": [look.inner + look.shift <= look.new.radius for look in looks],
        }
    ).set_index("look")


def _reach(look):
    """sqrt(r'^2 - r^2), which bounds the shift."""
    return math.sqrt(max(look.new.radius**2 - look.ball.radius**2, 0.0))


def let_go(points, looks):
    """The largest distance from the last center among the rows let go; 0 if none was.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    looks : list of plain_balls.Look

    Returns
    -------
    float
    """
    gone = np.delete(points, looks[-1].shell, axis=0)
    if not len(gone):
        return 0.0
    return enclosing_radius(gone, looks[-1].new.center)


def too_soon(m, seed, keep=4):
    """A cloud on which it is wrong to stop because `inner` is below the new radius.

    Parameters
    ----------
    m : int
        Rows of the clouds that are tried.
    seed : int
        Of the first cloud.
    keep : int
        Rows kept by the look.

    Returns
    -------
    points : ndarray, shape (m, 2)
    look : plain_balls.Look
        With inner <= new.radius and a row outside of `new`.
    """
    while True:
        points = normal_cloud(m, 2, seed)
        ball = minimum_enclosing_ball(points[:3])
        look = plain_balls.look_at(points, ball, ball.support, keep)
        if look.inner <= look.new.radius and outside_of(look.new, points).any():
            return points, look
        seed += 1


def never_support(points, weights):
    """Rows that no support can hold, told from any weights on the simplex.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    weights : ndarray, shape (m,)

    Returns
    -------
    ndarray of bool, shape (m,)
    """
    squared = squared_distances(points, weights @ points)
    gamma, far = dual_value(points, weights), squared.max()
    nearest = math.sqrt((far + gamma) / 2) - math.sqrt(max(far - gamma, 0.0) / 2)
    return np.sqrt(squared) < nearest * (1 - RIGHT)


# --- who fails on what -------------------------------------------------------------------
def _whole_numbers(rng):
    return rng.integers(-2, 3, size=(20, 3)).astype(float)


def _repeated(rng):
    return np.repeat(rng.normal(size=(8, 3)), 3, axis=0)


def _nearly_equal(rng):
    points = _repeated(rng)
    return points + 1e-9 * rng.normal(size=points.shape)


def _nearly_a_line(rng):
    line = rng.integers(-5, 6, size=(20, 1)) * np.array([1.0, 2.0, 3.0])
    return line + 1e-13 * rng.normal(size=line.shape)


# Kind -> a cloud of this kind, drawn from a generator.
CLOUDS = {
    "normal, 20 x 3": lambda rng: rng.normal(size=(20, 3)),
    "whole numbers, 20 x 3": _whole_numbers,
    "rows thrice, 24 x 3": _repeated,
    "the same up to 1e-9": _nearly_equal,
    "on a sphere, 20 x 3": lambda rng: sphere_cloud(20, 3, rng),
    "nearly a line, 20 x 3": _nearly_a_line,
    "offset 1e4, 20 x 3": lambda rng: rng.normal(size=(20, 3)) + 1e4,
    "offset 1e8, 20 x 3": lambda rng: rng.normal(size=(20, 3)) + 1e8,
    "normal, 40 x 20": lambda rng: rng.normal(size=(40, 20)),
    "unit vectors, 16 x 16": lambda rng: np.eye(16),
    "a full stack, n = 2": lambda rng: rng.normal(size=(sys.getrecursionlimit(), 2)),
}


def failures(clouds, methods, repeats, seed, limit, slack=plain_balls.SLACK):
    """How many clouds of each kind a method gets right, and what it does on the others.

    Parameters
    ----------
    clouds : dict of str -> callable
        As CLOUDS.
    methods : sequence of str
        Of METHODS.
    repeats : int
        Clouds of each kind.
    seed : int
    limit : int
        Balls after which a method is stopped.
    slack : float
        What the plain forms forgive, relative, where they ask whether a row is outside.

    Returns
    -------
    pandas.DataFrame
        A row a kind; a column a method, one for `minimum_enclosing_ball`, called
        "exact ball", and one for what `verify` says of it. Where all clouds went alike,
        only how.
    """
    rows = {}
    for kind, draw in clouds.items():
        rng = np.random.default_rng(seed)
        drawn = [draw(rng) for _ in range(repeats)]
        balls = [minimum_enclosing_ball(points) for points in drawn]
        tried = {name: METHODS[name] for name in methods}
        tried["exact ball"] = minimum_enclosing_ball
        told = {
            name: [
                _outcome(method, points, ball, limit, slack)
                for points, ball in zip(drawn, balls, strict=True)
            ]
            for name, method in tried.items()
        }
        told["verify"] = [
            verify(points, ball).verdict
            for points, ball in zip(drawn, balls, strict=True)
        ]
        rows[kind] = {name: _counted(outcomes) for name, outcomes in told.items()}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("clouds")


def _outcome(method, points, best, limit, slack):
    try:
        with watching(limit), _replaced(plain_balls, "SLACK", slack):
            center = method(points).center
    except TooManyBalls:
        return "stopped"
    except RecursionError:
        return "too deep"
    rounding = float(np.linalg.norm(np.spacing(np.abs(best.center))))
    right = best.lower_bound * (1 + RIGHT) + rounding
    return "right" if enclosing_radius(points, center) <= right else "wrong"


def _counted(outcomes):
    told = Counter(outcomes).most_common()
    if len(told) == 1:
        return told[0][0]
    return ", ".join(f"{count} {word}" for word, count in told)


# --- rounding ------------------------------------------------------------------------------
def offset_table(points, offsets):
    """The same cloud farther and farther from the origin.

    Parameters
    ----------
    points : ndarray, shape (m, n)
        Rounded to a grid here, so that adding an offset is exact.
    offsets : sequence of float

    Returns
    -------
    pandas.DataFrame
    """
    grid = np.round(points * 64) / 64
    true = minimum_enclosing_ball(grid).radius
    rows = {}
    for offset in offsets:
        moved = grid + offset
        ball = minimum_enclosing_ball(moved)
        rounding = float(np.linalg.norm(np.spacing(np.abs(ball.center)))) / 2
        rows[f"{offset:.0e}" if offset else "0"] = {
            "rounding of the center / r*": f"{rounding / true:.1e}",
            "gap within it": ball.radius - true <= rounding + 1e-12 * true,
            "lower bound right to 1e-12": abs(ball.lower_bound / true - 1) <= 1e-12,
            "the same from squares": _off(_from_squares(moved, ball) / true),
            "verify": verify(moved, ball).verdict,
            "verify, rtol = 1e-6": verify(moved, ball, rtol=1e-6).verdict,
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("offset")


def _off(ratio):
    """How far from 1, as coarsely as last bits leave it alone."""
    error = abs(ratio - 1.0)
    if error <= 1e-6:
        return "right to 1e-6"
    return "off by over 1 %" if error > 0.01 else "off"


def _from_squares(points, ball):
    """sqrt(sum u_i |a_i|^2 - |c|^2), which is the lower bound but for rounding."""
    squares = (points[ball.support] ** 2).sum(axis=1)
    return math.sqrt(max(ball.weights @ squares - ball.center @ ball.center, 0.0))
