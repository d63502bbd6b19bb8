"""What is shown of a ball that was fitted to a table: certificate, ranks, rivals."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.decomposition import PCA

from mebnb.learning import evaluate_repeatedly, honest_split, rounded_scores
from mebnb.learning.detectors import SoftBallDetector, rival_detectors
from mebnb.report.words import escaped, without_formulas
from mebnb.your_data import TableError
from mebnb.your_data.structure import structure_cautions

__all__ = [
    "agreement",
    "alarm_cautions",
    "as_list",
    "balls_compared",
    "both_kinds",
    "cautions",
    "chosen_by",
    "first_of_equal",
    "flagged",
    "honest_scores",
    "label_counts",
    "plane",
    "ranked",
    "readings_shown",
    "support_rows",
]

FAR = 3.0
"""Radii from which on a row is pointed out by itself."""

FEWEST = 50
"""Different nominal rows below which no rival is fitted; neighbours alone need 20."""

NEIGHBOURS = 20
"""More equal rows than this and a detector that asks neighbours must count them once."""

ON_THE_SPHERE = 1.0 - 1e-6
"""Radii from which on a row counts as on the sphere or beyond it."""

WIDEST = 500
"""Columns above which the Mahalanobis distance is left out: it inverts an n x n matrix."""


class WordTable(pd.DataFrame):
    """A table with words of a file, which are shown as words and never as formulas."""

    @property
    def _constructor(self):
        return WordTable

    def _repr_html_(self):
        html = super()._repr_html_()
        return None if html is None else without_formulas(html)


def as_list(sentences):
    """Sentences with words of a file as a Markdown list, which breaks its lines.

    Parameters
    ----------
    sentences : iterable of str

    Returns
    -------
    str
    """
    return "\n".join(f"- {escaped(sentence)}" for sentence in sentences)


def readings_shown(table, most=30):
    """What was read in each column, as text.

    Parameters
    ----------
    table : Table
    most : int
        Columns of which nothing is to be told are left out of a longer table.

    Returns
    -------
    pandas.DataFrame of str
        Index: the file's columns.
    """
    shown = table.readings
    if len(shown) > most:
        shown = shown[shown["why"] != ""]
    ends = {
        end: ["" if pd.isna(value) else f"{value:.6g}" for value in shown[end]]
        for end in ("least", "greatest")
    }
    used = shown["used"] + (": " + shown["why"]).where(shown["why"] != "", "")
    return WordTable(shown.assign(**ends, used=used).drop(columns="why"))


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
        Row number, name, weight, the column that counts most in its
        distance, its value, and the median of the training rows there.
    """
    nominal = np.flatnonzero(table.is_nominal)[ball.support]
    shown = WordTable(table.named(nominal))
    shown["weight"] = ball.weights
    values = table.values.iloc[nominal]
    shown["mostly"] = model.score(values)["mostly"].astype(str).to_numpy()
    shown["value there"] = _values_there(values, shown["mostly"])
    shown["median there"] = _medians_there(model, shown["mostly"])
    return shown.sort_values("weight", ascending=False, ignore_index=True)


