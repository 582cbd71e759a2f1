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
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from lxml import etree

from denoise_crawler.errors import CoreError, StaleCoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType


# --- the loops of ``loops/`` as modules: built, or interpreted

LOOPS = "blocks", "deciding", "features", "keys", "runs", "sheets", "site", "texts", "writing"
_PACKAGE = __name__.partition(".")[0]
_FOLDER = Path(__file__).parents[1]


class InterpretedLoops:
    """A module of loops whose functions are given memoryviews of numpy's arrays.

    Their cells take half the time of numpy's, and they are Python's numbers: float32 would calculate as such.
    """

    def __init__(self, module: ModuleType) -> None:
        for name, value in vars(module).items():
            setattr(self, name, _with_views(value) if isinstance(value, FunctionType) else value)


def interpreted_loops() -> dict[str, Any]:
    """Return all loops, interpreted."""
    return {name: InterpretedLoops(import_module(f"{_PACKAGE}.loops.{name}")) for name in LOOPS}


def built_loops() -> dict[str, Any]:
    """Return all loops as they were built.

    Raises:
        StaleCoreError: They were built from another source than that of this checkout.
        CoreError: They are not built, or from the source of another version of this package.

    """
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        raise CoreError("this Python has no global lock, so a page may change while it is judged")
    return {name: _built(name) for name in LOOPS}


def source_hash(name: str) -> str:
    """Return the hash of the source of a module of loops, as ``setup.py`` writes it into what it builds."""
    return f"{crc32((_FOLDER / 'loops' / f'{name}.py').read_bytes()):08x}"


def _built(name: str) -> ModuleType:
    try:
        module = import_module(f"{_PACKAGE}.core._{name}")
    except ImportError as error:
        raise CoreError(f"the loops are not built for this Python ({error})") from error
    if source_hash(name) != module.SOURCE:
        what = f"{module.__file__} was built from another source than loops/{name}.py"
        if (_FOLDER.parent / "setup.py").exists():
            raise StaleCoreError(f"{what}: run `make core`")
        raise CoreError(f"{what} of this package")
    return module


def _with_views(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *columns: function(*map(_view, columns))


def _view(column: Any) -> Any:
    if isinstance(column, np.ndarray):
        return column.data
    return tuple(map(_view, column)) if isinstance(column, tuple) else column


# --- a small page whose nodes, lines and scores are known: shows whether the core fits this machine

_PAGE = "<body class='a'><p>One <b>two</b><!-- x --> three<ul><li>four</ul>"
_TAGS = ["body", "p", "#text", "b", "#text", "#text", "ul", "li", "#text"]
_TEXTS = ["", "", "One ", "", "two", " three", "", "", "four"]
_HASH = 0xF018871D64733110  # of b"denoise"


def check_modules(modules: dict[str, Any]) -> None:
    """Compare what the ``modules`` of the core make of a known page with what they should.

    Raises:
        CoreError: They differ.

    """
    if (hashed := modules["texts"].hash64(b"denoise")) != _HASH:
        raise CoreError(f"it hashes bytes wrongly: {hashed:x}")
    tags, texts = _nodes(modules["tree"])
    if (tags, texts) != (_TAGS, _TEXTS):
        raise CoreError(f"it reads a known page wrongly: {tags} {texts}")
    columns = _columns(modules["tree"])
    if (said := columns.attributes_of(0, {})) != ("a", "", 0):
        raise CoreError(f"it reads the attributes of a known page wrongly: {said}")
    if (scores := _scores(modules["trees"])) != [1.0, 2.0]:
        raise CoreError(f"it adds up known trees wrongly: {scores}")


def _columns(nodes: Any) -> Any:
    root = etree.fromstring(_PAGE, etree.HTMLParser())
    columns, _ = nodes.walk_tree(root, frozenset(), frozenset(), frozenset(), "#text", 0, *3 * [_never], False)
    return columns


def _nodes(nodes: Any) -> tuple[list[str], list[str]]:
    columns = _columns(nodes)
    return columns.tags(), columns.texts


def _scores(trees: Any) -> list[float]:
    total = np.zeros(2)
    leaves = np.zeros((1, 32))
    leaves[0, :2] = 1.0, 2.0
    split = np.zeros((1, 1), np.int32), np.full((1, 1), 0.5, np.float32), np.ones((1, 1), np.uint32)
    trees.Trees(*split, leaves).add_scores(np.array([[0.0, 1.0]], np.float32), total)
    scores: list[float] = total.tolist()
    return scores


def _never(*_: object) -> bool:
    return False


logger = logging.getLogger(__name__)

ENVIRONMENT = "DENOISE_CORE"
MODES = ("auto", "off", "require")
MODULES = "tree", "texts", "trees"
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
