"""Figures to step through: what is drawn is what a run did, and words stay words."""

import copy
import re
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest
from bs4 import BeautifulSoup

from mebnb import (
    away_step,
    blended_pairwise,
    core_set,
    frank_wolfe,
    minimum_enclosing_ball,
    pairwise,
    soft_ball,
)
from mebnb.experiments.sets import normal_cloud
from mebnb.experiments.soft_balls import spoiled_cloud
from mebnb.experiments.stepping import share_frames, step_frames, tolerance_frames
from mebnb.report.notebooks import list_notebooks, notebooks_folder
from mebnb.report.pages import build_pages
from mebnb.report.stepping import (
    MIMETYPE,
    Arrow,
    Circle,
    Crosses,
    Dots,
    Frame,
    Line,
    Rings,
    Steps,
    Words,
    drawn,
    step_through,
)
from mebnb.solvers import plain

sys.path.append(str(Path(__file__).with_name("browser")))
from payloads import PAYLOADS

CLOUD = normal_cloud(24, 2, 123)
ROUNDED = np.round(64 * CLOUD) / 64
ELEMENTS = {"style", "div", "input", "span", "label", "img", "svg", "path", "text"}
STORED = [
    output.data
    for path in list_notebooks(notebooks_folder())
    for cell in nbformat.read(path, 4).cells
    for output in cell.get("outputs", [])
    if MIMETYPE in output.get("data", {})
]


def states_of(solver, points, **options):
    states = []
    solver(points, callback=states.append, **options)
    return states


def two(line="Radius 2.5.", about="Two points."):
    return step_through("two", about, [Frame(line, [Dots("point", [[0, 0], [4, 2]])])])


# --- frames are what a run did -------------------------------------------------------
@pytest.mark.parametrize(
    ("solver", "by_the_book", "points", "tol", "rival"),
    [
        (frank_wolfe, plain.frank_wolfe, CLOUD, 1.0, None),
        (away_step, plain.away_step, CLOUD, 0.1, "away"),
        (pairwise, plain.pairwise, ROUNDED, 0.05, None),
        (blended_pairwise, plain.blended_pairwise, ROUNDED, 0.5, "local"),
    ],
)
def test_frames_tell_the_steps_of_the_plain_algorithm(
    solver, by_the_book, points, tol, rival
):
    frames = step_frames(points, states_of(solver, points, tol=tol), rival)
    _, steps = by_the_book(points, tol)
    assert len(frames) == len(steps) + 1
    u = np.eye(len(points))[0]
    for frame, step in zip(frames, [*steps, None], strict=True):
        center = u @ points
        d = plain.squared_distances(points, center)
        gamma, active = u @ d, np.flatnonzero(u)
        assert f"radius {d.max() ** 0.5:.3f}, gap {d.max() - gamma:.3f}" in frame.line
        if rival == "away":
            assert f"away gap {gamma - d[active].min():.3f}" in frame.line
        if rival == "local":
            assert f"local gap {np.ptp(d[active]):.3f}" in frame.line
        (rings,) = (mark for mark in frame.marks if isinstance(mark, Rings))
        assert rings.weights == pytest.approx(u[active])
        assert np.array_equal(rings.at, points[active])
        enclosing, trial = (m for m in frame.marks if isinstance(m, Circle))
        assert (enclosing.look, trial.look) == ("enclosing", "trial")
        assert enclosing.radius**2 == pytest.approx(d.max())
        assert trial.radius**2 == pytest.approx(gamma, abs=1e-12)
        named = [mark.words for mark in frame.marks if isinstance(mark, Words)]
        if step is None:
            assert named == [str(i) for i in active]
            assert frame.line.endswith("Here the run ends.")
            break
        ends = [end for end in (step.towards, step.away) if end is not None]
        assert named == [str(i) for i in sorted({*active, *ends})]
        (arrow,) = (mark for mark in frame.marks if isinstance(mark, Arrow))
        told = re.search(r"The arrow is drawn (\d+) times as long", frame.line)
        times = int(told[1]) if told else 1
        moved = np.array(arrow.through[1]) - center
        assert arrow.through[0] == pytest.approx(center)
        assert moved / times == pytest.approx(step.weights @ points - center)
        assert np.hypot(*moved) >= np.ptp(points, axis=0).max() / 20
        assert f"{step.alpha:.3f}" in frame.line.partition("Next:")[2]
        gone = step.away is not None and step.weights[step.away] == 0
        assert (
            (f"{step.away} is dropped" in frame.line) == gone == (arrow.look == "drop")
        )
        new = step.towards is not None and u[step.towards] == 0
        assert ("which is new" in frame.line) == new
        u = step.weights


