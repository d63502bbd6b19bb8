"""The paper's protocol on imbalanced sets: methods, splits, the kept run, tables."""

from __future__ import annotations

import errno
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import average_precision_score
from sklearn.preprocessing import MinMaxScaler

from mebnb import ExcludingEllipsoids, load_dataset
from mebnb.experiments.rare_classes import (
    ABLATION,
    C5_TREES,
    METHODS,
    PAPER,
    READINGS,
    RIVALS,
    SETS,
    RankRule,
    Resampled,
    __main__,
    examples,
    fresh_splits,
    full_protocol,
    run,
    running,
    split,
    standardised_protocol,
    stored_run,
    stored_standardised_run,
    tables,
    unseen,
)
from mebnb.experiments.rare_classes.running import COLUMNS, FEWER, Fit, thinned
from mebnb.learning import rare_classes as methods
from mebnb.published.compare import SPREAD, published_table

COUNTS = ["tp", "fp", "fn", "tn"]
UNSEEN = [f"unseen_{name}" for name in COUNTS]


@pytest.fixture(scope="module")
def kept():
    return stored_run()


def cloud(seed=0, negatives=80, positives=10):
    rng = np.random.default_rng(seed)
    X = np.vstack(
        [rng.normal(size=(negatives, 3)), 0.7 + 0.6 * rng.normal(size=(positives, 3))]
    )
    y = np.repeat([0, 1], [negatives, positives])
    order = rng.permutation(len(y))
    return X[order], y[order]


# --- methods -----------------------------------------------------------------------


class Remembers(ClassifierMixin, BaseEstimator):
    """Keeps what it was fitted on."""

    def fit(self, X, y):
        self.X_, self.y_, self.classes_ = X, y, np.unique(y)
        return self


@pytest.mark.parametrize("times, divisor, sizes", [(1, 1, (80, 10)), (5, 2, (40, 50))])
def test_resampling_multiplies_positives_and_divides_negatives(times, divisor, sizes):
    X, y = cloud()
    model = Resampled(Remembers(), times=times, divisor=divisor, random_state=3)
    seen = model.fit(X, y).estimator_
    assert (np.sum(seen.y_ == 0), np.sum(seen.y_ == 1)) == sizes
    whole = {tuple(row) for row in X[y == 0]}
    drawn = [tuple(row) for row in seen.X_[seen.y_ == 0]]
    assert len(set(drawn)) == len(drawn) and set(drawn) <= whole
    _, repeats = np.unique(seen.X_[seen.y_ == 1], axis=0, return_counts=True)
    assert np.all(repeats == times)
    again = Resampled(Remembers(), times=times, divisor=divisor, random_state=3)
    np.testing.assert_array_equal(again.fit(X, y).estimator_.X_, seen.X_)


@pytest.mark.parametrize("m", [1, 3, 7])
def test_the_rank_rule_is_that_of_the_ellipsoids(m):
    X, y = cloud(1)
    tests, _ = cloud(2, negatives=300)
    near = ExcludingEllipsoids(m=m, random_state=0).fit(X, y).explain(tests)["near"]
    called = RankRule(m).fit(X, y).predict(tests)
    np.testing.assert_array_equal(called, near.astype(int))


def test_any_ball_counts_negatives_about_every_positive():
    X, y = cloud(3)
    tests, _ = cloud(4)
    called = RankRule(2, any_ball=True).fit(X, y).predict(tests)
    scaler = MinMaxScaler().fit(X)
    X, tests = scaler.transform(X), scaler.transform(tests)
    for x, answer in zip(tests, called, strict=True):
        closer = [
            np.sum(np.sum((X[y == 0] - c) ** 2, axis=1) < np.sum((x - c) ** 2))
            for c in X[y == 1]
        ]
        assert answer == (min(closer) < 2)


