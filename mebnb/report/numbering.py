"""Figures and tables of a page: each has a number, a caption, and a place to link to."""

from __future__ import annotations

import copy
import re
from urllib.parse import unquote

from bs4 import NavigableString

from mebnb.report.finishing import HEADINGS, cell_name, free_name, new_element

CAPTIONED = {"figure": "output", "table": "of-table"}
"""What has a caption, and the class of its `figure`."""
KINDS = {*CAPTIONED, "equation", "section"}
SENTENCE = re.compile(r".+?(?:[.!?](?=\s+[^\s\d])|$)", re.DOTALL)
ENDED = re.compile(r".*[.!?][)”\"]*(?:\s+(?!\d)|$)", re.DOTALL)
FEWEST_WORDS = 4  # of a sentence that says what a table shows


def number_all(main, chapter):
    """Put every figure and table of a chapter into a `figure` with number and caption.

    Parameters
    ----------
    main : bs4.Tag
        With its tables in their scrollers.
    chapter : str
        Such as "03"; figures are then "Figure 3.1" and so on, without it "Figure 1".
    """
    taken = {element["id"] for element in main(id=True)}
    prefix = f"{int(chapter)}." if chapter else ""
    for count, picture in enumerate(main.select("figure.output"), start=1):
        about = _first_words(_about(picture))
        words = [NavigableString(about)] if about else []
        _caption(picture, f"Figure {prefix}{count}", words, taken)
        if picture.img:
            _let_enlarge(picture, taken)
    tables = [
        t for t in main.select(".table") if not t.find_parent(class_="parameters")
    ]
    for count, scroller in enumerate(tables, start=1):
        words = _words_of(scroller)
        figure = scroller.wrap(new_element("figure", attrs={"class": "of-table"}))
        label = f"Table {prefix}{count}"
        said = " ".join("".join(part.get_text() for part in words).split())
        scroller["aria-label"] = f"{label}: {said}" if said else label
        _caption(figure, label, words, taken)


def _let_enlarge(figure, taken):
    """A picture links to its place, which fills the window for as long as it is named."""
    name = free_name(f"{figure['id']}-large", taken)
    place = figure.img.wrap(new_element("a", href=f"#{name}", title="Enlarge")).wrap(
        new_element("div", id=name, attrs={"class": "view"})
    )
    back = new_element("a", href=f"#{figure['id']}", attrs={"class": "back"})
    back.string = "Back to the page"
    place.insert(0, back)


def _about(figure):
    """What a figure says of itself: a picture, or frames to step through."""
    frames = figure.find(role="radiogroup")
    if frames is not None:
        return frames["aria-label"]
    return figure.img["alt"] if figure.img else ""


def _first_words(about):
    """The first sentence of a description, or what it says left and right."""
    sentences = [found[0].strip() for found in SENTENCE.finditer(about)]
    right = [said for said in sentences[1:] if said.startswith("Right: ")]
    both = right and sentences[0].startswith("Left: ")
    return " ".join([*sentences[:1], *right[:1]] if both else sentences[:1])


def _words_of(scroller):
    """What a table is about, as parts of a caption: its own, else what leads to it.

    That is a sentence that ends in a colon right before the table; else what a folded
    table is unfolded by; else the heading above it.
    """
    own = scroller.table.caption
    if own is not None:
        return [NavigableString(own.extract().get_text(" ", strip=True))]
    lead = _last_sentence(_paragraph_before(scroller))
    folded = scroller.find_parent("details")
    above = folded.summary if folded else scroller.find_previous(HEADINGS)
    if lead or above is None:
        return lead
    return [NavigableString(above.get_text().strip())]


