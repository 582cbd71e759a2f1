"""The site style tree (SST): a sample of the pages of one site, laid over one another; a page is mapped to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from operator import not_
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from denoise_crawler.methods.base import Judgement, Method, inherit
from denoise_crawler.methods.bottom_k_sample import BottomKSample
from denoise_crawler.methods.style_tree.page_nodes import (
    MAX_TREE_PAGES,
    PageNodes,
    decode,
    encode,
    outline_of,
    read_page,
)
from denoise_crawler.methods.style_tree.tree import (
    ElementNode,
    Rules,
    StyleNode,
    lay,
    match,
    rate,
    rated_children,
    take_out,
)
from denoise_crawler.page import Page
from denoise_crawler.page.text import load_dictionary

if TYPE_CHECKING:
    from typing_extensions import Self


MAX_PAGES = 128


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

    Its state is the set of the learned pages; element and style nodes hold integer counts over them. So
    ``merge`` is an exact union: associative, commutative and idempotent. A page is learned once, whatever is
    merged. The pages that stay are a uniform random sample that does not depend on their order, so a proportion p
    of pages is known with a standard error of √(p(1−p)/max_pages).

    Args:
        max_pages: The most pages to keep: those with the lowest keys.
        rules: The choices that the sources leave open: ``collapse`` (a run of equal siblings counts as one),
            ``gamma``, ``single_page``, ``presence``, ``data_node``, ``features_per_leaf``.

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

    def __init__(self, *, max_pages: int = MAX_PAGES, **rules: Any) -> None:
        if not 1 <= max_pages <= MAX_TREE_PAGES:
            raise ValueError(f"max_pages must be from 1 to {MAX_TREE_PAGES:,}, not {max_pages}")
        self.rules = Rules(**rules)
        self.root = ElementNode("body")  # its importance is that of the last refresh
        self.sample: BottomKSample[PageNodes] = BottomKSample(max_pages)
        self._taken_out = 0  # pages since the tree was made

    @property
    def max_pages(self) -> int:
        """The most pages that the tree keeps."""
        return self.sample.limit

    @property
    def pages(self) -> int:
        """The number of pages in the tree."""
        return len(self.sample)

    def __contains__(self, page: Page) -> bool:
        return page.key in self.sample

    def wants(self, page: Page) -> bool:
        """Return True if ``page`` would change the tree. It would not if it is known or outside the sample."""
        return self.sample.wants(page.key)

    def add(self, page: Page) -> bool:
        """Learn ``page``; return whether it changed the tree."""
        if not self.wants(page):
            return False
        self._add(read_page(page, self.rules.features_per_leaf))
        return True

    def merge(self, other: SiteStyleTree) -> None:
        """Learn all pages of ``other``; the result equals learning both trees' pages, in any order."""
        self._merge(other.max_pages, other.rules.features_per_leaf, list(other.sample))

    def merge_bytes(self, data: bytes) -> None:
        """Learn all pages of a tree as bytes; raise :class:`TreeFormatError` for other bytes."""
        self._merge(*decode(data))

    def to_bytes(self) -> bytes:
        """Return the tree as bytes; equal trees give equal bytes."""
        return encode(self.max_pages, self.rules.features_per_leaf, list(self.sample))

    @classmethod
    def from_bytes(cls, data: bytes, **rules: Any) -> SiteStyleTree:
        """Read a tree that :meth:`to_bytes` returned.

        Args:
            data: The bytes, which also hold ``max_pages`` and ``features_per_leaf``.
            rules: The other arguments of the tree.

        Raises:
            TreeFormatError: The bytes are no tree, damaged, or of another version.
        """
        max_pages, features_per_leaf, pages = decode(data)
        tree = cls(max_pages=max_pages, features_per_leaf=features_per_leaf, **rules)
        tree._merge(max_pages, features_per_leaf, pages)
        return tree

    def importances(self, page: Page) -> list[NodeImportance]:
        """Return the importance of each node of ``page``, in document order."""
        rules = self.rules
        elements = match(self.root, page.once(outline_of), rules, lambda style: rated_children(style, rules))
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
        shape, known = page.once(outline_of), list[bool]()
        elements = match(self.root, shape, self.rules, lambda style: style.children if style.pages > 1 else ())
        for element, parent in zip(elements, page.nodes.parents, strict=True):
            if element is not None or parent < 0:
                known.append(self.pages > 0)
            elif (above := elements[parent]) is not None:
                known.append(
                    not above.style_nodes.keys().isdisjoint(shape.styles([parent], collapse=self.rules.collapse))
                )
            else:
                known.append(known[parent])
        return known

    def elements_on(self, page: Page) -> Iterator[tuple[ElementNode, int]]:
        """Yield the element nodes that ``page`` has, each with the first of its nodes; none below folded ones."""
        first: dict[ElementNode, int] = {}
        elements = match(self.root, page.once(outline_of), self.rules, lambda style: style.children)
        for node, element in enumerate(elements):
            if element is not None:
                first.setdefault(element, node)
        yield from first.items()

    def unfold(self, style: StyleNode) -> Sequence[ElementNode]:
        """Return the children of a style node, to look at them; a folded one has them from now on."""
        if style.folded is not None:
            lay(style.unfold(), self.rules)
            rate(style.children, self.rules)
        return style.children

    def refresh(self) -> None:
        """Update the importance of all nodes that changed since the last time."""
        rate([self.root], self.rules)

    def _merge(self, max_pages: int, features_per_leaf: int, pages: Sequence[PageNodes]) -> None:
        """Add the pages of another tree with these limits."""
        if features_per_leaf != self.rules.features_per_leaf:
            raise ValueError("trees with another features_per_leaf cannot be merged")
        if len(pages) == max_pages < self.max_pages:  # a sample cannot grow again
            for dropped in self.sample.shrink(max_pages):
                self._take_out(dropped)
        for page in pages:
            if self.sample.wants(page.key):
                self._add(page)

    def _add(self, page: PageNodes) -> None:
        for displaced in self.sample.add(page):
            self._take_out(displaced)
        added = [page]
        if self._taken_out >= self.max_pages:  # what many pages had, few have now: fold it again
            self.root, self._taken_out, added = ElementNode("body"), 0, list(self.sample)
        lay([(self.root, page, (0,)) for page in added], self.rules)

    def _take_out(self, page: PageNodes) -> None:
        take_out(page, self.root, self.rules)
        self._taken_out += 1


# --- ``style_tree``: what the site style tree finds unimportant is noise

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

    def __init__(self, threshold: float = THRESHOLD, *, collapse: bool = True, **options: Any) -> None:
        if not 0.0 <= threshold <= 1.0:
            raise ValueError(f"threshold must lie between 0 and 1, not {threshold}")
        self.threshold = threshold
        self.tree = SiteStyleTree(collapse=collapse, **options)
        self.sample = self.tree.sample

    @classmethod
    def prepare(cls) -> None:
        """Load the dictionary of Chinese words."""
        load_dictionary()

    @property
    def store_key(self) -> str:
        """The name of the tree with the option that mergeable trees must share."""
        return f"{StyleTree.name}:{self.tree.rules.features_per_leaf}"

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
