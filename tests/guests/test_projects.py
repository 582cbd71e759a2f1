"""Small projects in the manner of public ones, each run as it is and with the one line in its settings."""

import json
import shutil
from pathlib import Path
from typing import Any

from tests.guests import shelves
from tests.guests.shelves import BOOKS, QUOTE_PAGES
from tests.guests.site import story
from tests.loopback import Served
from tests.scrapy_process import ScrapyProcess

answer = shelves.answer
PROJECTS = Path(__file__).parent / "projects"
ONE_LINE = 'ADDONS = {"denoise_crawler.Addon": 300}\n'


class SmallProject:
    """A copy of one of the projects, with the one line or without it."""

    def __init__(self, name: str, folder: Path, *, us: bool) -> None:
        self.folder = folder / ("with" if us else "without")
        shutil.copytree(PROJECTS / name, self.folder, ignore=shutil.ignore_patterns("__pycache__"))
        settings = self.folder / name / "settings.py"
        text = settings.read_text()
        quiet = "TELNETCONSOLE_ENABLED = REMOTE_CONTROL_ENABLED = False\n"
        settings.write_text(text + quiet + us * ONE_LINE)

    def crawl(self, spider: str, served: Served) -> list[dict[str, Any]]:
        """Crawl as a user does; return the items of the feed."""
        log = self.folder / "crawl.log"
        log.write_bytes(b"")
        given = ("crawl", spider, "-a", f"site={served.url}", "-O", "items.jsonl")
        code = ScrapyProcess(self.folder, *given, out=log, passing=True).wait(60)
        assert code == 0, log.read_text()
        assert "ERROR" not in log.read_text(), log.read_text()
        return [json.loads(line) for line in (self.folder / "items.jsonl").read_text("utf-8").splitlines()]


def both(name: str, folder: Path) -> tuple[SmallProject, SmallProject]:
    return SmallProject(name, folder, us=False), SmallProject(name, folder, us=True)


def bare(items: list[dict[str, Any]]) -> list[str]:
    """Return the items without their texts, in an order of their own."""
    return sorted(json.dumps({name: value for name, value in item.items() if name != "text"}) for item in items)


def assert_texts_are_those_of_the_pages(texts: dict[str, str]) -> None:
    assert len(texts) == BOOKS
    for url, text in texts.items():
        number = url.rpartition("/")[2]
        assert story(f"book-{number}")[0] in text
        assert "All rights reserved" not in text


def test_quotesbot_keeps_its_ten_quotes_a_page_to_the_letter(served: Served, tmp_path: Path) -> None:
    without, project = both("quotesbot", tmp_path)
    expected = without.crawl("quotes", served)
    assert len(expected) == 10 * QUOTE_PAGES
    items = project.crawl("quotes", served)
    assert sorted(map(json.dumps, items)) == sorted(map(json.dumps, expected))
    assert items == expected  # one page leads to the next: the order is the same as well


def test_a_crawler_of_detail_pages_with_an_http_cache_has_the_same_items_also_from_the_cache(
    served: Served, tmp_path: Path
) -> None:
    without, project = both("bookstore", tmp_path)
    expected = without.crawl("books", served)
    assert len(expected) == BOOKS
    for _ in range(2):
        items = project.crawl("books", served)
        assert bare(items) == bare(expected)
        assert_texts_are_those_of_the_pages({item["url"]: item["text"] for item in items})
        asked = len(served.asked)
    assert len(served.asked) == asked
