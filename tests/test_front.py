"""The first page: its numbers are recorded ones; the search knows every section."""

import copy
import json
from types import SimpleNamespace

import nbformat
import pytest
from bs4 import BeautifulSoup

from mebnb.report import ReportError
from mebnb.report.front import BOOK, write_front
from mebnb.report.notebooks import list_notebooks, notebooks_folder
from mebnb.report.pages import build_pages, chapters_of
from mebnb.report.recording import KEY
from mebnb.report.reference import parts_of
from mebnb.report.search import _said_by, _where, write_search

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9"
    "awAAAABJRU5ErkJggg=="
)
FINDING = """
about = ["A *ball*."]
[[findings]]
text = "The radius is {03 radius .2f}."
figure = "03 A dot"
[[parts]]
title = "Part"
chapters = ["03"]
[results]
03 = "It takes {03 steps .0f} steps."
[[paths]]
title = "All"
chapters = ["03", "99"]
"""


@pytest.fixture
def pages(tmp_path):
    """A chapter that records a radius and 7 steps and shows a figure."""
    cell = nbformat.v4.new_code_cell("show()", id="one", execution_count=1)
    cell.outputs = [
        nbformat.v4.new_output(
            "display_data",
            {"image/png": PNG},
            metadata={"image/png": {"alt": "A dot."}},
        ),
        nbformat.v4.new_output(
            "display_data",
            {"text/plain": "recorded"},
            metadata={KEY: {"radius": 2.516, "steps": 7}},
        ),
    ]
    text = nbformat.v4.new_markdown_cell(
        "# Away\n\nWords. More.\n\n## Zigzag `</script>`\n\nIt <b>falls</b>."
    )
    notebook = nbformat.v4.new_notebook(cells=[text, cell])
    return build_pages({"03_away": (notebook, tmp_path)})


def front_of(pages, folder, book):
    (folder / BOOK).write_text(book)
    path, problems = write_front(folder, pages, folder)
    return BeautifulSoup(path.read_text(), "html.parser").main, problems


def test_numbers_of_the_first_page_are_those_recorded(pages, tmp_path):
    main, problems = front_of(pages, tmp_path, FINDING)
    assert problems == []
    finding = main.select_one(".findings li")
    assert finding.p.get_text() == "The radius is 2.52. Figure 3.1"
    assert finding.a["href"] == "03_away.html#figure-3.1"
    assert finding.img["alt"] == "A dot."
    assert main.select_one(".cards li p").get_text() == "It takes 7 steps."
    assert [a["href"] for a in main.select(".paths a")] == ["03_away.html"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("03 radius", "03 height", "book.toml, notebook 03 records no height"),
        ("A dot", "A line", "book.toml, notebook 03 has no figure 'A line'"),
        (
            "radius .2f",
            "radius .2q",
            "book.toml, notebook 03, radius: Unknown format code 'q' for object of type 'float'",
        ),
        (
            "{03 radius",
            "{3 radius",
            "book.toml, 'The radius is {3 radius .2f}.' has a brace that names no value",
        ),
    ],
)
def test_finding_that_nothing_bears_out_fails_the_report(
    old, new, problem, pages, tmp_path
):
    main, problems = front_of(pages, tmp_path, FINDING.replace(old, new))
    assert problems == [problem]
    assert main.select(".findings li") == []


@pytest.mark.parametrize(
    ("stop", "links", "told"),
    [
        ("03 Zigzag </script>", 1, []),
        ("03 Zigzag", 0, ["book.toml, notebook 03 has no section 'Zigzag'"]),
        ("99 Zigzag", 0, []),
    ],
)
def test_reading_paths_name_sections(pages, tmp_path, stop, links, told):
    book = f'[[paths]]\ntitle = "Short"\nchapters = ["{stop}"]'
    main, problems = front_of(pages, tmp_path, book)
    assert problems == told
    found = main.select(".paths a")
    assert len(found) == links
    for link in found:
        file, _, name = link["href"].partition("#")
        assert file == "03_away.html" and pages[0].soup.main.find(id=name)


