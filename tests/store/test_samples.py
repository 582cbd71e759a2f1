"""Pages that a crawl keeps of each site, for its report."""

from contextlib import closing
from pathlib import Path

from denoise_crawler.store import Store
from denoise_crawler.store.knowledge import MAX_SAMPLE_CHARACTERS
from denoise_crawler.store.store import ParkedPage
from examples.demo_site.server import DemoServer
from tests.article_spider import SPIDER
from tests.conftest import ADDON, SETTINGS, Project
from tests.crawl.test_crawl import STORE, quota, urls
from tests.store.test_store import release_all


def pages(path: Path) -> list[str]:
    with closing(Store(path, read_only=True)) as store:
        return [page.url for page in store.all_pages()]


def crawl(project: Project, server: DemoServer, *more: str) -> None:
    project.write("project_settings.py", SETTINGS + ADDON)
    project.spider(SPIDER, urls(server))
    assert project.crawl("articles", *quota(5), *more)


def test_a_crawl_keeps_as_many_pages_as_it_is_asked_for_and_none_by_default(
    project: Project, server: DemoServer
) -> None:
    crawl(project, server)
    assert pages(project.folder / STORE) == []
    crawl(project, server, "-s", "DENOISE_SAMPLE_PAGES=6")
    kept = pages(project.folder / STORE)
    assert len(kept) == 6
    crawl(project, server, "-s", "DENOISE_SAMPLE_PAGES=6")
    assert pages(project.folder / STORE) == kept


def test_each_page_is_kept_once_up_to_the_limit_of_its_site_and_no_page_that_is_too_long(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "store.sqlite")) as store:
        assert store.keep_sample("a.example", "https://a.example/1", "<p>One.", 2)
        assert store.keep_sample("a.example", "https://a.example/1", "<p>One.", 2)
        assert store.keep_sample("a.example", "https://a.example/2", "x" * (MAX_SAMPLE_CHARACTERS + 1), 2)
        assert store.keep_sample("a.example", "https://a.example/3", "", 2)
        assert not store.keep_sample("a.example", "https://a.example/4", "<p>Two.\ud800", 2)
        assert not store.keep_sample("a.example", "https://a.example/5", "<p>Three.", 2)
        assert store.keep_sample("b.example", "https://b.example/1", "<p>One.", 2)
        store.park(ParkedPage("a.example", "https://a.example/6", "<p>Waits.", b"key", None), b"item")
        release_all(store)
    assert pages(tmp_path / "store.sqlite") == [
        *("https://a.example/1", "https://a.example/4", "https://b.example/1")
    ]
