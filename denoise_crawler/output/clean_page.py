"""The result for one page, also for one that could not be cleaned; and a page record by record."""

from __future__ import annotations

import json
import logging
import re
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

from denoise_crawler.errors import WorkerDiedError, describe_error
from denoise_crawler.output.clean_text import clean_texts
from denoise_crawler.output.content.blocks import BlockList
from denoise_crawler.output.explanation import BlockVerdict
from denoise_crawler.output.writing import Writing
from denoise_crawler.page import Page
from denoise_crawler.page.date_parsing import iso_date
from denoise_crawler.page.declarations import declarations_of
from denoise_crawler.page.text import printable


@dataclass
class CleanPage:
    """The clean text of one page; also the item of our own spiders.

    ``text`` is a string; of the form ``blocks`` (``DENOISE_FORM``) it is a list of dicts, whose ``str`` is JSON.
    ``title``, ``author`` (several parted by "; "), ``date`` of publication (ISO 8601, with a time if there is
    one) and ``language`` are what the page says in its metadata, None (the title: empty) where it says
    nothing. ``fetched_at`` is an ISO 8601 time in UTC, ``method`` the name of the method that judged the page,
    ``warm`` whether the site's knowledge was ready by then, ``noise_ratio`` the share of the page's visible
    characters that was removed (0–1). ``confidence`` is the F1 that the text can be expected to have against what
    a person would keep (0–1), ``page_type`` what the page is: article, forum, product, listing, collection,
    documentation or service; both are None where the method cannot tell. ``explanation`` says of each block why
    it was kept or dropped, None unless it was asked for (``DENOISE_EXPLAIN``). ``low_confidence`` says whether the
    confidence is below what was asked for (``DENOISE_MIN_CONFIDENCE``), None if nothing was. ``truncated``
    is true if the text goes on behind the limit that was asked for (``DENOISE_MAX_CHARS``), with the part
    ``next_part``.

    ``description``, ``image`` (the lead picture's address), ``canonical_url``, ``site_name``, ``tags`` and
    ``modified`` (ISO 8601) are None unless they were asked for (``DENOISE_MORE_METADATA``) and the page says them.
    ``records`` are the posts of a thread or the items of a list, ``fields`` the values of a product by name,
    ``json_ld`` is the page's JSON-LD. They are None unless they were asked for (``DENOISE_RECORDS``,
    ``DENOISE_FIELDS``, ``DENOISE_JSON_LD``).

    ``skipped`` says why a page has no text: ``too_large`` (see docs/guarantees.md), ``empty``, ``frameset``, or
    ``consent`` where it shows nothing but a dialog; None for all others.

    ``error`` names the exception if the page could not be cleaned; it has no text then. None for all others.
    """

    url: str = ""
    site: str = ""
    title: str = ""
    author: str | None = None
    date: str | None = None
    text: Any = ""
    language: str | None = None
    fetched_at: str | None = None
    method: str | None = None
    warm: bool | None = None
    noise_ratio: float | None = None
    confidence: float | None = None
    page_type: str | None = None
    explanation: list[BlockVerdict] | None = None
    low_confidence: bool | None = None
    truncated: bool | None = None
    next_part: int | None = None
    description: str | None = None
    image: str | None = None
    canonical_url: str | None = None
    site_name: str | None = None
    tags: list[str] | None = None
    modified: str | None = None
    records: list[dict[str, str]] | None = None
    fields: dict[str, str] | None = None
    json_ld: list[dict[str, Any]] | None = None
    skipped: str | None = None
    error: str | None = None


# Stored items name their class; this name must not change when the file moves.
CleanPage.__module__ = "denoise_crawler"


logger = logging.getLogger(__name__)

LEARNED, CLEANED, RENDERED = "learned", "cleaned", "rendered"
BUG = "because of a bug in denoise_crawler"


@dataclass(frozen=True, slots=True)
class PageFailure:
    """What was raised while a page was learned, cleaned or rendered, as another process can be told.

    ``error`` says it in one line; ``lines`` are those of the traceback, without control characters. There are none
    if the page killed its worker process or exceeded its limits.
    """

    url: str
    done: str
    error: str
    lines: tuple[str, ...]

    @classmethod
    def of(cls, url: str, done: str, error: Exception) -> PageFailure:
        """Return the failure that an exception is."""
        raised = "" if isinstance(error, WorkerDiedError) else "".join(traceback.format_exception(error))
        return cls(url, done, describe_error(error), tuple(map(printable, raised.splitlines())))

    def log(self) -> None:
        """Log one line, with the traceback if there is one."""
        why = f" {BUG}; the others go on\n" + "\n".join(self.lines) if self.lines else f": {self.error}"
        logger.error("%s cannot be %s%s", printable(self.url), self.done, why)


def failed_page(url: str, site: str, error: str) -> CleanPage:
    """Return the result for a page that could not be cleaned: it has no text, and names the error."""
    return CleanPage(url, site, method=None, warm=False, error=error)


def learn_or_fail(learn: Callable[[Page], None], page: Page) -> bool:
    """Learn a page; return whether that went well, and log it if not."""
    try:
        learn(page)
    except Exception as error:  # whatever it is, the other pages go on
        PageFailure.of(page.url, LEARNED, error).log()
        return False
    return True


