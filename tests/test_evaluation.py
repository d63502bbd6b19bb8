"""Splits, scores and the comparison of detectors over many splits."""

import math
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    precision_score,
    recall_score,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from mebnb import BallDetector
from mebnb.datasets import MIRROR, load_dataset
from mebnb.experiments.published_splits import (
    SlidesProtocol,
    report_gaussian,
    report_split,
    report_uniform,
    slides_split,
)
from mebnb.learning import (
    SCORES,
    Evaluation,
    Split,
    evaluate_repeatedly,
    evaluate_splits,
    honest_split,
    own_and_conformal,
    precision_at,
    recall_at_false_alarms,
    score_detector,
    scores,
    seen_in_training,
    without_repeats,
)


def needs_mirror(name):
    folder = os.environ.get(MIRROR, "")
    missing = not folder or not (Path(folder) / name).exists()
    return pytest.mark.skipif(missing, reason=f"{name} is not in {MIRROR}")


class Small:
    """A data set by hand: one feature, nominal below 100, anomalies above."""

    name = "small"

    def __init__(self, values, is_nominal):
        self.frame = pd.DataFrame({"x": np.asarray(values, dtype=float)})
        self.is_nominal = np.asarray(is_nominal)

    def encoded(self):
        return self.frame


# --- the report's splits -----------------------------------------------------------


def test_the_report_split_is_the_published_one():
    breast = load_dataset("breast_cancer")
    split = report_split(breast)
    assert split.train.shape == (178, 30)
    assert split.test.shape == (179 + 212, 30)
    assert split.test_is_anomaly.sum() == 212
    assert not split.test_is_anomaly[:179].any()

    nominal = np.flatnonzero(breast.is_nominal)
    np.random.seed(123)
    order = np.arange(357)
    np.random.shuffle(order)
    np.testing.assert_array_equal(split.train_rows, nominal[order[:178]])
    np.testing.assert_array_equal(split.test_rows[:179], nominal[order[178:]])
    np.testing.assert_array_equal(
        split.test_rows[179:], np.flatnonzero(breast.is_anomaly)
    )


def test_the_report_scaler_saw_the_training_rows_only():
    breast = load_dataset("breast_cancer")
    split = report_split(breast, seed=5)
    np.testing.assert_allclose(split.train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(split.train.std(axis=0), 1, rtol=1e-12)
    raw = breast.features.to_numpy()
    trained = raw[split.train_rows]
    expected = (raw[split.test_rows] - trained.mean(axis=0)) / trained.std(axis=0)
    np.testing.assert_allclose(split.test, expected, rtol=1e-9, atol=1e-9)


@needs_mirror("iranian_churn")
def test_the_report_split_of_churn_has_the_published_sizes():
    split = report_split(load_dataset("iranian_churn"))
    assert split.train.shape == (1327, 13)
    assert split.test.shape == (1328 + 495, 13)


def test_the_report_split_takes_other_seeds_fractions_and_scalers():
    breast = load_dataset("breast_cancer")
    assert report_split(breast, nominal_fraction=0.8).train.shape == (285, 30)
    other = report_split(breast, seed=7).train_rows
    assert set(other) != set(report_split(breast).train_rows)
    narrow = report_split(breast, scaling="minmax")
    assert narrow.train.min() == 0
    assert narrow.train.max() == pytest.approx(1)
    raw = report_split(breast, scaling="none")
    np.testing.assert_array_equal(raw.train, breast.features.to_numpy()[raw.train_rows])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nominal_fraction": 0}, "strictly between 0 and 1, found 0"),
        ({"nominal_fraction": 1.0}, "strictly between 0 and 1, found 1.0"),
        ({"nominal_fraction": 0.001}, "must leave a row to train on"),
        ({"scaling": "log"}, "one of standard, minmax, none; found 'log'"),
    ],
)
@pytest.mark.parametrize("split", [report_split, honest_split])
def test_senseless_splits_are_refused(split, options, message):
    with pytest.raises(ValueError, match=message):
        split(load_dataset("breast_cancer"), **options)


