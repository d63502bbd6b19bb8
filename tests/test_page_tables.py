"""Tables of a page: what stands right, below each other, in sight, and in two lines."""

import pytest
from bs4 import BeautifulSoup

from mebnb.report.tables import DIGIT, POINT, make_scrollable, mark_up_tables


def marked_up(header, *rows):
    """A table of these rows as a page has it."""
    lines = ["".join(f"<td>{cell}</td>" for cell in row) for row in rows]
    head = "".join(f"<th>{cell}</th>" for cell in header)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    html = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    main = BeautifulSoup(f"<main>{html}</main>", "html.parser").main
    mark_up_tables(main)
    make_scrollable(main)
    return main.table


def column(table, at):
    return [row("td")[at] for row in table.tbody("tr")]


def test_numbers_stand_right_and_words_left():
    table = marked_up(["set", "n", "done"], ["a", "12", "True"], ["b", "7", "False"])
    assert all("number" in cell["class"] for cell in column(table, 1))
    assert "number" in table("th")[1]["class"]
    assert not any("number" in cell["class"] for cell in column(table, 0))
    assert not any("number" in cell["class"] for cell in column(table, 2))


def test_name_that_begins_with_digits_is_a_word_and_a_lone_dash_no_word():
    table = marked_up(["file", "n"], ["01_dual", "-"], ["02_gap", "3"])
    assert not any("number" in cell["class"] for cell in column(table, 0))
    assert all("number" in cell["class"] for cell in column(table, 1))


def test_points_of_a_column_stand_below_each_other():
    table = marked_up(["x"], ["1.25"], ["30"], ["-0.5"], ["NaN"])
    assert [cell.get_text() for cell in column(table, 0)] == [
        "1.25",
        f"30{POINT}{DIGIT * 2}",
        f"-0.5{DIGIT}",
        "–",
    ]


@pytest.mark.parametrize("other", ["1e-06", "3 / 4", "0.1234567"])
def test_column_that_is_not_of_plain_numbers_stays_as_it_is(other):
    table = marked_up(["x"], ["1.5"], ["2"], [other])
    assert [cell.get_text() for cell in column(table, 0)] == ["1.5", "2", other]


@pytest.mark.parametrize(("columns", "lines"), [(1, 2), (2, 1)])
def test_header_over_several_columns_has_their_room(columns, lines):
    html = (
        f"<table><thead><tr><th colspan={columns}>breast cancer data</th></tr></thead>"
        f"<tbody><tr>{'<td>1</td>' * columns}</tr></tbody></table>"
    )
    main = BeautifulSoup(f"<main>{html}</main>", "html.parser").main
    mark_up_tables(main)
    assert len(main.th("br")) == lines - 1


def test_remark_below_a_number_does_not_move_it():
    table = marked_up(["x"], ["1.5<br><small>differs</small>"], ["2"])
    assert column(table, 0)[1].get_text() == f"2{POINT}{DIGIT}"


@pytest.mark.parametrize("missing", ["nan", "NaN", "<NA>", "NaT"])
def test_missing_value_is_a_dash(missing):
    table = marked_up(["x"], [missing.replace("<", "&lt;")], ["1"])
    dash = column(table, 0)[0]
    assert dash.get_text() == "–" and dash.span["title"] == "missing"


def test_word_that_is_no_missing_value_stays():
    table = marked_up(["x"], ["nano"], ["<b>nan</b>"])
    assert [cell.get_text() for cell in column(table, 0)] == ["nano", "nan"]


def test_long_header_has_two_lines_about_as_long():
    header = marked_up(["false alarms in percent of all"], ["1"]).th
    assert list(header.stripped_strings) == ["false alarms in", "percent of all"]
    assert len(header("br")) == 1
    assert marked_up(["recall (%)"], ["1"]).th.br is None


