"""The style tree of a report: from the store of a crawl, or from pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from denoise_crawler.methods.style_tree.method import StyleTree
from denoise_crawler.page import Page
from denoise_crawler.page.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from denoise_crawler.report.site_samples import SiteSample
    from denoise_crawler.store import Store


def style_tree_of(
    site: str, sample: SiteSample | None, options: Mapping[str, object], store: Store | None
) -> tuple[StyleTree | None, str]:
    """Return the style tree of a site, and a note where it comes from.

    Args:
        site: The name of the site.
        sample: Pages of the site, which are learned if the store has no tree.
        options: The options of the method.
        store: The store of a crawl.

    Returns:
        The tree, None if there is none; and the note, or why there is none.

    """
    method = StyleTree(**options)  # type: ignore[arg-type]
    stored = store.knowledge(site, method.store_key) if store else []
    if stored:
        try:
            method.merge_bytes(stored[0])
        except ValueError as error:
            return None, f"The style tree in the store cannot be read: {error}."
        no_words = " It keeps hashes, not words: name pages beside the store to see what nodes say."
        return method, "The tree is the one in the store." + ("" if sample else no_words)
    for url, html in sample.pages() if sample else ():
        page = Page.parse(url, html, site=site)
        if not page.skipped:
            method.observe(page)
    if method.pages_known:
        return method, f"Learned from {counted(method.pages_known, 'page')} of those given, for this report."
    if store and not sample:
        return None, (
            "The store holds no style tree of this site: the method of the crawl keeps none. Name pages beside "
            "the store to have one learned."
        )
    return None, "No page of this site can be read, so there is no style tree."
