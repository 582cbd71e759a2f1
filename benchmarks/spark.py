"""What learning and cleaning an archive with Spark costs, and whether it gives what one process gives.

The corpus is written as WARC files. One process learns and cleans them (``denoise_pages``), then Spark does with
one core and with two, with two while its Python workers are killed, and with two executors of which one is
killed. Each result is compared page for page with that of the one process. CPU seconds are those of all processes
of a job, the JVM among them. What the steps of a job cost without Spark is measured on a part of the pages.
Seconds mean little on a machine that does other work: the load stands beside them.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import zlib
from argparse import Namespace
from dataclasses import asdict, dataclass, field
from functools import partial
from io import BytesIO
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from benchmarks.bench import folder_with, options, say, table, write_figures
from benchmarks.processes import cpu_seconds, processes_below
from benchmarks.scale import alone
from denoise_crawler.batch.process_pool import Limits, Worker
from denoise_crawler.batch.worker import BatchWorker
from denoise_crawler.denoiser import Cleaning, denoise_pages
from denoise_crawler.evaluation import read_gold
from denoise_crawler.methods import MethodChoice
from denoise_crawler.page.site import site_of
from denoise_crawler.page.text import hash64
from denoise_crawler.reading import read_pages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


SETS = ("daniel", "dragnet", "l3s_gn1", "wcxb", "christianbook")
FILES = 8
FEW_PAGES = 10  # of each set
SAMPLED_FILES = 2  # of which the steps are measured
WORKER, EXECUTOR = "pyspark.daemon", "CoarseGrainedExecutorBackend"  # as in their command lines
SECONDS_TO_KILL = 20


@dataclass
class Road:
    """What one way of doing it took; ``digests`` has of each address a hash of its clean page."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    pages: int = 0
    shuffled: int = 0
    killed: int = 0
    load: float = 0.0
    digests: dict[str, int] | None = None


def write_archive(corpus: Path, folder: Path, at_most: int) -> int:
    """Write the gold pages as WARC files into a new folder, shared out by a hash; return how many."""
    folder.mkdir()
    files = [(folder / f"part-{number}.warc.gz").open("wb") for number in range(FILES)]
    writers = [WARCWriter(file, gzip=True) for file in files]
    count = 0
    for name in SETS:
        for page in islice(read_gold(corpus, name), at_most):
            url = f"https://{page.site}/{name}/{page.id}"
            headers = StatusAndHeaders(
                "200 OK", [("Content-Type", "text/html; charset=utf-8")], protocol="HTTP/1.1"
            )
            body = BytesIO(page.html.encode("utf-8", "replace"))
            writer = writers[hash64(url) % FILES]
            writer.write_record(writer.create_warc_record(url, "response", payload=body, http_headers=headers))
            count += 1
    for file in files:
        file.close()
    return count


def digest(page: dict[str, Any]) -> int:
    """Return a hash of what a page came out as."""
    names = ("site", "title", "author", "date", "text", "language", "method", "warm", "noise_ratio")
    return hash64(json.dumps([page[name] for name in names], ensure_ascii=False))


def one_process(folder: Path) -> Road:
    """Learn and clean in this process."""
    start, cpu = time.monotonic(), time.process_time()
    digests = {page.url: digest(asdict(page)) for page in denoise_pages(read_pages(folder))}
    return Road(
        time.monotonic() - start, time.process_time() - cpu, len(digests), digests=digests, load=os.getloadavg()[0]
    )


def with_spark(folder: Path, cores: int, master: str, kills: int = 0, victims: str = WORKER) -> Road:
    """Learn and clean with Spark on this machine, ``kills`` of its processes killed meanwhile.

    All processes of the job together have no more than ``cores``: in ``local[1]``, too, Spark runs several.
    """
    from pyspark.sql import SparkSession

    from denoise_crawler.spark import clean, read_archive

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    builder: Any = SparkSession.builder
    spark = (
        builder.master(master)
        .config("spark.ui.port", "0")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "4g")
        .config("spark.sql.shuffle.partitions", str(FILES))
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    road = Road()
    killer = threading.Thread(target=_kill, args=(kills, victims, road), daemon=True)
    start = time.monotonic()
    killer.start()
    pages = read_archive(spark, [str(folder)])
    where = mkdtemp(dir=folder.parent)
    clean(pages).write.parquet(f"{where}/clean")
    road.seconds, road.cpu_seconds, road.load = time.monotonic() - start, cpu_seconds(), os.getloadavg()[0]
    road.shuffled = _shuffled(spark)
    cleaned = spark.read.parquet(f"{where}/clean").toLocalIterator()
    digests = [(row.url, digest(row.asDict())) for row in cleaned]
    road.pages, road.digests = len(digests), dict(digests)
    spark.stop()
    return road


def _shuffled(spark: SparkSession) -> int:
    """Return the bytes written for shuffles until now."""
    stages = f"{spark.sparkContext.uiWebUrl}/api/v1/applications/{spark.sparkContext.applicationId}/stages"
    with urlopen(stages, timeout=30) as answer:  # noqa: S310 - Spark's own page on loopback
        return sum(stage["shuffleWriteBytes"] for stage in json.load(answer))


def _kill(kills: int, victims: str, road: Road) -> None:
    """Kill processes of Spark, one every few seconds."""
    while road.killed < kills:
        time.sleep(SECONDS_TO_KILL)
        running = [pid for pid, (_, _, command) in processes_below().items() if victims in command]
        if len(running) > 1:
            os.kill(max(running), signal.SIGKILL)
            road.killed += 1


