"""The script that was started; the classes of ``__main__`` belong to it."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path

MAIN = "__main__"


def started_script() -> str:
    """Return the path of the started script, an empty string in an interactive session."""
    file = getattr(sys.modules.get(MAIN), "__file__", None)
    return _resolve(file) if file else ""


@lru_cache(maxsize=8)
def _resolve(file: str) -> str:
    return str(Path(file).resolve())
