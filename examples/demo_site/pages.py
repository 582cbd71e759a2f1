"""The pages of the demo site: the frame around each, articles as HTML or as data for a script, and feeds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.utils import format_datetime
from functools import partial
from html import escape
from typing import Any
from urllib.parse import quote

from denoise_crawler.errors import needs

from .articles import (
    ADS,
    FOOTER,
    LOCALES,
    SECTIONS,
    SITE,
    WORDS,
    Article,
    ArticleBlock,
    Slideshow,
    article_path,
    articles,
    day,
    find_article,
    find_slideshow,
    newest,
    pick,
    seeded_number,
    slideshow_path,
    slideshows,
)

with needs("commands"):
    from jinja2 import Environment, PackageLoader, StrictUndefined


# --- the frame around every page of the demo site, and the templates that fill it


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


# --- the pages of the demo site: an article as HTML, its data for the script that builds it, feeds

GB18030_SLUG = "小小道歉博物馆"
LONGEST_MARKED = 60


def charset_of(article: Article) -> str:
    """Return the encoding of the article's page."""
    return "gb18030" if article.slug == GB18030_SLUG else "utf-8"


def breakage_of(article: Article) -> str | None:
    """Return how the HTML of an article is broken; None for two pages of three."""
    place = articles().index(article)
    if place % 3 != 1 or charset_of(article) != "utf-8":
        return None
    return list(BREAKAGES)[place // 3 % len(BREAKAGES)]


def period_of(article: Article) -> str:
    """Return the two-day period in which a story appeared; slow boxes change with it."""
    return str(article.time.toordinal() // 2)


def article_page(article: Article, base: str) -> str:
    """Return the page of an article, broken if :func:`breakage_of` says so."""
    said = article.lang, article_path(article), article.title, article.abstract, "article", article.source_url
    data = _linked_data(article, base) if seeded_number(article.id + "data") % 2 else {}
    frame, blocks = Frame(*said, data, charset_of(article)), _body_blocks(article)
    html = render_in_frame("article.html", frame, base, period_of(article), article=article, blocks=blocks)
    kind = breakage_of(article)
    return BREAKAGES[kind](html) if kind else html


def slideshow_page(show: Slideshow, base: str) -> str:
    """Return the page of a slideshow."""
    frame = Frame(show.lang, slideshow_path(show), show.title, show.abstract, "gallery", show.source_url)
    return render_in_frame("slideshow.html", frame, base, "pictures", show=show)


def _linked_data(article: Article, base: str) -> dict[str, object]:
    return {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "headline": article.title,
        "datePublished": article.published,
        "author": {"@type": "Person", "name": article.author},
        "publisher": {"@type": "Organization", "name": SITE[article.lang]},
        "mainEntityOfPage": base + article_path(article),
    }


def _body_blocks(article: Article) -> list[str]:
    """Return the body as HTML, with the names of the boxes that stand between its blocks."""
    parts = [_body_block(article, place) for place in range(len(article.paragraphs))]
    middle = 2 + seeded_number(article.id + "middle") % 2
    parts[middle:middle] = ["read more", "advertisement"]
    if seeded_number(article.id + "picture") % 3:
        parts.insert(1, "picture")
    return parts


def _body_block(article: Article, place: int) -> str:
    """Return a block as HTML; of some paragraphs the first clause is in bold or a link."""
    block = article.paragraphs[place]
    mark = "，" if article.lang == "zh" else ", "
    first, comma, rest = block.lines[0].partition(mark)
    choice = seeded_number(f"{article.id}|{place}") % 6
    if block.kind != "text" or not comma or choice > 1 or len(first) > LONGEST_MARKED:
        return block_html(block)
    target = f"/{article.locale}/{article.section}" if choice else ""
    return render("marked_paragraph.html", first=first, rest=mark + rest, target=target)


def block_html(block: ArticleBlock) -> str:
    """Return a body block as plain HTML."""
    return render("block.html", block=block)


ROBOTS = "User-agent: *\nDisallow: /private/\nAllow: /\n"


def rss(locale: str | None, base: str) -> str:
    """Return the RSS 2.0 feed of a locale, or of both; every fourth link is tracked."""
    locales = [locale] if locale else list(LOCALES.values())
    lang = "zh" if locale == "zh-cn" else "en"
    stories = [article for name in locales for article in newest(name)]
    values = {"locale": locale or "", "language": LOCALES[lang], "site": SITE[lang], "stories": stories}
    return render("rss.xml", base=base, **values)


def detail(story_id: str, base: str) -> str | None:
    """Return the detail API's JSON for an article or a slideshow, or None if it is gone."""
    story = find_article(story_id) or find_slideshow(story_id)
    if story is None:
        return None
    show = story if isinstance(story, Slideshow) else None
    slides = [_slide(show, place, base) for place in range(len(show.slides))] if show else []
    answer = {
        "id": story.id,
        "type": "slideshow" if show else "article",
        "title": story.title,
        "abstract": story.abstract,
        "body": _detail_body(story),
        "sourceHref": story.source_url,
        "provider": {"id": story.provider.id, "name": story.provider.name},
        "authors": [{"name": story.author}],
        "createdDateTime": _iso(story.time - timedelta(minutes=seeded_number(story.id) % 50)),
        "publishedDateTime": story.published,
        "updatedDateTime": _iso(story.time + timedelta(minutes=seeded_number(story.id) % 300)),
        "imageResources": [_image_resource(story, story.id, story.title, base)],
        "slides": slides,
        "seo": {"canonicalUrl": story.source_url},
    }
    return json.dumps(answer, ensure_ascii=False)


def _detail_body(story: Article | Slideshow) -> str:
    boilerplate = f"<p><em>{escape(story.provider.boilerplate)}</em></p>"
    if isinstance(story, Slideshow):
        return f"<p>{escape(story.abstract)}</p>{boilerplate}"
    return "".join(block_html(block) for block in story.paragraphs) + boilerplate


def _slide(show: Slideshow, place: int, base: str) -> dict[str, object]:
    title, words = show.slides[place]
    image = _image_resource(show, f"{show.id}-{place + 1}", title, base)
    return {"title": title, "body": f"<p>{escape(words)}</p>", "image": image}


def _image_resource(story: Article | Slideshow, name: str, caption: str, base: str) -> dict[str, object]:
    return {
        "url": f"{base}/images/{name}.svg",
        "width": 640,
        "height": 360,
        "caption": caption,
        "attribution": story.provider.name,
        "cmsId": f"cms/api/{name}",
    }


def _iso(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def shell(article: Article) -> str:
    """Return the page of a client-rendered portal: scripts without a word of the story."""
    chunks = {f"{seeded_number(f'chunk{place}') % 16**6:06x}": f"/bundles/v1/{place}.js" for place in range(240)}
    settings = {"locale": article.locale, "id": article.id, "chunks": chunks}
    return render("shell.html", article=article, settings=settings)
