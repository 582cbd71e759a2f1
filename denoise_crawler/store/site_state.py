"""What a store holds of a site besides its knowledge."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SiteState:
    """The progress of a site: pages seen so far, and whether its warm-up is over."""

    pages_seen: int = 0
    ready: bool = False


@dataclass(slots=True)
class StoredSite:
    """A site by all methods.

    Attributes:
        states: Its progress, by the store key of the method.
        known_by: The store keys of the methods that know it.
        waiting: How many of its items wait, of all runs.

    """

    states: dict[str, SiteState] = field(default_factory=dict)
    known_by: list[str] = field(default_factory=list)
    waiting: int = 0
