"""What notebook 14 measures on soft balls, as tables.

Studies take detectors as a mapping of names to unfitted estimators, and splits as a
function of the seed, like `mebnb.learning.evaluate_repeatedly`.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import KFold

from mebnb.learning import score_detector
from mebnb.learning.detectors import SoftBallDetector
from mebnb.solvers.exact import minimum_enclosing_ball
from mebnb.solvers.soft import soft_ball
from mebnb.solvers.soft_plain import plain_soft_ball

__all__ = [
    "banana",
    "consistency",
    "consistent_gamma",
    "contaminated",
    "contamination_study",
    "factor_study",
    "gap_curves",
    "held_out_factors",
    "nu_table",
    "outlier_pull",
    "spoiled_cloud",
]


def spoiled_cloud(m, seed, far=3):
    """A normal cloud in the plane; its last points are far away on one side."""
    if m < 20:
        raise ValueError(f"points must be at least 20, found {m}")
    rng = np.random.default_rng(seed)
    cloud = rng.standard_normal((m, 2))
    return np.vstack([cloud, [7.0, 4.0] + 0.5 * rng.standard_normal((far, 2))])


def banana(m, seed):
    """A noisy arc in the plane: nominal points that no disk describes."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0.15 * np.pi, 1.25 * np.pi, m)
    arc = 5.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    return arc + 0.6 * rng.standard_normal((m, 2))


def gap_curves(points, nu, *, kernel=None, tol=1e-9, max_iter=500, shown=25):
    """Relative duality gaps of both methods over some iterations, and their balls."""
    balls = {
        method: soft_ball(
            points, nu, kernel=kernel, method=method, tol=tol, max_iter=max_iter
        )
        for method in ("frank_wolfe", "pairwise")
    }
    curves = {}
    for method, ball in balls.items():
        picked = np.unique(np.geomspace(1, ball.gaps.size, shown).astype(int))
        picked = picked[ball.gaps[picked - 1] > 1e-12]
        curves[method] = picked, ball.gaps[picked - 1]
    return curves, balls


def nu_table(points, nus, **kernel):
    """Radius, points outside and points with weight of soft balls, a row a nu."""
    rows = {}
    for nu in nus:
        ball = soft_ball(points, nu, tol=1e-11, **kernel)
        # Points on the sphere do not count.
        beyond = ball.squared_distances(points) > ball.rho * (1.0 + 1e-6)
        rows[nu] = {
            "radius": ball.radius,
            "nu m": nu * len(points),
            "outside": int(beyond.sum()),
            "support": ball.support.size,
        }
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("nu")
    return table.astype({"outside": int, "support": int})


