"""Sources: what a text cites is in the bibliography, and what is there is cited."""

import nbformat
import pytest
from bs4 import BeautifulSoup

from mebnb.report import ReportError
from mebnb.report.citing import (
    BIBLIOGRAPHY,
    CITATION,
    read_bibliography,
    write_references,
)
from mebnb.report.making import export_stored
from mebnb.report.notebooks import list_notebooks, notebooks_folder, read_notebook
from mebnb.report.pages import build_pages, chapters_of

BOOK = """
@book{one1999, author = {Öz, Ada}, title = {A <b>book</b> & more}, publisher = {P},
  year = {1999}, doi = {10.1/x}}
@misc{two2001, author = {Beta, B. and Alpha, A.}, title = {Two}, year = {2001}}
@misc{many, author = {Abel, A. and Beta, B. and Gamma, C.}, title = {Many}}
"""


def pages_of(folder, *texts, bibliography=BOOK):
    """Pages of notebooks 01, 02 and so on, each with one text and a code cell."""
    (folder / BIBLIOGRAPHY).write_text(bibliography, encoding="utf-8")
    notebooks = {}
    for number, text in enumerate(texts, start=1):
        code = nbformat.v4.new_code_cell("'[@one1999]'", execution_count=1)
        html = {"text/markdown": "From a file: [@one1999]"}
        code.outputs = [nbformat.v4.new_output("display_data", html)]
        cells = [nbformat.v4.new_markdown_cell(f"# Title {number}\n\n{text}"), code]
        name = f"0{number}_words"
        notebooks[name] = (nbformat.v4.new_notebook(cells=cells), folder)
        (folder / f"{name}.ipynb").write_text("")
    return build_pages(notebooks)


def references_of(pages, folder):
    path, problems = write_references(folder, pages, folder, chapters_of(pages))
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser"), problems


def test_citations_are_links_that_name_authors_and_year(tmp_path):
    text = "So [@one1999]. Beta and Alpha [-@two2001] too [@many; @one1999]."
    (page,) = pages_of(tmp_path, text)
    paragraph = page.soup.main.select_one(".text p")
    assert paragraph.get_text() == (
        "So [Öz 1999]. Beta and Alpha [2001] too [Abel et al. undated; Öz 1999]."
    )
    assert [a["href"] for a in paragraph("a")] == [
        f"references.html#{key}" for key in ("one1999", "two2001", "many", "one1999")
    ]
    assert page.problems == []


def test_source_without_author_has_its_editor_or_title(tmp_path):
    bibliography = """
@misc{a, title = {Only a {Title}}, year = {2001}}
@book{b, editor = {Ed, I.}, title = {T}, publisher = {P}, year = {2002}}
"""
    (tmp_path / BIBLIOGRAPHY).write_text(bibliography, encoding="utf-8")
    labels = [source.label for source in read_bibliography(tmp_path).values()]
    assert labels == ["Ed 2002", "“Only a Title” 2001"]


def test_only_the_text_of_a_notebook_cites(tmp_path):
    (page,) = pages_of(tmp_path, "As `[@one1999]` in code.")
    assert page.cited == []
    assert "From a file: [@one1999]" in page.soup.main.get_text()
    assert page.soup.main.find("a", href="references.html#one1999") is None


def test_citation_of_no_source_fails_the_report(tmp_path):
    (page,) = pages_of(tmp_path, "So [@one1999; @nobody] and [@two2001].")
    assert page.problems == ["cell 1: no nobody in references.bib"]
    assert page.status == "failed"
    assert "[@one1999; @nobody] and [Beta and Alpha 2001]" in page.soup.main.get_text()


def test_each_source_has_its_doi_and_the_chapters_that_cite_it(tmp_path):
    both = "So [@one1999; @two2001; @many]."
    pages = pages_of(tmp_path, both, "Again [@one1999], and again [@one1999].")
    soup, problems = references_of(pages, tmp_path)
    assert problems == []
    names = [term.get_text() for term in soup.select(".references dt")]
    assert names == ["Abel et al. undated", "Beta and Alpha 2001", "Öz 1999"]
    entry = soup.find(id="one1999").find_next("dd")
    assert entry.find("a", href="https://doi.org/10.1/x") is not None
    places = [a["href"] for a in entry.select(".where a")]
    assert places == ["01_words.html#cell-1", "02_words.html#cell-1"]
    for page in pages:
        assert page.soup.find(id="cell-1") is not None


