"""Learn and clean an archive with Apache Spark: run by spark-submit, or by Python on one machine."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from denoise_crawler.batch.workers import Limits
from denoise_crawler.errors import ExtractorError, MethodError, MissingExtraError, SourceError, needs
from denoise_crawler.methods import DEFAULT_METHOD, METHODS, MethodChoice
from denoise_crawler.output.options import add_number, at_least
from denoise_crawler.output.writing import Writing
from denoise_crawler.page.text import printable
from denoise_crawler.reading import FORMATS

try:
    with needs("spark"):
        from pyspark.errors import PySparkException
        from pyspark.sql import DataFrame, SparkSession
        from pyspark.sql.functions import col, count, count_if
        from pyspark.sql.functions import sum as total

        from denoise_crawler.spark.archive import BY_SPARK, read_archive
        from denoise_crawler.spark.cleaning import SHARD_PAGES, clean, learn
except MissingExtraError as error:
    sys.exit(f"denoise_crawler.spark: {error}")

_EPILOG = """
  learn   writes what is known of each site, as Parquet, to --trees
  clean   reads --trees and writes the clean pages to -o
  both    one after the other; with --resume trees that are there already are taken as they are

Repeat a job that broke off: what it left half-way is never taken for whole. Exit codes: 0 done, 1 the work could
not be done, 2 wrong usage.

On a cluster every machine needs this package (a packed virtual environment given with --archives, say):
  spark-submit --master URL PATH/denoise_crawler/spark/__main__.py both s3://bucket/crawl/*.warc.gz -o s3://bucket/clean
On this machine alone:
  python -m denoise_crawler.spark both crawl.warc.gz -o clean
