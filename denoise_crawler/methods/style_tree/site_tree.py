"""The site style tree: the pages of one site laid over one another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from denoise_crawler.methods.base import inherit
from denoise_crawler.methods.style_tree import sample
from denoise_crawler.methods.style_tree.columns import (
    MAX_TREE_PAGES,
    OWN,
    PAGES,
    ImportanceRules,
    PageTree,
    SiteColumns,
    TreeColumns,
)
from denoise_crawler.methods.style_tree.digest import PageDigest, digest_page, outline_of
from denoise_crawler.methods.style_tree.nodes import ElementNode, TreeView
from denoise_crawler.methods.style_tree.sample import ROOT, TEXTS, PageSample, label_hash
from denoise_crawler.page import Page

MAX_PAGES = 128
_MAX_ROWS = 300_000  # of the trees of single pages that are kept while pages are added
_TREES_KEPT = 1  # when that is done: the page that was learned last is judged next


@dataclass(frozen=True, slots=True)
class NodeImportance:
    """How many pages have a node and how important it is, with the highest importance in its subtree (``peak``).

    A node that the tree does not know has 0 pages and importance 1, so that it is not noise.
    """

    pages: int
    importance: float
    peak: float


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """The columns of :class:`NodeImportance` over the nodes of a page."""

    pages: NDArray[np.int32]
    importance: NDArray[np.float64]
    peak: NDArray[np.float64]


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
        self._sample = PageSample(max_pages)
        self._columns = SiteColumns(ROOT)
        self._trees: dict[int, PageTree] = {}

    @property
    def max_pages(self) -> int:
        """The most pages that the tree keeps."""
        return self._sample.limit

    @property
    def pages(self) -> int:
        """The number of pages in the tree."""
        return len(self._sample)

    @property
    def root(self) -> ElementNode:
        """The element node of the body, to look at the tree as it is now."""
        return ElementNode(self._view(self._columns), 0)

    def __contains__(self, page: Page) -> bool:
        return page.key in self._sample

    def wants(self, page: Page) -> bool:
        """Tell whether ``page`` would change the tree. It would not if it is known or not in the sample."""
        return self._sample.wants(page.key)

    def add(self, page: Page) -> bool:
        """Learn ``page``; return whether it changed the tree."""
        if not self.wants(page):
            return False
        numbers = self._sample.numbers(page.once(outline_of).labels)
        self._add_digests([digest_page(page, self.rules.features_per_leaf, numbers)])
        return True

    def merge(self, other: SiteStyleTree) -> None:
        """Learn all pages of ``other``; the result equals learning both trees' pages, in any order."""
        self._merge_digests(other._header, other._sample.labels, list(other._sample))

    def merge_bytes(self, data: bytes) -> None:
        """Learn all pages of a tree as bytes; raise :class:`TreeFormatError` for other bytes."""
        self._merge_digests(*sample.decode(data))

    def to_bytes(self) -> bytes:
        """Return the tree as bytes; equal trees give equal bytes."""
        return sample.encode(self._header, self._sample.labels, self._sample)

    @classmethod
    def from_bytes(cls, data: bytes, **options: object) -> SiteStyleTree:
        """Read a tree that :meth:`to_bytes` returned.

        Args:
            data: The bytes, which also hold ``max_pages`` and ``features_per_leaf``.
            options: The other arguments of the tree.

        Raises:
            TreeFormatError: The bytes are no tree, damaged, or of a newer version.

        """
        header, labels, digests = sample.decode(data)
        options.update(max_pages=header.max_pages, features_per_leaf=header.features_per_leaf)
        tree = cls(**options)  # type: ignore[arg-type]
        tree._merge_digests(header, labels, digests)
        return tree

    def importances(self, page: Page) -> list[NodeImportance]:
        """Return the importance of each node of ``page``, in document order."""
        rated = self.rate(page)
        columns = (column.tolist() for column in (rated.pages, rated.importance, rated.peak))
        return [NodeImportance(*row) for row in zip(*columns, strict=True)]

    def rate(self, page: Page) -> Ratings:
        """Return the columns of :meth:`importances`."""
        self.refresh()
        own = self._laid(page)
        pages, scores = np.zeros(own.used, np.int32), np.ones((own.used, 2))
        for _, columns, found in self._found(own):
            known = found >= 0
            pages[known] = columns.elements[found[known], PAGES]
            scores[known] = columns.scores[found[known]]
        return Ratings(pages[own.places], *scores[own.places].T)

    def known_nodes(self, page: Page) -> list[bool]:
        """Tell for each node of ``page`` whether the tree has it; faster than :meth:`importances`.

        Everything below a sequence of children that only one page has counts as known.
        """
        own = self._laid(page)
        found, folded = self._find(own)
        known, below = found >= 0, np.zeros(own.used, np.bool_)
        below[own.children(folded[:, 0])] = True
        unfolded = np.array(inherit(below[own.places], page.once(outline_of).ends))
        either: list[bool] = (unfolded | known[own.places]).tolist()
        return either

    def elements_on(self, page: Page) -> Iterator[tuple[ElementNode, int]]:
        """Yield the element nodes that the tree has of ``page``, each with the first of its nodes there."""
        self.refresh()
        own = self._laid(page)
        first = np.empty(own.used, np.int64)
        first[own.places[::-1]] = np.arange(len(own.places))[::-1]
        for key, columns, found in self._found(own):
            view, rows = self._view(columns, key), found.tolist()
            for element in np.flatnonzero(found >= 0).tolist():
                yield ElementNode(view, rows[element]), int(first[element])

    def refresh(self) -> None:
        """Update the importance of all nodes that changed since the last time."""
        if self.pages:
            self._columns.rate(self.rules)

    def _laid(self, page: Page) -> PageTree:
        return page.once(_lay_collapsed if self.collapse else _lay)

    def _find(self, page: PageTree) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return by element node of a page its row in the site's tree, and its style nodes folded there."""
        found = np.full(page.used, -1, np.int32)
        if self.pages:
            found[0] = 0
        return found, self._columns.find(page, found)

    def _found(self, page: PageTree) -> Iterator[tuple[int | None, TreeColumns, NDArray[np.int32]]]:
        """Yield each tree that has nodes of a page, with the rows there by element node of the page (-1: none).

        The first is the site's, the others are those of the pages with these keys.
        """
        found, folded = self._find(page)
        yield None, self._columns, found
        owners = self._columns.owners[folded[:, 1]]
        for key in np.unique(owners).tolist():
            tree, own = self._tree_of(self._sample[key]), folded[owners == key]
            below = np.full(page.used, -1, np.int32)
            theirs = self._columns.styles[own[:, 1], OWN]
            below[page.children(own[:, 0])] = tree.children(theirs)
            tree.find(page, below)
            yield key, tree, below

    def _view(self, columns: TreeColumns, key: int | None = None) -> TreeView:
        return TreeView(columns, key, self._sample.labels, self._unfold)

    def _unfold(self, style: int) -> Sequence[ElementNode]:
        """Return the children of a folded style node of the site's tree."""
        columns = self._columns
        key = int(columns.owners[style])
        tree = self._tree_of(self._sample[key])
        view = self._view(tree, key)
        return [ElementNode(view, row) for row in tree.children(columns.styles[[style], OWN]).tolist()]

    @property
    def _header(self) -> sample.Header:
        return sample.Header(self.max_pages, self.rules.features_per_leaf)

    def _merge_digests(self, header: sample.Header, labels: Sequence[str], digests: Sequence[PageDigest]) -> None:
        """Add the pages of another tree with this ``header`` and these ``labels``."""
        if header.features_per_leaf != self.rules.features_per_leaf:
            raise ValueError("trees with another features_per_leaf cannot be merged")
        if len(digests) == header.max_pages < self.max_pages:  # a sample cannot grow again
            self._take_out(self._sample.shrink(header.max_pages))
        wanted = (found for found in digests if self._sample.wants(found.key))
        self._add_digests(self._sample.renumbered(wanted, labels))

    def _add_digests(self, digests: Iterable[PageDigest]) -> None:
        for digest in digests:
            self._take_out(self._sample.add(digest))
            self._add(digest)
            if self._sample.has_many_labels:
                self._forget_labels()
            elif self._columns.is_sparse:
                self._columns.compact()
        while len(self._trees) > _TREES_KEPT:
            del self._trees[next(iter(self._trees))]

    def _add(self, digest: PageDigest) -> None:
        page = self._tree_of(digest)
        keys = self._columns.owners_of(page)
        self._columns.add([(digest.key, page), *((key, self._tree_of(self._sample[key])) for key in keys)])

    def _take_out(self, digests: Iterable[PageDigest]) -> None:
        for digest in digests:
            self._columns.take_out(self._tree_of(digest))
            del self._trees[digest.key]

    def _forget_labels(self) -> None:
        """Give the labels of the pages that are known new numbers."""
        self._sample.forget_labels()
        self._columns = SiteColumns(ROOT)
        self._trees.clear()
        for digest in self._sample:
            self._add(digest)

    def _tree_of(self, digest: PageDigest) -> PageTree:
        """Return the tree of one page of the sample, with features and importance."""
        trees = self._trees
        if (tree := trees.pop(digest.key, None)) is None:
            labels = digest.labels.astype(np.int32)
            tree = PageTree(labels, self._sample.hashes, digest.ends, collapse=self.collapse)
            tree.learn(digest, self.rules, TEXTS)
            while trees and tree.used + sum(other.used for other in trees.values()) > _MAX_ROWS:
                del trees[next(iter(trees))]
        trees[digest.key] = tree
        return tree


def _lay(page: Page, *, collapse: bool = False) -> PageTree:
    outline = page.once(outline_of)
    hashes = np.array([label_hash(label) for label in outline.labels], np.uint64)
    return PageTree(outline.numbers, hashes, outline.ends, collapse=collapse)


def _lay_collapsed(page: Page) -> PageTree:
    return _lay(page, collapse=True)
