"""All pages of a report as one book in PDF: title, contents, chapters, bookmarks.

The book is one HTML file that an installed Chromium prints, with the links within it.
On what page a heading has come to stand is read from the printed book and put into the
contents, and the book is printed again; then it gets its bookmarks.
"""

from __future__ import annotations

import io
import re
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup

from mebnb.report.document import OTHERS, TEMPLATES, document, templates
from mebnb.report.front import TITLE
from mebnb.report.index import STATUS
from mebnb.report.printing import print_file
from mebnb.report.running import versions
from mebnb.writing import write_file

BOOK = "book.pdf"
NOT_PRINTED = (STATUS, "search.html")
POINTS = ("aria-describedby", "aria-labelledby", "for")
TIMEOUT = 600  # seconds for the whole book once
SIZES = (8, 7, 6, 5)  # of letters in tables, in points, as in book.css
WIDTH = 493  # of the text in points
LETTER, PADDING = 0.64, 2  # width of a letter over its size; letters beside a column
PRINTS = 4  # numbers in the contents may move the pages that they number


@dataclass
class Chapter:
    """A page of the report in the book.

    Attributes
    ----------
    name : str
        Its file name without ".html"; the ids of the chapter begin with it.
    number : str
        As "03", "" where it has none.
    title : str
        As text.
    body : bs4.Tag
    """

    name: str
    number: str
    title: str
    body: object

    @property
    def headline(self):
        """Its title with its number."""
        return f"{int(self.number)}  {self.title}" if self.number else self.title

    @property
    def sections(self):
        """What the contents show of it: (id, text) of each section."""
        return [
            (heading["id"], _text(heading))
            for heading in self.body("h2", id=True)
            if heading.find_parent(class_="provenance") is None
        ]


def print_book(index, pages, browser):
    """Print a finished report as one PDF beside its first page.

    Parameters
    ----------
    index : path
    pages : list of path
        The pages of the notebooks, in reading order.
    browser : path
        From `find_browser`.

    Returns
    -------
    Path

    Raises
    ------
    ReportError
        When the browser does not print it.
    """
    index = Path(index)
    others = [file for _, file in OTHERS if file not in NOT_PRINTED]
    files = [index, *map(Path, pages), *(index.with_name(file) for file in others)]
    chapters = bound([file for file in files if file.is_file()])
    numbers = {}
    with tempfile.TemporaryDirectory(prefix="mebnb-") as folder:
        source = Path(folder) / "book.html"
        for _ in range(PRINTS):
            source.write_text(book_html(chapters, numbers), encoding="utf-8")
            printed = print_file(source, browser, TIMEOUT)
            before, numbers = numbers, page_numbers(printed)
            if numbers == before:
                break
    target = index.with_name(BOOK)
    write_file(target, bookmarked(printed, chapters))
    return target


def book_html(chapters, numbers):
    """The book as one HTML file.

    Parameters
    ----------
    chapters : list of Chapter
    numbers : dict
        id -> page, as far as they are known.

    Returns
    -------
    str
    """
    facts = versions()
    body = (
        templates()
        .get_template("book.html.j2")
        .render(
            title=TITLE,
            day=f"{datetime.now(UTC):%Y-%m-%d}",
            made=f"mebnb {facts['mebnb']}, Python {facts['Python']}",
            chapters=chapters,
            numbers=numbers,
        )
    )
    style = (TEMPLATES / "book.css").read_text(encoding="utf-8")
    return document(TITLE, body, style=style + "".join(map(_running_head, chapters)))


def page_numbers(printed):
    """On which page each place that a link leads to stands.

    Parameters
    ----------
    printed : bytes
        A PDF.

    Returns
    -------
    dict
        id -> page, from 1.
    """
    return {name: page + 1 for name, (page, _) in _places(_opened(printed)).items()}


