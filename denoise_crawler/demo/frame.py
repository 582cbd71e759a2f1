"""The frame around every page of the demo site, and the templates that fill it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import format_datetime
from functools import partial
from html import escape
from typing import Any
from urllib.parse import quote

from denoise_crawler.demo.articles import (
    ADS,
    FOOTER,
    LOCALES,
    SECTIONS,
    SITE,
    WORDS,
    article_path,
    day,
    newest,
    pick,
    seeded_number,
    slideshow_path,
    slideshows,
)
from denoise_crawler.errors import needs

with needs("commands"):
    from jinja2 import Environment, PackageLoader, StrictUndefined


@dataclass(frozen=True)
class Frame:
    """The data of a page for its frame; ``path`` also seeds everything that varies."""

    lang: str
    path: str
    title: str
    description: str
    kind: str
    canonical: str = ""
    data: dict[str, object] = field(default_factory=dict)
    charset: str = "utf-8"

    @property
    def locale(self) -> str:
        """Return the locale of the page, such as ``zh-cn``."""
        return LOCALES[self.lang]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).replace("</", "<\\/")


# Values are escaped by filter: a page that is broken on purpose needs text and attributes escaped differently.
_templates = Environment(  # noqa: S701
    loader=PackageLoader(__package__), undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
)
_templates.filters["text"] = partial(escape, quote=False)
_templates.filters["attribute"] = escape
_templates.filters["json"] = _json
_functions = (article_path, day, newest, pick, quote, seeded_number, slideshow_path, slideshows)
_templates.globals |= {"email_date": format_datetime, **{one.__name__: one for one in _functions}}


def render(template: str, **values: Any) -> str:
    """Return a template with these values in it."""
    return _templates.get_template(template).render(**values)


def render_in_frame(template: str, frame: Frame, base: str, period: str, **values: Any) -> str:
    """Return a page in the site's frame.

    Args:
        template: The template of its main column.
        frame: The page.
        base: The URL of the site, without a slash at the end.
        period: The time in which the boxes beside the main column look the same.
        values: What else the template needs.

    """
    return render(
        template,
        frame=frame,
        base=base,
        period=period,
        others=[article for article in newest(frame.locale) if article_path(article) != frame.path],
        ads=ADS[frame.lang],
        footer=FOOTER[frame.lang],
        sections=SECTIONS[frame.lang],
        site=SITE[frame.lang],
        words=WORDS[frame.lang],
        **values,
    )


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
