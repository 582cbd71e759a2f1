"""How a page is written: the options of the text, the forms of the kept content, and renderings of the page.

A new form is a function and a row in ``FORMS``. What writes others than plain text is imported when it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from html import escape
from itertools import islice
from typing import Any, TypeVar

from denoise_crawler.methods import Judgement
from denoise_crawler.options import (
    DICT,
    FLAG,
    SHARE,
    OptionTable,
    one_of,
    option,
    optional,
    whole_number,
)
from denoise_crawler.output import extractors
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.output.content.blocks import Block, BlockList, to_dicts
from denoise_crawler.output.extractors import ACTIONS, MARK
from denoise_crawler.output.safe_markup import clean_html, security_metas
from denoise_crawler.page import Page

T = TypeVar("T")
KEEP, LEAVE = "keep", "leave"
CHOICES = (KEEP, LEAVE)
REFERENCES = "references"


def _text(content: Content) -> str:
    return content.part_of(clean_text(content.page, content.noise))


def _markdown(content: Content) -> str:
    from denoise_crawler.output.content.markdown import to_markdown, with_references

    return (with_references if content.writing.links == REFERENCES else to_markdown)(content.blocks)


def _html(content: Content) -> str:
    from denoise_crawler.output.content.html import to_html

    return to_html(content.blocks)


def _blocks(content: Content) -> BlockList:
    return to_dicts(content.blocks)


FORMS: dict[str, Callable[[Content], str | BlockList]] = {
    "text": _text,
    "markdown": _markdown,
    "html": _html,
    "blocks": _blocks,
}


@dataclass(frozen=True, slots=True)
class Writing(OptionTable):
    r"""How the text is written.

    Data besides the text come into your own items when `DENOISE_EXTRA_FIELDS` names them.

    Example:
        >>> from denoise_crawler import denoise_pages
        >>> page = ("https://a.test/", "<h1>News</h1><p>A story.</p>")
        >>> next(denoise_pages([page], method="link_ratio", writing=Writing("markdown"))).text
        '# News\n\nA story.'
    """

    form: str = option("DENOISE_FORM", "text", one_of(FORMS), "the form of the text", empty_is_default=True)
    """The [format](output.md#forms) of the text. With `blocks` the field holds a list of dicts."""

    extractor: str | None = option(
        "DENOISE_EXTRACTOR",
        None,
        optional(one_of(extractors.EXTRACTORS), "our own text"),
        "the library that writes the text once the noise is gone",
        empty_is_default=True,
    )
    """The library that writes the text after the noise is removed; see [another extractor](extractors.md)."""

    extractor_options: dict[str, object] = option("DENOISE_EXTRACTOR_OPTIONS", {}, DICT)
    """Options for that library, such as `{"output_format": "markdown"}`."""

    explain: bool = option("DENOISE_EXPLAIN", False, FLAG, "say of each block why it was kept or dropped")
    """Fill `CleanPage.explanation`, which says of each block [why it was kept or
    dropped](what-happened.md#why-a-block-was-kept-or-dropped). To get it
    in your own items, name it in `DENOISE_EXTRA_FIELDS`."""

    min_confidence: float = option("DENOISE_MIN_CONFIDENCE", 0.0, SHARE)
    """The lowest `confidence` (the [expected F1](how-it-decides.md) of the text) that is good enough. Pages below
    it are *unsure*: `CleanPage.low_confidence` is true. To get it in your own items, name it in
    `DENOISE_EXTRA_FIELDS`:
    `{"low_confidence": "unsure"}`. About seven of ten pages are above `0.9`. Only `fusion` and `one_look` say
    how sure they are."""

    low_confidence: str = option("DENOISE_LOW_CONFIDENCE", MARK, one_of(ACTIONS))
    """What becomes of unsure pages:

    - `mark`: they are marked, and counted in the [stats](stats.md).
    - `drop`: their items are dropped, as by a pipeline that raises `DropItem`. Items with a text of their own
      stay.

    A browser can fetch such a page again first: see [rendering](contrib.md#rendering)."""

    links: str = option(
        "DENOISE_LINKS",
        KEEP,
        one_of((*CHOICES, REFERENCES)),
        "leave: links without their addresses; references: these stand at the end",
    )
    """`leave` writes the text of links without their addresses, in all forms but `text`, which has none.
    `references` writes Markdown whose links have numbers, `[text][L1]`, and each address once at its end."""

    pictures: str = option("DENOISE_PICTURES", KEEP, one_of(CHOICES), "leave: no pictures")
    """`leave` leaves out pictures and embedded videos and posts."""

    front_matter: bool = option("DENOISE_FRONT_MATTER", False, FLAG, "Markdown begins with the metadata in YAML")
    """Markdown begins with the page's metadata [in YAML](output.md#forms)."""

    max_chars: int | None = option(
        "DENOISE_MAX_CHARS", None, optional(whole_number(1), "no limit"), "the most characters of a text"
    )
    """The most characters of a text. A longer one is cut between blocks, or inside of one that is longer than that
    alone; `CleanPage.truncated` is then true and `next_part` says which part goes on. `blocks` are measured as
    Markdown. Metadata in front of Markdown do not count."""

    part: int = 1
    """Which part of a text that is cut. A part behind the last one is empty."""

    more_metadata: bool = option(
        "DENOISE_MORE_METADATA", False, FLAG, "description, lead picture, tags and the like as well"
    )
    """Fill the fields `description`, `image`, `canonical_url`, `site_name`, `tags` and `modified` of `CleanPage`;
    see [metadata](output.md#metadata). Your own items get them when `DENOISE_EXTRA_FIELDS` names them, without
    this setting."""

    records: bool = option("DENOISE_RECORDS", False, FLAG)
    """Fill `CleanPage.records` with the posts of a thread or the items of a list, a dict each."""

    fields: bool = option("DENOISE_FIELDS", False, FLAG)
    """Fill `CleanPage.fields` with the values of a product by name: price, currency, codes, brand,
    availability."""

    json_ld: bool = option("DENOISE_JSON_LD", False, FLAG)
    """Fill `CleanPage.json_ld` with the page's JSON-LD as data."""

    def check(self) -> None:
        """Raise ExtractorError, SettingError or ValueError if what is asked for cannot be done."""
        if self.part < 1:
            raise ValueError(f"part is {self.part}: parts of a text begin with 1")
        extractors.check(self.extractor, self.extractor_options)
        self.check_values()


@dataclass(eq=False)
class Content:
    """What is kept of a page, to be written.

    Args:
        page: The page.
        noise: Whether each node is noise; None if all is kept.
        writing: The options; plain text if not given.
        page_type: What the page is: each post of a ``forum`` is written below a line that says who wrote it, and
            when; of None its elements tell whether it is one.

    Example:
        >>> page = Page.parse("https://a.test/", "<h1>News</h1><ul><li>One <a href=/2>two</a>")
        >>> print(Content(page, writing=Writing("markdown")).written())
        # News
        <BLANKLINE>
        - One [two](https://a.test/2)
    """

    page: Page
    noise: list[bool] | None = None
    writing: Writing = field(default_factory=Writing)
    page_type: str | None = ""
    is_cut: bool = field(default=False, init=False)

    def written(self) -> Any:
        """Return a string, of the form ``blocks`` a list of dicts; ``is_cut`` then says whether a part follows."""
        return FORMS[self.writing.form](self)

    def part_of(self, text: str) -> str:
        """Return the part of a text that is asked for, all of it without a limit."""
        if self.writing.max_chars is None:
            return text
        from denoise_crawler.output.content.chunks import text_parts

        return self._chosen(text_parts(text, self.writing.max_chars)) or ""

    @cached_property
    def blocks(self) -> list[Block]:
        """The content as typed blocks, or the part of it that is asked for."""
        if self.writing.max_chars is None:
            return self._all_blocks()
        from denoise_crawler.output.content.chunks import parts

        if self.writing.form == "html":
            from denoise_crawler.output.content.html import to_html as write
        else:
            from denoise_crawler.output.content.markdown import to_markdown as write

        def size(block: Block) -> int:
            return len(write([block])) + 2  # and what parts it from the next

        return self._chosen(parts(self._all_blocks(), self.writing.max_chars + 2, size)) or []

    def _chosen(self, parts: Iterator[T]) -> T | None:
        chosen = next(islice(parts, self.writing.part - 1, None), None)
        self.is_cut = chosen is not None and next(parts, None) is not None
        return chosen

    def _all_blocks(self) -> list[Block]:
        from denoise_crawler.output.content.builder import Builder
        from denoise_crawler.records import posts_of

        links, pictures = (one != LEAVE for one in (self.writing.links, self.writing.pictures))
        posts = posts_of(self.page, self.page_type)
        return Builder(self.page, self.noise, posts, links=links, pictures=pictures).build()


def type_with_posts(judgement: Judgement, options: Mapping[str, object]) -> str | None:
    """Return what a page is, for :class:`Content`; where ``options`` keep comments, each may be a thread."""
    return "forum" if options.get("comments") == KEEP else judgement.page_type


def _render_html(page: Page, judgement: Judgement | None, _: str = "") -> str:
    return _as_document(page, clean_html(page, judgement.noise if judgement else None))


def _render_painted(page: Page, judgement: Judgement | None, method: str = "", *, remote: bool = False) -> str:
    from denoise_crawler.output.painted import painted_html

    return painted_html(page, judgement or Judgement.all_kept(page.nodes), method=method, remote=remote)


def _render_annotated(page: Page, _: Judgement | None, __: str = "") -> str:
    from denoise_crawler.output.painted import annotated_html

    return _as_document(page, annotated_html(page))


def _as_document(page: Page, markup: str) -> str:
    """Add a head to ``markup``: a file has no HTTP headers for the charset and the security policy."""
    head = f'<head><meta charset="utf-8">{security_metas(remote=True)}<title>{escape(page.title)}</title></head>'
    return "<!DOCTYPE html>\n" + markup.replace("<html>", f"<html>{head}", 1)


# Of a page, its judgement, and the name of the method. Without a judgement (None) all of the page is kept.
RENDERINGS: dict[str, Callable[..., str]] = {
    "html": _render_html,
    "painted": _render_painted,
    "painted-remote": partial(_render_painted, remote=True),
    "annotated": _render_annotated,
}
