"""Renders the pages of the report, with a policy that lets only our own inline script run."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cache
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import Any

import msgspec

from denoise_crawler.denoiser import Cleaned
from denoise_crawler.errors import FeedError, needs
from denoise_crawler.methods.base import Judgement
from denoise_crawler.output.clean_text import noise_ratio
from denoise_crawler.output.explanation import SURE, BlockVerdict, doubts, explained_blocks
from denoise_crawler.output.extractors import is_low
from denoise_crawler.output.painted import painted_html
from denoise_crawler.page import TEXT, Page
from denoise_crawler.page.text import counted
from denoise_crawler.report.figures import Chart
from denoise_crawler.rules.selectors import selector_of
from denoise_crawler.store import SiteRun

with needs("commands"):
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

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
        scripts: The file names of our scripts for the page.
        remote: Whether painted pages may fetch style sheets and pictures.
        connect: The sources that our script may connect to, as in a Content-Security-Policy.
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


def size(value: int) -> str:
    """Return a number of bytes in a readable unit.

    Example:
        >>> size(999), size(2_500_000)
        ('999 bytes', '2.5 MB')

    """
    amount = float(value)
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            break
        amount /= 1000
    return f"{value:,} bytes" if unit == "bytes" else f"{amount:,.1f} {unit}"


@cache
def _environment(templates: Path | None) -> Environment:
    loader = FileSystemLoader([*filter(None, [templates]), _ASSETS])
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    filters = {"percent": percent, "number": number, "size": size, "counted": counted}
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
    page, judgement = cleaned.page, cleaned.judgement or Judgement.all_kept(cleaned.page.nodes)
    found, text = list(explained_blocks(page, judgement)), str(cleaned.clean_page.text)  # blocks as JSON
    listed = [_listed(page, node, verdict) for node, verdict in found[:MAX_BLOCKS]]
    lines = text.encode("utf-8", "replace")[:MAX_TEXT_BYTES].decode("utf-8", "ignore").splitlines()
    painted = _paint(page, judgement, cleaned, remote=remote)
    more_blocks, more_lines = len(found) - len(listed), len(text.splitlines()) - len(lines)
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


# --- the charts of a report: a site over time, the noise of each item of a feed


def over_time(runs: Sequence[SiteRun]) -> Chart | None:
    """Return the chart of a site over its runs, in the order of time; None if no run is known.

    Example:
        >>> from denoise_crawler.store import SiteRun
        >>> over_time([SiteRun(1_700_000_000_000, pages=9, visible=200, kept=50)]).rows
        [('2023-11-14 22:13, 9 pages', (0.75, None))]

    """
    rows = []
    for run in runs:
        begun = datetime.fromtimestamp(min(run.begun, _LATEST) / 1_000, timezone.utc).strftime("%Y-%m-%d %H:%M")
        template = f", {counted(run.template, 'template line')}" if run.template else ""
        removed = noise_ratio(run.visible, run.kept) if run.visible else None
        rows.append((f"{begun}, {counted(run.pages, 'page')}{template}", (removed, run.drift)))
    note = (
        "Template lines come back on pages of the site. Drift is the mean share of a page's text where no page "
        "known before had any. Times are UTC; only crawls that came to their end are counted."
    )
    return Chart("Over time, crawl by crawl", ("crawl", "noise removed", "drift"), rows, note) if rows else None


_LATEST = 4_000_000_000_000  # milliseconds: a date that can be written


# --- the chart of a feed: how much noise each item's page had, and whether its site was known by then

_MAX_ROWS = 24
_MAX_ITEMS = 1_000_000
_AS_WE_NAME_THEM: Mapping[str, str] = MappingProxyType({})


class _Item(msgspec.Struct):
    noise_ratio: float | None = None
    warm: bool | None = None


def feed_chart(path: Path, names: Mapping[str, str] = _AS_WE_NAME_THEM) -> Chart:
    """Chart a feed of clean items: JSON Lines with ``noise_ratio``.

    Args:
        path: The feed.
        names: The fields of items by what they are filled with, where these differ (DENOISE_EXTRA_FIELDS).

    Raises:
        FeedError: The file cannot be read or holds no clean items.

    """
    items, broken = _read_items(path, names)
    each = -(-len(items) // _MAX_ROWS)
    rows = []
    for start in range(0, len(items), each):
        some = items[start : start + each]
        removed = fmean(item.noise_ratio or 0.0 for item in some)
        warm = fmean(bool(item.warm) for item in some)
        rows.append((f"{start + len(some):,}", (removed, warm)))
    note = f"{len(items):,} items of {path.name}, {each:,} a row."
    return Chart(
        "Noise removed, item by item as the crawl went",
        ("items", "noise removed (mean)", "of a known site"),
        rows,
        note + (f" {broken:,} lines are no clean items." if broken else ""),
    )


def _read_items(path: Path, names: Mapping[str, str]) -> tuple[list[_Item], int]:
    broken = 0
    items: list[_Item] = []
    try:
        with path.open("rb") as lines:
            for line in lines:
                item = _item(line, names)
                if item.noise_ratio is None or not 0.0 <= item.noise_ratio <= 1.0:
                    broken += bool(line.strip())
                elif len(items) < _MAX_ITEMS:
                    items.append(item)
    except OSError as error:
        raise FeedError(f"{path} cannot be read: {error.strerror or error}") from None
    if not items:
        wanted = " or ".join(dict.fromkeys((names.get("noise_ratio", "noise_ratio"), "noise_ratio")))
        raise FeedError(
            f"{path} holds no clean items: JSON Lines with {wanted} are wanted, as our spiders and "
            "DENOISE_EXTRA_FIELDS write them"
        )
    return items, broken


def _item(line: bytes, names: Mapping[str, str]) -> _Item:
    """Return the item of a line: its fields with the names of the settings, else with our own."""
    try:
        record = msgspec.json.decode(line, type=dict[str, Any])
        for known in (names, _AS_WE_NAME_THEM):
            values = {name: record.get(known.get(name, name)) for name in _Item.__struct_fields__}
            if values["noise_ratio"] is not None:
                return msgspec.convert(values, _Item)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    return _Item()
