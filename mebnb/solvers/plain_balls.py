"""Finite methods for the smallest ball, each as a textbook has it.

They end after finitely many steps with the ball itself, not with one that is nearly as
small. Points are the rows of `points`; R and S are lists of row numbers, c is a center
and `square` a squared radius. A row counts as outside when its squared distance exceeds
`square` by more than a factor 1 + SLACK, which is all that is done about rounding.

As in `plain`, nothing is checked and every look passes over all points: use
`mebnb.minimum_enclosing_ball` for work.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mebnb.solvers.exact import minimum_enclosing_ball
from mebnb.solvers.plain import squared_distances

__all__ = [
    "Ball",
    "Look",
    "ball_through",
    "look_at",
    "move_to_front",
    "on_the_sphere",
    "pivoting",
    "sampling_ball",
    "walking_center",
    "welzl",
]

SLACK = 1e-12


class Ball(NamedTuple):
    """A ball and the rows that hold it.

    Attributes
    ----------
    center : ndarray, shape (n,)
    square : float
        The squared radius; -1 for the ball of no point.
    support : list of int
        Rows on the sphere, with the center in their affine hull.
    weights : ndarray
        The affine coordinates of the center: they sum to 1, and where none is negative
        the ball is the smallest one of its support.
    """

    center: np.ndarray
    square: float
    support: list
    weights: np.ndarray

    def misses(self, point):
        """Whether a point lies outside."""
        apart = point - self.center
        return apart @ apart > self.square * (1 + SLACK)


def ball_through(points, R):
    """The smallest ball that has the rows R on its sphere.

    With edges a_i - a_0 the center is a_0 + x for the shortest x that solves
    2 (a_i - a_0)'x = |a_i - a_0|^2: the shortest one lies in the span of the edges.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    R : list of int
        Affinely independent rows; no row gives a ball that holds no point.

    Returns
    -------
    Ball
    """
    if not R:
        return Ball(np.zeros(points.shape[1]), -1.0, [], np.empty(0))
    edges = points[R[1:]] - points[R[0]]
    x = np.linalg.lstsq(2 * edges, (edges**2).sum(axis=1))[0]
    shares = np.linalg.lstsq(edges.T, x)[0]
    weights = np.append(1 - shares.sum(), shares)
    return Ball(points[R[0]] + x, x @ x, list(R), weights)


def welzl(points):
    """Welzl's recursion: a row outside of the ball of the others is on the sphere.

    Source: Welzl, Smallest enclosing disks (balls and ellipsoids), New Results and New
    Trends in Computer Science, LNCS 555 (1991).

    Parameters
    ----------
    points : ndarray, shape (m, n)

    Returns
    -------
    Ball
    """
    most = points.shape[1] + 1
    order = np.random.default_rng(0).permutation(len(points))

    def ball(k, R):
        if k == 0 or len(R) == most:
            return ball_through(points, R)
        others = ball(k - 1, R)
        last = order[k - 1]
        return ball(k - 1, [*R, last]) if others.misses(points[last]) else others

    return ball(len(points), [])


def move_to_front(points):
    """Welzl's recursion as a loop over a list whose front holds the rows that count.

    Source: Welzl (1991); as a loop in Gaertner, Fast and robust smallest enclosing
    balls, ESA 1999, LNCS 1643.

    Parameters
    ----------
    points : ndarray, shape (m, n)

    Returns
    -------
    Ball
    """
    rows = np.random.default_rng(0).permutation(len(points)).tolist()
    return on_the_sphere(points, rows, [])


def on_the_sphere(points, rows, R):
    """The smallest ball of some rows that has the rows R on its sphere.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    rows : list of int
        A row that was outside moves to the front.
    R : list of int

    Returns
    -------
    Ball
    """
    ball = ball_through(points, R)
    if len(R) == points.shape[1] + 1:
        return ball
    for i in range(len(rows)):
        if ball.misses(points[rows[i]]):
            front = rows[:i]
            ball = on_the_sphere(points, front, [*R, rows[i]])
            rows[: i + 1] = [rows[i], *front]
    return ball


def pivoting(points):
    """Gaertner's pivoting: the farthest row first, on the sphere of the support.

    Source: Gaertner, Fast and robust smallest enclosing balls, ESA 1999, LNCS 1643.

    Parameters
    ----------
    points : ndarray, shape (m, n)

    Returns
    -------
    Ball
    """
    ball = ball_through(points, [0])
    while True:
        far = squared_distances(points, ball.center).argmax()
        if not ball.misses(points[far]):
            return ball
        ball = on_the_sphere(points, ball.support, [far])


def walking_center(points):
    """A ball that holds all rows shrinks while its center walks.

    The rows S on the sphere are equally far from the center c. It walks straight
    towards the center of the ball through S, until another row meets the sphere and
    joins S. Once it is there, a row with negative weight leaves.

    Source: Fischer, Gaertner and Kutz, Fast smallest-enclosing-ball computation in high
    dimensions, ESA 2003, LNCS 2832.

    Parameters
    ----------
    points : ndarray, shape (m, n)

    Returns
    -------
    Ball
    stops : list of (ndarray, list of int)
        c and S at each stop.
    """
    c = points[0]
    S = [squared_distances(points, c).argmax()]
    stops = []
    while True:
        stops.append((c, list(S)))
        ball = ball_through(points, S)
        way = ball.center - c
        d = squared_distances(points, c)
        # On the way row i gets nearer to the sphere at this rate.
        rate = 2 * (points[S[0]] - points) @ way
        rate[S] = 0.0
        meets = rate > SLACK * d[S[0]]
        t = np.divide(d[S[0]] - d, rate, out=np.full(len(d), np.inf), where=meets)
        if t.min() < 1:
            c = c + max(t.min(), 0.0) * way
            S.append(t.argmin())
        elif ball.weights.min() < -SLACK:
            c = ball.center
            S.pop(ball.weights.argmin())
        else:
            return ball, stops


class Look(NamedTuple):
    """One pass over all rows, and what came of it.

    Attributes
    ----------
    ball, new : Solution
        Of the rows known before the pass, and of the shell.
    shell : ndarray of int
        The rows kept.
    inner : float
        The distance of the farthest row let go from the center of `ball`.
    shift : float
        How far the center has moved.
    """

    ball: object
    new: object
    shell: np.ndarray
    inner: float
    shift: float


def look_at(points, ball, support, keep):
    """Keep the farthest rows from the center, and solve for them with the support.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    ball : Solution
        Of some rows.
    support : ndarray of int
        Its support, as rows.
    keep : int

    Returns
    -------
    Look
    """
    distances = np.sqrt(squared_distances(points, ball.center))
    farthest = np.argsort(distances, kind="stable")[-keep:]
    shell = np.union1d(farthest, support)
    inner = float(np.delete(distances, shell).max(initial=0.0))
    new = minimum_enclosing_ball(points[shell])
    return Look(ball, new, shell, inner, math.dist(new.center, ball.center))


def sampling_ball(points, size):
    """A sample, then shells, until no row let go can be outside.

    Sources: Clarkson, Las Vegas algorithms for linear and integer programming, J. ACM
    42 (1995), for the sample; the stop is that of `mebnb.minimum_enclosing_ball`.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    size : int
        Rows of the sample; a shell has four times as many, and the support.

    Returns
    -------
    sample : ndarray of int
    looks : list of Look
        The last one's `new` is the smallest ball.
    """
    drawn = np.random.default_rng(0).choice(len(points), size, replace=False)
    ball = minimum_enclosing_ball(points[drawn])
    support, looks = drawn[ball.support], []
    while True:
        look = look_at(points, ball, support, 4 * size)
        looks.append(look)
        stop = look.inner + look.shift <= look.new.radius
        if stop or look.new.radius <= ball.radius:
            return drawn, looks
        ball, support = look.new, look.shell[look.new.support]
