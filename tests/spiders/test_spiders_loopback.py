"""A small server and a real crawl, for the spiders' tests; what both spiders refuse; both on the demo site."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import loopback
from tests.loopback import HTML, Answer
from tests.scrapy_process import ScrapyProcess

# Stands in for the project's own middleware: shows what a page that came inside JSON was said to be.
_PROJECT = """
from denoise_crawler.crawl import politeness


class ShowPage:
    async def process_spider_output(self, response, result):
        async for value in result:
            if hasattr(value, "text") and "denoise_page" in response.meta:
                value.text = response.meta["denoise_page"]["html"]
                assert response.meta["denoise_page"]["url"] == value.url
                assert response.meta["denoise_page"]["site"] == value.site
            yield value

SPIDER_MODULES = ["denoise_crawler.spiders"]
SPIDER_MIDDLEWARES = {ShowPage: 100}
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
RETRY_TIMES = 1
DENOISE_DELAY_MIN = 0
DENOISE_DELAY_MAX = 0.01
politeness.ROBOTS_RETRY_SECONDS = 0.1
"""


class Pages:
    """What the server answers per path, and what it was asked for, in order."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer | Callable[[], Answer]] = {}
        self.asked: list[str] = []
        self.url = ""

    def html(self, path: str, *links: str, body: str = "", head: str = "") -> None:
        """Serve an HTML page with these links."""
        anchors = "".join(f'<p><a href="{link}">{link}</a></p>' for link in links)
        text = f"<html><head><title>{path}</title>{head}</head><body>{body}{anchors}</body></html>"
        self.answers[path] = Answer(200, HTML, text.encode())

    def status(self, path: str, status: int, **headers: str) -> None:
        """Serve an error or a redirect."""
        self.answers[path] = Answer(status, {**HTML, **headers}, b"<html><body>an error page</body></html>")

    def json(self, path: str, value: object) -> None:
        """Serve a value as JSON, or bytes as they are."""
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.answers[path] = Answer(200, {"Content-Type": "application/json"}, body)

    def answer(self, path: str) -> Answer:
        """Note that a path was asked for, unless it is robots.txt, and give its answer."""
        path = path.replace("//", "/")
        if path != "/robots.txt":
            self.asked.append(path)
        found = self.answers.get(path, Answer(404, HTML, b"<html><body>no such page</body></html>"))
        return found() if callable(found) else found

    def times(self, path: str) -> int:
        """Count how often the path was asked for."""
        return self.asked.count(path)


@contextmanager
def serving(pages: Pages) -> Iterator[Pages]:
    with loopback.serving(pages.answer) as served:
        pages.url = served.url
        yield pages


@dataclass
class Crawl:
    """What a crawl left: its items, its log, its exit status."""

    items: list[dict[str, Any]]
    log: str
    exit_status: int

    @property
    def paths(self) -> list[str]:
        """The items' addresses without the host."""
        return [re.sub(r"^https?://[^/]+", "", item["url"]) for item in self.items]

    @property
    def errors(self) -> list[str]:
        """The spider's errors in the log."""
        return re.findall(r"\[(?:site|msn_news)\] ERROR: (.*)", self.log)

    @property
    def warnings(self) -> list[str]:
        """The spider's warnings in the log."""
        return re.findall(r"\[(?:site|msn_news)\] WARNING: (.*)", self.log)

    def stat(self, name: str) -> int:
        """Return a count of the crawl's statistics."""
        found = re.search(rf"'denoise/{re.escape(name)}': (\d+)", self.log)
        return int(found.group(1)) if found else 0


def crawl(folder: Path, spider: str, *settings: str, **arguments: object) -> Crawl:
    """Run ``scrapy crawl`` in a process of its own; ``settings`` are NAME=value."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "scrapy.cfg").write_text("[settings]\ndefault = tried_settings\n")
    (folder / "tried_settings.py").write_text(_PROJECT)
    given = [word for name, value in arguments.items() for word in ("-a", f"{name}={value}")]
    given += [word for setting in settings for word in ("-s", setting)]
    log, out = folder / "crawl.log", folder / "items.jsonl"
    log.write_bytes(b"")
    done = ScrapyProcess(folder, "crawl", spider, "-O", out.name, *given, out=log, passing=True)
    status = done.wait(60)
    lines = out.read_text().splitlines() if out.exists() else []
    return Crawl([json.loads(line) for line in lines], log.read_text(), status)


def repeated(values: list[str]) -> list[str]:
    return [value for value, times in Counter(values).items() if times > 1]


@pytest.mark.parametrize(
    ("spider", "arguments", "message"),
    [
        ("site", {}, "site: start_url is missing; write -a start_url=https://example.com/"),
        ("msn_news", {"detail_url": "http://a.test/x"}, "detail_url='http://a.test/x' does not contain {id}"),
    ],
)
def test_a_bad_argument_ends_the_command_with_one_clear_line(
    spider: str, arguments: dict[str, str], message: str, tmp_path: Path
) -> None:
    ended = crawl(tmp_path, spider, "LOG_LEVEL=ERROR", **arguments)
    assert message in ended.log
    assert len(ended.log.splitlines()) == 1
    assert ended.exit_status == 1
