"""Each algorithm as a textbook has it: to be read, and to hold the solvers to.

The names are those of the notebooks' formulas. Points are the rows of `points`;
`u` holds one weight a point, on the simplex; c = u @ points is the center, d the
squared distances from it, gamma = u @ d the dual value and S the active set, the
points with positive weight. s is the point that weight goes to, v the one it is taken
from, alpha the step. Ties go to the point with the smaller number.

Nothing is kept from one step to the next, nothing is checked, and every step passes
over all points: use the solvers beside this module for work.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = [
    "Step",
    "away_step",
    "blended_pairwise",
    "core_set",
    "core_set_away",
    "excluding_ellipsoid",
    "frank_wolfe",
    "minimum_enclosing_ball",
    "pairwise",
    "soft_ball",
    "squared_distances",
]


class Step(NamedTuple):
    """One step of length alpha along `towards` - `away`.

    Attributes
    ----------
    towards, away : int or None
        Numbers of points; None is the iterate itself.
    alpha : float
    weights : ndarray, shape (m,)
        u after the step.
    """

    towards: int | None
    away: int | None
    alpha: float
    weights: np.ndarray


def squared_distances(points, c):
    """The squared distance of each point from c.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    c : ndarray, shape (n,)

    Returns
    -------
    ndarray, shape (m,)
    """
    apart = points - c
    return np.einsum("ij,ij->i", apart, apart)


def frank_wolfe(points, tol):
    """Frank-Wolfe with exact steps: always towards the farthest point.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    tol : float
        Gap at which to stop, in squared units of the data.

    Returns
    -------
    u : ndarray, shape (m,)
    steps : list of Step
    """
    u = np.zeros(len(points))
    u[0] = 1.0
    steps = []
    while True:
        d = squared_distances(points, u @ points)
        gamma = u @ d
        s = d.argmax()
        if d[s] - gamma <= tol:
            return u, steps
        alpha = (d[s] - gamma) / (2 * d[s])
        u *= 1 - alpha
        u[s] += alpha
        steps.append(Step(s, None, alpha, u.copy()))


def away_step(points, tol):
    """Away-step Frank-Wolfe (report Algorithm 1): the larger gap decides.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    tol : float
        Frank-Wolfe gap at which to stop, in squared units of the data.

    Returns
    -------
    u : ndarray, shape (m,)
    steps : list of Step
    """
    u = np.zeros(len(points))
    u[0] = 1.0
    steps = []
    while True:
        d = squared_distances(points, u @ points)
        gamma = u @ d
        S = np.flatnonzero(u)
        s, v = d.argmax(), S[d[S].argmin()]
        if d[s] - gamma <= tol:
            return u, steps
        if d[s] - gamma >= gamma - d[v]:
            alpha = (d[s] - gamma) / (2 * d[s])
            u *= 1 - alpha
            u[s] += alpha
            steps.append(Step(s, None, alpha, u.copy()))
        else:
            largest = u[v] / (1 - u[v])
            drop = 2 * d[v] * largest <= gamma - d[v]
            alpha = largest if drop else (gamma - d[v]) / (2 * d[v])
            u *= 1 + alpha
            u[v] = 0.0 if drop else u[v] - alpha
            steps.append(Step(None, v, alpha, u.copy()))


def pairwise(points, tol):
    """Pairwise Frank-Wolfe (slides Algorithm 1): from the nearest to the farthest.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    tol : float
        Frank-Wolfe gap at which to stop, in squared units of the data.

    Returns
    -------
    u : ndarray, shape (m,)
    steps : list of Step
    """
    u = np.zeros(len(points))
    u[0] = 1.0
    steps = []
    while True:
        d = squared_distances(points, u @ points)
        gamma = u @ d
        S = np.flatnonzero(u)
        s, v = d.argmax(), S[d[S].argmin()]
        if d[s] - gamma <= tol:
            return u, steps
        apart = ((points[s] - points[v]) ** 2).sum()
        alpha = min((d[s] - d[v]) / (2 * apart), u[v])
        u[s] += alpha
        u[v] -= alpha
        steps.append(Step(s, v, alpha, u.copy()))


def blended_pairwise(points, tol):
    """Blended pairwise steps (report Algorithm 2): settle S before it grows.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    tol : float
        Frank-Wolfe gap at which to stop, in squared units of the data.

    Returns
    -------
    u : ndarray, shape (m,)
    steps : list of Step
    """
    u = np.zeros(len(points))
    u[0] = 1.0
    steps = []
    while True:
        d = squared_distances(points, u @ points)
        gamma = u @ d
        S = np.flatnonzero(u)
        s, ell, v = d.argmax(), S[d[S].argmax()], S[d[S].argmin()]
        if d[s] - gamma <= tol:
            return u, steps
        if d[ell] - d[v] >= d[s] - gamma:
            apart = ((points[ell] - points[v]) ** 2).sum()
            alpha = min((d[ell] - d[v]) / (2 * apart), u[v])
            u[ell] += alpha
            u[v] -= alpha
            steps.append(Step(ell, v, alpha, u.copy()))
        else:
            alpha = (d[s] - gamma) / (2 * d[s])
            u *= 1 - alpha
            u[s] += alpha
            steps.append(Step(s, None, alpha, u.copy()))


def core_set(points, eps):
    """Yildirim's first algorithm (report Algorithm 3): plus steps from a far pair.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    eps : float
        The ball about the center that holds all points is at most a factor 1 + eps
        larger than the smallest one.

    Returns
    -------
    u : ndarray, shape (m,)
        Positive on the core set.
    steps : list of Step
    """
    p = squared_distances(points, points[0]).argmax()
    q = squared_distances(points, points[p]).argmax()
    u = np.zeros(len(points))
    u[[p, q]] = 0.5
    steps = []
    while True:
        d = squared_distances(points, u @ points)
        gamma = u @ d
        k = d.argmax()
        delta = d[k] / gamma - 1
        if delta <= (1 + eps) ** 2 - 1:
            return u, steps
        alpha = delta / (2 * (1 + delta))
        u *= 1 - alpha
        u[k] += alpha
        steps.append(Step(k, None, alpha, u.copy()))


def core_set_away(points, eps):
    """Yildirim's second algorithm (slides Algorithms 3, 4): plus, minus, drop steps.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    eps : float
        As in `core_set`.

    Returns
    -------
    u : ndarray, shape (m,)
        Positive on the core set.
    steps : list of Step
    """
    p = squared_distances(points, points[0]).argmax()
    q = squared_distances(points, points[p]).argmax()
    u = np.zeros(len(points))
    u[[p, q]] = 0.5
    steps = []
    while True:
        d = squared_distances(points, u @ points)
        gamma = u @ d
        S = np.flatnonzero(u)
        k, x = d.argmax(), S[d[S].argmin()]
        plus, minus = d[k] / gamma - 1, 1 - d[x] / gamma
        if max(plus, minus) <= (1 + eps) ** 2 - 1:
            return u, steps
        if plus > minus:
            alpha = plus / (2 * (1 + plus))
            u *= 1 - alpha
            u[k] += alpha
            steps.append(Step(k, None, alpha, u.copy()))
        else:
            largest = u[x] / (1 - u[x])
            drop = 2 * (1 - minus) * largest <= minus
            alpha = largest if drop else minus / (2 * (1 - minus))
            u *= 1 + alpha
            u[x] = 0.0 if drop else u[x] - alpha
            steps.append(Step(None, x, alpha, u.copy()))


def minimum_enclosing_ball(points, eps):
    """The exact ball by an active-set method on a growing core set.

    The farthest point comes in; then weights go to the best ones on the affine hull of
    the core set, and a point whose weight would turn negative on the way goes out.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    eps : float
        As in `core_set`; the method is finite, so that 1e-12 is no hardship.

    Returns
    -------
    ndarray, shape (m,)
        The weights u.
    """
    u = np.zeros(len(points))
    u[0] = 1.0
    while True:
        d = squared_distances(points, u @ points)
        s = d.argmax()
        if d[s] <= (1 + eps) ** 2 * (u @ d):
            return u
        S = np.append(np.flatnonzero(u), s)
        w = uphill(points[S], u[S])
        while (u[S] + w).min() < 0:
            t = np.divide(u[S], -w, out=np.full(len(S), np.inf), where=w < 0)
            u[S] += t.min() * w
            u[S[t.argmin()]] = 0.0
            S = np.delete(S, t.argmin())
            w = uphill(points[S], u[S])
        u[S] += w


def uphill(corners, u):
    """The way from u to the weights that are best where they may be negative.

    Those put the center at one distance from all corners: 2 A A'u + lambda = z and
    sum u = 1 with z_i = |a_i|^2. Where the corners leave no such center they are
    affinely dependent; then the residual of the system keeps the center and raises
    gamma without end, and any multiple of it will do that leaves the simplex.

    Parameters
    ----------
    corners : ndarray, shape (k, n)
    u : ndarray, shape (k,)

    Returns
    -------
    ndarray, shape (k,)
    """
    A = corners - corners[0]
    A /= np.abs(A).max() or 1.0
    ones = np.ones((len(A), 1))
    system = np.block([[2 * A @ A.T, ones], [ones.T, 0.0]])
    right = np.append((A**2).sum(axis=1), 1.0)
    solution = np.linalg.lstsq(system, right)[0]
    residual = (right - system @ solution)[:-1]
    if np.abs(residual).max() > 1e-9:
        return 2 * residual / -residual.min()
    return solution[:-1] - u


def soft_ball(points, nu, tol):
    """The ball with slack by pairwise steps in the box 0 <= u_i <= C = 1 / (nu m).

    Parameters
    ----------
    points : ndarray, shape (m, n)
    nu : float
        In (0, 1): at most nu m points lie outside.
    tol : float
        Stop when no pair violates optimality by more, in squared units of the data.

    Returns
    -------
    u : ndarray, shape (m,)
    rho : float
        The squared radius.
    """
    m = len(points)
    C = 1 / (nu * m)
    u = np.full(m, 1 / m)
    while True:
        d = squared_distances(points, u @ points)
        room, held = np.flatnonzero(u < C), np.flatnonzero(u > 0)
        w, v = room[d[room].argmax()], held[d[held].argmin()]
        if d[w] - d[v] <= tol:
            return u, (d[w] + d[v]) / 2
        apart = ((points[w] - points[v]) ** 2).sum()
        alpha = min((d[w] - d[v]) / (2 * apart), u[v], C - u[w])
        u[w] += alpha
        u[v] -= alpha


def excluding_ellipsoid(negatives, center, mu, lam, B, tol):
    """The largest ellipsoid about a center, by coordinate ascent on its dual.

    Parameters
    ----------
    negatives : ndarray, shape (n, d)
    center : ndarray, shape (d,)
    mu, lam, B : float
        As in the problem.
    tol : float
        Stop after a round in which no multiplier moved by more than tol / n.

    Returns
    -------
    R : float
        The squared radius.
    M : ndarray, shape (d, d)
        The metric.
    alpha : ndarray, shape (n,)
        The multipliers.
    """
    y = negatives - center
    n, d = y.shape
    alpha, R, M = np.zeros(n), B, np.eye(d)
    while True:
        before = alpha.copy()
        for i in range(n):
            slope = R - y[i] @ M @ y[i]
            curvature = 1 / (2 * mu) + (y[i] @ y[i]) ** 2 / (2 * lam)
            alpha[i] = np.clip(alpha[i] + slope / curvature, 0, 1 / n)
            R = max(B - alpha.sum() / (2 * mu), 0)
            M = np.eye(d) + (alpha[:, None] * y).T @ y / (2 * lam)
        if np.abs(alpha - before).max() <= tol / n:
            return R, M, alpha
