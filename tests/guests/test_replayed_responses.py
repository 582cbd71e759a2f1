"""The response that goes with an item: handlers of signals get that of the item's own page, also if it waited."""

import json
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.guests.guest_project import ADDON, PIPELINES, Guest
from tests.guests.site import html
from tests.loopback import HTML, Answer, Served

SPIDER = """
import json

import scrapy
from responses import told


class PagesSpider(scrapy.Spider):
    name = "pages"
    custom_settings = {"HTTPERROR_ALLOWED_CODES": [404]}

    async def start(self):
        with open("urls.json") as file:
            for number, url in enumerate(json.load(file)):
                method, body = ("POST", b"q=1") if "posted" in url else ("GET", b"")
                meta = {"note": "n", "number": number, "nested": {"a": [1, None, "b"]}}
                yield scrapy.Request(url, method=method, body=body, meta=meta, headers={"X-Own": "yes"})

    def parse(self, response):
        told("called", response, response.url)
        for number in range(3):
            yield {"url": response.url, "number": number, HTML: response.text, "text": ""}
"""
RESPONSES = """
import hashlib
import json

from scrapy import signals
from scrapy.exceptions import DropItem
from scrapy.http import HtmlResponse


def told(event, response, url):
    about = None
    if response is not None:
        request = response.request
        about = {
            "url": response.url,
            "status": response.status,
            "headers": {
                name.decode(): [value.decode() for value in values]
                for name, values in sorted(response.headers.items())
            },
            "body": hashlib.sha256(response.body).hexdigest(),
            "class": isinstance(response, HtmlResponse),
            "encoding": getattr(response, "encoding", None),
            "title": response.css("title::text").get() if isinstance(response, HtmlResponse) else None,
            "request": request and {
                "url": request.url,
                "method": request.method,
                "meta": {
                    name: request.meta.get(name) for name in ("note", "number", "nested", "redirect_urls", "depth")
                },
            },
            "meta": response.meta.get("note") if request else None,
        }
    with open("responses.jsonl", "a") as file:
        file.write(json.dumps({"event": event, "page": url, "response": about}) + "\\n")


class Responses:
    @classmethod
    def from_crawler(cls, crawler):
        made = cls()
        crawler.signals.connect(made.scraped, signals.item_scraped)
        crawler.signals.connect(made.dropped, signals.item_dropped)
        crawler.signals.connect(made.failed, signals.item_error)
        return made

    def scraped(self, item, response):
        told("scraped", response, item["url"])

    def dropped(self, item, response, exception):
        if str(exception) == "not this one":
            told("dropped", response, item["url"])

    def failed(self, item, response):
        told("failed", response, item["url"])


class Choosing:
    def process_item(self, item):
        if item["number"] == 1:
            raise DropItem("not this one")
        if item["number"] == 2:
            raise ValueError("not that one")
        return item
"""
SETTINGS = """
EXTENSIONS["responses.Responses"] = 0
ITEM_PIPELINES = {**globals().get("ITEM_PIPELINES", {}), "responses.Choosing": 500}
"""


def answer(path: str) -> Answer:
    name = path.rpartition("/")[2]
    if path.startswith("/moved/"):
        return Answer(302, {"Location": f"/page/{name}"}, b"")
    if path.startswith("/missing/"):
        return Answer(404, HTML, html(name).encode())
    if path.startswith("/cyrillic/"):
        page = html(name, "<p>Съешь ещё этих мягких французских булок.</p>")
        return Answer(200, {"Content-Type": "text/html; charset=windows-1251"}, page.encode("cp1251"))
    if path.startswith("/packed/"):
        packed = zlib.compress(html(name).encode())
        return Answer(200, {**HTML, "Content-Encoding": "deflate"}, packed)
    return Answer(200, {**HTML, "X-Page": name, "Set-Cookie": f"page={name}"}, html(name).encode())


PATHS = ("page/0", "posted/1", "moved/2", "missing/3", "cyrillic/4", "packed/5", "page/6", "posted/7")


def run_crawl(guest: Guest, served: Served, pages: int) -> list[dict[str, Any]]:
    guest.run([f"{served.url}/{path}" for path in PATHS[:pages]])
    return [json.loads(line) for line in (guest.folder / "responses.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("pages", [len(PATHS), 5], ids=["a known site", "a short site"])
def test_handlers_get_the_response_of_an_item_that_waited_as_the_callback_got_it(
    pages: int, served: Served, tmp_path: Path
) -> None:
    guest = Guest(
        tmp_path, ADDON, spider=SPIDER.replace("HTML: ", '"own": '), settings=SETTINGS, responses=RESPONSES
    )
    events = run_crawl(guest, served, pages)
    called = {event["page"]: event["response"] for event in events if event["event"] == "called"}
    assert len(called) == pages, guest.log
    assert Counter(event["event"] for event in events) == dict.fromkeys(
        ("called", "scraped", "dropped", "failed"), pages
    )
    for event in events:
        assert event["response"] == called[event["page"]], event["event"]


@pytest.mark.parametrize("pages", [len(PATHS), 5], ids=["a known site", "a short site"])
def test_by_the_pipelines_handlers_get_a_response_with_the_address_and_the_page_of_the_item(
    pages: int, served: Served, tmp_path: Path
) -> None:
    guest = Guest(
        tmp_path, PIPELINES, spider=SPIDER.replace("HTML: ", '"html": '), settings=SETTINGS, responses=RESPONSES
    )
    events = run_crawl(guest, served, pages)
    called = {event["page"]: event["response"] for event in events if event["event"] == "called"}
    for event in events:
        assert event["response"] is not None, event["event"]
        for name in ("url", "title", "class"):
            assert event["response"][name] == called[event["page"]][name], event["event"]
