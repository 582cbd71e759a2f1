"""Pages less sure than DENOISE_MIN_CONFIDENCE, in real crawls."""

from typing import Any

import pytest

from examples.demo_site.server import DemoServer
from tests.article_spider import SPIDER
from tests.conftest import SETTINGS, Project
from tests.crawl.test_crawl import quota, urls
from tests.crawl.test_pipelines import BY_PIPELINES, OWN_PIPELINE

BY_ADDON = (
    SETTINGS
    + """
ADDONS = {"denoise_crawler.Addon": 300}
DENOISE_EXTRA_FIELDS = {"low_confidence": "unsure", "method": "m"}
"""
)


@pytest.fixture
def crawls(project: Project, server: DemoServer) -> Project:
    project.write("project_settings.py", BY_ADDON)
    project.spider(SPIDER, urls(server))
    return project


def crawl(project: Project, action: str, spider: str = "articles", pages: int = 5) -> list[dict[str, Any]]:
    chosen = ("-s", "DENOISE_MIN_CONFIDENCE=1", "-s", f"DENOISE_LOW_CONFIDENCE={action}")
    return project.crawl(spider, *quota(pages), *chosen)


def test_items_of_unsure_pages_are_marked_counted_and_go_on(crawls: Project) -> None:
    items = crawl(crawls, "mark")
    assert len(items) == 24
    assert all(item["unsure"] is True and item["text"] for item in items)
    assert crawls.stats["denoise/unsure"] == 24


@pytest.mark.parametrize("pages", [0, 500])
def test_dropped_items_count_as_those_that_a_pipeline_drops(crawls: Project, pages: int) -> None:
    assert crawl(crawls, "drop", pages=pages) == []
    assert crawls.stats["denoise/unsure_dropped"] == crawls.stats["item_dropped_count"] == 24
    assert crawls.stats["item_dropped_reasons_count/LowConfidenceItem"] == 24
    assert "denoise/failed" not in crawls.stats
    assert "24 were dropped, as their text was not sure enough" in crawls.log


def test_items_with_a_text_of_their_own_are_not_dropped(crawls: Project) -> None:
    assert {item["kind"] for item in crawl(crawls, "drop", "kinds")} == {"own text", "no text field"}


def test_the_pipelines_drop_too(crawls: Project) -> None:
    crawls.write("project_settings.py", SETTINGS + BY_PIPELINES)
    crawls.write("own_pipeline.py", OWN_PIPELINE)
    assert crawl(crawls, "drop", "html") == []
    assert crawls.stats["denoise/unsure_dropped"] == 24
    assert crawls.stats["item_dropped_reasons_count/LowConfidenceItem"] == 24
