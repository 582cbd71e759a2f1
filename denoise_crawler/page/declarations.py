"""What a page declares, as it stands there: ``meta``, JSON-LD, headings, title; texts by field.

It is read once a page, from the tree that exists already. ``extruct`` needs five more parsers and leaves the
choice among JSON-LD items to its user.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from html import unescape
from itertools import islice
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

import msgspec
from lxml import etree
from lxml.etree import _Element

from denoise_crawler.kernel.names import COMMENT_TYPES
from denoise_crawler.page.nodes import Element
from denoise_crawler.page.page import Page
from denoise_crawler.page.self_description import Meta
from denoise_crawler.page.text import one_line

Item: TypeAlias = dict[str, Any]

MAX_JSON_LD_CHARACTERS = 2_000_000  # per page
MAX_VALUES = 20  # of one kind
_MAX_JSON_LD_ITEMS = 2_000
_MAX_TEXT_CHARACTERS = 10_000
# Types of https://schema.org: a page's main subject, and what only wraps it.
_ARTICLE = re.compile(r"(?:article|posting|report|review|recipe)$", re.IGNORECASE)
_OTHER_WORK = re.compile(
    r"(?:product|videoobject|event|course|book|movie|softwareapplication|dataset)$", re.IGNORECASE
)
_WRAPPER = re.compile(r"(?:page)$", re.IGNORECASE)
_OPENING_WRAPPER = re.compile(r"<!--|(?:(?://|/\*)\s*)?<!\[CDATA\[(?:\s*\*/)?")


@dataclass(frozen=True, slots=True)
class Declarations:
    """What a page declares.

    Attributes:
        metas: The values of ``meta`` elements by lower-case name.
        items: The JSON-LD items in order, also those of lists, graphs and main entities.
        work: The item that the page is about; an empty one if none is, or several might be.
        wrappers: The items that stand for the page itself.
    """

    metas: dict[str, list[str]]
    items: list[Item]
    work: Item
    wrappers: list[Item]

    def first_meta(self, *names: str) -> str | None:
        """Return the first value of the first of these ``meta`` names that has one."""
        return first(without_markup(self.metas[name][0]) for name in names if name in self.metas)

    def resolved(self, values: Any) -> list[Any]:
        """Return a JSON-LD value as a list, with the items that it only refers to."""
        if not isinstance(values, list | dict):
            return [values]
        listed = values if isinstance(values, list) else [values]
        return [
            self._item(str(one["@id"]), one)
            if isinstance(one, dict) and "@id" in one and not {"name", "url"} & one.keys()
            else one
            for one in listed[:MAX_VALUES]
        ]

    def _item(self, identity: str, otherwise: Item) -> Item:
        return next((item for item in self.items if item.get("@id") == identity and len(item) > 1), otherwise)


def declarations_of(page: Page) -> Declarations:
    """Return what ``page`` declares; ask for it by ``page.once(declarations_of)``."""
    source = page.self_description
    items: list[Item] = []
    left = MAX_JSON_LD_CHARACTERS
    metas = [*source.metas]
    if page.tree is not None and [meta for meta in metas if not meta.content and (meta.property or meta.name)]:
        for element in page.tree.iterfind(".//meta[@value]"):  # as some systems write it in place of the content
            name = element.get("property") or element.get("name") or ""
            metas.append(Meta(name, "", "", "", element.get("value", "")))
    for kind, script in source.scripts:
        if "ld+json" in kind.lower() and (text := script.text):
            left -= len(text)
            if left >= 0:
                items.extend(_json_ld_items(_parse_json(text), _MAX_JSON_LD_ITEMS - len(items)))
    wrappers = [item for item in items if has_type(item, _WRAPPER)]
    work = _find_main_work(items, page.url)
    return Declarations(_by_name(metas), items, work, wrappers)


def _by_name(metas: Iterable[Meta]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for *names, content in metas:
        value = content.strip()
        for name in names if value else ():
            if name and len(named := values.setdefault(name.lower(), [])) < MAX_VALUES:
                named.append(value)
    return values


def _parse_json(text: str) -> Any:
    """Return the first value in a text of JSON, None if it is invalid.

    Comments around it and raw newlines in it are common, and so is more behind it.
    """
    text = text.strip()
    while opening := _OPENING_WRAPPER.match(text):
        text = text[opening.end() :].lstrip()
    with suppress(ValueError, RecursionError):
        return msgspec.json.decode(text)
    with suppress(ValueError, RecursionError):
        return json.JSONDecoder(strict=False).raw_decode(text)[0]
    return None


def _json_ld_items(value: Any, most: int) -> Iterator[Item]:
    """Yield at most ``most`` items of a JSON-LD document in order, also from lists, graphs and main entities."""
    waiting = [value]
    while waiting and most > 0:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(reversed(value[:most]))
        elif isinstance(value, dict):
            most -= 1
            yield value
            waiting += [value[key] for key in ("mainEntityOfPage", "mainEntity", "@graph") if key in value]


def _find_main_work(items: list[Item], url: str) -> Item:
    for kind in (_ARTICLE, _OTHER_WORK):
        works = [item for item in items if has_type(item, kind)]
        if len(works) > 1 and len({first(strings(one.get("headline"), one.get("name"))) for one in works}) > 1:
            works = [item for item in works if url in strings(item.get("url"), item.get("mainEntityOfPage"))]
        if works:
            return works[0]
    return {}


def nested_items(items: Iterable[Item]) -> Iterator[Item]:
    """Yield JSON-LD ``items`` and those inside them, each once.

    Example:
        >>> [item["@type"] for item in nested_items([{"@type": "Product", "offers": [{"@type": "Offer"}]}])]
        ['Product', 'Offer']
    """
    seen: set[int] = set()
    waiting: list[Any] = list(items)[::-1]
    left = _MOST_VALUES
    while waiting and left > 0:
        value = waiting.pop()
        left -= 1
        if isinstance(value, list):
            waiting.extend(reversed(value[:left]))
        elif isinstance(value, dict) and id(value) not in seen:
            seen.add(id(value))
            yield value
            waiting.extend(reversed(value.values()))


def types_of(item: Item) -> tuple[str, ...]:
    """Return the types of an item."""
    kinds = item.get("@type")
    if isinstance(kinds, list):
        return tuple([kind for kind in kinds if isinstance(kind, str)])
    return (kinds,) if isinstance(kinds, str) else ()


def has_type(item: Item, pattern: re.Pattern[str]) -> bool:
    """Return True if ``pattern`` finds a type of an item."""
    return any(map(pattern.search, types_of(item)))


def strings(*values: Any) -> list[str]:
    """Return the clean, non-empty strings of JSON-LD ``values``; an object stands for its value, name or id."""
    texts: list[str] = []
    for value in values:
        for one in value[:MAX_VALUES] if isinstance(value, list) else [value]:
            named = one.get("@value") or one.get("name") or one.get("@id") if isinstance(one, dict) else one
            if isinstance(named, str) and (text := without_markup(named)):
                texts.append(text)
    return texts


def without_markup(text: str) -> str:
    """Remove entities, tags, lone surrogates, control characters and double spaces from ``text``."""
    if "&" in text:
        text = unescape(unescape(text))
    if "<" in text:
        text = re.sub(r"<[^<>]*>", " ", text)
    return one_line(text)


def first(texts: Iterable[str | None]) -> str | None:
    """Return the first text that is not empty."""
    return next(filter(None, texts), None)


def text_of(element: _Element) -> str:
    """Return the text of an element, without double spaces; of a very long one the beginning."""
    if not len(element):
        return one_line(element.text or "")
    parts, left = list[str](), _MAX_TEXT_CHARACTERS
    for text in element.itertext():
        parts.append(str(text))
        left -= len(text)
        if left < 0:  # its end was forgotten
            break
    return one_line("".join(parts))


FIELDS = "body", "description", "ingredient", "step", "answer", "comment", "record"
BODY, DESCRIPTION, INGREDIENT, STEP, ANSWER, COMMENT, RECORD = range(len(FIELDS))
NOTHING = -1
_MOST_CHARACTERS = 400_000  # per page
_MOST_VALUES = 20_000
_MOST_LEVELS = 30  # from a property up to the thing that has it
# Properties of https://schema.org whose strings are texts of a field, and so is what is named in them.
_HOLDING = {
    "recipeIngredient": INGREDIENT, "ingredients": INGREDIENT, "supply": INGREDIENT, "tool": INGREDIENT,
    "recipeInstructions": STEP, "step": STEP, "steps": STEP,
    "acceptedAnswer": ANSWER, "suggestedAnswer": ANSWER, "comment": COMMENT, "review": COMMENT, "reviews": COMMENT,
    "additionalProperty": RECORD, "responsibilities": RECORD, "qualifications": RECORD, "skills": RECORD,
    "educationRequirements": RECORD, "experienceRequirements": RECORD, "jobBenefits": RECORD,
    "incentiveCompensation": RECORD, "transcript": RECORD,
}  # fmt: skip
_TEXTS = {"articleBody": BODY, "text": BODY, "reviewBody": BODY, "abstract": DESCRIPTION}
_NAMED = frozenset({"text", "name", "description", "headline", "articleBody", "reviewBody"})
# What belongs to others, or is no text.
_ASIDE = frozenset(
    {"author", "publisher", "creator", "contributor", "image", "logo", "video", "thumbnail", "breadcrumb"}
    | {"potentialAction", "offers", "isPartOf", "aggregateRating", "mentions", "about", "isRelatedTo", "nutrition"}
    | {"isSimilarTo", "sponsor", "provider", "hiringOrganization", "brand", "manufacturer", "@context"}
)
_ASIDE_TYPES = re.compile(r"(?:person|organization|website|imageobject|breadcrumblist)$", re.IGNORECASE)
_ANSWERS = re.compile(r"(?:question|answer)$", re.IGNORECASE)
_STEPS = re.compile(r"howto(?:step|section|direction|tip)$", re.IGNORECASE)
_TEASED = re.compile(
    r"(?:article|blogposting|mediaposting|discussionforumposting|report|page|recipe|howto|creativework|blog)$",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"(?:schema:|https?://schema\.org/)")
_ALL = etree.XPath("descendant::text()", smart_strings=False)
_NO_SCRIPT = etree.XPath("descendant::text()[not(parent::script or parent::style)]", smart_strings=False)


class DeclaredText(NamedTuple):
    """A text that a page declares, and the number of its field."""

    field: int
    text: str


def declared_texts_of(page: Page) -> tuple[DeclaredText, ...]:
    """Return the texts that ``page`` declares; ask for it by ``page.once``.

    Example:
        >>> from denoise_crawler.page import Page
        >>> page = Page.parse("https://a.example/", "<p itemprop='recipeIngredient'>2 eggs")
        >>> declared_texts_of(page)
        (DeclaredText(field=2, text='2 eggs'),)
    """
    source, declared, left = page.self_description, list[DeclaredText](), _MOST_CHARACTERS
    if not (source.texts or source.scripts or any(map(attrgetter("itemprop"), source.metas))):
        return ()
    for field, written in _written(page):
        if text := without_markup(written[:left]):
            declared.append(DeclaredText(field, text))
        left -= len(written)  # whatever is left of it: it was read
        if left <= 0:
            break
    return tuple(declared)


def _written(page: Page) -> Iterator[tuple[int, str]]:
    source = page.self_description
    yield from _of_items(page.once(declarations_of).items)
    for meta in source.metas:
        if meta.itemprop:
            field, _ = _meaning(meta.itemprop, NOTHING, ())
            if field >= 0:
                yield field, meta.content
    for names, element in source.texts:
        if (field := _field_of(names, element)) >= 0:
            has_script = next(element.iter("script", "style"), None) is not None
            texts: Any = (_NO_SCRIPT if has_script else _ALL)(element)  # to ask for parents is slow
            yield field, element.get("content") or "".join(texts)


def _of_items(items: list[dict[str, Any]]) -> Iterator[tuple[int, str]]:
    """Yield the texts of JSON-LD ``items`` and of all that is in them, in order."""
    seen: set[int] = set()
    left = _MOST_VALUES
    for item in items:
        waiting: list[tuple[Any, int, int]] = [(item, NOTHING, NOTHING)]  # value, field of its strings, context
        while waiting and left > 0:
            value, field, within = waiting.pop()
            left -= 1
            if isinstance(value, str):
                if field >= 0:
                    yield field, value
            elif isinstance(value, list):
                waiting += [(one, field, within) for one in reversed(value[:left])]
            elif isinstance(value, dict) and id(value) not in seen:
                seen.add(id(value))
                waiting.extend(reversed(list(_inside(value, field, within))))


def _inside(item: dict[str, Any], field: int, within: int) -> Iterator[tuple[Any, int, int]]:
    """Yield the values of an item, each with the field of its strings and of what is in it."""
    types = types_of(item)
    if "PropertyValue" in types:
        yield f"{item.get('name', '')} {item.get('value', '')}", RECORD, NOTHING
        return
    if any(map(_ASIDE_TYPES.search, types)):
        return
    within = _context(types, within)
    for key, value in item.items():
        if key == "@value":
            yield value, field, within
        elif key not in _ASIDE:
            yield (value, *_meaning(key, within, types))


def _context(types: Iterable[str], within: int) -> int:
    """Return the field that a thing of some ``types`` is in, as it stands in a thing of another."""
    for kind in types:
        if _STEPS.search(kind):
            return STEP
        if _ANSWERS.search(kind):
            return ANSWER
        if COMMENT_TYPES.search(kind) and (within >= 0 or not kind.endswith("Review")):
            return COMMENT
    return within


def _meaning(key: str, within: int, types: tuple[str, ...]) -> tuple[int, int]:
    """Return the field of the strings of a property, and that of the things in it."""
    if (field := _HOLDING.get(key, NOTHING)) >= 0:
        return field, field
    if within >= 0:
        return (within if key in _NAMED else NOTHING), within
    if key == "description":
        return (DESCRIPTION if not types or any(map(_TEASED.search, types)) else RECORD), NOTHING
    return _TEXTS.get(key, NOTHING), NOTHING


def _field_of(names: str, element: Element) -> int:
    """Return the field of an element with the properties ``names``."""
    for name in names.split():
        key, (types, role) = _PREFIX.sub("", name), _thing_of(element)
        if role in _ASIDE or any(map(_ASIDE_TYPES.search, types)):
            continue
        field, _ = _meaning(key, _context(types, _HOLDING.get(role, NOTHING)), types)
        if field >= 0:
            return field
    return NOTHING


def _thing_of(element: Element) -> tuple[tuple[str, ...], str]:
    """Return the types of the thing whose property an element is, and what that thing is of another."""
    for above in islice(element.iterancestors(), _MOST_LEVELS):
        if kinds := above.get("itemtype") or above.get("typeof"):
            types = tuple([kind.rpartition("/")[2].rpartition(":")[2] for kind in kinds.split()])
            return types, _PREFIX.sub("", above.get("itemprop") or above.get("property") or "")
    return (), ""