def test_the_synthetic_sets_are_the_published_ones():
    np.random.seed(123)
    train = np.random.uniform(0, 0.7, (15, 8000)).T
    split = report_uniform()
    np.testing.assert_array_equal(split.train, train)
    assert split.test.shape == (2000, 15)
    assert split.test_is_anomaly.all()
    assert split.test.min() >= 0.7
    # Every test point lies outside the cube's circumscribed ball.
    distances = np.linalg.norm(split.test - 0.35, axis=1)
    assert distances.min() > 0.35 * math.sqrt(15)

    split = report_gaussian()
    np.testing.assert_allclose(split.test[1000:] - split.test[:1000], 7, atol=1e-12)
    np.testing.assert_array_equal(split.test_is_anomaly, np.arange(2000) >= 1000)


def test_honest_seeding_draws_independent_arrays():
    split = report_gaussian(honest=True)
    assert split.train.shape == (8000, 10)
    shifts = split.test[1000:] - split.test[:1000]
    assert shifts.std() > 1
    assert not np.array_equal(split.train[:1000], split.test[:1000])
    again = report_gaussian(honest=True)
    np.testing.assert_array_equal(split.test, again.test)


@pytest.mark.parametrize("published", [report_uniform, report_gaussian])
def test_synthetic_sets_of_other_sizes(published):
    split = published(seed=4, m=40, n=2)
    assert split.train.shape == (40, 2) and split.test.shape == (10, 2)
    # The report's seeding: the test numbers are the first training numbers again.
    flat, count = split.train.T.ravel(), 2 * (~split.test_is_anomaly).sum()
    again = split.test[~split.test_is_anomaly].T.ravel()
    np.testing.assert_array_equal(again, flat[:count])
    assert published(seed=4, m=40, n=2, honest=True).test[0, 0] != split.test[0, 0]


@pytest.mark.parametrize("size", [{"m": 7}, {"n": 0}, {"m": 40.0}])
def test_synthetic_sets_refuse_senseless_sizes(size):
    with pytest.raises(ValueError, match=f"{next(iter(size))} must be a whole number"):
        report_gaussian(**size)


# --- the slides' splits ------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "columns", "sizes"),
    [
        ("breast_cancer", [7, 20, 22, 27], (250, 398, 107, 64)),
        pytest.param(
            "vertebral_column",
            [0, 5],
            (70, 217, 30, 63),
            marks=needs_mirror("vertebral_column"),
        ),
        ("maternal_risk", [1, 2, 3], (519, 709, 223, 82)),
    ],
)
def test_the_slides_split_is_the_published_one(name, columns, sizes):
    dataset = load_dataset(name)
    split = slides_split(dataset)
    kept = [dataset.features.columns[j] for j in columns]
    assert list(split.feature_names) == kept
    anomalies = int(split.test_is_anomaly.sum())
    found = (len(split.train), len(split.whole_train))
    assert (*found, len(split.test) - anomalies, anomalies) == sizes
    np.testing.assert_array_equal(
        split.train, split.whole_train[~split.whole_train_is_anomaly]
    )
    np.testing.assert_array_equal(
        dataset.is_anomaly[split.test_rows], split.test_is_anomaly
    )


def test_the_slides_scaler_saw_the_anomalies():
    split = slides_split(load_dataset("breast_cancer"))
    np.testing.assert_allclose(split.whole_train.mean(axis=0), 0, atol=1e-12)
    assert (split.train.mean(axis=0) < -0.4).all()


@needs_mirror("vertebral_column")
def test_the_slides_read_vertebral_data_with_two_decimals():
    vertebral = load_dataset("vertebral_column")
    rounded = slides_split(vertebral)
    np.testing.assert_array_equal(rounded.train, rounded.train.round(2))
    full = slides_split(vertebral, SlidesProtocol(features=2))
    assert np.abs(full.train - rounded.train).max() == pytest.approx(0.005, abs=1e-3)


