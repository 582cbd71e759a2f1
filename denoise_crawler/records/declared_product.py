"""What a page declares of its product to machines: JSON-LD, microdata and the ``meta`` of shops."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from denoise_crawler.page.text import collapse_spaces
from denoise_crawler.records.json_ld import json_ld_items

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.etree import _Element

    from denoise_crawler.page import Page
    from denoise_crawler.records.json_ld import Item

MAX_VALUE = 200
MAX_ELEMENTS = 500
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


def declared_values(page: Page) -> Iterator[tuple[str, str]]:
    """Yield the names and values that ``page`` declares of its product, those to be trusted most first."""
    if page.tree is None:
        return
    for item in json_ld_items(page):
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
    found = [offer for offer in listed[:1] if isinstance(offer, dict)]
    inner = [one for offer in found for one in _offers(offer)]
    return found + inner[:1]


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
    found: Any = root.xpath("(/descendant::*[@itemprop])[position() <= $most]", most=MAX_ELEMENTS)
    for element in found:
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
    return line if len(line) <= MAX_VALUE else ""
