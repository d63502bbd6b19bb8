"""Scores of a detector, and several detectors compared over the same splits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.base import clone
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.pipeline import make_pipeline

from mebnb.learning.alarms import ConformalAlarms
from mebnb.learning.splits import SCALERS
from mebnb.solvers.balls import beyond

__all__ = [
    "SCORES",
    "Evaluation",
    "critical_difference",
    "evaluate_repeatedly",
    "evaluate_splits",
    "own_and_conformal",
    "precision_at",
    "recall_at_false_alarms",
    "rounded_scores",
    "score_detector",
]

SCORES = (
    "recall",
    "precision",
    "f1",
    "false_alarms",
    "auroc",
    "average_precision",
    "recall_at_false_alarms",
)


def recall_at_false_alarms(abnormality, is_anomaly, rate=0.05):
    """Share of anomalies found when a share of the nominal points may raise an alarm.

    The threshold is read off these very nominal points. It judges the ranking; nobody has
    it before the points are labelled.

    Parameters
    ----------
    abnormality : array_like, shape (k,)
        The higher, the more abnormal.
    is_anomaly : array_like of bool, shape (k,)
    rate : float
        Largest share of nominal points above the threshold, 0 <= rate < 1.

    Returns
    -------
    float
        NaN without nominal points or without anomalies.

    Raises
    ------
    ValueError
        When the rate is out of range, or a value of abnormality is NaN.

    Examples
    --------
    >>> recall_at_false_alarms([1, 2, 3, 4, 5], [False, False, True, False, True], 0.4)
    1.0
    >>> recall_at_false_alarms([1, 2, 3, 4, 5], [False, False, True, False, True], 0.0)
    0.5
    """
    if not 0 <= rate < 1:
        raise ValueError(f"rate must be at least 0 and less than 1, found {rate!r}")
    abnormality = _numbers(abnormality, "abnormality")
    is_anomaly = np.asarray(is_anomaly, dtype=bool)
    nominal = np.sort(abnormality[~is_anomaly])[::-1]
    if nominal.size == 0 or not is_anomaly.any():
        return math.nan
    # The threshold is the first nominal score that may not be exceeded any more.
    threshold = nominal[int(rate * nominal.size + 1e-9)]
    return float(np.mean(abnormality[is_anomaly] > threshold))


def precision_at(recall, false_alarms, prevalence):
    """Precision where another share of the points are anomalies.

    Recall and false alarms do not hang on how many points are of either kind; precision
    does.

    Parameters
    ----------
    recall, false_alarms : array_like
        Shares of the anomalies and of the nominal points that raise an alarm.
    prevalence : float
        Share of anomalies among all points, strictly between 0 and 1.

    Returns
    -------
    ndarray or float
        NaN where nothing raises an alarm.

    Raises
    ------
    ValueError
        When the prevalence is out of range.

    Examples
    --------
    >>> print(round(precision_at(0.9, 0.1, 0.5), 3), round(precision_at(0.9, 0.1, 0.01), 3))
    0.9 0.083
    """
    if not 0 < prevalence < 1:
        raise ValueError(
            f"prevalence must lie strictly between 0 and 1, found {prevalence!r}"
        )
    right = prevalence * np.asarray(recall, dtype=float)
    false = (1.0 - prevalence) * np.asarray(false_alarms, dtype=float)
    with np.errstate(invalid="ignore"):
        return right / (right + false)


def score_detector(detector, split, rate=0.05):
    """Judge a fitted detector on the test side of a split.

    Points that are equally abnormal but for rounding count as equal: scores are rounded
    to 24 significant bits before they are ranked, and a point raises an alarm where it
    lies beyond the detector's threshold by more than a millionth of it. The second holds
    for a detector with `offset_`, alone or as the last step of a pipeline; others are
    taken at their word. Apart from that the scores are those of scikit-learn.

    Parameters
    ----------
    detector : estimator
        A fitted scikit-learn outlier detector: `predict` (-1 is an alarm) and
        `score_samples` or `decision_function` (the lower, the more abnormal).
    split : Split
    rate : float
        Of false alarms, for the last score.

    Returns
    -------
    dict
        `SCORES`: recall, precision, f1 and false_alarms at the detector's own
        threshold; auroc, average_precision and recall_at_false_alarms over all
        thresholds. NaN where a score is not defined: a precision without an alarm,
        false alarms and the last three without nominal test points.

    Raises
    ------
    ValueError
        When the detector gives NaN for a test point.
    """
    alarm = _alarms(detector, split.test)
    anomaly = split.test_is_anomaly
    judge = getattr(detector, "score_samples", None) or detector.decision_function
    scores = _numbers(judge(split.test), "the detector's scores")
    # Ranks from 0: all that the scores below look at, and never infinite.
    abnormality = np.unique(rounded_scores(-scores), return_inverse=True)[1]
    hits, misses = int(np.sum(alarm & anomaly)), int(np.sum(~alarm & anomaly))
    false = int(np.sum(alarm & ~anomaly))
    both = anomaly.any() and not anomaly.all()
    return {
        "recall": _ratio(hits, hits + misses),
        "precision": _ratio(hits, hits + false),
        "f1": _ratio(2 * hits, 2 * hits + false + misses),
        "false_alarms": _ratio(false, int(np.sum(~anomaly))),
        "auroc": float(roc_auc_score(anomaly, abnormality)) if both else math.nan,
        "average_precision": (
            float(average_precision_score(anomaly, abnormality)) if both else math.nan
        ),
        "recall_at_false_alarms": recall_at_false_alarms(abnormality, anomaly, rate),
    }


def _alarms(detector, points):
    """Which points lie beyond the detector's threshold by more than rounding."""
    judge = _innermost(detector)
    if not hasattr(judge, "offset_"):
        return detector.predict(points) == -1
    threshold = np.abs(judge.offset_)
    decision = _numbers(detector.decision_function(points), "the detector's scores")
    return beyond(threshold - decision, threshold)


