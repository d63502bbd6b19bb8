"""Figures and tables have numbers; what refers to one by name is checked."""

import nbformat
import pytest
from bs4 import BeautifulSoup

from mebnb.report.pages import build_pages

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9"
    "awAAAABJRU5ErkJggg=="
)
TABLE = "| a |\n|---|\n| 1 |"


def figure(identity, alt):
    cell = nbformat.v4.new_code_cell("show()", id=identity, execution_count=1)
    output = nbformat.v4.new_output(
        "display_data", {"image/png": PNG}, metadata={"image/png": {"alt": alt}}
    )
    cell.outputs = [output]
    return cell


def pages_of(folder, **chapters):
    """Pages of notebooks, each a list of cells, Markdown as str."""
    notebooks = {}
    for name, cells in chapters.items():
        made = [
            nbformat.v4.new_markdown_cell(cell) if isinstance(cell, str) else cell
            for cell in ["# Title", *cells]
        ]
        notebooks[name] = (nbformat.v4.new_notebook(cells=made), folder)
        (folder / f"{name}.ipynb").write_text("")
    return build_pages({f"0{n[1:]}": v for n, v in notebooks.items()})


def test_figures_and_tables_are_numbered_by_chapter(tmp_path):
    cells = [
        figure("one", "A line. It falls."),
        f"## Sets\n\n{TABLE}",
        figure("two", "B"),
    ]
    (page,) = pages_of(tmp_path, n3_away=cells)
    captions = page.soup.main("figcaption")
    assert [c.get_text() for c in captions] == [
        "Figure 3.1 A line.",
        "Table 3.1 Sets",
        "Figure 3.2 B",
    ]
    for caption in captions:
        assert page.soup.find(id=caption.a["href"][1:]) == caption.parent
    assert page.soup.find(id="table-3.1").select_one(".table") is not None


@pytest.mark.parametrize(
    ("alt", "caption"),
    [
        (
            "Left: it falls. To 0. Right: it rises.",
            "Left: it falls. Right: it rises.",
        ),
        ("Two lines. They meet. Right of it none.", "Two lines."),
        ("Ranks of all. On 35 sets: a 1.5, b 2.", "Ranks of all."),
    ],
)
def test_caption_of_a_figure_is_its_first_sentence_or_both_of_its_sides(
    tmp_path, alt, caption
):
    (page,) = pages_of(tmp_path, n3_away=[figure("one", alt)])
    assert page.soup.main.figcaption.get_text() == f"Figure 3.1 {caption}"


def test_picture_links_to_itself_enlarged_and_back(tmp_path):
    (page,) = pages_of(tmp_path, n3_away=[figure("one", "A"), figure("two", "B")])
    views = page.soup.main.select("figure.output > .view")
    assert [view["id"] for view in views] == ["figure-3.1-large", "figure-3.2-large"]
    back, picture = views[1]("a")
    assert picture["href"] == "#figure-3.2-large" and picture.img["alt"] == "B"
    assert back["href"] == "#figure-3.2"
    assert page.problems == []


def test_caption_of_the_table_itself_goes_before_the_heading(tmp_path):
    html = "<table><caption>Own words</caption><tr><td>1</td></tr></table>"
    cell = nbformat.v4.new_code_cell("t", execution_count=1)
    cell.outputs = [nbformat.v4.new_output("display_data", {"text/html": html})]
    (page,) = pages_of(tmp_path, n3_away=["## Sets", cell])
    assert page.soup.main.figcaption.get_text() == "Table 3.1 Own words"
    assert page.soup.main.caption is None


def shown_table():
    cell = nbformat.v4.new_code_cell("t", execution_count=1)
    html = "<table><tr><td>1</td></tr></table>"
    cell.outputs = [nbformat.v4.new_output("display_data", {"text/html": html})]
    return cell


