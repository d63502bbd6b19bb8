"""Fitted detectors as plain values: back to the bit, and refused where parts do not fit."""

import copy
import json

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from mebnb.learning.alarms import ConformalAlarms
from mebnb.learning.clusters import WhitenedBallsDetector
from mebnb.learning.detectors import BallDetector, MeanDetector, SoftBallDetector
from mebnb.learning.keeping import from_plain, to_plain
from mebnb.learning.local_balls import Committee, LocalBallDetector


def cloud(m=60, n=3, seed=0):
    return np.random.default_rng(seed).normal(size=(m, n)) * [1.0, 5.0, 0.2][:n] + 3.0


DETECTORS = {
    "ball": BallDetector(factor=1.1),
    "soft ball": SoftBallDetector(nu=0.1),
    "local ball": LocalBallDetector(neighbors=3),
    "whitened balls": WhitenedBallsDetector(),
    "standardised": make_pipeline(StandardScaler(), BallDetector()),
    "in the unit cube": make_pipeline(MinMaxScaler(), SoftBallDetector()),
    "committee": Committee([BallDetector(), LocalBallDetector()], random_state=0),
    "split": ConformalAlarms(BallDetector(), 0.1, random_state=0),
    "cross": ConformalAlarms(BallDetector(), 0.1, "cross", random_state=0),
    "jackknife+": ConformalAlarms(BallDetector(), 0.1, "jackknife+", random_state=0),
}


def kept(name):
    """A detector, fitted, and what JSON gives back of its plain values."""
    fitted = DETECTORS[name].fit(cloud())
    return fitted, json.loads(json.dumps(to_plain(fitted)))


@pytest.mark.parametrize("name", DETECTORS)
def test_what_is_read_scores_to_the_bit(name):
    fitted, plain = kept(name)
    again, new = from_plain(plain), cloud(seed=1)
    assert type(again) is type(fitted)
    np.testing.assert_array_equal(again.score_samples(new), fitted.score_samples(new))
    if hasattr(fitted, "predict"):
        np.testing.assert_array_equal(again.predict(new), fitted.predict(new))
    assert to_plain(again) == plain
    assert again.n_features_in_ == 3
    if isinstance(fitted, ConformalAlarms):
        assert again.smallest_p_value_ == fitted.smallest_p_value_
        assert again.alpha == 0.1 and again.method == fitted.method
        np.testing.assert_array_equal(
            again.calibration_rows_, np.arange(len(fitted.calibration_rows_))
        )
    with pytest.raises(ValueError, match="features"):
        again.score_samples(new[:, :2])


