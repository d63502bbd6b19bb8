"""Figures are drawings where they have few marks; a page shows drawings of shapes alone."""

import base64
import io
import itertools
import re
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from mebnb import plots
from mebnb.plots import showing
from mebnb.plots.looks import COLORS, DARK, _width, legend_below, panel_grid
from mebnb.plots.showing import MOST_MARKS, as_drawing
from mebnb.report import stepping
from mebnb.report.drawings import (
    address_of,
    drawing_at,
    drawn,
    first_panel,
    leave_out_refused,
    on_dark,
)

STYLE = Path(showing.__file__).parents[1] / "report/templates/mebnb/style.css"
HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
    'width="72pt" height="36pt" viewBox="0 0 72 36">'
)
SQUARE = '<path id="p" d="M 0 0 L 9 0 L 9 9 z" style="fill: #cc3311"/>'
HOSTILE = [
    "<script>window.P=1</script>",
    "<foreignObject><p xmlns='http://www.w3.org/1999/xhtml'>x</p></foreignObject>",
    "<image href='https://evil.example/a.png' width='9' height='9'/>",
    "<a xlink:href='javascript:alert(1)'><path d='M 0 0'/></a>",
    "<path d='M 0 0' onclick='alert(1)'/>",
    "<path d='M 0 0' style='fill: url(https://evil.example/f)'/>",
    "<path d='M 0 0' style='fill: UrL(#p)'/>",
    "<path d='M 0 0' fill='\\75rl(//evil.example)'/>",
    "<path d='M 0 0' clip-path='url(//evil.example#c)'/>",
    "<use xlink:href='https://evil.example/s.svg#p'/>",
    "<use href='#p'/>",
    "<use id='u' xlink:href='#u'/>",
    "<g id='g'><use xlink:href='#p'/></g><use xlink:href='#g'/>",
    "<animate attributeName='x' to='9'/>",
    "<set attributeName='href' to='javascript:alert(1)'/>",
    "<text>words</text>",
    "words",
    "<path d='M 0 0' xml:base='https://evil.example/'/>",
    "<x:script xmlns:x='http://www.w3.org/1999/xhtml'>alert(1)</x:script>",
    "<?xml-stylesheet href='https://evil.example/s.css'?><text/>",
    "&entity;",
    "<g>" * 3000 + "</g>" * 3000,
    "\ud800",
]


def a_figure(dots=5):
    with plots.style():
        fig, (left, right) = panel_grid(2, height=2.0)
    left.plot(np.arange(dots), "o", color=COLORS["red"])
    right.plot([0, 1], [1 / 3, 2 / 3], color=COLORS["black"])
    return fig


# --- legends ---------------------------------------------------------------------------


def labelled(count, label):
    with plots.style():
        fig, axes = panel_grid(count, height=2.0)
        for ax in axes:
            ax.plot([0, 1], label=label)
        legend_below(fig, axes)
    return fig


def test_a_legend_fills_the_place_that_panels_leave_free():
    fig = labelled(3, "short")
    assert fig.legends == [] and len(fig.axes) == 4 and fig.axes[3].get_legend()
    assert not fig.axes[3].axison
    for count, label in (
        (2, "short"),
        (1, "short"),
        (3, "a label of too many letters" * 2),
    ):
        fig = labelled(count, label)
        assert len(fig.legends) == 1 and len(fig.axes) == count
    plt.close("all")


def test_letters_of_a_formula_that_nobody_sees_take_no_room():
    assert _width([r"$\sqrt{\gamma}$ so"], 1) == _width([" so"], 1)
    assert _width(["aa", "b", "cccc"], 2) == pytest.approx(2 * 0.6 + 0.075 * (2 + 4))


# --- in the notebook -----------------------------------------------------------------


def test_drawing_is_the_same_text_each_time():
    one, two = as_drawing(a_figure()), as_drawing(a_figure())
    assert one == two and one.startswith("<svg")
    assert "matplotlib.org" not in one and "<text" not in one
    assert not re.search(r' [dxy]="[^"]*\.\d{3}', one)
    plt.close("all")


