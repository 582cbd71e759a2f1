"""What type an item class declares for a field."""

from __future__ import annotations

import re
from collections.abc import MutableSequence, Sequence
from functools import lru_cache
from inspect import get_annotations
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

_LISTS = (list, Sequence, MutableSequence)
_LIST_BY_NAME = re.compile(r"\s*(\w+\.)*(list|List|Sequence|MutableSequence)\b")


@lru_cache(maxsize=1_024)
def takes_list(kind: type, name: str) -> bool:
    """Tell whether ``kind`` declares the field ``name`` as a list, or a list or None, and not as a string too.

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
    except Exception:  # a name that only type checkers import, in this or another field
        declared = next((found[name] for found in map(_annotations, kind.__mro__) if name in found), None)
    if isinstance(declared, str):
        return bool(_LIST_BY_NAME.match(declared))
    options = get_args(declared) if get_origin(declared) in (Union, UnionType) else (declared,)
    return all(each is type(None) or _is_list(each) for each in options) and declared is not None


def _annotations(kind: type) -> dict[str, Any]:
    try:
        return dict(get_annotations(kind))
    except Exception:  # Python 3.14 works them out when they are asked for
        return {}


def _is_list(declared: Any) -> bool:
    return (get_origin(declared) or declared) in _LISTS