@pytest.mark.parametrize(
    "text, caption",
    [
        ("It grows. Ten runs of each method:", "Ten runs of each method"),
        (f"Two sets, side by side:\n\n{TABLE}", "Two sets, side by side"),
        ("It has $r = 1.$ Ten runs with $r = 2$:", "Ten runs with r=2"),
        ("Ten *new* runs. **Five: of them** fail:", "Five: of them fail"),
        ("See Klee, p. 3 of the new book:", "See Klee, p. 3 of the new book"),
        ("Ten runs of `<b>` and &lt;i&gt;:", "Ten runs of <b> and <i>"),
        ("Ten runs of each method.", "Sets"),
        ("Both hold:", "Sets"),
        ("- Ten runs of each method:", "Sets"),
        ("Ten runs of this sum: $$ a = b $$ and:", "Sets"),
    ],
)
def test_sentence_that_leads_to_a_table_is_its_caption(tmp_path, text, caption):
    cells = [f"## Sets\n\n{text}", *([] if TABLE in text else [shown_table()])]
    (page,) = pages_of(tmp_path, n3_away=cells)
    found = page.soup.main.figcaption
    assert found.get_text() == f"Table 3.1 {caption}"
    label = page.soup.main.select_one(".table")["aria-label"]
    assert label == f"Table 3.1: {caption}"
    assert found.find(["b", "i"]) is None
    assert page.problems == []


def test_table_that_nothing_leads_to_has_the_heading_above_it(tmp_path):
    cells = ["## Sets", shown_table(), shown_table(), "## Runs", shown_table()]
    (page,) = pages_of(tmp_path, n3_away=cells)
    captions = [caption.get_text() for caption in page.soup.main("figcaption")]
    assert captions == ["Table 3.1 Sets", "Table 3.2 Sets", "Table 3.3 Runs"]
    assert page.soup.main.select(".table")[1]["aria-label"] == "Table 3.2: Sets"


def test_sentence_leads_to_the_first_table_of_a_cell_only(tmp_path):
    cell = shown_table()
    cell.outputs *= 2
    (page,) = pages_of(tmp_path, n3_away=["## Sets", "Ten runs of each method:", cell])
    captions = [caption.get_text() for caption in page.soup.main("figcaption")]
    assert captions == ["Table 3.1 Ten runs of each method", "Table 3.2 Sets"]


def test_sentence_shown_by_a_cell_leads_to_the_table_that_it_shows_next(tmp_path):
    cell = shown_table()
    said = nbformat.v4.new_output(
        "display_data", {"text/markdown": "And their own means:"}
    )
    cell.outputs = [cell.outputs[0], said, cell.outputs[0]]
    (page,) = pages_of(tmp_path, n3_away=["## Sets", "Ten runs of each method:", cell])
    captions = [caption.get_text() for caption in page.soup.main("figcaption")]
    assert captions == [
        "Table 3.1 Ten runs of each method",
        "Table 3.2 And their own means",
    ]


def test_folded_table_has_the_words_that_unfold_it(tmp_path):
    cell = shown_table()
    folded = "<details><summary>All runs</summary><table><tr><td>1</td></tr></table></details>"
    cell.outputs[0].data["text/html"] = folded
    (page,) = pages_of(tmp_path, n3_away=["## Sets", "Words.", cell])
    assert page.soup.main.figcaption.get_text() == "Table 3.1 All runs"


def test_reference_in_a_caption_has_its_number_and_no_id_stands_twice(tmp_path):
    text = '<span id="so">Both</span> sets of [table](#Sets), together:'
    cells = ["## Sets", shown_table(), text, shown_table()]
    (page,) = pages_of(tmp_path, n3_away=cells)
    caption = page.soup.main("figcaption")[1]
    assert caption.get_text() == "Table 3.2 Both sets of Table 3.1, together"
    assert len(page.soup.main(id="so")) == 1


def test_percent_sign_stays_with_its_number(tmp_path):
    (page,) = pages_of(tmp_path, n3_away=["At 5 %, 7% or `5 %`."])
    assert page.soup.main.p.get_text() == "At 5\u00a0%, 7\u00a0% or 5 %."


