"""Pages written in the forms, and Markdown read back by a reader of CommonMark."""

from typing import Any

from lxml import html as lxml_html
from markdown_it import MarkdownIt

from denoise_crawler.output.content.blocks import Block
from denoise_crawler.output.content.builder import Builder
from denoise_crawler.output.writing import Content, Writing
from denoise_crawler.page import Page

URL = "https://example.com/d/"
READER = MarkdownIt("commonmark", {"maxNesting": 100}).enable(["table", "strikethrough"])


def blocks_of(html: str, noise: list[bool] | None = None, **kept: bool) -> list[Block]:
    return Builder(Page.parse(URL, html), noise, **kept).build()


def written(html: str, form: str = "markdown", **writing: Any) -> Any:
    return Content(Page.parse(URL, html), None, Writing(form, **writing)).written()


def shown(markdown: str) -> str:
    """Return what a reader of CommonMark shows, without white space."""
    rendered = READER.render(markdown)
    return "".join("".join(map(str, lxml_html.fromstring(f"<div>{rendered}</div>").itertext())).split())
