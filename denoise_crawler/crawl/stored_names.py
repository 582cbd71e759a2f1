"""The names by which a store knows scripts, spiders and classes of items, and where items keep what they hold."""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections import OrderedDict
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from pathlib import Path
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any
from weakref import getweakrefcount

from itemadapter import ItemAdapter
from scrapy import Item, Spider
from scrapy.crawler import Crawler
from scrapy.utils.conf import closest_scrapy_cfg
from scrapy.utils.trackref import object_ref

from denoise_crawler.crawl.stored_values import UnstorableError, class_path
from denoise_crawler.errors import UnparkableError

# --- the script that was started, to which the classes of __main__ belong

MAIN = "__main__"


def started_script() -> str:
    """Return the path of the started script, an empty string in an interactive session."""
    file = getattr(sys.modules.get(MAIN), "__file__", None)
    return _resolve(file) if file else ""


@lru_cache(maxsize=8)
def _resolve(file: str) -> str:
    return str(Path(file).resolve())


# --- the owner of waiting items


def owner_of(crawler: Crawler) -> str:
    """Return a string that tells the spider of ``crawler`` from all others that may use the same store.

    It holds the project, the bot name, and the class and name of the spider. The project is the folder of
    ``scrapy.cfg``. Under scrapyd, which unpacks projects anywhere, it is the project's name; without a project it
    is the file of the spider. A spider defined in the started script belongs to that script.
    """
    spider = crawler.spidercls
    path = f"{spider.__module__}.{spider.__qualname__}"
    return json.dumps([_project_of(spider), crawler.settings.get("BOT_NAME"), path, spider.name or ""])


def _project_of(spider: type[Spider]) -> str:
    if spider.__module__ == MAIN:
        return started_script()
    if config := closest_scrapy_cfg():
        return str(Path(config).resolve().parent)
    if project := os.environ.get("SCRAPY_PROJECT"):
        return f"project {project}"
    try:
        return str(Path(inspect.getfile(spider)).resolve())
    except (OSError, TypeError):
        return started_script()


# --- the classes of items

# In processes that multiprocessing spawns, the script has the second name.
_SCRIPTS = (MAIN, "__mp_main__")
_CONTENT_TYPES = (OrderedDict, dict, tuple)


@dataclass(frozen=True)
class ItemClass:
    """How to take instances of one class apart and put them together without running code of the class.

    Attributes:
        kind: The class.
        name: Its module and qualified name; for a class of the started script also the path of the script.
        slots: Its slots by name.
        attributes: The descriptor of ``__dict__``, None if instances have none.
        content_type: The built-in type it extends: OrderedDict, dict, tuple or None.
        weak_references: How many weak references every new instance has.
    """

    kind: type
    name: list[str]
    slots: dict[str, MemberDescriptorType]
    attributes: GetSetDescriptorType | None
    content_type: Any
    weak_references: int

    def new(self, content: Any) -> Any:
        """Return an instance with the pairs of a dict or the values of a tuple, without attributes."""
        if self.content_type is tuple:
            return tuple.__new__(self.kind, content)
        if issubclass(self.kind, Item):
            return Item.__new__(self.kind)
        if self.content_type is None:
            return object.__new__(self.kind)
        instance = self.content_type.__new__(self.kind)
        for name, value in content:
            self.content_type.__setitem__(instance, name, value)
        return instance

    def attributes_of(self, instance: Any) -> dict[Any, Any] | None:
        """Return the instance's ``__dict__``, None if it has none."""
        return None if self.attributes is None else self.attributes.__get__(instance, self.kind)

    def slots_of(self, instance: Any) -> dict[str, Any]:
        """Return the values of the slots that are set."""
        found = {}
        for name, slot in self.slots.items():
            try:
                found[name] = slot.__get__(instance, self.kind)
            except AttributeError:  # not set
                continue
        return found

    def set_state(self, instance: Any, attributes: dict[Any, Any], slots: dict[Any, Any]) -> None:
        """Give ``instance`` its state; raise UnparkableError if its class no longer has a place for it."""
        try:
            if attributes:
                known = self.attributes_of(instance)
                known.update(attributes)  # type: ignore[union-attr]
            for name, value in slots.items():
                self.slots[name].__set__(instance, value)
        except (AttributeError, KeyError, TypeError) as error:
            path = class_path(self.kind)
            raise UnparkableError(f"an item of class {path} waits, which is not as it was: {error}") from error

    def is_watched(self, instance: Any) -> bool:
        """Return True if somebody holds a weak reference to ``instance``; a copy would not be reached by it."""
        return getweakrefcount(instance) > self.weak_references


