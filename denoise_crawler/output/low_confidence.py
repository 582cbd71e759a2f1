"""What becomes of a page that is less sure than the user wants: marked, dropped, or written by another."""

from __future__ import annotations

import logging
import math
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from denoise_crawler.errors import ExtractorError, LowConfidenceError
from denoise_crawler.output import extractors
from denoise_crawler.page.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from denoise_crawler.page import Page

logger = logging.getLogger(__name__)

MARK, DROP, RENDER = ACTIONS = "mark", "drop", "render"


def check_low_confidence(minimum: float, action: str) -> None:
    """Raise LowConfidenceError unless ``minimum`` is a share and ``action`` can be done.

    Args:
        minimum: A page with a lower confidence is unsure.
        action: One of ``ACTIONS``, the name of an extractor, or a function as ``module:function``.

    Example:
        >>> check_low_confidence(0.8, "drop")
        >>> check_low_confidence(80, "drop")
        Traceback (most recent call last):
        denoise_crawler.errors.LowConfidenceError: the least confidence is 80: it can be 0 to 1
    """
    if not (isinstance(minimum, int | float) and math.isfinite(minimum) and 0 <= minimum <= 1):
        raise LowConfidenceError(f"the least confidence is {minimum!r}: it can be 0 to 1")
    if not isinstance(action, str):
        raise LowConfidenceError(f"{action!r} is no text: it can be {_choices()}")
    if action in extractors.EXTRACTORS:
        try:
            extractors.check(action, {})
        except ExtractorError as error:
            raise LowConfidenceError(str(error)) from None
    elif action not in ACTIONS:
        load_fallback(action)


def is_low(confidence: float | None, minimum: float) -> bool | None:
    """Tell whether a confidence is below the least; None if nothing is asked for, or the method cannot tell."""
    return confidence < minimum if minimum and confidence is not None else None


def is_fallback(action: str) -> bool:
    """Tell whether another writes the text of an unsure page."""
    return action not in ACTIONS


def load_fallback(action: str) -> Callable[[str, str], object]:
    """Return the function that ``action`` names; raise LowConfidenceError if there is none."""
    if ":" not in action and "." not in action:
        raise LowConfidenceError(f"{action!r} is not known: it can be {_choices()}")
    try:
        function = resolve_name(action)
    except (AttributeError, ImportError, ValueError) as error:
        raise LowConfidenceError(f"{action!r} cannot be loaded: {error}") from None
    if not callable(function):
        raise LowConfidenceError(f"{action!r} is no function from a URL and HTML to a text")
    return function  # type: ignore[no-any-return]


def fallback_text(page: Page, action: str) -> str:
    """Let an extractor or a function write the text of the whole ``page``; empty if it fails or has none."""
    if action in extractors.EXTRACTORS:
        return extractors.run_extractor(page, None, action, {})
    try:
        text = load_fallback(action)(page.url, page.markup)
    except Exception as error:  # a function of the user
        logger.info("%s failed on %s: %s: %s", action, printable(page.url), type(error).__name__, printable(error))
        return ""
    return text if isinstance(text, str) else ""


def _choices() -> str:
    return f"{', '.join((*ACTIONS, *extractors.EXTRACTORS))}, or a function as module:function"
