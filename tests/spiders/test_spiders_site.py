"""The spider for any site, in real crawls over loopback."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from denoise_crawler.errors import BadArgumentError
from denoise_crawler.spiders.site import SiteSpider
from tests.spiders.test_spiders_loopback import Crawl, Pages, crawl, repeated, serving

FAST = ("CONCURRENT_REQUESTS_PER_DOMAIN=8", "DENOISE_DELAY_MAX=0")


def trap_site() -> Pages:
    pages = Pages()
    pages.html(
        "/",
        *("/a", "/a#part", "/a?utm_source=rss", "/b", "/moved", "/moved-too", "/gone", "/forbidden", "/plain"),
        *("/paper.pdf", "http://other.test/x", "mailto:a@b.test", "http://[bad", "/shut", "/based/page", "/away"),
        body='<a rel="nofollow" href="/nofollow">n</a>',
    )
    pages.html("/a", "/", "/b", "/a2")
    pages.html("/a2", "/quiet")
    pages.html("/b")
    pages.html("/target", "/moved")
    pages.html("/quiet", "/behind-quiet", head='<meta name="robots" content="noindex,nofollow">')
    pages.html("/based/page", "inner", head='<base href="/elsewhere/">')
    pages.html("/elsewhere/inner")
    pages.status("/moved", 301, Location="/target")
    pages.status("/moved-too", 302, Location="/target")
    pages.status("/away", 302, Location="http://other.test/away")
    pages.status("/gone", 410)
    pages.status("/forbidden", 403)
    pages.answers["/plain"] = (200, {"Content-Type": "text/plain"}, b"no markup here")
    pages.answers["/robots.txt"] = (200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /shut\n")
    for path in ("/nofollow", "/paper.pdf", "/behind-quiet", "/shut"):
        pages.html(path)
    return pages


@pytest.fixture(scope="module")
def traps(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Pages, Crawl]]:
    with serving(trap_site()) as pages:
        yield pages, crawl(tmp_path_factory.mktemp("traps"), "site", start_url=pages.url)


def test_every_html_page_yields_one_item(traps: tuple[Pages, Crawl]) -> None:
    _, ended = traps
    wanted = ["/", "/a", "/a2", "/b", "/target", "/quiet", "/based/page", "/elsewhere/inner"]
    assert sorted(ended.paths) == sorted(wanted)
    assert ended.stat("site/pages") == len(wanted)
    assert all(datetime.fromisoformat(item["fetched_at"]).utcoffset() is not None for item in ended.items)


def test_no_page_is_asked_for_twice(traps: tuple[Pages, Crawl]) -> None:
    assert repeated(traps[0].asked) == []


def test_files_foreign_hosts_and_nofollow_links_are_left(traps: tuple[Pages, Crawl]) -> None:
    pages, ended = traps
    assert not {"/nofollow", "/paper.pdf", "/behind-quiet", "/shut"} & set(pages.asked)
    assert "other.test" not in str(ended.items)


def test_failures_are_counted_and_never_fatal(traps: tuple[Pages, Crawl]) -> None:
    _, ended = traps
    assert ended.stat("site/failed/http_410") == 1
    assert ended.stat("site/failed/http_403") == 1
    assert ended.stat("site/failed") == 2
    assert ended.stat("site/robots_forbidden") == 1
    assert ended.stat("site/not_html") == 1
    assert ended.errors == []
    assert "'finish_reason': 'finished'" in ended.log


def test_two_redirects_to_one_page_yield_one_item(traps: tuple[Pages, Crawl]) -> None:
    pages, ended = traps
    assert ended.paths.count("/target") == pages.times("/target") == 1


def wide_site(width: int = 30) -> Pages:
    pages = Pages()
    pages.html("/", *[f"/p{number}" for number in range(width)])
    for number in range(width):
        if number % 5 == 0:
            pages.status(f"/p{number}", 404)
        elif number % 5 == 1:
            pages.status(f"/p{number}", 302, Location="/p2")
        else:
            pages.html(f"/p{number}", "/", f"/p{number}/more?utm_source=x", f"/p{number}/more")
            pages.html(f"/p{number}/more")
    return pages


@pytest.mark.parametrize("wanted", [1, 9])
def test_max_pages_is_exact_with_many_requests_at_once(wanted: int, tmp_path: Path) -> None:
    with serving(wide_site()) as pages:
        ended = crawl(tmp_path, "site", *FAST, start_url=pages.url, max_pages=wanted)
        fetched = [path for path in set(pages.asked) if pages.answers.get(path, (404,))[0] == 200]
    assert len(ended.items) == wanted
    assert sorted(ended.paths) == sorted(fetched)
    assert repeated(ended.paths) == []


def test_allow_and_deny_choose_the_pages_but_not_the_start(tmp_path: Path) -> None:
    pages = Pages()
    pages.html("/", "/news/1", "/news/2/print", "/sport/1", "/news/3")
    for path in ("/news/1", "/news/2/print", "/sport/1", "/news/3"):
        pages.html(path)
    with serving(pages):
        ended = crawl(tmp_path, "site", start_url=pages.url + "/", allow="/news/ /none/", deny="print$ /3")
    assert sorted(ended.paths) == ["/", "/news/1"]


def test_a_resumed_job_fetches_and_yields_no_page_twice(tmp_path: Path) -> None:
    job = f"JOBDIR={tmp_path / 'job'}"
    with serving(wide_site(12)) as pages:
        first = crawl(tmp_path, "site", job, "CLOSESPIDER_ITEMCOUNT=3", start_url=pages.url)
        second = crawl(tmp_path, "site", job, start_url=pages.url)
    assert 3 <= len(first.items) < 13
    assert len(second.items) > 0
    assert repeated(pages.asked) == []
    assert repeated(first.paths + second.paths) == []
    assert len(first.items + second.items) == 1 + 6 + 6
    assert second.errors == []


def test_max_pages_holds_for_the_whole_job(tmp_path: Path) -> None:
    job = f"JOBDIR={tmp_path / 'job'}"
    with serving(wide_site()) as pages:
        first = crawl(tmp_path, "site", job, "CLOSESPIDER_ITEMCOUNT=2", *FAST, start_url=pages.url, max_pages=7)
        second = crawl(tmp_path, "site", job, *FAST, start_url=pages.url, max_pages=7)
        third = crawl(tmp_path, "site", job, *FAST, start_url=pages.url, max_pages=7)
    assert 2 <= len(first.items) < 7
    assert len(first.items) + len(second.items) == 7
    assert third.items == []
    assert third.errors == []
    assert "max_pages=7 was reached in an earlier run" in third.log
    assert repeated(pages.asked) == []


def test_a_start_page_may_redirect_to_another_host_which_is_then_crawled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Pages()) as web:
        monkeypatch.setenv("http_proxy", web.url)  # it answers for all hosts there are
        web.status("http:/old.test/", 301, Location="http://new.test/home")
        web.html("http:/new.test/home", "/a", "http://old.test/b", "http://other.test/", "/away", "/shut")
        web.answers["http:/new.test/robots.txt"] = (200, {}, b"User-agent: *\nDisallow: /shut")
        web.html("http:/new.test/a")
        web.html("http:/old.test/b")
        web.status("http:/new.test/away", 302, Location="http://other.test/")
        ended = crawl(tmp_path, "site", start_url="http://old.test/")
    assert sorted(ended.paths) == ["/a", "/b", "/home"]
    assert not [path for path in web.asked if "other.test" in path]
    assert "'offsite/filtered': 1" in ended.log


def test_private_addresses_are_refused_unless_a_start_page_is_there(tmp_path: Path) -> None:
    with serving(Pages()) as start, serving(Pages()) as secret:
        port = secret.url.rpartition(":")[2]
        own = start.url.rpartition(":")[2]
        start.html("/", "/moved", "/renamed", "/file", f"http://localhost:{own}/c", "http://[::1]:1/", "/a")
        start.status("/moved", 302, Location=f"{secret.url}/moved")
        start.status("/renamed", 302, Location=f"http://127.0.0.1:{port}/renamed")
        start.status("/file", 302, Location="file:///etc/passwd")
        start.status("/leads", 302, Location=f"http://localhost:{port}/led")
        start.html("/refresh", head=f'<meta http-equiv="refresh" content="0;url={secret.url}/refreshed">')
        start.html("/a")
        for path in ("/moved", "/renamed", "/led", "/refreshed", "/robots.txt"):
            secret.html(path)
        ended = crawl(tmp_path, "site", start_url=f"{start.url}/ {start.url}/leads {start.url}/refresh")
    assert secret.asked == []
    assert sorted(ended.paths) == ["/", "/a"]
    assert ended.stat("site/failed/private") == 4
    assert len(ended.errors) == 2
    assert (
        f"the start page {start.url}/leads could not be read (private): it led to this machine or a private "
        "network: name that address as start_url if you mean it"
    ) in ended.errors
    assert "passwd" not in str(ended.items)


def test_a_start_page_that_fails_or_has_no_links_is_told_in_one_error(tmp_path: Path) -> None:
    pages = Pages()
    pages.html("/lonely", body="a page with text")
    pages.answers["/file"] = (200, {"Content-Type": "text/plain"}, b"text")
    nowhere = "http://127.0.0.1:1/"
    with serving(pages):
        starts = f"{pages.url}/missing, {pages.url}/lonely {pages.url}/file,{nowhere}"
        ended = crawl(tmp_path, "site", start_url=starts)
    assert ended.paths == ["/lonely"]
    assert len(ended.errors) == 4
    assert f"the start page {pages.url}/missing could not be read (http_404)" in ended.log
    assert f"the start page {pages.url}/lonely has no link to follow (0 links in all)" in ended.log
    assert f"the start page {pages.url}/file is no HTML page but 'text/plain'" in ended.log
    assert f"the start page {nowhere} could not be read (robots_unreachable)" in ended.log
    assert ended.stat("site/failed/robots_unreachable") == 1


def test_a_start_page_whose_host_wants_to_be_asked_once_in_a_lifetime_is_told_in_one_error(tmp_path: Path) -> None:
    pages = Pages()
    pages.answers["/robots.txt"] = (200, {"Content-Type": "text/plain"}, b"User-agent: *\nCrawl-delay: 1000000000")
    with serving(pages):
        ended = crawl(tmp_path, "site", start_url=pages.url)
    assert pages.asked == []  # but its robots.txt
    assert len(ended.errors) == 1
    assert f"the start page {pages.url}/ could not be read (crawl_delay)" in ended.log
    assert ended.stat("site/failed/crawl_delay") == 1


@pytest.mark.parametrize("host", ["127.1", "0x7f000001"])
def test_a_site_is_one_however_its_links_spell_the_host(tmp_path: Path, host: str) -> None:
    pages = Pages()
    with serving(pages):
        port = pages.url.rpartition(":")[2]
        pages.html("/", f"http://{host}:{port}/a", f"http://2130706433:{port}/a", f"http://127.1:{port}/b")
        pages.html("/a")
        pages.html("/b")
        ended = crawl(tmp_path, "site", start_url=f"http://{host}:{port}/")
    assert sorted(ended.paths) == ["/", "/a", "/b"]


def test_a_host_that_answers_429_is_left_alone(tmp_path: Path) -> None:
    pages = wide_site()
    for number in range(30):
        pages.status(f"/p{number}", 429)
    with serving(pages):
        ended = crawl(tmp_path, "site", start_url=pages.url)
    assert len(pages.asked) == 4
    assert ended.paths == ["/"]
    assert "'finish_reason': 'refused'" in ended.log
    assert ended.stat("site/hosts_given_up") == 1
    assert ended.log.count("refuses to serve us") == 1


def test_a_typing_error_in_an_argument_does_not_start_an_unlimited_crawl() -> None:
    with pytest.raises(
        BadArgumentError, match="unknown argument 'max_page'; this spider knows start_url, max_pages"
    ):
        SiteSpider(start_url="http://a.test/", max_page="5")
    assert SiteSpider(start_url="http://a.test/", _job="26").start_urls == ["http://a.test/"]
