"""Elements and texts that mean more than their names say: the right value of each kind, by page."""

import json

import pytest
from lxml.html import fromstring

from denoise_crawler import kernel
from denoise_crawler.denoiser import denoise_pages
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.output.writing import Writing
from denoise_crawler.page import Page
from denoise_crawler.page.parsing import parse_as_shown

URL = "https://a.example/1"


def lines(html: str) -> list[str]:
    page = Page.parse(URL, f"<html><body>{html}</body></html>")
    return clean_text(page).splitlines()


@pytest.mark.parametrize(
    ("html", "line"),
    [
        ("<p>It was a <g>farce</g>, she said.</p>", "It was a farce, she said."),
        ("<h2>Locks <x-badge>new</x-badge></h2>", "Locks new"),
        ("<li>Call <code-ref>lock.free()</code-ref>, or wait.</li>", "- Call lock.free(), or wait."),
        (
            "<p>In <st1:place><st1:city>Ellery</st1:city>, Tarsova</st1:place>.<o:p></o:p></p>",
            "In Ellery, Tarsova.",
        ),
        ("<p>About <output>42</output> of <data value=50>50</data>.</p>", "About 42 of 50."),
        ("<p>A boat <picture><source srcset=a><img src=b alt=''></picture> came.</p>", "A boat came."),
        ("<p>町の<ruby><rb>議会</rb><rp>（</rp><rt>ぎかい</rt><rp>）</rp></ruby>は</p>", "町の議会（ぎかい）は"),
        ("<td><a href=/x>Open <x-icon>it</x-icon></a> now</td>", "Open it now"),
    ],
)
@pytest.mark.parametrize("has_core", [True, False])
def test_an_element_that_html_does_not_know_stays_in_its_sentence(
    monkeypatch: pytest.MonkeyPatch, html: str, line: str, has_core: bool
) -> None:
    if not has_core:
        monkeypatch.setattr(kernel, "reader", None)
    assert line in lines(html)


def test_an_unknown_element_that_holds_blocks_or_stands_alone_is_none_of_a_line() -> None:
    assert lines("<x-card><p>One.</p><p>Two.</p></x-card><x-card><p>Three.</p></x-card>") == [
        "One.",
        "Two.",
        "Three.",
    ]
    assert lines("<x-row>One.</x-row><x-row>Two.</x-row>") == ["One.", "Two."]


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("<x-a><template shadowrootmode=open><p>One <slot></slot>.</p></template>two</x-a>", "One two."),
        ("<x-a><template shadowrootmode=closed><h1><slot name=t></slot></h1><p>Text</p></template>"
         "<b slot=t>Title</b><i>never shown</i></x-a>", "TitleText"),
        ("<x-a><template shadowrootmode=open><x-b><template shadowrootmode=open><p>In <slot></slot></p></template>"
         "<slot></slot></x-b></template>deep</x-a>", "In deep"),
        ("<x-a><template shadowrootmode=open><slot>instead</slot></template></x-a>", "instead"),
        ("<template><p>never</p></template><p>shown</p>", "nevershown"),
    ],
)  # fmt: skip
def test_a_shadow_root_shows_its_template_with_the_children_in_its_slots(html: str, shown: str) -> None:
    root = parse_as_shown(html)
    assert root is not None
    assert "".join(map(str, root.itertext())) == shown


def test_the_tree_that_a_spider_has_keeps_its_templates() -> None:
    html = "<body><x-a><template shadowrootmode=open><p>The article stands here.</p></template></x-a>"
    own = fromstring(html)
    shared = Page.sharing(URL, html, lambda: own)
    assert "".join(shared.nodes.texts) == "The article stands here."
    assert len(own.xpath("//template")) == 1


@pytest.mark.parametrize(
    ("html", "line"),
    [
        ("<p>Unter\xadnehmer\xadkredit</p>", "Unternehmerkredit"),
        ("<p>sea&#8203;port and sea&zwj;port</p>", "seaport and seaport"),
        ("<p>می\u200cخواهم</p>", "می\u200cخواهم"),
        ("<p>ខ្ញុំ\u200bទៅ</p>", "ខ្ញុំ\u200bទៅ"),
        ("<p>👩\u200d🚀 flies</p>", "👩\u200d🚀 flies"),
        ("<p>She said <q>no</q>.</p>", "She said “no”."),
        ("<p lang=de>Sie sagte <q lang=de>nein, <b>nie</b></q>.</p>", "Sie sagte „nein, nie“."),
        ("<p>She said <q>“no”</q>.</p>", "She said “no”."),
        ("<p>Rain <img class=emoji alt=☔ src=/1.svg> all day</p>", "Rain ☔ all day"),
        ("<p><img class='wp-smiley' alt=🐝 src=/1.svg> hums</p>", "🐝 hums"),
        ("<p>Rain <img alt=☔ src=/photo.jpg> all day</p>", "Rain all day"),
        ("<p>Rain <img class=emoji alt=umbrella src=/1.svg> all day</p>", "Rain all day"),
    ],
)
def test_what_is_not_seen_is_dropped_and_what_is_seen_stays(html: str, line: str) -> None:
    assert lines(html) == [line]


