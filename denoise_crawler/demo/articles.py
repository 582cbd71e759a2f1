"""The articles and slideshows of the demo site, and their gold texts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import resources
from typing import Any, Literal, cast
from urllib.parse import quote

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


_PROVIDERS = (
    Provider(
        "mariner",
        "Mariner Wire",
        "www.marinerwire.example",
        "Get the latest from the Mariner Wire in your inbox, every morning before seven.",
    ),
    Provider(
        "northgate",
        "Northgate Post",
        "www.northgatepost.example",
        "This story first appeared in the Northgate Post. Subscribers read it a day earlier.",
    ),
    Provider(
        "estuary",
        "The Estuary Review",
        "www.estuaryreview.example",
        "The Estuary Review is independent and paid for by its readers. Support it from one coin a week.",
    ),
    Provider(
        "saltmarsh",
        "Saltmarsh Science Desk",
        "science.saltmarsh.example",
        "Do you have a question for the Saltmarsh Science Desk? Send it in and a researcher may answer.",
    ),
    Provider(
        "haichao",
        "海潮通讯",
        "www.haichao.example",
        "更多独家报道，请下载海潮通讯客户端，每日早晚各推送一次。",
    ),
    Provider(
        "beigang",
        "北港日报",
        "www.beigang.example",
        "本文由北港日报授权刊载，未经许可不得转载，订阅热线见报纸末版。",
    ),
    Provider("chaoxi", "潮汐周刊", "www.chaoxi.example", "欢迎扫码关注潮汐周刊公众号，每周五晚八点准时更新。"),
)
PROVIDERS = {provider.id: provider for provider in _PROVIDERS}


@cache
def articles() -> tuple[Article, ...]:
    """Return all articles, the English ones first, in a fixed order."""
    return tuple(_article(entry) for lang in LOCALES for entry in _data(f"articles.{lang}.json"))


@cache
def slideshows() -> tuple[Slideshow, ...]:
    """Return all slideshows in a fixed order."""
    return tuple(_slideshow(entry) for entry in _data("slideshows.json"))


@cache
def _by_id() -> dict[str, Article | Slideshow]:
    stories: list[Article | Slideshow] = [*articles(), *slideshows()]
    return {story.id: story for story in stories}


def find_article(story_id: str) -> Article | None:
    """Return the article with this id."""
    found = _by_id().get(story_id)
    return found if isinstance(found, Article) else None


def find_slideshow(story_id: str) -> Slideshow | None:
    """Return the slideshow with this id."""
    found = _by_id().get(story_id)
    return found if isinstance(found, Slideshow) else None


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


def _data(name: str) -> list[dict[str, Any]]:
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return cast("list[dict[str, Any]]", json.loads(text))


def _article(entry: dict[str, Any]) -> Article:
    changed = {
        "provider": PROVIDERS[entry["provider"]],
        "paragraphs": tuple(_block(item) for item in entry["paragraphs"]),
        "comments": tuple(Comment(**comment) for comment in entry["comments"]),
    }
    return Article(**{**entry, **changed})


def _slideshow(entry: dict[str, Any]) -> Slideshow:
    slides = tuple((title, text) for title, text in entry["slides"])
    return Slideshow(**{**entry, "provider": PROVIDERS[entry["provider"]], "slides": slides})


def _block(item: str | dict[str, Any]) -> ArticleBlock:
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
