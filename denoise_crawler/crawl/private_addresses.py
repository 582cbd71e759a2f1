"""IP addresses of this machine and of private networks."""

from __future__ import annotations

import ipaddress

from denoise_crawler.page.host_names import written_ip

# Its addresses hold one of IPv4 at their end: a gateway leads on to that one.
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# No network of anybody's: some proxies give each name an address out of this, and go to the real one themselves.
_MADE_UP = ipaddress.ip_network("198.18.0.0/15")


def is_private(address: str) -> bool:
    """Tell whether an IP address is of this machine, of its network or of any private one."""
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour
        if found in _NAT64:
            inner = ipaddress.IPv4Address(int(found) & 0xFFFF_FFFF)
        found = inner or found
    return not (found.is_global or found in _MADE_UP) or found.is_multicast


def literal_address(host: str) -> str:
    """Return the address that stands in a host, also as 127.1 or 0x7f000001; an empty string for a name."""
    host = host.rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        return "127.0.0.1"
    return written_ip(host)
