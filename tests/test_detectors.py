"""Detectors: scikit-learn's own checks, thresholds, and what they find."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_outlier_detector
from sklearn.covariance import LedoitWolf
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from mebnb.datasets import load_dataset
from mebnb.experiments.published_splits import report_split
from mebnb.learning import score_detector
from mebnb.learning.detectors import (
    BallDetector,
    MahalanobisDetector,
    MeanDetector,
    rival_detectors,
)
from mebnb.solvers.balls import verify

DETECTORS = [BallDetector, MeanDetector, MahalanobisDetector]


def cloud(m=200, n=3, seed=0):
    return np.random.default_rng(seed).normal(size=(m, n)) + 5.0


@pytest.mark.parametrize("detector", DETECTORS)
@pytest.mark.parametrize("options", [{}, {"quantile": 0.9}], ids=["radius", "quantile"])
def test_scikit_learns_own_checks_pass(detector, options):
    check_estimator(detector(**options), on_skip=None)


def test_the_ball_is_the_smallest_one():
    points = cloud()
    detector = BallDetector().fit(points)
    assert verify(points, detector.ball_).passed
    assert detector.radius_ == detector.ball_.radius
    np.testing.assert_array_equal(detector.center_, detector.ball_.center)
    np.testing.assert_allclose(-detector.offset_, detector.radius_, rtol=1e-12)
    distances = np.linalg.norm(points - detector.center_, axis=1)
    np.testing.assert_allclose(-detector.score_samples(points), distances, rtol=1e-13)


@pytest.mark.parametrize("detector", DETECTORS)
def test_no_training_point_is_an_outlier_of_the_hard_threshold(detector):
    for seed in range(5):
        points = cloud(seed=seed) * 10.0 ** (3 * seed - 6)
        assert (detector().fit(points).predict(points) == 1).all()


@pytest.mark.parametrize("detector", DETECTORS)
def test_the_score_the_decision_and_the_prediction_agree(detector):
    fitted = detector(quantile=0.7).fit(cloud())
    test = cloud(seed=1)
    decision = fitted.decision_function(test)
    np.testing.assert_array_equal(decision, fitted.score_samples(test) - fitted.offset_)
    np.testing.assert_array_equal(fitted.predict(test), np.where(decision < 0, -1, 1))
    assert set(fitted.predict(test)) == {-1, 1}


def test_a_factor_widens_the_threshold_and_nothing_else():
    points = cloud()
    plain, wide = BallDetector().fit(points), BallDetector(factor=1.5).fit(points)
    assert wide.offset_ == 1.5 * plain.offset_
    assert wide.radius_ == plain.radius_
    np.testing.assert_array_equal(
        plain.score_samples(points), wide.score_samples(points)
    )


@pytest.mark.parametrize("detector", DETECTORS)
def test_a_quantile_leaves_its_share_of_the_training_points_outside(detector):
    points = cloud(m=1000)
    for quantile in (0.5, 0.9, 0.95):
        outside = detector(quantile=quantile).fit(points).predict(points) == -1
        assert outside.mean() == pytest.approx(1 - quantile, abs=0.002)
    last = detector(quantile=1.0).fit(points)
    assert last.offset_ == pytest.approx(detector().fit(points).offset_, rel=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"factor": 0.9}, "factor must be at least 1, found 0.9"),
        ({"factor": float("nan")}, "factor must be at least 1, found nan"),
        ({"quantile": 0.0}, r"quantile must be None or in \(0, 1\], found 0.0"),
        ({"quantile": 1.1}, r"quantile must be None or in \(0, 1\], found 1.1"),
        ({"quantile": 0.5, "factor": 2}, "factor must stay 1 where a quantile is"),
    ],
)
def test_senseless_thresholds_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        BallDetector(**options).fit(cloud())


def test_bad_points_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        BallDetector().fit([[0.0, np.nan], [1.0, 2.0]])
    with pytest.raises(ValueError, match="2D array"):
        BallDetector().fit([0.0, 1.0])
    with pytest.raises(NotFittedError):
        BallDetector().predict(cloud())
    with pytest.raises(ValueError, match="2 features"):
        BallDetector().fit(cloud()).predict(cloud(n=2))


def test_names_of_columns_are_remembered():
    frame = pd.DataFrame(cloud(), columns=["a", "b", "c"])
    fitted = BallDetector().fit(frame)
    assert list(fitted.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame[["b", "a", "c"]])


def test_clones_pipelines_and_searches_take_it():
    points = cloud()
    original = BallDetector(factor=1.25)
    assert clone(original).get_params() == {"factor": 1.25, "quantile": None}
    pipeline = make_pipeline(StandardScaler(), BallDetector()).fit(points)
    scaled = StandardScaler().fit_transform(points)
    np.testing.assert_allclose(
        pipeline.score_samples(points),
        BallDetector().fit(scaled).score_samples(scaled),
        rtol=1e-9,
    )
    labels = np.ones(len(points))
    search = GridSearchCV(
        BallDetector(), {"factor": [1.0, 2.0]}, scoring="accuracy", cv=3
    ).fit(points, labels)
    assert search.best_params_ == {"factor": 2.0}


@pytest.mark.parametrize("detector", DETECTORS)
def test_scikit_learn_takes_it_for_an_outlier_detector_where_it_is_one(detector):
    assert is_outlier_detector(detector(quantile=0.9))
    assert not is_outlier_detector(detector())
    points = cloud()
    assert (detector().fit_predict(points) == 1).all()
    assert (detector(quantile=0.9).fit_predict(points) == -1).sum() == 20


def test_the_input_is_left_alone():
    points = cloud()
    before = points.copy()
    BallDetector().fit(points).predict(points)
    np.testing.assert_array_equal(points, before)


def test_more_features_than_points():
    points, far = cloud(m=20, n=50), cloud(m=5, n=50, seed=1) + 100.0
    for detector in DETECTORS:
        assert (detector().fit(points).predict(far) == -1).all()


def test_the_mahalanobis_distance_is_that_of_the_shrunk_covariance():
    points, test = cloud(), cloud(seed=1)
    fitted = MahalanobisDetector().fit(points)
    estimate = LedoitWolf().fit(points)
    gap = test - points.mean(axis=0)
    expected = np.sqrt(np.einsum("ij,jk,ik->i", gap, estimate.precision_, gap))
    np.testing.assert_allclose(-fitted.score_samples(test), expected, rtol=1e-10)


def test_the_report_of_breast_cancer_is_met_at_the_optimum():
    split = report_split(load_dataset("breast_cancer"))
    detector = BallDetector().fit(split.train)
    assert round(detector.ball_.lower_bound, 6) == 11.077386
    scores = score_detector(detector, split)
    assert scores["recall"] == pytest.approx(162 / 212)
    assert scores["false_alarms"] == pytest.approx(5 / 179)


def test_every_rival_can_be_fitted_and_judged():
    split = report_split(load_dataset("breast_cancer"))
    rivals = rival_detectors()
    assert next(iter(rivals)) == "hard ball"
    for detector in rivals.values():
        scores = score_detector(clone(detector).fit(split.train), split)
        assert 0.8 < scores["auroc"] <= 1.0
