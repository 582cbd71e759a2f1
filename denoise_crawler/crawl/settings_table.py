"""The one table of settings, a row for each, and what only they can be set to.

Crawls and commands read and check settings by it, and ``python docs/write_settings.py`` writes docs/settings.md.
The docstring of a section begins with its title; the docstring below a row says what the setting does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from denoise_crawler.denoiser import SHORT_SITES, SITES_IN_MEMORY
from denoise_crawler.errors import SettingError
from denoise_crawler.methods import DEFAULT_METHOD, METHODS
from denoise_crawler.methods.fusion.features import FAVOUR, WORDS, Preferences
from denoise_crawler.options import (
    DICT,
    FLAG,
    SECONDS,
    SECONDS_OR_NO_LIMIT,
    TEXT,
    OptionTable,
    OptionType,
    UnusableError,
    one_of,
    option,
    parse_dict,
    require,
    whole_number,
)
from denoise_crawler.output.clean_page import CleanPage
from denoise_crawler.output.writing import Writing


def _parse_fields(value: Any) -> dict[str, str]:
    fields = dict[str, str]()
    for name, to in parse_dict(value).items():
        if name not in _PAGE_FIELDS:
            raise UnusableError(f"which names {name!r}")
        if not isinstance(to, str) or not to:
            raise UnusableError(f"which has {to!r} for {name!r}")
        fields[name] = to
    return fields


def _parse_classes(value: Any) -> tuple[type, ...]:
    return tuple(_load(path, "class", lambda loaded: isinstance(loaded, type)) for path in _parse_list(value))


def _load(path: Any, what: str, is_right: Callable[[Any], bool]) -> Any:
    try:
        loaded = load_object(path)
    except (ImportError, NameError, TypeError, ValueError) as error:
        raise UnusableError(f"where {path!r} cannot be loaded ({error})") from None
    if not is_right(loaded):
        raise UnusableError(f"where {path!r} is no {what}")
    return loaded


def _parse_list(value: Any) -> list[Any]:
    return BaseSettings({"": value}).getlist("")


def _parse_local_folder(value: Any) -> str:
    path = str(value) if isinstance(value, str | Path) else ""
    if path and not Path(path).is_dir():
        raise UnusableError("which is no folder")
    return require(path, value == "" or bool(path))


_PAGE_FIELDS = CleanPage.__dataclass_fields__
FIELD_NAME = OptionType("the name of an item field", TEXT.parse)
PAGE_FIELDS = OptionType(f"a dict from any of {', '.join(_PAGE_FIELDS)} to names of item fields", _parse_fields)
ITEM_CLASSES = OptionType("a list of item classes or their import paths", _parse_classes)
SITE_FUNCTION = OptionType(
    "a function from a URL to a site's name, or its import path",
    lambda value: cast("Callable[[str], str]", _load(value, "function", callable)),
)
FILE = OptionType("the path of a file", Path)
LOCAL_FOLDER = OptionType("a folder that is there", _parse_local_folder)
FOLDER = OptionType(
    "a folder or an address (s3://…)", lambda value: require(str(value), isinstance(value, str | Path))
)


_PREFERENCES = Preferences()


@dataclass(frozen=True)
class SwitchSettings(OptionTable):
    """Turning it off."""

    enabled: bool = option("DENOISE_ENABLED", True, FLAG)
    """`False` turns the add-on and the pipelines off, for example in a spider's `custom_settings`.

    To turn them off for one request, set `meta={"denoise": False}`: its items pass unchanged, and its page is not
    learned. This works with the add-on only, because item pipelines do not see the request. Items with nothing to
    fill need no setting: no page is judged for them, and they wait only behind earlier items of their site."""

    skipped_items: tuple[type, ...] = option("DENOISE_SKIP_ITEMS", [], ITEM_CLASSES)
    """Items of these classes and their subclasses pass unchanged: `["my_project.items.Price"]`. Their pages are
    not learned unless they also give other items. They wait only behind earlier items of their site."""


@dataclass(frozen=True)
class MethodSettings(OptionTable):
    """What is cleaned, and how."""

    method: str = option("DENOISE_METHOD", DEFAULT_METHOD, one_of(sorted(METHODS)))
    """The [method](methods.md) that finds the noise."""

    method_options: dict[str, object] = option("DENOISE_METHOD_OPTIONS", {}, DICT)
    """The parameters of the method, such as `{"max_pages": 64}`."""

    title: str = option("DENOISE_TITLE", _PREFERENCES.title, one_of(WORDS))
    """Whether the text begins with the page's title: most who read or index a text want its headline in it. Only
    `fusion` knows this setting and the next two, and `one_look` this one and `DENOISE_FAVOUR`. They are options of
    these methods as well: `denoise_pages(pages, title="leave")`."""

    comments: str = option("DENOISE_COMMENTS", _PREFERENCES.comments, one_of(WORDS))
    """Whether the text includes what readers wrote below an article, an answer or an issue. The posts of a forum
    thread are no comments: they are always kept."""

    favour: str = option("DENOISE_FAVOUR", _PREFERENCES.favour, one_of(FAVOUR))
    """What is better where a block is in doubt. `precision`: less noise. `recall`: less is missing. `balanced`:
    neither."""


@dataclass(frozen=True)
class ItemSettings(OptionTable):
    """The fields of your items."""

    text_field: str = option("DENOISE_TEXT_FIELD", "text", FIELD_NAME)
    """The item field that gets the clean text. A field with a value is never overwritten.

    If the item's class has no such field, or refuses the text, the item passes unchanged, and one error names the
    class and the setting. A frozen item is replaced by a filled copy. A field that is declared as a list, or holds
    an empty one, gets a list."""

    extra_fields: dict[str, str] = option("DENOISE_EXTRA_FIELDS", {}, PAGE_FIELDS)
    """More fields to fill: the name of a field of [`CleanPage`](api.md), and the name of your item's field, such
    as `{"author": "byline"}`."""

    by_record: bool = option("DENOISE_BY_RECORD", False, FLAG)
    """An item of a page with [records](discussions.md#records) becomes one item for each record, with the text of
    the record. This works with the add-on only."""

    html_field: str = option("DENOISE_HTML_FIELD", "html", FIELD_NAME)
    """The item field that holds the page (`str` or `bytes`). With the add-on, an item without this field belongs
    to the response that it came from."""

    url_field: str = option("DENOISE_URL_FIELD", "url", FIELD_NAME)
    """The item field that holds the URL of that page. If a spider finds the page in [a JSON field or an
    archive](crawling.md#a-page-inside-json-or-an-archive) or in [another
    response](crawling.md#one-item-made-from-several-pages), it can name it in `response.meta`."""


@dataclass(frozen=True)
class WarmupSettings(OptionTable):
    """Warm-up and store.

    Items wait in the store until enough pages of their site are learned; see
    [how long items wait](guarantees.md#how-long-items-wait).
    """

    warmup_pages: int = option("DENOISE_WARMUP_PAGES", METHODS[DEFAULT_METHOD].warmup_pages, whole_number(0))
    """How many pages of a site are learned before its items go on. With `0`, nothing waits.

    The default is that of `fusion`, whose [learning curve](how-it-decides.md) is flat from two other pages on;
    with five it tells an article's fields from what every page repeats. The other methods have `20`."""

    warmup_seconds: float = option("DENOISE_WARMUP_SECONDS", 30.0, SECONDS_OR_NO_LIMIT)
    """The longest time that items wait for the next new page of their site. Then they go on, cleaned with what is
    known, and the site is still learned. In all, items wait ten times as long at most, counted from the first
    page of their site. This applies only with `DENOISE_SHORT_SITES = "clean"`."""

    short_sites: str = option("DENOISE_SHORT_SITES", "clean", one_of(SHORT_SITES))
    """What happens at the end of the crawl to items of sites with fewer pages than `DENOISE_WARMUP_PAGES`.
    `clean`: they come out, cleaned with what is known. `drop`: they are dropped."""

    site: Callable[[str], str] = option("DENOISE_SITE", "denoise_crawler.page.site.site_of", SITE_FUNCTION)
    """Returns the name of the site that a URL belongs to. The default is the registrable domain
    (`example.co.uk`)."""

    store: Path = option("DENOISE_STORE", ".scrapy/denoise.sqlite", FILE, empty_is_default=True)
    """The file where items wait, and where the knowledge of sites is kept for the next crawl. In a project the
    default lies in Scrapy's data folder."""

    shared_store: str = option("DENOISE_SHARED_STORE", "", FOLDER, empty_is_default=True)
    """A folder where crawls on several machines share their knowledge of sites; see
    [Spark](spark.md#the-same-knowledge-in-a-crawl). It may be any address that fsspec knows (`s3://bucket/folder`;
    install the extra `shared`). Items still wait in `DENOISE_STORE`, and each crawl has its own."""

    sites_in_memory: int = option("DENOISE_SITES_IN_MEMORY", SITES_IN_MEMORY, whole_number(1))
    """How many sites' knowledge is kept in memory; the rest is read from the store. Set it to at least as many
    sites as are crawled in turn. With fewer, nearly each page first loads its site and another that has changed is
    written back, which takes more CPU time with each page that is known: a crawl can need twice as much."""


@dataclass(frozen=True)
class RulesSettings(OptionTable):
    """Site rules."""

    site_rules: str = option("DENOISE_SITE_RULES", "", LOCAL_FOLDER, empty_is_default=True)
    """A folder of files such as `example.com.txt` with [rules](rules.md) that override the method. Invalid lines,
    and rules that would leave next to nothing of a page, are ignored and named in warnings."""


@dataclass(frozen=True)
class PolitenessSettings(OptionTable):
    """Politeness.

    For `denoise_crawler.Politeness` and the spiders that come with the package.
    """

    delay_min: float = option("DENOISE_DELAY_MIN", 5.0, SECONDS)
    """The shortest gap between the starts of two requests to a host. Each gap is drawn uniformly, once a
    request."""

    delay_max: float = option("DENOISE_DELAY_MAX", 20.0, SECONDS)
    """The longest gap. A Crawl-delay above the minimum moves both limits up."""

    crawl_delay_max: float = option("DENOISE_CRAWL_DELAY_MAX", 300.0, SECONDS)
    """The longest Crawl-delay that the crawl accepts. A host that asks for more is given up: its requests are
    dropped and counted, and one warning says so.

    No setting makes the crawl faster than the host asks. To crawl as slowly as it asks, raise this setting or the
    host's `delay` in `DOWNLOAD_SLOTS`."""

    retry_after_max: float = option("DENOISE_RETRY_AFTER_MAX", 600.0, SECONDS)
    """The longest `Retry-After` that is obeyed."""

    def __post_init__(self) -> None:
        """Raise SettingError if the shortest gap is longer than the longest."""
        if self.delay_min > self.delay_max:
            raise SettingError(
                f"DENOISE_DELAY_MIN ({self.delay_min:g}) is greater than DENOISE_DELAY_MAX ({self.delay_max:g}): "
                "set the minimum to at most the maximum"
            )


SECTIONS: tuple[type[OptionTable], ...] = (
    *(SwitchSettings, MethodSettings, Writing, ItemSettings, WarmupSettings, RulesSettings),
    PolitenessSettings,
)
SETTINGS = {row.name: row for section in SECTIONS for row in section.options().values()}
