"""A spider as users write them, for projects that tests make: it knows nothing of this package."""

SPIDER = """
import json
from dataclasses import dataclass, field

import attrs
import pydantic
import scrapy


class ArticlesSpider(scrapy.Spider):
    name = "articles"
    custom_settings = {"DOWNLOAD_DELAY": 0.05, "DOWNLOAD_DELAY_JITTER": 0, "CONCURRENT_REQUESTS": 1}

    async def start(self):
        with open("urls.json") as file:
            for url in json.load(file):
                yield scrapy.Request(url)

    def parse(self, response):
        yield {"url": response.url}


class HtmlSpider(ArticlesSpider):
    name = "html"

    def parse(self, response):
        yield {"url": response.url, "html": response.text}


class ScrapyItem(scrapy.Item):
    url = scrapy.Field()
    kind = scrapy.Field()
    text = scrapy.Field()


@dataclass
class DataItem:
    url: str
    kind: str
    text: str = ""
    tags: list = field(default_factory=list)


@attrs.define
class AttrsItem:
    url: str
    kind: str
    text: str = ""


class PydanticItem(pydantic.BaseModel):
    url: str
    kind: str
    text: str = ""


@dataclass
class NoTextItem:
    url: str
    kind: str


class KindsSpider(ArticlesSpider):
    name = "kinds"

    def parse(self, response):
        url = response.url
        yield {"url": url, "kind": "dict"}
        yield ScrapyItem(url=url, kind="scrapy")
        yield DataItem(url, "dataclass", tags=["a"])
        yield AttrsItem(url, "attrs")
        yield PydanticItem(url=url, kind="pydantic")
        yield NoTextItem(url, "no text field")
        yield {"url": url, "kind": "own text", "text": "mine"}
        request = response.request.replace(callback=lambda response: None)
        yield {"url": url, "kind": "unparkable", "object": request}
"""