def _innermost(detector):
    """The detector that decides in the end: of a search the best, of a pipeline the last."""
    if hasattr(detector, "best_estimator_"):
        return _innermost(detector.best_estimator_)
    if hasattr(detector, "steps"):
        return _innermost(detector.steps[-1][1])
    return detector


def _numbers(values, name):
    values = np.asarray(values)
    missing = np.isnan(values)
    if missing.any():
        raise ValueError(
            f"{name} must be numbers, found NaN for {missing.sum()} of {values.size} "
            "points"
        )
    return values


def rounded_scores(values):
    """Scores to 24 significant bits, so that those equal but for rounding are ties.

    That is what single precision keeps, but of any magnitude.

    Parameters
    ----------
    values : array_like of float

    Returns
    -------
    ndarray of float64
    """
    mantissa, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    return np.ldexp(np.rint(np.ldexp(mantissa, 24)), exponent - 24)


def _ratio(part, whole):
    return part / whole if whole else math.nan


# --- over many splits --------------------------------------------------------------


@dataclass(frozen=True, repr=False, eq=False)
class Evaluation:
    """Scores of several detectors on the same splits.

    Attributes
    ----------
    frame : pandas.DataFrame
        One row for each detector and seed: detector, seed, train, test_nominal and
        test_anomalies (numbers of points), then `SCORES`.
    """

    frame: pd.DataFrame

    def summary(self, scores=SCORES):
        """Mean and spread of each score over the splits.

        Parameters
        ----------
        scores : sequence of str

        Returns
        -------
        pandas.DataFrame
            Index: detector and score. Columns mean, sd (of one split), low and high
            (the middle 90 % of the splits) and splits (those where it is defined).
        """
        rows = {
            (detector, score): _spread(table[score].dropna())
            for detector, table in self.frame.groupby("detector", sort=False)
            for score in _known(scores)
        }
        summary = pd.DataFrame.from_dict(rows, orient="index")
        summary.index = pd.MultiIndex.from_tuples(rows, names=["detector", "score"])
        return summary.astype({"splits": int})

    def differences(self, reference, score="auroc"):
        """How much each detector beats a reference, split by split.

        The interval is a t-interval with the variance corrected for the overlap of
        random splits: (1 / splits + test / train) times the variance of the
        differences (Nadeau and Bengio, Machine Learning 52, 2003), test and train
        counted in nominal points. It speaks of new nominal points and the same
        anomalies: those are tested in every split.

        Parameters
        ----------
        reference : str
            A detector's name.
        score : str

        Returns
        -------
        pandas.DataFrame
            Index: the other detectors. Columns mean, sd, low, high (95 % interval of
            the mean), better (share of the splits where it scores higher) and splits.

        Raises
        ------
        ValueError
            When the reference or the score is not in the frame.
        """
        _known([score])
        table = self.frame.pivot(index="seed", columns="detector", values=score)
        if reference not in table:
            raise ValueError(
                f"reference must be one of {', '.join(table)}; found {reference!r}"
            )
        sizes = self.frame.drop_duplicates("seed")
        overlap = (sizes["test_nominal"] / sizes["train"]).mean()
        others = [name for name in self.frame["detector"].unique() if name != reference]
        rows = {
            name: _paired((table[name] - table[reference]).dropna(), overlap)
            for name in others
        }
        differences = pd.DataFrame.from_dict(rows, orient="index", columns=PAIRED)
        return differences.rename_axis("detector").astype({"splits": int})

    def beside(self, reference, score="auroc"):
        """One score of each detector, and what it gains on a reference, as a table.

        Parameters
        ----------
        reference : str
            A detector's name.
        score : str

        Returns
        -------
        pandas.DataFrame of str
            Index: the detectors. Columns mean, sd (of one split), difference (from the
            reference), "95 % interval" of that (see `differences`) and "better in", the
            share of the splits.

        Raises
        ------
        ValueError
            When the reference or the score is not in the frame.
        """
        gains = self.differences(reference, score)
        summary = self.summary([score]).xs(score, level="score")
        rows = {}
        for name, row in summary.iterrows():
            rows[name] = {"mean": f"{row['mean']:.3f}", "sd": f"{row['sd']:.3f}"}
            if name in gains.index:
                gain = gains.loc[name]
                rows[name] |= {
                    "difference": f"{gain['mean']:+.3f}",
                    "95 % interval": f"{gain['low']:+.3f} to {gain['high']:+.3f}",
                    "better in": f"{gain['better']:.0%}",
                }
        table = pd.DataFrame.from_dict(rows, orient="index").fillna("")
        return table.rename_axis("detector")

    def at_own_thresholds(self, prevalence=0.01):
        """What alarms are worth here and where anomalies are rarer.

        Parameters
        ----------
        prevalence : float
            Share of anomalies elsewhere.

        Returns
        -------
        pandas.DataFrame
            Index: the detectors. Mean recall and false alarms at their own thresholds, and
            the precision that these two give at the test rows' share of anomalies and at
            `prevalence`.
        """
        columns = ["recall", "false_alarms", "test_nominal", "test_anomalies"]
        means = self.frame.groupby("detector", sort=False)[columns].mean()
        rates = means["recall"], means["false_alarms"]
        here = means["test_anomalies"].sum() / means[columns[2:]].sum().sum()
        table = pd.DataFrame({"recall": rates[0], "false alarms": rates[1]})
        for share in (here, prevalence):
            table[f"precision at {100 * share:.3g} % anomalies"] = precision_at(
                *rates, share
            )
        return table

    def means(self, scores=("auroc", "recall_at_false_alarms")):
        """The mean of each score over the splits.

        Parameters
        ----------
        scores : sequence of str

        Returns
        -------
        pandas.DataFrame
            Columns detector and the scores.
        """
        means = self.frame.groupby("detector", sort=False)[list(_known(scores))].mean()
        return means.reset_index()

    def best(self, reference, scores=("auroc", "recall_at_false_alarms")):
        """The reference and, for each score, the best of the others.

        The best is a maximum over the same splits that judge it: its lead is flattered.

        Parameters
        ----------
        reference : str
            A detector's name.
        scores : sequence of str

        Returns
        -------
        pandas.DataFrame
            Index: detectors, the reference first. One column a score: its mean.
        """
        means = self.means(scores).set_index("detector").sort_index()
        means = means.rename_axis(columns="score")
        winners = means.drop(index=reference).idxmax()
        return means.loc[list(dict.fromkeys([reference, *winners]))]

    def __repr__(self):
        names = ", ".join(self.frame["detector"].unique())
        return f"Evaluation({names}; {self.frame['seed'].nunique()} splits)"

    def _repr_html_(self):
        means = self.summary()["mean"].unstack("score")[list(SCORES)]
        order = self.frame["detector"].unique()
        return means.loc[order].to_html(float_format=lambda value: f"{value:.3f}")


