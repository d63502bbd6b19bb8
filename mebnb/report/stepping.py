"""Figures that a reader steps through: radio buttons and a style, no script.

A frame is a line of words and marks in the plane. `step_through` turns frames into a
description, the one thing that the output of a cell is drawn from: paths whose looks
are from a closed set, and words. In Jupyter each frame is a picture of its own. A page
does not take over that HTML: it checks the description and draws it anew (`drawn`), so
that a stranger's notebook can put in paths and words, and nothing else.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import numpy as np

from mebnb.plots.looks import COLORS, DARK
from mebnb.report.words import escaped

__all__ = ["Arrow", "Circle", "Crosses", "Dots", "Frame", "Line", "Rings", "Words"]
__all__ += ["MIMETYPE", "STYLES", "Steps", "drawn", "step_through", "styles"]

MIMETYPE = "application/vnd.mebnb.steps+json"
SIDE = 320  # units of a drawing, whose coordinates have one decimal
ROOM = 0.07  # of the side, left free at each edge
# What lies lowest comes first.
LOOKS = (
    *("point", "outside", "enclosing", "trial", "smallest", "way", "weight", "trail"),
    *("center", "FW", "plus", "away", "minus", "pairwise", "drop"),
)
NAME = re.compile(r"[a-z][a-z0-9-]{0,40}")
PATH = re.compile(r"[MLahlm0-9. -]{1,100000}")
PLACE = re.compile(r"-?[0-9.]{1,8} -?[0-9.]{1,8}")
MOST_FRAMES = 40
# JupyterLab, which goes from cell to cell with the arrow keys, leaves them to a button.
ARROWS_ARE_OURS = 'data-lm-suppress-shortcuts="true"'
TEMPLATES = Path(__file__).resolve().parent / "templates" / "mebnb"
STYLES = ("stepping.css", "drawing.css")
"""The files of the style, which outputs of notebooks hold."""


# --- what a frame is made of ---------------------------------------------------------


@dataclass(frozen=True)
class Dots:
    """Points, each a dot.

    Attributes
    ----------
    look : str
    at : ndarray, shape (k, 2)
    """

    look: str
    at: np.ndarray

    def reach(self):
        return np.asarray(self.at, dtype=float).reshape(-1, 2)

    def path(self, scale):
        return "".join(f"M{_xy(p)}h0" for p in scale(self.reach()))


@dataclass(frozen=True)
class Crosses(Dots):
    """Points, each a cross."""

    def path(self, scale):
        places = scale(self.reach())
        return "".join(f"M{_xy(p)}m-3.5 -3.5l7 7m0 -7l-7 7" for p in places)


@dataclass(frozen=True)
class Rings(Dots):
    """Rings about points, larger the larger the weight.

    Attributes
    ----------
    weights : ndarray, shape (k,)
        In [0, 1].
    """

    weights: np.ndarray

    def path(self, scale):
        radii = 4 + 9 * np.sqrt(np.asarray(self.weights, dtype=float))
        places = zip(scale(self.reach()), radii, strict=True)
        return "".join(_round(place, radius) for place, radius in places)


@dataclass(frozen=True)
class Circle:
    """A circle: look, center of shape (2,), radius."""

    look: str
    center: np.ndarray
    radius: float

    def reach(self):
        center = np.asarray(self.center, dtype=float)
        return np.array([center - self.radius, center + self.radius])

    def path(self, scale):
        low, high = scale(self.reach())
        return _round((low + high) / 2, (high - low)[0] / 2)


@dataclass(frozen=True)
class Line:
    """A line from place to place: look, ndarray of shape (k, 2)."""

    look: str
    through: np.ndarray

    def reach(self):
        return np.asarray(self.through, dtype=float).reshape(-1, 2)

    def path(self, scale):
        return "M" + "L".join(map(_xy, scale(self.reach())))


@dataclass(frozen=True)
class Arrow(Line):
    """A line with a head at its end."""

    def path(self, scale):
        start, end = scale(self.reach())
        along = end - start
        length = float(np.hypot(*along))
        if length < 0.5:
            return f"M{_xy(end)}h0"
        along *= min(8.0, 0.6 * length) / length
        across = 0.5 * np.array([-along[1], along[0]])
        head = [end - along + across, end, end - along - across]
        return f"M{_xy(start)}L{_xy(end)}M" + "L".join(map(_xy, head))


@dataclass(frozen=True)
class Words:
    """Words beside a place of shape (2,)."""

    words: str
    at: np.ndarray

    def reach(self):
        return np.asarray(self.at, dtype=float).reshape(-1, 2)


@dataclass(frozen=True)
class Frame:
    """One state of what is stepped through.

    Attributes
    ----------
    line : str
        What to see, in words and numbers.
    marks : sequence of Dots, Crosses, Rings, Circle, Line, Arrow or Words
        In the coordinates of the data. A look has its layer, see `LOOKS`.
    """

    line: str
    marks: Sequence


# --- from frames to a description ----------------------------------------------------


def step_through(name, about, frames):
    """A figure in which the reader goes from frame to frame.

    Parameters
    ----------
    name : str
        Unique in the notebook: small letters, digits and hyphens.
    about : str
        What the figure shows; its first sentence becomes the caption of a page.
    frames : sequence of Frame
        All are drawn on one scale; nothing is cut off.

    Returns
    -------
    Steps

    Raises
    ------
    ValueError
        Where the name, the text, the number of frames or a look is none of these.

    Examples
    --------
    >>> dots = Dots("point", [[0, 0], [4, 3]])
    >>> step_through("two", "Two points.", [Frame("Radius 2.5.", [dots])])
    Two points.
    1: Radius 2.5.
    """
    frames = list(frames)
    places = [mark.reach() for frame in frames for mark in frame.marks]
    scale = _scale(np.vstack(places)) if places else None
    described = {
        "name": name,
        "about": about,
        "frames": [_described(frame, scale) for frame in frames],
    }
    _check(described)
    return Steps(described)


class Steps:
    """A figure of frames, as a notebook shows it."""

    def __init__(self, description):
        self.description = description

    def __repr__(self):
        lines = (frame["line"] for frame in self.description["frames"])
        told = (f"{number}: {line}" for number, line in enumerate(lines, start=1))
        return "\n".join([self.description["about"], *told])

    def _repr_mimebundle_(self, include=None, exclude=None):
        stepping, drawing = _style_files()
        picture = functools.partial(_as_image, style=_palette(COLORS) + drawing)
        return {
            MIMETYPE: self.description,
            "text/html": f"<style>\n{stepping}</style>\n{_html(self.description, picture)}",
            "text/plain": repr(self),
        }


def styles():
    """The style of the frames on a page, light and dark, as pieces of CSS."""
    on_dark = {name: DARK[color] for name, color in COLORS.items()}
    dark = f"@media screen and (prefers-color-scheme: dark) {{ {_palette(on_dark)}}}\n"
    return [_palette(COLORS), dark, *_style_files()]


def _style_files():
    return [(TEMPLATES / file).read_text(encoding="utf-8") for file in STYLES]


def _palette(colors):
    """The colours of all figures as names that a style can use."""
    named = "".join(f" --{name}: {color};" for name, color in colors.items())
    return f":root {{{named} }}\n"


def _scale(places):
    """What maps places to a square with all of them; its second axis points down."""
    low, high = places.min(axis=0), places.max(axis=0)
    size = float((high - low).max()) or 1.0
    unit = SIDE * (1 - 2 * ROOM) / size
    middle = (low + high) / 2
    return lambda at: SIDE / 2 + (at - middle) * [unit, -unit]


def _described(frame, scale):
    paths, words = {}, {}
    for mark in frame.marks:
        if isinstance(mark, Words):
            words[mark.words] = _xy(_outward(*scale(mark.reach())))
        else:
            paths[mark.look] = paths.get(mark.look, "") + mark.path(scale)
    paths = {look: d for look, d in paths.items() if d}  # of no points there is none
    return {"line": frame.line, "paths": paths, "words": words}


def _outward(place):
    """A place a little farther from the middle, where words hide no point."""
    along = place - SIDE / 2
    return place + 18 * along / (np.hypot(*along) or 1.0)


def _round(center, radius):
    r = _number(radius)
    start, across = _xy(center - np.array([radius, 0.0])), _number(2 * radius)
    return f"M{start}a{r} {r} 0 1 0 {across} 0a{r} {r} 0 1 0 -{across} 0"


def _xy(place):
    return " ".join(map(_number, place))


def _number(value):
    return f"{round(float(value), 1) + 0.0:.1f}".removesuffix(".0")


# --- from a description to HTML ------------------------------------------------------


def drawn(description):
    """A description as HTML of a page, its drawings within.

    Parameters
    ----------
    description : mapping
        As an output holds it under `MIMETYPE`, whoever wrote it.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        When it is no description of frames; says what is wrong with it.
    """
    _check(description)
    return _html(description, _drawing)


def _check(description):
    """Refuse what `step_through` does not make."""
    _demand(isinstance(description, Mapping), "steps", "a mapping", description)
    name, about, frames = (description.get(key) for key in ("name", "about", "frames"))
    _demand(_like(name, NAME), "name", "small letters, digits and hyphens", name)
    _demand(_told(about), "about", "a text", about)
    several = isinstance(frames, list) and 1 <= len(frames) <= MOST_FRAMES
    _demand(several, "frames", f"a list of 1 to {MOST_FRAMES}", frames)
    for frame in frames:
        _demand(isinstance(frame, Mapping), "frame", "a mapping", frame)
        line, paths, words = (frame.get(key) for key in ("line", "paths", "words"))
        _demand(_told(line), "line", "a text", line)
        _demand(isinstance(paths, Mapping), "paths", "a mapping", paths)
        _demand(isinstance(words, Mapping), "words", "a mapping", words)
        for look, path in paths.items():
            _demand(look in LOOKS, "look", f"one of {', '.join(LOOKS)}", look)
            _demand(_like(path, PATH), "path", "letters of a path and numbers", path)
        for place in words.values():
            _demand(_like(place, PLACE), "place of words", "two numbers", place)


def _told(value):
    return isinstance(value, str) and bool(value.strip())


def _like(value, pattern):
    return isinstance(value, str) and bool(pattern.fullmatch(value))


def _demand(holds, what, expected, found):
    if not holds:
        raise ValueError(f"{what} must be {expected}, found {str(found)[:60]!r}")


def _html(description, picture):
    name, about = description["name"], escaped(description["about"])
    frames = description["frames"]
    parts = []
    for number, frame in enumerate(frames):
        identity = f"steps-{name}-{number}"
        label = f"frame {number + 1} of {len(frames)}"
        checked = "" if number else " checked"
        parts.append(
            f'<input type="radio" hidden="hidden" name="steps-{name}" id="{identity}"{checked}'
            f' aria-label="{label}" aria-describedby="{identity}-line" {ARROWS_ARE_OURS}>\n'
            f'<div class="frame">{_turns(name, number, len(frames))}\n'
            f"{picture(frame, f'drawing of {label}')}\n"
            f'<div class="line" id="{identity}-line">{escaped(frame["line"])}</div></div>\n'
        )
    return (
        f'<div class="mebnb-steps" role="radiogroup" aria-label="{about}">\n'
        f"{''.join(parts)}</div>"
    )


def _turns(name, number, count):
    """Where a frame is, between labels that press the buttons of its neighbours.

    They are hidden until the style is there: without it all frames show.
    """
    back = _turn(name, number - 1, "back") if number else "<span></span>"
    on = _turn(name, number + 1, "forward") if number + 1 < count else "<span></span>"
    return f'<div class="turns" hidden="hidden">{back}<span>{number + 1} of {count}</span>{on}</div>'


def _turn(name, number, word):
    return f'<label for="steps-{name}-{number}">{word}</label>'


def _drawing(frame, alt):
    return (
        f'<svg class="mebnb-drawing" viewBox="0 0 {SIDE} {SIDE}" role="img"'
        f' aria-label="{alt}">{_marks(frame)}</svg>'
    )


def _marks(frame):
    paths = frame["paths"]
    drawn_paths = (
        f'<path class="{look}" d="{paths[look]}"></path>'
        for look in LOOKS
        if look in paths
    )
    # A stored notebook has its keys sorted.
    words = (_text(*item) for item in sorted(frame["words"].items()))
    return "".join([*drawn_paths, *words])


def _text(words, at):
    x, y = at.split()
    return f'<text x="{x}" y="{y}">{escaped(words)}</text>'


def _as_image(frame, alt, style):
    """The drawing as a picture of its own: JupyterLab shows it unasked for trust."""
    drawing = (
        f"<svg xmlns='http://www.w3.org/2000/svg' class='mebnb-drawing'"
        f" viewBox='0 0 {SIDE} {SIDE}'><style>{style}</style>"
        f"<path class='paper' d='M0 0h{SIDE}v{SIDE}h-{SIDE}'></path>{_marks(frame)}</svg>"
    )
    content = quote(drawing.replace('"', "'"), safe=" '=:;/,.-(){}")
    return f'<img alt="{alt}" width="{SIDE}" src="data:image/svg+xml,{content}">'
