"""The site style tree: the pages of one site laid over one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from denoise_crawler.methods.style_tree import codec
from denoise_crawler.methods.style_tree.digest import digest_page, outline_page
from denoise_crawler.methods.style_tree.features import MAX_TREE_PAGES, FeatureCounts
from denoise_crawler.methods.style_tree.importance import ImportanceRules, refresh
from denoise_crawler.methods.style_tree.nodes import ElementNode
from denoise_crawler.methods.style_tree.sample import PageSample
from denoise_crawler.page import TEXT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from denoise_crawler.methods.style_tree.digest import ChildGroup, PageDigest
    from denoise_crawler.methods.style_tree.nodes import Labels, StyleNode
    from denoise_crawler.page import Page

    _Place: TypeAlias = tuple[ElementNode, PageDigest, list[int]]  # an element node and the page's nodes there

MAX_PAGES = 128


@dataclass(frozen=True, slots=True)
class NodeImportance:
    """How many pages have a node and how important it is, with the highest importance in its subtree (``peak``).

    A node that the tree does not know has 0 pages and importance 1, so that it is not noise.
    """

    pages: int
    importance: float
    peak: float


UNSEEN = NodeImportance(0, 1.0, 1.0)


class SiteStyleTree:
    """A site style tree (SST) of the pages of one site.

    Its state is the set of the learned pages' digests; element and style nodes hold integer counts over them. So
    ``merge`` is an exact union: associative, commutative and idempotent. A page is learned once, whatever is
    merged. The pages that stay are a uniform random sample that does not depend on their order, so a proportion p
    of pages is known with a standard error of √(p(1−p)/max_pages).

    Args:
        max_pages: The most pages to keep: those with the lowest keys.
        collapse: Whether a run of equal siblings (``li li li``) counts as one.
        gamma: See :class:`ImportanceRules`, as for the other arguments.

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
        self.collapse = collapse
        self.rules = ImportanceRules(gamma, single_page, presence, data_node, features_per_leaf)
        self.root = ElementNode("body")
        self._sample = PageSample(max_pages)

    @property
    def max_pages(self) -> int:
        """The most pages that the tree keeps."""
        return self._sample.limit

    @property
    def pages(self) -> int:
        """The number of pages in the tree."""
        return len(self._sample)

    def __contains__(self, page: Page) -> bool:
        return page.key in self._sample

    def wants(self, page: Page) -> bool:
        """Tell whether ``page`` would change the tree. It would not if it is known or not in the sample."""
        return self._sample.wants(page.key)

    def add(self, page: Page) -> bool:
        """Learn ``page``; return whether it changed the tree."""
        if not self.wants(page):
            return False
        self._add_digest(digest_page(page, self.rules.features_per_leaf))
        return True

    def merge(self, other: SiteStyleTree) -> None:
        """Learn all pages of ``other``; the result equals learning both trees' pages, in any order."""
        self._merge_digests(other._header, other._sample)

    def merge_bytes(self, data: bytes) -> None:
        """Learn all pages of a tree as bytes; raise :class:`TreeFormatError` for other bytes."""
        self._merge_digests(*codec.decode(data))

    def to_bytes(self) -> bytes:
        """Return the tree as bytes; equal trees give equal bytes."""
        return codec.encode(self._header, self._sample.labels, self._sample.records())

    @classmethod
    def from_bytes(cls, data: bytes, **options: object) -> SiteStyleTree:
        """Read a tree that :meth:`to_bytes` returned.

        Args:
            data: The bytes, which also hold ``max_pages`` and ``features_per_leaf``.
            options: The other arguments of the tree.

        Raises:
            TreeFormatError: The bytes are no tree, damaged, or of a newer version.

        """
        header, digests = codec.decode(data)
        options.update(max_pages=header.max_pages, features_per_leaf=header.features_per_leaf)
        tree = cls(**options)  # type: ignore[arg-type]
        tree._merge_digests(header, digests)
        return tree

    def importances(self, page: Page) -> list[NodeImportance]:
        """Return the importance of each node of ``page``, in document order."""
        self.refresh()
        shape = page.once(outline_page)
        result = [UNSEEN] * len(shape.labels)
        waiting: list[tuple[ElementNode, list[int]]] = [(self.root, [0])] if self.pages else []
        while waiting:
            element, found = waiting.pop()
            importance = NodeImportance(element.pages, element.importance or 0.0, element.peak)
            for index in found:
                result[index] = importance
            for style, below in self.matching_styles(element, shape, found):
                waiting.extend(zip(self.children_of(style), below.columns, strict=True))
        return result

    def known_nodes(self, page: Page) -> list[bool]:
        """Tell for each node of ``page`` whether the tree has it; faster than :meth:`importances`.

        Everything below a sequence of children that only one page has counts as known.
        """
        shape = page.once(outline_page)
        result = [False] * len(shape.labels)
        waiting: list[tuple[ElementNode, list[int]]] = [(self.root, [0])] if self.pages else []
        while waiting:
            element, found = waiting.pop()
            for index in found:
                result[index] = True
            for style, below in self.matching_styles(element, shape, found):
                if style.folded is None:
                    waiting.extend(zip(style.children, below.columns, strict=True))
                    continue
                for parent in below.parents:
                    result[parent : shape.ends[parent]] = [True] * (shape.ends[parent] - parent)
        return result

    def matching_styles(
        self, element: ElementNode, shape: PageDigest, found: list[int]
    ) -> Iterator[tuple[StyleNode, ChildGroup]]:
        """Yield the style nodes of ``element`` that match children of the nodes ``found``, with those nodes."""
        if element.is_leaf:
            return
        for sequence, below in shape.group_by_children(found, collapse=self.collapse).items():
            if sequence and (style := element.styles.get(sequence)) is not None:
                yield style, below

    def children_of(self, style: StyleNode) -> Sequence[ElementNode]:
        """Return the children of ``style`` with their importance; those of a folded one are rebuilt each time."""
        if style.folded is None:
            return style.children
        children = self._unfold(style)
        for child in children:
            refresh(child, self.rules, self._unfold)
        return children

    def refresh(self) -> None:
        """Update the importance of all nodes that changed since the last time."""
        if self.root.importance is None and self.pages:
            refresh(self.root, self.rules, self._unfold)

    def _unfold(self, style: StyleNode) -> Sequence[ElementNode]:
        """Build the children of a folded style node, with all below them."""
        page, ((sequence, below),) = self._find_folded(style)
        children = [ElementNode(label) for label in sequence]
        self._add_counts(list(_places(children, page, below)), fold=False)
        return children

    def _find_folded(self, style: StyleNode) -> tuple[PageDigest, Iterable[tuple[Labels, ChildGroup]]]:
        """Return the only page that has a folded style node, and its children there."""
        assert style.folded is not None  # noqa: S101
        key, parents = style.folded
        page = self._sample[key]
        return page, page.group_by_children(parents, collapse=self.collapse).items()

    @property
    def _header(self) -> codec.Header:
        return codec.Header(self.max_pages, self.rules.features_per_leaf)

    def _merge_digests(self, header: codec.Header, digests: Iterable[PageDigest]) -> None:
        """Add the pages of another tree with this ``header``."""
        if header.features_per_leaf != self.rules.features_per_leaf:
            raise ValueError("trees with another features_per_leaf cannot be merged")
        digests = list(digests)
        if len(digests) == header.max_pages < self.max_pages:  # a sample cannot grow again
            self._remove_pages(self._sample.shrink(header.max_pages))
        for found in digests:
            if self._sample.wants(found.key):
                self._add_digest(found)

    def _add_digest(self, found: PageDigest) -> None:
        page, surplus = self._sample.add(found)
        self._remove_pages(surplus)
        self._add_counts([(self.root, page, [0])])

    def _add_counts(self, waiting: list[_Place], *, fold: bool = True) -> None:
        """Add the page nodes at some places to the counts of the tree."""
        while waiting:
            element, page, found = waiting.pop()
            self._count_features(element, page, found, 1)
            groups = page.group_by_children(found, collapse=self.collapse)
            for sequence, style in element.count_page(groups):
                below = groups[sequence]
                if style.pages == 1 and fold:
                    style.folded = (page.key, tuple(below.parents))
                    continue
                if not style.children:
                    style.children = tuple([ElementNode(label) for label in sequence])
                if style.folded is not None:
                    other, ((_, folded),) = self._find_folded(style)
                    waiting.extend(_places(style.children, other, folded))
                    style.folded = None
                waiting.extend(_places(style.children, page, below))

    def _remove_pages(self, pages: Iterable[PageDigest]) -> None:
        """Subtract ``pages`` from the counts of the tree."""
        waiting: list[_Place] = [(self.root, page, [0]) for page in pages]
        while waiting:
            element, page, found = waiting.pop()
            self._count_features(element, page, found, -1)
            groups = page.group_by_children(found, collapse=self.collapse)
            for sequence, style in element.uncount_page(groups):
                waiting.extend(_places(style.children, page, groups[sequence]))

    def _count_features(self, element: ElementNode, page: PageDigest, found: list[int], sign: int) -> None:
        if self.rules.data_node:
            texts = [child for node in found for child in page.children(node) if page.labels[child] is TEXT]
            found = [*found, *texts]
        if counted := page.features(found):
            if element.features is None:
                element.features = FeatureCounts()
            element.features.add(counted, sign)


def _places(children: Sequence[ElementNode], page: PageDigest, below: ChildGroup) -> Iterator[_Place]:
    for child, found in zip(children, below.columns, strict=True):
        yield child, page, found
