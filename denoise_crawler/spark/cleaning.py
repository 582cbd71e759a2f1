"""Learns and cleans pages with Spark: those of a site come to one task, first those that it is learned from."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, types
from pyspark.sql.functions import col
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.pandas.types import to_arrow_schema

from denoise_crawler.batch.worker import BatchResult, clean_page, site_by
from denoise_crawler.batch.workers import Limits, Worker
from denoise_crawler.denoiser import PLAIN_TEXT, Cleaning
from denoise_crawler.errors import WorkerDiedError, WorkerError
from denoise_crawler.methods import DEFAULT_METHOD, MethodChoice
from denoise_crawler.methods.base import InMemoryKnowledge
from denoise_crawler.output.clean_page import CleanPage, failed_page
from denoise_crawler.output.writing import Writing
from denoise_crawler.page import Page
from denoise_crawler.page.metadata import MORE_FIELDS
from denoise_crawler.page.site import site_of
from denoise_crawler.page.text import hash64
from denoise_crawler.rules import NO_RULES, SiteRules

KNOWLEDGE = types.StructType(
    [
        types.StructField("site", types.StringType()),
        types.StructField("method", types.StringType()),
        types.StructField("pages", types.LongType()),
        types.StructField("failed", types.LongType()),
        types.StructField("failures", types.ArrayType(types.StringType())),
        types.StructField("knowledge", types.BinaryType()),
    ]
)
_SITE, _KEY = "_site", "_key"
_MIDDLE = 1 << 63  # subtracted from unsigned hashes: Spark has signed numbers, and the order stays
_MAX_FAILURES = 3
_TRIES = 2  # so that a process killed from outside costs no page
_MAX_UNSAVED_PAGES = 64  # that a process has learned and would forget if it died
_SPOOLED_BYTES = 64 << 20
_AS_JSON = ("records", "fields", "json_ld")
_FIELDS: list[tuple[str, types.DataType]] = [
    *((name, types.StringType()) for name in ("site", "title", "author", "date", "text", "language", "method")),
    ("warm", types.BooleanType()),
    ("noise_ratio", types.DoubleType()),
    ("confidence", types.DoubleType()),
    ("page_type", types.StringType()),
    ("low_confidence", types.BooleanType()),
    ("skipped", types.StringType()),
    ("error", types.StringType()),
]
# Only where they are asked for, so that the pages may have columns of these names.
_MORE_FIELDS: list[tuple[str, types.DataType]] = [
    (name, types.ArrayType(types.StringType()) if name == "tags" else types.StringType()) for name in MORE_FIELDS
]
_PARTS: list[tuple[str, types.DataType]] = [("truncated", types.BooleanType()), ("next_part", types.LongType())]
_PAGE_FIELDS = CleanPage.__dataclass_fields__


def clean(
    df: DataFrame,
    method: str | MethodChoice = DEFAULT_METHOD,
    *,
    site: Callable[[str], str] = site_of,
    writing: Writing = PLAIN_TEXT,
    rules: SiteRules | str | Path = NO_RULES,
    warmup_pages: int = 0,
    limits: Limits | None = None,
) -> DataFrame:
    """Learn each site from its pages, which may be in any order and partition, and clean them.

    The pages of a site are shuffled to one task, sorted by the hash of their URL: a method keeps those with the
    lowest hashes. So the first ones are learned; the others are cleaned as they come, and not held in memory.

    Args:
        df: Pages, with columns ``url`` and ``html`` (text or bytes).
        method: The name of the method, or a choice of one with its options.
        site: Returns the site of a URL.
        writing: How the text is written.
        rules: Site rules, or the folder where they lie on this machine: they are sent along.
        warmup_pages: A page is ``warm`` if its site has learned this many pages.
        limits: The limits of one page.

    Returns:
        One row per page, in any order, without those that ``writing`` wants dropped: the columns of ``df`` except
        ``html``, and those of a CleanPage. ``skipped`` says why a page has no text. ``error`` is what was raised
        on the page, or what killed its process; then the text is empty.

    Raises:
        MethodError: The method or an option is unknown.
        SettingError: A value of ``writing`` is wrong.
        RulesError: The folder of rules cannot be read.
        ValueError: Another argument is wrong.
    """
    cleaning = Cleaning(MethodChoice.of(method), writing, SiteRules.of_folder(rules), warmup_pages)
    added, within = _added_columns(writing), limits or Limits()
    _check_columns(df, added.names)
    kept = [field for field in df.schema.fields if field.name != "html"]

    def clean_sites(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = _Rows([field.name for field in kept], to_arrow_schema(added))
        for name, parts in _sites(batches):
            yield from _Site(name, page_worker(cleaning, within)).cleaned(parts, rows)

    pages = _with_site_and_key(df, site)
    if cleaning.choice.learns:
        pages = _by_site(pages)
    return pages.mapInArrow(clean_sites, types.StructType([*kept, *added.fields]))


def learn(
    df: DataFrame,
    method: str | MethodChoice = DEFAULT_METHOD,
    *,
    site: Callable[[str], str] = site_of,
    limits: Limits | None = None,
) -> DataFrame:
    """Learn each site as :func:`clean` does, for ``scrapy denoise merge``, which takes it into a store.

    Args:
        df: Pages, with columns ``url`` and ``html`` (text or bytes).
        method: The name of the method, or a choice of one with its options.
        site: Returns the site of a URL.
        limits: The limits of one page.

    Returns:
        One row per ``site``: the ``method`` (its store key), the number of ``pages``, how many ``failed``, some
        of the ``failures``, and the ``knowledge``: bytes for the method's ``merge_bytes``.

    Raises:
        MethodError: The method or an option is unknown.
        ValueError: The method does not learn, or a column is missing.
    """
    cleaning, within = Cleaning(MethodChoice.of(method)), limits or Limits()
    if not cleaning.choice.learns:
        raise ValueError(f"the method {cleaning.choice.name} does not learn sites")
    _check_columns(df, [])
    schema = to_arrow_schema(KNOWLEDGE)

    def learn_sites(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for name, parts in _sites(batches):
            row = _Site(name, page_worker(cleaning, within)).learned(parts)
            yield pa.RecordBatch.from_pylist([{"method": cleaning.choice.key, **row}], schema)

    return _by_site(_with_site_and_key(df.select("url", "html"), site)).mapInArrow(learn_sites, KNOWLEDGE)


# --- columns


def _added_columns(writing: Writing) -> types.StructType:
    """Return the columns that cleaning adds."""
    asked: list[tuple[str, types.DataType]] = [
        (name, types.StringType()) for name in _AS_JSON if getattr(writing, name)
    ]
    asked += _PARTS if writing.max_chars is not None else []
    more = _MORE_FIELDS if writing.more_metadata else []
    return types.StructType([types.StructField(name, kind) for name, kind in (*_FIELDS, *more, *asked)])


def _check_columns(df: DataFrame, added: Iterable[str]) -> None:
    """Raise ValueError unless the columns of pages are there, and none of those that are ``added``."""
    missing = [name for name in ("url", "html") if name not in df.columns]
    if missing:
        raise ValueError(f"no column {', '.join(missing)}; there are {', '.join(df.columns)}: rename yours")
    occupied = sorted(set(df.columns) & {*added, _SITE, _KEY})
    if occupied:
        what = f"the columns {', '.join(occupied)} are there already"
        raise ValueError(f"{what}: rename them, as the result has its own")


def _with_site_and_key(pages: DataFrame, site: Callable[[str], str]) -> DataFrame:
    """Add the site of each page and the hash of its URL as columns."""
    schema = pa.struct([(_SITE, pa.string()), (_KEY, pa.int64())])

    @arrow_udf(f"struct<{_SITE}:string,{_KEY}:bigint>")  # type: ignore[call-overload, untyped-decorator]
    def place(urls: pa.Array) -> pa.Array:
        names = [url or "" for url in urls.to_pylist()]
        sites = pa.array([site_by(site, url) for url in names], pa.string())
        keys = pa.array([hash64(url) - _MIDDLE for url in names], pa.int64())
        return pa.StructArray.from_arrays([sites, keys], fields=schema)

    placed = pages.withColumn("_place", place(col("url")))
    return placed.select(*pages.columns, f"_place.{_SITE}", f"_place.{_KEY}")


def _by_site(pages: DataFrame) -> DataFrame:
    """Bring the pages of a site into one partition, next to each other, by the hash of their URL."""
    return pages.repartition(_SITE).sortWithinPartitions(_SITE, _KEY, "html")


def _sites(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, Iterator[pa.RecordBatch]]]:
    """Yield each site with its rows, which are adjacent; only a batch is in memory."""
    for site, parts in groupby(_parts(batches), key=itemgetter(0)):
        yield site, (part for _, part in parts)


def _parts(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, pa.RecordBatch]]:
    for batch in batches:
        start = 0
        for site, rows in groupby(batch.column(_SITE).to_pylist()):
            size = len(list(rows))
            yield site, batch.slice(start, size)
            start += size


def _pages(part: pa.RecordBatch) -> Iterator[tuple[str, str | bytes]]:
    for url, html in zip(part.column("url").to_pylist(), part.column("html").to_pylist(), strict=True):
        yield url or "", html or ""


# --- in a task


class PageHandler:
    """Learns and cleans the pages of one site at a time, in a worker process."""

    def __init__(self, cleaning: Cleaning) -> None:
        self._cleaning = replace(cleaning, sites_in_memory=1)
        self.enter("", None)

    def enter(self, site: str, knowledge: bytes | None) -> None:
        """Begin with a site of which this is known."""
        known = InMemoryKnowledge(None if knowledge is None else {site: knowledge})
        self._site, self._denoiser = site, self._cleaning.denoiser(known)

    def learn(self, url: str, html: str | bytes) -> bool:
        """Learn a page; return False if it would change nothing."""
        page = Page.parse(url, html, site=self._site)
        if not self._denoiser.learns or not self._denoiser.method_for(self._site).wants(page):
            return False
        self._denoiser.learn(page)
        return True

    def known(self) -> bytes | None:
        """Return what is known of the site, None if no page of it was learned."""
        method = self._denoiser.method_for(self._site)
        return method.to_bytes() if method.pages_known else None

    def cleaned(self, url: str, html: str | bytes) -> BatchResult:
        """Clean a page; if that raises, it has no text and names the error."""
        method, cleaning = self._denoiser.method_for(self._site), self._cleaning
        is_warm = not method.learns or method.pages_known >= cleaning.warmup_pages
        return clean_page(self._denoiser, self._site, url, html, short=None if is_warm else cleaning.short_sites)


_workers: dict[bytes, Worker[PageHandler]] = {}


def page_worker(cleaning: Cleaning, limits: Limits) -> Worker[PageHandler]:
    """Return this process's worker for this cleaning; it serves all tasks that Spark gives the process."""
    key = pickle.dumps((cleaning, limits))
    if key not in _workers:
        for old in _workers.values():
            old.close()
        _workers.clear()
        _workers[key] = Worker(partial(PageHandler, cleaning), limits, tries=_TRIES)
    return _workers[key]


