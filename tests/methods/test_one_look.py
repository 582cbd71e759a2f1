from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from denoise_crawler import Denoiser, core, denoise_pages
from denoise_crawler.errors import MethodError
from denoise_crawler.methods import MethodChoice
from denoise_crawler.methods.base import InMemoryKnowledge
from denoise_crawler.page import Page
from tests.strategies import html_pages

URL = "https://news.example/ferry"
STORY = [
    "A ferry ran aground off the northern cape before dawn, and forty passengers were taken off by lifeboat.",
    "Nobody was hurt, the harbour office said, and the line has ordered a second ship for the evening.",
]
HTML = f"""<title>Ferry aground</title><nav><a href=/>Home</a> <a href=/sport>Sport</a></nav>
<article><h1>Ferry aground</h1><p>{STORY[0]}</p><p>{STORY[1]}</p></article>
<footer><a href=/imprint>Imprint</a> All rights reserved</footer>"""


def text_of(**options: object) -> str:
    [page] = denoise_pages([(URL, HTML)], method="one_look", **options)
    return page.text


def test_a_story_is_left_of_its_page() -> None:
    assert text_of() == "\n".join(["Ferry aground", *STORY])


def test_the_title_can_be_left_out() -> None:
    assert text_of(title="leave") == "\n".join(STORY)


def test_recall_keeps_all_that_precision_keeps() -> None:
    judged = {
        favour: Denoiser(MethodChoice("one_look", {"favour": favour})).judge(Page.parse(URL, HTML)).noise
        for favour in ("precision", "balanced", "recall")
    }
    for less, more in (("precision", "balanced"), ("balanced", "recall")):
        assert all(gone for gone, also in zip(judged[less], judged[more], strict=True) if also)


@pytest.mark.parametrize("options", [{"title": "perhaps"}, {"favour": "all"}, {"comments": "keep"}])
def test_other_wishes_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(MethodError, match=next(iter(options))):
        MethodChoice("one_look", options)


def test_it_says_how_sure_it_is_and_nothing_of_the_type() -> None:
    judgement = Denoiser("one_look").judge(Page.parse(URL, HTML))
    assert judgement.confidence is not None
    assert 0.5 < judgement.confidence <= 1.0
    assert judgement.page_type is None


@given(pages=st.lists(html_pages(), min_size=2, max_size=4))
def test_what_other_pages_hold_changes_nothing(pages: list[str]) -> None:
    denoiser = Denoiser("one_look", knowledge=InMemoryKnowledge())
    parsed = [Page.parse(f"{URL}/{number}", html) for number, html in enumerate(pages)]
    for page in parsed:
        denoiser.learn(page)
    for page, html in zip(parsed, pages, strict=True):
        assert denoiser.judge(page).scores == Denoiser("one_look").judge(Page.parse(page.url, html)).scores


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(html=html_pages())
def test_with_the_compiled_core_and_without_it_the_verdicts_are_the_same(
    monkeypatch: pytest.MonkeyPatch, html: str
) -> None:
    judged = []
    for mode in ("auto", "off"):
        monkeypatch.setattr(core, "mode", mode)
        judgement = Denoiser("one_look").judge(Page.parse(URL, html))
        judged.append((judgement.noise, judgement.scores, [*map(judgement.reason, range(len(judgement.noise)))]))
    assert judged[0] == judged[1]
