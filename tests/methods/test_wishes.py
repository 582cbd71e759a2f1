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
