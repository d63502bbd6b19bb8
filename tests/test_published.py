"""The published tables and the verdicts of a comparison."""

import numpy as np
import pandas as pd
import pytest

from mebnb.published.compare import (
    DIFFERS,
    EQUAL,
    NOT_COMPARABLE,
    ROUNDING,
    SPREAD,
    Comparison,
    compare,
    list_published,
    one_unit_off,
    published_table,
)

TABLE3 = "report_table3_breast_cancer"
KEYS = ("algorithm", "epsilon")


def as_numbers(table, keys):
    """The published table as if a run had given exactly these numbers."""
    numbers = table.copy()
    for column in numbers.columns.difference(keys):
        numbers[column] = pd.to_numeric(numbers[column])
    return numbers


def table(**columns):
    frame = pd.DataFrame(columns, dtype=str)
    frame.attrs["name"] = "small"
    return frame


def verdict_of(printed, value, **notes):
    published = table(row=["a"], value=[printed])
    reproduced = pd.DataFrame({"row": ["a"], "value": [value]})
    frame = compare(published, reproduced, "row", **notes).frame
    return frame["verdict"].item(), frame["remark"].item()


def test_every_table_is_read_as_text_and_keeps_trailing_zeros():
    assert len(list_published()) == 12
    for name in list_published():
        frame = published_table(name)
        assert all(isinstance(cell, str) for cell in frame.to_numpy().ravel())
    recall = published_table("slides_table4_recall_short_step")["recall_test"]
    assert "0.50" in set(recall)
    blank = published_table("report_table2_gaussian").query("epsilon == '0.1'")
    assert set(blank["radius"]) == {""}


def test_unknown_table_is_refused_with_the_list():
    with pytest.raises(ValueError, match="one of me2_table1_datasets, .*found 'x'"):
        published_table("x")


@pytest.mark.parametrize(
    ("printed", "value", "verdict"),
    [
        ("76.415", 76.41509433962264, EQUAL),
        ("72.17", 72.16981132075472, EQUAL),
        ("0.50", 0.4977, EQUAL),
        ("0.50", 0.5049, EQUAL),
        ("0.50", 0.5051, DIFFERS),
        ("0.5", 0.5051, EQUAL),
        ("64", 64, EQUAL),
        ("64", np.int64(65), DIFFERS),
        ("11.0", 11.04, EQUAL),
        ("11.0", 11.06, DIFFERS),
        ("0.12", 0.125, EQUAL),
        ("0.13", 0.125, EQUAL),
        ("2.68", 2.675, EQUAL),
        ("2.67", 2.675, EQUAL),
        ("-0.0", 0.0, EQUAL),
        ("1", 2, DIFFERS),
        ("2.5", 2.4, DIFFERS),
        ("1e-3", 0.001, DIFFERS),
        ("1.0", np.inf, DIFFERS),
        ("kidney", "kidney", EQUAL),
        ("kidney", "liver", DIFFERS),
        ("kidney", 1.0, DIFFERS),
        ("64", np.nan, NOT_COMPARABLE),
        ("64", None, NOT_COMPARABLE),
        ("64", pd.NA, NOT_COMPARABLE),
    ],
)
def test_equal_means_equal_with_the_printed_decimals(printed, value, verdict):
    assert verdict_of(printed, value)[0] == verdict


def test_a_range_seen_under_perturbation_decides_even_over_equality():
    verdict, remark = verdict_of("66", 66, rounding={"value": (41, 75)})
    assert verdict == ROUNDING
    assert remark == "41 to 75 seen under perturbation, the published value within"
    verdict, remark = verdict_of("130", 121, rounding={("a", "value"): (110, 125)})
    assert verdict == ROUNDING
    assert remark.endswith("outside")


def test_a_range_that_looks_the_same_as_printed_decides_nothing():
    steady = (11.0773860001, 11.0773860002)
    assert verdict_of("11.077386", 11.077386, rounding={"value": steady})[0] == EQUAL
    assert verdict_of("67", 67, rounding={"value": (67, 67)})[0] == EQUAL
    assert verdict_of("66", 67, rounding={"value": (67, 67)})[0] == DIFFERS


def test_two_standard_errors_are_the_limit_of_the_spread():
    verdict, remark = verdict_of("0.80", 0.76, spread={"value": (0.02, 10)})
    assert verdict == SPREAD
    assert remark == "difference 0.04, standard error 0.02, 10 repeats"
    verdict, remark = verdict_of("379", 187.98, spread={"value": (106.2, 60)})
    assert remark == "difference 190, standard error 110, 60 repeats"
    verdict, remark = verdict_of(
        "0.80", 0.75, spread={"value": (0.02, 10)}, reasons={"value": "another split"}
    )
    assert verdict == DIFFERS
    assert remark.startswith("another split (difference 0.05")


