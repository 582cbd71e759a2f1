"""Formulas and code."""

import re
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler import kernel
from denoise_crawler.output.content.blocks import Code, Formula, Paragraph
from denoise_crawler.output.writing import Content
from denoise_crawler.page import Page
from denoise_crawler.page.signs import may_be_formulas
from tests.output.content.reading import blocks_of, shown, written

MATHML = "<math><mi>a</mi><mo>+</mo><mn>2</mn>{}</math>"
KATEX = (
    "<span class=katex><span class=katex-mathml><math><semantics><mi>x</mi>"
    "<annotation encoding='application/x-tex'>x_1</annotation></semantics></math></span>"
    "<span class=katex-html aria-hidden=true><span>x</span><span>1</span></span></span>"
)


@pytest.mark.parametrize(
    ("html", "latex"),
    [
        ("<math alttext='a^2'><mi>a</mi><mn>2</mn></math>", "a^2"),
        (
            "<math><semantics><mi>a</mi><annotation encoding='application/x-tex'>"
            "\\alpha</annotation></semantics></math>",
            r"\alpha",
        ),
        (KATEX, "x_1"),
        ("<span class=math-inline data-math='\\forall x'><span class=katex>∀x</span></span>", r"\forall x"),
        ("<script type='math/tex'>E_u</script>", "E_u"),
        (
            "<span class=MathJax_Preview>E</span>"
            "<span class=MathJax id=m-Frame><span>E</span><span>u</span></span>"
            "<script type='math/tex' id=m>E_u</script>",
            "E_u",
        ),
        (
            "<mjx-container><svg><path></path></svg><mjx-assistive-mml><math alttext='r_p'><mi>r</mi></math>"
            "</mjx-assistive-mml></mjx-container>",
            "r_p",
        ),
        ("\\(E = mc^2\\)", "E = mc^2"),
        (
            "<span class=mwe-math-element><span><math alttext='{\\displaystyle ax^{2}}'>"
            "<mi>a</mi></math></span>"
            "<img class=mwe-math-fallback-image-inline src=q.svg alt='{\\displaystyle ax^{2}}'></span>",
            "ax^{2}",
        ),
        ("<img src='https://s0.wp.com/latex.php?latex=e%5E%7Bi+%5Cpi%7D&bg=fff' alt='e'>", r"e^{i+\pi}"),
        ("<img src='https://latex.codecogs.com/svg.image?%5Cfrac%7Ba%7D%7Bb%7D'>", r"\frac{a}{b}"),
        ("<img class=latex src=1.png alt='x_{n+1}'>", "x_{n+1}"),
    ],
)
def test_a_formula_is_written_as_latex_once(html: str, latex: str) -> None:
    page = f"<p>As {html} says"
    assert written(page) == f"As ${latex}$ says"
    assert written(page, "text") == (f"As {html} says" if html.startswith("\\") else f"As {latex} says")
    assert rf"\({latex}\)" in written(page, "html")
    [paragraph] = blocks_of(page)
    assert isinstance(paragraph, Paragraph)
    assert [piece for piece in paragraph.content if isinstance(piece, Formula)] == [Formula(latex)]


@pytest.mark.parametrize(
    "html",
    [
        "<math display=block alttext='a &amp; b'><mi>a</mi></math>",
        "<script type='math/tex; mode=display'>a & b</script>",
        "\\[a &amp; b\\]",
        "<p>$$a &amp; b$$",
        "<p>$$<br>a &amp; b<br>$$",
        "<p>\\begin{align}a &amp; b\\end{align}",
        "<span class=katex-display><span class=katex><math alttext='a &amp; b'><mi>a</mi></math></span></span>",
    ],
)
def test_a_formula_with_a_line_of_its_own_is_a_block(html: str) -> None:
    markdown = written(f"<div>One</div>{html}<div>two</div>")
    assert re.fullmatch(r"One\n\n\$\$\n(\\begin\{align\})?a & b(\\end\{align\})?\n\$\$\n\ntwo", markdown)


def test_a_formula_in_a_script_stands_at_its_place_in_the_text() -> None:
    script = "<script type='math/tex'>{}</script>"
    assert (
        written(
            f"<p>We <b>call</b> {script.format('a')} and<!-- c --> {script.format('b')} so.<p>{script.format('c')}"
        )
        == "We **call** $a$ and $b$ so.\n\n$$\nc\n$$"
    )


@pytest.mark.skipif(find_spec("mathml_to_latex") is None, reason="needs the extra formulas")
def test_mathml_without_its_latex_is_converted() -> None:
    frac = "<mfrac><mi>a</mi><msqrt><mi>b</mi></msqrt></mfrac>"
    assert written(f"<p>So {MATHML.format(frac)}") == r"So $a + 2 \frac{a}{\sqrt{b}}$"


