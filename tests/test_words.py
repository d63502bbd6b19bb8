"""Words of data are shown as they are, by Markdown, by HTML and beside formulas."""

import io
import re
import sys
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nbconvert.filters.markdown_mistune import markdown2html_mistune

from mebnb.report.cleaning import clean
from mebnb.report.folders import without_folders
from mebnb.report.maths import typeset
from mebnb.report.notebooks import CLONE
from mebnb.report.words import (
    code_block,
    escaped,
    for_spreadsheets,
    readable,
    without_formulas,
)
from mebnb.your_data.advice import WordTable, as_list

sys.path.append(str(Path(__file__).with_name("browser")))
from payloads import PAYLOADS

# What Markdown, HTML and formulas are made of, beside any other character.
MARKS = st.sampled_from(
    [*"\\`*_{}[]()<>#+-.!|$&;:=~^@/\"' \n", "$$", "\\(", "<b>", "&#", "1. ", "www."]
)
WORDS = st.lists(MARKS | st.text(max_size=4), max_size=12).map("".join)


def seen(markdown):
    """What a page shows of Markdown, and the elements that it is made of."""
    soup = BeautifulSoup(clean(markdown2html_mistune(markdown)), "html.parser")
    assert typeset(soup, lambda node: "") == []
    elements = {element.name for element in soup(True)}
    return soup.get_text(), elements


def comparable(text):
    """Text less its blanks, and what cannot be seen."""
    return "".join(c for c in text if c.isprintable() and c not in " \ufffd")


@given(WORDS)
@settings(max_examples=400, deadline=None)
@example("http://evil.example and a@b.example")
@example("    indented")
@example("a\\")
def test_escaped_words_are_seen_as_they_are(words):
    text, elements = seen(f"Of {escaped(words)}, it is said.")
    assert elements <= {"p", "span"}
    assert comparable(text) == comparable(f"Of {words}, it is said.")


@given(WORDS)
@settings(max_examples=200, deadline=None)
def test_words_at_the_start_of_a_line_are_words_too(words):
    text, elements = seen(as_list([words + " x", "last"]))
    assert elements <= {"ul", "li", "span"}
    assert comparable(text) == comparable(words + " x last")


@pytest.mark.parametrize("words", PAYLOADS)
def test_payload_is_seen_as_it_is(words):
    text, elements = seen(f"Of {escaped(words)}, it is said.")
    assert elements <= {"p", "span"}
    assert comparable(text) == comparable(f"Of {words}, it is said.")


@pytest.mark.parametrize("words", PAYLOADS)
def test_payload_in_a_table_is_a_text(words):
    table = WordTable({words: [words, "b"]}, index=pd.Index([words, "c"], name=words))
    with pd.option_context("display.max_colwidth", None):
        shown = table.head(1)._repr_html_()  # what comes of a word table is one
    soup = BeautifulSoup(clean(shown), "html.parser")
    assert typeset(soup, lambda node: "") == []
    tags = {"div", "table", "thead", "tbody", "tr", "th", "td", "span"}
    assert {element.name for element in soup(True)} <= tags
    cells = [cell.get_text() for cell in soup(["th", "td"])]
    told = [comparable(cell) for cell in cells if cell.strip()]
    # pandas writes an end of line as a backslash and n; before version 3 a header swallows it.
    bare = {cell.replace("\\n", "") for cell in told}
    assert len(told) >= 3 and bare == {comparable(words.replace("\n", ""))}


@pytest.mark.parametrize("code", ["```", "a\n````\nb", "$x$ <b>", "~~~", "`"])
def test_code_ends_where_its_fence_does(code):
    soup = BeautifulSoup(
        clean(markdown2html_mistune(code_block(code, "sh"))), "html.parser"
    )
    assert typeset(soup, lambda node: "") == []
    assert soup.get_text().strip() == code
    assert soup.find("pre") is not None and soup.find(["b", "math"]) is None


def test_html_has_no_formula_left():
    soup = BeautifulSoup(without_formulas(r"<td>$a$ \(b\) $</td>"), "html.parser")
    assert typeset(soup, lambda node: "") == []
    assert soup.get_text() == r"$a$ \(b\) $"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        ("+1+1", "'+1+1"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("＝1", "'＝1"),
        ("-3.5", "-3.5"),
        ("+1e-3", "+1e-3"),
        ("a=1", "a=1"),
        ("", ""),
    ],
)
def test_spreadsheet_reads_a_text_as_a_text(text, shown):
    frame = pd.DataFrame({"name": [text], "score": [-1.5]})
    written = for_spreadsheets(frame).to_csv(index=False)
    read = pd.read_csv(io.StringIO(written), dtype=str, keep_default_na=False)
    assert read["name"][0] == shown and read["score"][0] == "-1.5"


def test_name_of_a_column_is_no_formula_in_a_spreadsheet():
    assert list(for_spreadsheets(pd.DataFrame({"=1": [1]}))) == ["'=1"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"File {CLONE}/mebnb/cli.py:3, in f(x)", "File mebnb/cli.py:3, in f(x)"),
        (f"File {nbformat.__file__}:3", "File nbformat/__init__.py:3"),
        ("File ~/my things/a.py:3, in f(a/b)", "File a.py:3, in f(a/b)"),
        (
            "File \x1b[32m/home/me/a.py:3\x1b[39m, in f",
            "File \x1b[32ma.py:3\x1b[39m, in f",
        ),
        ('File "/home/a b/c.py", line 3', 'File "c.py", line 3'),
        ("No such file: '/home/me/x y.csv'", "No such file: 'x y.csv'"),
        (r"cannot read C:\Users\me\x.csv", "cannot read x.csv"),
        ("/home/me/a.py:3: UserWarning: b", "a.py:3: UserWarning: b"),
        ("see https://host.example/a/b and 3 / 4", None),
        ("x = a/b/c + (m - 1)/n/2", None),
    ],
)
def test_message_names_no_folder(text, shown):
    assert without_folders(text) == (text if shown is None else shown)


def test_names_of_code_become_words_on_every_level():
    columns = pd.MultiIndex.from_tuples(
        [("a", "auroc"), ("a", "other")], names=["p_value", None]
    )
    table = pd.DataFrame([[1, 2]], columns=columns, index=["memory_gib"])
    said = readable(table)
    assert list(said.columns) == [("a", "AUROC"), ("a", "other")]
    assert said.columns.names == ["p-value", None] and list(said.index) == [
        "memory in GiB"
    ]
    assert list(table.index) == ["memory_gib"]


def test_no_table_of_a_notebook_is_headed_by_the_name_of_a_score():
    names = re.compile(r"<th[^>]*>\s*(\w*(?:recall|false|auroc|f1)_\w+)\s*</th>")
    for path in sorted((CLONE / "notebooks").glob("*.ipynb")):
        for cell in nbformat.read(path, 4).cells:
            for output in cell.get("outputs", []):
                html = output.get("data", {}).get("text/html", "")
                assert names.findall(html) == [], (path.name, cell.id)
