"""How long the add-on keeps the event loop of a crawl from other work: each callback is timed."""

import asyncio
import gc
from collections import Counter
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import perf_counter, thread_time
from typing import Any

from denoise_crawler.crawl.crawl_denoiser import CrawlDenoiser
from denoise_crawler.crawl.parked_items import WaitingItems
from denoise_crawler.crawl.sites import Sites
from denoise_crawler.crawl.source_page import ResponsePages
from denoise_crawler.crawl.warmup import WarmupQueue

# What the add-on does on the event loop, by the methods that do it.
STAGES: dict[tuple[type, str], str] = {
    (ResponsePages, "of"): "page",
    (Sites, "learn"): "parse and learn",
    (Sites, "clean"): "judge and write",
    (Sites, "save_all"): "save",
    (WaitingItems, "park"): "park",
    (CrawlDenoiser, "_on_spider_opened"): "_on_spider_opened",
    (CrawlDenoiser, "_on_engine_stopped"): "_on_engine_stopped",
}
WAITING_STAGES: dict[tuple[type, str], str] = {(WarmupQueue, "waits"): "take"}
ENDING = "(the end of the crawl)"


@dataclass
class Pause:
    """One callback of the loop in which the add-on worked, and what it did most of that time."""

    url: str
    cpu: float = 0.0
    wall: float = 0.0
    garbage: float = 0.0  # CPU seconds that are in ``wall`` and ``stages``, not in ``cpu``
    stages: Counter[str] = field(default_factory=Counter)


_cause: ContextVar[str] = ContextVar("cause", default=ENDING)


class Meter:
    """Times every callback of the event loop, and what of it the add-on takes."""

    def __init__(self) -> None:
        self.pauses: list[Pause] = []
        self.longest = 0.0
        self.longest_collection = self._collecting = 0.0
        self._pause: Pause | None = None
        self._inside = 0

    def install(self) -> None:
        """Put the stop watch around the loop's callbacks and the add-on's entries."""
        gc.callbacks.append(self._collected)
        run = asyncio.Handle._run

        def timed(handle: asyncio.Handle) -> None:
            start = perf_counter()
            self._pause = None
            run(handle)
            self.longest = max(self.longest, perf_counter() - start)
            self._keep()

        asyncio.Handle._run = timed  # type: ignore[method-assign, assignment]
        for (owner, name), stage in STAGES.items():
            self._time(owner, name, stage)
        for (owner, name), stage in WAITING_STAGES.items():
            self._time_steps(owner, name, stage)
        self._time_each(WaitingItems, "_release_page", "release")
        pages_of = ResponsePages.__init__

        def begin(pages: ResponsePages, response: Any, *arguments: Any) -> None:
            _cause.set(response.url)
            pages_of(pages, response, *arguments)

        ResponsePages.__init__ = begin  # type: ignore[method-assign, assignment]

    def _collected(self, phase: str, _: object) -> None:
        if phase == "start":
            self._collecting = thread_time()
            return
        spent = thread_time() - self._collecting
        self.longest_collection = max(self.longest_collection, spent)
        if self._inside and self._pause is not None:
            self._pause.garbage += spent

    def _keep(self) -> None:
        if self._pause is not None:
            self.pauses.append(self._pause)

    def _time(self, owner: type, name: str, stage: str) -> None:
        function: Callable[..., Any] = getattr(owner, name)

        def timed(*arguments: Any) -> Any:  # no names, else a signal gives its handler all that it has
            with self._spent(stage):
                return function(*arguments)

        setattr(owner, name, timed)

    def _time_steps(self, owner: type, name: str, stage: str) -> None:
        """Time what a coroutine does itself, not what it waits for."""
        function: Callable[..., Coroutine[Any, Any, Any]] = getattr(owner, name)

        async def timed(*arguments: Any) -> Any:  # no names, else a signal gives its handler all that it has
            return await Steps(function(*arguments), lambda: self._spent(stage))

        setattr(owner, name, timed)

    def _time_each(self, owner: type, name: str, stage: str) -> None:
        function: Callable[..., Iterator[Any]] = getattr(owner, name)

        def timed(*arguments: Any, **named: Any) -> Iterator[Any]:
            items = function(*arguments, **named)
            while True:
                with self._spent(stage):
                    found = next(items, None)
                if found is None:
                    return
                yield found

        setattr(owner, name, timed)

    @contextmanager
    def _spent(self, stage: str) -> Iterator[None]:
        if self._pause is None:
            self._pause = Pause(_cause.get())
        pause, garbage = self._pause, self._pause.garbage
        cpu, wall, self._inside = thread_time(), perf_counter(), self._inside + 1
        try:
            yield
        finally:
            self._inside -= 1
            spent = thread_time() - cpu
            pause.stages[stage] += spent  # type: ignore[assignment]
            if not self._inside:
                pause.cpu += spent - (pause.garbage - garbage)
                pause.wall += perf_counter() - wall


@dataclass
class Steps:
    """Awaits a coroutine, with ``around`` it whenever it runs."""

    coroutine: Coroutine[Any, Any, Any]
    around: Callable[[], AbstractContextManager[None]]

    def __await__(self) -> Generator[Any, Any, Any]:
        """Run it step by step."""
        step, given = self.coroutine.send, None
        while True:
            try:
                with self.around():
                    awaited = step(given)
            except StopIteration as end:
                return end.value
            try:
                given = yield awaited
                step = self.coroutine.send
            except BaseException as error:  # it is told of all that is thrown at it
                given, step = error, self.coroutine.throw
