"""Identifies the owner of waiting items: one spider class of one project or script."""

from __future__ import annotations

import inspect
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.utils.conf import closest_scrapy_cfg

from denoise_crawler.crawl.started_script import MAIN, started_script

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler


def owner_of(crawler: Crawler) -> str:
    """Return a string that tells the spider of ``crawler`` from all others that may use the same store.

    It holds the project, the bot name, and the class and name of the spider. The project is the folder of
    ``scrapy.cfg``. Under scrapyd, which unpacks projects anywhere, it is the project's name; without a project it
    is the file of the spider. A spider defined in the started script belongs to that script.
    """
    spider = crawler.spidercls
    path = f"{spider.__module__}.{spider.__qualname__}"
    return json.dumps([_project_of(spider), crawler.settings.get("BOT_NAME"), path, spider.name or ""])


def _project_of(spider: type[Spider]) -> str:
    if spider.__module__ == MAIN:
        return started_script()
    if config := closest_scrapy_cfg():
        return str(Path(config).resolve().parent)
    if project := os.environ.get("SCRAPY_PROJECT"):
        return f"project {project}"
    try:
        return str(Path(inspect.getfile(spider)).resolve())
    except (OSError, TypeError):
        return started_script()
