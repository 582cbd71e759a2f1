"""Shapes of markup from public bug reports: lists, tasks, struck text, notes, headings, pictures, code."""

from html import escape

import pytest

from denoise_crawler.output.content.blocks import Code
from tests.output.content.reading import blocks_of, written
from tests.roads import COMPILED, IN_PYTHON, is_built, take


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<ol><li>a<li>b</li><ol><li>one<li>two</ol><li>c</ol>", "1. a\n2. b\n   1. one\n   2. two\n3. c"),
        ("<ul><li>a</li><ul><li>b</li><ul><li>c</ul></ul></ul>", "- a\n  - b\n    - c"),
        ("<ul><ul><li>alone</ul></ul>", "- alone"),
        ("<ol><li value=3>a<li value=7>b<li>c</ol>", "3. a\n\n7) b\n8) c"),
        ("<ol reversed><li>b<li>a</ol>", "2. b\n\n1) a"),
        ("<ol reversed start=5><li>a</ol>", "5. a"),
    ],
)
def test_lists_are_nested_and_numbered_as_readers_see_them(html: str, markdown: str) -> None:
    assert written(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<ul><li class=task-list-item><input type=checkbox checked> a</ul>", "- [x] a"),
        ("<ul><li><p><input type=checkbox disabled> a</ul>", "- [ ] a"),
        ("<ul><li><label><input disabled type=checkbox>a</label></ul>", "- [ ] a"),
        ("<ul><li><input type=checkbox> Red (12)</ul>", "- Red (12)"),  # a filter
        ("<ul><li>a <input type=checkbox disabled></ul>", "- a"),
        ("<p><input type=checkbox disabled> a", "a"),
    ],
)
def test_the_box_of_a_task_begins_its_item(html: str, markdown: str) -> None:
    assert written(html) == markdown


def test_the_box_of_a_task_is_one_in_html() -> None:
    html = "<ul><li><input type=checkbox disabled checked> a</ul>"
    assert written(html, "html") == '<ul><li><input type="checkbox" disabled checked> a</li></ul>'


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>costs <s>80 crowns</s> 70 crowns", "costs ~~80 crowns~~ 70 crowns"),
        ("<p><del>80</del> <strike>75</strike> 70", "~~80 75~~ 70"),
        ("<p>costs <span style='text-decoration: line-through'>80</span> 70", "costs ~~80~~ 70"),
        ("<p>costs <span style='text-decoration: underline'>80</span> 70", "costs 80 70"),
    ],
)
def test_struck_text_is_marked(html: str, markdown: str) -> None:
    assert written(html) == markdown


def test_notes_that_line_breaks_part_are_notes_of_their_own() -> None:
    text = "<p>It sails daily.<sup>1</sup> It is old.<sup>2</sup> So it is.<sup>3</sup></p>"
    notes = "<sup>1</sup> Since May.<br><sup>2</sup> Built long ago.<br>\n<sup>3</sup> They say so."
    markdown = "It sails daily.[^1] It is old.[^2] So it is.[^3]\n\n[^1]: Since May.\n\n[^2]: Built long ago.\n\n"
    for begin, end in (("<p>", "</p>"), ("<div class=notes>", "</div>")):
        assert written(f"{text}{begin}{notes}{end}") == f"{markdown}[^3]: They say so."


@pytest.mark.parametrize(
    "notes",
    [
        "<sup><a name=n1>1</a></sup> Since May.<br><sup><a name=n2>2</a></sup> Built then.",
        "<a href=#r1 id=n1>[1]</a> Since May.<br>\n<a href=#r2 id=n2>[2]</a> Built then.",
    ],
)
def test_linked_notes_that_line_breaks_part_are_notes_of_their_own(notes: str) -> None:
    text = "<p>It sails.<sup><a id=r1 href=#n1>1</a></sup> Old.<sup><a id=r2 href=#n2>2</a></sup></p>"
    assert written(f"{text}<p>{notes}</p>") == "It sails.[^1] Old.[^2]\n\n[^1]: Since May.\n\n[^2]: Built then."


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        (
            "<p>a<figure><div><noscript><img src=b.jpg></noscript></div></figure>",
            "a\n\n![](https://example.com/d/b.jpg)",
        ),
        (
            "<p>a<div class=lazy><noscript><img src=b.png></noscript></div>",
            "a\n\n![](https://example.com/d/b.png)",
        ),
        ("<p>a<div><noscript><img src=/track.php?uid=1></noscript></div>", "a"),
        (
            "<p>a<div class=image><span class=loads></span><noscript><img src=b.jpg></noscript></div>",
            "a\n\n![](https://example.com/d/b.jpg)",
        ),
        ("<p>a<p><amp-img src=b.jpg alt=B></amp-img>", "a\n\n![B](https://example.com/d/b.jpg)"),
        (
            "<p>a<amp-youtube data-videoid=dQw4w9WgXcQ></amp-youtube>",
            "a\n\n<https://www.youtube.com/watch?v=dQw4w9WgXcQ>",
        ),
        (
            "<p>a<lite-youtube videoid=dQw4w9WgXcQ></lite-youtube>",
            "a\n\n<https://www.youtube.com/watch?v=dQw4w9WgXcQ>",
        ),
    ],
)
def test_pictures_and_videos_that_scripts_would_make_are_found(html: str, markdown: str) -> None:
    assert written(html) == markdown


