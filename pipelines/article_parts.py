"""``ArticlePartsPipeline`` joins the parts of an article that has several pages into the item of the first."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem, NotConfigured
from scrapy.http import HtmlResponse, Response

from denoise_crawler.crawl.item_fate import ItemFate
from denoise_crawler.crawl.report import page_cleaned
from denoise_crawler.crawl.settings import abort_on_setup_error, is_off
from denoise_crawler.crawl.source_page import SourcePage
from denoise_crawler.output.writing import Writing
from denoise_crawler.page import Page
from denoise_crawler.page.article_parts import ArticlePart, part_among, part_of
from denoise_crawler.page.text import printable

if TYPE_CHECKING:
    from typing_extensions import Self

logger = logging.getLogger(__name__)

MAX_HELD = 500  # parts
_MAX_NOTED = 500  # parts whose items have not come yet
_MOST_REPEATED = 0.5  # of the text of a part: comments on a second page repeat their article above them
_LEAST_TITLE = 0.5  # of the words of the first title that the title of another part has


def following_part(response: Response) -> str | None:
    """Return the address of the next part of the article in ``response``, None if it names none.

    It is the address of ``rel=next``, where that is the response's own address but for the number of the part.
    """
    if not isinstance(response, HtmlResponse):
        return None
    part = part_among(response.url, response.selector.root, response.urljoin)
    return None if part is None else part.following


class HeldPart(DropItem):
    """The item is a part of an article, whose other parts are to come."""

    def __init__(self, url: str) -> None:
        super().__init__(f"held as a part of an article: {printable(url)}", log_level="DEBUG")


@dataclass(slots=True, eq=False)
class _Held:
    """A part whose item is held: where it stands, the title of its page, its response."""

    url: str
    part: ArticlePart
    title: str
    response: Response | None
    item: Any = None


class ArticlePartsPipeline:
    """Joins the text of the parts of an article into the item of the first part.

    Put it before the pipelines that store items, and behind :class:`DenoisePipeline`, if you use that. A part is
    an item of a page whose type is ``article`` and which names the part before or behind it (``rel=prev``,
    ``rel=next``) by an address that differs from its own by a number. The spider fetches the parts. They are held
    in memory, dropped for Scrapy, until the last has come; then the item of the first goes on in its place. What
    is still held when the spider is closed goes through the pipelines once more.
    """

    def __init__(self, crawler: Crawler) -> None:
        if is_off(crawler.settings):
            raise NotConfigured
        with abort_on_setup_error(crawler):
            self._fate = ItemFate.of(crawler)
        self._filler, self._report = self._fate.filler, self._fate.report
        self._noted: OrderedDict[str, _Held] = OrderedDict()
        self._held: OrderedDict[str, _Held] = OrderedDict()
        self._leaving: set[int] = set()
        self._ends = False
        crawler.signals.connect(self._note, page_cleaned)
        self._fate.before_close(self._end)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline; raise NotConfigured, SettingError or StoreError."""
        return cls(crawler)

    async def process_item(self, item: Any) -> Any:
        """Return the item; that of the first part with the text of all, if this was the last one to come.

        Raises:
            HeldPart: The item is a part, and others are to come.
        """
        if self._ends or id(item) in self._leaving:
            return item
        held = self._noted.pop(self._filler.url_of(item), None)
        if held is None or held.url in self._held or not isinstance(self._filler.text_of(item), str | list):
            return item
        held.item = item
        self._held[held.url] = held
        parts, is_whole = self._parts_with(held)
        if is_whole:
            return await self._take_out(parts)
        if len(self._held) > MAX_HELD:
            oldest = next(iter(self._held.values()))
            await self._let_go(self._parts_with(oldest)[0])
        raise HeldPart(held.url)

    def _note(self, page: Page, source: SourcePage) -> None:
        """Note of a page that was cleaned which part of an article it is; its items come behind this."""
        cleaned = source.cleaned
        if cleaned is None or cleaned.clean_page.page_type != "article" or not page.url:
            return
        if (part := part_of(page)) is None:
            return
        response = source.response
        if response is not None:
            response = response.replace()  # without the tree
        self._noted[page.url] = _Held(page.url, part, cleaned.clean_page.title, response)
        if len(self._noted) > _MAX_NOTED:
            self._noted.popitem(last=False)

    def _parts_with(self, one: _Held) -> tuple[list[_Held], bool]:
        """Return the parts that are held and stand in a row with ``one``, and whether they are all."""
        held, parts = self._held, [one]
        named_next = {other.part.following: other for other in held.values()}
        named_before = {other.part.previous: other for other in held.values()}
        while (before := named_next.get(parts[0].url) or held.get(parts[0].part.previous or "")) is not None:
            if before in parts:  # they name each other in a circle
                break
            parts.insert(0, before)
        while (after := held.get(parts[-1].part.following or "") or named_before.get(parts[-1].url)) is not None:
            if after in parts:
                break
            parts.append(after)
        return parts, parts[0].part.number == 1 and not parts[-1].part.following

    async def _take_out(self, parts: list[_Held]) -> Any:
        """Return the item of the first of ``parts`` with the text of those that go on with it; send the others."""
        first, lines, texts = parts[0], set[str](), []
        for part in parts:
            del self._held[part.url]
        for number, part in enumerate(parts):
            if number and not _goes_on(first, part, self._filler.text_of(part.item), lines):
                break
            texts.append(self._filler.text_of(part.item))
            lines.update(_lines(texts[-1]))
        joined, others = parts[: len(texts)], parts[len(texts) :]
        await self._send_apart(others)
        if len(joined) == 1:
            return first.item
        self._report.count("articles_joined")
        self._report.count("parts_joined", len(joined) - 1)
        return self._filler.with_text(first.item, _joined(texts, self._fate.settings.writing))

    async def _let_go(self, parts: list[_Held]) -> None:
        """Send what is held of an article: joined, if it begins with the first part."""
        if parts[0].part.number > 1:
            for part in parts:
                del self._held[part.url]
            await self._send_apart(parts)
            return
        first = parts[0]
        await self._send(await self._take_out(parts), first.response)

    async def _send_apart(self, parts: Iterable[_Held]) -> None:
        for part in parts:
            self._report.count("parts_apart")
            await self._send(part.item, part.response)

    async def _send(self, item: Any, response: Response | None) -> None:
        self._leaving.add(id(item))
        try:
            await self._fate.send(item, response)
        finally:
            self._leaving.discard(id(item))

    async def _end(self) -> None:
        """Send all that is still held; from now on nothing is held."""
        self._ends = True
        while self._held:
            with self._report.isolate_step("join the parts of an article"):
                await self._let_go(self._parts_with(next(iter(self._held.values())))[0])