def bookmarked(printed, chapters):
    """The book with a bookmark for each chapter and section.

    Parameters
    ----------
    printed : bytes
    chapters : list of Chapter

    Returns
    -------
    bytes
    """
    from pypdf import PdfWriter

    places = _places(_opened(printed))
    writer = PdfWriter(clone_from=io.BytesIO(printed))
    for chapter in chapters:
        parent = None
        for name, text in [(chapter.name, chapter.headline), *chapter.sections]:
            page, fit = places[name]
            mark = writer.add_outline_item(
                title=text, page_number=page, parent=parent, fit=fit
            )
            parent = parent or mark
    writer.page_mode = "/UseOutlines"
    writer.metadata = {"/Title": TITLE, "/Creator": "mebnb"}
    book = io.BytesIO()
    writer.write(book)
    return book.getvalue()


def _opened(printed):
    from pypdf import PdfReader

    return PdfReader(io.BytesIO(printed))


def _places(reader):
    """Where links lead: id -> (index of the page, place on it)."""
    from pypdf.generic import Fit

    return {
        unquote(name.removeprefix("/")): (
            reader.get_destination_page_number(place),
            Fit.xyz(place.left, place.top),
        )
        for name, place in reader.named_destinations.items()
    }


# --- pages bound into one ------------------------------------------------------------


def bound(files):
    """The main parts of pages as chapters that link each other.

    Parameters
    ----------
    files : list of Path

    Returns
    -------
    list of Chapter
    """
    chapters = {file.name: _chapter(file) for file in files}
    for chapter in chapters.values():
        for element in chapter.body(id=True):
            element["id"] = f"{chapter.name}--{element['id']}"
    known = {
        element["id"] for c in chapters.values() for element in c.body(id=True)
    } | {c.name for c in chapters.values()}
    for chapter in chapters.values():
        for name in POINTS:
            for element in chapter.body(attrs={name: True}):
                points = (f"{chapter.name}--{p}" for p in element[name].split())
                element[name] = " ".join(points)
        for anchor in chapter.body("a", href=True):
            _relink(anchor, chapter, chapters, known)
    return list(chapters.values())


def _chapter(file):
    soup = BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")
    body, number = soup.main, re.match(r"(\d+)_", file.stem)
    del body["id"]
    for anchor in body.select("a.anchor"):
        anchor.decompose()
    for table in body("table"):
        table["class"] = [*table.get("class", []), letters_of(table)]
    return Chapter(file.stem, number[1] if number else "", _text(body.h1), body)


def _text(element):
    return " ".join(element.get_text().split())


def letters_of(table):
    """The class of the largest letters in which no word of the table is broken.

    On paper nothing scrolls: a table as wide as the page has smaller letters, and one
    that is wider in the smallest has its words broken.
    """
    longest = {}
    for row in table("tr"):
        for at, cell in enumerate(row(["th", "td"])):
            if cell.get("colspan", "1") == "1":
                words = map(len, cell.get_text(" ").split())
                longest[at] = max(longest.get(at, 0), *words, 0)
    letters = sum(length + PADDING for length in longest.values())
    fits = (size for size in SIZES if letters * size * LETTER <= WIDTH)
    return f"letters-{next(fits, 'broken')}"


def _relink(anchor, chapter, chapters, known):
    """A link within the report leads to its place in the book, or is plain text."""
    address = urlsplit(anchor["href"])
    if address.scheme or address.netloc:
        return
    target = chapters.get(unquote(address.path)) if address.path else chapter
    if target is None:
        anchor.unwrap()
        return
    place = f"{target.name}--{unquote(address.fragment)}"
    anchor["href"] = f"#{place if place in known else target.name}"


def _running_head(chapter):
    """The style that puts the chapter's title over its pages."""
    name = re.sub(r"\W", "-", chapter.name)
    return (
        f'[id="{chapter.name}"] {{ page: chapter-{name}; }}\n'
        f"@page chapter-{name} {{ @top-right {{ content: {_css_string(chapter.headline)}; }} }}\n"
    )


def _css_string(text):
    # In hexadecimal, whatever could end the string or the style.
    return '"' + re.sub(r"[^\w .,:;()-]", lambda m: f"\\{ord(m[0]):x} ", text) + '"'
