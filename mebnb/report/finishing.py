"""What makes exported HTML a page: each function mends one thing of it, in place."""

from __future__ import annotations

import copy
import re
from pathlib import PurePath
from urllib.parse import quote, unquote, urlsplit

from bs4 import BeautifulSoup, NavigableString

from mebnb.report.cleaning import clean_line
from mebnb.report.maths import FACTORY, to_mathml

HEADINGS = re.compile(r"^h[1-6]$")
# 12, -3.5, 1e-06, 12 %, 3 / 4, 64 equal as printed
NUMBER = re.compile(
    r"^[-+−±]?[\d.]*\d.{0,48}$|^(nan|inf|true|false|none)$", re.IGNORECASE
)
LONGEST_WORD = 60  # characters; a longer one is broken


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
            heading["id"] = _free(heading.get_text().strip().replace(" ", "-"), taken)
    _make_ids_unique(headings)


def _make_ids_unique(headings):
    taken = set()
    for heading in headings:
        heading["id"] = _free(heading["id"], taken)


def _free(name, taken):
    candidate, number = name or "section", 2
    while candidate in taken:
        candidate, number = f"{name}-{number}", number + 1
    taken.add(candidate)
    return candidate


def add_contents(soup):
    """Fill the table of contents with the headings of the second and third level."""
    contents = soup.select_one("nav.contents")
    headings = soup.main.find_all(["h2", "h3"])
    if len(headings) < 3:
        contents.decompose()
        return
    label = new_element("p", attrs={"class": "label"})
    label.string = "On this page"
    outer = inner = new_element("ul")
    contents.extend([label, outer])
    for heading in headings:
        item = new_element("li")
        link = new_element("a", href=f"#{heading['id']}")
        for child in copy.copy(heading).contents[:]:
            link.append(child.extract())
        for nested in link("a"):  # a link within a link is none
            nested.unwrap()
        item.append(link)
        if heading.name == "h2":
            outer.append(item)
            inner = None
        else:
            if inner is None or inner is outer:
                inner = new_element("ul")
                (outer.find_all("li", recursive=False) or [outer])[-1].append(inner)
            inner.append(item)


# --- tables, long outputs ------------------------------------------------------------


def mark_up_tables(main):
    """Say of each header cell what it heads, and tell numbers from text."""
    for table in main("table"):
        _merge_index_names(table)
        _mark_endless_words(table)
        if not table.find_parent(class_="parameters"):
            _mark_numbers(table)
        for attribute in ("border", "cellpadding", "cellspacing"):
            del table[attribute]
        for cell in table("th"):
            if not cell.get_text(strip=True) and not cell.find(True):
                cell.name = "td"
                continue
            in_head = cell.find_parent("thead") is not None
            span = cell.get("colspan" if in_head else "rowspan", "1")
            group = "group" if span != "1" else ""
            if not cell.has_attr("scope"):
                cell["scope"] = ("col" if in_head else "row") + group


def _merge_index_names(table):
    """Put the names of a pandas index, a header row of their own, beside the others."""
    lines = table.thead("tr") if table.thead else []
    if len(lines) < 2:
        return
    upper, lower = (line(["td", "th"]) for line in lines[-2:])
    names = [cell for cell in lower if cell.get_text(strip=True)]
    count = len(names)
    if len(upper) != len(lower) or lower[:count] != names or count == len(lower):
        return
    if any(cell.get_text(strip=True) for cell in upper[:count]):
        return
    for place, name in zip(upper, names, strict=False):
        place.replace_with(name.extract())
    lines[-1].decompose()


def _mark_numbers(table):
    """Mark cells with numbers, which stand right, and the headers of their columns."""
    rows, columns = _grid(table)
    for cell in table(["td", "th"]):
        text = cell.get_text(" ", strip=True)
        if cell.name == "td" and table.thead and NUMBER.match(text):
            _add_class(cell, "number")
        elif cell.find_parent("thead") is None:
            _add_class(cell, _length(text))
    for at in columns:
        body = [row[at] for row in rows if at in row and row[at].find_parent("tbody")]
        numbers = sum("number" in cell.get("class", []) for cell in body)
        if numbers * 4 < len(body):  # a remark that begins with a number is a remark
            for cell in body:
                if "number" in cell.get("class", []):
                    cell["class"].remove("number")
                    _add_class(cell, _length(cell.get_text(" ", strip=True)))
        for row in rows:
            in_head = at in row and row[at].find_parent("thead") is not None
            if (
                in_head
                and row[at].get("colspan", "1") == "1"
                and numbers * 2 > len(body)
            ):
                _add_class(row[at], "number")


def _mark_endless_words(table):
    """Mark cells with a word so long that it must be broken."""
    for cell in table(["td", "th"]):
        text = cell.get_text()
        if len(text) > LONGEST_WORD and max(map(len, text.split())) > LONGEST_WORD:
            _add_class(cell, "endless")


def _length(text):
    return "prose" if len(text) > 28 else "short"


def _grid(table):
    """The cells of a table by row and column, spanning cells at their first place."""
    rows, reach, width = [], {}, 0
    for number, line in enumerate(table("tr")):
        row, at = {}, 0
        for cell in line(["td", "th"], recursive=False):
            while reach.get(at, -1) >= number:
                at += 1
            row[at] = cell
            across, down = _span(cell, "colspan"), _span(cell, "rowspan")
            for column in range(at, at + across):
                reach[column] = number + down - 1
            at += across
        rows.append(row)
        width = max(width, at)
    return rows, range(width)


def _span(cell, name):
    value = cell.get(name, "1")
    return max(int(value), 1) if value.isdecimal() else 1


def _add_class(cell, name):
    cell["class"] = [*cell.get("class", []), name]


def make_scrollable(main):
    """Let wide tables and long outputs scroll by themselves, also with the keyboard."""
    for number, table in enumerate(main("table"), start=1):
        caption = table.caption.get_text(" ", strip=True) if table.caption else ""
        label = caption or f"Table {number}"
        table.wrap(_scroller("scroll table", label))
    for pre in main.select("pre.output"):
        for span in pre(
            "span", style=True
        ):  # colours of a terminal, too pale for a page
            del span["style"]
        pre.attrs.update({"tabindex": "0", "role": "group", "aria-label": "Output"})
    for pre in main.select("div.scroll.code, .text pre, .output.rich pre"):
        pre.attrs.update({"tabindex": "0", "role": "group", "aria-label": "Code"})


def _scroller(css, label):
    attrs = {"class": css, "tabindex": "0", "role": "group", "aria-label": label}
    return new_element("div", attrs=attrs)


# --- links ---------------------------------------------------------------------------


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
