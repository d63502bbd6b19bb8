"""Maximum excluding ellipsoids: as large as they can be with the negatives kept out.

For a center c and negatives x_1, ..., x_n the paper on excluding ellipsoids (its
problem 2) asks for

    min  (1/n) sum_i [R - |x_i - c|_M^2]_+  +  mu (B - R)^2  +  lam |M - I|_F^2

over 0 <= R <= B and symmetric M, with |y|_M^2 = y' M y. R is a *squared* radius: a
point is inside when |x - c|_M^2 <= R.

With y_i = x_i - c and v = (sqrt(mu) (B - R), sqrt(lam) svec(M - I)) this is a hinge
loss with an L2 penalty in d (d + 1) / 2 + 1 variables, and its dual is

    max  k(sum_i a_i) - sum_i a_i |y_i|^2 - (1 / (4 lam)) a' (G o G) a

over 0 <= a_i <= 1/n, where G is the Gram matrix of the y_i, G o G its entrywise square
and k(s) = min_R {s R + mu (B - R)^2}. A dual point gives R, the minimiser in k, and
M = I + sum_i a_i y_i y_i' / (2 lam); the gap between the two values is a sum of
nonnegative terms, one a negative, so that it certifies the answer without cancellation.

Since M >= I and R <= B, a negative with |y_i|^2 >= B costs nothing and is left out
from the start. What remains is solved by dual coordinate descent on the negatives that
violate their optimality condition.

Sources: the paper, problem 2, equation 7 and appendix A, with its slips mended (see
`mebnb.check_derivations("me2")`); Hsieh, Chang, Lin, Keerthi and Sundararajan, A dual
coordinate descent method for large-scale linear SVM, ICML 2008.
"""

from __future__ import annotations

import math
import warnings
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
from numba import njit

from mebnb.solvers.balls import squared_distances
from mebnb.solvers.inputs import check_points

__all__ = [
    "Ellipsoid",
    "EllipsoidPath",
    "excluding_ellipsoid",
    "excluding_path",
    "generalisation_bound",
    "stability_constant",
]

RADII = ("squared", "plain")
# Between two full looks at all negatives: rounds over those that still move.
EPOCHS = 100
LOOKS = 2000

_compiled = njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})


# --- the solver --------------------------------------------------------------------


@_compiled
def _dot(a, b):
    total = 0.0
    for j in range(a.shape[0]):
        total += a[j] * b[j]
    return total


@_compiled
def _radius(total, mu, B, plain):
    """R that belongs to a sum of multipliers, and what distances are held against."""
    if plain:
        R = mu * B / (mu + total)
        return R, R * R
    R = max(0.0, B - total / (2.0 * mu))
    return R, R


@_compiled
def _curvature(total, alpha, slope, mu, B, plain):
    """Bound on -k'' along the step of one multiplier."""
    if plain:
        # -k'' grows as the sum shrinks, and it cannot shrink by more than alpha.
        lowest = max(0.0, total - alpha) if slope > 0.0 else total
        R = mu * B / (mu + lowest)
        return 2.0 * R * R / (mu + lowest)
    return 0.5 / mu


@_compiled
def _look(alpha, excess, cap, active):
    """Gap and mean loss at excess = distance - threshold; violators go to `active`."""
    gap, loss, count = 0.0, 0.0, 0
    for i in range(alpha.shape[0]):
        if excess[i] < 0.0:
            loss -= cap * excess[i]
            part = (alpha[i] - cap) * excess[i]
        else:
            part = alpha[i] * excess[i]
        gap += part
        if part > 0.0:
            active[count] = i
            count += 1
    return gap, loss, count


@_compiled
def _sweep(features, lengths, alpha, w, total, active, count, cap, mu, lam, B, plain):
    """One pass of coordinate steps; `active` keeps what moved or is off its bounds."""
    threshold = _radius(total, mu, B, plain)[1]
    gap, kept = 0.0, 0
    for j in range(count):
        i = active[j]
        row = features[i]
        excess = lengths[i] + _dot(row, w) - threshold
        old = alpha[i]
        gap += (old - cap) * excess if excess < 0.0 else old * excess
        bend = lengths[i] * lengths[i] / (2.0 * lam)
        bend += _curvature(total, old, excess, mu, B, plain)
        new = min(cap, max(0.0, old - excess / bend))
        if new != old:
            step = new - old
            alpha[i] = new
            total += step
            for c in range(w.shape[0]):
                w[c] += step / (2.0 * lam) * row[c]
            threshold = _radius(total, mu, B, plain)[1]
        if new != old or 0.0 < new < cap:
            active[kept] = i
            kept += 1
    return total, gap, kept


