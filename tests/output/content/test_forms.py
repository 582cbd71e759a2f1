"""The forms, what a page holds and its chunks."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import html as lxml_html
from scrapy.exporters import CsvItemExporter
from scrapy.settings import Settings

from denoise_crawler import CleanPage, Denoiser, Page, Writing, chunks, denoise_pages
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.errors import SettingError
from denoise_crawler.output.clean_page import front_matter
from denoise_crawler.output.content.blocks import from_dicts, to_dicts
from denoise_crawler.output.content.builder import Builder
from denoise_crawler.output.content.chunks import plain_text
from denoise_crawler.output.writing import FORMS
from denoise_crawler.page.text import words
from tests.conftest import ROOT
from tests.output.content.reading import READER, URL, blocks_of, written
from tests.strategies import html_pages

HTML = "<title>T</title><h1>T</h1><p>one <b>two</b>"
BLOCKS = [
    {"type": "heading", "level": 1, "content": [{"type": "text", "text": "T"}]},
    {
        "type": "paragraph",
        "content": [{"type": "text", "text": "one "}, {"type": "text", "text": "two", "style": "strong"}],
    },
]
TEXTS = {
    "text": "T\none two",
    "markdown": "# T\n\none **two**",
    "html": "<h1>T</h1>\n<p>one <strong>two</strong></p>",
    "blocks": BLOCKS,
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_written_by_the_same_road(form: str) -> None:
    writing = Writing(DenoiseSettings.from_settings(Settings({"DENOISE_FORM": form})).writing.form)
    [page] = denoise_pages([(URL, HTML)], method="link_ratio", writing=writing)
    assert page.text == TEXTS[form]


def test_blocks_are_json_in_a_csv_feed(tmp_path: Path) -> None:
    with (tmp_path / "a.csv").open("wb") as file:
        exporter = CsvItemExporter(file)
        exporter.start_exporting()
        exporter.export_item({"text": written(HTML, "blocks")})
        exporter.finish_exporting()
    with (tmp_path / "a.csv").open(encoding="utf-8") as lines:
        assert json.loads(next(csv.DictReader(lines))["text"]) == BLOCKS


@given(html_pages())
def test_blocks_come_back_from_their_dicts_and_from_json(html: str) -> None:
    blocks = Builder(Page.parse(URL, html)).build()
    dicts = to_dicts(blocks)
    assert from_dicts(dicts) == blocks
    assert json.loads(str(dicts)) == dicts


@pytest.mark.parametrize("name", ["DENOISE_LINKS", "DENOISE_PICTURES", "DENOISE_FRONT_MATTER"])
def test_a_wrong_setting_is_told(name: str) -> None:
    with pytest.raises(SettingError, match=name):
        DenoiseSettings.from_settings(Settings({name: "perhaps"}))
    read = DenoiseSettings.from_settings(
        Settings({"DENOISE_LINKS": "leave", "DENOISE_FORM": "markdown", "DENOISE_FRONT_MATTER": True})
    ).writing
    assert (read.links, read.pictures, read.front_matter) == ("leave", "keep", True)


def test_front_matter_is_for_markdown_only() -> None:
    with pytest.raises(SettingError, match="DENOISE_FRONT_MATTER is for Markdown"):
        DenoiseSettings.from_settings(Settings({"DENOISE_FRONT_MATTER": True}))


def test_front_matter_says_what_the_page_says_of_itself() -> None:
    writing = Writing("markdown", front_matter=True)
    [page] = denoise_pages([(URL, f"<html lang=en><meta name=author content=Ann>{HTML}")], writing=writing)
    begin, metadata, text = page.text.split("---\n", 2)
    assert (begin, text.strip()) == ("", "# T\n\none **two**")
    read = yaml.safe_load(metadata)
    assert (read["title"], read["author"], read["url"], read["language"]) == ("T", "Ann", URL, "en")
    assert read["site"] == page.site != ""


@given(st.text(), st.text(), st.floats(0, 1))
def test_front_matter_is_read_back_by_yaml(title: str, author: str, confidence: float) -> None:
    title, author = (text.encode("utf-8", "replace").decode() for text in (title, author))
    page = CleanPage(url=URL, title=title, author=author, confidence=confidence)
    read = yaml.safe_load(front_matter(page).strip().strip("-"))
    expected: dict[str, Any] = {"title": title, "author": author, "url": URL, "confidence": confidence}
    assert read.pop("confidence") == pytest.approx(expected.pop("confidence"), abs=1e-4)
    assert read == {name: value for name, value in expected.items() if value != ""}


_INLINE = st.sampled_from(
    ["a", "b c", "<b>d</b>", "<i>e</i>", "<code>f</code>", "<a href=/x>g</a>", "<br>", "1.", "#", "*"]
)
_LINE = st.lists(_INLINE, min_size=1, max_size=5).map(" ".join)
_BLOCK = st.one_of(
    _LINE.map(lambda text: f"<p>x {text}</p>"),
    _LINE.map(lambda text: f"<h2>x {text}</h2>"),
    st.just("<pre class=language-py>x\n\n  y</pre>"),
    st.lists(_LINE, min_size=1, max_size=3).map(
        lambda items: "<ul>" + "".join(f"<li>x {one}" for one in items) + "</ul>"
    ),
    _LINE.map(lambda text: f"<ol start=3><li>x<ul><li>x {text}</ul></ol>"),
    _LINE.map(lambda text: f"<blockquote><p>x {text}</p></blockquote>"),
    _LINE.map(lambda text: f"<table><tr><th>x<th>y<tr><td>x {text}<td>z</table>"),
)
_OPENS = {
    "heading_open": "heading",
    "fence": "code",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "blockquote_open": "quote",
    "table_open": "table",
    "paragraph_open": "paragraph",
}


@given(st.lists(_BLOCK, max_size=6).map("".join))
def test_a_reader_of_commonmark_finds_the_same_blocks(html: str) -> None:
    tokens = READER.parse(written(html))
    found = [_OPENS[token.type] for token in tokens if token.level == 0 and token.type in _OPENS]
    expected = [block["type"] for block in to_dicts(blocks_of(html))]
    assert found == expected
    lists = [block for block in to_dicts(blocks_of(html)) if block["type"] == "list"]
    items = [token for token in tokens if token.type == "list_item_open" and token.level == 1]
    assert len(items) == sum(len(block["items"]) for block in lists)


def test_the_blocks_in_the_documentation_are_those_of_its_page() -> None:
    docs = (ROOT / "docs" / "output.md").read_text("utf-8")
    html = re.search(r'html = "(.*)"\n', docs)
    shown = re.search(r"```json\n(.*?)```", docs, re.DOTALL)
    assert html is not None
    assert shown is not None
    assert written(html[1], "blocks") == json.loads(shown[1])


def test_html_holds_the_same_text_as_markdown() -> None:
    html = "<h1>A</h1><ul><li>b<ol><li>c</ol></ul><table><caption>d</caption><tr><th>e<th>f<tr><td>g<td>h</table>"
    root = lxml_html.fromstring(f"<div>{written(html, 'html')}</div>")
    assert "".join("".join(map(str, root.itertext())).split()) == "Abcdefgh"


LINKS = [f"<a href='#{number}'>Part {number}</a>" for number in range(1, 4)]
LIST = "- Part 1\n- Part 2\n- Part 3"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<div class=toc>" + "<br>".join(LINKS) + "</div>", LIST),
        ("<nav id=table-of-contents>" + "".join(f"<div>{link}</div>" for link in LINKS) + "</nav>", LIST),
        (
            "<div role=doc-toc><p>Contents" + "".join(f"<p>{link}" for link in LINKS) + "</div>",
            f"Contents\n\n{LIST}",
        ),
        ("<p class=toc>In short<br>" + "<br>".join(LINKS), f"In short\n\n{LIST}"),
        ("<div class=toc><h3>Contents</h3>" + "<br>".join(LINKS) + "</div>", f"### Contents\n\n{LIST}"),
        ("<div class=toc><ul>" + "".join(f"<li>{link}" for link in LINKS) + "</ul></div>", LIST),
    ],
)
def test_lines_of_links_to_places_of_the_page_are_a_list(html: str, markdown: str) -> None:
    assert written(f"{html}<p>A text.") == f"{markdown}\n\nA text."


@pytest.mark.parametrize(
    "html",
    [
        *("<div class=toc>" + " | ".join(LINKS) + "</div>", "<div class=toc>" + " ".join(LINKS) + "</div>"),
        *("<div>" + "<br>".join(LINKS) + "</div>", "<div class=toc>" + "<br>".join(LINKS[:2]) + "</div>"),
        "<div class=toc>" + "<br>".join(LINKS) + "<p>A text in it.</div>",
        "<div class=toc>" + "<br>".join(LINKS).replace("#", "/") + "</div>",
        "<a href='#0'><div class=toc>One<br>two<br>three</div></a>",
    ],
)
def test_other_lines_are_none(html: str) -> None:
    assert "- " not in written(html)


PAGE = (
    "<h1>T</h1><p>One two three. Four five six.<h2>A</h2><p>seven<h2>B</h2><ul><li>eight nine<li>ten eleven</ul>"
)


def test_chunks_are_sections_with_the_headings_above_them() -> None:
    found = list(chunks(blocks_of(f"<title>T</title>{PAGE}"), 100))
    assert [(chunk.headings, chunk.words) for chunk in found] == [(["T"], 7), (["T", "A"], 2), (["T", "B"], 5)]
    assert found[1].text == "## A\n\nseven"


def test_long_sections_are_cut_between_sentences_and_items() -> None:
    texts = [chunk.text for chunk in chunks(blocks_of(f"<title>T</title>{PAGE}"), 4)]
    assert texts == [
        "# T\n\nOne two three.",
        "Four five six.",
        "## A\n\nseven",
        "## B\n\n- eight nine",
        "- ten eleven",
    ]


def test_sentences_of_one_part_stay_parted_by_spaces() -> None:
    texts = [chunk.text for chunk in chunks(blocks_of("<p>One two. Three <b>four</b>. Five six. Seven."), 4)]
    assert texts == ["One two. Three **four**.", "Five six. Seven."]


def test_parts_of_a_table_repeat_its_header() -> None:
    rows = "".join(f"<tr><td>a{number}<td>b{number}" for number in range(4))
    texts = [chunk.text for chunk in chunks(blocks_of(f"<table><tr><th>x<th>y{rows}</table>"), 6)]
    assert [text.count("\n") for text in texts] == [3, 3]
    assert all(text.startswith("| x | y |") for text in texts)


def test_chunks_are_the_same_of_dicts() -> None:
    blocks = blocks_of(PAGE)
    assert list(chunks(to_dicts(blocks), 5)) == list(chunks(blocks, 5))


def test_code_is_cut_between_lines_and_joined_again() -> None:
    code = "\n".join(f"line {number}" for number in range(9))
    texts = [chunk.text for chunk in chunks(blocks_of(f"<pre>{code}</pre>"), 8)]
    assert all(text.startswith("```\nline") for text in texts)
    assert "\n".join(text[4:-4] for text in texts) == code


def test_a_chunk_of_no_words_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        chunks([], 0)


@example("<p>来源来源新华网", 2)
@given(html_pages(), st.integers(2, 6))
def test_chunks_hold_all_words_and_no_more_than_is_asked_for(html: str, most: int) -> None:
    blocks = blocks_of(html, pictures="leave")
    found = list(chunks(blocks, most))
    for chunk in found:
        assert chunk.words <= most or len(chunk.blocks) == 1
        assert chunk.words == len(words(" ".join(map(plain_text, chunk.blocks))))
    of_page = words(" ".join(map(plain_text, blocks)))
    of_chunks = words(" ".join(plain_text(block) for chunk in found for block in chunk.blocks))
    assert set(of_page) == set(of_chunks)


def parts_of(html: str, form: str, most: int) -> list[str]:
    """Return the parts of a page in order, each asked for by what the one before says of it."""
    texts: list[str] = []
    number: int | None = 1
    while number is not None:
        denoiser = Denoiser("link_ratio", writing=Writing(form, max_chars=most, part=number))
        clean = denoiser.clean(Page.parse("https://a.test/", html)).clean_page
        assert clean.truncated is (clean.next_part is not None)
        texts.append(clean.text)
        number = clean.next_part
    return texts


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_a_text_with_a_limit_is_cut_between_blocks_and_goes_on_where_it_ended(form: str) -> None:
    html = "".join(f"<h2>Part {number} of it</h2><p>{f'Sentence {number}. ' * 5}" for number in range(9))
    texts = parts_of(html, form, 200)
    assert all(len(text) <= 200 for text in texts)
    assert len(texts) > 3
    [whole] = parts_of(html, form, 10_000)
    assert ("\n\n" if form == "markdown" else "\n").join(texts) == whole


@pytest.mark.parametrize("form", ["markdown", "html"])
@pytest.mark.parametrize("limit", range(90, 240, 7))
def test_no_part_ends_in_a_heading(form: str, limit: int) -> None:
    html = "".join(f"<h2>Part {number}</h2><p>{f'Sentence {number}. ' * 5}" for number in range(9))
    texts = parts_of(html, form, limit)
    assert all(len(text) <= limit for text in texts)
    assert not any(text.splitlines()[-1].startswith(("##", "<h2>")) for text in texts)
    assert "".join(texts).count("Sentence 3.") == 5


def test_a_block_that_is_longer_than_the_limit_is_cut_inside() -> None:
    items, rows = "<li>an item" * 60, "<tr><td>1<td>2" * 60
    html = f"<ul>{items}</ul><table><tr><th>a<th>b{rows}</table><p>{'One two three. ' * 60}<p>{'word ' * 300}"
    for form in ("text", "markdown", "html"):
        texts = parts_of(html, form, 250)
        assert all(len(text) <= 250 for text in texts)
        assert "".join(texts).count("an item") == 60
    assert sum("| a | b |\n| --- |" in text for text in parts_of(html, "markdown", 250)) > 2


def test_a_table_that_is_longer_as_a_whole_than_row_by_row_is_cut() -> None:
    rows = "".join(f"<tr><td>{number}<td>b" for number in range(40))
    html = f"<table><tr><th>Name<th>Parts{rows}<tr><td>c<td><ul><li>One<li>Two</ul></table>"
    texts = parts_of(html, "markdown", 600)
    assert all(len(text) <= 600 for text in texts)
    whole = "".join(texts)
    assert all(f"| {number} |" in whole or f"<td>{number}</td>" in whole for number in range(40))


def test_the_text_of_an_extractor_has_the_limit_too() -> None:
    writing = Writing(max_chars=10, extractor="resiliparse")
    page = Page.parse("https://a.test/", "<h1>News</h1><p>A story of the harbour and its boats.")
    clean = Denoiser(writing=writing).clean(page).clean_page
    assert (len(clean.text) <= 10, clean.truncated, clean.next_part) == (True, True, 2)


def test_a_part_before_the_first_is_refused() -> None:
    with pytest.raises(ValueError, match="part is 0: parts of a text begin with 1"):
        Denoiser(writing=Writing(max_chars=10, part=0))
