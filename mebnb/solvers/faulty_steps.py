"""Step rules that the documents describe or used and that do not work.

They serve the notebook on line searches, which shows why; they stand outside of the
registry of `mebnb.solvers.steps` on purpose.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mebnb.solvers.steps import (
    Armijo,
    GoldenSection,
    StepRule,
    backtracked,
    golden_midpoint,
)

__all__ = [
    "ArmijoOffTheSimplex",
    "ArmijoWithoutTheEnd",
    "GoldenSectionMidpoint",
    "GoldenSectionWithSignSlip",
    "GrowingStep",
]


@dataclass(frozen=True)
class GrowingStep(StepRule):
    """t / (t + 2), as the report prints it: the newest point takes ever more weight."""

    def __call__(self, line):
        """The step in [0, line.largest]."""
        return min(line.iteration / (line.iteration + 2.0), line.largest)


@dataclass(frozen=True)
class GoldenSectionWithSignSlip(GoldenSection):
    """Searches along -d while the update goes along d, as the report's code does."""

    tol: float = 1e-6

    def __call__(self, line):
        """The step in [0, line.largest]."""
        return golden_midpoint(lambda step: line.change(-step), line.largest, self.tol)


@dataclass(frozen=True)
class GoldenSectionMidpoint(GoldenSection):
    """Returns the middle of the bracket, never the largest step: no atom is dropped."""

    tol: float = 1e-6

    def __call__(self, line):
        """The step in [0, line.largest]."""
        return golden_midpoint(line.change, line.largest, self.tol)


@dataclass(frozen=True)
class ArmijoOffTheSimplex(Armijo):
    """Tests the point u - alpha grad f, which leaves the simplex (report eq. 40).

    Trials start at shrink * largest, as printed, so that no atom is dropped.
    """

    gram: np.ndarray | None = None
    moment: np.ndarray | None = None
    fourth: float = 0.0

    def prepare(self, points):
        """Keep the moments A A', A |a|^2 and sum |a|^4 that the printed test needs."""
        norms = np.einsum("ij,ij->i", points, points)
        return replace(
            self,
            gram=points.T @ points,
            moment=norms @ points,
            fourth=float(norms @ norms),
        )

    def __call__(self, line):
        """The step in [0, line.largest]."""
        # The gradient is 2 A'c - |a|^2, its image under A is 2 A A'c - A |a|^2.
        center = line.center()
        image = 2.0 * (self.gram @ center) - self.moment
        squared = 2.0 * float(center @ (image - self.moment)) + self.fourth
        # f is a parabola along -gradient too, which gives the test in closed form.
        first = self.shrink * line.largest
        accepted = (1.0 - self.fraction) * squared
        return backtracked(first, self.shrink, float(image @ image), accepted)


@dataclass(frozen=True)
class ArmijoWithoutTheEnd(Armijo):
    """Tests along d, but its first trial is shrink * largest: no atom is dropped."""

    def __call__(self, line):
        """The step in [0, line.largest)."""
        shorter = replace(line, largest=self.shrink * line.largest)
        return super().__call__(shorter)
