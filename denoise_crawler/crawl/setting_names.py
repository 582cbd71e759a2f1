"""Warns of misspelt names of settings."""

from __future__ import annotations

import logging
from difflib import get_close_matches
from typing import TYPE_CHECKING

from denoise_crawler.crawl.settings_table import SETTINGS

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

PREFIX = "DENOISE_"
# Set by the demonstration, not by users.
INTERNAL = frozenset({"DENOISE_STATS_FILE"})


def warn_of_unknown(settings: BaseSettings) -> None:
    """Warn of each unknown setting that begins with ``DENOISE_``, and suggest the nearest name."""
    for name in sorted(name for name in settings if isinstance(name, str) and name.startswith(PREFIX)):
        if name not in SETTINGS and name not in INTERNAL:
            logger.warning("%s is not a setting of denoise_crawler and has no effect%s", name, _suggest(name))


def _suggest(name: str) -> str:
    """Return the question for the setting that was probably meant, an empty string if none is similar."""
    rests = {known.removeprefix(PREFIX): known for known in SETTINGS}
    nearest = get_close_matches(name.removeprefix(PREFIX), rests, n=1, cutoff=0.5)
    return f": did you mean {rests[nearest[0]]}?" if nearest else ""
