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
    "nu_table",
    "outlier_pull",
    "spoiled_cloud",
]


def spoiled_cloud(m, seed, far=3):
    """A normal cloud in the plane and a few points far away on one side.

    Parameters
    ----------
    m : int
        Points of the cloud, at least 20.
    seed : int
    far : int
        Points far away.

    Returns
    -------
    ndarray, shape (m + far, 2)
        The far points are the last.

    Raises
    ------
    ValueError
        For fewer than 20 points.
    """
    if m < 20:
        raise ValueError(f"points must be at least 20, found {m}")
    rng = np.random.default_rng(seed)
    cloud = rng.standard_normal((m, 2))
    return np.vstack([cloud, [7.0, 4.0] + 0.5 * rng.standard_normal((far, 2))])


def banana(m, seed):
    """A noisy arc in the plane: nominal points that no disk describes.

    Parameters
    ----------
    m : int
    seed : int

    Returns
    -------
    ndarray, shape (m, 2)
    """
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0.15 * np.pi, 1.25 * np.pi, m)
    arc = 5.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    return arc + 0.6 * rng.standard_normal((m, 2))


def gap_curves(points, nu, *, kernel=None, tol=1e-9, max_iter=500, shown=25):
    """Relative duality gaps of both methods over their iterations.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    nu : float
    kernel : as in `mebnb.soft_ball`
    tol : float
    max_iter : int
    shown : int
        Iterations to pick, evenly on a log axis.

    Returns
    -------
    curves : dict of str -> (ndarray, ndarray)
        "frank_wolfe" and "pairwise" -> iterations from 1 and gaps above 1e-12.
    balls : dict of str -> SoftBall
    """
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
    """What the soft ball leaves outside and rests on, for several nu.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    nus : sequence of float
    **kernel
        kernel and gamma of `mebnb.soft_ball`.

    Returns
    -------
    pandas.DataFrame
        Indexed by nu: radius, "nu m", outside (beyond rho by more than a millionth of
        it, so that points on the sphere do not count) and support, numbers of points.
    """
    rows = {}
    for nu in nus:
        ball = soft_ball(points, nu, tol=1e-11, **kernel)
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
    """How far one outlier moves the center, for three kinds of ball.

    The outlier lies in the direction of the first axis, counted from the mean.

    Parameters
    ----------
    points : ndarray, shape (m, n)
    reaches : sequence of float
        Distances of the outlier from the mean.
    nu : float
        Of the balls with slack, for m + 1 points.

    Returns
    -------
    pandas.DataFrame
        Indexed by reach; columns hard, squared (slack) and plain (slack): shift of the
        center from where the ball of the other points has it.
    """
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
    """The split with some test anomalies among its training points.

    Parameters
    ----------
    split : Split
    count : int
        Anomalies that go to the training side.
    reserve : int
        Anomalies that leave the test side, so that several counts are judged alike.
    seed : int
        Decides which; a larger count takes in those of a smaller one.

    Returns
    -------
    Split
        `train` holds the anomalies at its end; the scaling is that of the split.

    Raises
    ------
    ValueError
        When there are fewer anomalies than reserve + 1, or count exceeds reserve.
    """
    anomalies = np.flatnonzero(split.test_is_anomaly)
    if not 0 <= count <= reserve < anomalies.size:
        raise ValueError(
            "count must be from 0 to reserve and reserve less than the number of "
            f"anomalies, found {count}, {reserve} and {anomalies.size}"
        )
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
    """Scores of detectors whose training points hold anomalies that nobody noticed.

    Parameters
    ----------
    detectors : mapping of str to estimator
    split : callable
        seed -> Split.
    seeds : iterable of int
    counts : sequence of int
        Numbers of anomalies among the training points. The same test points judge all
        of them.

    Returns
    -------
    pandas.DataFrame
        One row for each detector, seed and count: detector, seed, count, then
        `mebnb.learning.SCORES`.
    """
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
    """Scores at the threshold factor * radius, means over splits.

    Parameters
    ----------
    detectors : mapping of str to estimator
        Such as `mebnb.BallDetector`: their `score_samples` is minus a distance, their
        `offset_` minus a radius.
    split : callable
        seed -> Split.
    seeds : iterable of int
    factors : sequence of float

    Returns
    -------
    pandas.DataFrame
        Index: detector and factor; columns recall, false_alarms and f1.
    """
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


def consistency(points, nu, gammas, folds=5, seed=0):
    """Whether an RBF ball rejects new nominal points as often as nu promises.

    A ball that follows every bend of the training points rejects more of the held-out
    ones. A width is called consistent while the held-out share stays within two
    standard deviations of nu.

    Parameters
    ----------
    points : ndarray, shape (m, n)
        Nominal training points; no label is looked at.
    nu : float
    gammas : sequence of float
    folds : int
    seed : int
        Of the folds.

    Returns
    -------
    pandas.DataFrame
        Indexed by gamma: training, held_out (shares outside), limit (the largest
        consistent share) and consistent.

    References
    ----------
    Tax and Mueller, A consistency-based model selection for one-class classification,
    ICPR 2004.
    """
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
    """The largest gamma before the first inconsistent one, the smallest if there is none.

    Parameters
    ----------
    table : pandas.DataFrame
        From `consistency`.

    Returns
    -------
    float
    """
    table = table.sort_index()
    before = table["consistent"].astype(bool).cummin()
    return float(table.index[before].max() if before.any() else table.index[0])
