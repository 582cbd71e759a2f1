"""What a page looks like as a whole, as numbers: they tell an article from a forum thread, a shop or a list."""

from __future__ import annotations

from math import log1p
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from denoise_crawler.core import loops
from denoise_crawler.methods.fusion.evidence import running
from denoise_crawler.methods.fusion.kinds import KINDS, said_words_of
from denoise_crawler.methods.fusion.linked_data import linked_data_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from denoise_crawler.methods.fusion.blocks import Blocks, Numbers
    from denoise_crawler.methods.fusion.look import Look
    from denoise_crawler.page import Page

_COUNTED_TAGS = (
    "form",
    "input",
    "table",
    "pre",
    "code",
    "img",
    "h1",
    "h2",
    "h3",
    "li",
    "article",
    "section",
    "time",
)
_CURRENCIES = "$€£¥"
_PARAGRAPH = 100  # characters outside links
_DECLARED = {
    "article": ("article", "newsarticle", "blogposting", "reportagenewsarticle", "report"),
    "product": ("product", "productgroup", "offer", "aggregateoffer", "individualproduct"),
    "forum": ("discussionforumposting", "qapage", "question", "comment"),
    "list": ("itemlist", "collectionpage", "searchresultspage", "blog", "offercatalog"),
    "documentation": ("techarticle", "apireference", "howto", "softwaresourcecode"),
    "service": ("service", "localbusiness", "professionalservice", "faqpage", "aboutpage", "contactpage"),
}


def traits_of(page: Page) -> dict[str, float]:
    """Return by name what ``page`` declares of itself, what its address looks like and which elements it has."""
    return {**_declared(page), **_address(page.url), **_tags(page)}


def page_type_row(traits: Mapping[str, float], look: Look) -> dict[str, float]:
    """Return by name all numbers that tell the type of a page: its ``traits``, and what the trees see."""
    return {
        **{f"words of {kind}": float(says) for kind, says in zip(KINDS, look.evidence.kinds, strict=True)},
        **traits,
        **_text(look.evidence.blocks, look),
        **_largest_lists(look),
    }


def _declared(page: Page) -> dict[str, float]:
    """Return what linked data and ``og:type`` say, as far as they say it."""
    words, types = page.once(said_words_of), {name.lower() for name in page.once(linked_data_of).types}
    said = {f"declares {kind}": float(not types.isdisjoint(names)) for kind, names in _DECLARED.items()}
    for name in ("article", "product", "website"):
        said[f"og {name}"] = float(f"og:type={name}" in words)
    return said


def _address(url: str) -> dict[str, float]:
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    steps = [step for step in parts.path[:1_000].split("/") if step]
    last = steps[-1] if steps else ""
    return {
        "address steps": float(len(steps)),
        "address last length": float(len(last)),
        "address last hyphens": float(last.count("-") + last.count("_")),
        "address digits": float(sum(map(str.isdigit, parts.path[:1_000]))),
        "address query": float(bool(parts.query)),
        "address ends with slash": float(parts.path.endswith("/")),
    }


def _tags(page: Page) -> dict[str, float]:
    counted = page.nodes.count_tags()
    return {f"elements {tag}": log1p(counted.get(tag, 0)) for tag in _COUNTED_TAGS}


def _text(blocks: Blocks, look: Look) -> dict[str, float]:
    columns = blocks.characters, blocks.linked, blocks.commas
    total, linked, longest, paragraphs, in_paragraphs, commas = loops("features").add_up_text(*columns, _PARAGRAPH)
    total, likely = max(total, 1.0), float(look.likely_sums[-1])
    sizes = (len(blocks), total, paragraphs, longest, *_count_signs(blocks.texts), likely)
    count, characters, paragraphs, longest, prices, questions, mentions, tokens = map(log1p, sizes)
    return {
        "blocks": count,
        "characters": characters,
        "link share": linked / total,
        "paragraphs": paragraphs,
        "share in paragraphs": in_paragraphs / total,
        "longest": longest,
        "commas in paragraphs": commas / max(in_paragraphs, 1.0),
        "prices": prices,
        "questions": questions,
        "mentions": mentions,
        "content tokens": tokens,
        "content share": likely / max(float(blocks.tokens.sum()), 1.0),
        "content blocks": float((look.chances > 1 / 2).mean()) if len(blocks) else 0.0,
        "content link share": _share(blocks.linked, blocks.characters, look.chances),
    }


def _count_signs(texts: list[str]) -> tuple[int, int, int]:
    """Return how many signs of currencies, question marks and at signs there are."""
    whole = "\n".join(texts)
    return sum(map(whole.count, _CURRENCIES)), whole.count("?"), whole.count("@")


def _share(part: Numbers, whole: Numbers, weights: Numbers) -> float:
    return float((part * weights).sum()) / max(float((whole * weights).sum()), 1.0)


def _largest_lists(look: Look) -> dict[str, float]:
    """Return what the two lists of alike elements hold that have most of the page's text."""
    evidence = look.evidence
    whole = max(float(evidence.character_sums[-1]), 1.0)
    row = dict.fromkeys(
        (
            f"list {place} {name}"
            for place in (1, 2)
            for name in ("size", "share", "mean", "link share", "content")
        ),
        0.0,
    )
    _, elements, sums = evidence.columns
    columns = look.likely_sums, evidence.below(running(evidence.blocks.tokens))
    lists = loops("features").largest_lists(elements, sums, *columns, 2)
    for place, (size, text, linked, likely, tokens) in enumerate(lists, 1):
        log_size, log_mean = log1p(size), log1p(text / size)
        row |= {
            f"list {place} size": log_size,
            f"list {place} share": text / whole,
            f"list {place} mean": log_mean,
            f"list {place} link share": linked / max(text, 1.0),
            f"list {place} content": likely / max(tokens, 1.0),
        }
    return row
