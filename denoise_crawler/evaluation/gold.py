"""Gold sets: pages with the text a perfect extractor would give, one JSON object a line."""

from __future__ import annotations

import lzma
import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

CORPUS_VARIABLE = "DENOISE_CORPUS"


class GoldPage(msgspec.Struct):
    """One page of a gold set; ``gold`` is None where nobody wrote one, ``attrs`` are values it must keep."""

    id: str
    site: str
    html: str
    url: str | None = None
    lang: str | None = None
    gold: str | None = None
    attrs: dict[str, list[str]] = {}

    @property
    def address(self) -> str:
        """The page's url, or one made of its site and id."""
        return self.url or f"https://{self.site}/{self.id}"


def corpus_folder() -> Path | None:
    """Return the folder that the environment variable ``DENOISE_CORPUS`` names, None without one."""
    folder = os.environ.get(CORPUS_VARIABLE)
    return Path(folder) if folder else None


def read_gold(folder: Path, name: str) -> Iterator[GoldPage]:
    """Yield the pages of ``name``.jsonl.xz in ``folder``."""
    decode = msgspec.json.Decoder(GoldPage).decode
    with lzma.open(folder / f"{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield decode(line)


def by_site(pages: Iterator[GoldPage], at_least: int = 1) -> dict[str, list[GoldPage]]:
    """Group ``pages`` by site, leaving out sites with fewer than ``at_least``."""
    sites: dict[str, list[GoldPage]] = {}
    for page in pages:
        sites.setdefault(page.site, []).append(page)
    return {site: found for site, found in sites.items() if len(found) >= at_least}
