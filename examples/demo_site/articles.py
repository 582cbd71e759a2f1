"""The texts around the articles in both languages, and choices that are the same in every process."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import resources
from typing import Any, Literal, TypeVar, cast
from urllib.parse import quote

T = TypeVar("T")


def load_json(name: str) -> Any:
    """Return what a JSON file beside this module holds."""
    return json.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))


_TEXTS = load_json("texts.json")
SITE: dict[str, str] = _TEXTS["site"]
SECTIONS: dict[str, dict[str, str]] = _TEXTS["sections"]
WORDS: dict[str, dict[str, str]] = _TEXTS["words"]
ADS: dict[str, list[str]] = _TEXTS["ads"]
FOOTER: dict[str, list[Any]] = _TEXTS["footer"]
ABOUT: dict[str, dict[str, str]] = _TEXTS["about"]


def seeded_number(seed: str) -> int:
    """Return a number that depends on the seed alone, not on process or machine."""
    return int.from_bytes(hashlib.blake2b(seed.encode(), digest_size=6).digest(), "big")


def pick(seed: str, options: Sequence[T], count: int) -> list[T]:
    """Return ``count`` different options, chosen and ordered by the seed alone."""
    order = sorted(range(len(options)), key=lambda place: seeded_number(f"{seed}|{place}"))
    return [options[place] for place in order[:count]]


def day(lang: str, time: datetime) -> str:
    """Return a date as the language writes it, whatever the machine's locale."""
    if lang == "zh":
        return f"{time.year}年{time.month}月{time.day}日"
    return f"{time.day} {_TEXTS['months'][time.month - 1]} {time.year}"


BlockKind = Literal["text", "heading", "quote", "list", "table"]

LOCALES = {"en": "en-us", "zh": "zh-cn"}


@dataclass(frozen=True)
class ArticleBlock:
    """A block of an article's body as rows of cells; only tables have several cells in a row."""

    kind: BlockKind
    rows: tuple[tuple[str, ...], ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """The text of each row, with tabs between cells."""
        return tuple("\t".join(row) for row in self.rows)


@dataclass(frozen=True)
class Comment:
    """A reader's comment below an article."""

    author: str
    text: str


@dataclass(frozen=True)
class Provider:
    """A fictional publisher whose stories the site carries."""

    id: str
    name: str
    host: str
    boilerplate: str


@dataclass(frozen=True)
class Story:
    """What articles and slideshows have in common; ``published`` is an ISO 8601 time in UTC."""

    id: str
    lang: str
    section: str
    slug: str
    title: str
    abstract: str
    author: str
    provider: Provider
    published: str

    @property
    def locale(self) -> str:
        """The locale of the story, such as ``en-us``."""
        return LOCALES[self.lang]

    @property
    def time(self) -> datetime:
        """The time of publication, in UTC."""
        return datetime.fromisoformat(self.published.replace("Z", "+00:00"))


@dataclass(frozen=True)
class Article(Story):
    """A news story."""

    paragraphs: tuple[ArticleBlock, ...]
    comments: tuple[Comment, ...]

    @property
    def source_url(self) -> str:
        """The URL of the story at its publisher, the page's canonical link."""
        return f"https://{self.provider.host}/{self.time:%Y/%m}/{quote(self.slug)}"


@dataclass(frozen=True)
class Slideshow(Story):
    """A picture story; ``slides`` are pairs of title and text."""

    slides: tuple[tuple[str, str], ...]

    @property
    def source_url(self) -> str:
        """The URL of the slideshow at its publisher."""
        return f"https://{self.provider.host}/pictures/{quote(self.slug)}"


PROVIDERS = {entry["id"]: Provider(**entry) for entry in load_json("providers.json")}


@cache
def articles() -> tuple[Article, ...]:
    """Return all articles, the English ones first, in a fixed order."""
    return tuple(_read_article(entry) for lang in LOCALES for entry in load_json(f"articles.{lang}.json"))


@cache
def slideshows() -> tuple[Slideshow, ...]:
    """Return all slideshows in a fixed order."""
    return tuple(_read_slideshow(entry) for entry in load_json("slideshows.json"))


def find_article(story_id: str) -> Article | None:
    """Return the article with this id."""
    return next((article for article in articles() if article.id == story_id), None)


def find_slideshow(story_id: str) -> Slideshow | None:
    """Return the slideshow with this id."""
    return next((show for show in slideshows() if show.id == story_id), None)


def newest(locale: str, section: str | None = None) -> list[Article]:
    """Return the articles of a locale, and of one of its sections if given, newest first."""
    chosen = [a for a in articles() if a.locale == locale and section in (None, a.section)]
    return sorted(chosen, key=lambda article: (article.published, article.id), reverse=True)


def article_path(article: Article) -> str:
    """Return the article's path on the site, percent-encoded."""
    return f"/{article.locale}/{article.section}/{quote(article.slug)}/ar-{article.id}"


def slideshow_path(show: Slideshow) -> str:
    """Return the slideshow's path on the site, percent-encoded."""
    return f"/{show.locale}/{show.section}/{quote(show.slug)}/ss-{show.id}"


def gold_text(article: Article) -> str:
    """Return the title and the body, with a line for each block, list item and table row."""
    return "\n".join([article.title, *(line for block in article.paragraphs for line in block.lines)])


def _read_article(entry: dict[str, Any]) -> Article:
    changed = {
        "provider": PROVIDERS[entry["provider"]],
        "paragraphs": tuple(_read_block(item) for item in entry["paragraphs"]),
        "comments": tuple(Comment(**comment) for comment in entry["comments"]),
    }
    return Article(**{**entry, **changed})


def _read_slideshow(entry: dict[str, Any]) -> Slideshow:
    slides = tuple((title, text) for title, text in entry["slides"])
    return Slideshow(**{**entry, "provider": PROVIDERS[entry["provider"]], "slides": slides})


def _read_block(item: str | dict[str, Any]) -> ArticleBlock:
    if isinstance(item, str):
        return ArticleBlock("text", ((item,),))
    ((kind, value),) = item.items()
    if kind == "table":
        rows = tuple(tuple(row) for row in value)
    elif kind == "list":
        rows = tuple((entry,) for entry in value)
    else:
        rows = ((value,),)
    return ArticleBlock(cast("BlockKind", kind), rows)
