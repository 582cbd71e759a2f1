"""Prices as pages write them: an amount and its currency."""

from __future__ import annotations

import re

MAX_CHARACTERS = 60
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


def find_price(text: str) -> str:
    """Return the price in a short text as it is written, an empty string if there is none.

    Example:
        >>> find_price("Now only 1.299,00 €"), find_price("$ 5 off"), find_price("A story.")
        ('1.299,00 €', '$ 5', '')

    """
    found = _PRICE.search(text) if len(text) <= MAX_CHARACTERS else None
    return found.group().strip() if found else ""


def amount_of(text: str) -> str:
    """Return the amount of a price as a number with a point, an empty string if there is none.

    Example:
        >>> amount_of("1.299,00 €"), amount_of("$1,299"), amount_of("12,-")
        ('1299.00', '1299', '12')

    """
    found = re.search(_AMOUNT, text)
    if found is None:
        return ""
    digits = _PARTED.sub("", found.group()).rstrip(".,-–")
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
    found = _PRICE.search(text)
    if found is None:
        return ""
    sign = (found["first"] or found["second"]).strip().rstrip(".")
    return _CURRENCIES.get(sign.lower(), sign)