def test_mathml_without_its_latex_is_its_characters_where_no_converter_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("denoise_crawler.output.content.latex._converters", [None])
    assert written(f"<p>So {MATHML.format('')}.") == "So a + 2 ."
    assert written(f"<p>So {MATHML.format('')}.", "text") == "So a + 2 ."


def test_mathml_of_any_depth_ends() -> None:
    assert "x" in written("<p>a<math>" + "<mrow>" * 1_500 + "<mi>x</mi></math>")


def test_formulas_in_code_and_in_noise_are_none() -> None:
    assert written("<pre>\\(a\\)</pre><p><code>$$b$$</code>") == "```\n\\(a\\)\n```\n\n`$$b$$`"
    assert blocks_of("<p>a<math alttext=x><mi>x</mi></math>", [False, True, True, True, True, True]) == []


def test_single_dollars_are_formulas_only_where_the_page_loads_a_library_and_they_hold_latex() -> None:
    html = "<p>Let $x$ and $\\alpha_1$ be for $5 or 6$ dollars"
    assert written(html) == "Let \\$x\\$ and \\$\\\\alpha_1\\$ be for \\$5 or 6\\$ dollars"
    assert written(f"<script src=mathjax/tex.js></script>{html}") == (
        "Let $x$ and $\\alpha_1$ be for \\$5 or 6\\$ dollars"
    )


@pytest.mark.parametrize("latex", ["a<b", "[x](javascript:y)", "a % c\nb", "- a", "# a", "<img src=x onerror=y>"])
def test_no_reader_of_markdown_finds_markup_in_a_formula(latex: str) -> None:
    markdown = written(f"<p>A<script type='math/tex; mode=display'>{latex}</script>")
    assert shown(markdown).startswith("A$$")
    assert "](" not in markdown
    assert not re.search(r"<[a-z/]", markdown)


@pytest.mark.parametrize(
    ("picture", "latex"),
    [
        ("width=20 height=19 alt='x^2'", "x^2"),
        ("style='vertical-align: -3px' alt='\\frac{a}{b}'", r"\frac{a}{b}"),
        ("style='height: 2.5ex' alt='E = m c^2'", "E = m c^2"),
        ("align=middle alt='$a_1$'", "a_1"),
        ("height=25px alt='sin x = 1'", "sin x = 1"),
    ],
)
def test_a_small_picture_whose_text_reads_as_a_formula_is_one(picture: str, latex: str) -> None:
    html = f"<p>So <img src=1.gif {picture}> holds."
    assert written(html, pictures="leave") == f"So ${latex}$ holds."
    assert written(html, "text") == f"So {latex} holds."


@pytest.mark.parametrize(
    "picture",
    [
        *("height=400 alt='x^2'", "alt='x^2'", "height=40 alt='price = 5 dollars'", "height=9 alt='^'"),
        *("height=20 alt='C:\\Users\\me'", "height=20 alt='$'", "height=20 alt='a_b.png'"),
    ],
)
def test_a_large_picture_or_one_with_another_text_is_a_picture(picture: str) -> None:
    assert "$" not in written(f"<p>So <img src=1.gif {picture}> holds.", pictures="leave")


PROSE = st.lists(
    st.sampled_from(["$5", "$", "5$", "US$", "$10.50", "cost", "and", "$AAPL", "a_b", "or.", "(", "$$", "100"]),
    max_size=25,
).map(" ".join)


@given(PROSE, st.booleans())
def test_a_dollar_sign_in_prose_is_never_read_as_a_formula(prose: str, math_page: bool) -> None:
    script = "<script src=katex.js></script>" if math_page else ""
    markdown = written(f"{script}<p>So {prose.replace('$$', '$ $')}")
    assert "$" not in re.sub(r"\\\$", "", markdown) or markdown.count("$") == 1
    assert shown(markdown) == "".join(f"So {prose}".split())


def test_a_formula_that_was_never_closed_does_not_swallow_the_page() -> None:
    page = Page.parse("https://a.example/", "<p>One.<math><div>Two.</div><p>Three.")
    assert Content(page).written() == "One.\nTwo.\nThree."


@pytest.mark.skipif(kernel.reader is None, reason="the Python code looks at each picture")
@pytest.mark.parametrize(
    ("address", "may_show"),
    [
        *(("/path/a.png", False), ("/weather/father.jpg", False), ("/cathedral.svg", False)),
        *(("/mathtex.cgi?x", True), ("/media/math/render/svg/a", True), ("/Math/1.png", True)),
        *(("/a?cht=tx", True),),
    ],
)
def test_only_an_address_that_names_formulas_has_the_page_searched_for_them(address: str, may_show: bool) -> None:
    page = Page.parse("", f"<p>A picture <img src='{address}' alt='x'> stands here.")
    assert bool(may_be_formulas(page.nodes)) is may_show


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
