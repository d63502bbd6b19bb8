"""The frame of the derivation checks, and what holds of all entries together."""

import dataclasses
import math

import pandas as pd
import pytest

from mebnb.documents import all_entries, check_derivations, checks, errata
from mebnb.documents.entries import (
    DOCUMENTS,
    DataMissing,
    Entry,
    run_entry,
    spoiled_forms_that_pass,
)
from mebnb.published.map import DOCUMENT_TITLES, DocumentMap, document_map


def square_of(three_cubed):
    return abs(three_cubed - 27)


def entry(**changes):
    parts = dict(
        id="R-T",
        document="report",
        place="here",
        statement="$3^3 = 9$",
        verdict="WRONG",
        measure=square_of,
        true=27,
        printed=9,
        spoiled={"another power": 81},
        corrected="$3^3 = 27$",
        witness="3",
    )
    return Entry(**(parts | changes))


def test_a_wrong_entry_passes_when_the_printed_form_fails_and_the_true_one_holds():
    outcome = run_entry(entry())
    assert (outcome.violation, outcome.printed_violation) == (0.0, 18.0)
    assert outcome.passed


@pytest.mark.parametrize(
    "changes", [dict(true=26), dict(printed=27), dict(true=math.nan)]
)
def test_an_entry_fails_otherwise(changes):
    assert run_entry(entry(**changes)).passed is False


def test_spoiled_forms_are_run():
    assert spoiled_forms_that_pass(entry()) == []
    assert spoiled_forms_that_pass(entry(spoiled={"none": 27})) == ["none"]


def test_missing_data_are_neither_passed_nor_failed():
    def measure(form):
        raise DataMissing("iranian_churn")

    outcome = run_entry(entry(measure=measure))
    assert outcome.passed is None
    assert outcome.status == "data missing: iranian_churn"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (dict(spoiled={}), "R-T: a check needs a spoiled form it must reject"),
        (dict(witness=""), "R-T: WRONG needs the printed form and a witness"),
        (dict(printed=None), "R-T: WRONG needs the printed form and a witness"),
        (
            dict(verdict="LOST IN THE SCAN", printed=None),
            "R-T: LOST IN THE SCAN needs the printed form and a witness",
        ),
        (dict(verdict="MAYBE"), "R-T: unknown document or verdict"),
    ],
)
def test_incomplete_entries_are_refused(changes, message):
    with pytest.raises(ValueError) as caught:
        entry(**changes)
    assert str(caught.value) == message


def test_what_the_scan_lost_must_fail_as_it_is_read():
    lost = entry(verdict="LOST IN THE SCAN")
    assert run_entry(lost).passed
    assert not run_entry(dataclasses.replace(lost, printed=lost.true)).passed


def test_what_only_the_scan_lost_is_no_error_of_the_authors():
    lost = {e.id for e in all_entries() if e.verdict == "LOST IN THE SCAN"}
    assert lost == {
        "R-E04",
        "R-E07",
        "R-E34",
        "R-A3-L6",
        "S-E01",
        "S-A2-test",
        "S-A2-drop",
        "S-A4-plus",
        "S-A4-kappa",
    }


def test_ids_are_unique_and_wrong_entries_name_a_witness():
    entries = all_entries()
    assert len({e.id for e in entries}) == len(entries) > 400
    for e in entries:
        assert e.spoiled or e.spoil
        if e.fails_as_read:
            assert e.witness and e.corrected


def test_selection_by_id_and_document():
    table = check_derivations(ids=["R-E07", "R-E12"])
    assert list(table.frame["id"]) == ["R-E07", "R-E12"]
    assert table.passed and table.missing == []
    assert "form in the scan fails" in table.outcomes().loc["R-E07", "outcome"]
    assert table.summary() == (
        "2 entries (1 LOST IN THE SCAN, 1 HOLDS): 2 passed, 0 failed, 0 without data"
    )
    html = table._repr_html_()
    assert "R-E12" in html and 'scope="row"' in html


