"""The ball with slack where radius and slack are plain distances, not squared ones.

Sources: Pauwels and Ambekar, Industrial Conference on Data Mining (2011), who revisit
support vector data description and are named in Section 2 of the paper on maximum
excluding ellipsoids; Chen and Mangasarian, A class
of smoothing functions for nonlinear and mixed complementarity problems, Computational
Optimization and Applications 5 (1996), for the smoothed maximum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mebnb.solvers.balls import squared_distances
from mebnb.solvers.inputs import check_points
from mebnb.solvers.soft import least_radii, price_of_slack

__all__ = ["PlainSoftBall", "plain_soft_ball"]

# Newton's method on the last smoothing brings the relative gap well below this.
TOLERANCE = 1e-6
# From C = 1 on all prices have the same ball; a large one would only enlarge the error
# of the smoothing.
DEAR = 2.0


@dataclass(frozen=True)
class PlainSoftBall:
    """A ball whose slack is a plain distance from its sphere.

    Attributes
    ----------
    center : ndarray, shape (n,)
    radius : float
        In units of the data.
    outside : ndarray of int
        Row numbers of the points outside, ascending.
    C, nu : float
    primal, dual : float
        dual <= optimum <= primal, in units of the data.
    """

    center: np.ndarray
    radius: float
    outside: np.ndarray
    C: float
    nu: float
    primal: float
    dual: float

    @property
    def relative_gap(self):
        """(primal - dual) / primal; 0 where both values are 0."""
        gap = self.primal - self.dual
        return gap / self.primal if gap > 0.0 else 0.0

    @property
    def converged(self):
        """Whether the relative gap is at most 1e-6."""
        return self.relative_gap <= TOLERANCE

    @property
    def message(self):
        """The relative gap in words."""
        return f"(primal - dual) / primal = {self.relative_gap:.1e}"


def plain_soft_ball(points, nu=0.05):
    """The ball with slack where radius and slack are plain, not squared, distances.

    Minimises r + C sum_i max(|a_i - c| - r, 0) with C = 1 / (nu m). A point outside
    pulls the center with force C, however far away it is, where `soft_ball` lets it
    pull with C times its distance. The problem is a second-order cone program; here
    both maxima are smoothed, ever less, and Newton's method follows.

    Parameters
    ----------
    points : array_like, shape (m, n)
    nu : float
        In (0, 1): at most nu m points lie outside.

    Returns
    -------
    PlainSoftBall

    Raises
    ------
    TypeError, ValueError
        As `soft_ball`, and for nu = 1, where any radius up to the nearest point is
        optimal. Also where the points differ by more than float64 holds.

    References
    ----------
    Pauwels and Ambekar, ICDM 2011; named in Section 2 of the paper on maximum
    excluding ellipsoids.

    Examples
    --------
    >>> import numpy as np
    >>> from mebnb import soft_ball
    >>> points = np.append(np.linspace(-1.0, 1.0, 19), 1e6)[:, None]
    >>> plain, squared = plain_soft_ball(points, 0.2), soft_ball(points, 0.2)
    >>> print(f"{plain.center[0]:.2f} {squared.center[0]:.0f}")
    0.06 249999
    """
    points = check_points(points).astype(np.float64, copy=False)
    share, C = price_of_slack(nu, None, points.shape[0])
    if nu == 1:
        raise ValueError("nu must be less than 1 for plain slack, found 1")
    # A start and a unit of length that outliers do not move.
    origin = np.median(points, axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        local = points - origin
    if not np.isfinite(local).all():
        raise ValueError(
            "points must have differences that float64 can hold; multiply them by a "
            "constant first"
        )
    # A power of two, so that squares neither overflow nor vanish.
    _, exponent = math.frexp(float(np.abs(local).max()))
    local = np.ldexp(local, -exponent)
    distances = np.sqrt(squared_distances(local, np.zeros(points.shape[1])))
    scale = float(np.quantile(distances, 1.0 - nu)) or float(distances.max()) or 1.0
    local /= scale
    state = np.append(np.zeros(points.shape[1]), 1.0)
    smoothing = 0.1
    while smoothing > 1e-8:
        state, pulls = _newton(local, state, min(C, DEAR), smoothing)
        smoothing *= 0.1
    center = state[:-1]
    distances = np.sqrt(squared_distances(local, center))
    radius = least_radii(distances, min(C, 1.0), C >= 1.0)[1]
    over = distances > radius
    primal = radius + C * float((distances[over] - radius).sum())
    # Forces of sum 0, each at most C, of total strength at most 1, give a lower bound:
    # what is left of their sum can lower it by its length times the way to the optimum.
    pulls /= max(1.0, float(np.linalg.norm(pulls, axis=1).sum()))
    dual = float(np.sum(pulls * (local - center)))
    dual -= float(np.linalg.norm(pulls.sum(axis=0)) * distances.max())
    return PlainSoftBall(
        center=origin + np.ldexp(scale * center, exponent),
        radius=math.ldexp(scale * radius, exponent),
        outside=np.flatnonzero(over),
        C=C,
        nu=share / points.shape[0],
        primal=math.ldexp(scale * primal, exponent),
        dual=math.ldexp(scale * dual, exponent),
    )


def _newton(points, state, C, smoothing):
    """Minimise the smoothed problem over (center, radius); also the forces."""
    here = _smoothed(points, state, C, smoothing)
    for _ in range(200):
        value, slope, curvature, _ = here
        ridge = 1e-14 * np.trace(curvature) * np.eye(state.size)
        direction = -np.linalg.solve(curvature + ridge, slope)
        decrease, step = float(slope @ direction), 1.0
        there = _smoothed(points, state + direction, C, smoothing)
        if -decrease <= 1e-13 * value:
            # Too little to be seen in the value: the slope tells whether it helps.
            if np.linalg.norm(there[1]) >= 0.5 * np.linalg.norm(slope):
                break
        else:
            while there[0] > value + 0.25 * step * decrease:
                step *= 0.5
                there = _smoothed(points, state + step * direction, C, smoothing)
        state, here = state + step * direction, there
    return state, here[3]


def _smoothed(points, state, C, smoothing):
    """Value, gradient, Hessian and forces of the smoothed problem."""
    n = points.shape[1]
    apart = state[:n] - points
    distances = np.sqrt((apart**2).sum(axis=1) + smoothing**2)
    excess = distances - state[n]
    root = np.sqrt(excess**2 + 4.0 * smoothing**2)
    value = state[n] + 0.5 * C * float((excess + root).sum())
    pull = 0.5 * C * (1.0 + excess / root)
    bend = 2.0 * C * smoothing**2 / root**3
    rows = np.column_stack([apart / distances[:, None], -np.ones(len(points))])
    slope = pull @ rows
    slope[n] += 1.0
    along = bend - pull / distances
    curvature = (rows * bend[:, None]).T @ rows
    curvature[:n, :n] += (rows[:, :n] * (along - bend)[:, None]).T @ rows[:, :n]
    curvature[np.arange(n), np.arange(n)] += float((pull / distances).sum())
    return value, slope, curvature, -pull[:, None] * rows[:, :n]
