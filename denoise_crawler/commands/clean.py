"""``scrapy denoise clean``: cleans pages on disk."""

from __future__ import annotations

import signal
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import closing, contextmanager

from rich.console import Console
from rich.filesize import decimal
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings

from denoise_crawler.batch import BatchStats, Job, clean_as, cores
from denoise_crawler.commands.clean_output import ENDINGS, LINES, Output, Target
from denoise_crawler.commands.known_site import add_run_rules
from denoise_crawler.commands.method_choice import (
    add_method_choice,
    add_output,
    rules_of,
    settings_with_method,
)
from denoise_crawler.commands.page_input import (
    DONE,
    FAILED,
    INTERRUPTED,
    add_reading_options,
    add_workers,
    discard_stdout,
    help_text,
    list_counts,
    read_named_pages,
    reading_bar,
)
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.errors import BatchError, OutputError, SourceError
from denoise_crawler.output.extractors import DROP
from denoise_crawler.output.writing import RENDERINGS, Writing
from denoise_crawler.page.text import counted, printable
from denoise_crawler.reading import Reading

Pages = Iterator[tuple[str, str | bytes]]

EPILOG = help_text(
    {
        "scrapy denoise clean archive.warc.gz -O clean.jsonl": "learn each site of an archive, clean its pages",
        "scrapy denoise clean mirror/ -o painted --as painted": "what was kept and what went, to look at",
        "scrapy denoise clean mirror/ -o notes --as markdown": "a Markdown file for each page, with its metadata",
        "scrapy denoise clean pages.jsonl --form markdown | head -1": "Markdown, on stdout",
    },
    "Exit codes: 0 all that can be read is written (damage is reported), 1 nothing could be read, the work could "
    "not go on or, with --strict, something was damaged, 2 wrong usage, 130 interrupted.",
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add("paths", nargs="+", metavar="PATH", help="a folder or file of pages: HTML, WARC, JSON Lines, Tianwang")
    adds = "append to FILE (- for stdout, the default); unless it is jsonl, a new or empty folder"
    add_output(parser, "FILE", adds, required=False)
    what = "what to write: one JSON object a line (the default) or, into a folder, a file a page"
    add("--as", dest="rendering", choices=(LINES, *ENDINGS, *RENDERINGS), default=LINES, help=what)
    add(
        "--resume", action="store_true", help="go on with what -o or -O names: pages that it holds are passed over"
    )
    add_method_choice(parser)
    add_run_rules(parser)
    Writing.add_to(parser, "form", "extractor", "explain", "max_chars", over_settings=True)
    add_workers(parser)
    add_reading_options(parser)
    add("--strict", action="store_true", help="exit with 1 if something was damaged")


def run(arguments: Namespace, settings: BaseSettings) -> int:
    """Clean the pages and return the exit code; raise UsageError for arguments that cannot be used."""
    chosen = _settings(arguments, settings)
    work = _Run(arguments, chosen)
    try:
        work.read()  # reports an unreadable path before anything is written
        target = Target(arguments.rendering, arguments.output, arguments.overwrite_output, resume=arguments.resume)
        opening = target.open(arguments.paths, chosen.site)
    except (SourceError, OutputError) as error:
        raise UsageError(str(error), print_help=False) from None
    try:
        with _sigterm_as_interrupt(), opening as output:
            return work.write_all(output)
    except KeyboardInterrupt:
        work.report_stop("interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # the reader has closed the pipe
        discard_stdout()
        return DONE
    except (BatchError, OSError) as error:
        work.report_stop(f"stopped: {error}")
        return FAILED


class _Run:
    """One run of the command: its pages, progress bar and report."""

    def __init__(self, arguments: Namespace, chosen: DenoiseSettings) -> None:
        self._arguments, self._chosen = arguments, chosen
        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._workers = arguments.workers or cores()
        self._stats, self._reading = BatchStats(), Reading()
        self._fallbacks = self._held = 0
        self._rules = rules_of(chosen, arguments)

    def write_all(self, output: Output) -> int:
        """Clean all pages that ``output`` does not hold, write and report them; return the exit code."""
        start = time.monotonic()

        def is_done(url: str) -> bool:
            is_held = bool(output.holds and output.holds(url))
            self._held += is_held
            return is_held

        choice, rendering = self._chosen.choice, self._arguments.rendering
        names = ("counting", "learning", "cleaning") if choice.learns else ("cleaning",)
        bar = reading_bar(self.read, lambda: self._reading, self._arguments.paths, names, self._console)
        render = rendering if rendering in RENDERINGS else None
        job = Job(self._chosen.cleaning(self._rules), render, self._chosen.site, self._workers)
        with bar as pages, closing(clean_as(job, pages, self._stats, output.holds and is_done)) as results:
            for result in results:
                self._fallbacks += bool(result.page.text) and result.page.method == choice.name
                output.write(result)
        self._print(*self._report(time.monotonic() - start))
        damaged = self._reading.damage or self._stats.failed or self._stats.unlearned
        return FAILED if not self._reading.pages or (damaged and self._arguments.strict) else DONE

    def read(self) -> Pages:
        """Return the pages for one more reading."""
        arguments, self._reading = self._arguments, Reading()
        return read_named_pages(arguments.paths, arguments, self._chosen, self._reading)

    def report_stop(self, why: str) -> None:
        """Print why the work ended early and how much is done."""
        self._print(f"{why}; {counted(self._stats.pages, 'page')} done")

    def _print(self, *lines: str) -> None:
        for line in lines:
            self._console.print(printable(line), markup=False)

    def _report(self, seconds: float) -> Iterator[str]:
        stats, reading, extractor = self._stats, self._reading, self._chosen.writing.extractor
        workers = counted(self._workers, "worker")
        rate = stats.pages / seconds if seconds else 0.0
        yield (
            f"{counted(stats.pages, 'page')} of {counted(len(stats.sites), 'site')} in {seconds:.1f} s, "
            f"{rate:.1f} pages/s ({self._chosen.choice.name}{f'+{extractor}' if extractor else ''}, {workers})"
        )
        yield (
            f"size: {decimal(stats.html_bytes)} of HTML -> {decimal(stats.text_bytes)} of text"
            f"{_share(stats.text_bytes, stats.html_bytes)}; "
            f"{_approximate(stats.characters_before)} visible characters -> {_approximate(stats.characters_after)}"
            f"{_share(stats.characters_after, stats.characters_before)}"
        )
        if self._held:
            yield f"written by an earlier run: {counted(self._held, 'page')}"
        if stats.cold:
            fate = {"clean": "cleaned", "drop": "dropped"}[self._chosen.short_sites]
            least = self._chosen.warmup_pages
            yield f"not warm: {counted(stats.cold, 'page')} of sites with fewer than {least} pages, {fate}"
        if stats.skipped:
            yield f"nothing to read on: {list_counts(stats.skipped)}"
        if stats.guarded:
            yield f"next to nothing was left, so a safer verdict was taken: {counted(stats.guarded, 'page')}"
        if stats.passed_over:
            yield f"rules that leave next to nothing were passed over: {list_counts(stats.passed_over)}"
        if stats.unsure:
            fate = "dropped" if self._chosen.writing.low_confidence == DROP else "marked"
            yield f"below DENOISE_MIN_CONFIDENCE: {counted(stats.unsure, 'page')}, {fate}"
        if extractor and self._fallbacks:
            yield f"{extractor} wrote nothing, so the text is our own: {counted(self._fallbacks, 'page')}"
        if reading.skipped:
            yield f"passed over: {list_counts(reading.skipped)}"
        yield from _damage(reading)
        if stats.failed or stats.unlearned:
            yield f"failed: {counted(stats.failed, 'page')} to be cleaned, {stats.unlearned:,} to be learned"
            yield from (f"  {url}: {error}" for url, error in stats.examples)


def _damage(reading: Reading) -> Iterator[str]:
    if reading.damage:
        yield f"damage: {list_counts(reading.damage)}"
    for kind, examples in reading.examples.items():
        for example in examples:
            what = f": {example.what}" if example.what else ""
            yield f"  {kind}: {example.file}, byte {example.offset:,}{what}"


def _approximate(number: int) -> str:
    return f"{number:,}" if number < 100_000 else f"{number / 1e6:,.2f} million"


def _share(part: int, whole: int) -> str:
    return f" ({part / whole:.1%})" if whole else ""


def _settings(arguments: Namespace, settings: BaseSettings) -> DenoiseSettings:
    """Return the project's settings, overridden by the command line; raise UsageError for invalid ones."""
    rows, chosen = Writing.options(), Writing.given(arguments)
    given: dict[str, object] = {rows[name].name: value for name, value in chosen.items()}
    rendering, form = arguments.rendering, arguments.form
    if rendering != LINES and form not in (None, rendering):
        instead = form if form in ENDINGS else LINES
        conflict = f"--as {rendering} does not write the form {form}: leave out --form, or name --as {instead}"
        raise UsageError(conflict, print_help=False)
    if rendering in ENDINGS:
        given["DENOISE_FORM"] = rendering
        given["DENOISE_FRONT_MATTER"] = rendering == "markdown" and settings.get("DENOISE_FRONT_MATTER", True)
    if arguments.extractor not in (None, settings.get("DENOISE_EXTRACTOR")):
        given["DENOISE_EXTRACTOR_OPTIONS"] = {}  # those of the project belong to another extractor
    return settings_with_method(arguments, settings, given)


@contextmanager
def _sigterm_as_interrupt() -> Iterator[None]:
    """Let SIGTERM end the work as Ctrl-C does, so that processes and temporary files go."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