def test_a_missing_outcome_is_neither_true_nor_false(monkeypatch):
    def no_data(form):
        raise DataMissing("iranian_churn")

    entries = [entry(), entry(id="R-F", true=26), entry(id="R-D", measure=no_data)]
    monkeypatch.setattr(checks, "all_entries", lambda document, ids: entries)
    table = check_derivations()
    assert table.frame["passed"].dtype == "boolean"
    assert table.frame["passed"].isna().tolist() == [False, False, True]
    assert table.summary() == (
        "3 entries (3 WRONG): 1 passed, 1 failed: R-F, 1 without data: R-D"
    )
    assert not table.passed
    assert table.outcomes().loc["R-D", "outcome"] == "data missing: iranian_churn"


def test_generated_forms_are_run_beside_those_written_by_hand():
    both = entry(spoil=lambda true: {"one more": true + 1, "none": true})
    assert list(both.spoiled_forms()) == ["another power", "one more", "none"]
    assert spoiled_forms_that_pass(both) == ["none"]
    assert entry(spoiled={}, spoil=lambda true: {"one more": true + 1})


def test_numbers_in_an_id_say_the_place():
    places = {
        "R-E09": "(9)",
        "P-E13": "(13)",
        "R-A2-L17": "Alg 2 L17",
        "R-T3-run": "Table 3",
    }
    for name, place in places.items():
        assert entry(id=name, place="").place == place
    with pytest.raises(ValueError, match="^R-X-u0: a place is needed"):
        entry(id="R-X-u0", place="")


def test_unknown_names_are_refused():
    with pytest.raises(
        ValueError, match="^document must be one of report, slides, me2"
    ):
        check_derivations("essay")
    with pytest.raises(
        ValueError, match="^ids holds unknown entries 'R-E99'; known are"
    ):
        check_derivations(ids=["R-E99"])
    with pytest.raises(ValueError, match="^verdict must be one of HOLDS"):
        errata("report", ["MAYBE"])


@pytest.mark.parametrize("document", DOCUMENTS)
def test_errata_list_what_does_not_simply_hold(document):
    listed = errata(document).frame
    assert len(listed) == sum(e.verdict != "HOLDS" for e in all_entries(document))
    assert document in DOCUMENT_TITLES


def test_document_map_names_every_numbered_item():
    frame = document_map().frame
    report = frame[frame["document"] == "report"]
    equations = report.loc[report["kind"] == "equation", "item"]
    assert list(equations) == [f"({n})" for n in range(1, 45)]
    assert set(report.loc[report["kind"] == "table", "item"]) == {
        f"Table {n}" for n in range(1, 5)
    }
    assert not frame.duplicated(["document", "item"]).any()
    with pytest.raises(
        ValueError, match="^document must be one of report, slides, me2"
    ):
        document_map("essay")


def test_document_map_of_one_document_has_its_rows_alone():
    frame, everything = document_map("slides").frame, document_map().frame
    assert list(frame["document"]) == ["slides"] * len(frame)
    assert len(frame) == (everything["document"] == "slides").sum() > 0
    assert list(frame.columns) == list(everything.columns)
    assert list(frame.index) == list(range(len(frame)))


def test_document_map_shows_alike_items_as_one_row_in_the_order_of_the_document():
    rows = [
        ("report", "equation", "(2)", "primal <problem>", "01_dual_derivation", "a"),
        ("report", "equation", "(1)", "ball", "no_such_notebook", "a"),
        ("report", "equation", "(3)", "primal <problem>", "01_dual_derivation", "b"),
    ]
    shown = DocumentMap(pd.DataFrame(rows, columns=document_map().frame.columns))
    body = shown._repr_html_().split("<tbody>")[1]
    assert body == (
        '<tr><th scope="row"><a href="01_dual_derivation.ipynb#cell-id=a">(2)</a>, '
        '<a href="01_dual_derivation.ipynb#cell-id=b">(3)</a></th>'
        "<td>primal &lt;problem&gt;</td>"
        '<td><a href="01_dual_derivation.ipynb">01_dual_derivation</a></td></tr>'
        '<tr><th scope="row">(1)</th><td>ball</td>'
        "<td>no_such_notebook (not written yet)</td></tr></tbody></table></div>"
    )
    assert [line.split()[0] for line in repr(shown).splitlines()] == [
        "document",
        *["report"] * 3,
    ]