@pytest.mark.parametrize(
    ("html", "code"),
    [
        ("<pre class='prettyprint linenums'><ol class=linenums><li>a<li>  b</ol></pre>", "a\n  b"),
        ("<pre><ol class='linenums hljs'><li><code>a</code><li><code>  b</code></ol></pre>", "a\n  b"),
        (
            "<pre><code><b>def</b> <b>run</b>\n  b\n<div class='hljs-button {2}'></div></code></pre>",
            "def run\n  b",
        ),
        ("<pre><code><b>def</b> <b>run</b>\n  b<div class=grepper>Copy</div></code></pre>", "def run\n  b\nCopy"),
        ("<pre><code>a\n  b</code><ul class=pre-numbering><li>1<li>2</ul></pre>", "a\n  b"),
        ("<pre><div><!-- 1 --><b>a</b></div><div><!-- 2 --><b>b</b></div></pre>", "a\nb"),
        ("<pre><div class=code-block-extension-header>python 复制代码</div><code>a\n  b</code></pre>", "a\n  b"),
        (
            "<pre><span style='color:#008080'>1</span> a\n<span style='color:#008080'>2</span>   b</pre>",
            "a\n   b",
        ),
        (
            "<pre><b class=line>a</b><br><b class=line></b><br><b class=line>  b</b><br></pre>",
            "a\n\n  b",
        ),
        ("<pre><code>a</code><br><code>  b</code></pre>", "a\n  b"),
        ("<xmp>a\n  b</xmp>", "a\n  b"),
    ],
)
@pytest.mark.parametrize("road", [pytest.param(COMPILED, marks=is_built), IN_PYTHON])
def test_code_is_whole_without_what_stands_beside_it(
    html: str, code: str, road: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(road, monkeypatch)
    (block,) = (one for one in blocks_of(html) if isinstance(one, Code))
    assert block.text.strip() == code


def test_a_class_for_the_place_of_a_language_names_none() -> None:
    (block,) = blocks_of("<pre><code class=language-id>a\nb</code></pre>")
    assert block == Code("a\nb")


def test_a_long_run_of_figures_is_read_once() -> None:
    figures = "1 " * 40_000  # an expression with two quantifiers for a figure would take hours
    (block,) = blocks_of(f"<pre>a<span aria-hidden=true>{figures}x</span></pre>")
    assert block == Code(f"a{figures}x")


@pytest.mark.parametrize("attribute", ['style="color:red"', 'aria-hidden="true"', 'class="lineno"'])
def test_the_text_of_a_block_is_not_read_once_for_each_element_around_it(attribute: str) -> None:
    depth = 3_000  # the square of which took half a minute
    [code] = blocks_of("<pre>a\n" + f"<span {attribute}>b<br>" * depth + "</span>" * depth + "z</pre>")
    assert isinstance(code, Code)
    assert code.text.startswith("a\n")
    assert code.text.endswith("z")


@pytest.mark.parametrize("text", ["<img src=x onerror=alert(1)>", "</p>", "<!-- x -->", "<?php"])
def test_what_reads_as_a_tag_is_written_as_an_entity_but_in_code(text: str) -> None:
    assert written(f"<p>{escape(text)}") == text.replace("<", "&lt;")
    assert written(f"<p><code>{escape(text)}</code>") == f"`{text}`"


def test_a_sign_that_opens_no_tag_is_escaped_as_others_are() -> None:
    assert written("<p>1 &lt; 2") == "1 \\< 2"


def test_a_long_set_of_addresses_is_read_once_and_its_largest_is_taken() -> None:
    one = "b" * 19_000
    assert written(f"<p>a<p><img srcset='{one} 1x,c.png 2x'>") == "a\n\n![](https://example.com/d/c.png)"