def outlier_pull(points, reaches, nu):
    """How far one outlier on the first axis moves the center, for three kinds of ball."""
    kinds = {
        "hard": minimum_enclosing_ball,
        "squared": lambda rows: soft_ball(rows, nu),
        "plain": lambda rows: plain_soft_ball(rows, nu),
    }
    mean, axis = points.mean(axis=0), np.eye(points.shape[1])[0]
    clean = {name: ball(points).center for name, ball in kinds.items()}
    rows = {}
    for reach in reaches:
        spoiled = np.vstack([points, mean + reach * axis])
        rows[reach] = {
            name: float(np.linalg.norm(ball(spoiled).center - clean[name]))
            for name, ball in kinds.items()
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("reach")


# --- anomalies among the training rows -----------------------------------------------


def contaminated(split, count, reserve, seed):
    """The split with some test anomalies among its training points, `reserve` off the test side."""
    anomalies = np.flatnonzero(split.test_is_anomaly)
    if not 0 <= count <= reserve < anomalies.size:
        raise ValueError(
            "count must be from 0 to reserve and reserve less than the number of "
            f"anomalies, found {count}, {reserve} and {anomalies.size}"
        )
    # A larger count takes in those of a smaller one, and the same points judge both.
    taken = np.random.default_rng(seed).permutation(anomalies)[:reserve]
    kept = np.setdiff1d(np.arange(len(split.test)), taken)
    train = np.vstack([split.train, split.test[taken[:count]]])
    return replace(
        split,
        name=f"{split.name}, {count} anomalies in training",
        train=train,
        test=split.test[kept],
        test_is_anomaly=split.test_is_anomaly[kept],
        train_rows=np.append(split.train_rows, split.test_rows[taken[:count]]),
        test_rows=split.test_rows[kept],
        whole_train=train,
        whole_train_is_anomaly=np.arange(len(train)) >= len(split.train),
    )


def contamination_study(detectors, split, seeds, counts):
    """Scores of detectors whose training points hold anomalies that nobody noticed."""
    rows = []
    for seed in seeds:
        clean = split(seed)
        for count in counts:
            points = contaminated(clean, count, max(counts), seed)
            for name, detector in detectors.items():
                fitted = clone(detector).fit(points.train)
                judged = score_detector(fitted, points)
                rows.append({"detector": name, "seed": seed, "count": count} | judged)
    return pd.DataFrame(rows)


# --- thresholds and choices ----------------------------------------------------------


def factor_study(detectors, split, seeds, factors):
    """Recall, false alarms and F1 at the threshold factor * radius, means over splits."""
    rows = []
    for seed in seeds:
        points = split(seed)
        anomaly = points.test_is_anomaly
        for name, detector in detectors.items():
            fitted = clone(detector).fit(points.train)
            distances = fitted.score_samples(points.test) / fitted.offset_
            for factor in factors:
                alarm = distances > factor
                hits = np.sum(alarm & anomaly)
                rows.append(
                    {
                        "detector": name,
                        "factor": factor,
                        "recall": alarm[anomaly].mean(),
                        "false_alarms": alarm[~anomaly].mean(),
                        "f1": 2 * hits / (alarm.sum() + anomaly.sum()),
                    }
                )
    return pd.DataFrame(rows).groupby(["detector", "factor"], sort=False).mean()


def held_out_factors(detectors, split, seeds, rate=0.05, folds=5):
    """The factor that a share of held-out nominal points exceeds, and what it gives, in means."""
    rows = []
    for seed in seeds:
        points = split(seed)
        anomaly = points.test_is_anomaly
        shuffled = KFold(folds, shuffle=True, random_state=seed)
        for name, detector in detectors.items():
            held_out = []
            for train, held in shuffled.split(points.train):
                held_out.append(
                    _in_radii(detector, points.train[train], points.train[held])
                )
            factor = np.quantile(np.concatenate(held_out), 1.0 - rate)
            alarm = _in_radii(detector, points.train, points.test) > factor
            rows.append(
                {
                    "detector": name,
                    "factor": factor,
                    "recall": alarm[anomaly].mean(),
                    "false_alarms": alarm[~anomaly].mean(),
                }
            )
    return pd.DataFrame(rows).groupby("detector", sort=False).mean()


def _in_radii(detector, train, points):
    """Distances of points from the center of a fit, in units of its threshold."""
    fitted = clone(detector).fit(train)
    return fitted.score_samples(points) / fitted.offset_


def consistency(points, nu, gammas, folds=5, seed=0):
    """Whether an RBF ball rejects held-out nominal points as often as nu promises."""
    # Tax and Mueller, A consistency-based model selection for one-class classification,
    # ICPR 2004: a width is consistent while the held-out share stays within two standard
    # deviations of nu. No label is looked at.
    limit = nu + 2.0 * math.sqrt(nu * (1.0 - nu) / len(points))
    shuffled = KFold(folds, shuffle=True, random_state=seed)
    rows = {}
    for gamma in gammas:
        inside, outside = [], []
        for train, held in shuffled.split(points):
            detector = SoftBallDetector(nu=nu, kernel="rbf", gamma=gamma)
            detector.fit(points[train])
            inside.append(np.mean(detector.predict(points[train]) == -1))
            outside.append(np.mean(detector.predict(points[held]) == -1))
        share = float(np.mean(outside))
        rows[gamma] = {
            "training": float(np.mean(inside)),
            "held_out": share,
            "limit": limit,
            "consistent": share <= limit,
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("gamma")


def consistent_gamma(table):
    """The largest gamma before the first inconsistent one, the smallest if there is none."""
    table = table.sort_index()
    before = table["consistent"].astype(bool).cummin()
    return float(table.index[before].max() if before.any() else table.index[0])
