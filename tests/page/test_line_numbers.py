from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler import core
from denoise_crawler.core import compiled
from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.output.clean_html import clean_html
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.output.writing import FORMS, Writing, write_content
from denoise_crawler.page import Page

CODE = ["let boat = harbour();", "boat.sail();", "return boat;"]
PRE = f"<pre>{chr(10).join(CODE)}</pre>"
NUMBERS = "".join(f"<span class=line>{number}</span><br>" for number in (1, 2, 3))
NUMBERED = {
    "Hexo": f"<table><tr><td class=gutter><pre>{NUMBERS}</pre></td><td class=code>{PRE}</td></tr></table>",
    "a bare table": f"<table><tr><td>1\n2\n3</td><td>{PRE}</td></tr></table>",
    "an anchor before them": f"<table><tr><td><p><a name=x></a></p>1\n2\n3</td><td>{PRE}</td></tr></table>",
    "Hugo": "<table><tr><td class=lntd><pre><code>"
    + "".join(f"<span class=lnt>{number}\n</span>" for number in (1, 2, 3))
    + f"</code></pre></td><td class=lntd>{PRE}</td></tr></table>",
    "Rouge": f'<table><tr><td class="rouge-gutter"><pre>1\n2\n3\n</pre></td><td>{PRE}</td></tr></table>',
    "Pygments": "<pre>"
    + "\n".join(f"<span class=linenos>{number}</span>{line}" for number, line in enumerate(CODE, 1))
    + "</pre>",
    "a cell a line": "<table>"
    + "".join(
        f"<tr><td class=blob-num>{number}</td><td><code>{line}</code></td></tr>"
        for number, line in enumerate(CODE, 1)
    )
    + "</table>",
    "an excerpt of one line": "<table><tr><td>41</td><td><pre>boat.sail();</pre></td></tr></table>",
}
KEPT = {
    "a table that counts": "<table><tr><td>1<td><code>ls</code><tr><td>2<td><code>cd</code></table>",
    "years beside code": f"<table><tr><td>1999 2004 2026</td><td>{PRE}</td></tr></table>",
    "three cells": f"<table><tr><td>1 2 3</td><td>{PRE}</td><td>so</td></tr></table>",
    "cells without code": "<table><tr><td>1 2 3</td><td>Third street</td></tr></table>",
    "a gutter with words": "<div class=gutter>3 boats</div>",
    "code that gets its numbers later": "<pre class=line-numbers><code class=language-text>1\n2\n3</code></pre>",
}


def page_of(markup: str) -> Page:
    return Page.parse(
        "https://boats.example/", f"<title>Boats</title><p>We write code for boats here.</p>{markup}"
    )


def figures(text: str) -> list[str]:
    return [word for word in text.replace("|", " ").split() if word.isdecimal()]


@pytest.mark.parametrize("name", NUMBERED)
def test_numbers_of_lines_are_no_text_in_any_form(name: str) -> None:
    page = page_of(NUMBERED[name])
    assert not figures(" ".join(page.nodes.texts))
    assert not figures(" ".join(page.once(blocks_of).texts))
    for form in FORMS:
        content = write_content(page, writing=Writing(form=form))
        written = content if isinstance(content, str) else msgspec.json.encode(content).decode()
        assert not figures(re.sub(r"<[^>]*>|[^\w\s]", " ", written).replace("level 1", ""))
        assert "boat" in written
    assert not figures(clean_text(page))
    assert not figures(" ".join(Page.parse("https://boats.example/", clean_html(page)).nodes.texts))
    assert "boat.sail();" in " ".join(page.nodes.texts)


@pytest.mark.parametrize("name", KEPT)
def test_other_figures_stay(name: str) -> None:
    page = page_of(KEPT[name])
    assert figures(" ".join(page.nodes.texts))


PARTS = (
    *(
        "<tr>",
        "<td class=gutter>",
        "<td>",
        "<th>",
        "<pre>",
        "<code>",
        "<span class=ln>",
        "<div class=line-numbers>",
    ),
    *("</td>", "</pre>", "</div>", "</span>", "1 ", "\n2\n", "3", "x", "\u00a04", "<!--c-->", "<br>", "<table>"),
)


@pytest.mark.skipif(compiled("walk") is None, reason="the core is not built")
@given(st.lists(st.sampled_from(PARTS), max_size=24))
def test_the_core_leaves_out_the_numbers_that_the_python_code_leaves_out(parts: list[str]) -> None:
    texts = []
    for mode in ("auto", "off"):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(core, "mode", mode)
            texts.append(page_of("".join(parts)).nodes.texts)
    assert texts[0] == texts[1]


def test_gutters_inside_each_other_are_not_read_for_ever() -> None:
    nested = "<div class=gutter>" * 150 + "1 " * 60_000 + "boats"
    page = page_of(nested)
    assert "boats" in page.nodes.texts[-1]