def test_verdicts_of_statements_are_counted(pages, tmp_path):
    from types import SimpleNamespace

    verdicts = ["WRONG", "HOLDS", "HOLDS", "AMBIGUOUS"]
    statements = [SimpleNamespace(verdict=verdict) for verdict in verdicts]
    path, _ = write_front(tmp_path, pages, tmp_path, statements)
    assert (
        "Of 4 statements examined 1 fail as printed, 0 lost a sign or an index in the scan, "
        "1 hold in one reading, 0 hold but for a slip, and 2 hold as they stand."
    ) in BeautifulSoup(path.read_text(), "html.parser").main.get_text()
    path, _ = write_front(tmp_path, pages, tmp_path)
    assert "statements examined" not in path.read_text()


def test_finding_of_a_notebook_that_is_not_asked_for_is_left_out(pages, tmp_path):
    main, problems = front_of(pages, tmp_path, FINDING.replace("{03 r", "{04 r"))
    assert problems == [] and main.select(".findings li") == []


def test_sentences_are_of_the_notebooks_own_parameters(pages, tmp_path, monkeypatch):
    monkeypatch.setattr(type(pages[0]), "changed", {"seed": 5})
    main, problems = front_of(pages, tmp_path, FINDING)
    assert problems == [] and main.select(".findings li") == []
    assert main.select_one(".cards li p").get_text() == pages[0].summary


def test_card_shows_the_picture_that_the_notebook_chose(pages, tmp_path):
    notebook = pages[0].notebook
    chosen = copy.deepcopy(notebook.cells[1])
    chosen["id"], chosen.metadata["tags"] = "two", ["picture"]
    chosen.outputs = chosen.outputs[:1]
    chosen.outputs[0].metadata["image/png"]["alt"] = "The chosen dot."
    first = build_pages({"03_away": (notebook, tmp_path)})
    notebook.cells.append(chosen)
    with_choice = build_pages({"03_away": (notebook, tmp_path)})
    for made, alt in ((first, "A dot."), (with_choice, "The chosen dot.")):
        main, _ = front_of(made, tmp_path, FINDING)
        assert main.select_one(".cards img")["alt"] == alt


def test_book_that_cannot_be_read_is_refused(pages, tmp_path):
    with pytest.raises(ReportError, match="book.toml is not TOML"):
        front_of(pages, tmp_path, "about = [")


def test_every_chapter_of_the_clone_has_a_result_and_a_part():
    import tomllib

    folder = notebooks_folder()
    book = tomllib.loads((folder / BOOK).read_text(encoding="utf-8"))
    listed = [number for part in book["parts"] for number in part["chapters"]]
    assert len(listed) == len(set(listed)) and set(listed) == set(book["results"])
    assert set(listed) == {path.name[:2] for path in list_notebooks(folder)}


def test_search_knows_headings_and_the_text_below_them(pages, tmp_path):
    before = [str(page.soup) for page in pages]
    path = write_search(tmp_path, pages, chapters_of(pages))
    assert [str(page.soup) for page in pages] == before
    soup = BeautifulSoup(path.read_text(), "html.parser")
    script = soup.script.get_text()
    places = json.loads(script.partition("const PLACES = ")[2].partition(";\n")[0])
    assert places[0] == ["Away", "03 Away", "03_away.html#Away", " Words. More."]
    zigzag = next(place for place in places if place[0].startswith("Zigzag"))
    assert zigzag[2].startswith("03_away.html#Zigzag")
    assert zigzag[3].strip().startswith("It falls .")
    assert any(place[2] == "functions.html#away_step" for place in places)