def test_the_slides_protocol_must_be_known_or_given():
    wine = load_dataset("wine4")
    with pytest.raises(ValueError, match="protocol must be given for wine4"):
        slides_split(wine)
    assert slides_split(wine, SlidesProtocol(features=5)).train.shape[1] == 5
    with pytest.raises(ValueError, match="protocol.features must be 1 to 11, found 12"):
        slides_split(wine, SlidesProtocol(features=12))


# --- the honest split --------------------------------------------------------------


@pytest.mark.parametrize("name", ["maternal_risk", "wine4", "breast_cancer"])
@pytest.mark.parametrize("seed", [0, 1])
def test_no_nominal_point_is_on_both_sides_and_every_anomaly_is_judged(name, seed):
    dataset = load_dataset(name)
    split = honest_split(dataset, seed=seed)
    values = [tuple(row) for row in dataset.encoded().to_numpy()]
    train = {values[row] for row in split.train_rows}
    judged = split.test_rows[~split.test_is_anomaly]
    assert not train & {values[row] for row in judged}
    assert dataset.is_nominal[split.train_rows].all()
    assert not set(split.train_rows) & set(split.test_rows)
    assert len(split.train_rows) + len(split.test_rows) == len(values)
    assert split.test_is_anomaly.sum() == dataset.is_anomaly.sum()


@pytest.mark.filterwarnings("error")
def test_constant_features_do_no_harm_where_all_are_kept():
    data = load_dataset("tissue_expression")
    features = data.features.copy()
    features.iloc[:, 7] = 1.0
    split = slides_split(replace(data, features=features), SlidesProtocol(features=500))
    assert split.feature_names == tuple(features.columns)
    assert np.array_equal(split.train, features.to_numpy()[split.train_rows])


def test_the_slides_split_of_maternal_risk_shares_points_and_the_honest_one_not():
    dataset = load_dataset("maternal_risk")
    values = dataset.features.to_numpy()

    def shared(split):
        train = {tuple(row) for row in values[split.train_rows]}
        return sum(tuple(row) in train for row in values[split.test_rows])

    for split in (slides_split(dataset), report_split(dataset), honest_split(dataset)):
        table = seen_in_training(dataset, split)
        assert table["seen"].sum() == shared(split)
        assert table["test rows"].sum() == len(split.test)
        assert list(table.index) == sorted(dataset.labels.unique())
    assert shared(slides_split(dataset)) > 100
    seen = seen_in_training(dataset, honest_split(dataset))["seen"]
    # What repeats a training point carries the other label: a miss that is real.
    assert seen.drop("high risk").sum() == 0 < seen["high risk"]


def test_a_small_honest_split_by_hand():
    values = [1, 1, 2, 2, 3, 4, 200, 1, 300]
    nominal = [True] * 6 + [False] * 3
    split = honest_split(Small(values, nominal), scaling="none")
    trained = set(split.train.ravel())
    assert len(trained) == 2
    for value in trained:
        assert (split.train == value).sum() == values[:6].count(value)
    tested = sorted(split.test.ravel())
    left = [v for v in values[:6] if v not in trained]
    # The anomaly of value 1 is judged also where a nominal 1 trains.
    assert tested == sorted([*left, 200, 1, 300])


def test_minus_zero_is_zero():
    split = honest_split(
        Small([0.0, -0.0, 1.0, 5.0], [True, True, True, False]), scaling="none"
    )
    assert len(split.train) in (1, 2)
    assert not (0.0 in split.train and 0.0 in split.test)


def test_a_split_tells_its_sizes():
    split = honest_split(load_dataset("breast_cancer"))
    assert repr(split) == (
        "Split(breast_cancer, honest: train 178 nominal, test 179 nominal + 212 "
        "anomalies, 30 features)"
    )


