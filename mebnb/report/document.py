"""A finished HTML document: a body in which nothing is active, under a head of ours."""

from __future__ import annotations

import base64
import functools
import hashlib
from pathlib import Path

from mebnb.report import stepping
from mebnb.report.cleaning import clean_page

TEMPLATES = Path(__file__).resolve().parent / "templates" / "mebnb"
OTHERS = [
    ("The errata", "errata.html"),
    ("References", "references.html"),
    ("Functions of the package", "functions.html"),
    ("Search", "search.html"),
    ("Status of this report", "status.html"),
]
"""Title and address of the pages of a report that are no notebook."""
POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; "
    "form-action 'none'; base-uri 'none'"
)
"""What a browser lets a page do: show itself."""


def document(title, body, script="", style=""):
    """A whole page.

    Parameters
    ----------
    title : str
        As text.
    body : str
        HTML; what no page needs is taken out.
    script : str
        Ours, the only one that the page may run.
    style : str
        Ours, beside the style of every page.

    Returns
    -------
    str
    """
    body = clean_page(body)
    styles = [_style()]
    if "<math" in body:
        styles.append(_math_font())  # in which braces and roots grow
    if 'class="mebnb-steps"' in body:
        styles += stepping.styles()
    styles += [style] if style else []
    template = templates().get_template("document.html.j2")
    policy = f"{POLICY}; script-src '{_hash(script)}'" if script else POLICY
    return template.render(
        title=title, policy=policy, styles=styles, body=body, script=script
    )


def body_of(template, *, title, here, chapters, **words):
    """The body of a page that is no notebook and stands among the chapters of a report.

    Parameters
    ----------
    template : str
        Name of its file.
    title : str
    here : str
        Name of the page's own file.
    chapters : list of dict
        As `pages.chapters_of` returns them.
    **words : object
        What the template takes beside.

    Returns
    -------
    str
    """
    return (
        templates()
        .get_template(template)
        .render(title=title, here=here, chapters=chapters, others=OTHERS, **words)
    )


def _hash(script):
    """How a policy names the script that it lets run."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


@functools.cache
def templates():
    """The jinja environment of the pages that are no notebook."""
    from jinja2 import Environment, FileSystemLoader

    return Environment(loader=FileSystemLoader(TEMPLATES), trim_blocks=True)


@functools.cache
def _style():
    return (TEMPLATES / "style.css").read_text(encoding="utf-8")


@functools.cache
def _math_font():
    font = (TEMPLATES / "fonts" / "stix-two-math-subset.woff2").read_bytes()
    address = f"data:font/woff2;base64,{base64.b64encode(font).decode()}"
    return (
        '@font-face { font-family: "STIX Two Math"; '
        f'src: url({address}) format("woff2"); }}\n'
    )
