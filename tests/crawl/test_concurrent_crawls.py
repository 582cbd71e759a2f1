from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from denoise_crawler.demo.replies import article_path, articles
from denoise_crawler.methods.fusion.method import Fusion
from denoise_crawler.store import Store
from denoise_crawler.store.shared import SharedStore
from tests.article_spider import SPIDER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from denoise_crawler.demo.server import DemoServer
    from tests.conftest import Project


def urls(server: DemoServer) -> list[str]:
    return [server.url + article_path(article) for article in articles() if article.lang == "en"][:24]


def crawl_halves(project: Project, pages: list[str], *settings: str) -> None:
    """Crawl each half of ``pages`` in a process of its own, both at the same time."""
    started = []
    for name, part in (("one", pages[:12]), ("two", pages[12:])):
        project.write(f"{name}.json", json.dumps(part))
        project.write(f"{name}_spiders.py", SPIDER.replace("urls.json", f"{name}.json"))
        own = [setting.replace("NAME", name) for setting in (*settings, "SPIDER_MODULES=NAME_spiders")]
        arguments = [argument for setting in own for argument in ("-s", setting)]
        started.append((project.start("html", *arguments, feed=f"{name}.jsonl"), name))
    for process, name in started:
        assert len(project.ended(process, f"{name}.jsonl")) == 12, project.log


def pages_known(parts: Iterable[bytes]) -> int:
    method = Fusion()
    for part in parts:
        method.merge_bytes(part)
    return method.pages_known


def test_two_crawls_at_the_same_time_on_one_store_file_lose_nothing_of_what_they_learn(
    project: Project, server: DemoServer
) -> None:
    crawl_halves(project, urls(server), "DENOISE_STORE=s.sqlite")
    with closing(Store(project.folder / "s.sqlite")) as store:
        [(site, key)] = store.known()
        assert pages_known(store.knowledge(site, key)) == 24


def test_two_crawls_at_the_same_time_on_a_shared_folder_lose_nothing_and_warm_the_next(
    project: Project, server: DemoServer
) -> None:
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    pages = urls(server)
    crawl_halves(project, pages, "DENOISE_SHARED_STORE=shared", "DENOISE_STORE=NAME.sqlite")
    store = SharedStore(str(project.folder / "shared"))
    [(site, key)] = store.known()
    assert pages_known(store.knowledge(site, key)) == 24
    project.write("test_spiders.py", SPIDER)
    project.write("urls.json", json.dumps(pages[:3]))
    third = ("-s", "DENOISE_SHARED_STORE=shared", "-s", "DENOISE_STORE=three.sqlite")
    assert len(project.crawl("html", *third)) == 3, project.log
    assert "denoise/parked" not in project.stats


def test_a_shared_folder_that_cannot_be_used_ends_the_crawl_in_one_line(project: Project) -> None:
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    project.write("test_spiders.py", SPIDER)
    project.write("file", "")
    project.crawl("html", "-s", "DENOISE_SHARED_STORE=file/shared")
    assert "The crawl cannot begin: the shared store file/shared cannot be used: " in project.log
    assert "Traceback" not in project.log