def balls_compared(models):
    """The certificates of several balls of one table, side by side.

    Parameters
    ----------
    models : iterable of BallModel

    Returns
    -------
    pandas.DataFrame
        Index: the balls' names.
    """
    rows = {
        model.name: {
            "radius": f"{model.radius:.6g}",
            "relative gap at most": f"{_power_of_ten(model.relative_gap):.0e}",
            "certified": model.certified,
            "rows outside": model.outside,
        }
        for model in models
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def _power_of_ten(gap):
    """The least power of ten that a gap does not exceed, at least 1e-12."""
    return max(10.0 ** np.ceil(np.log10(max(gap, 1e-300))), 1e-12)


def label_counts(table, scores=None):
    """Rows of each label, which one is nominal, and how many raise an alarm.

    Parameters
    ----------
    table : Table
        With labels.
    scores : pandas.DataFrame, optional
        Of the table's rows.

    Returns
    -------
    pandas.DataFrame
        Index: the labels, the most frequent first.
    """
    counts = table.labels.value_counts(dropna=False).rename("rows")
    nominal = [not pd.isna(word) and word == table.nominal for word in counts.index]
    counts = WordTable(counts.to_frame().assign(nominal=nominal))
    if scores is None:
        return counts
    for name, flag in (("alarms", "alarm"), ("discoveries", "discovery")):
        if flag in scores:
            raised = scores[flag].groupby(table.labels, dropna=False).sum()
            counts[name] = raised.reindex(counts.index).astype(int)
    return counts


def ranked(table, model, scores, top):
    """The most abnormal rows; of rows with equal values the first.

    Parameters
    ----------
    table : Table
    model : BallModel
    scores : pandas.DataFrame
        Its scores of the table's values.
    top : int
        Rows to list.

    Returns
    -------
    pandas.DataFrame
        Row number, name, label, score, alarm, the column that counts most, its value,
        the median of the training rows there; where rows are equal also how many there are.
    """
    order = np.argsort(-scores["score"].to_numpy(), kind="stable")
    equal = pd.util.hash_pandas_object(table.values, index=False).to_numpy()
    first = ~pd.Series(equal[order]).duplicated().to_numpy()
    chosen = order[first][:top]
    listed = WordTable(table.named(chosen))
    for name in ("score", "alarm", "mostly"):
        listed[name] = scores[name].iloc[chosen].to_numpy()
    listed["value there"] = _values_there(table.values.iloc[chosen], listed["mostly"])
    listed["median there"] = _medians_there(model, listed["mostly"])
    if not first.all():
        kept = pd.Series(equal[np.isin(equal, equal[chosen])]).value_counts()
        listed["equal rows"] = kept.loc[equal[chosen]].to_numpy()
    return listed


def _medians_there(model, columns):
    """The median of the training rows in the column that is named for each row."""
    medians = dict(zip(model.columns, model.medians, strict=True))
    return [medians[name] for name in columns]


def _values_there(values, columns):
    """Of each row the value in the column that is named for it."""
    return [values[name].iloc[at] for at, name in enumerate(columns)]


def both_kinds(table, size, seed=0):
    """A sample of nominal and of other rows, half and half where there are enough.

    Parameters
    ----------
    table : Table
    size : int
    seed : int

    Returns
    -------
    Table
        Rows without a label are left aside where there are labels.
    """
    if table.labels is None:
        return table.sample(size, seed)
    nominal = table.is_nominal
    kinds = [np.flatnonzero(nominal), np.flatnonzero(table.is_judged & ~nominal)]
    others = table.take(kinds[1]).sample(size // 2, seed).rows
    drawn = table.take(kinds[0]).sample(size - len(others), seed).rows
    return table.take(np.flatnonzero(np.isin(table.rows, [*drawn, *others])))


def _different_nominal_rows(table):
    return len(_nominal_values(table).drop_duplicates())


def _rivals(table, seed):
    different = _different_nominal_rows(table)
    if different < FEWEST:
        raise TableError(
            f"rivals need {FEWEST} different nominal rows, found {different}"
        )
    rivals = rival_detectors(seed)
    if table.values.shape[1] > WIDEST:
        del rivals["Mahalanobis distance"]
    return rivals


def agreement(sample, model, *, seed=0):
    """How far rival detectors rank the rows of a sample as the ball does.

    Each rival is fitted on the nominal rows of the sample, scaled as the model.

    Parameters
    ----------
    sample : Table
    model : BallModel
    seed : int
        Of the rival that draws random numbers.

    Returns
    -------
    pandas.DataFrame
        Index: rivals. Columns rank correlation (Spearman) and same among the top, a
        twentieth of the rows, at least 5.

    Raises
    ------
    TableError
        When the sample has fewer than `FEWEST` nominal rows that differ.
    """
    rivals = _rivals(sample, seed)
    points = model.scaled(sample.values)
    ours = rounded_scores(model.score(sample.values)["score"])
    top = max(5, len(points) // 20)
    best = set(np.argsort(-ours, kind="stable")[:top])
    rows = {}
    for name, detector in rivals.items():
        fitted = clone(detector).fit(points[sample.is_nominal])
        theirs = rounded_scores(-fitted.score_samples(points))
        same = len(best & set(np.argsort(-theirs, kind="stable")[:top]))
        rows[name] = {
            "rank correlation": float(spearmanr(ours, theirs).statistic),
            f"same among the top {top}": same,
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("rival")


def honest_scores(sample, model, seeds, *, seed=0):
    """The ball and its rivals judged by the labels, over honest splits.

    Parameters
    ----------
    sample : Table
        With labels, as `both_kinds` draws it. AUROC and recall do not depend on how
        many rows are of either kind; precision does.
    model : BallModel
        Its nu and scaling are used; each split fits its own ball.
    seeds : sequence of int
        Of the splits.
    seed : int
        Of the rival that draws random numbers.

    Returns
    -------
    Evaluation

    Raises
    ------
    TableError
        When the sample has fewer than `FEWEST` nominal rows that differ, or no other.
    """
    different = _different_nominal_rows(sample)
    if different < FEWEST or sample.is_nominal.all():
        raise TableError(
            f"honest splits need {FEWEST} different nominal rows and some others, found "
            f"{different} and {int((~sample.is_nominal).sum())}"
        )
    detectors = _rivals(sample, seed)
    if model.nu:
        detectors = {model.name: SoftBallDetector(nu=model.nu)} | detectors
    return evaluate_repeatedly(
        detectors, lambda s: honest_split(sample, s, scaling=model.scaling), seeds
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


def cautions(table, model, scores, support):
    """What to keep in mind before these scores are believed.

    Parameters
    ----------
    table : Table
    model : BallModel
    scores : pandas.DataFrame
        Of the table's rows.
    support : pandas.DataFrame
        The rows that hold the hard ball up, from `support_rows`.

    Returns
    -------
    list of str
        A sentence or two each.
    """
    n, total = len(model.columns), model.training_rows
    told = []
    if not model.certified:
        told.append(
            f"The ball is not certified: its relative gap is {model.relative_gap:.1e}. "
            "Its radius is that much from the best at most."
        )
    # The hard ball is the soft one until the box cuts its largest weight.
    least = 1.0 / (total * support["weight"].max())
    if 0 < model.nu <= least:
        told.append(
            f"nu = {model.nu:g} leaves no row outside; here only a nu above {least:.2g} "
            "can."
        )
    trained = np.where(table.is_nominal, scores["score"].to_numpy(), 0.0)
    at = int(trained.argmax())
    if trained[at] > FAR:
        told.append(
            f"Row {table.rows[at]} lies {trained[at]:.3g} radii out. If it is an error, "
            "remove it and run again: it widens the scale of its columns."
        )
    share = scores["mostly"].value_counts(normalize=True)
    if n > 1 and share.iloc[0] > max(0.5, 2 / n):
        told.append(
            f"{share.index[0]} counts most in {share.iloc[0]:.0%} of the rows: the scores "
            "say mostly how far out that column is."
        )
    if total < 10 * n:
        told.append(
            f"{total} nominal rows fix a ball in {n} columns poorly: expect more alarms "
            "among new rows than among these."
        )
    told += _missing(table) + _never_varying(table)
    told.append(
        f"The hard ball hangs on {len(support)} of {total} rows. Look at them first: one typing "
        "error among them moves center and radius."
    )
    told += _unscaled(model) + _equal_rows(table)
    told += structure_cautions(table, "soft" if model.nu else "ball", model.nu)
    told.append(_what_new_rows_do(model, trained[table.is_nominal]))
    told.append(_what_alarms_mean(table, model))
    return told


def alarm_cautions(table, model, own=False):
    """What to keep in mind before alarms with p-values are believed.

    Parameters
    ----------
    table : Table
        That the model was fitted to.
    model : AlarmModel
    own : bool
        Whether its own rows are judged.

    Returns
    -------
    list of str
    """
    size, least = model.calibration_rows, model.smallest_p_value
    told = []
    if model.alpha < least:
        told.append(
            f"No row can be an alarm: {size} rows kept from the detector allow no p-value "
            f"below {least:.3g}, and alpha is {model.alpha:g}; it takes at least "
            f"{int(np.ceil(1 / model.alpha)) - 1} such rows."
        )
    learned, nominal = model.training_rows + size, int(table.is_nominal.sum())
    if learned < nominal:
        told.append(
            f"{learned} of the {nominal} nominal rows are learned from, drawn by chance."
        )
    told += _missing(table) + _never_varying(table) + _unscaled(model)
    told += structure_cautions(table, model.detector, model.nu)
    if own and table.labels is None:
        told.append(
            "Without labels the p-values of the file's own rows are their places among "
            f"themselves: a share of {model.alpha:g} is flagged whatever they are. Name a "
            "label, or score a file of new rows, for alarms that can be false or true."
        )
    told.append(
        f"Of new rows that are drawn as the nominal ones a share of {model.alpha:g} at most "
        "raises a false alarm on average; of rows of another kind nothing is promised."
    )
    return told


def chosen_by(model):
    """What "auto" chose by, in a sentence, or nothing where it had no choice.

    Parameters
    ----------
    model : AlarmModel

    Returns
    -------
    list of str
    """
    if model.shares is None:
        return []
    shares = sorted(model.shares.items(), key=lambda item: -item[1])
    found = ", ".join(f"{name} {share:.0%}" for name, share in shares)
    return [f"  rows made up from the nominal ones that it finds: {found}"]


def first_of_equal(table, reasons, top):
    """The most abnormal flagged rows; of rows with equal values the first.

    Parameters
    ----------
    table : Table
    reasons : Reasons
        Of its rows.
    top : int
        Rows to take.

    Returns
    -------
    ndarray of int
        Places in the reasons.
    """
    values = table.values.iloc[reasons.rows]
    return np.flatnonzero(~values.duplicated().to_numpy())[:top]


def flagged(table, model, scores, reasons, chosen):
    """The flagged rows and why.

    Parameters
    ----------
    table : Table
    model : AlarmModel
    scores : pandas.DataFrame
        Of the table's values.
    reasons : Reasons
        Of these scores.
    chosen : sequence of int
        Places in the reasons.

    Returns
    -------
    pandas.DataFrame
        Row number, name, label, score, p_value, the column or pair that counts most, the
        value there, the median of the training rows and, where it is known, the value
        that clears the flag; of a pair, of the column named first.
    """
    rows = reasons.rows[chosen]
    listed = WordTable(table.named(rows))
    for name in ("score", "p_value"):
        listed[name] = scores[name].to_numpy()[rows]
    words = reasons.words()
    listed["mostly"] = [words[at] for at in chosen]
    first = [reasons.named[at][0] for at in chosen]
    listed["value there"] = _values_there(table.values.iloc[rows], first)
    listed["median there"] = _medians_there(model, first)
    if reasons.clears_at is not None:
        listed["clears_at"] = _values_there(reasons.clears_at.iloc[chosen], first)
    return listed


def _missing(table):
    if len(table.rows) >= 0.8 * table.total:
        return []
    return [
        f"{table.total - len(table.rows)} of {table.total} rows have no score, as a "
        "value is missing. Values are seldom missing by chance alone."
    ]


def _never_varying(table):
    still = _constant_on_nominal(table)
    if not still or len(still) == table.values.shape[1]:
        return []
    return [
        f"{', '.join(still[:5])} never vary on the nominal rows: a row that differs "
        "there counts in that column's own units."
    ]


def _unscaled(model):
    if model.scaling != "none":
        return []
    return ["Nothing is scaled: a column in larger units counts more."]


def _equal_rows(table):
    most = int(_nominal_values(table).value_counts().max())
    if most <= NEIGHBOURS:
        return []
    return [
        f"{most} of the {int(table.is_nominal.sum())} rows are equal. A detector that asks "
        f"for the {NEIGHBOURS} nearest rows finds only these; let it count equal rows once, "
        "as the local outlier factor of notebook 18 does."
    ]


def _constant_on_nominal(table):
    values = _nominal_values(table)
    return [name for name in values if values[name].min() == values[name].max()]


def _nominal_values(table):
    return table.values if table.labels is None else table.values[table.is_nominal]


def _what_new_rows_do(model, trained):
    # Left out, a row inside changes no ball and lies inside of that of the others; one on
    # the sphere or beyond it lies outside of theirs (notebook 13).
    reaching = int((trained >= ON_THE_SPHERE).sum())
    total = model.training_rows
    own = f"{model.outside} of the {total} rows that fix the ball lie outside"
    if model.nu:
        own += f": nu = {model.nu:g} bounds their share and not that of new rows"
    return (
        f"{own}. {reaching} reach its sphere or lie beyond it: of new rows of the same kind "
        f"expect about {reaching / total:.0%} to raise an alarm, or more, as they had no "
        "part in the scaling."
    )


def _what_alarms_mean(table, model):
    if table.labels is not None:
        return (
            f"The ball knows rows with {table.labels.name} = {table.nominal} only. Believe "
            "honest splits (notebook 18), not the alarms on the rows it was fitted to."
        )
    unusual = "Without labels nothing here says that a high score is a fault"
    if model.nu:
        return f"{unusual}; it says that the row is unusual."
    return f"{unusual}, and the hard ball calls no row of this file unusual."
