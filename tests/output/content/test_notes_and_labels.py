"""Sidenotes, captions without a figure, pictures that stand already or advertise, headings that are labels."""

from __future__ import annotations

import pytest

from tests.output.content.reading import written

SIDENOTES = {
    "in a line": "<p>It sails.<span class=sidenote>Since May.</span> Daily.</p>",
    "with a control": (
        "<p>It sails.<label for=n></label><input id=n type=checkbox>"
        "<span class=sidenote>Since May.</span> Daily.</p>"
    ),
    "with numbers": "<p>It sails.<sup>1</sup><span class='margin-note x'><sup>1</sup>Since May.</span> Daily.</p>",
}


@pytest.mark.parametrize("build", SIDENOTES)
def test_a_note_beside_the_text_is_a_footnote(build: str) -> None:
    assert written(SIDENOTES[build]) == "It sails.[^1] Daily.\n\n[^1]: Since May."


def test_a_note_between_paragraphs_belongs_to_the_one_above() -> None:
    assert written("<p>It sails.</p><aside class=sidenote>Since May.</aside><p>Daily.") == (
        "It sails.[^1]\n\n[^1]: Since May.\n\nDaily."
    )
    assert written("<aside class=sidenote>Since May.</aside><p>Daily.") == "Since May.\n\nDaily."


def test_a_sidenote_that_a_footnote_says_again_is_written_once() -> None:
    html = (
        "<p>It sails<sup><a href=#n1>1</a></sup><span class=sidenote>Since May.</span> daily.</p>"
        "<ol><li id=n1>Since May.</li></ol>"
    )
    assert written(html).count("Since May.") == 1


def test_a_caption_stands_with_its_picture_without_a_figure_around_both() -> None:
    caption = "<div class=wp-caption><img src=/{0}.jpg><p class='wp-caption-text'>Boat {0}.</p></div>"
    assert written(caption.format(1) + caption.format(2)) == (
        "![](https://example.com/1.jpg)\\\nBoat 1.\n\n![](https://example.com/2.jpg)\\\nBoat 2."
    )


def test_a_picture_is_written_once_in_whatever_size() -> None:
    html = "<p>A.</p><img src=/boat.jpg><p>B.</p><img src=/boat-300x200.jpg><p>C.</p><img src=/boat.jpg?w=300>"
    assert written(html).count("boat") == 1
    assert written("<p>On <img src=/a.png> and <img src=/b.png> and <img src=/a.png>").count("/a.png") == 2


@pytest.mark.parametrize(
    ("link", "stays"),
    [
        ("https://shop.test/buy", False),
        ("https://example.com/story", True),
        ("https://cdn.test/large.jpg", True),
        ("https://www.youtube.com/watch?v=abcdefghijk", True),
    ],
)
def test_a_picture_in_a_link_to_another_site_advertises_it(link: str, stays: bool) -> None:
    picture = f"<a href='{link}'><img src=/boat.jpg></a>"
    assert ("boat.jpg" in written(f"<p>A.</p>{picture}<p>B.")) is stays
    assert "boat.jpg" in written(f"<figure>{picture}<figcaption>A boat</figcaption></figure>")


def test_a_short_label_without_text_below_it_is_no_heading() -> None:
    assert written("<h1>Rome</h1><h6>字号:T|T</h6><h2>Streets</h2><p>They are old.") == (
        "# Rome\n\n字号:T|T\n\n## Streets\n\nThey are old."
    )
    assert written("<h1>Rome</h1><h2>Map</h2><h3>North</h3><p>Hills.") == "# Rome\n\n## Map\n\n### North\n\nHills."
