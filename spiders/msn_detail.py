"""MSN's article detail as JSON: where to ask for it, and how to read what comes, trusting nothing."""

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
    """One article as the detail interface gives it; ``html`` is empty if there is no text to take."""

    kind: str
    title: str
    html: str
    provider: str | None
    site: str
    authors: list[str]
    published: str | None


def article_id(url: str) -> str:
    """Return the id of an article link, or an empty string: the whole last path segment must be ``ar-ID``.

    ``ss``, ``vi`` and ``gm`` count like ``ar``. A locale such as ``/ar-ae/news`` is no article.
    """
    try:
        segment = urlsplit(url).path.rstrip("/").rpartition("/")[2]
    except ValueError:
        return ""
    found = _ARTICLE.fullmatch(segment)
    return found.group(1) if found else ""


def is_locale(text: str) -> bool:
    """Tell whether the text is written like a locale: ``en-us``, ``zh-hans-cn``."""
    return _LOCALE.fullmatch(text) is not None


def locale_of(url: str, otherwise: str) -> str:
    """Return the locale an MSN address begins with, or ``otherwise``."""
    first = urlsplit(url).path.lstrip("/").partition("/")[0].lower()
    return first if is_locale(first) else otherwise


def detail_address(template: str, url: str, locale: str) -> str:
    """Return the address of an article's detail; the article's own locale goes before ``locale``."""
    address = template.replace("{locale}", locale_of(url, locale))
    return address.replace("{id}", quote(article_id(url), safe=""))


def read_detail(body: bytes, locale: str) -> ArticleDetail:
    """Read a detail answer; ValueError if it is no JSON object or its text is not of the expected type.

    Title, authors, provider and time of an unexpected type count as absent.
    """
    record = _decode(body)
    if not isinstance(record, dict):
        raise ValueError(f"a JSON object was expected, not {type(record).__name__}")
    text = record.get("body")
    if text is not None and not isinstance(text, str):
        raise ValueError(f"body is not a text but {type(text).__name__}")
    kind = _text(record.get("type")) or "article"
    title = _text(record.get("title"))
    provider = record.get("provider")
    named = provider if isinstance(provider, dict) else {}
    parts = [(text or "").strip(), *(_slides(record) if kind == "slideshow" else [])]
    content = "\n".join(part for part in parts if part)
    return ArticleDetail(
        kind=kind,
        title=title,
        html=_document(title, content, locale) if content else "",
        provider=_text(named.get("name")) or None,
        site=f"msn.com/{_slug(_text(named.get('id')) or _text(named.get('name')))}",
        authors=_authors(record.get("authors")),
        published=_time(record.get("publishedDateTime")) or _time(record.get("createdDateTime")),
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
        title, body = _text(slide.get("title")), _text(slide.get("body"))
        if title or body:
            parts.append(f"<section><h2>{html.escape(title)}</h2>{body}</section>")
    return parts


def _document(title: str, content: str, locale: str) -> str:
    escaped = html.escape(title)
    return (
        f'<!DOCTYPE html><html lang="{html.escape(locale)}"><head><meta charset="utf-8">'
        f"<title>{escaped}</title></head><body><article><h1>{escaped}</h1>\n{content}\n</article></body></html>"
    )


def _authors(value: Any) -> list[str]:
    found = value if isinstance(value, list) else []
    names = [_text(author.get("name")) for author in found if isinstance(author, dict)]
    return [name for name in names if name]


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _time(value: Any) -> str | None:
    text = _text(value)
    return text if _ISO_TIME.fullmatch(text) else None


def _slug(name: str) -> str:
    return re.sub(r"[\W_]+", "-", name.lower()).strip("-") or "unknown"
