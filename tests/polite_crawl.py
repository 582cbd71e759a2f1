"""Polite crawls over loopback: each in its own process, against a server that records what arrives when."""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.scrapy_process import ScrapyProcess

CLOCK = 0.002  # seconds a gap may seem too short
PATIENCE = 120  # seconds for a crawl on a very busy machine
POLITE = {"denoise_crawler.Politeness": 310}

SCRIPT = """
import asyncio, json, random, sys, time, warnings
from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.resolver import CachingThreadedResolver
from twisted.internet.defer import fail, succeed
from twisted.internet.error import DNSLookupError

from denoise_crawler.crawl import politeness
from denoise_crawler.crawl.scrapy_internals import slot_clock

politeness.random = random.Random(7)  # each run draws the same gaps

class EveryHostHere(CachingThreadedResolver):
    def getHostByName(self, name, timeout=()):
        if name.endswith(".invalid"):
            return fail(DNSLookupError(name))
        return succeed("127.0.0.1")

class PoliteSpider(Spider):
    name = "polite"

    @classmethod
    def from_crawler(cls, crawler, **kwargs):
        spider = super().from_crawler(crawler, **kwargs)
        crawler.signals.connect(spider.downloaded, signals.response_downloaded)
        return spider

    async def start(self):
        for url in job["urls"]:
            yield Request(url, meta={**job["meta"], "asked": url}, errback=self.failed)

    def failed(self, failure):
        print(json.dumps(["failed", failure.request.url, type(failure.value).__name__]), flush=True)

    def downloaded(self, response, request):
        # One request at a time: the slot's last start is the start of this one.
        slot = self.crawler.engine.downloader.slots[request.meta["download_slot"]]
        started = time.monotonic() - (slot_clock() - slot.lastseen)
        print(json.dumps(["start", request.url, response.status, started]), flush=True)

    async def parse(self, response):
        # As media pipelines do: past the scheduler, all at once.
        direct = [Request(f"{response.url}/part{n}") for n in range(self.settings.getint("DIRECT"))]
        results = await asyncio.gather(*map(self.crawler.engine.download_async, direct), return_exceptions=True)
        for request, result in zip(direct, results):
            if isinstance(result, Exception):
                print(json.dumps(["failed", request.url, type(result).__name__]), flush=True)
        print(json.dumps(["page", response.meta["asked"]]), flush=True)

    def closed(self, reason):
        stats = {k: v for k, v in self.crawler.stats.get_stats().items() if isinstance(v, (int, float, str))}
        print(json.dumps(["end", stats | {"reason": reason}]), flush=True)

if __name__ == "__main__":
    warnings.simplefilter("error")
    job = json.loads(sys.argv[1])
    politeness.ROBOTS_RETRY_SECONDS = job["robots_retry"]
    PoliteSpider.allowed_domains = job["allowed_domains"]
    process = AsyncCrawlerProcess({"TWISTED_DNS_RESOLVER": EveryHostHere, "TELNETCONSOLE_ENABLED": False,
                                   "REMOTE_CONTROL_ENABLED": False, **job["settings"]})
    process.crawl(PoliteSpider)
    process.start()
    sys.exit(process.bootstrap_failed)
"""


