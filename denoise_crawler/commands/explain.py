"""``scrapy denoise explain``: shows the blocks of a page with verdicts and reasons, and folds dull ones."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import groupby
from statistics import median

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
    read_site_pages,
)
from denoise_crawler.commands.method_choice import add_method_choice, rules_of, settings_with_method
from denoise_crawler.commands.page_input import DONE, FAILED, discard_stdout, fail, help_text, reading_bar
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.denoiser import Cleaned, Cleaning
from denoise_crawler.errors import FetchError, SourceError, StoreError
from denoise_crawler.output.explanation import BlockVerdict, blocks
from denoise_crawler.output.options import add_number
from denoise_crawler.output.writing import Writing
from denoise_crawler.page import Nodes, Page
from denoise_crawler.page.text import counted, printable
from denoise_crawler.reading import Reading, read_pages

_LEAST = 4  # blocks that are folded
_NEAR = 0.75  # of the way from the usual score of what is kept to that of what is dropped
_PARTS = frozenset({"header", "nav", "footer", "aside", "form"})
_NAMED = 2


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks in a row that are not shown, and the parts of the page that most of them stand in."""

    count: int
    parts: Sequence[str]

    def __str__(self) -> str:
        inside = f": {' and '.join(self.parts)}" if self.parts else ""
        return f"… {counted(self.count, 'block')}{inside}"


def folded(cleaned: Cleaned, verdicts: Sequence[BlockVerdict]) -> Iterator[BlockVerdict | Folded]:
    """Yield the verdicts on the blocks of a page, runs of those that are surely noise as one.

    Shown are all that are kept, and of the dropped those whose score is nearer to what is kept than most are.
    """
    nodes = cleaned.page.nodes
    judged = [] if cleaned.judgement is None else [block.node for block in blocks(cleaned.page, cleaned.judgement)]
    sure = _surely_dropped(verdicts)
    pairs = zip(judged, verdicts, sure, strict=True)
    for is_sure, run in groupby(pairs, lambda one: one[2]):
        members = list(run)
        if is_sure and len(members) >= _LEAST:
            parts = Counter(part for node, _, _ in members if (part := _part_around(nodes, node)))
            yield Folded(len(members), [part for part, _ in parts.most_common(_NAMED)])
        else:
            yield from (verdict for _, verdict, _ in members)


def _surely_dropped(verdicts: Sequence[BlockVerdict]) -> list[bool]:
    kept, gone = ([one["score"] for one in verdicts if one["kept"] is wanted] for wanted in (True, False))
    if not kept or not gone:
        return [not one["kept"] for one in verdicts]
    usual, noise = median(kept), median(gone)
    return [not one["kept"] and abs(one["score"] - usual) >= _NEAR * abs(noise - usual) for one in verdicts]


def _part_around(nodes: Nodes, index: int) -> str:
    while index > 0 and nodes.tags[index] not in _PARTS:
        index = nodes.parents[index]
    return nodes.tags[index] if index > 0 else ""


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
_EXPLAINED = Writing(explain=True)


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
    with ExitStack() as opened:
        try:
            return _explain(arguments, settings, chosen, _known_site(arguments, chosen, opened))
        except StoreError as error:
            return fail(error)


def _explain(arguments: Namespace, settings: BaseSettings, chosen: DenoiseSettings, sites: KnownSite) -> int:
    failed = explained = 0
    try:
        for source in arguments.sources:
            try:
                for url, html in _read_source(source, chosen, settings.get("USER_AGENT")):
                    shown = _explain_page(arguments, sites, url, html)
                    explained, failed = explained + shown, failed + (not shown)
            except (FetchError, SourceError, OSError) as error:
                if isinstance(error, BrokenPipeError):
                    raise
                print(printable(error), file=sys.stderr)
                failed += 1
    except BrokenPipeError:  # the reader has closed the pipe
        discard_stdout()
        return DONE
    if not explained and not failed:
        print(f"no page was found in {', '.join(arguments.sources)}", file=sys.stderr)
    return FAILED if failed or not explained else DONE