def test_a_split_repeats_what_is_equal_in_value_and_nothing_else():
    values = [0.0, 1.5, 2.0**-60, -0.0, np.nextafter(1.5, 2.0), 2.0**-61, 1.5]
    dataset = SimpleNamespace(
        encoded=lambda: pd.DataFrame({"a": values}), labels=pd.Series(list("aaaabbb"))
    )
    split = SimpleNamespace(train_rows=[0, 1, 2], test_rows=[3, 4, 5, 6])
    table = seen_in_training(dataset, split)
    assert table.loc["a"].tolist() == [1, 1, 1.0]
    assert table.loc["b"].tolist() == [3, 1, 1 / 3]


def test_the_honest_scaler_saw_the_training_rows_only():
    split = honest_split(load_dataset("breast_cancer"), seed=3)
    np.testing.assert_allclose(split.train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(split.train.std(axis=0), 1, rtol=1e-12)


def test_seeds_give_different_splits_and_the_same_seed_the_same():
    dataset = load_dataset("breast_cancer")
    rows = [honest_split(dataset, seed=seed).train_rows for seed in (0, 1, 0)]
    assert set(rows[0]) != set(rows[1])
    np.testing.assert_array_equal(rows[0], rows[2])


# --- scores ------------------------------------------------------------------------


class Threshold(BaseEstimator):
    """Abnormal is what is large; an alarm is what exceeds a limit."""

    def __init__(self, limit=0.0, sign=1.0):
        self.limit = limit
        self.sign = sign

    def fit(self, X, y=None):
        self.seen_ = len(X)
        return self

    def score_samples(self, X):
        return -self.sign * X[:, 0]

    def predict(self, X):
        return np.where(self.score_samples(X) < -self.limit, -1, 1)


def split_of(nominal, anomalies, train=(0.0,)):
    test = np.concatenate([nominal, anomalies]).astype(float)[:, None]
    train = np.asarray(train, dtype=float)[:, None]
    return Split(
        name="by hand",
        train=train,
        test=test,
        test_is_anomaly=np.arange(len(test)) >= len(nominal),
        feature_names=("x",),
        train_rows=np.arange(len(train)),
        test_rows=np.arange(len(test)),
        whole_train=train,
        whole_train_is_anomaly=np.zeros(len(train), dtype=bool),
    )


def test_the_scores_are_scikit_learns():
    random = np.random.default_rng(0)
    split = split_of(random.normal(0, 1, 60), random.normal(1, 1, 40))
    detector = Threshold(0.8)
    found = score_detector(detector, split)
    assert tuple(found) == SCORES
    truth, alarm = split.test_is_anomaly, detector.predict(split.test) == -1
    assert found["recall"] == pytest.approx(recall_score(truth, alarm))
    assert found["precision"] == pytest.approx(precision_score(truth, alarm))
    assert found["f1"] == pytest.approx(f1_score(truth, alarm))
    assert found["false_alarms"] == pytest.approx(alarm[~truth].mean())
    wins = split.test[truth] > split.test[~truth].T
    assert found["auroc"] == pytest.approx(wins.mean())


def test_what_rounding_sets_apart_is_a_tie():
    split = split_of([1.0, 1.0], [1.0 + 4e-16, 1.0 - 1e-16])
    found = score_detector(Threshold(2.0), split)
    assert found["auroc"] == 0.5
    assert found["recall_at_false_alarms"] == 0.0


@pytest.mark.parametrize("factor", [1e39, 1e-46, 1e300, 1e-300])
def test_scores_are_those_of_scikit_learn_at_any_scale(factor):
    rng = np.random.default_rng(0)
    split = split_of(rng.exponential(size=80), 1.0 + rng.exponential(size=40))
    scaled = replace(split, train=split.train, test=factor * split.test)
    found = score_detector(Threshold(2.0), split)
    assert 0.7 < found["auroc"] < 0.95
    assert score_detector(Threshold(2.0 * factor), scaled) == found
    truth, abnormal = split.test_is_anomaly, split.test[:, 0]
    assert found["auroc"] == pytest.approx(roc_auc_score(truth, abnormal))
    expected = average_precision_score(truth, abnormal)
    assert found["average_precision"] == pytest.approx(expected)


def test_scores_of_very_different_size_are_no_ties():
    found = score_detector(
        Threshold(1.0), split_of([0.0, 1e-300, 1e-46], [1e-40, 1e300])
    )
    assert found["auroc"] == 1.0


def test_scores_are_rounded_as_single_precision_does():
    values = np.random.default_rng(0).standard_normal(1000) * 10.0 ** np.arange(
        -20, 20, 0.04
    )
    np.testing.assert_array_equal(
        scores.rounded_scores(values), values.astype(np.float32)
    )


class OnTheSphere(BaseEstimator):
    """Every test point lies on the sphere, but for rounding."""

    def fit(self, X, y=None):
        self.offset_ = -1.0
        return self

    def score_samples(self, X):
        return np.full(len(X), -1.0 - 1e-15)

    def decision_function(self, X):
        return self.score_samples(X) - self.offset_

    def predict(self, X):
        return np.where(self.decision_function(X) < 0, -1, 1)


def test_a_detector_is_judged_alike_alone_in_a_pipeline_and_in_a_search():
    split = split_of([1, 2, 3, 4], [3.5, 5])
    pipeline = make_pipeline(StandardScaler(), OnTheSphere()).fit(split.train)
    nested = make_pipeline(StandardScaler(), pipeline).fit(split.train)
    alone = score_detector(OnTheSphere().fit(split.train), split)
    assert alone["recall"] == alone["false_alarms"] == 0.0
    for judged in (pipeline, nested):
        assert judged.predict(split.test).tolist() == [-1] * 6
        np.testing.assert_equal(score_detector(judged, split), alone)
    search = GridSearchCV(pipeline, {}, scoring=lambda *_: 1.0, cv=2)
    search.fit(split.test, np.zeros(6))
    np.testing.assert_equal(score_detector(search, split)["recall"], 0.0)


def test_infinite_scores_rank_and_nan_is_refused():
    split = split_of([1, 2, 3, 4], [3.5, np.inf])
    assert score_detector(Threshold(2.5), split)["auroc"] == 7 / 8
    with pytest.raises(ValueError, match="detector's scores must be .* for 1 of 6"):
        score_detector(Threshold(2.5), split_of([1, 2, 3, 4], [3.5, np.nan]))
    with pytest.raises(ValueError, match="abnormality must be numbers, found NaN"):
        recall_at_false_alarms([1.0, np.nan], [False, True])


def test_scores_by_hand():
    found = score_detector(Threshold(2.5), split_of([1, 2, 3, 4], [3.5, 5]), rate=0.25)
    assert found["recall"] == 1.0
    assert found["precision"] == 0.5
    assert found["f1"] == pytest.approx(2 / 3)
    assert found["false_alarms"] == 0.5
    assert found["auroc"] == 7 / 8
    assert found["average_precision"] == pytest.approx((1 + 2 / 3) / 2)
    assert found["recall_at_false_alarms"] == 1.0


def test_what_is_not_defined_is_nan():
    no_nominal = score_detector(Threshold(2.5), split_of([], [3, 4]))
    assert no_nominal["recall"] == no_nominal["precision"] == 1.0
    for score in SCORES[3:]:
        assert math.isnan(no_nominal[score])
    no_alarm = score_detector(Threshold(9), split_of([1], [3]))
    assert no_alarm["recall"] == no_alarm["f1"] == 0.0
    assert math.isnan(no_alarm["precision"])


@pytest.mark.parametrize(
    ("rate", "recall"), [(0.0, 1 / 3), (0.24, 1 / 3), (0.25, 2 / 3), (0.5, 1.0)]
)
def test_recall_at_false_alarms_never_raises_more_alarms_than_allowed(rate, recall):
    abnormality = np.array([1, 2, 3, 4, 2.5, 3.5, 5])
    anomaly = np.arange(7) >= 4
    assert recall_at_false_alarms(abnormality, anomaly, rate) == recall


def test_ties_with_nominal_points_count_against_the_detector():
    assert recall_at_false_alarms([1, 1, 1, 1], [0, 0, 1, 1], 0.05) == 0.0
    with pytest.raises(ValueError, match="rate must be at least 0 and less than 1"):
        recall_at_false_alarms([1, 2], [0, 1], 1.0)


def test_a_rate_that_is_a_round_number_of_points_is_taken_as_such():
    abnormality = np.arange(101.0)
    anomaly = abnormality == 94.0
    assert recall_at_false_alarms(abnormality, anomaly, 0.07) == 1.0
    assert recall_at_false_alarms(abnormality, anomaly, 0.06) == 1.0
    assert recall_at_false_alarms(abnormality, anomaly, 0.05) == 0.0


# --- over many splits --------------------------------------------------------------


def random_split(seed):
    random = np.random.default_rng(seed)
    nominal, anomalies = random.normal(0, 1, 50), random.normal(2, 1, 50)
    return split_of(nominal, anomalies, train=random.normal(0, 1, 40))


@pytest.fixture(scope="module")
def evaluation():
    detectors = {"good": Threshold(1.5), "bad": Threshold(1.5, sign=-1.0)}
    return evaluate_repeatedly(detectors, random_split, range(8))


def test_every_detector_sees_every_split(evaluation):
    frame = evaluation.frame
    assert len(frame) == 16
    assert (frame["train"] == 40).all()
    assert (frame["test_nominal"] == 50).all()
    assert (frame["test_anomalies"] == 50).all()
    assert repr(evaluation) == "Evaluation(good, bad; 8 splits)"
    direct = score_detector(Threshold(1.5).fit([0]), random_split(3))
    row = frame.query("detector == 'good' and seed == 3").iloc[0]
    for score in SCORES:
        assert row[score] == direct[score]
    good, bad = (frame.query("detector == @name")["auroc"] for name in ("good", "bad"))
    np.testing.assert_allclose(good.to_numpy() + bad.to_numpy(), 1)


def test_the_summary_tells_mean_and_spread(evaluation):
    auroc = evaluation.frame.query("detector == 'good'")["auroc"]
    row = evaluation.summary().loc[("good", "auroc")]
    assert row["mean"] == pytest.approx(np.mean(auroc))
    assert row["sd"] == pytest.approx(np.std(auroc, ddof=1))
    assert row["low"] == pytest.approx(np.quantile(auroc, 0.05))
    assert row["high"] == pytest.approx(np.quantile(auroc, 0.95))
    assert row["splits"] == 8
    assert len(evaluation.summary(["f1"])) == 2


def test_differences_are_paired_and_know_that_splits_overlap(evaluation):
    frame = evaluation.frame.pivot(index="seed", columns="detector", values="auroc")
    gap = frame["good"] - frame["bad"]
    row = evaluation.differences("bad").loc["good"]
    assert row["mean"] == pytest.approx(gap.mean())
    assert row["better"] == 1.0
    assert row["splits"] == 8
    reach = stats.t.ppf(0.975, 7) * gap.std() * math.sqrt(1 / 8 + 50 / 40)
    assert row["high"] - row["mean"] == pytest.approx(reach)
    assert row["mean"] - row["low"] == pytest.approx(reach)


def test_scores_stand_beside_what_they_gain(evaluation):
    table = evaluation.beside("bad")
    assert list(table.index) == ["good", "bad"]
    assert list(table.columns) == [
        "mean", "sd", "difference", "95 % interval", "better in"
    ]  # fmt: skip
    gain = evaluation.differences("bad").loc["good"]
    assert table.loc["good", "difference"] == f"{gain['mean']:+.3f}"
    assert table.loc["good", "better in"] == "100%"
    assert table.loc["good", "95 % interval"].startswith(f"{gain['low']:+.3f} to ")
    assert table.loc["bad", "difference"] == ""
    mean = evaluation.frame.query("detector == 'bad'")["f1"].mean()
    assert evaluation.beside("bad", "f1").loc["bad", "mean"] == f"{mean:.3f}"


def test_the_best_rival_of_each_score():
    detectors = {
        "a": Threshold(1.5, sign=-1.0),
        "b": Threshold(1.5),
        "c": Threshold(0.1),
    }
    found = evaluate_repeatedly(detectors, random_split, range(4))
    best = found.best("a", ["auroc", "recall"])
    means = found.frame.groupby("detector")[["auroc", "recall"]].mean()
    assert list(best.index) == ["a", "b", "c"]
    assert best.loc["c", "recall"] == pytest.approx(means.loc["c", "recall"])
    assert list(found.best("a", ["auroc"]).index) == ["a", "b"]


def test_one_detector_over_several_kinds_of_split(evaluation):
    def harder(seed):
        split = random_split(seed)
        return split_of(split.test[~split.test_is_anomaly].ravel(), [0.5], [0.0])

    found = evaluate_splits(
        Threshold(1.5), {"same": random_split, "harder": harder}, range(8)
    )
    good = evaluation.frame.query("detector == 'good'")["auroc"].to_numpy()
    same = found.frame.query("detector == 'same'")["auroc"].to_numpy()
    np.testing.assert_array_equal(same, good)
    assert found.frame.index.tolist() == list(range(16))
    assert found.differences("same").loc["harder", "mean"] < 0


def test_an_equal_score_is_no_better():
    twins = {"a": Threshold(1.0), "b": Threshold(1.0)}
    row = evaluate_repeatedly(twins, random_split, range(3)).differences("a").loc["b"]
    assert (row["mean"], row["better"]) == (0.0, 0.0)


def test_one_split_has_no_interval():
    one = evaluate_repeatedly({"a": Threshold(1), "b": Threshold(2)}, random_split, [4])
    row = one.differences("a", "recall").loc["b"]
    assert row["splits"] == 1
    assert math.isnan(row["low"])


def test_undefined_scores_are_left_out_and_counted():
    def split(seed):
        return split_of([0], [1 + seed])

    found = evaluate_repeatedly({"a": Threshold(1.5)}, split, range(3))
    row = found.summary().loc[("a", "precision")]
    assert row["splits"] == 2
    assert row["mean"] == 1.0


def test_the_page_shows_the_means(evaluation):
    html = evaluation._repr_html_()
    assert html.index("<th>good</th>") < html.index("<th>bad</th>")
    assert "average_precision" in html


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"detectors": {}}, "at least one detector"),
        ({"seeds": []}, "seeds must be different and at least one"),
        ({"seeds": [1, 1]}, r"found \[1, 1\]"),
    ],
)
def test_senseless_evaluations_are_refused(change, message):
    usual = {"detectors": {"a": Threshold()}, "split": random_split, "seeds": [0]}
    with pytest.raises(ValueError, match=message):
        evaluate_repeatedly(**{**usual, **change})


