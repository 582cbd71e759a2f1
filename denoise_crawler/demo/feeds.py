"""The parts of the site for machines: robots.txt, RSS, the detail API and the client-rendered shell."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from email.utils import format_datetime
from html import escape

from denoise_crawler.demo.article_page import block_html
from denoise_crawler.demo.articles import (
    LOCALES,
    Article,
    Slideshow,
    article_path,
    find_article,
    find_slideshow,
    newest,
)
from denoise_crawler.demo.chrome import text
from denoise_crawler.demo.words import SITE, number

ROBOTS = "User-agent: *\nDisallow: /private/\nAllow: /\n"


def rss(locale: str | None, base: str) -> str:
    """Return the RSS 2.0 feed of a locale, or of both; every fourth link is tracked."""
    locales = [locale] if locale else list(LOCALES.values())
    lang = "zh" if locale == "zh-cn" else "en"
    stories = [article for name in locales for article in newest(name)]
    items = "\n".join(_rss_item(article, base, tracked=place % 4 == 3) for place, article in enumerate(stories))
    return f"""<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0"><channel>
<title>{text(SITE[lang])}</title>
<link>{base}/{locale or ""}</link>
<description>{text(SITE[lang])}</description>
<language>{LOCALES[lang]}</language>
{items}
</channel></rss>
"""


def _rss_item(article: Article, base: str, *, tracked: bool) -> str:
    address = base + article_path(article)
    target = address + "?utm_source=rss&ocid=feed" if tracked else address
    return f"""<item><title>{text(article.title)}</title><link>{escape(target)}</link>
<guid>{escape(address)}</guid><description>{text(article.abstract)}</description>
<pubDate>{format_datetime(article.time)}</pubDate></item>"""


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
        "createdDateTime": _iso(story.time - timedelta(minutes=number(story.id) % 50)),
        "publishedDateTime": story.published,
        "updatedDateTime": _iso(story.time + timedelta(minutes=number(story.id) % 300)),
        "imageResources": [_image(story, story.id, story.title, base)],
        "slides": slides,
        "seo": {"canonicalUrl": story.source_url},
    }
    return json.dumps(answer, ensure_ascii=False)


def _detail_body(story: Article | Slideshow) -> str:
    boilerplate = f"<p><em>{text(story.provider.boilerplate)}</em></p>"
    if isinstance(story, Slideshow):
        return f"<p>{text(story.abstract)}</p>{boilerplate}"
    return "".join(block_html(block) for block in story.paragraphs) + boilerplate


def _slide(show: Slideshow, place: int, base: str) -> dict[str, object]:
    title, words = show.slides[place]
    image = _image(show, f"{show.id}-{place + 1}", title, base)
    return {"title": title, "body": f"<p>{text(words)}</p>", "image": image}


def _image(story: Article | Slideshow, name: str, caption: str, base: str) -> dict[str, object]:
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
    chunks = {f"{number(f'chunk{place}') % 16**6:06x}": f"/bundles/v1/{place}.js" for place in range(240)}
    preloads = "\n".join(
        f'<link rel="preload" as="script" href="/bundles/v1/{place}.js" crossorigin>' for place in range(12)
    )
    scripts = "\n".join(f'<script src="/bundles/v1/{place}.js" defer></script>' for place in range(24))
    settings = json.dumps({"locale": article.locale, "id": article.id, "chunks": chunks})
    return f"""<!DOCTYPE html>
<html lang="{article.locale}" dir="ltr">
<head><meta charset="utf-8"><title>MSN</title>
{preloads}
<style>body{{margin:0}}fluent-design-system-provider{{display:block}}</style>
<script>window.__settings = {settings};</script>
</head>
<body>
<div id="root"></div>
<noscript><img src="/pixel.gif?js=0" alt=""></noscript>
{scripts}
</body></html>
"""
