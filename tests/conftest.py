"""What several tests share: a way to run a real crawl, and the corpus where there is one."""

import asyncio
import inspect
import json
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import scrapy
from hypothesis import HealthCheck, settings

from denoise_crawler.crawl.scrapy_internals import SPIDERS_SINCE
from denoise_crawler.evaluation import CORPUS_VARIABLE, corpus_folder
from denoise_crawler.methods import METHODS
from examples.demo_site.server import DemoServer
from tests.chromium import running
from tests.page_failures import check_log, pytest_runtest_call
from tests.scrapy_process import ScrapyProcess

__all__ = ["pytest_runtest_call"]


# Machines differ: how long an example takes says nothing about whether it is right. The examples are the same in
# each run, so that no test fails by chance; `make test` takes few of them, `make test-random` looks for others.
_ANY_MACHINE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same examples", _ANY_MACHINE, derandomize=True)
settings.register_profile("few", _ANY_MACHINE, derandomize=True, max_examples=20)
settings.register_profile("random", _ANY_MACHINE, max_examples=1_000, print_blob=True)
settings.load_profile("same examples")

# a shell that starts the tests in the background has them, and all they start, ignore Ctrl-C
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

needs_new_scrapy = pytest.mark.skipif(
    scrapy.version_info[:2] < SPIDERS_SINCE, reason="rendering and our spiders need a newer Scrapy"
)
ROOT = Path(__file__).parent.parent
# Tests that take long, by folder or file: `make test` leaves them out, but for a few; `make test-all` runs all.
MARKS = {
    "crawl": ("contrib/", "crawl/", "demo/", "faults/", "guests/", "spiders/"),
    "browser": (
        "contrib/test_rendering",
        "output/test_painted",
        "report/test_report_in_browser",
    ),
    "fuzz": ("fuzz/",),
    "process": (
        *("batch/test_batch", "commands/", "evaluation/test_evaluate", "output/test_extractors"),
        *("report/test_report.py", "rules/test_rule_commands", "store/test_shared_store", "test_extras"),
        "contrib/test_mcp",
    ),
    "project": ("project/", "benchmarks/"),
    "spark": ("spark/",),
    "smoke": ("commands/test_console", "crawl/test_start"),
}
SETTINGS = """
BOT_NAME = "test_project"
SPIDER_MODULES = ["test_spiders", "denoise_crawler.spiders"]
ROBOTSTXT_OBEY = False
REMOTE_CONTROL_ENABLED = False
FEED_EXPORT_ENCODING = "utf-8"
DENOISE_DELAY_MIN = 0
DENOISE_DELAY_MAX = 0.01
STATS_FILE = "stats.json"
EXTENSIONS = {"stats_file.StatsFile": 0}
"""
ADDON = 'ADDONS = {"denoise_crawler.Addon": 300}\n'
PIPELINES = """
ITEM_PIPELINES = {
    "denoise_crawler.pipelines.StyleTreePipeline": 100,
    "denoise_crawler.pipelines.DenoisePipeline": 200,
}
"""
STATS_FILE = """
import json
from scrapy import signals


class StatsFile:
    def __init__(self, crawler):
        self.crawler = crawler
        crawler.signals.connect(self.write, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def write(self):
        with open(self.crawler.settings["STATS_FILE"], "w") as file:
            json.dump(self.crawler.stats.get_stats(), file, default=str)
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test by where it stands."""
    for item in items:
        place = item.path.relative_to(ROOT).as_posix().removeprefix("tests/")
        for mark, beginnings in MARKS.items():
            if place.startswith(beginnings):
                item.add_marker(mark)


