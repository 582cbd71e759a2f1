"""Polite crawls over loopback, each in its own process, against a server that records what arrives when."""

import logging
import random
import signal
import socket
import time
from collections.abc import Callable, Iterator
from email.utils import formatdate
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import kstest
from scrapy.core.downloader import Downloader
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.settings import Settings

from denoise_crawler.crawl.politeness import (
    PoliteDownloader,
    Politeness,
    PolitePriorityQueue,
    PoliteRobotsTxtMiddleware,
    PoliteSlot,
    parse_retry_after,
)
from tests.polite_crawl import CLOCK, PATIENCE, Crawl, Site, crawl, delays, serving


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as server:
        yield server


def test_slot_draws_once_per_request_and_uniformly() -> None:
    random.seed(1)
    slot = PoliteSlot(lambda: 5.0, 15.0)
    gaps = []
    for second in range(1, 4001):
        slot.lastseen = float(second)
        gaps.append(slot.download_delay())
        assert {slot.download_delay() for _ in range(3)} == {gaps[-1]}
    result = kstest(gaps, "uniform", args=(5, 15))
    print(f"slot: D = {result.statistic:.4f}, p = {result.pvalue:.3f}")
    assert result.pvalue > 0.01


def test_the_first_request_to_a_host_waits_for_no_gap_however_young_the_clock_is() -> None:
    slot = PoliteSlot(lambda: 1e9, 0.0)
    assert slot.download_delay() < 1
    slot.not_before = 50.0
    assert slot.download_delay() == 50.0


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
    assert done.stats["denoise/polite/gap_seconds_min"] == pytest.approx(min(gaps), abs=CLOCK)


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


def test_a_crawl_delay_moves_the_range_of_a_gap_already_drawn() -> None:
    shortest = [5.0]
    slot = PoliteSlot(lambda: shortest[0], 15.0)
    slot.lastseen = 100.0
    before = slot.download_delay()
    shortest[0] = 50.0
    assert slot.download_delay() == pytest.approx(before + 45.0)


def test_a_slot_is_not_forgotten_within_a_gap_whatever_autothrottle_writes() -> None:
    slot = PoliteSlot(lambda: 5.0, 15.0)
    slot.lastseen = 100.0
    slot.delay = 1.0
    slot.download_delay()
    assert slot.delay == 20.0
    slot.not_before = 700.0
    slot.download_delay()
    assert slot.delay == 600.0


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
    ("value", "seconds"), [("120", 120.0), (" 7 ", 7.0), ("-3", 0.0), ("nan", 0.0), ("soon", None), ("", None)]
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


TEMPLATE = {"ROBOTSTXT_OBEY": True, "CONCURRENT_REQUESTS_PER_DOMAIN": 1, "DOWNLOAD_DELAY": 1}


def project(**settings: Any) -> Settings:
    return Settings({**TEMPLATE, **settings}, priority="project")


