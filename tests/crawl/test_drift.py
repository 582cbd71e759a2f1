from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from denoise_crawler.crawl.page_cleaner import PATIENCE_QUOTAS, Layouts
from denoise_crawler.denoiser import MAX_LAYOUTS, Denoiser
from denoise_crawler.methods import MethodChoice, apply_guard
from denoise_crawler.methods.base import InMemoryKnowledge
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import Page

if TYPE_CHECKING:
    from denoise_crawler.methods import Method

QUOTA = 6
THINGS = ["lantern", "ferry", "orchard", "kettle", "bridge", "violin", "harbour", "saddle", "pepper", "anvil"]
OLD = """<body class=old><ul class=menu><li>Home<li>News<li>Contact us</ul><div class=story><h1>The {0}</h1>
<p>Nobody had seen a {0} like it since the {1} was sold, and the people of the town said so at length.</p>
<p>By evening the {1} stood in the square again, beside the {2}, as if nothing had happened.</p></div></body>"""
NEW = """<body class=new><main><section class=lead><h2>A {0} at last</h2>
<p>What the {1} could not do in ten years, the {0} did in one long afternoon, to the surprise of all.</p>
<p>The {2} will follow in spring, when the roads are open and the carpenters have come home.</p></section></main>
<footer><p>All rights reserved by the new owners of this fine paper.</p></footer></body>"""


def pages(template: str, count: int, site: str = "example.com") -> list[Page]:
    kind = template[12:15]
    return [
        Page.parse(
            f"https://{site}/{kind}/{number}",
            template.format(*(f"{THINGS[(number + step) % 10]} {number // 10}" for step in (0, 3, 7))),
        )
        for number in range(count)
    ]


class Site:
    """A site that is known by its old pages, with the drifts that were told."""

    def __init__(self, method: str, known: list[Page]) -> None:
        self.denoiser = Denoiser(method)
        self.drifts: list[tuple[str, str]] = []
        for page in known:
            self.denoiser.learn(page)
        self.layouts = Layouts(
            self.denoiser,
            QUOTA,
            new_method=lambda: MethodChoice(method).new(),
            on_new_layout=lambda site, layout: self.drifts.append((site, layout)),
            sites_in_memory=8,
        )

    def learn(self, found: list[Page]) -> None:
        for page in found:
            self.layouts.learn(page)


def texts(method: Method, found: list[Page]) -> list[str]:
    return [clean_text(page, method.judge(page).noise) for page in found]


@pytest.mark.parametrize("method", ["fusion", "style_tree"])
def test_pages_of_a_new_template_are_judged_as_a_fresh_crawl_judges_them(method: str) -> None:
    old, new = pages(OLD, 12), pages(NEW, 12)
    site, fresh = Site(method, old), MethodChoice(method).new()
    site.learn(new)
    for page in new:
        fresh.observe(page)
    assert site.drifts == [("example.com", "example.com (2)")]
    assert texts(site.layouts.method_for(new[0]), new) == texts(fresh, new)
    assert all("All rights reserved" not in text for text in texts(fresh, new))


@pytest.mark.parametrize("method", ["fusion", "style_tree"])
def test_who_reads_what_was_learned_judges_each_page_by_its_layout(method: str) -> None:
    old, new = pages(OLD, 12), pages(NEW, 12)
    site, stored = Site(method, old), InMemoryKnowledge()
    site.learn(new)
    for layout in ("example.com", "example.com (2)"):
        stored.put(layout, site.denoiser.method_for(layout).to_bytes())
    reader = Denoiser(method, knowledge=stored)
    for page in (*old, *new):
        assert reader.judge(page).noise == apply_guard(page, site.layouts.method_for(page).judge(page)).noise
    only_old = Denoiser(method, knowledge=InMemoryKnowledge({"example.com": stored["example.com"]}))
    assert [reader.judge(page).scores for page in new] != [only_old.judge(page).scores for page in new]


@pytest.mark.parametrize("method", ["fusion", "style_tree"])
def test_what_was_known_stays_as_it_was_for_pages_of_the_old_template(method: str) -> None:
    old, new = pages(OLD, 12), pages(NEW, 12)
    site = Site(method, old)
    before = site.denoiser.method_for("example.com").to_bytes()
    site.learn([page for pair in zip(old, new, strict=True) for page in pair])
    assert site.layouts.method_for(old[0]).to_bytes() == before
    assert site.layouts.method_for(new[0]).pages_known == len(new)


def test_a_redesign_is_noticed_where_the_same_addresses_come_again() -> None:
    old = pages(OLD, 12)
    new = [Page.parse(was.url, is_now.markup) for was, is_now in zip(old, pages(NEW, 12), strict=True)]
    site = Site("fusion", old)
    site.learn(new)
    assert len(site.drifts) == 1
    assert site.layouts.method_for(new[0]).pages_known == len(new)


def test_more_pages_of_the_known_template_are_no_drift() -> None:
    found = pages(OLD, 60)
    site = Site("fusion", found[:QUOTA])
    site.learn(found)
    assert not site.drifts
    assert site.denoiser.method_for("example.com").pages_known == 60


def test_odd_pages_that_are_unlike_each_other_are_no_drift() -> None:
    site = Site("fusion", pages(OLD, 12))
    odd = [
        Page.parse(f"https://example.com/{name}", f"<div class={name}><p>A {name} of its own kind.</p></div>")
        for name in THINGS
    ]
    site.learn(odd)
    assert not site.drifts


def test_strange_pages_that_are_rare_are_forgotten() -> None:
    old, new = pages(OLD, 12), pages(NEW, QUOTA)
    site = Site("fusion", old)
    for page in new:
        site.learn([page])
        site.learn(old * (PATIENCE_QUOTAS * QUOTA // len(old) + 1))
    assert not site.drifts


def test_one_strange_page_that_comes_again_and_again_is_no_drift() -> None:
    site = Site("fusion", pages(OLD, 12))
    site.learn(pages(NEW, 1) * 3 * QUOTA)
    assert not site.drifts


def test_a_site_has_a_bounded_number_of_layouts() -> None:
    site = Site("fusion", pages(OLD, 12))
    for name in THINGS[: MAX_LAYOUTS + 2]:
        site.learn(pages(NEW.replace("<main", f"<main id={name}").replace("<footer", f"<footer id={name}"), 8))
    assert len(site.drifts) == MAX_LAYOUTS - 1
