"""The settings that cleaning in a crawl needs, read and checked once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured
from scrapy.utils.project import data_path

from denoise_crawler.core import choose
from denoise_crawler.crawl import settings_table as table
from denoise_crawler.crawl.unsure_pages import check_actions
from denoise_crawler.denoiser import Cleaning
from denoise_crawler.errors import CoreError, ExtractorError, ExtractorOptionsError, MethodError, SettingError
from denoise_crawler.methods import METHODS, MethodChoice
from denoise_crawler.output.extractors import check
from denoise_crawler.output.writing import NO_CHANGES, Writing
from denoise_crawler.page.metadata import MORE_FIELDS
from denoise_crawler.rules import SiteRules

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


_PAGES = ".pages"  # added to the name of the store: the file that remembers what pages said


@dataclass(frozen=True)
class DenoiseSettings(
    table.LiveSettings,
    table.RulesSettings,
    table.WarmupSettings,
    table.ItemSettings,
    table.SwitchSettings,
):
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
        writing = _writing(table.OutputSettings.read(settings), choice, settings)
        found = cls.read(
            settings,
            {"warmup_pages": choice.warmup_pages, "store": _project_store()},
            choice=choice,
            writing=_with_data(writing, settings),
            job=str(Path(jobdir).resolve()) if jobdir else "",
        )
        _choose_core(found.core)
        return found

    def cleaning(self, rules: SiteRules | None = None) -> Cleaning:
        """Return how pages are cleaned; raise RulesError if the folder of ``rules`` that is set cannot be read."""
        rules = SiteRules.of_folder(self.site_rules) if rules is None else rules
        warmup = self.warmup_pages, self.short_sites, self.sites_in_memory
        return Cleaning(self.choice, self.writing, rules, *warmup)


def _choose_core(mode: str | None) -> None:
    if mode is None:
        return
    try:
        choose(mode)
    except CoreError as error:
        raise SettingError(f"DENOISE_CORE is {mode!r}: {error}") from None


def _method_choice(section: table.MethodSettings) -> MethodChoice:
    """Return the method with its options; raise SettingError for those that it does not take."""
    options = _wishes(section) | section.method_options
    try:
        return MethodChoice(section.method, options)
    except MethodError as error:
        raise SettingError(f"DENOISE_METHOD_OPTIONS is {options!r}: {error}") from None


def _wishes(section: table.MethodSettings) -> dict[str, object]:
    """Return the options of the method that have settings of their own and differ from the defaults."""
    wishes = dict[str, object]()
    known = signature(METHODS[section.method]).parameters
    for option in ("title", "comments", "favour"):
        setting, value = section.settings()[option], getattr(section, option)
        if value == setting.default:
            continue
        if option not in known:
            raise SettingError(f"{setting.name} is {value!r}, which {section.method} does not know")
        wishes[option] = value
    return wishes


def _writing(section: table.OutputSettings, choice: MethodChoice, settings: BaseSettings) -> Writing:
    check_actions(section.min_confidence, section.low_confidence, choice.name, settings)
    if section.front_matter and section.form != "markdown":
        raise SettingError(
            f"DENOISE_FRONT_MATTER is for Markdown, and DENOISE_FORM is {section.form!r}: change one of them"
        )
    name, options = section.extractor, section.extractor_options
    extra_fields = table.ItemSettings.read(settings).extra_fields
    try:
        check(name, options)
    except ExtractorOptionsError as error:
        raise SettingError(f"DENOISE_EXTRACTOR_OPTIONS is {options!r}: {error}") from None
    except ExtractorError as error:
        raise SettingError(f"DENOISE_EXTRACTOR is {name!r}: {error}") from None
    return Writing(
        form=section.form,
        extractor=name,
        extractor_options=options,
        explain=section.explain,
        min_confidence=section.min_confidence,
        low_confidence=section.low_confidence,
        links=section.links,
        pictures=section.pictures,
        front_matter=section.front_matter,
        more_metadata=section.more_metadata or any(name in MORE_FIELDS for name in extra_fields),
    )


def _with_data(writing: Writing, settings: BaseSettings) -> Writing:
    """Return the options of the text output with what is asked for besides the text."""
    section, by_record = table.DataSettings.read(settings), table.SETTINGS["DENOISE_BY_RECORD"].read(settings)
    records = section.records or by_record
    asked = replace(writing, records=records, fields=section.fields, json_ld=section.json_ld)
    watched = table.ChangeSettings.read(settings)
    if watched.changes == NO_CHANGES:
        return asked
    store = table.WarmupSettings.settings()["store"].read(settings, _project_store())
    return replace(asked, changes=watched.changes, history=f"{store}{_PAGES}", history_pages=watched.history_pages)


def _project_store() -> str | None:
    """Return the store in the data folder of the project, None outside of a project."""
    try:
        return data_path("denoise.sqlite")
    except NotConfigured:
        return None


def is_off(settings: BaseSettings) -> bool:
    """Tell whether ``DENOISE_ENABLED`` turns us off."""
    return _flag(settings, "DENOISE_ENABLED") is False


def is_live(settings: BaseSettings) -> bool:
    """Tell whether ``DENOISE_LIVE`` turns the live page on."""
    return _flag(settings, "DENOISE_LIVE") is True


def _flag(settings: BaseSettings, name: str) -> bool | None:
    """Return the value of a switch; None if it is wrong, which stops the crawl later."""
    try:
        return bool(table.SETTINGS[name].read(settings))
    except SettingError:
        return None
