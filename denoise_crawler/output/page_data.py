"""Data besides the text of a page: records, the values of its product, JSON-LD; metadata in YAML above Markdown.

What finds them is imported when it is asked for: most processes write text alone.
"""

from __future__ import annotations

import json
import re

from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.output.clean_page import CleanPage
from denoise_crawler.output.clean_text import clean_text, clean_texts
from denoise_crawler.output.content.blocks import BlockList
from denoise_crawler.output.writing import NO_CHANGES, Writing
from denoise_crawler.page import Page
from denoise_crawler.page.declarations import declarations_of

MAX_RECORDS = 2_000


class PageData:
    """Adds to clean pages the data that is asked for, and remembers the pages if changes are."""

    def __init__(self, writing: Writing) -> None:
        self._writing = writing
        self._watch = None
        if writing.changes != NO_CHANGES:
            from denoise_crawler.changes.page_changes import ChangeWatch

            self._watch = ChangeWatch(writing.history, writing.history_pages)

    def add(self, clean_page: CleanPage, page: Page, noise: list[bool] | None, *, watch: bool) -> None:
        """Add the data of ``page``; with ``watch``, and if it was judged (it has ``noise``), it counts as seen."""
        if self._writing.records:
            clean_page.records = page_records(page, noise, clean_page.page_type)
        if self._writing.fields:
            from denoise_crawler.records.product import product_fields

            clean_page.fields = product_fields(page, clean_page.page_type)
        if self._writing.json_ld:
            clean_page.json_ld = BlockList(page.once(declarations_of).items)
        if watch and self._watch is not None and noise is not None:
            text, whole = clean_text(page, _without_links(page, noise, clean_page.page_type)), clean_text(page)
            seen = self._watch.see(page.site, page.url, clean_page.title, text, whole)
            clean_page.content_hash, clean_page.near_duplicate_of = seen.content_hash, seen.near_duplicate_of
            clean_page.soft_404, clean_page.unchanged = seen.soft_404, seen.unchanged


def _without_links(page: Page, noise: list[bool], page_type: str | None) -> list[bool]:
    """Add lines of nothing but links to the noise: on a page that is no list they lead to news, and are none."""
    from denoise_crawler.records import LISTS

    if page_type in LISTS:
        return noise
    blocks, without = page.once(blocks_of), list(noise)
    for block in (blocks.linked >= blocks.characters).nonzero()[0].tolist():
        for index in blocks.nodes[block]:
            without[index] = True
    return without


def page_records(page: Page, noise: list[bool] | None, page_type: str | None) -> BlockList:
    """Return the records of ``page`` as dicts of texts, each with its ``kind`` and what the page says of it.

    A ``post`` has a ``text`` and, where the page says so, a ``user``, a ``time`` and a ``link``; an ``item`` a
    ``title``, a ``link``, a ``price`` and a ``text``. At most ``MAX_RECORDS`` are returned.

    Example:
        >>> post = "<div class=post><b>{}</b> <i>May {}, 2024</i><p>{}</p></div>"
        >>> html = post.format("Ann", 2, "Is it open today?") + post.format("Bob", 3, "It is, until six.")
        >>> page_records(Page.parse("https://a.example/", html), None, "forum")[1]
        {'kind': 'post', 'user': 'Bob', 'time': 'May 3, 2024', 'text': 'It is, until six.'}
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
    *("title", "author", "date", "modified", "url", "canonical_url", "site_name", "language", "page_type"),
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
    return _NOT_PRINTABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", written)
