"""``scrapy denoise rules``: prints what is known of a site as CSS or XPath rules."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings

from denoise_crawler.commands.known_site import derived_rules, judged_pages, kept_pages
from denoise_crawler.commands.method_choice import add_method_choice, settings_with_method
from denoise_crawler.commands.page_input import (
    DONE,
    FAILED,
    add_reading_options,
    discard_stdout,
    fail,
    help_text,
    read_named_pages,
    reading_bar,
)
from denoise_crawler.crawl.guarded_store import open_denoiser
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.denoiser import Cleaning, Denoiser
from denoise_crawler.errors import SourceError, StoreError
from denoise_crawler.page import Page
from denoise_crawler.page.text import counted, printable
from denoise_crawler.reading import Reading
from denoise_crawler.rules.derive import MAX_PAGES, Agreement, agreement
from denoise_crawler.rules.learned import LearnedRules, as_data, as_site_file, as_text

_SITES_NAMED = 10
_WRITERS = {"text": as_text, "ftr": as_site_file}
EPILOG = help_text(
    {
        "scrapy denoise rules example.com": "what the store of the project knows, from pages that it keeps",
        "scrapy denoise rules example.com --pages mirror/ --as ftr > rules/example.com.txt": "a file of rules",
        "scrapy denoise rules example.com --pages some/ --check others/": "how close rules come to verdicts",
    },
    "The rules are derived from verdicts on pages of the site: where what is kept stands, and what is dropped in "
    "it. The pages are judged by what the store knows of the site; if it knows nothing, it is learned from them.",
    "Exit codes: 0 printed, 1 no page of the site is known or no rule was found, 2 wrong usage.",
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add("site", metavar="SITE", help="the site, as the store names it: example.com")
    add("--store", metavar="FILE", help="what a crawl knows of the sites (default: the setting DENOISE_STORE)")
    add("--pages", nargs="+", default=[], metavar="PATH", help=f"pages on disk; {MAX_PAGES} of the site are used")
    what = "say how close the rules alone come to the verdicts"
    add("--check", nargs="+", default=[], metavar="PATH", help=what)
    what = "ftr is the format of ftr-site-config"
    add("--as", dest="form", choices=("text", "json", "ftr"), default="text", help=what)
    add_method_choice(parser)
    add_reading_options(parser)


def run(arguments: Namespace, settings: BaseSettings) -> int:
    """Print the rules and return the exit code; raise UsageError for arguments that cannot be used."""
    given = {} if arguments.store is None else {"DENOISE_STORE": arguments.store}
    chosen = settings_with_method(arguments, settings, given)
    store = chosen.store if chosen.store.is_file() else None
    if store is None and arguments.store is not None:
        raise UsageError(f"there is no store {chosen.store}", print_help=False)
    try:
        with ExitStack() as opened:
            denoiser = opened.enter_context(open_denoiser(store, Cleaning(chosen.choice)))
            learned = _derive(arguments, chosen, store, denoiser)
            if learned is None:
                return FAILED
            check = _check(arguments, chosen, denoiser, learned)
    except (SourceError, StoreError) as error:
        return fail(error)
    try:
        _print(arguments.form, learned, check)
    except BrokenPipeError:  # the reader has closed the pipe
        discard_stdout()
    return DONE if learned.rules else FAILED


def _derive(
    arguments: Namespace, chosen: DenoiseSettings, store: Path | None, denoiser: Denoiser
) -> LearnedRules | None:
    """Return the rules of the site; None, and say why, if no page of it is at hand."""
    others: Counter[str] = Counter()
    pages = list(islice(_pages(arguments, chosen, store, others), MAX_PAGES))
    if not pages:
        print(printable(_why_none(arguments, store, others)), file=sys.stderr)
        return None
    return derived_rules(arguments.site, pages, denoiser)


def _pages(
    arguments: Namespace, chosen: DenoiseSettings, store: Path | None, others: Counter[str]
) -> Iterator[Page]:
    """Yield the pages of the site on disk, then those that the store keeps; count pages of other sites."""
    yield from _read(arguments, chosen, arguments.pages, "reading", others)
    if store is not None:
        yield from kept_pages(store, arguments.site, MAX_PAGES)


def _read(
    arguments: Namespace, chosen: DenoiseSettings, paths: list[str], why: str, others: Counter[str]
) -> Iterator[Page]:
    """Yield the pages of the site, and those without an address of their own; count those of ``others``."""
    reading = Reading()
    if not paths:
        return

    def read() -> Any:
        return read_named_pages(paths, arguments, chosen, reading)

    with reading_bar(read, lambda: reading, paths, [why]) as pages:
        for url, html in pages():
            if url == reading.made_up_url or (found := chosen.site(url)) == arguments.site:
                yield Page.parse(url, html, site=arguments.site)
            else:
                others[found] += 1


def _why_none(arguments: Namespace, store: Path | None, others: Counter[str]) -> str:
    if others:
        return _of_other_sites(arguments.site, arguments.pages, others)
    if arguments.pages:
        return f"no page was found in {', '.join(arguments.pages)}"
    if store is None:
        return "there is no store: name pages of the site with --pages, or a store with --store"
    return f"the store {store} keeps no page of {arguments.site}: name pages of the site with --pages"


def _of_other_sites(site: str, paths: list[str], others: Counter[str]) -> str:
    named = ", ".join(f"{name} ({count})" for name, count in others.most_common(_SITES_NAMED))
    more = f" and {len(others) - _SITES_NAMED} more" if len(others) > _SITES_NAMED else ""
    return f"no page in {', '.join(paths)} is of {site}. The sites there (pages): {named}{more}"


def _check(
    arguments: Namespace, chosen: DenoiseSettings, denoiser: Denoiser, learned: LearnedRules
) -> dict[str, Agreement]:
    """Return how close the rules come to the verdicts on the pages of ``--check``."""
    found = {"nodes": Agreement(), "characters": Agreement()}
    if not arguments.check:
        return {}
    file, others = learned.file(), Counter[str]()
    for one in judged_pages(denoiser, _read(arguments, chosen, arguments.check, "checking", others)):
        for what in found:
            found[what] += agreement(one.page, one.noise, file, by_nodes=what == "nodes")
    if not found["nodes"].pages and others:
        raise SourceError(_of_other_sites(arguments.site, arguments.check, others))
    if not found["nodes"].pages:
        raise SourceError(f"no page was found in {', '.join(arguments.check)}")
    return found


def _print(form: str, learned: LearnedRules, check: dict[str, Agreement]) -> None:
    if form == "json":
        written = as_data(learned)
        if check:
            written["check"] = {"pages": check["nodes"].pages}
            for what, one in check.items():
                written["check"][what] = {"f1": one.f1, "precision": one.precision, "recall": one.recall}
        print(json.dumps(written, indent=2))
        return
    for line in _WRITERS[form](learned).splitlines():
        print(printable(line, sys.maxsize))
    for line in _check_lines(check):
        print(line, file=sys.stderr if form == "ftr" else sys.stdout)


def _check_lines(check: dict[str, Agreement]) -> Iterator[str]:
    if check:
        yield f"\nchecked on {counted(check['nodes'].pages, 'page')}, the verdicts taken for the truth:"
    for what, one in check.items():
        yield f"  {what:10} F1 {one.f1:.3f} (precision {one.precision:.3f}, recall {one.recall:.3f})"