def stages(folder: Path) -> dict[str, float]:
    """Return CPU ms and bytes a page of the steps of a job, each done in this process, without Spark."""
    watch = _Watch()
    files = sorted(folder.iterdir())[:SAMPLED_FILES]
    pages = [(site_of(url), url, html) for file in files for url, html in read_pages(file)]
    watch.lap("read WARC, ms", len(pages))
    cleaning, known = Cleaning(MethodChoice()), mkdtemp(dir=folder.parent)
    handler = BatchWorker(cleaning, None, Path(known))
    for page in pages:
        handler.learn(*page)
    handler.save()
    watch.lap("learn, ms", len(pages))
    for page in pages:
        handler.judge(*page, None)
    watch.lap("clean, ms", len(pages))
    worker = Worker(partial(BatchWorker, Cleaning(MethodChoice("link_ratio")), None, Path(known)), Limits())
    worker.call(BatchWorker.learn, "", "", "<p>")
    watch.start = time.process_time()
    for page in pages:
        worker.call(BatchWorker.learn, *page)
    watch.lap("hand to another process, ms", len(pages))
    worker.close()
    bodies = [html if isinstance(html, bytes) else html.encode() for _, _, html in pages]
    return {
        **watch.found,
        "page, bytes": sum(map(len, bodies)) / len(pages),
        "page compressed, bytes": sum(len(zlib.compress(body, 1)) for body in bodies) / len(pages),
        "known of the largest site, bytes": max(file.stat().st_size for file in Path(known).iterdir()),
    }


@dataclass
class _Watch:
    start: float = field(default_factory=time.process_time)
    found: dict[str, float] = field(default_factory=dict)

    def lap(self, name: str, pages: int) -> None:
        self.found[name] = (time.process_time() - self.start) / pages * 1000
        self.start = time.process_time()


def _rows(roads: dict[str, Road]) -> list[list[str]]:
    expected = roads["one process"].digests or {}
    rows = []
    for name, road in roads.items():
        digests = road.digests or {}
        different = sum(digests.get(url) != value for url, value in expected.items()) + len(
            digests.keys() - expected
        )
        rows.append(
            [
                name,
                f"{road.pages:,}",
                f"{road.seconds:.0f}",
                f"{road.cpu_seconds:.0f}",
                f"{road.cpu_seconds / road.pages * 1000:.1f}",
                f"{road.shuffled / road.pages:,.0f}" if road.shuffled else "",
                str(road.killed),
                str(different),
                f"{road.load:.1f}",
            ]
        )
    return rows


def _arguments(argv: list[str] | None) -> Namespace:
    parser = options(__doc__)
    parser.add_argument("--at-most", type=int, default=100_000, metavar="N", help="take N pages of a set at most")
    parser.add_argument("--no-spark", action="store_true", help="measure the steps of a job alone, without Spark")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Print the tables."""
    arguments = _arguments(argv)
    corpus = folder_with(SETS)
    with TemporaryDirectory(prefix="denoise-spark-") as place:
        folder, few = Path(place) / "archive", Path(place) / "few"
        pages = write_archive(corpus, folder, arguments.at_most)
        write_archive(corpus, few, FEW_PAGES)
        say(f"{pages:,} pages as WARC; the steps of a job, on {SAMPLED_FILES} of {FILES} files")
        costs = alone(stages, folder)
        print(table(["a page costs", ""], [[name, f"{cost:,.1f}"] for name, cost in costs.items()]))
        roads = {} if arguments.no_spark else _roads(folder, few)
    figures = {name: {**asdict(road), "digests": None} for name, road in roads.items()}
    write_figures(arguments.json, {"steps": costs, "roads": figures})


def _roads(folder: Path, few: Path) -> dict[str, Road]:
    """Go all roads and print what they took."""
    plans: dict[str, Any] = {
        "one process": (one_process, folder),
        "Spark, 1 core": (with_spark, folder, 1, "local[1,8]"),
        "Spark, 2 cores": (with_spark, folder, 2, "local[2,8]"),
        "2 cores, Python workers killed": (with_spark, folder, 2, "local[2,8]", 5),
        "2 executors, one killed": (with_spark, folder, 2, "local-cluster[2,1,2048]", 1, EXECUTOR),
    }
    roads: dict[str, Road] = {}
    for name, plan in plans.items():
        say(name)
        roads[name] = alone(*plan)
    say("few pages: what a job takes to start")
    start = alone(with_spark, few, 2, "local[2,8]")
    heads = ["", "pages", "s", "CPU s", "CPU ms a page", "bytes a page shuffled", "killed", "different", "load"]
    one, two = roads["Spark, 1 core"], roads["Spark, 2 cores"]
    print(f"\n{table(heads, _rows(roads))}")
    print(f"\nspeed-up from 1 to 2 cores: {one.seconds / two.seconds:.2f}")
    each = (two.cpu_seconds - start.cpu_seconds) / (two.pages - start.pages)
    print(
        f"a job of {start.pages} pages: {start.cpu_seconds:.0f} CPU s; each further page: {each * 1000:.1f} CPU ms"
    )
    print(f"a million further pages: {each * 1e6 / 3600:.1f} core hours")
    return roads


if __name__ == "__main__":
    main()
