"""All that happens to a page, with what must hold after each step: no output may hold what harms."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import msgspec
from lxml import etree
from resiliparse.parse.html import HTMLTree, NodeType

from denoise_crawler.denoiser import Denoiser
from denoise_crawler.evaluation import GoldPage, addressed
from denoise_crawler.methods import METHODS, Judgement, MethodChoice, apply_guard
from denoise_crawler.output.clean_text import clean_text, count_characters
from denoise_crawler.output.explanation import explanation
from denoise_crawler.output.writing import FORMS, RENDERINGS, Content, Writing
from denoise_crawler.page import TEXT, Page
from denoise_crawler.page.metadata import metadata_of
from denoise_crawler.report import Bounds, Plan, RunFigures, write_report
from tests.fuzz.mutations import changed

_LOOKED_THROUGH = 2_000  # nodes
_EXPLAINED = 60  # nodes: a reason of fusion costs milliseconds


class Road:
    """One site, learned by several methods (all, unless ``names`` says which) from the pages that pass."""

    def __init__(self, names: Sequence[str] = tuple(METHODS)) -> None:
        self.methods = {name: MethodChoice(name).new() for name in names}
        self.passed = 0

    def travel(self, source: str | bytes, url: str = "https://fuzz.example/page") -> dict[str, str]:
        """Parse, learn, judge and write a page in every way; return its text by each method.

        Raises what a step raises, and AssertionError where its result is wrong. The methods take turns at
        giving the verdict for what is written besides the text.
        """
        page = Page.parse(f"{url}/{self.passed}", source)
        before = _bytes_of(page)
        written = list(self.methods)[self.passed % len(self.methods)]
        self.passed += 1
        _check_nodes(page)
        texts = {}
        for name, method in self.methods.items():
            if page.skipped is None:
                assert 0.0 <= method.novelty(page) <= 1.0
                method.observe(page)
            judgement = apply_guard(page, method.judge(page))
            texts[name] = text_of(page, judgement)
            if name == written:
                write_all(page, judgement)
        assert _bytes_of(page) == before, "the tree of the page was changed"
        return texts

    def keep_and_learn_again(self, random: Random) -> None:
        """Write what each method knows and read it: as it is, and with some bytes changed."""
        for name, method in self.methods.items():
            if not method.learns:
                continue
            data = method.to_bytes()
            again = MethodChoice(name).new()
            again.merge_bytes(data)
            assert again.to_bytes() == data, f"{name} does not read back what it wrote"
            with suppress(ValueError):  # refused
                MethodChoice(name).new().merge_bytes(changed(random, data))


def write_all_in_a_report(sources: Sequence[str | bytes], method: str, folder: Path) -> None:
    """Write a report of a site's pages into ``folder``, which is there; all of them must be shown."""
    pages = [("fuzz.example", f"https://fuzz.example/{number}", source) for number, source in enumerate(sources)]
    run = write_report(
        folder, Plan(lambda: iter(pages), MethodChoice(method)), RunFigures(["fuzz"], method, "now", "0")
    )
    (site,) = run.sites
    assert (site.pages, site.failed) == (len(pages), 0), [shown.error for shown in site.shown if shown.error]
    assert len(list((folder / site.folder).glob("page-*.html"))) == min(len(pages), Bounds().pages)


def text_of(page: Page, judgement: Judgement) -> str:
    """Return the clean text, checked: never empty where the page says something."""
    nodes = page.nodes
    assert len(judgement.noise) == len(judgement.scores) == len(nodes)
    text = clean_text(page, judgement.noise)
    text.encode()
    says_something = any(words.strip() for words in nodes.texts)
    assert text or not says_something, "a page with text came out empty"
    visible, kept = count_characters(page, judgement.noise)
    assert 0 <= kept <= visible
    return text


def write_all(page: Page, judgement: Judgement) -> None:
    """Write the page in all other ways."""
    size = len(page.nodes)
    for index in {0, size // 2, size - 1}:
        judgement.reason(index).encode()
    if size <= _EXPLAINED:
        msgspec.json.encode(explanation(page, judgement))
    for form in FORMS:
        str(Content(page, judgement.noise, Writing(form)).written()).encode()
    msgspec.json.encode(metadata_of(page))
    for name, write in RENDERINGS.items():
        if name not in ("text", "painted-remote"):
            written = write(page, judgement)
            written.encode()
            if name != "text" and size <= _LOOKED_THROUGH:
                assert not list(harm_in(written)), f"{name} holds what runs or leads away"


def _check_nodes(page: Page) -> None:
    nodes = page.nodes
    size = len(nodes)
    assert (
        size
        == len(nodes.parents)
        == len(nodes.ends)
        == len(nodes.texts)
        == len(nodes.links)
        == len(nodes.elements)
    )
    for index in range(1, size):
        parent = nodes.parents[index]
        assert 0 <= parent < index < nodes.ends[index] <= nodes.ends[parent] <= size
        assert bool(nodes.texts[index]) == (nodes.tags[index] is TEXT)


def _bytes_of(page: Page) -> bytes:
    page.nodes  # noqa: B018 - a deep page is parsed again when its nodes are first asked for
    return b"" if page.root is None else etree.tostring(page.root)


LOCKS = ("content-security-policy", "x-dns-prefetch-control")
ADDRESSES = ("href", "src", "action", "formaction", "data", "xlink:href", "content", "poster", "background")


def harm_in(markup: str) -> Iterator[str]:
    """Yield what is harmful in a document as an HTML5 parser builds it."""
    waiting: list[Any] = [HTMLTree.parse(markup).document]
    while waiting:
        node = waiting.pop()
        waiting += node.child_nodes
        if node.type != NodeType.ELEMENT:
            continue
        attributes = {str(name).lower(): node.getattr(name) or "" for name in node.attrs}
        tag = str(node.tag).lower()
        if tag == "script" and attributes.get("type") != "application/ld+json":
            yield f"{tag} {attributes}"
        if tag == "meta" and attributes.get("http-equiv", "").lower() not in ("", *LOCKS):
            yield f"{tag} {attributes}"
        if tag == "base" and (set(attributes) != {"href"} or harms(tag, "href", attributes["href"])):
            yield f"{tag} {attributes}"
        yield from (f"{tag} {name}={value}" for name, value in attributes.items() if harms(tag, name, value))


def harms(tag: str, name: str, value: str) -> bool:
    """Tell whether an attribute runs something or shows another page."""
    runs = name in ADDRESSES and "".join(value.split()).lower().startswith(("javascript:", "vbscript:"))
    shows = tag in ("iframe", "embed", "object", "frame") and name in ("src", "data")
    return runs or shows or name.startswith("on") or name == "srcdoc"


def outcomes(pages: Sequence[GoldPage], method: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each page of a site, and how it came out: text, guarded, skipped, or empty."""
    denoiser = Denoiser(method)
    parsed = [Page.parse(url, html) for url, html in addressed(pages)]
    for page in parsed:
        denoiser.learn(page)
    for page, gold in zip(parsed, pages, strict=True):
        cleaned = denoiser.clean(page)
        if cleaned.clean_page.text:
            yield gold.id, "guarded" if cleaned.guarded else "text"
        elif page.skipped is not None:
            yield gold.id, f"skipped: {page.skipped}"
        else:
            yield gold.id, "empty"
