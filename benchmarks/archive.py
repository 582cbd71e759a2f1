"""A WARC cleaned on several cores: ``scrapy denoise clean`` beside trafilatura's batch and a loop of resiliparse.

The archive holds pages of the corpus, as many of each set. ``scrapy denoise clean`` reads it three times: it
counts the pages of sites, learns them, then cleans. trafilatura's command reads folders, so it gets the same
pages as files. resiliparse has no batch of its own: each of its processes reads a part of the archive by FastWARC,
decodes each page and extracts the main content.

Each contender is a command. CPU seconds are those of all its processes. Their start is in them, and is measured
apart as well: by an archive of the shortest pages, one for each process.
"""

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from benchmarks.bench import folder_with, options, say, table, write_figures
from denoise_crawler.evaluation import addressed, read_gold

SETS = ("christianbook", "dragnet", "daniel")
EXTRACT = """
import sys
from fastwarc.warc import ArchiveIterator, WarcRecordType
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import bytes_to_str, detect_encoding

with open(sys.argv[2], "w", errors="replace") as out:
    for record in ArchiveIterator(open(sys.argv[1], "rb"), record_types=WarcRecordType.response):
        body = record.reader.read()
        html = bytes_to_str(body, detect_encoding(body))
        out.write(extract_plain_text(html, main_content=True) + "\\n\\n")
"""


@dataclass
class Spent:
    """What a contender took."""

    seconds: float
    cpu_seconds: float


def write_archive(path: Path, pages: Iterable[tuple[str, str]]) -> None:
    """Write a gzipped WARC of pages, each as the response of a server."""
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for url, html in pages:
            headers = StatusAndHeaders("200 OK", [("Content-Type", "text/html; charset=utf-8")], "HTTP/1.1")
            body = BytesIO(html.encode("utf-8", "replace"))
            writer.write_record(writer.create_warc_record(url, "response", payload=body, http_headers=headers))


def write_files(folder: Path, pages: Iterable[tuple[str, str]]) -> None:
    """Write each page into a file of its own."""
    folder.mkdir()
    for number, (_, html) in enumerate(pages):
        (folder / f"{number:06}.html").write_text(html, encoding="utf-8", errors="replace")


def spent(*commands: Sequence[str]) -> Spent:
    """Run commands side by side and return what they took together; raise if one fails."""
    start = perf_counter()
    # as for a user: what was imported once is compiled
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    processes = [subprocess.Popen(command, env=environment, **quiet) for command in commands]
    cpu = 0.0
    for process in processes:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, process.args)
        cpu += usage.ru_utime + usage.ru_stime
    return Spent(perf_counter() - start, cpu)


def measure(pages: list[tuple[str, str]], folder: Path, processes: int) -> dict[str, Spent]:
    """Return what each contender took for ``pages``; ``folder`` is made."""
    folder.mkdir()
    whole, parts = folder / "pages.warc.gz", [folder / f"part-{part}.warc.gz" for part in range(processes)]
    write_archive(whole, pages)
    for number, part in enumerate(parts):
        write_archive(part, pages[number::processes])
    write_files(folder / "files", pages)
    python, many = sys.executable, str(processes)
    clean = [python, "-m", "scrapy", "denoise", "clean", str(whole), "--workers", many]
    cut = [python, "-m", "trafilatura.cli", "--input-dir", str(folder / "files"), "--parallel", many]
    commands = {
        "scrapy denoise clean": [[*clean, "-o", str(folder / "clean.jsonl")]],
        "the same, one_look": [[*clean, "-o", str(folder / "one-look.jsonl"), "--method", "one_look"]],
        "trafilatura": [[*cut, "--output-dir", str(folder / "texts")]],
        "resiliparse": [[python, "-c", EXTRACT, str(part), f"{part}.txt"] for part in parts],
    }
    found = {}
    for name, ones in commands.items():
        say(name)
        found[name] = spent(*ones)
    return found


def rows(found: dict[str, Spent], starts: dict[str, Spent], pages: int) -> list[list[str]]:
    """Return a row for each contender: its cost with its start, then without."""
    with_start = {name: one.cpu_seconds for name, one in found.items()}
    without = {name: max(one - starts[name].cpu_seconds, 1e-9) for name, one in with_start.items()}

    def compared(costs: dict[str, float], name: str) -> list[str]:
        ratios = (f"{costs[name] / costs[other]:.2f}" for other in ("trafilatura", "resiliparse"))
        return [f"{pages / costs[name]:.0f}", *ratios]

    return [
        [
            name,
            f"{one.seconds:.1f}",
            f"{one.cpu_seconds:.1f}",
            *compared(with_start, name),
            f"{starts[name].cpu_seconds:.1f}",
            *compared(without, name),
        ]
        for name, one in found.items()
    ]


_COMPARED = ["pages a CPU second", "x trafilatura", "x resiliparse"]
HEADS = ["", "seconds", "CPU seconds", *_COMPARED, "start", *_COMPARED]


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="+", default=SETS, metavar="NAME")
    parser.add_argument("--pages", type=int, default=990, metavar="N", help="pages in the archive (990)")
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="processes of each contender (2)")
    arguments = parser.parse_args(argv)
    corpus = folder_with(arguments.sets)
    most = -(-arguments.pages // len(arguments.sets))
    sets = (list(islice(read_gold(corpus, name), most)) for name in arguments.sets)
    pages = [page for found in sets for page in addressed(found)][: arguments.pages]
    with TemporaryDirectory() as made:
        few = sorted(pages, key=lambda page: len(page[1]))[: arguments.processes]
        starts = measure(few, Path(made) / "start", arguments.processes)
        took = measure(pages, Path(made) / "all", arguments.processes)
    size = sum(len(html) for _, html in pages) / len(pages)
    print(f"{len(pages):,} pages of {size:,.0f} characters on average, {arguments.processes} processes each\n")
    print(table(HEADS, rows(took, starts, len(pages))))
    figures = {name: asdict(one) | {"start": asdict(starts[name])} for name, one in took.items()}
    write_figures(arguments.json, figures)


if __name__ == "__main__":
    main()
