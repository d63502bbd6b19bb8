"""Tables and long outputs of a page: what heads what, how they align and scroll."""

from __future__ import annotations

import re

from bs4 import NavigableString

from mebnb.report.finishing import new_element

DASH = "–"  # a missing value
# 12, -3.5, 1e-06, 12 %, 3 / 4, 64 equal as printed
NUMBER = re.compile(
    rf"^[-+−±]?(?![\d.]+_)[\d.]*\d.{{0,48}}$|^(inf|-|{DASH})$", re.IGNORECASE
)
PLAIN = re.compile(r"^[-+−±]?\d+(?:\.(\d+))?$")
MISSING = re.compile(r"^(nan|NaN|<NA>|NaT|-)$")  # as pandas and notebooks write it
INTERVAL = re.compile(r"\[[-+−]?[\d.]+%?,? [^\[\]]{1,16}\]")
LONGEST_WORD = 60  # characters; a longer one is broken
DENSE = 6  # columns; a table of so many stands closer
LONGEST_LINE = 12  # characters of a header over one column that may stay on one line
LONG_NAME = re.compile(r"\b(?=\w{15})[^\W_]+_\w+")  # it may go on after a "_"
MOST_PADDED = 5  # decimals; a column that differs by more is not aligned
DIGIT, POINT = "\u2007", "\u2008"  # blanks as wide as a digit and a point


def mark_up_tables(main):
    """Say of each header cell what it heads, and tell numbers from text."""
    for table in main("table"):
        _merge_index_names(table)
        _mark_endless_words(table)
        _break_names(table)
        if not table.find_parent(class_="parameters"):
            _mark_missing(table)
            _keep_intervals(table)
            _mark_numbers(table)
            _align_decimals(table)
            _mark_widths(table)
            _fold_headers(table)
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
    """Put the names of a pandas index, a header row of their own, beside the others.

    The name of the columns, which stands above the last of them, points to these.
    """
    lines = table.thead("tr") if table.thead else []
    if len(lines) < 2:
        return
    upper, lower = (line(["td", "th"]) for line in lines[-2:])
    names = [cell for cell in lower if cell.get_text(strip=True)]
    count = len(names)
    if len(upper) != len(lower) or lower[:count] != names or count == len(lower):
        return
    if any(cell.get_text(strip=True) for cell in upper[: count - 1]):
        return
    of_columns = upper[count - 1].get_text(strip=True) if count else ""
    if of_columns:
        pointing = new_element("span", attrs={"class": "columns-name"})
        pointing.string = f"{of_columns} →"
        names[-1].insert(0, pointing)
    for place, name in zip(upper, names, strict=False):
        place.replace_with(name.extract())
    lines[-1].decompose()


def _mark_numbers(table):
    """Mark columns of numbers, which stand right with their headers; of words the length."""
    rows, columns = _grid(table)
    for at in columns:
        cells = [row[at] for row in rows if at in row]
        column = [cell for cell in cells if cell.get("colspan", "1") == "1"]
        body = [cell for cell in column if not _in_head(cell)]
        of_numbers = table.thead and _are_numbers(body)
        for cell in cells:
            if of_numbers and any(cell is one for one in column):
                _add_class(cell, "number")
            elif not _in_head(cell):
                _add_class(cell, _length(cell.get_text(" ", strip=True)))


def _are_numbers(cells):
    """Whether cells hold numbers or nothing, and not nothing alone; a formula is none."""
    texts = [cell.get_text(" ", strip=True) for cell in cells]
    formulas = any(cell.find("math") for cell in cells)
    return (
        not formulas
        and all(map(NUMBER.match, texts))
        and any(text != DASH for text in texts)
    )


def _in_head(cell):
    return cell.find_parent("thead") is not None


def _mark_missing(table):
    """Show a dash where a value is missing or a cell of the body is empty."""
    for cell in table("td"):
        text = cell.get_text(strip=True)
        empty = not text and table.thead and cell.find_parent("tbody")
        if (empty or MISSING.match(text)) and not cell.find(True):
            dash = new_element("span", title="none" if empty else "missing")
            dash.string = DASH
            cell.clear()
            cell.append(dash)


def _keep_intervals(table):
    """Keep an interval, such as [-1, +1], on one line."""
    for text in table.find_all(string=INTERVAL):
        if text.find_parent("code"):
            continue
        kept = INTERVAL.sub(lambda found: found[0].replace(" ", "\u00a0"), text)
        text.replace_with(NavigableString(kept))


def _align_decimals(table):
    """Let the points of a column of plain numbers stand below each other."""
    rows, columns = _grid(table)
    for at in columns:
        cells = [row[at] for row in rows if at in row and row[at].find_parent("tbody")]
        cells = [c for c in cells if c.get_text(strip=True) not in ("", DASH)]
        texts = [_first_text(cell) for cell in cells]
        found = [PLAIN.match(str(text).strip()) for text in texts]
        if not all(found):
            continue
        decimals = [len(match[1] or "") for match in found]
        most = max(decimals, default=0)
        if most - min(decimals, default=0) > MOST_PADDED:
            continue
        for text, count in zip(texts, decimals, strict=True):
            point = POINT if most and not count else ""
            padding = point + DIGIT * (most - count)
            if padding:
                text.replace_with(NavigableString(str(text).strip() + padding))


def _first_text(cell):
    """What a cell begins with; a remark may stand on a line below it."""
    first = next(iter(cell.contents), "")
    alone = len(cell.contents) < 2 or cell.contents[1].name == "br"
    return first if isinstance(first, NavigableString) and alone else ""


def _mark_widths(table):
    """Mark the first column, which stays in sight, and tables that stand closer."""
    rows, columns = _grid(table)
    for row in rows:
        if 0 in row and row[0].get("colspan", "1") == "1":
            _add_class(row[0], "first")
    if len(columns) >= DENSE:
        table["class"] = [*table.get("class", []), "dense"]
        for cell in table.select("td.number"):
            if "[" in cell.get_text():
                _add_class(cell, "parted")  # an interval goes on a line of its own


def _fold_headers(table):
    """Break a long header where its two lines are about as long; a short one may break."""
    for cell in table.select("thead th"):
        text = cell.get_text(" ", strip=True)
        if cell.find(True):
            continue
        if " " not in text:
            _add_class(cell, "whole")  # a hyphen is no place to break
            continue
        blanks = [match.start() for match in re.finditer(" ", text)]
        middle = min(blanks, key=lambda at: max(at, len(text) - at - 1))
        lines = [text[:middle], text[middle + 1 :]]
        cell.clear()
        if len(text) > LONGEST_LINE * _span(cell, "colspan"):
            cell.extend([lines[0], new_element("br"), lines[1]])
            _add_class(cell, "folded")
        else:
            cell.append(" ".join(line.replace(" ", "\u00a0") for line in lines))


def _break_names(table):
    """Let a long name with underscores go on in a new line after each of them."""
    for text in table.find_all(string=LONG_NAME):
        marked = LONG_NAME.sub(lambda name: name[0].replace("_", "_\0"), text)
        *parts, last = marked.split("\0")
        for part in parts:
            text.insert_before(NavigableString(part), new_element("wbr"))
        text.replace_with(NavigableString(last))


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
