"""What a run says, beside what was published.

The tables take the frame of `mebnb.experiments.rare_classes.run`. A precision without a prediction
counts as 0, as the paper's tables have it; spreads are sample standard deviations over
the repeats.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from scipy import stats

from mebnb.datasets import load_dataset
from mebnb.datasets.cards import RULES
from mebnb.experiments.rare_classes.running import (
    SETS,
    examples,
    repeats_training,
    split,
    unseen,
)
from mebnb.learning import Evaluation
from mebnb.learning.rare_classes import (
    ABLATION,
    C5_TREES,
    METHODS,
    PAPER,
    READINGS,
    RIVALS,
    STANDARDISED,
)
from mebnb.learning.scores import critical_difference
from mebnb.published.compare import (
    DIFFERS,
    EQUAL,
    SPREAD,
    Comparison,
    compare,
    published_table,
)

__all__ = [
    "SCORES",
    "ablation_table",
    "beside_published",
    "changed_table",
    "claims",
    "fewer_panels",
    "friedman_table",
    "friedman_test",
    "gain_table",
    "left_out",
    "mean_ranks",
    "mean_table",
    "method_table",
    "moved_table",
    "moved_verdicts",
    "of_score",
    "rank_table",
    "repeat_table",
    "rival_table",
    "rule_table",
    "same_counts",
    "scored",
    "spread_table",
    "standardised_table",
    "table1",
    "table3",
    "tie_table",
    "verdict_table",
]

SCORES = ("precision", "recall", "f_measure")
PUBLISHED_REPEATS = 10

# Splits of one file share their rows. What that adds to the variance of a mean, in
# variances of a split: tested rows / training rows (Nadeau and Bengio 2003).
OVERLAP = 1 / 4

ONE_SPLIT = "within reach of one split drawn once"
BEYOND = "beyond the reach of one split"


def scored(frame):
    """A run with its scores.

    Parameters
    ----------
    frame : pandas.DataFrame
        From `run` or `stored_run`.

    Returns
    -------
    pandas.DataFrame
        With precision, recall and f_measure, each 0 where nothing was found.
    """
    called, there = frame["tp"] + frame["fp"], frame["tp"] + frame["fn"]
    return frame.assign(
        precision=(frame["tp"] / called).where(called > 0, 0.0),
        recall=frame["tp"] / there,
        f_measure=2 * frame["tp"] / (called + there),
    )


def _means(frame, experiment="fresh split", scores=SCORES):
    """Mean, sd and repeats: index dataset, method, score."""
    kept = scored(frame[frame["experiment"] == experiment])
    kept = kept.rename_axis(columns="score").set_index(["dataset", "method"])
    grouped = kept[list(scores)].stack().groupby(["dataset", "method", "score"])
    return grouped.agg(mean="mean", sd="std", repeats="size")


def _printed():
    """Table 3 as numbers: index dataset, method, score; columns mean, sd."""
    table = published_table("me2_table3_scores").rename(
        columns={"algorithm": "method", "std": "sd"}
    )
    table = table.set_index(["dataset", "method", "score"])
    return table.astype(float)


def _eight(trees):
    """The paper's names -> the methods that stand for them."""
    if trees == "scikit-learn":
        return {name: name for name in PAPER}
    c50 = {name.removesuffix(" (C5.0)"): name for name in C5_TREES}
    return {name: c50.get(name, name) for name in PAPER}


def _sets_of(frame):
    return [name for name in SETS if name in set(frame["dataset"])]


# --- Tables 1 to 3 -----------------------------------------------------------------


