"""CSS selectors as XPath."""

from __future__ import annotations

from typing import Any

from cssselect import SelectorError as CssError
from parsel.csstranslator import HTMLTranslator


class _Translator(HTMLTranslator):
    """Writes CSS as XPath; of ``h2 + p`` only the next element is looked at."""

    def xpath_direct_adjacent_combinator(self, left: Any, right: Any) -> Any:
        """Return ``left + right``."""
        right.add_name_test()
        condition, right.condition = right.condition, ""
        joined = left.join("/following-sibling::*[1]/self::", right)
        return joined.add_condition(condition) if condition else joined


def css_as_xpath(selector: str) -> str:
    """Return a CSS selector as XPath.

    Raises:
        ValueError: It is none; the message says where it is wrong.

    """
    try:
        return _Translator().css_to_xpath(selector)
    except CssError as error:
        raise ValueError(str(error)) from None