class Site(ThreadingHTTPServer):
    """Any host name is a site of its own. Records host, path, monotonic seconds and status of requests."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.arrivals: list[tuple[str, str, float, int]] = []
        self.inside: dict[str, int] = defaultdict(int)
        self.crowded: list[str] = []
        self.robots: dict[str, str] = {}
        self.answers: dict[str, list[tuple[int, dict[str, str]]]] = defaultdict(list)
        self.robots_status: dict[str, int] = {}
        self.slowness = 0.0

    def url(self, host: str, path: str) -> str:
        """Return the URL of a path without its first slash."""
        return f"http://{host}:{self.server_port}/{path}"

    def pages(self, host: str, count: int) -> list[str]:
        """Return ``count`` URLs at a host."""
        return [self.url(host, f"page{n}") for n in range(count)]

    def paths(self, status: int = 200) -> list[str]:
        """Return host/path of the pages answered with ``status``, in order of arrival."""
        return [f"{h}{p}" for h, p, _, s in self.arrivals if s == status and p != "/robots.txt"]


class Handler(BaseHTTPRequestHandler):
    """Answers with a small page, or with the next of the answers prepared for a path."""

    server: Site

    def do_GET(self) -> None:
        """Record the request and answer it."""
        now = time.monotonic()
        host = self.headers["Host"].split(":")[0]
        site = self.server
        with site.lock:
            prepared = site.answers[self.path]
            prepared_status = bool(prepared)
            status, headers = prepared.pop(0) if prepared else (200, {})
            if self.path == "/robots.txt" and not prepared_status:
                status = site.robots_status.get(host, 200 if host in site.robots else 404)
            site.arrivals.append((host, self.path, now, status))
            site.inside[host] += 1
            if site.inside[host] > 1:
                site.crowded.append(host)
        time.sleep(site.slowness)
        body = site.robots.get(host, "").encode() if self.path == "/robots.txt" else b"<p>page</p>"
        with site.lock:
            site.inside[host] -= 1
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), "Connection": "close", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Stay silent."""


class Crawl:
    """A crawl in a process of its own; ``starts`` are monotonic seconds by host, robots.txt included."""

    def __init__(
        self,
        tmp_path: Path,
        urls: list[str],
        settings: dict[str, Any],
        *,
        robots_retry: float = 600.0,
        meta: dict[str, Any] | None = None,
        allowed_domains: list[str] | None = None,
    ) -> None:
        (tmp_path / "crawl.py").write_text(SCRIPT)
        self._out, self._err = tmp_path / "out.txt", tmp_path / "err.txt"
        for file in (self._out, self._err):
            file.write_bytes(b"")
        job = {
            "urls": urls,
            "settings": {"ADDONS": POLITE, **settings},
            "robots_retry": robots_retry,
            "meta": meta or {},
            "allowed_domains": allowed_domains or [],
        }
        self.process = ScrapyProcess(tmp_path, json.dumps(job), out=self._out, err=self._err, script="crawl.py")

    def finish(self) -> Crawl:
        """Wait for the end and read what the spider printed."""
        try:
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()
        out, self.log = self._out.read_text("utf-8"), self._err.read_text("utf-8")
        self.starts: dict[str, list[float]] = defaultdict(list)
        self.pages: list[str] = []
        self.failures: dict[str, str] = {}
        self.stats: dict[str, Any] = {}
        for kind, *data in map(json.loads, out.splitlines()):
            if kind == "start":
                self.starts[data[0].partition("//")[2].partition("/")[0].partition(":")[0]].append(data[2])
            elif kind == "page":
                self.pages.append(data[0])
            elif kind == "failed":
                self.failures[data[0]] = data[1]
            else:
                self.stats = data[0]
        return self

    def gaps(self, host: str | None = None) -> list[float]:
        """Return the seconds between starts, of one host or of all."""
        return [b - a for h, times in self.starts.items() if host in (None, h) for a, b in pairwise(times)]

    def assert_real_gaps(self, site: Site, least: float) -> None:
        """No start, and no arrival at the server, comes earlier than ``least`` after the start before it."""
        assert min(self.gaps()) >= least - CLOCK
        for host, starts in self.starts.items():
            arrivals = [t for h, _, t, _ in site.arrivals if h == host]
            assert len(arrivals) == len(starts)
            assert all(t - s >= -CLOCK for t, s in zip(arrivals, starts, strict=True))
            assert all(t - s >= least - CLOCK for t, s in zip(arrivals[1:], starts[:-1], strict=True))


def delays(low: float, high: float, **more: Any) -> dict[str, Any]:
    return {"DENOISE_DELAY_MIN": low, "DENOISE_DELAY_MAX": high, **more}


def crawl(tmp_path: Path, urls: list[str], settings: dict[str, Any]) -> Crawl:
    done = Crawl(tmp_path, urls, settings).finish()
    assert done.process.returncode == 0, done.log
    assert done.stats["reason"] == "finished", done.log
    assert "log_count/ERROR" not in done.stats, done.log
    assert sorted(done.pages) == sorted(urls)
    return done


@contextmanager
def serving() -> Iterator[Site]:
    """Run a server until the end of the block."""
    server = Site()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()
