"""``style_tree``: what the site style tree (SST) of a sample of a site's pages finds unimportant is noise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from operator import not_
from typing import TYPE_CHECKING, Any, ClassVar

from denoise_crawler.methods.base import Judgement, Method, inherit
from denoise_crawler.methods.bottom_k_sample import BottomKSample
from denoise_crawler.methods.style_tree.page_nodes import (
    MAX_TREE_PAGES,
    PageNodes,
    decode,
    encode,
    read_page,
    shape_of,
)
from denoise_crawler.methods.style_tree.tree import (
    ElementNode,
    StyleNode,
    TreeOptions,
    children_with_importance,
    match,
    set_importance,
    update_tree,
)
from denoise_crawler.page import Page
from denoise_crawler.page.text import load_dictionary

if TYPE_CHECKING:
    from typing_extensions import Self


MAX_PAGES = 128
THRESHOLD = 0.8
_UNKNOWN = ElementNode("")  # unseen is not noise
_UNKNOWN.importance = _UNKNOWN.peak = 1.0


class SiteStyleTree(Method):
    """A node is noise if its CompImp and that of all its descendants are below ``threshold``.

    Nodes that the tree does not know are kept.

    What it keeps is the set of the learned pages; element and style nodes hold integer counts over them. So
    ``merge`` is an exact union: associative, commutative and idempotent. The pages that stay are a uniform random
    sample that does not depend on their order, so a proportion p of pages is known with a standard error of
    √(p(1−p)/max_pages).

    Args:
        threshold: The least importance (t, 0 to 1) of content.
        max_pages: The most pages to keep: those with the lowest keys.
        options: The choices that the sources leave open: ``collapse`` (a run of equal siblings counts as one),
            ``gamma``, ``single_page``, ``presence``, ``data_node``, ``features_per_leaf``.

    Raises:
        ValueError: An option is out of range.

    Example:
        >>> from denoise_crawler import Page
        >>> tree = SiteStyleTree()
        >>> pages = [Page.parse(f"https://a.test/{n}", f"<h1>News</h1><p>{n}</p>") for n in ("one", "two")]
        >>> for page in [*pages, pages[0]]:
        ...     tree.observe(page)
        >>> [(node.pages, node.importance) for node in tree.elements_of(pages[0])]
        [(2, 0.405), (2, 0.0), (2, 0.0), (2, 0.9), (2, 1.0)]
    """

    name: ClassVar[str] = "style_tree"
    learns: ClassVar[bool] = True
    sample: BottomKSample[PageNodes]

    def __init__(self, threshold: float = THRESHOLD, *, max_pages: int = MAX_PAGES, **options: Any) -> None:
        if not 0.0 <= threshold <= 1.0:
            raise ValueError(f"threshold must lie between 0 and 1, not {threshold}")
        if not 1 <= max_pages <= MAX_TREE_PAGES:
            raise ValueError(f"max_pages must be from 1 to {MAX_TREE_PAGES:,}, not {max_pages}")
        self.threshold, self.options = threshold, TreeOptions(**options)
        self.sample = BottomKSample(max_pages)
        self.root = ElementNode("body")  # its importance is that of the last refresh
        self._taken_out = 0  # pages since the tree was made

    @classmethod
    def prepare(cls) -> None:
        """Load the dictionary of Chinese words."""
        load_dictionary()

    @property
    def store_key(self) -> str:
        """The name of the tree with the option that mergeable trees must share."""
        return f"{self.name}:{self.options.features_per_leaf}"

    def observe(self, page: Page) -> None:
        """Add ``page`` to the tree."""
        if self.wants(page):
            self._add([read_page(page, self.options.features_per_leaf)])

    def merge(self, other: Self) -> None:
        """Add the pages of ``other``; the result equals learning the pages of both, in any order."""
        if other.store_key != self.store_key:
            raise ValueError("trees with another features_per_leaf cannot be merged")
        self._add(other.sample)

    def to_bytes(self) -> bytes:
        """Return the pages as bytes; equal trees give equal bytes."""
        return encode(self.options.features_per_leaf, list(self.sample))

    def merge_bytes(self, data: bytes) -> None:
        """Add the pages of a stored tree; raise :class:`KnowledgeFormatError` for other bytes."""
        self._add(decode(data, self.options.features_per_leaf))

    def judge(self, page: Page) -> Judgement:
        """Mark the subtrees without a node of at least the threshold's importance."""
        elements = self.elements_of(page)
        noise = inherit([element.peak < self.threshold for element in elements], page.nodes.ends)
        known = self.pages_known

        def reason(index: int) -> str:
            pages, importance = elements[index].pages, elements[index].importance
            if not pages:
                return "the site's other pages do not have this"
            compared = "below" if importance < self.threshold else "at least"
            return f"importance {importance:.2f}, {compared} {self.threshold:g}; on {pages} of {known} pages"

        return Judgement(noise, [element.importance for element in elements], reason)

    def novelty(self, page: Page) -> float:
        """Return the share of the text of ``page`` in nodes that the tree does not have.

        Everything below a sequence of children that only one page has counts as known.
        """
        inside = ElementNode("")  # of a style node that one page has

        def children_of(style: StyleNode) -> Sequence[ElementNode]:
            return style.children if style.pages > 1 else [inside] * len(style.sequence)

        elements, known = match(self.root, page.once(shape_of), self.options, children_of), list[bool]()
        for element, parent in zip(elements, page.nodes.parents, strict=True):
            above = elements[parent]
            known.append(element is not None or above is inside or (above is None and known[parent]))
        return sum(compress(page.characters, map(not_, known))) / max(sum(page.characters), 1)

    def elements_of(self, page: Page) -> list[ElementNode]:
        """Return by node of ``page`` its element node; one of 0 pages and importance 1 where the tree has none."""
        shape, options = page.once(shape_of), self.options
        if not self.pages_known:
            return [_UNKNOWN] * len(shape)
        self.refresh()
        elements = match(self.root, shape, options, lambda style: children_with_importance(style, options))
        return [element or _UNKNOWN for element in elements]

    def first_nodes(self, page: Page) -> Iterator[tuple[ElementNode, int]]:
        """Yield the element nodes that ``page`` has, each with the first of its nodes; none below folded ones."""
        first: dict[ElementNode, int] = {}
        elements = match(self.root, page.once(shape_of), self.options, lambda style: style.children)
        for node, element in enumerate(elements):
            if element is not None:
                first.setdefault(element, node)
        yield from first.items()

    def children_of(self, style: StyleNode) -> Sequence[ElementNode]:
        """Return the children of a style node, to look at them; a folded one has them from now on."""
        if style.folded is not None:
            update_tree(style.expand(), self.options)
            set_importance(style.children, self.options)
        return style.children

    def refresh(self) -> None:
        """Update the importance of all nodes that changed since the last time."""
        set_importance([self.root], self.options)

    def _add(self, pages: Iterable[PageNodes]) -> None:
        for page in pages:
            if not self.sample.wants(page.key):
                continue
            added = [page]
            for displaced in self.sample.add(page):
                update_tree([(self.root, displaced, (0,))], self.options, step=-1)
                self._taken_out += 1
            if self._taken_out >= self.sample.limit:  # what many pages had, few have now: fold it again
                self.root, self._taken_out, added = ElementNode("body"), 0, list(self.sample)
            update_tree([(self.root, page, (0,)) for page in added], self.options)