def test_entry_is_shown_as_words(tmp_path):
    soup, _ = references_of(pages_of(tmp_path, "So [@one1999]."), tmp_path)
    entry = soup.find(id="one1999").find_next("dd")
    assert "A <b>book</b> & more" in entry.get_text()
    assert entry.find("b") is None


def test_and_others_are_not_a_name(tmp_path):
    entry = "@misc{a, author = {Abel, A. and others}, title = {One}, year = {2000}}"
    (page,) = pages_of(tmp_path, "So [@a].", bibliography=entry)
    assert "So [Abel et al. 2000]." in page.soup.main.get_text()


def test_hostile_addresses_of_an_entry_do_nothing(tmp_path):
    book = """
    @misc{a, author = {A, A.}, title = {T}, year = {1}, url = {javascript:alert(1)}}
    @misc{b, author = {B, B.}, title = {T}, year = {1},
      url = {https://b.example/" onmouseover="alert(1)}}
    @misc{c, author = {C, C.}, title = {T}, year = {1},
      doi = {"><script>alert(1)</script>}}"""
    soup, _ = references_of(
        pages_of(tmp_path, "So [@a; @b; @c].", bibliography=book), tmp_path
    )
    entries = soup.find("dl")
    assert entries.find("script") is None
    assert all(set(a.attrs) <= {"href", "title", "rel"} for a in entries("a"))
    assert not any("javascript" in a.get("href", "") for a in entries("a"))


def test_source_that_nothing_cites_fails_a_report_of_all_notebooks(tmp_path):
    pages = pages_of(tmp_path, "So [@one1999; @many].", "Nothing.")
    soup, problems = references_of(pages, tmp_path)
    assert problems == ["references.bib: nothing cites two2001"]
    assert soup.find(id="two2001") is None
    assert references_of(pages[:1], tmp_path)[1] == []


@pytest.mark.parametrize(
    ("bibliography", "reason"),
    [
        ("@book{a, title = {No end}", "syntax error"),
        ("@book{a, title = {No year}, author = {B, C}, publisher = {P}}", "year"),
        ("@misc{a, title = {One}}\n@misc{a, title = {Two}}", "repeated"),
        ("@misc{doi:10.1/x, title = {One}}", "a key must be letters, .*'doi:10.1/x'"),
        ("@foo{a, title = {One}}", "a must be an article, .* found 'foo'"),
    ],
)
def test_bibliography_that_cannot_be_read_is_refused(bibliography, reason, tmp_path):
    with pytest.raises(ReportError, match=f"references.bib: .*{reason}"):
        pages_of(tmp_path, "Words.", bibliography=bibliography)


def test_notebooks_without_a_bibliography_cite_nothing(tmp_path):
    pages = pages_of(tmp_path, "Words.")
    (tmp_path / BIBLIOGRAPHY).unlink()
    soup, problems = references_of(pages, tmp_path)
    assert problems == [] and "These notebooks cite nothing." in soup.get_text()


def test_report_names_what_is_wrong_with_its_sources(tmp_path):
    pages_of(tmp_path, "Words.")
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_markdown_cell("# Title\n\nSo [@one1999; @many].")]
    nbformat.write(notebook, tmp_path / "01_words.ipynb")
    made = export_stored(list_notebooks(tmp_path), tmp_path / "out")
    assert made.problems == ["references.bib: nothing cites two2001"]
    assert (tmp_path / "out" / "references.html").is_file()


def test_the_clone_cites_every_source_and_no_other():
    folder = notebooks_folder()
    sources = read_bibliography(folder)
    cited = {
        key.lstrip("-@")
        for path in list_notebooks(folder)
        for cell in read_notebook(path).cells
        if cell.cell_type == "markdown"
        for names in CITATION.findall(cell.source)
        for key in names.replace(" ", "").split(";")
    }
    assert cited == set(sources)
    labels = [source.label for source in sources.values()]
    assert len(set(labels)) == len(labels), "two sources have one label"
