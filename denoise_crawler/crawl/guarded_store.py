"""The store as a crawl uses it: when it fails, the crawl goes on and no item is lost; and as commands read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from denoise_crawler.denoiser import Cleaning, Denoiser
from denoise_crawler.errors import DamagedRowError
from denoise_crawler.methods import MethodChoice
from denoise_crawler.methods.base import InMemoryKnowledge
from denoise_crawler.store import Store
from denoise_crawler.store.parked_rows import Parked, ParkedPage
from denoise_crawler.store.shared import StoredKnowledge

P = ParamSpec("P")
T = TypeVar("T")


class GuardedStore:
    """A store whose errors are handed to ``on_error`` and then answered with a default."""

    def __init__(self, store: Store, on_error: Callable[[Exception], None]) -> None:
        self._store, self._on_error = store, on_error
        self._hidden_origins: set[bytes] = set()

    def safely(
        self, default: T, call: Callable[Concatenate[Store, P], T], *values: P.args, **named: P.kwargs
    ) -> T:
        """Return what a method of the store returns, such as ``Store.inherit``; ``default`` if it raises."""
        try:
            return call(self._store, *values, **named)
        except Exception as error:  # no error of the store costs an item
            self._on_error(error)
            return default

    def park(self, page: ParkedPage, item: bytes) -> bool:
        """Let an item of ``page`` wait; return False if that fails."""
        try:
            self._store.park(page, item)
        except Exception as error:
            self._on_error(error)
            return False
        return True

    def knowledge_by(self, choice: MethodChoice) -> StoredKnowledge:
        """Return what a method knows of sites."""
        return StoredKnowledge(self._store, choice, on_error=self._on_error)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Commit at once all that is written inside the block."""
        transaction = ExitStack()
        self.safely(None, lambda store: transaction.enter_context(store.together()))
        try:
            yield
        finally:
            self.safely(None, lambda _: transaction.close())

    def page(self, row: int) -> ParkedPage:
        """Return a page that has waiting items; raise DamagedRowError if it cannot be read."""
        try:
            return self._store.page(row)
        except DamagedRowError:
            raise
        except Exception as error:
            self._on_error(error)
            raise DamagedRowError(f"its page cannot be read: {error}") from error

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
        try:
            return self._store.release_together(batch)
        except Exception:
            alone = [self.safely([], Store.release_together, [one]) for one in batch]
            return [one for released in alone for one in released]

    def note_gone(self, parked: Parked) -> None:
        """Note that an item that was released with others goes on now."""
        self._store.note_gone(parked)

    def supersede(self, origin: bytes) -> int:
        """Drop the inherited items of a page that was fetched again; return how many."""
        dropped = self.safely(-1, Store.supersede, origin)
        if dropped < 0:
            self._hidden_origins.add(origin)  # at least this run does not release them
        return max(dropped, 0)


@contextmanager
def open_denoiser(path: Path | None, cleaning: Cleaning) -> Iterator[Denoiser]:
    """Open the store of a crawl, read-only, and make a denoiser that knows its sites.

    What it learns stays in memory. Without a path it knows none.

    Raises:
        StoreError: The file cannot be read.
    """
    if path is None:
        yield cleaning.denoiser()
        return
    with closing(Store(path, read_only=True)) as store:
        yield cleaning.denoiser(InMemoryKnowledge(below=StoredKnowledge(store, cleaning.choice)))
