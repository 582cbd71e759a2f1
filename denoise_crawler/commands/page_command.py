"""``denoise-crawler``: writes the content of single pages. It needs no Scrapy project and does not load Scrapy."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

from denoise_crawler.commands.fetching import fetch, is_url
from denoise_crawler.commands.known_site import (
    KnownSite,
    add_run_rules,
    clean_known,
    existing_store,
    read_rules,
    read_some_pages,
)
from denoise_crawler.commands.page_input import DONE, INTERRUPTED, discard_stdout, fail, help_text
from denoise_crawler.denoiser import Cleaning
from denoise_crawler.errors import FetchError, MethodError, MissingExtraError, RulesError, SourceError, StoreError
from denoise_crawler.methods import DEFAULT_METHOD, METHODS, MethodChoice
from denoise_crawler.methods.fusion.features import FAVOUR, WORDS
from denoise_crawler.output.clean_page import CleanPage
from denoise_crawler.output.writing import Writing
from denoise_crawler.page import MAX_HTML_BYTES, Page
from denoise_crawler.page.text import printable
from denoise_crawler.reading import FORMATS, Reading
from denoise_crawler.reading.archive_formats import format_of
from denoise_crawler.reading.http_response import looks_like_html

PROGRAM, STDIN, WRONG_USAGE = "denoise-crawler", "-", 2
USER_AGENT = PROGRAM
_PREFERENCES = ("title", "comments", "favour")
_EXAMPLE = f"{PROGRAM} https://example.com/news/1 --form markdown"
_EPILOG = help_text(
    {
        f"{PROGRAM} page.html": "the text of a file, on stdout",
        _EXAMPLE: "fetch a page; Markdown",
        f"curl -s https://example.com/news/1 | {PROGRAM} - --url https://example.com/news/1 --json": "a record",
        f"{PROGRAM} page.html --site-pages mirror/": "learn the site from a folder first: better text",
    },
    f"Many pages are the work of scrapy denoise clean. {PROGRAM}-mcp serves the same to language models.",
    "Exit codes: 0 the text of every page is written, 1 a page could not be fetched or read or has no text, "
    "2 wrong usage, 130 interrupted.",
)


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Print one line and exit with 2."""
        print(printable(f"{self.prog}: {message}; {self.prog} -h tells more"), file=sys.stderr)
        sys.exit(WRONG_USAGE)


def run(words: Sequence[str]) -> int:
    """Run the command with the words of its command line; return the exit code."""
    parser = _parser()
    if not words:
        parser.error(f"no page is named. An example: {_EXAMPLE}")
    arguments = parser.parse_args(words)
    _check(arguments, parser)
    try:
        with ExitStack() as opened:
            return _write_pages(arguments, _known_site(arguments, parser, opened))
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader has closed the pipe
        discard_stdout()
        return DONE
    except (StoreError, MissingExtraError) as error:
        return fail(error)


