"""A MkDocs hook: a link from the documentation to another file of the repository is shown as its name.

On a page of the repository the link works; on the site there is nothing it could lead to.
"""

from __future__ import annotations

import re
from typing import Any

_LINK_OUT = re.compile(r"\[`?([^\]`]+)`?\]\(\.\./[^)]*\)")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Return the page's text with such links as their words."""
    return _LINK_OUT.sub(r"\1", markdown)
