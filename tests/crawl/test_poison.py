from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denoise_crawler.methods import MethodChoice
from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.methods.fusion.site_evidence import SiteEvidence
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import Page
from tests.crawl.test_drift import OLD, pages

WALL = """<body class=old><ul class=menu><li>Home<li>News<li>Contact us</ul><div class=story>
<h1>Please sign in</h1>
<p>This story is for members only, and {} of them have signed in today to read it to the end.</p></div></body>"""


def login_walls(count: int) -> list[Page]:
    return [Page.parse(f"https://example.com/wall/{number}", WALL.format(number)) for number in range(count)]


def evidence_of(found: list[Page], max_pages: int = 128) -> SiteEvidence:
    evidence = SiteEvidence(max_pages)
    for page in found:
        blocks = blocks_of(page)
        evidence.add(page.key, blocks, np.zeros(len(blocks)))
    return evidence


def standing(evidence: SiteEvidence, page: Page) -> tuple[int, list[float]] | None:
    found = evidence.standing(page.key, blocks_of(page))
    return None if found is None else (found.pages, found.texts.tolist())


def test_a_page_under_a_thousand_addresses_counts_once() -> None:
    real = pages(OLD, 9)
    poisoned, sound = evidence_of(real + login_walls(1_000), 2_000), evidence_of(real + login_walls(1), 2_000)
    for page in real:
        assert standing(poisoned, page) == standing(sound, page)


def test_a_repeated_page_is_judged_as_if_it_stood_there_once() -> None:
    found = login_walls(60)
    assert standing(evidence_of(found), found[3]) is None
    method = MethodChoice("fusion").new()
    for page in found:
        method.observe(page)
    assert "for members only" in clean_text(found[7], method.judge(found[7]).noise)


def test_real_pages_are_judged_alike_beside_a_hundred_login_walls() -> None:
    real = pages(OLD, 9)
    texts = []
    for poison in (login_walls(1), login_walls(100)):
        method = MethodChoice("fusion").new()
        for page in real + poison:
            method.observe(page)
        texts.append([clean_text(page, method.judge(page).noise) for page in real])
    assert texts[0] == texts[1]


@given(order=st.permutations(range(10)), limit=st.integers(1, 10))
@settings(max_examples=15)
def test_what_copies_say_does_not_hang_on_the_order_they_come_in(order: list[int], limit: int) -> None:
    found = pages(OLD, 4) + login_walls(6)
    stranger = pages(OLD, 5)[-1]
    straight, shuffled = evidence_of(found, limit), evidence_of([found[number] for number in order], limit)
    assert standing(straight, stranger) == standing(shuffled, stranger)
    assert straight.to_bytes() == shuffled.to_bytes()
    shuffled.merge(straight)
    assert standing(straight, found[-1]) == standing(shuffled, found[-1])


@pytest.mark.parametrize("limit", [1, 3, 8])
def test_another_copy_stands_in_for_one_that_has_to_leave_the_sample(limit: int) -> None:
    found = sorted(login_walls(30), key=lambda page: -page.key)
    evidence = evidence_of(found, limit)
    told = standing(evidence, pages(OLD, 1)[0])
    assert len(evidence) == limit
    assert told is not None
    assert told[0] == 1
