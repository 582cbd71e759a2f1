"""More sites in turn than stay in memory: what is read from the store, and what is written back."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext

import pytest

from denoise_crawler.crawl.page_cleaner import PageCleaner
from denoise_crawler.denoiser import Cleaning
from denoise_crawler.methods import METHODS, MethodChoice
from denoise_crawler.methods.base import InMemoryKnowledge
from denoise_crawler.page import Page
from tests.crawl.test_drift import OLD, pages

SITES = ("one.example", "two.example", "three.example")
LEARNING = [name for name, method in METHODS.items() if method.learns]


class CountedKnowledge(InMemoryKnowledge):
    """Knowledge that counts how often each site is read and written, and can refuse to be written."""

    def __init__(self) -> None:
        super().__init__()
        self.loads, self.writes = Counter[str](), Counter[str]()
        self.works = True

    def get(self, site: str) -> bytes | None:  # type: ignore[override]
        self.loads[site] += 1
        return super().get(site)

    def put(self, site: str, known: bytes) -> bool:
        self.writes[site] += 1
        return self.works and super().put(site, known)


def cleaner_of(knowledge: CountedKnowledge, method: str, in_memory: int, **options: object) -> PageCleaner:
    job = Cleaning(MethodChoice(method, options), warmup_pages=3, sites_in_memory=in_memory)
    return PageCleaner(job, knowledge, lambda _: nullcontext())


def in_turn(first: int, last: int) -> list[Page]:
    by_site = [pages(OLD, last, site)[first:] for site in SITES]
    return [page for turn in zip(*by_site, strict=True) for page in turn]


@pytest.mark.parametrize("method", LEARNING)
def test_a_site_that_did_not_change_is_not_written_back(method: str) -> None:
    knowledge = CountedKnowledge()
    cleaner = cleaner_of(knowledge, method, 2)
    for page in in_turn(0, 4):
        cleaner.learn(page, ready=False)
    cleaner.save(None)
    assert set(knowledge) == set(SITES)
    knowledge.loads.clear()
    knowledge.writes.clear()
    for page in in_turn(0, 4):  # each is known
        cleaner.learn(page, ready=True)
        cleaner.clean(page, warm=True)
    cleaner.save(None)
    assert all(knowledge.loads[site] >= 4 for site in SITES)
    assert not knowledge.writes


@pytest.mark.parametrize(("method", "few"), [("fusion", "max_pages"), ("style_tree", "max_pages")])
def test_a_page_that_the_sample_does_not_take_is_not_learned_and_nothing_is_written(method: str, few: str) -> None:
    knowledge = CountedKnowledge()
    cleaner = cleaner_of(knowledge, method, 2, **{few: 4})
    first, others = in_turn(0, 30), in_turn(30, 40)
    for page in first:
        cleaner.learn(page, ready=False)
    cleaner.save(None)
    before, wanted = dict(knowledge), Counter[str]()
    knowledge.writes.clear()
    reader = MethodChoice(method, {few: 4})
    for page in others:
        wanted[page.site] += reader.knowing([knowledge[page.site]], page.site).wants(page)
        cleaner.learn(page, ready=True)
    cleaner.save(None)
    assert sum(wanted.values()) < len(others) / 3
    for site in SITES:
        assert knowledge.writes[site] <= wanted[site]
        assert (knowledge[site] == before[site]) == (not wanted[site])


def test_what_changed_is_written_when_its_site_leaves_memory_and_once_at_the_end() -> None:
    knowledge = CountedKnowledge()
    cleaner = cleaner_of(knowledge, "fusion", 1)
    for page in in_turn(0, 4):
        cleaner.learn(page, ready=False)
    cleaner.save(None)
    cleaner.save(None)
    assert knowledge.writes == dict.fromkeys(SITES, 4)
    assert all(MethodChoice("fusion").knowing([knowledge[site]], site).pages_known == 4 for site in SITES)


def test_what_could_not_be_written_is_written_as_soon_as_that_works() -> None:
    knowledge = CountedKnowledge()
    cleaner = cleaner_of(knowledge, "fusion", 10)
    for page in pages(OLD, 4, SITES[0]):
        cleaner.learn(page, ready=False)
    knowledge.works = False
    cleaner.save(SITES[0])
    assert not knowledge
    knowledge.works = True
    cleaner.save(None)
    assert knowledge.writes == {SITES[0]: 2}
    assert set(knowledge) == {SITES[0]}
