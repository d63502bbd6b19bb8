"""What is shown of a ball that was fitted to a table: certificate, ranks, rivals."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.decomposition import PCA

from mebnb.balls import verify
from mebnb.detectors import SoftBallDetector, rival_detectors
from mebnb.evaluation import evaluate_repeatedly, honest_split

__all__ = [
    "agreement",
    "balls_compared",
    "cautions",
    "honest_scores",
    "plane",
    "ranked",
    "readings_shown",
    "support_rows",
]

LOOKED_AT = 100
"""Rows that are looked through for one that is listed, as rows may be equal."""



def readings_shown(table):
    """What was read in each column, as text.

    Parameters
    ----------
    table : Table

    Returns
    -------
    pandas.DataFrame of str
        Index: the file's columns.
    """
    shown = table.readings.copy()
    for end in ("least", "greatest"):
        shown[end] = [
            "" if pd.isna(value) else f"{value:.6g}" for value in shown[end]
        ]
    return shown


def support_rows(table, model, ball):
    """The rows that hold the hard ball up, the heaviest first.

    Parameters
    ----------
    table : Table
    model : BallModel
    ball : Solution
        As `fit_model` returned them for nu = 0.

    Returns
    -------
    pandas.DataFrame
        Row number, name, weight, the column that counts most in its distance, its value.
    """
    nominal = np.flatnonzero(table.is_nominal)[ball.support]
    shown = table.named(nominal)
    shown["weight"] = ball.weights
    values = table.values.iloc[nominal]
    shown["mostly"] = model.score(values)["mostly"].astype(str).to_numpy()
    shown["value there"] = _values_there(values, shown["mostly"])
    return shown.sort_values("weight", ascending=False, ignore_index=True)


def balls_compared(table, models):
    """The certificates of several balls of one table, side by side.

    Parameters
    ----------
    table : Table
    models : list of (BallModel, Solution or SoftBall)

    Returns
    -------
    pandas.DataFrame
        Index: the balls' names.
    """
    rows = {}
    for model, ball in models:
        passed = ball.relative_gap < 1e-6 if model.nu else None
        if passed is None:
            nominal = table.values[table.is_nominal]
            passed = verify(model.scaled(nominal), ball).passed
        rows[model.name] = {
            "radius": f"{model.radius:.6g}",
            "relative gap at most": f"{_power_of_ten(model.relative_gap):.0e}",
            "certified": bool(passed),
            "rows with weight": len(ball.support),
            "rows outside": model.outside,
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def _power_of_ten(gap):
    """The least power of ten that a gap does not exceed, at least 1e-12."""
    return max(10.0 ** np.ceil(np.log10(max(gap, 1e-300))), 1e-12)


def ranked(table, scores, top):
    """The most abnormal rows; of rows with equal values the first.

    Parameters
    ----------
    table : Table
    scores : pandas.DataFrame
        From `BallModel.score` of the table's values.
    top : int
        Rows to list.

    Returns
    -------
    pandas.DataFrame
        Row number, name, label, score, alarm, the column that counts most, its value;
        where rows are equal also how many of them there are.
    """
    order = np.argsort(-scores["score"].to_numpy(), kind="stable")[: LOOKED_AT * top]
    values = table.values.iloc[order]
    equal = values.groupby(list(values), sort=False).ngroup().to_numpy()
    _, first, counts = np.unique(equal, return_index=True, return_counts=True)
    first, counts = first[:top], counts[:top]
    listed = table.named(order[first])
    for name in ("score", "alarm", "mostly"):
        listed[name] = scores[name].iloc[order[first]].to_numpy()
    listed["value there"] = _values_there(values.iloc[first], listed["mostly"])
    if counts.max() > 1:
        listed["equal rows"] = counts
    return listed


def _values_there(values, columns):
    """Of each row the value in the column that is named for it."""
    return [values[name].iloc[at] for at, name in enumerate(columns)]


def agreement(sample, model, *, seed=0, top=None):
    """How far rival detectors rank the rows of a sample as the ball does.

    Each rival is fitted on the nominal rows of the sample, scaled as the model.

    Parameters
    ----------
    sample : Table
    model : BallModel
    seed : int
    top : int, optional
        Rows at the top that are compared; a twentieth by default, at least 5.

    Returns
    -------
    pandas.DataFrame
        Index: rivals. Columns rank correlation (Spearman) and same among the top.
    """
    points = model.scaled(sample.values)
    # Single precision: rows that are equally far but for rounding are ties.
    ours = model.score(sample.values)["score"].to_numpy(dtype=np.float32)
    top = min(top or max(5, len(points) // 20), len(points))
    best = set(ours.argsort(kind="stable")[::-1][:top])
    rows = {}
    for name, detector in rival_detectors(seed).items():
        fitted = clone(detector).fit(points[sample.is_nominal])
        theirs = -fitted.score_samples(points).astype(np.float32)
        same = len(best & set(theirs.argsort(kind="stable")[::-1][:top]))
        rows[name] = {
            "rank correlation": float(spearmanr(ours, theirs).statistic),
            f"same among the top {top}": same,
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("rival")


def honest_scores(table, model, seeds, *, size=2000, seed=0):
    """The ball and its rivals judged by the labels, over honest splits.

    Parameters
    ----------
    table : Table
        With labels; rows without one are left aside.
    model : BallModel
        Its nu and scaling are used; each split fits its own ball.
    seeds : sequence of int
        Of the splits.
    size : int
        Rows that are drawn, at most: half of them nominal and half not, or all where
        there are fewer. Precision would depend on that; AUROC and recall do not.
    seed : int
        Of the drawing, and of the rival that draws random numbers.

    Returns
    -------
    Evaluation
    """
    nominal, judged = table.is_nominal, table.is_judged
    kinds = [table.take(np.flatnonzero(kind)) for kind in (nominal, judged & ~nominal)]
    rest = size - len(kinds[1].sample(size // 2, seed).rows)
    drawn = np.concatenate(
        [kinds[0].sample(rest, seed).rows, kinds[1].sample(size // 2, seed).rows]
    )
    known = table.take(np.flatnonzero(np.isin(table.rows, drawn)))
    detectors = rival_detectors(seed)
    if model.nu:
        detectors = {model.name: SoftBallDetector(nu=model.nu)} | detectors
    return evaluate_repeatedly(
        detectors, lambda s: honest_split(known, s, scaling=model.scaling), seeds
    )


def plane(sample, model):
    """Rows and the ball's center in the first two principal components.

    Parameters
    ----------
    sample : Table
        Of two columns or more.
    model : BallModel

    Returns
    -------
    points : ndarray, shape (m, 2)
    center : ndarray, shape (2,)
    explained : float
        Share of the variance that the two components hold.
    """
    scaled = model.scaled(sample.values)
    components = PCA(min(2, scaled.shape[1]), random_state=0).fit(scaled)
    placed = components.transform(np.vstack([scaled, model.center]))
    if placed.shape[1] == 1:
        placed = np.column_stack([placed, np.zeros(len(placed))])
    return placed[:-1], placed[-1], float(components.explained_variance_ratio_.sum())


def cautions(table, model, scores, hard):
    """What to keep in mind before these scores are believed.

    Parameters
    ----------
    table : Table
    model : BallModel
    scores : pandas.DataFrame
        Of the table's rows.
    hard : Solution
        The hard ball of the nominal rows.

    Returns
    -------
    list of str
        One sentence each.
    """
    m, n = table.values.shape
    told = []
    share = scores["mostly"].value_counts(normalize=True)
    if n > 1 and share.iloc[0] > max(0.5, 2 / n):
        told.append(
            f"{share.index[0]} counts most in {share.iloc[0]:.0%} of the rows: the scores "
            "say mostly how far out that column is."
        )
    if model.training_rows < 10 * n:
        told.append(
            f"{model.training_rows} rows for {n} columns are few: far more rows hold the "
            "ball up than in the long run, and new rows will lie outside more often than "
            "these."
        )
    if len(table.rows) < 0.8 * table.total:
        told.append(
            f"{table.total - len(table.rows)} of {table.total} rows have no score, as a "
            "value is missing. Missing values are often no accident."
        )
    told.append(
        f"The hard ball hangs on {len(hard.support)} of {model.training_rows} rows. Look "
        "at them first: one typing error among them moves center and radius."
    )
    if model.scaling == "none":
        told.append("Nothing is scaled: a column in larger units counts more.")
    if table.labels is None:
        told.append(
            "Without labels nothing here says that a high score is a fault; it says that "
            f"the row is unusual. About {model.nu:.0%} of the rows are called so because "
            "nu says so."
            if model.nu
            else "Without labels nothing here says that a high score is a fault, and the "
            "hard ball calls no row of this file unusual."
        )
    else:
        told.append(
            f"The ball knows rows with {table.labels.name} = {table.nominal} only. Believe "
            "the table over honest splits, not the alarms on the rows it was fitted to."
        )
    return told
