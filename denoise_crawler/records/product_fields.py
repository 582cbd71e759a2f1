"""The values of a product by name: what the page declares, else what stands beside a label or near its title."""

from __future__ import annotations

import re
from operator import itemgetter
from typing import TYPE_CHECKING

from denoise_crawler.page import TEXT
from denoise_crawler.page.text import collapse_spaces
from denoise_crawler.records.declared_product import declared_values
from denoise_crawler.records.prices import amount_of, currency_of, find_price
from denoise_crawler.records.product_labels import MAX_VALUE, Label, availability_of, label_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from denoise_crawler.page import Nodes, Page

FIELDS = ("price", "currency", "sku", "gtin", "mpn", "brand", "availability")
_PRICE_NAME = re.compile(r"price|preis|prix|precio|prezzo|preco|cena|hind", re.IGNORECASE)
_OLD_PRICE = re.compile(
    r"old|was\b|was-|before|strike|list-?price|rrp|msrp|crossed|regular|previous|saving|shipping|unit",
    re.IGNORECASE,
)
_STRUCK = frozenset({"del", "s", "strike"})
_LEVELS = 3
_MAX_NAMES = 200  # characters
_CODES = frozenset({"sku", "gtin", "mpn"})
_HAS_DIGIT = re.compile(r"\d")
_NEAR = 400  # nodes around the title


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
    nodes, found = page.nodes, dict[str, str]()
    declared, labelled = list(declared_values(page)), _labelled(nodes)
    shown = _bare("".join(nodes.texts))
    seen = (one for one in declared if one[0] not in _CODES or _bare(one[1]) in shown)
    # a code that only machines are told may be that of a variant
    for name, value in (*seen, *labelled, *declared, *_price(nodes), *_availability(nodes)):
        if name not in found and (plain := _plain(name, value)):
            found[name] = plain
    is_offer = "price" in dict(declared) or ("price" in found and not _CODES.isdisjoint(dict(labelled)))
    is_product = page_type in (None, "product") or is_offer
    return {name: found[name] for name in FIELDS if name in found} if is_product else {}


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
    found: list[tuple[bool, str, str]] = []
    waiting: Label | None = None
    for index, tag in enumerate(nodes.tags):
        if tag != TEXT or not (line := collapse_spaces(nodes.texts[index])):
            continue
        label = label_of(line)
        if label is not None and label.value:
            found.append((not label.is_plain, label.name, label.value))
        elif label is None and waiting is not None and len(line) <= MAX_VALUE:
            if not (value := line.lstrip(": ")):
                continue
            found.append((not waiting.is_plain, waiting.name, value))
        waiting = label if label is not None and not label.value else None
    values = ((name, value) for _, name, value in sorted(found, key=itemgetter(0)))
    return [(name, value) for name, value in values if name not in _CODES or _may_be_code(value)]


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
