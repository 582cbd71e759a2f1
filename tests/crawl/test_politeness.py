"""Real crawls over loopback: each in its own process, against a server that records what arrives when."""

from __future__ import annotations

import logging
import random
import signal
import time
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

import pytest
from scipy.stats import kstest
from scrapy.core.downloader import Downloader
from scrapy.settings import Settings

from denoise_crawler.crawl.host_gaps import HostGaps, PoliteSlot, parse_retry_after
from denoise_crawler.crawl.politeness import POLITE_SETTINGS, PoliteDownloader, Politeness
from tests.polite_crawl import CLOCK, PATIENCE, Crawl, Site, crawl, delays, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as server:
        yield server


def test_slot_draws_once_per_request_and_uniformly() -> None:
    slot = PoliteSlot("a.test", HostGaps(5.0, 20.0, seed=1))
    gaps = []
    for second in range(1, 4001):
        slot.lastseen = float(second)
        gaps.append(slot.download_delay())
        assert {slot.download_delay() for _ in range(3)} == {gaps[-1]}
    result = kstest(gaps, "uniform", args=(5, 15))
    print(f"slot: D = {result.statistic:.4f}, p = {result.pvalue:.3f}")
    assert result.pvalue > 0.01


def test_the_first_request_to_a_host_waits_for_no_gap_however_young_the_clock_is() -> None:
    gaps = HostGaps(1e9, 1e9)
    assert PoliteSlot("a.test", gaps).download_delay() < 1
    gaps.hold("a.test", 50)
    assert PoliteSlot("a.test", gaps).download_delay() == gaps.not_before["a.test"]


def test_crawl_gaps_are_uniform(site: Site, tmp_path: Path) -> None:
    hosts = [f"h{n}.test" for n in range(40)]
    urls = [url for host in hosts for url in site.pages(host, 10)]
    done = crawl(tmp_path, urls, delays(0.4, 1.6, CONCURRENT_REQUESTS=80))
    gaps = done.gaps()
    # A busy machine may ask late, and never early.
    result = kstest(gaps, "uniform", args=(0.4, 1.2), alternative="greater")
    print(f"crawl: {len(gaps)} gaps, D = {result.statistic:.4f}, p = {result.pvalue:.3f}, min {min(gaps):.4f}")
    assert len(gaps) == 400
    assert result.pvalue > 0.01
    done.assert_real_gaps(site, 0.4)
    assert done.stats["denoise/polite/gaps"] == 400
    assert done.stats["denoise/polite/gap_seconds_total"] == pytest.approx(sum(gaps))
    assert done.stats["denoise/polite/gap_seconds_min"] == pytest.approx(min(gaps))


def test_hosts_take_turns_although_one_was_scheduled_first(site: Site, tmp_path: Path) -> None:
    urls = site.pages("localhost", 20) + site.pages("127.0.0.1", 20)
    done = crawl(tmp_path, urls, delays(0.15, 0.15, CONCURRENT_REQUESTS=3))
    order = [path.split("/")[0] for path in site.paths()]
    # In turn, but for requests that swap places because one of them was late.
    assert all(5 <= order[i : i + 20].count("localhost") <= 15 for i in range(5, 20))
    spans = [times[-1] - times[0] for times in done.starts.values()]
    total = max(t for times in done.starts.values() for t in times) - min(
        t for times in done.starts.values() for t in times
    )
    assert total < 0.8 * sum(spans)
    done.assert_real_gaps(site, 0.15)


def test_many_hosts_finish_with_one_request_in_all(site: Site, tmp_path: Path) -> None:
    urls = [url for n in range(5) for url in site.pages(f"h{n}.test", 4)]
    done = crawl(tmp_path, urls, delays(0.1, 0.2, CONCURRENT_REQUESTS=1))
    done.assert_real_gaps(site, 0.1)


def test_crawl_delay_moves_the_range_up(site: Site, tmp_path: Path) -> None:
    site.robots = {
        "slow.test": "User-agent: politebot\nCrawl-delay: 0.4\n\nUser-agent: *\nCrawl-delay: 9",
        "fast.test": "User-agent: *\nCrawl-delay: 0.01",
        "odd.test": "User-agent: *\nCrawl-delay: inf",
    }
    urls = [url for host in site.robots for url in site.pages(host, 6)]
    done = crawl(tmp_path, urls, delays(0.05, 0.1, USER_AGENT="politebot"))
    done.assert_real_gaps(site, 0.05)
    assert min(done.gaps("slow.test")) >= 0.4 - CLOCK
    assert done.stats["denoise/polite/crawl_delay_hosts"] == 1
    gaps = HostGaps(5.0, 20.0)
    assert gaps.raise_floor("slow.test", 30.0)
    assert not gaps.raise_floor("slow.test", 10.0)
    assert [gaps.gap("slow.test", unit) for unit in (0.0, 1.0)] == [30.0, 45.0]
    assert [gaps.gap("other.test", unit) for unit in (0.0, 1.0)] == [5.0, 20.0]


