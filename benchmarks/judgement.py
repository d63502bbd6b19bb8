"""Which detector ranks anomalies best, over real sets and laws with known truth.

One protocol for all. Of the distinct nominal rows half train, at most 400, and at most
300 of the others and 300 anomalies test; a half of the training rows is for the
detector, standardised by them, and the other half for the conformal threshold. Seeds
and parameters stand in this file and its two neighbours and were not moved by what
came out. Rows are written as they come, so that a run that was stopped goes on:
`python -m benchmarks.judgement`.

Writes judgement_sets.csv (means over the splits for each set and detector, and what
each gains on the committee), judgement_ranks.csv (mean ranks with their intervals) and
judgement_designs.csv (the committees that were tried).
"""

from __future__ import annotations

import argparse
import functools
import math
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import sklearn
from scipy import stats
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.judgement_detectors import DESIGNS, contenders, joined_scores
from benchmarks.judgement_sets import real_sets, synthetic_names, synthetic_set
from mebnb.learning.scores import Evaluation, critical_difference, rounded_scores

__all__ = ["design_table", "judged", "main", "parts", "rank_table", "set_table"]

RESULTS = Path(__file__).with_name("results")
ROWS = Path(tempfile.gettempdir()) / "mebnb_judgement_rows.csv"
ALPHA = 0.05
SPLITS = {"real": 30, "synthetic": 30}
# Committees that were tried cost five fits a member: the first splits are enough.
DESIGN_SPLITS = 5
# A hundred trees cost as much as nearly all the others together.
FEWER_SPLITS = {"isolation forest": 10, "extended forest": 10}
TRAIN, TEST = 400, 300
REFERENCE = "committee"
MEASURES = ("auroc", "average_precision", "false_alarms", "recall", "seconds")
SORTS = ("real", "synthetic")
DRAWS = 2000


def parts(nominal, anomalies, seed):
    """Rows to fit on, rows for the threshold, and rows to judge by, standardised.

    Parameters
    ----------
    nominal, anomalies : ndarray
    seed : int

    Returns
    -------
    fit, calibration, test : ndarray
    is_anomaly : ndarray of bool
    """
    rng = np.random.default_rng([22, seed])
    nominal = nominal[rng.permutation(len(nominal))]
    half = len(nominal) // 2
    train, test = nominal[: min(half, TRAIN)], nominal[half:][:TEST]
    found = anomalies[rng.permutation(len(anomalies))[:TEST]]
    middle = len(train) // 2
    scaler = StandardScaler().fit(train[:middle])
    sides = train[:middle], train[middle:], np.vstack([test, found])
    is_anomaly = np.arange(len(sides[2])) >= len(test)
    return *(scaler.transform(side) for side in sides), is_anomaly


def judged(calibration, scores, is_anomaly):
    """The measures of one detector on one split, but for its seconds.

    Parameters
    ----------
    calibration, scores : ndarray
        Of held-out nominal rows and of the test rows: the lower, the more abnormal.
    is_anomaly : ndarray of bool

    Returns
    -------
    dict of str -> float
    """
    calibration, scores = rounded_scores(calibration), rounded_scores(scores)
    abnormality = np.unique(-scores, return_inverse=True)[1]
    below = np.searchsorted(np.sort(calibration), scores, side="right")
    alarm = (1 + below) / (1 + len(calibration)) <= ALPHA
    return {
        "auroc": roc_auc_score(is_anomaly, abnormality),
        "average_precision": average_precision_score(is_anomaly, abnormality),
        "false_alarms": alarm[~is_anomaly].mean(),
        "recall": alarm[is_anomaly].mean(),
    }


def wanted(seed):
    """The detectors and designs that are judged on a split."""
    known = [d for d in contenders() if seed < FEWER_SPLITS.get(d, math.inf)]
    return known + (list(DESIGNS) if seed < DESIGN_SPLITS else [])


