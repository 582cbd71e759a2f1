"""What a page says of itself in JSON-LD, as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from denoise_crawler.page.declarations import declarations_of

if TYPE_CHECKING:
    from typing import TypeAlias

    from denoise_crawler.page import Page

    Item: TypeAlias = dict[str, Any]


def json_ld_items(page: Page) -> list[Item]:
    """Return the JSON-LD items of ``page`` in order, also those in lists and graphs; broken JSON is left out.

    Example:
        >>> from denoise_crawler import Page
        >>> script = '<script type="application/ld+json">{"@type": "Product", "sku": "A-1"}</script>'
        >>> json_ld_items(Page.parse("https://a.example/", script))
        [{'@type': 'Product', 'sku': 'A-1'}]

    """
    return page.once(declarations_of).items
