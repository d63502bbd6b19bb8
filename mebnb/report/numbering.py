"""Figures and tables of a page: each has a number, a caption, and a place to link to."""

from __future__ import annotations

import re
from urllib.parse import unquote

from mebnb.report.finishing import HEADINGS, cell_name, free_name, new_element

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
    tables = [
        t for t in main.select(".table") if not t.find_parent(class_="parameters")
    ]
    for count, scroller in enumerate(tables, start=1):
        figure = scroller.wrap(new_element("figure", attrs={"class": "of-table"}))
        label = f"Table {prefix}{count}"
        words = _words_of(scroller)
        scroller["aria-label"] = f"{label}: {words}" if words else label
        _caption(figure, label, words, taken)


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
    """Give a link whose text is "figure" or "table" the number of what it leads to.

    Parameters
    ----------
    pages : list of Page
        Of one report. One that leads to no such thing is a problem of its page.
    """
    mains = {page.file: page.soup.main for page in pages}
    for page in pages:
        for link in page.soup.main("a", href=True):
            kind = link.get_text().strip().lower()
            file, _, fragment = link["href"].partition("#")
            main = mains.get(unquote(file) or page.file)
            if kind not in ("figure", "table") or not fragment or main is None:
                continue
            found = _numbered(main, unquote(fragment), kind)
            if found is None:
                where = cell_name(link)
                page.problems.append(f"{where}: no {kind} at {link['href']}")
            else:
                link.string = found.figcaption.a.get_text()


def _numbered(main, name, kind):
    """The figure or table with this name, or the first of the cell with this name."""
    place = main.find(id=name)
    if place is None:
        return None
    css = "figure.output" if kind == "figure" else "figure.of-table"
    if place.name == "figure":
        return place if place in main.select(css) else None
    cell = place.find_parent("section", class_="cell") or place
    return cell.select_one(css)
