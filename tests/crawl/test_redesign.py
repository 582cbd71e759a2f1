"""A site over time: redesigned, changed, or read from the store again; in real crawls over loopback."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from typing import Any
from urllib.request import urlopen

import pytest
from scrapy.http import HtmlResponse
from scrapy.settings import Settings

from denoise_crawler.crawl.page_cleaner import PATIENCE_QUOTAS, Layouts, PageCleaner
from denoise_crawler.demo.replies import articles
from denoise_crawler.denoiser import MAX_LAYOUTS, Cleaning, Denoiser
from denoise_crawler.methods import METHODS, Method, MethodChoice, apply_guard
from denoise_crawler.methods.base import InMemoryKnowledge
from denoise_crawler.methods.fusion.method import Fusion
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import Page
from denoise_crawler.page.site import site_of
from denoise_crawler.shell import clean
from denoise_crawler.store import Store
from tests.article_spider import SPIDER
from tests.conftest import SETTINGS, Project
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
        for url in (new[12], old[3]):
            response = HtmlResponse(url, body=urlopen(url).read())  # noqa: S310 - of this machine
            cleaned = clean(response, settings=settings)
            assert (cleaned.warm, cleaned.text) == (True, again[url])

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


BY_ADDON = (
    SETTINGS
    + """
ADDONS = {"denoise_crawler.Addon": 300}
DENOISE_CHANGES = "mark"
DENOISE_EXTRA_FIELDS = {name: name for name in ("unchanged", "content_hash", "near_duplicate_of", "soft_404")}
"""
)
STORIES = [article for article in articles() if article.lang == "en"][:20]
NOT_FOUND = "<h1>Oh no</h1><p>We looked everywhere, but there is no such story. Try the front page.</p>"


class ChangesSite:
    """A news site whose furniture differs in each of its editions."""

    def __init__(self) -> None:
        self.edition = 1
        self.edited: set[int] = set()

    def answer(self, path: str) -> Answer:
        name = path.strip("/")
        if not name.isdigit() or int(name) >= len(STORIES):
            return Answer(200, HTML, self.page("Not here", NOT_FOUND, 99).encode())
        number = int(name)
        story = STORIES[number]
        paragraphs = [line for block in story.paragraphs if block.kind == "text" for line in block.lines]
        if number in self.edited:
            paragraphs[1] = paragraphs[1].replace(".", ", the police said on Sunday.", 1)
        body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
        stamp = (
            f"<p class=meta>Updated {3 * self.edition} minutes ago</p><p class=views>{self.edition}17 views</p>"
        )
        return Answer(200, HTML, self.page(story.title, f"<h1>{story.title}</h1>{stamp}{body}", number).encode())

    def page(self, title: str, content: str, number: int) -> str:
        edition = self.edition
        menu = "".join(
            f"<li><a href=/{edition}/{word}>{word} {edition}</a></li>" for word in ("News", "Sport", "Arts")
        )
        ad = (
            f"<div class=ad>Offer {edition}{number}: save {edition + number % 7} % on boots, this week only!</div>"
        )
        shown = [(number + edition * step) % 20 for step in range(1, 6)]
        others = "".join(f"<li><a href=/{other}>{STORIES[other].title}</a></li>" for other in shown)
        return (
            f"<html><head><title>{title}</title></head><body><nav><ul>{menu}</ul></nav>{ad}"
            f"<main>{content}</main><aside><h2>Most read</h2><ul>{others}</ul></aside>"
            f"<footer>Page made at 1{edition}:03. Edition {edition}.</footer></body></html>"
        )


@pytest.fixture
def site() -> Iterator[tuple[ChangesSite, str]]:
    made = ChangesSite()
    with serving(made.answer) as served:
        yield made, served.url


def crawl(
    project: Project, url: str, feed: str, *arguments: str, pages: int = len(STORIES)
) -> list[dict[str, Any]]:
    project.write("project_settings.py", BY_ADDON)
    project.spider(SPIDER, [f"{url}/{number}" for number in range(pages)])
    items = project.crawl("articles", "-s", "DENOISE_STORE=kept.sqlite", *arguments, feed=feed)
    return sorted(items, key=lambda item: int(item["url"].rpartition("/")[2]))


def test_stories_have_what_the_site_needs() -> None:
    assert len(STORIES) == 20
    assert all(sum(block.kind == "text" for block in story.paragraphs) > 2 for story in STORIES)


def test_nothing_is_marked_changed_where_only_menus_advertisements_and_time_stamps_are_new(
    project: Project, site: tuple[ChangesSite, str]
) -> None:
    made, url = site
    first = crawl(project, url, "first.jsonl")
    assert [item["unchanged"] for item in first] == [None] * 20
    made.edition = 2
    second = crawl(project, url, "second.jsonl")
    assert [item["unchanged"] for item in second] == [True] * 20
    assert project.stats["denoise/unchanged"] == 20


def test_exactly_the_pages_are_marked_changed_whose_text_is_new(
    project: Project, site: tuple[ChangesSite, str]
) -> None:
    made, url = site
    crawl(project, url, "first.jsonl")
    made.edition, made.edited = 2, {3, 8, 14}
    second = crawl(project, url, "second.jsonl")
    assert {number for number, item in enumerate(second) if not item["unchanged"]} == made.edited
    third = crawl(project, url, "third.jsonl")
    assert all(item["unchanged"] for item in third)


def test_items_of_unchanged_pages_are_dropped_on_wish(project: Project, site: tuple[ChangesSite, str]) -> None:
    made, url = site
    crawl(project, url, "first.jsonl")
    made.edition, made.edited = 2, {5}
    second = crawl(project, url, "second.jsonl", "-s", "DENOISE_CHANGES=drop")
    assert [item["url"] for item in second] == [f"{url}/5"]
    assert project.stats["denoise/unchanged_dropped"] == 19
    assert project.stats["item_dropped_reasons_count/UnchangedItem"] == 19
    assert "19 were dropped, as their page is unchanged" in project.log


def test_the_error_page_under_many_addresses_is_a_soft_404(
    project: Project, site: tuple[ChangesSite, str]
) -> None:
    _, url = site
    items = crawl(project, url, "out.jsonl", pages=26)
    assert [item["soft_404"] for item in items[:20]] == [False] * 20
    assert [item["soft_404"] for item in items[20:]] == [False, False, True, True, True, True]


def test_a_history_that_cannot_be_opened_costs_only_the_marks(
    project: Project, site: tuple[ChangesSite, str]
) -> None:
    _, url = site
    (project.folder / "kept.sqlite.pages").write_bytes(b"no SQLite file" * 100)
    items = crawl(project, url, "out.jsonl", pages=8)
    assert [(bool(item["text"]), item["unchanged"]) for item in items] == [(True, None)] * 8
    assert project.log.count("kept.sqlite.pages cannot be used (file is not a database)") == 1


def test_without_the_setting_no_file_is_made_and_nothing_is_marked(
    project: Project, site: tuple[ChangesSite, str]
) -> None:
    _, url = site
    items = crawl(project, url, "out.jsonl", "-s", "DENOISE_CHANGES=no", pages=8)
    assert all(item["unchanged"] is None and item["content_hash"] is None for item in items)
    assert not (project.folder / "kept.sqlite.pages").exists()


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
