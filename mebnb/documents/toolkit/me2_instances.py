"""Small problems, their slow reference solver and the data behind the paper's checks.

The reference solves the dual with SciPy's L-BFGS-B on a handful of negatives and takes the
gap as its witness, so that no check of the paper leans on `mebnb.solvers.ellipsoids`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from mebnb.documents.entries import DataMissing

# --- small problems and their reference solution ------------------------------------


@dataclass(frozen=True, eq=False)
class Problem:
    """One instance: negatives relative to the center, and the three parameters."""

    y: np.ndarray
    mu: float
    lam: float
    B: float

    @property
    def n(self):
        return self.y.shape[0]

    @property
    def d(self):
        return self.y.shape[1]

    def loss(self, R, M, y=None):
        """Hinge losses [R - |y|_M^2]_+, one a row of y."""
        return np.maximum(0.0, R - squared(M, self.y if y is None else y))

    def penalty(self, R, M):
        """N = mu (B - R)^2 + lambda |M - I|^2."""
        return self.mu * (self.B - R) ** 2 + self.lam * np.sum(
            (M - np.eye(self.d)) ** 2
        )

    def objective(self, R, M):
        """F = mean loss + N."""
        return self.loss(R, M).mean() + self.penalty(R, M)

    def replace(self, **changes):
        """The same problem with other negatives or parameters."""
        return replace(self, **changes)


@dataclass(frozen=True, eq=False)
class Optimum:
    """The reference answer to a `Problem`."""

    R: float
    M: np.ndarray
    alpha: np.ndarray
    primal: float
    dual: float


def squared(M, y):
    """Squared distances y' M y of the rows of y."""
    return np.einsum("ij,jk,ik->i", y, M, y)


def solve(problem, cap=None):
    """Solve the dual over 0 <= alpha <= cap (1/n unless given) with L-BFGS-B.

    beta and delta are minimised out: delta = 0, beta = max(0, sum alpha - 2 mu B).

    Parameters
    ----------
    problem : Problem
    cap : float or None

    Returns
    -------
    Optimum
    """
    from scipy.optimize import minimize

    y, mu, lam, B, n = problem.y, problem.mu, problem.lam, problem.B, problem.n
    gram = (y @ y.T) ** 2
    lengths = np.sum(y**2, axis=1)

    def radius(alpha):
        return max(0.0, B - alpha.sum() / (2 * mu))

    def value(alpha):
        total = min(alpha.sum(), 2 * mu * B)
        return (
            lengths @ alpha
            + alpha @ gram @ alpha / (4 * lam)
            - (B * total - total**2 / (4 * mu))
        )

    def slope(alpha):
        return lengths + gram @ alpha / (2 * lam) - radius(alpha)

    cap = 1 / n if cap is None else cap
    found = minimize(
        value,
        np.full(n, cap / 2),
        jac=slope,
        bounds=[(0, cap)] * n,
        method="L-BFGS-B",  # made for boxes; SLSQP may stop with a gap of 4e-9
        options={"maxiter": 10_000, "ftol": 1e-18, "gtol": 1e-14},
    )
    R = radius(found.x)
    M = np.eye(problem.d) + (y.T * found.x) @ y / (2 * lam)
    return Optimum(R, M, found.x, problem.objective(R, M), -float(found.fun))


def solve_primal(problem):
    """The optimal value of the primal with slacks, by SLSQP, without the dual."""
    from scipy.optimize import minimize

    y, n, d = problem.y, problem.n, problem.d
    outer = np.einsum("ij,ik->ijk", y, y).reshape(n, d * d)
    rows = np.hstack([-np.ones((n, 1)), outer, np.eye(n)])
    unit = np.eye(d).ravel()

    def value(v):
        gap = v[1 : 1 + d * d] - unit
        return (
            v[1 + d * d :].mean()
            + problem.mu * (problem.B - v[0]) ** 2
            + problem.lam * gap @ gap
        )

    def slope(v):
        return np.concatenate(
            [
                [-2 * problem.mu * (problem.B - v[0])],
                2 * problem.lam * (v[1 : 1 + d * d] - unit),
                np.full(n, 1 / n),
            ]
        )

    start = np.concatenate([[0.0], unit, np.zeros(n)])
    found = minimize(
        value,
        start,
        jac=slope,
        bounds=[(0, problem.B)] + [(None, None)] * d * d + [(0, None)] * n,
        constraints={"type": "ineq", "fun": lambda v: rows @ v, "jac": lambda v: rows},
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-15},
    )
    return float(found.fun)