def _paragraph_before(scroller):
    """What stands right before a table: in its cell, or at the end of the text before."""
    before = scroller.find_previous_sibling(True)
    cell = scroller.find_parent("section", class_="cell")
    if cell is None or "text" in cell["class"] or (before and before.name == "p"):
        return before
    output = scroller.find_parent(class_="output")
    shown = output.find_previous_sibling(True) if output else None
    if shown is not None and (last := shown.select(":scope > p:last-child")):
        return last[0]
    text = cell.find_previous_sibling("section")
    leads = cell.find(class_="table") is scroller and text and "text" in text["class"]
    return text.find_all(True, recursive=False)[-1] if leads else None


def _last_sentence(paragraph):
    """The parts of a paragraph's last sentence, without its colon; none where none is."""
    text = paragraph.get_text().rstrip() if paragraph else ""
    if not text.endswith(":") or paragraph.name != "p" or paragraph.select(".equation"):
        return []
    sentence = new_element("span")
    for part in reversed(copy.copy(paragraph).contents[:]):
        if isinstance(part, NavigableString):
            ended = ENDED.match(part)
            part = NavigableString(part[ended.end() :]) if ended else part.extract()
        elif ended := ENDED.fullmatch(part.get_text()):
            break  # such as a formula with its full stop
        sentence.insert(0, part)
        if ended:
            break
    for element in sentence(id=True):
        del element["id"]
    if len(sentence.get_text().split()) < FEWEST_WORDS:
        return []
    first = sentence.find(string=True)
    first.replace_with(first.lstrip())
    colon = [text for text in sentence.find_all(string=True) if ":" in text][-1]
    colon.replace_with(colon.rstrip().removesuffix(":"))
    return sentence.contents[:]


def _caption(figure, label, words, taken):
    figure["id"] = free_name(label.lower().replace(" ", "-"), taken)
    caption = new_element("figcaption")
    link = new_element("a", href=f"#{figure['id']}", attrs={"class": "label"})
    link.string = label
    caption.append(link)
    if words:
        caption.extend([" ", *words])
    above = "of-table" in figure.get("class", [])
    figure.insert(0 if above else len(figure.contents), caption)


def name_references(pages):
    """Give a link whose text is "figure", "table", "equation" or "section" its number.

    A figure or table is named by its cell, or by the heading that it is the first
    under; an equation by its label; a section by its heading.

    Parameters
    ----------
    pages : list of Page
        Of one report. One that leads to no such thing is a problem of its page.
    """
    by_file = {page.file: page for page in pages}
    for page in pages:
        for link in page.soup.main("a", href=True):
            kind = link.get_text().strip()
            file, _, fragment = link["href"].partition("#")
            there = by_file.get(unquote(file) or page.file)
            if kind.lower() not in KINDS or not fragment or there is None:
                continue
            place = there.soup.main.find(id=unquote(fragment))
            words = _words_for(kind, place) if place else None
            if words is None:
                where = cell_name(link)
                page.problems.append(f"{where}: no {kind.lower()} at {link['href']}")
            elif kind.lower() in CAPTIONED or there is page:
                link.string = words
            else:
                link.string = f"{words} of {there.number or there.plain_title}"


def _words_for(kind, place):
    """What a reference says of a place; None where no such thing is there."""
    if kind.lower() in CAPTIONED:
        found = _figure_at(place, CAPTIONED[kind.lower()])
        return found.figcaption.a.get_text() if found else None
    if kind.lower() == "equation":
        return f"{kind} {place.get_text()}" if place.name == "mtd" else None
    heading = HEADINGS.match(place.name)
    return f"{kind} “{place.get_text().strip()}”" if heading else None


def _figure_at(place, name):
    """The figure of this class at a place, in its cell, or the first under its heading."""

    def wanted(tag):
        return tag.name == "figure" and name in tag.get("class", [])

    def wanted_or_end(tag):
        return wanted(tag) or (HEADINGS.match(tag.name) and tag.name <= place.name)

    if place.name == "figure":
        found = place
    elif HEADINGS.match(place.name):
        found = place.find_next(wanted_or_end)
    else:
        found = (place.find_parent("section", class_="cell") or place).find(wanted)
    return found if found and wanted(found) else None
