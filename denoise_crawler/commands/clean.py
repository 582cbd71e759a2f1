"""``scrapy denoise clean``: pages on disk in, their clean text out."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.filesize import decimal
from scrapy.exceptions import UsageError

from denoise_crawler.batch import Tally, clean_pages, cores
from denoise_crawler.batch.arguments import whole_number
from denoise_crawler.commands.help_text import help_text
from denoise_crawler.commands.method_choice import add_method_choice, chosen_settings
from denoise_crawler.commands.page_output import output_to
from denoise_crawler.commands.reading_bar import reading_bar
from denoise_crawler.errors import BatchError, OutputError, SourceError
from denoise_crawler.output.extractors import EXTRACTORS
from denoise_crawler.output.renderings import RENDERINGS
from denoise_crawler.output.writing import FORMS
from denoise_crawler.page.text import printable
from denoise_crawler.reading import FORMATS, Reading, read_pages

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections import Counter
    from collections.abc import Callable, Iterator

    from scrapy.settings import BaseSettings

    from denoise_crawler.commands.page_output import Output
    from denoise_crawler.crawl.settings import DenoiseSettings

    Pages = Iterator[tuple[str, str | bytes]]

DONE, FAILED, INTERRUPTED = 0, 1, 130
_EPILOG = help_text(
    {
        "scrapy denoise clean archive.warc.gz -O clean.jsonl": "learn each site of an archive, clean its pages",
        "scrapy denoise clean mirror/ -o painted --as painted": "what was kept and what went, to look at",
        "scrapy denoise clean pages.jsonl --form markdown | head -1": "Markdown, on stdout",
    },
    "Exit codes: 0 all that can be read is written (damage is reported), 1 nothing could be read, the work could "
    "not go on or, with --strict, something was damaged, 2 wrong usage, 130 interrupted.",
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    parser.epilog = _EPILOG
    add("paths", nargs="+", metavar="PATH", help="a folder or file of pages: HTML, WARC, JSON Lines, Tianwang")
    add(
        "-o",
        "--output",
        metavar="FILE",
        help="append to FILE (- for stdout, the default); unless it is jsonl, a new or empty folder",
    )
    add("-O", "--overwrite-output", metavar="FILE", help="the same, overwriting what is there")
    add(
        "--as",
        dest="rendering",
        choices=("jsonl", *RENDERINGS),
        default="jsonl",
        help="what to write: one JSON object a line (the default) or, into a folder, a file a page",
    )
    add_method_choice(parser)
    add("--form", choices=FORMS, help="the form of the text in jsonl (default: the setting DENOISE_FORM)")
    add(
        "--extractor",
        choices=tuple(EXTRACTORS),
        help="the library that writes the text once the noise is gone (default: the setting DENOISE_EXTRACTOR)",
    )
    add("--explain", action="store_true", help="say of each block why it was kept or dropped (jsonl)")
    add("--workers", type=whole_number(1), metavar="N", help="number of processes (default: one a core)")
    add("--format", choices=tuple(FORMATS), help="the format of all files (default: seen from each)")
    add("--base", metavar="URL", help="address of the folder of HTML files (default: https://FIRST-FOLDER/)")
    add("--url-field", metavar="NAME", help="field of JSON Lines (default: the setting DENOISE_URL_FIELD)")
    add("--html-field", metavar="NAME", help="field of JSON Lines (default: the setting DENOISE_HTML_FIELD)")
    add("--strict", action="store_true", help="exit with 1 if something was damaged")


def run(arguments: Namespace, settings: BaseSettings) -> int:
    """Clean the pages; return the exit code. Raises UsageError for what cannot be done as it was said."""
    work = _Run(arguments, _settings(arguments, settings))
    try:
        work.read()  # a path that cannot be read from is told now, before anything is written
        output = output_to(
            arguments.rendering, arguments.output, arguments.overwrite_output, inputs=arguments.paths
        )
    except (SourceError, OutputError) as error:
        raise UsageError(str(error), print_help=False) from None
    try:
        with _terminated_as_interrupted(), output:
            return work.into(output)
    except KeyboardInterrupt:
        work.stopped("interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # whoever reads the output has enough of it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except (BatchError, OSError) as error:
        work.stopped(f"stopped: {error}")
        return FAILED


class _Run:
    """One run of the command: its pages, its progress bar, its report."""

    def __init__(self, arguments: Namespace, chosen: DenoiseSettings) -> None:
        self._arguments, self._chosen = arguments, chosen
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._workers = arguments.workers or cores()
        self._tally, self._reading = Tally(), Reading()
        self._fallbacks = 0

    def into(self, output: Output) -> int:
        """Clean all pages into ``output``, report, return the exit code."""
        start = time.monotonic()
        with self._progress() as pages, closing(self._results(pages)) as results:
            for result in results:
                self._fallbacks += bool(result.page.text) and result.page.method == self._chosen.choice.name
                if not result.dropped:
                    output.write(result)
        self._say(*self._report(time.monotonic() - start))
        damaged = self._reading.damage or self._tally.failed or self._tally.unlearned
        return FAILED if not self._tally.pages or (damaged and self._arguments.strict) else DONE

    def read(self) -> Pages:
        """Return the pages, to be read once more."""
        arguments, self._reading = self._arguments, Reading()
        return read_pages(
            arguments.paths,
            reading=self._reading,
            base=arguments.base,
            url_field=arguments.url_field or self._chosen.url_field,
            html_field=arguments.html_field or self._chosen.html_field,
            file_format=arguments.format,
        )

    def stopped(self, why: str) -> None:
        """Say why the work ended early, and what is done."""
        self._say(f"{why}; {_pages(self._tally.pages)} done")

    def _results(self, pages: Callable[[], Pages]) -> Any:
        rendering, chosen = self._arguments.rendering, self._chosen
        return clean_pages(
            pages,
            chosen.choice,
            workers=self._workers,
            render=None if rendering == "jsonl" else rendering,
            site=chosen.site,
            warmup_pages=chosen.warmup_pages,
            short_sites=chosen.short_sites,
            sites_in_memory=chosen.sites_in_memory,
            writing=chosen.writing,
            tally=self._tally,
        )

    def _say(self, *lines: str) -> None:
        for line in lines:
            self._console.print(printable(line), markup=False)

    def _progress(self) -> Any:
        names = ("learning", "cleaning") if self._chosen.choice.learns else ("cleaning",)
        return reading_bar(self.read, lambda: self._reading, self._arguments.paths, names, self._console)

    def _report(self, seconds: float) -> Iterator[str]:
        tally, reading, extractor = self._tally, self._reading, self._chosen.writing.extractor
        workers = _number(self._workers, "worker")
        rate = tally.pages / seconds if seconds else 0.0
        yield (
            f"{_pages(tally.pages)} of {_number(len(tally.sites), 'site')} in {seconds:.1f} s, {rate:.1f} pages/s "
            f"({self._chosen.choice.name}{f'+{extractor}' if extractor else ''}, {workers})"
        )
        yield (
            f"size: {decimal(tally.html_bytes)} of HTML -> {decimal(tally.text_bytes)} of text"
            f"{_share(tally.text_bytes, tally.html_bytes)}; {_about(tally.characters_before)} visible characters "
            f"-> {_about(tally.characters_after)}{_share(tally.characters_after, tally.characters_before)}"
        )
        if tally.cold:
            fate = {"clean": "cleaned", "raw": "left as they are", "drop": "dropped"}[self._chosen.short_sites]
            least = self._chosen.warmup_pages
            yield f"not warm: {_pages(tally.cold)} of sites with fewer than {least} pages, {fate}"
        if tally.skipped:
            yield f"nothing to read on: {_counts(tally.skipped)}"
        if tally.guarded:
            yield f"next to nothing was left, so a safer verdict was taken: {_pages(tally.guarded)}"
        if extractor and self._fallbacks:
            yield f"{extractor} wrote nothing, so the text is our own: {_pages(self._fallbacks)}"
        if reading.skipped:
            yield f"passed over: {_counts(reading.skipped)}"
        yield from _damage(reading)
        if tally.failed or tally.unlearned:
            yield f"failed: {_pages(tally.failed)} to be cleaned, {tally.unlearned:,} to be learned"
            yield from (f"  {url}: {error}" for url, error in tally.examples)


def _damage(reading: Reading) -> Iterator[str]:
    if reading.damage:
        yield f"damage: {_counts(reading.damage)}"
    for kind, examples in reading.examples.items():
        for example in examples:
            what = f": {example.what}" if example.what else ""
            yield f"  {kind}: {example.file}, byte {example.offset:,}{what}"


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.most_common())


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _pages(count: int) -> str:
    return _number(count, "page")


def _about(number: int) -> str:
    return f"{number:,}" if number < 100_000 else f"{number / 1e6:,.2f} million"


def _share(part: int, whole: int) -> str:
    return f" ({part / whole:.1%})" if whole else ""


def _settings(arguments: Namespace, settings: BaseSettings) -> DenoiseSettings:
    """Return the project's settings with what the command line says; raise UsageError for wrong ones."""
    given: dict[str, object] = {}
    if arguments.form is not None:
        given["DENOISE_FORM"] = arguments.form
    if arguments.explain:
        given["DENOISE_EXPLAIN"] = True
    if arguments.extractor is not None and arguments.extractor != settings.get("DENOISE_EXTRACTOR"):
        given["DENOISE_EXTRACTOR"] = arguments.extractor
        given["DENOISE_EXTRACTOR_OPTIONS"] = {}  # the project's are those of another
    return chosen_settings(arguments, settings, given)


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Let SIGTERM end the work as Ctrl-C does: with the processes and the temporary folder gone."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