@_compiled
def _descend(features, lengths, cap, mu, lam, B, plain, tol, alpha):
    """Improve `alpha` in place until the gap is at most tol max(1, primal).

    Returns R, w = svec(M - I) or its image, primal value and gap.
    """
    active = np.empty(alpha.shape[0], np.int64)
    for _ in range(LOOKS):
        w = np.dot(alpha, features) / (2.0 * lam)
        total = alpha.sum()
        R, threshold = _radius(total, mu, B, plain)
        excess = lengths + np.dot(features, w) - threshold
        gap, loss, count = _look(alpha, excess, cap, active)
        primal = loss + mu * (B - R) ** 2 + lam * _dot(w, w)
        target = tol * max(1.0, primal)
        if gap <= target:
            break
        for _ in range(EPOCHS):
            total, left, count = _sweep(
                features,
                lengths,
                alpha,
                w,
                total,
                active,
                count,
                cap,
                mu,
                lam,
                B,
                plain,
            )
            if left <= 0.3 * target:
                break
    return R, w, primal, gap


@_compiled
def _walk(features, lengths, cap, mus, lams, B, plain, tol, alpha, R, w, primal, gap):
    """Solve along the grid, each problem from the last one's multipliers."""
    for i in range(lams.shape[0]):
        for step in range(mus.shape[0]):
            j = step if i % 2 == 0 else mus.shape[0] - 1 - step
            R[i, j], w[i, j], primal[i, j], gap[i, j] = _descend(
                features, lengths, cap, mus[j], lams[i], B, plain, tol, alpha
            )


# --- preparation -------------------------------------------------------------------

# `near` marks the negatives that can act, `y` holds them relative to the center;
# features F have F F' = G o G; `cap` is 1/n with n all negatives.
_Problem = namedtuple("_Problem", "near y features lengths cap")


def _prepare(y, B, plain):
    with np.errstate(over="ignore"):
        lengths = np.einsum("ij,ij->i", y, y)
    near = lengths < (B * B if plain else B)
    y, lengths = y[near], lengths[near]
    return _Problem(near, y, _features(y), lengths, 1.0 / max(1, near.shape[0]))


def _features(y):
    """Rows with the inner products (y_i' y_j)^2, in the smaller of two dimensions."""
    k, d = y.shape
    if d * (d + 1) // 2 <= k:
        i, j = np.triu_indices(d)
        return np.ascontiguousarray(
            y[:, i] * y[:, j] * np.where(i == j, 1.0, math.sqrt(2.0))
        )
    values, vectors = np.linalg.eigh((y @ y.T) ** 2)
    return np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _metric(problem, alpha, lam):
    y = problem.y
    return np.eye(y.shape[1]) + (y.T * alpha) @ y / (2.0 * lam)


def _first_guess(problem, mu, lam, B):
    """The best multiple of "every negative within sqrt(B) at its cap"."""
    alpha = np.full(problem.lengths.shape[0], problem.cap)
    total = alpha.sum()
    w = alpha @ problem.features / (2.0 * lam)
    bend = lam * (w @ w) + total**2 / (4.0 * mu)
    if bend > 0.0:
        rise = B * total - alpha @ problem.lengths
        alpha *= min(1.0, max(0.0, rise / (2.0 * bend)))
    return alpha


# --- what comes out ----------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Ellipsoid:
    """An excluding ellipsoid with the multipliers that prove it optimal.

    Attributes
    ----------
    center : ndarray, shape (d,)
    R : float
        A squared radius (with radius="plain": a radius), between 0 and B.
    M : ndarray, shape (d, d)
        The metric, M >= I.
    L : ndarray, shape (d, d)
        Lower triangle with M = L L'; x -> (x - center) L maps the ellipsoid to a ball.
    multipliers : ndarray, shape (n,)
        One a negative, between 0 and 1/n; 0 for every negative outside.
    primal, dual : float
        Values of the two problems; the optimum lies between.
    gap : float
        primal - dual, as a sum of nonnegative terms.
    threshold : float
        What squared distances are held against: R, with radius="plain" R^2.
    converged : bool
        Whether gap <= tol max(1, primal) was reached.
    """

    center: np.ndarray
    R: float
    M: np.ndarray
    L: np.ndarray
    multipliers: np.ndarray
    primal: float
    dual: float
    gap: float
    threshold: float
    converged: bool

    def squared_distances(self, points):
        """Squared distances |x - c|_M^2 from the center in the metric M.

        Parameters
        ----------
        points : array_like, shape (m, d)

        Returns
        -------
        ndarray, shape (m,)
        """
        points = check_points(points)
        _same_width(points, self.center)
        return squared_distances((points - self.center) @ self.L, 0.0)

    def contains(self, points):
        """Whether points lie inside, |x - c|_M^2 <= threshold.

        Parameters
        ----------
        points : array_like, shape (m, d)

        Returns
        -------
        ndarray of bool, shape (m,)
        """
        return self.squared_distances(points) <= self.threshold

    def __repr__(self):
        acting = np.count_nonzero(self.multipliers)
        return (
            f"Ellipsoid(R {self.R:.6g}, {self.center.shape[0]} coordinates, "
            f"{acting} of {self.multipliers.shape[0]} negatives act, "
            f"gap {self.gap:.1e})"
        )


