"""What stands in the attributes of elements that show a formula: a page without any of it shows none."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

MARKUP = frozenset({"math", "mjx-container"})
ADDRESS_HINTS = ("atex", "aTeX", "%5C", "%5c", "math", "Math", "imetex", "formula", "equation", "cht=tx", "exvc")
TEXT_HINTS = ("\\", "^", "$", "=", "_{")
_BY_TAG: dict[str, dict[str, tuple[str, ...]]] = {tag: {} for tag in MARKUP} | {
    "img": {"alt": TEXT_HINTS, "src": ADDRESS_HINTS, "class": ("ath", "tex", "equation")}
}
_OF_OTHERS = {
    "class": ("katex", "MathJax", "mwe-math", "hurmet-tex", "math-inline", "math-block", "math-display"),
    "data-math": ("",),
}


@lru_cache(maxsize=1)
def compiled_hints(core: Any) -> Any:
    """Return what looks for hints in the compiled ``core`` (its module ``attributes``)."""
    return core.Hints(_BY_TAG, _OF_OTHERS)
