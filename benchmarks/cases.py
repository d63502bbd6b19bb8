"""The clouds of the grid, in the order in which they are measured.

Within a kind the sizes grow, so that a solver that runs out of time on a cloud need
not be started on one that has at least as many rows and columns.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

__all__ = ["CASES", "Case", "NotHere", "select"]

SEED = 20080101


class NotHere(RuntimeError):
    """The data of a case are not on this machine; one sentence says which."""


@dataclass(frozen=True)
class Case:
    """One cloud of the grid.

    Attributes
    ----------
    kind : str
        What the points are like; sizes are compared within a kind.
    m, n : int
    draw : callable
        (generator, m, n) -> ndarray, shape (m, n), float64.
    """

    kind: str
    m: int
    n: int
    draw: Callable

    @property
    def name(self):
        return f"{self.kind}:{self.m}x{self.n}"

    @property
    def data_bytes(self):
        return 8 * self.m * self.n

    def points(self):
        """Draw the points; the same ones every time.

        Returns
        -------
        ndarray, shape (m, n), float64, C order

        Raises
        ------
        NotHere
        """
        rng = np.random.default_rng([SEED, self.m, self.n])
        points = self.draw(rng, self.m, self.n)
        points = np.ascontiguousarray(points, dtype=np.float64)
        if points.shape != (self.m, self.n):
            raise ValueError(f"{self.name} was drawn with shape {points.shape}")
        return points

    def within(self, other):
        """Whether the other cloud is of this kind and at least as large both ways."""
        return self.kind == other.kind and self.m <= other.m and self.n <= other.n


def _normal(rng, m, n):
    return rng.standard_normal((m, n))


def _report_uniform(rng, m, n):
    from mebnb.experiments.published_splits import report_uniform

    return report_uniform().train


def _sphere(rng, m, n):
    points = rng.standard_normal((m, n))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def _in_ball(rng, m, n):
    return _sphere(rng, m, n) * rng.random((m, 1)) ** (1.0 / n)


def _simplex(rng, m, n):
    return np.eye(m, n)


def _duplicates(rng, m, n):
    return rng.permutation(np.repeat(rng.standard_normal((m // 10, n)), 10, axis=0))


def _thin(rng, m, n):
    return rng.standard_normal((m, n)) * np.logspace(0, -6, n)


def _offset(rng, m, n):
    return rng.standard_normal((m, n)) + 1e8


def _cauchy(rng, m, n):
    return rng.standard_cauchy((m, n))


def _collinear(rng, m, n):
    base, direction = rng.standard_normal((2, n))
    return base + rng.standard_normal((m, 1)) * direction


def _cube_corners(rng, m, n):
    return np.array(list(itertools.product((0.0, 1.0), repeat=n)))


def _churn(rng, m, n):
    """The report's training half: nominal rows, standardised."""
    from mebnb.datasets import load_dataset
    from mebnb.experiments.published_splits import report_split

    # The set may not be committed, so it comes from the mirror or not at all.
    if not os.environ.get("MEBNB_DATA_MIRROR"):
        raise NotHere("MEBNB_DATA_MIRROR names no folder that holds iranian_churn")
    try:
        return report_split(load_dataset("iranian_churn")).train
    except RuntimeError as error:
        reason = "iranian_churn is not in the folder of MEBNB_DATA_MIRROR"
        raise NotHere(reason) from error


CASES = (
    *(
        Case("normal", m, n, _normal)
        for m in (1_000, 10_000, 100_000, 1_000_000)
        for n in (2, 3, 10, 30, 100)
    ),
    Case("normal", 1_000, 1_000, _normal),
    Case("normal", 10_000, 1_000, _normal),
    Case("normal", 100, 10_000, _normal),
    Case("normal", 800, 20_000, _normal),
    Case("uniform", 8_000, 15, _report_uniform),
    *(Case("sphere", 10_000, n, _sphere) for n in (3, 10, 100)),
    Case("simplex", 1_000, 1_000, _simplex),
    Case("duplicates", 10_000, 10, _duplicates),
    Case("thin", 10_000, 10, _thin),
    Case("offset", 10_000, 10, _offset),
    Case("cauchy", 10_000, 10, _cauchy),
    Case("collinear", 10_000, 3, _collinear),
    Case("cube", 1_024, 10, _cube_corners),
    Case("churn", 1_327, 13, _churn),
    *(
        Case(kind, m, n, draw)
        for kind, draw in (("normal", _normal), ("sphere", _sphere), ("ball", _in_ball))
        for m in (1_000_000, 10_000_000)
        for n in (2, 3)
        if (kind, m) != ("normal", 1_000_000)  # among the first
    ),
)


def select(items, pattern):
    """The items whose name matches a shell pattern, or one of several after commas."""
    patterns = pattern.split(",")
    return [item for item in items if any(fnmatchcase(item.name, p) for p in patterns)]
