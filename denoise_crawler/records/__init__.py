"""Records of a page: the posts of a thread, the items of a list, the named values of a product."""

from __future__ import annotations

from denoise_crawler.page import Page
from denoise_crawler.records.listings import PageRecord, find_items
from denoise_crawler.records.posts import find_posts
from denoise_crawler.records.thread import thread_of

__all__ = ["LISTS", "PageRecord", "find_records", "posts_of"]

_THREADS, LISTS = frozenset({"forum"}), frozenset({"listing", "collection"})
_SURE = 0.5  # of a thread where nothing says what the page is


def find_records(page: Page, noise: list[bool] | None, page_type: str | None) -> list[PageRecord]:
    """Return the records of ``page`` in document order; none on a page that is one whole, such as an article.

    Args:
        page: The page.
        noise: Whether each node is noise; None if all is kept.
        page_type: What the page is, None where the method cannot tell; then its elements say so.

    Example:
        >>> post = "<div class=post><b>{}</b><i>May {}, 2024</i><p>{}</p></div>"
        >>> html = post.format("Ann", 2, "Is it open today?") + post.format("Bob", 3, "It is, until six.")
        >>> page = Page.parse("https://a.example/", html)
        >>> [record.kind for record in find_records(page, None, "forum")], find_records(page, None, "article")
        (['post', 'post'], [])
    """
    if posts := posts_of(page, page_type):
        return posts
    return find_items(page, noise) if page_type is None or page_type in LISTS else []


def posts_of(page: Page, page_type: str | None) -> list[PageRecord]:
    """Return the posts of ``page`` where it is a thread: by its type, or by its elements where that is None."""
    is_thread = page_type in _THREADS or (page_type is None and page.once(thread_of).likeness > _SURE)
    return page.once(find_posts) if is_thread else []
