"""What shops write of a product: prices, the labels of codes and makers, and whether it is in stock."""

from __future__ import annotations

import re
from typing import NamedTuple

_MAX_PRICE_CHARACTERS = 60
_CODES = (
    "USD|EUR|GBP|CNY|RMB|JPY|INR|PLN|CHF|SEK|NOK|DKK|CZK|HUF|RON|BRL|ARS|CLP|MXN|CAD|AUD|NZD|RUB|TRY|KRW|TWD|HRK"
)
_SIGNS = r"[$€£¥￥₽₴₹₩₺]"
_AMOUNT = r"\d[\d\s.,'’\u00a0]*(?:,-|,–|\.-)?"
_BEFORE = rf"(?:[A-Z]{{1,3}})?{_SIGNS}|\b(?:{_CODES}|Rs\.?|Kn|kr\.?)\b"
_BEHIND = rf"{_SIGNS}|元|円|\bzł|руб|\bkr\b|\bKč|\bFt\b|\blei\b|\bKn\b|\bkn\b|\b(?:{_CODES})\b"
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
    price = _PRICE.search(text)
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
