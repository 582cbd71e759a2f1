"""Pages that are less sure than DENOISE_MIN_CONFIDENCE, in real crawls. No page is as sure as 1."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.errors import SettingError
from tests.article_spider import SPIDER
from tests.conftest import SETTINGS
from tests.crawl.test_crawl import quota, urls
from tests.crawl.test_pipelines import BY_PIPELINES, OWN_PIPELINE

if TYPE_CHECKING:
    from denoise_crawler.demo.server import DemoServer
    from tests.conftest import Project

FALLBACK = """
def short(url, html):
    if "ferry" in url:
        raise RuntimeError(url)
    return "short"
"""
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
    project.write("fallback.py", FALLBACK)
    project.write("test_spiders.py", SPIDER)
    project.write("urls.json", json.dumps(urls(server)))
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


def test_a_function_of_the_project_writes_them_and_one_that_raises_leaves_our_text(crawls: Project) -> None:
    items = crawl(crawls, "fallback:short")
    failed = [item for item in items if "ferry" in item["url"]]
    assert 0 < len(failed) < len(items) == 24
    assert all(item["m"] == "fusion" and len(item["text"]) > 100 for item in failed)
    assert {(i["m"], i["text"]) for i in items if i not in failed} == {("fusion/fallback:short", "short")}
    assert crawls.stats["denoise/unsure_fallbacks"] == len(failed)
    assert "fallback:short wrote nothing of http" in crawls.log
    assert "denoise/failed" not in crawls.stats


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"DENOISE_MIN_CONFIDENCE": "high"}, "DENOISE_MIN_CONFIDENCE is 'high': set it to a number from 0 to 1"),
        ({"DENOISE_MIN_CONFIDENCE": 80}, "DENOISE_MIN_CONFIDENCE is 80: set it to a number from 0 to 1"),
        ({"DENOISE_LOW_CONFIDENCE": "skip"}, "DENOISE_LOW_CONFIDENCE: 'skip' is not known: it can be mark"),
        ({"DENOISE_LOW_CONFIDENCE": 7}, "DENOISE_LOW_CONFIDENCE is 7: set it to a text"),
        ({"DENOISE_LOW_CONFIDENCE": "a.b:c"}, "DENOISE_LOW_CONFIDENCE: 'a.b:c' cannot be loaded"),
        (
            {"DENOISE_MIN_CONFIDENCE": 0.8, "DENOISE_METHOD": "style_tree"},
            "DENOISE_MIN_CONFIDENCE is 0.8, but style_tree cannot say how sure it is",
        ),
        (
            {"DENOISE_MIN_CONFIDENCE": 0.8, "DENOISE_LOW_CONFIDENCE": "render"},
            "DENOISE_LOW_CONFIDENCE is 'render', which needs 'denoise_crawler.Rendering' in ADDONS",
        ),
    ],
)
def test_a_wrong_value_gives_one_clear_message(values: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingError) as error:
        DenoiseSettings.from_settings(Settings(values))
    assert said in str(error.value)


def test_right_values_reach_the_writer() -> None:
    read = DenoiseSettings.from_settings(
        Settings(
            {
                "ADDONS": {"denoise_crawler.Rendering": 320},
                "DENOISE_MIN_CONFIDENCE": "0.8",
                "DENOISE_LOW_CONFIDENCE": "render",
            }
        )
    )
    assert (read.writing.min_confidence, read.writing.low_confidence) == (0.8, "render")
