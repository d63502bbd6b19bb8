"""Every page of the report as a browser shows it, on a desk, a phone and paper."""

import functools
import io
import re
from urllib.parse import unquote, urldefrag, urlparse

import nbformat
import pytest
from bs4 import BeautifulSoup
from formulas import written_formulas
from payloads import DRAWING
from PIL import Image

from mebnb.documents import all_entries
from mebnb.plots.looks import DARK
from mebnb.report.document import POLICY
from mebnb.report.making import export_files, export_stored
from mebnb.report.notebooks import list_notebooks, notebooks_folder

pytestmark = pytest.mark.browser

NOTEBOOKS = list_notebooks(notebooks_folder())
OURS = [
    "index",
    "errata",
    "references",
    "functions",
    "search",
    "status",
]  # no notebooks
PAGES = [*OURS, *(path.stem for path in NOTEBOOKS)]
LARGEST = 3_000_000  # bytes of a page


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The committed notebooks as pages."""
    made = export_stored(
        NOTEBOOKS, tmp_path_factory.mktemp("site"), statements=all_entries()
    )
    assert made.problems == []
    return made.index.parent


# One worker tests a page, which is opened once.
@pytest.fixture(
    scope="module",
    params=[pytest.param(page, marks=pytest.mark.xdist_group(page)) for page in PAGES],
)
def opened(request, site, chromium):
    """A page at 1280 px, and what it asked for and complained of on the way."""
    file = site / f"{request.param}.html"
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.asked, page.complaints, page.file = [], [], file
    page.on("request", lambda sent: page.asked.append(sent.url))
    page.on("console", lambda said: page.complaints.append(f"{said.type}: {said.text}"))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.goto(file.as_uri())
    yield page
    context.close()


def test_nothing_is_asked_of_another_host(opened):
    foreign = [
        url for url in opened.asked if urlparse(url).scheme not in ("file", "data")
    ]
    assert foreign == []
    assert all(
        opened.file.parent.as_uri() in u for u in opened.asked if u[:5] == "file:"
    )


def test_console_is_silent(opened):
    assert opened.complaints == []


def test_policy_lets_a_page_show_itself_and_nothing_else(opened):
    policy = opened.locator("meta[http-equiv=Content-Security-Policy]")
    said, _, script = policy.get_attribute("content").partition("; script-src ")
    assert said == POLICY
    assert bool(script) == (opened.file.stem == "search")
    # It holds: the browser refuses what it forbids.
    refused = opened.evaluate(
        "new Promise(resolve => {"
        " addEventListener('securitypolicyviolation', e => resolve(e.effectiveDirective));"
        " document.head.append(Object.assign(document.createElement('script'),"
        " {textContent: 'window.P = 1'})); setTimeout(() => resolve('nothing'), 5000); })"
    )
    assert refused == "script-src-elem" and opened.evaluate("window.P") is None
    opened.complaints.clear()


def test_page_is_small_enough_to_send(opened):
    assert opened.file.stat().st_size < LARGEST


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_no_barrier_is_found_by_axe(opened, scheme, width):
    from axe_playwright_python.sync_playwright import Axe

    opened.emulate_media(color_scheme=scheme)
    opened.set_viewport_size({"width": width, "height": 900})
    # Where a shade lies behind words, axe does not judge their contrast.
    plain = opened.add_style_tag(
        content=".table, .equation, pre.output { background: none !important; }"
    )
    found = Axe().run(opened).response["violations"]
    plain.evaluate("e => e.remove()")
    opened.emulate_media(color_scheme="light")
    opened.set_viewport_size({"width": 1280, "height": 900})
    assert [(v["id"], v["nodes"][0]["html"][:200]) for v in found] == []


@pytest.mark.parametrize("width", [1280, 390])
def test_table_wider_than_its_place_shows_that_it_goes_on(opened, width):
    opened.set_viewport_size({"width": width, "height": 900})
    silent = opened.evaluate(
        "[...document.querySelectorAll('main .table')].filter(e =>"
        " e.scrollWidth > e.clientWidth + 1 && !(e.tabIndex === 0"
        " && getComputedStyle(e).backgroundAttachment.includes('local')"
        " && getComputedStyle(e.querySelector('.first')).position === 'sticky'))"
        ".map(e => e.getAttribute('aria-label'))"
    )
    opened.set_viewport_size({"width": 1280, "height": 900})
    assert silent == []


def test_headers_have_at_most_two_lines(opened):
    tall = opened.evaluate(
        "[...document.querySelectorAll('main thead th.folded')].filter(e => {"
        " const s = getComputedStyle(e);"
        " const range = document.createRange(); range.selectNodeContents(e);"
        " return range.getBoundingClientRect().height > 2.2 * parseFloat(s.lineHeight); })"
        ".map(e => e.textContent)"
    )
    assert tall == []


def test_formulas_shown_are_the_formulas_written(opened):
    # A long formula goes on in maths of its own; a table's caption is the text before.
    begun = "math:not(math + math)"
    again = opened.locator(f".of-table > figcaption {begun}").count()
    shown = opened.locator(f"main {begun}").count() - again
    text = opened.evaluate(
        "(() => { const m = document.querySelector('main').cloneNode(true);"
        " m.querySelectorAll('pre, code, math').forEach(e => e.remove());"
        " return m.textContent; })()"
    )
    assert "$" not in text and r"\begin" not in text
    if opened.file.stem in OURS:
        return
    source = next(path for path in NOTEBOOKS if path.stem == opened.file.stem)
    assert shown == written_formulas(nbformat.read(source, 4))
    assert opened.locator("math merror").count() == 0
    flat = opened.evaluate(
        "[...document.querySelectorAll('main math')]"
        ".filter(m => m.getBoundingClientRect().height < 2 && m.checkVisibility()).length"
    )
    assert flat == 0


def test_images_are_loaded_and_described(opened):
    images = opened.evaluate(
        "[...document.images].map(i => [i.naturalWidth, i.getAttribute('width'),"
        " i.getAttribute('height'), i.alt, i.src.slice(0, 60)])"
    )
    for natural, width, height, alt, src in images:
        assert natural > 0 and width and height and alt.strip(), src


def test_figure_is_enlarged_and_left_by_keyboard(site, chromium):
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    page.goto((site / "03_away_steps.html").as_uri())
    picture = page.locator("figure.output .view a[title]").first
    small = picture.locator("img").bounding_box()["width"]
    picture.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**#figure-3.2-large")  # 3.1 is stepped through
    large = picture.locator("img").bounding_box()["width"]
    assert small <= 390 and large > 2 * small
    back = page.locator(".view:target .back")
    assert back.inner_text() == "Back to the page"
    back.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**#figure-3.2")
    assert picture.locator("img").bounding_box()["width"] == small
    page.close()


def corner(page):
    """The colour of the first pixel of a page's first drawing."""
    drawing = page.locator('figure.output img[src^="data:image/svg"]').first
    with Image.open(io.BytesIO(drawing.screenshot())) as seen:
        return "#{:02x}{:02x}{:02x}".format(*seen.convert("RGB").getpixel((3, 3)))


