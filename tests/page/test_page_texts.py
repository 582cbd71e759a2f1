"""What is read of a page: no line numbers of code, the texts that it declares, its words."""

import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.output.safe_markup import clean_html
from denoise_crawler.output.writing import FORMS, Content, Writing
from denoise_crawler.page import Page, declarations
from denoise_crawler.page.declarations import FIELDS, declared_texts_of, without_markup
from denoise_crawler.page.text import collapse_spaces, hash64, words
from tests import roads
from tests.programs import run_python

CODE = ["let boat = harbour();", "boat.sail();", "return boat;"]
PRE = f"<pre>{chr(10).join(CODE)}</pre>"
NUMBERS = "".join(f"<span class=line>{number}</span><br>" for number in (1, 2, 3))
NUMBERED = {
    "Hexo": f"<table><tr><td class=gutter><pre>{NUMBERS}</pre></td><td class=code>{PRE}</td></tr></table>",
    "a bare table": f"<table><tr><td>1\n2\n3</td><td>{PRE}</td></tr></table>",
    "an anchor before them": f"<table><tr><td><p><a name=x></a></p>1\n2\n3</td><td>{PRE}</td></tr></table>",
    "Hugo": "<table><tr><td class=lntd><pre><code>"
    + "".join(f"<span class=lnt>{number}\n</span>" for number in (1, 2, 3))
    + f"</code></pre></td><td class=lntd>{PRE}</td></tr></table>",
    "Rouge": f'<table><tr><td class="rouge-gutter"><pre>1\n2\n3\n</pre></td><td>{PRE}</td></tr></table>',
    "Pygments": "<pre>"
    + "\n".join(f"<span class=linenos>{number}</span>{line}" for number, line in enumerate(CODE, 1))
    + "</pre>",
    "a cell a line": "<table>"
    + "".join(
        f"<tr><td class=blob-num>{number}</td><td><code>{line}</code></td></tr>"
        for number, line in enumerate(CODE, 1)
    )
    + "</table>",
    "an excerpt of one line": "<table><tr><td>41</td><td><pre>boat.sail();</pre></td></tr></table>",
}
KEPT = {
    "a table that counts": "<table><tr><td>1<td><code>ls</code><tr><td>2<td><code>cd</code></table>",
    "years beside code": f"<table><tr><td>1999 2004 2026</td><td>{PRE}</td></tr></table>",
    "three cells": f"<table><tr><td>1 2 3</td><td>{PRE}</td><td>so</td></tr></table>",
    "cells without code": "<table><tr><td>1 2 3</td><td>Third street</td></tr></table>",
    "a gutter with words": "<div class=gutter>3 boats</div>",
    "comments counted in a sentence": "<p><span class=comment-count>12</span> comments</p>",
    "code that gets its numbers later": "<pre class=line-numbers><code class=language-text>1\n2\n3</code></pre>",
}


def page_of(markup: str) -> Page:
    return Page.parse(
        "https://boats.example/", f"<title>Boats</title><p>We write code for boats here.</p>{markup}"
    )


def figures(text: str) -> list[str]:
    return [word for word in text.replace("|", " ").split() if word.isdecimal()]


@pytest.mark.parametrize("name", NUMBERED)
def test_numbers_of_lines_are_no_text_in_any_form(name: str) -> None:
    page = page_of(NUMBERED[name])
    assert not figures(" ".join(page.nodes.texts))
    assert not figures(" ".join(page.once(blocks_of).texts))
    for form in FORMS:
        content = Content(page, writing=Writing(form=form)).written()
        written = content if isinstance(content, str) else msgspec.json.encode(content).decode()
        assert not figures(re.sub(r"<[^>]*>|[^\w\s]", " ", written).replace("level 1", ""))
        assert "boat" in written
    assert not figures(clean_text(page))
    assert not figures(" ".join(Page.parse("https://boats.example/", clean_html(page)).nodes.texts))
    assert "boat.sail();" in " ".join(page.nodes.texts)


@pytest.mark.parametrize("name", KEPT)
def test_other_figures_stay(name: str) -> None:
    page = page_of(KEPT[name])
    assert figures(" ".join(page.nodes.texts))


