"""The stories of one site."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import scrapy
from scrapy.http import HtmlResponse


class StoriesSpider(scrapy.Spider):
    """Yields the pages that ``start`` links to, where their address holds ``path``."""

    name = "stories"

    def __init__(self, start: str, path: str = "/", **others: Any) -> None:
        super().__init__(**others)
        self.start_urls = [start]
        self.path = path

    def parse(self, response: HtmlResponse) -> Iterator[scrapy.Request]:
        """Follow the links of the start page."""
        for url in map(response.urljoin, response.css("a::attr(href)").getall()):
            if self.path in url:
                yield response.follow(url, self.parse_story)

    def parse_story(self, response: HtmlResponse) -> Iterator[dict[str, str]]:
        """Yield a page; its text comes from denoise_crawler."""
        yield {"url": response.url, "text": ""}
