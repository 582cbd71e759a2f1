"""For scrapy-poet: the page input ``CleanText``, which a page object requests by its type.

Set ``ADDONS = {"scrapy_poet.Addon": 300}`` and
``SCRAPY_POET_PROVIDERS = {"denoise_crawler.contrib.poet.CleanTextProvider": 500}``; the DENOISE_* settings apply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import msgspec
from scrapy.http import Response

from denoise_crawler.crawl.crawl_denoiser import CrawlDenoiser
from denoise_crawler.crawl.settings import abort_on_missing_extra
from denoise_crawler.output.clean_page import CleanPage

with abort_on_missing_extra("poet"):
    from scrapy_poet.page_input_providers import PageObjectInputProvider
    from web_poet.serialization import SerializedLeafData, register_serialization

_FIXTURE_FILE = "page.json"


@dataclass
class CleanText(CleanPage):
    """The clean page of a response. It is judged at once, by what is known of its site at that time.

    ``warm`` says whether the site was known. A page that cannot be judged (no HTML, empty) has no text.
    """

    def __str__(self) -> str:
        """Return the text."""
        return str(self.text)


class CleanTextProvider(PageObjectInputProvider):
    """Gives page objects and callbacks their ``CleanText``, and learns each page that it gives.

    If the add-on is enabled, the add-on learns the pages.
    """

    provided_classes = {CleanText}  # noqa: RUF012 as scrapy-poet declares it
    name = "denoise_clean_text"

    def __init__(self, injector: Any) -> None:
        super().__init__(injector)  # type: ignore[no-untyped-call]
        self._denoiser = CrawlDenoiser.of(injector.crawler)

    # scrapy-poet evaluates these annotations, so their names must exist at run time.
    async def __call__(self, to_provide: set[Callable[..., Any]], response: Response) -> Sequence[CleanText]:  # noqa: ARG002
        """Return the clean text of ``response``."""
        denoiser = self._denoiser
        source = denoiser.pages_of(response).of({})
        if source is None or not source.has_page or denoiser.is_skipped(source):
            denoiser.report.count("untouched", int(source is None or not source.has_page))
            return [CleanText(url=response.url, site=denoiser.settings.site(response.url))]
        if not denoiser.by_addon:
            denoiser.learn(source)
        denoiser.sites.clean(source)
        clean = CleanText(url=source.page.url, site=source.page.site)
        if source.cleaned is None:
            clean.error = source.error
            return [clean]
        try:
            return [denoiser.writer.fill(clean, source.cleaned.clean_page).item]
        except Exception:  # a bug must not cost the page object
            denoiser.report.page_failed(source.page.url)
            return [clean]


def _serialize(clean: CleanText) -> SerializedLeafData:
    return {_FIXTURE_FILE: msgspec.json.encode(asdict(clean))}


def _deserialize(kind: type[CleanText], data: SerializedLeafData) -> CleanText:
    return kind(**msgspec.json.decode(data[_FIXTURE_FILE]))


register_serialization(_serialize, _deserialize)
