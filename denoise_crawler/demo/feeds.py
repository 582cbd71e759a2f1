"""The parts of the site for machines: robots.txt, RSS, the detail API and the client-rendered shell."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from html import escape

from denoise_crawler.demo.article_page import block_html
from denoise_crawler.demo.articles import (
    LOCALES,
    Article,
    Slideshow,
    find_article,
    find_slideshow,
    newest,
)
from denoise_crawler.demo.frame import render
from denoise_crawler.demo.texts import SITE, seeded_number

ROBOTS = "User-agent: *\nDisallow: /private/\nAllow: /\n"


def rss(locale: str | None, base: str) -> str:
    """Return the RSS 2.0 feed of a locale, or of both; every fourth link is tracked."""
    locales = [locale] if locale else list(LOCALES.values())
    lang = "zh" if locale == "zh-cn" else "en"
    stories = [article for name in locales for article in newest(name)]
    return render(
        "rss.xml", base=base, locale=locale or "", language=LOCALES[lang], site=SITE[lang], stories=stories
    )


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
