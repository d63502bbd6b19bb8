"""Balls that are local, whitened or several, and the committee: what each one sees."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from sklearn.base import clone
from sklearn.mixture import GaussianMixture
from sklearn.utils.estimator_checks import check_estimator

from mebnb.learning import local_balls as module
from mebnb.learning.alarms import ConformalAlarms
from mebnb.learning.detectors import (
    BallDetector,
    MahalanobisDetector,
    MeanDetector,
    SoftBallDetector,
)
from mebnb.learning.local_balls import (
    Committee,
    KernelBallDetector,
    LocalBallDetector,
    SeveralBallsDetector,
    WhitenedBallDetector,
)
from mebnb.learning.reasons import squared_form


def cloud(m=200, n=3, seed=0):
    return np.random.default_rng(seed).normal(size=(m, n))


def two_clusters(m=200, seed=0):
    rows = cloud(m, 2, seed)
    rows[::2] += 12.0
    return rows


@pytest.mark.parametrize(
    "detector",
    [
        LocalBallDetector(),
        LocalBallDetector(quantile=0.9),
        WhitenedBallDetector(),
        SeveralBallsDetector(),
        KernelBallDetector(),
        Committee([MeanDetector()]),
    ],
    ids=repr,
)
def test_scikit_learns_own_checks_pass(detector):
    check_estimator(detector, on_skip=None)


def test_the_local_ball_is_the_smallest_that_holds_k_rows():
    rows, new = cloud(), cloud(50, seed=1)
    radii = -LocalBallDetector(neighbors=7).fit(rows).score_samples(new)
    distances = cdist(new, rows)
    held = (distances <= radii[:, None] * (1 + 1e-12)).sum(axis=1)
    assert (held == 7).all()
    assert ((distances < radii[:, None] * (1 - 1e-12)).sum(axis=1) == 6).all()


def test_rows_that_repeat_count_once():
    rows, new = cloud(), cloud(50, seed=1)
    once = LocalBallDetector().fit(rows)
    often = LocalBallDetector().fit(np.vstack([rows] * 34))
    np.testing.assert_array_equal(often.score_samples(new), once.score_samples(new))
    assert often.offset_ == once.offset_
    alone = LocalBallDetector(neighbors=1).fit(rows)
    np.testing.assert_array_equal(alone.score_samples(rows), np.zeros(200))
    few = LocalBallDetector().fit([[0.0], [-0.0], [2.0]])
    assert few.rows_.tolist() == [[0.0], [2.0]]
    assert few.score_samples([[0.5]]) == [-1.5]


@pytest.mark.parametrize("neighbors", [0, 2.0, "five"])
def test_senseless_numbers_of_neighbors_are_refused(neighbors):
    with pytest.raises(ValueError, match="neighbors must be an int of at least 1"):
        LocalBallDetector(neighbors=neighbors).fit(cloud())


def test_the_whitened_ball_is_a_ball_of_the_mahalanobis_distance():
    rows = cloud(300, 2) @ [[1.0, 0.98], [0.0, 0.2]] + 5.0
    fitted, plain = WhitenedBallDetector().fit(rows), MahalanobisDetector().fit(rows)
    form = squared_form(fitted)
    np.testing.assert_array_equal(form.matrix, plain.covariance_.precision_)
    np.testing.assert_allclose(
        form.squared_distances(rows), fitted.score_samples(rows) ** 2, rtol=1e-10
    )
    # At most a share nu is outside, rows on the border are not.
    outside = (fitted.predict(rows) == -1).sum()
    assert 0 < outside <= 0.05 * len(rows)
    assert -fitted.offset_ == pytest.approx(fitted.radius_, rel=1e-8)
    # Columns that disagree are seen, which the ball in the space of the rows cannot.
    assert fitted.predict([[6.0, 4.0]]) == [-1]
    assert BallDetector().fit(rows).predict([[6.0, 4.0]]) == [1]
    assert not np.allclose(fitted.center_, plain.center_, atol=1e-6)


def test_several_balls_leave_the_middle_of_two_clusters_out():
    rows = two_clusters()
    fitted = SeveralBallsDetector(random_state=0).fit(rows)
    assert len(fitted.balls_) == 2
    assert all(ball.converged for ball in fitted.balls_)
    assert fitted.predict([[6.0, 6.0], [0.0, 0.0], [12.0, 12.0]]).tolist() == [-1, 1, 1]
    assert (fitted.predict(rows) == -1).mean() <= 0.05
    assert BallDetector().fit(rows).predict([[6.0, 6.0]]) == [1]
    center, radius = fitted.centers_[0], fitted.radii_[0]
    assert fitted.score_samples([center + [radius, 0.0]]) == pytest.approx(-1.0)
    assert len(SeveralBallsDetector(random_state=0).fit(cloud(400, 2)).balls_) == 1
    assert len(SeveralBallsDetector(random_state=0).fit(two_clusters(18)).balls_) == 1


def blobs(*sizes, spreads=None):
    """Clusters of so many rows on a wide circle."""
    angles = 2 * np.pi * np.arange(len(sizes)) / len(sizes)
    centers = 90.0 * np.column_stack([np.cos(angles), np.sin(angles)])
    widths = np.repeat(spreads or [1.0] * len(sizes), sizes)[:, None]
    return np.repeat(centers, sizes, axis=0) + widths * cloud(sum(sizes), 2)


@pytest.mark.parametrize(
    "sizes, count",
    [((10, 10), 2), ((30, 10), 2), ((30, 9), 1), ((12,) * 4, 4), ((20,) * 6, 5)],
)
def test_several_balls_hold_ten_rows_each_and_are_at_most_five(sizes, count):
    fitted = SeveralBallsDetector(random_state=0).fit(blobs(*sizes))
    assert len(fitted.balls_) == len(fitted.centers_) == count


def test_each_ball_is_measured_in_its_own_radius():
    rows = blobs(40, 40, 40, spreads=[1.0, 6.0, 0.0])
    fitted = SeveralBallsDetector(random_state=0, nu=0.1).fit(rows)
    radii = np.sort([ball.radius for ball in fitted.balls_])
    np.testing.assert_array_equal(np.sort(fitted.radii_)[1:], radii[1:])
    assert radii[0] == 0.0 and fitted.radii_.min() == 1e-9 * radii[2]
    alike = SeveralBallsDetector().fit(np.ones((12, 2)))
    assert alike.radii_.tolist() == [1e-150] and alike.offset_ == -1.0


def test_clusters_are_found_in_any_unit_and_far_from_the_origin():
    rows = cloud(80, 2)
    rows[::2, 1] += 12.0
    for unit in (1e-6, 1e6):
        moved = rows * [1.0, unit] + [1e9, 0.0]
        fitted = SeveralBallsDetector(random_state=0).fit(moved)
        assert len(fitted.balls_) == 2
    constant = np.column_stack([rows, np.full(80, 7.0)])
    assert len(SeveralBallsDetector(random_state=0).fit(constant).balls_) == 2


def test_fewer_rows_than_clusters_that_could_be_are_one():
    assert len(SeveralBallsDetector().fit(cloud(3)).balls_) == 1


@pytest.mark.parametrize(
    "told, count", [((3.0, 1.0, 1.0), 2), ((3.0, 3.0, 3.0), 1), ((3.0, 4.0, 1.0), 3)]
)
def test_the_number_of_balls_is_that_of_the_smallest_bic(told, count, monkeypatch):
    class Mixture(GaussianMixture):
        def bic(self, X):
            return told[self.n_components - 1]

    monkeypatch.setattr(module, "GaussianMixture", Mixture)
    fitted = SeveralBallsDetector(random_state=0).fit(blobs(12, 12, 12))
    assert len(fitted.balls_) == count


def test_the_hard_balls_leave_no_row_outside_and_the_soft_ones_a_few():
    rows = cloud(30)
    for kind in (SeveralBallsDetector, WhitenedBallDetector):
        for nu in (0.01, 1 / 30):
            hard = kind(nu=nu).fit(rows)
            assert (hard.predict(rows) == 1).all()
        for seed in range(12):  # rounding puts a few rows beyond their radius
            few = cloud(8, seed=seed)
            assert (kind(nu=1 / 8).fit(few).predict(few) == 1).all()
        soft = kind(nu=0.05).fit(rows)
        assert (soft.predict(rows) == -1).sum() == 1
    assert SeveralBallsDetector(nu=0.05).fit(rows).offset_ == -1.0


def test_the_width_of_a_kernel_of_many_rows_is_that_of_every_third(monkeypatch):
    rows = cloud(2499, 2)
    # The width alone: a ball of so many rows takes long.
    ball = module.soft_ball(rows[:9], kernel="rbf")
    monkeypatch.setattr(module, "soft_ball", lambda *given, **options: ball)
    for many, step in ((rows, 3), (rows[:1000], 1), (rows[:1001], 2)):
        some = np.unique(many, axis=0)[::step]
        expected = 1.0 / np.median(pdist(some, "sqeuclidean"))
        detector = KernelBallDetector()
        detector._locate(many)
        assert detector.gamma_ == pytest.approx(expected, rel=1e-12)
    monkeypatch.undo()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert KernelBallDetector().fit(np.ones((9, 2))).gamma_ == 1.0
    two = KernelBallDetector(nu=1.0).fit([[0.0], [0.25]])
    assert two.gamma_ == 16.0


def test_the_width_of_the_kernel_is_the_median_distance_of_distinct_rows():
    rows = np.array([[0.0], [0.0], [0.0], [1.0], [3.0]])
    assert KernelBallDetector(nu=0.5).fit(rows).gamma_ == 1 / 4
    scaled = KernelBallDetector().fit(10.0 * cloud())
    plain = KernelBallDetector().fit(cloud())
    assert scaled.gamma_ == pytest.approx(plain.gamma_ / 100)


def test_the_committee_joins_its_members_p_values():
    rows, new = cloud(100, 2), cloud(30, 2, seed=1) * 2.0
    joined = Committee([MeanDetector(), LocalBallDetector()], random_state=0).fit(rows)
    p_values = [
        ConformalAlarms(one, 0.5, "cross", random_state=0).fit(rows).p_values(new)
        for one in (MeanDetector(), LocalBallDetector())
    ]
    np.testing.assert_allclose(
        joined.score_samples(new), 0.5 * np.log(p_values[0] * p_values[1])
    )
    assert clone(joined).get_params()["random_state"] == 0
    with pytest.raises(ValueError, match="but Committee is expecting 2 features"):
        joined.score_samples(new[:, :1])


def test_a_committee_of_its_own_has_three_members_and_takes_two_rows():
    members = Committee(random_state=0).fit(cloud(20, 2)).members_
    assert [type(one.detector) for one in members] == [
        *(SoftBallDetector, WhitenedBallDetector, LocalBallDetector)
    ]
    few = Committee([MeanDetector()])
    assert len(few.fit([[0.0], [1.0]]).members_) == 1
    with pytest.raises(ValueError, match="a minimum of 2 is required"):
        few.fit([[0.0]])


def test_the_committee_sees_what_one_of_its_members_sees():
    rows = cloud(400, 2) @ [[1.0, 0.98], [0.0, 0.2]]
    alarms = ConformalAlarms(Committee(random_state=0), random_state=0).fit(rows)
    assert alarms.predict([[1.0, -1.0], [9.0, 9.0], [0.0, 0.0]]).tolist() == [-1, -1, 1]


def test_the_committee_is_held_to_its_rate():
    rates = []
    for seed in range(30):
        rows = cloud(40 + 500, 2, seed)
        alarms = ConformalAlarms(
            Committee([MeanDetector(), LocalBallDetector()], random_state=0),
            alpha=2 / 21,
            random_state=seed,
        ).fit(rows[:40])
        rates.append(np.mean(alarms.predict(rows[40:]) == -1))
    error = np.std(rates) / np.sqrt(len(rates))
    assert np.mean(rates) <= 2 / 21 + 3 * error
