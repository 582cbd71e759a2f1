from importlib.util import find_spec

import pytest

from denoise_crawler.contrib.stat_checks import count_losses, noise_share, unread_share
from examples.demo_site.server import DemoServer
from tests.conftest import Project

SPIDERMON = """
EXTENSIONS["spidermon.contrib.scrapy.extensions.Spidermon"] = 500
SPIDERMON_ENABLED = True
SPIDERMON_SPIDER_CLOSE_MONITORS = ["denoise_crawler.contrib.monitors.CleaningMonitorSuite", "strict.StrictSuite"]
DENOISE_WARMUP_PAGES = 3
"""
STRICT = """
from denoise_crawler.contrib.monitors import NoiseShareMonitor
from spidermon import MonitorSuite


class StrictMonitor(NoiseShareMonitor):
    noise_max = 0.03


class StrictSuite(MonitorSuite):
    monitors = [StrictMonitor]
"""


def crawl(project: Project, server: DemoServer, *arguments: str, settings: str = "") -> None:
    project.write("project_settings.py", (project.folder / "project_settings.py").read_text() + settings)
    project.crawl("site", "-a", f"start_url={server.url}/en-us", "-a", "max_pages=5", *arguments)


def test_the_stats_of_a_sound_crawl_can_be_asserted_on(project: Project, server: DemoServer) -> None:
    crawl(project, server, "-s", "DENOISE_WARMUP_PAGES=3")
    stats = project.stats
    assert stats["denoise/pages"] == stats["denoise/cleaned"] == stats["item_scraped_count"] == 5
    assert stats["denoise/parked"] == stats["denoise/replayed"] == 3
    assert count_losses(stats) == {}
    assert unread_share(stats) == 0.0
    share = noise_share(stats)
    assert share is not None
    assert 0.2 < share < 0.95


def test_what_is_lost_is_named_with_its_count() -> None:
    assert count_losses({"denoise/unfilled": 2, "denoise/pages": 9, "denoise/store_errors": 0}) == {"unfilled": 2}


def test_pages_that_give_no_text_are_a_share_of_all() -> None:
    stats = {"denoise/pages": 8, "denoise/skipped/empty": 1, "denoise/skipped/frameset": 1}
    stats["denoise/script_pages"] = 3
    assert unread_share(stats) == 0.5
    assert unread_share({}) is None
    assert noise_share({}) is None


@pytest.mark.skipif(find_spec("spidermon") is None, reason="spidermon is not installed")
def test_spidermon_passes_what_is_sound_and_fails_what_is_beyond_a_limit(
    project: Project, server: DemoServer
) -> None:
    project.write("strict.py", STRICT)
    crawl(project, server, settings=SPIDERMON)
    assert "NothingLostMonitor/test_nothing_lost... OK" in project.log
    assert "ReadablePagesMonitor/test_readable_pages... OK" in project.log
    assert "NoiseShareMonitor/test_noise_share... OK" in project.log
    assert "StrictMonitor/test_noise_share... FAIL" in project.log
    assert "% was noise, not 2% to 3%" in project.log
