"""The one line: ``ADDONS = {"denoise_crawler.Addon": 300}``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from denoise_crawler.crawl.item_processor import WRAPPED_SETTING, FlushingItemProcessor
from denoise_crawler.crawl.middleware import WarmupMiddleware

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

MIDDLEWARE_ORDER = 100


class Addon:
    """Cleans the items of every spider of a project, as they are.

    It adds a spider middleware (an entry of the project's own for it wins) and wraps the item processor.
    """

    def update_settings(self, settings: BaseSettings) -> None:
        """Enable the components; values of the project and the spider win."""
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", WarmupMiddleware, MIDDLEWARE_ORDER)
        settings.set(WRAPPED_SETTING, settings["ITEM_PROCESSOR"], "addon")
        # what the project has set is wrapped, so nothing of it is lost by going above its priority
        priority = max(settings.getpriority("ITEM_PROCESSOR") or 0, 15)
        settings.set("ITEM_PROCESSOR", FlushingItemProcessor, priority)
