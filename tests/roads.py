"""Both roads to one result: what is compiled, and the Python code that specifies it."""

from importlib import import_module
from typing import Any

import pytest

from denoise_crawler import kernel
from denoise_crawler.kernel import reference

ROADS = COMPILED, IN_PYTHON = "compiled", "in Python"
is_built = pytest.mark.skipif(kernel.why_not() is not None, reason=f"nothing is compiled: {kernel.why_not()}")


def functions(road: str) -> Any:
    """Return the functions of the kernel on a road."""
    return import_module("denoise_crawler.kernel.judge") if road == COMPILED else reference


def take(road: str, patch: pytest.MonkeyPatch) -> None:
    """Take a road until the ``patch`` ends."""
    reader = import_module("denoise_crawler.kernel.tree") if road == COMPILED else None
    patch.setattr(kernel, "active", functions(road))
    patch.setattr(kernel, "reader", reader)
