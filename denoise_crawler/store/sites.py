"""What a store holds of sites: progress and knowledge by method, sample pages."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from denoise_crawler.methods.stored_bytes import deflate
from denoise_crawler.page.text import without_lone_surrogates
from denoise_crawler.store.file import transaction


@dataclass(frozen=True, slots=True)
class SiteState:
    """The progress of a site: pages seen so far, and whether its warm-up is over."""

    pages_seen: int = 0
    ready: bool = False


@dataclass(slots=True)
class StoredSite:
    """A site by all methods.

    Attributes:
        states: Its progress, by the store key of the method.
        known_by: The store keys of the methods that know it.
        waiting: How many of its items wait, of all runs.
    """

    states: dict[str, SiteState] = field(default_factory=dict)
    known_by: list[str] = field(default_factory=list)
    waiting: int = 0


# --- rows

SAMPLE = b"sample"  # the origin of a sample page; those of other pages are fingerprints of 20 bytes
MAX_SAMPLE_CHARACTERS = 1_000_000
_SAMPLE_LEVEL = 6  # of zlib


class SiteTables:
    """The tables of sites in an open store file; ``run`` is the name of the run that has it open."""

    def __init__(self, db: sqlite3.Connection, run: str) -> None:
        self._db, self.run = db, run

    def together(self) -> AbstractContextManager[object]:
        """Commit at once all that is written inside a block."""
        return transaction(self._db)

    def site(self, name: str, method: str) -> SiteState:
        """Return the progress of a site with a method."""
        query = "SELECT pages_seen, ready FROM site WHERE name = ? AND method = ?"
        row = self._db.execute(query, (name, method)).fetchone()
        return SiteState(row[0], bool(row[1])) if row else SiteState()

    def knowledge(self, site: str, method: str) -> list[bytes]:
        """Return the knowledge of a site in a list, empty if there is none."""
        query = "SELECT knowledge FROM site WHERE name = ? AND method = ? AND knowledge IS NOT NULL"
        return [row[0] for row in self._db.execute(query, (site, method))]

    def sites(self) -> dict[str, StoredSite]:
        """Return all sites by name, those with the most pages seen first."""
        sites: dict[str, StoredSite] = {}
        for name, method, pages_seen, ready, is_known in self._db.execute(
            "SELECT name, method, pages_seen, ready, knowledge IS NOT NULL FROM site "
            "ORDER BY pages_seen DESC, name, method"
        ):
            site = sites.setdefault(name, StoredSite())
            site.states[method] = SiteState(pages_seen, bool(ready))
            site.known_by += [method] if is_known else []
        for name, waiting in self._db.execute(
            "SELECT site, count(*) FROM parked JOIN page ON page.id = page WHERE NOT released GROUP BY site"
        ):
            sites.setdefault(name, StoredSite()).waiting = waiting
        return sites

    def save_state(self, name: str, method: str, state: SiteState) -> None:
        """Keep the progress of a site, unless another run has got further."""
        with transaction(self._db) as db:
            db.execute(
                "INSERT INTO site (name, method, pages_seen, ready) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE "
                "SET pages_seen = max(pages_seen, excluded.pages_seen), ready = max(ready, excluded.ready)",
                (name, method, state.pages_seen, state.ready),
            )

    def save_knowledge(self, site: str, method: str, known: bytes, merge: Callable[[list[bytes]], bytes]) -> None:
        """Keep knowledge of a site; ``merge`` makes one of the stored knowledge and ``known``."""
        with transaction(self._db) as db:
            stored = self.knowledge(site, method)
            if stored == [known]:
                return
            merged = merge([*stored, known]) if stored else known
            db.execute(
                "INSERT INTO site (name, method, knowledge) VALUES (?1, ?2, ?3) "
                "ON CONFLICT DO UPDATE SET knowledge = ?3",
                (site, method, merged),
            )

    def keep_sample(self, site: str, url: str, html: str, most: int) -> bool:
        """Keep a page as one of ``most`` samples of its site; return whether there is room for another one."""
        site, url = without_lone_surrogates(site), without_lone_surrogates(url)
        packed = deflate(html[:MAX_SAMPLE_CHARACTERS].encode("utf-8", "replace"), _SAMPLE_LEVEL)
        with transaction(self._db) as db:
            rows = db.execute("SELECT url FROM page WHERE site = ? AND origin = ?", (site, SAMPLE))
            kept = {row[0] for row in rows}
            if html and url not in kept and len(kept) < most and len(html) <= MAX_SAMPLE_CHARACTERS:
                values = (SAMPLE, site, url, packed)
                db.execute("INSERT INTO page (origin, site, url, html) VALUES (?, ?, ?, ?)", values)
                kept.add(url)
        return len(kept) < most
