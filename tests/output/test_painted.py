import random
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from resiliparse.parse.html import HTMLTree, NodeType

from denoise_crawler.methods import Judgement, MethodChoice, apply_guard
from denoise_crawler.methods.base import inherit
from denoise_crawler.output.painted import painted_html
from denoise_crawler.output.writing import RENDERINGS
from denoise_crawler.page import TEXT, Page
from tests import chromium
from tests.attacks import attack
from tests.chromium import DESKTOP, PHONE, opened, running
from tests.loopback import nothing, serving
from tests.strategies import html_pages

BASE = "https://ledger.example"
CONTENT, NOISE = "content", "noise"
OPAQUE = {"button", "select", "option", "datalist", "textarea", "svg"}


def page(html: str | bytes, url: str = "https://example.com/news/1") -> Page:
    return Page.parse(url, html)


def judged(one: Page, *noisy_texts: str) -> Judgement:
    """Noise is what holds one of ``noisy_texts`` and, upwards, nothing but noise."""
    nodes = one.nodes
    noise = [any(text in mine for text in noisy_texts) for mine in nodes.texts]
    for index in range(len(nodes) - 1, 0, -1):
        below = list(nodes.children(index))
        if nodes.tags[index] is not TEXT and below:
            noise[index] = all(noise[child] for child in below)
    return Judgement(noise, [0.5] * len(nodes), lambda index: f"because {index}")


def browser_tree(html: str) -> Iterator[tuple[Any, list[str], list[str]]]:
    """Yield (node, verdicts above or at it, tags above it) as an HTML5 parser builds the body; not the legend."""
    waiting = [(HTMLTree.parse(html).body, [], [])]
    while waiting:
        node, verdicts, tags = waiting.pop()
        if node.type == NodeType.ELEMENT:
            if node.getattr("id") == "denoise-legend":
                continue
            verdicts = [*verdicts, *filter(None, [node.getattr("data-denoise")])]
        yield node, verdicts, tags
        waiting += [(child, verdicts, [*tags, node.tag]) for child in reversed(list(node.child_nodes))]


def painted_texts(html: str) -> list[tuple[str, list[str]]]:
    """The texts of the painted page with the verdicts of the parts around them."""
    return [
        (node.value.strip(), verdicts)
        for node, verdicts, tags in browser_tree(html)
        if node.type == NodeType.TEXT and node.value.strip() and not OPAQUE.union(["style"]).intersection(tags)
    ]


def marks(html: str) -> list[tuple[str, str]]:
    """The painted elements: their name with id or class, and the verdict."""
    found = re.findall(r"<(\w+)([^>]*) data-denoise=\"(\w+)\"", html)
    named = [(tag, re.search(r"(?:id|class)=\"([^\"]+)", rest), verdict) for tag, rest, verdict in found]
    return [(f"{tag}.{name[1]}" if name else tag, verdict) for tag, name, verdict in named]


# --- what is painted


def test_blocks_that_hold_lines_of_one_verdict_are_painted_and_nothing_inside_of_them() -> None:
    one = page(
        """<body><div class=top><ul><li><a href=/>Home</a><li><a href=/w>World</a></ul></div>
        <div class=main><h1>Headline</h1><div class=text><p>First <b>bold</b> words</div>
        <table><tr><td class=ad>Buy</table></div><div class=foot>Rights</div>"""
    )
    html = painted_html(one, judged(one, "Home", "World", "Buy", "Rights"))
    noise = [("li", NOISE), ("li", NOISE), ("td.ad", NOISE), ("div.foot", NOISE)]
    assert marks(html) == [*noise[:2], ("h1", CONTENT), ("p", CONTENT), *noise[2:]]


