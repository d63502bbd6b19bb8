"""Sources: `[@key]` in a text names an entry of `references.bib`, a page lists them.

`[@key]` becomes "[Jaggi 2013]" and `[-@key]`, after the names, "[2013]"; several
stand in one pair of brackets, as in `[@one; @two]`. This is how Pandoc and MyST write
it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from bs4 import NavigableString

from mebnb.report import ReportError
from mebnb.report.document import body_of, document
from mebnb.report.finishing import cell_name, new_element
from mebnb.report.notebooks import list_notebooks
from mebnb.writing import write_file

BIBLIOGRAPHY = "references.bib"
FILE = "references.html"
TITLE = "References"
KEY = r"[A-Za-z0-9_-]+"
ONE = rf"-?@{KEY}"
CITATION = re.compile(rf"\[({ONE}(?:; *{ONE})*)\]")
VERBATIM = ("code", "pre")


@dataclass(frozen=True)
class Source:
    """An entry of the bibliography.

    Attributes
    ----------
    key : str
    authors : str
        As a citation names them: "Tax and Duin", "Bates et al.".
    year : str
        "undated" where the entry has none.
    html : str
        The entry in full.
    """

    key: str
    authors: str
    year: str
    html: str

    @property
    def label(self):
        """Such as "Jaggi 2013"."""
        return f"{self.authors} {self.year}"


def read_bibliography(folder):
    """The sources that a folder of notebooks names.

    Parameters
    ----------
    folder : path
        Where `references.bib` may lie.

    Returns
    -------
    dict of str to Source
        By authors and year; empty where there is no such file.

    Raises
    ------
    ReportError
        Where the file is not BibTeX, has a key twice or one that no citation can name,
        or an entry lacks a field or is of no known kind.
    """
    file = Path(folder) / BIBLIOGRAPHY
    if not file.is_file():
        return {}
    from pybtex.backends.html import Backend
    from pybtex.database import parse_file
    from pybtex.exceptions import PybtexError
    from pybtex.style.formatting.unsrt import Style

    try:
        entries = parse_file(file, bib_format="bibtex", encoding="utf-8")
        for entry in entries.entries.values():
            _check_entry(entry, file.name, Style)
        formatted = list(Style().format_bibliography(entries))
    except PybtexError as error:
        raise ReportError(f"{file.name}: {error}") from error
    sources = [
        Source(
            entry.key,
            _authors(entries.entries[entry.key]),
            entries.entries[entry.key].fields.get("year", "undated"),
            entry.text.render(Backend("utf-8")),
        )
        for entry in formatted
    ]
    return {source.key: source for source in sorted(sources, key=_place_in_list)}


def _check_entry(entry, file, style):
    """Refuse an entry that no citation can name, or no style knows."""
    if not re.fullmatch(KEY, entry.key):
        raise ReportError(
            f"{file}: a key must be letters, digits, _ and -, found {entry.key!a}"
        )
    if not hasattr(style, f"get_{entry.type}_template"):
        raise ReportError(
            f"{file}: {entry.key} must be an article, book or another kind of BibTeX, "
            f"found {entry.type!a}"
        )


def _place_in_list(source):
    """The label in plain letters: Bădoiu stands before Barber."""
    plain = unicodedata.normalize("NFKD", source.label.replace("ı", "i"))
    return plain.encode("ascii", "ignore").lower()


def _authors(entry):
    """Who wrote an entry; else who edited it, else its title."""
    from pybtex.richtext import Text

    persons = entry.persons.get("author") or entry.persons.get("editor")
    if not persons:
        return f"“{Text.from_latex(entry.fields.get('title', entry.key))}”"
    names = [
        str(Text.from_latex(" ".join(person.prelast_names + person.last_names)))
        for person in persons
    ]
    several = len(names) > 2 or names[1:] == ["others"]  # BibTeX's own "and others"
    return f"{names[0]} et al." if several else " and ".join(names)


def link_citations(main, sources):
    """Let citations in the text of a page lead to their sources.

    Parameters
    ----------
    main : bs4.Tag
    sources : dict of str to Source

    Returns
    -------
    cited : list of (str, str)
        Id of the cell and key.
    problems : list of str
        Citations of what is no source.
    """
    cited, problems = [], []
    for node in main.find_all(string=CITATION):
        cell = node.find_parent("section", class_="text")
        if cell is None or node.find_parent(VERBATIM):
            continue
        pieces, end = [], 0
        for match in CITATION.finditer(node):
            names = re.split("; *", match[1])
            unknown = [n for n in names if _key(n) not in sources]
            if unknown:
                problems += [
                    f"{cell_name(node)}: no {_key(n)} in {BIBLIOGRAPHY}"
                    for n in unknown
                ]
                continue
            cited += [(cell["id"], _key(name)) for name in names]
            pieces += [NavigableString(node[end : match.start()])]
            pieces += _in_brackets([_link(name, sources) for name in names])
            end = match.end()
        node.replace_with(*pieces, NavigableString(node[end:]))
    return cited, problems


def _key(name):
    return name.lstrip("-").removeprefix("@")


def _link(name, sources):
    source = sources[_key(name)]
    link = new_element("a", href=f"{FILE}#{source.key}")
    link.string = source.year if name.startswith("-") else source.label
    return link


def _in_brackets(links):
    pieces = ["["]
    for number, link in enumerate(links):
        pieces += ["; ", link] if number else [link]
    return [*pieces, "]"]


def write_references(out, pages, folder, chapters):
    """Write the page of all sources that are cited, and where.

    Parameters
    ----------
    out : path
        The report's folder.
    pages : list of Page
    folder : path
        Of the notebooks, where `references.bib` may lie.
    chapters : list of dict
        As `pages.chapters_of` returns them.

    Returns
    -------
    path : Path
    problems : list of str
        Sources that nothing cites, where all notebooks of the folder are in the report.
    """
    rows = [
        {"source": source, "places": _places(key, pages)}
        for key, source in read_bibliography(folder).items()
    ]
    body = body_of(
        "references.html.j2",
        title=TITLE,
        here=FILE,
        chapters=chapters,
        rows=[row for row in rows if row["places"]],
    )
    path = Path(out) / FILE
    write_file(path, document(TITLE, body))
    complete = {page.name for page in pages} >= {p.stem for p in list_notebooks(folder)}
    problems = [
        f"{BIBLIOGRAPHY}: nothing cites {row['source'].key}"
        for row in rows
        if complete and not row["places"]
    ]
    return path, problems


def _places(key, pages):
    """Where a source is cited, the first place of each chapter."""
    places = []
    for page in pages:
        cell = next((cell for cell, cited in page.cited if cited == key), None)
        if cell:
            address = f"{page.address}#{cell}"
            words = page.number or page.plain_title
            places.append({"address": address, "words": words, "of": page.plain_title})
    return places
