"""The kinds of values that settings of crawls take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from denoise_crawler.output.clean_page import CleanPage
from denoise_crawler.output.options import Kind, UnusableError, parse_dict, require


def _parse_fields(value: Any) -> dict[str, str]:
    found = dict[str, str]()
    for name, to in parse_dict(value).items():
        if name not in _PAGE_FIELDS:
            raise UnusableError(f"which names {name!r}")
        if not isinstance(to, str) or not to:
            raise UnusableError(f"which has {to!r} for {name!r}")
        found[name] = to
    return found


def _parse_classes(value: Any) -> tuple[type, ...]:
    return tuple(_load(path, "class", lambda found: isinstance(found, type)) for path in _parse_list(value))


def _load(path: Any, what: str, is_right: Callable[[Any], bool]) -> Any:
    try:
        found = load_object(path)
    except (ImportError, NameError, TypeError, ValueError) as error:
        raise UnusableError(f"where {path!r} cannot be loaded ({error})") from None
    if not is_right(found):
        raise UnusableError(f"where {path!r} is no {what}")
    return found


def _parse_list(value: Any) -> list[Any]:
    return BaseSettings({"": value}).getlist("")


def _parse_ports(value: Any) -> tuple[int, ...]:
    found = tuple(map(int, [value] if isinstance(value, int) else _parse_list(value)))
    in_order = len(found) in (1, 2) and list(found) == sorted(found)
    return require(found, in_order and all(0 <= port < 65_536 for port in found))


def _parse_local_folder(value: Any) -> str:
    path = str(value) if isinstance(value, str | Path) else ""
    if path and not Path(path).is_dir():
        raise UnusableError("which is no folder")
    return require(path, value == "" or bool(path))


_PAGE_FIELDS = CleanPage.__dataclass_fields__
FIELD_NAME = Kind(
    "the name of an item field", lambda value: require(str(value), isinstance(value, str) and value != "")
)
PAGE_FIELDS = Kind(f"a dict from any of {', '.join(_PAGE_FIELDS)} to the name of an item field", _parse_fields)
ITEM_CLASSES = Kind("a list of item classes or their import paths", _parse_classes)
SITE_FUNCTION = Kind(
    "a function from a URL to a site's name, or its import path",
    lambda value: cast("Callable[[str], str]", _load(value, "function", callable)),
)
FILE = Kind("the path of a file", Path)
LOCAL_FOLDER = Kind("a folder that is there", _parse_local_folder)
FOLDER = Kind("a folder or an address (s3://…)", lambda value: require(str(value), isinstance(value, str | Path)))
PORTS = Kind("a port, or to a list of the first and the last port to try", _parse_ports)