@dataclass(frozen=True, repr=False)
class EllipsoidPath:
    """Excluding ellipsoids of one center over a grid of mu and lambda.

    Attributes
    ----------
    center : ndarray, shape (d,)
    mus : ndarray, shape (p,)
    lams : ndarray, shape (q,)
    R, threshold, primal, gap : ndarray, shape (q, p)
        As in `Ellipsoid`; row i belongs to lams[i], column j to mus[j].
    M : ndarray, shape (q, p, d, d)
    converged : bool
        Whether every gap is at most tol max(1, primal).
    """

    center: np.ndarray
    mus: np.ndarray
    lams: np.ndarray
    R: np.ndarray
    threshold: np.ndarray
    M: np.ndarray
    primal: np.ndarray
    gap: np.ndarray
    converged: bool

    def squared_distances(self, points):
        """Squared distances |x - c|_M^2 from the center, in each of the metrics.

        Parameters
        ----------
        points : array_like, shape (m, d)

        Returns
        -------
        ndarray, shape (q, p, m)
        """
        points = check_points(points)
        _same_width(points, self.center)
        y = points - self.center
        return np.einsum("mi,qpij,mj->qpm", y, self.M, y, optimize=True)

    def contains(self, points):
        """Whether points lie inside each of the ellipsoids.

        Parameters
        ----------
        points : array_like, shape (m, d)

        Returns
        -------
        ndarray of bool, shape (q, p, m)
        """
        return self.squared_distances(points) <= self.threshold[:, :, None]

    def __repr__(self):
        q, p = self.R.shape
        return (
            f"EllipsoidPath({q} lambdas x {p} mus, {self.center.shape[0]} coordinates, "
            f"largest gap {self.gap.max():.1e})"
        )


# --- the functions -----------------------------------------------------------------


def excluding_ellipsoid(
    negatives, center, mu, lam, B=4.0, tol=1e-8, *, radius="squared"
):
    """The largest ellipsoid about a center that keeps the negatives out, exactly.

    Solves problem 2 of the paper to a certified gap. On [0, 1] features and with the
    paper's B = 4 the radius hardly depends on the data: R lies between B - 1 / (2 mu)
    and B, so that B and the scale of the features decide.

    Parameters
    ----------
    negatives : array_like, shape (n, d)
        The points to keep out.
    center : array_like, shape (d,)
        The positive example that the ellipsoid is centered on.
    mu : float
        Weight of (B - R)^2, positive; larger for larger ellipsoids.
    lam : float
        Weight of |M - I|_F^2, positive; larger for rounder ellipsoids.
    B : float
        Largest R, in squared units of the data (radius="plain": in units).
    tol : float
        The gap is brought to at most tol max(1, primal).
    radius : {"squared", "plain"}
        Whether R is a squared radius (problem 2) or a radius, with R^2 in the loss
        (as equation 8 of the paper prints it).

    Returns
    -------
    Ellipsoid

    Raises
    ------
    TypeError, ValueError
        For negatives, a center or a number that make no problem; the message names
        the argument.

    Warns
    -----
    UserWarning
        When the gap stays above the tolerance.

    Examples
    --------
    >>> import numpy as np
    >>> negatives = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 3.0]])
    >>> found = excluding_ellipsoid(negatives, [0.0, 0.0], mu=1.0, lam=0.01)
    >>> bool(found.gap <= 1e-8), found.contains([[0.5, 0.0], [0.0, 1.5]]).tolist()
    (True, [True, True])
    >>> np.round(found.M, 2) + 0.0
    array([[3.97, 0.  ],
           [0.  , 1.  ]])
    """
    negatives, center = _points(negatives, center)
    mu, lam, B, tol = (
        _positive(value, name)
        for value, name in ((mu, "mu"), (lam, "lam"), (B, "B"), (tol, "tol"))
    )
    plain = _is_plain(radius)
    problem = _prepare(negatives - center, B, plain)
    alpha = _first_guess(problem, mu, lam, B)
    _descend(
        problem.features, problem.lengths, problem.cap, mu, lam, B, plain, tol, alpha
    )
    found = _certified(problem, center, alpha, mu, lam, B, plain, tol)
    if not found.converged:
        _warn(found.gap)
    return found


