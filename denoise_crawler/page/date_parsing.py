"""Reads dates as pages write them, with the months of some sixty languages."""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress
from datetime import date, datetime, timedelta, timezone
from functools import cache
from pathlib import Path

MAX_DATE_CHARACTERS = 100
_BOUND = r"(?<!\d){}(?!\d)"
_YEAR = r"(?P<year>[12]\d{3})"
_SHORT_YEAR = r"['’](?P<short>\d\d)"
_DAY = r"(?P<day>\d{1,2})"
_NAME = r"(?P<name>[^\W\d_][^\s\d,،;:|/()]{1,20})"
# As all of these have: most texts end here. A search for one beginning is faster than for a figure or a mark.
HAS_YEAR = re.compile(r"\d\d(?:\d\d|(?<=['’]\d\d)(?!\d))")
# As most are, read at once
_MACHINE_DATE = re.compile(r"[12]\d{3}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d))?")
# Tried in this order. Dates such as 03/04/2011 are ambiguous and not read.
_DAYS = tuple(
    re.compile(_BOUND.format(form), re.IGNORECASE)
    for form in (
        rf"{_YEAR}\s?[-/.年년]\s?(?P<month>\d{{1,2}})\s?[-/.月월]\s?{_DAY}\s?[日일]?",
        rf"{_YEAR}(?P<month>[01]\d)(?P<day>[0-3]\d)",
        rf"{_DAY}(?:st|nd|rd|th|er|º|ª)?\.?[\s-]{{1,3}}(?:(?:of|de|del|di|ב)\s)?\s?{_NAME}[,،]?[\s-]{{0,3}}"
        rf"(?:(?:de|del|of)\s)?\s?(?:{_YEAR}|{_SHORT_YEAR})",
        rf"(?<!\w){_NAME}\s{{1,3}}{_DAY}(?:st|nd|rd|th)?(?:,\s{{0,3}}|\s{{1,3}})(?:{_YEAR}|{_SHORT_YEAR})",
        rf"{_YEAR}[.,]?\s(?:m\.\s|gada\s)?\s?{_NAME}\s{{1,3}}{_DAY}",
        rf"(?P<first>\d{{1,2}})[-/.](?P<second>\d{{1,2}})[-/.]{_YEAR}",
    )
)
_TIME = re.compile(
    r"[\s,،T日일|·]*(?:(?:at|um|à|às|alle|kl\.?|в|о)\s)?\s?(?P<hour>\d{1,2})[:：时h](?P<minute>\d{2})"
    r"(?:[:：分](?P<second>\d{2})(?:[.,]\d{1,9})?)?秒?"
    r"\s?(?P<half>[ap]\.?m\b\.?)?\s?(?P<zone>Z\b|UTC\b|GMT\b|[+-]\d{2}(?::?\d{2})?(?!\d))?",
    re.IGNORECASE,
)
_COMPACT_TIME = re.compile(
    r"T(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})?(?P<half>)(?P<zone>Z|[+-]\d{2}:?\d{2})?"
)
_FIRST_SHORT_YEAR = 70  # '70 is 1970, '69 is 2069
_THAI, _BUDDHIST_YEARS = ("\u0e00", "\u0e7f"), 543
_IN = "ב"  # before a Hebrew month
# How long ago something was, in English, German, French, Spanish, Chinese and Japanese
AGO = (
    r"\b(?:\d+|an?|one|few)\s*(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|[smhdwy])\s+ago\b"
    r"|\bvor\s+\w+\s+(?:sekunden?|minuten?|stunden?|tag|wochen?|monat|jahr)\w*"
    r"|\bil y a\s+\w+\s+(?:secondes?|minutes?|heures?|jours?|semaines?|mois|ans?)\b"
    r"|\bhace\s+\w+\s+(?:segundos?|minutos?|horas?|días?|semanas?|mes(?:es)?|años?)\b"
    r"|(?<!\d)\d+\s*(?:秒|分钟|分|小时|時間|天|日|个月|か月|年)前"
)
_IN_ADDRESS = (
    re.compile(r"/((?:19|20)\d{2})[/-]?(0?[1-9]|1[0-2])[/-](0?[1-9]|[12]\d|3[01])(?=[/-])"),
    re.compile(r"/((?:19|20)\d{2})[/-]?(0[1-9]|1[0-2])[/-]?(0[1-9]|[12]\d|3[01])(?=[/_-])"),
    re.compile(r"/[a-z]((?:19|20)\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=_)"),
)
# What stands before the date of a later change
CHANGED = re.compile(
    r"updated?|modified|edited|last (?:change|edit|review)|copyright|©|更新|编辑|編輯|修改|aktualisiert|geändert"
    r"|mis à jour|modifié|actualizado|editado|aggiornato|atualizado|обновлен|изменен|редактир",
    re.IGNORECASE,
)


