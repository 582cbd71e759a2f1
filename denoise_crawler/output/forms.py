"""The forms that the kept content of a page can be written in: a new one is a function and a row here.

What writes the others is imported when it is needed: most processes write plain text.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.output.writing import KEEP, Writing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from denoise_crawler.methods import Judgement
    from denoise_crawler.output.content.blocks import Block, BlockList
    from denoise_crawler.page import Page


@dataclass(eq=False)
class Content:
    """What is kept of ``page``, all but its ``noise`` nodes, to be written; see :func:`write_content`."""

    page: Page
    noise: list[bool] | None = None
    writing: Writing = Writing()  # noqa: RUF009 - it is frozen
    page_type: str | None = ""

    @cached_property
    def blocks(self) -> list[Block]:
        """The content as typed blocks."""
        from denoise_crawler.output.content.builder import content_blocks
        from denoise_crawler.records import posts_of

        return content_blocks(self.page, self.noise, self.writing, posts_of(self.page, self.page_type))


def _text(content: Content) -> str:
    return clean_text(content.page, content.noise)


def _markdown(content: Content) -> str:
    from denoise_crawler.output.content.markdown import to_markdown

    return to_markdown(content.blocks)


def _html(content: Content) -> str:
    from denoise_crawler.output.content.html import to_html

    return to_html(content.blocks)


def _blocks(content: Content) -> BlockList:
    from denoise_crawler.output.content.blocks import to_dicts

    return to_dicts(content.blocks)


FORMS: dict[str, Callable[[Content], str | BlockList]] = {
    "text": _text,
    "markdown": _markdown,
    "html": _html,
    "blocks": _blocks,
}


def type_with_posts(judgement: Judgement | None, options: Mapping[str, object]) -> str | None:
    """Return what a page is, for :func:`write_content`; where ``options`` keep comments, each may be a thread."""
    if judgement is None:
        return ""
    return "forum" if options.get("comments") == KEEP else judgement.page_type


def write_content(
    page: Page,
    noise: list[bool] | None = None,
    writing: Writing | None = None,
    page_type: str | None = "",
) -> Any:
    """Return ``page`` without its ``noise`` nodes in the form that ``writing`` names.

    Args:
        page: The page.
        noise: Whether each node is noise; None if all is kept.
        writing: The options; plain text if not given.
        page_type: What the page is: each post of a ``forum`` is written below a line that says who wrote it, and
            when; of None its elements tell whether it is one.

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
    return FORMS[writing.form](Content(page, noise, writing, page_type))