def test_unknown_names_are_refused(evaluation):
    with pytest.raises(ValueError, match="reference must be one of .*found 'ugly'"):
        evaluation.differences("ugly")
    with pytest.raises(ValueError, match="score must be one of recall"):
        evaluation.differences("bad", "accuracy")
    with pytest.raises(ValueError, match="found 'accuracy'"):
        evaluation.summary(["accuracy"])


def test_components_are_selected_on_the_training_side_of_each_split():
    breast = load_dataset("breast_cancer")
    detectors = {
        "all": OneClassSVM(nu=0.05),
        "five components": make_pipeline(PCA(5), OneClassSVM(nu=0.05)),
    }
    found = evaluate_repeatedly(
        detectors, lambda seed: honest_split(breast, seed), range(2)
    )
    assert (found.frame["auroc"] > 0.9).all()
    assert not hasattr(detectors["all"], "offset_")


class Shell(BaseEstimator):
    """The unit ball about the origin."""

    offset_ = -1.0

    def score_samples(self, X):
        return -np.linalg.norm(X, axis=1)

    def decision_function(self, X):
        return self.score_samples(X) - self.offset_


def test_a_point_on_the_border_raises_no_alarm():
    # Test points that repeat a support vector: a solver's last bits must not decide.
    radii = np.array([0.5, 1 + 1e-9, 1 + 1e-4, 2.0])
    split = replace(
        report_split(load_dataset("breast_cancer")),
        test=radii[:, None],
        test_is_anomaly=np.array([False, False, False, True]),
    )
    scores = score_detector(Shell(), split)
    assert scores["false_alarms"] == pytest.approx(1 / 3)
    assert scores["recall"] == 1.0


