"""Turn an executed notebook into one page that needs nothing beside itself."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from bs4 import BeautifulSoup

from mebnb.report import finishing, tables
from mebnb.report.citing import link_citations, read_bibliography
from mebnb.report.cleaning import clean
from mebnb.report.document import OTHERS, TEMPLATES, document
from mebnb.report.drawings import address_of, leave_out_refused
from mebnb.report.errata import FILE as ERRATA
from mebnb.report.folders import without_folders
from mebnb.report.maths import typeset
from mebnb.report.missing import note_of
from mebnb.report.notebooks import tags, title_of
from mebnb.report.numbering import name_references, number_all
from mebnb.report.parameters import (
    changed_parameters,
    given_parameters,
    notebook_parameters,
)
from mebnb.report.pictures import finish_pictures
from mebnb.report.running import (
    CHANGED,
    DATA_ERRORS,
    DATA_MISSING,
    FAILED,
    OK,
    errors_of,
    status_of,
)
from mebnb.report.stepping import MIMETYPE, drawn
from mebnb.report.words import escaped
from mebnb.writing import write_file

NEEDS_SCRIPT = "This output needs JavaScript and is left out of the page."


@dataclass
class Page:
    """One notebook on its way to HTML.

    Attributes
    ----------
    name : str
        The notebook's file name without ".ipynb".
    notebook : NotebookNode
        Executed.
    folder : Path
        Where the notebook lies; its links are looked for there.
    title, summary : str
        First heading and first sentence, as HTML.
    picture : str
        That of a cell with the tag "picture", else the first, as a data address; ""
        where there is none.
    picture_alt : str
        Its alternative text.
    problems : list of str
        What is wrong with the page itself; each names its cell.
    notes : list of str
        Links that lead nowhere and are plain text on the page.
    cited : list of (str, str)
        Id of a cell and key of a source that it cites.
    soup : BeautifulSoup
        The body.
    """

    name: str
    notebook: object
    folder: Path
    title: str = ""
    plain_title: str = ""
    summary: str = ""
    picture: str = ""
    picture_alt: str = ""
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    links: list[tuple[str, str, str]] = field(default_factory=list)
    cited: list[tuple[str, str]] = field(default_factory=list)
    soup: BeautifulSoup | None = None

    @property
    def file(self):
        return f"{self.name}.html"

    @property
    def address(self):
        """Its file as a link names it."""
        return quote(self.file)

    @property
    def number(self):
        """The number that its name begins with, as "03"; "" where there is none."""
        return re.match(r"(\d{1,3}(?=_))?", self.name)[0]

    @property
    def html(self):
        """The whole page."""
        return document(self.plain_title, str(self.soup))

    @property
    def status(self):
        """As the run ended; "failed" too where the page itself has a problem."""
        status = DATA_MISSING if note_of(self.notebook) else status_of(self.notebook)
        return FAILED if status == OK and self.problems else status

    @property
    def about(self):
        """What `run_notebook` noted."""
        return self.notebook.metadata.get("mebnb", {})

    @property
    def seconds(self):
        """Duration of the run, None where it is not known."""
        noted = self.notebook.metadata.get("papermill", {}).get("duration")
        return self.about.get("seconds", noted)

    @property
    def changed(self):
        """Parameters that differ from the defaults."""
        return changed_parameters(self.notebook)

    @property
    def first_error(self):
        """The first error or problem in one line, "" where there is none."""
        if note_of(self.notebook):
            return without_folders(note_of(self.notebook))
        for _, name, output in errors_of(self.notebook):
            return f"{name}: {_one_line(output)}"
        return self.problems[0] if self.problems else ""


def build_pages(notebooks, *, own=True, with_code=True, has_index=True):
    """Make the pages of executed notebooks, linked with each other.

    Parameters
    ----------
    notebooks : mapping
        name -> (notebook, folder that it comes from), in reading order.
    own : bool
        The project's notebooks: a picture without alternative text is a problem.
    with_code : bool
        Whether code cells are on the page (folded).
    has_index : bool
        Whether the pages link an index and each other.

    Returns
    -------
    list of Page
    """
    pages = [
        Page(name, notebook, Path(folder))
        for name, (notebook, folder) in notebooks.items()
    ]
    for page in pages:
        title = finishing.inline_html(title_of(page.notebook, page.name))
        shown = BeautifulSoup(title, "html.parser").get_text().strip()
        page.title = title if shown else escaped(page.name)
        page.plain_title = shown or page.name
    exporter = _exporter(with_code)
    names = {page.name for page in pages}
    chapters = chapters_of(pages) if has_index else []
    folders = {page.folder for page in pages} if own else ()
    sources = {folder: read_bibliography(folder) for folder in folders}
    for at, page in enumerate(pages):
        before = pages[at - 1] if at else None
        after = pages[at + 1] if at + 1 < len(pages) else None
        page.soup = _render(exporter, page, before, after, chapters, own)
        _finish(page, names, own, sources.get(page.folder))
    _check_links(pages)
    name_references(pages)
    for page in pages:
        _add_banner(page)
    return pages


def write_pages(pages, out):
    """Write pages into a folder, which is made where needed."""
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    for page in pages:
        write_file(out / page.file, page.html)


def chapters_of(pages):
    """What a list of chapters shows of each page: number, title, address."""
    return [
        {"number": page.number, "title": page.title, "address": page.address}
        for page in pages
    ]


# --- from the notebook to HTML -------------------------------------------------------


def _exporter(with_code):
    from jinja2 import pass_context
    from nbconvert import HTMLExporter
    from nbconvert.filters.markdown_mistune import InvalidNotebook

    class Exporter(HTMLExporter):
        @pass_context
        def markdown2html(self, context, source):
            try:
                return super().markdown2html(context, source)
            except InvalidNotebook:  # which has no attachment of some name
                without = source.replace("attachment:", "./")
                return super().markdown2html(context, without)

    exporter = Exporter(
        template_name="mebnb",
        extra_template_basedirs=[str(TEMPLATES.parent)],
        exclude_input=not with_code,
        exclude_anchor_links=True,
    )
    filters = address_of, clean, clean_output, drawn_output, escaped, without_folders
    for filter_ in filters:
        exporter.register_filter(filter_.__name__, filter_)
    # Nothing that needs a script: a widget or plot falls back to its text or picture.
    exporter.config.NbConvertBase.display_data_priority = [
        MIMETYPE,
        "text/html",
        "text/markdown",
        "image/svg+xml",
        "image/png",
        "image/jpeg",
        "text/latex",
        "text/plain",
    ]
    return exporter


def clean_output(html):
    """An HTML output as a page shows it; a sentence in place of one that only runs."""
    cleaned = clean(html)
    shows = (
        "<img" in cleaned or BeautifulSoup(cleaned, "html.parser").get_text().strip()
    )
    return NEEDS_SCRIPT if "<script" in html and not shows else cleaned


def drawn_output(description):
    """Frames to step through as a page shows them; a sentence where they are none."""
    try:
        return drawn(description)
    except ValueError as error:
        return f"<p>No figure: {escaped(error)}</p>"


def _render(exporter, page, before, after, chapters, own):
    notebook = copy.deepcopy(page.notebook)
    for number, cell in enumerate(notebook.cells, start=1):
        cell["number"] = number
    leave_out_refused(notebook)
    context = {
        "plain_title": page.plain_title,
        "address": page.address,
        "chapters": chapters,
        "others": OTHERS if own else [],
        "previous": before,
        "next": after,
        "failed_cells": {number for number, *_ in errors_of(notebook)},
        "data_errors": DATA_ERRORS,
        "parameters": _parameter_rows(notebook),
        "provenance": {**_provenance(page), **(_data_hashes(notebook) if own else {})},
        # The notebook beside a page that is shown as stored is the run without its data.
        "notebook_link": f"notebooks/{quote(page.name)}.ipynb"
        if own and not note_of(notebook)
        else "",
    }
    html, _ = exporter.from_notebook_node(notebook, resources={"page": context})
    return BeautifulSoup(html, "html.parser")


def _parameter_rows(notebook):
    given = given_parameters(notebook)
    return [
        {
            "name": name,
            "value": repr(given.get(name, parameter.default)),
            "default": repr(parameter.default),
            "changed": name in given and given[name] != parameter.default,
            "help": parameter.help,
        }
        for name, parameter in notebook_parameters(notebook).items()
    ]


def _provenance(page):
    facts = {"notebook": page.about.get("source", f"{page.name}.ipynb")}
    if page.about.get("began"):
        facts["run"] = page.about["began"].replace("T", " ").replace("+00:00", " UTC")
    elif note_of(page.notebook) or not (
        page.about or page.notebook.metadata.get("papermill")
    ):
        facts["run"] = "not run for this page; outputs as stored"
    if page.seconds is not None:
        facts["duration"] = f"{page.seconds:.1f} s"
    language = page.notebook.metadata.get("language_info", {})
    if not page.about and language.get("version"):
        facts[language.get("name", "kernel").capitalize()] = language["version"]
    return {**facts, **page.about.get("provenance", {})}


def named_cards(notebook):
    """The data sets that the code of a notebook names: name -> Card."""
    from mebnb.datasets.cards import CARDS

    code = "\n".join(c.source for c in notebook.cells if c.cell_type == "code")
    named = set(re.findall(r"""["'](\w+)["']""", code))
    return {name: card for name, card in CARDS.items() if name in named}


def _data_hashes(notebook):
    """The hashes that the named data sets are verified against when they are loaded."""
    return {
        f"data {name}": f"sha256 {card.sha256[:16]}…"
        for name, card in named_cards(notebook).items()
    }


# --- the finished page ---------------------------------------------------------------


def _finish(page, names, own, sources):
    """Everything that is done on the whole page; notes its problems on the way."""
    main = page.soup.main
    page.problems += typeset(main, finishing.cell_name)
    finishing.order_headings(main, page.plain_title)
    page.problems += finish_pictures(main, strict=own)
    finishing.keep_percents(main)
    tables.mark_up_tables(main)
    tables.make_scrollable(main)
    number_all(main, page.number)
    finishing.keep_exponents(main)
    page.links, page.notes = finishing.finish_links(main, page.name, page.folder, names)
    if own:
        _link_errata(main)
        page.problems += [note for note in page.notes if _names_notebook(note)]
        page.cited, problems = link_citations(main, sources)
        page.problems += problems
    finishing.add_contents(page.soup)
    finishing.add_anchors(main)
    page.anchors = {element["id"] for element in page.soup.find_all(id=True)}
    page.summary = finishing.first_sentence(main)
    picture = _picture(page)
    if picture:
        page.picture, page.picture_alt = picture["src"], picture.get("alt", "")


def _link_errata(main):
    """Lead from where errata stand as tables to where they are cards."""
    table = main.select_one('.output [id^="errata-"]')
    if table is not None:
        link = finishing.new_element("a", href=ERRATA)
        link.string = "As cards, by document and verdict"
        line = finishing.new_element("p")
        line.append(link)
        table.find_parent(class_="cell").insert_before(line)


def _picture(page):
    """The picture that stands for a page: of a cell with the tag "picture", else the first."""
    tagged = [
        f"#cell-{number} img"
        for number, cell in enumerate(page.notebook.cells, start=1)
        if "picture" in tags(cell)
    ]
    found = map(page.soup.main.select_one, [*tagged, "figure.output img, .text img"])
    return next(filter(None, found), None)


def _names_notebook(note):
    return ".ipynb, which does not exist" in note


def _check_links(pages):
    anchors = {page.file: page.anchors for page in pages}
    for page in pages:
        for cell, file, fragment in page.links:
            if fragment and fragment not in anchors[file]:
                page.problems.append(
                    f"{cell}: link to {file.replace('.html', '.ipynb')}#{fragment}, "
                    "where nothing has that name"
                )


def _add_banner(page):
    """Say at the top what went wrong, each with a link to its cell."""
    errors = [
        (name, f"cell-{number}", _one_line(output))
        for number, name, output in errors_of(page.notebook)
    ]
    for problem in page.problems:
        cell, _, text = problem.partition(": ")
        anchor = "cell-" + cell.removeprefix("cell ") if cell != "page" else "main"
        errors.append((cell, anchor, text))
    if note_of(page.notebook):
        errors.insert(0, ("this page", "main", without_folders(note_of(page.notebook))))
    if page.status == CHANGED:
        text = "the notebook, the package or a data file is another by now"
        errors.append(("this page", "main", text))
    if errors:
        banner = finishing.banner(page.status, errors)
        page.soup.main.h1.insert_after(banner)


def _one_line(output):
    text = f"{output.ename}: {output.evalue}" if output.evalue else output.ename
    if output.ename in DATA_ERRORS:
        text = output.evalue
    text = re.sub(r"\x1b\[[0-9;]*m", "", " ".join(text.split()))
    return without_folders(text)
