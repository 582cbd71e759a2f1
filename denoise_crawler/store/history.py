"""What each run saw of a site, a small row a run, so that a report can show the site over time."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from denoise_crawler.page.text import without_lone_surrogates

if TYPE_CHECKING:
    import sqlite3

MAX_RUNS = 300  # of a site and method, the last ones
_PLACES = ", ".join("?" * 11)
_TOO_OLD = (
    "DELETE FROM history WHERE site = ?1 AND method = ?2 AND begun < "
    "(SELECT begun FROM history WHERE site = ?1 AND method = ?2 ORDER BY begun DESC LIMIT 1 OFFSET ?3)"
)


@dataclass(slots=True)
class SiteRun:
    """What one run saw of a site.

    Attributes:
        begun: When the run began, in milliseconds since 1970: two short runs may begin in one second.
        run: The name of the run; empty for the one that has the store open.
        pages: Pages that had anything to read.
        visible: The characters of the pages that were judged, without white space.
        kept: Those of them that were no noise.
        compared: Pages that came when the site was known.
        novelty: The sum of their novelty in thousandths: the share of text where no known page has any.
        layouts: New layouts that were found.
        template: Lines that came back on pages of the site; 0 for a method that counts none.
    """

    begun: int
    run: str = ""
    pages: int = 0
    visible: int = 0
    kept: int = 0
    compared: int = 0
    novelty: int = 0
    layouts: int = 0
    template: int = 0

    @property
    def drift(self) -> float | None:
        """The mean novelty (0 to 1) of the pages that came when the site was known; None if none did.

        Example:
            >>> SiteRun(0, compared=4, novelty=1_000).drift
            0.25
        """
        return self.novelty / 1_000 / self.compared if self.compared else None


def save(db: sqlite3.Connection, site: str, method: str, one: SiteRun, run: str) -> None:
    """Keep what a run saw of a site, and forget the runs before the last MAX_RUNS."""
    site = without_lone_surrogates(site)
    begun, own, *rest = astuple(one)
    values = (site, method, begun, own or run, *rest)
    db.execute(f"INSERT OR REPLACE INTO history VALUES ({_PLACES})", values)  # noqa: S608 - places only
    db.execute(_TOO_OLD, (site, method, MAX_RUNS - 1))


def of_site(db: sqlite3.Connection, site: str, method: str) -> list[SiteRun]:
    """Return what each run saw of a site, in the order of time."""
    query = (
        "SELECT begun, run, pages, visible, kept, compared, novelty, layouts, template FROM history "
        "WHERE site = ? AND method = ? ORDER BY begun, run"
    )
    return [SiteRun(*row) for row in db.execute(query, (without_lone_surrogates(site), method))]
