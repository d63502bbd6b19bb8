"""Balls of clusters, the choice between balls without labels, and the columns named."""

import numpy as np
import pandas as pd
import pytest
from sklearn.mixture import GaussianMixture

from mebnb import SoftBallDetector
from mebnb.learning import choice, clusters
from mebnb.learning.alarms import ConformalAlarms
from mebnb.learning.choice import (
    MADE_UP,
    ChosenBallDetector,
    candidates,
    made_up_rows,
    shares_found,
)
from mebnb.learning.clusters import (
    WhitenedBallsDetector,
    clusters_apart,
    mixture_clusters,
)
from mebnb.learning.detectors import (
    BallDetector,
    MahalanobisDetector,
    MeanDetector,
)
from mebnb.learning.keeping import from_plain, to_plain
from mebnb.learning.local_balls import KernelBallDetector
from mebnb.learning.reasons import SquaredForm, named_columns


def two_clusters(rows=300, seed=0):
    """Apart in the first two of four columns."""
    rng = np.random.default_rng(seed)
    side = rng.choice([-4.0, 4.0], (rows, 1))
    return rng.normal(size=(rows, 4)) + side * [1.0, 1.0, 0.0, 0.0]


def ring(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, rows)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return 3.0 * circle + 0.3 * rng.normal(size=(rows, 2))


def test_one_cluster_is_the_mahalanobis_distance():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 3))
    balls = WhitenedBallsDetector().fit(X)
    assert len(balls.centers_) == 1
    plain = MahalanobisDetector().fit(X)
    np.testing.assert_allclose(balls.score_samples(X), plain.score_samples(X))
    alone = balls.ball(0)
    np.testing.assert_allclose(alone.score_samples(X), balls.score_samples(X))


def test_rows_between_clusters_are_far_from_either():
    X = two_clusters()
    balls = WhitenedBallsDetector().fit(X)
    assert len(balls.centers_) == 2
    middle = np.zeros((1, 4))
    assert balls.score_samples(middle) < balls.score_samples(X).min()
    plain = MahalanobisDetector().fit(X)
    assert plain.score_samples(middle) > np.median(plain.score_samples(X))
    each = np.column_stack([balls.ball(one).score_samples(X) for one in (0, 1)])
    np.testing.assert_allclose(each.max(axis=1), balls.score_samples(X))
    np.testing.assert_array_equal(each.argmax(axis=1), balls.nearest(X))


def test_only_clusters_with_a_gap_are_apart():
    assert len(clusters_apart(two_clusters())) == 2
    assert len(clusters_apart(ring())) == 1
    assert (
        len(clusters_apart(np.exp(np.random.default_rng(0).normal(size=(300, 2))))) == 1
    )
    assert clusters_apart(np.tile([1.0, 2.0], (30, 1))).tolist() == [30]
    assert clusters_apart(blobs(20, 40, 30)).tolist() == [40, 30, 20]


def test_made_up_rows_are_what_they_are_called():
    X = two_clusters()
    made = made_up_rows(X)
    assert tuple(made) == MADE_UP
    assert np.isin(made["shuffled"], X).all()
    assert abs(np.corrcoef(made["shuffled"], rowvar=False)[0, 1]) < 0.2
    for rows in made.values():
        assert (rows >= X.min(axis=0)).all() and (rows <= X.max(axis=0)).all()
    assert np.ptp(made["spread"], axis=0) == pytest.approx(np.ptp(X, axis=0), rel=0.05)


@pytest.mark.parametrize(
    "rows, taken",
    [
        (two_clusters(), "whitened"),
        (ring(), "local"),
        (np.random.default_rng(0).normal(size=(300, 1)) ** 3, "soft"),
        (two_clusters(49), "soft"),
    ],
)
def test_the_ball_that_suits_the_rows_is_taken(rows, taken):
    chosen = ChosenBallDetector().fit(rows)
    assert chosen.chosen_ == taken
    assert (chosen.shares_ is None) == (len(rows) < 50)
    np.testing.assert_array_equal(
        chosen.score_samples(rows[:5]), chosen.detector_.score_samples(rows[:5])
    )