def test_drawing_follows_the_scheme_and_paper_is_white(chromium, tmp_path):
    path = tmp_path / "01_drawing.ipynb"
    drawing = DRAWING.format("", '<path d="M 0 0 h 90 v 45 h -90 z" fill="#ffffff"/>')
    cell = nbformat.v4.new_code_cell("show()", execution_count=1)
    cell.outputs = [
        nbformat.v4.new_output("display_data", {"image/svg+xml": drawing}),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)
    files, _ = export_files([path], tmp_path)
    page = chromium.new_page()
    page.goto(files[0].as_uri())
    for medium, scheme, color in (
        ("screen", "light", "#ffffff"),
        ("screen", "dark", DARK["#ffffff"]),
        ("print", "dark", "#ffffff"),
    ):
        page.emulate_media(media=medium, color_scheme=scheme)
        assert corner(page) == color, (medium, scheme)
    page.close()


def test_every_link_resolves(opened):
    links = opened.evaluate("[...document.links].map(a => a.getAttribute('href'))")
    dead = [link for link in links if not _resolves(link, opened.file)]
    assert dead == []


def _resolves(link, file):
    address, anchor = urldefrag(link)
    if urlparse(address).scheme in ("http", "https", "mailto"):
        return True
    target = file.parent / unquote(address) if address else file
    if not target.is_file():
        return False
    # As browsers look for it: first as it stands, then decoded.
    return not anchor or bool({anchor, unquote(anchor)} & _anchors(target))


@functools.cache
def _anchors(file):
    found = BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")
    return {element["id"] for element in found.select("[id]")}


