"""What notebook 20 shows: coverage over splits, discoveries, and the kept judgement."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mebnb.learning.alarms import ConformalAlarms, benjamini_hochberg
from mebnb.learning.splits import honest_split

__all__ = [
    "SETS",
    "advice_table",
    "alarms_on",
    "coverage",
    "design_table",
    "discovery_table",
    "false_alarm_law",
    "outcome_table",
    "outcomes_told",
    "ranks_of",
    "raw_split",
    "span",
]

# Those with rows enough for a part that is held out.
SETS = (
    "breast_cancer",
    "iranian_churn",
    "vertebral_column",
    "maternal_risk",
    "abalone17",
    "yeast3",
    "wine4",
)
# Mean AUROC this near to the best is no difference to choose by.
NEAR = 0.01
OURS = (
    "hard ball",
    "soft ball",
    "local ball (kNN)",
    "whitened ball",
    "several balls",
    "kernel ball",
    "committee",
)


def raw_split(dataset, seed):
    """`honest_split` in the units of the file: scaling is then the detector's."""
    return honest_split(dataset, seed, scaling="none")


def alarms_on(split, detector, alpha, seed):
    """Conformal alarms over a detector behind a scaler, fitted on a split."""
    scaled = make_pipeline(StandardScaler(), detector)
    return ConformalAlarms(scaled, alpha, random_state=seed).fit(split.train)


def coverage(scores, calibration, alpha, draws, seed):
    """The rate of false alarms when the same nominal rows are divided anew.

    The detector stays as it is: only chance decides which of the rows that it has not
    seen set the threshold and which are judged.

    Parameters
    ----------
    scores : array_like, shape (k,)
        Of nominal rows that the detector has not seen: the lower, the more abnormal.
    calibration : int
        How many of them set the threshold.
    alpha : float
    draws : int
    seed : int

    Returns
    -------
    ndarray of int, shape (draws,)
        False alarms among the others.
    """
    scores = np.asarray(scores, dtype=float)
    rng = np.random.default_rng(seed)
    counts = np.empty(draws, dtype=int)
    for draw in range(draws):
        shuffled = rng.permutation(scores)
        held = np.sort(shuffled[:calibration])
        below = np.searchsorted(held, shuffled[calibration:], side="right")
        counts[draw] = np.sum((1 + below) / (1 + calibration) <= alpha)
    return counts


def false_alarm_law(calibration, tested, alpha):
    """The law of the number of false alarms where no two scores are equal.

    The false-alarm rate of one calibration is a draw of Beta(l, n + 1 - l) with
    l = floor(alpha (n + 1)) (Vovk, "Conditional validity of inductive conformal
    predictors", ACML 2012); rows that are judged with it make it beta-binomial.

    Parameters
    ----------
    calibration, tested : int
        n, and how many rows are judged.
    alpha : float

    Returns
    -------
    scipy.stats distribution
        Of the count; all of it at 0 where no row can be an alarm.

    Examples
    --------
    >>> law = false_alarm_law(19, 100, 0.05)
    >>> print(f"{law.mean():.2f} {law.cdf(0):.3f}")
    5.00 0.160
    """
    # The quotients as `ConformalAlarms` has them: "at most alpha" to the bit.
    possible = np.arange(calibration + 2) / (calibration + 1)
    last = int(np.searchsorted(possible, alpha, side="right")) - 1
    if last < 1:
        return stats.binom(tested, 0.0)
    return stats.betabinom(tested, last, calibration + 1 - last)


def discovery_table(dataset, detector, fdr, seeds):
    """What three rules call anomalies, and how many of the calls are wrong.

    Parameters
    ----------
    dataset : Dataset
    detector : estimator
    fdr : float
        For Benjamini and Hochberg, and alpha of the others.
    seeds : iterable of int
        Of the splits.

    Returns
    -------
    pandas.DataFrame
        Index: the rule. Means over the splits: calls, nominal rows among them, their
        share of the calls (0 where there is none), share of the anomalies found.
    """
    rules = {
        f"p at most {fdr:g}": lambda p: p <= fdr,
        f"p at most {fdr:g} over the rows": lambda p: p <= fdr / len(p),
        f"Benjamini-Hochberg at {fdr:g}": lambda p: benjamini_hochberg(p, fdr),
    }
    rows = []
    for seed in seeds:
        split = raw_split(dataset, seed)
        p_values = alarms_on(split, detector, fdr, seed).p_values(split.test)
        anomaly = split.test_is_anomaly
        for name, rule in rules.items():
            called = rule(p_values)
            false = int(called[~anomaly].sum())
            rows.append(
                {
                    "rule": name,
                    "calls": called.sum(),
                    "nominal among them": false,
                    "share": false / max(1, called.sum()),
                    "anomalies found": called[anomaly].mean(),
                }
            )
    return pd.DataFrame(rows).groupby("rule", sort=False).mean()


# --- the judgement that is kept ----------------------------------------------------
def span(values):
    """From the least to the largest count, in words: "49 to 400", or "350".

    Parameters
    ----------
    values : pandas.Series

    Returns
    -------
    str
    """
    ends = dict.fromkeys(f"{end:.0f}" for end in (values.min(), values.max()))
    return " to ".join(ends)


def ranks_of(ranks, sort, measure="auroc"):
    """Mean ranks, best first, and the critical difference, for a diagram.

    Parameters
    ----------
    ranks : pandas.DataFrame
        `measured("judgement_ranks")`.
    sort : {"real", "synthetic"}
    measure : {"auroc", "average_precision"}

    Returns
    -------
    (pandas.Series, float)
    """
    part = ranks[(ranks["sort"] == sort) & (ranks["measure"] == measure)]
    part = part.sort_values("mean_rank", kind="stable").set_index("detector")
    return part["mean_rank"], float(part["critical_difference"].iloc[0])


