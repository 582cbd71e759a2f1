"""``scrapy denoise correct``: writes a rule that drops or keeps a part of a page."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings

from denoise_crawler.commands.fetching import fetch, is_url
from denoise_crawler.commands.page_input import DONE, FAILED, fail, help_text
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.errors import FetchError, RulesError, SelectorError, SettingError, SourceError
from denoise_crawler.page import Page
from denoise_crawler.page.text import counted, printable
from denoise_crawler.reading import Reading, read_pages
from denoise_crawler.rules import SiteRules
from denoise_crawler.rules.correct import add_rule
from denoise_crawler.rules.folder import KEEP, STRIP
from denoise_crawler.rules.selectors import compile_selector, find_nodes

EPILOG = help_text(
    {
        "scrapy denoise correct https://example.com/1 --drop div.related": "into rules/example.com.txt",
        "scrapy denoise correct page.html --keep '//p[@id=\"note\"]' --rules rules": "keep a part of a page",
    },
    "A selector is CSS, or XPath if it begins with / or (. scrapy denoise report and the live page show that of "
    "each block. What --drop names goes, unless a rule keeps a part of it; what --keep names stays.",
    "Exit codes: 0 the rule is written or was there, 1 the page could not be read, a selector finds nothing or "
    "the file cannot be written, 2 wrong usage.",
)


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add("source", metavar="URL-or-FILE", help="a page's address (http, https), or a file with one page")
    add("--drop", action="append", default=[], metavar="SELECTOR", help="what goes; may be repeated")
    add("--keep", action="append", default=[], metavar="SELECTOR", help="what stays; may be repeated")
    add("--rules", metavar="FOLDER", help="the folder of rules (default: the setting DENOISE_SITE_RULES)")
    add("--force", action="store_true", help="write a selector that finds nothing on this page, too")


def run(arguments: Namespace, settings: BaseSettings) -> int:
    """Write the rules and return the exit code; raise UsageError for arguments that cannot be used."""
    try:
        chosen = DenoiseSettings.from_settings(settings)
        wanted = list(_wanted(arguments))
    except (SelectorError, SettingError) as error:
        raise UsageError(printable(error), print_help=False) from None
    folder = arguments.rules or chosen.site_rules
    if not folder:
        raise UsageError("name the folder of rules: --rules, or the setting DENOISE_SITE_RULES", print_help=False)
    if not wanted:
        raise UsageError("name what to drop or to keep: --drop SELECTOR, --keep SELECTOR", print_help=False)
    try:
        page = _page(arguments.source, chosen, settings.get("USER_AGENT"))
        written = _write(page, folder, wanted, force=arguments.force)
        if written:
            _warn_of_guard(page, chosen, folder)
    except (FetchError, SourceError, RulesError, SelectorError, OSError) as error:
        return fail(error)
    return DONE if written else FAILED


def _wanted(arguments: Namespace) -> Iterator[tuple[str, str]]:
    for directive, selectors in ((STRIP, arguments.drop), (KEEP, arguments.keep)):
        for selector in selectors:
            compile_selector(selector)
            yield directive, selector


def _page(source: str, chosen: DenoiseSettings, user_agent: str) -> Page:
    if is_url(source):
        url, html = fetch(source, user_agent=user_agent)
        return Page.parse(url, html)
    pages = read_pages(source, reading=Reading(), url_field=chosen.url_field, html_field=chosen.html_field)
    for url, html in pages:
        return Page.parse(url, html)
    raise SourceError(f"no page in {source}")


def _write(page: Page, folder: str, wanted: list[tuple[str, str]], *, force: bool) -> bool:
    """Write the rules; write none and return False if one finds nothing."""
    found = {selector: find_nodes(page, selector) for _, selector in wanted}
    useless = [selector for selector, nodes in found.items() if not nodes]
    if useless and not force:
        for selector in useless:
            why = f"{selector} finds nothing that is read on {page.url}: nothing is written (see --force)"
            print(printable(why), file=sys.stderr)
        return False
    for directive, selector in wanted:
        written = add_rule(folder, page.url, directive, selector)
        nodes = counted(len(found[selector]), "node")
        characters = counted(_characters(page, found[selector]), "character")
        where = f"{written.path}, line {written.rule.line}: {directive}: {written.rule.value}"
        print(printable(f"{where}{'' if written.new else ' (it was there)'}"))
        print(printable(f"  finds {nodes} with {characters} on {page.url}"))
    return True


def _characters(page: Page, nodes: list[int]) -> int:
    end = total = 0
    for node in nodes:
        if node >= end:
            end = page.nodes.ends[node]
            total += sum(page.characters[node:end])
    return total


def _warn_of_guard(page: Page, chosen: DenoiseSettings, folder: str) -> None:
    """Say if the rules of the file would leave next to nothing of the page."""
    if file := Denoiser(chosen.choice, rules=SiteRules.read(folder)).judge(page).passed_over:
        print(printable(f"{file} leaves next to nothing of this page: it is passed over on it"), file=sys.stderr)
