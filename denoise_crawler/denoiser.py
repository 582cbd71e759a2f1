"""Learns sites, judges their pages and writes what is left: one :class:`Cleaned` record a page."""

from __future__ import annotations

import pickle
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from denoise_crawler.methods import DEFAULT_METHOD, Judgement, Method, MethodChoice, apply_guard
from denoise_crawler.methods.base import InMemoryKnowledge, Knowledge
from denoise_crawler.output import extractors
from denoise_crawler.output.clean_page import CleanPage, add_data, clean_or_fail, front_matter, learn_or_fail
from denoise_crawler.output.clean_text import count_characters, noise_ratio
from denoise_crawler.output.explanation import explanation
from denoise_crawler.output.extractors import DROP, is_low
from denoise_crawler.output.writing import LEAVE, Content, Writing, type_with_posts
from denoise_crawler.page import Page
from denoise_crawler.page.metadata import metadata_fields
from denoise_crawler.page.script_pages import DECLARED, declared_article
from denoise_crawler.page.unseen import reader_aids
from denoise_crawler.rules import NO_RULES, SiteRules
from denoise_crawler.rules.applying import apply_rules, values_of

SITES_IN_MEMORY = 100
MAX_PARSED_CHARACTERS = 24_000_000  # of HTML that stays parsed, with some 15 bytes of memory each
_SPOOLED_BYTES = 64 << 20
PLAIN_TEXT = Writing()
SHORT_SITES = ("clean", "drop")


@dataclass(frozen=True, slots=True, eq=False)
class Cleaned:
    """The record of one cleaned page.

    ``visible`` counts the characters of the page without white space, ``kept`` those that are no noise. Neither
    depends on the form of the text or on an extractor.

    Example:
        >>> cleaned = Denoiser("link_ratio").clean(Page.parse("", "<nav><a href=/>Home</a></nav><p>A story.</p>"))
        >>> cleaned.clean_page.text, cleaned.visible, cleaned.kept
        ('A story.', 11, 7)
    """

    page: Page
    judgement: Judgement
    clean_page: CleanPage
    visible: int
    kept: int

    @property
    def guarded(self) -> bool:
        """Whether the guard replaced a judgement that would have left almost nothing."""
        return self.judgement.guarded