def iso_date(text: str) -> str | None:
    """Convert a date to ISO 8601.

    Args:
        text: A text of at most ``MAX_DATE_CHARACTERS`` with a date: year first (``2011/12/15``, ``20111215``,
            ``2011年12月15日 10:03``), with the name of a month (``December 15, 2011``, ``15 декабря 2011``), or
            day first where the order is unambiguous (``15.12.2011``).

    Returns:
        The date, with its time and UTC offset if ``text`` has them; None if there is no date to read.

    Example:
        >>> iso_date("Posted on Dec 15, 2011 at 10:03 pm"), iso_date("03/04/2011")
        ('2011-12-15T22:03:00', None)
    """
    text = text.strip()
    if len(text) > MAX_DATE_CHARACTERS or not HAS_YEAR.search(text):
        return None
    if not text.isascii():
        text = "".join([str(unicodedata.decimal(one)) if one.isdecimal() else one for one in text])
    if _MACHINE_DATE.fullmatch(text):
        with suppress(ValueError):
            return (datetime if "T" in text else date).fromisoformat(text.replace("Z", "+00:00")).isoformat()
    for form in _DAYS:
        for match in form.finditer(text):
            if "name" in match.groupdict() and not month_of(match["name"]):
                continue
            day = _parse_day(match.groupdict())
            if day is None:
                return None
            rest = text[match.end() :]
            at = _TIME.match(rest) or _COMPACT_TIME.match(rest)
            time = _with_time(day, at.groupdict()) if at else None
            return time.isoformat() if time else day.date().isoformat()
    return None


def first_date(text: str) -> str | None:
    """Return the date in a text that does not stand behind a word for a later change, None without one.

    Example:
        >>> first_date("March 3, 2031, updated March 5, 2031"), first_date("edited Mar 5 '31")
        ('2031-03-03', None)
    """
    if len(text) > MAX_DATE_CHARACTERS or not HAS_YEAR.search(text):
        return None
    changed = CHANGED.search(text)
    return iso_date(text if changed is None else text[: changed.start()])


def dates_in_address(url: str) -> list[str]:
    """Return the date in an address, as of archives: ``/2031/3/14/``, ``/2031/0314/``, ``/t20310314_1.html``."""
    return ["-".join(date.groups()) for form in _IN_ADDRESS if (date := form.search(url))]


def month_of(name: str) -> int:
    """Return the number of the month with a name or an abbreviation, 0 if there is none.

    Example:
        >>> month_of("Sept."), month_of("märz"), month_of("Липня"), month_of("במרץ"), month_of("maybe")
        (9, 3, 7, 3, 0)
    """
    name = name.casefold().replace(".", "").strip("-,")
    months = _months()
    return months.get(name) or months.get(name.removeprefix(_IN), 0)


@cache
def _months() -> dict[str, int]:
    lines = Path(__file__).with_name("months.txt").read_text("utf-8").splitlines()
    return {name: month for month, names in enumerate(lines, 1) for name in names.split()}


def _parse_day(parts: dict[str, str | None]) -> datetime | None:
    year = int(parts.get("year") or parts.get("short") or 0)
    if year < 100:
        year += 1900 if year >= _FIRST_SHORT_YEAR else 2000
    if name := parts.get("name"):
        month, day = month_of(name), int(parts["day"] or 0)
        if _THAI[0] <= name[0] <= _THAI[1]:
            year -= _BUDDHIST_YEARS
    elif "first" in parts:
        day, month = sorted((int(parts["first"] or 0), int(parts["second"] or 0)), reverse=True)
        if day <= 12 and day != month:
            return None
    else:
        month, day = int(parts["month"] or 0), int(parts["day"] or 0)
    try:
        return datetime(year, month, day)
    except ValueError:
        return None


def _with_time(day: datetime, parts: dict[str, str | None]) -> datetime | None:
    hour, half = int(parts["hour"] or 0), (parts["half"] or "").lower()
    if half and hour <= 12:
        hour = hour % 12 + 12 * half.startswith("p")
    try:
        time = day.replace(hour=hour, minute=int(parts["minute"] or 0), second=int(parts["second"] or 0))
        return time.replace(tzinfo=_parse_zone(parts["zone"])) if parts["zone"] else time
    except ValueError:
        return None


def _parse_zone(text: str | None) -> timezone:
    digits = re.sub(r"\D", "", text or "")
    offset = timedelta(hours=int(digits[:2] or 0), minutes=int(digits[2:] or 0))
    return timezone(-offset if (text or "").startswith("-") else offset)
