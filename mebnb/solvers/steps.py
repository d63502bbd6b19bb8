"""Step rules: how far to go along a feasible direction.

Along u + alpha d the minimised function f = -Phi is a parabola,
f(alpha) - f(0) = -alpha slope + alpha^2 curvature, with slope = <-grad f(u), d> and
curvature = |A d|^2. A rule sees that parabola as a `Line` and returns a step in
[0, line.largest]. Rules are small frozen dataclasses; `step_rule` maps names to them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from mebnb.solvers.inputs import check_number, row_blocks

__all__ = [
    "STEP_RULES", "Armijo", "DiminishingStep", "ExactStep", "GoldenSection", "Line",
    "RelaxedStep", "ShortStep", "StepRule", "lipschitz_constant", "step_rule",
]  # fmt: skip


@dataclass(slots=True)
class Line:
    """The minimised function f along a feasible direction d = towards - away.

    Attributes
    ----------
    slope : float
        <-grad f(u), d>, squared units of the data; positive for a descent direction.
    curvature : float
        |A d|^2, squared units of the data.
    largest : float
        Largest feasible step.
    iteration : int
        Steps taken so far.
    norm2 : callable
        () -> |d|^2 in the space of the weights.
    center : callable
        () -> ndarray, shape (n,): the current center A u.
    """

    slope: float
    curvature: float
    largest: float
    iteration: int = 0
    norm2: Callable[[], float] | None = None
    center: Callable[[], np.ndarray] | None = None

    def change(self, step):
        """f(u + step d) - f(u) (report eq. 41)."""
        return step * (step * self.curvature - self.slope)

    @property
    def descends_to_the_end(self):
        """Whether f still falls, or is flat, at the largest step."""
        return 2.0 * self.largest * self.curvature <= self.slope


class StepRule:
    """Base of the rules: `prepare` once for the data, then call with each line."""

    def prepare(self, points):
        """Return the rule made ready for the points; most rules need nothing."""
        return self

    def __call__(self, line):
        """The step in [0, line.largest]."""
        raise NotImplementedError


@dataclass(frozen=True)
class ExactStep(StepRule):
    """The minimiser slope / (2 curvature), clipped (report eqs. 43, 44)."""

    def __call__(self, line):
        """The step in [0, line.largest]."""
        return _part_of_the_minimiser(line, 1.0)


@dataclass(frozen=True)
class RelaxedStep(StepRule):
    """omega times the minimiser, clipped: beyond the lowest point where omega > 1.

    It gains at least omega (2 - omega) times what the exact step gains.

    Parameters
    ----------
    omega : float
        In (0, 2); 1 is the exact step.
    """

    omega: float = 1.5

    def __post_init__(self):
        _check_inside("omega", self.omega, 2.0)

    def __call__(self, line):
        """The step in [0, line.largest]."""
        return _part_of_the_minimiser(line, self.omega)


def _part_of_the_minimiser(line, omega):
    """omega slope / (2 curvature), clipped to [0, line.largest]."""
    if 2.0 * line.largest * line.curvature <= omega * line.slope:
        return line.largest
    return omega * max(line.slope, 0.0) / (2.0 * line.curvature)


@dataclass(frozen=True)
class ShortStep(StepRule):
    """slope / (L |d|^2), clipped (slides, step rule).

    Parameters
    ----------
    centered : bool
        Take L from centred data. The exact constant does not care where the
        origin is, this one does; the slides left the data where they were.
    lipschitz : float or None
        L itself, at least 0, in squared units of the data; None computes it from the
        points.
    """

    centered: bool = True
    lipschitz: float | None = None

    def __post_init__(self):
        if self.lipschitz is not None:
            check_number("lipschitz", self.lipschitz, 0.0)

    def prepare(self, points):
        """Compute L from the points unless it was given."""
        if self.lipschitz is not None:
            return self
        return replace(self, lipschitz=lipschitz_constant(points, self.centered))

    def __call__(self, line):
        """The step in [0, line.largest]."""
        scale = self.lipschitz * line.norm2()
        if scale <= 0.0:
            return line.largest if line.slope > 0.0 else 0.0
        return min(max(line.slope, 0.0) / scale, line.largest)


@dataclass(frozen=True)
class DiminishingStep(StepRule):
    """2 / (t + 2), clipped; the documents print t / (t + 2) and used this."""

    def __call__(self, line):
        """The step in [0, line.largest]."""
        return min(2.0 / (line.iteration + 2.0), line.largest)


GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


@dataclass(frozen=True)
class GoldenSection(StepRule):
    """Golden section search on [0, largest], the end point compared at the end.

    Parameters
    ----------
    tol : float
        Width of the bracket, positive, in units of the step, at which the search stops.
        It also stops where the numbers between the ends run out.
    """

    tol: float = 1e-8

    def __post_init__(self):
        _check_inside("tol", self.tol, math.inf)

    def __call__(self, line):
        """The step in [0, line.largest]."""
        if line.descends_to_the_end:
            return line.largest
        return golden_midpoint(line.change, line.largest, self.tol)


def golden_midpoint(change, largest, tol):
    """Middle of the last bracket of a golden section search on [0, largest]."""
    low, high = 0.0, largest
    left, right = largest - GOLDEN * largest, GOLDEN * largest
    at_left, at_right = change(left), change(right)
    while high - low > tol and low < left < right < high:
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = change(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = change(right)
    return 0.5 * (low + high)


@dataclass(frozen=True)
class Armijo(StepRule):
    """Backtracking from the largest step until f falls enough along d.

    The report's rule (eq. 40) with the trial point on the line u + alpha d:
    f(u + alpha d) <= f(u) - fraction alpha slope.

    Parameters
    ----------
    shrink : float
        Factor between trials, in (0, 1).
    fraction : float
        Part of the linear decrease that is asked for, in (0, 1/2].
    """

    shrink: float = 0.5
    fraction: float = 0.1

    def __post_init__(self):
        _check_inside("shrink", self.shrink, 1.0)
        _check_inside("fraction", self.fraction, 0.5, closed=True)

    def __call__(self, line):
        """The step in [0, line.largest]."""
        if line.slope <= 0.0:
            return 0.0
        # change(alpha) <= -fraction alpha slope, solved for alpha.
        accepted = (1.0 - self.fraction) * line.slope
        return backtracked(line.largest, self.shrink, line.curvature, accepted)


def backtracked(step, shrink, curvature, accepted):
    """First of step, shrink step, shrink^2 step, ... that has alpha curvature <= accepted.

    All trials but the last are skipped by a logarithm: with a factor next to 1 there
    would be more of them than anybody can wait for.
    """
    if step * curvature <= accepted:
        return step
    if accepted <= 0.0:
        return 0.0
    excess = math.log(step) + math.log(curvature) - math.log(accepted)
    skipped = max(0, math.floor(excess / -math.log(shrink)) - 1)
    # In two parts: the whole power may be too small to have all its digits.
    step = step * shrink ** (skipped // 2) * shrink ** (skipped - skipped // 2)
    while step * curvature > accepted and shrink * step < step:
        step *= shrink
    return step


def _check_inside(name, value, high, closed=False):
    """Refuse a parameter that is not in (0, high), or not in (0, high]."""
    check_number(name, value, 0.0)
    if not (0.0 < value < high or (closed and value == high)):
        expected = f"in (0, {high:g}{']' if closed else ')'}"
        expected = "positive" if high == math.inf else expected
        raise ValueError(f"{name} must be {expected}, found {value!r}")


STEP_RULES = {
    "exact": ExactStep,
    "short": ShortStep,
    "diminishing": DiminishingStep,
    "golden": GoldenSection,
    "armijo": Armijo,
}


def step_rule(step):
    """The rule behind a name, or the rule itself.

    Parameters
    ----------
    step : str or StepRule
        "exact", "short", "diminishing", "golden", "armijo".

    Returns
    -------
    StepRule

    Raises
    ------
    ValueError
        For an unknown name; the message lists the known ones.
    """
    if isinstance(step, StepRule):
        return step
    if isinstance(step, str) and step in STEP_RULES:
        return STEP_RULES[step]()
    raise ValueError(
        f"step must be one of {', '.join(STEP_RULES)} or a StepRule, found {step!r}"
    )


def lipschitz_constant(points, centered=True):
    """Largest eigenvalue of 2 A'A, the Lipschitz constant of grad f (slides, step rule).

    Taken from the n x n or the m x m side, whichever is smaller.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    centered : bool
        Subtract the mean first; directions sum to zero, so that this is the
        constant that matters, and it does not depend on the origin.

    Returns
    -------
    float
        In squared units of the data.

    Examples
    --------
    >>> lipschitz_constant(np.array([[1.0], [3.0]]), centered=False)
    20.0
    >>> lipschitz_constant(np.array([[1.0], [3.0]]))
    4.0
    """
    m, n = points.shape
    origin = points.mean(axis=0, dtype=np.float64) if centered else np.zeros(n)
    if n <= m:
        gram = np.zeros((n, n))
        for _, block in row_blocks(points):
            shifted = np.subtract(block, origin, dtype=np.float64)
            gram += shifted.T @ shifted
    else:
        shifted = np.subtract(points, origin, dtype=np.float64)
        gram = shifted @ shifted.T
    return 2.0 * float(np.linalg.eigvalsh(gram)[-1])
