"""The names of all settings, to warn of a misspelt one."""

from __future__ import annotations

import logging
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

PREFIX = "DENOISE_"
SETTINGS = frozenset(
    PREFIX + name
    for name in (
        *("ENABLED", "SKIP_ITEMS", "WARMUP_SECONDS", "PART_FIELD"),
        *(
            "TITLE",
            "COMMENTS",
            "FAVOUR",
            "METHOD",
            "METHOD_OPTIONS",
            "WARMUP_PAGES",
            "SHORT_SITES",
            "SITE",
            "STORE",
            "SHARED_STORE",
        ),
        *("SITES_IN_MEMORY", "HTML_FIELD", "URL_FIELD", "TEXT_FIELD", "EXTRA_FIELDS", "FORM", "EXPLAIN"),
        *("EXTRACTOR", "EXTRACTOR_OPTIONS", "LIVE", "LIVE_PORT"),
        *("DELAY_MIN", "DELAY_MAX", "DELAY_SEED", "RETRY_AFTER_MAX"),
        *("CRAWL_DELAY_MAX", "ROBOTS_RETRY", "ROBOTS_UNREACHABLE"),
        *("RENDER", "RENDER_WAIT"),
        *("MONITOR_NOISE_MIN", "MONITOR_NOISE_MAX", "MONITOR_UNREAD_MAX"),
    )
)
# Set by the demonstration, not by users.
INTERNAL = frozenset({"DENOISE_STATS_FILE"})


def warn_of_unknown(settings: BaseSettings) -> None:
    """Warn of each unknown setting that begins with ``DENOISE_``, and suggest the nearest name."""
    for name in sorted(name for name in settings if isinstance(name, str) and name.startswith(PREFIX)):
        if name not in SETTINGS | INTERNAL:
            logger.warning("%s is not a setting of denoise_crawler and has no effect%s", name, _suggest(name))


def _suggest(name: str) -> str:
    """Return the question for the setting that was probably meant, an empty string if none is similar."""
    rests = {known.removeprefix(PREFIX): known for known in SETTINGS}
    nearest = get_close_matches(name.removeprefix(PREFIX), rests, n=1, cutoff=0.5)
    return f": did you mean {rests[nearest[0]]}?" if nearest else ""