PAIRED = ("mean", "sd", "low", "high", "better", "splits")


def evaluate_repeatedly(detectors, split, seeds, rate=0.05):
    """Fit and judge detectors on the same splits, one split for each seed.

    Parameters
    ----------
    detectors : mapping of str to estimator
        Unfitted; each is cloned for each split and fitted on its nominal training
        points.
    split : callable
        seed -> Split, such as ``lambda seed: honest_split(dataset, seed)``.
    seeds : iterable of int
    rate : float
        Of false alarms, for `recall_at_false_alarms`.

    Returns
    -------
    Evaluation

    Raises
    ------
    ValueError
        When there is no detector or no seed, or a seed comes twice.
    """
    seeds = list(seeds)
    if not detectors:
        raise ValueError("detectors must hold at least one detector, found none")
    if not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds must be different and at least one, found {seeds}")
    rows = []
    for seed in seeds:
        points = split(seed)
        anomalies = int(points.test_is_anomaly.sum())
        sizes = {
            "train": len(points.train),
            "test_nominal": len(points.test) - anomalies,
            "test_anomalies": anomalies,
        }
        for name, detector in detectors.items():
            fitted = clone(detector).fit(points.train)
            judged = score_detector(fitted, points, rate)
            rows.append({"detector": name, "seed": seed, **sizes, **judged})
    return Evaluation(pd.DataFrame(rows))


