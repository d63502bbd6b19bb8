"""The map of the documents, followed: each link leads to a cell that names the item."""

import copy
import re

import nbformat
import pytest
from bs4 import BeautifulSoup

from mebnb.documents import all_entries, also_checked, holding
from mebnb.documents.checks import ALSO_CHECKED
from mebnb.published.map import (
    NOTEBOOKS,
    cell_link,
    document_map,
    entry_places,
    linked_cells,
)
from mebnb.report.pages import build_pages
from mebnb.report.storing import store

PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
OVERVIEW = "00_overview"
# Items without a number, and the entry that states them.
UNNUMBERED = {
    "(1 + eps) ball": "S-X-ball",
    "core set": "S-X-core",
    "recall": "S-X-recall",
    "L": "S-E07",
}


@pytest.fixture(scope="module")
def notebooks():
    return {path.stem: nbformat.read(path, as_version=4) for path in PATHS}


@pytest.fixture(scope="module")
def cells(notebooks):
    """(notebook, id of the cell) -> all that the cell says."""
    return {
        (name, cell.id): _said(cell)
        for name, notebook in notebooks.items()
        for cell in notebook.cells
    }


def _said(cell):
    texts = [cell.source]
    for output in cell.get("outputs", []):
        texts.append(output.get("text", ""))
        data = output.get("data", {})
        texts += [data[kind] for kind in data if kind.startswith("text/")]
    return "\n".join(texts)


def names_entry(text, name):
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w+-])", text)


def names_item(text, row):
    """Whether a text names an item of the map, by its number or by an entry of it."""
    stating = [
        entry.id
        for entry in all_entries(row.document)
        if entry.place.casefold() == row.item.casefold()
    ] + [UNNUMBERED.get(row.item, "no such entry")]
    if any(names_entry(text, name) for name in stating):
        return True
    if row.item == "Appendix A":
        return "App. A" in text
    return row.item.split(",")[0] in numbered_in(text)


def numbered_in(text):
    """ "Figures 7 and 8" -> Figure 7 and Figure 8; "Tables 1 to 5" likewise."""
    kinds = "Algorithm|Alg|Lemma|Theorem|Proposition|Figure|Table"
    pattern = rf"\b({kinds})s?\.? (\d+(?:\.\d)?)(?: (and|to) (\d+))?"
    found = set()
    for kind, first, between, last in re.findall(pattern, text):
        numbers = [first, last]
        if between == "to":
            numbers = range(int(first), int(last) + 1)
        kind = "Algorithm" if kind == "Alg" else kind
        found |= {f"{kind} {number}" for number in numbers}
    return found


def test_a_link_is_what_jupyterlab_follows():
    place = "01_dual_derivation", "R-E14"
    link = '<a href="01_dual_derivation.ipynb#cell-id=R-E14">(14) &lt;</a>'
    assert cell_link(*place, "(14) <") == link
    assert cell_link("no_such_notebook", "R-E14", "(14) <") == "(14) &lt;"


def test_cells_that_are_linked_are_those_of_map_and_entries():
    linked = linked_cells("07_line_search")
    assert {"R-E40", ALSO_CHECKED} <= linked and "R-E12" not in linked
    frame = document_map().frame
    named = {*zip(frame["notebook"], frame["cell"], strict=True)}
    named |= set(entry_places().values())
    for path in PATHS:
        there = {cell for name, cell in named if name == path.stem}
        assert linked_cells(path.stem) == there


def test_numbers_are_read_as_they_are_written():
    assert numbered_in("Figures 7 and 8, Tables 1 to 3, Alg. 2, Lemma 3.1") >= {
        *("Figure 7", "Figure 8", "Table 1", "Table 2", "Table 3"),
        *("Algorithm 2", "Lemma 3.1"),
    }
    assert "Figure 1" not in numbered_in("Figure 10")


def test_every_item_of_the_map_leads_to_a_cell_that_names_it(cells):
    for row in document_map().frame.itertuples():
        said = cells.get((row.notebook, row.cell))
        assert said is not None, f"no such cell: {row}"
        assert names_item(said, row), f"not named there: {row}"


