"""What a page declares of itself or hides: values of products, linked data, texts."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from denoise_crawler import Denoiser, denoise_pages
from denoise_crawler.methods import METHODS
from denoise_crawler.methods.base import Judgement
from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.methods.fusion.declared import DECLARED, declared_of, linked_data_of
from denoise_crawler.methods.fusion.features import Look, Words
from denoise_crawler.methods.fusion.reasons import Case
from denoise_crawler.methods.fusion.record_blocks import product_values, related_products
from denoise_crawler.methods.fusion.weights import shipped_model
from denoise_crawler.methods.guard import without_much_hidden
from denoise_crawler.page import Page
from denoise_crawler.page.declarations import FIELDS
from tests.methods.test_page_types import ARTICLE, PRODUCT
from tests.strategies import html_pages


def values_of(html: str, declared: frozenset[str] = frozenset()) -> list[str]:
    page = Page.parse("https://a.example/x", html)
    look = Look.of(page, Words.none())
    found = product_values(look, declared)
    return [look.blocks.texts[block] for block in np.flatnonzero(found)]


def test_prices_near_the_title_and_rows_of_codes_and_makers_anywhere_are_values() -> None:
    far = "".join(f"<p>Words {n} of a review that somebody wrote" for n in range(60))
    html = (
        "<h1>Kettle</h1><div>€ 49,99</div><div>Brand: Orr</div><div>In stock</div>"
        f"{far}<table><tr><td>Item model number<td>K-7<tr><td>Colour<td>Red</table>"
        "<div>ASIN : B00X</div><p>$3.50</p>"
    )
    assert values_of(html) == ["€ 49,99", "Brand: Orr", "Item model number", "K-7", "ASIN : B00X"]


def test_rows_of_a_table_with_a_link_and_prices_are_cards_of_other_products() -> None:
    rows = "".join(f"<tr><td><a href=/{n}>Kettle {n}</a><td>$7.99<td>$5.99" for n in range(3))
    blocks = blocks_of(page := Page.parse("https://a.example/x", f"<h1>Kettle</h1><p>$3<table>{rows}</table>"))
    found = related_products(Look.of(page, Words.none()))
    assert [text for text, other in zip(blocks.texts, found, strict=True) if not other] == ["Kettle", "$3"]


def test_a_short_block_with_a_declared_value_is_one() -> None:
    html = (
        '<script type="application/ld+json">{"@type": "Product", "brand": {"@type": "Brand", "name": "Vane & Co"},'
        '"mpn": "QX-12", "price": 7}</script><h1>Kettle</h1><p>Vane &amp; Co<p>Our QX-12<p>7 left<p>'
        + "A QX-12 boils two litres of water in three minutes, as our readers say."
    )
    declared = linked_data_of(Page.parse("https://a.example/x", html)).values
    assert declared == {"vaneco", "qx12"}  # a single digit says nothing
    assert values_of(html, declared) == ["Vane & Co", "Our QX-12"]


@pytest.mark.parametrize(
    "row",
    ["sku: k7", "SKU: K7", "Sku: Ключ 7", "КОД: К77", "код: k7", "ſKU: K7", "HERSTELLERNUMMER 7ß", "Web Code: K7"],
)
def test_a_label_is_one_in_capitals_and_small_letters_of_any_script(row: str) -> None:
    assert values_of(f"<h1>Kettle</h1><p>{row}") == [row]


def test_sentences_that_begin_like_a_label_and_pages_without_a_title_have_none() -> None:
    assert values_of("<h1>Kettle</h1><p>Models of this kind boil well.<p>Number one with readers<p>") == []
    assert values_of("<p>SKU: K-7") == []


def test_values_are_in_the_text_of_a_product_and_not_of_an_article() -> None:
    row = "<aside><div>ASIN</div><div>B00DV9HENS</div></aside>"
    texts = [
        one.text
        for html in (PRODUCT, ARTICLE)
        for one in denoise_pages([("https://a.example/product/x", html + row)])
    ]
    assert "$49.99" in texts[0]
    assert "B00DV9HENS" in texts[0]
    assert "B00DV9HENS" not in texts[1]


STORY = [
    f"The {name} left the harbour at dawn and came back with nothing but weed in its nets." for name in "abcd"
]


def page(data: str, html: str = "") -> Page:
    return Page.parse(
        "https://a.example/1", f'<script type="application/ld+json">{data}</script>{html}<p>words</p>'
    )


def declared(body: str) -> str:
    return json.dumps({"@context": "https://schema.org", "@type": ["NewsArticle"], "articleBody": body})


def test_a_page_declares_types_and_the_text_of_its_article() -> None:
    found = linked_data_of(page(declared("<p>" + " &amp; ".join(STORY).replace("left", 'said "left"') + "</p>")))
    assert found.types == {"NewsArticle"}
    assert found.body.startswith("theasaidleftthe")


def test_json_that_is_cut_off_or_has_line_breaks_in_it_is_read_as_far_as_it_goes() -> None:
    assert linked_data_of(page(declared("\\n".join(STORY)) + ',"x": [{')).body
    assert linked_data_of(page(declared(" ".join(STORY)).replace("at dawn", "at\ndawn"))).body


@pytest.mark.parametrize("data", ["", "{", declared("A teaser."), declared(" ".join(STORY))[:90]])
def test_a_page_that_declares_no_whole_text_says_nothing(data: str) -> None:
    one = page(data)
    assert declared_of(one)[DECLARED.index("in body declared")].tolist() == [-1.0]


def test_blocks_are_told_whether_they_stand_in_the_declared_text_and_what_comes_after_it() -> None:
    html = "".join(
        f"<p>{text}</p>" for text in ["Menu", *STORY[:2], "Read also: weed prices", *STORY[2:], "Another story"]
    )
    one = page(declared("\n\n".join(STORY)), html)
    inside, to_end = (
        declared_of(one)[DECLARED.index(name)] for name in ("in body declared", "blocks to end declared")
    )
    assert inside.tolist() == [0, 1, 1, 0, 1, 1, 0, 0]
    assert to_end.tolist() == [-5, -4, -3, -2, -1, 0, 1, 2]


DECLARED_STORY = "The harbour was empty at dawn and all boats had left it for the fishing grounds in the north."
FIELD_OF = {True: "ingredient", False: "comment"}
ITEMS = "2 eggs", "1 cup of flour", "a pinch of salt", "500 g sugar"


def declared_page(html: str, *items: dict[str, Any]) -> Page:
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
    rows = declared_of(declared_page(f"<p>{DECLARED_STORY}<p>{DECLARED_STORY}"))
    assert rows.shape == (len(DECLARED), 1)
    assert all(rows[DECLARED.index(f"{field} declared")] == -1 for field in FIELDS)


def test_reasons_name_the_field_that_a_block_stands_in_and_what_is_hidden() -> None:
    one = declared_page(f"<ul>{listed(ITEMS)}</ul>", recipe())
    look = one.once(shipped_model().alone)
    kept, commented = (Case(look, 0, taken, {f"{field} declared": 1.0}) for taken, field in FIELD_OF.items())
    assert "ingredients" in kept.describe("declared")
    assert "comments" in commented.describe("declared")
    assert Case(look, 0, taken=False, values={"in unseen": 1.0}).describe("landmark") == "hidden from readers"


@settings(max_examples=50, deadline=None)
@given(html_pages(40))
def test_each_number_of_any_page_is_one(html: str) -> None:
    one = declared_page(html, recipe(), {"articleBody": html})
    assert np.isfinite(declared_of(one)).all()


HIDDEN_STORY = [
    f"The {name} left the harbour at dawn, although the old men of the village had warned its crew of the storm, "
    f"and came back at night with nothing but weed and stones in its nets, as they had said on day {day}."
    for day, name in enumerate(("trawler", "ferry", "barge", "tug", "yacht", "cutter"))
]
SPAM = " ".join(f"cheap{number % 97} pills casino{number % 31} loan{number % 13}" for number in range(2_000))
WAYS = {
    "attribute": "<div hidden>{}</div>",
    "inline style": "<div style='display:none'><p>{}</p></div>",
    "style sheet": "<style>.x1{{display:none}}</style><section class=x1>{}</section>",
    "off the screen": "<div style='position:absolute; left:-9999px'>{}</div>",
}
PANELS = {
    "details": "<details><summary>More</summary><p>{}</p></details>",
    "tab": "<div role=tabpanel hidden>{}</div>",
    "named by a button": "<button aria-expanded=false aria-controls=x></button><div id=x hidden>{}</div>",
    "found by searching": "<div hidden=until-found>{}</div>",
    "accordion": "<div data-testid=accordion-content-1><div hidden>{}</div></div>",
    "moved by a script": "<div hidden id='S:2'>{}</div>",
}


def paragraphs(texts: list[str]) -> str:
    return "".join(f"<p>{text}</p>" for text in texts)


def hidden_page(html: str, data: object = None, number: int = 0) -> Page:
    script = f'<script type="application/ld+json">{json.dumps(data)}</script>' if data else ""
    menu = "<nav><a href=/>Home</a> <a href=/news>News</a></nav>"
    return Page.parse(f"https://a.example/{number}", f"<title>A storm</title><body>{script}{menu}{html}")


def kept(one: Page) -> str:
    count = len(one.nodes)
    noise = without_much_hidden(one, Judgement([False] * count, [0.0] * count)).noise
    return " ".join(text for text, gone in zip(one.nodes.texts, noise, strict=True) if not gone)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("method", METHODS)
def test_eight_thousand_hidden_words_of_spam_are_in_no_method_s_text(method: str, way: str) -> None:
    denoiser = Denoiser(method)
    story = f"<main><h1>A storm</h1>{paragraphs(HIDDEN_STORY)}</main>"
    for number in range(1, 4):
        denoiser.learn(hidden_page(story.replace("storm", f"storm {number}"), number=number))
    cleaned = denoiser.clean(hidden_page(story + WAYS[way].format(SPAM)))
    assert "pills" not in cleaned.clean_page.text
    assert "harbour" in cleaned.clean_page.text


@pytest.mark.parametrize("panel", PANELS)
def test_panels_keep_more_text_than_is_seen(panel: str) -> None:
    assert "pills" in kept(hidden_page(paragraphs(HIDDEN_STORY) + PANELS[panel].format(SPAM)))


def test_hidden_text_counts_where_the_page_shows_no_content_of_its_own() -> None:
    assert "ferry" in kept(
        hidden_page(f"<p>Please sign in.</p><div style=display:none>{paragraphs(HIDDEN_STORY)}</div>")
    )


def test_less_hidden_text_than_is_seen_is_left_to_the_method() -> None:
    assert "ferry" in kept(
        hidden_page(f"{paragraphs(HIDDEN_STORY[2:])}<div hidden>{paragraphs(HIDDEN_STORY[:2])}</div>")
    )


@pytest.mark.parametrize(
    ("data", "meta"),
    [
        ({"@type": "Article", "articleBody": " ".join(HIDDEN_STORY)}, ""),
        ({"@type": "Article", "isAccessibleForFree": False}, ""),
        ({"@type": "Article", "hasPart": {"isAccessibleForFree": "False", "cssSelector": ".wall"}}, ""),
        (None, f'<meta property="og:description" content="{HIDDEN_STORY[1]}">'),
        (None, "<div hidden><h1>A storm took the boats of our town</h1></div>"),
    ],
)
def test_a_hidden_article_stays_if_the_page_tells_of_it(data: object, meta: str) -> None:
    offer = paragraphs(
        [f"Read all of it for {price} crowns a month, as long as you wish. " * 3 for price in range(4)]
    )
    wall = f"<div class=wall hidden>{'<h1>A storm took the boats of our town</h1>' * ('h1' in meta)}"
    html = f"{meta * ('h1' not in meta)}{offer}{wall}{paragraphs(HIDDEN_STORY)}</div>"
    assert "ferry" in kept(hidden_page(html, data))
    assert "ferry" not in kept(hidden_page(f"{offer}<div class=wall hidden>{paragraphs(HIDDEN_STORY)}</div>"))


def test_many_small_hidden_labels_are_left_to_the_method() -> None:
    labels = "".join(f"<li><i hidden>Colour number {number}</i></li>" for number in range(400))
    assert "Colour number 7" in kept(hidden_page(f"{paragraphs(HIDDEN_STORY)}<ul>{labels}</ul>"))


def test_the_reason_names_what_was_done() -> None:
    one = hidden_page(paragraphs(HIDDEN_STORY) + WAYS["attribute"].format(SPAM))
    count = len(one.nodes)
    assert "hidden" in without_much_hidden(one, Judgement([False] * count, [0.0] * count)).reason(count - 1)
