from __future__ import annotations

import pytest

from denoise_crawler.site import site_of


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
        ("https://例子.中国/x", "例子.中国"),
        ("not a url", ""),
        ("http://[bad", ""),
        ("http://host:99999/", ""),
        ("http://a\ud800.com/", "a"),
        ("", ""),
    ],
)
def test_a_url_belongs_to_its_registrable_domain(url: str, site: str) -> None:
    assert site_of(url) == site