def _read_source(source: str, chosen: DenoiseSettings, user_agent: str) -> Iterator[tuple[str, str | bytes]]:
    if is_url(source):
        yield fetch(source, user_agent=user_agent)
        return
    reading = Reading()
    yield from read_pages(source, reading=reading, url_field=chosen.url_field, html_field=chosen.html_field)
    if not reading.pages:
        kinds = Counter(reading.damage) + Counter(reading.skipped)
        raise SourceError(f"no page in {source}{''.join(f'; {kind}' for kind in kinds)}")


def _known_site(arguments: Namespace, chosen: DenoiseSettings, opened: ExitStack) -> KnownSite:
    """Return what knows the pages' site, from pages on disk or from a crawl."""

    def read() -> Iterator[tuple[str, str | bytes]]:
        reading = Reading()
        paths, fields = arguments.site_pages, {"url_field": chosen.url_field, "html_field": chosen.html_field}
        with reading_bar(
            lambda: read_site_pages(paths, reading, **fields), lambda: reading, paths, ["learning"]
        ) as pages:
            yield from pages()

    return KnownSite(
        opened,
        Cleaning(chosen.choice, _EXPLAINED, rules_of(chosen, arguments)),
        store=None if arguments.site_pages else existing_store(chosen.store, named=arguments.store is not None),
        site_pages=read if arguments.site_pages else None,
        site=arguments.site or None,
        site_of_url=chosen.site,
    )


def _explain_page(arguments: Namespace, sites: KnownSite, url: str, html: str | bytes) -> bool:
    """Explain a page; return False if it raises, which costs no other page."""
    try:
        _print_page(arguments, sites, url, html)
    except (StoreError, SourceError, OSError):
        raise
    except Exception as error:
        print(printable(f"{url} cannot be explained: {type(error).__name__}: {error}"), file=sys.stderr)
        return False
    return True


def _print_page(arguments: Namespace, sites: KnownSite, url: str, html: str | bytes) -> None:
    page = Page.parse(url, html, site=sites.site_of(url))
    explained = clean_known(sites.denoiser(page.site), page)
    blocks = explained.blocks
    shown: Iterable[BlockVerdict] = [block for block in blocks if _is_wanted(block, arguments)]
    if arguments.json:
        print(json.dumps({**explained.as_dict(), "blocks": shown}))
        return
    console = Console(highlight=False, soft_wrap=True)
    for line in _summary_lines(explained):
        console.print(line)
    is_narrowed = arguments.all or arguments.only or arguments.min_characters
    for block in shown if is_narrowed else folded(explained.cleaned, blocks):
        if isinstance(block, Folded):
            console.print(Text(str(block), style="dim"))
            continue
        console.print(_block_line(block))
        if block["reason"]:
            console.print(Text(f"         {printable(block['reason'])}", style="dim"))
    console.print()


def _is_wanted(block: BlockVerdict, arguments: Namespace) -> bool:
    chosen: bool = arguments.only is None or block["kept"] is (arguments.only == "kept")
    return chosen and len(block["text"]) >= int(arguments.min_characters)


def _summary_lines(explained: Explained) -> Iterator[Text]:
    clean, blocks, skipped = explained.cleaned.clean_page, explained.blocks, explained.cleaned.page.skipped
    yield Text(printable(clean.url), style="bold")
    if not explained.learns:
        of_site = "this method needs one page only"
    elif explained.known:
        of_site = f"{counted(explained.known, 'page')} known"
    else:
        of_site = "nothing known: judged by the page alone"
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


def _block_line(block: BlockVerdict) -> Text:
    sign, style = ("+", "green") if block["kept"] else ("-", "red")
    return Text(f"{sign} {block['score']:6.2f} {printable(block['text'], sys.maxsize)}", style=style)
