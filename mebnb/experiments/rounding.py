"""Counts that the last bit decides: the same runs on copies that differ by rounding.

An exact pairwise step ends in a tie, and repeated rows tie always. Which point is taken
next then hangs on the last bit, and with it the number of steps. So counts are compared
as ranges over copies of the points whose last bits are shaken.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from mebnb.experiments.convergence import SOLVERS

__all__ = ["Count", "copies_for", "count_ranges", "range_table", "shaken", "steps_to"]


def shaken(points, repeats, *, size=1e-15, seed=0):
    """The points, then copies whose last bits are shaken.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    repeats : int
        Number of copies.
    size : float
        Each coordinate is multiplied by 1 + size * a standard normal number.
    seed : int

    Yields
    ------
    ndarray, shape (m, n)
    """
    rng = np.random.default_rng(seed)
    yield points
    for _ in range(repeats):
        yield points * (1.0 + size * rng.standard_normal(points.shape))


class Count(NamedTuple):
    """A count on the points as they are, and its range over shaken copies.

    Attributes
    ----------
    own, low, high : float
        The range includes the own count; infinity where a run ended before.
    """

    own: float
    low: float
    high: float

    def __str__(self):
        """The count, and its range where there is one."""
        own, low, high = ("-" if math.isinf(k) else f"{k:.0f}" for k in self)
        return own if self.low == self.high else f"{own} ({low} to {high})"


def count_ranges(points, count, repeats):
    """Counts on the points, with their ranges over shaken copies.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    count : callable
        points -> dict of name -> number.
    repeats : int
        Number of copies, see `shaken`.

    Returns
    -------
    dict of name -> Count

    Examples
    --------
    >>> count_ranges(np.ones((3, 2)), lambda points: {"rows": len(points)}, 5)
    {'rows': Count(own=3, low=3, high=3)}
    """
    seen = [count(copy) for copy in shaken(points, repeats)]
    return {
        name: Count(own, min(row[name] for row in seen), max(row[name] for row in seen))
        for name, own in seen[0].items()
    }


def steps_to(points, solver, levels, **options):
    """Steps of one run until its relative gap is down to each level.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    solver : str or callable
        Key of `SOLVERS`, or a solver with their signature.
    levels : sequence of float
    **options
        Of the solver: step, start, max_iter.

    Returns
    -------
    dict of float -> number
        Infinity where the run ended before.
    """
    solver = SOLVERS.get(solver, solver)
    ball = solver(points, gap="relative", tol=min(levels), **options)
    reached = {level: ball.trace.iterations_to(level) for level in levels}
    return {level: math.inf if t is None else t for level, t in reached.items()}


def copies_for(points, repeats):
    """How many copies to shake: fewer of large clouds, whose runs take long."""
    return min(repeats, max(3, 800_000 // points.size))


def range_table(sets, algorithms, labels, levels, *, repeats, **options):
    """Steps until the relative gap is down to each level, with their ranges.

    Parameters
    ----------
    sets : dict of str -> ndarray, shape (m, n)
    algorithms : sequence of str
        Keys of `SOLVERS`.
    labels : callable
        algorithm -> its name in the table.
    levels : sequence of float
    repeats : int
        Most shaken copies of a set; of large ones there are fewer.
    **options
        Of the solvers: step, start, max_iter.

    Returns
    -------
    pandas.DataFrame
        Indexed by set and algorithm. A cell is the count, and in brackets the smallest
        and the largest one where they differ.
    """
    rows = []
    for label, points in sets.items():
        copies = copies_for(points, repeats)
        for name in algorithms:
            found = count_ranges(
                points,
                lambda copy, name=name: steps_to(copy, name, levels, **options),
                copies,
            )
            rows.append(
                {"set": label, "algorithm": labels(name)}
                | {f"{level:.0e}": str(count) for level, count in found.items()}
                | {"shaken copies": copies}
            )
    return pd.DataFrame(rows).set_index(["set", "algorithm"])
