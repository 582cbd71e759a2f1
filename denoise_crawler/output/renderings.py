"""The ways to write a judged page, by name."""

from __future__ import annotations

from functools import partial
from html import escape
from typing import TYPE_CHECKING

from denoise_crawler.methods.base import Judgement
from denoise_crawler.output.safe_markup import locks
from denoise_crawler.output.text import clean_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from denoise_crawler.page import Page


def _text(page: Page, judgement: Judgement | None) -> str:
    return clean_text(page, judgement.noise if judgement else None)


def _html(page: Page, judgement: Judgement | None) -> str:
    from denoise_crawler.output.html import clean_html

    markup = clean_html(page, judgement.noise if judgement else None)
    return _as_a_file(page, markup)


def _painted(page: Page, judgement: Judgement | None, *, remote: bool = False) -> str:
    from denoise_crawler.output.painted import painted_html

    return painted_html(page, judgement or Judgement.all_kept(page.nodes), remote=remote)


def _annotated(page: Page, _: Judgement | None) -> str:
    from denoise_crawler.output.annotated import annotated_html

    return _as_a_file(page, annotated_html(page))


def _as_a_file(page: Page, markup: str) -> str:
    """Return ``markup`` with a head: in a file, no HTTP header says how it is encoded and that nothing may run."""
    head = f'<head><meta charset="utf-8">{locks(remote=True)}<title>{escape(page.title)}</title></head>'
    return "<!DOCTYPE html>\n" + markup.replace("<html>", f"<html>{head}", 1)


# A page that was not judged comes with None: all of it is kept. Modules are imported when they are used.
RENDERINGS: dict[str, Callable[[Page, Judgement | None], str]] = {
    "text": _text,
    "html": _html,
    "painted": _painted,
    "painted-remote": partial(_painted, remote=True),
    "annotated": _annotated,
}
