"""The site style tree (SST): a sample of the pages of one site, laid over one another; a page is mapped to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from denoise_crawler.methods.bottom_k_sample import BottomKSample
from denoise_crawler.methods.style_tree import storage
from denoise_crawler.methods.style_tree.importance import rate, rate_style
from denoise_crawler.methods.style_tree.page_nodes import PageDigest, digest_page, outline_of
from denoise_crawler.methods.style_tree.tree import (
    MAX_TREE_PAGES,
    ElementNode,
    PageNodes,
    Rules,
    Shape,
    StyleNode,
    lay,
    match,
    take_out,
    unfolded,
)
from denoise_crawler.page import Page

MAX_PAGES = 128
_SMALL_TREE = 32  # pages
_MOST_FOLDED = (
    1,
    3,
)  # pages of a folded style node, in a small tree and in others: more save memory but cost time
_MAX_NODES = 1_000_000  # of the pages that are kept in hand while others are added or judged


class NodeImportance(NamedTuple):
    """How many pages have a node and how important it is, with the highest importance in its subtree (``peak``).

    A node that the tree does not know has 0 pages and importance 1, so that it is not noise.
    """

    pages: int
    importance: float
    peak: float


_UNKNOWN = NodeImportance(0, 1.0, 1.0)


class SiteStyleTree:
    """A site style tree (SST) of the pages of one site.

    Its state is the set of the learned pages' digests; element and style nodes hold integer counts over them. So
    ``merge`` is an exact union: associative, commutative and idempotent. A page is learned once, whatever is
    merged. The pages that stay are a uniform random sample that does not depend on their order, so a proportion p
    of pages is known with a standard error of √(p(1−p)/max_pages).

    Args:
        max_pages: The most pages to keep: those with the lowest keys.
        collapse: Whether a run of equal siblings (``li li li``) counts as one.
        gamma: See :class:`Rules`, as for the other arguments.

    Raises:
        ValueError: An argument is out of range.

    Example:
        >>> from denoise_crawler import Page
        >>> tree = SiteStyleTree()
        >>> pages = [Page.parse(f"https://a.test/{n}", f"<h1>News</h1><p>{n}</p>") for n in ("one", "two")]
        >>> [tree.add(page) for page in [*pages, pages[0]]]
        [True, True, False]
        >>> [(node.pages, node.importance) for node in tree.importances(pages[0])]
        [(2, 0.405), (2, 0.0), (2, 0.0), (2, 0.9), (2, 1.0)]

    """

    def __init__(
        self,
        *,
        max_pages: int = MAX_PAGES,
        collapse: bool = False,
        gamma: float = 0.9,
        single_page: float = 0.0,
        presence: bool = False,
        data_node: bool = False,
        features_per_leaf: int = 64,
    ) -> None:
        if not 1 <= max_pages <= MAX_TREE_PAGES or features_per_leaf < 1:
            raise ValueError(f"max_pages must be from 1 to {MAX_TREE_PAGES:,}, features_per_leaf at least 1")
        if not 0.0 < gamma < 1.0:
            raise ValueError(f"gamma must lie between 0 and 1, not {gamma}")
        self.rules = Rules(collapse, gamma, single_page, presence, data_node, features_per_leaf)
        self.root = ElementNode("body")  # its importance is that of the last refresh
        self._sample: BottomKSample[PageDigest] = BottomKSample(max_pages)
        self._taken_out = 0  # pages since the tree was made
        self._in_hand: dict[int, PageNodes] = {}

    @property
    def collapse(self) -> bool:
        """Whether a run of equal siblings counts as one."""
        return self.rules.collapse

    @property
    def max_pages(self) -> int:
        """The most pages that the tree keeps."""
        return self._sample.limit

    @property
    def pages(self) -> int:
        """The number of pages in the tree."""
        return len(self._sample)

    @property
    def _most_folded(self) -> int:
        return _MOST_FOLDED[self.pages > _SMALL_TREE]

    def __contains__(self, page: Page) -> bool:
        return page.key in self._sample

    def wants(self, page: Page) -> bool:
        """Return True if ``page`` would change the tree. It would not if it is known or outside the sample."""
        return self._sample.wants(page.key)

    def add(self, page: Page) -> bool:
        """Learn ``page``; return whether it changed the tree."""
        if not self.wants(page):
            return False
        self._add(digest_page(page, self.rules.features_per_leaf), self._shape_of(page))
        self._in_hand = {page.key: self._nodes_of(page.key)}  # it is judged next
        return True

    def merge(self, other: SiteStyleTree) -> None:
        """Learn all pages of ``other``; the result equals learning both trees' pages, in any order."""
        self._merge(other._header, list(other._sample))

    def merge_bytes(self, data: bytes) -> None:
        """Learn all pages of a tree as bytes; raise :class:`TreeFormatError` for other bytes."""
        self._merge(*storage.decode(data))

    def to_bytes(self) -> bytes:
        """Return the tree as bytes; equal trees give equal bytes."""
        return storage.encode(self._header, self._sample)

    @classmethod
    def from_bytes(cls, data: bytes, **options: object) -> SiteStyleTree:
        """Read a tree that :meth:`to_bytes` returned.

        Args:
            data: The bytes, which also hold ``max_pages`` and ``features_per_leaf``.
            options: The other arguments of the tree.

        Raises:
            TreeFormatError: The bytes are no tree, damaged, or of another version.

        """
        header, digests = storage.decode(data)
        options.update(max_pages=header.max_pages, features_per_leaf=header.features_per_leaf)
        tree = cls(**options)  # type: ignore[arg-type]
        tree._merge(header, digests)
        return tree

    def importances(self, page: Page) -> list[NodeImportance]:
        """Return the importance of each node of ``page``, in document order."""
        elements = match(self.root, self._shape_of(page), self._grow_rated)
        self.refresh()
        importances: dict[ElementNode | None, NodeImportance] = {None: _UNKNOWN}
        for element in elements:
            if element is not None and element not in importances and self.pages:
                importances[element] = NodeImportance(element.pages, element.importance, element.peak)
        return [importances.get(element, _UNKNOWN) for element in elements]

    def known_nodes(self, page: Page) -> list[bool]:
        """Return for each node of ``page`` whether the tree has it.

        Everything below a sequence of children that only one page has counts as known.
        """
        shape, known = self._shape_of(page), list[bool]()
        elements = match(self.root, shape, lambda style: self._grow(style) if style.pages > 1 else ())
        for element, parent in zip(elements, page.nodes.parents, strict=True):
            if element is not None or parent < 0:
                known.append(self.pages > 0)
            elif (above := elements[parent]) is not None:
                known.append(shape.below(parent)[0] in above.style_nodes)
            else:
                known.append(known[parent])
        return known

    def elements_on(self, page: Page) -> Iterator[tuple[ElementNode, int]]:
        """Yield the element nodes that ``page`` has, each with the first of its nodes; none below folded ones."""
        first: dict[ElementNode, int] = {}
        for node, element in enumerate(match(self.root, self._shape_of(page), lambda style: style.children)):
            if element is not None:
                first.setdefault(element, node)
        yield from first.items()

    def unfold(self, style: StyleNode) -> Sequence[ElementNode]:
        """Return the children of a style node, to look at them; a folded one has them from now on."""
        if style.folded:
            style.children, laid = unfolded(style, self._nodes_of)
            style.folded = ()
            lay(laid, self._nodes_of, most_folded=self._most_folded)
            rate(style.children, self.rules, self._grow_rated)
        return style.children

    def refresh(self) -> None:
        """Update the importance of all nodes that changed since the last time."""
        rate([self.root], self.rules, self._grow_rated)
        self._in_hand.clear()

    def _grow(self, style: StyleNode) -> Sequence[ElementNode]:
        """Return the children of a style node with all that stands below them: made anew of a folded one."""
        if style.children:
            return style.children
        children, laid = unfolded(style, self._nodes_of)
        lay(laid, self._nodes_of, most_folded=0)
        return children

    def _grow_rated(self, style: StyleNode) -> Sequence[ElementNode]:
        """Return the same with their importance; rate the folded style node itself as well."""
        children = self._grow(style)
        if style.folded:
            rate(children, self.rules, self._grow_rated)
            rate_style(style, children)
        return children

    def _nodes_of(self, key: int) -> PageNodes:
        """Return the nodes of a page of the sample; those used last stay in hand."""
        nodes = self._in_hand.pop(key, None)
        if nodes is None:
            nodes = PageNodes(self._sample[key], self.rules)
            room = _MAX_NODES - len(nodes)
            while len(self._in_hand) > max(_MOST_FOLDED) and sum(map(len, self._in_hand.values())) > room:
                del self._in_hand[next(iter(self._in_hand))]
        self._in_hand[key] = nodes
        return nodes

    def _shape_of(self, page: Page) -> Shape:
        return page.once(_collapsed_shape if self.rules.collapse else _shape)

    @property
    def _header(self) -> storage.Header:
        return storage.Header(self.max_pages, self.rules.features_per_leaf)

    def _merge(self, header: storage.Header, digests: Sequence[PageDigest]) -> None:
        """Add the pages of another tree with this ``header``."""
        if header.features_per_leaf != self.rules.features_per_leaf:
            raise ValueError("trees with another features_per_leaf cannot be merged")
        if len(digests) == header.max_pages < self.max_pages:  # a sample cannot grow again
            for dropped in self._sample.shrink(header.max_pages):
                self._take_out(dropped)
        for digest in digests:
            if self._sample.wants(digest.key):
                self._add(digest)
        self._in_hand.clear()

    def _add(self, digest: PageDigest, shape: Shape | None = None) -> None:
        for displaced in self._sample.add(digest):
            self._take_out(displaced)
        self._in_hand[digest.key] = PageNodes(digest, self.rules, shape)
        added = [digest.key]
        if self._taken_out >= self.max_pages:  # what many pages had, few have now: fold it again
            self.root, self._taken_out, added = ElementNode("body"), 0, [page.key for page in self._sample]
        for key in added:
            lay([(self.root, self._nodes_of(key), (0,))], self._nodes_of, most_folded=self._most_folded)

    def _take_out(self, digest: PageDigest) -> None:
        take_out([(self.root, PageNodes(digest, self.rules), (0,))])
        self._in_hand.pop(digest.key, None)
        self._taken_out += 1


def _shape(page: Page, *, collapse: bool = False) -> Shape:
    outline = page.once(outline_of)
    return Shape(outline.labels, outline.names, page.nodes.ends, collapse=collapse)


def _collapsed_shape(page: Page) -> Shape:
    return _shape(page, collapse=True)
