from __future__ import annotations

import pytest

from denoise_crawler import denoise_pages
from denoise_crawler.demo.articles import article_path, articles
from denoise_crawler.demo.feeds import article_page
from denoise_crawler.errors import MethodError
from denoise_crawler.methods import MethodChoice

PAGES = [
    (f"https://news.example{article_path(one)}", article_page(one, "https://news.example"))
    for one in articles()[:8]
]


def texts(**wishes: object) -> list[str]:
    return [page.text for page in denoise_pages(PAGES, **wishes)]


def test_the_title_is_kept_unless_somebody_wants_it_left_out() -> None:
    titles = [one.title for one in articles()[:8]]
    for title, kept, left in zip(titles, texts(), texts(title="leave"), strict=True):
        assert kept.startswith(title)
        assert not left.startswith(title)
        assert set(left.split("\n")) <= set(kept.split("\n"))


def test_favouring_recall_leaves_no_less_text_than_favouring_precision() -> None:
    for less, more in zip(texts(favour="precision"), texts(favour="recall"), strict=True):
        assert len(less) <= len(more)


@pytest.mark.parametrize("wish", [{"title": "yes"}, {"comments": True}, {"favour": "speed"}])
def test_a_wish_in_other_words_is_refused(wish: dict[str, object]) -> None:
    with pytest.raises(MethodError, match=next(iter(wish))):
        MethodChoice("fusion", wish)


ARTICLE = "<h1>The harbour is open</h1>" + "".join(
    f"<p>Boat number {number} came in at noon and left before the rain began.</p>" for number in range(9)
)
COMMENTS = (
    "<div class=comments><h3>3 comments</h3><ul>"
    "<li><span>I saw it too, and it was a fine boat.</span> – <a href=/u/1>Ann</a> <i>May 2</i></li>"
    "<li><span>It was not there on Monday, I am sure.</span> – <a href=/u/2>Bob</a> <i>May 3</i></li></ul>"
    "<a href=#>add a comment</a><form><p>Write what you think of the boats of this harbour.</p></form></div>"
)


def test_comments_are_kept_where_they_are_wished_without_their_buttons_and_forms() -> None:
    pages = [("https://news.example/1", ARTICLE + COMMENTS)]
    [left], [kept] = ([page.text for page in denoise_pages(pages, comments=wish)] for wish in ("leave", "keep"))
    assert "fine boat" not in left
    assert "fine boat" in kept
    assert "not there on Monday" in kept
    assert "add a comment" not in kept
    assert "Write what" not in kept


def test_the_newest_comments_of_other_pages_are_no_comments_of_this_one() -> None:
    teasers = "".join(f"<li><a href=/{number}>Other story {number}</a></li>" for number in range(30))
    widget = f"<div id=sidebar><ul>{teasers}</ul>{COMMENTS}</div>"
    [kept] = denoise_pages([("https://news.example/1", ARTICLE + widget)], comments="keep")
    assert "fine boat" not in kept.text
