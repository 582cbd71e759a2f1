"""Converts dates as pages write them to ISO 8601."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

MAX_DATE_CHARACTERS = 100
# By month, how its name begins in English, French, German, Spanish, Italian, Portuguese and Dutch
_BEGINNINGS = (
    *("jan|ene|gen", "feb|fév|fev", "mar|mär|mrz|maa", "apr|avr|abr", "may|mai|mag|mei", "jun|juin|giu"),
    *("jul|juil|lug", "aug|aoû|aou|ago", "sep|set", "oct|okt|ott|out", "nov", "dec|déc|dez|dic"),
)
_MONTHS = {name: month for month, names in enumerate(_BEGINNINGS, 1) for name in names.split("|")}
_MONTH = rf"(?P<name>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})[^\W\d_]*\.?"
_BOUND = r"(?<!\d){}(?!\d)"
_YEAR = r"(?P<year>[12]\d{3})"
_HAS_YEAR = re.compile(r"[12]\d{3}")  # as all of these have: most texts end here
# Tried in this order. Dates such as 03/04/2011 are ambiguous and not read.
_DAYS = tuple(
    re.compile(_BOUND.format(form), re.IGNORECASE)
    for form in (
        rf"{_YEAR}\s?(?:[-/.年])\s?(?P<month>\d{{1,2}})\s?(?:[-/.月])\s?(?P<day>\d{{1,2}})\s?日?",
        rf"{_YEAR}(?P<month>[01]\d)(?P<day>[0-3]\d)",
        rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|\.)?[\s-]+(?:(?:of|de)\s+)?{_MONTH},?[\s-]+(?:de\s+)?{_YEAR}",
        rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+{_YEAR}",
        rf"(?P<first>\d{{1,2}})[-/.](?P<second>\d{{1,2}})[-/.]{_YEAR}",
    )
)
_TIME = re.compile(
    r"[\s,T日]*(?:at\s+)?(?P<hour>\d{1,2})[:：时](?P<minute>\d{2})(?:[:：分](?P<second>\d{2})(?:[.,]\d+)?)?秒?"
    r"\s*(?P<half>[ap]\.?m\b\.?)?\s*(?P<zone>Z\b|UTC\b|GMT\b|[+-]\d{2}(?::?\d{2})?(?!\d))?",
    re.IGNORECASE,
)
_COMPACT_TIME = re.compile(
    r"T(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})?(?P<half>)(?P<zone>Z|[+-]\d{2}:?\d{2})?"
)
# How long ago something was, in English, German, French, Spanish, Chinese and Japanese
AGO = (
    r"\b(?:\d+|an?|one|few)\s*(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|[smhdwy])\s+ago\b"
    r"|\bvor\s+\w+\s+(?:sekunden?|minuten?|stunden?|tag|wochen?|monat|jahr)\w*"
    r"|\bil y a\s+\w+\s+(?:secondes?|minutes?|heures?|jours?|semaines?|mois|ans?)\b"
    r"|\bhace\s+\w+\s+(?:segundos?|minutos?|horas?|días?|semanas?|mes(?:es)?|años?)\b"
    r"|\d+\s*(?:秒|分钟|分|小时|時間|天|日|个月|か月|年)前"
)


def iso_date(text: str) -> str | None:
    """Convert a date to ISO 8601.

    Args:
        text: A text of at most ``MAX_DATE_CHARACTERS`` with a date: year first (``2011/12/15``, ``20111215``,
            ``2011年12月15日 10:03``), with the name of a month (``December 15, 2011``, ``15 décembre 2011``), or
            day first where the order is unambiguous (``15.12.2011``).

    Returns:
        The date, with its time and UTC offset if ``text`` has them; None if there is no date to read.

    Example:
        >>> iso_date("Posted on Dec 15, 2011 at 10:03 pm"), iso_date("03/04/2011")
        ('2011-12-15T22:03:00', None)

    """
    text = text.strip()
    if len(text) > MAX_DATE_CHARACTERS or not _HAS_YEAR.search(text):
        return None
    for form in _DAYS:
        if found := form.search(text):
            day = _parse_day(found.groupdict())
            if day is None:
                return None
            rest = text[found.end() :]
            at = _TIME.match(rest) or _COMPACT_TIME.match(rest)
            time = _with_time(day, at.groupdict()) if at else None
            return time.isoformat() if time else day.date().isoformat()
    return None


def _parse_day(parts: dict[str, str | None]) -> datetime | None:
    if name := parts.get("name"):
        month, day = _MONTHS[name.lower()], int(parts["day"] or 0)
    elif "first" in parts:
        day, month = sorted((int(parts["first"] or 0), int(parts["second"] or 0)), reverse=True)
        if day <= 12 and day != month:
            return None
    else:
        month, day = int(parts["month"] or 0), int(parts["day"] or 0)
    try:
        return datetime(int(parts["year"] or 0), month, day)
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
