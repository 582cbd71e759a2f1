from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denoise_crawler import core
from denoise_crawler.page import Page
from denoise_crawler.page.declarations import FIELDS, declared_texts_of


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


@pytest.mark.parametrize("mode", ["auto", "off"])
def test_microdata_and_rdfa_declare_as_json_does(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "mode", mode)
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


@settings(max_examples=50, deadline=None)
@given(st.recursive(st.none() | st.text() | st.integers(), lambda some: st.lists(some) | st.dictionaries(
    st.sampled_from(["text", "description", "@type", "@graph", "comment", "recipeInstructions", "@value"]), some
)))  # fmt: skip
def test_no_json_raises(item: Any) -> None:
    declared("", item)
