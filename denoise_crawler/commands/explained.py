"""A page explained: what is known of its site, and of each block why it was kept or dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

    from denoise_crawler.denoiser import Cleaned, Denoiser
    from denoise_crawler.page import Page


class Explained(NamedTuple):
    """A page that was cleaned with ``Writing(explain=True)``, and how many pages of its site are known."""

    cleaned: Cleaned
    known: int

    @property
    def blocks(self) -> list[Any]:
        """The blocks with their verdicts, none for a page that has nothing to read."""
        return list(self.cleaned.clean_page.explanation or [])

    def as_dict(self) -> dict[str, Any]:
        """Return all but the text."""
        clean = self.cleaned.clean_page
        return {
            "url": clean.url,
            "site": clean.site,
            "title": clean.title,
            "method": clean.method,
            "pages_known": self.known,
            "guarded": self.cleaned.guarded,
            "noise_ratio": clean.noise_ratio,
            "skipped": self.cleaned.page.skipped,
            "blocks": self.blocks,
        }


def clean_known(denoiser: Denoiser, page: Page) -> Explained:
    """Clean a page by what is known of the layout that it has; its site counts as warm if any page is."""
    method = denoiser.method_for_page(page)
    known = method.pages_known
    return Explained(denoiser.clean(page, warm=bool(known), method=method), known)