def excluding_path(negatives, center, mus, lams, B=4.0, tol=1e-8, *, radius="squared"):
    """Excluding ellipsoids over a grid of mu and lambda, each started from the last.

    Parameters
    ----------
    negatives, center, B, tol, radius
        As in `excluding_ellipsoid`.
    mus : array_like, shape (p,)
    lams : array_like, shape (q,)
        Fastest when they fall: a round metric is the easy end.

    Returns
    -------
    EllipsoidPath

    Raises
    ------
    TypeError, ValueError
        As in `excluding_ellipsoid`.
    """
    negatives, center = _points(negatives, center)
    B, tol = _positive(B, "B"), _positive(tol, "tol")
    mus, lams = _grid(mus, "mus"), _grid(lams, "lams")
    path = _path(negatives - center, center, mus, lams, B, tol, _is_plain(radius))
    if not path.converged:
        _warn(path.gap.max())
    return path


def _path(y, center, mus, lams, B, tol, plain):
    """`excluding_path` for negatives relative to the center, without any checks."""
    problem = _prepare(y, B, plain)
    k, width = problem.features.shape
    d, shape = y.shape[1], (lams.shape[0], mus.shape[0])
    R, primal, gap = (np.empty(shape) for _ in range(3))
    w = np.empty((*shape, width))
    alpha = _first_guess(problem, mus[0], lams[0], B)
    if d * (d + 1) // 2 <= k:
        _walk(*problem[2:], mus, lams, B, plain, tol, alpha, R, w, primal, gap)
        M = np.eye(d) + _unpack(w, d)
    else:
        # w is no svec in the smaller dimension: M comes from the multipliers.
        M = np.empty((*shape, d, d))
        for i, lam in enumerate(lams):
            for j, mu in enumerate(mus):
                R[i, j], _, primal[i, j], gap[i, j] = _descend(
                    *problem[2:], mu, lam, B, plain, tol, alpha
                )
                M[i, j] = _metric(problem, alpha, lam)
    return EllipsoidPath(
        center=center,
        mus=mus,
        lams=lams,
        R=R,
        threshold=R * R if plain else R,
        M=M,
        primal=primal,
        gap=gap,
        converged=bool(np.all(gap <= tol * np.maximum(1.0, primal))),
    )


def _unpack(w, d):
    """Symmetric matrices from their svec, off-diagonal entries divided by sqrt(2)."""
    i, j = np.triu_indices(d)
    entries = w * np.where(i == j, 1.0, math.sqrt(0.5))
    matrices = np.empty((*w.shape[:-1], d, d))
    matrices[..., i, j] = entries
    matrices[..., j, i] = entries
    return matrices


def _certified(problem, center, alpha, mu, lam, B, plain, tol):
    """Everything recomputed from the multipliers; the features are not used again."""
    M = _metric(problem, alpha, lam)
    total = float(alpha.sum())
    R, threshold = (float(value) for value in _radius(total, mu, B, plain))
    excess = np.einsum("ij,jk,ik->i", problem.y, M, problem.y) - threshold
    penalty = lam * float(np.sum((M - np.eye(M.shape[0])) ** 2))
    primal = (
        problem.cap * float(np.maximum(0.0, -excess).sum())
        + mu * (B - R) ** 2
        + penalty
    )
    dual = (
        total * threshold + mu * (B - R) ** 2 - float(alpha @ problem.lengths) - penalty
    )
    gap = float(np.where(excess < 0.0, alpha - problem.cap, alpha) @ excess)
    multipliers = np.zeros(problem.near.shape[0])
    multipliers[problem.near] = alpha
    return Ellipsoid(
        center=center,
        R=R,
        M=M,
        L=np.linalg.cholesky(M),
        multipliers=multipliers,
        primal=primal,
        dual=dual,
        gap=gap,
        threshold=threshold,
        converged=gap <= tol * max(1.0, primal),
    )