@pytest.mark.parametrize(
    ("short", "lines"),
    [
        ("core set", "core set"),
        ("ns an entry", "ns\u00a0an entry"),
        ("1 2 3", "1 2\u00a03"),
    ],
)
def test_short_header_breaks_into_two_lines_at_most(short, lines):
    assert marked_up([short], ["1"]).th.string == lines


@pytest.mark.parametrize("word", ["1e-03", "p-value"])
def test_header_of_one_word_is_not_broken_at_a_hyphen(word):
    assert "whole" in marked_up([word], ["1"]).th["class"]


def test_long_name_may_go_on_after_an_underscore():
    (name,) = column(marked_up(["x"], ["degree_spondylolisthesis of DT_OU"]), 0)
    assert [str(part) for part in name.contents] == [
        "degree_",
        "<wbr/>",
        "spondylolisthesis of DT_OU",
    ]


def test_first_column_is_marked_below_cells_that_span_rows():
    main = BeautifulSoup(
        "<main><table><tr><th rowspan=2>a</th><td>1</td></tr><tr><td>2</td></tr>"
        "</table></main>",
        "html.parser",
    ).main
    mark_up_tables(main)
    assert [cell.get_text() for cell in main.select(".first")] == ["a"]


def test_table_of_many_columns_stands_closer():
    names = list("abcdef")
    row = ["0.1 [0.0, 0.2]"] * 6
    assert "dense" in marked_up(names, row)["class"]
    assert "parted" in marked_up(names, row).td["class"]
    assert not marked_up(names[:5], row[:5]).has_attr("class")


def test_remark_that_begins_with_a_number_is_a_remark():
    words = ["none", "as printed", "two files", "of the report", "12 rows left out"]
    table = marked_up(["remark"], *[[word] for word in words])
    assert not any("number" in cell["class"] for cell in column(table, 0))
    assert column(table, 0)[0].string == "none"


def test_empty_cell_of_the_body_is_a_dash():
    table = marked_up(["x", "remark"], ["1", ""], ["-", "two"])
    assert [cell.get_text() for cell in column(table, 0)] == ["1", "–"]
    assert [cell.get_text() for cell in column(table, 1)] == ["–", "two"]
    assert column(table, 1)[0].span["title"] == "none"


@pytest.mark.parametrize(
    "word", ["correct", "<math><mn>2</mn><mi>t</mi></math>", "too deep"]
)
def test_one_word_in_a_column_lets_all_of_it_and_its_header_stand_left(word):
    table = marked_up(["x"], ["1"], ["2/(t+2)"], ["-"], [word], ["17"])
    cells = [*column(table, 0), table.th]
    assert not any("number" in cell.get("class", []) for cell in cells)


def test_dash_follows_its_column():
    table = marked_up(["x", "remark", "none"], ["1", "-", "-"], ["-", "so", "-"])
    for at, of_numbers in enumerate([True, False, False]):
        found = ["number" in cell["class"] for cell in column(table, at)]
        assert found == [of_numbers] * 2


def test_interval_stays_on_one_line():
    table = marked_up(["x"], ["+0.11 [+0.00, +0.21]"], ["1 <code>[0, 1]</code>"])
    assert [cell.get_text() for cell in column(table, 0)] == [
        "+0.11 [+0.00,\u00a0+0.21]",
        "1 [0, 1]",
    ]


def test_names_of_an_index_and_of_the_columns_stand_in_one_row():
    html = (
        "<table><thead><tr><th></th><th>score</th><th>AUROC</th></tr>"
        "<tr><th>set</th><th>detector</th><th></th></tr></thead>"
        "<tbody><tr><th>a</th><th>ball</th><td>0.9</td></tr></tbody></table>"
    )
    main = BeautifulSoup(f"<main>{html}</main>", "html.parser").main
    mark_up_tables(main)
    (line,) = main.thead("tr")
    cells = [cell.get_text(" ") for cell in line("th")]
    assert cells == ["set", "score → detector", "AUROC"]
