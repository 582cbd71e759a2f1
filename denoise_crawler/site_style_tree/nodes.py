"""Element nodes and style nodes: what a site's pages share, laid over one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from denoise_crawler.site_style_tree.features import FeatureCounts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from denoise_crawler.site_style_tree.digest import PageDigest


class ElementNode:
    """(TAG, Attr, Ss): a label, the style nodes seen below it, and on how many pages it stands.

    ``importance`` is its CompImp and ``peak`` the highest CompImp in its subtree; None until computed.
    """

    __slots__ = ("features", "importance", "label", "pages", "peak", "styles")

    def __init__(self, label: str) -> None:
        self.label = label
        self.pages = 0
        self.styles: dict[tuple[str, ...], StyleNode] = {}
        self.features = FeatureCounts()
        self.importance: float | None = None
        self.peak = 0.0

    @property
    def is_leaf(self) -> bool:
        """Tell whether no page has anything below this element."""
        return len(self.styles) == 1 and () in self.styles


class StyleNode:
    """(Es, n): one sequence of children, and the number of pages that have it here.

    While a single page has it, no element nodes stand below: they are read from that page's digest
    (``folded``), since most of what only one page has never comes again.
    """

    __slots__ = ("children", "folded", "importance", "pages", "peak")

    def __init__(self) -> None:
        self.pages = 0
        self.children: list[ElementNode] = []
        self.folded: tuple[PageDigest, list[int]] | None = None
        self.importance: float | None = None
        self.peak = 0.0


def walk(root: ElementNode) -> Iterator[tuple[int, ElementNode]]:
    """Yield (depth, element node) for ``root`` and the unfolded nodes below it, parents first."""
    waiting = [(0, root)]
    while waiting:
        depth, element = waiting.pop()
        yield depth, element
        below = [child for style in element.styles.values() for child in style.children]
        waiting.extend((depth + 1, child) for child in reversed(below))