def test_loose_text_beside_noise_is_painted_in_a_span() -> None:
    one = page("<div>Loose <!-- c --> words <i>noise</i> and more<script>x</script> and most</div>")
    html = painted_html(one, judged(one, "noise"))
    assert painted_texts(html) == [
        ("Loose", [CONTENT]),
        ("words", [CONTENT]),
        ("noise", [NOISE]),
        ("and more", [CONTENT]),
        ("and most", [CONTENT]),
    ]
    assert marks(html) == [
        ("span", CONTENT),
        ("span", CONTENT),
        ("span", NOISE),
        ("span", CONTENT),
        ("span", CONTENT),
    ]


def test_what_holds_nothing_to_see_parts_no_block() -> None:
    one = page("<div class=text><p>One<br>Two</p><hr><p></p>Three</div><div class=foot>noise</div>")
    judgement = judged(one, "noise")
    for index, tag in enumerate(one.nodes.tags):
        judgement.noise[index] |= tag in ("br", "hr")
    assert marks(painted_html(one, judgement)) == [("p", CONTENT), ("span", CONTENT), ("div.foot", NOISE)]


def test_a_picture_that_was_judged_otherwise_is_a_part_of_its_own() -> None:
    one = page("<div class=text>Words <img class=pixel src=p.gif> <img class=photo src=x></div><p>noise</p>")
    judgement = judged(one, "noise")
    judgement.noise[one.nodes.tags.index("img")] = True
    html = painted_html(one, judgement)
    assert marks(html) == [("div.text", CONTENT), ("img.pixel", NOISE), ("p", NOISE)]


def test_each_part_says_why_and_how_sure() -> None:
    one = page("<h1 title=old>Title</h1><p>noise")
    html = painted_html(one, judged(one, "noise"))
    assert re.findall('title="([^"]*)"', html) == [
        "content: because 1 (score 0.50)",
        "noise: because 3 (score 0.50)",
    ]


def test_the_legend_names_the_method_and_the_share_removed() -> None:
    one = page("<p>content</p><p>noise!!</p>")
    html = painted_html(one, judged(one, "noise"), method="style_tree")
    assert "<summary>style_tree</summary>" in html
    assert "50% of 14 visible characters removed" in html
    kept = apply_guard(one, Judgement([True] * len(one.nodes), [0.0] * len(one.nodes)))
    assert "next to nothing was left, so a safer verdict was taken" in painted_html(one, kept)


# --- it looks like the page


def test_style_sheets_charset_base_title_and_doctype_are_those_of_the_page() -> None:
    one = page(
        b"""<!DOCTYPE html><html lang=zh class=wide><head><meta charset=gbk><base href=/static/>
        <title>\xd0\xc2</title>
        <link rel=stylesheet href=a.css integrity=x><link rel=preload as=style href=b.css><link rel=preload as=font
        href=c><style media=print>p > a {color: red}</style></head><body bgcolor=red><p>\xce\xc5"""
    )
    html = painted_html(one, judged(one))
    assert html.startswith('<!DOCTYPE html>\n<html lang="zh" class="wide"><head><meta charset="utf-8">')
    assert '<base href="https://example.com/static/">' in html
    assert "<title>新</title>" in html
    assert html.count("<link ") == html.count('rel="stylesheet"') == 2
    assert '<style media="print">p > a {color: red}</style>' in html
    assert '<body bgcolor="red"><p data-denoise="content"' in html
    assert "gbk" not in html
    assert "integrity" not in html


def test_a_page_without_doctype_keeps_the_quirks_it_had() -> None:
    one = page("<p>old")
    assert "HTML 4.0 Transitional" in painted_html(one, judged(one)).splitlines()[0]


def test_controls_and_drawings_stay_in_their_place() -> None:
    html = "<p>Text</p><select><option>One</option></select><svg viewBox='0 0 1 1'><path d=M0></path></svg>"
    one = page(html + "<textarea>typed</textarea><button><b>Go</b></button><video src=v><p>none")
    written = painted_html(one, judged(one))
    assert "<select><option>One</option></select>" in written
    assert '<path d="M0"></path></svg>' in written
    assert "<textarea>typed</textarea><button><b>Go</b></button>" in written


# --- it is safe to open


