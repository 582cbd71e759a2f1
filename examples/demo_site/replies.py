"""The demo site, The Harbour Ledger / 港湾纪事, without sockets: equal requests get equal replies."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from importlib import resources
from urllib.parse import parse_qs

from . import pages
from .articles import (
    ABOUT,
    LOCALES,
    SECTIONS,
    SITE,
    WORDS,
    Article,
    article_path,
    articles,
    find_article,
    find_slideshow,
    gold_text,
    newest,
    seeded_number,
)
from .pages import Frame, article_page, charset_of, period_of, render_in_frame, slideshow_page

__all__ = ["Article", "Reply", "article_path", "articles", "gold_text", "respond"]


FRONT_SIZE = 12
SECTION_SIZE = 4


@dataclass(frozen=True)
class Reply:
    """An HTTP reply; ``headers`` has neither the content type nor the length."""

    status: int
    content_type: str
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Request:
    path: str
    query: dict[str, list[str]]
    base: str

    @property
    def lang(self) -> str:
        return "zh" if "zh-cn" in self.path else "en"

    @property
    def numbered_path(self) -> str:
        return self.path if self.page == 1 else f"{self.path}?page={self.page}"

    @property
    def page(self) -> int:
        wanted = self.query.get("page", ["1"])[0]
        return int(wanted) if re.fullmatch("[0-9]{1,4}", wanted) else 0


def respond(target: str, base: str) -> Reply:
    """Return the reply to a path with query.

    Args:
        target: The path with query.
        base: The URL of the site, without a slash at the end.

    Example:
        >>> respond("/robots.txt", "http://localhost").status
        200

    """
    path, _, query = target.partition("?")
    request = _Request(path, parse_qs(query), base)
    for pattern, answer in _ROUTES:
        found = pattern.fullmatch(path)
        if found:
            return answer(request, found)
    return _missing(request)


def _html(html: str, status: int = 200, charset: str = "utf-8") -> Reply:
    return Reply(status, f"text/html; charset={charset}", html.encode(charset))


def _small_page(request: _Request, heading: str, words: str, status: int = 200) -> Reply:
    frame = Frame(request.lang, request.path, heading, words, "small")
    return _html(render_in_frame("small.html", frame, request.base, "small"), status)


def _notice(request: _Request, name: str, status: int) -> Reply:
    words = WORDS[request.lang]
    return _small_page(request, words[name], words[f"{name}_text"], status)


def _missing(request: _Request) -> Reply:
    return _notice(request, "missing", 404)


def _front(request: _Request, _: re.Match[str]) -> Reply:
    lang = request.lang
    frame = Frame(lang, request.numbered_path, SITE[lang], WORDS[lang]["newsletter_text"], "front")
    other = "zh" if lang == "en" else "en"
    return _listing(request, frame, None, FRONT_SIZE, other_locale=LOCALES[other], other_site=SITE[other])


def _section(request: _Request, found: re.Match[str]) -> Reply:
    name = SECTIONS[request.lang][found["section"]]
    frame = Frame(request.lang, request.numbered_path, name, f"{name}: {SITE[request.lang]}", "section")
    return _listing(request, frame, found["section"], SECTION_SIZE)


def _listing(request: _Request, frame: Frame, section: str | None, size: int, **more: str) -> Reply:
    """Return one page of a list of stories; none past the last."""
    stories, end = newest(frame.locale, section), request.page * size
    shown = stories[max(0, end - size) : end]
    if not shown:
        return _missing(request)
    place = {"path": request.path, "page": request.page, "has_next": end < len(stories)}
    listed = {"section": section, "shown": shown, **place, **more}
    return _html(render_in_frame("listing.html", frame, request.base, period_of(shown[0]), **listed))


def _about(request: _Request, found: re.Match[str]) -> Reply:
    """Return one of the pages linked from the footer."""
    name = found["name"] or "about"
    if name not in ABOUT:
        return _missing(request)
    return _small_page(request, SITE[request.lang], ABOUT[name][request.lang])


def _article(request: _Request, found: re.Match[str]) -> Reply:
    article = _in_locale(found)
    if article is None:
        return _missing(request)
    return _html(article_page(article, request.base), charset=charset_of(article))


def _slideshow(request: _Request, found: re.Match[str]) -> Reply:
    show = find_slideshow(found["id"])
    return _missing(request) if show is None else _html(slideshow_page(show, request.base))


def _gallery(request: _Request, _: re.Match[str]) -> Reply:
    return _notice(request, "gone", 410)


def _shell(request: _Request, found: re.Match[str]) -> Reply:
    article = _in_locale(found)
    return _missing(request) if article is None else _html(pages.shell(article))


def _in_locale(found: re.Match[str]) -> Article | None:
    """Return the article with the id in a URL; its slug does not matter."""
    article = find_article(found["id"])
    return article if article and article.locale == found["locale"] else None


def _archive(request: _Request, found: re.Match[str]) -> Reply:
    article = find_article(found["id"])
    if article is None:
        return _missing(request)
    return Reply(301, "text/plain; charset=utf-8", b"", {"Location": request.base + article_path(article)})


def _detail(request: _Request, found: re.Match[str]) -> Reply:
    kind = "application/json; charset=utf-8"
    if found["locale"] not in LOCALES.values():
        return Reply(400, kind, b'{"error": "invalid locale"}')
    answer = pages.detail(found["id"], request.base)
    if answer is None:
        return Reply(410, kind, b'{"error": "content is gone"}')
    return Reply(200, kind, answer.encode())


def _rss(request: _Request, found: re.Match[str]) -> Reply:
    return Reply(200, "application/rss+xml; charset=utf-8", pages.rss(found["locale"], request.base).encode())


def _robots(_request: _Request, _: re.Match[str]) -> Reply:
    return Reply(200, "text/plain; charset=utf-8", pages.ROBOTS.encode())


def _private(request: _Request, _: re.Match[str]) -> Reply:
    return _notice(request, "private", 200)


def _style(_request: _Request, _: re.Match[str]) -> Reply:
    return Reply(200, "text/css; charset=utf-8", resources.files(__package__).joinpath("site.css").read_bytes())


def _image(_request: _Request, found: re.Match[str]) -> Reply:
    """Return a landscape in two colours that depend on the name: sky, sea and a sun."""
    seed = seeded_number(found["name"])
    sky, sea, sun = seed % 360, (seed // 360) % 360, 80 + seed % 480
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 360">'
        f"<title>{escape(found['name'])}</title>"
        f'<rect width="640" height="360" fill="hsl({sky},45%,78%)"/>'
        f'<circle cx="{sun}" cy="{120 + seed % 90}" r="{30 + seed % 40}" fill="hsl({sea},70%,88%)"/>'
        f'<path d="M0 230 Q160 {200 + seed % 50} 320 230 T640 230 V360 H0 Z" fill="hsl({sea},40%,38%)"/>'
        "</svg>"
    )
    return Reply(200, "image/svg+xml", svg.encode())


def _pixel(_request: _Request, _: re.Match[str]) -> Reply:
    return Reply(200, "image/gif", b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"))


def _rate_card(_request: _Request, _: re.Match[str]) -> Reply:
    pdf = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"
    return Reply(200, "application/pdf", pdf)


_LOCALE = f"(?P<locale>{'|'.join(LOCALES.values())})"
_SECTION = f"(?P<section>{'|'.join(SECTIONS['en'])})"
_STORY = f"/{_LOCALE}/[^/]+(?:/[^/]+)?/[^/]+/"
_ID = "(?P<id>[A-Za-z0-9]+)"

_ROUTES: tuple[tuple[re.Pattern[str], Callable[[_Request, re.Match[str]], Reply]], ...] = (
    (re.compile(f"/{_LOCALE}?"), _front),
    (re.compile(f"/{_LOCALE}/{_SECTION}"), _section),
    (re.compile(f"/{_LOCALE}/about(?:/(?P<name>[a-z]+))?"), _about),
    (re.compile(f"{_STORY}ar-{_ID}"), _article),
    (re.compile(f"{_STORY}ss-{_ID}"), _slideshow),
    (re.compile(f"{_STORY}gm-{_ID}"), _gallery),
    (re.compile(f"/shell{_STORY}ar-{_ID}"), _shell),
    (re.compile(f"/archive/{_ID}"), _archive),
    (re.compile(f"/content/view/v2/Detail/(?P<locale>[^/]+)/{_ID}"), _detail),
    (re.compile(f"/rss(?:/{_LOCALE})?"), _rss),
    (re.compile(r"/robots\.txt"), _robots),
    (re.compile("/private/.*"), _private),
    (re.compile(r"/static/site\.css"), _style),
    (re.compile(r"/images/(?P<name>[A-Za-z0-9-]+)\.svg"), _image),
    (re.compile(r"/pixel\.gif"), _pixel),
    (re.compile(r"/files/rate-card\.pdf"), _rate_card),
)
