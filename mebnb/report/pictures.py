"""Pictures of a page: they come from the notebook itself, each a PNG or a drawing."""

from __future__ import annotations

import base64
import io
import re

from bs4 import NavigableString

from mebnb.report.drawings import PREFIX, drawing_at, drawn, first_panel
from mebnb.report.finishing import cell_name, new_element

LOADED = ("PNG", "JPEG", "GIF", "WEBP")
REMOTE = re.compile(r"\s*https?://", re.IGNORECASE)


def finish_pictures(main, *, strict):
    """Give pictures their size and alternative text; leave none but those within.

    A picture is an output or an attachment. One that is named by an address becomes a
    link where it is on the web; no file is read, whoever names it.

    Parameters
    ----------
    main : bs4.Tag
    strict : bool
        Whether a picture without alternative text is a problem.

    Returns
    -------
    list of str
        What is wrong.
    """
    problems = []
    for number, image in enumerate(main("img"), start=1):
        where, source = cell_name(image), image.get("src", "")
        alt = image.get("alt", "").strip()
        shown = _shown(source)
        if shown is not None:
            if strict and not alt:
                problems.append(
                    f"{where}: a figure without alternative text; "
                    "end the cell with show(fig, alt=...)"
                )
            image["src"], size = shown
            image["alt"] = alt or f"Figure {number}, without a description"
            if not (image.get("width") and image.get("height")):
                image["width"], image["height"] = map(str, size)
        elif REMOTE.match(source):
            link = new_element("a", href=source)
            link.string = alt or source
            image.replace_with(link)
        else:
            named = "" if source.startswith("data:") else f" {source!r}"
            problems.append(
                f"{where}: no picture{named} in the notebook; attach it to the cell"
            )
            image.replace_with(NavigableString(f"[{alt or 'a picture'} is missing]"))
    return problems


def _shown(source):
    """What a page shows of a data address, and its size; None where that is no picture."""
    if source.startswith(PREFIX):
        return drawn(drawing_at(source))
    picture = _opened(source)
    return None if picture is None else (_as_png(picture, source), picture.size)


def thumbnail(source, width=640):
    """A picture of a page again, to be seen small.

    A drawing is cut to its first panel; what has pixels gets at most `width` of them.

    Parameters
    ----------
    source : str
        Its address in a finished page.
    width : int

    Returns
    -------
    address : str
    size : (int, int)
        Width and height in pixels.
    """
    from PIL import Image

    if source.startswith(PREFIX):
        return first_panel(source)
    picture = _opened(source)
    picture.thumbnail((width, width))
    flat = Image.new("RGB", picture.size, "white")
    flat.paste(picture, mask=picture.getchannel("A") if "A" in picture.mode else None)
    return _saved(flat.quantize(64), optimize=True), picture.size


def _opened(source):
    """The picture of a data address, None where that is no picture."""
    from PIL import Image

    try:
        picture = Image.open(io.BytesIO(_content(source)), formats=LOADED)
        picture.load()
    except (ValueError, OSError, SyntaxError, Image.DecompressionBombError):
        return None
    return picture


def _content(source):
    head, _, content = source.partition(";base64,")
    return base64.b64decode(content) if head.startswith("data:image/") else b""


def _as_png(picture, source):
    """The address of the same picture as PNG."""
    if picture.format == "PNG":
        return _address(_content(source))
    return _saved(picture.convert("RGBA"))


def _saved(picture, **options):
    content = io.BytesIO()
    picture.save(content, "PNG", **options)
    return _address(content.getvalue())


def _address(content):
    return f"data:image/png;base64,{base64.b64encode(content).decode()}"
