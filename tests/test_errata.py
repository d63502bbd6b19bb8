"""The page of errata: every statement a card, what it says, and where it leads."""

from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup

from mebnb.documents import all_entries
from mebnb.documents.entries import VERDICTS as KNOWN
from mebnb.published.map import DOCUMENT_TITLES, entry_places
from mebnb.report.document import TEMPLATES
from mebnb.report.errata import VERDICTS, write_errata


def statement(**said):
    """A statement that is wrong, in the report's place (13)."""
    usual = {
        "id": "R-E13",
        "document": "report",
        "place": "(13)",
        "verdict": "WRONG",
        "statement": "$x = 1$",
        "corrected": "$x = 2$",
        "witness": "x = 2",
    }
    return SimpleNamespace(**(usual | said))


def page_of(statements, folder, names=("01_dual_derivation",)):
    """The page as parsed, and its problems."""
    pages = [
        SimpleNamespace(name=n, address=f"{n}.html", number=n[:2], plain_title="T")
        for n in names
    ]
    problems = write_errata(folder, statements, pages, [])
    html = (folder / "errata.html").read_text(encoding="utf-8")
    return BeautifulSoup(html, "html.parser"), problems


def told(card):
    return dict(
        zip(
            (term.get_text() for term in card("dt")),
            (words.get_text() for words in card("dd")),
            strict=True,
        )
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    names = sorted({notebook for notebook, _ in entry_places().values()})
    return page_of(all_entries(), tmp_path_factory.mktemp("errata"), names)


def test_every_entry_is_a_card_that_leads_to_its_cell(whole):
    soup, problems = whole
    assert problems == []
    cards = soup.select("article.statement")
    hardest = ["WRONG", "LOST IN THE SCAN", "AMBIGUOUS", "HARMLESS", "HOLDS"]
    wanted = [
        e.id for verdict in hardest for e in all_entries() if e.verdict == verdict
    ]
    for document in {entry.document for entry in all_entries()}:
        own = {entry.id for entry in all_entries() if entry.document == document}
        shown = [card["id"] for card in cards if card["id"] in own]
        assert shown == [name for name in wanted if name in own]
    assert len(cards) == len(wanted)
    for card in cards:
        notebook, cell = entry_places()[card["id"]]
        assert card.select_one(".where a")["href"] == f"{notebook}.html#cell-id={cell}"


def test_every_choice_says_how_many_there_are(whole):
    soup, _ = whole
    labels = {label.input["id"]: label for label in soup.select(".choices label")}
    entries = all_entries()
    counts = {"document-all": len(entries)}
    for name in DOCUMENT_TITLES:
        counts[f"document-{name}"] = sum(e.document == name for e in entries)
    for verdict in KNOWN:
        name = f"verdict-{verdict.lower().replace(' ', '-')}"
        counts[name] = sum(e.verdict == verdict for e in entries)
    assert {k: int(v.select_one(".nr").string) for k, v in labels.items()} == counts
    style = (TEMPLATES / "style.css").read_text(encoding="utf-8")
    assert all(f"#{name}:" in style for name in counts if name != "document-all")


def test_page_knows_every_verdict():
    assert set(VERDICTS) == set(KNOWN)


def test_card_says_what_is_printed_corrected_and_where_it_fails(tmp_path):
    soup, _ = page_of([statement()], tmp_path)
    card = soup.article
    assert card.h3.get_text() == "R-E13 (13)"
    assert card.select_one(".verdict").string == "WRONG"
    assert told(card) == {
        "printed": "x=1",
        "corrected, or a remark": "x=2",
        "fails on": "x = 2",
    }
    assert len(card("math")) == 2


@pytest.mark.parametrize(
    ("said", "first", "last"),
    [
        ({"verdict": "LOST IN THE SCAN"}, "in the text we read", "fails on"),
        ({"verdict": "HARMLESS"}, "printed", "witness"),
        ({"document": "derived"}, "statement", "fails on"),
    ],
)
def test_words_are_no_harsher_than_the_verdict(said, first, last, tmp_path):
    soup, _ = page_of([statement(**said)], tmp_path)
    names = list(told(soup.article))
    assert (names[0], names[-1]) == (first, last)


def test_what_is_not_said_has_no_line_and_no_page_no_link(tmp_path):
    only = statement(verdict="HOLDS", corrected="", witness="")
    soup, _ = page_of([only], tmp_path, names=())
    assert list(told(soup.article)) == ["printed"]
    assert soup.article.select_one(".where") is None


def test_statement_is_text_and_never_markup(tmp_path):
    evil = "<script>alert(1)</script><input value=x>"
    soup, _ = page_of([statement(statement=evil, witness=evil)], tmp_path)
    assert told(soup.article)["printed"] == evil
    assert soup.article.find(["script", "input"]) is None


def test_formula_that_cannot_be_typeset_is_told(tmp_path):
    _, problems = page_of([statement(statement=r"$\frac{1}{$")], tmp_path)
    assert len(problems) == 1
    assert problems[0].startswith("errata.html, R-E13: cannot typeset")
