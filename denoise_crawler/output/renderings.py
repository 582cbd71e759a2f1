"""The ways to write a judged page, by name."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from denoise_crawler.methods.base import Judgement
from denoise_crawler.output.text import clean_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from denoise_crawler.page import Page


def _text(page: Page, judgement: Judgement | None) -> str:
    return clean_text(page, judgement.noise if judgement else None)


def _html(page: Page, judgement: Judgement | None) -> str:
    from denoise_crawler.output.html import clean_html

    markup = clean_html(page, judgement.noise if judgement else None)
    # for a file of its own: in it, no HTTP header says how it is encoded
    head = f'<head><meta charset="utf-8"><title>{escape(page.title)}</title></head>'
    return "<!DOCTYPE html>\n" + markup.replace("<html>", f"<html>{head}", 1)


def _painted(page: Page, judgement: Judgement | None) -> str:
    from denoise_crawler.output.painted import painted_html

    size = len(page.nodes)
    return painted_html(page, judgement or Judgement([False] * size, [0.0] * size))


def _annotated(page: Page, _: Judgement | None) -> str:
    from denoise_crawler.output.annotated import annotated_html

    return annotated_html(page)


# A page that was not judged comes with None: all of it is kept. Modules are imported when they are used.
RENDERINGS: dict[str, Callable[[Page, Judgement | None], str]] = {
    "text": _text,
    "html": _html,
    "painted": _painted,
    "annotated": _annotated,
}
