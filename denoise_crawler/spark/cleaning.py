"""Cleans pages: the knowledge of each site travels to its pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, types
from pyspark.sql.functions import array, broadcast, ceil, coalesce, col, explode, lit, pmod, sequence
from pyspark.sql.pandas.types import to_arrow_schema

from denoise_crawler.batch.workers import Limits, Worker
from denoise_crawler.denoiser import PLAIN_TEXT, Cleaning
from denoise_crawler.errors import WorkerDiedError, WorkerError
from denoise_crawler.methods import DEFAULT_METHOD, MethodChoice
from denoise_crawler.output.clean_page import CleanPage, failed_page
from denoise_crawler.output.writing import Writing
from denoise_crawler.page.metadata import MORE_FIELDS
from denoise_crawler.page.site import site_of
from denoise_crawler.rules import NO_RULES, SiteRules
from denoise_crawler.spark.archive import KEY, LIMIT, PAGES, SITE, learning_limits, with_site_and_key
from denoise_crawler.spark.page_handler import PageHandler, group_and_sort, grouped, page_worker

# --- learns sites: one tree per page, merged by site

TREES = "site string, method string, pages bigint, failed bigint, failures array<string>, knowledge binary"
_ARROW = pa.schema(
    [
        ("site", pa.string()),
        ("method", pa.string()),
        ("pages", pa.int64()),
        ("failed", pa.int64()),
        ("failures", pa.list_(pa.string())),
        ("knowledge", pa.binary()),
    ]
)
_MAX_EXAMPLES = 3


def learn(
    df: DataFrame,
    method: str | MethodChoice = DEFAULT_METHOD,
    *,
    site: Callable[[str], str] = site_of,
    limits: Limits | None = None,
) -> DataFrame:
    """Learn each site from its pages, which may be in any order and partition.

    A method keeps the pages of a site with the lowest hashes of their URLs. These are found first, from the URLs
    alone, so that no other pages are parsed. The result is lazy: write or ``persist`` it before use.

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
    choice = MethodChoice.of(method)
    if not choice.learns:
        raise ValueError(f"the method {choice.name} does not learn sites: clean the pages without trees")
    require_columns(df, "url", "html")
    found = learning_limits(df, site, choice.pages_kept)
    pages = with_site_and_key(df.select("url", "html"), site)
    barred = broadcast(found.where(col(LIMIT).isNotNull()).select(SITE, LIMIT))
    wanted = pages.join(barred, SITE, "left").where(col(LIMIT).isNull() | (col(KEY) <= col(LIMIT)))
    cleaning, within = Cleaning(choice), limits or Limits()

    def map_pages(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _one_page_trees(batches, cleaning, within)

    def reduce_sites(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _merge_sites(batches, choice)

    trees = wanted.select(SITE, "url", "html").mapInArrow(map_pages, TREES)
    return group_and_sort(trees.unionByName(_page_counts(found)), ["site"]).mapInArrow(reduce_sites, TREES)


def _page_counts(found: DataFrame) -> DataFrame:
    """Return the number of pages of each site as rows of ``TREES``."""
    return found.select(
        col(SITE).alias("site"),
        lit("").alias("method"),
        col(PAGES).alias("pages"),
        lit(0).cast("bigint").alias("failed"),
        array().cast("array<string>").alias("failures"),
        lit(None).cast("binary").alias("knowledge"),
    )


def require_columns(df: DataFrame, *names: str) -> None:
    """Raise ValueError unless ``df`` has the columns."""
    missing = [name for name in names if name not in df.columns]
    if missing:
        raise ValueError(f"no column {', '.join(missing)}; there are {', '.join(df.columns)}: rename yours")


def _one_page_trees(
    batches: Iterator[pa.RecordBatch], cleaning: Cleaning, limits: Limits
) -> Iterator[pa.RecordBatch]:
    worker = page_worker(cleaning, limits)
    for batch in batches:
        rows = []
        for row in batch.to_pylist():
            site, url, html = row[SITE], row["url"] or "", row["html"] or ""
            found = {"site": site, "method": "", "pages": 0, "failed": 0, "failures": [], "knowledge": None}
            try:
                found["knowledge"] = worker.call(PageHandler.one_page_tree, site, url, html) or None
            except WorkerError as error:
                found.update(failed=1, failures=[f"{url}: {error}"])
            if found["knowledge"] or found["failed"]:
                rows.append(found)
        yield pa.RecordBatch.from_pylist(rows, _ARROW)


def _merge_sites(batches: Iterator[pa.RecordBatch], choice: MethodChoice) -> Iterator[pa.RecordBatch]:
    key = choice.key
    for site, rows in grouped(batches, "site"):
        found = _merge_site(rows, choice)
        yield pa.RecordBatch.from_pylist([{"site": site, "method": key, **found}], _ARROW)


def _merge_site(rows: Iterator[dict[str, Any]], choice: MethodChoice) -> dict[str, Any]:
    method = choice.new()
    pages = failed = 0
    failures: list[str] = []
    for row in rows:
        pages += row["pages"]
        failed += row["failed"]
        failures = sorted([*failures, *row["failures"]])[:_MAX_EXAMPLES]
        if row["knowledge"]:
            method.merge_bytes(row["knowledge"])
    knowledge = method.to_bytes() if method.pages_known else None
    return {"pages": pages, "failed": failed, "failures": failures, "knowledge": knowledge}


SHARD_PAGES = 10_000
_SHARD, _SHARDS, _TREE, _PAGE = "_shard", "_shards", "_tree", "_page"
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


@dataclass(frozen=True, slots=True)
class _Task:
    """The arguments of the tasks; ``kept`` are the columns that pass through."""

    cleaning: Cleaning
    limits: Limits
    kept: list[str]

    @property
    def columns(self) -> types.StructType:
        """The columns that cleaning adds."""
        return _columns(self.cleaning.writing)


def clean(
    df: DataFrame,
    trees: DataFrame | None,
    method: str | MethodChoice = DEFAULT_METHOD,
    *,
    site: Callable[[str], str] = site_of,
    writing: Writing = PLAIN_TEXT,
    rules: SiteRules | str | Path = NO_RULES,
    warmup_pages: int = 0,
    limits: Limits | None = None,
    shard_pages: int = SHARD_PAGES,
) -> DataFrame:
    """Clean pages, each shuffled once to the knowledge of its site.

    Args:
        df: Pages, with columns ``url`` and ``html`` (text or bytes).
        trees: The result of :func:`learn` for the same method, written or persisted; None if it does not learn.
        method: The name of the method, or a choice of one with its options.
        site: Returns the site of a URL.
        writing: How the text is written.
        rules: Site rules, or the folder where they lie on this machine: they are sent along.
        warmup_pages: A page is ``warm`` if its site has learned this many pages.
        limits: The limits of one page.
        shard_pages: A site with more pages is cleaned in several tasks.

    Returns:
        One row per page, in any order, without those that ``writing`` wants dropped: the columns of ``df`` except
        ``html``, and those of a CleanPage. ``skipped`` says why a page has no text. ``error`` is what was raised
        on the page, or what killed its process; then the text is empty.

    Raises:
        MethodError: The method or an option is unknown.
        LowConfidenceError: What ``writing`` wishes for unsure pages cannot be done.
        RulesError: The folder of rules cannot be read.
        ValueError: Another argument is wrong.

    """
    choice = MethodChoice.of(method)
    if choice.learns and trees is None:
        raise ValueError(f"the method {choice.name} needs trees: give what learn(df) returned")
    if shard_pages < 1:
        raise ValueError(f"shard_pages must be at least 1, not {shard_pages}")
    cleaning = Cleaning(choice, writing, SiteRules.of_folder(rules), warmup_pages)
    _check_columns(df, _columns(writing))
    kept = [name for name in df.columns if name != "html"]
    task = _Task(cleaning, limits or Limits(), kept)

    def judge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _clean_batches(batches, task)

    schema = types.StructType([*(field for field in df.schema.fields if field.name in kept), *task.columns.fields])
    pages = with_site_and_key(df, site).withColumn(_PAGE, lit(True))
    if trees is not None and choice.learns:
        pages = _beside_trees(pages, trees.where(col("method") == choice.key), shard_pages)
    else:
        pages = pages.withColumn(_TREE, lit(None).cast("binary")).drop(KEY)
    return pages.mapInArrow(judge, schema)


def _columns(writing: Writing) -> types.StructType:
    """Return the columns that cleaning adds."""
    asked: list[tuple[str, types.DataType]] = [
        (name, types.StringType()) for name in _AS_JSON if getattr(writing, name)
    ]
    asked += _PARTS if writing.max_chars is not None else []
    more = _MORE_FIELDS if writing.more_metadata else []
    return types.StructType([types.StructField(name, kind) for name, kind in (*_FIELDS, *more, *asked)])


def _check_columns(df: DataFrame, ours: types.StructType) -> None:
    """Raise ValueError unless the columns of pages are there, and none of ours."""
    require_columns(df, "url", "html")
    taken = sorted(set(df.columns) & {*ours.names, SITE, KEY, _SHARD, _SHARDS, _TREE, _PAGE})
    if taken:
        what = f"the columns {', '.join(taken)} are there already"
        raise ValueError(f"{what}: rename them, as the result has its own")


def _beside_trees(pages: DataFrame, trees: DataFrame, shard_pages: int) -> DataFrame:
    """Return pages and trees in one DataFrame: in each shard the tree of a site, then its pages."""
    shards = trees.where(col("knowledge").isNotNull()).withColumn(_SHARDS, ceil(col("pages") / shard_pages))
    large = shards.where(col(_SHARDS) > 1).select(col("site").alias(SITE), _SHARDS)
    shard = pmod(col(KEY), coalesce(col(_SHARDS), lit(1)))
    placed = pages.join(broadcast(large), SITE, "left").withColumn(_SHARD, shard)
    copies = shards.select(
        col("site").alias(SITE),
        explode(sequence(lit(0).cast("bigint"), coalesce(col(_SHARDS), lit(1)) - 1)).alias(_SHARD),
        col("knowledge").alias(_TREE),
        lit(False).alias(_PAGE),
    )
    both = placed.drop(KEY, _SHARDS).unionByName(copies, allowMissingColumns=True)
    return group_and_sort(both, [SITE, _SHARD], [col(_PAGE)])


def _clean_batches(batches: Iterator[pa.RecordBatch], task: _Task) -> Iterator[pa.RecordBatch]:
    schema = to_arrow_schema(task.columns)
    judge = _Judge(page_worker(task.cleaning, task.limits), schema.names)
    for batch in batches:
        found, places = [], []
        columns = [batch.column(name).to_pylist() for name in (SITE, _TREE, _PAGE, "url", "html")]
        for place, (site, tree, is_page, url, html) in enumerate(zip(*columns, strict=True)):
            if not is_page:
                judge.meet(site, tree)
                continue
            if (row := judge.row(site, url or "", html or "")) is not None:
                places.append(place)
                found.append(row)
        if places:
            passed = batch.select(task.kept).take(pa.array(places))
            cleaned = pa.RecordBatch.from_pylist(found, schema)
            names = [*passed.schema.names, *cleaned.schema.names]
            yield pa.RecordBatch.from_arrays([*passed.columns, *cleaned.columns], names=names)


class _Judge:
    """Sends pages to the worker, and the knowledge of a site before its first page."""

    def __init__(self, worker: Worker[PageHandler], columns: list[str]) -> None:
        self._worker = worker
        self._of_page = [name for name in columns if name in _PAGE_FIELDS]
        self._tree: tuple[str, bytes | None] = ("", None)
        self._entered: str | None = None

    def meet(self, site: str, tree: bytes) -> None:
        self._tree, self._entered = (site, tree), None

    def row(self, site: str, url: str, html: str | bytes) -> dict[str, Any] | None:
        try:
            if self._entered != site:
                tree = self._tree[1] if self._tree[0] == site else None
                self._worker.on_start = [(PageHandler.enter, (site, tree))]
                self._worker.call(PageHandler.enter, site, tree)
                self._entered = site
            result = self._worker.call(PageHandler.cleaned, site, url, html)
        except WorkerDiedError as error:
            return {**self._values(failed_page(url, site, str(error))), "skipped": None}
        if result.failure:
            result.failure.log()
        return None if result.dropped else {**self._values(result.page), "skipped": result.skipped}

    def _values(self, page: CleanPage) -> dict[str, Any]:
        values = {name: getattr(page, name) for name in self._of_page}
        data = {name: _to_json(values[name]) for name in _AS_JSON if values.get(name) is not None}
        return {**values, **data, "text": str(page.text)}  # blocks as JSON


def _to_json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
