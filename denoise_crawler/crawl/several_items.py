"""Items that go on in place of one: an item for each record of its page."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

from scrapy import Item

if TYPE_CHECKING:
    from collections.abc import Iterable


class SeveralItems(list[Any]):
    """Items that go on in place of one."""


def each_item(item: Any) -> Iterable[Any]:
    """Return the items that go on: those in place of ``item``, ``item`` itself, or none if it is None.

    Example:
        >>> list(each_item({"a": 1})), list(each_item(SeveralItems([1, 2]))), list(each_item(None))
        ([{'a': 1}], [1, 2], [])
    """
    if isinstance(item, SeveralItems):
        return item
    return () if item is None else (item,)


def copy_item(item: Any) -> Any:
    """Return a copy of an item with fields of its own."""
    return item.copy() if isinstance(item, dict | Item) else copy(item)
