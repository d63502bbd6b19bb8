"""The judgement of detectors: its protocol, its laws, and what its tables say."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmarks import judgement, judgement_detectors, judgement_sets


def test_parts_share_no_row_and_scale_by_the_rows_of_the_fit():
    nominal = np.arange(2000.0)[:, None]
    anomalies = np.arange(5000.0, 5500.0)[:, None]
    fit, held, test, is_anomaly = judgement.parts(nominal, anomalies, 3)
    assert (len(fit), len(held), is_anomaly.sum()) == (200, 200, 300)
    assert len(np.unique(np.vstack([fit, held, test]))) == 200 + 200 + 600
    assert fit.mean() == pytest.approx(0) and fit.std() == pytest.approx(1)
    assert abs(held.std() - 1) > 1e-6
    assert test[is_anomaly].min() > test[~is_anomaly].max()


def test_measures_of_a_handful_of_rows():
    held = np.arange(19.0)
    scores = np.array([-1.0, 0.0, 5.0, -2.0, 7.0])
    is_anomaly = np.array([False, False, False, True, True])
    found = judgement.judged(held, scores, is_anomaly)
    # Only what scores below all nineteen has a p-value of 1/20.
    assert found["false_alarms"] == pytest.approx(1 / 3)
    assert found["recall"] == 0.5
    assert found["auroc"] == 0.5
    assert found["average_precision"] == pytest.approx((1 + 2 / 5) / 2)


def test_tails_count_training_rows_alone():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    model = judgement_detectors.Ecod().fit(X)
    left = -np.log([3 / 5, 3 / 5])
    new = np.array([[1.5], [1.0]])
    tails = model._tails(new)
    assert tails[0].ravel() == pytest.approx(left)
    assert tails[1].ravel() == pytest.approx(-np.log([3 / 5, 4 / 5]))
    assert tails[2].ravel() == pytest.approx(tails[1].ravel())
    mirrored = judgement_detectors.Ecod().fit(-X - X**2)._tails(-new)
    assert (mirrored[2] == mirrored[0]).all()
    one_by_one = [model.score_samples(row[None, :])[0] for row in new]
    assert model.score_samples(new) == pytest.approx(one_by_one)


def test_extended_forest_cuts_in_any_direction():
    rng = np.random.default_rng(0)
    sides = [
        rng.standard_normal((100, 2)) + side for side in ([6.0, 6.0], [-6.0, -6.0])
    ]
    model = judgement_detectors.ExtendedForest().fit(np.vstack(sides))
    # A corner of the box is far from both clusters, and so is the middle between them.
    new = np.array([[6.0, 6.0], [-6.0, -6.0], [6.0, -6.0], [0.0, 0.0]])
    scores = model.score_samples(new)
    assert scores[:2].min() > scores[2:].max()
    one_by_one = [model.score_samples(row[None, :])[0] for row in new]
    assert (scores == one_by_one).all()


def test_a_leaf_counts_as_the_tree_that_it_stands_for():
    depth = judgement_detectors._mean_depth
    assert [depth(count) for count in (0, 1, 2)] == [0, 0, 1]
    assert depth(256) == pytest.approx(
        2 * sum(1 / k for k in range(1, 256)) - 2 * 255 / 256, rel=1e-3
    )
    tree = judgement_detectors._tree(np.zeros((8, 2)), 3, np.random.default_rng(0))
    depths = np.zeros(1)
    judgement_detectors._descend(tree, np.zeros((1, 2)), np.array([0]), 0, depths)
    assert depths[0] == pytest.approx(3 + depth(8))


def test_designs_speak_three_languages_and_agree_where_rows_are_many():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((200, 3)), 2 * rng.standard_normal((50, 3))
    member = judgement_detectors.pool()["local"]
    told = judgement_detectors.voices(member, X, Y)
    assert told["counted"].min() >= np.log(1 / 201)
    inside = told["exponential"] >= np.log(0.1)
    assert inside.any() and not inside.all()
    for language in ("exponential", "Pareto"):
        assert (told[language] <= 0).all()
        # Beyond the last held-out row the tails still tell rows apart.
        assert told[language].min() < np.log(1 / 201)
        assert stats.spearmanr(told[language], told["counted"])[0] > 0.95
    scores = judgement_detectors.joined_scores(X, Y)
    assert set(scores) == set(judgement_detectors.DESIGNS)
    assert all(np.isfinite(values).all() for values in scores.values())


@pytest.mark.parametrize("law, shift", judgement_sets.synthetic_names())
def test_laws_are_what_they_are_called(law, shift):
    nominal, anomalies = judgement_sets.synthetic_set(law, shift, 0)
    again, _ = judgement_sets.synthetic_set(law, shift, 0)
    assert nominal.shape == (700, 6) and anomalies.shape == (100, 6)
    assert (nominal == again).all()
    if shift == "dependency":
        # Each value is a nominal row's, no row is.
        assert all(np.isin(anomalies[:, j], nominal[:, j]).all() for j in range(6))
        assert not (anomalies[:, None] == nominal).all(axis=2).any()
    if shift == "single column":
        same = (anomalies[:, None] == nominal).sum(axis=2).max(axis=1)
        assert (same == 5).all()
    if shift == "clustered":
        assert anomalies.std(axis=0).max() < 0.2


def small_rows(splits=6):
    """Rows as of a run: "good" always leads, "bad" trails, others are noise."""
    rng = np.random.default_rng(0)
    level = {"good": 0.9, "committee": 0.7, "bad": 0.5}
    level |= dict.fromkeys(judgement_detectors.DESIGNS, 0.6)
    rows = [
        {
            "set": f"{sort} {number}",
            "sort": sort,
            "split": split,
            "train": 100,
            "test_nominal": 50,
            "test_anomalies": 20,
            "columns": 4,
            "detector": name,
            "auroc": mean + 0.01 * rng.standard_normal(),
            "average_precision": mean,
            "false_alarms": 0.05,
            "recall": mean,
            "seconds": 0.1,
        }
        for sort in judgement.SORTS
        for number in range(8)
        for split in range(splits)
        for name, mean in level.items()
    ]
    return pd.DataFrame(rows)


def test_tables_tell_who_wins_and_who_loses(tmp_path):
    rows = small_rows()
    means = judgement.set_table(rows)
    assert len(means) == 2 * 8 * 3
    good = means[means["detector"] == "good"]
    assert (good["gain_low"] > 0).all() and good["gain_mean"].mean() == pytest.approx(
        0.2, abs=0.01
    )
    ranks = judgement.rank_table(means)
    real = ranks[(ranks["sort"] == "real") & (ranks["measure"] == "auroc")]
    assert list(real["detector"]) == ["good", "committee", "bad"]
    assert list(real["mean_rank"]) == [1, 2, 3]
    assert list(real["better"]) == [8, 0, 0] and list(real["worse"]) == [0, 0, 8]
    designs = judgement.design_table(rows)
    # Between the good and the bad one each takes the committee's place: second.
    assert (designs["mean_rank"] == 2).all()
    assert (designs["best_other"] == "good").all()


def test_a_draw_of_sets_moves_a_mean_rank():
    table = pd.DataFrame({"a": [1.0, 1.0, 0.0, 1.0], "b": [0.0, 0.0, 1.0, 0.0]})
    found = judgement.mean_rank(table)
    assert found.loc["a", "mean_rank"] == 1.25
    assert found.loc["a", "low"] == 1.0 and found.loc["a", "high"] == 1.75


def test_the_critical_difference_is_the_books():
    # Demsar, table 5: q = 2.569 for four methods.
    assert judgement.critical_difference(4, 14) == pytest.approx(
        2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=2e-3
    )


@pytest.fixture(scope="module")
def kept():
    names = ("sets", "ranks", "designs")
    paths = [judgement.RESULTS / f"judgement_{name}.csv" for name in names]
    assert all(path.stat().st_size < 500_000 for path in paths)
    return dict(zip(names, map(pd.read_csv, paths)))


def test_the_committed_run_has_thirty_sets_of_thirty_splits(kept):
    means = kept["sets"]
    real = means[means["sort"] == "real"]
    assert real["set"].nunique() >= 30
    for sort, splits in judgement.SPLITS.items():
        part = means[means["sort"] == sort]
        least = part["detector"].map(judgement.FEWER_SPLITS).fillna(splits)
        assert (part["splits"] >= np.minimum(least, splits)).all()
    assert set(means["detector"]) == set(judgement_detectors.contenders())
    assert means["auroc"].between(0, 1).all()


def test_conformal_false_alarms_keep_their_promise_in_the_mean(kept):
    for _, part in kept["sets"].groupby(["sort", "detector"]):
        assert part["false_alarms"].mean() <= judgement.ALPHA + 0.01


def test_the_committed_designs_are_those_of_the_file(kept):
    named = ["committee", *judgement_detectors.DESIGNS]
    for _, part in kept["designs"].groupby("sort"):
        assert list(part["design"]) == named
