"""The items that leave: counted, and filled with the clean text of their page where that is possible."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any

from denoise_crawler.crawl.unsure_pages import UnwantedItem
from denoise_crawler.errors import GivenUpError, PartError, describe_error

if TYPE_CHECKING:
    from denoise_crawler.crawl.counts import Counts
    from denoise_crawler.crawl.failure_log import FailureLog
    from denoise_crawler.crawl.inline_cleaner import CleanedPage
    from denoise_crawler.crawl.item_filler import ItemFiller
    from denoise_crawler.crawl.outcomes import Outcomes
    from denoise_crawler.crawl.settings import DenoiseSettings
    from denoise_crawler.crawl.sites import Sites
    from denoise_crawler.crawl.source_page import SourcePage
    from denoise_crawler.crawl.unsure_pages import Emit, UnsurePages


class LeavingItems:
    """Counts items that leave and fills them. The items of a page leave in the order in which they came.

    Attributes:
        by_addon: Whether the spider middleware passes the items in, and no pipeline.
    """

    def __init__(
        self,
        settings: DenoiseSettings,
        sites: Sites,
        filler: ItemFiller,
        counts: Counts,
        outcomes: Outcomes,
        unsure: UnsurePages,
        failures: FailureLog,
    ) -> None:
        self._settings, self._sites, self._filler, self._counts = settings, sites, filler, counts
        self._outcomes, self._unsure, self._failures = outcomes, unsure, failures
        self.by_addon = False

    async def emit(self, item: Any, source: SourcePage | None) -> Any:
        """Count an item that leaves without having waited; return it filled where possible.

        Raise UnwantedItem to drop it.
        """
        return await self._safely(self._judge_and_emit, item, source)

    async def emit_judged(self, item: Any, source: SourcePage | None) -> Any:
        """Count an item whose page was judged and that leaves now; return it filled where possible.

        Raise UnwantedItem to drop it.
        """
        return await self._safely(self._emit, item, source)

    async def _safely(self, emit: Emit, item: Any, source: SourcePage | None) -> Any:
        try:
            return await emit(item, source)
        except UnwantedItem:
            raise
        except Exception as error:  # neither our mistake nor a class that we do not understand costs the item
            if not isinstance(error, GivenUpError):
                self._failures.report_page("A page" if source is None else source.page.url)
            return self.unfilled(item, error)

    async def _judge_and_emit(self, item: Any, source: SourcePage | None) -> Any:
        if source is None:
            return await self._emit(item, None)
        async with source.turn:
            await self.judge_for(item, source)
            return await self._emit(item, source)

    async def judge_for(self, item: Any, source: SourcePage, *, in_turn: bool = False) -> None:
        """Judge a page, if ``item`` needs its text: in the turn that it has, or in one that it waits for."""
        try:
            if self.needs_judging(item, source):
                async with nullcontext() if in_turn else self._sites.turns.of(source):
                    await self.judge(source)
        except Exception as error:  # the item leaves without a text
            self._give_up(source, error)

    def needs_judging(self, item: Any, source: SourcePage) -> bool:
        """Tell whether ``item`` needs the text of a page that is not judged yet."""
        if source.cleaned is not None or source.failed or source.skipped:
            return False
        try:
            return not isinstance(item, self._settings.skipped_items) and self._filler.can_fill(item)
        except Exception:  # it is reported when the item leaves
            return False

    async def judge(self, source: SourcePage) -> None:
        """Judge a page in its turn, once, unless there is nothing to read on it."""
        if source.cleaned is not None or source.failed:
            return
        try:
            await self._look(source)
            if not source.skipped:
                source.cleaned = await self._sites.clean(source.page)
                self.count_cleaned(source, source.cleaned)
        except Exception as error:
            self._give_up(source, error)

    async def _look(self, source: SourcePage) -> None:
        if not source.looked_at:
            source.skipped = await self._sites.skipped(source.page)
            source.looked_at = True

    def _give_up(self, source: SourcePage, error: Exception) -> None:
        source.failed = True
        self._failures.report_source(source, error)

    async def _emit(self, item: Any, source: SourcePage | None) -> Any:
        if isinstance(item, self._settings.skipped_items):
            self._counts.add("opted_out")
            return item
        if source is None or await self.is_skipped(source):
            if source is None:
                self._outcomes.count_without_page()
            self._outcomes.count_unfilled(item)
            return item
        if not self._filler.can_fill(item):
            self._outcomes.count_complete(item)
            return item
        return await self.fill(item, source)

    async def is_skipped(self, source: SourcePage) -> bool:
        """Tell, and count, whether there is nothing to read on a page."""
        try:
            if not source.failed:
                await self._look(source)
        except Exception as error:
            self._give_up(source, error)
        if source.skipped:
            self._outcomes.count_skipped(source, source.skipped)
        return bool(source.skipped)

    async def fill(self, item: Any, source: SourcePage) -> Any:
        """Return ``item`` with the clean text of its page, or with the error if that could not be judged."""
        if source.cleaned is None:
            return self.unfilled(item, source.error)
        self._counts.add("cleaned")
        return await self._fill(item, source, source.cleaned)

    def unfilled(self, item: Any, error: Exception | str | None) -> Any:
        """Count an item on whose page we failed; return it as it is, but for a field that wants the error."""
        with suppress(Exception):  # an item class that we do not understand must not cost the item
            self._outcomes.count_unfilled(item)
        with suppress(Exception):
            if said := describe_error(error) if isinstance(error, Exception) else error:
                return self._filler.fill_error(item, said)
        return item

    async def fill_raw(self, item: Any, source: SourcePage) -> Any:
        """Return ``item`` with all the text of its page."""
        self._counts.add("raw")
        if source.cleaned is None:
            source.cleaned = await self._sites.cleaner.raw(source.page)
        return await self._fill(item, source, source.cleaned)

    def count_cleaned(self, source: SourcePage, cleaned: CleanedPage) -> None:  # noqa: ARG002 - subclasses use it
        """Count a cleaned page."""
        self._failures.count_judgement(cleaned)
        self._counts.add("characters_before", cleaned.visible)
        self._counts.add("characters_after", cleaned.kept)
        self._unsure.count(clean_page := cleaned.clean_page)
        if (
            self._settings.writing.extractor
            and clean_page.text
            and clean_page.method == self._settings.choice.name
        ):
            self._failures.report_extractor(clean_page.url)

    async def _fill(self, item: Any, source: SourcePage, cleaned: CleanedPage) -> Any:
        try:
            part = self._filler.part_of(item)
            clean_page = await self._sites.cleaner.part(source.page, cleaned, part) if part else cleaned.clean_page
        except PartError as error:
            self._outcomes.count_missing_part(item, error)
            return item
        self._unsure.check(clean_page, has_text=self._filler.has_text(item))
        results = self._filler.fill_each(item, clean_page, whole=self.by_addon and not part)
        return self._outcomes.count_filled(results)