def test_number_with_an_exponent_is_not_broken(tmp_path):
    text = "Below 1e-09, at 2.5e-3 (not R1e-2, not `1e-6`)."
    (page,) = pages_of(tmp_path, n3_away=[text])
    assert page.soup.main.p.get_text() == text.replace("`", "")
    kept = page.soup.main.p.select(".whole")
    assert [number.get_text() for number in kept] == ["1e-09", "2.5e-3"]


def test_reference_says_the_number_also_from_another_notebook(tmp_path):
    first = [figure("one", "A"), figure("two", "B"), "See [figure](#figure-3.1)."]
    second = ["See [figure](03_away.ipynb#cell-id=two)."]
    away, pairwise = pages_of(tmp_path, n3_away=first, n4_pairwise=second)
    assert away.problems == pairwise.problems == []
    assert away.soup.main.select_one(".text p a").get_text() == "Figure 3.1"
    link = pairwise.soup.main.select_one(".text p a")
    assert link.get_text() == "Figure 3.2"
    assert link["href"] == "03_away.html#cell-id=two"


@pytest.mark.parametrize("target", ["#table-3.9", "#cell-id=one"])
def test_reference_to_no_such_thing_fails_the_report(tmp_path, target):
    cells = [figure("one", "A"), f"See [table](03_away.ipynb{target})."]
    (page,) = pages_of(tmp_path, n3_away=cells)
    assert f"cell 3: no table at 03_away.html{target}" in page.problems
    assert page.status == "failed"


def test_heading_links_itself_without_a_word(tmp_path):
    (page,) = pages_of(tmp_path, n3_away=["## Sets"])
    heading = page.soup.main.find("h2")
    assert heading.get_text() == "Sets"
    assert heading.select_one("a.anchor")["href"] == "#Sets"
    assert BeautifulSoup(page.html, "html.parser").select_one("h2 a.anchor[aria-label]")


def test_figure_or_table_is_named_by_the_heading_that_it_stands_under(tmp_path):
    cells = [
        f"## Sets\n\n{TABLE}",
        figure("one", "A"),
        f"### Small ones\n\n{TABLE}",
        figure("two", "B"),
        "## Runs",
        figure("three", "C"),
        "See [figure](#Sets), [table](#Small-ones), [Figure](#Small-ones), [figure](#Runs).",
    ]
    (page,) = pages_of(tmp_path, n3_away=cells)
    assert page.problems == []
    assert page.soup.main.select(".text p")[-1].get_text() == (
        "See Figure 3.1, Table 3.2, Figure 3.2, Figure 3.3."
    )


def test_section_without_such_a_thing_does_not_borrow_one_from_the_next(tmp_path):
    cells = ["## Sets", "## Runs", figure("one", "A"), "See [figure](#Sets)."]
    (page,) = pages_of(tmp_path, n3_away=cells)
    assert page.problems == ["cell 5: no figure at #Sets"]


def test_sections_and_equations_are_named_also_from_another_notebook(tmp_path):
    away = "## Large sets\n\n$$ a = b \\tag{7}\\label{same} $$\n\nSee [section](#Large-sets)."
    other = (
        "See [section](03_away.ipynb#Large-sets) and [equation](03_away.ipynb#same)."
    )
    first, second = pages_of(tmp_path, n3_away=[away], n4_pairwise=[other])
    assert first.problems == second.problems == []
    assert first.soup.main.select_one(".text p a").get_text() == "section “Large sets”"
    links = second.soup.main.select(".text p a")
    assert [link.get_text() for link in links] == [
        "section “Large sets” of 03",
        "equation (7) of 03",
    ]
    assert links[1]["href"] == "03_away.html#same"


@pytest.mark.parametrize(
    "link", ["[equation](#Sets)", "[section](#cell-id=one)", "[section](#Sats)"]
)
def test_reference_to_another_kind_of_thing_fails_the_report(link, tmp_path):
    (page,) = pages_of(tmp_path, n3_away=["## Sets", figure("one", "A"), link])
    kind = link[1:].partition("]")[0]
    assert any(f"cell 4: no {kind} at #" in problem for problem in page.problems)
