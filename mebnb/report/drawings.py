"""Drawings (SVG) of a page: pictures that follow the reader's scheme, and nothing else.

A page shows a drawing in an `img`, where a browser runs and loads nothing. What may be
in it is listed here all the same: shapes, their places and their colours. A drawing that
holds anything else is not shown. Its colours become custom properties, so that a style
of ours can give each its counterpart on dark paper.
"""

from __future__ import annotations

import base64
import colorsys
import functools
import re
from xml.etree import ElementTree

from mebnb.plots.looks import DARK

SPACE, LINKS = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
ElementTree.register_namespace("", SPACE)
ElementTree.register_namespace("xlink", LINKS)
SVG, HREF = f"{{{SPACE}}}", f"{{{LINKS}}}href"
MIME = "image/svg+xml"
PREFIX = f"data:{MIME};base64,"

SHAPES = "svg g defs path use clipPath rect circle ellipse line polyline polygon"
LEFT_OUT = "metadata style title desc"
ATTRIBUTES = (
    "clip-path cx cy d fill fill-opacity fill-rule height id opacity points r rx ry stroke "
    "stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin stroke-opacity "
    "stroke-width style transform type version viewBox width x x1 x2 y y1 y2"
)
VALUE = re.compile(r"[\w\s.,:;#%()+-]*")
PLACE = re.compile(r"url\(#[\w.-]+\)")
COLOR = re.compile(r"#[0-9a-fA-F]{6}\b")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
LENGTH = re.compile(r"(\d{1,5}(?:\.\d{1,12})?)(pt|px)?")
PIXELS = {"pt": 4 / 3, "px": 1.0, None: 1.0}
BLACK = "#000000"  # what a shape has that names no colour


def drawn(text):
    """A drawing as a page shows it.

    Parameters
    ----------
    text : str
        SVG from anywhere.

    Returns
    -------
    (str, (int, int)) or None
        Its address, width and height in pixels; None where it holds anything but shapes.
    """
    root = _shapes_of(text)
    size = None if root is None else _size(root)
    if size is None:
        return None
    look = ElementTree.Element(SVG + "style")
    look.text = _look(_name_colors(root))
    root.insert(0, look)
    try:
        return address_of(ElementTree.tostring(root, encoding="unicode")), size
    except RecursionError:  # groups in groups in groups
        return None


def leave_out_refused(notebook):
    """Take out of outputs the drawings that no page shows; what else they have stays."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if MIME in output.get("data", {}) and drawn(output.data[MIME]) is None:
                del output.data[MIME]


def address_of(text):
    """The data address of a drawing."""
    return PREFIX + base64.b64encode(text.encode()).decode()


def first_panel(address):
    """A drawing of a page again, to be seen small: without all panels but the first.

    Parameters
    ----------
    address : str
        From `drawn`.

    Returns
    -------
    (str, (int, int))
        Its address, width and height in pixels; of the whole where it is no figure of
        Matplotlib.
    """
    root = ElementTree.fromstring(drawing_at(address))
    figure = root.find(f"{SVG}g[@id='figure_1']")
    panel = None if figure is None else figure.find(f"{SVG}g[@id='axes_1']")
    frame = None if panel is None else panel.find(f".//{SVG}path[@d]")
    if frame is not None:
        for part in list(figure):
            if part.get("id") not in ("patch_1", "axes_1"):
                figure.remove(part)
        ends = NUMBER.findall(frame.get("d"))
        _crop(root, max(map(float, ends[::2])), max(map(float, ends[1::2])))
    return address_of(ElementTree.tostring(root, encoding="unicode")), _size(root)


def _crop(root, right, bottom):
    """End a drawing a little beyond a panel's frame, with room for the words below."""
    _, _, width, height = (
        float(n) for n in NUMBER.findall(root.get("viewBox", "0 0 0 0"))
    )
    width, height = min(width, right + 8), min(height, bottom + 34)
    root.set("viewBox", f"0 0 {width:g} {height:g}")
    root.set("width", f"{width:g}pt")
    root.set("height", f"{height:g}pt")


