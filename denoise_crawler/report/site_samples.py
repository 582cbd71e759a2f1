"""The first reading of the pages: it learns their sites and keeps a sample of each."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from denoise_crawler.denoiser import Denoiser
from denoise_crawler.methods import MethodChoice
from denoise_crawler.methods.base import InMemoryKnowledge
from denoise_crawler.methods.style_tree.method import StyleTree
from denoise_crawler.page import Page
from denoise_crawler.page.text import counted
from denoise_crawler.store import Store

SitedPages = Iterable[tuple[str, str, str | bytes]]  # site, url, html

MAX_PAGES = 50
_MAX_BYTES = 64 << 20


@dataclass(slots=True)
class SiteSample:
    """Compressed pages of one site, for its style tree and its learning curve."""

    packed: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, url: str, html: str | bytes) -> None:
        """Keep a page while there is room."""
        if len(self.packed) < MAX_PAGES and self.size <= _MAX_BYTES:
            self.packed.append(zlib.compress(pickle.dumps((url[:], html[:])), 1))
            self.size += len(self.packed[-1])

    def pages(self) -> Iterator[tuple[str, str | bytes]]:
        """Yield the (url, html) of the pages in order."""
        for packed in self.packed:
            yield pickle.loads(zlib.decompress(packed))  # noqa: S301 - packed by this process


@dataclass(slots=True)
class SampledSites:
    """What is known of the sites, the number of pages of each, samples of the first sites."""

    known: InMemoryKnowledge
    pages: dict[str, int] = field(default_factory=dict)
    samples: dict[str, SiteSample] = field(default_factory=dict)


def sample_sites(
    pages: SitedPages, choice: MethodChoice, *, sites: int, store: Store | None = None
) -> SampledSites:
    """Read pages, sample the first ``sites`` sites and learn those that ``store`` does not know."""
    found = SampledSites(InMemoryKnowledge())
    denoiser = Denoiser(choice, knowledge=found.known)
    known, key = set(store.known()) if store is not None else set(), choice.key
    for site, url, html in pages:
        found.pages[site] = found.pages.get(site, 0) + 1
        if site in found.samples or len(found.samples) < sites:
            found.samples.setdefault(site, SiteSample()).add(url, html)
        if (site, key) in known or not denoiser.learns:
            continue
        try:
            denoiser.learn(Page.parse(url, html, site=site))
        except Exception:  # noqa: S112 - judging will fail as well, and counts it
            continue
    denoiser.save()
    return found


def style_tree_of(
    site: str, sample: SiteSample | None, options: Mapping[str, object], store: Store | None
) -> tuple[StyleTree | None, str]:
    """Return the style tree of a site, and a note where it comes from.

    Args:
        site: The name of the site.
        sample: Pages of the site, which are learned if the store has no tree.
        options: The options of the method.
        store: The store of a crawl.

    Returns:
        The tree, None if there is none; and the note, or why there is none.

    """
    method = StyleTree(**options)  # type: ignore[arg-type]
    stored = store.knowledge(site, method.store_key) if store else []
    if stored:
        try:
            method.merge_bytes(stored[0])
        except ValueError as error:
            return None, f"The style tree in the store cannot be read: {error}."
        no_words = " It keeps hashes, not words: name pages beside the store to see what nodes say."
        return method, "The tree is the one in the store." + ("" if sample else no_words)
    for url, html in sample.pages() if sample else ():
        page = Page.parse(url, html, site=site)
        if not page.skipped:
            method.observe(page)
    if method.pages_known:
        return method, f"Learned from {counted(method.pages_known, 'page')} of those given, for this report."
    if store and not sample:
        return None, (
            "The store holds no style tree of this site: the method of the crawl keeps none. Name pages beside "
            "the store to have one learned."
        )
    return None, "No page of this site can be read, so there is no style tree."