def test_precision_follows_the_share_of_anomalies():
    # Of 1000 points 10 are anomalies, 8 found; of 990 others 99 raise an alarm.
    assert precision_at(0.8, 0.1, 0.01) == pytest.approx(8 / (8 + 99))
    assert np.isnan(precision_at(0.0, 0.0, 0.01))
    with pytest.raises(
        ValueError, match="prevalence must lie strictly between 0 and 1"
    ):
        precision_at(0.8, 0.1, 1)
    sizes = {"seed": 0, "train": 10, "test_nominal": 30, "test_anomalies": 10}
    frame = pd.DataFrame(
        [{"detector": "a", **sizes, "recall": 0.8, "false_alarms": 0.1}]
    )
    (row,) = Evaluation(frame).at_own_thresholds().to_dict("records")
    assert row == pytest.approx(
        {
            "recall": 0.8,
            "false alarms": 0.1,
            "precision at 25 % anomalies": 8 / (8 + 3),
            "precision at 1 % anomalies": 8 / (8 + 99),
        }
    )


def test_conformal_thresholds_keep_a_promise_that_own_ones_break():
    def split(seed):
        rows = np.random.default_rng(seed).normal(size=(400, 3))
        return SimpleNamespace(
            train=rows[:200],
            test=np.vstack([rows[200:], rows[:20] + 9.0]),
            test_is_anomaly=np.arange(220) >= 200,
        )

    detectors = {"tight": BallDetector(quantile=0.6)}
    seeds = range(12)
    own = evaluate_repeatedly(detectors, split, seeds)
    table = own_and_conformal(own, detectors, split, seeds, "standard", alpha=0.1)
    rates = table["false alarms"].loc["tight"]
    assert rates["own"] > 0.3
    # 12 rates about 0.1: the mean's standard error is about 0.01.
    assert 0.05 < rates["conformal"] < 0.13
    assert table["recall", "conformal"].item() == 1.0
    right, false = 0.01 * 1.0, 0.99 * rates["conformal"]
    assert table["precision at 1 % anomalies", "conformal"].item() == pytest.approx(
        right / (right + false)
    )