def test_the_methods_of_table_2_are_all_there():
    printed = published_table("me2_table2_hyperparameters")["algorithm"]
    assert tuple(printed) == PAPER
    named = [*PAPER, *C5_TREES, *RIVALS, *ABLATION, *READINGS]
    assert list(METHODS) == [*named, "standardised rank rule"]
    for name in PAPER:
        assert METHODS[name].here and METHODS[name].differs
    grid = METHODS["RBFSVM"].make(0).param_grid
    costs = (0.1, 1.0, 10.0, 100.0, 1000.0)
    assert grid == {"svc__C": costs, "svc__gamma": (0.5, 1.0, 2.0, 4.0)}
    assert METHODS["LSVM"].make(0).param_grid == {"svc__C": costs[:4]}
    assert METHODS["RF"].make(0).n_estimators == 10
    assert METHODS["learned metric"].make(5).get_params()["random_state"] == 5


SAMPLING = {"DT": (1, 1), "DT_O": (5, 1), "DT_U": (1, 2), "DT_OU": (5, 2)}


@pytest.mark.parametrize("name", SAMPLING)
def test_trees_see_positives_five_times_and_half_of_the_negatives(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "c50py", SimpleNamespace(C5Classifier=dict))
    tree, c50 = METHODS[name].make(7), METHODS[f"{name} (C5.0)"].make(7)
    assert (tree.times, tree.divisor) == (c50.times, c50.divisor) == SAMPLING[name]
    assert tree.random_state == c50.random_state == tree.estimator.random_state == 7
    assert tree.estimator.criterion == "entropy" and not tree.estimator.ccp_alpha
    assert c50.estimator == {"min_samples_leaf": 1, "random_state": 7}
    told = METHODS[name].here
    assert ("five times" in told, "half" in told) == ("O" in name, "U" in name)


def test_rivals_tune_their_threshold_on_two_shuffled_folds():
    made = {name: METHODS[name].make(7) for name in RIVALS}
    searches = [*made.values(), made["k-NN"].estimator, METHODS["LSVM"].make(7)]
    for model in searches:
        folds = model.cv
        assert (folds.n_splits, folds.shuffle, folds.random_state) == (2, True, 7)
    assert [model.scoring for model in searches] == [
        *["f1"] * len(RIVALS),
        "average_precision",
        "f1",
    ]
    neighbours = made["k-NN"].estimator.param_grid
    assert neighbours == {"kneighborsclassifier__n_neighbors": (1, 3, 5, 9, 15, 25)}
    forest = made["balanced forest"].estimator
    assert (forest.n_estimators, forest.random_state) == (100, 7)
    assert made["gradient boosting"].estimator.random_state == 7
    assert made["logistic regression"].estimator[-1].max_iter == 1000


def test_readings_and_ablations_change_one_thing_each():
    usual = METHODS["ME2"].make(3).get_params()
    assert usual == ExcludingEllipsoids(random_state=3).get_params()
    changed = {
        "ellipsoid alone": {"m": None},
        "learned metric": {"rank_metric": "learned"},
        "R a radius": {"radius": "plain"},
        "rank among all": {"rank_among": "all"},
        "largest tie": {"ties": "largest"},
        "standardised": {"scaling": "standard"},
        "unscaled": {"scaling": None},
    }
    assert set(changed) == {*READINGS, *ABLATION} - {
        "rank rule alone",
        "any positive's ball",
    }
    for name, change in changed.items():
        assert METHODS[name].make(3).get_params() == usual | change
    assert METHODS["any positive's ball"].make(3).any_ball
    assert not METHODS["rank rule alone"].make(3).any_ball


