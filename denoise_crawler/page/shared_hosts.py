"""Hosts that give each user a subdomain, and that the public-suffix list lacks.

Each subdomain is a site of its own, since its owner chooses the template. The list holds blog and page services
only: services whose users share one template (forums, wikis, shops of one platform) are one site. Users with a
path of their own (``example.com/~name``) are not distinguished.
"""

from __future__ import annotations

from pathlib import Path

# Owners there have a subdomain each, by the list, but one template.
HOSTS_OF_ONE_TEMPLATE = frozenset({"gitbook.io"})
HOSTS_OF_MANY_OWNERS = tuple(Path(__file__).with_name("shared_hosts.txt").read_text("utf-8").split())
