"""Writing a clean page into a user's item."""

from __future__ import annotations

import dataclasses
import logging
import sys
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter

from denoise_crawler.crawl.field_types import takes_list
from denoise_crawler.crawl.unparkable import OncePerClass
from denoise_crawler.errors import PartError
from denoise_crawler.output.clean_page import CleanPage

if TYPE_CHECKING:
    from denoise_crawler.crawl.settings import DenoiseSettings

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Filled:
    """What became of an item.

    Attributes:
        item: The item to go on with: the same one, or a filled copy if its class is frozen.
        has_text: The item has a place for the text, whether it had its own or got ours.
        wrote: We wrote the text.

    """

    item: Any
    has_text: bool
    wrote: bool


class Filler:
    """Fills items by the field names of the settings; what the item has already is left as it is."""

    def __init__(self, settings: DenoiseSettings) -> None:
        self._html_field = settings.html_field
        self._url_field = settings.url_field
        self._part_field = settings.part_field
        self._targets = {"text": settings.text_field, **settings.extra_fields}
        self._own = {field.name: field.name for field in fields(CleanPage)}
        self._refusals = OncePerClass()

    def html_of(self, item: Any) -> str | bytes | None:
        """Return the HTML that ``item`` carries in its field, None without any."""
        html = self._value(item, self._html_field)
        return html if isinstance(html, (str, bytes)) and html else None

    def url_of(self, item: Any) -> str:
        """Return the address that ``item`` carries in its field."""
        url = self._value(item, self._url_field)
        return url if isinstance(url, str) else ""

    def part_of(self, item: Any) -> str:
        """Return which part of its page ``item`` says is its own: a selector or HTML; empty for the whole page.

        Raises:
            PartError: it is something else.
        """
        part = self._value(item, self._part_field)
        if part is None or isinstance(part, str):
            return part or ""
        raise PartError(f"{self._part_field!r} of {type(item).__qualname__} items is no text: {part!r:.100}")

    def has_text(self, item: Any) -> bool:
        """Tell whether ``item`` has a text already."""
        return not _is_empty(self._value(item, self._targets_of(item)["text"]))

    def can_fill(self, item: Any) -> bool:
        """Tell whether ``item`` has an empty field to fill; say once if its class has none for the text."""
        targets = self._targets_of(item)
        names = None if isinstance(item, dict) else set(ItemAdapter(item).field_names())
        if any(_is_empty(self._value(item, to)) for to in targets.values() if names is None or to in names):
            return True
        if names is not None and targets["text"] not in names:
            self._refused(item, "text", targets["text"], KeyError(targets["text"]))
        return False

    def _targets_of(self, item: Any) -> dict[str, str]:
        return self._own if isinstance(item, CleanPage) else self._targets

    def fill(self, item: Any, clean_page: CleanPage) -> Filled:
        """Set the empty fields of ``item`` from ``clean_page``: those that are None, an empty string or list.

        A field that holds an empty list, or is declared as a list, gets a list. If the class takes no value, one
        error in the log says so, and the item goes on without it.

        Args:
            item: An item of any kind.
            clean_page: What its page says.

        Returns:
            The item to go on with, and whether it has text.

        """
        has_text = wrote = False
        for source, target in self._targets_of(item).items():
            before = self._value(item, target)
            taken = not _is_empty(before)
            if not taken:
                value = _fitting(getattr(clean_page, source), type(item), target, before)
                try:
                    item = _with(item, target, value)
                    taken = True
                    wrote = wrote or source == "text"
                except Exception as error:  # setters and validators are strangers': they may raise anything
                    self._refused(item, source, target, error)
            has_text = has_text or (taken and source == "text")
        return Filled(item, has_text, wrote)

    def _value(self, item: Any, name: str) -> Any:
        if type(item) is dict:  # most are
            return item.get(name)
        try:
            return ItemAdapter(item).get(name)
        except (AttributeError, TypeError):  # a field that was never set, not an item
            return None

    def _refused(self, item: Any, source: str, target: str, error: Exception) -> None:
        if not self._refusals.is_first(type(item)):
            return
        setting = "DENOISE_TEXT_FIELD" if source == "text" else "DENOISE_EXTRA_FIELDS"
        known = target in ItemAdapter(item).field_names()
        message = (
            "%s items do not take the clean %s in their field %r (%s): change the class, or name another field in "
            "%s. Their items go on without it."
            if known
            else "%s items have no field %r for the clean %s (%s): add it to the class, or name another field in "
            "%s. Their items go on without it."
        )
        named = (source, target) if known else (target, source)
        say = logger.error if known else logger.warning  # a class without the field may be meant so
        say(message, type(item).__qualname__, *named, " ".join(str(error).split()), setting)


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, (str, list)) and not value)


def _fitting(value: Any, kind: type, name: str, before: Any) -> Any:
    """Return ``value`` as a list where the field wants one; what the field has where there is no value."""
    if isinstance(value, list) or not (isinstance(before, list) or takes_list(kind, name)):
        return value
    return before if value in (None, "") else [value]


def _with(item: Any, name: str, value: Any) -> Any:
    """Return ``item`` with the field set; if it is frozen a copy. Raise what its class raises."""
    try:
        ItemAdapter(item)[name] = value
    except Exception as error:
        if _is_frozen_model(item, name):
            copied = item.model_copy if hasattr(item, "model_copy") else item.copy
            return copied(update={name: value})
        if not _says_frozen(error):
            raise
    else:
        return item
    return _replaced(item, name, value)


def _says_frozen(error: Exception) -> bool:
    if isinstance(error, dataclasses.FrozenInstanceError):
        return True
    attr = sys.modules.get("attr")
    return attr is not None and isinstance(error, attr.exceptions.FrozenError)


def _is_frozen_model(item: Any, name: str) -> bool:
    """Tell whether ``item`` is a pydantic model, of version 2 or 1, that lets nobody set the field."""
    kind = type(item)
    if hasattr(kind, "model_copy"):
        field = kind.model_fields.get(name)
        return field is not None and bool(kind.model_config.get("frozen") or field.frozen)
    config = getattr(kind, "__config__", None)
    return name in getattr(kind, "__fields__", {}) and (
        getattr(config, "frozen", False) or not getattr(config, "allow_mutation", True)
    )


def _replaced(item: Any, name: str, value: Any) -> Any:
    """Return a copy of a frozen dataclass or attrs object with one field set, made as its class makes objects.

    All else is as in ``item``: what the class works out anew, as a time or a number, is put back.
    """
    if dataclasses.is_dataclass(item):
        copy = dataclasses.replace(item, **{name: value})  # type: ignore[type-var]
    else:
        attr = sys.modules["attr"]
        argument = attr.fields_dict(type(item))[name]
        copy = attr.evolve(item, **{getattr(argument, "alias", None) or name.lstrip("_"): value})
    for other, kept in {**getattr(item, "__dict__", {}), **ItemAdapter(item)}.items():
        if other != name and getattr(copy, other, None) is not kept:
            object.__setattr__(copy, other, kept)
    return copy
