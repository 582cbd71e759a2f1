"""The one table of settings, a row for each.

Crawls and commands read and check settings by it, and ``python docs/write_settings.py`` writes docs/settings.md.
The docstring of a section begins with its title; the docstring below a row says what the setting does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from denoise_crawler.changes import MAX_PAGES
from denoise_crawler.core import MODES
from denoise_crawler.crawl import setting_kinds as kinds
from denoise_crawler.crawl.settings_section import SettingsSection, setting
from denoise_crawler.denoiser import SITES_IN_MEMORY
from denoise_crawler.methods import DEFAULT_METHOD, METHODS
from denoise_crawler.methods.fusion.wishes import FAVOUR, WORDS, Wishes
from denoise_crawler.output.extractors import EXTRACTORS
from denoise_crawler.output.forms import FORMS
from denoise_crawler.output.low_confidence import MARK
from denoise_crawler.output.writing import CHANGES, CHOICES, KEEP, NO_CHANGES

_WISHES = Wishes()


@dataclass(frozen=True)
class SwitchSettings(SettingsSection):
    """Turning it off."""

    enabled: bool = setting("DENOISE_ENABLED", True, kinds.FLAG)
    """`False` turns the add-on and the pipelines off, for example in a spider's `custom_settings`.

    To turn them off for one request, set `meta={"denoise": False}`: its items pass unchanged, and its page is not
    learned. This works with the add-on only, because item pipelines do not see the request. Items with nothing to
    fill need no setting: they never wait, and their pages are not judged."""

    core: str | None = setting("DENOISE_CORE", None, kinds.optional(kinds.one_of(MODES), "the environment says"))
    """Whether the [compiled core](speed.md#the-compiled-core) reads pages. `auto`: where it can be used. `off`:
    never. `require`: the crawl does not begin without it. Without the environment variable of the same name,
    `auto`."""

    workers: int = setting("DENOISE_WORKERS", 0, kinds.whole_number(0))
    """How many [worker processes](speed.md#worker-processes) learn and clean pages; with `0`, the crawl does it
    itself."""

    page_seconds: float = setting("DENOISE_PAGE_SECONDS", 30.0, kinds.SECONDS_OR_NO_LIMIT)
    """The CPU time that a page may take in a worker process; ten times as much by the clock."""

    skipped_items: tuple[type, ...] = setting("DENOISE_SKIP_ITEMS", [], kinds.ITEM_CLASSES)
    """Items of these classes and their subclasses pass unchanged: `["my_project.items.Price"]`. Their pages are
    not learned unless they also give other items."""


@dataclass(frozen=True)
class MethodSettings(SettingsSection):
    """What is cleaned, and how."""

    method: str = setting("DENOISE_METHOD", DEFAULT_METHOD, kinds.one_of(sorted(METHODS)))
    """The [method](methods.md) that finds the noise."""

    method_options: dict[str, object] = setting("DENOISE_METHOD_OPTIONS", {}, kinds.DICT)
    """The parameters of the method, such as `{"max_pages": 64}`."""

    title: str = setting("DENOISE_TITLE", _WISHES.title, kinds.one_of(WORDS))
    """Whether the text begins with the page's title: most who read or index a text want its headline in it. Only
    `fusion` knows this setting and the next two, and `one_look` this one and `DENOISE_FAVOUR`. They are options of
    these methods as well: `denoise_pages(pages, title="leave")`."""

    comments: str = setting("DENOISE_COMMENTS", _WISHES.comments, kinds.one_of(WORDS))
    """Whether the text includes what readers wrote below an article, an answer or an issue. The posts of a forum
    thread are no comments: they are always kept."""

    favour: str = setting("DENOISE_FAVOUR", _WISHES.favour, kinds.one_of(FAVOUR))
    """What is better where a block is in doubt. `precision`: less noise. `recall`: less is missing. `balanced`:
    neither."""


@dataclass(frozen=True)
class OutputSettings(SettingsSection):
    """How the text is written."""

    form: str = setting("DENOISE_FORM", "text", kinds.one_of(FORMS), empty_is_default=True)
    """The [format](output.md#forms) of the text. With `blocks` the field holds a list of dicts."""

    links: str = setting("DENOISE_LINKS", KEEP, kinds.one_of(CHOICES))
    """`leave` writes the text of links without their addresses, in all forms but `text`, which has none."""

    pictures: str = setting("DENOISE_PICTURES", KEEP, kinds.one_of(CHOICES))
    """`leave` leaves out pictures and embedded videos and posts."""

    front_matter: bool = setting("DENOISE_FRONT_MATTER", False, kinds.FLAG)
    """Markdown begins with the page's metadata [in YAML](output.md#forms)."""

    more_metadata: bool = setting("DENOISE_MORE_METADATA", False, kinds.FLAG)
    """Fill the fields `description`, `image`, `canonical_url`, `site_name`, `tags` and `modified` of `CleanPage`;
    see [metadata](output.md#metadata). Your own items get them when `DENOISE_EXTRA_FIELDS` names them, without
    this setting."""

    explain: bool = setting("DENOISE_EXPLAIN", False, kinds.FLAG)
    """Fill `CleanPage.explanation`, which says of each block [why it was kept or
    dropped](what-happened.md#why-a-block-was-kept-or-dropped). To get it
    in your own items, name it in `DENOISE_EXTRA_FIELDS`."""

    extractor: str | None = setting(
        "DENOISE_EXTRACTOR", None, kinds.optional(kinds.one_of(EXTRACTORS), "our own text"), empty_is_default=True
    )
    """The library that writes the text after the noise is removed; see [another extractor](extractors.md)."""

    extractor_options: dict[str, object] = setting("DENOISE_EXTRACTOR_OPTIONS", {}, kinds.DICT)
    """Options for that library, such as `{"output_format": "markdown"}`."""

    min_confidence: float = setting("DENOISE_MIN_CONFIDENCE", 0.0, kinds.SHARE)
    """The lowest `confidence` (the [expected F1](how-it-decides.md) of the text) that is good enough. Pages below
    it are *unsure*: `CleanPage.low_confidence` is true. To get it in your own items, name it in
    `DENOISE_EXTRA_FIELDS`:
    `{"low_confidence": "unsure"}`. About seven of ten pages are above `0.9`. Only `fusion` and `one_look` say
    how sure they are."""

    low_confidence: str = setting("DENOISE_LOW_CONFIDENCE", MARK, kinds.TEXT)
    """What becomes of unsure pages:

    - `mark`: they are marked, and counted in the [stats](stats.md).
    - `drop`: their items are dropped, as by a pipeline that raises `DropItem`. Items with a text of their own
      stay.
    - `render`: a browser fetches the page again before the spider sees it. This needs `denoise_crawler.Rendering`
      in `ADDONS`. A page that is still unsure is marked.
    - The name of an [extractor](extractors.md), or a function as `module:function` from URL and HTML to a text: it
      writes the text of the whole page. `method` is then `fusion/trafilatura`, for example. If it fails or writes
      nothing, our own text stays."""


@dataclass(frozen=True)
class DataSettings(SettingsSection):
    """Records and values.

    Data besides the text. To get it in your own items, name `records`, `fields` or `json_ld` in
    `DENOISE_EXTRA_FIELDS`. See [records](discussions.md#records).
    """

    records: bool = setting("DENOISE_RECORDS", False, kinds.FLAG)
    """Fill `CleanPage.records` with the posts of a thread or the items of a list, a dict each."""

    fields: bool = setting("DENOISE_FIELDS", False, kinds.FLAG)
    """Fill `CleanPage.fields` with the values of a product by name: price, currency, codes, brand,
    availability."""

    json_ld: bool = setting("DENOISE_JSON_LD", False, kinds.FLAG)
    """Fill `CleanPage.json_ld` with the page's JSON-LD as data."""


@dataclass(frozen=True)
class ChangeSettings(SettingsSection):
    """What changed.

    See [what changed](changes.md).
    """

    changes: str = setting("DENOISE_CHANGES", NO_CHANGES, kinds.one_of(CHANGES))
    """`mark`: fill `content_hash`, `near_duplicate_of`, `soft_404` and `unchanged` of `CleanPage`. To get them in
    your own items, name them in `DENOISE_EXTRA_FIELDS`. `drop`: the same, and items of unchanged pages are
    dropped. `no`: neither."""

    history_pages: int = setting("DENOISE_CHANGES_PAGES", MAX_PAGES, kinds.whole_number(1))
    """How many pages are remembered from one crawl to the next, those that were seen last. They are in a file
    beside `DENOISE_STORE`, whose name ends in `.pages`."""


@dataclass(frozen=True)
class ItemSettings(SettingsSection):
    """The fields of your items."""

    text_field: str = setting("DENOISE_TEXT_FIELD", "text", kinds.FIELD_NAME)
    """The item field that gets the clean text. A field with a value is never overwritten.

    If the item's class has no such field, or refuses the text, the item passes unchanged, and one error names the
    class and the setting. A frozen item is replaced by a filled copy. A field that is declared as a list, or holds
    an empty one, gets a list."""

    extra_fields: dict[str, str] = setting("DENOISE_EXTRA_FIELDS", {}, kinds.PAGE_FIELDS)
    """More fields to fill: the name of a field of [`CleanPage`](api.md), and the name of your item's field, such
    as `{"author": "byline"}`."""

    part_field: str = setting("DENOISE_PART_FIELD", "denoise_part", kinds.FIELD_NAME)
    """The item field that says which part of the page belongs to the item; the item gets the text of that part.
    Its value is a CSS selector, the HTML of a node, or an XPath expression (it begins with `/`, `./`, `.//` or
    `(`).

    If the field is empty or missing, the item gets the text of the page. See
    [recipes](crawling.md#part-of-a-page)."""

    by_record: bool = setting("DENOISE_BY_RECORD", False, kinds.FLAG)
    """An item of a page with [records](discussions.md#records) becomes one item for each record, with the text of
    the record. Items with a part of their own stay one. This works with the add-on only."""

    html_field: str = setting("DENOISE_HTML_FIELD", "html", kinds.FIELD_NAME)
    """The item field that holds the page (`str` or `bytes`). With the add-on, an item without this field belongs
    to the response that it came from."""

    url_field: str = setting("DENOISE_URL_FIELD", "url", kinds.FIELD_NAME)
    """The item field that holds the URL of that page. If a spider finds the page in [a JSON field or an
    archive](crawling.md#a-page-inside-json-or-an-archive) or in [another
    response](crawling.md#one-item-made-from-several-pages), it can name it in `response.meta`."""


@dataclass(frozen=True)
class WarmupSettings(SettingsSection):
    """Warm-up and store.

    Items wait in the store until enough pages of their site are learned; see
    [how long items wait](guarantees.md#how-long-items-wait).
    """

    warmup_pages: int = setting(
        "DENOISE_WARMUP_PAGES", METHODS[DEFAULT_METHOD].warmup_pages, kinds.whole_number(0)
    )
    """How many pages of a site are learned before its items go on. With `0`, nothing waits.

    The default is that of `fusion`, whose [learning curve](how-it-decides.md) is flat from two other pages on;
    with five it tells an article's fields from what every page repeats. The other methods have `20`."""

    warmup_seconds: float = setting("DENOISE_WARMUP_SECONDS", 30.0, kinds.SECONDS_OR_NO_LIMIT)
    """The longest time that items wait for the next new page of their site. Then they go on, cleaned with what is
    known, and the site is still learned. This applies only with `DENOISE_SHORT_SITES = "clean"`."""

    warmup_longest: float = setting("DENOISE_WARMUP_LONGEST", 300.0, kinds.SECONDS_OR_NO_LIMIT)
    """The same, counted from the first page of the site: the longest time that items wait in all."""

    short_sites: str = setting("DENOISE_SHORT_SITES", "clean", kinds.one_of(("clean", "raw", "drop")))
    """What happens at the end of the crawl to items of sites with fewer pages than `DENOISE_WARMUP_PAGES`.
    `clean`: they come out, cleaned with what is known. `raw`: they come out with all their text. `drop`: they are
    dropped."""

    site: Callable[[str], str] = setting("DENOISE_SITE", "denoise_crawler.page.site.site_of", kinds.SITE_FUNCTION)
    """Returns the name of the site that a URL belongs to. The default is the registrable domain
    (`example.co.uk`)."""

    store: Path = setting("DENOISE_STORE", ".scrapy/denoise.sqlite", kinds.FILE, empty_is_default=True)
    """The file where items wait, and where the knowledge of sites is kept for the next crawl. In a project the
    default lies in Scrapy's data folder."""

    shared_store: str = setting("DENOISE_SHARED_STORE", "", kinds.FOLDER, empty_is_default=True)
    """A folder where crawls on several machines share their knowledge of sites; see
    [Spark](spark.md#the-same-trees-in-a-crawl). It may be any address that fsspec knows (`s3://bucket/folder`;
    install the extra `shared`). Items still wait in `DENOISE_STORE`, and each crawl has its own."""

    sites_in_memory: int = setting("DENOISE_SITES_IN_MEMORY", SITES_IN_MEMORY, kinds.whole_number(1))
    """How many sites' knowledge is kept in memory; the rest is read from the store. Set it to at least as many
    sites as are crawled in turn. With fewer, nearly each page first loads its site and another that has changed is
    written back, which takes more CPU time with each page that is known: a crawl can need twice as much."""


@dataclass(frozen=True)
class RulesSettings(SettingsSection):
    """Site rules."""

    site_rules: str = setting("DENOISE_SITE_RULES", "", kinds.LOCAL_FOLDER, empty_is_default=True)
    """A folder of files such as `example.com.txt` with [rules](rules.md) that are obeyed before any evidence.
    Wrong lines, and rules that would leave next to nothing of a page, are named in warnings and passed over."""

    sample_pages: int = setting("DENOISE_SAMPLE_PAGES", 0, kinds.whole_number(0))
    """How many pages of each site the store keeps, so that [`scrapy denoise rules SITE`](rules.md) can derive
    rules from them; six are enough for most sites. Pages of more than a million characters are not kept."""


@dataclass(frozen=True)
class PolitenessSettings(SettingsSection):
    """Politeness.

    For `denoise_crawler.Politeness` and the spiders that come with the package.
    """

    delay_min: float = setting("DENOISE_DELAY_MIN", 5.0, kinds.SECONDS)
    """The shortest gap between the starts of two requests to a host. Each gap is drawn uniformly, once a
    request."""

    delay_max: float = setting("DENOISE_DELAY_MAX", 20.0, kinds.SECONDS)
    """The longest gap. A Crawl-delay above the minimum moves both limits up."""

    crawl_delay_max: float = setting("DENOISE_CRAWL_DELAY_MAX", 300.0, kinds.SECONDS)
    """The longest Crawl-delay that the crawl accepts. A host that asks for more is given up: its requests are
    dropped and counted, and one warning says so.

    No setting makes the crawl faster than the host asks. To crawl as slowly as it asks, raise this setting or the
    host's `delay` in `DOWNLOAD_SLOTS`."""

    retry_after_max: float = setting("DENOISE_RETRY_AFTER_MAX", 600.0, kinds.SECONDS)
    """The longest `Retry-After` that is obeyed."""

    robots_unreachable: str = setting("DENOISE_ROBOTS_UNREACHABLE", "wait", kinds.one_of(("wait", "allow")))
    """What to do with a host whose robots.txt cannot be fetched (HTTP 5xx, or no answer after Scrapy's retries),
    if `ROBOTSTXT_OBEY` is on. `wait`: requests to the host wait in the scheduler while robots.txt is requested
    again; after three more tries they are dropped. `allow`: the host is crawled without rules, as Scrapy does.

    A robots.txt that does not exist (HTTP 4xx) allows everything."""

    robots_retry: float = setting("DENOISE_ROBOTS_RETRY", 600.0, kinds.SECONDS)
    """How long the crawl waits before it requests such a robots.txt again."""

    delay_seed: int | None = setting("DENOISE_DELAY_SEED", None, kinds.optional(kinds.whole_number(), "random"))
    """The seed of the random gaps: with a number, each crawl draws the same gaps."""


@dataclass(frozen=True)
class RenderingSettings(SettingsSection):
    """Pages that need a browser.

    For `denoise_crawler.Rendering`; see [rendered pages](crawling.md#pages-that-a-browser-must-build).
    """

    render: str = setting(
        "DENOISE_RENDER", "needed", kinds.one_of(("needed", "always", "asked")), empty_is_default=True
    )
    """Which pages are rendered. `needed`: those with scripts and fewer than 200 characters of text. `always`:
    every HTML page. `asked`: only requests with `meta={"playwright": True}`."""

    render_wait: float = setting("DENOISE_RENDER_WAIT", 5.0, kinds.number("a number of seconds, 0 to 600", 600))
    """How long a loaded page may wait for the answers to its own requests."""


@dataclass(frozen=True)
class LiveSettings(SettingsSection):
    """The live page.

    See [the live page](what-happened.md#the-live-page).
    """

    live: bool = setting("DENOISE_LIVE", False, kinds.FLAG)
    """Serve the live page during crawls, on the loopback interface."""

    live_ports: tuple[int, ...] = setting("DENOISE_LIVE_PORT", [6080, 6089], kinds.PORTS)
    """The port, or the first and the last port to try. `0` stands for any free port."""


@dataclass(frozen=True)
class MonitorSettings(SettingsSection):
    """Monitors.

    For [Spidermon](integrations.md#monitors-spidermon).
    """

    noise_min: float = setting("DENOISE_MONITOR_NOISE_MIN", 0.02, kinds.SHARE)
    """The monitor fails if a smaller share of the text was removed."""

    noise_max: float = setting("DENOISE_MONITOR_NOISE_MAX", 0.98, kinds.SHARE)
    """The monitor fails if a larger share of the text was removed."""

    unread_max: float = setting("DENOISE_MONITOR_UNREAD_MAX", 0.1, kinds.SHARE)
    """The monitor fails if a larger share of the pages is empty or built by scripts."""


SECTIONS = tuple(SettingsSection.__subclasses__())
SETTINGS = {row.name: row for section in SECTIONS for row in section.settings().values()}
