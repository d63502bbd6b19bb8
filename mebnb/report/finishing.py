"""What makes exported HTML a page: each function mends one thing of it, in place."""

from __future__ import annotations

import copy
import re
from pathlib import PurePath
from urllib.parse import quote, unquote, urlsplit

from bs4 import BeautifulSoup, NavigableString

from mebnb.report.cleaning import clean_line
from mebnb.report.maths import FACTORY, VERBATIM, to_mathml

HEADINGS = re.compile(r"^h[1-6]$")
PERCENT = re.compile(r"(?<=\d) ?%(?!\d)")
EXPONENT = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?e-\d+)(?!\w)")  # 1e-09


def cell_name(node):
    """ "cell 5": the cell that a node of the page comes from."""
    cell = node.find_parent(attrs={"data-cell": True})
    return f"cell {cell['data-cell']}" if cell else "page"


def inline_html(markdown):
    """One line of Markdown, with formulas, as HTML without a paragraph around it."""
    from nbconvert.filters.markdown_mistune import markdown2html_mistune

    markdown = markdown.replace("attachment:", "./")  # a title has none
    return to_mathml(clean_line(markdown2html_mistune(markdown)))


# --- headings and contents -----------------------------------------------------------


def order_headings(main, title):
    """One h1, then no level left out; every heading can be linked."""
    for heading in main.find_all(HEADINGS):
        if not heading.get_text(strip=True) and not heading.find("img"):
            heading.decompose()
    headings = main.find_all(HEADINGS)
    if not headings or headings[0].get("id") == "provenance":
        first = new_element("h1")
        first.string = title
        main.insert(0, first)
        headings.insert(0, first)
    level, taken = 0, {element["id"] for element in main(id=True)}
    for heading in headings:
        level = min(max(int(heading.name[1]), 2), level + 1) if level else 1
        heading.name = f"h{level}"
        if not heading.get("id"):
            heading["id"] = free_name(
                heading.get_text().strip().replace(" ", "-"), taken
            )
    _make_ids_unique(headings)


def _make_ids_unique(headings):
    taken = set()
    for heading in headings:
        heading["id"] = free_name(heading["id"], taken)


def free_name(name, taken):
    """The name, or with a number where it is taken; it is taken then."""
    candidate, number = name or "section", 2
    while candidate in taken:
        candidate, number = f"{name}-{number}", number + 1
    taken.add(candidate)
    return candidate


def add_contents(soup, levels=("h2", "h3")):
    """Fill the lists of sections with the headings of these levels."""
    sections = _sections(soup.main.find_all(levels))
    for place in soup.select("ul.sections"):
        if len(sections) < 3:
            place.decompose()
        else:
            place.extend(copy.copy(item) for item in sections)
    for place in soup.select("nav.contents, details.menu"):
        if place.a is None:  # neither chapters nor sections
            place.decompose()


def _sections(headings):
    """A list item for each heading; those of the third level stand a step in."""
    items = []
    for heading in headings:
        item = new_element("li", attrs={"class": f"level-{heading.name[1]}"})
        link = new_element("a", href=f"#{heading['id']}")
        for child in copy.copy(heading).contents[:]:
            link.append(child.extract())
        for nested in link("a"):  # a link within a link is none
            nested.unwrap()
        item.append(link)
        items.append(item)
    return items


# --- links ---------------------------------------------------------------------------


def add_anchors(main):
    """Let every heading link itself; the sign is drawn by the style, no word of it."""
    for heading in main.find_all(HEADINGS):
        attrs = {"class": "anchor", "aria-label": "Link to here"}
        heading.append(new_element("a", href=f"#{heading['id']}", attrs=attrs))


def finish_links(main, name, folder, names):
    """Point links at pages instead of notebooks; a link out of the report is undone.

    Returns
    -------
    links : list of (str, str, str)
        Cell, page file and fragment of each link within the report.
    notes : list of str
        Links to files that do not exist.
    """
    links, notes = [], []
    for anchor in main("a", href=True):
        where = cell_name(anchor)
        try:
            address = urlsplit(anchor["href"])
        except ValueError:  # such as http://[
            anchor.unwrap()
            continue
        if address.scheme or address.netloc or anchor.has_attr("download"):
            continue
        path, fragment = unquote(address.path), unquote(address.fragment)
        target = PurePath(path)
        if not path:
            links.append((where, f"{name}.html", fragment))
        elif target.suffix == ".ipynb" and target.stem in names:
            suffix = f"#{address.fragment}" if fragment else ""
            anchor["href"] = f"{quote(target.stem)}.html{suffix}"
            links.append((where, f"{target.stem}.html", fragment))
        else:
            if not _exists(folder / path):
                notes.append(f"{where}: link to {path}, which does not exist")
            anchor.unwrap()
    return links, notes


def _exists(file):
    try:
        return file.exists()
    except (OSError, ValueError):  # no name that a file can have
        return False


# --- lines ---------------------------------------------------------------------------


def keep_percents(main):
    """Keep the sign % on the line of its number."""
    for text in main.find_all(string=PERCENT):
        if not text.find_parent(VERBATIM):
            text.replace_with(NavigableString(PERCENT.sub("\u00a0%", text)))


def keep_exponents(main):
    """Let a number such as 1e-09 not be broken at its minus."""
    for text in main.find_all(string=EXPONENT):
        if type(text) is not NavigableString or text.find_parent(VERBATIM):
            continue
        for number, part in enumerate(EXPONENT.split(text)):
            if number % 2:
                whole = new_element("span", attrs={"class": "whole"})
                whole.string = part
                text.insert_before(whole)
            elif part:
                text.insert_before(NavigableString(part))
        text.extract()


# --- summary and banner --------------------------------------------------------------


def first_sentence(main):
    """The first sentence of the first paragraph, as HTML."""
    paragraphs = main.select(".text p")
    paragraph = next((p for p in paragraphs if p.get_text(strip=True)), None)
    if paragraph is None:
        return ""
    sentence = BeautifulSoup("", "html.parser")
    children = copy.copy(paragraph).contents[:]
    if children[0].name == "strong" and len(children) > 1:
        del children[0]  # "What this notebook shows."
    for child in children:
        if type(child) is NavigableString:
            end = re.search(r"[.!?](?=\s|$)", str(child))
            if end:
                sentence.append(NavigableString(str(child)[: end.end()]))
                break
        sentence.append(child.extract())
    for anchor in sentence("a"):
        anchor.unwrap()
    for element in sentence(id=True):
        del element["id"]
    return str(sentence).strip()


def banner(status, errors):
    """A box that says how the run ended and links the cells: (name, anchor, text)."""
    calm = status == "data not available"
    box = new_element("div", attrs={"class": "banner calm" if calm else "banner bad"})
    line = new_element("p")
    state = new_element("strong")
    state.string = f"{status.capitalize()}."
    line.extend([state, " "])
    for number, (name, anchor, text) in enumerate(errors):
        link = new_element("a", href=f"#{anchor}")
        link.string = name
        line.extend([" · " if number else "", link, f": {text}"])
    box.append(line)
    return box


def new_element(tag, **attributes):
    attrs = attributes.pop("attrs", {})
    return FACTORY.new_tag(tag, attrs={**attrs, **attributes})