def test_add_on_in_a_fresh_project(site: Site, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings = project()
    Politeness().update_settings(settings)
    assert settings["DOWNLOADER"] is PoliteDownloader
    bare = Settings()
    Politeness().update_settings(bare)
    assert bare.getbool("ROBOTSTXT_OBEY")
    Politeness().update_settings(settings)  # its own values are not foreign
    assert caplog.records == []
    more = {**TEMPLATE, "CONCURRENT_REQUESTS_PER_DOMAIN": 8, "AUTOTHROTTLE_ENABLED": True}
    done = Crawl(tmp_path, site.pages("a.test", 5), delays(0.1, 0.2, **more)).finish()
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
    assert own.getdict("DOWNLOADER_MIDDLEWARES") == {}
    assert "NOT in force: DOWNLOADER is set to" in caplog.messages[0]

    queue = "scrapy.pqueues.ScrapyPriorityQueue"
    own = project(SCHEDULER_PRIORITY_QUEUE=queue)
    Politeness().update_settings(own)
    assert own["SCHEDULER_PRIORITY_QUEUE"] == queue
    assert own["DOWNLOADER"] is PoliteDownloader
    assert f"SCHEDULER_PRIORITY_QUEUE is set to {queue}" in caplog.messages[1]

    own = project(DOWNLOADER=OwnPoliteDownloader)
    Politeness().update_settings(own)
    assert own["DOWNLOADER"] is OwnPoliteDownloader
    assert own["SCHEDULER_PRIORITY_QUEUE"] is PolitePriorityQueue
    assert len(caplog.messages) == 2


@pytest.mark.parametrize(
    "robots", ["scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware", RobotsTxtMiddleware]
)
def test_add_on_keeps_the_place_of_the_robots_middleware_and_leaves_it_off(robots: type | str) -> None:
    for place in (None, 550):
        own = project(DOWNLOADER_MIDDLEWARES={robots: place})
        Politeness().update_settings(own)
        places = {RobotsTxtMiddleware: None} | ({PoliteRobotsTxtMiddleware: place} if place else {})
        assert own.getdict("DOWNLOADER_MIDDLEWARES") == places


ENDLESS = "User-agent: *\nCrawl-delay: 1000000000"
NEVER = 10 * PATIENCE  # seconds that no test waits


def wait_until(condition: Callable[[], object], running: Crawl) -> None:
    """Wait until something has happened in a crawl."""
    patience = time.monotonic() + PATIENCE
    while not condition() and running.process.poll() is None and time.monotonic() < patience:
        time.sleep(0.01)


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


# --- Crawl-delay


def test_a_host_whose_crawl_delay_is_too_long_is_given_up_and_others_are_not(site: Site, tmp_path: Path) -> None:
    site.robots = {"slow.test": ENDLESS, "good.test": "User-agent: *\nCrawl-delay: 0.2"}
    slow, good = site.pages("slow.test", 5), site.pages("good.test", 3)
    done = Crawl(tmp_path, slow + good, delays(0.01, 0.02)).finish()
    assert done.stats["reason"] == "finished", done.log
    assert sorted(done.pages) == good
    assert done.failures == dict.fromkeys(slow, "CrawlDelayTooLongError")
    assert [path for host, path, *_ in site.arrivals if host == "slow.test"] == ["/robots.txt"]
    assert done.stats["denoise/polite/hosts_given_up"] == 1
    assert done.stats["denoise/polite/dropped"] == 5
    assert done.stats["denoise/polite/crawl_delay_hosts"] == 1
    [warning] = [line for line in done.log.splitlines() if " WARNING: " in line]
    assert "slow.test is given up" in warning
    assert "DENOISE_CRAWL_DELAY_MAX is 300" in warning


def test_a_host_that_is_asked_as_slowly_as_it_wants_anyway_is_not_given_up(site: Site, tmp_path: Path) -> None:
    site.robots = {"slow.test": "User-agent: *\nCrawl-delay: 0.3"}
    slots = {"DOWNLOAD_SLOTS": {"SLOW.test.": {"delay": 0.4}}, "DENOISE_CRAWL_DELAY_MAX": 0.2}
    done = crawl(tmp_path, site.pages("slow.test", 2), delays(0.01, 0.02, **slots))
    done.assert_real_gaps(site, 0.4)
    assert "denoise/polite/hosts_given_up" not in done.stats


def test_what_waits_past_the_scheduler_at_a_host_that_is_given_up_is_dropped_too(
    site: Site, tmp_path: Path
) -> None:
    with serving() as other:
        other.robots = {"a.test": ENDLESS}
        settings = delays(0.3, 0.3, DIRECT=4, CONCURRENT_REQUESTS=40)
        done = Crawl(tmp_path, [*site.pages("a.test", 1), other.url("a.test", "x")], settings).finish()
    assert done.stats["reason"] == "finished", done.log
    assert done.failures[other.url("a.test", "x")] == "CrawlDelayTooLongError"
    assert done.stats["denoise/polite/dropped"] == len(done.failures)


# --- the end of a crawl


@pytest.mark.parametrize("end", ["SIGINT", "SIGTERM", "CLOSESPIDER_TIMEOUT"])
@pytest.mark.parametrize("direct", [0, 3])
def test_the_end_of_a_crawl_waits_for_no_gap_and_a_job_loses_nothing(
    site: Site, tmp_path: Path, end: str, direct: int
) -> None:
    site.robots = {"slow.test": ENDLESS} if not direct else {}
    first_gap, later_gaps = (0.01, 0.02) if not direct else (NEVER, NEVER)
    urls = site.pages("slow.test", 4)
    job = {"JOBDIR": str(tmp_path / "job"), "DENOISE_CRAWL_DELAY_MAX": 1e12}
    settings = delays(first_gap, later_gaps, DIRECT=direct, **job)
    if end == "CLOSESPIDER_TIMEOUT":
        settings["CLOSESPIDER_TIMEOUT"] = 2
    first = Crawl(tmp_path, urls, settings)
    wait_until(lambda: site.arrivals, first)
    if end != "CLOSESPIDER_TIMEOUT":
        time.sleep(0.5)
        first.process.send_signal(getattr(signal, end))
    first.finish()  # would run out of patience in the gap
    assert first.stats["reason"] == ("closespider_timeout" if "TIMEOUT" in end else "shutdown"), first.log
    assert (first.pages, first.failures) == ([], {})
    site.robots = {}
    second = Crawl(tmp_path, urls, delays(0.01, 0.02, **job)).finish()
    assert second.stats["reason"] == "finished", second.log
    assert sorted(second.pages) == urls
    assert sorted(site.paths()) == [f"slow.test/page{n}" for n in range(4)]


@pytest.mark.parametrize("end", ["SIGINT", "CLOSESPIDER_TIMEOUT"])
def test_requests_past_the_scheduler_end_with_the_crawl(site: Site, tmp_path: Path, end: str) -> None:
    site.answers["/page0"] = [(200, {}), (429, {"Retry-After": str(NEVER)})]
    settings = delays(0.01, 0.02, DIRECT=3, DENOISE_RETRY_AFTER_MAX=NEVER, RETRY_ENABLED=False)
    site.answers["/page0/part0"] = [(429, {"Retry-After": str(NEVER)})]
    if end == "CLOSESPIDER_TIMEOUT":
        settings["CLOSESPIDER_TIMEOUT"] = 3
    done = Crawl(tmp_path, site.pages("a.test", 1), settings)
    if end == "SIGINT":
        wait_until(lambda: site.paths(429), done)
        time.sleep(0.3)
        done.process.send_signal(signal.SIGINT)
    done.finish()
    assert done.process.returncode == 0, done.log
    assert done.failures == {site.url("a.test", f"page0/part{n}"): "CrawlEndsError" for n in (1, 2)}


@pytest.mark.parametrize("settings", [{}, {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"}])
def test_the_crawl_ends_in_a_gap_also_with_another_queue_or_without_robots_txt(
    site: Site, tmp_path: Path, settings: dict[str, Any]
) -> None:
    more = delays(NEVER, NEVER, CLOSESPIDER_TIMEOUT=2, ROBOTSTXT_OBEY=False)
    done = Crawl(tmp_path, site.pages("a.test", 5), more | settings).finish()
    assert done.stats["reason"] == "closespider_timeout", done.log
    assert len(done.pages) == 1


# --- back to the scheduler


def test_the_first_pages_of_hosts_do_not_use_up_the_requests_of_a_crawl(site: Site, tmp_path: Path) -> None:
    hosts = [f"h{n}.test" for n in range(6)]
    urls = [url for host in hosts for url in site.pages(host, 2)]
    done = crawl(tmp_path, urls, delays(3, 3, CONCURRENT_REQUESTS=1))
    assert [path for _, path, *_ in site.arrivals[:6]] == ["/robots.txt"] * 6
    done.assert_real_gaps(site, 3)
    for host in hosts:  # what had its turn is still the first
        assert [path for path in site.paths() if path.startswith(host)] == [f"{host}/page{n}" for n in (0, 1)]
    assert done.stats["downloader/request_count"] == 18  # each counts once, however often it waited


def test_a_request_that_went_back_is_filtered_as_before(site: Site, tmp_path: Path) -> None:
    site.answers["/page0"] = [(302, {"Location": site.url("elsewhere.test", "x")})]
    urls = site.pages("a.test", 2)
    done = Crawl(tmp_path, urls, delays(1.5, 1.5), allowed_domains=["a.test"]).finish()
    assert done.stats["reason"] == "finished", done.log
    assert done.pages == urls[1:]
    assert {host for host, *_ in site.arrivals} == {"a.test"}


# --- one host, one slot


def test_all_spellings_of_a_host_share_one_slot(site: Site, tmp_path: Path) -> None:
    spellings = ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "127.0.0.1."]
    names = ["a.test", "A.TEST", "a.test."]
    for hosts in (spellings, names):
        site.arrivals.clear()
        done = crawl(tmp_path, [site.url(host, f"of/{host}") for host in hosts], delays(0.2, 0.2))
        arrivals = sorted(when for *_, when, _ in site.arrivals)
        assert len(site.paths()) == len(hosts)
        assert min(b - a for a, b in pairwise(arrivals)) >= 0.2 - 0.1
        assert done.stats["denoise/polite/gaps"] == len(arrivals) - 1
        assert done.stats["denoise/polite/gap_seconds_min"] >= 0.2 - CLOCK


def test_a_link_to_another_spelling_of_a_host_cannot_hold_up_that_host(site: Site, tmp_path: Path) -> None:
    site.robots_status = {"a.test.": 503}
    good = site.pages("a.test", 3)
    odd = [site.url("a.test.", "x"), site.url("user:word@a.test", "x")]
    done = Crawl(tmp_path, odd + good, delays(0.01, 0.02, RETRY_ENABLED=False), robots_retry=0.2).finish()
    assert sorted(done.pages) == good
    assert done.failures == {odd[0]: "RobotsUnreachableError", odd[1]: "ValueError"}  # Scrapy takes no user here


# --- robots.txt


@pytest.mark.parametrize("retries", [0, 1])
def test_a_host_whose_robots_txt_stays_away_is_asked_for_nothing_and_dropped(
    site: Site, tmp_path: Path, retries: int
) -> None:
    site.robots_status = {"down.test": 503}
    down, good = site.pages("down.test", 4), site.pages("good.test", 3)
    settings = delays(0.01, 0.02, RETRY_TIMES=retries, CONCURRENT_REQUESTS=1)
    done = Crawl(tmp_path, down + good, settings, robots_retry=0.5).finish()
    assert done.stats["reason"] == "finished", done.log
    assert sorted(done.pages) == good
    assert done.failures == dict.fromkeys(down, "RobotsUnreachableError")
    asked = [(path, when) for host, path, when, _ in site.arrivals if host == "down.test"]
    assert [path for path, _ in asked] == ["/robots.txt"] * 4 * (1 + retries)
    tries = [when for _, when in asked][:: 1 + retries]
    assert min(b - a for a, b in pairwise(tries)) >= 0.5 - 0.1
    assert done.stats["denoise/polite/robots_unreachable"] == 1
    assert done.stats["denoise/polite/hosts_given_up"] == 1
    assert done.stats["denoise/polite/dropped"] == 4
    warnings = [line for line in done.log.splitlines() if " WARNING: " in line]
    assert len(warnings) == 2
    assert "robots.txt of down.test" in warnings[0]
    assert "HTTP 503" in warnings[0]
    assert "down.test" in warnings[1]
    assert "is given up" in warnings[1]


def test_a_robots_txt_that_comes_back_is_obeyed(site: Site, tmp_path: Path) -> None:
    site.robots = {"back.test": "User-agent: *\nDisallow: /page1"}
    site.answers["/robots.txt"] = [(500, {}), (502, {})]
    urls = site.pages("back.test", 3)
    done = Crawl(tmp_path, urls, delays(0.01, 0.02, RETRY_ENABLED=False), robots_retry=0.4).finish()
    assert sorted(done.pages) == [urls[0], urls[2]]
    assert done.failures == {urls[1]: "IgnoreRequest"}
    assert [status for _, path, _, status in site.arrivals if path == "/robots.txt"] == [500, 502, 200]
    assert "denoise/polite/dropped" not in done.stats


def test_a_port_without_a_server_does_not_hold_up_the_others_of_its_host(site: Site, tmp_path: Path) -> None:
    dead = f"http://a.test:{closed_port()}/page"
    settings = delays(0.01, 0.02, RETRY_ENABLED=False, JOBDIR=str(tmp_path / "job"))
    urls = [dead, *site.pages("a.test", 3)]
    first = Crawl(tmp_path, urls, settings, robots_retry=NEVER)
    wait_until(lambda: len(site.paths()) == 3, first)
    time.sleep(0.3)
    first.process.send_signal(signal.SIGINT)
    first.finish()
    assert (sorted(first.pages), first.failures) == (urls[1:], {})
    assert first.stats["reason"] == "shutdown", first.log
    second = Crawl(tmp_path, urls, {**settings, "ROBOTSTXT_OBEY": False}).finish()
    assert second.failures == {dead: "DownloadConnectionRefusedError"}  # it was still in the job


def test_what_waits_for_a_robots_txt_survives_ctrl_c(site: Site, tmp_path: Path) -> None:
    site.robots_status = {"down.test": 503}
    urls = site.pages("down.test", 5)
    job = {"JOBDIR": str(tmp_path / "job"), "RETRY_ENABLED": False}
    first = Crawl(tmp_path, urls, delays(0.01, 0.02, **job), robots_retry=NEVER)
    wait_until(lambda: site.arrivals, first)
    time.sleep(0.5)
    first.process.send_signal(signal.SIGINT)
    first.finish()
    assert first.stats["reason"] == "shutdown", first.log
    assert (first.pages, first.failures) == ([], {})
    site.robots_status = {}
    second = Crawl(tmp_path, urls, delays(0.01, 0.02, **job)).finish()
    assert sorted(second.pages) == urls


def test_a_host_without_an_address_fails_at_once(site: Site, tmp_path: Path) -> None:
    urls = [*site.pages("nowhere.invalid", 2), *site.pages("a.test", 1)]
    done = Crawl(tmp_path, urls, delays(0.01, 0.02), robots_retry=NEVER).finish()
    assert done.pages == urls[2:]
    assert done.failures == dict.fromkeys(urls[:2], "CannotResolveHostError")
    assert "denoise/polite/robots_unreachable" not in done.stats


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_a_robots_txt_that_is_not_there_allows_everything(site: Site, tmp_path: Path, status: int) -> None:
    site.robots = {"a.test": "User-agent: *\nDisallow: /\nCrawl-delay: 1000000000"}
    site.robots_status = {"a.test": status}
    done = crawl(tmp_path, site.pages("a.test", 3), delays(0.01, 0.02))
    assert done.stats[f"robotstxt/response_status_count/{status}"] == 1


def test_requests_that_ask_for_no_robots_txt_do_not_wait_for_it(site: Site, tmp_path: Path) -> None:
    site.robots_status = {"down.test": 503}
    urls = site.pages("down.test", 3)
    settings = delays(0.01, 0.02)
    done = Crawl(tmp_path, urls, settings, meta={"dont_obey_robotstxt": True}, robots_retry=NEVER).finish()
    assert sorted(done.pages) == urls


def test_with_another_queue_nothing_waits_and_nothing_is_asked(site: Site, tmp_path: Path) -> None:
    site.robots_status = {"down.test": 503}
    urls = site.pages("down.test", 3)
    queue = {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue", "RETRY_ENABLED": False}
    done = Crawl(tmp_path, urls, delays(0.01, 0.02, **queue), robots_retry=NEVER).finish()
    assert done.failures == dict.fromkeys(urls, "RobotsUnreachableError")
    assert {path for _, path, *_ in site.arrivals} == {"/robots.txt"}


def test_the_text_add_on_alone_changes_no_crawl(site: Site, tmp_path: Path) -> None:
    site.robots = {"slow.test": ENDLESS}
    site.robots_status = {"down.test": 503}
    urls = [*site.pages("down.test", 2), *site.pages("slow.test", 2)]
    settings = {
        "ADDONS": {"denoise_crawler.Addon": 300},
        "ROBOTSTXT_OBEY": True,
        "RETRY_ENABLED": False,
        "DENOISE_STORE": str(tmp_path / "store.sqlite"),
    }
    done = Crawl(tmp_path, urls, settings).finish()
    assert sorted(done.pages) == sorted(urls)


# --- settings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"DENOISE_DELAY_MIN": 30}, "DENOISE_DELAY_MIN (30) is greater than DENOISE_DELAY_MAX (20)"),
        ({"DENOISE_DELAY_MAX": "nan"}, "DENOISE_DELAY_MAX is 'nan'"),
        ({"DENOISE_RETRY_AFTER_MAX": "-1"}, "DENOISE_RETRY_AFTER_MAX is '-1': set it to a number of seconds"),
        ({"DENOISE_CRAWL_DELAY_MAX": "long"}, "DENOISE_CRAWL_DELAY_MAX is 'long': set it to a number of seconds"),
        ({"DOWNLOAD_SLOTS": {"a.test": {"delay": -2}}}, "DOWNLOAD_SLOTS['a.test']['delay'] is -2"),
    ],
)
def test_wrong_settings_are_named_and_stop_the_crawl(
    site: Site, tmp_path: Path, settings: dict[str, Any], message: str
) -> None:
    stopped = Crawl(tmp_path, site.pages("a.test", 1), settings).finish()
    assert stopped.process.returncode == 1
    assert f"The crawl cannot begin: {message}" in stopped.log
    assert site.arrivals == []


@pytest.mark.parametrize(("spelt", "host"), [("127.1", "127.0.0.1"), ("Bücher.test.", "xn--bcher-kva.test")])
def test_slots_in_the_settings_are_meant_in_any_spelling(
    site: Site, tmp_path: Path, spelt: str, host: str
) -> None:
    slots = {spelt: {"delay": 0.3}, "fast.test": {"delay": 0.001}}
    done = crawl(tmp_path, site.pages(host, 2), delays(0.01, 0.02, DOWNLOAD_SLOTS=slots))
    done.assert_real_gaps(site, 0.3)
