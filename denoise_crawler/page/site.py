"""Which site a page belongs to."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import urlsplit

from denoise_crawler.page.host_names import MAX_HOST_CHARACTERS, canonical_host
from denoise_crawler.page.public_suffixes import private_part
from denoise_crawler.page.shared_hosts import HOSTS_OF_MANY_OWNERS, HOSTS_OF_ONE_TEMPLATE
from denoise_crawler.page.text import without_lone_surrogates

DEFAULT_PORTS = {"http": 80, "https": 443}
_DOTS = ".\u3002\uff0e\uff61"  # all that stand between labels: a name without an ASCII form keeps its own
_DOT = re.compile(f"[{_DOTS}]")
# How the name of a stored layout ends.
_LAYOUT_END = re.compile(r" (?=\(\d+\)\Z)")


@lru_cache(maxsize=65_536)
def _registrable(host: str) -> str:
    labels = _DOT.split(host.strip().rstrip(_DOTS))
    if len(labels) == 1 or labels[-1].isdigit():  # the list has no such name: it need not be loaded
        return host
    for start in range(len(labels) - 1):
        if (shared := ".".join(labels[start:])) in HOSTS_OF_MANY_OWNERS:
            return f"{labels[start - 1]}.{shared}" if start and labels[start - 1] else host
        if shared in HOSTS_OF_ONE_TEMPLATE:
            return shared
    return private_part(labels) or host


def host_of(url: str) -> str:
    """Return the canonical host of ``url``, with its port unless that is the scheme's default.

    Returns:
        The host as :func:`canonical_host` spells it; "" for a URL without a host.

    Example:
        >>> host_of("https://News.Example:443/1"), host_of("http://127.1:8000/")
        ('news.example', '127.0.0.1:8000')

    """
    try:
        parts = urlsplit(without_lone_surrogates(url))
        host, port = canonical_host(parts.hostname or ""), parts.port
    except ValueError:
        return ""
    if not host or port is None or port == DEFAULT_PORTS.get(parts.scheme):
        return host
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def site_of(url: str) -> str:
    """Return the site of ``url``: its registrable domain by the public-suffix list.

    A host with a non-default port, an IP address and a public suffix are each a site of their own. So is each
    subdomain of a host with many owners, such as ``wordpress.com``. The site of a URL without a host is ``""``.

    Example:
        >>> site_of("https://www.bbc.co.uk/news"), site_of("https://anna.wordpress.com/1")
        ('bbc.co.uk', 'anna.wordpress.com')

    """
    return site_of_host(host_of(url))


def site_of_host(host: str) -> str:
    """Return the site of a host as :func:`host_of` returns it."""
    site = _registrable(host) if host and ":" not in host and len(host) <= MAX_HOST_CHARACTERS else host
    return site_name(site)


def site_name(name: str) -> str:
    """Return ``name`` as a valid name of a site, which can not be confused with another site's layout.

    The layouts of ``example.com`` are stored as ``example.com (2)`` and so on, so the space of such an ending
    becomes ``_``. Lone surrogates become U+FFFD.
    """
    return _LAYOUT_END.sub("_", without_lone_surrogates(name))


def layout_name(site: str, number: int) -> str:
    """Return the name under which the second or a later layout of ``site`` is stored.

    :func:`site_name` makes sure that no site has such a name.
    """
    return f"{site} ({number})"
