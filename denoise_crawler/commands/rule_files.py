"""The site rules that a command obeys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from denoise_crawler.commands.known_site import read_rules
from denoise_crawler.errors import RulesError

if TYPE_CHECKING:
    from denoise_crawler.crawl.settings import DenoiseSettings
    from denoise_crawler.rules import SiteRules


def rules_of(chosen: DenoiseSettings) -> SiteRules:
    """Return the rules of DENOISE_SITE_RULES; print what is wrong in them. Raise UsageError if it is no folder."""
    try:
        return read_rules(chosen.site_rules)
    except RulesError as error:
        raise UsageError(str(error), print_help=False) from None
