"""Canonical host names: hosts that are spelled differently but are the same get one spelling."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache

from denoise_crawler.page.text import without_lone_surrogates

MAX_HOST_CHARACTERS = 253  # the limit of DNS


@lru_cache(maxsize=65_536)
def canonical_host(host: str) -> str:
    """Return the canonical spelling of a host, without a look-up. Never raises.

    Names are lower-case, without a dot at the end. International names are in ASCII (``xn--…``), as Scrapy
    requests them; a name that has no ASCII form is kept. IP addresses are ``127.0.0.1`` and ``::1``, however they
    are written (``127.1``, ``0x7f000001``, ``::ffff:127.0.0.1``).

    Example:
        >>> canonical_host("Example.COM."), canonical_host("2130706433"), canonical_host("例子.中国")
        ('example.com', '127.0.0.1', 'xn--fsqu00a.xn--fiqs8s')

    """
    host = without_lone_surrogates(host)
    if not host.isascii() and len(host) <= MAX_HOST_CHARACTERS:
        with suppress(UnicodeError):
            host = host.encode("idna").decode("ascii")
    host = host.lower().rstrip(".")
    return parse_ip(host) or host


def parse_ip(host: str) -> str:
    """Return the IP address that ``host`` spells, in its usual form; an empty string for a name."""
    may_be_number = host[:1].isdigit()
    if not may_be_number and ":" not in host:
        return ""
    import ipaddress  # late: most hosts are names
    import socket

    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        try:
            return socket.inet_ntoa(socket.inet_aton(host)) if may_be_number else ""
        except (OSError, UnicodeError, ValueError):
            return ""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


def without_port(host: str) -> str:
    """Return ``host`` without its port: ``a.test`` for ``a.test:81``, ``::1`` for ``[::1]:81``."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0] if host.count(":") == 1 else host
