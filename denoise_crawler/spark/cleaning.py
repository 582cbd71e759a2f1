"""Cleans pages with Spark: those of a site come to one task, which is a batch of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, types
from pyspark.sql.functions import col
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.pandas.types import to_arrow_schema

from denoise_crawler.batch import BatchResult, BatchStats, Job, clean_as
from denoise_crawler.batch.process_pool import Limits
from denoise_crawler.batch.worker import site_by
from denoise_crawler.denoiser import PLAIN_TEXT, Cleaning
from denoise_crawler.methods import DEFAULT_METHOD, MethodChoice
from denoise_crawler.output.clean_page import CleanPage
from denoise_crawler.output.writing import Writing
from denoise_crawler.page.metadata import MORE_FIELDS
from denoise_crawler.page.site import site_of
from denoise_crawler.page.text import hash64
from denoise_crawler.rules import NO_RULES, SiteRules

_SITE, _KEY = "_site", "_key"
_MIDDLE = 1 << 63  # subtracted from unsigned hashes: Spark has signed numbers, and the order stays
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

    The pages of a site are shuffled to one task. Each task is a batch (:func:`clean_pages`): it keeps its pages in
    a file of its machine, learns all, then cleans all, in a process beside Spark's own.

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
    job = Job(cleaning, None, site, workers=1, limits=limits or Limits(), isolated=True)
    added = _added_columns(writing)
    _check_columns(df, added.names)
    kept = [field for field in df.schema.fields if field.name != "html"]
    names, schema = [field.name for field in kept], to_arrow_schema(added)

    def clean_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with TemporaryDirectory(prefix="denoise-") as folder:
            file = f"{folder}/pages"
            _write(batches, file)
            with closing(clean_as(job, lambda: _pages(file), BatchStats())) as results:
                for part in _parts(file):
                    yield _rows(part, names, list(islice(results, part.num_rows)), schema)

    pages = _by_site(df, site) if cleaning.choice.learns else df
    return pages.mapInArrow(clean_partition, types.StructType([*kept, *added.fields]))


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


def _by_site(pages: DataFrame, site: Callable[[str], str]) -> DataFrame:
    """Bring the pages of a site into one partition, next to each other, by the hash of their URL.

    So of several pages with one URL always the same is learned.
    """
    schema = pa.struct([(_SITE, pa.string()), (_KEY, pa.int64())])

    @arrow_udf(f"struct<{_SITE}:string,{_KEY}:bigint>")  # type: ignore[call-overload, untyped-decorator]
    def place(urls: pa.Array) -> pa.Array:
        names = [url or "" for url in urls.to_pylist()]
        sites = pa.array([site_by(site, url) for url in names], pa.string())
        keys = pa.array([hash64(url) - _MIDDLE for url in names], pa.int64())
        return pa.StructArray.from_arrays([sites, keys], fields=schema)

    placed = pages.withColumn("_place", place(col("url")))
    placed = placed.select(*pages.columns, f"_place.{_SITE}", f"_place.{_KEY}")
    return placed.repartition(_SITE).sortWithinPartitions(_SITE, _KEY, "html").select(*pages.columns)


# --- in a task


def _write(batches: Iterator[pa.RecordBatch], file: str) -> None:
    """Write the pages of a partition into a file of this machine, since a batch reads them several times."""
    if (first := next(batches, None)) is not None:
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.OSFile(file, "wb") as sink, pa.ipc.new_stream(sink, first.schema, options=options) as pages:
            for batch in chain([first], batches):
                pages.write_batch(batch)


def _parts(file: str) -> Iterator[pa.RecordBatch]:
    if Path(file).exists():
        with pa.OSFile(file) as source, pa.ipc.open_stream(source) as batches:
            yield from batches


def _pages(file: str) -> Iterator[tuple[str, str | bytes]]:
    for part in _parts(file):
        for url, html in zip(part.column("url").to_pylist(), part.column("html").to_pylist(), strict=True):
            yield url or "", html or ""


def _rows(part: pa.RecordBatch, names: list[str], results: list[BatchResult], added: pa.Schema) -> pa.RecordBatch:
    """Return the columns of clean pages beside those that pass through; pages that are dropped have no row."""
    places = [place for place, result in enumerate(results) if not result.dropped]
    passed = part.select(names).take(pa.array(places, pa.int64()))
    values = [_values(results[place], added.names) for place in places]
    cleaned = pa.RecordBatch.from_pylist(values, added)
    columns = [*passed.columns, *cleaned.columns]
    return pa.RecordBatch.from_arrays(columns, names=[*passed.schema.names, *cleaned.schema.names])


def _values(result: BatchResult, names: list[str]) -> dict[str, Any]:
    page = result.page
    values = {name: getattr(page, name) for name in names if name in _PAGE_FIELDS}
    data = {name: _to_json(values[name]) for name in _AS_JSON if values.get(name) is not None}
    return {**values, **data, "text": str(page.text), "skipped": result.skipped}  # blocks as JSON


def _to_json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
