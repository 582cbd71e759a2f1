"""Real crawls of a site that is redesigned, over HTTP on this machine."""

from __future__ import annotations

import json
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING
from urllib.request import urlopen

import pytest
from scrapy.http import HtmlResponse
from scrapy.settings import Settings

from denoise_crawler.methods.fusion.method import Fusion
from denoise_crawler.page.site import site_of
from denoise_crawler.shell import clean
from denoise_crawler.store import Store
from tests.article_spider import SPIDER
from tests.crawl.test_crawl import STORE
from tests.crawl.test_drift import NEW, OLD, pages
from tests.loopback import HTML, Answer, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Project

FOOTER = "All rights reserved"


@contextmanager
def redesigned() -> Iterator[tuple[list[str], list[str]]]:
    """Serve a site; yield the addresses of its pages before and after it was redesigned."""
    bodies = {page.url.split("example.com")[1]: page.markup.encode() for page in pages(OLD, 16) + pages(NEW, 16)}

    with serving(lambda path: Answer(200, HTML, bodies[path])) as site:
        found = [site.url + path for path in bodies]
        yield found[:16], found[16:]


def run_crawl(project: Project, urls: list[str], *arguments: str) -> dict[str, str]:
    """Crawl ``urls`` and return the text of each."""
    project.write("urls.json", json.dumps(urls))
    (project.folder / "out.jsonl").unlink(missing_ok=True)
    items = project.crawl("articles", "-s", "DOWNLOAD_DELAY=0", *arguments)
    assert [item["url"] for item in items] == urls
    return {item["url"]: item["text"] for item in items}


def test_a_redesigned_site_is_learned_anew_beside_what_was_known_and_both_stay_known(project: Project) -> None:
    project.write("test_spiders.py", SPIDER)
    with redesigned() as (old, new):
        before = run_crawl(project, old)
        assert "denoise/drifts" not in project.stats

        texts = run_crawl(project, [*new[:12], *old[:2]])
        assert project.stats["denoise/drifts"] == 1
        assert "has pages unlike those it is known by: it was redesigned" in project.log
        assert not any(FOOTER in texts[url] for url in new[6:12])
        assert all("to the surprise of all" in texts[url] for url in new[:12])
        assert [texts[url] for url in old[:2]] == [before[url] for url in old[:2]]

        again = run_crawl(project, [new[12], old[3], new[13], old[4]], "-s", "DENOISE_SITES_IN_MEMORY=1")
        assert "denoise/drifts" not in project.stats
        assert not any(FOOTER in text for text in again.values())
        assert [again[url] for url in old[3:5]] == [before[url] for url in old[3:5]]

        settings = Settings({"DENOISE_STORE": project.folder / STORE})
        for url in (new[12], old[3]):
            response = HtmlResponse(url, body=urlopen(url).read())  # noqa: S310 - of this machine
            cleaned = clean(response, settings=settings)
            assert (cleaned.warm, cleaned.text) == (True, again[url])

        with closing(Store(project.folder / STORE, read_only=True)) as store:
            first, redesign, last = store.history(site_of(old[0]), Fusion.name)
        assert (first.pages, redesign.pages, last.pages) == (16, 14, 4)
        assert (first.layouts, redesign.layouts, last.layouts) == (0, 1, 0)
        strange = Fusion.warmup_pages  # as many have to come until the new layout is known
        drifts = [run.novelty / 1_000 for run in (first, redesign, last)]
        assert drifts == pytest.approx([0, strange, 0], abs=0.2)