def random_problem(seed, n=None, d=None, B=None):
    """A seeded instance whose examples and center have length at most B."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 13)) if n is None else n
    d = int(rng.integers(1, 4)) if d is None else d
    B = float(rng.choice([0.5, 1.0, 2.0])) if B is None else B
    x = B * in_unit_ball(rng, n, d)
    center = 0.3 * B * in_unit_ball(rng, 1, d)
    return Problem(
        x - center,
        float(10 ** rng.uniform(-0.5, 1)),
        float(10 ** rng.uniform(-3, 0)),
        B,
    )


def in_unit_ball(rng, n, d):
    """n points drawn uniformly from the unit ball of R^d."""
    directions = rng.normal(size=(n, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return directions * rng.uniform(size=(n, 1)) ** (1 / d)


@cache
def solved():
    """Forty random problems with their reference answers."""
    problems = [random_problem(seed) for seed in range(40)]
    return [(problem, solve(problem)) for problem in problems]


@dataclass(frozen=True, eq=False)
class Pair:
    """A sample and the sample with one example replaced, both solved."""

    problem: Problem
    optimum: Optimum
    other: Problem
    other_optimum: Optimum

    @property
    def lipschitz(self):
        """k = max(1, 4 B^2)."""
        return max(1.0, 4 * self.problem.B**2)

    @property
    def norm(self):
        """|R^i - R| + |M^i - M|_F."""
        return abs(self.other_optimum.R - self.optimum.R) + np.linalg.norm(
            self.other_optimum.M - self.optimum.M
        )


@cache
def pairs():
    """Twenty random replace-one pairs and the one that is known in closed form.

    In the last pair (n = 10, B = 1/2, mu = lambda = 1) all ten negatives sit on
    the center and one of them moves to distance 1/2.
    """
    found = []
    for seed in range(20):
        problem = random_problem(seed)
        x = random_problem(seed + 1000, d=problem.d, B=problem.B).y[:1]
        found.append((problem, problem.replace(y=np.vstack([x, problem.y[1:]]))))
    still = Problem(np.zeros((10, 2)), 1.0, 1.0, 0.5)
    moved = np.zeros((10, 2))
    moved[0, 0] = 0.5
    found.append((still, still.replace(y=moved)))
    return [Pair(a, solve(a), b, solve(b)) for a, b in found]


@cache
def arbitrary_pairs():
    """The samples of `pairs`, with random parameters in place of the optima."""
    rng = np.random.default_rng(17)
    return [
        replace(
            pair,
            optimum=_anything(rng, pair.problem),
            other_optimum=_anything(rng, pair.problem),
        )
        for pair in pairs()
    ]


def _anything(rng, problem):
    step = rng.normal(size=(problem.d, problem.d))
    R = rng.uniform(0, problem.B)
    return Optimum(R, step @ step.T, np.zeros(problem.n), np.nan, np.nan)


@cache
def dataset(name):
    """Features as numbers and which rows are positive (the rare class).

    Parameters
    ----------
    name : str
        Name of a data set of the paper, as `mebnb.load_dataset` knows it.

    Returns
    -------
    points : ndarray, shape (m, d)
        A nominal feature stands as one 0/1 column per value.
    positive : ndarray of bool, shape (m,)

    Raises
    ------
    DataMissing
        When the set is not at hand.
    """
    from mebnb.datasets import DatasetNotAvailable, load_dataset

    try:
        found = load_dataset(name)
    except (DatasetNotAvailable, ValueError) as error:
        raise DataMissing(f"{name} ({error})") from None
    return found.encoded().to_numpy(), found.is_anomaly