@given(html=html_pages(), seed=st.integers(0, 1_000_000))
def test_every_text_lies_in_exactly_one_part_and_the_page_is_untouched(html: str, seed: int) -> None:
    one = page(html)
    nodes, chance = one.nodes, random.Random(seed)
    before = etree.tostring(one.root) if one.root is not None else b""
    noise = inherit([chance.random() < 0.3 for _ in nodes.tags], nodes.ends)
    written = painted_html(one, Judgement(noise, [0.0] * len(nodes)))
    assert (etree.tostring(one.root) if one.root is not None else b"") == before

    found: dict[str, Counter[str]] = {CONTENT: Counter(), NOISE: Counter()}
    for text, verdicts in painted_texts(written):
        assert len(verdicts) == 1, (text, verdicts)
        found[verdicts[0]].update("".join(text.split()))
    wanted: dict[str, Counter[str]] = {CONTENT: Counter(), NOISE: Counter()}
    for text, is_noise in zip(nodes.texts, noise, strict=True):
        wanted[NOISE if is_noise else CONTENT].update("".join(text.split()))
    assert found == wanted


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><td>cell<div>block</div><tr><td>noise</table>",
        "<table><form><tr><td>cell<td>other</form></table><p>noise",
        "<tr><td>cell<td>noise",
        "<p>one<section>two</section>three<p>noise",
        "<a href=1><div>one<a href=2>two</a> three</div></a><p>noise",
        "<noscript><p>one<p>noise</noscript>",
        "<title><p>one<p>noise" + "<br>" * 400,
        "<button><p>one</p>two<p>noise",
        "<xmp>one<b>two</b></xmp><p>noise",
        "<html><body>one</body></html><html><body>two</body></html><p>noise",
        "<div>one<image src=x>two</div><p>noise",
    ],
)
def test_broken_nesting_takes_no_text_out_of_its_part(html: str) -> None:
    one = page(html)
    texts = painted_texts(painted_html(one, judged(one, "noise")))
    assert {text: verdicts for text, verdicts in texts if text != "noise"} == {
        text: [CONTENT] for text, _ in texts if text != "noise"
    }
    assert "".join(sorted("".join(text for text, _ in texts).replace(" ", ""))) == "".join(
        sorted("".join("".join(one.nodes.texts).split()))
    )


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<!-- c -->",
        "<frameset><frame src=a></frameset>",
        "\0\1\2",
        b"\xff\xfe\x00\xd8",
        "<div>" * 3_000 + "deep",
    ],
)
def test_any_page_can_be_painted(html: str | bytes) -> None:
    one = page(html)
    for name in ("link_ratio", "style_tree"):
        written = painted_html(one, apply_guard(one, MethodChoice(name).new().judge(one)), method=name)
        written.encode()
        assert ("cannot be read: " + str(one.skipped) in written) == bool(one.skipped)
    assert "deep" not in str(html) or "deep" in written


# --- in a real browser


def browser() -> str:
    if (found := chromium.program()) is None:
        pytest.skip("no Chromium or Chrome is installed")
    return found


