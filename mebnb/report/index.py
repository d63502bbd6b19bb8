"""What became of each notebook: a page of a report, or the index of any pages."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from mebnb.report import finishing
from mebnb.report.document import body_of, document, templates
from mebnb.report.findings import findings
from mebnb.report.pages import chapters_of
from mebnb.report.pictures import thumbnail
from mebnb.report.running import INTERRUPTED, STORED
from mebnb.report.words import counted
from mebnb.writing import write_file

TITLE = "The minimum enclosing ball in notebooks"
STATUS = "status.html"
STATUS_TITLE = "Status of this report"


def write_index(out, pages):
    """Write the `index.html` of notebooks from anywhere.

    Parameters
    ----------
    out : path
        The folder of the pages.
    pages : list of Page

    Returns
    -------
    Path
    """
    rows = [_row(page) for page in pages]
    template = templates().get_template("overview.html.j2")
    body = template.render(title=TITLE, lead=_lead(rows, False), rows=rows)
    path = Path(out) / "index.html"
    write_file(path, document(TITLE, body))
    return path


def write_status(out, pages, *, interrupted=(), stored=False, earlier=()):
    """Write the page that says how each notebook of a report went.

    Parameters
    ----------
    out : path
        The report's folder.
    pages : list of Page
    interrupted : list of (str, str)
        Name and title (Markdown) of the notebooks that were stopped or never begun.
    stored : bool
        The notebooks were exported as they lie in the clone.
    earlier : collection of str
        Names of pages kept from an earlier run.

    Returns
    -------
    Path
    """
    rows = [_row(page, stored, page.name in earlier) for page in pages]
    rows += [_missing_row(name, title) for name, title in interrupted]
    rows.sort(key=lambda row: row["name"])
    body = body_of(
        "status.html.j2",
        title=STATUS_TITLE,
        here=STATUS,
        chapters=chapters_of(pages),
        lead=_lead(rows, interrupted),
        findings=findings(page.notebook for page in pages),
        rows=rows,
    )
    path = Path(out) / STATUS
    write_file(path, document(STATUS_TITLE, body))
    return path


def _row(page, stored=False, earlier=False):
    status = STORED if stored and page.status == "ok" else page.status
    notes = [] if page.seconds is None else [_duration(page.seconds)]
    notes += [f"{name} = {value!r}" for name, value in page.changed.items()]
    if earlier:
        notes.append("from an earlier run")
    picture, size = thumbnail(page.picture) if page.picture else ("", None)
    return {
        "name": page.name,
        "number": page.number,
        "address": page.address,
        "title": page.title,
        "summary": page.summary,
        "picture": picture,
        "alt": page.picture_alt,
        "size": size,
        "error": page.first_error,
        "status": status,
        "notes": notes,
    }


def _missing_row(name, title):
    return {
        "name": name,
        "title": finishing.inline_html(title),
        "error": "stopped before its end; run the report again to complete it",
        "status": INTERRUPTED,
        "notes": [],
    }


def _lead(rows, interrupted):
    counts = Counter(row["status"] for row in rows)
    if set(counts) == {STORED}:
        lead = f"{counted(len(rows), 'notebook')}, shown as stored; none was run anew."
    elif len(rows) == 1:
        lead = f"1 notebook: {rows[0]['status']}."
    elif len(counts) == 1:
        lead = f"{len(rows)} notebooks: all {rows[0]['status']}."
    else:
        parts = ", ".join(f"{count} {status}" for status, count in counts.items())
        lead = f"{len(rows)} notebooks: {parts}."
    if interrupted:
        lead += " The run was interrupted; what was finished is here."
    return lead


def _duration(seconds):
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60:02d} s"
