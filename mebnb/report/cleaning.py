"""What may stand in a page: the elements, attributes and addresses that it needs.

All else is taken out by nh3, which reads HTML as browsers do. It sees everything
twice: each piece of a notebook on its way into the page (`clean`), so that no piece
ends where it likes, and the finished page as a whole (`clean_page`). Drawings and
buttons pass only there: no piece holds one, the page makes them (`stepping.drawn`).
"""

from __future__ import annotations

import functools
import re

TEXT = (
    "a abbr b blockquote br caption cite code col colgroup dd del details div dl dt em "
    "figcaption figure h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre q s samp "
    "section small span strong sub summary sup table tbody td tfoot th thead tr tt u ul "
    "var"
)
LINE = "abbr b cite code del em i ins kbd mark q s samp small span strong sub sup u var"
SHELL = "article fieldset footer header input label legend main nav wbr"
DRAWING = "path svg text"
MATHML = (
    "math menclose merror mfrac mi mmultiscripts mn mo mover mpadded mphantom "
    "mprescripts mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable mtd mtext "
    "mtr munder munderover"
)
GONE_WITH_CONTENT = (
    "audio canvas embed frameset head iframe math noembed noframes noscript object "
    "option script select style svg template textarea title video xmp"
)
ATTRIBUTES = {
    "*": "id style title",
    "a": "href",
    "col": "span",
    "details": "open",
    "img": "alt height src width",
    "ol": "start",
    "td": "colspan rowspan",
    "th": "colspan rowspan scope",
}
SHELL_ATTRIBUTES = {
    "*": (
        "aria-current aria-describedby aria-hidden aria-label aria-labelledby class "
        "data-cell role tabindex"
    ),
    "a": "download rel",
    "input": "checked hidden name type",
    "label": "for",
    "path": "d",
    "svg": "viewBox",
    "text": "x y",
}
MATHML_ATTRIBUTES = (
    "accent accentunder columnalign columnlines columnspacing depth display "
    "displaystyle fence form frame height largeop linethickness lspace mathsize "
    "mathvariant maxsize minsize movablelimits notation rowlines rowspacing rspace "
    "scriptlevel separator stretchy symmetric voffset width"
)
STYLES = "color font-style font-weight overflow-wrap overflow-x text-align"
MATHML_STYLES = "justify-items padding-left padding-right width"
CHOICES = {"checkbox", "radio"}  # nothing is typed into a page
SCHEMES = {"http", "https", "mailto"}

PICTURE = re.compile(r"data:image/(png|svg\+xml);base64,[A-Za-z0-9+/=]+")
ADDRESS = re.compile(r"(https?://|mailto:)[^\x00-\x20]+", re.IGNORECASE)
PLACE = re.compile(r"#[^\x00-\x20]*")
FILE = re.compile(
    r"(notebooks/)?[^\x00-\x20\\/:?#]+\.(html|ipynb)(#[^\x00-\x20]*)?", re.IGNORECASE
)


def clean(html):
    """A piece of a notebook, with what a page may show of it.

    Parameters
    ----------
    html : str

    Returns
    -------
    str
        Every element that begins in it ends in it. Addresses of pictures and links are
        decided on later, in `finishing` and `clean_page`.
    """
    return _cleaner_of_pieces().clean(html)


def clean_line(html):
    """A line of a notebook, such as its title, with what a link may hold of it.

    Parameters
    ----------
    html : str

    Returns
    -------
    str
    """
    return _cleaner_of_lines().clean(html).strip()


def clean_page(body):
    """The whole body of a page, with nothing but what a page needs.

    Parameters
    ----------
    body : str

    Returns
    -------
    str
        Links lead into the page, to pages and notebooks beside it, or to the web;
        pictures are PNG or SVG and stand in the page itself.
    """
    return _cleaner_of_pages().clean(body)


@functools.cache
def _cleaner_of_pieces():
    import nh3

    classes = _classes_of_code()
    return nh3.Cleaner(
        tags=set(TEXT.split()),
        clean_content_tags=set(GONE_WITH_CONTENT.split()),
        attributes=_attributes(ATTRIBUTES),
        allowed_classes=dict.fromkeys(("code", "div", "pre", "span"), classes),
        filter_style_properties=set(STYLES.split()),
        url_schemes=SCHEMES | {"data"},
        link_rel=None,
    )


@functools.cache
def _cleaner_of_lines():
    import nh3

    return nh3.Cleaner(
        tags=set(LINE.split()),
        clean_content_tags=set(GONE_WITH_CONTENT.split()),
        attributes={},
        link_rel=None,
    )


@functools.cache
def _cleaner_of_pages():
    import nh3

    mathml = dict.fromkeys(MATHML.split(), MATHML_ATTRIBUTES)
    return nh3.Cleaner(
        tags={*TEXT.split(), *SHELL.split(), *DRAWING.split(), *MATHML.split()},
        clean_content_tags=set(GONE_WITH_CONTENT.split()) - {"math", "svg"},
        attributes=_attributes(ATTRIBUTES, SHELL_ATTRIBUTES, mathml),
        filter_style_properties={*STYLES.split(), *MATHML_STYLES.split()},
        url_schemes=SCHEMES | {"data"},
        link_rel=None,
        attribute_filter=_address,
    )


def _attributes(*tables):
    merged = {}
    for table in tables:
        for tag, names in table.items():
            merged.setdefault(tag, set()).update(names.split())
    return merged


def _address(tag, name, value):
    """The value of an attribute of a page, None where no page of ours needs it."""
    if (tag, name) == ("input", "type"):
        return value if value in CHOICES else "checkbox"
    kinds = {"src": (PICTURE,), "href": (ADDRESS, PLACE, FILE)}.get(name)
    if kinds is None or any(kind.fullmatch(value) for kind in kinds):
        return value
    return None


def _classes_of_code():
    """The classes by which pygments colours code."""
    from pygments.token import STANDARD_TYPES

    return {"highlight", *filter(None, STANDARD_TYPES.values())}