def rows_of(name, sort, sides, seed, names):
    """One row for each of these detectors and designs, on one split of one set."""
    fit, calibration, test, is_anomaly = parts(*sides, seed)
    both = np.vstack([calibration, test])
    size = len(calibration)
    known = {
        "set": name,
        "sort": sort,
        "split": seed,
        "train": len(fit) + size,
        "test_nominal": int((~is_anomaly).sum()),
        "test_anomalies": int(is_anomaly.sum()),
        "columns": fit.shape[1],
    }
    rows = []
    detectors = contenders()
    for detector in (d for d in names if d in detectors):
        began = time.perf_counter()
        scores = detectors[detector].fit(fit).score_samples(both)
        seconds = time.perf_counter() - began
        measures = judged(scores[:size], scores[size:], is_anomaly)
        rows.append(known | {"detector": detector, **measures, "seconds": seconds})
    designs = [d for d in names if d in DESIGNS]
    for design, scores in joined_scores(fit, both, designs).items():
        measures = judged(scores[:size], scores[size:], is_anomaly)
        rows.append(known | {"detector": design, **measures, "seconds": math.nan})
    return pd.DataFrame(rows)


def sources():
    """Every set by its name: its sort, and its sides as a function of the split."""
    sets = {name: ("real", lambda seed, s=s: s) for name, s in real_sets().items()}
    for pair in synthetic_names():
        draw = functools.partial(synthetic_set, *pair)
        sets[", ".join(pair)] = ("synthetic", draw)
    return sets


def run(path, splits, sets):
    """Judge what is not yet in the file, split by split.

    Parameters
    ----------
    path : Path
    splits : dict of str -> int
        For each sort of sets.
    sets : dict
        From `sources`.
    """
    done = set()
    if path.exists():
        kept = pd.read_csv(path, usecols=["set", "split", "detector"])
        done = set(kept[["set", "split", "detector"]].itertuples(index=False))
    began = time.perf_counter()
    for seed in range(max(splits.values())):
        for name, (sort, sides) in sets.items():
            names = [d for d in wanted(seed) if (name, seed, d) not in done]
            if seed >= splits[sort] or not names:
                continue
            rows = rows_of(name, sort, sides(seed), seed, names)
            rows.to_csv(path, mode="a", header=not path.exists(), index=False)
        spent = time.perf_counter() - began
        print(f"split {seed}: {spent:.0f} s", flush=True)


# --- what the rows say -------------------------------------------------------------
def set_table(rows):
    """Means for each set and detector, and the gain on the committee with its interval.

    Parameters
    ----------
    rows : pandas.DataFrame
        As the run writes them.

    Returns
    -------
    pandas.DataFrame
    """
    rows = rows[~rows["detector"].isin(DESIGNS)]
    keys = ["sort", "set", "detector"]
    sizes = ["train", "test_nominal", "test_anomalies", "columns"]
    groups = rows.groupby(keys, sort=False)
    table = groups[[*sizes, *MEASURES]].mean()
    table["auroc_sd"] = groups["auroc"].std()
    gains = {}
    for (sort, name), part in rows.groupby(["sort", "set"], sort=False):
        frame = part.rename(columns={"split": "seed"})
        found = Evaluation(frame).differences(REFERENCE, "auroc")
        for detector, gain in found.iterrows():
            gains[sort, name, detector] = gain[["mean", "low", "high"]]
    gains = pd.DataFrame(gains).T.add_prefix("gain_")
    table = table.join(gains.rename_axis(keys))
    table["splits"] = groups.size()
    return table.reset_index()


def mean_rank(table):
    """Mean rank of each column over the sets, and its interval by drawing sets anew."""
    ranks = table.rank(axis=1, ascending=False)
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(ranks), size=(DRAWS, len(ranks)))
    means = ranks.to_numpy()[drawn].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975], axis=0)
    found = {"mean_rank": ranks.mean(), "low": low, "high": high}
    return pd.DataFrame(found, index=table.columns)


