"""The values of the product of a page: those it declares to machines, and those it shows to readers."""

from __future__ import annotations

import re
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from denoise_crawler.page import TEXT
from denoise_crawler.page.declarations import declarations_of
from denoise_crawler.page.text import collapse_spaces
from denoise_crawler.records.product_text import (
    MAX_VALUE,
    Label,
    amount_of,
    availability_of,
    currency_of,
    find_price,
    label_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.etree import _Element

    from denoise_crawler.page import Nodes, Page
    from denoise_crawler.page.declarations import Item

_MAX_DECLARED = 200
_MAX_ELEMENTS = 500
_PRODUCT = re.compile(r"^(?:\w+:)?(?:Individual)?Product(?:Model|Group)?$")
_CODES = {"sku": ("sku", "productID"), "mpn": ("mpn", "model")}
_GTINS = ("gtin13", "gtin", "gtin14", "gtin12", "gtin8", "isbn", "ean")
_OF_OFFER = {
    "price": ("price", "lowPrice"), "currency": ("priceCurrency",), "availability": ("availability",),
    "sku": ("sku",), "gtin": _GTINS, "mpn": ("mpn",),
}  # fmt: skip
_PROPERTIES = {
    "price": "price", "lowPrice": "price", "priceCurrency": "currency", "availability": "availability",
    "brand": "brand", "manufacturer": "brand", "sku": "sku", "productID": "sku", "mpn": "mpn", "model": "mpn",
} | dict.fromkeys(_GTINS, "gtin")  # fmt: skip
_METAS = {
    "product:price:amount": "price", "og:price:amount": "price", "product:price:currency": "currency",
    "og:price:currency": "currency", "product:brand": "brand", "og:brand": "brand", "product:availability":
    "availability", "og:availability": "availability", "product:retailer_item_id": "sku",
}  # fmt: skip
FIELDS = ("price", "currency", "sku", "gtin", "mpn", "brand", "availability")
_PRICE_NAME = re.compile(r"price|preis|prix|precio|prezzo|preco|cena|hind", re.IGNORECASE)
_OLD_PRICE = re.compile(
    r"old|was\b|was-|before|strike|list-?price|rrp|msrp|crossed|regular|previous|saving|shipping|unit",
    re.IGNORECASE,
)
_STRUCK = frozenset({"del", "s", "strike"})
_LEVELS = 3
_MAX_NAMES = 200  # characters
_CODE_FIELDS = frozenset({"sku", "gtin", "mpn"})
_HAS_DIGIT = re.compile(r"\d")
_NEAR = 400  # nodes around the title


def declared_values(page: Page) -> Iterator[tuple[str, str]]:
    """Yield the names and values that ``page`` declares of its product, those to be trusted most first."""
    if page.tree is None:
        return
    for item in page.once(declarations_of).items:
        if _is_product(item):
            yield from _of_item(item)
    yield from _of_microdata(page.tree)
    for meta in page.tree.iter("meta"):
        name = _METAS.get((meta.get("property") or meta.get("name") or "").lower())
        if name and (value := _text(meta.get("content"))):
            yield name, value


def _is_product(item: Item) -> bool:
    kinds = item.get("@type")
    listed = kinds if isinstance(kinds, list) else [kinds]
    return any(isinstance(kind, str) and _PRODUCT.match(kind) for kind in listed)


def _of_item(item: Item) -> Iterator[tuple[str, str]]:
    said = {name: _first(item, names) for name, names in _CODES.items()}
    said |= {"gtin": _first(item, _GTINS), "brand": _named(item.get("brand")) or _named(item.get("manufacturer"))}
    for offer in _offers(item):
        for name, names in _OF_OFFER.items():
            said[name] = said.get(name) or next(
                (text for one in _with_price(offer) if (text := _first(one, names))), ""
            )
    yield from ((name, value) for name, value in said.items() if value)


def _with_price(offer: Item) -> list[Item]:
    price = offer.get("priceSpecification")
    price = price[0] if isinstance(price, list) and price else price
    return [offer, price] if isinstance(price, dict) else [offer]


def _offers(item: Item) -> list[Item]:
    offers = item.get("offers")
    listed = offers if isinstance(offers, list) else [offers]
    outer = [offer for offer in listed[:1] if isinstance(offer, dict)]
    inner = [one for offer in outer for one in _offers(offer)]
    return outer + inner[:1]


def _first(item: Item, names: tuple[str, ...]) -> str:
    return next((text for name in names if (text := _named(item.get(name)))), "")


def _named(value: Any) -> str:
    """Return the text of a JSON-LD value: of an object its name, of a list the first."""
    for _ in range(3):
        if isinstance(value, list):
            value = value[0] if value else None
        if isinstance(value, dict):
            value = value.get("name") or value.get("@value")
    return _text(str(value)) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _of_microdata(root: _Element) -> Iterator[tuple[str, str]]:
    elements: Any = root.xpath("(/descendant::*[@itemprop])[position() <= $most]", most=_MAX_ELEMENTS)
    for element in elements:
        for name in element.get("itemprop", "").split():
            if name in _PROPERTIES and (value := _microdata_value(element)):
                yield _PROPERTIES[name], value


def _microdata_value(element: _Element) -> str:
    named: Any = element.xpath("(.//*[@itemprop='name'])[1]")
    source = named[0] if named else element
    written = source.get("content") or source.get("href") if source.tag in ("meta", "link", "data") else None
    return _text(written or source.get("content") or "".join(map(str, source.itertext())))


def _text(value: str | None) -> str:
    line = collapse_spaces(value or "")
    return line if len(line) <= _MAX_DECLARED else ""


def product_fields(page: Page, page_type: str | None = None) -> dict[str, str]:
    """Return the values of the product that ``page`` is about, those of ``FIELDS`` that it says.

    Args:
        page: The page.
        page_type: What the page is, None where the method cannot tell. A page of another type than product needs a
            price that it declares, or a price and a code beside its label; else it has no values.

    Example:
        >>> from denoise_crawler import Page
        >>> html = "<h1>Lamp</h1><b class=price>12,50 €</b><table><tr><th>SKU<td>L-7<tr><th>Brand<td>Lux</table>"
        >>> product_fields(Page.parse("https://a.example/", html))
        {'price': '12.50', 'currency': 'EUR', 'sku': 'L-7', 'brand': 'Lux'}

    """
    nodes, fields = page.nodes, dict[str, str]()
    declared, labelled = list(declared_values(page)), _labelled(nodes)
    shown = _bare("".join(nodes.texts))
    seen = (one for one in declared if one[0] not in _CODE_FIELDS or _bare(one[1]) in shown)
    # a code that only machines are told may be that of a variant
    for name, value in (*seen, *labelled, *declared, *_price(nodes), *_availability(nodes)):
        if name not in fields and (plain := _plain(name, value)):
            fields[name] = plain
    is_offer = "price" in dict(declared) or ("price" in fields and not _CODE_FIELDS.isdisjoint(dict(labelled)))
    is_product = page_type in (None, "product") or is_offer
    return {name: fields[name] for name in FIELDS if name in fields} if is_product else {}


def _bare(text: str) -> str:
    """Return the letters and digits of ``text``, in small letters."""
    return "".join(filter(str.isalnum, text)).lower()


def _plain(name: str, value: str) -> str:
    if name == "price":
        return amount_of(value)
    if name == "currency":
        return currency_of(f"{value} 1") or value
    return availability_of(value) if name == "availability" else value


def _labelled(nodes: Nodes) -> list[tuple[str, str]]:
    """Return the values that stand behind or beside a label, those with the plainest label first."""
    labelled: list[tuple[bool, str, str]] = []
    waiting: Label | None = None
    for index, tag in enumerate(nodes.tags):
        if tag != TEXT or not (line := collapse_spaces(nodes.texts[index])):
            continue
        label = label_of(line)
        if label is not None and label.value:
            labelled.append((not label.is_plain, label.name, label.value))
        elif label is None and waiting is not None and len(line) <= MAX_VALUE:
            if not (value := line.lstrip(": ")):
                continue
            labelled.append((not waiting.is_plain, waiting.name, value))
        waiting = label if label is not None and not label.value else None
    values = ((name, value) for _, name, value in sorted(labelled, key=itemgetter(0)))
    return [(name, value) for name, value in values if name not in _CODE_FIELDS or _may_be_code(value)]


def _may_be_code(text: str) -> bool:
    return _HAS_DIGIT.search(text) is not None and not find_price(text)


def _price(nodes: Nodes) -> Iterator[tuple[str, str]]:
    """Yield the price and the currency that stand near the title: what is named a price first."""
    named, others = [], []
    for index in _near_title(nodes):
        line = collapse_spaces(nodes.texts[index]) if nodes.tags[index] == TEXT else ""
        if not line or not _HAS_DIGIT.search(line):
            continue
        names = _names_above(nodes, index)
        if names is None:
            continue
        price = find_price(line)
        if _PRICE_NAME.search(names) and not _OLD_PRICE.search(names) and (price or len(line) <= 20):
            named.append(price or line)
        elif price:
            others.append(price)
    for price in (named + others)[:1]:
        yield "price", price
        if currency := currency_of(price):
            yield "currency", currency


def _near_title(nodes: Nodes) -> range:
    title = next((index for index, tag in enumerate(nodes.tags) if tag == "h1"), 0)
    return range(title, min(title + _NEAR, len(nodes)))


def _names_above(nodes: Nodes, index: int) -> str | None:
    """Return the classes and ids of the elements around a text; None if it is struck out."""
    names = []
    above = nodes.parents[index]
    for _ in range(_LEVELS):
        if above < 0:
            break
        if nodes.tags[above] in _STRUCK:
            return None
        element = nodes.elements[above]
        names.append(f"{element.get('class', '')[:_MAX_NAMES]} {element.get('id', '')[:_MAX_NAMES]}")
        above = nodes.parents[above]
    return " ".join(names)


def _availability(nodes: Nodes) -> Iterator[tuple[str, str]]:
    for index in _near_title(nodes):
        text = nodes.texts[index]
        if 0 < len(text) <= MAX_VALUE and (said := availability_of(collapse_spaces(text))):
            yield "availability", said
            return
