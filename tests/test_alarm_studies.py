"""What notebook 20 shows: the law of coverage, discoveries, and the kept tables."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mebnb import LocalBallDetector, load_dataset, plots
from mebnb.experiments import alarms as study
from mebnb.experiments.measured import measured


def test_divisions_follow_the_law():
    scores = np.random.default_rng(0).standard_normal(99 + 60)
    counts = study.coverage(scores, 99, 0.05, 4000, seed=1)
    law = study.false_alarm_law(99, 60, 0.05)
    assert law.mean() == pytest.approx(60 * 5 / 100)
    assert counts.mean() == pytest.approx(law.mean(), abs=4 * law.std() / 4000**0.5)
    shares = np.bincount(counts, minlength=8)[:8] / 4000
    assert shares == pytest.approx(law.pmf(np.arange(8)), abs=0.03)


def test_repeated_scores_ring_less_often():
    scores = np.repeat(np.arange(40.0), 4)
    counts = study.coverage(scores, 80, 0.05, 500, seed=0)
    assert counts.mean() < study.false_alarm_law(80, 80, 0.05).mean()


def test_so_few_rows_can_raise_no_alarm():
    law = study.false_alarm_law(18, 50, 0.05)
    assert law.pmf(0) == 1.0
    assert (study.coverage(np.arange(30.0), 18, 0.05, 50, seed=0) == 0).all()


def test_one_row_judged_is_an_alarm_with_probability_alpha():
    law = study.false_alarm_law(19, 1, 0.05)
    assert law.pmf(1) == pytest.approx(0.05)
    assert study.false_alarm_law(39, 1, 0.05).pmf(1) == pytest.approx(2 / 40)


def test_discoveries_are_counted_by_hand():
    data = load_dataset("breast_cancer")
    table = study.discovery_table(data, LocalBallDetector(), 0.1, [3])
    split = study.raw_split(data, 3)
    alarms = study.alarms_on(split, LocalBallDetector(), 0.1, 3)
    called = alarms.predict(split.test) == -1
    first = table.loc["p at most 0.1"]
    assert first["calls"] == called.sum()
    assert first["nominal among them"] == (called & ~split.test_is_anomaly).sum()
    assert first["anomalies found"] == called[split.test_is_anomaly].mean()
    p_values = alarms.p_values(split.test)
    strict = table.loc["p at most 0.1 over the rows"]
    assert strict["calls"] == (p_values <= 0.1 / len(p_values)).sum() < called.sum()
    found = alarms.discoveries(split.test, 0.1)
    last = table.loc["Benjamini-Hochberg at 0.1"]
    false = (found & ~split.test_is_anomaly).sum()
    assert last["calls"] == found.sum()
    assert last["share"] == pytest.approx(false / max(1, found.sum()))


def test_the_scaler_is_the_detectors():
    split = study.raw_split(load_dataset("breast_cancer"), 0)
    alarms = study.alarms_on(split, LocalBallDetector(), 0.1, 0)
    fitted = np.delete(split.train, alarms.calibration_rows_, axis=0)
    assert alarms.detectors_[0][0].mean_ == pytest.approx(fitted.mean(axis=0))


def by_set():
    """Two real sets and two laws, three detectors."""
    auroc = {
        "a": {"LOF": 0.90, "committee": 0.895, "hard ball": 0.5},
        "b": {"LOF": 0.70, "committee": 0.80, "hard ball": 0.6},
        "ring, local": {"LOF": 0.6, "committee": 0.7, "hard ball": 0.9},
        "one cluster, global": {"LOF": 0.6, "committee": 0.7, "hard ball": 0.8},
    }
    rows = [
        {
            "sort": "synthetic" if "," in name else "real",
            "set": name,
            "detector": detector,
            "auroc": value,
            "recall": 1 - value,
            "columns": 5 if name == "a" else 20,
            "train": 100 if name == "a" else 300,
            "false_alarms": 0.05,
            "seconds": 0.01,
        }
        for name, values in auroc.items()
        for detector, value in values.items()
    ]
    return pd.DataFrame(rows)


def test_advice_is_what_the_means_decide():
    advice = study.advice_table(by_set())
    few = advice.loc["real, at most 9 columns"]
    assert few["sets"] == "1" and few["best by AUROC"] == "LOF 0.900"
    assert few["within 0.01"] == "committee" and few["best ball"] == "committee 0.895"
    assert few["finds most at alpha"] == "hard ball 0.500"
    assert advice.loc["real sets", "best by AUROC"] == "committee 0.848"
    assert advice.loc["nominal rows: ring", "best by AUROC"] == "hard ball 0.900"
    assert advice.loc["anomalies: global", "best by AUROC"] == "hard ball 0.800"


def ranks():
    """Three detectors by two measures; the critical difference parts the last."""
    rows = [
        ("LOF", 1.2, 0.5),
        ("committee", 1.9, 0.6),
        ("hard ball", 2.9, 0.9),
    ]
    common = {"sort": "real", "friedman_p": 0.01, "critical_difference": 0.9}
    common |= {"sets": 20, "better": 1.0, "worse": 2.0, "mean": 0.8}
    return pd.DataFrame(
        [
            common
            | {"measure": measure, "detector": name, "mean_rank": rank}
            | {"low": rank - reach, "high": rank + reach}
            for measure in ("auroc", "average_precision")
            for name, rank, reach in rows[:: 1 if measure == "auroc" else -1]
        ]
    )


def test_ranks_are_told_with_their_interval_whoever_wins():
    places, difference = study.ranks_of(ranks(), "real")
    assert list(places.index) == ["LOF", "committee", "hard ball"]
    assert difference == 0.9
    told = " ".join(study.outcomes_told(ranks(), "real"))
    assert "mean ranks are more than chance" in told
    assert "best mean rank is 1.20, of LOF" in told
    assert "committee has 1.90 (95 % interval 1.30 to 2.50), place 2 of 3" in told
    assert "difference of 0.90: none. Worse by more than it: hard ball." in told


def test_outcomes_stand_in_the_order_of_the_ranks():
    table = study.outcome_table(ranks(), by_set(), "real")
    assert list(table.index) == ["LOF", "committee", "hard ball"]
    assert table.loc["committee", "mean rank"] == "1.90 (1.3 to 2.5)"
    assert table.loc["LOF", "recall"] == "0.200" and table.loc["LOF", "ms"] == "10"


def test_designs_stand_side_by_side():
    row = {"design": "x", "mean_rank": 2.0, "low": 1.0, "high": 3.0, "recall": 0.5}
    row |= {"rank_of_best_other": 1.5}
    designs = pd.DataFrame([row | {"sort": "real"}, row | {"sort": "synthetic"}])
    table = study.design_table(designs)
    assert table.loc["x", ("synthetic", "mean rank")] == "2.00 (1.0 to 3.0)"
    assert table.loc["x", ("real", "best other")] == "1.50"


def test_a_span_of_one_count_is_that_count():
    assert study.span(pd.Series([7.0, 3.0])) == "3 to 7"
    assert study.span(pd.Series([350.0, 350.0])) == "350"


def test_figures_draw_every_row_and_the_law():
    fig = plots.places_on_a_line([1.0, 2.0], {"a": 1.5, "b": 3.0})
    assert len(fig.axes[0].texts) == 2
    assert fig.axes[0].get_xlim()[1] > 3.0
    law = stats.betabinom(20, 1, 19)
    fig = plots.counts_beside_law(np.array([0, 1, 1, 3]), law, 20, 0.05)
    bars = [bar.get_height() for bar in fig.axes[0].patches]
    assert bars == [0.25, 0.5, 0.0, 0.25, 0.0]
    assert fig.axes[0].lines[0].get_ydata() == pytest.approx(law.pmf(np.arange(5)))


def test_the_kept_tables_are_found():
    assert set(measured("judgement_sets")["sort"]) == {"real", "synthetic"}
    assert "committee" in set(measured("judgement_ranks")["detector"])
    assert len(measured("judgement_designs")) > 10
