"""A page to search the report: its one script looks, its list is there without."""

from __future__ import annotations

import copy
import inspect
import json
import re
from html import escape
from pathlib import Path

from bs4 import BeautifulSoup

from mebnb.report.document import TEMPLATES, body_of, document
from mebnb.report.errata import statement_address
from mebnb.report.finishing import HEADINGS
from mebnb.report.maths import to_mathml
from mebnb.report.reference import FILE as FUNCTIONS
from mebnb.report.reference import public_functions
from mebnb.writing import write_file

FILE = "search.html"
TITLE = "Search"
TEXT = ["p", "li", "figcaption", "blockquote"]
FORMULA_SIGNS = {"msup": "^", "msub": "_", "mfrac": "/"}
MOST_PLACES = 7  # of a term: chapters that say most of it


def write_search(out, pages, chapters, statements=(), terms=()):
    """Write the page that searches headings, text, functions and statements.

    Parameters
    ----------
    out : path
        The report's folder.
    pages : list of Page
    chapters : list of dict
        As `pages.chapters_of` returns them.
    statements : sequence of Entry
        Those of the page of errata, which is their index.
    terms : sequence of str
        Words of the index; one that no section has is left out.

    Returns
    -------
    Path
    """
    sections = [place for page in pages for place in _sections(page)]
    index = [(term, _where(term, sections)) for term in sorted(terms, key=str.casefold)]
    body = body_of(
        "search.html.j2",
        title=TITLE,
        here=FILE,
        chapters=chapters,
        terms=[(term, places) for term, places in index if places],
    )
    path = Path(out) / FILE
    places = sections + _functions() + _cards(statements)
    write_file(path, document(TITLE, body, script=_script(places)))
    return path


def _where(term, sections):
    """The section of each chapter that says most of a term, of the foremost chapters."""
    words = re.compile(rf"\b{re.escape(term)}", re.IGNORECASE)
    best = {}
    for section in sections:
        named = bool(words.search(section["heading"]))
        weight = 10 * named + len(words.findall(section["text"]))
        if weight > best.get(section["chapter"], (0, None))[0]:
            best[section["chapter"]] = weight, section
    foremost = sorted(best.values(), key=lambda found: -found[0])[:MOST_PLACES]
    return [section for section in sections if any(section is s for _, s in foremost)]


def _sections(page):
    """Each section of a page: its heading, address, and the words below it."""
    places, taken = [], set()
    for element in page.soup.main.find_all([*TEXT, HEADINGS]):
        if element.find_parent(class_="provenance"):
            continue
        words = _said_by(element)
        if HEADINGS.match(element.name):
            places.append(
                {
                    "chapter": f"{page.number} {page.plain_title}".strip(),
                    "number": page.number or page.plain_title,
                    "heading": words,
                    "address": f"{page.address}#{element['id']}",
                    "text": "",
                }
            )
        elif places and not any(id(parent) in taken for parent in element.parents):
            taken.add(id(element))
            places[-1]["text"] += f" {words}"
    return places


def _said_by(element):
    """What an element says on one line; 10 to the power of -3 is 10^-3, not 10 -3."""
    said = copy.copy(element)
    for place in said("wbr"):
        place.decompose()
    for number in said.select(".whole"):
        number.unwrap()
    for formula in said("math"):
        for name, sign in FORMULA_SIGNS.items():
            for part in formula(name):
                part.contents[-1].insert_before(sign)
        formula.replace_with(formula.get_text())
    said.smooth()
    return " ".join(said.get_text(" ").split())


def _functions():
    return [
        {
            "chapter": "functions",
            "heading": name,
            "address": f"{FUNCTIONS}#{name}",
            "text": inspect.getdoc(function).partition("\n\n")[0],
        }
        for name, function in public_functions().items()
    ]


def _cards(statements):
    return [
        {
            "chapter": "errata",
            "heading": f"{statement.id} {statement.place}: {statement.verdict}",
            "address": statement_address(statement.id),
            "text": _words(f"{statement.statement} {statement.corrected}"),
        }
        for statement in statements
    ]


def _words(text):
    """Text with its formulas as signs, not as the source that nobody types."""
    return _said_by(BeautifulSoup(to_mathml(escape(text, quote=False)), "html.parser"))


def _script(places):
    """The script of the page with what it looks through; no `<` stands in it as such."""
    rows = [[p["heading"], p["chapter"], p["address"], p["text"]] for p in places]
    found = json.dumps(rows, ensure_ascii=False).replace("<", r"\u003c")
    found = found.replace("\u2028", r"\u2028").replace("\u2029", r"\u2029")
    code = (TEMPLATES / "search.js").read_text(encoding="utf-8")
    return f"const PLACES = {found};\n{code}"
