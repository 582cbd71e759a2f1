from __future__ import annotations

import pytest

from tests.output.content.reading import written

LINKS = [f"<a href='#{number}'>Part {number}</a>" for number in range(1, 4)]
LIST = "- Part 1\n- Part 2\n- Part 3"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<div class=toc>" + "<br>".join(LINKS) + "</div>", LIST),
        ("<nav id=table-of-contents>" + "".join(f"<div>{link}</div>" for link in LINKS) + "</nav>", LIST),
        (
            "<div role=doc-toc><p>Contents" + "".join(f"<p>{link}" for link in LINKS) + "</div>",
            f"Contents\n\n{LIST}",
        ),
        ("<p class=toc>In short<br>" + "<br>".join(LINKS), f"In short\n\n{LIST}"),
        ("<div class=toc><h3>Contents</h3>" + "<br>".join(LINKS) + "</div>", f"### Contents\n\n{LIST}"),
        ("<div class=toc><ul>" + "".join(f"<li>{link}" for link in LINKS) + "</ul></div>", LIST),
    ],
)
def test_lines_of_links_to_places_of_the_page_are_a_list(html: str, markdown: str) -> None:
    assert written(f"{html}<p>A text.") == f"{markdown}\n\nA text."


@pytest.mark.parametrize(
    "html",
    [
        *("<div class=toc>" + " | ".join(LINKS) + "</div>", "<div class=toc>" + " ".join(LINKS) + "</div>"),
        *("<div>" + "<br>".join(LINKS) + "</div>", "<div class=toc>" + "<br>".join(LINKS[:2]) + "</div>"),
        "<div class=toc>" + "<br>".join(LINKS) + "<p>A text in it.</div>",
        "<div class=toc>" + "<br>".join(LINKS).replace("#", "/") + "</div>",
        "<a href='#0'><div class=toc>One<br>two<br>three</div></a>",
    ],
)
def test_other_lines_are_none(html: str) -> None:
    assert "- " not in written(html)