def test_tolerances_are_runs_of_their_own():
    frames = tolerance_frames(CLOUD, [0.5, 0.01])
    for frame, eps in zip(frames, [0.5, 0.01], strict=True):
        ball = core_set(CLOUD, eps)
        (rings,) = (mark for mark in frame.marks if isinstance(mark, Rings))
        assert np.array_equal(rings.at, CLOUD[ball.support])
        assert f"{ball.iterations} step" in frame.line
        assert f"{ball.support.size} points stand for 24" in frame.line
        assert f"radius {ball.radius:.4f}" in frame.line


def test_radii_too_near_each_other_are_enlarged_in_a_corner():
    wide, close = tolerance_frames(CLOUD, [0.5, 0.001])
    assert not any(isinstance(mark, Line) for mark in wide.marks)
    lines = [mark for mark in close.marks if isinstance(mark, Line)]
    assert [line.look for line in lines] == ["enclosing", "smallest", "trial"]
    ball, best = core_set(CLOUD, 0.001), minimum_enclosing_ball(CLOUD, rtol=1e-12)
    times = int(re.search(r"radii are (\d+) times as far apart", close.line)[1])
    top, middle, bottom = (line.through[0][1] for line in lines)
    assert top - middle == pytest.approx(times * (ball.radius - best.radius))
    assert top - bottom == pytest.approx(times * (ball.radius - ball.lower_bound))
    for line in lines:  # no circle is there
        away = np.linalg.norm(np.array(line.through) - ball.center, axis=1)
        assert (away > ball.radius).all()


def test_shares_go_from_hard_to_soft():
    cloud = spoiled_cloud(40, 1)
    hard, soft = share_frames(cloud, [0.2])
    assert hard.line.startswith("Hard: radius") and "nothing outside" in hard.line
    ball = soft_ball(cloud, 0.2)
    (crosses,) = (mark for mark in soft.marks if isinstance(mark, Crosses))
    assert np.array_equal(crosses.at, cloud[ball.outside])
    assert f"radius {ball.radius:.3f}, {ball.outside.size} outside" in soft.line


# --- a drawing is its description ----------------------------------------------------
def test_places_are_drawn_on_one_scale_with_the_second_axis_up():
    frames = [
        Frame("a", [Dots("point", [[0, 0], [10, 0]])]),
        Frame("b", [Circle("trial", [5.0, 0.0], 5.0), Words("7", [10, 5])]),
    ]
    first, second = step_through("a", "A.", frames).description["frames"]
    # 7 % of 320 stay free at each edge; the circle is as high as it is wide.
    assert first["paths"] == {"point": "M22.4 160h0M297.6 160h0"}
    arcs = "M22.4 160a137.6 137.6 0 1 0 275.2 0a137.6 137.6 0 1 0 -275.2 0"
    assert second["paths"] == {"trial": arcs}
    # 18 farther out from the corner (297.6, 22.4).
    assert second["words"] == {"7": "310.3 9.7"}


def test_same_frames_give_the_same_output_and_the_first_shows():
    one, other = two(), two()
    assert one._repr_mimebundle_() == other._repr_mimebundle_()
    assert repr(one) == "Two points.\n1: Radius 2.5."
    states = states_of(frank_wolfe, CLOUD, tol=1.0)
    page = drawn(step_through("fw", "A.", step_frames(CLOUD, states)).description)
    buttons = BeautifulSoup(page, "html.parser")("input")
    assert [b.has_attr("checked") for b in buttons] == [True] + [False] * 7
    assert (
        len({b["id"] for b in buttons}) == 8 and len({b["name"] for b in buttons}) == 1
    )


@pytest.mark.parametrize("words", PAYLOADS)
def test_words_stay_words(words):
    frame = Frame(f"x{words}", [Words(f"y{words}", [0, 0]), Dots("point", [[1, 1]])])
    steps = step_through("a", f"z{words}", [frame])
    for html in (steps._repr_mimebundle_()["text/html"], drawn(steps.description)):
        soup = BeautifulSoup(html, "html.parser")
        kinds = {element.name for element in soup.find_all(True)}
        assert kinds <= ELEMENTS
        assert soup.select_one(".line").get_text().startswith("x")
        assert "$" not in html.replace("&#36;", "") and "\\" not in html


