"""The first reading of the pages: it learns their sites and keeps a sample of each."""

from __future__ import annotations

import pickle
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from denoise_crawler.denoiser import Denoiser
from denoise_crawler.methods.site_knowledge import InMemoryKnowledge
from denoise_crawler.page import Page
from denoise_crawler.store.stored_knowledge import StoredKnowledge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from denoise_crawler.methods import MethodChoice
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
    """The number of pages of each site, samples of the first sites, and a denoiser that knows the sites."""

    denoiser: Denoiser
    pages: dict[str, int] = field(default_factory=dict)
    samples: dict[str, SiteSample] = field(default_factory=dict)


def sample_sites(
    pages: SitedPages, choice: MethodChoice, *, sites: int, store: Store | None = None
) -> SampledSites:
    """Read pages, sample the first ``sites`` sites and learn those that ``store`` does not know."""
    stored = StoredKnowledge(store, choice) if store is not None else None
    found = SampledSites(Denoiser(choice, knowledge=InMemoryKnowledge(below=stored)))
    known, key = set(store.known()) if store is not None else set(), choice.key
    for site, url, html in pages:
        found.pages[site] = found.pages.get(site, 0) + 1
        if site in found.samples or len(found.samples) < sites:
            found.samples.setdefault(site, SiteSample()).add(url, html)
        if (site, key) in known or not found.denoiser.learns:
            continue
        try:
            found.denoiser.learn(Page.parse(url, html, site=site))
        except Exception:  # noqa: S112 - judging will fail as well, and counts it
            continue
    return found
