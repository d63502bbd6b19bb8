"""A finished HTML document: a body in which nothing is active, under a head of ours."""

from __future__ import annotations

import base64
import functools
from pathlib import Path

from mebnb.report.cleaning import clean_page

TEMPLATES = Path(__file__).resolve().parent / "templates" / "mebnb"
OTHERS = [("Functions of the package", "functions.html")]
"""Title and address of the pages of a report that are no notebook."""
POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; "
    "form-action 'none'; base-uri 'none'"
)
"""What a browser lets a page do: show itself."""


def document(title, body):
    """A whole page.

    Parameters
    ----------
    title : str
        As text.
    body : str
        HTML; what no page needs is taken out.

    Returns
    -------
    str
    """
    body = clean_page(body)
    # With this font braces and roots grow.
    styles = [_style(), _math_font()] if "<math" in body else [_style()]
    template = templates().get_template("document.html.j2")
    return template.render(title=title, policy=POLICY, styles=styles, body=body)


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
