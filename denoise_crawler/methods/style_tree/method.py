"""``style_tree``: noise is what the site style tree finds unimportant (Yi, Liu & Li, KDD 2003)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from denoise_crawler.methods.base import Judgement, Method, inherit
from denoise_crawler.methods.style_tree import SiteStyleTree

if TYPE_CHECKING:
    from typing_extensions import Self

    from denoise_crawler.page import Page

THRESHOLD = 0.8


class StyleTree(Method):
    """Noise is a node whose CompImp and that of all its descendants lie below ``threshold`` (t).

    What the tree does not know is kept. ``options`` are those of :class:`SiteStyleTree`; runs of equal siblings
    are collapsed unless told otherwise: real pages differ in the number of their paragraphs and teasers, and
    without it each number is a style of its own (see ``docs/methods.md`` for what that is worth).
    """

    name: ClassVar[str] = "style_tree"
    learns: ClassVar[bool] = True

    def __init__(self, threshold: float = THRESHOLD, *, collapse: bool = True, **options: object) -> None:
        if not 0.0 <= threshold <= 1.0:
            raise ValueError(f"threshold must lie between 0 and 1, not {threshold}")
        self.threshold = threshold
        self.tree = SiteStyleTree(collapse=collapse, **options)  # type: ignore[arg-type]

    @property
    def pages_known(self) -> int:
        """The number of pages in the tree."""
        return self.tree.pages

    @property
    def store_key(self) -> str:
        """Name the tree and what those to be merged must have in common."""
        return f"{StyleTree.name}:{self.tree.rules.features_per_leaf}"

    @property
    def pages_kept(self) -> int | None:
        """How many pages are kept, those with the lowest keys."""
        return self.tree.max_pages

    def knows(self, page: Page) -> bool:
        """Tell whether ``page`` is in the tree."""
        return page in self.tree

    def strangeness(self, page: Page) -> float:
        """Return the share of the text of ``page`` in nodes that the tree does not have."""
        strange = sum(
            characters for characters, seen in zip(page.characters, self.tree.seen(page), strict=True) if not seen
        )
        return strange / max(sum(page.characters), 1)

    def observe(self, page: Page) -> None:
        """Add ``page`` to the tree."""
        self.tree.add(page)

    def merge(self, other: Self) -> None:
        """Add the pages of ``other``'s tree."""
        self.tree.merge(other.tree)

    def to_bytes(self) -> bytes:
        """Write the tree."""
        return self.tree.to_bytes()

    def merge_bytes(self, data: bytes) -> None:
        """Add the pages of a written tree."""
        self.tree.merge_bytes(data)

    def judge(self, page: Page) -> Judgement:
        """Mark the subtrees whose every importance is below the threshold."""
        standings = self.tree.standings(page)
        noise = [standing.peak < self.threshold for standing in standings]

        def reason(index: int) -> str:
            standing = standings[index]
            if not standing.pages:
                return "the site's other pages do not have this"
            compared = "below" if standing.importance < self.threshold else "at least"
            return (
                f"importance {standing.importance:.2f}, {compared} {self.threshold:g}; "
                f"on {standing.pages} of {self.tree.pages} pages"
            )

        scores = [standing.importance for standing in standings]
        return Judgement(inherit(noise, page.nodes.ends), scores, reason)


class StyleTreeData(StyleTree):
    """``style_tree`` with pySST's data nodes: every element also has the importance of its own direct text.

    It learns the same tree, so what one of the two knows the other can use.
    """

    name: ClassVar[str] = "style_tree_data"

    def __init__(self, threshold: float = THRESHOLD, *, collapse: bool = True, **options: object) -> None:
        super().__init__(threshold, collapse=collapse, **{**options, "data_node": True})
