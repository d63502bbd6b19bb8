"""Detectors: scikit-learn's own checks, thresholds, and what they find."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_outlier_detector
from sklearn.covariance import LedoitWolf
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from mebnb.datasets import load_dataset
from mebnb.experiments.published_splits import report_split
from mebnb.learning import detectors, score_detector
from mebnb.learning.detectors import (
    BallDetector,
    DistinctLocalOutlierFactor,
    ExcludingEllipsoids,
    MahalanobisDetector,
    MeanDetector,
    PlainSoftBallDetector,
    SoftBallDetector,
    rival_detectors,
)
from mebnb.solvers.certificates import verify

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


# --- the edges of float64 ------------------------------------------------------------

OF_A_CENTER = [BallDetector, MeanDetector, PlainSoftBallDetector]


@pytest.mark.parametrize("detector", OF_A_CENTER)
@pytest.mark.parametrize("factor", [1e160, 1e-170, 1e300, 1e-300])
def test_detectors_of_a_center_work_at_any_scale(detector, factor):
    points, far = cloud(), cloud(seed=1) * 3.0
    once, scaled = detector().fit(points), detector().fit(factor * points)
    np.testing.assert_array_equal(once.predict(far), scaled.predict(factor * far))
    expected = once.score_samples(far)
    np.testing.assert_allclose(scaled.score_samples(factor * far) / factor, expected)
    assert (once.predict(far) == -1).sum() > 100


@pytest.mark.parametrize("factor", [1e160, 1e-170])
def test_detectors_that_cannot_hold_the_squares_say_so(factor):
    points = factor * cloud()
    with pytest.raises(ValueError, match="squared distances that float64 can hold"):
        SoftBallDetector().fit(points)
    with pytest.raises(ValueError, match="covariance that float64 can hold"):
        MahalanobisDetector().fit(points)
    labels = np.repeat([0, 1], [180, 20])
    for scaling in ("unit", "standard"):
        with pytest.raises(ValueError, match="features whose range is 0 or from 1e-14"):
            ExcludingEllipsoids(scaling=scaling).fit(points, labels)


@pytest.mark.parametrize("factor", [1e160, 1e-170])
def test_the_rbf_detector_has_no_scale(factor):
    points, far = cloud(), cloud(seed=1) * 3.0
    once = SoftBallDetector(kernel="rbf").fit(points)
    scaled = SoftBallDetector(kernel="rbf").fit(factor * points)
    np.testing.assert_array_equal(once.predict(far), scaled.predict(factor * far))
    assert (once.predict(far) == -1).sum() > 100


@pytest.mark.parametrize("detector", [*OF_A_CENTER, SoftBallDetector])
def test_a_point_beyond_all_numbers_is_an_outlier(detector):
    fitted = detector().fit(cloud())
    for far in (1e160, 1e300, -1.7e308):
        scores = fitted.decision_function([[far, -far, far], [5.0, 5.0, 5.0]])
        assert not np.isnan(scores).any()
        assert fitted.predict([[far, -far, far]]) == [-1]


def test_an_example_beyond_all_numbers_is_not_positive():
    labels = np.repeat(["a", "b"], [20, 180])
    for options in ({}, {"m": None}, {"rank_metric": "learned"}):
        model = ExcludingEllipsoids(mus=[1.0], lams=[1.0], scaling=None, **options)
        model.fit(cloud(), labels)
        assert model.predict([[1e200, -1e200, 1e200]]) == ["b"]


@pytest.mark.parametrize(
    "detector", [*OF_A_CENTER, SoftBallDetector, lambda: SoftBallDetector(kernel="rbf")]
)
def test_equal_training_rows_are_a_point(detector):
    rows = np.full((20, 2), 0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = detector().fit(rows)
    assert fitted.radius_ <= 1e-150 if hasattr(fitted, "radius_") else True
    assert (fitted.predict(rows) == 1).all()
    assert fitted.predict([[0.1, 0.2]]) == [-1]


def test_equal_training_rows_have_no_covariance():
    with pytest.raises(ValueError, match="rows that differ .* found 20 samples"):
        MahalanobisDetector().fit(np.full((20, 2), 0.1))


@settings(max_examples=20, deadline=None)
@given(
    m=st.integers(2, 25),
    n=st.integers(1, 6),
    seed=st.integers(0, 1000),
    scale=st.sampled_from([1e-3, 1.0, 1e6]),
    offset=st.sampled_from([0.0, 1e3, 1e7]),
)
def test_a_training_row_is_never_an_outlier_of_a_hard_ball_when_asked_alone(
    m, n, seed, scale, offset
):
    points = scale * np.random.default_rng(seed).standard_normal((m, n)) + offset
    made = [BallDetector(), MeanDetector(), MahalanobisDetector()]
    made += [SoftBallDetector(nu=1e-9, kernel=kernel) for kernel in ("linear", "rbf")]
    made += [SoftBallDetector(nu=1e-9, kernel=cubic), PlainSoftBallDetector(nu=1e-9)]
    for detector in made:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = detector.fit(points)
        alone = [fitted.predict(row[None, :])[0] for row in points]
        assert alone == [1] * m, detector
        assert (fitted.predict(points[::-1]) == 1).all(), detector


def cubic(x, y):
    return (x @ y.T / x.shape[1] + 1.0) ** 3


@pytest.mark.parametrize(
    ("detector", "solver"),
    [
        (BallDetector(), "minimum_enclosing_ball"),
        (SoftBallDetector(), "soft_ball"),
        (PlainSoftBallDetector(), "plain_soft_ball"),
    ],
)
def test_a_ball_that_is_not_proved_is_told(detector, solver, monkeypatch):
    real = getattr(detectors, solver)

    class Unproved:
        converged, message = False, "the gap stays large"

        def __init__(self, ball):
            self.ball = ball

        def __getattr__(self, name):
            return getattr(self.ball, name)

    monkeypatch.setattr(detectors, solver, lambda *a, **k: Unproved(real(*a, **k)))
    with pytest.warns(ConvergenceWarning, match="the gap stays large"):
        detector.fit(cloud())


@pytest.mark.parametrize("detector", OF_A_CENTER)
def test_a_point_on_the_border_is_inside(detector):
    fitted = detector().fit([[-1.0], [1.0]])
    fitted.center_, fitted.offset_ = np.zeros(1), -1.0
    assert fitted.predict([[1.0], [-1.0], [np.nextafter(1.0, 2.0)]]).tolist() == [
        1,
        1,
        -1,
    ]


def test_distances_are_right_where_squares_are_not():
    center = np.array([1.0, 2.0])
    for unit in (1e-170, 1e-155, 1e-140, 1.0, 1e140, 1e153, 1e155, 1e300):
        rows = unit * (center + np.array([[3.0, 4.0], [0.0, 0.0], [-5.0, 12.0]]))
        lengths = detectors._lengths(rows, unit * center) / unit
        np.testing.assert_allclose(lengths, [5.0, 0.0, 13.0], rtol=1e-14)


@pytest.mark.parametrize(
    "detector", [SoftBallDetector(nu=0.05), PlainSoftBallDetector(nu=0.05)]
)
def test_from_a_price_of_one_on_the_threshold_reaches_every_training_row(detector):
    # nu m = 1 is the last ball without slack; rounding may leave its radius short.
    for rows, reach in ((20, 7.0), (19, 7.0), (21, 0.5)):
        fitted = clone(detector).fit(cloud(rows))
        fitted.radius_ = 0.5
        assert fitted._reach(np.array([1.0, 7.0])) == reach


def test_ranges_of_features_that_the_scalers_take():
    low, high = detectors.SCALED_RANGE
    assert (low, high) == (1e-14, 1e150)
    detectors._check_scalable(np.array([[0.0, 0.0, 5.0], [2.0 * low, high / 2.0, 5.0]]))
    for odd in (low / 2.0, 2.0 * high):
        with pytest.raises(ValueError, match="range is 0 or from .* in column 1"):
            detectors._check_scalable(np.array([[0.0, 0.0], [1.0, odd]]))
    assert detectors.COVARIANCE_RANGE == (1e-70, 1e70)


def test_folds_hold_both_classes_evenly():
    positive = np.arange(23) % 4 == 0  # 6 and 17
    fold = detectors._two_folds(positive, np.random.RandomState(0))
    assert [np.sum(fold[positive] == own) for own in (0, 1)] == [3, 3]
    assert [np.sum(fold[~positive] == own) for own in (0, 1)] == [9, 8]


def test_merit_is_f_or_minus_the_false_positives():
    called = np.array([[True, True, False, True], [False] * 4, [True] * 4])
    truth = np.array([True, False, True, False])
    # 1 right, 2 false, 2 wanted; none; 2 right, 2 false.
    np.testing.assert_allclose(detectors._merit(called, truth), [2 / 5, 0.0, 2 / 3])
    none = np.zeros(4, bool)
    assert detectors._merit(called, none).tolist() == [-3, 0, -4]


def repeated_cloud():
    """Forty points, the first of them in thirty rows, more than there are neighbours."""
    points = np.random.default_rng(0).normal(size=(40, 2))
    return points, np.vstack([points, np.repeat(points[:1], 29, axis=0)])


def test_repeated_rows_change_no_factor():
    points, repeated = repeated_cloud()
    plain = LocalOutlierFactor(novelty=True)
    assert plain.fit(repeated).negative_outlier_factor_.min() < -1e7
    there = np.random.default_rng(1).normal(size=(50, 2))
    lof = DistinctLocalOutlierFactor().fit(repeated)
    assert lof.negative_outlier_factor_.min() > -10
    np.testing.assert_allclose(
        lof.score_samples(there), plain.fit(points).score_samples(there), rtol=1e-12
    )
    rival = clone(rival_detectors()["local outlier factor"]).fit(repeated)
    np.testing.assert_array_equal(rival.score_samples(there), lof.score_samples(there))


def test_rivals_are_drawn_from_a_seed_and_have_their_usual_parameters():
    rivals = rival_detectors()
    assert rivals["isolation forest"].random_state == 0
    assert rival_detectors(3)["isolation forest"].random_state == 3
    assert rivals["one-class SVM"].nu == 0.05
    assert rivals["local outlier factor"].novelty