def run_browser(file: Path, *options: str) -> str:
    command = [browser(), "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += [f"--user-data-dir={file.parent / 'profile'}", "--host-resolver-rules=MAP * ~NOTFOUND"]
    run = subprocess.run(
        [*command, *options, file.as_uri()],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=120,
        check=True,
    )
    return run.stdout.decode()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_what_floats_lies_over_no_heading(tmp_path: Path, size: dict[str, int]) -> None:
    one = page(
        "<style>.find{float:right;width:325px;height:60px}</style><body><div class=top>Home<div class=find>Search"
        "</div></div><h1>Two boats sank in the harbour</h1><p>A storm came up before dawn."
    )
    file = tmp_path / "painted.html"
    file.write_text(painted_html(one, judged(one, "Home", "Search")), "utf-8")
    with running() as browser, opened(browser, file.as_uri(), size) as shown:
        boxes = [shown.locator(name).bounding_box() for name in ("h1", ".find")]
    (left, right), (top, bottom) = (
        ([box[start] for box in boxes], [box[start] + box[extent] for box in boxes])
        for start, extent in (("x", "width"), ("y", "height"))
    )
    assert max(left) >= min(right) or max(top) >= min(bottom)


def test_a_browser_runs_no_script_in_a_painted_page_even_if_one_were_left(tmp_path: Path) -> None:
    one = page("<p>text")
    html = painted_html(one, judged(one)).replace("</body>", "<script>document.title = 'ran'</script></body>")
    file = tmp_path / "painted.html"
    file.write_text(html, "utf-8")
    assert "<title>ran</title>" not in run_browser(file, "--dump-dom")
    file.write_text(html.replace("default-src &#x27;none&#x27;", "default-src &#x27;unsafe-inline&#x27;"), "utf-8")
    assert "<title>ran</title>" in run_browser(file, "--dump-dom")


def test_text_stays_readable_on_a_dark_page_with_colours_of_its_own(tmp_path: Path) -> None:
    one = page(
        """<style>body{background:#000;color:#eee} .top{background:#222} .top a{color:#fff!important}
        .card{background:#111;float:left;width:300px}</style><div class=top><a href=/>Home noise</a></div>
        <div><div class=card><p style="background:#000;color:#ddd">Words</p></div></div>"""
    )
    html = painted_html(one, judged(one, "noise"))
    file = tmp_path / "painted.html"
    probe = """<script>document.title = [...document.querySelectorAll('.top, .top a, .card, .card p')].map(e =>
    getComputedStyle(e).backgroundColor + '/' + getComputedStyle(e).color).join('|')</script></body>"""
    open_to_us = html.replace("default-src &#x27;none&#x27;", "default-src &#x27;unsafe-inline&#x27;")
    file.write_text(open_to_us.replace("</body>", probe), "utf-8")
    found = re.search("<title>(.*?)</title>", run_browser(file, "--dump-dom"))
    assert found
    faded, clear = "rgb(125, 131, 139)", "rgb(16, 32, 58)"
    for shown, ink in zip(found[1].split("|"), (faded, faded, clear, clear), strict=True):
        background, _, colour = shown.partition("/")
        assert min(map(int, re.findall(r"\d+", background)[:3])) > 180
        assert colour == ink


TOUCH = """all => all.forEach(one => {
    one.dispatchEvent(new MouseEvent('mouseover', {bubbles: true}));
    // other links are for whoever follows them, to a page of errors at times
    if (one.click && (!one.getAttribute('href') || one.protocol === 'javascript:')) one.click();
})"""


def test_files_of_a_page_full_of_attacks_run_no_script_and_send_no_request_unasked(tmp_path: Path) -> None:
    fetched: dict[str, set[str]] = {}
    with running() as chromium, serving(nothing) as (server, asked):
        for rendering in ("painted", "painted-remote", "html", "annotated"):
            one = page(attack(server))
            file = tmp_path / f"{rendering}.html"
            file.write_text(RENDERINGS[rendering](one, judged(one)), "utf-8", errors="replace")
            with opened(chromium, file.as_uri()) as tab:
                tab.wait_for_timeout(300)
                tab.locator("h1, a, button, [onmouseover]").evaluate_all(TOUCH)
                tab.wait_for_timeout(200)
                assert tab.evaluate("typeof hacked") == "undefined"
                assert tab.url.partition("#")[0] == file.as_uri()
            fetched[rendering] = {path.strip("/") for path in asked}
            asked.clear()
    assert fetched["painted"] == set()
    assert {"sheet", "css-import", "image", "font-2"} <= fetched["painted-remote"]
    never = {"script", "external", "frame", "object", "embed", "refresh", "form", "prefetch", "ping", "manifest"}
    never |= {"refresh-in-body", "refresh-in-svg"}
    assert not never.intersection(set().union(*fetched.values()))
