from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denoise_crawler import core
from denoise_crawler.page import Page
from denoise_crawler.page.unseen import hiding_selectors, is_hiding, unseen_of
from tests.strategies import html_pages


def seen(html: str) -> tuple[list[str], list[str]]:
    """Return the texts that are hidden, and those in panels."""
    page = Page.parse("https://a.example/1", f"<p>Seen</p>{html}")
    unseen = page.once(unseen_of)
    if unseen is None:
        return [], []
    texts = page.nodes.texts
    hidden, panel = ([text for text, one in zip(texts, bits, strict=True) if one and text] for bits in unseen)
    return hidden, panel


@pytest.mark.parametrize(
    "attributes",
    [
        "hidden", "style='color:red; display : none'", "style=visibility:hidden", "class='a sr-only'",
        "style='position:absolute; left:-9999px'", "style='height:0; overflow:hidden'", "style='DISPLAY:NONE'",
        "style='position:absolute;clip:rect(0,0,0,0)'", "class=w-condition-invisible",
    ],
)  # fmt: skip
def test_what_attributes_hide_is_hidden(attributes: str) -> None:
    assert seen(f"<div {attributes}>Spam</div>") == (["Spam"], [])


@pytest.mark.parametrize(
    "attributes",
    [
        "aria-hidden=true",
        "style='height:0'",
        "style='left:-1px'",
        "style='position:relative;overflow:hidden'",
        "class=x",
    ],
)
def test_what_is_seen_is_not_hidden(attributes: str) -> None:
    assert seen(f"<div {attributes}>Seen too</div>") == ([], [])


@pytest.mark.parametrize("attributes", ["class='a b'", "id=c", "class=d"])
def test_what_the_page_s_own_sheet_hides_is_hidden(attributes: str) -> None:
    sheet = (
        "/* .x { */ .a{display:none} #c { position: fixed; top: -2000px } @media print{.e{display:none}}"
        "div.d{clip:rect(0 0 0 0)}"
    )
    assert seen(f"<style>{sheet}</style><div {attributes}>Spam</div><p class='d e'>Seen too") == (["Spam"], [])


@pytest.mark.parametrize(
    "html",
    [
        "<details><summary>Opens</summary></details>",
        "<div role=tabpanel hidden>Opens</div>",
        "<div hidden=until-found>Opens</div>",
        "<div><button aria-expanded=false aria-controls=x></button></div><div id=x style=display:none>Opens</div>",
        "<section><h3><a aria-expanded=false href=#y></a></h3><div hidden>Opens</div></section>",
        "<div class=accordion-body style=display:none>Opens</div>",
        "<style>.p{display:none}.p.open{display:block}</style><div class=p>Opens</div>",
        "<style>.p{display:none}@media (min-width:9em){.p{display:block}}</style><div class=p>Opens</div>",
    ],
)
def test_what_opens_is_in_a_panel_and_not_hidden(html: str) -> None:
    assert seen(html) == ([], ["Opens"])


def test_a_class_that_a_later_rule_shows_is_not_hidden() -> None:
    assert dict(hiding_selectors([".a{display:none}.a{display:block}", ".b{display:block}.b{display:none}"])) == {
        ".b": "hides"
    }


def test_sheets_for_print_and_for_browsers_without_scripts_hide_nothing() -> None:
    sheets = "<style media=print>.a{display:none}</style><noscript><style>.a{display:none}</style></noscript>"
    assert seen(f"{sheets}<p class=a>Seen too") == ([], [])


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from("{}/*@;:.#ad-9 hidden,none"), max_size=200))
def test_no_sheet_and_no_style_raises(sheet: str) -> None:
    hiding_selectors([sheet, ".a{display:none}" + sheet])
    is_hiding(sheet)


@pytest.mark.parametrize("part", ["/*", "{", "}", ".a{", ".a{display:none}", "display:", ".a,"])
def test_a_long_sheet_is_read_in_linear_time(part: str) -> None:
    hiding_selectors([part * 200_000])


@pytest.mark.skipif(core.why_not() is not None, reason=f"no compiled core: {core.why_not()}")
@settings(max_examples=50, deadline=None)
@given(html_pages(40))
def test_the_same_is_found_without_the_compiled_core(html: str) -> None:
    found = []
    for mode in ("require", "off"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(core, "mode", mode)
            found.append(seen(f"<style>.a{{display:none}}</style>{html}<i style=display:none class=a>x</i>"))
    assert found[0] == found[1]
