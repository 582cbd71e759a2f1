"""The site style tree as the paper and the blog define it, without columns, folding and sketches: slow, plain."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from math import fsum, log

from denoise_crawler.methods.style_tree.page_nodes import shape_of
from denoise_crawler.page import TEXT, Page
from denoise_crawler.page.text import words


def labels_of(page: Page) -> list[str]:
    """Return the label of each node of ``page``, in document order."""
    shape = page.once(shape_of)
    return [shape.names[number] for number in shape.labels]


def entropy(counts: Iterable[int], pages: int, *, presence: bool = False) -> float:
    """H(a) = −Σ p_j·log_m p_j of a feature with so many occurrences on each page that has it, m = ``pages``."""
    if pages < 2:
        return 0.0
    counts = [1 if presence else count for count in counts]
    return -fsum(count / sum(counts) * log(count / sum(counts), pages) for count in counts)


def node_importance(counts: Iterable[int], pages: int, *, single_page: float = 0.0) -> float:
    """NodeImp(E) = −Σ p_i·log_m p_i from the page counts n_i of E's style nodes, m = ``pages``."""
    if pages < 2:
        return single_page
    counts = list(counts)
    return min(1.0, max(0.0, -fsum(count / sum(counts) * log(count / sum(counts), pages) for count in counts)))


def combine_importance(former: float, data: float) -> float:
    """CompImp_final = (1 − k)·F + k·D with k = D/(F + D) (pySST)."""
    share = data / (former + data) if former + data else 0.0
    return (1.0 - share) * former + share * data


class Definition:
    """By page and node: how many pages have its element node, its importance, the highest in its subtree."""

    def __init__(
        self,
        pages: Sequence[Page],
        *,
        collapse: bool = False,
        gamma: float = 0.9,
        single_page: float = 0.0,
        presence: bool = False,
        data_node: bool = False,
    ) -> None:
        self.pages, self.labels = pages, [labels_of(page) for page in pages]
        self.collapse, self.data_node = collapse, data_node
        self.gamma, self.single_page, self.presence = gamma, single_page, presence
        self.standings: list[dict[int, tuple[int, float, float]]] = [{} for _ in pages]
        self.rate({number: [0] for number in range(len(pages))})

    def rate(self, found: dict[int, list[int]]) -> tuple[float, float]:
        """Return CompImp and the peak of the element node that has these nodes by page."""
        styles: dict[tuple[str, ...], dict[int, list[dict[int, list[int]]]]] = {}
        for number, nodes in found.items():
            for node in nodes:
                runs = self.children(number, node)
                places = styles.setdefault(tuple(label for label, _ in runs), {})
                here = places.setdefault(number, [{} for _ in runs])
                for place, (_, below) in zip(here, runs, strict=True):
                    place.setdefault(number, []).extend(below)
        data = self.data(found)
        importance = peak = data
        if list(styles) != [()]:
            of_styles = [self.rate_style(places) for places in styles.values()]
            counts = [len(places) for places in styles.values()]
            own = node_importance(counts, len(found), single_page=self.single_page)
            damping = self.gamma ** len(styles)
            below_it = fsum(n / sum(counts) * score for n, (score, _) in zip(counts, of_styles, strict=True))
            importance = (1 - damping) * own + damping * below_it
            if self.data_node and self.features(found):
                importance = combine_importance(importance, data)
            peak = max(importance, *(highest for _, highest in of_styles))
        for number, nodes in found.items():
            for node in nodes:
                self.standings[number][node] = len(found), importance, peak
        return importance, peak

    def rate_style(self, places: dict[int, list[dict[int, list[int]]]]) -> tuple[float, float]:
        size = len(next(iter(places.values())))
        if not size:
            return 0.0, 0.0
        below = [self.rate({n: here[place][n] for n, here in places.items()}) for place in range(size)]
        return fsum(score for score, _ in below) / size, max(peak for _, peak in below)

    def children(self, number: int, node: int) -> list[tuple[str, list[int]]]:
        """Return the sequence of children of a node; with ``collapse`` each run of equal labels once."""
        labels = self.labels[number]
        below = list(self.pages[number].nodes.children(node))
        if not self.collapse:
            return [(labels[child], [child]) for child in below]
        return [(label, list(run)) for label, run in groupby(below, labels.__getitem__)]

    def data(self, found: dict[int, list[int]]) -> float:
        """1 − Σ H(a_i)/l over the features of the nodes."""
        features = self.features(found)
        if not features:
            return 0.0
        return 1 - fsum(entropy(of, len(found), presence=self.presence) for of in features.values()) / len(
            features
        )

    def features(self, found: dict[int, list[int]]) -> dict[str, list[int]]:
        occurrences: dict[str, list[int]] = {}
        for number, nodes in found.items():
            page = self.pages[number]
            said = Counter[str]()
            for node in nodes:
                texts = [child for child in page.nodes.children(node) if page.nodes.tags[child] == TEXT]
                for leaf in [node, *(texts if self.data_node else ())]:
                    said.update(features_of(page, leaf))
            for feature, count in said.items():
                occurrences.setdefault(feature, []).append(count)
        return occurrences


def features_of(page: Page, node: int) -> list[str]:
    """The words of a leaf's text, its ``src``, and the ``href`` that it stands in."""
    nodes = page.nodes
    if nodes.ends[node] > node + 1:
        return []
    found = words(nodes.texts[node])
    if nodes.tags[node] != TEXT and (src := nodes.elements[node].get("src")):
        found.append("src " + page.absolute(src))
    if nodes.links[node] >= 0 and (href := nodes.elements[nodes.links[node]].get("href")):
        found.append("href " + page.absolute(href))
    return found
