"""Hosts that all crawls of these tests share: each serves the same site, and is a site of its own."""

from collections.abc import Iterator

import pytest

from tests.guests.site import hosts
from tests.loopback import Served


@pytest.fixture(scope="session")
def three_hosts() -> Iterator[list[Served]]:
    with hosts(3) as running:
        yield running


@pytest.fixture(scope="session")
def two_hosts(three_hosts: list[Served]) -> list[Served]:
    return three_hosts[:2]


@pytest.fixture(scope="session")
def one_host(three_hosts: list[Served]) -> list[Served]:
    return three_hosts[:1]
