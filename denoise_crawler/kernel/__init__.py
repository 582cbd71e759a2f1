"""The heart: which lines of a page are its content. Compiled where that was built, else plain Python.

``active`` has its functions: the compiled ``judge``, or ``reference``, which specifies them. ``reader`` reads the
tree of libxml2; it is None where nothing is compiled, and the tree is read in Python. The environment variable
``DENOISE_CORE`` says which of both is used: ``auto``, ``off``, or ``require``.
"""

from __future__ import annotations

import logging
import os
import sys
from importlib import import_module
from typing import Any

from lxml import etree

from denoise_crawler.errors import CoreError

__all__ = ["ENVIRONMENT", "MODES", "active", "reader", "use", "why_not"]

logger = logging.getLogger(__name__)

ENVIRONMENT = "DENOISE_CORE"
MODES = "auto", "off", "require"
# The tree is read by lxml's structures. That is tested with these versions; others get the Python code.
OLDEST_LXML, NEXT_LXML = (5, 0), (7, 0)
active: Any = None
reader: Any = None


def use(mode: str) -> None:
    """Use what is compiled, or not, in this process and in those that it starts.

    Args:
        mode: One of ``MODES``.

    Raises:
        CoreError: There is no such mode, or what is required cannot be used.

    """
    global active, reader
    if mode not in MODES:
        raise CoreError(f"{ENVIRONMENT} is {mode!r}: set it to one of {', '.join(MODES)}")
    reason = "it is switched off" if mode == "off" else why_not()
    if reason is not None and mode == "require":
        raise CoreError(reason)
    if reason is not None and mode == "auto":
        logger.info("Pages are cleaned without the compiled core, more slowly: %s", reason)
    active = import_module(f"{__name__}.{'reference' if reason else 'judge'}")
    reader = None if reason else import_module(f"{__name__}.tree")
    if mode != os.environ.get(ENVIRONMENT, "auto"):
        os.environ[ENVIRONMENT] = mode


def why_not() -> str | None:
    """Return why what is compiled cannot be used on this machine; None if it can.

    Example:
        >>> isinstance(why_not(), (str, type(None)))
        True

    """
    if not OLDEST_LXML <= etree.LXML_VERSION[:2] < NEXT_LXML:
        return f"it is not tested with lxml {etree.__version__}"
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return "this Python has no global lock, so a tree may change while it is read"
    if sys.byteorder != "little":
        return "this machine stores the highest byte first"
    try:
        import_module(f"{__name__}.judge")
        import_module(f"{__name__}.tree")
    except (ImportError, ValueError) as error:  # ValueError: built with structures of another lxml
        return f"it is not built for this Python and lxml ({error})"
    return None


use(os.environ.get(ENVIRONMENT, "auto"))
