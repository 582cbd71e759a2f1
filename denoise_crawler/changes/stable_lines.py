"""Lines of a text without what changes by itself: how long ago, counters, when the page was made."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_STAMP = 80  # characters of a line that is only a time stamp or a counter
_UNITS = r"(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?)"
_AGO = re.compile(
    rf"\b(?:about |over |almost )?(?:\d+|an?|one|few)\s?(?:{_UNITS}|[smhdwy])\s+ago\b|\bjust now\b"
    r"|\bvor\s+(?:\d+|einer|einem|wenigen)\s+(?:sekunden?|minuten?|stunden?|tag\w*|wochen?|monat\w*|jahr\w*)"
    r"|\bil y a\s+(?:\d+|une?)\s+(?:secondes?|minutes?|heures?|jours?|semaines?|mois|ans?)"
    r"|\bhace\s+(?:\d+|una?)\s+(?:segundos?|minutos?|horas?|días?|semanas?|mes(?:es)?|años?)"
    r"|\d+\s*(?:秒|分钟|分|小时|時間|天|日|个月|か月|年)前",
    re.IGNORECASE,
)
_CLOCK = r"\d{1,2}[:.h]\d{2}(?:[:.]\d{2})?(?:\s?[ap]\.?m\.?)?"
_STAMPED = re.compile(
    r"^\W*(?:last\s+)?(?:updated?|modified|published|posted|edited|checked|retrieved|printed|as of|stand"
    r"|zuletzt|aktualisiert|mis à jour|actualizado|aggiornato|(?:page )?generated|today is|it is currently)\b",
    re.IGNORECASE,
)
_HAS_DIGIT = re.compile(r"\d")
_ONLY_CLOCK = re.compile(rf"^\W*{_CLOCK}(?:\s+(?:utc|gmt|cet|cest|est|edt|pst|pdt))?\W*$", re.IGNORECASE)
_COUNTED = (
    r"views?|reads?|likes?|shares?|comments?|repl(?:y|ies)|votes?|followers?|subscribers?|downloads?|visits?|visitors?"
    r"|hits|reactions?|claps?|retweets?|online|watching|times|aufrufe|kommentare?|antworten|leser|besucher|vues?"
    r"|commentaires?|visitas|comentarios?|visualizzazioni|commenti|просмотр\w*|комментари\w*|浏览|阅读|评论|点赞|閲覧"
)
_COUNTER = re.compile(
    rf"\d[\d.,\s]*[kKmM]?\s*(?:people\s+|users?\s+)?(?:{_COUNTED})\b|\b(?:{_COUNTED})\s*[:(]?\s*\d[\d.,]*[kKmM]?\)?",
    re.IGNORECASE,
)
_MAX_COUNTER = 40


def stable_lines(text: str) -> Iterator[str]:
    r"""Yield the lines of ``text`` that say something, in one spelling, without what changes by itself.

    Left out are lines that only say when the page was updated, what time it is, or how often something was seen;
    in other lines, how long ago something was. Prices and all other numbers stay.

    Example:
        >>> list(stable_lines("A  Storm\nUpdated 3 May, 10:15\n1,204 views\nSeen 3 hours ago by Ann.\n12:30"))
        ['a storm', 'seen  by ann.']

    """
    for line in text.splitlines():
        plain = " ".join(line.split())
        if plain and not _says_nothing(plain):
            yield _AGO.sub("", plain).casefold()


def _says_nothing(line: str) -> bool:
    if len(line) > MAX_STAMP:
        return False
    if _STAMPED.match(line) and (_HAS_DIGIT.search(line) or _AGO.search(line)):
        return True
    if _ONLY_CLOCK.match(line) or not any(map(str.isalnum, _AGO.sub("", line))):
        return True
    return len(line) <= _MAX_COUNTER and _COUNTER.search(line) is not None
