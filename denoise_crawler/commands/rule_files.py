"""The site rules that a command obeys."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from denoise_crawler.errors import RulesError
from denoise_crawler.page.text import printable
from denoise_crawler.rules import SiteRules

if TYPE_CHECKING:
    from denoise_crawler.crawl.settings import DenoiseSettings


def rules_of(chosen: DenoiseSettings) -> SiteRules:
    """Return the rules of DENOISE_SITE_RULES; print what is wrong in them. Raise UsageError if it is no folder."""
    try:
        rules = SiteRules.read(chosen.site_rules)
    except RulesError as error:
        raise UsageError(str(error), print_help=False) from None
    for problem in rules.problems:
        print(printable(problem), file=sys.stderr)
    return rules