def outcome_table(ranks, sets, sort):
    """Each detector's rank, what it wins and loses, and what it costs.

    Parameters
    ----------
    ranks, sets : pandas.DataFrame
        `measured("judgement_ranks")` and `measured("judgement_sets")`.
    sort : {"real", "synthetic"}

    Returns
    -------
    pandas.DataFrame of str
        Index: the detectors, the best mean rank first.
    """
    part = ranks[(ranks["sort"] == sort) & (ranks["measure"] == "auroc")]
    part = part.set_index("detector").sort_values("mean_rank", kind="stable")
    means = sets[sets["sort"] == sort].groupby("detector")
    values = means[["false_alarms", "recall", "seconds"]].mean().loc[part.index]
    return pd.DataFrame(
        {
            "mean rank": _with_interval(part),
            "AUROC": part["mean"].map("{:.3f}".format),
            "recall": values["recall"].map("{:.3f}".format),
            "false alarms": values["false_alarms"].map("{:.3f}".format),
            "better": part["better"].map("{:.0f}".format),
            "worse": part["worse"].map("{:.0f}".format),
            "ms": (1000 * values["seconds"]).map("{:.0f}".format),
        }
    )


def advice_table(sets):
    """Which detector for which data, decided by the mean AUROC of the kept run.

    Parameters
    ----------
    sets : pandas.DataFrame
        `measured("judgement_sets")`.

    Returns
    -------
    pandas.DataFrame of str
        Index: the data. Columns: how many sets; the best detector with its mean AUROC;
        all others within `NEAR` of it; the best of the balls; the one that finds most
        at the conformal threshold, with its share.
    """
    rows = {}
    for name, part in _kinds(sets).items():
        means = part.groupby("detector")[["auroc", "recall"]].mean()
        order = means["auroc"].sort_values(ascending=False, kind="stable")
        near = order[order >= order.iloc[0] - NEAR].index[1:]
        ours = order[order.index.isin(OURS)]
        found = means["recall"]
        rows[name] = {
            "sets": str(part["set"].nunique()),
            "best by AUROC": f"{order.index[0]} {order.iloc[0]:.3f}",
            f"within {NEAR:g}": ", ".join(near),
            "best ball": f"{ours.index[0]} {ours.iloc[0]:.3f}",
            "finds most at alpha": f"{found.idxmax()} {found.max():.3f}",
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("data")


def _with_interval(part):
    return [
        f"{row.mean_rank:.2f} ({row.low:.1f} to {row.high:.1f})"
        for row in part.itertuples()
    ]


def outcomes_told(ranks, sort):
    """What the mean ranks say of the committee, in sentences.

    Parameters
    ----------
    ranks : pandas.DataFrame
        `measured("judgement_ranks")`.
    sort : {"real", "synthetic"}

    Returns
    -------
    list of str
    """
    part = ranks[(ranks["sort"] == sort) & (ranks["measure"] == "auroc")]
    part = part.set_index("detector").sort_values("mean_rank", kind="stable")
    first, own = part.iloc[0], part.loc["committee"]
    apart = own["mean_rank"] - part["mean_rank"]
    better = part.index[apart > own["critical_difference"]]
    worse = part.index[-apart > own["critical_difference"]]
    place = list(part.index).index("committee") + 1
    return [
        f"{sort.capitalize()} sets, {own['sets']:.0f} of them: mean ranks are "
        f"{'more than' if own['friedman_p'] < 0.05 else 'no more than'} chance "
        f"(Friedman, p = {own['friedman_p']:.1e}).",
        f"The best mean rank is {first['mean_rank']:.2f}, of {part.index[0]}. The "
        f"committee has {own['mean_rank']:.2f} (95 % interval {own['low']:.2f} to "
        f"{own['high']:.2f}), place {place} of {len(part)}.",
        f"Better than the committee by more than the critical difference of "
        f"{own['critical_difference']:.2f}: {', '.join(better) or 'none'}. Worse by "
        f"more than it: {', '.join(worse) or 'none'}.",
    ]


def design_table(designs):
    """The committees that were tried, real and drawn sets side by side.

    Parameters
    ----------
    designs : pandas.DataFrame
        `measured("judgement_designs")`.

    Returns
    -------
    pandas.DataFrame of str
        Index: the design. For each sort of sets the mean rank in the committee's
        place with its interval, the best mean rank of the others, and the mean recall
        at the conformal threshold.
    """
    tables = {}
    for sort, part in designs.groupby("sort", sort=False):
        part = part.set_index("design")
        tables[sort] = pd.DataFrame(
            {
                "mean rank": _with_interval(part),
                "best other": part["rank_of_best_other"].map("{:.2f}".format),
                "recall": part["recall"].map("{:.3f}".format),
            }
        )
    return pd.concat(tables, axis=1)


def _kinds(sets):
    """Parts of the judgement by what can be known of a table before it is judged."""
    real = sets[sets["sort"] == "real"]
    drawn = sets[sets["sort"] == "synthetic"]
    names = drawn["set"].str.split(", ")
    law, shift = names.str[0], names.str[1]
    few_columns, few_rows = real["columns"] <= 9, real["train"] <= 150
    kinds = {
        "real sets": real,
        "real, at most 9 columns": real[few_columns],
        "real, more columns": real[~few_columns],
        "real, at most 150 rows to fit": real[few_rows],
        "real, more rows": real[~few_rows],
    }
    kinds |= {f"nominal rows: {one}": drawn[law == one] for one in law.unique()}
    kinds |= {f"anomalies: {one}": drawn[shift == one] for one in shift.unique()}
    return kinds