def table1():
    """Table 1 computed from the data, beside what was printed.

    Returns
    -------
    Comparison
    """
    rows, cut = [], {}
    printed = published_table("me2_table1_datasets").set_index("dataset")
    for name, ours in SETS.items():
        data = load_dataset(ours)
        positives = int(data.is_anomaly.sum())
        count = len(data.labels)
        row = {
            "examples": count,
            "features": data.features.shape[1],
            "imbalance_ratio": (count - positives) / positives,
            "positive_rate_pct": 100.0 * positives / count,
        }
        rows.append({"dataset": name} | row)
        for column, value in row.items():
            text = printed.loc[name, column]
            unit = 10.0 ** len(text.partition(".")[2])
            if math.floor(value * unit) / unit == float(text):
                cut[name, column] = "cut off after the last printed digit"
    return compare("me2_table1_datasets", pd.DataFrame(rows), "dataset", reasons=cut)


def left_out():
    """Rows of the UCI file that a set of the paper does without, for its count to hold.

    Returns
    -------
    pandas.DataFrame of str
        Indexed by the set, those with such rows: row numbers, counted from 0, and the
        rings of these abalones.
    """
    rows = {}
    for name, ours in SETS.items():
        rule = RULES[ours]
        if rule.without:
            labels = load_dataset(rule.parent).labels
            rings = [str(labels.iloc[row]) for row in rule.without]
            rows[name] = {
                "rows left out": ", ".join(map(str, rule.without)),
                "rings": ", ".join(rings),
            }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("set")


