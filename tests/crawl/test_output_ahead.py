"""The output of a callback is asked for before Scrapy makes its tasks: a spider sees nothing of that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Project

SPIDER = """
import asyncio
from contextvars import ContextVar
import scrapy

SEEN = ContextVar("SEEN", default=None)

class AheadSpider(scrapy.Spider):
    name = "ahead"
    start_urls = ["data:text/html,<p>One story of the harbour."]

    async def parse(self, response):
        token, task = SEEN.set(response.url), asyncio.current_task()
        yield {"number": 1}
        await asyncio.sleep(0.01)
        for number in range(2, 302):
            yield {"number": number}
        SEEN.reset(token)
        yield {"number": 302, "same_task": asyncio.current_task() is task}
        raise ValueError("of the spider")
"""


@pytest.mark.parametrize("pages", [0, 5])
def test_a_callback_runs_in_one_context_and_its_error_costs_no_item(project: Project, pages: int) -> None:
    project.write("test_spiders.py", SPIDER)
    items = project.crawl("ahead", "-s", f"DENOISE_WARMUP_PAGES={pages}")
    assert [item["number"] for item in items] == list(range(1, 303))
    assert items[-1]["same_task"]
    assert all(item["text"] == "One story of the harbour." for item in items)
    assert project.stats["spider_exceptions/ValueError"] == 1


@pytest.mark.parametrize(("given", "said"), [((), 1), (("-s", "CONCURRENT_ITEMS=100"), 0)])
def test_the_log_says_what_the_tasks_of_each_response_cost_where_nobody_chose_them(
    project: Project, given: tuple[str, ...], said: int
) -> None:
    project.write("test_spiders.py", SPIDER)
    project.crawl("ahead", *given)
    assert project.log.count("Scrapy makes 100 tasks for each response (CONCURRENT_ITEMS)") == said
