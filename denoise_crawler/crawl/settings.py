"""Reads and checks the DENOISE_* settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured
from scrapy.utils.misc import load_object
from scrapy.utils.project import data_path

from denoise_crawler.crawl.setting_values import read_choice, read_seconds
from denoise_crawler.denoiser import SITES_IN_MEMORY
from denoise_crawler.errors import ExtractorError, ExtractorOptionsError, MethodError, SettingError
from denoise_crawler.methods import DEFAULT_METHOD, METHODS, MethodChoice
from denoise_crawler.output.extractors import EXTRACTORS, check
from denoise_crawler.output.writing import FORMS, Writing
from denoise_crawler.page.site import site_of

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_STORE_FILE_NAME = "denoise.sqlite"
SHORT_SITES = ("clean", "raw", "drop")
WARMUP_SECONDS = 30.0
PART_FIELD = "denoise_part"
LIVE_PORTS = (6080, 6089)


@dataclass(frozen=True, slots=True)
class DenoiseSettings:
    """The checked settings of a crawl, with their defaults.

    ``extra_fields`` maps attributes of :class:`CleanPage` to item fields that are filled besides the text.
    """

    choice: MethodChoice = field(default_factory=MethodChoice)
    warmup_pages: int = METHODS[DEFAULT_METHOD].warmup_pages
    warmup_seconds: float = WARMUP_SECONDS
    short_sites: str = "clean"
    site: Callable[[str], str] = site_of
    store: Path = Path("denoise.sqlite")
    shared_store: str = ""
    sites_in_memory: int = SITES_IN_MEMORY
    html_field: str = "html"
    url_field: str = "url"
    text_field: str = "text"
    part_field: str = PART_FIELD
    skipped_items: tuple[type, ...] = ()
    extra_fields: dict[str, str] = field(default_factory=dict)
    writing: Writing = field(default_factory=Writing)
    job: str = ""
    live: bool = False
    live_ports: tuple[int, ...] = LIVE_PORTS

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> DenoiseSettings:
        """Read and check the settings of a crawl.

        Args:
            settings: Scrapy's settings.

        Returns:
            The checked settings.

        Raises:
            SettingError: A setting is wrong; the message names it and says what to set.

        Example:
            >>> from scrapy.settings import Settings
            >>> DenoiseSettings.from_settings(Settings({"DENOISE_WARMUP_PAGES": "20"})).warmup_pages
            20
        """
        _read_flag(settings, "DENOISE_ENABLED", default=True)
        choice = _read_method_choice(settings)
        jobdir = settings.get("JOBDIR")
        return cls(
            choice=choice,
            warmup_pages=_read_count(settings, "DENOISE_WARMUP_PAGES", choice.warmup_pages, minimum=0),
            warmup_seconds=read_seconds(
                "DENOISE_WARMUP_SECONDS",
                settings.get("DENOISE_WARMUP_SECONDS", WARMUP_SECONDS),
                allowed="0 for no limit",
            ),
            short_sites=read_choice(
                "DENOISE_SHORT_SITES", settings.get("DENOISE_SHORT_SITES", "clean"), SHORT_SITES
            ),
            site=_load_site_function(settings),
            store=_read_store(settings),
            shared_store=_read_shared_store(settings),
            sites_in_memory=_read_count(settings, "DENOISE_SITES_IN_MEMORY", SITES_IN_MEMORY, minimum=1),
            html_field=_read_field_name(settings, "DENOISE_HTML_FIELD", "html"),
            url_field=_read_field_name(settings, "DENOISE_URL_FIELD", "url"),
            text_field=_read_field_name(settings, "DENOISE_TEXT_FIELD", "text"),
            part_field=_read_field_name(settings, "DENOISE_PART_FIELD", PART_FIELD),
            skipped_items=_load_classes(settings, "DENOISE_SKIP_ITEMS"),
            extra_fields=_read_extra_fields(settings),
            writing=_read_writing(settings),
            job=str(Path(jobdir).resolve()) if jobdir else "",
            live=_read_flag(settings, "DENOISE_LIVE"),
            live_ports=_read_ports(settings, "DENOISE_LIVE_PORT"),
        )


def _read_method_choice(settings: BaseSettings) -> MethodChoice:
    method = settings.get("DENOISE_METHOD", DEFAULT_METHOD)
    if not isinstance(method, str) or method not in METHODS:
        raise SettingError(
            f"DENOISE_METHOD is {method!r}, which is no method: set it to one of {', '.join(sorted(METHODS))}"
        )
    options = _read_dict(settings, "DENOISE_METHOD_OPTIONS")
    try:
        return MethodChoice(method, options)
    except MethodError as error:
        raise SettingError(f"DENOISE_METHOD_OPTIONS is {options!r}: {error}") from None


def _read_extra_fields(settings: BaseSettings) -> dict[str, str]:
    from denoise_crawler.output.clean_page import CleanPage

    extra = {}
    for name, to in _read_dict(settings, "DENOISE_EXTRA_FIELDS").items():
        if name not in CleanPage.__dataclass_fields__:
            known = ", ".join(CleanPage.__dataclass_fields__)
            raise SettingError(f"DENOISE_EXTRA_FIELDS names {name!r}; what can be filled is {known}")
        if not isinstance(to, str) or not to:
            raise SettingError(f"DENOISE_EXTRA_FIELDS has {to!r} for {name!r}: set it to a field's name")
        extra[name] = to
    return extra


def _read_writing(settings: BaseSettings) -> Writing:
    extractor, options = _read_extractor(settings)
    return Writing(
        form=read_choice("DENOISE_FORM", settings.get("DENOISE_FORM") or "text", FORMS),
        explain=_read_flag(settings, "DENOISE_EXPLAIN"),
        extractor=extractor,
        extractor_options=options,
    )


def _read_extractor(settings: BaseSettings) -> tuple[str | None, dict[str, object]]:
    name = settings.get("DENOISE_EXTRACTOR") or None
    if name is not None and (not isinstance(name, str) or name not in EXTRACTORS):
        raise SettingError(
            f"DENOISE_EXTRACTOR is {name!r}, which is no extractor: set it to one of {', '.join(EXTRACTORS)}, "
            "or to None for our own text"
        )
    options = _read_dict(settings, "DENOISE_EXTRACTOR_OPTIONS")
    try:
        check(name, options)
    except ExtractorOptionsError as error:
        raise SettingError(f"DENOISE_EXTRACTOR_OPTIONS is {options!r}: {error}") from None
    except ExtractorError as error:
        raise SettingError(f"DENOISE_EXTRACTOR is {name!r}: {error}") from None
    return name, options


def _read_store(settings: BaseSettings) -> Path:
    value = settings.get("DENOISE_STORE") or _default_store_path()
    try:
        return Path(value)
    except TypeError:
        raise SettingError(f"DENOISE_STORE is {value!r}: set it to the path of a file") from None


def _read_shared_store(settings: BaseSettings) -> str:
    value = settings.get("DENOISE_SHARED_STORE") or ""
    if not isinstance(value, str | Path):
        raise SettingError(f"DENOISE_SHARED_STORE is {value!r}: set it to a folder or to an address as s3://…")
    return str(value)


def _default_store_path() -> str:
    """Return the store in the project's data folder; without a project, in the current folder's."""
    try:
        return data_path(_STORE_FILE_NAME)
    except NotConfigured:
        return f".scrapy/{_STORE_FILE_NAME}"


def is_off(settings: BaseSettings) -> bool:
    """Tell whether ``DENOISE_ENABLED`` is False. A wrong value does not count: it stops the crawl later."""
    try:
        return not _read_flag(settings, "DENOISE_ENABLED", default=True)
    except SettingError:
        return False


def _read_flag(settings: BaseSettings, name: str, *, default: bool = False) -> bool:
    try:
        return settings.getbool(name, default)
    except (TypeError, ValueError):
        raise SettingError(f"{name} is {settings.get(name)!r}: set it to True or False") from None


def _read_count(settings: BaseSettings, name: str, default: int, *, minimum: int) -> int:
    value = settings.get(name, default)
    try:
        number = int(value)
    except (OverflowError, TypeError, ValueError):
        number = minimum - 1
    if number < minimum or (isinstance(value, float) and value != number):
        raise SettingError(f"{name} is {value!r}: set it to a whole number, {minimum} or more")
    return number


def _read_ports(settings: BaseSettings, name: str) -> tuple[int, ...]:
    value = settings.get(name, LIVE_PORTS)
    try:
        given = value.split(",") if isinstance(value, str) else [value] if isinstance(value, int) else value
        ports = tuple(int(port) for port in given)
    except (TypeError, ValueError):
        ports = ()
    if not 1 <= len(ports) <= 2 or list(ports) != sorted(ports) or not all(0 <= port < 65_536 for port in ports):
        raise SettingError(f"{name} is {value!r}: set it to a port, or to the first and the last to try")
    return ports


def _read_field_name(settings: BaseSettings, name: str, default: str) -> str:
    value = settings.get(name, default)
    if not isinstance(value, str) or not value:
        raise SettingError(f"{name} is {value!r}: set it to the name of an item field")
    return value


def _read_dict(settings: BaseSettings, name: str) -> dict[str, object]:
    try:
        return dict(settings.getdict(name))
    except (TypeError, ValueError) as error:
        raise SettingError(f"{name} is {settings.get(name)!r}: set it to a dict ({error})") from None


def _load_classes(settings: BaseSettings, name: str) -> tuple[type, ...]:
    found = []
    for path in settings.getlist(name):
        kind = _load_object(f"{name} names", path)
        if not isinstance(kind, type):
            raise SettingError(f"{name} names {path!r}, which is no class of items")
        found.append(kind)
    return tuple(found)


def _load_site_function(settings: BaseSettings) -> Callable[[str], str]:
    value = settings.get("DENOISE_SITE", site_of)
    function = _load_object("DENOISE_SITE is", value)
    if not callable(function):
        raise SettingError(f"DENOISE_SITE is {value!r}: set it to a function from a URL to a site's name")
    return function


def _load_object(what: str, value: object) -> object:
    try:
        return load_object(value)  # type: ignore[arg-type]
    except (ImportError, NameError, TypeError, ValueError) as error:
        raise SettingError(f"{what} {value!r}, which cannot be loaded: {error}") from None
