"""The DENOISE_* settings, read and checked once."""

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
from denoise_crawler.methods.fusion.method import Fusion
from denoise_crawler.methods.fusion.wishes import FAVOUR, WORDS, Wishes
from denoise_crawler.output.extractors import EXTRACTORS, check
from denoise_crawler.output.writing import FORMS, Writing
from denoise_crawler.page.site import site_of

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_STORE_NAME = "denoise.sqlite"
SHORT_SITES = ("clean", "raw", "drop")
WARMUP_SECONDS = 30.0
PART_FIELD = "denoise_part"
LIVE_PORTS = (6080, 6089)


@dataclass(frozen=True, slots=True)
class DenoiseSettings:
    """What can be set, with the defaults.

    ``extra_fields`` maps names of :class:`CleanPage` to names of item fields to be filled besides the text.
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
        """Read and check the settings of a crawl; raise :class:`SettingError` for the first wrong one."""
        from denoise_crawler.output.clean_page import CleanPage

        _flag(settings, "DENOISE_ENABLED", default=True)
        method = settings.get("DENOISE_METHOD", DEFAULT_METHOD)
        if not isinstance(method, str) or method not in METHODS:
            raise SettingError(
                f"DENOISE_METHOD is {method!r}, which is no method: set it to one of {', '.join(sorted(METHODS))}"
            )
        options = _wishes(settings, method) | _mapping(settings, "DENOISE_METHOD_OPTIONS")
        try:
            choice = MethodChoice(method, options)
        except MethodError as error:
            raise SettingError(f"DENOISE_METHOD_OPTIONS is {options!r}: {error}") from None
        extra = {}
        for name, to in _mapping(settings, "DENOISE_EXTRA_FIELDS").items():
            if name not in CleanPage.__dataclass_fields__:
                known = ", ".join(CleanPage.__dataclass_fields__)
                raise SettingError(f"DENOISE_EXTRA_FIELDS names {name!r}; what can be filled is {known}")
            if not isinstance(to, str) or not to:
                raise SettingError(f"DENOISE_EXTRA_FIELDS has {to!r} for {name!r}: set it to a field's name")
            extra[name] = to
        short_sites = read_choice("DENOISE_SHORT_SITES", settings.get("DENOISE_SHORT_SITES", "clean"), SHORT_SITES)
        jobdir = settings.get("JOBDIR")
        return cls(
            choice=choice,
            warmup_pages=_count(settings, "DENOISE_WARMUP_PAGES", choice.warmup_pages, least=0),
            warmup_seconds=read_seconds(
                "DENOISE_WARMUP_SECONDS",
                settings.get("DENOISE_WARMUP_SECONDS", WARMUP_SECONDS),
                allowed="0 for no limit",
            ),
            short_sites=short_sites,
            site=_site_function(settings),
            store=_store(settings),
            shared_store=_shared_store(settings),
            sites_in_memory=_count(settings, "DENOISE_SITES_IN_MEMORY", SITES_IN_MEMORY, least=1),
            html_field=_name(settings, "DENOISE_HTML_FIELD", "html"),
            url_field=_name(settings, "DENOISE_URL_FIELD", "url"),
            text_field=_name(settings, "DENOISE_TEXT_FIELD", "text"),
            part_field=_name(settings, "DENOISE_PART_FIELD", PART_FIELD),
            skipped_items=_classes(settings, "DENOISE_SKIP_ITEMS"),
            extra_fields=extra,
            writing=_writing(settings),
            job=str(Path(jobdir).resolve()) if jobdir else "",
            live=_flag(settings, "DENOISE_LIVE"),
            live_ports=_ports(settings, "DENOISE_LIVE_PORT"),
        )


def _wishes(settings: BaseSettings, method: str) -> dict[str, object]:
    """Return the options of ``fusion`` that settings of their own give, but for defaults."""
    usual, wishes = Wishes(), dict[str, object]()
    for setting, name, words in (
        ("DENOISE_TITLE", "title", WORDS),
        ("DENOISE_COMMENTS", "comments", WORDS),
        ("DENOISE_FAVOUR", "favour", tuple(FAVOUR)),
    ):
        default = getattr(usual, name)
        given = settings.get(setting)
        value = read_choice(setting, default if given is None else given, words)
        if value == default:
            continue
        if method != Fusion.name:
            raise SettingError(f"{setting} is {value!r}, which {method} does not know: only {Fusion.name} does")
        wishes[name] = value
    return wishes


def _writing(settings: BaseSettings) -> Writing:
    extractor, options = _extractor(settings)
    form = read_choice("DENOISE_FORM", settings.get("DENOISE_FORM") or "text", FORMS)
    explain = _flag(settings, "DENOISE_EXPLAIN")
    return Writing(form=form, explain=explain, extractor=extractor, extractor_options=options)


def _extractor(settings: BaseSettings) -> tuple[str | None, dict[str, object]]:
    name = settings.get("DENOISE_EXTRACTOR") or None
    if name is not None and (not isinstance(name, str) or name not in EXTRACTORS):
        raise SettingError(
            f"DENOISE_EXTRACTOR is {name!r}, which is no extractor: set it to one of {', '.join(EXTRACTORS)}, "
            "or to None for our own text"
        )
    options = _mapping(settings, "DENOISE_EXTRACTOR_OPTIONS")
    try:
        check(name, options)
    except ExtractorOptionsError as error:
        raise SettingError(f"DENOISE_EXTRACTOR_OPTIONS is {options!r}: {error}") from None
    except ExtractorError as error:
        raise SettingError(f"DENOISE_EXTRACTOR is {name!r}: {error}") from None
    return name, options


def _store(settings: BaseSettings) -> Path:
    value = settings.get("DENOISE_STORE") or _default_store()
    try:
        return Path(value)
    except TypeError:
        raise SettingError(f"DENOISE_STORE is {value!r}: set it to the path of a file") from None


def _shared_store(settings: BaseSettings) -> str:
    value = settings.get("DENOISE_SHARED_STORE") or ""
    if not isinstance(value, str | Path):
        raise SettingError(f"DENOISE_SHARED_STORE is {value!r}: set it to a folder or to an address as s3://…")
    return str(value)


def _default_store() -> str:
    """Return where Scrapy keeps a project's data; outside of a project, the same below the current folder."""
    try:
        return data_path(_STORE_NAME)
    except NotConfigured:
        return f".scrapy/{_STORE_NAME}"


