"""The interface of all methods, and of what is known of sites."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from denoise_crawler.methods.bottom_k_sample import BottomKSample
from denoise_crawler.page import Nodes, Page

if TYPE_CHECKING:
    from typing_extensions import Self


def _no_reason(_: int) -> str:
    return ""


@dataclass(slots=True)
class Judgement:
    """A method's judgement of each node of one page, in document order.

    ``noise[i]`` says whether node i goes; a node below noise is noise too. ``scores[i]`` is what the method
    decided by (its own scale), ``reason(i)`` says why in words, made only when asked for. ``guarded`` is
    set when the verdict would have left next to nothing and a safer one replaces it. ``confidence`` is the
    F1 that the text can be expected to have, ``page_type`` says what the page is (article, forum, product,
    listing, collection, documentation or service); both are None from a method that has none. ``rules_applied`` is
    the file of site rules that decided about some nodes, ``passed_over`` one that would have left next to nothing.
    """

    noise: list[bool]
    scores: list[float]
    reason: Callable[[int], str] = field(default=_no_reason)
    guarded: bool = False
    confidence: float | None = None
    page_type: str | None = None
    rules_applied: str = ""
    passed_over: str = ""

    @classmethod
    def all_kept(cls, nodes: Nodes, why: str = "") -> Self:
        """Return the judgement that keeps all ``nodes``, for the reason ``why``."""
        return cls([False] * len(nodes), [0.0] * len(nodes), lambda _: why)

    def because(self, why: str, **changes: Any) -> Self:
        """Return this judgement with ``changes`` of its fields, and with ``why`` behind each of its reasons."""
        own = self.reason
        return replace(self, reason=lambda index: f"{each} ({why})" if (each := own(index)) else why, **changes)


class Method(ABC):
    """A method to find the noise of a page, with what it knows of the page's site.

    A method that ``learns`` has one instance per site: :meth:`observe` learns a page, :meth:`merge` what another
    instance learned, :meth:`to_bytes` stores it. A page-only method implements :meth:`judge` alone.
    ``warmup_pages`` is the default number of pages of a site to learn before judging. A method that ``is_sure``
    gives the confidence of its judgements. A method that ``needs_others`` judges a page by the other pages of its
    site alone, so that a site of one page need not be learned. A method that keeps a ``sample`` of its pages
    knows, wants and counts the pages of that sample.
    """

    name: ClassVar[str]
    learns: ClassVar[bool] = False
    needs_others: ClassVar[bool] = False
    is_sure: ClassVar[bool] = False
    warmup_pages: ClassVar[int] = 20
    sample: BottomKSample[Any] | None = None

    @classmethod  # noqa: B027 - most load nothing
    def prepare(cls) -> None:
        """Load what is loaded once in a process, where it must not wait for it later."""

    @abstractmethod
    def judge(self, page: Page) -> Judgement:
        """Decide for each node of ``page`` whether it is noise."""

    @property
    def pages_known(self) -> int:
        """The number of pages of the site that judgements rest on."""
        return 0 if self.sample is None else len(self.sample)

    @property
    def store_key(self) -> str:
        """The name under which knowledge is stored: equal for instances that can be merged."""
        return self.name

    def knows(self, page: Page) -> bool:
        """Return True if ``page`` was learned."""
        return self.sample is not None and page.key in self.sample

    def wants(self, page: Page) -> bool:
        """Return True if learning ``page``, which need not be parsed, can change anything."""
        return self.sample is None or self.sample.wants(page.key)

    def novelty(self, page: Page) -> float:  # noqa: ARG002
        """Return the share of the text of ``page`` (0 to 1) that is where no learned page has text."""
        return 0.0

    def observe(self, page: Page) -> None:  # noqa: B027 - a page-only method has nothing to learn
        """Learn ``page``; learning it again changes nothing."""

    def merge(self, other: Self) -> None:  # noqa: B027
        """Add what ``other`` knows."""

    def to_bytes(self) -> bytes:
        """Return what is known of the site, as bytes to store."""
        return b""

    def merge_bytes(self, data: bytes) -> None:  # noqa: B027
        """Add what :meth:`to_bytes` of another instance returned."""


def inherit(noise: Sequence[bool] | NDArray[np.bool_], ends: Sequence[int] | NDArray[np.int32]) -> list[bool]:
    """Return ``noise`` with everything below a noise node marked too.

    Example:
        >>> inherit([False, True, False, False], ends=[4, 3, 3, 4])
        [False, True, True, False]
    """
    marked, size = np.flatnonzero(noise), len(ends)
    begun = np.bincount(marked, minlength=size)
    ended = np.bincount(np.asarray(ends)[marked], minlength=size)[:size]
    noisy: list[bool] = (np.cumsum(begun - ended) > 0).tolist()
    return noisy


def spare_holders(noise: list[bool], parents: Sequence[int]) -> list[bool]:
    """Return ``noise`` after the nodes that hold a node that is none are none either.

    Example:
        >>> spare_holders([True, True, False, True], parents=[-1, 0, 1, 0])
        [False, False, False, True]
    """
    for index in range(len(noise) - 1, 0, -1):
        if not noise[index]:
            noise[parents[index]] = False
    return noise


def subtree_sums(column: NDArray[np.int64], ends: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum of a column over the subtree of each node.

    Example:
        >>> subtree_sums(np.array([1, 2, 4, 8]), ends=[4, 3, 3, 4]).tolist()
        [15, 6, 4, 8]
    """
    sums = np.concatenate(([0], np.cumsum(column)))
    below: NDArray[np.int64] = sums[np.asarray(ends, np.int64)] - sums[:-1]
    return below


class Knowledge(Protocol):
    """What one method knows of sites, as bytes by site."""

    def get(self, site: str) -> bytes | None:
        """Return what is known of ``site``, or None."""

    def put(self, site: str, known: bytes) -> bool:
        """Store what is ``known`` of ``site``; return whether it is stored, else it is handed over again."""


class InMemoryKnowledge(dict[str, bytes]):
    """Knowledge in memory.

    Args:
        known: What is known at first, by site.
        below: Read, but never written, for sites without knowledge of their own.

    Example:
        >>> knowledge = InMemoryKnowledge(below=InMemoryKnowledge({"a.example": b"old", "b.example": b"old"}))
        >>> knowledge.put("a.example", b"new")
        True
        >>> knowledge.get("a.example"), knowledge.get("b.example")
        (b'new', b'old')
    """

    def __init__(self, known: Mapping[str, bytes] | None = None, *, below: Knowledge | None = None) -> None:
        super().__init__(known or {})
        self._below = below

    def get(self, site: str) -> bytes | None:  # type: ignore[override]
        """Return what is known of ``site``, or None."""
        if site in self or self._below is None:
            return super().get(site)
        return self._below.get(site)

    def put(self, site: str, known: bytes) -> bool:
        """Store what is ``known`` of ``site``."""
        self[site] = known
        return True
