"""The loops of ``loops/`` as modules: built, or interpreted."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from denoise_crawler.errors import CoreError, StaleCoreError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

LOOPS = "blocks", "deciding", "features", "keys", "runs", "sheets", "site", "style_tree", "texts", "writing"
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