def drawing_at(address):
    """The SVG of a data address, "" where it is none."""
    if not address.startswith(PREFIX):
        return ""
    try:
        return base64.b64decode(address.removeprefix(PREFIX)).decode()
    except ValueError:  # neither base64 nor text
        return ""


# --- what it may hold ----------------------------------------------------------------


def _shapes_of(text):
    """The root of a drawing that holds shapes alone, else None."""
    if not isinstance(text, str):  # a notebook may hold any JSON in its place
        return None
    begin = text.find("<svg")
    try:
        # Without what stands before it, no entity is declared.
        root = ElementTree.fromstring(text[begin:]) if begin >= 0 else None
    except (ElementTree.ParseError, ValueError):  # the latter for halves of characters
        return None
    if root is None or root.tag != SVG + "svg":
        return None
    for parent in list(root.iter()):
        for child in [child for child in parent if child.tag in _tags(LEFT_OUT)]:
            parent.remove(child)
    elements = list(root.iter())
    paths = {f"#{e.get('id')}" for e in elements if e.tag == SVG + "path"}
    return root if all(_is_shape(element, paths) for element in elements) else None


@functools.cache
def _tags(names):
    return {SVG + name for name in names.split()}


def _is_shape(element, paths):
    words = (element.text or "") + (element.tail or "")
    return (
        element.tag in _tags(SHAPES)
        and not words.strip()
        and all(_is_look(*item, paths) for item in element.items())
    )


def _is_look(name, value, paths):
    if name == HREF:  # a path: uses of uses could multiply without end
        return value in paths
    if name == "clip-path":
        return PLACE.fullmatch(value) is not None
    return (
        name in ATTRIBUTES.split()
        and VALUE.fullmatch(value) is not None
        and "url" not in value.lower()
    )


def _size(root):
    """Width and height in pixels, None where it does not tell."""
    lengths = [LENGTH.fullmatch(root.get(side, "")) for side in ("width", "height")]
    if not all(lengths):
        return None
    return tuple(max(1, round(float(n[1]) * PIXELS[n[2]])) for n in lengths)


# --- its colours ---------------------------------------------------------------------


def _name_colors(root):
    """Put a custom property in place of each colour; the colours."""
    colors = {BLACK}

    def name(match):
        color = match[0].lower()
        colors.add(color)
        return f"var({_property(color)})"

    for element in root.iter():
        for attribute in ("fill", "stroke"):
            if attribute in element.attrib:
                style = f"{attribute}: {element.attrib.pop(attribute)}"
                element.set("style", f"{style}; {element.get('style', '')}")
        if "style" in element.attrib:
            element.set("style", COLOR.sub(name, element.get("style")))
    return sorted(colors)


def _look(colors):
    """The style of a drawing: each colour on white paper and on dark."""
    light = "".join(f"{_property(color)}:{color};" for color in colors)
    dark = "".join(f"{_property(color)}:{on_dark(color)};" for color in colors)
    return (
        f":root{{{light}fill:var({_property(BLACK)})}}"
        "*{stroke-linejoin:round;stroke-linecap:butt}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    )


def _property(color):
    return f"--c{color[1:]}"


def on_dark(color):
    """The counterpart on dark paper of a colour on white.

    Parameters
    ----------
    color : str
        As "#rrggbb".

    Returns
    -------
    str
        That of the palette; of any other colour light and dark change places.

    Examples
    --------
    >>> on_dark("#b0b0b0")
    '#585858'
    """
    if color in DARK:
        return DARK[color]
    hue, light, saturation = colorsys.rgb_to_hls(*_channels(color))
    # Between dark paper and light ink as the colour is between white and black.
    low, high = (
        colorsys.rgb_to_hls(*_channels(DARK[c]))[1] for c in ("#ffffff", BLACK)
    )
    turned = colorsys.hls_to_rgb(hue, high + (low - high) * light, saturation)
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in turned)


def _channels(color):
    return [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
