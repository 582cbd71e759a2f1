"""Why an item cannot be stored."""

from __future__ import annotations

from typing import Any

from denoise_crawler.errors import DenoiseError

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


def class_path(kind: type) -> str:
    """Return the name of ``kind`` with its module; without it for a built-in class.

    Example:
        >>> class_path(dict)
        'dict'
    """
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