@pytest.mark.parametrize("text", ["Boats sail on code.", "<em>Boats sail on code.</em>"])
@pytest.mark.parametrize("mode", roads.ROADS)
def test_a_counter_of_comments_on_a_paragraph_is_no_text_of_it(
    mode: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    roads.take(mode, monkeypatch)
    page = page_of(f'<p><a name=p1></a><a class="opener comments_count">0</a>{text}</p>')
    assert page.nodes.texts[-1] == "Boats sail on code."


PARTS = (
    *("<tr>", "<td class=gutter>", "<td>", "<th>", "<pre>", "<code>", "<span class=ln>"),
    "<div class=line-numbers>",
    *("</td>", "</pre>", "</div>", "</span>", "1 ", "\n2\n", "3", "x", "\u00a04", "<!--c-->", "<br>", "<table>"),
)


@roads.is_built
@given(st.lists(st.sampled_from(PARTS), max_size=24))
def test_the_core_leaves_out_the_numbers_that_the_python_code_leaves_out(parts: list[str]) -> None:
    texts = []
    for mode in roads.ROADS:
        with pytest.MonkeyPatch.context() as patched:
            roads.take(mode, patched)
            texts.append(page_of("".join(parts)).nodes.texts)
    assert texts[0] == texts[1]


def test_gutters_inside_each_other_are_not_read_for_ever() -> None:
    nested = "<div class=gutter>" * 150 + "1 " * 60_000 + "boats"
    page = page_of(nested)
    assert "boats" in page.nodes.texts[-1]


def declared(html: str, *items: Any) -> list[tuple[str, str]]:
    scripts = "".join(f'<script type="application/ld+json">{json.dumps(item)}</script>' for item in items)
    texts = declared_texts_of(Page.parse("https://a.example/1", f"{scripts}<p>words</p>{html}"))
    return [(FIELDS[one.field], one.text) for one in texts]


def test_steps_are_read_from_strings_sections_and_things() -> None:
    step = {"@type": "HowToStep", "name": "Mix", "text": "Mix &amp; bake.", "image": {"description": "a bowl"}}
    section = {"@type": "HowToSection", "name": "The cake", "itemListElement": [step]}
    assert declared("", {"@type": "Recipe", "recipeInstructions": ["Heat.", section]}) == [
        ("step", "Heat."), ("step", "The cake"), ("step", "Mix"), ("step", "Mix & bake."),
    ]  # fmt: skip


def test_graphs_parts_and_main_entities_are_looked_into_once() -> None:
    part = {"@type": "WebPageElement", "text": "A part."}
    article = {"@type": "Article", "articleBody": "A story.", "hasPart": [part]}
    assert declared("", {"@graph": [{"@type": "WebPage", "mainEntity": article}]}) == [
        ("body", "A story."),
        ("body", "A part."),
    ]


def test_what_a_page_says_of_others_is_no_text_of_it() -> None:
    others = {"author": {"description": "writes"}, "publisher": {"description": "prints"}, "video": {"text": "x"}}
    person = {"@type": "Person", "description": "lives"}
    assert declared("", {"@type": "Article", "description": "A teaser.", **others}, person) == [
        ("description", "A teaser.")
    ]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"@type": "JobPosting", "description": "<p>Sail</p>"}, ("record", "Sail")),
        ({"additionalProperty": {"@type": "PropertyValue", "name": "Mass", "value": 3}}, ("record", "Mass 3")),
        ({"@type": "Review", "reviewBody": "Good."}, ("body", "Good.")),
        ({"@type": "Product", "review": {"@type": "Review", "reviewBody": "Good."}}, ("comment", "Good.")),
        ({"@type": "Article", "comment": [{"@type": "Comment", "text": "First!"}]}, ("comment", "First!")),
        ({"@type": "Article", "articleBody": {"@value": "A story."}}, ("body", "A story.")),
    ],
)
def test_a_property_belongs_to_the_field_that_its_thing_makes_it(item: Any, expected: tuple[str, str]) -> None:
    assert declared("", item) == [expected]


@pytest.mark.parametrize("mode", roads.ROADS)
def test_microdata_and_rdfa_declare_as_json_does(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    roads.take(mode, monkeypatch)
    html = (
        "<meta itemprop=description content='A teaser.'><li itemprop='recipeIngredient name'>2 eggs</li>"
        "<div itemscope itemtype=https://schema.org/Review itemprop=review><p itemprop=reviewBody>Good.</p></div>"
        "<div property=schema:articleBody>A <b>story</b>.<script>no()</script></div><p property=og:text>no</p>"
        "<div typeof=schema:Person><p property=description>lives</p></div>"
    )
    assert sorted(declared(html)) == [
        ("body", "A story."), ("comment", "Good."), ("description", "A teaser."), ("ingredient", "2 eggs"),
    ]  # fmt: skip


def test_a_page_cannot_declare_without_end() -> None:
    deep: Any = "A story."
    for _ in range(150):
        deep = {"hasPart": [deep, {"text": "x" * 9_000}]}
    assert sum(len(text) for _, text in declared("", deep)) <= 400_000


def test_nested_texts_that_hold_nothing_but_markup_are_read_up_to_the_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[int] = []

    def counted(text: str) -> str:
        read.append(len(text))
        return without_markup(text)

    monkeypatch.setattr(declarations, "without_markup", counted)
    assert declared("<div itemprop=description>" * 100 + "&amp;lt;a&amp;gt; " * 5_000) == []
    assert 45_000 <= sum(read) <= 400_000


@settings(max_examples=50, deadline=None)
@given(st.recursive(st.none() | st.text() | st.integers(), lambda some: st.lists(some) | st.dictionaries(
    st.sampled_from(["text", "description", "@type", "@graph", "comment", "recipeInstructions", "@value"]), some
)))  # fmt: skip
def test_no_json_raises(item: Any) -> None:
    declared("", item)


def test_words_are_runs_of_word_characters_in_lower_case() -> None:
    assert words("Don't PANIC — it's 42°!") == ["don", "t", "panic", "it", "s", "42"]


def test_chinese_is_cut_into_words_and_mixed_text_into_both() -> None:
    assert words("来源：新华网 CCTV") == ["来源", "新华网", "cctv"]


def test_kana_count_one_by_one() -> None:
    assert words("テスト") == ["テ", "ス", "ト"]


def test_jieba_is_loaded_only_when_chinese_text_comes() -> None:
    code = (
        "import sys; from denoise_crawler.page.text import words; "
        "words('plain English'); assert 'jieba' not in sys.modules; "
        "words('中文'); assert 'jieba' in sys.modules"
    )
    run_python("-c", code)


def test_hashes_are_the_same_in_every_process() -> None:
    code = "from denoise_crawler.page.text import hash64; print(hash64('中文 page'))"
    printed = run_python("-c", code).stdout
    assert int(printed) == hash64("中文 page")


@given(st.text())
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    assert collapse_spaces(collapse_spaces(text)) == collapse_spaces(text)


@given(st.text(st.characters()))
def test_no_text_raises(text: str) -> None:
    assert all(words(text))
    assert 0 <= hash64(text) < 1 << 64


def test_the_time_for_a_run_of_chinese_grows_with_its_length_and_no_character_is_lost() -> None:
    run = "的" * 100_000  # with the square, this would take minutes
    assert "".join(words(run)) == run