def _parser() -> ArgumentParser:
    parser = _Parser(
        prog=PROGRAM,
        description="Write the content of pages without their noise.",
        epilog=_EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    what = "a file of HTML, an address (http, https), or - for standard input"
    add("pages", nargs="+", metavar="PAGE", help=what)
    add("--json", action="store_true", help="one JSON object a page, on one line: text and metadata")
    add("--url", metavar="URL", help="the address of a page from a file or standard input")
    add("--site-pages", nargs="+", metavar="PATH", help="learn the site from these pages first")
    add("--store", metavar="FILE", help="the store of a crawl, which knows the site")
    add("--site", metavar="NAME", help="the name of the site (default: by the address of the page)")
    add("--rules", default="", metavar="FOLDER", help="site rules, which count before any evidence")
    add_run_rules(parser)
    add("--method", choices=sorted(METHODS), default=DEFAULT_METHOD, help="the method (default: %(default)s)")
    add("--title", choices=WORDS, help="whether the text begins with the title (default: keep)")
    add("--comments", choices=WORDS, help="whether the text has what readers wrote (default: leave)")
    add("--favour", choices=tuple(FAVOUR), help="precision: less noise; recall: less is missing")
    Writing.add_to(parser, "form", "links", "pictures", "front_matter", "max_chars")
    add("--user-agent", metavar="NAME", default=USER_AGENT, help="who fetches (default: %(default)s)")
    return parser


def _check(arguments: Namespace, parser: ArgumentParser) -> None:
    """Exit with one line if the options contradict each other."""
    pages = arguments.pages
    if arguments.url is not None and (len(pages) > 1 or is_url(pages[0])):
        parser.error("--url is the address of one page from a file or standard input")
    if pages.count(STDIN) > 1:
        parser.error("standard input can be read once")
    if arguments.front_matter and arguments.form != "markdown":
        parser.error("--front-matter needs --form markdown")
    if arguments.site_pages and arguments.store is not None:
        parser.error("give --site-pages or --store, not both")


def _known_site(arguments: Namespace, parser: ArgumentParser, opened: ExitStack) -> KnownSite:
    preferences = {name: getattr(arguments, name) for name in _PREFERENCES if getattr(arguments, name) is not None}
    try:
        choice, rules = MethodChoice(arguments.method, preferences), read_rules(arguments.rules, arguments)
    except (MethodError, RulesError) as error:
        parser.error(str(error))
    given, more = Writing.given(arguments), arguments.json or arguments.front_matter
    writing = Writing(**given, more_metadata=more)
    paths = arguments.site_pages
    return KnownSite(
        opened,
        Cleaning(choice, writing, rules),
        store=None if arguments.store is None else existing_store(Path(arguments.store), named=True),
        site_pages=(lambda: read_some_pages(paths, Reading())) if paths else None,
        site=arguments.site or None,
    )


def _write_pages(arguments: Namespace, known: KnownSite) -> int:
    """Write each page in turn; one that fails costs no other."""
    code = DONE
    write = _writer(arguments, as_json=arguments.json)
    for name in arguments.pages:
        try:
            url, html = _read(name, arguments)
            page = Page.parse(url, html, site=known.site_of(url))
            clean = clean_known(known.denoiser(page.site), page).cleaned.clean_page
        except (BrokenPipeError, StoreError):
            raise
        except (FetchError, MissingExtraError, SourceError, OSError) as error:
            code = fail(error)
            continue
        except Exception as error:  # a page may be anything
            code = fail(f"{_shown(name)} cannot be cleaned: {type(error).__name__}: {error}")
            continue
        if clean.text or arguments.json:
            write(clean)
        if not clean.text:
            code = fail(f"{_shown(name)} has no text: {_why_no_text(page)}")
    return code


def _read(name: str, arguments: Namespace) -> tuple[str, str | bytes]:
    """Return the address and HTML of a page.

    Raises:
        FetchError: It cannot be fetched, or is no HTML.
        SourceError: The file or standard input cannot be read, or is no HTML.
    """
    if is_url(name):
        return fetch(name, user_agent=arguments.user_agent)
    return arguments.url or "", _standard_input() if name == STDIN else _file(name)


def _standard_input() -> bytes:
    body = sys.stdin.buffer.read(MAX_HTML_BYTES + 1)
    if len(body) > MAX_HTML_BYTES:
        raise SourceError(f"standard input is larger than {MAX_HTML_BYTES:,} bytes")
    if body.strip() and not looks_like_html(body):
        raise SourceError("standard input is no HTML")
    return body


def _file(name: str) -> str | bytes:
    path = Path(name)
    known = format_of(path) if path.is_file() else None
    if path.is_dir() or known not in (None, FORMATS["html"]):
        raise SourceError(f"{name} holds many pages: scrapy denoise clean reads it")
    if path.is_file() and known is None:
        raise SourceError(f"{name} is no HTML")
    return next(read_some_pages([path], Reading()))[1]


def _why_no_text(page: Page) -> str:
    why = page.skipped
    if why == "consent":
        return "it shows nothing but a dialog that asks for consent"
    return f"it is {why.replace('_', ' ')}" if why in ("empty", "too_large") else why or "nothing is left of it"


def _writer(arguments: Namespace, *, as_json: bool) -> Callable[[CleanPage], None]:
    """Return the function that writes a page to stdout; an empty line parts one text from the next."""
    written = 0
    by_line = as_json or arguments.form == "blocks"

    def write(clean: CleanPage) -> None:
        nonlocal written
        text = json.dumps(asdict(clean), ensure_ascii=False) if as_json else str(clean.text)
        if sys.stdout.isatty():
            text = _for_terminal(text)
        between = "\n" if written and not by_line else ""
        sys.stdout.buffer.write(f"{between}{text.rstrip()}\n".encode("utf-8", "replace"))
        sys.stdout.buffer.flush()
        written += 1

    return write


def _for_terminal(text: str) -> str:
    def lines() -> Iterator[str]:
        for line in text.split("\n"):
            yield "\t".join(printable(cell, sys.maxsize) for cell in line.split("\t"))

    return "\n".join(lines())


def _shown(name: str) -> str:
    return "standard input" if name == STDIN else name