def test_shares_are_those_of_alarms_at_five_percent():
    X = ring()
    shares = shares_found({"mean": MeanDetector()}, X)
    alarms = ConformalAlarms(MeanDetector(), calibration=0.4, random_state=0).fit(X)
    for kind, rows in made_up_rows(X).items():
        assert shares.loc["mean", kind] == np.mean(alarms.p_values(rows) <= 0.05)
    assert shares.loc["mean", "mean"] == pytest.approx(
        shares.loc["mean"].iloc[:3].mean()
    )


def test_columns_are_named_alone_or_as_a_pair():
    root = np.array([[1.0, 0.0, 0.0], [0.95, 0.3, 0.0], [0.0, 0.0, 1.0]])
    form = SquaredForm(np.zeros(3), np.linalg.inv(root @ root.T), reach=3.0)
    broken, wild, both = [1.5, -1.5, 0.1], [0.5, 0.4, 6.0], [9.0, 0.0, -9.0]
    named = named_columns(form, [broken, wild, [0.1, 5.0, 0.2], both])
    assert set(named[0]) == {0, 1} and named[1] == (2,) and named[2] == (1,)
    assert len(named[3]) == 2
    diagonal = SquaredForm(np.zeros(3), np.diag([1.0, 4.0, 1.0]), reach=1.0)
    assert named_columns(diagonal, [[3.0, 2.0, 0.0]]) == [(1,)]


def test_thresholds_are_those_of_the_p_values():
    X = ring()
    alarms = ConformalAlarms(MeanDetector(), random_state=0).fit(X)
    scores = alarms.detectors_[0].score_samples(X)
    for level in (0.02, 0.05, 0.5):
        below = scores < alarms.threshold_at(level)
        np.testing.assert_array_equal(alarms.p_values(X) <= level, below)
    assert alarms.threshold_at(1e-6) == -np.inf
    assert alarms.same_law(ring(200, 5)) > 1e-3 > alarms.same_law(1.2 * ring(200, 5))
    crossed = ConformalAlarms(MeanDetector(), method="cross", random_state=0).fit(X)
    for ask in (crossed.threshold_at, crossed.same_law):
        with pytest.raises(ValueError, match='^method must be "split"'):
            ask(0.5 if ask == crossed.threshold_at else X)


def test_a_kernel_cannot_be_kept():
    X = ring(60)
    for fitted in (KernelBallDetector().fit(X), SoftBallDetector(kernel="rbf").fit(X)):
        with pytest.raises(ValueError, match="^fitted must be one of BallDetector"):
            to_plain(fitted)
    with pytest.raises(ValueError, match="^kept must be what to_plain made"):
        from_plain({"kind": "SoftBallDetector", "columns": 2, "center_": [0.0]})


def test_a_detector_that_is_hardly_better_is_not_taken(monkeypatch):
    mean = pd.Series({"soft": 0.5, "whitened": 0.51, "local": 0.52})
    monkeypatch.setattr(choice, "shares_found", lambda *given: mean.to_frame("mean"))
    assert ChosenBallDetector().fit(ring()).chosen_ == "soft"
    mean["local"] = 0.53
    assert ChosenBallDetector().fit(ring()).chosen_ == "whitened"


def test_rows_that_repeat_are_no_more_rows_to_compare():
    rows = ring(49)
    assert shares_found({"mean": MeanDetector()}, np.vstack([rows, rows])) is None


class Counting(MeanDetector):
    """Notes how many rows it is fitted on."""

    fitted = []

    def fit(self, X, y=None):
        Counting.fitted.append(len(X))
        return super().fit(X)


def test_a_part_of_many_rows_is_compared():
    Counting.fitted.clear()
    for rows in (50, 1000, 2500):
        assert shares_found({"counting": Counting()}, ring(rows)) is not None
    # Two fifths give p-values.
    assert Counting.fitted == [30, 600, 1200]
    assert all(rows.shape == (500, 2) for rows in made_up_rows(ring()).values())


def test_without_slack_the_first_candidate_is_the_hard_ball():
    assert type(candidates(0.0)["soft"]) is BallDetector
    assert candidates(0.1)["soft"].get_params()["nu"] == 0.1


