"""Rows that are not in memory are judged as those that are, block by block."""

import numpy as np
import pandas as pd
import pytest

from mebnb import (
    BallDetector,
    Blocks,
    Committee,
    ConformalAlarms,
    SoftBallDetector,
    minimum_enclosing_ball,
)
from mebnb.solvers.sources import by_blocks
from tests.test_sources import dask_in_threads, sources  # noqa: F401 (a fixture)

da = pytest.importorskip("dask.array")

NEW = np.random.default_rng(1).normal(size=(400, 3))
LAZY = "Dask"


@pytest.fixture(scope="module")
def training():
    return np.random.default_rng(0).normal(size=(150, 3))


def test_distances_of_rows_wherever_they_lie(training, tmp_path):
    ball = minimum_enclosing_ball(training)
    expected = ball.distances(NEW)
    for name, source in sources(NEW, tmp_path).items():
        found = ball.distances(source)
        assert isinstance(found, da.Array) == name.startswith(LAZY), name
        np.testing.assert_array_equal(np.asarray(found), expected, err_msg=name)


def test_distances_of_other_columns_than_the_center_has_are_refused(training):
    ball = minimum_enclosing_ball(training[:, :1])  # one number fits any row
    for points in (NEW, NEW.tolist(), Blocks(lambda k: NEW, 1), da.from_array(NEW)):
        with pytest.raises(ValueError, match="points must have 1 columns, found 3"):
            np.asarray(ball.distances(points))


@pytest.mark.parametrize("content", [b"words", b"\x93NUMPY\x01\x00v", b""])
def test_what_is_no_npy_file_is_told_without_advice_to_trust_it(content, tmp_path):
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(ValueError, match=r"a\.npy must hold an array of numbers"):
        minimum_enclosing_ball(tmp_path / "a.npy")


@pytest.mark.parametrize(
    "detector",
    [
        BallDetector(),
        SoftBallDetector(nu=0.2),
        SoftBallDetector(nu=0.2, kernel="rbf"),
        ConformalAlarms(BallDetector(), 0.1, random_state=0),
        Committee(random_state=0),
    ],
    ids=["hard", "soft", "kernel", "conformal", "committee"],
)
def test_detectors_judge_rows_wherever_they_lie(detector, training, tmp_path):
    detector = detector.fit(training)
    methods = ("score_samples", "decision_function", "predict")
    for method in filter(lambda name: hasattr(detector, name), methods):
        judge = getattr(detector, method)
        expected = judge(NEW)
        for name, source in sources(NEW, tmp_path).items():
            if name == "torch":
                continue
            found = judge(source)
            assert isinstance(found, da.Array) == name.startswith(LAZY), name
            found = np.asarray(found)
            assert found.dtype == expected.dtype, (method, name)
            np.testing.assert_allclose(found, expected, rtol=1e-9, err_msg=name)


def test_the_hard_ball_is_fitted_to_rows_wherever_they_lie(tmp_path):
    expected = BallDetector(quantile=0.9).fit(NEW)
    for name, source in sources(NEW, tmp_path).items():
        fitted = BallDetector(quantile=0.9).fit(source)
        np.testing.assert_array_equal(fitted.center_, expected.center_, err_msg=name)
        assert fitted.offset_ == expected.offset_ and fitted.n_features_in_ == 3
        np.testing.assert_array_equal(fitted.predict(source), expected.predict(NEW))


def test_blocks_are_read_one_after_another_and_may_be_empty():
    held, most = 0, 0

    def count(rows):
        nonlocal held, most
        held = len(rows)
        most = max(most, held)
        return rows.sum(axis=1)

    blocks = Blocks(lambda k: NEW[40 * k : 40 * k + 40 * (k != 3)], 10)
    expected = np.concatenate([NEW[:120], NEW[160:]]).sum(axis=1)
    np.testing.assert_array_equal(by_blocks(count, blocks), expected)
    assert most == 40
    mixed = da.from_array(NEW, chunks=(100, -1))
    mixed = mixed[mixed[:, 0] > 1.0]
    np.testing.assert_array_equal(
        by_blocks(count, mixed[mixed[:, 1] > 9.0]).compute(), np.empty(0)
    )


def test_a_memory_mapped_array_is_read_in_pieces(tmp_path, monkeypatch):
    from mebnb.solvers import sources as module

    monkeypatch.setattr(module, "LARGE_BLOCK_BYTES", 8 * 3 * 7)
    np.save(tmp_path / "rows.npy", NEW)
    seen = []
    by_blocks(lambda rows: seen.append(len(rows)) or rows[:, 0], tmp_path / "rows.npy")
    assert max(seen) == 7 and sum(seen) == len(NEW)


def test_rows_of_another_width_are_refused(training, tmp_path):
    np.save(tmp_path / "rows.npy", NEW[:, :2])
    with pytest.raises(ValueError, match="2 features"):
        BallDetector().fit(training).predict(tmp_path / "rows.npy")
    with pytest.raises(ValueError, match="no file is called"):
        BallDetector().fit(training).score_samples("nowhere.npy")


def test_columns_of_files_are_told_by_their_names(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=50), "b": 100 * rng.normal(size=50)})
    frame.to_parquet(tmp_path / "ab.parquet")
    frame[["b", "a"]].to_parquet(tmp_path / "ba.parquet")
    ball = BallDetector().fit(str(tmp_path / "ab.parquet"))
    assert list(ball.feature_names_in_) == ["a", "b"]
    assert (ball.predict(str(tmp_path / "ab.parquet")) == 1).all()
    with pytest.raises(ValueError, match="same order as they were in fit"):
        ball.predict(str(tmp_path / "ba.parquet"))
    # What an earlier fit knew of names is gone with the next.
    ball.fit(Blocks(lambda k: frame.to_numpy(), 1))
    assert not hasattr(ball, "feature_names_in_")
