"""Which short texts of a page say when something was written, as people read it: in words, or how long ago."""

from __future__ import annotations

import re

MAX_CHARACTERS = 60
_MONTH = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|märz|mai|okt|dez|janv|févr|mars|avril|juin|juil|août|déc"
    r"|ene|abr|ago|dic|gen|mag|giu|lug|set|ott|mrt|mei|янв|фев|мар|апр|мая|июн|июл|авг|сен|окт|ноя|дек|stycz|lut|kwi"
    r"|maj|cze|lip|sie|wrz|paź|lis|gru)"
)
_AGO = (
    r"\b(?:\d+|an?|one|few)\s*(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|[hdwy])\s+ago\b"
    r"|\bvor\s+\w+\s+(?:sekunden?|minuten?|stunden?|tag|wochen?|monat|jahr)\w*|\bil y a\s+\w+\s+\w+"
    r"|\bhace\s+\w+\s+\w+|\d+\s*(?:秒|分钟|分|小时|時間|天|日|个月|年)前"
)
_DAY = r"(?:yesterday|today|gestern|heute|hier|ayer|hoy|ieri|oggi)"
_DATE = re.compile(
    r"(?<!\d)(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2}))(?!\d)"
    r"|\d{4}\s?年\s?\d{1,2}\s?月"
    rf"|\b{_MONTH}\w*\.?,?\s+\d{{1,4}}\b|\b\d{{1,2}}(?:st|nd|rd|th|\.)?[\s-]+{_MONTH}\w*\b"
    rf"|{_AGO}|^{_DAY}\W*$|\b{_DAY}(?:\W+\w{{1,2}})?\W*\d{{1,2}}[:.h]\d\d",
    re.IGNORECASE,
)
_ENDS = " ·|-–—,"


def find_date(text: str) -> str | None:
    """Return a short text from its date on, None if it is long or has no date.

    Example:
        >>> find_date("Posted on 12.03.2020, 19:29"), find_date("3 hours ago"), find_date("A story.")
        ('12.03.2020, 19:29', '3 hours ago', None)

    """
    if len(text) > MAX_CHARACTERS:
        return None
    found = _DATE.search(text)
    return text[found.start() :].strip(_ENDS) if found else None
