"""What makes a ball the smallest one, asserted of whatever a solver returns."""

import math

import numpy as np

from mebnb import Solution, verify


def assert_optimal(points, solution, rtol=1e-9):
    """The optimality conditions of the minimum enclosing ball, each to within rtol.

    With radius r, center c, weights u and dual value gamma = sum_i u_i |a_i - c|^2:
    weights on the simplex (dual feasibility), c = sum_i u_i a_i (stationarity), every
    row inside (primal feasibility), support rows on the sphere as far as their weights
    say (complementarity), r within rtol of sqrt(gamma) (the gap), and the certificate.

    Everything is counted from a row, so that an offset of the cloud does not matter.

    Parameters
    ----------
    points : array_like, shape (m, n)
    solution : Solution
    rtol : float
        The largest accepted radius / lower_bound - 1.
    """
    points = np.asarray(points, dtype=np.float64)
    support, weights = solution.support, solution.weights
    radius, rounding = solution.radius, _rounding(points, solution.center)
    slack = 1e-12 * radius + rounding

    # dual feasibility
    assert np.all(weights >= 0.0) and abs(weights.sum() - 1.0) <= 1e-12
    assert np.all(np.diff(support) > 0), "support is not ascending"
    assert support[0] >= 0 and support[-1] < len(points)
    # stationarity
    origin = points[support[0]]
    rows, center = points[support] - origin, solution.center - origin
    assert np.linalg.norm(weights @ rows - center) <= slack
    # primal feasibility: the radius is the enclosing one, no less and no more
    distances = np.linalg.norm(points - solution.center, axis=1)
    farthest = distances.max()
    assert abs(farthest - radius) <= 1e-12 * radius
    # the lower bound is one, and the gap is small
    gamma = weights @ ((rows - weights @ rows) ** 2).sum(axis=1)
    assert abs(math.sqrt(gamma) - solution.lower_bound) <= 1e-12 * radius
    assert solution.lower_bound <= radius
    assert radius - solution.lower_bound <= rtol * solution.lower_bound + rounding
    # complementarity: sum_i u_i (r^2 - |a_i - c|^2) is the gap, in squares
    below = weights @ (radius - distances[support])
    assert -slack <= below <= rtol * radius + 2.0 * slack
    if solution.independent:
        assert len(support) <= points.shape[1] + 1
    # and all of it once more, proved
    certificate = verify(points, solution, rtol=rtol + 4.0 * rounding / (radius or 1.0))
    assert certificate, certificate


def ball_of_weights(points, weights):
    """What dense weights say of the smallest ball, for solvers that return no more."""
    points = np.asarray(points, dtype=np.float64)
    support = np.flatnonzero(weights)
    shares = weights[support] / weights[support].sum()
    origin = points[support[0]]
    rows = points[support] - origin
    mean = shares @ rows
    center = origin + mean
    return Solution(
        center=center,
        radius=float(np.linalg.norm(points - center, axis=1).max()),
        lower_bound=math.sqrt(shares @ ((rows - mean) ** 2).sum(axis=1)),
        support=support,
        weights=shares,
        iterations=0,
        converged=True,
        message="of these weights",
    )


def _rounding(points, center):
    """How far float64 lets a center be from where it belongs."""
    varies = np.ptp(points, axis=0) > 0.0
    return float(np.linalg.norm(np.spacing(np.abs(center[varies]))))