"""


def main(argv: list[str] | None = None) -> int:
    """Run the command and return the exit code."""
    arguments = _parser().parse_args(argv)
    if arguments.work != "learn" and not arguments.output:
        _parser().error("name with -o where the clean pages go")
    arguments.trees = arguments.trees or (f"{arguments.output.rstrip('/')}-trees" if arguments.output else None)
    if not arguments.trees:
        _parser().error("name with --trees where the trees go")
    try:
        with _session(arguments.master) as spark:
            return _run(spark, arguments)
    except (SourceError, MethodError, ExtractorError, PySparkException, OSError, ValueError) as error:
        print(f"denoise_crawler.spark: {_in_one_line(error)}", file=sys.stderr)
        return 1


def _in_one_line(error: Exception) -> str:
    if isinstance(error, PySparkException) and error.getCondition() == "JAVA_GATEWAY_EXITED":
        return "Spark does not start: it needs Java 17 or later, on the PATH or where JAVA_HOME says"
    return printable(str(error).splitlines()[0])


def _run(spark: SparkSession, arguments: Namespace) -> int:
    fields = {"url_field": arguments.url_field, "html_field": arguments.html_field}
    pages = read_archive(spark, arguments.paths, arguments.input_format, **fields)
    overwrite = arguments.overwrite or arguments.resume
    limits = Limits(arguments.seconds, arguments.memory << 20)
    learns = MethodChoice(arguments.method).learns
    if arguments.work != "clean" and learns:
        if arguments.resume and _has_finished(spark, arguments.trees):
            print(f"{arguments.trees} is whole and is taken as it is")
        else:
            trees = learn(pages, arguments.method, limits=limits)
            _write(trees, arguments.trees, "parquet", overwrite=overwrite)
        _report_trees(spark.read.parquet(arguments.trees))
    if arguments.work != "learn":
        cleaned = clean(
            pages,
            spark.read.parquet(arguments.trees) if learns else None,
            arguments.method,
            writing=Writing(**Writing.given(arguments)),
            rules=arguments.rules,
            warmup_pages=arguments.warmup_pages,
            limits=limits,
            shard_pages=arguments.shard_pages,
        )
        _write(cleaned, arguments.output, arguments.output_format, overwrite=overwrite)
        is_parquet = arguments.output_format == "parquet"
        read = spark.read.parquet if is_parquet else spark.read.schema(cleaned.schema).json
        _report_pages(read(arguments.output))
    return 0


def _write(rows: DataFrame, to: str, file_format: str, *, overwrite: bool) -> None:
    writer = rows.write.mode("overwrite" if overwrite else "errorifexists")
    if file_format == "parquet":
        writer.parquet(to)
    else:
        writer.option("ignoreNullFields", value=False).option("compression", "gzip").json(to)


def _has_finished(spark: SparkSession, folder: str) -> bool:
    """Tell whether the job that wrote ``folder`` has finished."""
    hadoop: Any = spark.sparkContext._jvm
    path = hadoop.org.apache.hadoop.fs.Path(folder, "_SUCCESS")
    return bool(path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration()).exists(path))


def _report_trees(trees: DataFrame) -> None:
    found = trees.agg(count("*"), total("pages"), count_if(col("knowledge").isNotNull()), total("failed")).first()
    sites, pages, known, failed = (value or 0 for value in found or (0, 0, 0, 0))
    print(f"learned: {pages:,} pages of {sites:,} sites; {known:,} have a tree; {failed:,} pages failed")
    for row in trees.where(col("failed") > 0).select("failures").limit(3).collect():
        print(f"  {printable(row.failures[0])}")


def _report_pages(pages: DataFrame) -> None:
    found = pages.agg(count("*"), count_if(col("skipped").isNotNull()), count_if(col("error").isNotNull())).first()
    everything, skipped, failed = found or (0, 0, 0)
    print(f"cleaned: {everything:,} pages; nothing to read on {skipped:,}; {failed:,} failed")
    for row in pages.where(col("error").isNotNull()).select("url", "error").limit(3).collect():
        print(f"  {printable(row.url)}: {printable(row.error)}")


@contextmanager
def _session(master: str | None) -> Iterator[SparkSession]:
    """Yield the active session, or a new one that is stopped at the end."""
    if running := SparkSession.getActiveSession():
        yield running
        return
    spark = _new_session(master)
    try:
        yield spark
    finally:
        spark.stop()


def _new_session(master: str | None) -> SparkSession:
    if "PYSPARK_PYTHON" not in os.environ and "SPARK_ENV_LOADED" not in os.environ:  # not by spark-submit
        os.environ["PYSPARK_PYTHON"] = sys.executable
        master = master or "local[*,4]"  # a task is tried four times, as on a cluster
    builder: SparkSession.Builder = SparkSession.builder
    builder = builder.appName("denoise_crawler")
    return (builder.master(master) if master else builder).getOrCreate()


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="denoise_crawler.spark",
        description=__doc__,
        epilog=_EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("work", choices=("learn", "clean", "both"), help="what is done, see below")
    add("paths", nargs="+", metavar="PATH", help="files, folders and patterns; local, or of a file system")
    add("-o", "--output", metavar="FOLDER", help="where the clean pages go")
    add("--trees", metavar="FOLDER", help="where the trees are (default: the output's name with -trees)")
    add("--overwrite", action="store_true", help="replace what is in these folders")
    add("--resume", action="store_true", help="go on with a job that broke off")
    add(
        "--input-format",
        default="archive",
        choices=("archive", *BY_SPARK, *FORMATS),
        metavar="NAME",
        help="parquet and jsonl are read by Spark; archive (the default) is WARC and all that "
        "`scrapy denoise clean` reads, a task for each file",
    )
    add("--output-format", default="parquet", choices=BY_SPARK, help="parquet (the default) or jsonl")
    add("--url-field", default="url", metavar="NAME", help="column of the address (default: url)")
    add("--html-field", default="html", metavar="NAME", help="column of the page (default: html)")
    add("--method", default=DEFAULT_METHOD, choices=tuple(METHODS), help=f"default: {DEFAULT_METHOD}")
    Writing.add_to(parser, "form", "extractor", "more_metadata")
    add("--rules", default="", metavar="FOLDER", help="site rules that are obeyed before any evidence")
    add_number(parser, "--warmup-pages", 0, 0, "a site with fewer is not warm")
    what = "the most CPU time a page may take (60)"
    add("--seconds", type=float, default=Limits().seconds, metavar="S", help=what)
    what = "the most memory of the process that handles pages (4096)"
    add("--memory", type=at_least(64), default=Limits().memory >> 20, metavar="MIB", help=what)
    add_number(parser, "--shard-pages", 1, SHARD_PAGES, "a larger site is cleaned in several tasks")
    add("--master", metavar="URL", help="Spark's master; default: spark-submit's, else all cores of this machine")
    return parser


if __name__ == "__main__":
    sys.exit(main())
