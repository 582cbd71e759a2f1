"""For the Scrapy shell: ``from denoise_crawler.shell import clean``, then ``clean(response)``."""

from __future__ import annotations

from dataclasses import replace

from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.utils.project import get_project_settings

from denoise_crawler.crawl.guarded_store import open_denoiser
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.crawl.source_page import page_of_response
from denoise_crawler.output.clean_page import CleanPage


def clean(response: Response, *, explain: bool = False, settings: BaseSettings | None = None) -> CleanPage:
    """Return the clean page of a response, judged by what earlier crawls of the project learned.

    Nothing is learned here.

    Args:
        response: The response.
        explain: Whether the page says why each block was kept or dropped.
        settings: Scrapy's settings; by default those of the project around the current folder.

    Returns:
        The clean page.

    Raises:
        ValueError: The response is no HTML page, or a setting is wrong.
        StoreError: The store cannot be read.

    Example:
        >>> from scrapy.http import HtmlResponse
        >>> html = b"<title>A walk</title><article><p>We went along the river until the sun set.</p></article>"
        >>> clean(HtmlResponse("https://example.com/walk", body=html, encoding="utf-8")).title
        'A walk'
    """
    checked = DenoiseSettings.from_settings(get_project_settings() if settings is None else settings)
    page = page_of_response(response, checked.site)
    if page is None:
        raise ValueError(f"{response.url} is no HTML page but {type(response).__name__}")
    cleaning = checked.cleaning()
    if explain:
        cleaning = replace(cleaning, writing=replace(cleaning.writing, explain=True))
    store = checked.store if checked.store.is_file() else None
    with open_denoiser(store, cleaning) as denoiser:
        method = denoiser.method_for_page(page)
        return denoiser.clean(page, warm=method.pages_known > 0, method=method).clean_page