def method_table():
    """Table 2: what the paper used, what stands for it here, and how the two differ.

    Returns
    -------
    pandas.DataFrame of str
        Indexed by the method.
    """
    printed = published_table("me2_table2_hyperparameters").set_index("algorithm")
    rows = {
        name: {
            "paper": f"{printed.loc[name, 'r_package']}: "
            f"{printed.loc[name, 'hyperparameters']}",
            "here": METHODS[name].here,
            "difference": METHODS[name].differs,
        }
        for name in PAPER
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")


def table3(frame, trees="scikit-learn", overlap=OVERLAP):
    """Table 3 beside a run, cell by cell.

    The standard error of a difference takes both spreads, over ten repeats there and
    those of the run here, each with the overlap of the splits, as `gain_table` does.

    Parameters
    ----------
    frame : pandas.DataFrame
    trees : {"scikit-learn", "C5.0"}
        "C5.0" compares the four rows of decision trees alone, with those of c50py.
    overlap : float
        What shared rows add to the variance of a mean, in variances of a split; 0 for
        the question whether the same number comes out of the same file.

    Returns
    -------
    Comparison
        Keys algorithm and score, one column a set.
    """
    methods = _eight(trees)
    if trees == "C5.0":
        methods = {name: ours for name, ours in methods.items() if ours in C5_TREES}
    sets = _sets_of(frame)
    printed = published_table("me2_table3_scores")
    printed = printed[printed["algorithm"].isin(methods)]
    printed = printed[printed["dataset"].isin(sets)]
    wide = printed.pivot(
        index=["algorithm", "score"], columns="dataset", values="mean"
    ).loc[[(method, score) for method in methods for score in SCORES], sets]
    # A lone 0 stands where others have two decimals: it is no 0.3 rounded.
    wide = wide.replace("0", "0.00").reset_index().rename_axis(columns=None)
    wide.attrs["name"] = "me2_table3_scores"
    numbers, found = _printed(), _means(frame)
    rows, spread, reasons = [], {}, {}
    for algorithm, ours in methods.items():
        for score in SCORES:
            row = {"algorithm": algorithm, "score": score}
            for name in sets:
                there, here = numbers.loc[name, algorithm, score], None
                if (name, ours, score) in found.index:
                    here = found.loc[name, ours, score]
                    row[name] = here["mean"]
                    cell = algorithm, score, name
                    error = _standard_error(there, here, overlap)
                    spread[cell] = error, int(here["repeats"])
                    reasons[cell] = _reason(there, here, METHODS[ours], overlap)
            rows.append(row)
    reproduced = pd.DataFrame(rows)
    return compare(
        wide, reproduced, ["algorithm", "score"], spread=spread, reasons=reasons
    )


def rule_table(frame):
    """Verdicts of Table 3 by what counts as the error of a mean over splits.

    Parameters
    ----------
    frame : pandas.DataFrame

    Returns
    -------
    pandas.DataFrame of int
        Indexed by the error: with the overlap of the splits, the rule of this notebook,
        and as if splits were independent. Columns: the verdicts.
    """
    errors = {"with the overlap": OVERLAP, "as if independent": 0.0}
    rows = {
        name: table3(frame, overlap=share).counts() for name, share in errors.items()
    }
    table = pd.DataFrame.from_dict(rows, orient="index").fillna(0).astype(int)
    return table.rename_axis(index="error of a mean", columns=None)


def of_score(comparison, score):
    """The cells of one score, without their remarks.

    Parameters
    ----------
    comparison : Comparison
        From `table3`.
    score : str
        From `SCORES`.

    Returns
    -------
    Comparison
        Key algorithm, one column a set.
    """
    cells = comparison.frame[comparison.frame["score"] == score]
    cells = cells.drop(columns="score").assign(remark="")
    name = f"Table 3: {score.replace('_', '-').capitalize()}"
    return Comparison(name, ("algorithm",), cells.reset_index(drop=True))


def _standard_error(there, here, overlap):
    return math.sqrt(
        there["sd"] ** 2 * (1 / PUBLISHED_REPEATS + overlap)
        + here["sd"] ** 2 * (1 / here["repeats"] + overlap)
    )


def _reason(there, here, method, overlap):
    """Whether one split of ours may have the printed mean; else the other methods."""
    variances = (1 + overlap) + (1 / here["repeats"] + overlap)
    single = 2.0 * here["sd"] * math.sqrt(variances)
    if abs(there["mean"] - here["mean"]) <= single:
        return ONE_SPLIT
    return f"{BEYOND}: {method.differs}"


def verdict_table(comparison):
    """Number of cells for each method and verdict.

    Parameters
    ----------
    comparison : Comparison
        From `table3`.

    Returns
    -------
    pandas.DataFrame of int
        Cells that differ are told apart by whether one split alone would explain them.
    """
    cells = comparison.frame
    reached = cells["remark"].str.startswith(ONE_SPLIT)
    words = cells["verdict"].where(
        cells["verdict"] != DIFFERS,
        np.where(reached, f"differs, {ONE_SPLIT}", f"differs, {BEYOND}"),
    )
    columns = [EQUAL, SPREAD, f"differs, {ONE_SPLIT}", f"differs, {BEYOND}"]
    counts = pd.crosstab(cells["algorithm"], words)
    rest = [word for word in counts if word not in columns]
    counts = counts.reindex(columns=columns + rest, fill_value=0)
    counts = counts.loc[list(dict.fromkeys(cells["algorithm"]))]
    counts.loc["all"] = counts.sum()
    return counts.rename_axis(index="method", columns=None)


def mean_table(frame, methods, score="f_measure", experiment="fresh split"):
    """Mean and spread of one score.

    Parameters
    ----------
    frame : pandas.DataFrame
    methods : sequence of str
    score : str
        From `SCORES`, or "average_precision".
    experiment : str

    Returns
    -------
    pandas.DataFrame of str
        Indexed by the method, one column a set: "0.736 (0.05)".
    """
    found = _means(frame, experiment, (score,))
    table = {
        name: {
            method: _told(found.loc[name, method, score])
            for method in methods
            if (name, method, score) in found.index
        }
        for name in _sets_of(frame)
    }
    present = [m for m in methods if any(m in column for column in table.values())]
    return pd.DataFrame(table, index=present).rename_axis("method").fillna("")


def _told(row):
    sd = "" if math.isnan(row["sd"]) else f" ({row['sd']:.2f})"
    return f"{row['mean']:.3f}{sd}"


def beside_published(frame, score="f_measure", trees="scikit-learn"):
    """Published and reproduced means for a figure.

    Parameters
    ----------
    frame : pandas.DataFrame
    score : str
    trees : {"scikit-learn", "C5.0"}
        Which stand for the paper's.

    Returns
    -------
    dict of str -> pandas.DataFrame
        Set -> index: the paper's methods; columns published, published sd, run, run sd.
    """
    printed, found = _printed(), _means(frame)
    panels = {}
    for name in _sets_of(frame):
        rows = {
            method: [
                *printed.loc[name, method, score][["mean", "sd"]],
                *found.loc[name, ours, score][["mean", "sd"]],
            ]
            for method, ours in _eight(trees).items()
        }
        panels[name] = pd.DataFrame.from_dict(
            rows,
            orient="index",
            columns=["published", "published sd", "run", "run sd"],
        )
    return panels


# --- spread and order --------------------------------------------------------------


def spread_table(frame):
    """Standard deviations of the F-measure: printed, over fresh splits, on one split.

    Parameters
    ----------
    frame : pandas.DataFrame
        With both experiments.

    Returns
    -------
    pandas.DataFrame of str
        Indexed by the method; medians over the sets.
    """
    printed = _printed()["sd"].xs("f_measure", level="score")
    fresh, one = (
        _means(frame, experiment, ("f_measure",))["sd"].droplevel("score")
        for experiment in ("fresh split", "one split")
    )
    columns = {"printed": printed, "fresh splits": fresh, "one split": one}
    medians = {name: sd.groupby("method").median() for name, sd in columns.items()}
    table = pd.DataFrame(medians).loc[list(PAPER)]
    return table.map("{:.3f}".format).rename_axis("method")


def rank_table(frame):
    """Where ME2 stands among the paper's eight methods by mean F, and who is best.

    Parameters
    ----------
    frame : pandas.DataFrame

    Returns
    -------
    pandas.DataFrame
        Indexed by the set: rank and best method, published, in the run, and in the run
        with C5.0 trees.
    """
    columns = {
        "published": ("scikit-learn", "published"),
        "here": ("scikit-learn", "run"),
        "here, C5.0": ("C5.0", "run"),
    }
    rows = {name: {} for name in _sets_of(frame)}
    for label, (trees, column) in columns.items():
        for name, panel in beside_published(frame, trees=trees).items():
            rank, best = _place(panel[column])
            rows[name] |= {f"rank, {label}": rank, f"best, {label}": best}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("set")


def _place(values):
    """Rank of ME2 from the top, and who is there."""
    ranks = values.rank(ascending=False, method="min")
    return int(ranks["ME2"]), ", ".join(values.index[ranks == 1])


def gain_table(frame, methods, reference="ME2", score="f_measure"):
    """How much methods gain on a reference on the same splits.

    Mean of the differences and 95 % interval, corrected for the overlap of the splits
    as `Evaluation.differences` says.

    Parameters
    ----------
    frame : pandas.DataFrame
    methods : sequence of str
    reference : str
    score : str

    Returns
    -------
    pandas.DataFrame of str
        Indexed by the method, one column a set; a star where the interval leaves out 0.
    """
    table = {}
    for name in _sets_of(frame):
        kept = frame[
            (frame["experiment"] == "fresh split")
            & (frame["dataset"] == name)
            & frame["method"].isin([reference, *methods])
        ]
        gains = _evaluation(kept, score).differences(reference, "f1")
        table[name] = {
            method: f"{gain['mean']:+.2f} [{gain['low']:+.2f}, {gain['high']:+.2f}]"
            + (" *" if gain["low"] > 0 or gain["high"] < 0 else "")
            for method, gain in gains.iterrows()
        }
    present = [method for method in methods if method in next(iter(table.values()))]
    return pd.DataFrame(table).loc[present].rename_axis("method")


def _evaluation(frame, score):
    """One set's fits, paired; a fifth is tested, four are trained on."""
    tested = frame[["tp", "fp", "fn", "tn"]].sum(axis=1)
    return Evaluation(
        pd.DataFrame(
            {
                "detector": frame["method"],
                "seed": frame["repeat"],
                "train": 4 * tested,
                "test_nominal": tested,
                "f1": scored(frame)[score],
            }
        )
    )


def mean_ranks(frame, methods, score="f_measure"):
    """Mean rank of each method over the sets, and the critical difference.

    Two methods differ by the test of Nemenyi, at 5 %, when their mean ranks lie farther
    apart than the critical difference (Demsar, JMLR 7, 2006): the quantile of the
    studentised range over sqrt(2), times sqrt(k (k + 1) / (6 N)) for k methods and N
    sets.

    Parameters
    ----------
    frame : pandas.DataFrame
    methods : sequence of str
        At least two.
    score : str

    Returns
    -------
    ranks : pandas.Series
        Method -> mean rank, 1 the best, in that order.
    difference : float
    """
    table = _by_set(frame, methods, score)
    ranks = table.rank(axis=1, ascending=False).mean().sort_values(kind="stable")
    sets, count = table.shape
    return ranks, critical_difference(count, sets)


def friedman_test(frame, methods, score="f_measure"):
    """Whether the ranks of methods over the sets are more than chance (Friedman).

    Parameters
    ----------
    frame : pandas.DataFrame
    methods : sequence of str
        At least three.
    score : str

    Returns
    -------
    float
        p-value of no difference between the methods.
    """
    table = _by_set(frame, methods, score)
    return float(stats.friedmanchisquare(*table.to_numpy().T).pvalue)


def friedman_table(frame):
    """The test of Friedman over the paper's eight methods, and with the rivals.

    Parameters
    ----------
    frame : pandas.DataFrame
        Of the full protocol, with c50py.

    Returns
    -------
    pandas.DataFrame of str
        Indexed by the methods that are ranked: how many, sets, p-value, critical
        difference of mean ranks, rank of ME2, and the best with its rank.
    """
    eight = {
        "the paper's, scikit-learn's trees": list(PAPER),
        "the paper's, C5.0 trees": list(_eight("C5.0").values()),
    }
    groups = eight | {
        f"{name}, and the rivals": [*methods, *RIVALS]
        for name, methods in eight.items()
    }
    rows = {}
    for name, methods in groups.items():
        ranks, difference = mean_ranks(frame, methods)
        rows[name] = {
            "methods": str(len(methods)),
            "sets": str(len(_sets_of(frame))),
            "p": f"{friedman_test(frame, methods):.4f}",
            "critical difference": f"{difference:.2f}",
            "rank of ME2": f"{ranks['ME2']:.2f}",
            "best": f"{ranks.index[0]} {ranks.iloc[0]:.2f}",
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("ranked")


def _by_set(frame, methods, score):
    """Mean score on fresh splits, a row a set and a column a method."""
    means = _means(frame, scores=(score,))["mean"].droplevel("score").unstack()
    return means.loc[_sets_of(frame), list(methods)]


# --- repeated rows -----------------------------------------------------------------


def repeat_table(repeats=PUBLISHED_REPEATS):
    """How many test rows repeat a training row, feature by feature.

    Parameters
    ----------
    repeats : int
        Fresh splits, from seed 0 on.

    Returns
    -------
    pandas.DataFrame of str
        Indexed by the set: its rows and how many of them differ; means over the splits
        of the test rows, of those that repeat a training row, of their share, and of
        the positives among them.
    """
    rows = {}
    for name in SETS:
        X, y = examples(name)
        splits = [split(X, y, seed) for seed in range(repeats)]
        seen = [repeats_training(train, test) for train, test, _, _ in splits]
        positives = [np.sum(s & (part[3] == 1)) for s, part in zip(seen, splits)]
        rows[name] = {
            "rows": str(len(X)),
            "different rows": str(len(np.unique(X, axis=0))),
            "tested": str(len(seen[0])),
            "repeat a training row": f"{np.mean([s.sum() for s in seen]):.1f}",
            "share": f"{100 * np.mean(seen):.1f} %",
            "positives among them": f"{np.mean(positives):.1f}",
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("set")


def moved_table(frame):
    """What becomes of a run when test rows that repeat a training row are left out.

    Parameters
    ----------
    frame : pandas.DataFrame
        With all methods of the paper.

    Returns
    -------
    pandas.DataFrame of str
        Indexed by the set: the mean and the largest change of the mean F-measure, over
        the methods of `rival_table`; how many cells of Table 3 get another verdict; the
        rank of ME2 among the paper's eight methods and the best of these, with all rows
        and without those.
    """
    methods = [*PAPER, *C5_TREES, *RIVALS]
    f, f_without = (
        _means(run, scores=("f_measure",))["mean"].droplevel("score")
        for run in (frame, unseen(frame))
    )
    ranks, ranks_without = rank_table(frame), rank_table(unseen(frame))
    verdicts = moved_verdicts(frame)["set"]
    rows = {}
    for name in _sets_of(frame):
        change = (f_without - f)[name]
        change = change[change.index.isin(methods)]
        most = change.abs().idxmax()
        told = {
            "mean change of F": f"{change.mean():+.3f}",
            "largest change": f"{change[most]:+.3f} ({most})" if change[most] else "0",
            "verdicts that change": str((verdicts == name).sum()),
        }
        for column in ("rank, here", "best, here"):
            pair = ranks.loc[name, column], ranks_without.loc[name, column]
            told[column.removesuffix(", here")] = _moved(*pair)
        rows[name] = told
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("set")


def _moved(before, after):
    return f"{before}" if before == after else f"{before} → {after}"


def moved_verdicts(frame):
    """Cells of Table 3 that get another verdict without the repeated test rows.

    Parameters
    ----------
    frame : pandas.DataFrame
        With all methods of the paper.

    Returns
    -------
    pandas.DataFrame of str
        Indexed by the method: score, set, what was published, reproduced and verdict
        with all rows, and the two without those.
    """
    keys = ["algorithm", "score", "column"]
    cells, without = (
        table3(run).frame.set_index(keys)[["published", "reproduced", "verdict"]]
        for run in (frame, unseen(frame))
    )
    both = cells.join(without[["reproduced", "verdict"]].add_suffix(" without"))
    moved = both[both["verdict"] != both["verdict without"]].reset_index()
    moved = moved.rename(columns={"algorithm": "method", "column": "set"})
    return moved.set_index("method")


# --- readings, ablation, rivals ----------------------------------------------------


def ablation_table(frame):
    """F of ME2 taken apart and read otherwise, on the splits that all have seen.

    Parameters
    ----------
    frame : pandas.DataFrame

    Returns
    -------
    pandas.DataFrame of str
        Indexed by the variant, one column a set, and the mean of the absolute
        differences to ME2 over the sets.
    """
    kept = frame[frame["experiment"] == "fresh split"]
    variants = ["ME2", *ABLATION, *READINGS]
    kept = kept[kept["method"].isin(variants)]
    seen = kept.groupby(["dataset", "method"])["repeat"].max()
    kept = kept[kept["repeat"] <= seen.min()]
    means = scored(kept).pivot_table(
        index="method", columns="dataset", values="f_measure"
    )
    means = means.loc[[v for v in variants if v in means.index], _sets_of(kept)]
    away = (means - means.loc["ME2"]).abs().mean(axis=1)
    table = means.map("{:.3f}".format)
    table["mean change"] = away.map("{:.3f}".format)
    return table.rename_axis(index="variant", columns=None)


def changed_table(frame, whole="ME2", rule="rank rule alone"):
    """What the ellipsoid changes of the predictions of the rank rule.

    Parameters
    ----------
    frame : pandas.DataFrame
    whole, rule : str
        The method, and its rank rule alone.

    Returns
    -------
    pandas.DataFrame
        Indexed by the set, summed over the repeats: test examples that the rank rule
        calls positive, those of them that the ellipsoid takes away, and their share.
    """
    kept = frame[frame["experiment"] == "fresh split"]
    called = (
        (kept["tp"] + kept["fp"])
        .groupby([kept["dataset"], kept["method"]])
        .sum()
        .unstack()
        .loc[_sets_of(kept)]
    )
    table = pd.DataFrame(
        {
            "called by the rank rule": called[rule],
            "taken away": called[rule] - called[whole],
        }
    )
    share = table["taken away"] / table["called by the rank rule"]
    table["share"] = (100 * share).map("{:.2f} %".format)
    return table.rename_axis("set")


def standardised_table(frame):
    """What the ellipsoids do where they can act: on standardised features.

    Parameters
    ----------
    frame : pandas.DataFrame
        From `mebnb.experiments.rare_classes.stored_standardised_run`.

    Returns
    -------
    pandas.DataFrame of str
        As `changed_table`, and what the ellipsoids gain in F on the rule alone, with
        the interval of `gain_table`.
    """
    whole, rule = STANDARDISED
    table = changed_table(frame, whole, rule)
    gains = gain_table(frame, [whole], reference=rule)
    return table.assign(**{"gain in F": gains.loc[whole]})


def tie_table(sets, seed=0):
    """How many of the pairs (mu, lambda) are equally good where they are tuned.

    Parameters
    ----------
    sets : sequence of str
    seed : int
        Of split and folds.

    Returns
    -------
    pandas.DataFrame
        Indexed by the set: centers, pairs tried, mean number of pairs as good as the
        chosen one, share of the centers at which all pairs are.
    """
    rows = {}
    for name in sets:
        X, _, y, _ = split(*examples(name), seed)
        model = METHODS["ME2"].make(seed).fit(X, y)
        pairs = len(model.mus) * len(model.lams)
        rows[name] = {
            "centers": len(model.tied_),
            "pairs": pairs,
            "tied, mean": f"{model.tied_.mean():.1f}",
            "all tied at": f"{100 * np.mean(model.tied_ == pairs):.0f} %",
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("set")


def rival_table(frame):
    """F-measure and average precision of ME2, of the paper's other methods, of rivals.

    Parameters
    ----------
    frame : pandas.DataFrame

    Returns
    -------
    pandas.DataFrame of str
        Indexed by the method, one column a set: "F / average precision", and the mean
        rank over the sets by each.
    """
    methods = [*PAPER, *C5_TREES, *RIVALS]
    kept = scored(frame[frame["experiment"] == "fresh split"])
    methods = [method for method in methods if method in set(kept["method"])]
    f, ap = (
        kept.pivot_table(index="method", columns="dataset", values=score).loc[
            methods, _sets_of(kept)
        ]
        for score in ("f_measure", "average_precision")
    )
    table = f.map("{:.2f}".format) + " / " + ap.map("{:.2f}".format)
    ranks = [part.rank(ascending=False).mean(axis=1) for part in (f, ap)]
    table["mean rank"] = ranks[0].map("{:.1f}".format) + " / "
    table["mean rank"] += ranks[1].map("{:.1f}".format)
    return table.rename_axis(index="method", columns=None)


# --- Figure 3 ----------------------------------------------------------------------


def fewer_panels(frame):
    """Mean F on Yeast6 with fewer and fewer positives, grouped as in Figure 3.

    Panel B is there twice: with scikit-learn's trees and with those of c50py.

    Parameters
    ----------
    frame : pandas.DataFrame

    Returns
    -------
    dict of str -> pandas.DataFrame
        Title -> index: share of negatives in percent; one column a method.
    """
    fewer = frame[frame["experiment"] == "fewer positives"]
    whole = frame[
        (frame["experiment"] == "fresh split")
        & (frame["dataset"] == "Yeast6")
        & (frame["repeat"] <= fewer["repeat"].max())
    ]
    kept = scored(pd.concat([whole, fewer]))
    negatives = int(np.sum(examples("Yeast6")[1] == 0))
    kept["rate"] = (100.0 * negatives / (negatives + kept["positives"])).round(1)
    means = kept.pivot_table(index="rate", columns="method", values="f_measure")
    c50 = {name: name.removesuffix(" (C5.0)") for name in C5_TREES}
    groups = {
        "A": ["ME2", "LSVM", "RBFSVM", "RF"],
        "B": ["ME2", *c50.values()],
        "B, C5.0 trees": ["ME2", *c50],
        "beside the paper": ["ME2", *RIVALS],
    }
    return {title: means[names].rename(columns=c50) for title, names in groups.items()}


# --- claims ------------------------------------------------------------------------


def claims(frame):
    """What the paper says of its results, and whether the run says so too.

    The trees are C5.0, as the paper's are.

    Parameters
    ----------
    frame : pandas.DataFrame
        Of the full protocol, with c50py.

    Returns
    -------
    pandas.DataFrame
        Columns claim, here, holds.
    """
    panels = beside_published(frame, trees="C5.0")
    f = {name: panel["run"] for name, panel in panels.items()}
    recall = _means(frame, scores=("recall",))["mean"].droplevel("score")
    common, rare = list(SETS)[:2], list(SETS)[2:]
    fewer = fewer_panels(frame)
    trees_alone = fewer["B, C5.0 trees"].drop(columns="ME2")
    curves = pd.concat([fewer["A"], trees_alone], axis=1)
    changed = changed_table(frame)

    def told(values):
        return ", ".join(f"{name} {value}" for name, value in values.items())

    rank, best = ({n: _place(f[n])[k] for n in SETS} for k in (0, 1))
    ranks_common, ranks_rare = ({n: rank[n] for n in part} for part in (common, rare))
    found_dt = {n: f"{recall[n, 'DT (C5.0)']:.2f}" for n in rare}
    found_rf = {n: f"{recall[n, 'RF']:.2f}" for n in ("Abalone20", "Abalone19")}
    last = curves.iloc[-1]
    lost = int((curves.loc[98.8].drop("ME2") == 0).sum())
    share = changed["taken away"].sum() / changed["called by the rank rule"].sum()
    rows = [
        (
            "ME2 trails on the two sets with more than 10 % of positives",
            f"rank of eight: {told(ranks_common)}",
            all(r >= 6 for r in ranks_common.values()),
        ),
        (
            "a decision tree is best on these two",
            told({name: best[name] for name in common}),
            all(best[name].startswith("DT") for name in common),
        ),
        (
            "ME2 is best on the other five",
            f"rank of eight: {told(ranks_rare)}",
            all(r == 1 for r in ranks_rare.values()),
        ),
        (
            "the plain tree finds no positive on these five",
            f"recall: {told(found_dt)}",
            all(float(r) == 0 for r in found_dt.values()),
        ),
        (
            "the forest finds none below 2 % of positives",
            f"recall: {told(found_rf)}",
            all(float(r) == 0 for r in found_rf.values()),
        ),
        (
            "with fewer positives ME2 stays the top curve",
            f"best at {curves.index[-1]} %: {last.idxmax()} {last.max():.2f}, "
            f"ME2 {last['ME2']:.2f}",
            bool((curves.idxmax(axis=1) == "ME2").all()),
        ),
        (
            "at 98.8 % of negatives five of the seven others find nothing",
            f"{lost} of 7 have F = 0",
            lost >= 5,
        ),
        (
            "the ellipsoids' shape and orientation make the difference",
            f"on [0, 1] they take away {100 * share:.2f} % of the rank rule's positives",
            bool(share > 0.05),
        ),
    ]
    table = pd.DataFrame(rows, columns=["claim", "here", "holds"])
    table["holds"] = table["holds"].map({True: "yes", False: "no"})
    return table.set_index("claim")


def same_counts(frame, stored):
    """Whether the fits of a run gave the counts that are kept.

    Parameters
    ----------
    frame, stored : pandas.DataFrame

    Returns
    -------
    found : int
        Fits of the run that are kept too.
    same : int
        Those of them with the same four counts.
    """
    keys = ["experiment", "dataset", "positives", "repeat", "method"]
    counts = ["tp", "fp", "fn", "tn"]
    both = frame.merge(stored, on=keys, suffixes=("", " kept"))
    kept = both[[f"{name} kept" for name in counts]].to_numpy()
    return len(both), int((both[counts].to_numpy() == kept).all(axis=1).sum())
