"""The common face of all methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from denoise_crawler.page import Nodes, Page


def _unexplained(_: int) -> str:
    return ""


@dataclass(slots=True)
class Judgement:
    """A method's verdict on each node of one page, in document order.

    ``noise[i]`` says whether node i goes; a node below noise is noise too. ``scores[i]`` is what the method
    decided by (its own scale), ``reason(i)`` says why in words, made only when asked for. ``guarded`` is
    set when the verdict would have left next to nothing and a safer one was taken instead. ``confidence`` is the
    F1 that the text can be expected to have, None from a method that cannot tell.
    """

    noise: list[bool]
    scores: list[float]
    reason: Callable[[int], str] = field(default=_unexplained)
    guarded: bool = False
    confidence: float | None = None

    @classmethod
    def all_kept(cls, nodes: Nodes, why: str = "") -> Self:
        """Return the verdict that keeps every one of ``nodes``; ``why`` is its reason."""
        return cls([False] * len(nodes), [0.0] * len(nodes), lambda _: why)


class Method(ABC):
    """One way to find the noise of a page, with what it knows of the page's site.

    A method that ``learns`` is one instance a site: :meth:`observe` its pages, :meth:`merge` what was
    learned elsewhere, :meth:`to_bytes` what is known. A page-only method needs :meth:`judge` alone.
    ``warmup_pages`` is how many pages of a site it should know before its verdicts go out, if nobody says else.
    """

    name: ClassVar[str]
    learns: ClassVar[bool] = False
    warmup_pages: ClassVar[int] = 20

    @abstractmethod
    def judge(self, page: Page) -> Judgement:
        """Say of each node of ``page`` whether it is noise."""

    @property
    def pages_known(self) -> int:
        """The number of pages of the site that the verdicts rest on."""
        return 0

    @property
    def pages_kept(self) -> int | None:
        """Of how many pages of a site, those with the lowest keys, knowledge is kept; None for all."""
        return None

    @property
    def store_key(self) -> str:
        """The name under which knowledge is stored: alike for instances that can be merged."""
        return self.name

    def knows(self, page: Page) -> bool:  # noqa: ARG002
        """Tell whether ``page`` is learned already."""
        return False

    def wants(self, page: Page) -> bool:  # noqa: ARG002
        """Tell whether learning ``page`` can change anything; asked before the page is parsed."""
        return True

    def strangeness(self, page: Page) -> float:  # noqa: ARG002
        """Return the share of the text of ``page``, 0 to 1, that stands where no learned page has any."""
        return 0.0

    def observe(self, page: Page) -> None:  # noqa: B027 - a page-only method has nothing to learn
        """Learn ``page``; a page learned already changes nothing."""

    def merge(self, other: Self) -> None:  # noqa: B027
        """Learn what ``other`` knows."""

    def to_bytes(self) -> bytes:
        """Write what is known of the site."""
        return b""

    def merge_bytes(self, data: bytes) -> None:  # noqa: B027
        """Learn what :meth:`to_bytes` of another instance wrote."""


def inherit(noise: list[bool], ends: list[int]) -> list[bool]:
    """Return ``noise`` with everything below a noise node marked as well."""
    result, index = list(noise), 0
    while index < len(result):
        if result[index]:
            result[index : ends[index]] = [True] * (ends[index] - index)
            index = ends[index]
        else:
            index += 1
    return result