def is_off(settings: BaseSettings) -> bool:
    """Tell whether ``DENOISE_ENABLED`` turns us off. A value that is wrong does not: it stops the crawl later."""
    try:
        return not _flag(settings, "DENOISE_ENABLED", default=True)
    except SettingError:
        return False


def _flag(settings: BaseSettings, name: str, *, default: bool = False) -> bool:
    try:
        return settings.getbool(name, default)
    except (TypeError, ValueError):
        raise SettingError(f"{name} is {settings.get(name)!r}: set it to True or False") from None


def _count(settings: BaseSettings, name: str, default: int, *, least: int) -> int:
    value = settings.get(name, default)
    try:
        number = int(value)
    except (OverflowError, TypeError, ValueError):
        number = least - 1
    if number < least or (isinstance(value, float) and value != number):
        raise SettingError(f"{name} is {value!r}: set it to a whole number, {least} or more")
    return number


def _ports(settings: BaseSettings, name: str) -> tuple[int, ...]:
    value = settings.get(name, LIVE_PORTS)
    try:
        given = value.split(",") if isinstance(value, str) else [value] if isinstance(value, int) else value
        ports = tuple(int(port) for port in given)
    except (TypeError, ValueError):
        ports = ()
    if not 1 <= len(ports) <= 2 or list(ports) != sorted(ports) or not all(0 <= port < 65_536 for port in ports):
        raise SettingError(f"{name} is {value!r}: set it to a port, or to the first and the last to try")
    return ports


def _name(settings: BaseSettings, name: str, default: str) -> str:
    value = settings.get(name, default)
    if not isinstance(value, str) or not value:
        raise SettingError(f"{name} is {value!r}: set it to the name of an item field")
    return value


def _mapping(settings: BaseSettings, name: str) -> dict[str, object]:
    try:
        return dict(settings.getdict(name))
    except (TypeError, ValueError) as error:
        raise SettingError(f"{name} is {settings.get(name)!r}: set it to a dict ({error})") from None


def _classes(settings: BaseSettings, name: str) -> tuple[type, ...]:
    found = []
    for path in settings.getlist(name):
        try:
            kind = load_object(path)
        except (ImportError, NameError, TypeError, ValueError) as error:
            raise SettingError(f"{name} names {path!r}, which cannot be loaded: {error}") from None
        if not isinstance(kind, type):
            raise SettingError(f"{name} names {path!r}, which is no class of items")
        found.append(kind)
    return tuple(found)


def _site_function(settings: BaseSettings) -> Callable[[str], str]:
    value = settings.get("DENOISE_SITE", site_of)
    try:
        function = load_object(value)
    except (ImportError, NameError, TypeError, ValueError) as error:
        raise SettingError(f"DENOISE_SITE is {value!r}, which cannot be loaded: {error}") from None
    if not callable(function):
        raise SettingError(f"DENOISE_SITE is {value!r}: set it to a function from a URL to a site's name")
    return function  # type: ignore[no-any-return]
