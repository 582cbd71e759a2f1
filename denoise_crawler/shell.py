"""For the Scrapy shell: ``from denoise_crawler.shell import clean``, then ``clean(response)``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy.utils.project import get_project_settings

from denoise_crawler.crawl.pages import page_of_response
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.crawl.stored_denoiser import open_denoiser

if TYPE_CHECKING:
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from denoise_crawler.output.clean_page import CleanPage


def clean(response: Response, *, explain: bool = False, settings: BaseSettings | None = None) -> CleanPage:
    """Return the clean page of ``response``, with what earlier crawls of the project know of its site.

    ``settings`` are those of the project around the current folder, unless given. With ``explain`` the page says
    why each block was kept or dropped. Nothing is learned. Raises ValueError for what is no HTML page or a wrong
    setting, StoreError for a store that cannot be read.
    """
    chosen = DenoiseSettings.from_settings(get_project_settings() if settings is None else settings)
    page = page_of_response(response, chosen.site)
    if page is None:
        raise ValueError(f"{response.url} is no HTML page but {type(response).__name__}")
    writing = replace(chosen.writing, explain=explain or chosen.writing.explain)
    with open_denoiser(chosen.store if chosen.store.is_file() else None, chosen.choice, writing) as denoiser:
        method = denoiser.method_of(page)
        return denoiser.clean(page, warm=method.pages_known > 0, method=method).clean_page
