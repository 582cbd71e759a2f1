"""Recognizes IP addresses of this machine and of private networks."""

from __future__ import annotations

import ipaddress

from denoise_crawler.page.site import parse_ip

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
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        if any(found in network for network in _LOCAL_NETWORKS):
            return True
        inner = found.ipv4_mapped or found.sixtofour
        if found in _NAT64:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFF_FFFF)
        found = inner or found
    return not (found.is_global or found in _PROXY_NETWORK) or found.is_multicast


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
