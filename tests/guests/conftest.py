"""Hosts that the crawls of these tests share, each a site of its own; and one that answers as a test file says."""

from collections.abc import Iterator

import pytest

from tests.guests.site import hosts
from tests.loopback import Served, serving


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


@pytest.fixture(scope="module")
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    """A host that answers as the function ``answer`` of the tests says."""
    with serving(request.module.answer) as running:
        yield running
