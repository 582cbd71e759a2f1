"""Pages that a store keeps as samples of their sites: rows without items, which stay when a run ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from denoise_crawler.methods.versioned_format import deflate
from denoise_crawler.page.text import without_lone_surrogates
from denoise_crawler.store.file import transaction

if TYPE_CHECKING:
    import sqlite3

ORIGIN = b"sample"  # of the row of a page; those of other pages are fingerprints of 20 bytes
MAX_CHARACTERS = 1_000_000
_LEVEL = 6


def keep(db: sqlite3.Connection, site: str, url: str, html: str, most: int) -> bool:
    """Keep a page unless there are ``most`` of its site; tell whether there is room for another one."""
    site, url = without_lone_surrogates(site), without_lone_surrogates(url)
    packed = deflate(html[:MAX_CHARACTERS].encode("utf-8", "replace"), _LEVEL)
    with transaction(db):
        rows = db.execute("SELECT url FROM page WHERE site = ? AND origin = ?", (site, ORIGIN))
        kept = {row[0] for row in rows}
        if html and url not in kept and len(kept) < most and len(html) <= MAX_CHARACTERS:
            db.execute(
                "INSERT INTO page (origin, site, url, html) VALUES (?, ?, ?, ?)", (ORIGIN, site, url, packed)
            )
            kept.add(url)
    return len(kept) < most


def delete_pages_without_items(db: sqlite3.Connection) -> None:
    """Delete the pages that nothing waits for, but no samples, and the responses of no page."""
    db.execute(
        "DELETE FROM page WHERE origin <> ? AND NOT EXISTS (SELECT 1 FROM parked WHERE page = page.id)", (ORIGIN,)
    )
    db.execute("DELETE FROM response WHERE NOT EXISTS (SELECT 1 FROM page WHERE response = response.id)")