def test_few_rows_apart_and_a_sum_of_columns_make_no_cluster():
    rows = np.random.default_rng(0).normal(size=(100, 2))
    assert mixture_clusters(np.vstack([rows, rows[:5] + 50.0])).max() == 0
    flat = np.column_stack([rows, rows.sum(axis=1)])  # rounding in one direction
    for unit in (1.0, 1e20):
        assert mixture_clusters(unit * flat).max() == 0


@pytest.mark.parametrize(
    "told, count", [((3.0, 3.0, 0.0), 1), ((3.0, 4.0, 0.0), 1), ((3.0, 2.0, 2.0), 2)]
)
def test_clusters_grow_in_number_as_long_as_the_bic_falls(told, count, monkeypatch):
    class Mixture(GaussianMixture):
        def bic(self, X):
            return told[self.n_components - 1]

    monkeypatch.setattr(clusters, "GaussianMixture", Mixture)
    monkeypatch.setattr(clusters, "STARTS", 1)
    assert mixture_clusters(blobs(12, 12, 12)).max() + 1 == count


def blobs(*sizes):
    """Clusters of so many rows on a wide circle."""
    rng = np.random.default_rng(0)
    angles = 2 * np.pi * np.arange(len(sizes)) / len(sizes)
    centers = 30.0 * np.column_stack([np.cos(angles), np.sin(angles)])
    return np.repeat(centers, sizes, axis=0) + rng.normal(size=(sum(sizes), 2))


@pytest.mark.parametrize(
    "sizes, count",
    [((10, 10), 2), ((30, 10), 2), ((30, 9), 1), ((12, 12), 2), ((20,) * 6, 5)],
)
def test_clusters_have_ten_rows_and_are_at_most_five(sizes, count):
    assert np.unique(mixture_clusters(blobs(*sizes))).size == count


def test_clusters_in_a_narrow_direction_are_found():
    rows = np.random.default_rng(0).normal(size=(200, 2)) * [100.0, 1.0]
    rows[::2, 1] += 9.0
    cluster = mixture_clusters(rows)
    assert cluster.max() == 1 and np.ptp(cluster[::2]) == np.ptp(cluster[1::2]) == 0


def test_a_mixture_is_fitted_to_a_part_of_many_rows(monkeypatch):
    fitted = []

    class Mixture(GaussianMixture):
        def fit(self, X, y=None):
            fitted.append((len(X), len(np.unique(X, axis=0))))
            return super().fit(X)

    monkeypatch.setattr(clusters, "GaussianMixture", Mixture)
    monkeypatch.setattr(clusters, "STARTS", 1)
    mixture_clusters(blobs(600, 500))
    mixture_clusters(blobs(30, 30))
    assert {*fitted} == {(1000, 1000), (60, 60)}


@pytest.mark.parametrize(
    "middle, thinner, parted",
    [(8, 30, True), (9, 30, False), (199, 400, True), (200, 400, False)],
)
def test_a_gap_holds_less_than_half_and_that_by_no_chance(middle, thinner, parted):
    def about(place, pairs, apart):
        return place + np.repeat([apart, -apart], pairs)

    first = [about(0.0, thinner, 0.09), about(0.0, middle, 0.41)]
    # Rows just outside of each fifth, in the same number on either side of a mean.
    first += [about(0.0, 50, 0.11), about(0.0, 50, 0.39)]
    second = [about(1.0, thinner // 2, 0.09), about(1.0, 50, 0.11)]
    rows = [
        np.outer(np.concatenate(side), [3.0, -4.0]) + 7.0 for side in (first, second)
    ]
    assert clusters._gap(*rows) == clusters._gap(*rows[::-1]) == parted


def test_the_border_of_a_fifth_belongs_to_it():
    start = np.repeat([[1.0], [-1.0]], 20, axis=0)
    assert clusters._gap(start, np.full((40, 1), 10.0))


def test_rows_between_others_lie_on_the_way():
    between = made_up_rows(np.array([[0.0, 0.0], [1.0, 2.0]]))["between"]
    np.testing.assert_allclose(between[:, 1], 2.0 * between[:, 0])
    inside = (between[:, 0] > 0.0) & (between[:, 0] < 1.0)
    assert 0.3 < inside.mean() < 0.7


def test_a_committee_without_members_is_not_read():
    with pytest.raises(ValueError, match="kept must be what to_plain made"):
        from_plain({"kind": "Committee", "columns": 2, "members": []})
