"""What notebook 14 measures: contamination, pull, thresholds, choices without labels."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from mebnb import BallDetector, SoftBallDetector, load_dataset, plots, soft_ball
from mebnb.experiments.published_splits import report_split
from mebnb.experiments.soft_balls import (
    banana,
    consistency,
    consistent_gamma,
    contaminated,
    contamination_study,
    factor_study,
    gap_curves,
    held_out_factors,
    nu_table,
    outlier_pull,
    spoiled_cloud,
)
from mebnb.learning import score_detector
from mebnb.learning.detectors import MeanDetector

DETECTORS = {"hard ball": BallDetector(), "soft ball": SoftBallDetector(nu=0.1)}


@pytest.fixture(scope="module")
def split():
    data = load_dataset("breast_cancer")
    return lambda seed: report_split(data, seed)


def test_clouds_are_the_same_every_time():
    np.testing.assert_array_equal(banana(50, 3), banana(50, 3))
    cloud = spoiled_cloud(40, 2)
    assert cloud.shape == (43, 2)
    assert (np.linalg.norm(cloud[-3:], axis=1) > 5).all()
    np.testing.assert_array_equal(cloud[:40], spoiled_cloud(40, 2, far=0))
    with pytest.raises(ValueError, match="points must be at least 20, found 19"):
        spoiled_cloud(19, 0)


@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_nu_lies_between_the_shares(kernel):
    table = nu_table(spoiled_cloud(100, 0), np.linspace(0.02, 0.9, 20), kernel=kernel)
    assert (table["outside"] <= table["nu m"]).all()
    assert (table["support"] >= table["nu m"]).all()
    assert (table["support"] - table["outside"] > 0).any()


def test_gap_curves_are_those_of_the_solver():
    cloud = spoiled_cloud(200, 0)
    curves, balls = gap_curves(cloud, 0.2, kernel="rbf", max_iter=50)
    assert balls["pairwise"].converged and not balls["frank_wolfe"].converged
    for method, (iterations, gaps) in curves.items():
        assert iterations[0] == 1 and (np.diff(iterations) > 0).all()
        np.testing.assert_array_equal(gaps, balls[method].gaps[iterations - 1])


def test_the_pull_is_half_c_and_bounded():
    pull = outlier_pull(spoiled_cloud(59, 0, far=0), [1e3, 2e3], 0.1)
    rate = pull.diff().iloc[-1] / 1e3
    assert rate["hard"] == pytest.approx(0.5, abs=1e-3)
    assert rate["squared"] == pytest.approx(1 / 6, abs=1e-3)
    assert rate["plain"] == pytest.approx(0.0, abs=1e-6)
    assert pull["plain"].max() < 1.0


def test_contamination_moves_anomalies_to_the_training_side(split):
    clean = split(0)
    two, three = (contaminated(clean, k, 5, seed=7) for k in (2, 3))
    assert len(two.train) == len(clean.train) + 2
    assert len(two.test) == len(three.test) == len(clean.test) - 5
    np.testing.assert_array_equal(two.test, three.test)
    np.testing.assert_array_equal(three.train[:-1], two.train)
    moved = set(map(bytes, clean.test[clean.test_is_anomaly]))
    assert all(bytes(row) in moved for row in three.train[-3:])
    assert not set(map(bytes, three.train[-3:])) & set(map(bytes, three.test))
    assert two.test_is_anomaly.sum() == clean.test_is_anomaly.sum() - 5
    assert two.whole_train_is_anomaly.sum() == 2 == len(two.train_rows) - 178
    for count, reserve in ((6, 5), (-1, 5), (0, 212)):
        with pytest.raises(ValueError, match="count must be from 0 to reserve"):
            contaminated(clean, count, reserve, seed=7)


def test_the_hard_ball_drops_and_the_soft_one_holds(split):
    study = contamination_study(DETECTORS, split, range(30), [0, 1, 5])
    assert len(study) == 2 * 30 * 3
    auroc = study.groupby(["detector", "count"])["auroc"].mean()
    assert auroc["hard ball", 0] - auroc["hard ball", 1] > 0.1
    assert auroc["hard ball", 0] - auroc["hard ball", 5] > 0.3
    assert auroc["soft ball", 0] - auroc["soft ball", 1] < 0.02
    assert auroc["soft ball", 0] - auroc["soft ball", 5] < 0.1
    points = contaminated(split(2), 1, 5, 2)
    fitted = SoftBallDetector(nu=0.1).fit(points.train)
    row = study.query("detector == 'soft ball' and seed == 2 and count == 1").iloc[0]
    assert row["recall"] == score_detector(fitted, points)["recall"]


def test_factors_move_the_threshold_of_the_same_ranking(split):
    table = factor_study(DETECTORS, split, [0], [0.8, 1.0, 1.2])
    for name, detector in DETECTORS.items():
        points = split(0)
        scores = score_detector(detector.fit(points.train), points)
        assert table.loc[(name, 1.0), "recall"] == pytest.approx(scores["recall"])
        assert table.loc[(name, 1.0), "f1"] == pytest.approx(scores["f1"])
        alarms = table.loc[name, "false_alarms"]
        assert alarms[1.0] == pytest.approx(scores["false_alarms"])
        assert (table.loc[name, ["recall", "false_alarms"]].diff().iloc[1:] <= 0).all(
            axis=None
        )


def test_consistency_stops_where_new_points_fall_outside():
    points = banana(300, 0)
    table = consistency(points, 0.1, [0.01, 0.1, 10.0])
    assert table["training"].between(0.05, 0.1).all()
    assert table.loc[10.0, "held_out"] > 0.5 and not table.loc[10.0, "consistent"]
    assert table.loc[0.01, "consistent"]
    assert consistent_gamma(table) in (0.01, 0.1)
    assert table["limit"].iloc[0] == pytest.approx(0.1 + 2 * np.sqrt(0.09 / 300))


def test_the_largest_gamma_before_the_first_failure():
    def table(*consistent):
        return pd.DataFrame({"consistent": consistent}, index=[1.0, 2.0, 3.0])

    assert consistent_gamma(table(True, True, False)) == 2.0
    assert consistent_gamma(table(True, False, True)) == 1.0
    assert consistent_gamma(table(True, True, True)) == 3.0
    assert consistent_gamma(table(False, True, True)) == 1.0


def test_pictures_are_drawn(split):
    cloud = spoiled_cloud(40, 0)
    fitted = SoftBallDetector(nu=0.2).fit(cloud)
    study = contamination_study(
        DETECTORS | {"distance to the mean": MeanDetector()}, split, [0, 1], [0, 2]
    )
    figures = {
        1: plots.regions_2d({"one": (cloud, fitted)}),
        2: plots.soft_balls_2d({k: (cloud, soft_ball(cloud, k)) for k in (0.1, 0.5)}),
        3: plots.nu_property({k: nu_table(cloud, [0.1, 0.5]) for k in "abc"}),
        4: plots.contamination_curves(
            study, {c: c for c in ("auroc", "recall", "f1", "false_alarms")}
        ),
    }
    for panels, figure in figures.items():
        assert sum(ax.axison for ax in figure.axes) == panels
    sweep = factor_study(DETECTORS, split, [0], [0.9, 1.0])
    assert len(plots.scores_by_factor(sweep).axes) == 2
    one, two = figures[2].axes
    assert one.get_xlim() == two.get_xlim() and one.get_ylim() == two.get_ylim()
    plt.close("all")


def test_a_held_out_quantile_keeps_the_rate_of_false_alarms():
    def split(seed):
        rng = np.random.default_rng(seed)
        test = rng.standard_normal((4000, 3))
        test[:1000] += 3.0
        return SimpleNamespace(
            train=rng.standard_normal((100, 3)),
            test=test,
            test_is_anomaly=np.arange(4000) < 1000,
        )

    balls = {"hard": BallDetector(), "soft": SoftBallDetector(nu=0.3)}
    for rate in (0.05, 0.2):
        found = held_out_factors(balls, split, range(20), rate)
        assert (abs(found["false_alarms"] - rate) < 0.03).all()
    assert found.loc["hard", "factor"] < found.loc["soft", "factor"]
    assert (found["recall"] > 0.9).all()
