"""The store as a crawl uses it: when it fails, the crawl goes on and no item is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Concatenate, ParamSpec, TypeVar

from denoise_crawler.errors import DamagedRowError
from denoise_crawler.methods import MethodChoice
from denoise_crawler.store import Store
from denoise_crawler.store.parked_rows import Parked, ParkedPage
from denoise_crawler.store.shared import StoredKnowledge

P = ParamSpec("P")
T = TypeVar("T")


class GuardedStore:
    """A store whose errors are handed to ``on_error`` and then answered with a default."""

    def __init__(self, store: Store, on_error: Callable[[Exception], None]) -> None:
        self._store, self.report = store, on_error
        self._hidden_origins: set[bytes] = set()  # of inherited items that could not be dropped

    def safely(
        self, default: T, call: Callable[Concatenate[Store, P], T], *values: P.args, **named: P.kwargs
    ) -> T:
        """Return what a method of the store returns, such as ``Store.inherit``; ``default`` if it raises."""
        try:
            return call(self._store, *values, **named)
        except Exception as error:  # no error of the store costs an item
            self.report(error)
            return default

    def park(self, page: ParkedPage, item: bytes) -> bool:
        """Let an item of ``page`` wait; return False if that fails."""
        try:
            self._store.park(page, item)
        except Exception as error:
            self.report(error)
            return False
        return True

    def knowledge_by(self, choice: MethodChoice) -> StoredKnowledge:
        """Return the knowledge of a method in the store."""
        return StoredKnowledge(self._store, choice, on_error=self.report)

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
        """Return a page that has waiting items; raise DamagedRowError if it is damaged."""
        try:
            return self._store.page(row)
        except DamagedRowError:
            raise
        except Exception as error:
            self.report(error)
            raise

    def pages_waiting(self, site: str | None = None, *, inherited: bool = True) -> Iterator[tuple[bytes, str]]:
        """Yield (origin, site) of the pages with waiting items, in the order of their first items."""
        last = -1
        while pages := self.safely([], Store.origins_waiting, site, last, inherited=inherited):
            last = pages[-1].first
            yield from ((page.origin, page.site) for page in pages)

    def waiting_of(self, origin: bytes, site: str, *, inherited: bool = True) -> Iterator[list[Parked]]:
        """Yield the waiting items of a page that can be read, in batches."""
        try:
            for batch in self._store.waiting_of(origin, site, inherited=inherited):
                yield [one for one in batch if not (one.inherited and origin in self._hidden_origins)]
        except Exception as error:
            self.report(error)

    def release(self, batch: list[Parked]) -> list[Parked]:
        """Mark items as released; return those that waited and could be marked.

        If that fails for all at once, each is tried alone.
        """
        try:
            return self._store.release_together(batch)
        except Exception:
            alone = [self.safely([], Store.release_together, [parked]) for parked in batch]
            return [parked for released in alone for parked in released]

    def note_gone(self, parked: Parked) -> None:
        """Record that an item that was released with others goes on now."""
        self._store.note_gone(parked)

    def supersede(self, origin: bytes) -> int:
        """Drop the inherited items of a page that was fetched again; return how many."""
        dropped = self.safely(-1, Store.supersede, origin)
        if dropped < 0:
            self._hidden_origins.add(origin)  # at least this run does not release them
        return max(dropped, 0)
