"""The benchmark of the alarms: a small run, and what reasons cost."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import alarms
from mebnb.learning.detectors import MeanDetector


def test_a_small_run_counts_what_is_false():
    frame = alarms.simulate("mean", MeanDetector(), "split", 20)
    rows = alarms.summarise(frame)
    assert [row["promise"] for row in rows] == [
        *["false alarms"] * 3,
        "false discoveries",
        "bound exceeded",
    ]
    assert [row["level"] for row in rows] == pytest.approx([0.01, 0.05, 0.1, 0.1, 0.1])
    old, new = alarms.draw(0)
    fitted = alarms.simulate("mean", MeanDetector(), "split", 1).iloc[0]
    from mebnb import ConformalAlarms

    own = ConformalAlarms(MeanDetector(), 0.1, random_state=0).fit(old)
    assert fitted[0.1] == np.mean(own.predict(new[: alarms.NOMINAL]) == -1)
    found = own.discoveries(new, alarms.FDR)
    assert fitted["fdr"] == found[: alarms.NOMINAL].sum() / max(1, found.sum())


def test_a_promise_that_is_broken_is_told():
    frame = pd.DataFrame({"detector": ["x"] * 50, "method": "split", 0.01: 0.2})
    frame[0.05] = 0.05
    rows = alarms.summarise(frame)
    assert [row["holds"] for row in rows] == [False, True]


def test_the_committed_table_holds_every_detector_and_every_promise():
    table = pd.read_csv(alarms.RESULTS / "alarms.csv")
    exact = table[table["method"] == "split"]
    assert set(exact["detector"]) == set(alarms.contenders())
    assert (exact.groupby("detector").size() == 5).all()
    assert (exact["splits"] == 1000).all()
    within = exact["found"] <= exact["level"] + 3 * exact["standard_error"]
    assert (within & exact["holds"]).all()
