"""Figures and tables of a page: each has a number, a caption, and a place to link to."""

from __future__ import annotations

import re
from urllib.parse import unquote

from mebnb.report.finishing import HEADINGS, cell_name, free_name, new_element

CAPTIONED = {"figure": "output", "table": "of-table"}
"""What has a caption, and the class of its `figure`."""
KINDS = {*CAPTIONED, "equation", "section"}
SENTENCE = re.compile(r".+?(?:[.!?](?=\s+[^\s\d])|$)", re.DOTALL)


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
        about = SENTENCE.match(_about(picture))
        words = about[0] if about else ""
        _caption(picture, f"Figure {prefix}{count}", words, taken)
        if picture.img:
            _let_enlarge(picture, taken)
    tables = [
        t for t in main.select(".table") if not t.find_parent(class_="parameters")
    ]
    for count, scroller in enumerate(tables, start=1):
        figure = scroller.wrap(new_element("figure", attrs={"class": "of-table"}))
        label = f"Table {prefix}{count}"
        words = _words_of(scroller)
        scroller["aria-label"] = f"{label}: {words}" if words else label
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


def _words_of(scroller):
    """What a table is about: its own caption, else the heading that it stands under."""
    own = scroller.table.caption
    if own is not None:
        return own.extract().get_text(" ", strip=True)
    heading = scroller.find_previous(HEADINGS)
    return heading.get_text().strip() if heading else ""


def _caption(figure, label, words, taken):
    figure["id"] = free_name(label.lower().replace(" ", "-"), taken)
    caption = new_element("figcaption")
    link = new_element("a", href=f"#{figure['id']}", attrs={"class": "label"})
    link.string = label
    caption.append(link)
    if words:
        caption.append(f" {words}")
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
