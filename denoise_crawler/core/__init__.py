"""The compiled core: what reads the tree of libxml2, in Cython, and the loops over numbers, built from ``loops/``.

It is optional. Beside each call of what reads the tree stands Python code, its specification; the loops have one
source, which is also interpreted. These are used where the core was not built, does not fit the installed lxml, or
is switched off by the environment variable ``DENOISE_CORE`` (``auto``, ``off``, ``require``).
"""

from __future__ import annotations

import logging
import os
import sys
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lxml import etree

from denoise_crawler.core.loop_modules import built_loops, interpreted_loops
from denoise_crawler.core.probe import check_modules
from denoise_crawler.errors import CoreError, StaleCoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

logger = logging.getLogger(__name__)

ENVIRONMENT = "DENOISE_CORE"
MODES = ("auto", "off", "require")
MODULES = (
    *("hashing", "nodes", "walk", "attributes", "declared", "looks"),
    *("groups", "texts", "trees", "words"),
)
_PYTHON: dict[str, Any] = dict.fromkeys(MODULES)  # where the core is not used, each module is None
# The core reads lxml's structures. It is tested with these versions; others get the Python code.
OLDEST_LXML, NEXT_LXML = (5, 0), (7, 0)


class Modules:
    """The modules of the core, or the loops, as this process uses them, by name.

    They are looked up when the first is asked for, and are attributes from then on: a page asks many times.

    Raises:
        StaleCoreError: When a module is asked for: its source in this checkout was changed after it was built.
        CoreError: When one is asked for: ``DENOISE_CORE`` is ``require``, and the core cannot be used; or it is
            none of ``MODES``.

    Example:
        >>> loops.features.PAGE[:2]
        ('characters', 'link share')

    """

    def __init__(self, find: Callable[[str], Mapping[str, Any]]) -> None:
        self._find = find

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        self.__dict__.update(found := self._find(chosen.mode))
        return found[name]

    def forget(self) -> None:
        """Look them up again: another mode was chosen."""
        self.__dict__ = {"_find": self._find}


class Chosen:
    """The mode of this process, one of ``MODES``."""

    def __init__(self, mode: str) -> None:
        self._mode = mode

    @property
    def mode(self) -> str:
        """As the environment says, or as it was chosen since."""
        return self._mode

    @mode.setter
    def mode(self, mode: str) -> None:
        self._mode = mode
        compiled.forget()
        loops.forget()


def choose(mode: str) -> None:
    """Use the core, or not, in this process and in those that it starts.

    Args:
        mode: One of ``MODES``.

    Raises:
        CoreError: There is no such mode, or the core is required and cannot be used.

    """
    _modules(mode)
    _loops(mode)
    os.environ[ENVIRONMENT] = chosen.mode = mode


def why_not() -> str | None:
    """Return why the core cannot be used on this machine; None if it can.

    Raises:
        StaleCoreError: The source in this checkout was changed after it was built.

    Example:
        >>> isinstance(why_not(), (str, type(None)))
        True

    """
    try:
        _load_modules()
        built_loops()
    except StaleCoreError:
        raise
    except CoreError as error:
        return str(error)
    return None


@lru_cache(maxsize=len(MODES))
def _modules(mode: str) -> dict[str, Any]:
    if mode not in MODES:
        raise CoreError(f"{ENVIRONMENT} is {mode!r}: set it to one of {', '.join(MODES)}")
    if mode == "off":
        return _PYTHON
    try:
        return _load_modules()
    except CoreError as error:
        if mode == "require":
            raise
        logger.info("Pages are cleaned without the compiled core, more slowly: %s", error)
        return _PYTHON


@lru_cache(maxsize=len(MODES))
def _loops(mode: str) -> dict[str, Any]:
    if mode not in MODES:
        raise CoreError(f"{ENVIRONMENT} is {mode!r}: set it to one of {', '.join(MODES)}")
    if mode == "off":
        return interpreted_loops()
    try:
        return built_loops()
    except StaleCoreError:
        raise
    except CoreError as error:
        if mode == "require":
            raise
        if _modules(mode) is not _PYTHON:  # else it was said
            logger.info("Pages are cleaned by interpreted loops, more slowly: %s", error)
        return interpreted_loops()


def _load_modules() -> dict[str, Any]:
    if not OLDEST_LXML <= etree.LXML_VERSION[:2] < NEXT_LXML:
        raise CoreError(f"it is not tested with lxml {etree.__version__}")
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        raise CoreError("this Python has no global lock, so a tree may change while it is read")
    try:
        modules = {name: import_module(f"{__name__}.{name}") for name in MODULES}
    except (ImportError, ValueError) as error:  # ValueError: built with structures of another lxml
        raise CoreError(f"it is not built for this Python and lxml ({error})") from error
    try:
        check_modules(modules)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise CoreError(f"it was built from another version of this package ({error})") from error
    return modules


chosen = Chosen(os.environ.get(ENVIRONMENT, "auto"))
compiled, loops = Modules(_modules), Modules(_loops)  # of ``compiled`` all are None where the Python code is used
