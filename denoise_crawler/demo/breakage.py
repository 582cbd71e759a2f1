"""Ways to break the HTML of a page without losing a word."""

from __future__ import annotations

import re
from collections.abc import Callable

_PLAIN_PARAGRAPH = re.compile(r"<p>([^<&]{40,})</p>")
_TAG_NAME = re.compile(r"(</?)([a-z][a-z0-9]*)")
_BODY_START = '<section class="articlebody">'


def _unclosed_paragraphs(html: str) -> str:
    return _in_body(html, lambda body: body.replace("</p>", ""))


def _unclosed_items(html: str) -> str:
    return html.replace("</li>", "")


def _unclosed_div(html: str) -> str:
    start = html.index('<div class="ad-slot ad-rail-top">')
    return html[:start] + html[start:].replace("</div>", "", 1)


def _misnested(html: str) -> str:
    def cross(found: re.Match[str]) -> str:
        words = found[1]
        near, far = _between_words(words, len(words) // 4), _between_words(words, len(words) // 2)
        return f"<p><b>{words[:near]}<i>{words[near:far]}</b>{words[far:]}</i></p>"

    return _in_body(html, lambda body: _PLAIN_PARAGRAPH.sub(cross, body, count=3))


def _between_words(words: str, place: int) -> int:
    space = words.find(" ", place)
    return place if space < 0 else space


def _stray_closings(html: str) -> str:
    broken = _in_body(html, lambda body: body.replace("</p>\n", "</p></span></font></center>\n"))
    return broken.replace("</aside>", "</aside></div></table>", 1)


def _duplicate_attributes(html: str) -> str:
    start = '<section class="articlebody" id="story" class="body wide" id="story-2">'
    return html.replace(_BODY_START, start).replace("<p>", '<p dir="ltr" dir="rtl">', 4)


def _bare_ampersands(html: str) -> str:
    return html.replace("&amp;", "&")


def _no_skeleton(html: str) -> str:
    return re.sub(r"</?(?:html|head|body)(?:\s[^>]*)?>\n?", "", html)


def _wrong_charset(html: str) -> str:
    return html.replace('<meta charset="utf-8">', '<meta charset="iso-8859-1">', 1)


def _upper_case(html: str) -> str:
    return _TAG_NAME.sub(lambda found: found[1] + found[2].upper(), html)


def _in_body(html: str, change: Callable[[str], str]) -> str:
    start = html.index(_BODY_START)
    end = html.index("</section>", start)
    return html[:start] + change(html[start:end]) + html[end:]


BREAKAGES: dict[str, Callable[[str], str]] = {
    "unclosed paragraphs": _unclosed_paragraphs,
    "misnested inline tags": _misnested,
    "upper-case tags": _upper_case,
    "unclosed list items": _unclosed_items,
    "wrong charset in meta": _wrong_charset,
    "stray closing tags": _stray_closings,
    "duplicate attributes": _duplicate_attributes,
    "bare ampersands": _bare_ampersands,
    "unclosed div": _unclosed_div,
    "no html or body tags": _no_skeleton,
}
