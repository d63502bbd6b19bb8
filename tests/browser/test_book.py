"""The printed book: pages, numbers, bookmarks, links and letters."""

import io
import re

import pytest
from pypdf import PdfReader

from mebnb.report.book import BOOK, print_book
from mebnb.report.making import export_stored
from mebnb.report.notebooks import notebooks_folder, select_notebooks
from mebnb.report.printing import find_browser

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("book")]

CHAPTERS = {
    "1  The dual of the minimum enclosing ball, derived and checked": "01",
    "9  Breast cancer: a ball around the benign": "09",
}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Two chapters between the first page and the functions."""
    paths = select_notebooks(notebooks_folder(), CHAPTERS.values())
    made = export_stored(paths, tmp_path_factory.mktemp("book"))
    file = print_book(made.index, made.pages, find_browser())
    assert file == made.index.with_name(BOOK)
    return PdfReader(io.BytesIO(file.read_bytes()))


def leaf(reader, place):
    return reader.get_destination_page_number(place) + 1


def test_bookmarks_lead_to_chapters_and_sections(book):
    chapters = [item for item in book.outline if not isinstance(item, list)]
    titles = [item.title for item in chapters]
    assert titles[0] == "The minimum enclosing ball"
    assert titles[1:3] == list(CHAPTERS)
    sections = [item for item in book.outline if isinstance(item, list)]
    assert all(len(items) > 3 for items in sections[1:3])
    pages = [leaf(book, item) for item in chapters]
    assert pages == sorted(set(pages)) and pages[0] > 2
    for item in chapters[1:3]:
        text = " ".join(book.pages[leaf(book, item) - 1].extract_text().split())
        assert item.title.split("  ")[1].split(":")[0][:20] in text


def test_contents_and_every_page_have_the_numbers_of_the_pages(book):
    first = leaf(book, book.outline[0])
    contents = " ".join(
        " ".join(page.extract_text().split()) for page in book.pages[1 : first - 1]
    )
    for item in book.outline:
        if not isinstance(item, list):
            title = " ".join(item.title.split())
            assert re.search(rf"{re.escape(title)} {leaf(book, item)}\b", contents)
    for number, page in enumerate(book.pages[1:], start=2):
        assert re.search(rf"(^|\n){number}\s*(\n|$)", page.extract_text()), number
    assert not re.search(r"(^|\n)1\s*$", book.pages[0].extract_text())


def test_links_stay_within_the_book_or_lead_to_the_web(book):
    named = set(book.named_destinations)
    inner = 0
    for page in book.pages:
        for reference in page.get("/Annots", []):
            link = reference.get_object()
            action = link.get("/A", {})
            if "/URI" in action:
                assert action["/URI"].startswith(("https://", "http://"))
            else:
                inner += link.get("/Dest", action.get("/D")) in named
    assert inner > 50


def test_every_font_is_embedded(book):
    fonts = [
        font.get_object()
        for page in book.pages
        for font in page["/Resources"].get("/Font", {}).values()
    ]
    assert len(fonts) > 10
    for font in fonts:
        descendants = font.get("/DescendantFonts")
        if font["/Subtype"] == "/Type3":  # drawn within the file
            continue
        described = descendants[0].get_object() if descendants else font
        descriptor = described["/FontDescriptor"].get_object()
        assert any(
            key in descriptor for key in ("/FontFile", "/FontFile2", "/FontFile3")
        )
