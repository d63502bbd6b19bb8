"""The first page of a report: what was found, and what each notebook is."""

from __future__ import annotations

import base64
from collections import Counter
from pathlib import Path

from mebnb.report import finishing
from mebnb.report.findings import findings
from mebnb.report.pages import write_text
from mebnb.report.running import INTERRUPTED, STORED

TITLE = "The minimum enclosing ball in notebooks"


def write_index(out, pages, *, interrupted=(), stored=False, earlier=()):
    """Write `index.html`.

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
        Of the index.
    """
    from jinja2 import Environment, FileSystemLoader
    from markupsafe import Markup

    rows = [_row(page, stored, page.name in earlier) for page in pages]
    rows += [_missing_row(name, title) for name, title in interrupted]
    rows.sort(key=lambda row: row["name"])
    loader = FileSystemLoader(finishing.TEMPLATES)
    environment = Environment(loader=loader, trim_blocks=True)
    style = (finishing.TEMPLATES / "style.css").read_text(encoding="utf-8")
    html = environment.get_template("overview.html.j2").render(
        title=TITLE,
        style=Markup(f"<style>\n{style}</style>"),
        lead=_lead(rows, interrupted),
        findings=findings(page.notebook for page in pages),
        rows=rows,
    )
    path = Path(out) / "index.html"
    write_text(path, html)
    return path


def _row(page, stored, earlier):
    status = STORED if stored and page.status == "ok" else page.status
    notes = [] if page.seconds is None else [_duration(page.seconds)]
    notes += [f"{name} = {value!r}" for name, value in page.changed.items()]
    if earlier:
        notes.append("from an earlier run")
    picture = finishing.thumbnail(page.picture) if page.picture else ""
    return {
        "name": page.name,
        "file": page.file,
        "title": page.title,
        "summary": page.summary,
        "picture": picture,
        "alt": page.picture_alt,
        "size": _size(picture),
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
    if len(rows) == 1:
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


def _size(picture):
    content = base64.b64decode(picture.partition("base64,")[2])
    if content[:4] != b"\x89PNG":
        return ""
    width, height = (int.from_bytes(content[at : at + 4], "big") for at in (16, 20))
    return f'width="{width}" height="{height}"'
