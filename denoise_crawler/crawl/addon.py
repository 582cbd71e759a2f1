"""The one line: ``ADDONS = {"denoise_crawler.Addon": 300}``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from denoise_crawler.crawl.middleware import WarmupMiddleware
from denoise_crawler.crawl.script_pages import ScriptPagesMiddleware

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

# Nearer to the engine than any middleware of a project: each of these sees an item once, with its own response.
MIDDLEWARE_ORDER = -1_000_000
SCRIPTS_ORDER = 90


class Addon:
    """Cleans the items of every spider of a project, as they are.

    It adds two spider middlewares; entries of the project's own for them win.
    """

    def update_settings(self, settings: BaseSettings) -> None:
        """Enable the components; values of the project and the spider win."""
        if not settings.getbool("DENOISE_ENABLED", True):
            return
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", WarmupMiddleware, MIDDLEWARE_ORDER)
        settings.setdefault_in_component_priority_dict("SPIDER_MIDDLEWARES", ScriptPagesMiddleware, SCRIPTS_ORDER)
        if settings.getbool("DENOISE_LIVE"):
            from denoise_crawler.crawl.live import LivePage  # brings the templates and the charts with it

            settings.setdefault_in_component_priority_dict("EXTENSIONS", LivePage, 0)