class Progress:
    """Says once a minute how many tests have run, and which was the last, where others see dots alone."""

    def __init__(self, terminal: Any) -> None:
        self._terminal, self._done, self._said = terminal, 0, time.monotonic()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test."""
        self._done += report.when == "teardown"
        if time.monotonic() - self._said >= 60:
            self._said = time.monotonic()
            self._terminal.write_line(f"\n{self._done:,} tests have run; the last: {report.nodeid}")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Have the process that starts the others report."""
    if not hasattr(config, "workerinput") and (terminal := config.pluginmanager.get_plugin("terminalreporter")):
        config.pluginmanager.register(Progress(terminal))


@dataclass
class Project:
    """A Scrapy project in a folder of its own, whose crawls run as ``scrapy crawl`` in a process."""

    folder: Path
    log: str = field(default="", init=False)

    def set_up(self, settings: str = ADDON, spider: str = "") -> None:
        """Write all that a project needs."""
        self.write("scrapy.cfg", "[settings]\ndefault = project_settings\n")
        self.write("project_settings.py", SETTINGS + settings)
        self.write("stats_file.py", STATS_FILE)
        self.write("test_spiders.py", spider)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def spider(self, spider: str, urls: Iterable[str] = ()) -> None:
        """Let the next crawls be of ``spider``, and of ``urls`` where it reads them."""
        self.write("test_spiders.py", spider)
        self.write("urls.json", json.dumps(list(urls)))

    def start(self, spider: str, *arguments: str, feed: str = "out.jsonl") -> ScrapyProcess:
        log = self.folder / "crawl.log"
        log.write_bytes(b"")
        return ScrapyProcess(self.folder, "crawl", spider, "-o", feed, *arguments, out=log, passing=True)

    def crawl(self, spider: str, *arguments: str, feed: str = "out.jsonl") -> list[dict[str, Any]]:
        """Run a crawl to its end and return the items in its feed."""
        process = self.start(spider, *arguments, feed=feed)
        process.wait(timeout=120)
        return self.ended(process, feed)

    def ended(self, process: ScrapyProcess, feed: str = "out.jsonl") -> list[dict[str, Any]]:
        code = process.wait(timeout=120)
        self.log = (self.folder / "crawl.log").read_text()
        print(f"{feed} ended with {code}\n{self.log}")
        check_log(self.log)
        return self.items(feed)

    def interrupted(
        self,
        spider: str,
        *arguments: str,
        when: Callable[[], bool],
        by: signal.Signals = signal.SIGINT,
        feed: str = "out.jsonl",
    ) -> list[dict[str, Any]]:
        """Run a crawl, send it a signal as soon as ``when()`` holds, and return the items in its feed."""
        process = self.start(spider, *arguments, feed=feed)
        deadline = time.monotonic() + 60
        while not when():
            assert process.poll() is None, (self.folder / "crawl.log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(by)
        return self.ended(process, feed)

    def items(self, feed: str = "out.jsonl") -> list[dict[str, Any]]:
        path = self.folder / feed
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []

    @property
    def stats(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "stats.json").read_text())
        return found


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with the add-on in force."""
    made = Project(tmp_path)
    made.set_up()
    return made


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    """The bundled site, for the tests of one file."""
    with DemoServer() as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser for the tests of one file, which are skipped where there is none."""
    with running() as started:
        yield started


@pytest.fixture
def odd_site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    """The methods of tests/odd_method.py: here and, since its site function is imported there, in workers."""
    before = METHODS.copy()
    from tests import odd_method

    for odd in (odd_method.OddRatio, odd_method.OddTree, odd_method.OddLearner):
        monkeypatch.setitem(METHODS, odd.name, odd)
    yield odd_method.odd_site
    monkeypatch.undo()
    METHODS.clear()
    METHODS.update(before)


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of gold pages; without it, the test is skipped."""
    folder = corpus_folder()
    if folder is None:
        pytest.skip(f"{CORPUS_VARIABLE} names no folder with gold pages")
    return folder


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine in an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}))
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Keep a settings module of the caller or of an earlier test out of the crawls that tests start."""
    for name in [name for name in os.environ if name.startswith("SCRAPY_")]:
        del os.environ[name]
