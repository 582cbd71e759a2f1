"""Items of lists and shops, and the values of products by name."""

import json

import pytest

from denoise_crawler import Page, Writing, denoise_pages
from denoise_crawler.output.clean_page import page_records
from denoise_crawler.records.product import (
    amount_of,
    availability_of,
    currency_of,
    find_price,
    label_of,
    product_fields,
)

URL = "https://shop.example/lamps/"
CARD = (
    "<div class=card><a href=/lamp/{0}><img src=/{0}.jpg></a><h3><a href=/lamp/{0}>Lamp {0}</a></h3>"
    "<p>A lamp of {0} candles for the desk.</p><span class=price>{0},50 €</span><button>Buy</button>"
    "<span>Free shipping</span></div>"
)
LIST = "<nav><a href=/a>Lamps</a><a href=/b>Chairs</a><a href=/c>Tables</a></nav><h1>Lamps</h1><main>{}</main>"


def test_each_item_of_a_list_has_title_link_price_and_text() -> None:
    html = LIST.format("".join(CARD.format(number) for number in range(3, 9)))
    found = page_records(Page.parse(URL, html), None, "listing")
    assert len(found) == 6
    assert found[0] == {
        "kind": "item",
        "title": "Lamp 3",
        "link": "https://shop.example/lamp/3",
        "price": "3,50 €",
        "text": "A lamp of 3 candles for the desk.",
    }


def test_a_menu_is_no_list_of_items_where_it_is_noise() -> None:
    page = Page.parse(URL, LIST.format("<p>There are no lamps at the moment. Come back in May.</p>"))
    noise = [index < page.nodes.ends[1] and index > 0 for index in range(len(page.nodes))]
    assert page_records(page, noise, "listing") == []


def product(**values: object) -> str:
    return f'<script type="application/ld+json">{json.dumps({"@type": "Product", **values})}</script>'


OFFER = {"@type": "Offer", "price": "12.50", "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}


@pytest.mark.parametrize(
    "html",
    [
        product(sku="L-7", brand={"@type": "Brand", "name": "Lux"}, offers=OFFER),
        product(sku="L-7", brand="Lux", offers=[OFFER]),
        product(sku="L-7", brand=["Lux"], offers={"@type": "AggregateOffer", "lowPrice": 12.5, "offers": [OFFER]}),
        (
            "<div itemscope><meta itemprop=sku content=L-7><span itemprop=brand><b itemprop=name>Lux</b></span>"
            "<span itemprop=price content=12.50>12,50</span><meta itemprop=priceCurrency content=EUR>"
            "<link itemprop=availability href=https://schema.org/InStock></div>"
        ),
        ("<h1>Lamp</h1><p class=price>12,50 €</p><p>In stock</p><dl><dt>Brand<dd>Lux<dt>Item no.:<dd>L-7</dl>"),
        "<h1>Lamp</h1><del>20,00 €</del><p>12,50 €</p><p>Auf Lager</p><p>Marke: Lux</p><p>Artikelnummer: L-7</p>",
    ],
    ids=["brand as an object", "offers as a list", "a range of prices", "microdata", "labels", "labels in German"],
)
def test_a_value_has_its_name_however_the_page_says_it(html: str) -> None:
    found = product_fields(Page.parse(URL, html))
    price = found.pop("price")
    assert float(price) == 12.5
    assert found == {"currency": "EUR", "sku": "L-7", "brand": "Lux", "availability": "InStock"}


def test_a_code_that_readers_see_goes_before_one_that_only_machines_are_told() -> None:
    html = product(sku="internal-9", offers=OFFER) + "<h1>Lamp</h1><p>SKU: L-7</p>"
    assert product_fields(Page.parse(URL, html))["sku"] == "L-7"


def test_a_page_of_another_type_has_values_only_if_it_offers_something() -> None:
    story, offer = "<h1>Prices rise</h1><p>Milk is now 2 €.</p>", product(sku="L-7", offers=OFFER)
    assert product_fields(Page.parse(URL, story), "article") == {}
    assert product_fields(Page.parse(URL, offer), "article")["sku"] == "L-7"


@pytest.mark.parametrize(
    ("text", "price", "amount", "currency"),
    [
        ("1.299,00 €", "1.299,00 €", "1299.00", "EUR"),
        ("$1,299", "$1,299", "1299", "$"),
        ("US$ 12.50 each", "US$ 12.50", "12.50", "US$"),
        ("zł 3", "", "3", ""),
        ("12 345,67 руб", "12 345,67 руб", "12345.67", "RUB"),
        ("5 apples", "", "5", ""),
        ("none", "", "", ""),
    ],
)
def test_prices_are_read_as_people_write_them(text: str, price: str, amount: str, currency: str) -> None:
    assert (find_price(text), amount_of(text), currency_of(text)) == (price, amount, currency)


def test_labels_are_told_from_sentences() -> None:
    assert label_of("Manufacturer part number") is not None
    assert label_of("The brand is known for its lamps") is None
    assert label_of("x" * 1_000) is None
    assert availability_of("Add to cart") == "InStock"
    assert availability_of("nicht auf Lager") == "OutOfStock"


def test_json_ld_comes_as_data_and_broken_json_is_left_out() -> None:
    html = product(sku="L-7") + '<script type="application/ld+json">{"broken": </script><p>Text'
    [page] = denoise_pages([(URL, html)], writing=Writing(json_ld=True))
    assert page.json_ld == [{"@type": "Product", "sku": "L-7"}]


@pytest.mark.parametrize(
    "value",
    ["null", "[]", "7", '[[["Product"]]]', '{"@type": "Product", "offers": {"offers": [[]]}, "brand": [[]]}'],
)
def test_json_ld_of_any_shape_hurts_nothing(value: str) -> None:
    html = f'<script type="application/ld+json">{value}</script><h1>Lamp</h1><p>SKU: L-7</p>'
    assert product_fields(Page.parse(URL, html)) == {"sku": "L-7"}
