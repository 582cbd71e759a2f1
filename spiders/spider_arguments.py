"""What a user writes after ``-a``, read and checked before the crawl starts."""

from __future__ import annotations

import re
from re import Pattern

from denoise_crawler.errors import BadArgumentError
from denoise_crawler.spiders.links import split_http

# A comma inside an address is common (/story,123.html); one in front of a scheme only parts two addresses.
_BETWEEN_URLS = re.compile(r"\s+|,(?=\s*[A-Za-z][A-Za-z0-9+.-]*://)")


def read_urls(name: str, text: str | None) -> list[str]:
    """Return the http(s) addresses in a comma- or space-separated argument; none is an empty list."""
    urls = [part.strip(",") for part in _BETWEEN_URLS.split((text or "").strip())]
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
    """Return a whole number of zero or more; absent or empty is 0, which stands for no limit."""
    try:
        count = int(text or 0)
    except ValueError:
        count = -1
    if count < 0:
        raise BadArgumentError(f"{name}={text!r} is not a whole number of 0 or more (0 means no limit)")
    return count


def read_patterns(name: str, text: str | None) -> tuple[Pattern[str], ...]:
    r"""Return the regular expressions of a space-separated argument; write ``\s`` for a space inside one."""
    patterns = []
    for part in (text or "").split():
        try:
            patterns.append(re.compile(part))
        except (re.error, OverflowError, RecursionError) as error:
            raise BadArgumentError(f"{name}={part!r} is not a valid regular expression: {error}") from None
    return tuple(patterns)


def refuse_unknown(given: dict[str, object], known: tuple[str, ...]) -> None:
    """Raise for an argument no spider knows: a typing error must not turn into an unlimited crawl.

    Names that begin with ``_`` are let through: job runners such as scrapyd pass ``_job``.
    """
    for name in given:
        if name not in known and not name.startswith("_"):
            raise BadArgumentError(f"unknown argument {name!r}; this spider knows {', '.join(known)}")