def test_the_rank_rule_by_hand():
    # Scaled, the positives are 0 and 1, the negatives 1/8, ..., 1/2 and 7/8.
    X = np.array([0.0, 8.0, 1.0, 2.0, 3.0, 4.0, 7.0])[:, None]
    rule = RankRule().fit(X, np.array([1, 1, 0, 0, 0, 0, 0]))
    np.testing.assert_allclose(rule.reaches_, np.array([9.0, 25.0]) / 64, rtol=2e-12)
    assert (rule.reaches_ * 64 > [9.0, 25.0]).all()
    tests = np.array([-3.0, -3.001, 3.0, 3.001, 3.999, 4.0, 4.001, 13.0])[:, None]
    assert rule.predict(tests).tolist() == [1, 0, 1, 0, 0, 0, 1, 1]
    wide = RankRule(any_ball=True).fit(X, np.array([1, 1, 0, 0, 0, 0, 0]))
    assert wide.predict(tests).tolist() == [1, 0, 1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("m", [1, 4, 37, 80])
def test_the_rank_rule_reaches_to_the_mth_nearest_negative(m):
    X, y = cloud(6)
    scaled = MinMaxScaler().fit_transform(X)
    gaps = scaled[y == 1][:, None] - scaled[y == 0][None]
    squares = np.sort((gaps**2).sum(axis=2), axis=1)
    reaches = RankRule(m).fit(X, y).reaches_
    np.testing.assert_allclose(reaches, squares[:, m - 1], rtol=1e-11)


def test_resampling_leaves_all_as_it_is_unless_told():
    X, y = cloud()
    seen = Resampled(Remembers()).fit(X, y).estimator_
    assert (np.sum(seen.y_ == 0), np.sum(seen.y_ == 1)) == (80, 10)


@pytest.mark.parametrize("name", [name for name in METHODS if name not in C5_TREES])
def test_every_method_is_a_classifier_with_a_score(name):
    X, y = cloud(5, negatives=200, positives=30)
    model = METHODS[name].make(0).fit(X, y)
    assert set(model.predict(X)) <= {0, 1}
    assert running._rarity(model, X).shape == (len(X),)


def test_c50_trees_where_the_package_is_there():
    pytest.importorskip("c50py")
    X, y = cloud(6)
    model = METHODS["DT_O (C5.0)"].make(0).fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.8
    assert running._rarity(model, X).shape == (len(X),)


# --- the protocol ------------------------------------------------------------------


@pytest.mark.parametrize("name", SETS)
def test_splits_are_four_fifths_with_the_same_shares(name):
    X, y = examples(name)
    train_X, test_X, train_y, test_y = split(X, y, 4)
    assert len(test_y) == int(np.ceil(0.2 * len(y))) == len(y) - len(train_y)
    assert abs(test_y.sum() - 0.2 * y.sum()) <= 1
    np.testing.assert_array_equal(split(X, y, 4)[1], test_X)
    assert not np.array_equal(split(X, y, 5)[1], test_X)


def test_fewer_positives_are_nested_and_leave_the_negatives_alone():
    X, y = examples("Yeast6")
    assert thinned(X, y, None, 0)[0] is X
    sets = {}
    for count in FEWER:
        thin_X, thin_y = thinned(X, y, count, 7)
        assert thin_y.sum() == count and np.sum(thin_y == 0) == np.sum(y == 0)
        sets[count] = {tuple(row) for row in thin_X[thin_y == 1]}
    assert sets[12] <= sets[18] <= sets[25]
    rates = [100 * np.sum(y == 0) / (np.sum(y == 0) + count) for count in FEWER]
    np.testing.assert_allclose(rates, [98.3, 98.8, 99.2], atol=0.05)
    with pytest.raises(ValueError, match="positives must be None or from 5 to 35"):
        thinned(X, y, 36, 0)


def test_a_run_counts_the_test_examples():
    frame = run([Fit("fresh split", "Yeast6", None, 2, 2, "rank rule alone")])
    assert tuple(frame.columns) == COLUMNS
    X, y = examples("Yeast6")
    train_X, test_X, train_y, test_y = split(X, y, 2)
    called = RankRule().fit(train_X, train_y).predict(test_X)
    row = frame.iloc[0]
    assert row["tp"] == np.sum((called == 1) & (test_y == 1))
    assert row["fp"] == np.sum((called == 1) & (test_y == 0))
    assert row[COUNTS].sum() == len(test_y) and row["positives"] == 35


@pytest.mark.parametrize("sets", [[], ["Yeast6", "Yeast6"], ["yeast6"]])
def test_sets_that_are_not_the_papers_are_refused(sets):
    with pytest.raises(ValueError, match="sets must be a list of different names"):
        fresh_splits(sets, PAPER, 1)
    with pytest.raises(ValueError, match="dataset must be one of Yeast3"):
        examples("yeast6")


def test_repeats_are_found_whatever_their_sign_of_zero():
    train_X = np.array([[0.0, 1.0], [2.0, 3.0], [2.0, 3.0]])
    test_X = np.array([[-0.0, 1.0], [1.0, 0.0], [2.0, 3.0]])
    found = running.repeats_training(train_X, test_X)
    assert found.tolist() == [True, False, True]


def test_rows_that_were_trained_on_are_counted():
    table = tables.repeat_table(2)
    assert list(table.index) == list(SETS)
    assert table.loc["Wine", ["rows", "different rows"]].tolist() == ["1599", "1359"]
    assert set(table.loc[["Abalone", "Abalone17", "Abalone20"], "share"]) == {"0.0 %"}
    shares, positives = [], []
    for seed in range(2):
        train_X, test_X, _, test_y = split(*examples("Wine"), seed)
        trained = {tuple(row) for row in train_X.tolist()}
        seen = np.array([tuple(row) in trained for row in test_X.tolist()])
        shares.append(seen.mean())
        positives.append(np.sum(seen & (test_y == 1)))
    assert table.loc["Wine", "share"] == f"{100 * np.mean(shares):.1f} %"
    assert table.loc["Wine", "positives among them"] == f"{np.mean(positives):.1f}"
    assert table.loc["Wine", "tested"] == "320"


def test_rows_that_were_trained_on_are_left_out_of_the_further_columns(monkeypatch):
    X, y = cloud(7, negatives=60, positives=20)
    X, y = np.vstack([X, X[:40]]), np.concatenate([y, y[:40]])
    monkeypatch.setattr(running, "examples", lambda dataset: (X, y))
    frame = run([Fit("fresh split", "Yeast6", None, 1, 1, "DT")])
    train_X, test_X, train_y, test_y = split(X, y, 1)
    trained = set(map(tuple, train_X.tolist()))
    new = np.array([tuple(row) not in trained for row in test_X.tolist()])
    assert 5 < new.sum() < len(new) - 5
    model = METHODS["DT"].make(1).fit(train_X, train_y)
    called, rarity = model.predict(test_X), model.predict_proba(test_X)[:, 1]
    row = frame.iloc[0]
    for names, part in ((COUNTS, np.full(len(new), True)), (UNSEEN, new)):
        assert row[names].tolist() == [
            np.sum((called == answer) & (test_y == truth) & part)
            for answer, truth in ((1, 1), (1, 0), (0, 1), (0, 0))
        ]
    precision = average_precision_score(test_y[new], rarity[new])
    assert row["unseen_average_precision"] == pytest.approx(precision)
    # A grown tree knows the rows that it has seen: without them it looks worse.
    assert row["average_precision"] > row["unseen_average_precision"]
    f, f_new = (tables.scored(run)["f_measure"][0] for run in (frame, unseen(frame)))
    assert f > f_new


def test_a_run_without_the_repeated_rows_has_the_same_columns():
    row = ["fresh split", "Wine", 53, 0, "DT", *range(5), *range(10, 15)]
    frame = unseen(pd.DataFrame([row], columns=COLUMNS))
    assert tuple(frame.columns) == COLUMNS[:10]
    assert frame.iloc[0].tolist() == [*row[:5], *row[10:]]


def test_the_full_protocol(monkeypatch):
    monkeypatch.setattr(running, "has_c50", lambda: True)
    fits = full_protocol(10)
    assert len(set(fits)) == len(fits)
    main = [f for f in fits if f.experiment == "fresh split" and f.method == "ME2"]
    assert len(main) == 70 and all(f.repeat == f.split_seed for f in main)
    one = [f for f in fits if f.experiment == "one split"]
    assert {f.split_seed for f in one} == {0}
    assert {f.repeat for f in one} == set(range(5))
    fewer = [f for f in fits if f.experiment == "fewer positives"]
    assert {f.positives for f in fewer} == set(FEWER)
    monkeypatch.setattr(running, "has_c50", lambda: False)
    assert {f.method for f in fits} - {f.method for f in full_protocol(10)} == set(
        C5_TREES
    )


def test_the_command_writes_the_same_bytes_twice(tmp_path, monkeypatch, capsys):
    asked = []

    def short(repeats):
        asked.append(repeats)
        return fresh_splits(["Yeast6"], ["DT_U", "rank rule alone"], 1)

    monkeypatch.setattr(__main__, "full_protocol", short)
    paths = [tmp_path / "new" / "one.csv", tmp_path / "two.csv"]
    for path in paths:
        __main__.main(["--repeats", "3", "--out", str(path)])
    assert asked == [3, 3]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert paths[0].read_text().splitlines()[0] == ",".join(COLUMNS)
    assert "fresh split: Yeast6" in capsys.readouterr().out
    monkeypatch.setattr(
        __main__,
        "standardised_protocol",
        lambda repeats: fresh_splits(["Yeast6"], ["standardised rank rule"], repeats),
    )
    short_run = tmp_path / "three.csv"
    __main__.main(["--repeats", "1", "--standardised", "--out", str(short_run)])
    assert "standardised rank rule" in short_run.read_text()
    with pytest.raises(SystemExit):
        __main__.main(["--repeats", "0", "--out", "x.csv"])


def test_the_command_writes_its_file_whole_or_not_at_all(tmp_path, monkeypatch, capsys):
    fits = fresh_splits(["Yeast6"], ["rank rule alone"], 1)
    monkeypatch.setattr(__main__, "full_protocol", lambda repeats: fits)
    path = tmp_path / "kept.csv"
    path.write_text("the old run")
    below = path / "below.csv"
    assert __main__.main(["--out", str(below)]) == 2
    told = capsys.readouterr()
    assert told.err.startswith(f"cannot write {below}: ") and told.out == ""

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr("mebnb.writing.os.fsync", full)
        assert __main__.main(["--out", str(path)]) == 2
    told = capsys.readouterr().err.splitlines()  # without c50py it says that, too
    assert told[-1] == f"cannot write {path}: No space left on device"
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [
        ("kept.csv", "the old run")
    ]
    assert __main__.main(["--out", str(path)]) == 0
    assert path.read_text().startswith("experiment,")


def test_without_c50_the_command_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(__main__, "full_protocol", lambda repeats: [])
    monkeypatch.setattr(__main__, "has_c50", lambda: False)
    __main__.main(["--out", str(tmp_path / "out.csv")])
    assert "c50py is not installed" in capsys.readouterr().err
    monkeypatch.setattr(methods.importlib.util, "find_spec", lambda name: None)
    assert not methods.has_c50()


# --- the kept run ------------------------------------------------------------------


def test_the_kept_run_is_that_of_the_full_protocol(kept, monkeypatch):
    monkeypatch.setattr(running, "has_c50", lambda: True)
    fits = full_protocol(10)
    rows = kept[["experiment", "dataset", "repeat", "method"]].itertuples(index=False)
    assert [tuple(row) for row in rows] == [
        (f.experiment, f.dataset, f.repeat, f.method) for f in fits
    ]
    assert tuple(kept.columns) == COLUMNS
    for name, rows in kept[kept["experiment"] != "fewer positives"].groupby("dataset"):
        X, y = examples(name)
        tested = split(X, y, 0)[3]
        assert np.all(rows["tp"] + rows["fn"] == tested.sum())
        assert np.all(rows[COUNTS].sum(axis=1) == len(tested))
        for repeat, fits in rows[rows["experiment"] == "fresh split"].groupby("repeat"):
            train_X, test_X, _, truth = split(X, y, repeat)
            new = ~running.repeats_training(train_X, test_X)
            assert np.all(fits[UNSEEN].sum(axis=1) == new.sum())
            assert np.all(fits["unseen_tp"] + fits["unseen_fn"] == truth[new].sum())
    assert np.all(kept[UNSEEN].to_numpy() <= kept[COUNTS].to_numpy())


@pytest.mark.parametrize("name", ["Wine", "Yeast6", "Abalone20"])
def test_the_kept_counts_are_had_again(kept, name):
    # Distances and ranks alone: nothing that a processor could decide.
    frame = run(fresh_splits([name], ["rank rule alone", "any positive's ball"], 2))
    assert tables.same_counts(frame, kept) == (4, 4)
    frame.loc[0, "tp"] += 1
    assert tables.same_counts(frame, kept) == (4, 3)


# --- tables ------------------------------------------------------------------------


def test_scores_by_hand():
    frame = pd.DataFrame({"tp": [2, 0], "fp": [3, 0], "fn": [1, 4], "tn": [9, 9]})
    found = tables.scored(frame)
    np.testing.assert_allclose(found["precision"], [0.4, 0.0])
    np.testing.assert_allclose(found["recall"], [2 / 3, 0.0])
    np.testing.assert_allclose(found["f_measure"], [0.5, 0.0])


def test_table_1_is_that_of_the_data():
    comparison = tables.table1()
    assert comparison.counts().to_dict() == {"equal as printed": 25, "differs": 3}
    assert set(comparison.only("differs")["remark"]) == {
        "cut off after the last printed digit"
    }


def test_table_3_has_a_verdict_for_each_of_its_168_cells(kept):
    comparison = tables.table3(kept)
    assert len(comparison.frame) == 168
    assert "not comparable" not in set(comparison.frame["verdict"])
    counts = tables.verdict_table(comparison)
    assert counts.loc["all"].sum() == 168
    assert np.all(counts.drop("all").sum(axis=1) == 21)
    f = tables.of_score(comparison, "f_measure")
    assert len(f.frame) == 56 and f.wide().shape == (8, 7)
    trees = tables.table3(kept, trees="C5.0").frame
    assert len(trees) == 84 and set(trees["algorithm"]) == set(PAPER[1:5])


def test_a_printed_zero_is_not_a_third_rounded(kept):
    cells = tables.table3(kept).frame.set_index(["algorithm", "score", "column"])
    printed = published_table("me2_table3_scores")
    zero = printed[(printed["mean"] == "0") & (printed["score"] == "recall")]
    assert len(zero) > 5
    for row in zero.itertuples():
        cell = cells.loc[row.algorithm, row.score, row.dataset]
        assert (cell["verdict"] == "equal as printed") == (
            float(cell["reproduced"]) < 0.005
        )


def test_a_cell_within_two_standard_errors_agrees(kept):
    cells = tables.table3(kept).frame.set_index(["algorithm", "score", "column"])
    f = tables.scored(kept)
    f = f[(f["experiment"] == "fresh split") & (f["method"] == "RBFSVM")]
    f = f[f["dataset"] == "Yeast3"]["f_measure"]
    printed, sd = 0.70, 0.07
    # Nadeau and Bengio: a fifth tested, four fifths trained on.
    error = np.sqrt((sd**2 + f.std() ** 2) * (1 / 10 + 1 / 4))
    cell = cells.loc["RBFSVM", "f_measure", "Yeast3"]
    assert cell["reproduced"] == f"{f.mean():.4f}"
    assert (cell["verdict"] == SPREAD) == (
        abs(f.mean() - printed) <= 2 * error and cell["verdict"] != "equal as printed"
    )


def test_the_overlap_of_the_splits_widens_what_agrees(kept):
    counts = tables.rule_table(kept)
    assert list(counts.sum(axis=1)) == [168, 168]
    printed = published_table("me2_table3_scores").set_index(
        ["algorithm", "score", "dataset"]
    )
    found = tables.scored(kept[kept["experiment"] == "fresh split"])
    differs = {0.0: 0, 0.25: 0}
    for row in tables.table3(kept).frame.itertuples():
        there = printed.loc[row.algorithm, row.score, row.column]
        mine = found[
            (found["dataset"] == row.column) & (found["method"] == row.algorithm)
        ]
        mine = mine[row.score]
        away = abs(float(there["mean"]) - mine.mean())
        variances = mine.var() + float(there["std"]) ** 2
        for overlap in differs:
            beyond = away > 2 * np.sqrt(variances * (1 / 10 + overlap))
            differs[overlap] += row.verdict != "equal as printed" and beyond
    assert counts["differs"].tolist() == [differs[0.25], differs[0.0]]


def test_ranks_and_critical_difference_by_hand():
    # The table of Demsar: 2.850 for six methods at 5 %.
    methods, f = list("abcdef"), (0.9, 0.8, 0.7, 0.6, 0.5, 0.4)
    rows = [
        ("fresh split", name, None, 0, method, *counts)
        for name in ("Wine", "Yeast6")
        for method, share in zip(methods, f, strict=True)
        for counts in [(round(100 * share), 0, 100 - round(100 * share), 50, 0.5)]
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS[:10])
    ranks, difference = tables.mean_ranks(frame, methods)
    assert ranks.to_dict() == dict(zip(methods, range(1, 7), strict=True))
    assert difference == pytest.approx(2.850 * np.sqrt(6 * 7 / (6 * 2)), rel=1e-3)
    # Two sets in full agreement: 12 / (2 * 6 * 7) * sum of squared rank sums - 3 * 2 * 7.
    statistic = 12 / 84 * sum((2 * rank) ** 2 for rank in range(1, 7)) - 42
    p = tables.friedman_test(frame, methods)
    assert p == pytest.approx(stats.chi2.sf(statistic, 5))


def test_the_kept_ranks_and_their_tests(kept):
    table = tables.friedman_table(kept)
    assert table["methods"].tolist() == ["8", "8", "12", "12"]
    assert set(table["sets"]) == {"7"}
    p = table["p"].astype(float)
    assert (p.iloc[:2] > 0.05).all() and (p.iloc[2:] < 0.01).all()


def test_the_standardised_run_is_that_of_its_protocol(kept):
    frame = stored_standardised_run()
    fits = standardised_protocol(10)
    rows = frame[["experiment", "dataset", "repeat", "method"]].itertuples(index=False)
    assert [tuple(row) for row in rows] == [
        (f.experiment, f.dataset, f.repeat, f.method) for f in fits
    ]
    # The first splits were run before, as a reading of the full protocol.
    assert tables.same_counts(frame, kept) == (21, 21)
    table = tables.standardised_table(frame)
    both = frame.assign(called=frame["tp"] + frame["fp"]).pivot_table(
        index="dataset", columns="method", values="called", aggfunc="sum"
    )
    away = both["standardised rank rule"] - both["standardised"]
    assert table["taken away"].to_dict() == away.to_dict()
    f = tables.scored(frame).pivot_table(
        index="dataset", columns="method", values="f_measure"
    )
    gains = f["standardised"] - f["standardised rank rule"]
    for name, told in table["gain in F"].items():
        assert told.startswith(f"{gains[name]:+.2f} [")


def test_the_standardised_rank_rule_is_had_again():
    fits = fresh_splits(["Yeast6"], ["standardised rank rule"], 2)
    assert tables.same_counts(run(fits), stored_standardised_run()) == (2, 2)


def test_rows_left_out_of_the_file():
    table = tables.left_out()
    assert table["rows left out"].to_dict() == {
        "Abalone17": "716, 805",
        "Abalone20": "716",
        "Abalone19": "716, 805, 4176",
    }
    labels = load_dataset("abalone").labels
    assert table.loc["Abalone20", "rings"] == str(labels.iloc[716])


def test_the_mean_table_is_the_mean(kept):
    table = tables.mean_table(kept, ["ME2", "nobody"])
    f = tables.scored(kept)
    f = f[(f["experiment"] == "fresh split") & (f["method"] == "ME2")]
    f = f[f["dataset"] == "Wine"]["f_measure"]
    assert table.loc["ME2", "Wine"] == f"{f.mean():.3f} ({f.std():.2f})"
    assert list(table.index) == ["ME2"] and list(table) == list(SETS)


def test_gains_have_the_sign_of_the_method(kept):
    table = tables.gain_table(kept, ["k-NN"], "rank rule alone")
    f = tables.scored(kept[kept["experiment"] == "fresh split"])
    means = f.pivot_table(index="method", columns="dataset", values="f_measure")
    for name in SETS:
        gain = means.loc["k-NN", name] - means.loc["rank rule alone", name]
        assert table.loc["k-NN", name].startswith(f"{gain:+.2f}")
        low, high = table.loc["k-NN", name].split("[")[1].split("]")[0].split(", ")
        beyond = float(low) > 0 or float(high) < 0
        assert not beyond or table.loc["k-NN", name].endswith("*")


def test_the_ellipsoid_can_only_take_away(kept):
    changed = tables.changed_table(kept)
    assert np.all(changed["taken away"] >= 0)
    assert np.all(changed["taken away"] <= changed["called by the rank rule"])


def test_ranks_spreads_rivals_and_claims_are_complete(kept):
    ranks = tables.rank_table(kept)
    assert list(ranks.index) == list(SETS)
    assert ranks["rank, published"].tolist() == [8, 6, 1, 1, 1, 1, 1]
    assert ranks["rank, here"].between(1, 8).all()
    assert tables.spread_table(kept).shape == (8, 3)
    rivals = tables.rival_table(kept)
    assert set(RIVALS) <= set(rivals.index) and list(rivals)[:-1] == list(SETS)
    assert set(tables.claims(kept)["holds"]) <= {"yes", "no"}
    ablation = tables.ablation_table(kept)
    assert ablation.loc["ME2", "mean change"] == "0.000"
    panels = tables.fewer_panels(kept)
    assert list(panels["A"].index) == [97.6, 98.3, 98.8, 99.2]


def test_what_moves_without_the_repeated_rows(kept):
    moved, verdicts = tables.moved_table(kept), tables.moved_verdicts(kept)
    for name in ("Abalone", "Abalone17", "Abalone20", "Abalone19"):  # hold none
        assert moved.loc[name, ["mean change of F", "largest change"]].tolist() == [
            "+0.000",
            "0",
        ]
        assert "→" not in "".join(moved.loc[name])
    means = [
        tables.scored(run[run["experiment"] == "fresh split"]).pivot_table(
            index="method", columns="dataset", values="f_measure"
        )["Wine"]
        for run in (kept, unseen(kept))
    ]
    change = (means[1] - means[0]).drop([*ABLATION, *READINGS], errors="ignore")
    largest = change.abs().idxmax()
    assert moved.loc["Wine", "mean change of F"] == f"{change.mean():+.3f}"
    assert moved.loc["Wine", "largest change"] == f"{change[largest]:+.3f} ({largest})"
    assert np.all(verdicts["verdict"] != verdicts["verdict without"])
    assert moved["verdicts that change"].astype(int).sum() == len(verdicts)
    assert set(verdicts["set"]) <= {"Yeast3", "Wine", "Yeast6"}
    full = tables.rank_table(unseen(kept))
    for name, row in moved.iterrows():
        assert row["rank"].split(" → ")[-1] == str(full.loc[name, "rank, here"])
        assert row["best"].split(" → ")[-1] == full.loc[name, "best, here"]


def test_ties_are_counted():
    table = tables.tie_table(["Yeast6"])
    assert table.loc["Yeast6", "pairs"] == 72 and table.loc["Yeast6", "centers"] == 28