def test_crawl_delay_counts_for_a_gap_already_drawn() -> None:
    gaps = HostGaps(5.0, 20.0, seed=3)
    slot = PoliteSlot("a.test", gaps)
    slot.lastseen = 100.0
    before = slot.download_delay()
    gaps.raise_floor("a.test", 50.0)
    assert slot.download_delay() == pytest.approx(before + 45.0)
    assert slot.delay == 65.0
    slot.delay = 1.0  # as AutoThrottle does
    assert slot.delay == 65.0


def test_retry_after_is_waited_for(site: Site, tmp_path: Path) -> None:
    until = int(time.time()) + 6
    site.answers["/seconds"] = [(429, {"Retry-After": "2"})]
    site.answers["/date"] = [(503, {"Retry-After": formatdate(until, usegmt=True)})]
    site.answers["/forever"] = [(503, {"Retry-After": "86400"})]
    site.answers["/garbage"] = [(429, {"Retry-After": "soon"})]
    offset = time.time() - time.monotonic()
    kinds = ["seconds", "date", "forever", "garbage"]
    urls = [site.url(f"{kind}.test", kind) for kind in kinds]
    done = crawl(tmp_path, urls, delays(0.05, 0.1, DENOISE_RETRY_AFTER_MAX=4, CONCURRENT_REQUESTS=1))
    assert done.gaps("seconds.test")[-1] >= 2 - CLOCK
    assert done.gaps("forever.test")[-1] >= 4 - CLOCK
    dated = done.starts["date.test"]
    assert dated[-1] >= min(until - offset, dated[-2] + 4) - CLOCK
    assert done.stats["denoise/polite/retry_after"] == 3
    done.assert_real_gaps(site, 0.05)


@pytest.mark.parametrize(
    ("value", "seconds"), [("120", 120.0), (" 7 ", 7.0), ("-3", 0.0), ("nan", None), ("soon", None), ("", None)]
)
def test_retry_after_values(value: str, seconds: float | None) -> None:
    assert parse_retry_after(value) == seconds


def test_retry_after_dates() -> None:
    assert parse_retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert parse_retry_after(formatdate(time.time() + 90, usegmt=True)) == pytest.approx(90, abs=30)


def test_one_request_at_a_time_also_after_redirects(site: Site, tmp_path: Path) -> None:
    site.slowness = 0.1
    for n in range(6):
        site.answers[f"/moved{n}"] = [(302, {"Location": site.url("b.test", f"new{n}")})]
    urls = [site.url("a.test", f"moved{n}") for n in range(6)] + site.pages("b.test", 6)
    done = crawl(tmp_path, urls, delays(0.01, 0.02))
    assert site.crowded == []
    done.assert_real_gaps(site, 0.01)


@pytest.mark.parametrize("low", [0, 0.15])
def test_one_request_at_a_time_past_the_scheduler(site: Site, tmp_path: Path, low: float) -> None:
    site.slowness = 0.05
    done = crawl(tmp_path, site.pages("a.test", 2), delays(low, low, DIRECT=3))
    assert len(done.gaps()) == 8
    assert site.crowded == []
    done.assert_real_gaps(site, low)


def test_urls_without_host_do_not_wait(tmp_path: Path) -> None:
    urls = [f"data:text/html,{n}" for n in range(4)]
    crawl(tmp_path, urls, delays(2 * PATIENCE, 2 * PATIENCE))


