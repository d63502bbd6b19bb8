"""The benchmark of the excluding ellipsoids: its problems and bounds, not its times."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks import ellipsoids
from mebnb.solvers.ellipsoids import excluding_ellipsoid


def test_the_model_for_clarabel_is_the_same_problem():
    rng = np.random.default_rng(0)
    negatives, center = rng.uniform(0, 1.4, size=(60, 3)), np.full(3, 0.5)
    # One beyond sqrt(B), which counts in n alone.
    negatives = np.vstack([negatives, [9.0, 9.0, 9.0]])
    solve = ellipsoids.hinge_model(negatives, center)
    for mu, lam in ((0.75, 1.0), (10.0, 1e-3)):
        value, R = solve(mu, lam)
        found = excluding_ellipsoid(negatives, center, mu, lam, tol=1e-12)
        assert value == pytest.approx(found.primal, abs=1e-8)
        assert pytest.approx(found.R, abs=1e-5) == R


def test_a_training_part_is_halved():
    negatives, positives, (fold, positive_fold) = ellipsoids.training_part("Yeast6")
    assert len(negatives) == 1159 and len(positives) == 28
    assert sorted(np.bincount(fold)) == [579, 580]
    assert np.bincount(positive_fold).tolist() == [14, 14]
    assert min(negatives.min(), positives.min()) == 0.0
    assert max(negatives.max(), positives.max()) == 1.0


def test_a_bound_that_is_not_met_is_told():
    grid = {"problems": 10, "certified": 9, "largest_gap": 1e-7, "repeat_seconds": 1.0}
    grid = pd.DataFrame([grid])
    pairs = pd.DataFrame({"value_error": [1e-9], "ratio": [150.0]})
    lines = list(ellipsoids._bounds(grid, pairs))
    assert [line.startswith("met") for line in lines] == [False, True, False, True]
    assert "9 of 10" in lines[0] and "median 150" in lines[2]