def test_nothing_is_wider_than_a_phone(opened):
    opened.set_viewport_size({"width": 390, "height": 844})
    wide = opened.evaluate("document.documentElement.scrollWidth")
    opened.set_viewport_size({"width": 1280, "height": 900})
    assert wide <= 390


def test_print_layout_holds_everything(opened):
    opened.emulate_media(media="print")
    opened.set_viewport_size({"width": 700, "height": 1000})  # A4 less its margins
    clipped = opened.evaluate(
        "[...document.querySelectorAll('main pre, main table, main img, main math')]"
        ".filter(e => e.checkVisibility()"
        " && e.getBoundingClientRect().right > window.innerWidth + 1)"
        ".map(e => e.outerHTML.slice(0, 80))"
    )
    opened.emulate_media(media="screen")
    opened.set_viewport_size({"width": 1280, "height": 900})
    assert clipped == []
    printed = opened.pdf(format="A4")
    sheets = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert sheets >= (1 if opened.file.stem in OURS else 2)


def test_search_finds_words_and_leads_to_their_place(site, chromium):
    page = chromium.new_page()
    page.goto((site / "search.html").as_uri())
    page.get_by_label("Words in headings").fill("linear convergence")
    first = page.locator(".found a").first
    assert "convergence" in first.inner_text().lower()
    assert page.get_by_role("status").inner_text().endswith("places")
    assert not page.locator("#index").is_visible()
    first.click()
    assert "#" in page.url and not page.url.endswith("search.html")
    page.close()


def test_search_page_without_script_is_an_index(site, chromium):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "search.html").as_uri())
    assert page.locator("input").count() == 0
    # Each chapter says most of several terms.
    assert page.locator("#index .terms a").count() > 5 * len(NOTEBOOKS)
    context.close()


BROKEN = """
[...document.querySelectorAll('main .table :is(td, th):not(.endless)')].flatMap(cell => {
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), found = [];
  for (let node; node = walker.nextNode();)
    for (const word of node.data.matchAll(/[\\p{L}\\d]+/gu)) {
      const range = document.createRange();
      range.setStart(node, word.index); range.setEnd(node, word.index + word[0].length);
      const tops = new Set([...range.getClientRects()].map(r => Math.round(r.top)));
      if (tops.size > 1 && !node.parentElement.closest('math')) found.push(word[0]);
    }
  return found;
})"""


def test_no_word_of_a_printed_table_is_broken(opened):
    opened.emulate_media(media="print")
    opened.set_viewport_size({"width": 673, "height": 1000})  # A4 less its margins
    broken = opened.evaluate(BROKEN)
    opened.emulate_media(media="screen")
    opened.set_viewport_size({"width": 1280, "height": 900})
    assert broken == []


@pytest.fixture
def errata(site, chromium):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "errata.html").as_uri())
    yield page
    context.close()


def shown(page):
    return page.locator("article.statement:visible")


def test_errata_show_what_is_chosen_without_a_script(errata):
    entries = all_entries()
    assert shown(errata).count() == sum(e.verdict != "HOLDS" for e in entries)
    errata.get_by_role("radio", name="Slides").focus()
    errata.keyboard.press("Space")
    errata.get_by_role("checkbox", name="HOLDS").focus()
    errata.keyboard.press("Space")
    assert shown(errata).count() == sum(e.document == "slides" for e in entries)
    for verdict in ("LOST IN THE SCAN", "AMBIGUOUS", "HARMLESS", "HOLDS"):
        errata.get_by_role("checkbox", name=verdict).uncheck()
    ids = [e.id for e in entries if (e.document, e.verdict) == ("slides", "WRONG")]
    assert [card.get_attribute("id") for card in shown(errata).all()] == ids
    assert errata.locator("h2:visible").count() == 1


def test_link_to_a_statement_shows_it_whatever_is_chosen(errata, site):
    held = next(e.id for e in all_entries() if e.verdict == "HOLDS")
    errata.goto(f"{(site / 'errata.html').as_uri()}#{held}")
    errata.get_by_role("radio", name="Paper").check()
    assert errata.locator(f"[id='{held}']").is_visible()


def test_errata_can_be_reached_from_the_pages_that_speak_of_them(site):
    for name in ("index", "search", "00_overview"):
        soup = BeautifulSoup((site / f"{name}.html").read_text(), "html.parser")
        assert soup.select('nav a[href="errata.html"]'), name
    overview = BeautifulSoup((site / "00_overview.html").read_text(), "html.parser")
    assert overview.select('main a[href="errata.html"]')
