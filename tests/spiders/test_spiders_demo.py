"""Both spiders on the bundled demo site."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from denoise_crawler.demo.articles import articles
from denoise_crawler.demo.server import DemoServer
from denoise_crawler.spiders.msn_detail import article_id
from tests.spiders.test_spiders_loopback import crawl, repeated


@pytest.fixture
def demo() -> Iterator[DemoServer]:
    with DemoServer() as server:
        yield server


def test_the_demos_articles_are_found_from_its_front_page_and_read_as_detail(
    demo: DemoServer, tmp_path: Path
) -> None:
    template = demo.url + "/content/view/v2/Detail/{locale}/{id}"
    ended = crawl(tmp_path, "msn_news", start_url=demo.url, detail_url=template)
    assert {article.id for article in articles()} <= {article_id(item["url"]) for item in ended.items}
    assert repeated([path for _, path in demo.requests]) == []
    assert ended.errors == []


@pytest.mark.parametrize("start", ["/", "/rss/en-us"])
def test_the_demo_in_html_mode_yields_as_many_articles_as_wanted(
    start: str, demo: DemoServer, tmp_path: Path
) -> None:
    ended = crawl(tmp_path, "msn_news", start_url=demo.url + start, detail_url="", max_pages=12)
    known = {article.id for article in articles()} | {"CC1sh01", "CC1sh02", "CC1sh03"}
    assert len(ended.items) == 12
    assert {article_id(item["url"]) for item in ended.items} <= known
    assert {item["source"] for item in ended.items} == {"html"}


def test_any_page_of_the_demo_is_an_item_of_the_site_spider(demo: DemoServer, tmp_path: Path) -> None:
    ended = crawl(tmp_path, "site", start_url=demo.url, max_pages=20, deny="/zh-cn")
    assert len(ended.items) == 20
    assert "zh-cn" not in str(ended.paths)