def test_figure_of_many_marks_or_with_an_image_is_no_drawing():
    few, many = a_figure(MOST_MARKS - 100), a_figure(MOST_MARKS + 1)
    assert as_drawing(few) is not None and as_drawing(many) is None
    few.axes[1].imshow(np.eye(2))
    assert as_drawing(few) is None
    plt.close("all")


def test_shown_figure_has_both_pictures_and_its_words(monkeypatch):
    shown = []
    monkeypatch.setattr(
        showing, "display", lambda data, **how: shown.append((data, how))
    )
    plots.show(a_figure(), alt="Dots \n and a line.")
    ((data, how),) = shown
    assert set(data) == {"image/png", "image/svg+xml", "text/plain"}
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    words = {"alt": "Dots and a line."}
    assert how["metadata"] == {"image/png": words, "image/svg+xml": words}
    assert not plt.get_fignums()
    with pytest.raises(ValueError, match="alt must say"):
        plots.show(a_figure(), alt=" ")
    plt.close("all")


@pytest.mark.parametrize("style", [plots.style, plt.rc_context])
def test_a_figure_is_drawn_once_for_each_format(monkeypatch, style):
    shown, draws, draw = [], [], Figure.draw

    def counted(figure, *args):
        draws.append(figure)
        draw(figure, *args)

    monkeypatch.setattr(Figure, "draw", counted)
    monkeypatch.setattr(showing, "display", lambda data, **_: shown.append(data))
    with style():
        fig = a_figure()
        plots.show(fig, alt="Dots and a line.")
        assert draws == [fig, fig]
        jupyters = _as_jupyter_draws(a_figure())
    with Image.open(io.BytesIO(base64.b64decode(shown[0]["image/png"]))) as picture:
        assert np.array_equal(np.asarray(picture), jupyters)
    plt.close("all")


def test_a_figure_without_a_layout_is_measured_as_it_is():
    plain, same = (plt.subplots(layout="none")[0] for _ in range(2))
    assert np.array_equal(
        _pixels(plain, showing._laid_out(plain)), _as_jupyter_draws(same)
    )
    plt.close("all")


def _as_jupyter_draws(fig):
    return _pixels(fig, "tight")


def _pixels(fig, box):
    with Image.open(io.BytesIO(showing._saved(fig, "png", box))) as picture:
        return np.asarray(picture)


@pytest.mark.parametrize("count", range(1, 8))
def test_at_most_two_panels_stand_in_a_row(count):
    with plots.style():
        fig, axes = panel_grid(count, height=2.0)
    fig.canvas.draw()
    rows = [round(ax.get_position().y0, 2) for ax in axes]
    assert len(axes) == count and max(map(rows.count, rows)) <= 2
    plt.close(fig)


# --- on the page ---------------------------------------------------------------------


def test_drawing_of_a_figure_is_shown_with_names_for_its_colours():
    address, size = drawn(as_drawing(a_figure()))
    svg = drawing_at(address)
    assert size[0] / size[1] > 1.5
    assert "var(--ccc3311)" in svg and f"--ccc3311:{DARK['#cc3311']};" in svg
    assert re.search(r"prefers-color-scheme:dark\){:root{[^}]*--cffffff:#16191d;", svg)
    # No colour stands outside of the style.
    assert not re.search(r'style="[^"]*#[0-9a-f]{6}', svg)
    plt.close("all")


@pytest.mark.parametrize("inside", HOSTILE, ids=range(len(HOSTILE)))
def test_drawing_with_more_than_shapes_is_refused(inside):
    assert drawn(f"{HEAD}{SQUARE}</svg>") is not None
    assert drawn(f"{HEAD}{SQUARE}{inside}</svg>") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no drawing",
        "<svg/>",
        f"{HEAD}",
        HEAD.replace('width="72pt"', "") + "</svg>",
        HEAD.replace("72pt", "100%") + "</svg>",
        HEAD.replace("72pt", "9" * 400) + "</svg>",
        {"a": 1},
        ["<svg", 3],
        None,
    ],
)
def test_what_is_no_drawing_is_refused(text):
    assert drawn(text) is None


