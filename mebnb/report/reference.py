"""A page about the public functions, made from their docstrings."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from pathlib import Path

from bs4 import BeautifulSoup

from mebnb.report.document import body_of, document
from mebnb.report.finishing import add_contents
from mebnb.report.words import escaped
from mebnb.writing import write_file

FILE = "functions.html"
TITLE = "The functions of the package"
CITED = re.compile(r"(\[\d+\])_")  # as docstrings point to their references
CODE = re.compile(r"(?P<mark>`{1,2})(?P<code>[^`\n]+)(?P=mark)")


@dataclass(frozen=True)
class Part:
    """A part of a docstring, as HTML.

    Attributes
    ----------
    title : str
        "" for the text that comes first.
    text : str
        Paragraphs and code.
    fields : list of (str, str, str)
        What it lists instead: name, type, meaning.
    """

    title: str
    text: str = ""
    fields: tuple[tuple[str, str, str], ...] = ()


def write_reference(out, chapters):
    """Write the page of the functions that `mebnb` names.

    Parameters
    ----------
    out : path
        The report's folder.
    chapters : list of dict
        As `pages.chapters_of` returns them.

    Returns
    -------
    Path
    """
    functions = [
        {
            "name": name,
            "signature": f"{name}{inspect.signature(function)}",
            "parts": parts_of(inspect.getdoc(function)),
        }
        for name, function in public_functions().items()
    ]
    body = body_of(
        "functions.html.j2",
        title=TITLE,
        here=FILE,
        chapters=chapters,
        functions=functions,
    )
    soup = BeautifulSoup(body, "html.parser")
    add_contents(soup, levels=["h2"])
    path = Path(out) / FILE
    write_file(path, document(TITLE, str(soup)))
    return path


def public_functions():
    """The functions and classes that `mebnb` names, name -> object, by name."""
    import mebnb

    names = sorted(filter(lambda name: name[0] != "_", dir(mebnb)), key=str.casefold)
    named = {name: getattr(mebnb, name) for name in names}
    return {name: thing for name, thing in named.items() if callable(thing)}


def parts_of(docstring):
    """A docstring in numpydoc's form, part by part.

    Parameters
    ----------
    docstring : str

    Returns
    -------
    list of Part
    """
    import griffe

    sections = griffe.parse_numpy(griffe.Docstring(docstring), warnings=False)
    return [_part(section) for section in sections]


def _part(section):
    kind, value = section.kind.value, section.value
    if kind == "text":
        return Part("", _paragraphs(value))
    if kind == "examples":
        return Part("Examples", "".join(_paragraphs(text) for _, text in value))
    if kind == "admonition":  # Notes, References, See Also
        return Part(section.title, _paragraphs(value.contents))
    fields = [
        (
            escaped(getattr(item, "name", None) or ""),
            escaped(item.annotation or ""),
            _paragraphs(item.description),
        )
        for item in value
    ]
    return Part(kind.capitalize(), fields=tuple(fields))


def _paragraphs(text):
    """Paragraphs as HTML; each source of a list is one."""
    parts = re.split(r"\n\s*\n|\n(?=\.\. \[\d)", text.strip("\n"))
    return "".join(_paragraph(part.removeprefix(".. ")) for part in parts)


def _paragraph(text):
    if not text.strip():
        return ""
    if text.startswith((">>> ", "    ")):
        return (
            '<div class="scroll code" tabindex="0" role="group" aria-label="Code">'
            f"<pre>{_verbatim(text)}</pre></div>"
        )
    pieces, end = [], 0
    for match in CODE.finditer(text):
        pieces += [_words(text[end : match.start()]), _as_code(match["code"])]
        end = match.end()
    return f"<p>{''.join(pieces)}{_words(text[end:])}</p>"


def _as_code(text):
    return f"<code>{escaped(text)}</code>"


def _words(text):
    """Words between others, whose blanks at the ends matter."""
    text = CITED.sub(r"\1", text)
    before = " " if text[:1].isspace() else ""
    after = " " if text[-1:].isspace() else ""
    return before + escaped(text) + after


def _verbatim(text):
    from markupsafe import escape

    return escape(text)
