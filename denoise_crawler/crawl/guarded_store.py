"""The store as a crawl uses it: whatever fails there, the crawl goes on and no item is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from denoise_crawler.errors import DamagedRowError
from denoise_crawler.store import SiteState
from denoise_crawler.store.stored_knowledge import StoredKnowledge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from denoise_crawler.methods import MethodChoice
    from denoise_crawler.methods.knowledge import Knowledge
    from denoise_crawler.store import Store
    from denoise_crawler.store.parked import Parked, ParkedPage

T = TypeVar("T")


class GuardedStore:
    """A store of which every failure is told to ``failed`` and then taken as an empty answer."""

    def __init__(self, store: Store, failed: Callable[[Exception], None]) -> None:
        self._store = store
        self._failed = failed
        self._superseded: set[bytes] = set()
        self._write: Callable[[], None] = lambda: None

    def write_first(self, write: Callable[[], None]) -> None:
        """Have ``write`` called before what waits is read, and before the file is closed."""
        self._write = write

    def site(self, name: str, key: str) -> SiteState:
        """Return how far a site has come; a new one's state if it cannot be read."""
        return self._tried(lambda: self._store.site(name, key), SiteState())

    def knowledge_by(self, choice: MethodChoice) -> GuardedKnowledge:
        """Return what is known of sites by a method."""
        return GuardedKnowledge(StoredKnowledge(self._store, choice), self._failed)

    def save_state(self, name: str, key: str, state: SiteState) -> None:
        """Keep how far a site has come."""
        self._tried(lambda: self._store.save_state(name, key, state), None)

    def park(self, page: ParkedPage, items: list[bytes]) -> bool:
        """Let items of ``page`` wait; return whether they do."""
        return self._tried(lambda: self._store.park(page, *items), False, done=True)

    def page(self, row: int) -> ParkedPage:
        """Return a page of which items wait; raise DamagedRowError where it cannot be read."""
        try:
            return self._store.page(row)
        except DamagedRowError:
            raise
        except Exception as error:
            self._failed(error)
            raise DamagedRowError(f"its page cannot be read: {error}") from error

    def pages_waiting(self) -> list[tuple[str, int]]:
        """Return the site and the number of each page of which items wait."""
        self._write()
        return self._tried(self._store.pages_waiting, [])

    def waiting(self, site: str | None = None, *, inherited: bool = True) -> Iterator[Parked]:
        """Yield the items that wait, as far as they can be read."""
        self._write()
        try:
            for parked in self._store.waiting(site, inherited=inherited):
                if parked.origin not in self._superseded or not parked.inherited:
                    yield parked
        except Exception as error:
            self._failed(error)

    def hand_on(self, parked: list[Parked]) -> bool:
        """Note that items wait no longer; if that fails they go on waiting, and must not go out now."""
        return self._tried(lambda: self._store.hand_on(parked), False, done=True)

    def take_back(self, parked: list[Parked]) -> None:
        """Note that items that were handed on wait again."""
        self._tried(lambda: self._store.take_back(parked), None)

    def waiting_count(self, site: str | None = None, *, inherited: bool = True) -> int:
        """Return how many items wait."""
        self._write()
        return self._tried(lambda: self._store.waiting_count(site, inherited=inherited), 0)

    def supersede(self, origin: bytes) -> int:
        """Drop the inherited items of a page that has come again; return how many."""
        dropped = self._tried(lambda: self._store.supersede(origin), -1)
        if dropped < 0:
            self._superseded.add(origin)  # so that they do not come out in this run at least
        return max(dropped, 0)

    def inherit(self) -> int:
        """Take over the items of runs that ended early; return how many."""
        return self._tried(self._store.inherit, 0)

    def close(self, *, safe: bool) -> None:
        """Close the file; unless the feeds are ``safe``, what was handed on waits again."""
        self._write()
        self._tried(lambda: self._store.close(safe=safe), None)

    def _tried(self, call: Callable[[], object], otherwise: T, *, done: T | None = None) -> T:
        return _tried(call, self._failed, otherwise, done=done)


class GuardedKnowledge:
    """What a store knows of sites, of which every failure is told to ``failed``; the next put writes it again."""

    def __init__(self, knowledge: Knowledge, failed: Callable[[Exception], None]) -> None:
        self._knowledge, self._failed = knowledge, failed

    def get(self, site: str) -> bytes | None:
        """Return what is known of ``site``, None also if it cannot be read."""
        return _tried(lambda: self._knowledge.get(site), self._failed, None)

    def put(self, site: str, known: bytes) -> None:
        """Keep what is ``known`` of ``site``."""
        _tried(lambda: self._knowledge.put(site, known), self._failed, None)


def _tried(
    call: Callable[[], object], failed: Callable[[Exception], None], otherwise: T, *, done: T | None = None
) -> T:
    try:
        found = call()
    except Exception as error:  # whatever it is, it costs no item
        failed(error)
        return otherwise
    return done if done is not None else found  # type: ignore[return-value]
