"""Pages of the corpus served on this machine, by a process of its own, and the crawl that fetches them."""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import scrapy
from scrapy.crawler import Crawler, CrawlerProcess

from benchmarks.bench import parse_with_lxml
from denoise_crawler.evaluation import GoldPage, read_gold

HOST = "127.0.0.1"
QUIET = {"LOG_LEVEL": "ERROR", "REMOTE_CONTROL_ENABLED": False, "TELNETCONSOLE_ENABLED": False}
_REPEATS = 3


class Served(NamedTuple):
    """Where the pages are: each at its path, /SITE/NUMBER, with the CPU seconds that lxml needs to parse it."""

    url: str
    pages: dict[str, float]


def site_of_path(url: str) -> str:
    """Return the site that a served page came from: the first part of its path."""
    return url.split("/", 4)[3]


@contextmanager
def serve_pages(
    folder: Path, sets: Sequence[str], most: int, sites: Collection[str] | None = None
) -> Iterator[Served]:
    """Serve up to ``most`` pages of each set, those of ``sites`` only, until the end of the block."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, folder, sets, most, sites), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        process.terminate()
        process.join()


def gold_by_path(
    folder: Path, sets: Sequence[str], most: int, sites: Collection[str] | None = None
) -> Iterator[tuple[str, GoldPage]]:
    """Yield each page that :func:`serve_pages` serves behind its path."""
    for name in sets:
        for number, page in enumerate(islice(read_gold(folder, name), most)):
            if sites is None or page.site in sites:
                yield f"/{page.site}/{name}-{number}", page


class PagesSpider(scrapy.Spider):
    """Fetches all pages and yields one item of each."""

    name = "pages"

    def __init__(self, urls: list[str]) -> None:
        super().__init__()
        self.urls = urls

    async def start(self) -> AsyncIterator[Any]:
        """Ask for all pages."""
        for url in self.urls:
            yield scrapy.Request(url)

    def parse(self, response: Any) -> Iterator[dict[str, Any]]:
        """Yield the item of a page."""
        yield {"url": response.url, "title": response.css("title::text").get()}


def crawl_of(urls: Sequence[str], feed: Path, settings: dict[str, Any]) -> tuple[CrawlerProcess, Crawler]:
    """Return a process that will crawl ``urls``, without any delay, into JSON Lines, and its crawler."""
    feeds = {str(feed): {"format": "jsonlines", "overwrite": True}}
    process = CrawlerProcess({**QUIET, "FEEDS": feeds, **settings})
    crawler = process.create_crawler(PagesSpider)
    process.crawl(crawler, urls=list(urls))
    return process, crawler


def _serve(
    connection: Connection, folder: Path, sets: Sequence[str], most: int, sites: Collection[str] | None
) -> None:
    pages = gold_by_path(folder, sets, most, sites)
    bodies = {path: page.html.encode("utf-8", "replace") for path, page in pages}
    parsing = {path: min(_parse(body) for _ in range(_REPEATS)) for path, body in bodies.items()}
    replies = {
        path.encode(): b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n%s"
        % (len(body), body)
        for path, body in bodies.items()
    }
    asyncio.run(_answer(connection, replies, parsing))


def _parse(body: bytes) -> float:
    start = process_time()
    parse_with_lxml(body)
    return process_time() - start


async def _answer(connection: Connection, replies: dict[bytes, bytes], parsing: dict[str, float]) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                writer.write(replies[request.split(b" ", 2)[1]])
                await writer.drain()

    server = await asyncio.start_server(talk, HOST, 0)
    port = server.sockets[0].getsockname()[1]
    connection.send(Served(f"http://{HOST}:{port}", parsing))
    await server.serve_forever()
