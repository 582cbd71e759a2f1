from __future__ import annotations

from denoise_crawler.evaluation.gold import GoldPage
from denoise_crawler.evaluation.training.examples import labelled
from denoise_crawler.evaluation.training.planted import LEAST_PAGES, planted

STORY = "On day {0} the crew of boat {0} hauled {1} nets before the wind rose, and sold what they had on the quay."


def gold_page(number: int, paragraphs: int = 5) -> GoldPage:
    stories = [STORY.format(day, day + number) for day in range(number * 10, number * 10 + paragraphs)]
    html = f"<title>Nets</title><article>{''.join(f'<p>{story}</p>' for story in stories)}</article>"
    return GoldPage(f"page-{number}", "nets.example", html, gold="\n".join(stories))


def texts_of(page: GoldPage) -> dict[str, bool]:
    (found,) = labelled([page])
    return dict(zip(found.blocks.texts, found.content.tolist(), strict=True))


def test_what_is_planted_stands_inside_the_article_and_is_noise() -> None:
    pages = [gold_page(number) for number in range(6)]
    of_id = {page.id: page for page in pages}
    found = list(planted(pages))
    assert len(found) == 6
    new = [
        [text for text, content in texts_of(page).items() if not content and text not in texts_of(of_id[page.id])]
        for page in found
    ]
    assert sum(map(bool, new)) >= 3
    for page in found:
        told = texts_of(page)
        assert [text for text, content in told.items() if content] == (page.gold or "").splitlines()


def test_the_same_is_planted_each_time() -> None:
    pages = [gold_page(number) for number in range(5)]
    assert list(planted(pages)) == list(planted(pages))


def test_nothing_is_planted_on_a_small_site_or_a_short_page() -> None:
    assert not list(planted([gold_page(number) for number in range(LEAST_PAGES - 1)]))
    assert not list(planted([gold_page(number, paragraphs=2) for number in range(9)]))
