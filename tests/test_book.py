"""The pages of a report bound into one file, before a browser prints it."""

import pytest
from bs4 import BeautifulSoup

from mebnb.report.book import book_html, bound, letters_of

PAGE = """<html><body><nav><a href="index.html">Elsewhere</a></nav><main id="main">
<h1 id="t">{title}<a class="anchor" href="#t"></a></h1>
<h2 id="a">Why <i>1</i>/t<a class="anchor" href="#a"></a></h2>
{body}
<section class="provenance" aria-labelledby="p"><h2 id="p">How</h2></section>
</main></body></html>"""


def pages(tmp_path, **bodies):
    files = []
    for name, body in bodies.items():
        files.append(tmp_path / f"{name.lstrip('_')}.html")
        html = PAGE.format(title=f"Of {name}", body=body)
        files[-1].write_text(html, encoding="utf-8")
    return files


def links(chapter):
    return [anchor["href"] for anchor in chapter.body("a", href=True)]


def test_links_between_pages_lead_within_the_book(tmp_path):
    body = (
        '<a href="#a">1</a> <a href="02_b.html#a">2</a> <a href="02_b.html">3</a> '
        '<a href="02_b.html#none">4</a> <a href="status.html">5</a> '
        '<a href="notebooks/x.ipynb" download>6</a> <a href="https://a.org/#a">7</a>'
    )
    first, second = bound(pages(tmp_path, _01_a=body, _02_b="<p>text</p>"))
    assert links(first) == [
        "#01_a--a", "#02_b--a", "#02_b", "#02_b", "https://a.org/#a",
    ]  # fmt: skip
    assert "5" in first.body.get_text() and "6" in first.body.get_text()
    assert second.body.h2["id"] == "02_b--a"


def test_no_id_is_there_twice_and_every_link_leads_to_one(tmp_path):
    files = pages(tmp_path, _01_a='<a href="02_b.html#a">x</a>', index="", _02_b="")
    book = BeautifulSoup(book_html(bound(files), {}), "html.parser")
    ids = [element["id"] for element in book(id=True)]
    assert len(ids) == len(set(ids))
    wanted = {a["href"].removeprefix("#") for a in book("a", href=True)}
    assert {"01_a", "01_a--a", "index"} <= wanted <= set(ids)
    (labelled, *_) = book("section", attrs={"aria-labelledby": True})
    assert labelled["aria-labelledby"] == "01_a--p"


def test_contents_name_chapters_and_sections_with_their_pages(tmp_path):
    chapters = bound(pages(tmp_path, _01_a="", _functions=""))
    html = book_html(chapters, {"01_a": 4, "01_a--a": 5, "functions": 6})
    rows = [
        " ".join(item.get_text(" ").split())
        for item in BeautifulSoup(html, "html.parser").select(".leaves li")
    ]
    assert rows[0] == "1 Of _01_a 4" and rows[1] == "Why 1/t 5"
    assert rows[2] == "Of _functions 6" and len(rows) == 4
    assert "@page chapter-01_a" in html


def test_a_title_ends_no_style(tmp_path):
    title = '&lt;/style&gt;"; } a\\b'
    files = pages(tmp_path, _01_a="")
    files[0].write_text(PAGE.format(title=title, body=""), encoding="utf-8")
    html = book_html(bound(files), {})
    style = html[html.index("@page chapter-01_a") :].splitlines()[0]
    assert style.count('"') == 2 and "<" not in style


@pytest.mark.parametrize(
    ("words", "columns", "letters"),
    [
        ("short", 5, "letters-8"),
        ("a few short words", 13, "letters-8"),
        ("elevenchars", 8, "letters-7"),
        ("elevenchars", 11, "letters-5"),
        ("elevenchars", 20, "letters-broken"),
    ],
)
def test_letters_of_a_table_follow_from_its_longest_words(words, columns, letters):
    row = "".join(f"<td>{words}</td>" for _ in range(columns))
    table = BeautifulSoup(f"<table><tr>{row}</tr></table>", "html.parser").table
    assert letters_of(table) == letters
