"""Every examined statement as a card, on a page that filters without a script."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from urllib.parse import quote

from bs4 import BeautifulSoup

from mebnb.published.map import DOCUMENT_TITLES, entry_places
from mebnb.report.document import body_of, document
from mebnb.report.maths import let_scroll, typeset
from mebnb.writing import write_file

FILE = "errata.html"
TITLE = "The errata"
LONGEST = 26  # signs of a formula that fits on a card on a phone
HOLDS, LOST = "HOLDS", "LOST IN THE SCAN"
VERDICTS = {
    "WRONG": "fails as it is printed, on an instance that is named",
    LOST: "our text lacks a sign, a power or an index; no error of the authors",
    "AMBIGUOUS": "right in one reading only, or where a condition is added",
    "HARMLESS": "right after a slip without consequence",
    HOLDS: "right as it stands",
}
"""What each verdict says, the hardest first."""
TOLD = {
    "WRONG": "fail as printed",
    LOST: "lost a sign or an index in the scan",
    "AMBIGUOUS": "hold in one reading",
    "HARMLESS": "hold but for a slip",
    HOLDS: "hold as they stand",
}


def write_errata(out, statements, pages, chapters):
    """Write the page of all statements.

    Parameters
    ----------
    out : path
        The report's folder.
    statements : list of Entry
        Their id, document, place, statement, verdict, corrected and witness are shown.
    pages : list of Page
        Of the report; a card leads to the cell that shows its statement.
    chapters : list of dict
        As `pages.chapters_of` returns them.

    Returns
    -------
    list of str
        What is wrong with the page: formulas that cannot be typeset.
    """
    by_name = {page.name: page for page in pages}
    hardest_first = sorted(
        statements, key=lambda one: list(VERDICTS).index(one.verdict)
    )
    cards = [_card(statement, by_name) for statement in hardest_first]
    body = body_of(
        "errata.html.j2",
        title=TITLE,
        here=FILE,
        chapters=chapters,
        cards=cards,
        documents=DOCUMENT_TITLES,
        verdicts=VERDICTS,
        unasked=HOLDS,
        counts=Counter(card["document"] for card in cards),
        verdict_counts=Counter(card["verdict"] for card in cards),
    )
    soup = BeautifulSoup(body, "html.parser")
    problems = typeset(soup, _card_of)
    for formula in soup.select(".formula"):
        if len(formula.get_text()) > LONGEST:
            let_scroll(formula)
    write_file(Path(out) / FILE, document(TITLE, str(soup)))
    return [f"{FILE}, {problem}" for problem in problems]


def verdicts_told(statements):
    """How many of the statements have which verdict, in one sentence.

    Parameters
    ----------
    statements : sequence of Entry

    Returns
    -------
    str
        Empty where there are none.
    """
    if not statements:
        return ""
    counts = Counter(statement.verdict for statement in statements)
    told = [f"{counts[verdict]} {TOLD[verdict]}" for verdict in VERDICTS]
    return (
        f"Of {len(statements)} statements examined "
        f"{', '.join(told[:-1])}, and {told[-1]}."
    )


def statement_address(name):
    """The card of a statement, as a link names it."""
    return f"{FILE}#{quote(name)}"


def _card(statement, by_name):
    """A statement as the page shows it."""
    notebook, cell = entry_places().get(statement.id, ("", ""))
    page = by_name.get(notebook)
    told = "in the text we read" if statement.verdict == LOST else "printed"
    fails = statement.verdict in ("WRONG", LOST)
    lines = [
        ("statement" if statement.document == "derived" else told, statement.statement),
        ("corrected, or a remark", statement.corrected),
        ("fails on" if fails else "witness", statement.witness),
    ]
    return {
        "id": statement.id,
        "document": statement.document,
        "place": statement.place,
        "verdict": statement.verdict,
        "lines": [(name, text) for name, text in lines if text],
        "address": f"{page.address}#cell-id={quote(cell)}" if page else "",
        "chapter": f"{page.number} {page.plain_title}" if page else "",
    }


def _card_of(node):
    card = node.find_parent("article")
    return card["id"] if card else "page"
