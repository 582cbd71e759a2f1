"""The one spelling of a host: a host that is written in several ways is still one host."""

from __future__ import annotations

import ipaddress
import socket
from contextlib import suppress
from functools import lru_cache

from denoise_crawler.page.text import without_lone_surrogates

LONGEST_HOST = 253  # that a name server knows


@lru_cache(maxsize=65_536)
def canonical_host(host: str) -> str:
    """Return the one spelling of a host, as far as the name alone can tell.

    Lower case, without the dot at the end; IP addresses as ``127.0.0.1`` and ``::1``, also if they are written
    as ``127.1``, ``0x7f000001`` or ``::ffff:127.0.0.1``; international names in ASCII (``xn--…``), as Scrapy asks
    for them. A name that cannot be written in ASCII stays as it is. Never raises.

    Example:
        >>> canonical_host("Example.COM."), canonical_host("2130706433"), canonical_host("例子.中国")
        ('example.com', '127.0.0.1', 'xn--fsqu00a.xn--fiqs8s')

    """
    host = without_lone_surrogates(host)
    if not host.isascii() and len(host) <= LONGEST_HOST:
        with suppress(UnicodeError):
            host = host.encode("idna").decode("ascii")
    host = host.lower().rstrip(".")
    return written_ip(host) or host


def written_ip(host: str) -> str:
    """Return the IP address that ``host`` spells, in its common spelling; an empty string for a name."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        try:
            return socket.inet_ntoa(socket.inet_aton(host)) if host[:1].isdigit() else ""
        except (OSError, UnicodeError, ValueError):
            return ""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


def without_port(host: str) -> str:
    """Return ``host`` without the port behind it: ``a.test`` of ``a.test:81``, ``::1`` of ``[::1]:81``."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0] if host.count(":") == 1 else host