class Denoiser:
    """Learns sites and judges their pages with one method.

    Args:
        method: The name of the method, or a choice of one with its options.
        knowledge: Stores what is known of sites; in memory if not given.
        sites_in_memory: How many sites stay loaded, the most recently used.
        writing: How the text is written.
        rules: The site rules, which count before any evidence.

    Raises:
        MethodError: There is no such method.
        ExtractorError: The extractor that ``writing`` names cannot be used.
        SettingError: A value of ``writing`` is wrong.

    Example:
        >>> denoiser = Denoiser("style_tree")
        >>> stories = ["A storm sank three boats.", "The council met yesterday."]
        >>> for number, story in enumerate(stories):
        ...     page = Page.parse(f"https://news.example/{number}", f"<nav>Home</nav><p>{story}</p>")
        ...     denoiser.learn(page)
        >>> denoiser.clean(page).clean_page.text
        'The council met yesterday.'
    """

    def __init__(
        self,
        method: str | MethodChoice = DEFAULT_METHOD,
        *,
        knowledge: Knowledge | None = None,
        sites_in_memory: int = SITES_IN_MEMORY,
        writing: Writing = PLAIN_TEXT,
        rules: SiteRules = NO_RULES,
    ) -> None:
        self._choice = MethodChoice.of(method)
        self._knowledge: Knowledge = InMemoryKnowledge() if knowledge is None else knowledge
        self._sites_in_memory = sites_in_memory
        self._sites: OrderedDict[str, Method] = OrderedDict()
        self._changed: set[Method] = set()  # those that know more than is stored
        self._writing, self._rules = writing, rules
        self.learns = self._choice.learns
        writing.check()

    def method_for(self, site: str) -> Method:
        """Return the method, loaded with what is known of ``site``."""
        if site in self._sites:
            self._sites.move_to_end(site)
            return self._sites[site]
        known = self._knowledge.get(site) if self.learns else None
        method = self._choice.knowing([known] if known else [], site)
        self._sites[site] = method
        while len(self._sites) > self._sites_in_memory:
            name, oldest = self._sites.popitem(last=False)
            self._save(name, oldest)
            self._changed.discard(oldest)
        return method

    def begin_anew(self, site: str, method: Method) -> None:
        """Judge ``site`` by what ``method`` has learned, in place of all that was known, and store that."""
        self._sites[site] = method
        self._changed.add(method)
        self.save(site)

    def learn(self, page: Page) -> None:
        """Learn ``page`` for its site; each URL is learned once."""
        if self.learns and (method := self.method_for(page.site)).wants(page) and not page.skipped:
            self.observe(method, page)

    def observe(self, method: Method, page: Page) -> None:
        """Learn ``page`` by the method of its site; a page that would change nothing is not learned."""
        if method.wants(page):
            method.observe(page)
            self._changed.add(method)

    def judge(self, page: Page, *, method: Method | None = None) -> Judgement:
        """Decide for each node of ``page`` whether it is noise.

        Args:
            page: The page.
            method: What to judge by in place of the result of :meth:`method_for`.

        Returns:
            The judgement. If the method's own left almost nothing, it is a safer one and ``guarded`` is set. The
            rules of the site are applied to it.
        """
        judgement = apply_guard(page, (self.method_for(page.site) if method is None else method).judge(page))
        for index in page.once(reader_aids):
            end = page.nodes.end_of(index)
            judgement.noise[index:end] = [True] * (end - index)
        file = self._rules.of(page.url)
        keeps_title = self._choice.options.get("title") != LEAVE
        return judgement if file is None else apply_rules(page, judgement, file, keeps_title=keeps_title)

    def write(self, page: Page, judgement: Judgement, *, warm: bool = True) -> Cleaned:
        """Write what a judgement leaves of ``page``.

        Args:
            page: The page.
            judgement: The result of :meth:`judge`.
            warm: Whether the site was known by then.

        Returns:
            The record. If the extractor of ``writing`` gave the text, its name follows that of the method, as in
            ``fusion+trafilatura``. If it gave none, the text is the package's own.
        """
        writing, noise, method = self._writing, judgement.noise, self._choice.name
        visible, kept = count_characters(page, noise)
        content = Content(page, noise, writing, type_with_posts(judgement, self._choice.options))
        text = content.written()
        confidence = None if page.skipped else judgement.confidence
        if article := page.once(declared_article):
            content, confidence = Content(Page.parse(page.url, article, site=page.site), None, writing, None), None
            text, method = content.written(), f"{method}+{DECLARED}"
        low = is_low(confidence, writing.min_confidence)
        others, wrote = "", method
        if text and writing.extractor is not None:
            others = extractors.run_extractor(page, noise, writing.extractor, writing.extractor_options)
            wrote = f"{method}+{writing.extractor}"
        others = content.part_of(others) if others else ""
        values = {} if (file := self._rules.of(page.url)) is None else values_of(page, file)
        clean_page = CleanPage(
            url=page.url,
            site=page.site,
            text=others or text,
            fetched_at=None,
            method=wrote if others else method,
            warm=warm,
            noise_ratio=round(noise_ratio(visible, kept), 4),
            confidence=confidence,
            page_type=judgement.page_type,
            explanation=explanation(page, judgement) if writing.explain else None,
            low_confidence=low,
            skipped=page.skipped,
            truncated=None if writing.max_chars is None else content.is_cut,
            next_part=writing.part + 1 if content.is_cut else None,
            **metadata_fields(page, more=writing.more_metadata) | values,
        )
        add_data(clean_page, page, noise, writing)
        if writing.front_matter and text and not others and writing.part == 1:
            clean_page.text = front_matter(clean_page) + text
        return Cleaned(page, judgement, clean_page, visible, kept)

    def clean(self, page: Page, *, warm: bool = True, method: Method | None = None) -> Cleaned:
        """Judge ``page`` and write what is left of it. Learn its site first.

        Args:
            page: The page.
            warm: Whether the site is known; stored in the clean page.
            method: What to judge by in place of the result of :meth:`method_for`.

        Returns:
            The record of the page.
        """
        return self.write(page, self.judge(page, method=method), warm=warm)

    def drops(self, clean_page: CleanPage) -> bool:
        """Return True if ``writing`` wants an unsure page dropped."""
        return bool(clean_page.low_confidence) and self._writing.low_confidence == DROP

    def save(self, site: str | None = None) -> None:
        """Store what is known of ``site``, None: of all sites. What did not change is stored already."""
        for name, method in self._sites.items():
            if site in (None, name):
                self._save(name, method)

    def _save(self, site: str, method: Method) -> None:
        if method in self._changed and method.pages_known and self._knowledge.put(site, method.to_bytes()):
            self._changed.discard(method)


