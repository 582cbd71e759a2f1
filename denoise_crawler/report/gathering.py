"""The first reading of the pages: their sites are learned, and of each some pages are kept."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from denoise_crawler.denoiser import Denoiser, Memory
from denoise_crawler.methods import method_named
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from denoise_crawler.report.store_view import StoreView

    SitedPages = Iterable[tuple[str, str, str | bytes]]  # site, url, html

SAMPLE = 50
_SAMPLE_BYTES = 64 << 20


@dataclass(slots=True)
class Sample:
    """Pages of one site, packed: for its style tree and its learning curve."""

    packed: list[tuple[str, bool, bytes]] = field(default_factory=list)
    size: int = 0

    def add(self, url: str, html: str | bytes) -> None:
        """Keep a page, if there is still room."""
        if len(self.packed) >= SAMPLE or self.size > _SAMPLE_BYTES:
            return
        body = html.encode("utf-8", "surrogatepass") if isinstance(html, str) else html
        self.packed.append((url, isinstance(html, str), zlib.compress(body, 1)))
        self.size += len(self.packed[-1][2])

    def pages(self) -> Iterator[tuple[str, str | bytes]]:
        """Yield the pages, as they came."""
        for url, is_text, packed in self.packed:
            body = zlib.decompress(packed)
            yield url, body.decode("utf-8", "surrogatepass") if is_text else body


@dataclass(slots=True)
class Gathered:
    """What the first reading found: by site the number of pages, and of the first ``sites`` a sample."""

    denoiser: Denoiser
    pages: dict[str, int] = field(default_factory=dict)
    samples: dict[str, Sample] = field(default_factory=dict)


def gather(
    pages: SitedPages, method: str, options: dict[str, object], *, sites: int, store: StoreView | None = None
) -> Gathered:
    """Read ``pages`` and learn the sites of which ``store`` knows nothing by this method."""
    knowledge = _Knowledge(store, method_named(method, options).store_key)
    found = Gathered(Denoiser(method, options, shelf=knowledge))
    for site, url, html in pages:
        found.pages[site] = found.pages.get(site, 0) + 1
        if site in found.samples or len(found.samples) < sites:
            found.samples.setdefault(site, Sample()).add(url, html)
        if knowledge.is_stored(site) or not found.denoiser.learns:
            continue
        try:
            found.denoiser.learn(Page.parse(url, html, site=site))
        except Exception:  # noqa: S112 - it will fail again when it is judged, and is counted there
            continue
    return found


class _Knowledge(Memory):
    """A shelf in memory, before that of a store, which is never written."""

    def __init__(self, store: StoreView | None, key: str) -> None:
        super().__init__()
        self._store, self._key = store, key

    def get(self, site: str) -> bytes | None:  # type: ignore[override]
        """Return what is known of ``site``."""
        return super().get(site) or (self._store.knowledge(site, self._key) if self._store else None)

    def is_stored(self, site: str) -> bool:
        """Tell whether the store knows ``site``."""
        found = self._store.sites.get(site) if self._store else None
        return found is not None and self._key in found.known_by
