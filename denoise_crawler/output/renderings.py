"""The output formats of a judged page, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape

from denoise_crawler.methods.base import Judgement
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.output.safe_markup import security_metas
from denoise_crawler.page import Page


def _render_text(page: Page, judgement: Judgement | None) -> str:
    return clean_text(page, judgement.noise if judgement else None)


def _render_html(page: Page, judgement: Judgement | None) -> str:
    from denoise_crawler.output.clean_html import clean_html

    markup = clean_html(page, judgement.noise if judgement else None)
    return _as_document(page, markup)


def _render_painted(page: Page, judgement: Judgement | None, *, remote: bool = False) -> str:
    from denoise_crawler.output.painted import painted_html

    return painted_html(page, judgement or Judgement.all_kept(page.nodes), remote=remote)


def _render_annotated(page: Page, _: Judgement | None) -> str:
    from denoise_crawler.output.annotated import annotated_html

    return _as_document(page, annotated_html(page))


def _as_document(page: Page, markup: str) -> str:
    """Add a head to ``markup``: a file has no HTTP headers for the charset and the security policy."""
    head = f'<head><meta charset="utf-8">{security_metas(remote=True)}<title>{escape(page.title)}</title></head>'
    return "<!DOCTYPE html>\n" + markup.replace("<html>", f"<html>{head}", 1)


# The judgement is None for a page that was not judged; then all of it is kept.
RENDERINGS: dict[str, Callable[[Page, Judgement | None], str]] = {
    "text": _render_text,
    "html": _render_html,
    "painted": _render_painted,
    "painted-remote": partial(_render_painted, remote=True),
    "annotated": _render_annotated,
}
