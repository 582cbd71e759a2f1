"""Why an item cannot be stored, and which classes were already reported."""

from __future__ import annotations

from typing import Any

from denoise_crawler.errors import DenoiseError

_MAX_CLASSES = 1_000
_MAX_STEPS_SHOWN = 4


class UnstorableError(DenoiseError, ValueError):
    """A value inside an item cannot be stored. Each function that passes the error on adds where the value is."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self._steps: list[tuple[int, str]] = []

    def inside(self, holder: Any, step: str) -> UnstorableError:
        """Add where the value is.

        Args:
            holder: The object that holds it.
            step: How to get from ``holder`` to it, such as ``[0]`` or ``.name``.

        Returns:
            This error.
        """
        self._steps.append((id(holder), step))
        return self

    def __str__(self) -> str:
        steps = self._steps[::-1]
        holders: set[int] = set()
        for depth, (holder, _) in enumerate(steps):
            if holder in holders:
                return f"item{''.join(step for _, step in steps[:depth])} holds itself"
            holders.add(holder)
        shown = "".join(step for _, step in steps[:_MAX_STEPS_SHOWN])
        return f"item{shown}{'…' if len(steps) > _MAX_STEPS_SHOWN else ''} {self.args[0]}"


class FirstOfClass:
    """Tells which class comes for the first time, so that each is reported once.

    It remembers names, because a spider may make a class of the same name for each page. After 1,000 names it
    reports no more.
    """

    def __init__(self) -> None:
        self._names: set[str] = set()

    def is_first(self, kind: type) -> bool:
        """Return True for the first class of this name, False afterwards."""
        name = class_path(kind)
        if name in self._names or len(self._names) >= _MAX_CLASSES:
            return False
        self._names.add(name)
        return True


def class_path(kind: type) -> str:
    """Return the name of ``kind`` with its module; without it for a built-in class.

    Example:
        >>> class_path(dict)
        'dict'
    """
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
