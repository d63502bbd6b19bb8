"""The first page of a report: the ball, what was found, and the chapters in parts.

Its sentences stand in a file beside the notebooks (`book.toml`). Numbers in them are
read from what notebooks recorded (`record`), so that none is typed:
"{09 soft_ball_auroc .3f}" is the value that notebook 09 recorded under that name.
A figure is named by its notebook and what its alternative text begins with.
"""

from __future__ import annotations

import re
import tomllib
from html import escape
from pathlib import Path

from mebnb.report import ReportError
from mebnb.report.document import body_of, document
from mebnb.report.errata import verdicts_told
from mebnb.report.findings import compared
from mebnb.report.finishing import HEADINGS, inline_html
from mebnb.report.pages import chapters_of
from mebnb.report.pictures import thumbnail
from mebnb.report.recording import recorded_values
from mebnb.writing import write_file

BOOK = "book.toml"
TITLE = "The minimum enclosing ball"
VALUE = re.compile(r"\{(\d\d) (\S+) (\S+)\}")


def write_front(out, pages, folder, statements=()):
    """Write `index.html`.

    Parameters
    ----------
    out : path
        The report's folder.
    pages : list of Page
    folder : path
        Of the notebooks, where `book.toml` may lie.
    statements : sequence of Entry
        The examined statements, whose verdicts are counted.

    Returns
    -------
    path : Path
    problems : list of str
        Values that no notebook recorded and figures that are not there, of notebooks
        that are part of this report.
    """
    book, by_number = read_book(folder), {page.number: page for page in pages}
    problems = []
    body = body_of(
        "front.html.j2",
        title=TITLE,
        here="index.html",
        chapters=chapters_of(pages),
        about=[inline_html(line) for line in book.get("about", [])],
        picture=_figure(book.get("picture", ""), by_number, problems, width=900),
        verdicts=verdicts_told(statements),
        compared=compared(page.notebook for page in pages),
        own_data=[inline_html(line) for line in book.get("own_data", [])],
        findings=_findings(book, by_number, problems),
        parts=_parts(book, pages, by_number, problems),
        paths=_paths(book, by_number, problems),
    )
    path = Path(out) / "index.html"
    write_file(path, document(TITLE, body))
    return path, [f"{BOOK}, {problem}" for problem in problems]


def read_book(folder):
    """What `book.toml` of a folder of notebooks says, empty where there is none."""
    file = Path(folder) / BOOK
    if not file.is_file():
        return {}
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ReportError(f"{file.name} is not TOML: {error}") from error


def filled(text, by_number, problems):
    """A sentence with the recorded values in it.

    Parameters
    ----------
    text : str
    by_number : dict
        Number of a notebook -> its page.
    problems : list of str
        Gets one for each value that was not recorded.

    Returns
    -------
    str or None
        None where a notebook is not part of this report, ran with other parameters
        than its own, or did not record a value.
    """
    missing = []

    def value(match):
        number, name, form = match.groups()
        page = by_number.get(number)
        if page is None or page.changed:
            missing.append(name)
            return ""
        try:
            return format(recorded_values(page.notebook)[name], form)
        except KeyError:
            problem = f"notebook {number} records no {name}"
        except ValueError as error:
            problem = f"notebook {number}, {name}: {error}"
        missing.append(name)
        if page.status == "ok":
            problems.append(problem)
        return ""

    sentence = VALUE.sub(value, text)
    if not missing and "{" in sentence:
        problems.append(f"{text!r} has a brace that names no value")
        return None
    return None if missing else inline_html(sentence)


def _findings(book, by_number, problems):
    rows = []
    for finding in book.get("findings", []):
        text = filled(finding["text"], by_number, problems)
        figure = _figure(finding["figure"], by_number, problems)
        if text and figure:
            rows.append({"text": text, "figure": figure})
    return rows


def _figure(named, by_number, problems, width=420):
    """A figure of a notebook seen small: picture, label, address, title of its page."""
    number, _, words = named.partition(" ")
    page = by_number.get(number)
    if page is None or page.changed:
        return None
    figures = page.soup.main.select("figure.output:has(img)")
    figure = next((f for f in figures if f.img["alt"].startswith(words)), None)
    if figure is None:
        if page.status == "ok":
            problems.append(f"notebook {number} has no figure {words!r}")
        return None
    picture, size = thumbnail(figure.img["src"], width)
    return {
        "picture": picture,
        "size": size,
        "alt": figure.img["alt"],
        "label": figure.figcaption.a.get_text(),
        "address": f"{page.address}#{figure['id']}",
        "chapter": page.title,
    }


def _parts(book, pages, by_number, problems):
    """The chapters part by part; those that no part names stand at the end."""
    results, named, parts = book.get("results", {}), set(), []
    for part in book.get("parts", []):
        rows = [by_number[number] for number in part["chapters"] if number in by_number]
        named.update(row.name for row in rows)
        parts.append((inline_html(part["title"]), rows))
    rest = [page for page in pages if page.name not in named]
    if parts:
        parts[-1][1].extend(rest)
    else:
        parts = [("The notebooks", rest)]
    return [
        {"title": title, "rows": [_row(p, results, by_number, problems) for p in rows]}
        for title, rows in parts
        if rows
    ]


def _row(page, results, by_number, problems):
    result = filled(results.get(page.number, ""), by_number, problems)
    picture, size = thumbnail(page.picture, 320) if page.picture else ("", None)
    return {
        "number": page.number,
        "title": page.title,
        "address": page.address,
        "result": result or page.summary,
        "picture": picture,
        "size": size,
        "alt": page.picture_alt,
    }


def _paths(book, by_number, problems):
    """Reading paths: who reads, what it takes, and the stops on the way."""
    paths = []
    for path in book.get("paths", []):
        stops = [_stop(named, by_number, problems) for named in path["chapters"]]
        if any(stops):
            stops = [stop for stop in stops if stop]
            paths.append({"title": path["title"], "stops": stops})
    return paths


def _stop(named, by_number, problems):
    """A chapter, or a section of it: "03" or "03 Drop steps"."""
    number, _, section = named.partition(" ")
    page = by_number.get(number)
    if page is None or not section:
        return page and {"title": page.title, "address": page.address}
    heading = page.soup.main.find(
        lambda tag: HEADINGS.match(tag.name) and tag.get_text().strip() == section
    )
    if heading is None:
        if page.status == "ok":
            problems.append(f"notebook {number} has no section {section!r}")
        return None
    return {"title": escape(section), "address": f"{page.address}#{heading['id']}"}
