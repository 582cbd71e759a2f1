from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
from hypothesis import given, settings

from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.methods.fusion.declared import DECLARED, declared_of
from denoise_crawler.methods.fusion.features import page_names
from denoise_crawler.methods.fusion.tellers import TELLERS, Case
from denoise_crawler.methods.fusion.weights import shipped_model
from denoise_crawler.page import Page
from denoise_crawler.page.declarations import FIELDS
from tests.strategies import html_pages

STORY = "The harbour was empty at dawn and all boats had left it for the fishing grounds in the north."
FIELD_OF = {True: "ingredient", False: "comment"}
ITEMS = "2 eggs", "1 cup of flour", "a pinch of salt", "500 g sugar"


def page(html: str, *items: dict[str, Any]) -> Page:
    scripts = "".join(f'<script type="application/ld+json">{json.dumps(item)}</script>' for item in items)
    return Page.parse("https://a.example/1", scripts + html)


def columns(one: Page) -> dict[str, list[float]]:
    blocks = one.once(blocks_of)
    rows = np.broadcast_to(declared_of(one), (len(DECLARED), len(blocks)))
    return {name: [round(one, 2) for one in row.tolist()] for name, row in zip(DECLARED, rows, strict=True)}


def listed(items: tuple[str, ...], tag: str = "li") -> str:
    return "".join(f"<{tag}>{item}</{tag}>" for item in items)


def recipe(**fields: Any) -> dict[str, Any]:
    return {"@type": "Recipe", "recipeIngredient": list(ITEMS), **fields}


def test_the_blocks_of_a_page_that_declares_nothing_are_told_so_by_one_number_for_all() -> None:
    rows = declared_of(page(f"<p>{STORY}<p>{STORY}"))
    assert rows.shape == (len(DECLARED), 1)
    assert all(rows[DECLARED.index(f"{field} declared")] == -1 for field in FIELDS)


def test_a_block_is_told_which_share_of_its_words_stands_in_a_field() -> None:
    found = columns(page(f"<p>Menu</p><p>{STORY}</p><p>{STORY} Read on!</p>", {"articleBody": STORY}))
    assert found["body declared"] == [0.0, 1.0, 0.9]
    assert found["shown body declared"] == [1.0] * 3
    assert found["ingredient declared"] == [-1.0] * 3


def test_a_text_that_the_page_declares_and_does_not_show_is_told_from_one_it_shows() -> None:
    spam = {"@type": "Article", "articleBody": "Cheap pills " + " ".join(f"pill{number}" for number in range(90))}
    assert columns(page(f"<p>{STORY}</p>", spam))["shown body declared"] == [0.0]


def test_short_ingredients_are_found_as_whole_blocks_only() -> None:
    found = columns(page(f"<ul>{listed(ITEMS)}</ul><p>Beat 2 eggs well.</p><p>2 eggs</p>", recipe()))
    assert found["ingredient declared"] == [1.0] * 4 + [0.0, 1.0]


def test_an_ingredient_may_stand_in_several_cells() -> None:
    cells = "".join(f"<tr>{listed(tuple(item.split()), 'td')}</tr>" for item in ITEMS)
    found = columns(page(f"<table>{cells}</table><p>Other</p>", recipe()))
    assert found["ingredient declared"] == [1.0] * (len(found["ingredient declared"]) - 1) + [0.0]
    assert found["rows declared"][:-1] == [1.0] * (len(found["rows declared"]) - 1)


def test_an_item_that_differs_is_told_how_many_of_its_list_are_declared() -> None:
    found = columns(page(f"<ul>{listed((*ITEMS[:3], 'raspberries for the top'))}</ul>", recipe()))
    assert found["ingredient declared"][-1] == 0.0
    assert found["rows declared"] == [0.75] * 4


def test_chinese_texts_are_compared_sign_by_sign() -> None:
    found = columns(
        page("<p>清晨的港口空无一人。</p><p>渔民们都出海了</p>", {"articleBody": "清晨的港口空无一人,船都走了。"})
    )
    assert found["body declared"] == [1.0, 0.0]


def test_fields_are_kept_apart() -> None:
    answer = {
        "@type": "Question",
        "name": "Who?",
        "acceptedAnswer": {"@type": "Answer", "text": f"<p>{STORY}</p>"},
    }
    faq = {"@type": "FAQPage", "description": "All about the harbour and the boats", "mainEntity": [answer]}
    found = columns(page(f"<p>{STORY}</p><p>All about the harbour and the boats</p>", faq))
    assert found["answer declared"] == [1.0, 0.0]
    assert found["description declared"] == [0.0, 1.0]


def test_hidden_blocks_and_panels_are_told_apart() -> None:
    html = (
        f"<style>.x {{ display: none }}</style><p>{STORY}</p><div class=x>{STORY}</div>"
        f"<details><summary>More</summary><p>{STORY}</p></details><div aria-hidden=true>Seen</div>"
    )
    found = columns(page(html))
    assert found["in unseen"] == [0, 1, 0, 0, 0]
    assert found["in panel"] == [0, 0, 1, 1, 0]
    assert 0.2 < found["page unseen"][0] < 0.4


def test_the_columns_are_features_and_small_enough_to_be_sent() -> None:
    one = page(f"<ul>{listed(ITEMS)}</ul>", recipe())
    alone = one.once(shipped_model().alone)
    assert alone.table[:, page_names().index("ingredient declared")].tolist() == [1.0] * 4
    assert len(pickle.dumps(alone.evidence.declared)) < 1_000


def test_reasons_name_the_field_that_a_block_stands_in_and_what_is_hidden() -> None:
    one = page(f"<ul>{listed(ITEMS)}</ul>", recipe())
    evidence = one.once(shipped_model().alone).evidence
    kept, commented = (Case(evidence, 0, taken, {f"{field} declared": 1.0}) for taken, field in FIELD_OF.items())
    assert TELLERS["declared"](kept) == "most of its words are in what the page declares as ingredients"
    assert TELLERS["declared"](commented) == "most of its words are in what the page declares as comments"
    assert TELLERS["landmark"](Case(evidence, 0, taken=False, values={"in unseen": 1.0})) == "hidden from readers"


@settings(max_examples=50, deadline=None)
@given(html_pages(40))
def test_each_number_of_any_page_is_one(html: str) -> None:
    one = page(html, recipe(), {"articleBody": html})
    assert np.isfinite(declared_of(one)).all()
