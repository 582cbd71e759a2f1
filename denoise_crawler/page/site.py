"""Which site a page belongs to: canonical hosts, the public-suffix list, hosts that give each user a subdomain."""

from __future__ import annotations

import ipaddress
import re
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from denoise_crawler.page.text import without_lone_surrogates

MAX_HOST_CHARACTERS = 253  # the limit of DNS
DEFAULT_PORTS = {"http": 80, "https": 443}
_DOTS = ".\u3002\uff0e\uff61"  # all that stand between labels: a name without an ASCII form keeps its own
_DOT = re.compile(f"[{_DOTS}]")
# A host that urlsplit() would return as it stands, as most are: this is faster.
_PLAIN_HOST = re.compile(r"https?://([a-z0-9-]+(?:\.[a-z0-9-]+)*)(?![^/?#])")
# Subdomains there are sites of their own, since each owner chooses the template. The list lacks these hosts.
# Services whose users share one template (forums, wikis, shops of one platform) are one site, and not in the list.
HOSTS_OF_MANY_OWNERS = tuple(Path(__file__).with_name("shared_hosts.txt").read_text("utf-8").split())
# Owners there have a subdomain each, by the list, but one template.
HOSTS_OF_ONE_TEMPLATE = frozenset({"gitbook.io"})


def private_part(labels: list[str]) -> str:
    """Return the name that somebody has registered: one label below the longest public suffix.

    Return "" for a public suffix, and where the list lacks the top-level domain.

    Private suffixes of the list count, such as ``github.io``.

    Example:
        >>> private_part(["www", "bbc", "co", "uk"]), private_part(["co", "uk"])
        ('bbc.co.uk', '')
    """
    rules = _rules()
    for start in range(len(labels)):
        name, above = ".".join(labels[start:]), ".".join(labels[start + 1 :])
        if f"!{name}" in rules:
            return name
        if name in rules or f"*.{above}" in rules:
            return ".".join(labels[start - 1 :]) if start and labels[start - 1] else ""
    return ""


@cache
def _rules() -> frozenset[str]:
    """Return the rules as the list writes them; those beyond ASCII in ASCII as well."""
    from publicsuffixlist import PSLFILE

    lines = map(str.strip, Path(PSLFILE).read_text("utf-8").splitlines())
    rules = {line for line in lines if line and not line.startswith("//")}
    return frozenset(rules | {_in_ascii(rule) for rule in rules if not rule.isascii()})


def _in_ascii(rule: str) -> str:
    return ".".join(label.encode("idna").decode("ascii") for label in rule.split("."))


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
    host = without_lone_surrogates(host).rstrip(".")
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
    import socket  # late: most hosts are names

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
    if plain := _PLAIN_HOST.match(url):
        return canonical_host(plain[1])
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
    return _registrable(host) if host and ":" not in host and len(host) <= MAX_HOST_CHARACTERS else host


# --- recognizes IP addresses of this machine and of private networks

# The last 32 bits of these are an IPv4 address, to which a gateway forwards.
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# Gateways of a local network, old ways to write IPv4, and what sites had for themselves before fc00::/7. No public
# page is served from these; what Python says of them depends on its version.
_LOCAL_NETWORKS = tuple(map(ipaddress.ip_network, ("64:ff9b:1::/48", "::/96", "::ffff:0:0:0/96", "fec0::/10")))
# Reserved for tests. Some proxies give each name an address of it and connect to the real one themselves.
_PROXY_NETWORK = ipaddress.ip_network("198.18.0.0/15")


def is_private(address: str) -> bool:
    """Return True if an IP address belongs to this machine or to a private network.

    Example:
        >>> is_private("192.168.0.1"), is_private("::1"), is_private("93.184.215.14")
        (True, True, False)
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        if any(ip in network for network in _LOCAL_NETWORKS):
            return True
        inner = ip.ipv4_mapped or ip.sixtofour
        if ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFF_FFFF)
        ip = inner or ip
    return not (ip.is_global or ip in _PROXY_NETWORK) or ip.is_multicast


def literal_address(host: str) -> str:
    """Return the IP address that a host spells, an empty string for a name.

    Example:
        >>> literal_address("127.1"), literal_address("localhost"), literal_address("example.com")
        ('127.0.0.1', '127.0.0.1', '')
    """
    host = host.rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return "127.0.0.1"
    return parse_ip(host)