def test_no_entity_and_no_style_of_its_own_survives():
    before = '<!DOCTYPE svg [<!ENTITY a "b">]>'
    inside = "<style>@import '//evil.example';</style><metadata><x/></metadata>"
    address, size = drawn(f"{before}{HEAD}{inside}{SQUARE}</svg>")
    assert size == (96, 48)
    assert "evil" not in drawing_at(address) and "metadata" not in drawing_at(address)
    assert drawn(f"{before}{HEAD}&a;</svg>") is None


def test_output_falls_back_to_what_else_it_has():
    cell = nbformat.v4.new_code_cell("x")
    kept = {"image/svg+xml": f"{HEAD}{SQUARE}</svg>", "text/plain": "kept"}
    refused = {"image/svg+xml": f"{HEAD}<script/></svg>", "text/plain": "refused"}
    cell.outputs = [
        nbformat.v4.new_output("display_data", data) for data in (kept, refused)
    ]
    leave_out_refused(nbformat.v4.new_notebook(cells=[cell]))
    assert [sorted(o.data) for o in cell.outputs] == [sorted(kept), ["text/plain"]]


def test_small_picture_is_the_first_panel():
    address, size = drawn(as_drawing(a_figure()))
    small, narrow = first_panel(address)
    root = ElementTree.fromstring(drawing_at(small))
    groups = [e.get("id") for e in root.iter() if (e.get("id") or "")[:5] == "axes_"]
    assert groups == ["axes_1"] and narrow[0] < 0.6 * size[0]
    used = set(re.findall(r'href="#([^"]+)"', drawing_at(small)))
    assert used <= {e.get("id") for e in root.iter()}
    whole = drawn(f"{HEAD}{SQUARE}</svg>")
    assert first_panel(whole[0])[1] == whole[1]
    plt.close("all")


@pytest.mark.parametrize("address", ["", "data:image/png;base64,AA", address_of("")])
def test_other_addresses_hold_no_drawing(address):
    assert drawing_at(address) == ""
    assert drawing_at("data:image/svg+xml;base64,é") == ""


# --- colours -------------------------------------------------------------------------


def luminance(color):
    channels = np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(
        channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4
    )
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def test_every_colour_can_be_seen_on_dark_paper():
    paper = DARK["#ffffff"]
    assert set(DARK) == {*COLORS.values(), "#ffffff"}
    for name, color in COLORS.items():
        # What words are drawn in asks for 4.5, lines and marks for 3.
        assert contrast(DARK[color], paper) >= 4.5, name
    for one, other in itertools.combinations(COLORS.values(), 2):
        assert DARK[one] != DARK[other]


def test_dark_paper_and_ink_are_those_of_the_pages():
    dark = STYLE.read_text().split("prefers-color-scheme: dark", 1)[1]
    assert f"--paper: {DARK['#ffffff']};" in dark
    assert f"--ink: {DARK['#000000']};" in dark
    assert f"--soft: {DARK[COLORS['grey']]};" in dark


def test_drawings_to_step_through_have_the_colours_of_figures():
    light, dark, _, drawing = stepping.styles()
    assert dark.startswith("@media screen and (prefers-color-scheme: dark)")
    for name, color in COLORS.items():
        assert f"--{name}: {color};" in light
        assert f"--{name}: {DARK[color]};" in dark
    # Beside white, under what a notebook shows, it has no colour of its own.
    assert set(re.findall(r"#[0-9a-f]{3,6}\b", drawing)) == {"#fff"}
    assert set(re.findall(r"var\(--(\w+)\)", drawing)) <= set(COLORS)
    assert not any(f"--{name}:" in STYLE.read_text() for name in COLORS)


def test_other_colours_turn_dark_and_light_about():
    greys = ["#101010", "#808080", "#b0b0b0", "#f0f0f0"]
    turned = [luminance(on_dark(grey)) for grey in greys]
    assert turned == sorted(turned, reverse=True)
    assert on_dark("#ffffff") == DARK["#ffffff"]
