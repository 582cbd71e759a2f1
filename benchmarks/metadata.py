"""How often title, authors and date are those of the gold, beside trafilatura and htmldate.

Two texts are equal if their letters and digits are, without case; authors if their names are, in any order; dates
if the day is. ``authors shown`` and ``date shown`` count only the pages where the gold stands, in a text or an
attribute: what stands nowhere nobody can find. The rules were tuned on one half of the sites; the other half is
for reporting.
"""

import lzma
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from html import unescape
from itertools import product
from pathlib import Path
from typing import NamedTuple, TypeAlias, cast

import msgspec

from benchmarks.bench import folder_with, options, say, table, write_figures
from denoise_crawler.evaluation import HALVES, half
from denoise_crawler.page import Page
from denoise_crawler.page.date_parsing import iso_date
from denoise_crawler.page.metadata import metadata_of
from denoise_crawler.page.text import letters

Rights: TypeAlias = dict[str, dict[str, dict[str, list[bool]]]]

SETS = ("fundus", "newspaper4k", "postlight", "misinfo", "zh_hand")
FIELDS = ("title", "authors", "date")
COLUMNS = (*FIELDS, "authors shown", "date shown")
_PARTS = re.compile(r",? and |, ")


class Article(msgspec.Struct):
    """A page and what people or a parser made for its site say of it; None where they say nothing."""

    site: str
    html: str
    url: str | None = None
    title: str | None = None
    authors: list[str] | None = None
    author: str | None = None
    date: str | None = None
    meta: dict[str, str | None] = {}

    def __post_init__(self) -> None:
        """Take what a set keeps under ``meta``."""
        if self.meta:
            self.title, self.date = self.meta.get("title"), self.meta.get("date")
            self.author = self.meta.get("author") or self.meta.get("byline")
        if self.author and not self.authors:
            self.authors = [self.author]

    @property
    def names(self) -> list[str]:
        """The authors one by one: some sets have them as one text."""
        return [name for author in self.authors or () for name in _PARTS.split(author)]

    @property
    def day(self) -> str:
        """The day of publication in ISO 8601."""
        return (iso_date(self.date or "") or self.date or "")[:10]

    def shows(self, name: str) -> bool:
        """Return True if the gold of a field stands in a text or an attribute of the page."""
        if name == "authors":
            whole = letters(unescape(self.html))
            return all(letters(author) in whole for author in self.names)
        root = Page.parse(self.url or "", self.html).tree
        texts = () if root is None else (*root.itertext(), *cast("list[str]", root.xpath("//@*")))
        dated = (str(text).strip() for text in texts if self.day[:4] in text)
        return any((iso_date(text) or "")[:10] == self.day for text in dated)


class Found(NamedTuple):
    """What a contender says; None for what it does not look for."""

    title: str | None = ""
    authors: str | None = ""
    date: str | None = ""


def by_us(article: Article) -> Found:
    """Return what we find."""
    found = metadata_of(Page.parse(article.url or "", article.html))
    return Found(found.title, found.author or "", found.date or "")


def by_trafilatura(article: Article) -> Found:
    """Return what trafilatura finds; it finds dates by htmldate."""
    from trafilatura import extract_metadata

    found = extract_metadata(article.html, default_url=article.url)
    return Found(found.title or "", found.author or "", found.date or "")


def by_htmldate(article: Article) -> Found:
    """Return the date of publication that htmldate finds."""
    from htmldate import find_date

    return Found(None, None, find_date(article.html, url=article.url, original_date=True) or "")


CONTENDERS: dict[str, Callable[[Article], Found]] = {
    "denoise_crawler": by_us,
    "trafilatura": by_trafilatura,
    "htmldate": by_htmldate,
}


def is_right(name: str, found: str, article: Article) -> bool:
    """Tell whether a field is that of the gold."""
    if name == "authors":
        names = sorted(map(letters, found.split("; ")))
        return names in (sorted(map(letters, article.authors or [])), sorted(map(letters, article.names)))
    if name == "date":
        return found[:10] == article.day
    return letters(found) == letters(article.title or "")


def score(articles: Iterable[Article]) -> Rights:
    """Return whether each field is right: a list by half of the sites (and ``all``), contender and field."""
    rights: Rights = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    names = {number: name for name, number in HALVES.items()}
    for article in articles:
        for contender, find in CONTENDERS.items():
            try:
                found = find(article)
            except Exception as error:  # a page that a contender fails on is a page without metadata
                say(f"{contender} failed on {article.url}: {error!r:.200}")
                found = Found()
            for name in FIELDS:
                if getattr(article, name) and (value := getattr(found, name)) is not None:
                    columns = [name, *([f"{name} shown"] if name != "title" and article.shows(name) else [])]
                    for group, column in product(("all", names[half(article.site)]), columns):
                        rights[group][contender][column].append(is_right(name, value, article))
    return rights


def read_articles(file: Path) -> Iterator[Article]:
    """Yield the pages of a gold set with what the gold says of them."""
    decoder = msgspec.json.Decoder(Article)
    with lzma.open(file) as lines:
        yield from map(decoder.decode, lines)


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="+", metavar="SET", default=list(SETS))
    arguments = parser.parse_args(argv)
    folder = folder_with(arguments.sets)
    lines, figures = [], {}
    for name in arguments.sets:
        rights = score(read_articles(folder / f"{name}.jsonl.xz"))
        shares = {
            group: {
                contender: {field: sum(right) / len(right) for field, right in fields.items()}
                for contender, fields in contenders.items()
            }
            for group, contenders in rights.items()
        }
        figures[name] = shares
        for group, contenders in shares.items():
            pages = max(len(right) for right in rights[group]["denoise_crawler"].values())
            for contender, fields in contenders.items():
                cells = (f"{fields[field]:.2f}" if field in fields else "" for field in COLUMNS)
                lines.append([name, group, str(pages), contender, *cells])
    print(table(["set", "sites", "pages", "", *COLUMNS], lines))
    write_figures(arguments.json, figures)


if __name__ == "__main__":
    main()
