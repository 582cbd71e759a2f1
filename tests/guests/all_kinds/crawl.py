"""The script that is run: a spider that yields items of every kind of each page, two of classes of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import scrapy
from item_kinds import WITH_EXTRA, WITH_IMAGES, Kinds
from order import ORDER
from recording import Record, described
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response

SETTINGS = {
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "CONCURRENT_REQUESTS": 6,
    "IMAGES_STORE": "files",
    "EXTENSIONS": {"recording.Recorder": 0, "recording.Ending": 0},
    "SPIDER_MIDDLEWARES": {"recording.InFront": 1, "recording.Behind": 900},
    "ITEM_PIPELINES": {
        "item_pipelines.Arriving": 300,
        "item_pipelines.Remembering": 350,
        "scrapy.pipelines.images.ImagesPipeline": 400,
        "item_pipelines.Downloading": 450,
        "item_pipelines.Storing": 500,
    },
}


class MainItem(scrapy.Item):
    url = scrapy.Field()
    kind = scrapy.Field()
    number = scrapy.Field()
    html = scrapy.Field()
    text = scrapy.Field()


@dataclass
class MainDataclass:
    url: str
    kind: str
    number: int
    html: str = ""
    text: str = ""


KINDS = {
    **Kinds.of,
    "Item of __main__": lambda values: MainItem(**values),
    "dataclass of __main__": lambda values: MainDataclass(**values),
    "dict at the end": dict,
}


class PagesSpider(scrapy.Spider):
    name = "pages"

    async def start(self) -> AsyncIterator[Any]:
        for url in ORDER["urls"]:
            yield scrapy.Request(url, meta={"note": url[-2:]})

    def parse(self, response: Response) -> Iterator[Any]:
        Record.write("called", page=response.url, response=described(response))
        host, name = response.urljoin("/"), response.url.rpartition("/")[2]
        for number, (kind, make) in enumerate(KINDS.items()):
            values = {"url": response.url, "kind": kind, "number": number}
            if ORDER["html"]:
                values["html"] = response.text
            if kind in WITH_IMAGES:
                values["image_urls"] = [f"{host}image/{name}-{number}.png"]
            if kind in WITH_EXTRA:
                values["extra_url"] = f"{host}extra/{name}-{number}"
            yield make(values)
        Record.write("yielded", page=response.url)
        if "/raises/" in response.url:
            raise RuntimeError("this page cannot be read")


if __name__ == "__main__":
    given = ORDER["settings"]
    pipelines = {**SETTINGS["ITEM_PIPELINES"], **given.pop("ITEM_PIPELINES", {})}
    process = CrawlerProcess({**SETTINGS, **given, "ITEM_PIPELINES": pipelines})
    process.crawl(PagesSpider)
    process.start()
