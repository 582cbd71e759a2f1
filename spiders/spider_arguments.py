"""Reads and checks what a user writes after ``-a``, before the crawl starts."""

from __future__ import annotations

import re
from re import Pattern

from denoise_crawler.errors import BadArgumentError
from denoise_crawler.spiders.links import split_http

# Commas inside URLs are common (/story,123.html). Only a comma before a scheme separates two URLs.
_URL_SEPARATOR = re.compile(r"\s+|,(?=\s*[A-Za-z][A-Za-z0-9+.-]*://)")


def read_urls(name: str, text: str | None) -> list[str]:
    """Return the http(s) URLs in an argument, without fragments; commas or spaces separate them.

    Raises:
        BadArgumentError: One of them is no http(s) URL.

    Example:
        >>> read_urls("start_url", "https://example.com, https://example.org/a,1.html")
        ['https://example.com/', 'https://example.org/a,1.html']

    """
    urls = [part.strip(",") for part in _URL_SEPARATOR.split((text or "").strip())]
    urls = [url for url in urls if url]
    complete = []
    for url in urls:
        parts = split_http(url)
        if parts is None:
            raise BadArgumentError(
                f"{name}={url!r} is not an http or https address; write it in full, like {name}=https://example.com/"
            )
        complete.append(parts._replace(path=parts.path or "/", fragment="").geturl())
    return complete


def read_count(name: str, text: str | int | None) -> int:
    """Return a whole number of 0 or more; no argument or an empty one is 0, which means no limit.

    Raises:
        BadArgumentError: The argument is something else.
    """
    try:
        count = int(text or 0)
    except ValueError:
        count = -1
    if count < 0:
        raise BadArgumentError(f"{name}={text!r} is not a whole number of 0 or more (0 means no limit)")
    return count


def read_patterns(name: str, text: str | None) -> tuple[Pattern[str], ...]:
    r"""Return the regular expressions in an argument; spaces separate them, ``\s`` is a space inside one.

    Raises:
        BadArgumentError: One of them is no regular expression.

    """
    patterns = []
    for part in (text or "").split():
        try:
            patterns.append(re.compile(part))
        except (re.error, OverflowError, RecursionError) as error:
            raise BadArgumentError(f"{name}={part!r} is not a valid regular expression: {error}") from None
    return tuple(patterns)


def reject_unknown(given: dict[str, object], known: tuple[str, ...]) -> None:
    """Raise BadArgumentError for an unknown argument, so that a misspelt limit does not start an unlimited crawl.

    Names that begin with ``_`` are allowed, because job runners such as scrapyd pass ``_job``.
    """
    for name in given:
        if name not in known and not name.startswith("_"):
            raise BadArgumentError(f"unknown argument {name!r}; this spider knows {', '.join(known)}")
