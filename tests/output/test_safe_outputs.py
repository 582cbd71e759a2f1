"""What no output of a page may hold or write, whatever the page is: read as a browser reads it."""

import json
import re
from collections.abc import Callable
from html import escape
from pathlib import Path

import pytest
from hypothesis import given
from markdown_it import MarkdownIt

from denoise_crawler.errors import LinkedOutputError
from denoise_crawler.methods import Judgement, MethodChoice
from denoise_crawler.output.content.blocks import to_dicts
from denoise_crawler.output.content.builder import Builder
from denoise_crawler.output.content.html import to_html
from denoise_crawler.output.content.markdown import to_markdown
from denoise_crawler.output.safe_markup import clean_document, clean_html, write_below
from denoise_crawler.output.writing import RENDERINGS
from denoise_crawler.page import Page
from denoise_crawler.report import Plan, RunFigures, write_report
from tests.attacks import attack
from tests.fuzz.road import harm_in
from tests.report.test_report import SITE, demo_pages
from tests.scrapy_process import denoise
from tests.strategies import html_pages

URL = "https://example.com/news/1"
# Each does something, or goes somewhere, by itself.
HARMFUL = {
    "a refresh in the body": '<meta http-equiv=refresh content="0;url=https://evil.example/">',
    "a refresh named by an entity": '<meta http-equiv="&#82;efresh" content="0;url=//evil.example/">',
    "a base address": "<base href=https://evil.example/ target=_top>",
    "a base address that is a script": "<base href='javascript:hacked()//'><a href=''>x</a>",
    "a handler": "<p onclick=hacked()>x</p><img src=x onerror=hacked()>",
    "a script in an address": "<a href=javascript:hacked()>x</a><a href='jav&#9;ascript:hacked()'>x</a>",
    "a script to send a form to": "<form action=javascript:x()><button formaction=javascript:x()>x</form>",
    "a page in an attribute": "<iframe srcdoc='<script>hacked()</script>'></iframe>",
    "a page in a frame": "<iframe src=//a.example/></iframe><embed src=//a.example/><object data=/x></object>",
    "a tag in an attribute in raw text": '<noembed><a title="</noembed><img onerror=hacked()>">x</a></noembed>',
    "a tag in raw text": "<xmp>&lt;/xmp><script>hacked()</script></xmp><plaintext><script>hacked()</script>",
    "a style in maths": "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img onerror=x>'>",
    "data that begins a script": '<script type="application/ld+json">"<!--<script>"</script><p onclick=1>x',
    "a link that opens connections": "<p><link rel=preconnect href=//evil.example/>x",
    "scripts in formulas": "<p>a <script type='math/tex'><img src=x onerror=hacked()></script>"
    "<script type='math/tex; mode=display'>[a](javascript:x)</script>"
    "<p>\\(<b>&lt;img src=x onerror=x&gt;</b> &lt;script&gt;hacked()&lt;/script&gt;\\)"
    "<img class=latex src=javascript:x alt='^&lt;script>hacked()&lt;/script>'>",
    "a table with scripts": "<table><tr><th>a<th>b<tr>"
    "<td><pre>&lt;script>hacked()&lt;/script>\n\n&lt;img onerror=x></pre>"
    "<td><ul><li><a href=javascript:x>x</a></ul></table>",
    "a footnote that is a script": "<p>A<sup><a href=#n>1</a></sup><ol><li id=n>javascript:x</ol>",
    "addresses of boxes": "<blockquote cite=javascript:x>x</blockquote><video src=javascript:x></video>"
    "<iframe src='javascript:x//www.youtube.com/'></iframe><figure><img data-src=javascript:x></figure>",
    "all attacks that are known": attack("https://evil.example"),
}


def kept(page: Page) -> Judgement:
    return Judgement([False] * len(page.nodes), [0.0] * len(page.nodes))


def markdown_shown(page: Page) -> str:
    return MarkdownIt("commonmark", {"maxNesting": 100}).enable("table").render(to_markdown(Builder(page).build()))


def each_text(page: Page) -> str:
    """Return the addresses of the blocks as links, as a reader of the blocks might write them."""
    addresses = re.findall(r'"(?:link|address|source)":"((?:[^"\\]|\\.)*)"', str(to_dicts(Builder(page).build())))
    shown = "".join(f'<a href="{escape(json.loads(f"{chr(34)}{one}{chr(34)}"))}">x</a>' for one in addresses)
    return f"words before {shown} words behind"


OUTPUTS: dict[str, Callable[[Page], str]] = {
    "html": lambda page: to_html(Builder(page).build()),
    "markdown": markdown_shown,
    "blocks": each_text,
    "clean_html": clean_html,
    "clean_document": clean_document,
    **{
        f"as {name}": lambda page, write=write: write(page, kept(page))
        for name, write in RENDERINGS.items()
        if name != "text"
    },
}


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("attempt", HARMFUL)
def test_no_output_holds_what_runs_or_leads_away_by_itself(output: str, attempt: str) -> None:
    page = Page.parse(URL, f"<body><p>words before</p>{HARMFUL[attempt]}<p>words behind</p>")
    written = OUTPUTS[output](page)
    assert "words before" in written
    assert list(harm_in(written)) == []
    assert output.startswith("as painted") or "<base" not in written


@given(html=html_pages())
def test_no_page_has_an_output_that_is_harmful(html: str) -> None:
    page = Page.parse(URL, html)
    for write in OUTPUTS.values():
        assert list(harm_in(write(page))) == []


def test_files_are_written_in_the_folder_and_in_folders_made_below_it(tmp_path: Path) -> None:
    write_below(tmp_path, "a.html", "one \ud800")
    write_below(tmp_path, "site/b.html", "two")
    assert (tmp_path / "a.html").read_text() == "one ?"
    assert (tmp_path / "site" / "b.html").read_text() == "two"


@pytest.mark.parametrize("name", ["../a", "x/../../a", "/a", "x/y/a", ".."])
def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(LinkedOutputError, match="does not lie in"):
        write_below(tmp_path / "out", name, "text")
    assert not list(tmp_path.rglob("a"))


def test_a_report_is_not_written_through_a_link(tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "precious.html"
    out.mkdir()
    elsewhere.write_text("precious")
    (out / "index.html").symlink_to(elsewhere)
    pages = [(SITE, url, html) for url, html in demo_pages(2)]
    with pytest.raises(LinkedOutputError, match=r"index\.html is a link"):
        write_report(
            out, Plan(lambda: iter(pages), MethodChoice("fusion")), RunFigures(["pages"], "fusion", "now", "0")
        )
    assert elsewhere.read_text() == "precious"


def test_clean_pages_are_not_written_through_a_link_and_the_command_says_so(tmp_path: Path) -> None:
    pages, out, elsewhere = tmp_path / "www.site.example", tmp_path / "out", tmp_path / "elsewhere"
    for folder in (pages, out, elsewhere):
        folder.mkdir()
    (pages / "one.html").write_text("<h1>One</h1><p>Some words to read on this page.")
    (out / "www.site.example").symlink_to(elsewhere)
    process = denoise(tmp_path, "clean", pages, "--as", "html", "-O", out, "--workers", "1", code=1)
    assert "www.site.example is a link, which is not followed" in process.stderr
    assert not list(elsewhere.iterdir())
