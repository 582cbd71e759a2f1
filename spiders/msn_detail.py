"""The JSON of an MSN article: its URL, and how to read it without trusting its types."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec

_ARTICLE = re.compile(r"(?:ar|ss|vi|gm)-([A-Za-z0-9]+)")
_LOCALE = re.compile(r"[a-z]{2,3}-[a-z0-9]{2,8}(?:-[a-z0-9]{2,8})?")
_ISO_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d[0-9:.]*(?:Z|[+-]\d\d:?\d\d)?)?")


@dataclass(frozen=True)
class ArticleDetail:
    """One article as the JSON interface gives it; ``html`` is empty if it has no text."""

    kind: str
    title: str
    html: str
    provider: str | None
    site: str
    authors: list[str]
    published: str | None


def article_id(url: str) -> str:
    """Return the id of an article, an empty string for other URLs.

    The whole last path segment must be ``ar-ID``, or the same with ``ss``, ``vi`` or ``gm``. A locale such as
    ``/ar-ae/news`` is no article.

    Example:
        >>> article_id("https://www.msn.com/en-us/news/a-title/ar-AA1xyz")
        'AA1xyz'
    """
    try:
        segment = urlsplit(url).path.rstrip("/").rpartition("/")[2]
    except ValueError:
        return ""
    found = _ARTICLE.fullmatch(segment)
    return found.group(1) if found else ""


def is_locale(text: str) -> bool:
    """Return True if the text looks like a locale: ``en-us``, ``zh-hans-cn``."""
    return _LOCALE.fullmatch(text) is not None


def locale_of(url: str, default: str) -> str:
    """Return the locale with which the path of an MSN URL begins, else ``default``."""
    first = urlsplit(url).path.lstrip("/").partition("/")[0].lower()
    return first if is_locale(first) else default


def detail_url_of(template: str, url: str, locale: str) -> str:
    """Fill in ``{id}`` and ``{locale}``, which is for articles whose URL has none, in the URL of the JSON."""
    address = template.replace("{locale}", locale_of(url, locale))
    return address.replace("{id}", quote(article_id(url), safe=""))


def read_detail(body: bytes, locale: str) -> ArticleDetail:
    """Read the JSON of an article in the language of ``locale``.

    A title, author, provider or time of an unexpected type counts as absent.

    Raises:
        ValueError: ``body`` is no JSON object, or its text has an unexpected type.

    """
    record = _decode(body)
    if not isinstance(record, dict):
        raise ValueError(f"a JSON object was expected, not {type(record).__name__}")
    text = record.get("body")
    if text is not None and not isinstance(text, str):
        raise ValueError(f"body is not a text but {type(text).__name__}")
    kind = _string(record.get("type")) or "article"
    title = _string(record.get("title"))
    provider = record.get("provider")
    named = provider if isinstance(provider, dict) else {}
    parts = [(text or "").strip(), *(_slides(record) if kind == "slideshow" else [])]
    content = "\n".join(part for part in parts if part)
    return ArticleDetail(
        kind=kind,
        title=title,
        html=_build_html(title, content, locale) if content else "",
        provider=_string(named.get("name")) or None,
        site=f"msn.com/{_slug(_string(named.get('id')) or _string(named.get('name')))}",
        authors=_authors(record.get("authors")),
        published=_iso_time(record.get("publishedDateTime")) or _iso_time(record.get("createdDateTime")),
    )


def _decode(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ValueError(f"it is no JSON: {error}") from None


def _slides(record: dict[str, Any]) -> list[str]:
    slides = record.get("slides")
    parts = []
    for slide in slides if isinstance(slides, list) else []:
        if not isinstance(slide, dict):
            continue
        title, body = _string(slide.get("title")), _string(slide.get("body"))
        if title or body:
            parts.append(f"<section><h2>{html.escape(title)}</h2>{body}</section>")
    return parts


def _build_html(title: str, content: str, locale: str) -> str:
    escaped = html.escape(title)
    return (
        f'<!DOCTYPE html><html lang="{html.escape(locale)}"><head><meta charset="utf-8">'
        f"<title>{escaped}</title></head><body><article><h1>{escaped}</h1>\n{content}\n</article></body></html>"
    )


def _authors(value: Any) -> list[str]:
    found = value if isinstance(value, list) else []
    names = [_string(author.get("name")) for author in found if isinstance(author, dict)]
    return [name for name in names if name]


def _string(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _iso_time(value: Any) -> str | None:
    text = _string(value)
    return text if _ISO_TIME.fullmatch(text) else None


def _slug(name: str) -> str:
    return re.sub(r"[\W_]+", "-", name.lower()).strip("-") or "unknown"