def test_every_entry_is_shown_by_the_cell_of_its_place(cells):
    places = entry_places()
    assert list(places) == [entry.id for entry in all_entries()]
    for name, place in places.items():
        assert place in cells, f"{name}: no cell {place}"
        assert place[0] != OVERVIEW
        assert names_entry(cells[place], name), f"{name} is not named in {place}"


def test_entries_of_the_closing_list_stand_nowhere_else(notebooks):
    places = entry_places()
    listed = {name for name, place in places.items() if place[1] == ALSO_CHECKED}
    for name, notebook in notebooks.items():
        for cell in notebook.cells:
            if name == OVERVIEW or cell.id == ALSO_CHECKED:
                continue
            said = _said(cell).removeprefix(
                cell.source if cell.cell_type == "code" else ""
            )
            named = set(re.findall(r"(?<![\w-])[RSPX]-[A-Z][\w+-]*", said))
            assert not named & listed, f"{name}, {cell.id}"


def _linked_part(name, notebook):
    """The cells that the overview leads to; all others take time and say nothing."""
    part = copy.deepcopy(notebook)
    if name != OVERVIEW:
        linked = linked_cells(name)
        part.cells = [cell for cell in part.cells if cell.id in linked]
    return part


def _by_id(soup):
    """Found once: a search for each of a thousand links takes longer than the pages."""
    return {tag["id"]: tag for tag in soup(id=True)}


def test_links_of_the_overview_page_lead_to_what_they_say(notebooks):
    linked = {name: _linked_part(name, nb) for name, nb in notebooks.items()}
    pages = build_pages({name: (nb, NOTEBOOKS) for name, nb in linked.items()})
    soups = {page.file: page.soup for page in pages}
    places = {file: _by_id(soup) for file, soup in soups.items()}
    rows = document_map().frame.itertuples()
    items = {(row.notebook, row.cell, row.item): row for row in rows}
    followed = 0
    for link in soups[f"{OVERVIEW}.html"].select("a[href*='#cell-id=']"):
        file, _, fragment = link["href"].partition("#")
        cell = places[file][fragment].find_parent("section")
        said, shown = cell.get_text(" "), link.get_text()
        key = (file.removesuffix(".html"), fragment.removeprefix("cell-id="), shown)
        row = items.get(key)
        assert names_item(said, row) if row else names_entry(said, shown), link
        followed += 1
    assert followed == len(document_map().frame) + len(all_entries())


def test_holding_and_errata_share_the_entries():
    for name in ("report", "slides", "me2", "derived"):
        held = holding(name)
        assert {entry.verdict for entry in held.entries} == {"HOLDS"}
        assert all(
            cell_link(*entry_places()[e.id], e.id) in held._repr_html_()
            for e in held.entries
        )


def test_closing_list_folds_and_tells_how_a_wrong_form_fails():
    listed = also_checked("08_synthetic")
    assert repr(listed).startswith(f"{len(listed.entries)} statements: ")
    soup = BeautifulSoup(listed._repr_html_(), "html.parser")
    assert soup.select_one("details > summary").get_text() in repr(listed)
    assert len(soup.tbody("tr")) == len(listed.entries) > 0
    wrong = next(row for row in soup.tbody("tr") if "WRONG" in row.get_text())
    assert "printed form fails: " in wrong.get_text()
    assert not soup("a")


def test_a_stored_notebook_keeps_the_cells_that_are_linked_or_named(tmp_path):
    path = tmp_path / "06_core_sets.ipynb"
    notebook = nbformat.v4.new_notebook()
    for name in ("S-A3", "mine", "figure-paths", "table-1"):
        notebook.cells.append(nbformat.v4.new_markdown_cell("text", id=name))
    nbformat.write(notebook, path)
    store(path)
    stored = nbformat.read(path, as_version=4)
    kept = ["S-A3", "cell-01", "figure-paths", "cell-03"]
    assert [cell.id for cell in stored.cells] == kept