@pytest.mark.parametrize(
    ("html", "heading"),
    [
        ("<div role=heading aria-level=3>In spring</div><p>Bees fly.</p>", "### In spring"),
        ("<p role='heading'>In spring</p><p>Bees fly.</p>", "## In spring"),
        ("<span role=heading aria-level=9>In spring</span><p>Bees fly.</p>", "## In spring"),
        ("<h4 role=heading aria-level=2>In spring</h4><p>Bees fly.</p>", "#### In spring"),
    ],
)
def test_an_element_with_the_role_of_a_heading_is_one(html: str, heading: str) -> None:
    assert heading.lstrip("# ") in lines(f"<h1>Bees</h1>{html}")
    page = Page.parse(URL, f"<body><h1>Bees</h1>{html}")
    assert f"h{heading.count('#')}" in page.nodes.tags


def cleaned(html: str, **options: str) -> str:
    [page] = denoise_pages([(URL, f"<body>{html}</body>")], method="link_ratio", **options)
    return str(page.text)


STORY = "The harbour council met for six hours on Tuesday before it agreed to pay for a new breakwater."


@pytest.mark.parametrize(
    ("html", "line"),
    [
        ("<a href=/x>the list<span class=sr-only> (opens in a new window)</span></a>", "the list"),
        ("<a href=/x><span class='visually-hidden'>External link: </span>the list</a>", "the list"),
        ("<a href=/x><i class=icon></i><span class=sr-only>the list</span></a>", "the list"),
        ("<span class=sr-only>the list</span>", "the list"),
    ],
)
def test_what_a_link_says_to_those_who_listen_is_no_text(html: str, line: str) -> None:
    assert f"{STORY} See {line}." in cleaned(f"<p>{STORY} See {html}.</p>").splitlines()


def test_the_link_to_the_source_of_a_function_is_no_text() -> None:
    link = "<a class=reference href=_modules/a.html><span class=viewcode-link><span>[source]</span></span></a>"
    text = cleaned(
        f"<dl><dt><code>run</code>(job){link}</dt><dd><p>{STORY}</p></dd></dl><p>Write [source] here.</p>"
    )
    assert "run(job)\n" in f"{text}\n"
    assert text.count("[source]") == 1


def test_a_page_that_says_why_it_was_passed_over() -> None:
    [large] = denoise_pages([(URL, "<p>x" * 50_001)])
    assert (large.skipped, large.text, large.confidence, large.error) == ("too_large", "", None, None)
    [empty] = denoise_pages([(URL, "")])
    assert (empty.skipped, empty.confidence) == ("empty", None)
    [read] = denoise_pages([(URL, f"<body><p>{STORY}</p>")])
    assert read.skipped is None


@pytest.mark.parametrize(("form", "gap"), [("text", "\n"), ("markdown", "\n\n")])
def test_of_a_page_that_is_a_script_the_declared_article_is_the_text(form: str, gap: str) -> None:
    item = {"@type": "NewsArticle", "articleBody": f"<p>{STORY}</p><p>{STORY} &amp; more.</p>{STORY}"}
    data = f"<script type=application/ld+json>{json.dumps(item)}</script><script src=app.js></script>"
    [page] = denoise_pages([(URL, f"<body><div id=root>Loading…</div>{data}")], writing=Writing(form))
    assert str(page.text).strip() == gap.join([STORY, f"{STORY} & more.", STORY])
    assert (page.method, page.confidence) == ("fusion+json_ld", None)
    [page] = denoise_pages([(URL, f"<body><p>{STORY * 4}</p>{data}")], writing=Writing(form))
    assert page.method == "fusion"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('<p>Run <code style="white-space: pre">def f():\n    return 1</code> now.</p>',
         ["Run", "def f():", "    return 1", "now."]),
        ('<div style="margin:0;white-space:pre">a:\n  - b<br>  - c</div>', ["a:", "  - b", "  - c"]),
        ('<pre><code style="white-space:pre">a\n  b</code></pre>', ["a", "  b"]),
        ('<p style="white-space: pre-wrap">One\n  sentence.</p>', ["One sentence."]),
        ('<div style="white-space:pre"><h2>A</h2>\n<p>one\n two</p></div>', ["A", "one two"]),
        ('<table><tr><td style="white-space:pre">a\n b<td>c</table>', ["a b\tc"]),
    ],
)  # fmt: skip
def test_a_style_that_keeps_lines_makes_code_of_text_and_of_nothing_else(html: str, text: list[str]) -> None:
    assert lines(html) == text
