"""Dates as pages write them, read into ISO 8601."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

LONGEST = 100  # characters: what is longer holds more than a date
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<name>{'|'.join(_MONTHS)})[a-z]*\.?"
_BOUND = r"(?<!\d){}(?!\d)"
_YEAR = r"(?P<year>[12]\d{3})"
# In this order; a day and a month that could change places are not read.
_DAYS = tuple(
    re.compile(_BOUND.format(form), re.IGNORECASE)
    for form in (
        rf"{_YEAR}\s?(?:[-/.年])\s?(?P<month>\d{{1,2}})\s?(?:[-/.月])\s?(?P<day>\d{{1,2}})\s?日?",
        rf"{_YEAR}(?P<month>[01]\d)(?P<day>[0-3]\d)",
        rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[\s-]+(?:of\s+)?{_MONTH},?[\s-]+{_YEAR}",
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


def iso_date(text: str) -> str | None:
    """Return the date in ``text`` as ISO 8601, with a time (and its offset from UTC) if there is one; else None.

    Read are years first (``2011-12-15T10:03Z``, ``2011/12/15``, ``20111215``, ``2011年12月15日 10:03``), English
    months (``15 Dec 2011``, ``December 15, 2011``) and days first where the order is plain (``15.12.2011``).
    """
    text = text.strip()
    if len(text) > LONGEST:
        return None
    for form in _DAYS:
        if found := form.search(text):
            day = _day(found.groupdict())
            if day is None:
                return None
            rest = text[found.end() :]
            at = _TIME.match(rest) or _COMPACT_TIME.match(rest)
            time = _at(day, at.groupdict()) if at else None
            return time.isoformat() if time else day.date().isoformat()
    return None


def _day(parts: dict[str, str | None]) -> datetime | None:
    if name := parts.get("name"):
        month, day = _MONTHS.index(name.lower()) + 1, int(parts["day"] or 0)
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


def _at(day: datetime, parts: dict[str, str | None]) -> datetime | None:
    hour, half = int(parts["hour"] or 0), (parts["half"] or "").lower()
    if half and hour <= 12:
        hour = hour % 12 + 12 * half.startswith("p")
    try:
        time = day.replace(hour=hour, minute=int(parts["minute"] or 0), second=int(parts["second"] or 0))
        return time.replace(tzinfo=_zone(parts["zone"])) if parts["zone"] else time
    except ValueError:
        return None


def _zone(text: str | None) -> timezone:
    digits = re.sub(r"\D", "", text or "")
    offset = timedelta(hours=int(digits[:2] or 0), minutes=int(digits[2:] or 0))
    return timezone(-offset if (text or "").startswith("-") else offset)
