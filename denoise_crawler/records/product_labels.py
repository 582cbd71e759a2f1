"""Labels beside the values of a product, in the languages of shops: of its codes, its maker, its availability."""

from __future__ import annotations

import re
from typing import NamedTuple

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
        if found := pattern.match(text):
            return Label(name, (found["value"] or "").strip(), _PLAIN.match(text) is not None)
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
