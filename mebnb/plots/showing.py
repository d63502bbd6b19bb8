"""Figures in a notebook: a drawing where it has few marks, else dots on a raster.

A drawing (SVG) stays sharp at every size, and its colours can follow the reader's
scheme. Each comes with the same picture as PNG, for viewers that draw nothing of a
notebook that they do not trust.
"""

from __future__ import annotations

import base64
import io
import re

import matplotlib.pyplot as plt
from IPython.display import display

__all__ = ["MOST_MARKS", "as_drawing", "show"]

MOST_MARKS = 2000  # of a drawing; with more it is larger and slower than a raster
MARK = re.compile(r"<path\b|<use xlink:href=\"#(?!DejaVu)")
GEOMETRY = re.compile(r' (?:d|x|y)="[^"]*"')
LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")


def show(fig, alt):
    """Show a figure in the notebook with its alternative text, then close it.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
    alt : str
        What the figure shows, for readers who cannot see it.

    Raises
    ------
    ValueError
        When the text is empty.
    """
    if not alt or not alt.strip():
        raise ValueError("alt must say what the figure shows, found an empty text")
    # No engine means that of the style, which would lay it out for each format.
    with plt.rc_context({"figure.constrained_layout.use": False}):
        box = _laid_out(fig)
        shown = {"image/png": base64.b64encode(_saved(fig, "png", box)).decode()}
        drawing = as_drawing(fig, box)
    if drawing is not None:
        shown["image/svg+xml"] = drawing
    about = {"alt": " ".join(alt.split())}
    display(
        {**shown, "text/plain": repr(fig)},
        metadata=dict.fromkeys(shown, about),
        raw=True,
    )
    plt.close(fig)


def as_drawing(fig, box="tight"):
    """A figure as SVG, the same text each time.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
    box : matplotlib.transforms.Bbox or "tight"
        What is shown, in inches.

    Returns
    -------
    str or None
        None where it has more than `MOST_MARKS` marks or holds an image.
    """
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    # Letters as outlines: no font of the reader can break the layout.
    with plt.rc_context({"svg.fonttype": "path", "svg.hashsalt": "mebnb"}):
        svg = _saved(fig, "svg", box, metadata=nothing).decode()
    if "<image" in svg or len(MARK.findall(svg)) > MOST_MARKS:
        return None
    return GEOMETRY.sub(_rounded, svg[svg.index("<svg") :])


def _rounded(attribute):
    """Hundredths of a point are finer than any screen."""
    return LONG_NUMBER.sub(lambda n: f"{round(float(n[0]), 2):g}", attribute[0])


def _laid_out(fig):
    """Lay a figure out once for all formats; the box that holds it, in inches."""
    engine = fig.get_layout_engine()
    if engine is None:
        fig.draw_without_rendering()
    else:
        engine.execute(fig)
    fig.set_layout_engine(None)  # "none" has each format drawn twice
    # As tight as the pictures of Jupyter are.
    box = fig.get_tightbbox(fig.canvas.get_renderer())
    return box.padded(plt.rcParams["savefig.pad_inches"])


def _saved(fig, form, box, **options):
    content = io.BytesIO()
    fig.savefig(content, format=form, bbox_inches=box, dpi=fig.dpi, **options)
    return content.getvalue()
