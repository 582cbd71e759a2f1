"""Writing a clean page into a user's item."""

from __future__ import annotations

import logging
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter

from denoise_crawler.clean_page import CleanPage

if TYPE_CHECKING:
    from denoise_crawler.crawl.settings import DenoiseSettings

logger = logging.getLogger(__name__)


class Filler:
    """Fills items by the field names of the settings; what the item has already is left as it is."""

    def __init__(self, settings: DenoiseSettings) -> None:
        self._html_field = settings.html_field
        self._url_field = settings.url_field
        self._targets = {"text": settings.text_field, **settings.extra_fields}
        self._own = {field.name: field.name for field in fields(CleanPage)}
        self._refused: set[type] = set()

    def html_of(self, item: Any) -> str | bytes | None:
        """Return the HTML that ``item`` carries in its field, None without any."""
        html = self._value(item, self._html_field)
        return html if isinstance(html, (str, bytes)) and html else None

    def url_of(self, item: Any) -> str:
        """Return the address that ``item`` carries in its field."""
        url = self._value(item, self._url_field)
        return url if isinstance(url, str) else ""

    def fill(self, item: Any, page: CleanPage) -> bool:
        """Set the empty fields of ``item`` from ``page``; return whether there is a place for the text."""
        adapter = ItemAdapter(item)
        targets = self._own if isinstance(item, CleanPage) else self._targets
        filled = False
        for source, target in targets.items():
            if self._value(item, target) not in (None, ""):
                filled = filled or source == "text"
                continue
            try:
                adapter[target] = getattr(page, source)
                filled = filled or source == "text"
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                self._refuse(type(item), source, target, error)
        return filled

    def _value(self, item: Any, name: str) -> Any:
        try:
            return ItemAdapter(item).get(name)
        except (AttributeError, TypeError):  # a field that was never set, not an item
            return None

    def _refuse(self, kind: type, source: str, target: str, error: Exception) -> None:
        if kind in self._refused:
            return
        self._refused.add(kind)
        setting = "DENOISE_TEXT_FIELD" if source == "text" else "DENOISE_EXTRA_FIELDS"
        logger.error(
            "%s items have no field %r for the clean %s (%s): add it to the class, or name another field in %s. "
            "Their items go on without it.",
            kind.__qualname__,
            target,
            source,
            error,
            setting,
        )
