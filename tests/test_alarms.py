"""Conformal alarms: what is promised holds over many fits, and the counting by hand."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone, is_outlier_detector
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import OneClassSVM
from sklearn.utils.estimator_checks import check_estimator

from mebnb import ConformalAlarms
from mebnb.learning import alarms as module
from mebnb.learning.alarms import METHODS, benjamini_hochberg, most_false_alarms
from mebnb.learning.detectors import BallDetector, MeanDetector, SoftBallDetector


def cloud(m=198, n=3, seed=0):
    return np.random.default_rng(seed).normal(size=(m, n))


class OwnNumber(BaseEstimator):
    """A detector that has nothing to fit: the score is the first column."""

    def fit(self, X, y=None):
        self.rows_ = np.array(X)
        return self

    def score_samples(self, X):
        return np.asarray(X)[:, 0].astype(float)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore:no row can be an alarm")
def test_scikit_learns_own_checks_pass(method):
    check_estimator(ConformalAlarms(MeanDetector(), method=method), on_skip=None)


@pytest.mark.parametrize("method", METHODS)
def test_p_values_are_places_among_rows_that_were_not_seen(method):
    fitted = ConformalAlarms(OwnNumber(), method=method, random_state=0).fit(cloud())
    held = np.sort(cloud()[fitted.calibration_rows_, 0])
    new = cloud(seed=1)
    below = np.array([np.sum(held <= value) for value in new[:, 0]])
    np.testing.assert_array_equal(fitted.p_values(new), (1 + below) / (1 + len(held)))
    assert fitted.smallest_p_value_ == 1 / (1 + len(held))
    assert fitted.p_values([[-9.0, 0.0, 0.0]]) == fitted.smallest_p_value_
    assert fitted.p_values([[9.0, 0.0, 0.0]]) == 1.0


def test_no_detector_has_seen_the_rows_that_it_is_held_against():
    for method, folds in (("split", 1), ("cross", 5), ("jackknife+", 30)):
        fitted = ConformalAlarms(OwnNumber(), method=method, random_state=0).fit(
            cloud()
        )
        assert len(fitted.detectors_) == folds
        values = np.sort(cloud()[:, 0])
        counted = 0
        for detectors, borders in fitted._rivals:
            counted += len(borders)
            held = values[np.searchsorted(values, borders)]
            for number in detectors:
                assert not np.isin(held, fitted.detectors_[number].rows_[:, 0]).any()
        assert counted == len(fitted.calibration_rows_)
        assert counted == (99 if method == "split" else 198)
        rows = [len(detector.rows_) for detector in fitted.detectors_]
        if method == "jackknife+":
            # Distinct rows of a bootstrap sample: 63 % of all, none twice.
            assert 110 < min(rows) <= max(rows) < 140
            seen = fitted.detectors_[0].rows_
            assert len(np.unique(seen, axis=0)) == len(seen)


def test_the_jackknife_compares_means_over_the_same_detectors():
    fitted = ConformalAlarms(MeanDetector(), method="jackknife+", random_state=0)
    rows, new = cloud(40), cloud(3, seed=1)
    fitted.fit(rows)
    own = np.column_stack([one.score_samples(rows) for one in fitted.detectors_])
    theirs = np.column_stack([one.score_samples(new) for one in fitted.detectors_])
    unseen = ConformalAlarms(MeanDetector(), method="jackknife+", random_state=0)
    unseen = unseen._unseen(40)
    below = np.zeros(3)
    for row in range(40):
        out = unseen[row]
        below += own[row, out].mean() <= theirs[:, out].mean(axis=1)
    np.testing.assert_array_equal(fitted.p_values(new), (1 + below) / 41)


def test_ties_count_against_a_row_also_when_rounding_parts_them():
    rows = np.repeat([[1.0], [2.0], [3.0]], [2, 3, 5], axis=0)
    fitted = ConformalAlarms(OwnNumber(), method="cross", alpha=0.3).fit(rows)
    for factor in (1.0, 1 - 1e-15, 1 + 1e-15):
        new = factor * np.array([[0.5], [1.0], [2.0], [3.0]])
        np.testing.assert_array_equal(fitted.p_values(new) * 11, [1, 3, 6, 11])
    near_zero = ConformalAlarms(OwnNumber(), method="cross", alpha=0.3)
    near_zero.fit(np.vstack([rows, [[0.0]]]))
    np.testing.assert_allclose(near_zero.p_values([[-1e-16]]) * 12, 2)


def test_scores_without_end_are_places_too():
    rows = np.array([[-np.inf], [1.0], [2.0], [np.inf]])
    fitted = ConformalAlarms(OwnNumber(), method="cross", alpha=0.3)
    fitted = fitted.set_params(alpha=0.5).fit(pd.DataFrame(rows, columns=["a"]))
    new = pd.DataFrame({"a": [-np.inf, 0.0, np.inf]})
    np.testing.assert_array_equal(fitted.p_values(new) * 5, [2, 2, 5])
    with pytest.raises(ValueError, match="must give numbers, found NaN in row 1"):
        fitted.p_values(pd.DataFrame({"a": [1.0, np.nan]}))


def test_arrays_may_hold_values_without_end():
    fitted = ConformalAlarms(OwnNumber(), alpha=0.5, random_state=0)
    fitted.fit(np.array([[-np.inf], [1.0], [2.0], [np.inf]]))
    assert fitted.p_values(np.array([[np.inf]])) == 1.0


def test_rows_of_other_columns_are_refused():
    fitted = ConformalAlarms(OwnNumber(), random_state=0).fit(cloud())
    for ask in (fitted.p_values, fitted.same_law):
        with pytest.raises(ValueError, match="is expecting 3 features as input"):
            ask(cloud(n=2))


@pytest.mark.parametrize(
    "rows, calibration, held",
    [(2, 0.5, 1), (10, 0.01, 1), (10, 0.99, 9), (10, 0.3, 3), (5, 0.5, 2)],
)
def test_at_least_one_row_is_held_out_and_one_fitted(rows, calibration, held):
    fitted = ConformalAlarms(OwnNumber(), 0.6, calibration=calibration).fit(cloud(rows))
    assert len(fitted.calibration_rows_) == held
    assert len(fitted.detectors_[0].rows_) == rows - held


@pytest.mark.parametrize("alpha", [0.01, 0.03, 0.05, 0.1, 0.3, 0.7, 0.99])
@pytest.mark.parametrize("m", [198, 58, 18])
def test_an_alarm_is_a_p_value_of_at_most_alpha(alpha, m):
    fitted = ConformalAlarms(OwnNumber(), alpha, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted.fit(cloud(m))
    new = cloud(500, seed=1)
    alarm = fitted.p_values(new) <= alpha
    np.testing.assert_array_equal(fitted.predict(new) == -1, alarm)
    np.testing.assert_array_equal(fitted.decision_function(new) < 0, alarm)
    np.testing.assert_array_equal(fitted.score_samples(new), fitted.p_values(new))


def test_too_few_rows_for_alpha_are_told():
    for m, alpha, needed in ((36, 0.05, 19), (10, 0.01, 99)):
        with pytest.warns(UserWarning, match=f"no p-value below .* at least {needed}$"):
            few = ConformalAlarms(BallDetector(), alpha, random_state=0).fit(cloud(m))
        assert (few.predict(1e6 * cloud()) == 1).all()
    with pytest.warns(UserWarning) as told:
        ConformalAlarms(BallDetector(), 0.01).fit(cloud(10))
        enough = ConformalAlarms(BallDetector(), random_state=0).fit(cloud(38))
        enough.discoveries(cloud(), fdr=0.01)
    assert [one.filename for one in told] == [__file__] * 2  # the caller's line
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        enough = ConformalAlarms(BallDetector(), random_state=0).fit(cloud(38))
    assert (enough.predict(1e6 * cloud()) == -1).all()
    with pytest.warns(UserWarning, match="no row can be a discovery: 19 rows"):
        assert not enough.discoveries(1e6 * cloud(), fdr=0.01).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0.0}, "alpha must lie strictly between 0 and 1, found 0.0"),
        ({"alpha": 1}, "alpha must lie strictly between 0 and 1, found 1"),
        ({"alpha": "5 %"}, "alpha must lie strictly between 0 and 1, found '5 %'"),
        ({"calibration": 1.0}, "calibration must lie strictly between 0 and 1"),
        ({"method": "jackknife"}, "method must be one of split, cross, jackknife"),
        ({"detector": StandardScaler()}, "detector must have score_samples"),
    ],
)
def test_senseless_parameters_are_refused(options, message):
    fitted = ConformalAlarms(BallDetector()).set_params(**options)
    with pytest.raises(ValueError, match=message):
        fitted.fit(cloud())


def test_other_senseless_requests_are_refused():
    fitted = ConformalAlarms(BallDetector(), method="cross").fit(cloud())
    with pytest.raises(ValueError, match='method must be "split" for bounds'):
        fitted.false_discovery_bounds(cloud())
    with pytest.raises(ValueError, match="fdr must lie strictly between 0 and 1"):
        fitted.discoveries(cloud(), fdr=1.5)
    with pytest.raises(ValueError, match="hold out, found 1 sample"):
        ConformalAlarms(BallDetector()).fit(cloud(1))
    with pytest.raises(ValueError, match="confidence must lie strictly between"):
        most_false_alarms(10, 10, 1.0)


def test_clones_pickles_and_repeats():
    original = ConformalAlarms(SoftBallDetector(nu=0.1), 0.1, "cross", random_state=3)
    copy = clone(original)
    assert copy.get_params()["detector__nu"] == 0.1
    new = cloud(seed=1)
    expected = original.fit(cloud()).p_values(new)
    np.testing.assert_array_equal(copy.fit(cloud()).p_values(new), expected)
    stored = pickle.loads(pickle.dumps(original))
    np.testing.assert_array_equal(stored.p_values(new), expected)
    assert not hasattr(original.detector, "offset_")
    assert is_outlier_detector(original)


def test_columns_keep_their_names_and_types():
    frame = pd.DataFrame(cloud(200, 2), columns=["a", "b"])
    frame["kind"] = np.where(frame["a"] > 0, "x", "y")
    columns = make_column_transformer(
        (OneHotEncoder(), ["kind"]), remainder=StandardScaler()
    )
    alarms = ConformalAlarms(make_pipeline(columns, BallDetector()), random_state=0)
    alarms.fit(frame)
    assert list(alarms.feature_names_in_) == ["a", "b", "kind"]
    far = frame[:3].assign(a=99.0)
    assert (alarms.predict(far) == -1).all()
    with pytest.raises(ValueError, match="feature names"):
        alarms.predict(frame[["b", "a", "kind"]])


def test_discoveries_are_those_of_benjamini_and_hochberg():
    # Limits .02 .04 .06 .08 .1: the third is met again after the second is not.
    p_values = np.array([0.9, 0.05, 0.041, 0.001, 0.2])
    assert benjamini_hochberg(p_values, 0.1).tolist() == [
        False,
        True,
        True,
        True,
        False,
    ]
    assert not benjamini_hochberg([0.3, 0.06], 0.1).any()
    # 3 / 100 is the limit itself of the third of ten at .1.
    grid = np.array([0.03] * 3 + [1.0] * 7)
    assert benjamini_hochberg(grid, 0.1).tolist() == [True] * 3 + [False] * 7
    fitted = ConformalAlarms(OwnNumber(), random_state=0).fit(cloud())
    new = np.vstack([np.zeros((10, 3)), np.full((5, 3), -9.0)])
    assert fitted.discoveries(new).tolist() == [False] * 10 + [True] * 5


def broken(trials, alpha, method, detector, ties=False):
    """False alarms of each fit, on rows like those that it was fitted on."""
    rates = []
    for seed in range(trials):
        rows = cloud(20 + 500, 2, seed)
        rows = np.rint(rows) if ties else rows
        alarms = ConformalAlarms(detector, alpha, method, random_state=seed)
        rates.append(np.mean(alarms.fit(rows[:20]).predict(rows[20:]) == -1))
    return np.array(rates)


@pytest.mark.parametrize("ties", [False, True])
def test_split_alarms_at_most_at_their_rate(ties):
    # Ten rows held out: with p-values of (c + 1) / 11, 2 / 11 is met exactly.
    rates = broken(400, 2 / 11, "split", MeanDetector(), ties)
    error = rates.std() / np.sqrt(len(rates))
    assert rates.mean() <= 2 / 11 + 3 * error
    if not ties:
        assert rates.mean() >= 2 / 11 - 3 * error


@pytest.mark.parametrize(("method", "trials"), [("cross", 100), ("jackknife+", 20)])
def test_the_other_methods_are_near_their_rate(method, trials):
    rates = broken(trials, 0.1, method, MeanDetector())
    assert 0.04 < rates.mean() < 0.14


def test_a_machine_is_held_to_its_rate_where_its_own_threshold_is_not():
    rows, new = cloud(60, 30), cloud(2000, 30, seed=1)
    machine = OneClassSVM(nu=0.05)
    own = np.mean(clone(machine).fit(rows).predict(new) == -1)
    alarms = ConformalAlarms(machine, random_state=0).fit(rows)
    assert np.mean(alarms.predict(new) == -1) < 0.1 < 0.2 < own


# --- many rows at once ---------------------------------------------------------------


def plain_bounds(calibration, rows, confidence, draws):
    """The bounds of `most_false_alarms`, place after place."""
    levels = sorted({round(one) for one in np.geomspace(1, calibration, module.LEVELS)})
    gaps = np.diff([0, *levels, calibration + 1]).astype(float)
    rng = np.random.default_rng(0)
    first, second = (
        np.cumsum(rng.multinomial(rows, rng.dirichlet(gaps, size=draws)), axis=1)
        for _ in range(2)
    )
    allowed = int((1 - confidence) * (draws + 1))  # draws that may exceed, and itself
    bounds = [rows] * len(levels)
    for place in range(draws):
        lower = [np.sort(column)[draws - 1 - place] for column in first.T[:-1]]
        exceeded = sum((counts[:-1] > lower).any() for counts in second)
        if exceeded >= max(allowed, 1):
            break
        bounds = lower
    return [
        bounds[next(at for at, level in enumerate(levels) if level >= number)]
        for number in range(1, calibration + 1)
    ]


@pytest.mark.parametrize("draws", [18, 19, 60, 99])
@pytest.mark.parametrize("confidence", [0.5, 0.75])
def test_bounds_are_those_of_counting_place_after_place(draws, confidence, monkeypatch):
    monkeypatch.setattr(module, "DRAWS", draws)
    for calibration, levels in ((7, 128), (30, 9)):
        monkeypatch.setattr(module, "LEVELS", levels)
        most = most_false_alarms.__wrapped__(calibration, 40, confidence)
        expected = plain_bounds(calibration, 40, confidence, draws)
        np.testing.assert_array_equal(most, expected)


def test_bounds_that_others_hold_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        most_false_alarms(9, 9)[0] = 0
    # The numbers of the documentation.
    assert most_false_alarms(99, 1000)[[0, 4, 49]].tolist() == [51, 117, 621]


def test_a_table_of_bounds_is_that_of_each_threshold():
    fitted = ConformalAlarms(OwnNumber(), random_state=0).fit(cloud(38))
    several = [-9.0, -9.0, -0.4, -0.4, 0.0, 0.3, 0.3, 9.0, 9.0]
    for values in (several, [9.0], [0.1] * 3, [-9.0] + [0.3] * 29):
        new = np.pad(np.array(values)[:, None], ((0, 0), (0, 2)))
        table, p_values = fitted.false_discovery_bounds(new, 0.75), fitted.p_values(new)
        most = [*most_false_alarms(19, len(new), 0.75), len(new)]
        least, before = [], 0
        for p_value in sorted(set(p_values)):
            alarms = int((p_values <= p_value).sum())
            bound = most[round(20 * p_value) - 1]
            least.append(min(bound, (least[-1] if least else 0) + alarms - before))
            before = alarms
        assert table["most_false"].tolist() == least
        assert table["alarms"].iloc[-1] == len(new)


def test_the_bound_on_false_alarms_holds_for_all_thresholds_together():
    for calibration, rows, confidence in ((19, 50, 0.9), (200, 1000, 0.8)):
        most = most_false_alarms(calibration, rows, confidence)
        assert (np.diff(most) >= 0).all()
        rng = np.random.default_rng(5)
        exceeded = 0
        for _ in range(2000):
            held, new = np.sort(rng.random(calibration)), rng.random(rows)
            counts = np.searchsorted(np.sort(new), held, side="right")
            exceeded += (counts > most).any()
        share = exceeded / 2000
        error = np.sqrt(confidence * (1 - confidence) / 2000)
        assert share <= 1 - confidence + 3 * error
        # It is not bought by a loose bound: half of the allowed share is used.
        assert share >= (1 - confidence) / 2


def test_the_bound_is_sharper_than_one_for_counts_of_a_plain_band():
    most = most_false_alarms(200, 1000, 0.9)
    expected = 1000 * np.arange(1, 201) / 201
    assert most[0] < 60
    assert (most <= expected + 130).all()
    assert (most >= expected).all()


def test_a_bound_that_no_draw_can_hold_is_all_rows(monkeypatch):
    monkeypatch.setattr(module, "DRAWS", 20)
    assert (most_false_alarms.__wrapped__(50, 30, 0.99) == 30).all()


def test_the_table_of_bounds_counts_and_never_exceeds():
    fitted = ConformalAlarms(OwnNumber(), random_state=0).fit(cloud(398))
    new = np.vstack([cloud(100, seed=1), cloud(40, seed=2) - 9.0])
    table = fitted.false_discovery_bounds(new)
    p_values = fitted.p_values(new)
    for p_value, row in table.iterrows():
        assert row["alarms"] == np.sum(p_values <= p_value)
        assert 0 <= row["most_false"] <= row["alarms"]
        assert row["most_false"] >= np.sum(p_values[:100] <= p_value)
    np.testing.assert_allclose(
        table["most_false_share"], table["most_false"] / table["alarms"]
    )
    most = most_false_alarms(199, 140, 0.9)
    first = table.iloc[0]
    assert first["alarms"] >= 40
    assert first["most_false"] == most[0]
    # A row with the largest p-value adds at most itself to what was bound before.
    assert (np.diff(table["most_false"]) <= np.diff(table["alarms"])).all()
    assert (np.diff(table["most_false"]) >= 0).all()


def test_the_score_threshold_parts_alarms_from_the_others():
    for alpha in (0.01, 0.05, 0.33):
        fitted = ConformalAlarms(OwnNumber(), alpha, random_state=0).fit(cloud())
        border = fitted.score_threshold_
        new = [[np.nextafter(border, -9.0)], [border], [np.nextafter(border, 9.0)]]
        new = np.pad(new, ((0, 0), (0, 2)))
        assert fitted.predict(new).tolist() == [-1, 1, 1]
    with pytest.warns(UserWarning, match="no row can be an alarm"):
        fitted = ConformalAlarms(OwnNumber(), 0.001).fit(cloud())
    assert fitted.score_threshold_ == -np.inf
    assert fitted.threshold_at(1.0) == np.inf
