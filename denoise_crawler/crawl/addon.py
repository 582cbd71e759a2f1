"""The one line: ``ADDONS = {"denoise_crawler.Addon": 300}``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from denoise_crawler.crawl.item_processor import WRAPPED_SETTING, FlushingItemProcessor
from denoise_crawler.crawl.middleware import WarmupMiddleware
from denoise_crawler.crawl.script_pages import ScriptPagesMiddleware

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

MIDDLEWARE_ORDER = 100
SCRIPTS_ORDER = 90


class Addon:
    """Cleans the items of every spider of a project, as they are.

    It adds two spider middlewares (entries of the project's own for them win) and wraps the item processor.
    """

    def update_settings(self, settings: BaseSettings) -> None:
        """Enable the components; values of the project and the spider win."""
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", WarmupMiddleware, MIDDLEWARE_ORDER)
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", ScriptPagesMiddleware, SCRIPTS_ORDER)
        settings.set(WRAPPED_SETTING, settings["ITEM_PROCESSOR"], "addon")
        # what the project has set is wrapped, so nothing of it is lost by going above its priority
        priority = max(settings.getpriority("ITEM_PROCESSOR") or 0, 15)
        settings.set("ITEM_PROCESSOR", FlushingItemProcessor, priority)
        if settings.getbool("DENOISE_LIVE"):
            from denoise_crawler.crawl.live import LivePage  # brings the templates and the charts with it

            settings.setdefault_in_component_priority_dict("EXTENSIONS", LivePage, 0)
