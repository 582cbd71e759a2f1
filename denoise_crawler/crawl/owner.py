"""Whose items wait: those of one spider class of one project or script, and of no other."""

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
    """Return what tells the spider of ``crawler`` from all others that may use the same store.

    It names the project (the folder of its ``scrapy.cfg``; under scrapyd, which unpacks projects anywhere, the
    project's name; else the file of the spider), the bot, and the spider's class and name. A spider that is
    defined in the started script belongs to that script.
    """
    spider = crawler.spidercls
    path = f"{spider.__module__}.{spider.__qualname__}"
    return json.dumps([_project(spider), crawler.settings.get("BOT_NAME"), path, spider.name or ""])


def _project(spider: type[Spider]) -> str:
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
