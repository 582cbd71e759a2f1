"""Keeps what judging and writing a page needs, where that is all without the page's tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from denoise_crawler.output.content.formulas import formulas_of
from denoise_crawler.page.metadata import metadata_of, more_metadata_of
from denoise_crawler.page.page_columns import PageColumns

if TYPE_CHECKING:
    from denoise_crawler.methods import MethodChoice
    from denoise_crawler.output.writing import Writing
    from denoise_crawler.page import Page
    from denoise_crawler.rules import SiteRules


def columns_for(page: Page, choice: MethodChoice, writing: Writing, rules: SiteRules) -> PageColumns | None:
    """Return the columns by which ``page`` can be judged and written; None where that would need its tree.

    Args:
        page: The page.
        choice: The method that will judge it.
        writing: How it will be written.
        rules: The site rules; their selectors need the tree.

    Example:
        >>> from denoise_crawler import Denoiser
        >>> from denoise_crawler.methods import MethodChoice
        >>> from denoise_crawler.output.writing import Writing
        >>> from denoise_crawler.page import Page
        >>> from denoise_crawler.rules import NO_RULES
        >>> page = Page.parse("https://a.example/", html := "<p>A story.")
        >>> columns = columns_for(page, MethodChoice("fusion"), Writing(), NO_RULES)
        >>> Denoiser("fusion").clean(columns.page(html)).clean_page.text
        'A story.'

    """
    if choice.of_page is None or writing.reads_elements or page.skipped or rules.of(page.url) is not None:
        return None
    more = (more_metadata_of,) if writing.more_metadata else ()
    return PageColumns(page, (*choice.of_page, formulas_of, metadata_of, *more))
