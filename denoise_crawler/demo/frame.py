"""The frame around every page of the demo site, and the templates that fill it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from email.utils import format_datetime
from functools import partial
from html import escape
from typing import Any
from urllib.parse import quote

from denoise_crawler.demo.articles import LOCALES, article_path, newest, slideshow_path, slideshows
from denoise_crawler.demo.texts import ADS, FOOTER, SECTIONS, SITE, WORDS, day, pick, seeded_number
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
_templates.globals |= {
    "article_path": article_path,
    "day": day,
    "email_date": format_datetime,
    "newest": newest,
    "seeded_number": seeded_number,
    "pick": pick,
    "quote": quote,
    "slideshow_path": slideshow_path,
    "slideshows": slideshows,
}


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
