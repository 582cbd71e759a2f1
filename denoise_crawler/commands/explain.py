"""``scrapy denoise explain``: shows the blocks of a page with their verdicts and reasons."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import groupby

from rich.console import Console
from rich.text import Text
from scrapy.settings import BaseSettings

from denoise_crawler.commands.fetching import fetch, is_url
from denoise_crawler.commands.known_site import (
    Explained,
    KnownSite,
    add_run_rules,
    clean_known,
    existing_store,
    read_some_pages,
)
from denoise_crawler.commands.method_choice import add_method_choice, rules_of, settings_with_method
from denoise_crawler.commands.page_input import (
    DONE,
    FAILED,
    discard_stdout,
    fail,
    help_text,
    reading_bar,
    report_failure,
)
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.denoiser import Cleaning
from denoise_crawler.errors import FetchError, SourceError, StoreError
from denoise_crawler.options import add_number
from denoise_crawler.output.explanation import BlockVerdict
from denoise_crawler.output.writing import Writing
from denoise_crawler.page import Page
from denoise_crawler.page.text import counted, printable
from denoise_crawler.reading import Reading

EPILOG = help_text(
    {
        "scrapy denoise explain https://example.com/news/1": "fetch one page; ask the store of the project",
        "scrapy denoise explain saved.html --site-pages mirror/": "a file, its site learned from a folder",
        "scrapy denoise explain saved.html --all": "each block, also what is surely noise",
        "scrapy denoise explain page.warc --only dropped --json": "what went, for a program to read",
    },
    "Exit codes: 0 every page is explained, 1 one could not be fetched or read, or there was none, 2 wrong usage. "
    "Without --site-pages, what is known of the site comes from the store of a crawl, if there is one.",
)
_LEAST = 4  # blocks that are folded
_DOUBTFUL = 0.2  # the chance to be content from which a dropped block is always shown


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    what = "a page's address (http, https), or a file or folder of pages"
    add("sources", nargs="+", metavar="URL-or-FILE", help=what)
    add_method_choice(parser)
    add_run_rules(parser)
    add("--store", metavar="FILE", help="what a crawl knows of the sites (default: the setting DENOISE_STORE)")
    what = "learn the site from these pages on disk instead; all are taken for pages of the same site"
    add("--site-pages", nargs="+", metavar="PATH", help=what)
    add("--site", metavar="NAME", help="the site's name (default: by DENOISE_SITE from the page's address)")
    add("--all", action="store_true", help="all blocks; else runs of those that are surely noise are one line")
    add("--only", choices=("kept", "dropped"), help="these blocks alone")
    add_number(parser, "--min-characters", 0, 0, "blocks of N characters or more alone")
    add("--json", action="store_true", help="one JSON object a page, on one line")


def run(arguments: Namespace, settings: BaseSettings) -> int:
    """Explain the pages and return the exit code; raise UsageError for arguments that cannot be used."""
    given = {} if arguments.store is None else {"DENOISE_STORE": arguments.store}
    chosen = settings_with_method(arguments, settings, given)
    outcomes: list[bool] = []
    with ExitStack() as opened:
        try:
            sites = _known_site(arguments, chosen, opened)
            for source in arguments.sources:
                outcomes += _explain_source(source, arguments, chosen, sites, settings.get("USER_AGENT"))
        except StoreError as error:
            return fail(error)
        except BrokenPipeError:  # the reader has closed the pipe
            discard_stdout()
            return DONE
    if not outcomes:
        print(f"no page was found in {', '.join(arguments.sources)}", file=sys.stderr)
    return DONE if outcomes and all(outcomes) else FAILED


def _explain_source(
    source: str, arguments: Namespace, chosen: DenoiseSettings, sites: KnownSite, user_agent: str
) -> Iterator[bool]:
    """Explain the pages of a source; yield whether that went well."""
    console = Console(highlight=False, soft_wrap=True)
    try:
        for url, html in _read_source(source, chosen, user_agent):
            site = sites.site_of(url)
            denoiser, explained = sites.denoiser(site), None
            with report_failure(url, "explained"):
                explained = clean_known(denoiser, Page.parse(url, html, site=site))
            if explained is not None:
                _print_page(explained, arguments, console)
            yield explained is not None
    except BrokenPipeError:
        raise
    except (FetchError, SourceError, OSError) as error:
        fail(error)
        yield False


def _read_source(source: str, chosen: DenoiseSettings, user_agent: str) -> Iterator[tuple[str, str | bytes]]:
    if is_url(source):
        yield fetch(source, user_agent=user_agent)
        return
    fields = {"url_field": chosen.url_field, "html_field": chosen.html_field}
    yield from read_some_pages([source], Reading(), **fields)


def _known_site(arguments: Namespace, chosen: DenoiseSettings, opened: ExitStack) -> KnownSite:
    """Return what knows the pages' site, from pages on disk or from a crawl."""

    def read() -> Iterator[tuple[str, str | bytes]]:
        reading = Reading()
        paths, fields = arguments.site_pages, {"url_field": chosen.url_field, "html_field": chosen.html_field}
        with reading_bar(
            lambda: read_some_pages(paths, reading, **fields), lambda: reading, paths, ["learning"]
        ) as pages:
            yield from pages()

    return KnownSite(
        opened,
        Cleaning(chosen.choice, Writing(explain=True), rules_of(chosen, arguments)),
        store=None if arguments.site_pages else existing_store(chosen.store, named=arguments.store is not None),
        site_pages=read if arguments.site_pages else None,
        site=arguments.site or None,
        site_of_url=chosen.site,
    )