def test_a_difference_of_exactly_two_standard_errors_is_within():
    limit = 2 * 0.25 * (1 + 1e-12)
    inside = verdict_of("0", limit, spread={"value": (0.25, 10)})
    beyond = verdict_of("0", np.nextafter(limit, 1), spread={"value": (0.25, 10)})
    assert (inside[0], beyond[0]) == (SPREAD, DIFFERS)


@pytest.mark.parametrize("end", [(66, 75), (41, 66)])
def test_an_end_of_the_range_lies_within_it(end):
    assert verdict_of("66", 70, rounding={"value": end})[1].endswith("within")


def test_a_difference_without_a_reason_says_so():
    assert verdict_of("64", 65) == (DIFFERS, "unexplained")
    assert verdict_of("64", 65, reasons={"value": "tie"}) == (DIFFERS, "tie")


@pytest.mark.parametrize(
    ("printed", "units", "moved"),
    [("0.50", 1, "0.51"), ("1.019697", 1, "1.019698"), ("100", -1, "99")],
)
def test_one_unit_of_the_last_digit(printed, units, moved):
    assert one_unit_off(printed, units) == moved


def test_times_are_never_judged_and_need_no_run():
    assert verdict_of("26.38", 26.38, times="value")[0] == NOT_COMPARABLE
    published = table(row=["a"], n=["3"], cpu_s=["1.5"])
    run = pd.DataFrame({"row": ["a"], "n": [3]})
    comparison = compare(published, run, "row", times=["cpu_s"])
    assert list(comparison.frame["verdict"]) == [EQUAL, NOT_COMPARABLE]
    assert comparison.wide().iloc[0].tolist() == [
        "3, equal as printed",
        "1.5, not comparable",
    ]


def test_keys_match_by_value_whatever_the_order():
    run = as_numbers(published_table(TABLE3), KEYS).iloc[::-1]
    run["epsilon"] = run["epsilon"].astype(float)
    comparison = compare(TABLE3, run, KEYS, times="cpu_ms")
    assert comparison.counts().to_dict() == {EQUAL: 63, NOT_COMPARABLE: 9}
    assert comparison.unpublished == 0
    assert list(comparison.frame["algorithm"].unique()) == ["ASFW", "BPFW", "APPFW"]


def test_the_most_specific_note_wins():
    run = as_numbers(published_table(TABLE3), KEYS)
    run["fn"] += 1
    comparison = compare(
        TABLE3,
        run,
        KEYS,
        reasons={
            "fn": "general",
            ("BPFW", "*", "fn"): "one algorithm",
            ("BPFW", 1e-2, "fn"): "one cell",
        },
    )
    told = comparison.only(DIFFERS).set_index(list(KEYS))["remark"]
    assert told["ASFW", "0.1"] == "general"
    assert told["BPFW", "0.1"] == "one algorithm"
    assert told["BPFW", "0.01"] == "one cell"


def test_blank_cells_are_left_out_and_missing_rows_are_not_comparable():
    run = pd.DataFrame({"algorithm": ["ASFW"], "epsilon": [0.1], "iterations": [62]})
    comparison = compare(
        "report_table2_gaussian",
        run,
        KEYS,
        times="cpu_s",
        reasons={("APPFW", "*", "*"): "not run"},
    )
    frame = comparison.frame
    assert len(frame) == 3 * 6 + 3 * 2
    assert "" not in set(frame["published"])
    judged = frame.query("column == 'iterations'").set_index(list(KEYS))
    assert judged.loc[("ASFW", "0.1"), "verdict"] == EQUAL
    assert judged.loc[("APPFW", "0.1"), "remark"] == "not run"
    assert judged.loc[("BPFW", "0.1"), "remark"] == "not reproduced here"


def test_rows_that_were_not_published_are_counted_not_judged():
    run = as_numbers(published_table(TABLE3), KEYS)
    other = run.assign(epsilon="0.05")[["algorithm", "epsilon", "fn"]].head(1)
    comparison = compare(TABLE3, pd.concat([run, other]), KEYS)
    assert comparison.unpublished == 1
    assert "1 reproduced rows were not published" in repr(comparison)
    assert "0.05" not in set(comparison.frame["epsilon"])