def rank_table(means):
    """Mean ranks by two measures, real and synthetic sets apart.

    Parameters
    ----------
    means : pandas.DataFrame
        From `set_table`.

    Returns
    -------
    pandas.DataFrame
        A row for each sort of sets, measure and detector: mean rank with interval, the
        p-value of Friedman, the critical difference; for AUROC how many sets the
        detector wins against the committee, loses, and leaves open.
    """
    tables = []
    for sort in SORTS:
        part = means[means["sort"] == sort]
        for measure in MEASURES[:2]:
            wide = part.pivot(index="set", columns="detector", values=measure)
            found = mean_rank(wide)
            found["mean"] = wide.mean()
            found["friedman_p"] = stats.friedmanchisquare(*wide.to_numpy().T).pvalue
            found["critical_difference"] = critical_difference(*wide.shape[::-1])
            found["sets"] = len(wide)
            if measure == "auroc":
                gains = part.groupby("detector")
                found["better"] = gains["gain_low"].apply(lambda v: (v > 0).sum())
                found["worse"] = gains["gain_high"].apply(lambda v: (v < 0).sum())
            found = found.rename_axis("detector").reset_index()
            found.insert(0, "measure", measure)
            found.insert(0, "sort", sort)
            tables.append(found.sort_values("mean_rank", kind="stable"))
    return pd.concat(tables)


def design_table(rows):
    """Each committee that was tried, ranked among the other detectors in its turn.

    Parameters
    ----------
    rows : pandas.DataFrame

    Returns
    -------
    pandas.DataFrame
        A row for each sort of sets and design: its mean rank with interval where it
        takes the committee's place, the best mean rank of the others and whose it is,
        the mean AUROC, recall and false alarms.
    """
    rows = rows[rows["split"] < DESIGN_SPLITS]
    means = rows.groupby(["sort", "set", "detector"])[list(MEASURES[:4])].mean()
    table = []
    for sort in SORTS:
        part = means.loc[sort]
        wide = part["auroc"].unstack()
        others = wide.drop(columns=[REFERENCE, *DESIGNS])
        for design in (REFERENCE, *DESIGNS):
            ranks = mean_rank(others.assign(**{design: wide[design]}))
            best = ranks["mean_rank"].drop(design)
            own = part.xs(design, level="detector").mean()
            place = {"sort": sort, "design": design, **ranks.loc[design], **own}
            place |= {"best_other": best.idxmin(), "rank_of_best_other": best.min()}
            table.append(place)
    return pd.DataFrame(table)


def summarise(rows, folder):
    """Write the three tables of a run."""
    means = set_table(rows)
    tables = {"sets": means, "ranks": rank_table(means), "designs": design_table(rows)}
    for name, table in tables.items():
        path = folder / f"judgement_{name}.csv"
        table.to_csv(path, index=False, float_format="%.5g", lineterminator="\n")
    for name in ("ranks", "designs"):
        print(tables[name].to_string(index=False, float_format="%.3f".__mod__))


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.judgement",
        description="Detectors judged on real sets and laws with known truth.",
    )
    parser.add_argument("--splits", type=int, help="at most so many of each set")
    parser.add_argument("--rows", type=Path, default=ROWS, help="what is done so far")
    parser.add_argument(
        "--out", type=Path, default=RESULTS, metavar="FOLDER", help="for the CSV files"
    )
    options = parser.parse_args(arguments)
    most = max(SPLITS.values()) if options.splits is None else options.splits
    if most < 2:
        parser.error(f"--splits must be at least 2, found {most}")
    splits = {sort: min(most, count) for sort, count in SPLITS.items()}
    options.out.mkdir(parents=True, exist_ok=True)
    # Every array is checked where it is made; a hundred thousand times is enough.
    quick = sklearn.config_context(assume_finite=True, skip_parameter_validation=True)
    with threadpool_limits(1), warnings.catch_warnings(), quick:
        warnings.simplefilter("ignore")
        run(options.rows, splits, sources())
    rows = pd.read_csv(options.rows)
    summarise(rows[rows["split"] < rows["sort"].map(splits)], options.out)


if __name__ == "__main__":
    main()
