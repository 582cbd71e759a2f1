"""What users of the pipelines get wrong, said once each."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from scrapy.utils.conf import build_component_list
from scrapy.utils.misc import load_object

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from denoise_crawler.crawl.settings import DenoiseSettings

logger = logging.getLogger(__name__)

_LEARNS, _CLEANS = "denoise_crawler.pipelines.StyleTreePipeline", "denoise_crawler.pipelines.DenoisePipeline"
_BEGINNING = 2_000  # characters in which a page shows that it is one


def check_order(settings: BaseSettings) -> None:
    """Warn where one of the two pipelines is missing, or they stand in the wrong order."""
    enabled = build_component_list(settings.get_component_priority_dict_with_base("ITEM_PIPELINES"))
    places = [load_object(component) for component in enabled]
    learns, cleans = (
        [place for place, kind in enumerate(places) if _is(kind, load_object(name))] for name in (_LEARNS, _CLEANS)
    )
    if not cleans:
        logger.warning("%s is enabled without %s: only items that wait get text. Enable both.", _LEARNS, _CLEANS)
    elif not learns:
        logger.warning(
            "%s is enabled without %s: no page is learned, and each is judged by what the store knows already. "
            "Enable both.",
            *(_CLEANS, _LEARNS),
        )
    elif learns[0] > cleans[0]:
        logger.warning(
            "%s stands behind %s: pages are judged before they are learned. Give it the lower number.",
            _LEARNS,
            _CLEANS,
        )


class ItemAdvice:
    """Looks at the items until something is wrong with one."""

    def __init__(self, settings: DenoiseSettings) -> None:
        self._html_field, self._url_field = settings.html_field, settings.url_field
        self._said_no_address = self._said_no_html = False

    def has_no_address(self, item: Any) -> None:
        """Note that an item has HTML and no address."""
        if self._said_no_address:
            return
        self._said_no_address = True
        logger.warning(
            "%s items have HTML in %r and no address in %r: pages without an address are taken for one site, and "
            "for one page. Add the address, or name the field that has it in DENOISE_URL_FIELD.",
            *(type(item).__qualname__, self._html_field, self._url_field),
        )

    def has_no_html(self, item: Any) -> None:
        """Note that an item has nothing in the HTML field: perhaps it stands in another."""
        if self._said_no_html:
            return
        for name, value in _fields_of(item):
            if isinstance(value, str | bytes) and _is_page(value):
                self._said_no_html = True
                logger.warning(
                    "%s items have a page in %r, but nothing in %r: set DENOISE_HTML_FIELD = %r.",
                    *(type(item).__qualname__, name, self._html_field, name),
                )
                return


def _is(kind: Any, ours: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, ours)


def _fields_of(item: Any) -> list[tuple[str, Any]]:
    """Return the fields of ``item`` with their values, as far as it can be read; pipelines get anything."""
    try:
        return list(ItemAdapter(item).items())
    except (AttributeError, TypeError):
        return []


def _is_page(value: str | bytes) -> bool:
    begin = value[:_BEGINNING]
    text = begin.decode("latin-1") if isinstance(begin, bytes) else begin
    return text.lstrip("\ufeff \n\r\t").startswith("<") and any(
        tag in text.lower() for tag in ("<html", "<head", "<body")
    )
