"""A site over time: redesigned, changed, or read from the store again; in real crawls over loopback."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from urllib.request import urlopen

import pytest
from scrapy.settings import Settings

from denoise_crawler.crawl.guarded_store import open_denoiser
from denoise_crawler.crawl.page_cleaner import PATIENCE_QUOTAS, Layouts, PageCleaner
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.denoiser import MAX_LAYOUTS, Cleaning, Denoiser
from denoise_crawler.methods import METHODS, Method, MethodChoice, apply_guard
from denoise_crawler.methods.base import InMemoryKnowledge
from denoise_crawler.methods.fusion.method import Fusion
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import Page
from denoise_crawler.page.site import site_of
from denoise_crawler.store import Store
from tests.article_spider import SPIDER
from tests.conftest import Project
from tests.crawl.test_crawl import STORE
from tests.loopback import HTML, Answer, serving

FOOTER = "All rights reserved"


@contextmanager
def redesigned() -> Iterator[tuple[list[str], list[str]]]:
    """Serve a site; yield the addresses of its pages before and after it was redesigned."""
    bodies = {page.url.split("example.com")[1]: page.markup.encode() for page in pages(OLD, 16) + pages(NEW, 16)}

    with serving(lambda path: Answer(200, HTML, bodies[path])) as site:
        found = [site.url + path for path in bodies]
        yield found[:16], found[16:]


def run_crawl(project: Project, urls: list[str], *arguments: str) -> dict[str, str]:
    """Crawl ``urls`` and return the text of each."""
    project.write("urls.json", json.dumps(urls))
    (project.folder / "out.jsonl").unlink(missing_ok=True)
    items = project.crawl("articles", "-s", "DOWNLOAD_DELAY=0", *arguments)
    assert [item["url"] for item in items] == urls
    return {item["url"]: item["text"] for item in items}


def test_a_redesigned_site_is_learned_anew_beside_what_was_known_and_both_stay_known(project: Project) -> None:
    project.write("test_spiders.py", SPIDER)
    with redesigned() as (old, new):
        before = run_crawl(project, old)
        assert "denoise/drifts" not in project.stats

        texts = run_crawl(project, [*new[:12], *old[:2]])
        assert project.stats["denoise/drifts"] == 1
        assert "has pages unlike those it is known by: it was redesigned" in project.log
        assert not any(FOOTER in texts[url] for url in new[6:12])
        assert all("to the surprise of all" in texts[url] for url in new[:12])
        assert [texts[url] for url in old[:2]] == [before[url] for url in old[:2]]

        again = run_crawl(project, [new[12], old[3], new[13], old[4]], "-s", "DENOISE_SITES_IN_MEMORY=1")
        assert "denoise/drifts" not in project.stats
        assert not any(FOOTER in text for text in again.values())
        assert [again[url] for url in old[3:5]] == [before[url] for url in old[3:5]]

        settings = Settings({"DENOISE_STORE": project.folder / STORE})
        with open_denoiser(project.folder / STORE, DenoiseSettings.from_settings(settings).cleaning()) as denoiser:
            for url in (new[12], old[3]):
                page = Page.parse(url, urlopen(url).read())  # noqa: S310 - of this machine
                assert denoiser.clean(page).clean_page.text == again[url]

        with closing(Store(project.folder / STORE, read_only=True)) as store:
            first, redesign, last = store.history(site_of(old[0]), Fusion.name)
        assert (first.pages, redesign.pages, last.pages) == (16, 14, 4)
        assert (first.layouts, redesign.layouts, last.layouts) == (0, 1, 0)
        strange = Fusion.warmup_pages  # as many have to come until the new layout is known
        drifts = [run.novelty / 1_000 for run in (first, redesign, last)]
        assert drifts == pytest.approx([0, strange, 0], abs=0.2)


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
