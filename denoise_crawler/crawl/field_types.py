"""What type an item class declares for a field."""

from __future__ import annotations

import re
from collections.abc import MutableSequence, Sequence
from functools import lru_cache
from inspect import get_annotations
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

_LISTS = (list, Sequence, MutableSequence)
_LIST_ANNOTATION = re.compile(r"\s*(\w+\.)*(list|List|Sequence|MutableSequence)\b")


@lru_cache(maxsize=1_024)
def takes_list(kind: type, name: str) -> bool:
    """Tell whether a class declares a field as a list, or as a list or None.

    Args:
        kind: The class of an item.
        name: The name of a field.

    Returns:
        False also for a field that takes a string besides a list.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass
        ... class Product:
        ...     text: list[str] | None = None
        >>> takes_list(Product, "text")
        True
    """
    try:
        declared = get_type_hints(kind).get(name)
    except Exception:  # an annotation names something that only type checkers import
        declared = next((found[name] for found in map(_annotations, kind.__mro__) if name in found), None)
    if isinstance(declared, str):
        return bool(_LIST_ANNOTATION.match(declared))
    options = get_args(declared) if get_origin(declared) in (Union, UnionType) else (declared,)
    return all(each is type(None) or _is_list(each) for each in options) and declared is not None


def _annotations(kind: type) -> dict[str, Any]:
    try:
        return dict(get_annotations(kind))
    except Exception:  # Python 3.14 evaluates them here
        return {}


def _is_list(declared: Any) -> bool:
    return (get_origin(declared) or declared) in _LISTS
