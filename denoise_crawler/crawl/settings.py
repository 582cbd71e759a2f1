"""The settings that cleaning in a crawl needs, read and checked once; a wrong one ends the crawl with one line."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from inspect import signature
from pathlib import Path
from types import FrameType
from weakref import WeakSet

from scrapy.crawler import Crawler, CrawlerProcessBase
from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings
from scrapy.utils.project import data_path

from denoise_crawler.crawl import settings_table as table
from denoise_crawler.crawl.scrapy_internals import raise_after_start
from denoise_crawler.denoiser import Cleaning
from denoise_crawler.errors import (
    CrawlError,
    ExtractorError,
    ExtractorOptionsError,
    MethodError,
    MissingExtraError,
    SettingError,
    StoreError,
    needs,
)
from denoise_crawler.methods import METHODS, MethodChoice
from denoise_crawler.output.writing import Writing
from denoise_crawler.page.metadata import MORE_FIELDS
from denoise_crawler.page.text import printable
from denoise_crawler.rules import SiteRules

logger = logging.getLogger(__name__)

PREFIX = "DENOISE_"
CONTRIB = frozenset({"DENOISE_LIVE_PORT", "DENOISE_RENDER", "DENOISE_RENDER_WAIT"})  # read by optional components


@dataclass(frozen=True)
class DenoiseSettings(table.RulesSettings, table.WarmupSettings, table.ItemSettings, table.SwitchSettings):
    """What cleaning in a crawl needs: sections of the table of settings, and what is made of other sections.

    ``job`` is the absolute path of JOBDIR, an empty string without one.
    """

    choice: MethodChoice = field(default_factory=MethodChoice)
    writing: Writing = field(default_factory=Writing)
    job: str = ""

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> DenoiseSettings:
        """Read and check the settings of a crawl; raise :class:`SettingError` for the first wrong one."""
        choice = _method_choice(table.MethodSettings.read(settings))
        jobdir = settings.get("JOBDIR")
        read = cls.read(
            settings,
            {"warmup_pages": choice.warmup_pages, "store": _project_store()},
            choice=choice,
            job=str(Path(jobdir).resolve()) if jobdir else "",
        )
        return replace(read, writing=_writing(settings, read))

    def cleaning(self, rules: SiteRules | None = None) -> Cleaning:
        """Return how pages are cleaned; raise RulesError if the folder of ``rules`` that is set cannot be read."""
        rules = SiteRules.of_folder(self.site_rules) if rules is None else rules
        warmup = self.warmup_pages, self.short_sites, self.sites_in_memory
        return Cleaning(self.choice, self.writing, rules, *warmup)


def _method_choice(section: table.MethodSettings) -> MethodChoice:
    """Return the method with its options; raise SettingError for those that it does not take."""
    options = _preferences(section) | section.method_options
    try:
        return MethodChoice(section.method, options)
    except MethodError as error:
        raise SettingError(f"DENOISE_METHOD_OPTIONS is {options!r}: {error}") from None


def _preferences(section: table.MethodSettings) -> dict[str, object]:
    """Return the options of the method that have settings of their own and differ from the defaults."""
    preferences = dict[str, object]()
    known = signature(METHODS[section.method]).parameters
    for option in ("title", "comments", "favour"):
        setting, value = section.options()[option], getattr(section, option)
        if value == setting.default:
            continue
        if option not in known:
            raise SettingError(f"{setting.name} is {value!r}, which {section.method} does not know")
        preferences[option] = value
    return preferences


def _writing(settings: BaseSettings, chosen: DenoiseSettings) -> Writing:
    """Return the options of the text, with what other settings ask of it; raise SettingError for wrong ones."""
    writing = Writing.read(settings)
    try:
        writing.check()
    except ExtractorOptionsError as error:
        raise SettingError(f"DENOISE_EXTRACTOR_OPTIONS is {writing.extractor_options!r}: {error}") from None
    except ExtractorError as error:
        raise SettingError(f"DENOISE_EXTRACTOR is {writing.extractor!r}: {error}") from None
    if writing.front_matter and writing.form != "markdown":
        raise SettingError(
            f"DENOISE_FRONT_MATTER is for Markdown, and DENOISE_FORM is {writing.form!r}: change one of them"
        )
    _check_confidence(writing, chosen.choice.name)
    return replace(
        writing,
        more_metadata=writing.more_metadata or any(name in MORE_FIELDS for name in chosen.extra_fields),
        records=writing.records or chosen.by_record,
    )


def _check_confidence(writing: Writing, method: str) -> None:
    """Raise SettingError if a confidence is asked for and the method gives none."""
    if writing.min_confidence and not METHODS[method].is_sure:
        those = ", ".join(name for name, one in METHODS.items() if one.is_sure)
        raise SettingError(
            f"DENOISE_MIN_CONFIDENCE is {writing.min_confidence!r}, but {method} cannot say how sure it is; "
            f"these can: {those}"
        )


def _project_store() -> str | None:
    """Return the store in the data folder of the project, None without one, or where it cannot be written."""
    try:
        try:
            path = data_path("denoise.sqlite")
        except FileExistsError:  # another crawl made the folder when Scrapy had not seen it
            path = data_path("denoise.sqlite")
        folder = next(one for one in Path(path).absolute().parents if one.exists())
        if os.access(folder, os.W_OK):
            return path
        why = OSError(errno.EROFS, os.strerror(errno.EROFS), path)
    except NotConfigured:
        return None
    except OSError as error:
        why = error
    logger.warning(
        "The data folder of the project cannot be written (%s): what this crawl learns stays in memory, and "
        "nothing is left for the next. DENOISE_STORE names a file elsewhere",
        printable(why),
    )
    return None


def is_off(settings: BaseSettings) -> bool:
    """Return True if ``DENOISE_ENABLED`` turns the package off; a wrong value stops the crawl later."""
    try:
        return not table.SETTINGS["DENOISE_ENABLED"].read(settings)
    except SettingError:
        return False


def warn_of_unknown(settings: BaseSettings) -> None:
    """Warn of each unknown setting that begins with ``DENOISE_``, and suggest the nearest name."""
    rests = [known.removeprefix(PREFIX) for known in table.SETTINGS]
    for name in sorted(name for name in settings if isinstance(name, str) and name.startswith(PREFIX)):
        if name not in table.SETTINGS and name not in CONTRIB:
            nearest = get_close_matches(name.removeprefix(PREFIX), rests, n=1, cutoff=0.5)
            hint = f": did you mean {PREFIX}{nearest[0]}?" if nearest else ""
            logger.warning("%s is not a setting of denoise_crawler and has no effect%s", name, hint)


# --- ends a crawl that cannot begin with one line, instead of a page of tracebacks from Scrapy and asyncio

_started: WeakSet[Crawler] = WeakSet()
_PREFIX = "The crawl cannot begin: "


@contextmanager
def abort_on_setup_error(
    crawler: Crawler, errors: tuple[type[Exception], ...] = (ValueError, StoreError)
) -> Iterator[None]:
    """Keep the crawl from beginning after an error inside the block.

    The program of the crawl (``scrapy crawl``, or a script with a CrawlerProcess) gets a :class:`CrawlError`. If
    somebody else runs the event loop, or another crawl runs in this process, the error is raised as it is: the
    others must end in their own way.

    Args:
        crawler: The crawl.
        errors: The errors that a user can mend. By default a wrong setting (ValueError) or an unusable store.
    """
    try:
        yield
    except errors as error:
        if crawler.settings.get("LOG_FILE"):  # stderr may go nowhere then
            logger.error("%s%s", _PREFIX, error)
        _abort(error, others=any(other.crawling for other in _started if other is not crawler))
        raise
    if crawler not in _started:
        _started.add(crawler)
        warn_of_unknown(crawler.settings)


@contextmanager
def abort_on_missing_extra(extra: str) -> Iterator[None]:
    """Keep the crawl from beginning if a component imports a package that is not installed inside the block.

    Raises:
        CrawlError: A package is missing.
        MissingExtraError: The same, where no CrawlerProcess runs the crawl.
    """
    try:
        with needs(extra):
            yield
    except MissingExtraError as error:
        _abort(error, others=any(other.crawling for other in _started))
        raise


def _abort(error: Exception, *, others: bool) -> None:
    """Raise the error that ends the program of the crawl; return where ``error`` has to be raised as it is."""
    process = _find_crawler_process()
    if process is None:
        return
    abort_error = CrawlError(f"{_PREFIX}{error}")
    if not _is_loop_running():
        # otherwise a crawl that fails before the event loop runs leaves only a traceback in the log
        raise_after_start(process, abort_error)
    elif not others:
        raise abort_error from None


def _find_crawler_process() -> CrawlerProcessBase | None:
    """Return the process object that runs this crawl; None if somebody else runs the event loop.

    Scrapy gives a crawl no way to its process, and ends no program whose crawl cannot begin: so the caller is
    looked for.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if isinstance(caller := frame.f_locals.get("self"), CrawlerProcessBase):
            return caller
        frame = frame.f_back
    return None


def _is_loop_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