def _goes_on(first: _Held, part: _Held, text: Any, known: set[str]) -> bool:
    """Tell whether a part goes on with an article: it has its title, and most of its text is new."""
    words = {word for word in first.title.lower().split() if not word.isdigit()}
    if words and part.title and len(words.intersection(part.title.lower().split())) < _LEAST_TITLE * len(words):
        return False
    lines = _lines(text)
    repeated = sum(len(line) for line in lines if line in known)
    return repeated <= _MOST_REPEATED * sum(map(len, lines))


def _lines(text: Any) -> list[str]:
    """Return the lines of a text, or the blocks of one, as strings."""
    return [line for line in text.splitlines() if line.strip()] if isinstance(text, str) else list(map(repr, text))


def _joined(texts: list[Any], writing: Writing) -> Any:
    """Join texts, or lists of blocks; what a later one begins with is left out if the first begins with it too."""
    if not all(isinstance(text, str) for text in texts):
        blocks = [text if isinstance(text, list) else [text] for text in texts]
        return [block for one in blocks for block in one]
    first = texts[0].splitlines()
    joined = [texts[0]]
    for text in texts[1:]:
        own = text.partition("\n---\n")[2] if writing.front_matter else text
        lines = (own or text).splitlines()
        pairs = enumerate(zip(first, lines, strict=False))
        same = next((at for at, (ours, theirs) in pairs if ours != theirs), min(len(first), len(lines)))
        joined.append("\n".join(lines[same:]).strip("\n"))
    return ("\n\n" if writing.form == "markdown" else "\n").join(text for text in joined if text)