def test_ctrl_c_in_a_long_gap_and_resume(site: Site, tmp_path: Path) -> None:
    urls = site.pages("a.test", 8)
    site.answers["/page3"] = [(429, {"Retry-After": "86400"})]
    settings = delays(0.3, 0.4, JOBDIR=str(tmp_path / "job"), DENOISE_RETRY_AFTER_MAX=2 * PATIENCE)
    first = Crawl(tmp_path, urls, settings)
    waiting = time.monotonic() + PATIENCE
    while not site.paths(429) and first.process.poll() is None and time.monotonic() < waiting:
        time.sleep(0.01)
    time.sleep(0.5)
    first.process.send_signal(signal.SIGINT)
    first.finish()  # would run out of patience in the gap
    assert first.stats["reason"] == "shutdown", first.log
    assert 0 < len(first.pages) < 8
    second = Crawl(tmp_path, urls, settings).finish()
    assert second.stats["reason"] == "finished", second.log
    assert sorted(first.pages + second.pages) == urls
    assert sorted(site.paths()) == [f"a.test/page{n}" for n in range(8)]
    assert min(first.gaps() + second.gaps()) >= 0.3 - CLOCK


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"DENOISE_DELAY_MIN": 30}, r"DENOISE_DELAY_MIN \(30\) is greater than DENOISE_DELAY_MAX \(20\)"),
        ({"DENOISE_DELAY_MIN": -1}, "DENOISE_DELAY_MIN is -1: set it to a number"),
        ({"DENOISE_DELAY_MIN": "fast"}, "DENOISE_DELAY_MIN is 'fast'"),
        ({"DENOISE_DELAY_MAX": "nan"}, "DENOISE_DELAY_MAX is 'nan'"),
        ({"DENOISE_DELAY_MAX": float("inf")}, "DENOISE_DELAY_MAX is inf"),
        ({"DENOISE_DELAY_SEED": "x"}, "DENOISE_DELAY_SEED is 'x': set it to a whole number"),
        ({"DOWNLOAD_SLOTS": {"a.test": {"delay": -2}}}, r"DOWNLOAD_SLOTS\['a.test'\]\['delay'\] is -2"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        HostGaps.from_settings(Settings(settings))


def test_settings_as_given_on_the_command_line() -> None:
    gaps = HostGaps.from_settings(
        Settings(
            {
                "DENOISE_DELAY_MIN": "2",
                "DENOISE_DELAY_MAX": "4.5",
                "DENOISE_DELAY_SEED": "9",
                "DOWNLOAD_SLOTS": {"slow.test": {"delay": 30}, "fast.test": {"delay": 0.1}},
            }
        )
    )
    assert gaps.random.random() == random.Random(9).random()
    assert [gaps.gap(f"{host}.test", 0.0) for host in ("slow", "fast", "other")] == [30.0, 2.0, 2.0]
    assert gaps.gap("slow.test", 1.0) == 32.5


def test_wrong_settings_stop_the_crawl(site: Site, tmp_path: Path) -> None:
    for settings in (delays(3, 2), delays(1, 2, DENOISE_RETRY_AFTER_MAX="-1")):
        stopped = Crawl(tmp_path, site.pages("a.test", 2), settings).finish()
        assert stopped.process.returncode == 1
        assert stopped.log.count("The crawl cannot begin: ") == 1
    assert (
        "The crawl cannot begin: DENOISE_RETRY_AFTER_MAX is '-1': set it to a number of seconds, 0 or more"
        in stopped.log
    )
    assert site.arrivals == []


TEMPLATE = {"ROBOTSTXT_OBEY": True, "CONCURRENT_REQUESTS_PER_DOMAIN": 1, "DOWNLOAD_DELAY": 1}


def project(**settings: Any) -> Settings:
    return Settings({**TEMPLATE, **settings}, priority="project")


def test_add_on_in_a_fresh_project(site: Site, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings = project()
    Politeness().update_settings(settings)
    assert {name: settings[name] for name in POLITE_SETTINGS} == POLITE_SETTINGS
    bare = Settings()
    Politeness().update_settings(bare)
    assert bare.getbool("ROBOTSTXT_OBEY")
    Politeness().update_settings(settings)  # its own values are not foreign
    assert caplog.records == []
    addons = {"denoise_crawler.crawl.politeness.Politeness": 310}
    more = {**TEMPLATE, "ADDONS": addons, "CONCURRENT_REQUESTS_PER_DOMAIN": 8, "AUTOTHROTTLE_ENABLED": True}
    done = Crawl(tmp_path, site.pages("a.test", 5), delays(0.1, 0.2, **more), spider_settings={}).finish()
    assert len(done.pages) == 5, done.log
    done.assert_real_gaps(site, 0.1)
    assert done.stats["denoise/polite/gaps"] == 5


class OwnDownloader(Downloader):
    """A project's own downloader."""


class OwnPoliteDownloader(PoliteDownloader):
    """A project's own downloader, derived from ours."""


def test_add_on_leaves_the_projects_classes_and_warns(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    own = project(DOWNLOADER=OwnDownloader)
    Politeness().update_settings(own)
    assert own["DOWNLOADER"] is OwnDownloader
    assert own["SCHEDULER_PRIORITY_QUEUE"] == Settings()["SCHEDULER_PRIORITY_QUEUE"]
    assert "NOT in force: DOWNLOADER is set to" in caplog.messages[0]

    queue = "scrapy.pqueues.ScrapyPriorityQueue"
    own = project(SCHEDULER_PRIORITY_QUEUE=queue)
    Politeness().update_settings(own)
    assert own["SCHEDULER_PRIORITY_QUEUE"] == queue
    assert own["DOWNLOADER"] == POLITE_SETTINGS["DOWNLOADER"]
    assert f"SCHEDULER_PRIORITY_QUEUE is set to {queue}" in caplog.messages[1]

    own = project(DOWNLOADER=OwnPoliteDownloader)
    Politeness().update_settings(own)
    assert own["DOWNLOADER"] is OwnPoliteDownloader
    assert own["SCHEDULER_PRIORITY_QUEUE"] == POLITE_SETTINGS["SCHEDULER_PRIORITY_QUEUE"]
    assert len(caplog.messages) == 2


def test_queue_needs_the_downloader(site: Site, tmp_path: Path) -> None:
    spider_settings = {**POLITE_SETTINGS, "DOWNLOADER": "scrapy.core.downloader.Downloader"}
    stopped = Crawl(tmp_path, site.pages("a.test", 2), {}, spider_settings).finish()
    assert "ValueError: SCHEDULER_PRIORITY_QUEUE is PolitePriorityQueue: set DOWNLOADER" in stopped.log
    assert site.arrivals == []