def test_a_scaler_keeps_what_it_was_fitted_on():
    fitted, plain = kept("in the unit cube")
    scaler, again = fitted.steps[0][1], from_plain(plain).steps[0][1]
    for name in ("min_", "scale_", "data_min_", "data_max_", "data_range_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(scaler, name))


def test_scores_without_end_are_kept():
    _, plain = kept("split")
    scores = plain["calibration"][0]["scores"]
    scores[0], scores[-1] = -np.inf, np.inf
    scores[3] = scores[2]  # and a tie
    again = from_plain(plain)
    assert again.p_values(cloud(seed=1)).min() >= 2 / 31
    assert to_plain(again) == plain


def test_one_column_and_one_row_held_out_suffice():
    plain = to_plain(BallDetector().fit([[0.0], [1.0]]))
    assert from_plain(plain).predict([[0.5]]) == [1]
    alarms = {
        "kind": "ConformalAlarms",
        "columns": 1,
        "alpha": 0.5,
        "method": "split",
        "detectors": [plain],
        "calibration_rows": 1,
        "calibration": [{"detectors": [0], "scores": [-0.5]}],
    }
    assert from_plain(alarms).p_values([[0.5], [2.0]]).tolist() == [1.0, 0.5]


DAMAGE = [
    ("ball", ["columns"], 2),
    ("ball", ["columns"], 3.0),
    ("ball", ["columns"], None),
    ("ball", ["center_"], [0.0, 0.0]),
    ("ball", ["center_"], [0.0, 0.0, np.nan]),
    ("ball", ["center_"], [0.0, 0.0, np.inf]),
    ("ball", ["center_"], ["0", "0", "0"]),
    ("ball", ["center_"], [True, True, True]),
    ("ball", ["offset_"], [1.0]),
    ("ball", ["offset_"], "far"),
    ("ball", ["kind"], "os.system"),
    ("ball", ["kind"], "MeanDetector"),
    ("local ball", ["rows_"], [[0.0, 0.0]]),
    ("local ball", ["rows_"], [[0.0, 0.0, np.nan]]),
    ("whitened balls", ["precision_"], [[1.0]]),
    ("whitened balls", ["centers_"], [[0.0]]),
    ("standardised", ["steps", 0, "scale_"], [1.0, 0.0, 1.0]),
    ("standardised", ["steps", 0, "columns"], 2),
    ("standardised", ["steps"], None),
    ("committee", ["members"], []),
    ("committee", ["members", 0], {"kind": "BallDetector"}),
    ("split", ["alpha"], 0.0),
    ("split", ["alpha"], 1.0),
    ("split", ["alpha"], "x"),
    ("split", ["method"], "jackknife"),
    ("split", ["method"], "split "),
    ("split", ["columns"], 2),
    ("split", ["calibration_rows"], 29),
    ("split", ["calibration", 0, "detectors"], [-1]),
    ("split", ["calibration", 0, "detectors"], [1]),
    ("split", ["calibration", 0, "detectors"], [0.0]),
    ("split", ["calibration", 0, "scores", 3], 9.0),
    ("split", ["calibration", 0, "scores", 3], np.nan),
    ("split", ["detectors"], []),
    ("cross", ["method"], "split"),
    ("cross", ["alpha"], 1.0),
    ("cross", ["calibration"], []),
    ("cross", ["detectors", 4], {"kind": "StandardScaler"}),
]


@pytest.mark.parametrize("name, where, value", DAMAGE)
def test_parts_that_do_not_fit_are_refused(name, where, value):
    _, plain = kept(name)
    part = plain
    for step in where[:-1]:
        part = part[step]
    part[where[-1]] = value
    with pytest.raises(ValueError, match="^kept must be what to_plain made"):
        from_plain(plain)


def test_detectors_that_do_not_fit_their_alarms_are_refused():
    _, plain = kept("split")
    other = to_plain(BallDetector().fit(cloud(n=2)))
    scaler = to_plain(StandardScaler().fit(cloud()))
    falling = copy.deepcopy(plain)
    scores = falling["calibration"][0]["scores"]
    scores[-1] = scores[-2] - 1e-6
    twice = copy.deepcopy(plain)
    twice["detectors"] *= 2
    groups = copy.deepcopy(plain)
    scores = groups["calibration"][0]["scores"]
    groups["calibration"] = [
        {"detectors": [0], "scores": part} for part in (scores[:9], scores[9:])
    ]
    empty = plain | {
        "calibration_rows": 0,
        "calibration": [{"detectors": [0], "scores": []}],
    }
    missing = {name: part for name, part in plain.items() if name != "alpha"}
    nothing = {"kind": "BallDetector", "columns": 0, "center_": [], "offset_": -1.0}
    for wrong in (
        nothing,
        plain | {"detectors": [other]},
        plain | {"detectors": [scaler]},
        *(falling, twice, groups, empty, missing, None, []),
    ):
        with pytest.raises(ValueError, match="^kept must be what to_plain made"):
            from_plain(wrong)


def test_what_cannot_be_kept_is_named():
    class Ball(BallDetector):
        """Bears the name of another class's kin, and is none of them."""

    Ball.__name__ = "BallDetector"
    for fitted in (
        MeanDetector().fit(cloud()),
        SoftBallDetector(kernel="rbf").fit(cloud()),
        Ball().fit(cloud()),
    ):
        with pytest.raises(ValueError, match="^fitted must be one of BallDetector, So"):
            to_plain(fitted)