def _print_page(explained: Explained, arguments: Namespace, console: Console) -> None:
    blocks = [
        block
        for block in explained.blocks
        if arguments.only in (None, "kept" if block["kept"] else "dropped")
        and len(block["text"]) >= arguments.min_characters
    ]
    if arguments.json:
        print(json.dumps({**explained.as_dict(), "blocks": blocks}))
        return
    is_folded = not (arguments.all or arguments.only or arguments.min_characters)
    for line in (*_summary(explained), *_block_lines(blocks, is_folded=is_folded)):
        console.print(line)
    console.print()


def _summary(explained: Explained) -> Iterator[Text]:
    clean, blocks, skipped = explained.cleaned.clean_page, explained.blocks, explained.cleaned.page.skipped
    of_site = "this method needs one page only"
    if explained.learns:
        known = explained.known
        of_site = f"{counted(known, 'page')} known" if known else "nothing known: judged by the page alone"
    yield Text(printable(clean.url), style="bold")
    yield Text(f"method {clean.method}; site {printable(clean.site)}, {of_site}")
    if skipped:
        yield Text(f"nothing to read: {skipped}", style="yellow")
        return
    kept = sum(block["kept"] for block in blocks)
    yield Text(
        f"{kept} of {len(blocks)} blocks kept, {clean.noise_ratio or 0.0:.0%} of the characters removed "
        "(+ kept, - dropped, with the method's score)"
    )
    if clean.confidence is not None:
        colon, right = ":" if explained.doubts else "", f"about {clean.confidence:.0%} of the text"
        yield Text(f"confidence {clean.confidence:.2f}: {right} is expected to be right{colon}")
    yield from (Text(printable(f"  {doubt}", sys.maxsize), style="yellow") for doubt in explained.doubts)
    if explained.cleaned.guarded:
        yield Text("guard: next to nothing was left, so a safer verdict was taken", style="yellow")


def _block_lines(blocks: Sequence[BlockVerdict], *, is_folded: bool) -> Iterator[Text]:
    """Yield the lines of blocks; if ``is_folded``, one for each run of blocks that are surely noise."""
    for is_noise, run in groupby(blocks, lambda block: not block["kept"] and block["score"] < _DOUBTFUL):
        members = list(run)
        if is_folded and is_noise and len(members) >= _LEAST:
            yield Text(f"… {len(members)} blocks", style="dim")
            continue
        for block in members:
            sign, style = ("+", "green") if block["kept"] else ("-", "red")
            yield Text(f"{sign} {block['score']:6.2f} {printable(block['text'], sys.maxsize)}", style=style)
            if block["reason"]:
                yield Text(f"         {printable(block['reason'])}", style="dim")
