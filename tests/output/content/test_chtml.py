from __future__ import annotations

import pytest
from lxml import etree

from denoise_crawler.output.content.mathml import MAX_DRAWN_ELEMENTS, math_of_chtml, readable_math
from denoise_crawler.page import Page
from tests.output.content.reading import written


def token(name: str, letters: str) -> str:
    drawn = "".join(f"<mjx-c class='mjx-c{ord(letter):X} TEX-I'></mjx-c>" for letter in letters)
    return f"<mjx-{name} class=mjx-n>{drawn}</mjx-{name}>"


X, N, TWO, SUM = token("mi", "\U0001d465"), token("mi", "\U0001d45b"), token("mn", "2"), token("mo", "\u2211")
FRACTION = (
    "<mjx-mfrac><mjx-frac><mjx-num><mjx-nstrut></mjx-nstrut>{}</mjx-num><mjx-dbox><mjx-dtable><mjx-line></mjx-line>"
    "<mjx-row><mjx-den><mjx-dstrut></mjx-dstrut>{}</mjx-den></mjx-row></mjx-dtable></mjx-dbox></mjx-frac></mjx-mfrac>"
)
SURD = token("mo", "\u221a")
ROOT = f"<mjx-sqrt><mjx-surd>{SURD}</mjx-surd><mjx-box>{X}</mjx-box></mjx-sqrt>"
LIMITS = (
    f"<mjx-munderover><mjx-over>{N}</mjx-over><mjx-box><mjx-munder><mjx-row><mjx-base>{SUM}</mjx-base></mjx-row>"
    f"<mjx-row><mjx-under><mjx-texatom>{X}{token('mo', '=')}{TWO}</mjx-texatom></mjx-under></mjx-row></mjx-munder>"
    "</mjx-box></mjx-munderover>"
)
BRACKET = "<mjx-mo><mjx-stretchy-v class='mjx-c28'><mjx-beg><mjx-c></mjx-c></mjx-beg></mjx-stretchy-v></mjx-mo>"


def container(drawn: str) -> str:
    return f"<mjx-container class=MathJax jax=CHTML><mjx-math class=MJX-TEX>{drawn}</mjx-math></mjx-container>"


def mathml_of(drawn: str) -> str:
    root = Page.parse("", container(drawn)).root
    assert root is not None
    math = math_of_chtml(root)
    return "" if math is None else etree.tostring(math, encoding="unicode").replace("mrow", "r")


@pytest.mark.parametrize(
    ("drawn", "mathml"),
    [
        (
            f"<mjx-msup>{X}<mjx-script>{TWO}</mjx-script></mjx-msup>",
            "<msup><r><mi>x</mi></r><r><mn>2</mn></r></msup>",
        ),
        (
            f"<mjx-msub>{X}<mjx-script>{N}</mjx-script></mjx-msub>",
            "<msub><r><mi>x</mi></r><r><mi>n</mi></r></msub>",
        ),
        (
            f"<mjx-msubsup>{X}<mjx-script>{TWO}<mjx-spacer></mjx-spacer>{N}</mjx-script></mjx-msubsup>",
            "<msubsup><r><mi>x</mi></r><r><mi>n</mi></r><r><mn>2</mn></r></msubsup>",
        ),
        (FRACTION.format(X, TWO), "<mfrac><r><mi>x</mi></r><r><mn>2</mn></r></mfrac>"),
        (f"<mjx-msqrt>{ROOT}</mjx-msqrt>", "<msqrt><mi>x</mi></msqrt>"),
        (
            f"<mjx-mroot><mjx-root>{TWO}</mjx-root>{ROOT}</mjx-mroot>",
            "<mroot><r><mi>x</mi></r><r><mn>2</mn></r></mroot>",
        ),
        (
            LIMITS,
            "<munderover><r><mo>\u2211</mo></r><r><r><mi>x</mi><mo>=</mo><mn>2</mn></r></r><r><mi>n</mi></r></munderover>",
        ),
        (
            f"<mjx-munder><mjx-row><mjx-base>{X}</mjx-base></mjx-row><mjx-row><mjx-under>{N}</mjx-under></mjx-row>"
            "</mjx-munder>",
            "<munder><r><mi>x</mi></r><r><mi>n</mi></r></munder>",
        ),
        (
            f"<mjx-mtable><mjx-itable><mjx-mtr><mjx-mtd>{X}</mjx-mtd></mjx-mtr></mjx-itable></mjx-mtable>",
            "<mtable><mtr><mtd><mi>x</mi></mtd></mtr></mtable>",
        ),
        (BRACKET + TWO, "<mo>(</mo><mn>2</mn>"),
        ("<mjx-mtext><mjx-utext>\u0436</mjx-utext></mjx-mtext>", "<mtext>\u0436</mtext>"),
        (X + "<mjx-mspace></mjx-mspace><mjx-mphantom>" + N + "</mjx-mphantom>", "<mi>x</mi>"),
    ],
)
def test_what_is_drawn_is_what_was_written(drawn: str, mathml: str) -> None:
    assert mathml_of(drawn) == f"<math><r>{mathml}</r></math>"


def test_a_drawn_formula_without_mathml_is_written() -> None:
    pytest.importorskip("mathml_to_latex", reason="needs the extra formulas")
    html = f"<p>It holds that {container(FRACTION.format(X, TWO))} is small."
    assert written(html) == r"It holds that $\frac{x}{2}$ is small."
    assert written(html, "text") == r"It holds that \frac{x}{2} is small."


def test_a_drawing_that_is_too_large_or_empty_is_no_formula() -> None:
    assert mathml_of("") == mathml_of(X * (MAX_DRAWN_ELEMENTS // 4)) == ""
    assert (
        mathml_of("".join(f"<mjx-c class=mjx-c{code}></mjx-c>" for code in ("00", "0B", "D800", "FFFFFF"))) == ""
    )
    assert "It" in written(f"<p>It is {container('')} empty.")


def test_a_drawing_of_any_depth_or_of_parts_that_nothing_holds_is_read() -> None:
    deep = etree.fromstring(
        "<c>" + "<mjx-mrow>" * 200 + X.replace("'", '"').replace("=mjx-n", '="n"') + "</mjx-mrow>" * 200 + "</c>"
    )
    found = math_of_chtml(deep)
    assert found is not None
    assert readable_math(found) == "x"
    assert mathml_of(f"<mjx-num>{X}</mjx-num><mjx-mfrac></mjx-mfrac>") == ""
