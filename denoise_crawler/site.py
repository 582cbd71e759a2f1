"""Which site a page belongs to."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlsplit

import tldextract

# The list inside the package: no download, the same answer offline. Private suffixes count, since
# a.blogspot.com and b.blogspot.com share a host but not a template.
_extract = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)
DEFAULT_PORTS = {"http": 80, "https": 443}
_LONGEST_HOST = 253  # that a name server knows


@lru_cache(maxsize=65_536)
def _registrable(host: str) -> str:
    return _extract(host).top_domain_under_public_suffix or host


def host_of(url: str) -> str:
    """Return the host of ``url`` in lower case, with its port unless that is the scheme's own; "" without one."""
    try:
        parts = urlsplit(url.encode("utf-8", "replace").decode())  # no store takes a lone surrogate
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return ""
    if not host or port is None or port == DEFAULT_PORTS.get(parts.scheme):
        return host
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def site_of(url: str) -> str:
    """Return the site of ``url``: its registrable domain by the public-suffix list.

    A host with a port of its own, an IP address and a host that is itself a public suffix are each their
    own site; a ``url`` without a host belongs to the site ``""``.
    """
    host = host_of(url)
    return _registrable(host) if host and ":" not in host and len(host) <= _LONGEST_HOST else host