def test_without_repeats_keeps_the_first_of_equal_training_rows():
    values = [5.0, 4.0, 3.0, 2.0, 1.0, 0.0, 900.0]
    small = Small(values, [True] * 6 + [False])
    split = honest_split(small, 1, scaling="none")
    doubled = replace(
        split,
        train=np.vstack([split.train, split.train[:2]]),
        train_rows=np.append(split.train_rows, [900, 901]),
    )
    kept = without_repeats(doubled)
    first = np.sort(np.unique(split.train, axis=0, return_index=True)[1])
    assert np.array_equal(kept.train, split.train[first])
    assert np.array_equal(kept.train_rows, split.train_rows[first])
    assert kept.test is split.test


def test_conformal_thresholds_scale_inside_the_detector():
    def split(seed):
        rows = np.random.default_rng(seed).normal(size=(300, 2)) * [1000.0, 1.0]
        return SimpleNamespace(
            train=rows[:150],
            test=np.vstack([rows[150:], np.tile([0.0, 30.0], (20, 1))]),
            test_is_anomaly=np.arange(170) >= 150,
        )

    detectors, seeds = {"ball": BallDetector()}, range(3)
    own = evaluate_repeatedly(detectors, split, seeds)
    for scaling, recall in (("standard", 1.0), ("none", 0.0)):
        table = own_and_conformal(own, detectors, split, seeds, scaling)
        assert table["recall", "conformal"].item() == recall
