"""Writes down what happens to each item of a crawl, so that two crawls can be compared."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from order import ORDER
from scrapy import Item, signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from sqlalchemy import inspect
from sqlalchemy.orm import DeclarativeBase

if TYPE_CHECKING:
    from typing_extensions import Self


_AT = re.compile(r" at 0x[0-9a-f]+")


class Record:
    """The file that the crawl's components write to: what is written stays, whatever kills the crawl."""

    file: int | None = None

    @classmethod
    def write(cls, event: str, **values: Any) -> None:
        """Add an event."""
        if cls.file is None:
            cls.file = os.open(ORDER["record"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.write(cls.file, json.dumps({"event": event, **values}).encode() + b"\n")


def value(item: Any, name: str) -> Any:
    """Return a field of an item of any kind."""
    return item.get(name) if isinstance(item, (dict, Item)) else getattr(item, name, None)


def key(item: Any) -> dict[str, Any]:
    """Return what tells an item from all others."""
    return {"kind": value(item, "kind"), "page": value(item, "url"), "number": value(item, "number")}


def _written(anything: Any) -> str:
    """Return the same for the same, in every process."""
    if isinstance(anything, str):
        return repr(str.__str__(anything))
    if isinstance(anything, (set, frozenset)):
        return f"{type(anything).__name__}{sorted(map(_written, anything))}"
    if isinstance(anything, dict):
        return "{" + ", ".join(f"{_written(name)}: {_written(each)}" for name, each in anything.items()) + "}"
    if isinstance(anything, (list, tuple)):
        return f"{type(anything).__name__}({', '.join(map(_written, anything))})"
    return _AT.sub("", repr(anything))


def contents(item: Any) -> dict[str, str]:
    """Return all that an item holds, its state included, but the text and whether a file had been there before."""
    held: dict[Any, Any] = dict(item) if isinstance(item, (dict, Item)) else {}
    for name in (name for kind in type(item).__mro__ for name in getattr(kind, "__slots__", ())):
        if hasattr(item, name) and name not in ("__dict__", "__weakref__"):
            held[name] = getattr(item, name)
    state = {**getattr(item, "__dict__", {}), **(getattr(item, "__pydantic_private__", None) or {})}
    held |= {name: each for name, each in state.items() if name not in ("_values", "_sa_instance_state")}
    if isinstance(item, DeclarativeBase):
        held["<row>"] = {"identity": inspect(item).identity, "detached": inspect(item).detached}
    if "images" in held:
        held["images"] = [{**each, "status": ""} for each in held["images"]]
    if held.get("_instance") is not None:
        held["_instance"] = {name: each for name, each in vars(held["_instance"]).items() if name not in _UNTOLD}
    return {str(name): _written(each) for name, each in held.items() if name not in _UNTOLD}


_UNTOLD = ("text", "_state", "__pydantic_private__", "__pydantic_fields_set__")


def described(response: Response | None) -> dict[str, Any] | None:
    """Return what a handler can read off a response."""
    if response is None:
        return None
    request = response.request
    return {
        "url": response.url,
        "status": response.status,
        "headers": {
            name.decode(): [each.decode() for each in given] for name, given in sorted(response.headers.items())
        },
        "body": hashlib.sha256(response.body).hexdigest(),
        "request": None
        if request is None
        else {"url": request.url, "method": request.method, "note": request.meta.get("note")},
    }


class Recorder:
    """The extension: what becomes of each item."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        crawler.signals.connect(self.scraped, signals.item_scraped)
        crawler.signals.connect(self.dropped, signals.item_dropped)
        crawler.signals.connect(self.failed, signals.item_error)
        crawler.signals.connect(self.stopped, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def scraped(self, item: Any, response: Response | None) -> None:
        kind = f"{type(item).__module__}.{type(item).__qualname__}"
        Record.write(
            "scraped",
            **key(item),
            type=kind,
            contents=contents(item),
            text=value(item, "text"),
            response=described(response),
        )

    def dropped(self, item: Any) -> None:
        Record.write("dropped", **key(item))

    def failed(self, item: Any, failure: Any) -> None:
        Record.write("failed", **key(item), why=str(failure.value))

    def stopped(self) -> None:
        stats = {name: str(each) for name, each in self.crawler.stats.get_stats().items()}
        Record.write("stats", stats=stats)


class InFront:
    """A spider middleware: which response it sees with each item."""

    where = "in front"

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for output in result:
            if value(output, "kind") is not None:
                Record.write("seen", where=self.where, **key(output), url=response.url)
            yield output
        Record.write("page over", where=self.where, page=response.url)


class Behind(InFront):
    """The same, close to the spider."""

    where = "behind"


class Ending:
    """The extension that ends the crawl as the setting ENDING says: by a signal at a moment.

    ``pages``: when as many pages have come, in the middle of everything; ``quiet``: when as many are over and
    nothing goes on but one request.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.wanted = crawler.settings.getdict("ENDING")
        self.pages = 0
        self.last = -1
        if self.wanted.get("pages"):
            crawler.signals.connect(self.received, signals.response_received)
        if self.wanted.get("quiet"):
            crawler.signals.connect(self.opened, signals.spider_opened)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def received(self, response: Response) -> None:
        self.pages += "/page/" in response.url
        if self.pages == self.wanted["pages"]:
            self.pages += 1  # once
            self.end()

    def opened(self) -> None:
        self.later(self.look)

    def look(self) -> None:
        """End if enough pages are over and nothing goes on."""
        file = Path(ORDER["record"])
        lines = file.read_text().splitlines() if file.exists() else []
        over = sum('"page over", "where": "in front"' in line for line in lines)
        engine = self.crawler.engine
        assert engine is not None
        assert engine.scraper.slot is not None
        idle = engine.scraper.slot.is_idle() and len(engine.downloader.active) <= 1
        if idle and len(lines) == self.last and over >= self.wanted["quiet"]:
            self.end()
            return
        self.last = len(lines)
        self.later(self.look)

    def end(self) -> None:
        os.kill(os.getpid(), self.wanted["signal"])
        if self.wanted.get("twice"):
            self.later(lambda: os.kill(os.getpid(), self.wanted["signal"]), 0.02)

    @staticmethod
    def later(function: Any, seconds: float = 0.25) -> None:
        from twisted.internet import reactor

        reactor.callLater(seconds, function)