def describe_item_class(kind: type) -> ItemClass:
    """Return how instances of ``kind`` are stored; raise UnstorableError if they cannot be stored."""
    known = _describe(kind)
    _check_importable(kind, known.name)
    return known


def enum_name(kind: type) -> list[str]:
    """Return the stored name of an enumeration; raise UnstorableError if that name does not lead to it."""
    name = _stored_name(kind)
    _check_importable(kind, name)
    return name


def load_item_class(name: list[str]) -> ItemClass:
    """Return the class with a stored name; raise UnparkableError if it is gone or no class of items."""
    kind = _load_named(name)
    if not isinstance(kind, type) or not _is_data(kind):
        raise UnparkableError(f"{'.'.join(name[:2])} is not an item class")
    try:
        return _describe(kind)
    except UnstorableError as error:
        raise UnparkableError(str(error)) from error


def load_enum(name: list[str]) -> type[Enum]:
    """Return the enumeration with a stored name; raise UnparkableError if it is gone."""
    kind = _load_named(name)
    if not (isinstance(kind, type) and issubclass(kind, Enum)):
        raise UnparkableError(f"{'.'.join(name[:2])} is not an enumeration")
    return kind


def find_class(name: list[str]) -> Any:
    """Return the class with a stored name, None if there is none.

    No module is imported that the program has not loaded, and no module's ``__getattr__`` runs.

    Args:
        name: Module, qualified name and, for a class of the started script, the path of the script.

    Raises:
        LookupError: The module is not loaded, or belongs to another script.
    """
    module_name, qualified, *script = name
    if module_name in _SCRIPTS and script != [started_script()]:
        raise LookupError(f"it belongs to the script {''.join(script)}; start that one again")
    module = sys.modules.get(module_name)
    if module is None:
        raise LookupError("its module is not loaded; import it in the spider")
    found: Any = module
    for part in qualified.split("."):
        found = vars(found).get(part) if found is module or isinstance(found, type) else None
    return found


def _load_named(name: list[str]) -> Any:
    path = ".".join(name[:2])
    try:
        found = find_class(name)
    except LookupError as error:
        raise UnparkableError(
            f"an item of class {path} waits, but it is not available: {error.args[0]}"
        ) from error
    if found is None:
        raise UnparkableError(f"an item of class {path} waits, but the class no longer exists")
    return found


def _check_importable(kind: type, name: list[str]) -> None:
    try:
        found = find_class(name)
    except LookupError:
        found = None
    if found is not kind:
        raise UnstorableError(f"is of class {class_path(kind)}, which is not found by that name")


def _stored_name(kind: type) -> list[str]:
    if kind.__module__ not in _SCRIPTS:
        return [kind.__module__, kind.__qualname__]
    script = started_script()
    if not script:
        raise UnstorableError(f"is of class {class_path(kind)}, which was typed in: no later run can find it")
    return [MAIN, kind.__qualname__, script]


def _is_data(kind: type) -> bool:
    """Return True if ``kind`` is a class of items or of named tuples."""
    return ItemAdapter.is_item_class(kind) or (issubclass(kind, tuple) and hasattr(kind, "_fields"))


@lru_cache(maxsize=256)
def _describe(kind: type) -> ItemClass:
    if not _is_data(kind):
        raise UnstorableError(f"is a {class_path(kind)}, which cannot be stored")
    if hasattr(kind, "__del__"):
        raise UnstorableError(f"is of class {class_path(kind)}, whose __del__ would run on copies")
    members = [member for base in kind.__mro__ for member in vars(base).items()]
    slots: dict[str, MemberDescriptorType] = {}
    for name, member in members:
        if isinstance(member, MemberDescriptorType):
            slots.setdefault(name, member)
    attributes = (m for name, m in members if name == "__dict__" and isinstance(m, GetSetDescriptorType))
    return ItemClass(
        kind=kind,
        name=_stored_name(kind),
        slots=slots,
        attributes=next(attributes, None),
        content_type=next((each for each in _CONTENT_TYPES if issubclass(kind, each)), None),
        weak_references=int(issubclass(kind, object_ref)),
    )
