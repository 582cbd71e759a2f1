"""Items that cannot wait in the store: why, and which classes the user was told of."""

from __future__ import annotations

from typing import Any

from denoise_crawler.errors import DenoiseError

_NAMES_REMEMBERED = 1_000
_STEPS_SHOWN = 4


class UnstorableError(DenoiseError, ValueError):
    """A value inside an item cannot be stored. The functions that pass it on add where the value stands."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self._steps: list[tuple[int, str]] = []

    def inside(self, holder: Any, step: str) -> UnstorableError:
        """Add that the value stands at ``step`` of ``holder``; return the error itself."""
        self._steps.append((id(holder), step))
        return self

    def __str__(self) -> str:
        steps = self._steps[::-1]
        holders: set[int] = set()
        for depth, (holder, _) in enumerate(steps):
            if holder in holders:
                return f"item{''.join(step for _, step in steps[:depth])} holds itself"
            holders.add(holder)
        shown = "".join(step for _, step in steps[:_STEPS_SHOWN])
        return f"item{shown}{'…' if len(steps) > _STEPS_SHOWN else ''} {self.args[0]}"


class FirstOfClass:
    """Tells which classes come for the first time, so that each is reported once.

    It remembers names, not classes: a spider may make a class per page, and each has the same name. After 1,000
    names it reports no more.
    """

    def __init__(self) -> None:
        self._names: set[str] = set()

    def is_first(self, kind: type) -> bool:
        """Return True for the first class of this name, False from then on."""
        name = class_path(kind)
        if name in self._names or len(self._names) >= _NAMES_REMEMBERED:
            return False
        self._names.add(name)
        return True


def class_path(kind: type) -> str:
    """Return the name of ``kind`` with its module; that of a built-in class without.

    Example:
        >>> class_path(dict)
        'dict'

    """
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
