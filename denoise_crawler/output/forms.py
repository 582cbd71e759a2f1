"""The forms that the kept content of a page can be written in: a new one is a function and a row here.

What writes the others is imported when it is needed: most processes write plain text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.output.writing import Writing

if TYPE_CHECKING:
    from collections.abc import Callable

    from denoise_crawler.output.content.blocks import BlockList
    from denoise_crawler.page import Page

    Form = Callable[[Page, list[bool] | None, Writing], "str | BlockList"]


def _text(page: Page, noise: list[bool] | None, _: Writing) -> str:
    return clean_text(page, noise)


def _markdown(page: Page, noise: list[bool] | None, writing: Writing) -> str:
    from denoise_crawler.output.content.builder import content_blocks
    from denoise_crawler.output.content.markdown import to_markdown

    return to_markdown(content_blocks(page, noise, writing))


def _html(page: Page, noise: list[bool] | None, writing: Writing) -> str:
    from denoise_crawler.output.content.builder import content_blocks
    from denoise_crawler.output.content.html import to_html

    return to_html(content_blocks(page, noise, writing))


def _blocks(page: Page, noise: list[bool] | None, writing: Writing) -> BlockList:
    from denoise_crawler.output.content.blocks import to_dicts
    from denoise_crawler.output.content.builder import content_blocks

    return to_dicts(content_blocks(page, noise, writing))


FORMS: dict[str, Form] = {"text": _text, "markdown": _markdown, "html": _html, "blocks": _blocks}


def write_content(page: Page, noise: list[bool] | None = None, writing: Writing | None = None) -> Any:
    """Return ``page`` without its ``noise`` nodes in the form that ``writing`` names.

    Args:
        page: The page.
        noise: Whether each node is noise; None if all is kept.
        writing: The options; plain text if not given.

    Returns:
        A string; of the form ``blocks`` a list of dicts.

    Example:
        >>> from denoise_crawler import Page
        >>> page = Page.parse("https://a.test/", "<h1>News</h1><ul><li>One <a href=/2>two</a>")
        >>> print(write_content(page, writing=Writing("markdown")))
        # News
        <BLANKLINE>
        - One [two](https://a.test/2)

    """
    writing = writing or Writing()
    return FORMS[writing.form](page, noise, writing)
