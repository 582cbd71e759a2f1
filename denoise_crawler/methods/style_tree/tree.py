"""The site style tree: the pages of one site laid over one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from denoise_crawler.methods.style_tree import codec
from denoise_crawler.methods.style_tree.digest import digest, outline
from denoise_crawler.methods.style_tree.features import MOST_PAGES, FeatureCounts
from denoise_crawler.methods.style_tree.importance import ImportanceRules, refresh
from denoise_crawler.methods.style_tree.nodes import ElementNode
from denoise_crawler.methods.style_tree.sample import PageSample
from denoise_crawler.page import TEXT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from denoise_crawler.methods.style_tree.digest import Below, PageDigest
    from denoise_crawler.methods.style_tree.nodes import Labels, StyleNode
    from denoise_crawler.page import Page

    _Place: TypeAlias = tuple[ElementNode, PageDigest, list[int]]  # and the nodes of the page that stand there

MAX_PAGES = 128


@dataclass(frozen=True, slots=True)
class Standing:
    """What the tree says of one node of a page: on how many pages it stands and how important it is there.

    ``pages`` is 0 for a node that the tree does not know (its importance is then 1: unseen is not noise).
    """

    pages: int
    importance: float
    peak: float


UNSEEN = Standing(0, 1.0, 1.0)


class SiteStyleTree:
    """A site style tree (SST) over at most ``max_pages`` pages of a site.

    Its state is the set of the learned pages' digests; element and style nodes with their integer counts
    are laid over them. So a page is learned once, whatever is merged with whatever: ``merge`` is a union,
    exact, associative, commutative and idempotent. Of more than ``max_pages`` pages those with the lowest
    hash of their key stay: a uniform random sample, the same in any order, so that a proportion of pages p
    is known with a standard error of √(p(1−p)/max_pages).

    ``collapse`` reads a run of equal siblings (``li li li``) as one. Further arguments are those of
    :class:`ImportanceRules`.
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
        if not 1 <= max_pages <= MOST_PAGES or features_per_leaf < 1:
            raise ValueError(f"max_pages must be from 1 to {MOST_PAGES:,}, features_per_leaf at least 1")
        if not 0.0 < gamma < 1.0:
            raise ValueError(f"gamma must lie between 0 and 1, not {gamma}")
        self.collapse = collapse
        self.rules = ImportanceRules(gamma, single_page, presence, data_node, features_per_leaf)
        self.root = ElementNode("body")
        self._sample = PageSample(max_pages)

    @property
    def max_pages(self) -> int:
        """How many pages there may be in the tree."""
        return self._sample.limit

    @property
    def pages(self) -> int:
        """The number of pages in the tree."""
        return len(self._sample)

    def __contains__(self, page: Page) -> bool:
        return page.key in self._sample

    def add(self, page: Page) -> bool:
        """Learn ``page``; return whether it changed the tree (not if known, or not among the sample)."""
        if not self._sample.wants(page.key):
            return False
        self._add_digest(digest(page, self.rules.features_per_leaf))
        return True

    def merge(self, other: SiteStyleTree) -> None:
        """Learn all pages of ``other``: the result equals having learned both trees' pages, in any order."""
        self._unite(other._header, other._sample)

    def merge_bytes(self, data: bytes) -> None:
        """Learn all pages of a tree that :meth:`to_bytes` wrote; raise :class:`TreeFormatError` for others."""
        self._unite(*codec.decode(data))

    def to_bytes(self) -> bytes:
        """Write the tree: equal trees give equal bytes."""
        return codec.encode(self._header, self._sample.labels, self._sample.records())

    @classmethod
    def from_bytes(cls, data: bytes, **options: object) -> SiteStyleTree:
        """Read a tree that :meth:`to_bytes` wrote, with ``options`` as for a new one.

        ``max_pages`` and ``features_per_leaf`` come from the bytes. Raises :class:`TreeFormatError` for
        anything else.
        """
        header, digests = codec.decode(data)
        options.update(max_pages=header.max_pages, features_per_leaf=header.features_per_leaf)
        tree = cls(**options)  # type: ignore[arg-type]
        tree._unite(header, digests)
        return tree

    def standings(self, page: Page) -> list[Standing]:
        """Return what the tree says of each node of ``page``, in document order."""
        self.refresh()
        shape = page.once(outline)
        result = [UNSEEN] * len(shape.labels)
        waiting: list[tuple[ElementNode, list[int]]] = [(self.root, [0])] if self.pages else []
        while waiting:
            element, found = waiting.pop()
            standing = Standing(element.pages, element.importance or 0.0, element.peak)
            for index in found:
                result[index] = standing
            for style, below in self.known_below(element, shape, found):
                waiting.extend(zip(self.children_of(style), below.columns, strict=True))
        return result

    def seen(self, page: Page) -> list[bool]:
        """Tell of each node of ``page`` whether the tree has it; quicker than :meth:`standings`.

        Below a sequence of children that a single page has, all counts as seen.
        """
        shape = page.once(outline)
        result = [False] * len(shape.labels)
        waiting: list[tuple[ElementNode, list[int]]] = [(self.root, [0])] if self.pages else []
        while waiting:
            element, found = waiting.pop()
            for index in found:
                result[index] = True
            for style, below in self.known_below(element, shape, found):
                if style.folded is None:
                    waiting.extend(zip(style.children, below.columns, strict=True))
                    continue
                for parent in below.parents:
                    result[parent : shape.ends[parent]] = [True] * (shape.ends[parent] - parent)
        return result

    def known_below(
        self, element: ElementNode, shape: PageDigest, found: list[int]
    ) -> Iterator[tuple[StyleNode, Below]]:
        """Yield the style nodes with children below ``element`` that the nodes ``found`` have, and where."""
        if element.is_leaf:
            return
        for sequence, below in shape.below(found, collapse=self.collapse).items():
            if sequence and (style := element.styles.get(sequence)) is not None:
                yield style, below

    def children_of(self, style: StyleNode) -> Sequence[ElementNode]:
        """Return the children of ``style``, with their importance; a folded one's are made anew each time."""
        if style.folded is None:
            return style.children
        children = self._unfolded(style)
        for child in children:
            refresh(child, self.rules, self._unfolded)
        return children

    def refresh(self) -> None:
        """Bring the importance of all nodes up to date; costs only what changed since the last time."""
        if self.root.importance is None and self.pages:
            refresh(self.root, self.rules, self._unfolded)

    def _unfolded(self, style: StyleNode) -> Sequence[ElementNode]:
        """Return the children of a folded style node, with all below them, for the moment."""
        page, ((sequence, below),) = self._folded(style)
        children = [ElementNode(label) for label in sequence]
        self._lay(list(_places(children, page, below)), fold=False)
        return children

    def _folded(self, style: StyleNode) -> tuple[PageDigest, Iterable[tuple[Labels, Below]]]:
        """Return the one page that has a folded style node, and what stands there."""
        assert style.folded is not None  # noqa: S101
        key, parents = style.folded
        page = self._sample[key]
        return page, page.below(parents, collapse=self.collapse).items()

    @property
    def _header(self) -> codec.Header:
        return codec.Header(self.max_pages, self.rules.features_per_leaf)

    def _unite(self, header: codec.Header, digests: Iterable[PageDigest]) -> None:
        """Add the pages of another tree, described by its ``header``."""
        if header.features_per_leaf != self.rules.features_per_leaf:
            raise ValueError("trees with another features_per_leaf cannot be merged")
        digests = list(digests)
        if len(digests) == header.max_pages < self.max_pages:  # a sample cannot grow again
            self._forget(self._sample.shrink(header.max_pages))
        for found in digests:
            if self._sample.wants(found.key):
                self._add_digest(found)

    def _add_digest(self, found: PageDigest) -> None:
        page, surplus = self._sample.add(found)
        self._forget(surplus)
        self._lay([(self.root, page, [0])])

    def _forget(self, surplus: list[PageDigest]) -> None:
        for page in surplus:
            self._lift(page)

    def _lay(self, waiting: list[_Place], *, fold: bool = True) -> None:
        """Add the counts of what stands at some places to the nodes."""
        while waiting:
            element, page, found = waiting.pop()
            self._count_features(element, page, found, 1)
            groups = page.below(found, collapse=self.collapse)
            for sequence, style in element.count_page(groups):
                below = groups[sequence]
                if style.pages == 1 and fold:
                    style.folded = (page.key, tuple(below.parents))
                    continue
                if not style.children:
                    style.children = tuple([ElementNode(label) for label in sequence])
                if style.folded is not None:
                    other, ((_, folded),) = self._folded(style)
                    waiting.extend(_places(style.children, other, folded))
                    style.folded = None
                waiting.extend(_places(style.children, page, below))

    def _lift(self, page: PageDigest) -> None:
        """Take one page's counts away again."""
        waiting: list[_Place] = [(self.root, page, [0])]
        while waiting:
            element, source, found = waiting.pop()
            self._count_features(element, source, found, -1)
            groups = source.below(found, collapse=self.collapse)
            for sequence, style in element.uncount_page(groups):
                waiting.extend(_places(style.children, source, groups[sequence]))

    def _count_features(self, element: ElementNode, page: PageDigest, found: list[int], sign: int) -> None:
        if self.rules.data_node:
            texts = [child for node in found for child in page.children(node) if page.labels[child] is TEXT]
            found = [*found, *texts]
        if counted := page.features(found):
            if element.features is None:
                element.features = FeatureCounts()
            element.features.add(counted, sign)


def _places(children: Sequence[ElementNode], page: PageDigest, below: Below) -> Iterator[_Place]:
    for child, found in zip(children, below.columns, strict=True):
        yield child, page, found
