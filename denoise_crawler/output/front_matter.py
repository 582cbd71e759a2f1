"""YAML front matter: what a page says of itself, before its Markdown."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from denoise_crawler.output.clean_page import CleanPage

_FIELDS = (
    *("title", "author", "date", "modified", "url", "canonical_url", "site_name", "language", "page_type"),
    *("confidence", "description", "image", "tags"),
)
_NOT_PRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")  # of YAML 1.1, beyond JSON's


def front_matter(page: CleanPage) -> str:
    r"""Return the metadata of a page as YAML between two lines of dashes, ending with an empty line.

    Fields without a value are left out. Each value is written as in JSON, which YAML reads.

    Example:
        >>> from denoise_crawler import CleanPage
        >>> print(front_matter(CleanPage(url="https://a.test/", title='The "end"', confidence=0.9)), end="")
        ---
        title: "The \"end\""
        url: "https://a.test/"
        confidence: 0.9
        ---
        <BLANKLINE>

    """
    values = ((name, getattr(page, name, None)) for name in _FIELDS)
    lines = [f"{name}: {_value(value)}" for name, value in values if value not in (None, "")]
    return "\n".join(["---", *lines, "---", "", ""])


def _value(value: object) -> str:
    if isinstance(value, float):
        value = round(value, 4)  # a very small one would be written in a way that YAML reads as text
    written = json.dumps(value, ensure_ascii=False)
    return _NOT_PRINTABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", written)
