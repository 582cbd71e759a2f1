from __future__ import annotations

import pytest

from denoise_crawler.output.content.blocks import Code
from tests.output.content.reading import blocks_of


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<pre class=language-py>x</pre>", "py"),
        ("<pre><code class='hljs language-c++'>x</code></pre>", "c++"),
        ("<pre data-lang=SQL>x</pre>", "sql"),
        ("<pre><code data-language=yaml>x</code></pre>", "yaml"),
        ("<div class='highlight highlight-source-js'><pre>x</pre></div>", "js"),
        ("<div class='highlight-python notranslate'><div class=highlight><pre>x</pre></div></div>", "python"),
        ("<pre class='brush: java; gutter: false'>x</pre>", "java"),
        ("<div class=sourceCode><pre class='sourceCode haskell'>x</pre></div>", "haskell"),
        ("<pre><code class='rust hljs'>x</code></pre>", "rust"),
        ("<pre class='src src-elisp'>x</pre>", "elisp"),
        ("<pre class=language-none>x</pre>", ""),
        ("<pre class='highlight wrap'>x</pre>", ""),
        ("<div class=language-py><pre>y</pre><pre>x</pre></div>", ""),
    ],
)
def test_the_language_is_what_the_markup_says(html: str, language: str) -> None:
    assert blocks_of(html)[-1] == Code("x", language)


@pytest.mark.parametrize(
    "html",
    [
        "<pre>a\n\n  b</pre>",
        "<pre><button>Copy</button>a\n\n  b<div class=copy-btn>Copy</div></pre>",
        "<pre><span class=lineno>1</span>a\n<span class=lineno>2</span>\n<span class=lineno>3</span>  b</pre>",
        "<pre><div class=line>a</div><div class=line></div><div class=line>  b</div></pre>",
        "<pre><span class=line>a</span><span class=line></span><span class=line>  b</span></pre>",
        "<pre><code><span class=line>a</span>\n<span class=line></span>\n<span class=line>  b</span></code></pre>",
        "<pre><div><span>1</span><div>a</div></div><div><span>2</span><div></div></div>"
        "<div><span>3</span><div>  b</div></div></pre>",
        "<pre>a<br><br>  b</pre>",
        "<pre><ol><li>a<li><li>  b</ol></pre>",
        "<table class=highlighttable><tr><td class=linenos><pre>1\n2\n3</pre><td class=code>"
        "<pre>a\n\n  b</pre></table>",
        "<table><tr><td><pre>1\n2\n3</pre><td><div><pre>a\n\n  b</pre></div></table>",
        "<pre><table class=hljs-ln><tr><td class=hljs-ln-numbers>1<td>a<tr><td class=hljs-ln-numbers>2<td>"
        "<tr><td class=hljs-ln-numbers>3<td>  b</table></pre>",
        "<div class=CodeMirror-code><div><div class=CodeMirror-linenumber>1</div>"
        "<pre class=CodeMirror-line>a</pre></div>"
        "<div><div class=CodeMirror-linenumber>2</div><pre class=CodeMirror-line></pre></div>"
        "<div><div class=CodeMirror-linenumber>3</div><pre class=CodeMirror-line>  b</pre></div></div>",
        "<p><code style='white-space: pre'>\na\n\n  b\n</code>",
        "<div><code>a\n\n  b</code></div>",
        "<p><span><code>a<br>\n<br>\n&nbsp; b</code></span>",
        "<div><div class=cm-line>a</div><div class=cm-line><br></div><div class=cm-line>  b</div></div>",
        "<section><div class=view-line style='top:38px'><span>&nbsp; b</span></div>"
        "<div class=view-line style='top:0px'><span>a</span></div>"
        "<div class=view-line style='top:19px'><span></span></div></section>",
    ],
)
def test_every_line_of_code_is_kept_without_numbers_and_buttons(html: str) -> None:
    assert blocks_of(html) == [Code("a\n\n  b")]


def test_numbers_that_are_code_stay() -> None:
    assert blocks_of("<pre>1\n2\n3</pre>") == [Code("1\n2\n3")]
    assert blocks_of("<pre><div><b>7</b> a</div><div><b>9</b> b</div></pre>") == [Code("7 a\n9 b")]


def test_a_block_of_code_is_kept_whole_or_not_at_all() -> None:
    html = "<pre><b>a line of code</b>\nb</pre>"
    assert blocks_of(html, [False, False, False, False, True]) == [Code("a line of code\nb")]
    assert blocks_of(html, [False, False, True, True, False]) == []


@pytest.mark.parametrize("style", ["style='display: block'", "class=code-block", "class='highlight block'"])
def test_a_code_that_stands_alone_and_is_styled_as_a_block_is_one(style: str) -> None:
    assert blocks_of(f"<p>Run:<div><code {style}>make it</code></div>")[-1] == Code("make it")


@pytest.mark.parametrize(
    "html",
    [
        *("<p>Run <code>a\nb</code>", "<p><code>a\nb</code> runs", "<p><b>Run</b> <code class=block>a</code>"),
        *("<h2><code>a\nb</code></h2>", "<dl><dt><code>a\nb</code></dl>", "<p><code>make it</code>"),
        *("<p><a href=/x><code>a\nb</code></a>", "<code>never closed<h2>A\nheading</h2><p>Text</p>"),
        "<table><tr><th>a<th>b<tr><td>c<td><code>a\nb</code></table>",
        "<p>Run" + "<i></i>" * 100 + "<code>a\nb</code>",
    ],
)
def test_a_code_in_a_line_a_heading_or_a_cell_is_no_block(html: str) -> None:
    assert not [block for block in blocks_of(html) if isinstance(block, Code)]
