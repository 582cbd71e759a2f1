from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from denoise_crawler import denoise_pages
from denoise_crawler.methods import MethodChoice
from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.methods.fusion.declared import linked_data_of
from denoise_crawler.methods.fusion.features import Evidence, Words
from denoise_crawler.methods.fusion.page_type import CUT_SHIFTS, page_type_of
from denoise_crawler.methods.fusion.records import MAX_VALUES, product_values
from denoise_crawler.page import Page
from tests.methods.test_page_types import ARTICLE, PRODUCT, kinds
from tests.strategies import html_pages


def values_of(html: str, declared: frozenset[str] = frozenset()) -> list[str]:
    page = Page.parse("https://a.example/x", html)
    evidence = Evidence.of(page, blocks_of(page), None, Words.none())
    found = product_values(evidence, declared)
    return [evidence.blocks.texts[block] for block in np.flatnonzero(found)]


def test_prices_near_the_title_and_rows_of_codes_and_makers_anywhere_are_values() -> None:
    far = "".join(f"<p>Words {n} of a review that somebody wrote" for n in range(60))
    html = (
        "<h1>Kettle</h1><div>€ 49,99</div><div>Brand: Orr</div><div>In stock</div>"
        f"{far}<table><tr><td>Item model number<td>K-7<tr><td>Colour<td>Red</table>"
        "<div>ASIN : B00X</div><p>$3.50</p>"
    )
    assert values_of(html) == ["€ 49,99", "Brand: Orr", "Item model number", "K-7", "ASIN : B00X"]


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
    "row", ["sku: k7", "SKU: K7", "Sku: Ключ 7", "КОД: К77", "код: k7", "ſKU: K7", "HERSTELLERNUMMER 7ß"]
)
def test_a_label_is_one_in_capitals_and_small_letters_of_any_script(row: str) -> None:
    assert values_of(f"<h1>Kettle</h1><p>{row}") == [row]


def test_sentences_that_begin_like_a_label_and_pages_without_a_title_have_none() -> None:
    assert values_of("<h1>Kettle</h1><p>Models of this kind boil well.<p>Number one with readers<p>") == []
    assert values_of("<p>SKU: K-7") == []


def test_the_rows_are_bounded() -> None:
    rows = "".join(f"<p>SKU: {n}{n}" for n in range(40))
    assert len(values_of(f"<h1>Kettle</h1>{rows}")) == MAX_VALUES


@given(html=html_pages())
def test_any_page_is_read(html: str) -> None:
    values_of(f"<h1>Title</h1>{html}", frozenset({"abc"}))


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


def test_why_a_value_was_kept_is_said() -> None:
    page = Page.parse("https://a.example/product/kettle-de-luxe", PRODUCT + "<aside>ASIN: B00DV9HENS</aside>")
    judged = MethodChoice("fusion").new().judge(page)
    node = next(index for index, text in enumerate(page.nodes.texts) if "ASIN" in text)
    assert not judged.noise[node]
    assert judged.reason(node) == "a value of the product: its price, a code or its maker"


def test_articles_are_cut_shorter_and_lists_and_manuals_longer() -> None:
    shifts = {
        kind: page_type_of(kinds(kind, 5.0), None, has_fields=False).shift for kind in ("article", "listing")
    }
    assert shifts["article"] < 0 < shifts["listing"]


def test_an_unsure_type_shifts_the_cut_by_the_mean_of_what_the_page_may_be() -> None:
    sure, unsure, even = (
        page_type_of(kinds("listing", score), None, has_fields=False).shift for score in (9.0, 2.0, 0.0)
    )
    assert 0 < even < unsure < sure
    assert even == pytest.approx(sum(CUT_SHIFTS.values()) / len(CUT_SHIFTS))
