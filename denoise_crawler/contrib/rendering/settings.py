"""The settings of rendering."""

from __future__ import annotations

from dataclasses import dataclass

from denoise_crawler.output.options import OptionTable, number, one_of, option

UNSURE = "unsure"


@dataclass(frozen=True)
class RenderingSettings(OptionTable):
    """Which pages are rendered, and how long a browser waits for them."""

    render: str = option(
        "DENOISE_RENDER", "needed", one_of(("needed", UNSURE, "always", "asked")), empty_is_default=True
    )
    """``needed``: pages with scripts and fewer than 200 characters of text. ``unsure``: these, and those less sure
    than ``DENOISE_MIN_CONFIDENCE``. ``always``: every HTML page. ``asked``: requests with
    ``meta={"playwright": True}``."""

    render_wait: float = option("DENOISE_RENDER_WAIT", 5.0, number("a number of seconds, 0 to 600", 600))
    """How long a loaded page may wait for the answers to its own requests."""
