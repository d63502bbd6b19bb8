"""A figure to step through, in a page: with the keyboard, on paper, without a script."""

import nbformat
import pytest

from mebnb import away_step
from mebnb.experiments.sets import normal_cloud
from mebnb.experiments.stepping import step_frames
from mebnb.report.making import export_files
from mebnb.report.notebooks import write_notebook
from mebnb.report.stepping import step_through

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("steps")]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A page with one such figure of fifteen frames."""
    folder = tmp_path_factory.mktemp("steps")
    points, states = normal_cloud(24, 2, 123), []
    away_step(points, tol=0.1, callback=states.append)
    frames = step_frames(points, states, "away")
    assert len(frames) == 15
    cell = nbformat.v4.new_code_cell("f", execution_count=1)
    steps = step_through("away-step", "Away steps on 24 points.", frames)
    cell.outputs = [nbformat.v4.new_output("display_data", steps._repr_mimebundle_())]
    title = nbformat.v4.new_markdown_cell("# Title\n\nText.")
    write_notebook(nbformat.v4.new_notebook(cells=[title, cell]), folder / "03_a.ipynb")
    files, _ = export_files([folder / "03_a.ipynb"], folder)
    return files[0]


@pytest.fixture
def page(file, chromium):
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(file.as_uri())
    yield page
    context.close()


def shown(page):
    """Which frames are seen, counted from 1."""
    seen = page.locator(".mebnb-steps .frame").evaluate_all(
        "all => all.map(e => e.checkVisibility())"
    )
    return [number for number, one in enumerate(seen, start=1) if one]


def test_arrow_keys_go_from_frame_to_frame(page):
    assert shown(page) == [1]
    page.keyboard.press("Tab")
    while page.evaluate("document.activeElement.type") != "radio":
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert shown(page) == [2]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert shown(page) == [2]
    assert "t = 1:" in page.locator(".line:visible").inner_text()


def test_labels_go_forward_and_back(page):
    page.locator("label:visible", has_text="forward").click()
    page.locator("label:visible", has_text="forward").click()
    assert shown(page) == [3]
    page.locator("label:visible", has_text="back").click()
    assert shown(page) == [2]


def test_no_script_is_needed(file, chromium):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    page.locator("label:visible", has_text="forward").click()
    assert page.locator(".line:visible").inner_text().startswith("t = 1:")
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_drawing_has_ink_that_is_seen(page, scheme):
    page.emulate_media(color_scheme=scheme)
    ink, paper = page.evaluate(
        "[getComputedStyle(document.querySelector('.mebnb-drawing')).stroke,"
        " getComputedStyle(document.body).backgroundColor]"
        ".map(c => c.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0))"
    )
    assert abs(ink - paper) > 400


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_barrier_is_found_by_axe(page, scheme, width):
    from axe_playwright_python.sync_playwright import Axe

    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    found = Axe().run(page).response["violations"]
    assert [(v["id"], v["nodes"][0]["html"][:200]) for v in found] == []


def test_figure_fits_a_phone(page):
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    tops = page.locator(".mebnb-steps > input").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect().top)"
    )
    assert len(set(tops)) == 1  # the buttons of fifteen frames stand in one row


def test_paper_shows_all_frames_and_no_button(page):
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 700, "height": 1000})  # A4 less its margins
    assert shown(page) == list(range(1, 16))
    assert page.locator(".mebnb-steps :is(input, label):visible").count() == 0
    right = page.locator(".mebnb-steps .frame").evaluate_all(
        "all => Math.max(...all.map(e => e.getBoundingClientRect().right))"
    )
    assert right <= 700