def test_search_says_powers_with_a_sign_and_numbers_whole():
    html = (
        "<p>From <math><msup><mn>10</mn><mrow><mo>−</mo><mn>3</mn></mrow></msup></math> to "
        '<span class="whole">1e-09</span>, by <td>minimum_<wbr>enclosing_<wbr>ball</td></p>'
    )
    element = BeautifulSoup(html, "html.parser").p
    said = _said_by(element)
    assert element.find("wbr") and element.select(".whole")  # it is left as it was
    assert said == "From 10^−3 to 1e-09, by minimum_enclosing_ball"


def test_index_leads_to_the_section_that_says_most_of_a_term(pages, tmp_path):
    terms = ["zigzag", "Fall", "nowhere", "more"]
    path = write_search(tmp_path, pages, chapters_of(pages), terms=terms)
    soup = BeautifulSoup(path.read_text(), "html.parser")
    found = [" ".join(li.get_text().split()) for li in soup.select(".terms li")]
    assert found == ["Fall 03", "more 03", "zigzag 03"]
    falls, more, zigzag = (a["href"] for a in soup.select(".terms a"))
    assert falls == zigzag and falls.startswith("03_away.html#Zigzag")
    assert more == "03_away.html#Away"


def test_index_has_the_foremost_chapters_of_a_term_in_reading_order():
    def section(chapter, heading, text):
        return {"chapter": chapter, "heading": heading, "text": text}

    few = [section(f"{n:02d}", "x", "a tie" + " tie" * n) for n in range(1, 9)]
    best = section("00", "Ties", "")
    found = _where("tie", [section("00", "x", "tie tie"), best, *few])
    assert found == [best, *few[2:]]


def test_search_knows_statements_by_their_words(pages, tmp_path):
    said = {"id": "R-E13", "place": "(13)", "verdict": "HOLDS", "corrected": ""}
    one = SimpleNamespace(statement="Twice $\\alpha$ is even.", **said)
    path = write_search(tmp_path, pages, chapters_of(pages), [one])
    script = BeautifulSoup(path.read_text(), "html.parser").script.get_text()
    places = json.loads(script.partition("const PLACES = ")[2].partition(";\n")[0])
    found = ["R-E13 (13): HOLDS", "errata", "errata.html#R-E13", "Twice α is even."]
    assert places[-1] == found


def test_no_word_of_a_notebook_ends_the_script(pages, tmp_path):
    path = write_search(tmp_path, pages, chapters_of(pages))
    assert path.read_text().count("</script>") == 1


def test_recorded_values_are_folded(pages):
    folded = pages[0].soup.main.select_one("details.recorded")
    assert folded.pre.get_text() == "recorded" and not folded.has_attr("open")


def test_tables_of_errata_lead_to_their_cards(tmp_path):
    table = nbformat.v4.new_output(
        "display_data", {"text/html": '<p id="errata-me2">x</p>'}
    )
    cell = nbformat.v4.new_code_cell("show()", outputs=[table], execution_count=1)
    text = nbformat.v4.new_markdown_cell("# T\n\nWords.")
    notebook = nbformat.v4.new_notebook(cells=[text, cell])
    for own, links in ((True, ["errata.html"]), (False, [])):
        (page,) = build_pages({"00_t": (notebook, tmp_path)}, own=own)
        assert page.problems == []
        found = page.soup.main.select('a[href="errata.html"]')
        assert [link["href"] for link in found if not link.find_parent("nav")] == links


def test_sources_of_a_docstring_are_lines_and_what_cites_them_is_no_markup():
    text = "One [1]_ and [2]_.\n\nReferences\n----------\n.. [1] A, 2001.\n.. [2] B,\n   2002.\n"
    first, sources = parts_of(text)
    assert BeautifulSoup(first.text, "html.parser").get_text() == "One [1] and [2]."
    lines = [
        " ".join(p.get_text().split())
        for p in BeautifulSoup(sources.text, "html.parser")("p")
    ]
    assert lines == ["[1] A, 2001.", "[2] B, 2002."]