def test_the_page_shows_words_and_remarks_and_is_the_same_every_time():
    run = as_numbers(published_table(TABLE3), KEYS).drop(columns="cpu_ms")
    run.loc[0, "fn"] = 49

    def page():
        return compare(
            TABLE3, run, KEYS, times="cpu_ms", reasons={"fn": "a < b & c"}
        )._repr_html_()

    html = page()
    assert html == page()
    assert html.count("<small") == 72
    assert "50 / 49<br>" in html
    assert "FN of ASFW, 0.1: differs; a &lt; b &amp; c." in html
    assert "CPU (ms) of every row: not comparable" in html
    assert "recall (%)" in html
    assert "<caption>Report, Table 3 (breast cancer): 72 published cells, " in html


def test_the_page_names_algorithms_and_columns_as_the_documents_do():
    published = table(algorithm=["MEB_A", "DT_O"], recall_test=["1", "2"])
    html = compare(
        published, table(algorithm=["MEB_A", "DT_O"]), "algorithm"
    )._repr_html_()
    assert '<th scope="row">MEB(A)</th>' in html
    assert '<th scope="row">DT_O</th>' in html
    assert '<th scope="col">recall, test</th>' in html


@pytest.mark.parametrize(("rows", "whose"), [(["a"], "a"), (["a", "b"], "every row")])
def test_a_remark_on_every_row_is_told_once(rows, whose):
    published = table(row=rows, value=["1"] * len(rows))
    run = pd.DataFrame({"row": rows, "value": [2] * len(rows)})
    html = compare(published, run, "row")._repr_html_()
    assert f"<li>value of {whose}: differs; unexplained.</li>" in html


def test_a_caption_counts_in_words_and_zero_has_its_digits():
    published = table(row=["a", "b"], value=["0.01", "2"])
    run = pd.DataFrame({"row": ["a", "b", "c"], "value": [0.0, 3.0, 4.0]})
    comparison = compare(published, run, "row")
    assert comparison.frame["reproduced"].tolist() == ["0.0000", "3"]
    html = comparison._repr_html_()
    told = "small: 2 published cells, 2 differ; 1 reproduced row was not published"
    assert f"<caption>{told}</caption>" in html


def test_a_comparison_built_by_hand_has_no_unpublished_rows():
    frame = compare(table(row=["a"], value=["1"]), pd.DataFrame({"row": ["a"]}), "row")
    by_hand = Comparison("hand", ("row",), frame.frame)
    assert by_hand.unpublished == 0
    assert "not published" not in repr(by_hand)


def test_the_text_has_the_cells_and_no_row_numbers():
    published = table(row=["a"], value=["1"])
    run = pd.DataFrame({"row": ["a"], "value": [1]})
    lines = repr(compare(published, run, "row")).splitlines()
    assert lines[0] == "small: 1 published cells: 1 equal as printed"
    assert lines[-1].split()[:3] == ["a", "value", "1"]


def test_wide_has_the_published_shape():
    run = as_numbers(published_table(TABLE3), KEYS)
    wide = compare(TABLE3, run, KEYS).wide()
    assert wide.shape == (9, 8)
    assert wide.loc[("APPFW", "0.1"), "recall_pct"] == "72.17, equal as printed"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keys": ["algorithm"]}, "reproduced has more than one row ASFW"),
        ({"keys": ["algorithm", "eps"]}, "keys names the column 'eps'"),
        ({"times": ["seconds"]}, "times names the column 'seconds'"),
        ({"rounding": {"radii": (1, 2)}}, "rounding names the cell .*'radii'"),
        ({"reasons": {("ASFW", "fn"): "x"}}, "a cell is 2 row keys"),
    ],
)
def test_wrong_names_are_refused(change, message):
    run = as_numbers(published_table(TABLE3), KEYS)
    with pytest.raises(ValueError, match=message):
        compare(**{"published": TABLE3, "reproduced": run, "keys": KEYS, **change})


def test_a_column_that_was_not_published_is_refused():
    run = as_numbers(published_table(TABLE3), KEYS).assign(seconds=1.0)
    with pytest.raises(ValueError, match="reproduced names the column 'seconds'"):
        compare(TABLE3, run, KEYS)


def test_only_refuses_a_word_that_is_no_verdict():
    comparison = compare(TABLE3, as_numbers(published_table(TABLE3), KEYS), KEYS)
    with pytest.raises(ValueError, match="verdict must be one of equal as printed"):
        comparison.only("equal")
