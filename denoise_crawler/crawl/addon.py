"""The Scrapy add-on: ``ADDONS = {"denoise_crawler.Addon": 300}``."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import scrapy
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from denoise_crawler.crawl.middleware import WarmupMiddleware
from denoise_crawler.crawl.scrapy_internals import ignores_start_requests
from denoise_crawler.crawl.script_pages import SCRIPT_PAGES_ORDER, ScriptPagesMiddleware
from denoise_crawler.crawl.settings import DenoiseSettings, is_live, is_off
from denoise_crawler.crawl.setup_errors import abort_on_missing_extra, is_scrapy_command

if TYPE_CHECKING:
    from typing_extensions import Self

logger = logging.getLogger(__name__)

# Nearer to the engine than any middleware of a project, so that these see each item once, with its own response.
MIDDLEWARE_ORDER = -1_000_000


class Addon:
    """Fills the items of every spider of a project with clean text.

    It adds two spider middlewares. If the project configures them itself, its values win.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the add-on; warn if this version of Scrapy ignores how the spider starts."""
        spider = crawler.spidercls
        if ignores_start_requests(spider):
            logger.warning(
                "%s starts by start_requests, which Scrapy %s never calls: it may crawl nothing. Write "
                "`async def start(self)` in its place, or stay with an older Scrapy: pip install 'scrapy<2.16'",
                spider.__qualname__,
                scrapy.__version__,
            )
        return cls()

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Check the settings of a script as soon as it makes its CrawlerProcess.

        The ``scrapy`` command can still change settings afterwards; there they are checked when the crawl begins.

        Raises:
            SettingError: A setting is wrong.
        """
        if not is_scrapy_command():
            DenoiseSettings.from_settings(settings)

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the components. Values of the project and the spider win."""
        if is_off(settings):
            return
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", WarmupMiddleware, MIDDLEWARE_ORDER)
        settings.setdefault_in_component_priority_dict(
            "SPIDER_MIDDLEWARES", ScriptPagesMiddleware, SCRIPT_PAGES_ORDER
        )
        if is_live(settings):
            with abort_on_missing_extra("commands"):  # jinja2, for its templates
                from denoise_crawler.crawl.live import LivePage

            settings.setdefault_in_component_priority_dict("EXTENSIONS", LivePage, 0)