# --- what no page draws --------------------------------------------------------------
def broken(change):
    described = copy.deepcopy(two().description)
    change(described, described["frames"][0])
    return described


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda d, f: d.update(name='a" onclick="x'), "name must be"),
        (lambda d, f: d.update(about=" "), "about must be a text"),
        (lambda d, f: d.update(frames=[]), "frames must be a list of 1 to 40"),
        (lambda d, f: d.update(frames=[f] * 41), "frames must be a list of 1 to 40"),
        (lambda d, f: d.update(frames=["a"]), "frame must be a mapping"),
        (lambda d, f: f.update(line=3), "line must be a text"),
        (lambda d, f: f.update(paths=[]), "paths must be a mapping"),
        (lambda d, f: f.update(words="a"), "words must be a mapping"),
        (lambda d, f: f["paths"].update(banner="M0 0"), "look must be one of"),
        (lambda d, f: f["paths"].update(trial='"><b>'), "path must be"),
        (lambda d, f: f["paths"].update(trial=1), "path must be"),
        (lambda d, f: f["words"].update(a='1 "'), "place of words must be"),
    ],
)
def test_what_step_through_does_not_make_is_refused(change, told):
    with pytest.raises(ValueError, match=told):
        drawn(broken(change))


def test_description_that_is_none():
    with pytest.raises(ValueError, match="steps must be a mapping"):
        drawn(["a"])
    with pytest.raises(ValueError, match="name must be"):
        step_through("Two Words", "A.", [Frame("a", [])])
    with pytest.raises(ValueError, match="frames must be"):
        step_through("a", "A.", [])


# --- pages ---------------------------------------------------------------------------
def page_with(folder, data):
    cell = nbformat.v4.new_code_cell("f", execution_count=1)
    cell.outputs = [nbformat.v4.new_output("display_data", data)]
    title = nbformat.v4.new_markdown_cell("# Title")
    notebook = nbformat.v4.new_notebook(cells=[title, cell])
    return build_pages({"03_page": (notebook, folder)}, own=False)[0]


def test_page_draws_the_description_and_nothing_of_the_html(tmp_path):
    data = two("Radius 2.5.")._repr_mimebundle_()
    data["text/html"] = "<p>other words</p><svg><script>x()</script></svg>"
    page = page_with(tmp_path, data)
    body = BeautifulSoup(page.html, "html.parser").body
    assert "other words" not in body.get_text() and body.script is None
    figure = body.select_one("figure.steps")
    assert figure.figcaption.get_text() == "Figure 3.1 Two points."
    assert figure.select_one("svg path.point")["d"] == "M22.4 228.8h0M297.6 91.2h0"
    button = figure.select_one("input")
    assert button["type"] == "radio" and button.has_attr("checked")
    assert figure.select_one(".line").get_text() == "Radius 2.5."
    assert "viewBox" in page.html and page.html.count(".mebnb-steps {") == 2


def test_page_says_why_a_description_is_not_drawn(tmp_path):
    described = broken(lambda d, f: f["paths"].update(trial='M0"><script>x()</script>'))
    page = page_with(tmp_path, {MIMETYPE: described, "text/plain": "a"})
    body = BeautifulSoup(page.html, "html.parser").body
    assert "No figure: path must be letters" in body.get_text()
    assert body.svg is None and body.script is None and body.input is None


@pytest.mark.parametrize(
    "html",
    [
        "<input type=radio name=steps-a id=steps-a-0>",
        "<svg viewBox='0 0 9 9'><path d='M0 0h9'></path></svg>",
        "<label for=steps-a-1>forward</label>",
    ],
)
def test_html_of_a_notebook_holds_no_button_and_no_drawing(tmp_path, html):
    page = page_with(tmp_path, {"text/html": f"<p>before</p>{html}"})
    cell = BeautifulSoup(page.html, "html.parser").select_one(".output.rich")
    assert cell.select("input, svg, path, label") == []


# --- what is stored ------------------------------------------------------------------
def test_stored_figures_are_drawn_as_they_would_be_today():
    names = {data[MIMETYPE]["name"] for data in STORED}
    assert len(STORED) == len(names) == 7
    for data in STORED:
        bundle = Steps(data[MIMETYPE])._repr_mimebundle_()
        assert data["text/html"] == bundle["text/html"]
        assert len(data["text/html"]) < 60_000
        assert 8 <= len(data[MIMETYPE]["frames"]) <= 15
