"""Notebook 19's numbers, held against numbers made by hand; committed tables whole."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from benchmarks import scale, workers
from mebnb import minimum_enclosing_ball, plots
from mebnb.experiments import speed
from mebnb.experiments.measured import measured

OURS = speed.OURS
GRID = pd.DataFrame(
    {
        "case": ["a", "a", "a", "a", "b", "b"],
        "kind": ["normal"] * 4 + ["churn"] * 2,
        "m": [100] * 4 + [10] * 2,
        "n": [5] * 4 + [2] * 2,
        "solver": [OURS, "x", "y", "away_step", OURS, "x"],
        "ours": [True, False, False, True, True, False],
        "status": ["right", "wrong", "right", "right", "right", "time"],
        "median_ms": [2.0, 0.5, 6.0, 1.0, 3.0, math.nan],
        "product_ms": [0.5, 0.5, 0.5, 0.5, 1.0, 1.0],
        "passes": [1.5, math.nan, math.nan, math.nan, 2.0, math.nan],
        "support": [4, 4, 4, 4, 3, 0],
    }
)


def test_the_best_peer_is_the_fastest_that_is_right():
    slower = GRID.iloc[[2]].assign(solver="z", median_ms=9.0)
    table = speed.leads(pd.concat([slower, GRID], ignore_index=True))
    assert table.loc["a", ["peer", "peer_ms", "lead"]].tolist() == ["y", 6.0, 3.0]
    assert math.isnan(table.loc["b", "lead"])  # nobody else was right


def test_kinds_are_normal_by_columns_then_others():
    more = GRID.head(2).assign(case=["wide", "thin"], n=[2000, 3])
    kinds = speed.kinds(pd.concat([GRID, more], ignore_index=True))
    assert list(kinds.items()) == [
        ("thin", "normal, n = 3"),
        ("a", "normal, n = 5"),
        ("wide", "normal, n = 1000 or more"),
        ("b", "other clouds"),
    ]
    leads = pd.Series({"a": 2.0, "b": 0.5, "thin": 1.0})
    (ax,) = plots.lead_dots(leads, kinds).axes
    ahead, behind = ax.lines[:2]
    assert [label.get_text() for label in ax.get_yticklabels()] == list(
        dict.fromkeys(kinds)
    )
    assert list(ahead.get_ydata()) == [1, 0] and list(behind.get_ydata()) == [3]
    plt.close("all")


def test_outcomes_are_counted():
    table = speed.outcomes(GRID)
    assert list(table.columns) == ["right", "wrong", "time"]
    assert table.loc["x"].tolist() == [0, 1, 1] and table.index[0] == OURS


def test_costs_of_an_entry():
    (row,) = speed.costs(GRID).to_dict("records")
    assert row["ns_an_entry"] == pytest.approx(2e6 / 500)
    assert row["products"] == 4.0 and row["passes"] == 1.5


def test_a_plan_of_a_billion_rows():
    found = speed.plan(10**9, 10, 1e9, machines=100)
    assert found["sample"] == 104880  # 104880^2 <= 1.1e10 < 104881^2
    assert found["share_bytes"] == 4e8 and found["seconds"] == 0.8
    assert found["moved_bytes"] == 5 * 104880 * 80
    assert found["most_bytes"] == 100 * 4 * 104880 * 80


def test_core_sets_keep_their_promise():
    points = np.random.default_rng(0).normal(size=(300, 20))
    table = speed.core_sets_beside(points, [0.1, 0.01])
    assert table.loc["core set, eps = 0.1", "larger by"] <= 0.1
    assert 0 < table.loc["core set, eps = 0.01", "larger by"] <= 0.01
    exact = minimum_enclosing_ball(points)
    last = table.loc["exact ball"]
    assert last["rows kept"] == exact.support.size and last["larger by"] == 0.0
    assert last["passes"] == exact.passes


def test_times_are_told_for_each_number_of_workers():
    times = speed.times_by_workers(500, 3, 0, workers=(1, 2), runs=1)
    assert list(times.index) == [1, 2] and (times > 0).all() and (times < 1e4).all()


def test_the_printed_times_stand_beside_those_of_the_grid():
    table = speed.published_beside_measured(measured("grid"))
    assert table.groupby("set")["algorithm"].apply(list).to_dict() == {
        "churn": ["ASFW", "BPFW"],
        "uniform": ["ASFW", "BPFW"],
    }
    printed = table.set_index(["set", "algorithm"])["printed, ms"]
    assert printed["uniform", "ASFW"] == pytest.approx(23632)
    assert printed["churn", "ASFW"] == pytest.approx(217.184)


# --- the committed tables ----------------------------------------------------------


def test_the_table_of_workers_has_every_shape_and_one_ball():
    table = measured("workers")
    assert list(zip(table["m"], table["n"])) == list(workers.SHAPES)
    assert table["same_bits"].all()
    np.testing.assert_allclose(
        table["ball_gain"], table["ball_1_ms"] / table["ball_2_ms"], rtol=1e-4
    )


def test_the_table_of_files_has_certified_balls_that_survive_a_kill():
    table = measured("scale")
    assert table["certified"].all() and (table["gap"] <= scale.GAP).all()
    assert table["same_bits"].all() and table["killed"].all()
    files = table[table["source"] == "Parquet folder"]
    assert (files["reads_a_pass"] <= scale.MOST_READS).all()
    assert (files["peak_mib"] <= scale.MOST_MIB).all()


def test_a_small_folder_gives_the_ball_of_its_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(scale, "BLOCK", 70_000)
    scale.write_folder(tmp_path, 150_000, 8)
    found = scale.ball_of(tmp_path)
    assert found["blocks"] == 3 and found["certified"]
    assert found["reads"] <= 1.1 * 3 * found["passes"] + 1
    import pyarrow.parquet as pq

    points = pq.read_table(tmp_path).to_pandas().to_numpy()
    ball = minimum_enclosing_ball(points)
    assert scale.bits(ball) == found["bits"]
    assert scale.read_plainly(tmp_path, 5)["seconds"] > 0


def test_a_run_of_workers_in_miniature():
    row = workers.compare(300, 4, 1)
    assert row["same_bits"] and row["ball_1_ms"] > 0 < row["pass_2_ms"]
    said = list(workers.verdicts(pd.DataFrame([row | {"passes_time_2": 2.6}])))
    assert said[1].startswith("NOT MET") and "2.60 plain passes" in said[1]
