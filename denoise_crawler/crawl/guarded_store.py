"""The store as a crawl uses it: when it fails, the crawl goes on and no item is lost; and as commands read it."""

from __future__ import annotations

from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from denoise_crawler.errors import DamagedRowError
from denoise_crawler.methods.base import InMemoryKnowledge
from denoise_crawler.store import SiteState, Store
from denoise_crawler.store.stored_knowledge import StoredKnowledge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from denoise_crawler.denoiser import Cleaning, Denoiser
    from denoise_crawler.methods import MethodChoice
    from denoise_crawler.store import SiteRun
    from denoise_crawler.store.parked_rows import Parked, ParkedPage

T = TypeVar("T")


class GuardedStore:
    """A store whose errors are reported and then answered with a default.

    Args:
        store: The store.
        on_error: Called with each error.
    """

    def __init__(self, store: Store, on_error: Callable[[Exception], None]) -> None:
        self._store = store
        self._on_error = on_error
        self._hidden_origins: set[bytes] = set()

    def site(self, name: str, key: str) -> SiteState:
        """Return how far a site has come; the state of a new site if it cannot be read."""
        return self._call_safely(lambda: self._store.site(name, key), SiteState())

    def knowledge_by(self, choice: MethodChoice) -> StoredKnowledge:
        """Return what a method knows of sites."""
        return StoredKnowledge(self._store, choice, on_error=self._on_error)

    def save_state(self, name: str, key: str, state: SiteState) -> None:
        """Save how far a site has come."""
        self._call_safely(lambda: self._store.save_state(name, key, state), None)

    def save_run(self, site: str, key: str, one: SiteRun) -> None:
        """Save what this run saw of a site."""
        self._call_safely(lambda: self._store.save_run(site, key, one), None)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Commit at once all that is written inside the block."""
        transaction = ExitStack()
        self._call_safely(lambda: transaction.enter_context(self._store.together()), None)
        try:
            yield
        finally:
            self._call_safely(transaction.close, None)

    def park(self, page: ParkedPage, item: bytes) -> bool:
        """Let an item of ``page`` wait; return False if that fails."""
        return self._call_safely(lambda: self._store.park(page, item), False, done=True)

    def keep_sample(self, site: str, url: str, html: str, most: int) -> bool:
        """Keep a page as a sample of its site; return whether there is room for another one."""
        return self._call_safely(lambda: self._store.keep_sample(site, url, html, most), False)

    def page(self, row: int) -> ParkedPage:
        """Return a page that has waiting items; raise DamagedRowError if it cannot be read."""
        try:
            return self._store.page(row)
        except DamagedRowError:
            raise
        except Exception as error:
            self._on_error(error)
            raise DamagedRowError(f"its page cannot be read: {error}") from error

    def pages_waiting(self, site: str | None = None) -> list[tuple[str, int]]:
        """Return the site and the row number of each page that has waiting items, as the store does."""
        return self._call_safely(lambda: self._store.pages_waiting(site), [])

    def waiting(self, site: str | None = None, *, inherited: bool = True) -> Iterator[list[Parked]]:
        """Yield the waiting items that can be read, in batches."""
        try:
            for batch in self._store.waiting_batches(site, inherited=inherited):
                yield [one for one in batch if not (one.inherited and one.origin in self._hidden_origins)]
        except Exception as error:
            self._on_error(error)

    def release(self, batch: list[Parked]) -> list[Parked]:
        """Note that items wait no longer; return them. Where that fails for all at once, each is tried alone.

        Those are left out that wait on because it fails, or that have left before.
        """
        released: list[Parked] = []
        try:
            return self._store.release_together(batch)
        except Exception:
            for one in batch:
                released += self._call_safely(partial(self._store.release_together, [one]), [])
        return released

    def note_gone(self, parked: Parked) -> None:
        """Note that an item that was released with others goes on now."""
        self._store.note_gone(parked)

    def keep_waiting(self, batch: list[Parked]) -> None:
        """Let items that were released with others wait again, because they did not go on."""
        self._call_safely(lambda: self._store.keep_waiting(batch), None)

    def waiting_count(self, site: str | None = None, *, inherited: bool = True) -> int:
        """Return how many items wait."""
        return self._call_safely(lambda: self._store.waiting_count(site, inherited=inherited), 0)

    def supersede(self, origin: bytes) -> int:
        """Drop the inherited items of a page that was fetched again; return how many."""
        dropped = self._call_safely(lambda: self._store.supersede(origin), -1)
        if dropped < 0:
            self._hidden_origins.add(origin)  # at least this run does not release them
        return max(dropped, 0)

    def inherit(self) -> int:
        """Take over the items of runs that ended early; return how many."""
        return self._call_safely(self._store.inherit, 0)

    def close(self, *, safe: bool) -> None:
        """Close the file. Unless the feeds are ``safe``, the items that were released wait again."""
        self._call_safely(lambda: self._store.close(safe=safe), None)

    def _call_safely(self, call: Callable[[], object], default: T, *, done: T | None = None) -> T:
        try:
            result = call()
        except Exception as error:  # no error of the store costs an item
            self._on_error(error)
            return default
        return done if done is not None else result  # type: ignore[return-value]


@contextmanager
def open_denoiser(path: Path | None, cleaning: Cleaning) -> Iterator[Denoiser]:
    """Open the store of a crawl, read-only, and make a denoiser that knows its sites.

    Args:
        path: The file of the store, None if there is none.
        cleaning: How pages are cleaned.

    Yields:
        The denoiser. What it learns stays in memory.

    Raises:
        StoreError: The file cannot be read.
    """
    cleaning = replace(cleaning, writing=replace(cleaning.writing, history=None))  # to look at a page is no visit
    if path is None:
        yield cleaning.denoiser()
        return
    with closing(Store(path, read_only=True)) as store:
        yield cleaning.denoiser(InMemoryKnowledge(below=StoredKnowledge(store, cleaning.choice)))
