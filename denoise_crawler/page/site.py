"""Which site a page belongs to."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import urlsplit

import tldextract

from denoise_crawler.page.host_names import LONGEST_HOST, canonical_host
from denoise_crawler.page.shared_hosts import HOSTS_OF_MANY_OWNERS
from denoise_crawler.page.text import without_lone_surrogates

# The list inside the package: no download, the same answer offline. Private suffixes count, since
# a.blogspot.com and b.blogspot.com share a host but not a template.
_extract = tldextract.TLDExtract(
    suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True, extra_suffixes=HOSTS_OF_MANY_OWNERS
)
DEFAULT_PORTS = {"http": 80, "https": 443}
# The end of the name under which a layout of a site is stored.
_LAYOUT_END = re.compile(r" (?=\(\d+\)\Z)")


@lru_cache(maxsize=65_536)
def _registrable(host: str) -> str:
    return _extract(host).top_domain_under_public_suffix or host


def host_of(url: str) -> str:
    """Return the host of ``url`` in its one spelling, with its port unless that is the scheme's own.

    Returns "" for a ``url`` without a host. See :func:`canonical_host`.
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

    A host with a port of its own, an IP address and a host that is itself a public suffix are each their
    own site; a ``url`` without a host belongs to the site ``""``. Where a host has many owners, as
    ``wordpress.com`` has, each name below it is a site.
    """
    host = host_of(url)
    site = _registrable(host) if host and ":" not in host and len(host) <= LONGEST_HOST else host
    return site_name(site)


def site_name(name: str) -> str:
    """Return ``name`` as a site may be called: no name of a site is that of another site's layout.

    The layouts of ``example.com`` are stored as ``example.com (2)`` and so on, so the space before such an end
    becomes ``_``. Lone surrogates become U+FFFD.
    """
    return _LAYOUT_END.sub("_", without_lone_surrogates(name))


def layout_name(site: str, number: int) -> str:
    """Return the name by which a layout of ``site``, the second or a later one, is known as if it were a site.

    No site is called so: :func:`site_name` sees to it.
    """
    return f"{site} ({number})"