def _warn(gap):
    warnings.warn(
        f"the gap stays at {gap:.1e}, above the tolerance; a larger lam or tol helps",
        UserWarning,
        stacklevel=3,
    )


# --- theory ------------------------------------------------------------------------


def stability_constant(mu, lam, B=4.0, *, sharp=False):
    """Uniform stability: one of n negatives replaced moves no loss beyond beta / n.

    Parameters
    ----------
    mu, lam : float
        The weights of the two penalties.
    B : float
        Bound on R; with sharp=False also on |x| and |c|.
    sharp : bool
        False: Proposition 1 of the paper with its constant made explicit,
        beta = 4 k^2 / min(mu, lam), k = max(1, 4 B^2).
        True: beta = 1 / mu + B^2 / lam, with no bound on the data. The penalty is
        the squared norm of (sqrt(mu) (B - R), sqrt(lam) (M - I)), in which a loss that
        is not zero has slope at most g = sqrt(1 / mu + B^2 / lam), since M >= I; strong
        convexity then moves the optimum by at most g / n.

    Returns
    -------
    float
        beta, in the units of R.

    Examples
    --------
    >>> stability_constant(10.0, 100.0)
    1638.4
    >>> round(stability_constant(10.0, 100.0, sharp=True), 2)
    0.26
    """
    mu, lam, B = _positive(mu, "mu"), _positive(lam, "lam"), _positive(B, "B")
    if sharp:
        return 1.0 / mu + B * B / lam
    return 4.0 * max(1.0, 4.0 * B * B) ** 2 / min(mu, lam)


def generalisation_bound(empirical_risk, n, mu, lam, B=4.0, delta=0.05, *, sharp=False):
    """Bound on the expected loss of an excluding ellipsoid on new negatives.

    Parameters
    ----------
    empirical_risk : float
        Mean loss over the n negatives that it was fitted on.
    n : int
        Number of negatives.
    mu, lam, B
        As in the fit.
    delta : float
        The bound fails with probability at most delta, between 0 and 1.
    sharp : bool
        False: Theorem 2 of the paper with the squares that it lost and the loss
        bounded by B: risk + 2 beta / n + (4 beta + B) sqrt(ln(1 / delta) / (2 n)).
        True: the sharp beta, and beta / n + (2 beta + B) sqrt(...), which is enough
        where one example is replaced rather than left out.

    Returns
    -------
    float
        The bound; it says something only where it is below B.

    Examples
    --------
    >>> round(generalisation_bound(0.1, 3313, 10.0, 100.0), 1)
    140.5
    >>> round(generalisation_bound(0.1, 3313, 10.0, 100.0, sharp=True), 3)
    0.196
    """
    beta = stability_constant(mu, lam, B, sharp=sharp)
    delta = _positive(delta, "delta")
    if delta >= 1.0:
        raise ValueError(f"delta must lie between 0 and 1, found {delta!r}")
    if int(n) != n or n < 1:
        raise ValueError(f"n must be a whole number of negatives >= 1, found {n!r}")
    width = math.sqrt(math.log(1.0 / delta) / (2.0 * n))
    factor = 1.0 if sharp else 2.0
    return empirical_risk + factor * beta / n + (2.0 * factor * beta + B) * width


# --- input -------------------------------------------------------------------------


def _points(negatives, center):
    negatives = np.asarray(check_points(negatives, "negatives"), dtype=np.float64)
    center = np.asarray(center)
    if center.ndim != 1:
        raise ValueError(
            f"center must be one point, shape (d,), found shape {center.shape}"
        )
    center = np.array(check_points(center[None, :], "center")[0], dtype=np.float64)
    _same_width(negatives, center, "negatives")
    return negatives, center


def _same_width(points, center, name="points"):
    if points.shape[1] != center.shape[0]:
        raise ValueError(
            f"{name} must have the center's {center.shape[0]} features, found "
            f"{points.shape[1]}"
        )


def _positive(value, name):
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a positive number, found {value!r}") from None
    if not (math.isfinite(number) and number > 0.0):
        raise ValueError(f"{name} must be a positive number, found {value!r}")
    return number


def _grid(values, name):
    try:
        numbers = [_positive(value, name) for value in values]
    except TypeError:
        raise TypeError(
            f"{name} must be a list of positive numbers, found {values!r}"
        ) from None
    if not numbers:
        raise ValueError(f"{name} must hold at least one number, found none")
    return np.array(numbers)


def _is_plain(radius):
    if radius not in RADII:
        raise ValueError(
            f"radius must be one of {', '.join(map(repr, RADII))}, found {radius!r}"
        )
    return radius == "plain"