@dataclass(frozen=True, slots=True)
class Cleaning:
    """How pages are cleaned: the record that every process gets which cleans some.

    Args:
        choice: The method.
        writing: How the text is written.
        rules: The site rules to apply.
        warmup_pages: A site is known when so many of its pages are.
        short_sites: What becomes of the pages of other sites, as the setting DENOISE_SHORT_SITES says.
        sites_in_memory: How many sites stay loaded, the most recently used.

    Raises:
        ValueError: There is no such ``short_sites``.
        ExtractorError: The extractor that ``writing`` names cannot be used.
        SettingError: A value of ``writing`` is wrong.
    """

    choice: MethodChoice = field(default_factory=MethodChoice)
    writing: Writing = PLAIN_TEXT
    rules: SiteRules = NO_RULES
    warmup_pages: int = 0
    short_sites: str = "clean"
    sites_in_memory: int = SITES_IN_MEMORY

    def __post_init__(self) -> None:
        if self.short_sites not in SHORT_SITES:
            raise ValueError(f"short_sites is {self.short_sites!r}; it must be one of {', '.join(SHORT_SITES)}")
        self.writing.check()

    def denoiser(self, knowledge: Knowledge | None = None) -> Denoiser:
        """Return a denoiser with this ``knowledge``; in memory if not given."""
        return Denoiser(
            self.choice,
            knowledge=knowledge,
            sites_in_memory=self.sites_in_memory,
            writing=self.writing,
            rules=self.rules,
        )


def denoise_pages(
    pages: Iterable[tuple[str, str | bytes]],
    *,
    method: str = DEFAULT_METHOD,
    writing: Writing = PLAIN_TEXT,
    rules: SiteRules | str | Path = NO_RULES,
    **options: object,
) -> Iterator[CleanPage]:
    """Learn each site from all of its pages, then clean them in order.

    Learning methods read each page twice. In between, the first 24 million characters stay parsed in memory, the
    rest is in a temporary file (in memory up to 64 MB). Each URL is learned once. A page that cannot be
    cleaned has no text; its ``error`` names the exception, the log has the traceback.

    Args:
        pages: Pages as (URL, HTML).
        method: The name of the method.
        writing: How the text is written.
        rules: Site rules, or the folder where they lie (:class:`SiteRules`).
        options: The method's options.

    Yields:
        The clean page of each page, in order; not those that ``writing`` wants dropped.

    Raises:
        MethodError: There is no such method, or it does not take the options. Raised at once.
        ExtractorError: The extractor cannot be used. Raised at once.
        SettingError: A value of ``writing`` is wrong. Raised at once.
        RulesError: The folder of rules cannot be read. Raised at once.
    """
    denoiser = Cleaning(MethodChoice(method, options), writing, SiteRules.of_folder(rules)).denoiser()
    return (page for page in _denoise(denoiser, pages) if not denoiser.drops(page))


def _denoise(denoiser: Denoiser, pages: Iterable[tuple[str, str | bytes]]) -> Iterator[CleanPage]:
    if not denoiser.learns:
        yield from (clean_or_fail(denoiser.clean, Page.parse(url, html)) for url, html in pages)
        return
    from tempfile import SpooledTemporaryFile  # late: most processes hold none

    parsed, room, learned = deque[Page](), MAX_PARSED_CHARACTERS, list[bool]()
    with SpooledTemporaryFile(_SPOOLED_BYTES) as spool:
        for url, html in pages:
            page = Page.parse(url, html)
            learned.append(learn_or_fail(denoiser.learn, page))
            if len(parsed) == len(learned) - 1 and len(html) <= room:
                parsed.append(page)
                room -= len(html)
            else:  # all that follow, in order
                pickle.dump((url[:], html[:]), spool)  # sliced: not a subclass, as lxml gives
        spool.seek(0)
        for is_learned in learned:
            page = parsed.popleft() if parsed else Page.parse(*pickle.load(spool))  # noqa: S301 - a file of our own
            yield clean_or_fail(denoiser.clean, page, logged=not is_learned)
