"""Clean an archive with Apache Spark: run by spark-submit, or by Python on one machine."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterator
from contextlib import contextmanager

from denoise_crawler.batch.process_pool import Limits
from denoise_crawler.errors import ExtractorError, MethodError, MissingExtraError, SourceError, needs
from denoise_crawler.methods import DEFAULT_METHOD, METHODS
from denoise_crawler.options import add_number, whole_number
from denoise_crawler.output.writing import Writing
from denoise_crawler.page.text import printable
from denoise_crawler.reading import FORMATS

try:
    with needs("spark"):
        from pyspark.errors import PySparkException
        from pyspark.sql import DataFrame, SparkSession
        from pyspark.sql.functions import col, count, count_if

        from denoise_crawler.spark.archive import BY_SPARK, read_archive
        from denoise_crawler.spark.cleaning import clean
except MissingExtraError as error:
    sys.exit(f"denoise_crawler.spark: {error}")

_EPILOG = """
Each site is learned from its pages; the clean pages go to -o.

Repeat a job that broke off with --overwrite. Exit codes: 0 done, 1 the work could not be done, 2 wrong usage.

On a cluster every machine needs this package (a packed virtual environment given with --archives, say):
  spark-submit --master URL PATH/denoise_crawler/spark/__main__.py s3://bucket/crawl/*.warc.gz -o s3://bucket/clean
On this machine alone:
  python -m denoise_crawler.spark crawl.warc.gz -o clean
"""


def main(argv: list[str] | None = None) -> int:
    """Run the command and return the exit code."""
    arguments = _parser().parse_args(argv)
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
    limits = Limits(arguments.seconds, arguments.memory << 20)
    mode = "overwrite" if arguments.overwrite else "errorifexists"
    cleaned = clean(
        pages,
        arguments.method,
        writing=Writing(**Writing.given(arguments)),
        rules=arguments.rules,
        warmup_pages=arguments.warmup_pages,
        limits=limits,
    )
    if arguments.output_format == "parquet":
        cleaned.write.mode(mode).parquet(arguments.output)
        written = spark.read.parquet(arguments.output)
    else:
        rows = cleaned.write.mode(mode).option("ignoreNullFields", value=False)
        rows.option("compression", "gzip").json(arguments.output)
        written = spark.read.schema(cleaned.schema).json(arguments.output)
    _report_pages(written)
    return 0


def _report_pages(pages: DataFrame) -> None:
    sums = pages.agg(count("*"), count_if(col("skipped").isNotNull()), count_if(col("error").isNotNull())).first()
    everything, skipped, failed = sums or (0, 0, 0)
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
    add("paths", nargs="+", metavar="PATH", help="files, folders and patterns; local, or of a file system")
    add("-o", "--output", metavar="FOLDER", required=True, help="where the result goes")
    add("--overwrite", action="store_true", help="replace what is in this folder")
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
    add("--rules", default="", metavar="FOLDER", help="site rules, which count before any evidence")
    add_number(parser, "--warmup-pages", 0, 0, "a site with fewer is not warm")
    what = "the most CPU time a page may take (60)"
    add("--seconds", type=float, default=Limits().seconds, metavar="S", help=what)
    what = "the most memory of the process that handles pages (4096)"
    add("--memory", type=whole_number(64).of_word, default=Limits().memory >> 20, metavar="MIB", help=what)
    add("--master", metavar="URL", help="Spark's master; default: spark-submit's, else all cores of this machine")
    return parser


if __name__ == "__main__":
    sys.exit(main())
