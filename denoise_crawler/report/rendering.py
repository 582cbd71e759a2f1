"""Renders the pages of the report, with a policy that lets only the report's own inline script run."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from denoise_crawler.denoiser import Cleaned
from denoise_crawler.errors import needs
from denoise_crawler.methods.base import Judgement
from denoise_crawler.output.explanation import SURE, BlockVerdict, doubts, explained_blocks
from denoise_crawler.output.extractors import is_low
from denoise_crawler.output.painted import painted_html
from denoise_crawler.page import TEXT, Page
from denoise_crawler.page.text import counted
from denoise_crawler.rules.selectors import selector_of

with needs("commands"):
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup
    from rich.filesize import decimal

_ASSETS = Path(__file__).parent / "assets"
_SAFE_JSON = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def render_page(
    template: str,
    templates: Path | None = None,
    *,
    scripts: Iterable[str] = (),
    remote: bool = False,
    connect: str = "'none'",
    **values: Any,
) -> str:
    """Return a page of the report.

    Args:
        template: The file name of the template.
        templates: Where templates and scripts are looked for before those of the report.
        scripts: The file names of the page's scripts.
        remote: Whether painted pages may fetch style sheets and pictures.
        connect: The sources that the script may connect to, as in a Content-Security-Policy.
        values: The variables of the template.
    """
    environment = _environment(templates)
    script = "\n".join(_source(environment, name) for name in scripts)
    ours = {"style": Markup(_source(environment, "report.css")), "script": Markup(script)}  # noqa: S704 - our own files
    rules = policy(script, remote=remote, connect=connect)
    return environment.get_template(template).render(**ours, policy=rules, remote=remote, **values)


def policy(script: str, *, remote: bool = False, connect: str = "'none'") -> str:
    """Return the Content-Security-Policy of a page: only the inline ``script`` runs, and nothing is fetched.

    Frames made from ``srcdoc`` inherit it and cannot navigate.
    """
    digest = b64encode(sha256(script.encode()).digest()).decode()
    web = " http: https:" if remote else ""
    rules = [
        "default-src 'none'",
        f"script-src 'sha256-{digest}'" if script else "script-src 'none'",
        f"style-src 'unsafe-inline'{web}",
        f"img-src data:{web}",
        f"font-src data:{web}",
        f"connect-src {connect}",
        "base-uri http: https:" if remote else "base-uri 'none'",
        "frame-src 'none'",
        "form-action 'none'",
    ]
    return "; ".join(rules)


def json_data(value: Any) -> Markup:
    """Return ``value`` as JSON that is safe inside a script element."""
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(written.translate(_SAFE_JSON))  # noqa: S704 - no tag can begin or end in it


def srcdoc(html: str) -> Markup:
    """Return a document escaped for a double-quoted attribute."""
    return Markup(html.replace("&", "&amp;").replace('"', "&quot;"))  # noqa: S704 - escaped by this


def percent(share: float | None) -> str:
    """Return a share (0-1) as a percentage, a dash for none."""
    return "–" if share is None else f"{share:.1%}"


def number(value: int | None) -> str:
    """Return a whole number with thousands separators, a dash for none."""
    return "–" if value is None else f"{value:,}"


@cache
def _environment(templates: Path | None) -> Environment:
    loader = FileSystemLoader([*filter(None, [templates]), _ASSETS])
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    filters = {"percent": percent, "number": number, "size": decimal, "counted": counted}
    environment.filters.update({**filters, "srcdoc": srcdoc, "json_data": json_data})
    return environment


def _source(environment: Environment, name: str) -> str:
    assert environment.loader is not None  # noqa: S101 - it is made with one
    return environment.loader.get_source(environment, name)[0]


NODE = "data-node"  # not data-denoise-…: the painted page keeps such marks for itself
MAX_BLOCKS = 3_000
MAX_PAINTED_CHARACTERS = 4_000_000
MAX_TEXT_BYTES = 300_000  # of the clean text


@dataclass(slots=True)
class ListedBlock:
    """One block: the number of its element, its verdict, score and reason, and a selector that finds it alone."""

    node: int
    text: str
    kept: bool
    score: float
    reason: str
    selector: str = ""


@dataclass(slots=True)
class PageView:
    """A painted page, empty if it is too long, the lines of its clean text, and its blocks.

    ``more_blocks`` and ``more_lines`` are left out, since a giant page would take a browser too long.
    """

    painted: str
    blocks: list[ListedBlock]
    more_blocks: int = 0
    lines: list[str] = field(default_factory=list)
    more_lines: int = 0
    confidence: float | None = None
    doubts: list[str] = field(default_factory=list)


def page_view(cleaned: Cleaned, *, remote: bool = False, known: int | None = None) -> PageView:
    """Return the view of a page.

    Args:
        cleaned: The page. Its tree must have no other user: each element gets its number as an attribute.
        remote: Whether the view may fetch the page's pictures and style sheets.
        known: How many pages of the site are known; None for a method that asks for none.
    """
    page, judgement = cleaned.page, cleaned.judgement
    verdicts, text = list(explained_blocks(page, judgement)), str(cleaned.clean_page.text)  # blocks as JSON
    listed = [_listed(page, node, verdict) for node, verdict in verdicts[:MAX_BLOCKS]]
    lines = text.encode("utf-8", "replace")[:MAX_TEXT_BYTES].decode("utf-8", "ignore").splitlines()
    painted = _paint(page, judgement, cleaned, remote=remote)
    more_blocks, more_lines = len(verdicts) - len(listed), len(text.splitlines()) - len(lines)
    doubts_of_page = doubts(page, judgement, known) if is_low(judgement.confidence, SURE) else []
    return PageView(painted, listed, more_blocks, lines, more_lines, judgement.confidence, doubts_of_page)


def _listed(page: Page, node: int, verdict: BlockVerdict) -> ListedBlock:
    element = page.nodes.parents[node]
    return ListedBlock(element, **verdict, selector=selector_of(page, element))


def _paint(page: Page, judgement: Judgement, cleaned: Cleaned, *, remote: bool) -> str:
    for index, (tag, element) in enumerate(zip(page.nodes.tags, page.nodes.elements, strict=True)):
        if tag is not TEXT:
            element.set(NODE, str(index))
    painted = painted_html(page, judgement, method=cleaned.clean_page.method or "", remote=remote)
    return painted if len(painted) <= MAX_PAINTED_CHARACTERS else ""
