"""scrapy-poet: the page input ``CleanText``, which a page object asks for by its type.

``ADDONS = {"scrapy_poet.Addon": 300}`` and
``SCRAPY_POET_PROVIDERS = {"denoise_crawler.poet.CleanTextProvider": 500}``; the DENOISE_* settings hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import msgspec
from scrapy.http import Response

from denoise_crawler.crawl.setup_errors import abort_on_missing_extra
from denoise_crawler.crawl.source_page import response_origin, source_of_response
from denoise_crawler.crawl.warmup import Warmup
from denoise_crawler.output.clean_page import CleanPage

with abort_on_missing_extra("poet"):
    from scrapy_poet.page_input_providers import PageObjectInputProvider
    from web_poet.serialization import SerializedLeafData, register_serialization

_FIXTURE_FILE = "page.json"


@dataclass
class CleanText(CleanPage):
    """The clean page of a response, judged when it came: with what was known of its site until then.

    ``warm`` says whether the site was known. A page that cannot be judged (no HTML, empty) has no text.
    """

    def __str__(self) -> str:
        """Return the text."""
        return self.text


class CleanTextProvider(PageObjectInputProvider):
    """Gives page objects and callbacks their ``CleanText``, and learns each page it gives.

    With the add-on in force the pages are learned there.
    """

    provided_classes = {CleanText}  # noqa: RUF012 as scrapy-poet declares it
    name = "denoise_clean_text"

    def __init__(self, injector: Any) -> None:
        super().__init__(injector)  # type: ignore[no-untyped-call]
        self._crawler = injector.crawler
        self._warmup = Warmup.of(injector.crawler)

    # scrapy-poet reads the annotations: their names must be there when it runs
    def __call__(self, to_provide: set[Callable[..., Any]], response: Response) -> Sequence[CleanText]:  # noqa: ARG002
        """Return the clean text of ``response``."""
        warmup = self._warmup
        source = source_of_response(response, warmup.settings.site, response_origin(response, self._crawler))
        if warmup.outcomes.is_skipped(source) or source is None:
            return [CleanText(url=response.url, site=warmup.settings.site(response.url))]
        if not warmup.by_addon:
            warmup.learn(source)
        clean = CleanText(url=source.page.url, site=source.page.site)
        try:
            return [warmup.filler.fill(clean, warmup.clean(source).clean_page).item]
        except Exception:  # a mistake of ours must not cost the page object
            warmup.report_failure(source.page.url)
            return [clean]


def _written(clean: CleanText) -> SerializedLeafData:
    return {_FIXTURE_FILE: msgspec.json.encode(asdict(clean))}


def _read(kind: type[CleanText], data: SerializedLeafData) -> CleanText:
    return kind(**msgspec.json.decode(data[_FIXTURE_FILE]))


register_serialization(_written, _read)
