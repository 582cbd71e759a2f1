"""Pages less sure than DENOISE_MIN_CONFIDENCE, in real crawls; and when a warm-up takes too long."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.settings import Settings

from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.crawl.warmup_clocks import LONGEST_PAUSES, WarmupClocks
from denoise_crawler.errors import SettingError
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


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"DENOISE_MIN_CONFIDENCE": "high"}, "DENOISE_MIN_CONFIDENCE is 'high': set it to a number from 0 to 1"),
        ({"DENOISE_MIN_CONFIDENCE": 80}, "DENOISE_MIN_CONFIDENCE is 80: set it to a number from 0 to 1"),
        ({"DENOISE_LOW_CONFIDENCE": "skip"}, "DENOISE_LOW_CONFIDENCE is 'skip': set it to one of mark, drop"),
        ({"DENOISE_LOW_CONFIDENCE": 7}, "DENOISE_LOW_CONFIDENCE is 7: set it to one of mark"),
        (
            {"DENOISE_MIN_CONFIDENCE": 0.8, "DENOISE_METHOD": "style_tree"},
            "DENOISE_MIN_CONFIDENCE is 0.8, but style_tree cannot say how sure it is",
        ),
    ],
)
def test_a_wrong_value_gives_one_clear_message(values: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingError) as error:
        DenoiseSettings.from_settings(Settings(values))
    assert said in str(error.value)


def test_right_values_reach_the_writer() -> None:
    read = DenoiseSettings.from_settings(
        Settings({"DENOISE_MIN_CONFIDENCE": "0.8", "DENOISE_LOW_CONFIDENCE": "drop"})
    )
    assert (read.writing.min_confidence, read.writing.low_confidence) == (0.8, "drop")


SITES = ("one.example", "two.example", "three.example")
LIMITS = st.one_of(st.just(0), st.integers(1, 30))
# a page of a site comes after so many seconds, and it is a new one or not; None: only the time is looked at
EVENTS = st.lists(st.tuples(st.integers(0, 12), st.sampled_from((*SITES, None)), st.booleans()), max_size=40)


@given(LIMITS, EVENTS)
def test_a_site_is_overdue_once_and_exactly_when_one_of_its_limits_is_over(
    pause: int, events: list[tuple[int, str | None, bool]]
) -> None:
    now = 0
    clocks, longest = WarmupClocks(pause, now=lambda: now), LONGEST_PAUSES * pause
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for seconds, site, new in events:
        now += seconds
        due = {
            one for one in first if (pause and now - last[one] > pause) or (longest and now - first[one] > longest)
        }
        assert {found.site for found in clocks.take_overdue()} == due
        for one in due:
            del first[one], last[one]
        if site is None:
            continue
        clocks.note(site, new=new)
        if site not in first:
            first[site] = last[site] = now
        elif new:
            last[site] = now


@given(EVENTS)
def test_a_site_that_is_known_is_never_overdue(events: list[tuple[int, str | None, bool]]) -> None:
    now = 0
    clocks = WarmupClocks(1, now=lambda: now)
    for seconds, site, new in events:
        now += seconds
        if site is not None:
            clocks.note(site, new=new)
            clocks.stop(site)
    now += 100
    assert clocks.take_overdue() == []


def test_the_words_say_which_limit_is_over() -> None:
    now = 0.0
    clocks = WarmupClocks(30, now=lambda: now)
    clocks.note("quiet.example")
    for _ in range(16):
        clocks.note("slow.example")
        now += 20
    assert clocks.take_overdue() == [
        ("quiet.example", "30 seconds without a new page"),
        ("slow.example", "300 seconds"),
    ]