def own_and_conformal(
    own,
    detectors,
    split,
    seeds,
    scaling,
    *,
    alpha=0.05,
    method="split",
    prevalence=0.01,
):
    """Alarms at the detectors' own thresholds beside those of `ConformalAlarms`.

    Parameters
    ----------
    own : Evaluation
        Of the detectors as they are.
    detectors, split, seeds
        As of `evaluate_repeatedly`; the rows of the split are not scaled.
    scaling : {"standard", "minmax", "none"}
        Part of the detector: a scaler that saw the calibration rows would make them
        look nearer than new ones.
    alpha : float
        The rate of false alarms that is promised.
    method : {"split", "cross", "jackknife+"}
    prevalence : float
        Share of anomalies elsewhere.

    Returns
    -------
    pandas.DataFrame
        Index: the detectors. Columns: (score, threshold), the scores those of
        `Evaluation.at_own_thresholds`, the threshold "own" or "conformal".
    """
    promising = {
        name: ConformalAlarms(
            _after_scaling(scaling, detector), alpha, method, random_state=0
        )
        for name, detector in detectors.items()
    }
    kept = evaluate_repeatedly(promising, split, seeds)
    tables = {
        kind: judged.at_own_thresholds(prevalence)
        for kind, judged in {"own": own, "conformal": kept}.items()
    }
    table = pd.concat(tables, axis=1, names=["threshold", "score"]).swaplevel(axis=1)
    return table[list(tables["own"].columns)]


def _after_scaling(scaling, detector):
    return make_pipeline(SCALERS[scaling] and SCALERS[scaling](), detector)


def evaluate_splits(detector, splits, seeds, rate=0.05):
    """Fit and judge one detector on several kinds of split, each for the same seeds.

    Parameters
    ----------
    detector : estimator
        Unfitted.
    splits : mapping of str to callable
        Name -> (seed -> Split).
    seeds : iterable of int
    rate : float
        Of false alarms, for `recall_at_false_alarms`.

    Returns
    -------
    Evaluation
        Its "detectors" are the names of the splits.
    """
    seeds = list(seeds)
    frames = [
        evaluate_repeatedly({name: detector}, split, seeds, rate).frame
        for name, split in splits.items()
    ]
    return Evaluation(pd.concat(frames, ignore_index=True))


def _known(scores):
    for score in scores:
        if score not in SCORES:
            known = ", ".join(SCORES)
            raise ValueError(f"score must be one of {known}; found {score!r}")
    return scores


def _spread(values):
    low, high = values.quantile([0.05, 0.95]) if len(values) else (math.nan, math.nan)
    return {
        "mean": values.mean(),
        "sd": values.std(),
        "low": low,
        "high": high,
        "splits": len(values),
    }


def _paired(differences, overlap):
    count, mean, sd = len(differences), differences.mean(), differences.std()
    reach = math.nan
    if count > 1:
        reach = stats.t.ppf(0.975, count - 1) * sd * math.sqrt(1 / count + overlap)
    better = (differences > 0).mean()
    return mean, sd, mean - reach, mean + reach, better, count


def critical_difference(methods, sets):
    """How far apart two mean ranks must lie to differ by more than chance.

    Nemenyi's test at 5 % (Demsar, Journal of Machine Learning Research 7, 2006).

    Parameters
    ----------
    methods : int
        That are ranked on each set.
    sets : int

    Returns
    -------
    float

    Examples
    --------
    >>> print(round(critical_difference(5, 30), 3))
    1.114
    """
    quantile = stats.studentized_range.ppf(0.95, methods, np.inf) / math.sqrt(2)
    return float(quantile * math.sqrt(methods * (methods + 1) / (6 * sets)))
