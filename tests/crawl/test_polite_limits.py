"""Hosts that ask for too much, or whose robots.txt cannot be reached; and the end of crawls that wait."""

from __future__ import annotations

import re
import signal
import socket
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from denoise_crawler.crawl.host_gaps import HostGaps
from denoise_crawler.crawl.politeness import POLITE_SETTINGS
from denoise_crawler.crawl.settings_table import PolitenessSettings
from tests.polite_crawl import CLOCK, PATIENCE, Crawl, Site, crawl, delays, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ENDLESS = "User-agent: *\nCrawl-delay: 1000000000"
NEVER = 10 * PATIENCE  # seconds that no test waits


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as server:
        yield server


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
    spider_settings = {**POLITE_SETTINGS, **settings, "ROBOTSTXT_OBEY": False}
    more = delays(NEVER, NEVER, CLOSESPIDER_TIMEOUT=2)
    done = Crawl(tmp_path, site.pages("a.test", 5), more, spider_settings).finish()
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
    settings = delays(0.01, 0.02, DENOISE_ROBOTS_RETRY=0.2, RETRY_ENABLED=False)
    done = Crawl(tmp_path, odd + good, settings).finish()
    assert sorted(done.pages) == good
    assert done.failures == {odd[0]: "RobotsUnreachableError", odd[1]: "ValueError"}  # Scrapy takes no user here


# --- robots.txt


@pytest.mark.parametrize("retries", [0, 1])
def test_a_host_whose_robots_txt_stays_away_is_asked_for_nothing_and_dropped(
    site: Site, tmp_path: Path, retries: int
) -> None:
    site.robots_status = {"down.test": 503}
    down, good = site.pages("down.test", 4), site.pages("good.test", 3)
    settings = delays(0.01, 0.02, DENOISE_ROBOTS_RETRY=0.5, RETRY_TIMES=retries, CONCURRENT_REQUESTS=1)
    done = Crawl(tmp_path, down + good, settings).finish()
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
    settings = delays(0.01, 0.02, DENOISE_ROBOTS_RETRY=0.4, RETRY_ENABLED=False)
    urls = site.pages("back.test", 3)
    done = Crawl(tmp_path, urls, settings).finish()
    assert sorted(done.pages) == [urls[0], urls[2]]
    assert done.failures == {urls[1]: "IgnoreRequest"}
    assert [status for _, path, _, status in site.arrivals if path == "/robots.txt"] == [500, 502, 200]
    assert "denoise/polite/dropped" not in done.stats


def test_a_port_without_a_server_does_not_hold_up_the_others_of_its_host(site: Site, tmp_path: Path) -> None:
    dead = f"http://a.test:{closed_port()}/page"
    settings = delays(0.01, 0.02, DENOISE_ROBOTS_RETRY=NEVER, RETRY_ENABLED=False, JOBDIR=str(tmp_path / "job"))
    urls = [dead, *site.pages("a.test", 3)]
    first = Crawl(tmp_path, urls, settings)
    wait_until(lambda: len(site.paths()) == 3, first)
    time.sleep(0.3)
    first.process.send_signal(signal.SIGINT)
    first.finish()
    assert (sorted(first.pages), first.failures) == (urls[1:], {})
    assert first.stats["reason"] == "shutdown", first.log
    second = Crawl(tmp_path, urls, {**settings, "DENOISE_ROBOTS_UNREACHABLE": "allow"}).finish()
    assert second.failures == {dead: "DownloadConnectionRefusedError"}  # it was still in the job


def test_what_waits_for_a_robots_txt_survives_ctrl_c(site: Site, tmp_path: Path) -> None:
    site.robots_status = {"down.test": 503}
    urls = site.pages("down.test", 5)
    job = {"JOBDIR": str(tmp_path / "job"), "RETRY_ENABLED": False}
    first = Crawl(tmp_path, urls, delays(0.01, 0.02, DENOISE_ROBOTS_RETRY=NEVER, **job))
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
    done = Crawl(tmp_path, urls, delays(0.01, 0.02, DENOISE_ROBOTS_RETRY=NEVER)).finish()
    assert done.pages == urls[2:]
    assert done.failures == dict.fromkeys(urls[:2], "CannotResolveHostError")
    assert "denoise/polite/robots_unreachable" not in done.stats


def test_allow_crawls_without_rules_as_scrapy_does(site: Site, tmp_path: Path) -> None:
    site.robots_status = {"down.test": 503}
    urls = site.pages("down.test", 3)
    settings = delays(0.01, 0.02, DENOISE_ROBOTS_UNREACHABLE="allow", DENOISE_ROBOTS_RETRY=NEVER)
    done = Crawl(tmp_path, urls, settings).finish()
    assert sorted(done.pages) == urls
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
    settings = delays(0.01, 0.02, DENOISE_ROBOTS_RETRY=NEVER)
    done = Crawl(tmp_path, urls, settings, meta={"dont_obey_robotstxt": True}).finish()
    assert sorted(done.pages) == urls


def test_with_another_queue_nothing_waits_and_nothing_is_asked(site: Site, tmp_path: Path) -> None:
    site.robots_status = {"down.test": 503}
    urls = site.pages("down.test", 3)
    spider_settings = {**POLITE_SETTINGS, "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"}
    settings = delays(0.01, 0.02, DENOISE_ROBOTS_RETRY=NEVER, RETRY_ENABLED=False)
    done = Crawl(tmp_path, urls, settings, spider_settings).finish()
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
    done = Crawl(tmp_path, urls, settings, {}).finish()
    assert sorted(done.pages) == sorted(urls)


# --- settings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"DENOISE_CRAWL_DELAY_MAX": "long"}, "DENOISE_CRAWL_DELAY_MAX is 'long': set it to a number of seconds"),
        ({"DENOISE_CRAWL_DELAY_MAX": -1}, "DENOISE_CRAWL_DELAY_MAX is -1"),
        ({"DENOISE_ROBOTS_RETRY": "nan"}, "DENOISE_ROBOTS_RETRY is 'nan'"),
        (
            {"DENOISE_ROBOTS_UNREACHABLE": "skip"},
            "DENOISE_ROBOTS_UNREACHABLE is 'skip': set it to one of wait, allow",
        ),
    ],
)
def test_wrong_settings_are_named_and_stop_the_crawl(
    site: Site, tmp_path: Path, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        PolitenessSettings.read(Settings(settings))
    stopped = Crawl(tmp_path, site.pages("a.test", 1), settings).finish()
    assert stopped.process.returncode == 1
    assert f"The crawl cannot begin: {message}" in stopped.log
    assert site.arrivals == []


def test_slots_in_the_settings_are_meant_in_any_spelling() -> None:
    gaps = HostGaps.from_settings(
        Settings({"DOWNLOAD_SLOTS": {"127.1": {"delay": 40}, "Bücher.test.": {"delay": 30}}})
    )
    assert [gaps.gap(host, 0.0) for host in ("127.0.0.1", "xn--bcher-kva.test")] == [40.0, 30.0]
