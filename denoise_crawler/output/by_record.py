"""A page record by record: each post of a thread, each item of a list as a clean page of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from denoise_crawler.page.dates import iso_date

if TYPE_CHECKING:
    from collections.abc import Iterator

    from denoise_crawler.output.clean_page import CleanPage


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