@dataclass(slots=True)
class _Site:
    """One site in a task: its pages go to the worker process and come back clean."""

    name: str
    worker: Worker[PageHandler]
    pages: int = 0
    failed: int = 0
    failures: list[str] = field(default_factory=list)

    def learned(self, parts: Iterator[pa.RecordBatch]) -> dict[str, Any]:
        """Learn the site; return a row of it."""
        self._enter(None)
        wanted = True
        last_key: int | None = None
        for part in parts:
            self.pages += part.num_rows
            if wanted:
                wanted, last_key = self._learn(part, last_key)
        return {
            "site": self.name,
            "pages": self.pages,
            "failed": self.failed,
            "failures": sorted(self.failures)[:_MAX_FAILURES],
            "knowledge": self.worker.call(PageHandler.known),
        }

    def cleaned(self, parts: Iterator[pa.RecordBatch], rows: _Rows) -> Iterator[pa.RecordBatch]:
        """Learn the site and yield its clean pages."""
        self._enter(None)
        last_key: int | None = None
        first = next(parts)
        with SpooledTemporaryFile(_SPOOLED_BYTES) as spool:
            with pa.ipc.new_stream(spool, first.schema) as learned:
                for part in chain([first], parts):
                    learned.write_batch(part)
                    wanted, last_key = self._learn(part, last_key)
                    if not wanted:
                        break
            self._keep_known()
            spool.seek(0)
            for part in chain(pa.ipc.open_stream(spool), parts):
                yield rows.batch(part, [self._clean(url, html) for url, html in _pages(part)])

    def _enter(self, known: bytes | None) -> None:
        self.worker.on_start = [(PageHandler.enter, (self.name, known))]
        self.worker.call(PageHandler.enter, self.name, known)

    def _learn(self, part: pa.RecordBatch, last_key: int | None) -> tuple[bool, int | None]:
        """Learn pages in the order of their keys; return False if later ones would change nothing, and the key."""
        for (url, html), key in zip(_pages(part), part.column(_KEY).to_pylist(), strict=True):
            if key == last_key:
                continue
            last_key = key
            try:
                if not self.worker.call(PageHandler.learn, url, html):
                    return False, key
            except WorkerError as error:
                self.failed += 1
                self.failures = [*self.failures, f"{url}: {error}"][:_MAX_FAILURES]
                continue
            self.worker.on_start.append((PageHandler.learn, (url, html)))
            if len(self.worker.on_start) > _MAX_UNSAVED_PAGES:
                self._keep_known()
        return True, last_key

    def _keep_known(self) -> None:
        """Keep what is known of the site, for the case that the process dies."""
        self.worker.on_start = [(PageHandler.enter, (self.name, self.worker.call(PageHandler.known)))]

    def _clean(self, url: str, html: str | bytes) -> tuple[CleanPage, str | None] | None:
        """Return the clean page, and why there is nothing to read on it; None if it is not wanted."""
        try:
            result = self.worker.call(PageHandler.cleaned, url, html)
        except WorkerDiedError as error:
            return failed_page(url, self.name, str(error)), None
        if result.failure:
            result.failure.log()
        return None if result.dropped else (result.page, result.skipped)


class _Rows:
    """Puts the columns of clean pages beside those that pass through."""

    def __init__(self, kept: list[str], added: pa.Schema) -> None:
        self._kept, self._added = kept, added
        self._of_page = [name for name in added.names if name in _PAGE_FIELDS]

    def batch(self, part: pa.RecordBatch, pages: list[tuple[CleanPage, str | None] | None]) -> pa.RecordBatch:
        wanted = [place for place, page in enumerate(pages) if page is not None]
        passed = part.select(self._kept).take(pa.array(wanted, pa.int64()))
        values = [self._values(*page) for page in pages if page is not None]
        cleaned = pa.RecordBatch.from_pylist(values, self._added)
        names = [*passed.schema.names, *cleaned.schema.names]
        return pa.RecordBatch.from_arrays([*passed.columns, *cleaned.columns], names=names)

    def _values(self, page: CleanPage, skipped: str | None) -> dict[str, Any]:
        values = {name: getattr(page, name) for name in self._of_page}
        data = {name: _to_json(values[name]) for name in _AS_JSON if values.get(name) is not None}
        return {**values, **data, "text": str(page.text), "skipped": skipped}  # blocks as JSON


def _to_json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
