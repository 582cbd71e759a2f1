"""The values of the product of a page: those it declares to machines, and those it shows to readers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from lxml.etree import _Element

from denoise_crawler.page import TEXT, Nodes, Page
from denoise_crawler.page.declarations import declarations_of, has_type
from denoise_crawler.page.text import collapse_spaces, letters

Item: TypeAlias = dict[str, Any]  # of JSON-LD
_MAX_PRICE_CHARACTERS = 60
_CURRENCY_CODES = (
    "USD|EUR|GBP|CNY|RMB|JPY|INR|PLN|CHF|SEK|NOK|DKK|CZK|HUF|RON|BRL|ARS|CLP|MXN|CAD|AUD|NZD|RUB|TRY|KRW|TWD|HRK"
)
_SIGNS = r"[$€£¥￥₽₴₹₩₺]"
_AMOUNT = r"\d[\d\s.,'’\u00a0]*(?:,-|,–|\.-)?"
_BEFORE = rf"(?:[A-Z]{{1,3}})?{_SIGNS}|\b(?:{_CURRENCY_CODES}|Rs\.?|Kn|kr\.?)\b"
_BEHIND = rf"{_SIGNS}|元|円|\bzł|руб|\bkr\b|\bKč|\bFt\b|\blei\b|\bKn\b|\bkn\b|\b(?:{_CURRENCY_CODES})\b"
_PRICE = re.compile(rf"(?P<first>{_BEFORE})\s*(?P<a>{_AMOUNT})|(?P<b>{_AMOUNT})\s*(?P<second>{_BEHIND})")
_CURRENCIES = {
    "€": "EUR", "£": "GBP", "₹": "INR", "₽": "RUB", "₴": "UAH", "₩": "KRW", "₺": "TRY", "zł": "PLN", "руб": "RUB",
    "元": "CNY", "円": "JPY", "kč": "CZK", "ft": "HUF", "rmb": "CNY", "rs": "INR", "kn": "HRK", "lei": "RON",
}  # fmt: skip
_PARTED = re.compile(r"[\s'’\u00a0]")
MAX_LABEL, MAX_VALUE = 40, 60
_NUMBER = r"(?:no|nr|number|num|code|id|#|nummer|n°|nº|kods|koda?|kód|номер)\b\.?"
_LABELS = {
    "gtin": (
        r"(?:gtin|ean|upc|isbn|barcode|strichcode|штрихкод)[-\s]?(?:8|1[0234])?(?:[-\s]?(?:code|kod|kód|nummer))?",
    ),
    "mpn": (
        rf"mpn|(?:manufacturer|mfr|mfg)\.?'?s?\s+(?:part\s+)?{_NUMBER}|part\s+{_NUMBER}",
        r"(?:item\s+)?model(?:\s*(?:number|no\.?|name|nr\.?))?|modell?(?:nummer|o|name)?|modèle|modelis|mudel",
        r"модель|型号|hersteller(?:artikel)?nummer|herstellerreferenz|partnummer|référence\s+fabricant",
        r"kód\s+výrobcu|kód\s+výrobce",
    ),
    "sku": (
        r"sku|asin|web\s?id",
        r"(?:item|article|art\.?|product|prod\.?|catalog(?:ue)?|style|stock|ad|listing)[-\s]?" + _NUMBER,
        r"artikel-?(?:nummer|nr\.?)|art\.?-?\s?nr\.?|bestell-?(?:nummer|nr\.?)|anzeigen?-?(?:nummer|id|nr\.?)?",
        r"réf(?:érence)?\.?|ref(?:erencia|erência|erenz)?\.?|código|codice|cód\.?|cod\.?|kód(?:\s+\w+)?|kods",
        r"tootekood|preces\s+kods|артикул|код(?:\s+товара)?|货号|品番",
    ),
    "brand": (
        r"brand(?:\s+name)?|marke|marca|marque|merk|maker|manufacturer|hersteller|fabricant|fabricante",
        r"značka|výrobc[ae]|zīmols|ražotājs|kaubamärk|tootja|brend|бренд|производитель|品牌|メーカー",
    ),
}
_PATTERNS = {
    name: re.compile(rf"^\W*(?:{'|'.join(labels)})\s*(?:[:：#]\s*(?P<value>.*))?$", re.IGNORECASE)
    for name, labels in _LABELS.items()
}
_PLAIN = re.compile(r"\W*(?:sku|asin|mpn|gtin|ean|upc|isbn|brand|marke|marca|marque)\b", re.IGNORECASE)
_IN_STOCK = re.compile(
    r"\b(?:in stock|available now|add to (?:cart|basket|bag)|auf lager|sofort lieferbar|lieferbar|en stock"
    r"|disponible|disponibile|em stock|disponível|skladom|skladem|na sklade|laos|ir noliktavā|pieejams)\b"
    r"|в наличии|有貨|有货",
    re.IGNORECASE,
)
_OUT_OF_STOCK = re.compile(
    r"\b(?:out of stock|sold out|currently unavailable|nicht (?:auf lager|verfügbar|lieferbar)|ausverkauft"
    r"|derzeit nicht verfügbar|rupture de stock|épuisé|agotado|esaurito|non disponibile|esgotado|indisponível"
    r"|vypredané|nedostupné|otsas|nav pieejams)\b|нет в наличии|缺貨|缺货",
    re.IGNORECASE,
)
IN_STOCK, OUT_OF_STOCK = "InStock", "OutOfStock"


def find_price(text: str) -> str:
    """Return the price in a short text as it is written, an empty string if there is none.

    Example:
        >>> find_price("Now only 1.299,00 €"), find_price("$ 5 off"), find_price("A story.")
        ('1.299,00 €', '$ 5', '')
    """
    price = _PRICE.search(text) if len(text) <= _MAX_PRICE_CHARACTERS else None
    return price.group().strip() if price else ""


def amount_of(text: str) -> str:
    """Return the amount of a price as a number with a point, an empty string if there is none.

    Example:
        >>> amount_of("1.299,00 €"), amount_of("$1,299"), amount_of("12,-")
        ('1299.00', '1299', '12')
    """
    amount = re.search(_AMOUNT, text)
    if amount is None:
        return ""
    digits = _PARTED.sub("", amount.group()).rstrip(".,-–")
    last = max(digits.rfind("."), digits.rfind(","))
    if last < 0:
        return digits
    whole, cents = digits[:last], digits[last + 1 :]
    several = digits.count(digits[last]) > 1
    if several or (len(cents) == 3 and whole.lstrip("0") and not re.search(r"[.,]", whole)):
        return re.sub(r"[.,]", "", digits)
    return f"{re.sub(r'[.,]', '', whole)}.{cents}"


def currency_of(text: str) -> str:
    """Return the currency of a price: its code where its sign has one, else the sign; empty without one.

    Example:
        >>> currency_of("1.299,00 €"), currency_of("USD 5"), currency_of("$5"), currency_of("5")
        ('EUR', 'USD', '$', '')
    """
    price = _PRICE.search(text[:_MAX_PRICE_CHARACTERS])
    if price is None:
        return ""
    sign = (price["first"] or price["second"]).strip().rstrip(".")
    return _CURRENCIES.get(sign.lower(), sign)


class Label(NamedTuple):
    """What a label names, the value behind it in the same text, and whether it names just that."""

    name: str
    value: str
    is_plain: bool


def label_of(text: str) -> Label | None:
    """Return what a short text is the label of, and the value behind it; None if it is no label.

    Example:
        >>> label_of("SKU: A-12"), label_of("Brand new since May")
        (Label(name='sku', value='A-12', is_plain=True), None)
    """
    if len(text) > MAX_LABEL + MAX_VALUE:
        return None
    for name, pattern in _PATTERNS.items():
        if match := pattern.match(text):
            return Label(name, (match["value"] or "").strip(), _PLAIN.match(text) is not None)
    return None


def availability_of(text: str) -> str:
    """Return ``InStock`` or ``OutOfStock`` if a text says so, in words or as the address of a schema.

    Example:
        >>> availability_of("https://schema.org/InStock"), availability_of("Sold out"), availability_of("Soon")
        ('InStock', 'OutOfStock', '')
    """
    name = text.rstrip("/").rpartition("/")[2].replace(" ", "").replace("_", "").lower()
    if name in ("instock", "instoreonly", "onlineonly", "limitedavailability", "preorder", "backorder"):
        return IN_STOCK
    if name in ("outofstock", "soldout", "discontinued", "oos"):
        return OUT_OF_STOCK
    if _OUT_OF_STOCK.search(text):
        return OUT_OF_STOCK
    return IN_STOCK if _IN_STOCK.search(text) else ""


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
        if has_type(item, _PRODUCT):
            yield from _of_item(item)
    yield from _of_microdata(page.tree)
    for meta in page.tree.iter("meta"):
        name = _METAS.get((meta.get("property") or meta.get("name") or "").lower())
        if name and (value := _text(meta.get("content"))):
            yield name, value


def _of_item(item: Item) -> Iterator[tuple[str, str]]:
    values = {name: _first(item, names) for name, names in _CODES.items()}
    brand = _named(item.get("brand")) or _named(item.get("manufacturer"))
    values |= {"gtin": _first(item, _GTINS), "brand": brand}
    for offer in _offers(item):
        for name, names in _OF_OFFER.items():
            values[name] = values.get(name) or next(
                (text for one in _with_price(offer) if (text := _first(one, names))), ""
            )
    yield from ((name, value) for name, value in values.items() if value)


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
        >>> html = "<h1>Lamp</h1><b class=price>12,50 €</b><table><tr><th>SKU<td>L-7<tr><th>Brand<td>Lux</table>"
        >>> product_fields(Page.parse("https://a.example/", html))
        {'price': '12.50', 'currency': 'EUR', 'sku': 'L-7', 'brand': 'Lux'}
    """
    nodes, fields = page.nodes, dict[str, str]()
    declared, labelled = list(declared_values(page)), _labelled(nodes)
    shown = letters("".join(nodes.texts))
    seen = (one for one in declared if one[0] not in _CODE_FIELDS or letters(one[1]) in shown)
    # a code that only machines are told may be that of a variant
    for name, value in (*seen, *labelled, *declared, *_price(nodes), *_availability(nodes)):
        if name not in fields and (plain := _plain(name, value)):
            fields[name] = plain
    is_offer = "price" in dict(declared) or ("price" in fields and not _CODE_FIELDS.isdisjoint(dict(labelled)))
    is_product = page_type in (None, "product") or is_offer
    return {name: fields[name] for name in FIELDS if name in fields} if is_product else {}


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
        if 0 < len(text) <= MAX_VALUE and (availability := availability_of(collapse_spaces(text))):
            yield "availability", availability
            return
