"""The site style tree: the pages of one site laid over one another."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from denoise_crawler.bottom_k import BottomK
from denoise_crawler.page import TEXT
from denoise_crawler.site_style_tree import codec
from denoise_crawler.site_style_tree.digest import PageDigest, digest, outline
from denoise_crawler.site_style_tree.importance import ImportanceRules, refresh
from denoise_crawler.site_style_tree.nodes import ElementNode, StyleNode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from denoise_crawler.page import Page

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
        if max_pages < 1 or features_per_leaf < 1:
            raise ValueError("max_pages and features_per_leaf must be at least 1")
        if not 0.0 < gamma < 1.0:
            raise ValueError(f"gamma must lie between 0 and 1, not {gamma}")
        self.collapse = collapse
        self.rules = ImportanceRules(gamma, single_page, presence, data_node, features_per_leaf)
        self.root = ElementNode("body")
        self._digests: BottomK[PageDigest] = BottomK(max_pages)
        self._strings: dict[str, str] = {TEXT: TEXT}

    @property
    def max_pages(self) -> int:
        """How many pages there may be in the tree."""
        return self._digests.limit

    @property
    def pages(self) -> int:
        """The number of pages in the tree."""
        return len(self._digests)

    def __contains__(self, page: Page) -> bool:
        return page.key in self._digests

    def add(self, page: Page) -> bool:
        """Learn ``page``; return whether it changed the tree (not if known, or not among the sample)."""
        if not self._digests.wants(page.key):
            return False
        self._add_digest(digest(page, self.rules.features_per_leaf))
        return True

    def merge(self, other: SiteStyleTree) -> None:
        """Learn all pages of ``other``: the result equals having learned both trees' pages, in any order."""
        self._unite(other._header, list(other._digests))

    def merge_bytes(self, data: bytes) -> None:
        """Learn all pages of a tree that :meth:`to_bytes` wrote; raise :class:`TreeFormatError` for others."""
        self._unite(*codec.decode(data))

    def to_bytes(self) -> bytes:
        """Write the tree: equal trees give equal bytes."""
        return codec.encode(self._header, self._digests)

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
            for style, parents in self._known_styles(element, shape, found):
                children = style.children
                if style.folded is not None:
                    children = self._unfolded(style)
                    for child in children:
                        refresh(child, self.rules, self._unfolded)
                waiting.extend(zip(children, self._columns(shape, parents), strict=True))
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
            for style, parents in self._known_styles(element, shape, found):
                if style.folded is None:
                    waiting.extend(zip(style.children, self._columns(shape, parents), strict=True))
                    continue
                for parent in parents:
                    result[parent : shape.ends[parent]] = [True] * (shape.ends[parent] - parent)
        return result

    def _known_styles(
        self, element: ElementNode, shape: PageDigest, found: list[int]
    ) -> Iterator[tuple[StyleNode, list[int]]]:
        """Yield the style nodes below ``element`` that the nodes ``found`` have, with those that have it."""
        for sequence, parents in self._sequences(shape, found):
            if (style := element.styles.get(sequence)) is not None:
                yield style, parents

    def refresh(self) -> None:
        """Bring the importance of all nodes up to date; costs only what changed since the last time."""
        if self.root.importance is None and self.pages:
            refresh(self.root, self.rules, self._unfolded)

    def _unfolded(self, style: StyleNode) -> list[ElementNode]:
        """Return the children of a folded style node, with all below them, for the moment."""
        assert style.folded is not None  # noqa: S101
        page, parents = style.folded
        sequence, _ = next(self._sequences(page, parents))
        children = [ElementNode(label) for label in sequence]
        self._lay(list(zip(children, self._columns(page, parents), strict=True)), page, fold=False)
        return children

    @property
    def _header(self) -> codec.Header:
        return codec.Header(self.max_pages, self.rules.features_per_leaf)

    def _unite(self, header: codec.Header, digests: list[PageDigest]) -> None:
        """Add the pages of another tree, described by its ``header``."""
        if header.features_per_leaf != self.rules.features_per_leaf:
            raise ValueError("trees with another features_per_leaf cannot be merged")
        if len(digests) == header.max_pages < self.max_pages:  # a sample cannot grow again
            self._forget(self._digests.shrink(header.max_pages))
        for found in digests:
            if self._digests.wants(found.key):
                self._add_digest(found)

    def _add_digest(self, found: PageDigest) -> None:
        strings = self._strings
        shared = replace(found, labels=[strings.setdefault(label, label) for label in found.labels])
        surplus = self._digests.add(shared)
        self._lay([(self.root, [0])], shared)
        self._forget(surplus)

    def _forget(self, surplus: list[PageDigest]) -> None:
        for page in surplus:
            self._lift(page)
        if len(self._strings) > 100_000:  # labels of pages long forgotten
            used = {label for kept in self._digests for label in kept.labels}
            self._strings = {label: label for label in used | {TEXT}}

    def _lay(self, places: list[tuple[ElementNode, list[int]]], page: PageDigest, *, fold: bool = True) -> None:
        """Add the counts of what stands at some ``places`` of a page to the nodes."""
        waiting = [(element, page, found) for element, found in places]
        while waiting:
            element, source, found = waiting.pop()
            element.pages += 1
            element.importance = None
            self._count_features(element, source, found, 1)
            for sequence, parents in self._sequences(source, found):
                style = element.styles.setdefault(sequence, StyleNode())
                style.pages += 1
                style.importance = None
                if not sequence:
                    continue
                if style.pages == 1 and fold:
                    style.folded = (source, parents)
                    continue
                if not style.children:
                    style.children = [ElementNode(label) for label in sequence]
                if style.folded is not None:
                    waiting.extend(self._below(style, *style.folded))
                    style.folded = None
                waiting.extend(self._below(style, source, parents))

    def _lift(self, page: PageDigest) -> None:
        """Take one page's counts away again."""
        waiting = [(self.root, page, [0])]
        while waiting:
            element, source, found = waiting.pop()
            element.pages -= 1
            element.importance = None
            self._count_features(element, source, found, -1)
            for sequence, parents in self._sequences(source, found):
                style = element.styles[sequence]
                style.pages -= 1
                style.importance = None
                if not style.pages:
                    del element.styles[sequence]
                elif sequence:
                    waiting.extend(self._below(style, source, parents))

    def _count_features(self, element: ElementNode, page: PageDigest, found: list[int], sign: int) -> None:
        counted: dict[int, int] = {}
        for index in found:
            sources = [index]
            if self.rules.data_node:
                sources += [child for child in page.children(index) if page.labels[child] is TEXT]
            for source in sources:
                for feature, count in page.features(source):
                    counted[feature] = counted.get(feature, 0) + count
        for feature, count in counted.items():
            element.features.add(feature, count, sign)

    def _below(
        self, style: StyleNode, page: PageDigest, parents: list[int]
    ) -> Iterator[tuple[ElementNode, PageDigest, list[int]]]:
        for child, found in zip(style.children, self._columns(page, parents), strict=True):
            yield child, page, found

    def _sequences(self, page: PageDigest, found: list[int]) -> Iterator[tuple[tuple[str, ...], list[int]]]:
        """Group the nodes ``found`` of one page, all of one element node, by their sequence of children."""
        if len(found) == 1 and not self.collapse:
            yield tuple([page.labels[child] for child in page.children(found[0])]), found
            return
        groups: dict[tuple[str, ...], list[int]] = {}
        for index in found:
            runs = groupby(page.labels[child] for child in page.children(index))
            groups.setdefault(tuple(label for label, _ in runs), []).append(index)
        yield from groups.items()

    def _columns(self, page: PageDigest, parents: list[int]) -> list[list[int]]:
        """Return, for each place in the parents' common sequence, the nodes that stand there."""
        if not self.collapse:
            return [[child] for child in page.children(parents[0])]
        columns: list[list[int]] = []
        for parent in parents:
            runs = groupby(page.children(parent), key=page.labels.__getitem__)
            for place, (_, run) in enumerate(runs):
                if place == len(columns):
                    columns.append([])
                columns[place].extend(run)
        return columns
