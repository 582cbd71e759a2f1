"""The texts that a page declares for machines, by field: in JSON-LD, microdata and RDFa."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from lxml import etree

from denoise_crawler.page.declarations import clean, declarations_of
from denoise_crawler.page.page import self_description_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from denoise_crawler.page.nodes import Element
    from denoise_crawler.page.page import Page

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
_COMMENTS = re.compile(r"(?:comment|review)$", re.IGNORECASE)
_STEPS = re.compile(r"howto(?:step|section|direction|tip)$", re.IGNORECASE)
_TEASED = re.compile(
    r"(?:article|blogposting|mediaposting|discussionforumposting|report|page|recipe|howto|creativework|blog)$",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"(?:schema:|https?://schema\.org/)")
_VISIBLE = etree.XPath("descendant-or-self::text()[not(parent::script or parent::style)]", smart_strings=False)


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
    said, found, left = page.once(self_description_of), list[DeclaredText](), _MOST_CHARACTERS
    if not (said.texts or said.scripts or any(meta.itemprop for meta in said.metas)):
        return ()
    for field, written in _written(page):
        if text := clean(written[:left]):
            found.append(DeclaredText(field, text))
            left -= len(text)
        if left <= 0:
            break
    return tuple(found)


def _written(page: Page) -> Iterator[tuple[int, str]]:
    said = page.once(self_description_of)
    if any("ld+json" in kind.lower() for kind, _ in said.scripts):
        yield from _of_items(page.once(declarations_of).items)
    for meta in said.metas:
        if meta.itemprop:
            field, _ = _meaning(meta.itemprop, NOTHING, ())
            if field >= 0:
                yield field, meta.content
    for names, element in said.texts:
        if (field := _field_of(names, element)) >= 0:
            yield field, element.get("content") or "".join(map(str, _all(element)))


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
                waiting.extend((one, field, within) for one in reversed(value[:left]))
            elif isinstance(value, dict) and id(value) not in seen:
                seen.add(id(value))
                waiting.extend(reversed(list(_inside(value, field, within))))


def _inside(item: dict[str, Any], field: int, within: int) -> Iterator[tuple[Any, int, int]]:
    """Yield the values of an item, each with the field of its strings and of what is in it."""
    types = _types(item.get("@type"))
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


def _types(kinds: Any) -> tuple[str, ...]:
    return tuple(kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(kind, str))


def _context(types: Iterable[str], within: int) -> int:
    """Return the field that a thing of some ``types`` is in, as it stands in a thing of another."""
    for kind in types:
        if _STEPS.search(kind):
            return STEP
        if _ANSWERS.search(kind):
            return ANSWER
        if _COMMENTS.search(kind) and (within >= 0 or not kind.endswith("Review")):
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
    above: Element | None = element.getparent()
    for _ in range(_MOST_LEVELS):
        if above is None:
            break
        if kinds := above.get("itemtype") or above.get("typeof"):
            types = tuple(kind.rpartition("/")[2].rpartition(":")[2] for kind in kinds.split())
            return types, _PREFIX.sub("", above.get("itemprop") or above.get("property") or "")
        above = above.getparent()
    return (), ""


def _all(element: Element) -> list[Any]:
    found: Any = _VISIBLE(element)
    return list(found)
