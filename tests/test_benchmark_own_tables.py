"""The benchmark of `mebnb fit` in tables with planted anomalies."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import own_tables

ANY, NAMED = list(own_tables.TABLES), "five kinds in six columns"


@pytest.mark.parametrize("table", ANY)
def test_tables_hold_what_is_planted(table):
    made = own_tables.TABLES[table](3)
    assert (made.kind != "nominal").sum() == own_tables.PLANTED
    assert len(made.new) == len(made.kind)
    again = own_tables.TABLES[table](3)
    np.testing.assert_array_equal(made.new, again.new)
    for row, columns in made.planted.items():
        assert len(columns) == (1 if made.kind[row] == "single column" else 2)
        assert made.kind[row] in own_tables.NAMED_KINDS


def test_broken_correlations_are_broken_and_singles_far_out():
    made = own_tables.five_kinds(5)
    nominal = made.old
    correlation = np.corrcoef(nominal, rowvar=False)
    for row, columns in made.planted.items():
        if made.kind[row] == "broken correlation":
            i, j = columns
            assert abs(correlation[i, j]) > 0.7
            assert made.new[row, i] * made.new[row, j] * correlation[i, j] < 0
            assert np.abs(made.new[row]).max() < np.abs(nominal).max()


def test_one_seed_is_judged_as_the_command_and_the_rivals_judge():
    found, reasons = own_tables.compare(NAMED, [0])
    found = found.set_index("method")
    assert set(found.index) == {own_tables.OURS, *own_tables.rivals()}
    made = own_tables.TABLES[NAMED](0)
    from mebnb import ConformalAlarms
    from mebnb.learning.detectors import MahalanobisDetector

    alarms = ConformalAlarms(MahalanobisDetector(), random_state=0).fit(made.old)
    flags, odd = alarms.discoveries(made.new, own_tables.FDR), made.kind != "nominal"
    row = found.loc["Mahalanobis distance"]
    assert row["found"] == pytest.approx(flags[odd].mean(), abs=0.05)
    assert found.loc[own_tables.OURS, "taken"] == "whitened"
    assert (
        set(reasons["kind"]) == set(own_tables.NAMED_KINDS) and reasons["exact"].all()
    )


def test_summary_compares_seed_by_seed():
    rows = {"table": "t", "taken": "", "false": 0.0}
    frame = pd.DataFrame(
        [
            rows | {"seed": seed, "method": name, "found": value + seed / 10}
            for seed in range(3)
            for name, value in ((own_tables.OURS, 0.5), ("rival", 0.25))
        ]
    )
    table = own_tables.summarise(frame).set_index("method")
    assert table.loc["rival", "more"] == pytest.approx(0.25)
    assert table.loc["rival", "more_from"] == pytest.approx(0.25)
    assert table.loc[own_tables.OURS, "more"] == 0.0


def test_the_committed_tables_hold_every_method_and_what_is_claimed():
    table = pd.read_csv(own_tables.RESULTS / "own_tables.csv")
    seeds = pd.read_csv(own_tables.RESULTS / "own_tables_seeds.csv")
    assert (table["seeds"] == 30).all() and set(table["table"]) == set(ANY)
    means = seeds.groupby(["table", "method"])["found"].mean()
    told = table.set_index(["table", "method"])["found"]
    pd.testing.assert_series_equal(means.sort_index(), told.sort_index(), rtol=1e-4)
    assert (table["false"] <= own_tables.FDR + 3 * table["false_error"]).all()
    named = pd.read_csv(own_tables.RESULTS / "own_tables_reasons.csv")
    assert set(named["kind"]) == set(own_tables.NAMED_KINDS)
    assert (named["share"] >= 0.9).all()
