"""``style_tree``: what the site style tree finds unimportant is noise (Yi, Liu & Li, KDD 2003)."""

from __future__ import annotations

from itertools import compress
from operator import not_
from typing import TYPE_CHECKING, ClassVar

from denoise_crawler.methods.base import Judgement, Method, inherit
from denoise_crawler.methods.style_tree import SiteStyleTree
from denoise_crawler.page import Page
from denoise_crawler.page.text import load_dictionary

if TYPE_CHECKING:
    from typing_extensions import Self

THRESHOLD = 0.8


class StyleTree(Method):
    """A node is noise if its CompImp and that of all its descendants are below ``threshold``.

    Nodes that the tree does not know are kept.

    Args:
        threshold: The least importance (t, 0 to 1) of content.
        collapse: Whether a run of equal siblings counts as one. Real pages differ in their numbers of paragraphs
            and teasers; without this, each number is a style of its own (``docs/methods.md`` has the figures).
        options: Further options of :class:`SiteStyleTree`.

    Raises:
        ValueError: An option is out of range.

    """

    name: ClassVar[str] = "style_tree"
    learns: ClassVar[bool] = True

    def __init__(self, threshold: float = THRESHOLD, *, collapse: bool = True, **options: object) -> None:
        if not 0.0 <= threshold <= 1.0:
            raise ValueError(f"threshold must lie between 0 and 1, not {threshold}")
        self.threshold = threshold
        self.tree = SiteStyleTree(collapse=collapse, **options)  # type: ignore[arg-type]

    @classmethod
    def prepare(cls) -> None:
        """Load the dictionary of Chinese words."""
        load_dictionary()

    @property
    def pages_known(self) -> int:
        """The number of pages in the tree."""
        return self.tree.pages

    @property
    def store_key(self) -> str:
        """The name of the tree with the option that mergeable trees must share."""
        return f"{StyleTree.name}:{self.tree.rules.features_per_leaf}"

    @property
    def pages_kept(self) -> int | None:
        """The most pages that are kept, those with the lowest keys."""
        return self.tree.max_pages

    def knows(self, page: Page) -> bool:
        """Return True if ``page`` is in the tree."""
        return page in self.tree

    def wants(self, page: Page) -> bool:
        """Return True if ``page`` would change the tree."""
        return self.tree.wants(page)

    def novelty(self, page: Page) -> float:
        """Return the share of the text of ``page`` in nodes that the tree does not have."""
        new = sum(compress(page.characters, map(not_, self.tree.known_nodes(page))))
        return new / max(sum(page.characters), 1)

    def observe(self, page: Page) -> None:
        """Add ``page`` to the tree."""
        self.tree.add(page)

    def merge(self, other: Self) -> None:
        """Add the pages of ``other``'s tree."""
        self.tree.merge(other.tree)

    def to_bytes(self) -> bytes:
        """Return the tree as bytes."""
        return self.tree.to_bytes()

    def merge_bytes(self, data: bytes) -> None:
        """Add the pages of a stored tree."""
        self.tree.merge_bytes(data)

    def judge(self, page: Page) -> Judgement:
        """Mark the subtrees without a node of at least the threshold's importance."""
        nodes = self.tree.importances(page)
        noise = inherit([node.peak < self.threshold for node in nodes], page.nodes.ends)

        def reason(index: int) -> str:
            pages, importance = nodes[index].pages, nodes[index].importance
            if not pages:
                return "the site's other pages do not have this"
            compared = "below" if importance < self.threshold else "at least"
            on = f"on {pages} of {self.tree.pages} pages"
            return f"importance {importance:.2f}, {compared} {self.threshold:g}; {on}"

        return Judgement(noise, [node.importance for node in nodes], reason)
