import re
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest
from scrapy.settings import Settings

from denoise_crawler.contrib.live import LiveSettings
from denoise_crawler.errors import SettingError
from examples.demo_site.server import DemoServer
from tests.chromium import DESKTOP, PHONE, faults, opened, overflow, photograph, photograph_for_docs, running
from tests.conftest import Project

STAYING = """
import pathlib
from scrapy import signals
from scrapy.exceptions import DontCloseSpider
from denoise_crawler.spiders.msn_news import MsnNewsSpider


class Staying:
    @classmethod
    def from_crawler(cls, crawler, *arguments, **more):
        spider = super().from_crawler(crawler, *arguments, **more)
        crawler.signals.connect(spider.stay, signals.spider_idle)
        return spider

    def stay(self):
        if not pathlib.Path("go").exists():
            raise DontCloseSpider


class Stories(Staying, MsnNewsSpider):
    name = "staying"
"""


class Live:
    """A crawl that stays until it is told to go, and its live page."""

    def __init__(self, project: Project, *arguments: str) -> None:
        project.write("test_spiders.py", STAYING)
        settings = project.folder / "project_settings.py"
        settings.write_text(
            settings.read_text()
            + 'EXTENSIONS["denoise_crawler.contrib.live.LivePage"] = 1\nDENOISE_LIVE_PORT = 0\n'
        )
        self.project = project
        self.process = project.start(*arguments)
        self.address = self.logged(r"The live page is at (\S+)")
        self.port = int(urlsplit(self.address).port or 0)

    def logged(self, pattern: str) -> str:
        deadline = time.monotonic() + 90
        while True:
            log = (self.project.folder / "crawl.log").read_text()
            if found := re.search(pattern, log):
                return found[found.lastindex or 0]
            assert self.process.poll() is None, log
            assert time.monotonic() < deadline, log
            time.sleep(0.05)

    def ask(self, path: str, *, host: str = "localhost", method: str = "GET") -> tuple[int, dict[str, str], str]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.putrequest(method, path, skip_host=True)
        connection.putheader("Host", host)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        return answer.status, dict(answer.getheaders()), body

    def end(self) -> None:
        (self.project.folder / "go").touch()
        self.process.wait(timeout=60)

    def until(self, pattern: str) -> str:
        """Ask until the page says something; return all it says."""
        deadline = time.monotonic() + 90
        while not re.search(pattern, body := self.ask("/denoise/now")[2]):
            assert time.monotonic() < deadline, body
            time.sleep(0.1)
        return body


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory, server: DemoServer) -> Iterator[Live]:
    made = Project(tmp_path_factory.mktemp("project"))
    made.set_up()
    running_crawl = Live(made, "staying", "-a", f"start_url={server.url}/", "-a", "detail_url=")
    yield running_crawl
    running_crawl.end()


def test_the_live_page_shows_sites_counts_and_the_last_pages_with_why(live: Live) -> None:
    said = live.until(r"/denoise/page/2\d")
    assert "known" in said
    assert re.search(r"<dt>Items replayed</dt><dd>\d+", said)
    number = re.search(r"/denoise/page/(\d+)", said)
    assert number
    code, headers, page = live.ask(f"/denoise/page/{number[1]}")
    assert code == 200
    assert headers["Cache-Control"] == "no-store"
    assert 'class="reason"' in page
    assert '<code class="selector">' in page
    assert "sandbox=" in page
    assert live.ask("/denoise/page/99999")[0] == 404
    assert live.ask("/")[0] == 302
    assert live.ask("/else")[0] == 404


def test_the_live_page_answers_loopback_names_only_and_changes_nothing(live: Live) -> None:
    for host in (
        "evil.example",
        f"evil.example:{live.port}",
        "",
        "127.0.0.1.evil.example",
        "localhost@evil",
        "[::2]",
    ):
        assert live.ask("/denoise", host=host)[0] == 403
    for host in ("localhost", f"127.0.0.1:{live.port}", f"LOCALHOST:{live.port}", "[::1]:80"):
        assert live.ask("/denoise", host=host)[0] == 200
    assert live.ask("/denoise", method="POST")[0] == 405
    code, headers, _ = live.ask("/denoise")
    assert code == 200
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert f"http://127.0.0.1:{live.port}/" in live.address


def test_the_live_page_renews_itself_in_a_browser_and_is_accessible(live: Live) -> None:
    live.until(r"/denoise/page/\d")
    with running() as browser:
        for size in (DESKTOP, PHONE):
            with opened(browser, live.address, size) as page:
                assert faults(page) == []
                assert overflow(page) <= 0
                page.evaluate("now.replaceChildren()")
                page.wait_for_selector("#now table")
                photograph(page, f"live-{size['width']}")
                if size == DESKTOP:
                    photograph_for_docs(page, "live-page")
                page.click("#pause")
                assert page.inner_text("#state") == "Paused."
                page.locator("#now a").first.click()
                page.wait_for_selector("#block-list button")
                assert overflow(page) <= 0
                photograph(page, f"live-page-{size['width']}")


@pytest.mark.parametrize("value", ["x", [2, 1], [1, 2, 3], [], 70000, -1, "6080,"])
def test_a_wrong_port_of_the_live_page_is_named(value: Any) -> None:
    with pytest.raises(SettingError, match="DENOISE_LIVE_PORT is"):
        LiveSettings.read(Settings({"DENOISE_LIVE_PORT": value}))


@pytest.mark.parametrize(
    ("value", "ports"), [(0, (0,)), ("6080", (6080,)), ([1, 2], (1, 2)), ("6080,6085", (6080, 6085))]
)
def test_a_port_of_the_live_page_is_one_or_the_first_and_last(value: Any, ports: tuple[int, ...]) -> None:
    assert LiveSettings.read(Settings({"DENOISE_LIVE_PORT": value})).ports == ports
