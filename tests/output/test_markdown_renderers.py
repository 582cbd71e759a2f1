"""Markdown that shows markup as text runs nothing in the renderers that people put behind it, raw HTML on."""

import re
from collections.abc import Callable
from functools import cache
from html import escape
from itertools import product

import pytest

from denoise_crawler.output.writing import Content, Writing
from denoise_crawler.page import Page
from tests.fuzz.road import harm_in
from tests.output.content.reading import URL

IMAGE = "<img src=x onerror=alert(1)>"
# What a page about scripts shows its readers: none of it is markup of the page.
VECTORS = (
    *(IMAGE, "<img/src=x/onerror=alert(1)//", "<ScRiPt>alert(1)</sCrIpT>"),
    *("<script src=//evil.example></script>", "<svg onload=alert(1)>", "<svg/onload=alert(1)//"),
    *("<svg><script>alert(1)</script></svg>", "<x onclick=alert(1)>", "<body onload=alert(1)>"),
    *("<iframe src=javascript:alert(1)>", '<iframe srcdoc="<script>alert(1)</script>">'),
    *("<a href=javascript:alert(1)>x</a>", '<a href="jav&#x09;ascript:alert(1)">x</a>'),
    *("<object data=javascript:x>", "<details open ontoggle=alert(1)>", "<input autofocus onfocus=alert(1)>"),
    *("<embed src=javascript:alert(1)>", "<form action=javascript:alert(1)><button>x"),
    *("<base href=javascript:alert(1)//>", f"<math><mtext>{IMAGE}"),
    *('<meta http-equiv=refresh content="0;url=javascript:x">', f"</p>{IMAGE}", f"</code></pre>{IMAGE}"),
    *(f"-->{IMAGE}", f"<!-->{IMAGE}-->", f"<![CDATA[>{IMAGE}]]>", f"<?php ?>{IMAGE}", f"<!x>{IMAGE}"),
    *(f"</a>{IMAGE}", f'">{IMAGE}', "' onmouseover=alert(1) x='", '" onmouseover="alert(1)', escape(IMAGE)),
    *(f"&#60;{IMAGE[1:]}", f"\\{IMAGE}", f"\\\\{IMAGE}", f"`{IMAGE}`", f"*{IMAGE}*", f"|{IMAGE}|"),
    *(f"${IMAGE}$", f"\\({IMAGE}\\)", "[x](javascript:alert(1))", "![x](x\"onerror=\"alert(1))"),
    *("[x]: javascript:alert(1)", "<javascript:alert(1)>", f"https://a.example/{IMAGE}"),
    *(f"https://a.example/\\{IMAGE}", f"[^1]: {IMAGE}"),
)  # fmt: skip
PLACES = (
    *("<p>{0}", "<h2>{0}</h2>", "<ul><li>{0}</ul>", "<ol><li>{0}</ol>", "<li><input type=checkbox> {0}"),
    *("<blockquote>{0}</blockquote>", "<table><tr><th>{0}<th>b<tr><td>{0}<td>d</table>"),
    *("<dl><dt>{0}<dd>{0}</dl>", "<table><caption>{0}</caption><tr><th>a<th>b<tr><td>c<td>d</table>"),
    "<p>a <b>{0}</b> and <i>{0}</i> end",
    "<table><tr><td>a<td><ul><li>{0}</ul><tr><td>b<td><pre>{0}</pre></table>",
    *("<p>a <s>{0}</s> and <q>{0}</q>", "<p>a <code>{0}</code> b", "<pre>{0}\nx = 1</pre>"),
    *('<pre class="language-{0}">x = 1</pre>', "<p>x<sup>{0}</sup>", "<p>a <a href=/b>{0}</a> b"),
    *('<p>a <a href="/b?{0}">c</a>', '<p>a <a href="/b" title="{0}">c</a>'),
    *('<p>a <img src=i.png alt="{0}" title="{0}"> b', '<p>a <img src="{0}" alt=b> c'),
    *("<p>a <a href=#n>1</a><p id=n>1 {0}", '<p>a <abbr title="{0}">b</abbr> {0}c'),
    *("<p>a<script type=math/tex>{0}</script>", "<p>a \\({0}\\) b $${0}$$ c"),
    "<figure><img src=i.png><figcaption>{0}</figcaption></figure>",
    "<p>a<sup><a href=#n>1</a></sup><ol><li id=n>{0}</ol>",
)  # fmt: skip


def by_markdown_it(markdown: str) -> str:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown)


def by_cmark_gfm(markdown: str) -> str:
    import cmarkgfm

    options = cmarkgfm.Options.CMARK_OPT_UNSAFE | cmarkgfm.Options.CMARK_OPT_FOOTNOTES
    return str(
        cmarkgfm.markdown_to_html_with_extensions(markdown, options, ["table", "autolink", "strikethrough"])
    )


def by_python_markdown(markdown: str) -> str:
    import markdown as python_markdown

    return python_markdown.markdown(markdown, extensions=["extra", "sane_lists", "nl2br"])


def by_mistune(markdown: str) -> str:
    import mistune

    plugins = ["strikethrough", "footnotes", "table", "url", "task_lists", "def_list", "math", "superscript"]
    return str(mistune.create_markdown(escape=False, plugins=plugins)(markdown))


def by_markdown2(markdown: str) -> str:
    import markdown2

    extras = ["tables", "footnotes", "strike", "task_list", "fenced-code-blocks", "cuddled-lists"]
    return str(markdown2.markdown(markdown, extras=extras))


RENDERERS: dict[str, Callable[[str], str]] = {
    "markdown_it": by_markdown_it,
    "cmarkgfm": by_cmark_gfm,
    "markdown": by_python_markdown,
    "mistune": by_mistune,
    "markdown2": by_markdown2,
}


@cache
def markdown_of_all(links: str) -> list[tuple[str, str]]:
    """Return each vector in each place as Markdown, with what it is."""
    return [
        (f"{vector} in {place}", Content(page, None, Writing("markdown", links=links)).written())
        for vector, place in product(VECTORS, PLACES)
        for page in [Page.parse(URL, f"<p>words before{place.format(escape(vector))}<p>words behind")]
    ]


@pytest.mark.parametrize("links", ["keep", "references"])
@pytest.mark.parametrize("renderer", RENDERERS)
def test_no_renderer_makes_markup_of_text_that_shows_markup(renderer: str, links: str) -> None:
    pytest.importorskip(renderer, reason="the renderer is not installed")
    for attempt, markdown in markdown_of_all(links):
        shown = RENDERERS[renderer](markdown)
        assert "words behind" in shown
        assert not list(harm_in(shown)), attempt


@pytest.mark.parametrize("place", ["<script type=math/tex>{}</script>", "\\({}\\)", "$${}$$"])
def test_a_formula_is_no_link_to_a_script_for_readers_that_see_one_behind_a_space(place: str) -> None:
    for vector in ("[x](javascript:alert(1))", "[x] (javascript:alert(1))", "[x](<javascript:alert(1)>)"):
        page = Page.parse(URL, f"<p>words {place.format(escape(vector))} behind")
        assert not re.search(r"\] *\(.?javascript:", Content(page, None, Writing("markdown")).written())
