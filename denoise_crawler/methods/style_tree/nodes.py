"""Element nodes and style nodes: the pages of a site, laid over one another."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from denoise_crawler.methods.style_tree.features import FeatureCounts

Labels: TypeAlias = "tuple[str, ...]"


class ElementNode:
    """(TAG, Attr, Ss): a label, the style nodes below it, and the number of pages that have it.

    ``features`` count its own words and URLs; None without any. ``importance`` is its CompImp, None until
    computed, and ``peak`` the highest CompImp in its subtree.
    """

    __slots__ = ("_styles", "features", "importance", "label", "pages", "peak")

    def __init__(self, label: str) -> None:
        self.label = label
        self.pages = 0
        self.features: FeatureCounts | None = None
        self.importance: float | None = None
        self.peak = 0.0
        # None if no page has anything below, which is true of half of all nodes: then the only style node is that
        # of the empty sequence
        self._styles: dict[Labels, StyleNode] | None = None

    @property
    def is_leaf(self) -> bool:
        """Tell whether no page has anything below this element."""
        return self._styles is None or (len(self._styles) == 1 and () in self._styles)

    @property
    def styles(self) -> Mapping[Labels, StyleNode]:
        """The style nodes by their sequence of children's labels."""
        if self._styles is not None:
            return MappingProxyType(self._styles)
        return {(): StyleNode(self.pages)} if self.pages else {}

    def count_page(self, sequences: Mapping[Labels, object]) -> Iterator[tuple[Labels, StyleNode]]:
        """Count one more page that has ``sequences`` here; yield the style nodes with children."""
        self.pages += 1
        self.importance = None
        if self._styles is None:
            if len(sequences) == 1 and () in sequences:
                return
            self._styles = {(): StyleNode(self.pages - 1)} if self.pages > 1 else {}
        for sequence in sequences:
            if (style := self._styles.get(sequence)) is None:
                style = self._styles[sequence] = StyleNode()
            style.pages += 1
            style.importance = None
            if sequence:
                yield sequence, style

    def uncount_page(self, sequences: Mapping[Labels, object]) -> Iterator[tuple[Labels, StyleNode]]:
        """Undo :meth:`count_page`; yield the style nodes with children that other pages still have."""
        self.pages -= 1
        self.importance = None
        if self._styles is None:
            return
        for sequence in sequences:
            style = self._styles[sequence]
            style.pages -= 1
            style.importance = None
            if not style.pages:
                del self._styles[sequence]
            elif sequence:
                yield sequence, style


class StyleNode:
    """(Es, n): one sequence of children, and the number of pages that have it here.

    While only one page has it, it has no element nodes below: we read them from the page's digest, since most such
    sequences never occur again. ``folded`` is then the page's key and its nodes with this sequence.
    """

    __slots__ = ("children", "folded", "importance", "pages", "peak")

    def __init__(self, pages: int = 0) -> None:
        self.pages = pages
        self.children: Sequence[ElementNode] = ()
        self.folded: tuple[int, tuple[int, ...]] | None = None
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
