import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler.denoiser import denoise_pages
from denoise_crawler.page.site import (
    HOSTS_OF_MANY_OWNERS,
    canonical_host,
    host_of,
    site_of,
    site_of_host,
    without_port,
)
from tests.programs import run_python


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://news.bbc.co.uk/1/hi", "bbc.co.uk"),
        ("http://WWW.Example.COM/a", "example.com"),
        ("http://example.com:80/", "example.com"),
        ("https://example.com:443/", "example.com"),
        ("http://example.com:8080/", "example.com:8080"),
        ("http://127.0.0.1/", "127.0.0.1"),
        ("http://127.0.0.1:8000/", "127.0.0.1:8000"),
        ("http://[::1]:8000/", "[::1]:8000"),
        ("http://localhost/", "localhost"),
        ("https://a.blogspot.com/", "a.blogspot.com"),
        ("https://b.blogspot.com/", "b.blogspot.com"),
        ("https://blogspot.com/x", "blogspot.com"),
        ("https://tv.cctv.com.cn/x", "cctv.com.cn"),
        ("https://例子.中国/x", "xn--fsqu00a.xn--fiqs8s"),
        ("https://www.XN--fsqu00a.xn--fiqs8s./x", "xn--fsqu00a.xn--fiqs8s"),
        ("http://user:password@example.com./", "example.com"),
        ("http://127.1:8000/", "127.0.0.1:8000"),
        ("http://[0:0:0:0:0:0:0:1]/", "::1"),
        ("https://a.wordpress.com/x", "a.wordpress.com"),
        ("https://www.b.substack.com/x", "b.substack.com"),
        ("https://wordpress.com/x", "wordpress.com"),
        ("not a url", ""),
        ("http://[bad", ""),
        ("http://host:99999/", ""),
        ("http://victim.com\ud800.evil.com/", "evil.com"),
        ("http://victim.com (2)/", "victim.com (2)"),
        ("", ""),
    ],
)
def test_a_url_belongs_to_its_registrable_domain(url: str, site: str) -> None:
    assert site_of(url) == site


ODD_HOSTS = {
    # addresses, ports and single labels have no owner but themselves
    "1.2.3.4": "1.2.3.4",
    "1.2.3.4:8080": "1.2.3.4:8080",
    "[2001:db8::1]": "2001:db8::1",
    "intranet": "intranet",
    "com": "com",
    # letters of any size, dots of any kind
    "WWW.Example.CO.UK": "example.co.uk",
    ".example.com": "example.com",
    "a..example.com": "example.com",
    "a..com": "a..com",
    "www.例子。中国": "xn--fsqu00a.xn--fiqs8s",
    f"{'é' * 70}。www.example。com": "example.com",
    # suffixes: of a registry, by a wildcard, excepted from one, of a company, beyond ASCII, unknown
    "co.uk": "co.uk",
    "a.b.c.kobe.jp": "b.c.kobe.jp",
    "c.kobe.jp": "c.kobe.jp",
    "kobe.jp": "kobe.jp",
    "www.city.kobe.jp": "city.kobe.jp",
    "x.compute.amazonaws.com": "x.compute.amazonaws.com",
    "compute.amazonaws.com": "amazonaws.com",
    "docs.alice.github.io": "alice.github.io",
    "github.io": "github.io",
    "shop.alice.myshopify.com": "alice.myshopify.com",
    "www.xn--55qx5d.xn--j6w193g": "www.xn--55qx5d.xn--j6w193g",
    "www.a.公司.香港": "a.xn--55qx5d.xn--j6w193g",
    "a.b.unknown-suffix": "a.b.unknown-suffix",
    "www.xn--zzzzzz.com": "xn--zzzzzz.com",
    # hosts of many owners, which the list lacks, and of one template, which it parts
    "a..wordpress.com": "a..wordpress.com",
    "alice.blogspot.de": "alice.blogspot.de",
    "alice.blogspot.fr": "blogspot.fr",
    "www.alice.gitbook.io": "gitbook.io",
}


@pytest.mark.parametrize(("host", "site"), ODD_HOSTS.items())
def test_an_odd_host_belongs_to_the_site_under_which_stores_know_it(host: str, site: str) -> None:
    assert site_of(f"http://{host}/path") == site


def test_a_host_that_no_list_can_know_is_named_without_one() -> None:
    hosts = ("127.0.0.1", "1.2.3.4:8080", "[::1]", "localhost", "alice.wordpress.com", "www.alice.gitbook.io")
    program = (
        "import sys; sys.modules['publicsuffixlist'] = None\n"
        f"from denoise_crawler.page.site import site_of\nfor host in {hosts!r}: site_of(f'http://{{host}}/')"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_the_name_of_a_site_costs_no_more_than_the_list() -> None:
    program = (
        "import sys; from denoise_crawler.page.site import site_of\n"
        "before = set(sys.modules); site_of('https://www.bbc.co.uk/')\n"
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    done = run_python("-c", program)
    assert "publicsuffixlist" in done.stdout.split()
    assert {"requests", "urllib3", "idna", "filelock", "chardet"}.isdisjoint(done.stdout.split())


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=6).map(".".join))
def test_the_site_of_a_host_is_its_own_site(text: str) -> None:
    site = site_of(f"http://{text}/")
    assert site_of_host(site) == site


@pytest.mark.parametrize(
    ("host", "spellings"),
    [
        ("example.com", ["EXAMPLE.com", "example.com.", "user:password@example.com", "example.com:80"]),
        ("127.0.0.1", ["127.1", "127.0.1", "2130706433", "0x7f000001", "0X7F.1", "017700000001", "127.0.0.1."]),
        ("127.0.0.1", ["１２７.0.0.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"]),
        ("::1", ["[::1]", "[0:0:0:0:0:0:0:1]", "[0000::0001]"]),
        (
            "xn--bcher-kva.example",
            ["bücher.example", "BÜCHER.example", "bu\u0308cher.example", "xn--BCHER-kva.example."],
        ),
    ],
)
def test_a_host_has_one_spelling(host: str, spellings: list[str]) -> None:
    assert {host_of(f"http://{spelling}/") for spelling in spellings} == {host}
    assert {host_of(f"http://{spelling.removesuffix(':80')}:81/") for spelling in spellings} == {
        f"[{host}]:81" if ":" in host else f"{host}:81"
    }


@given(st.text())
def test_any_text_has_one_spelling_as_a_host_that_is_its_own(text: str) -> None:
    once = canonical_host(text)
    assert canonical_host(once) == once
    assert without_port(f"[{once}]:8000" if ":" in once else f"{once}:8000") == once or not {"[", "]"}.isdisjoint(
        once
    )


def test_hosts_of_many_owners_are_kept_apart_by_the_name_below_them_and_not_by_paths() -> None:
    for host in HOSTS_OF_MANY_OWNERS:
        assert site_of(f"https://alice.{host}/") == f"alice.{host}" != site_of(f"https://bob.{host}/")
        assert site_of(f"https://{host}/~alice/") == site_of(f"https://{host}/~bob/") == host
    assert list(HOSTS_OF_MANY_OWNERS) == sorted(set(HOSTS_OF_MANY_OWNERS))


def test_lone_surrogates_never_leave_in_addresses() -> None:
    url = "https://example.com/\ud800?\udfff"
    [clean] = denoise_pages([(url, "<p>Some text that is long enough to be read by a person.</p>")])
    assert (clean.url, clean.site) == ("https://example.com/\ufffd?\ufffd", "example.com")