class _Cleaned(Protocol):
    @property
    def clean_page(self) -> CleanPage:
        """The clean page."""


def clean_or_fail(clean: Callable[[Page], _Cleaned], page: Page, *, logged: bool = False) -> CleanPage:
    """Clean a page; if that raises, log it unless it is ``logged`` already, and return the page without text."""
    try:
        return clean(page).clean_page
    except Exception as error:  # whatever it is, the other pages go on
        failure = PageFailure.of(page.url, CLEANED, error)
        if not logged:
            failure.log()
        return failed_page(page.url, page.site, failure.error)


def by_record(page: CleanPage) -> Iterator[CleanPage]:
    """Yield a clean page for each record of ``page``; none if it has no records.

    Each has the text of its record, its user as ``author``, its time as ``date`` (in ISO 8601 if it can be read),
    its own ``title`` where it has one, and the record alone in ``records``. All else is that of the page.

    Args:
        page: A clean page with its records: made by ``Writing(records=True)`` or ``DENOISE_RECORDS``.

    Example:
        >>> from denoise_crawler import Writing, denoise_pages
        >>> post = "<div class=post><b class=user>{}</b> <i>May {}, 2024</i><p>{}</p></div>"
        >>> html = post.format("Ann", 2, "Is it open today?") + post.format("Bob", 3, "It is, until six.")
        >>> pages = denoise_pages([("https://a.test/", html)], method="link_ratio", writing=Writing(records=True))
        >>> [(one.author, one.date, one.text) for page in pages for one in by_record(page)]
        [('Ann', '2024-05-02', 'Is it open today?'), ('Bob', '2024-05-03', 'It is, until six.')]
    """
    for record in page.records or ():
        time = record.get("time", "")
        yield replace(
            page,
            text=record["text"],
            author=record.get("user"),
            date=iso_date(time) or time or None,
            title=record.get("title") or page.title,
            records=[record],
        )


# --- data besides the text of a page: records, the values of its product, JSON-LD; metadata in YAML above Markdown
# What finds them is imported when it is asked for: most processes write text alone.

MAX_RECORDS = 2_000


def add_data(clean_page: CleanPage, page: Page, noise: list[bool] | None, writing: Writing) -> None:
    """Add the data of ``page`` that ``writing`` asks for to its clean page."""
    if writing.records:
        clean_page.records = page_records(page, noise, clean_page.page_type)
    if writing.fields:
        from denoise_crawler.records.product import product_fields

        clean_page.fields = product_fields(page, clean_page.page_type)
    if writing.json_ld:
        clean_page.json_ld = BlockList(page.once(declarations_of).items)


def page_records(page: Page, noise: list[bool] | None, page_type: str | None) -> BlockList:
    """Return the records of ``page`` as dicts of texts, each with its ``kind`` and what the page says of it.

    A ``post`` has a ``text`` and, where the page says so, a ``user``, a ``time`` and a ``link``; an ``item`` a
    ``title``, a ``link``, a ``price`` and a ``text``. At most ``MAX_RECORDS`` are returned.

    Example:
        >>> post = "<div class=post><b>{}</b> <i>May {}, 2024</i><p>{}</p></div>"
        >>> html = post.format("Ann", 2, "Is it open today?") + post.format("Bob", 3, "It is, until six.")
        >>> page_records(Page.parse("https://a.example/", html), None, "forum")[1]
        {'kind': 'post', 'user': 'Bob', 'time': '2024-05-03', 'text': 'It is, until six.'}
    """
    from denoise_crawler.records import find_records

    records = find_records(page, noise, page_type)[:MAX_RECORDS]
    gone = [False] * len(page.nodes)
    for record in records:
        for part in record.left_out:
            gone[part.start : part.stop] = [True] * len(part)
    texts = clean_texts(page, gone, [record.inside for record in records])
    return BlockList(
        {"kind": record.kind, **record.values, "text": text} for record, text in zip(records, texts, strict=True)
    )


_FIELDS = (
    *("title", "author", "date", "modified", "url", "site", "canonical_url", "site_name", "language", "page_type"),
    *("confidence", "description", "image", "tags"),
)
_NOT_PRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")  # of YAML 1.1, beyond JSON's


def front_matter(page: CleanPage) -> str:
    r"""Return the metadata of a page as YAML between two lines of dashes, ending with an empty line.

    Fields without a value are left out. Each value is written as in JSON, which YAML reads.

    Example:
        >>> print(front_matter(CleanPage(url="https://a.test/", title='The "end"', confidence=0.9)), end="")
        ---
        title: "The \"end\""
        url: "https://a.test/"
        confidence: 0.9
        ---
        <BLANKLINE>
    """
    values = ((name, getattr(page, name, None)) for name in _FIELDS)
    lines = [f"{name}: {_value(value)}" for name, value in values if value not in (None, "")]
    return "\n".join(["---", *lines, "---", "", ""])


def _value(value: object) -> str:
    if isinstance(value, float):
        value = round(value, 4)  # a very small one would be written in a way that YAML reads as text
    written = json.dumps(value, ensure_ascii=False)
    return _NOT_PRINTABLE.sub(lambda match: f"\\u{ord(match.group()):04x}", written)
