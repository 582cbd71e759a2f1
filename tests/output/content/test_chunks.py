from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from denoise_crawler import Denoiser, Page, Writing, chunks
from denoise_crawler.output.content.blocks import to_dicts
from denoise_crawler.output.content.chunks import plain_text
from denoise_crawler.page.text import words
from tests.output.content.reading import blocks_of
from tests.strategies import html_pages

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


def test_the_text_of_an_extractor_has_the_limit_too() -> None:
    writing = Writing(max_chars=10, min_confidence=1.0, low_confidence="tests.output.content.test_chunks:shout")
    clean = Denoiser(writing=writing).clean(Page.parse("https://a.test/", "<p>A story.")).clean_page
    assert (clean.text, clean.truncated, clean.next_part) == ("LOUD WORDS", True, 2)


def shout(_: str, __: str) -> str:
    return "LOUD WORDS ARE HERE"
