"""A site over time: redesigned, changed, or read from the store again; in real crawls over loopback."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from denoise_crawler.commands.known_site import open_denoiser
from denoise_crawler.crawl.parked_items import GuardedStore
from denoise_crawler.crawl.report import CrawlReport
from denoise_crawler.crawl.settings import DenoiseSettings
from denoise_crawler.crawl.sites import Sites
from denoise_crawler.crawl.source_page import Origin, SourcePage
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.methods import METHODS, MethodChoice
from denoise_crawler.methods.base import InMemoryKnowledge
from denoise_crawler.page import Page
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


def test_a_redesigned_site_begins_anew_and_its_new_pages_stay_known(project: Project) -> None:
    project.write("test_spiders.py", SPIDER)
    with redesigned() as (old, new):
        run_crawl(project, old)
        assert "denoise/drifts" not in project.stats

        texts = run_crawl(project, new[:12])
        assert project.stats["denoise/drifts"] == 1
        assert "has pages unlike those it was known by: it was redesigned" in project.log
        assert not any(FOOTER in texts[url] for url in new[6:12])
        assert all("to the surprise of all" in texts[url] for url in new[:12])

        again = run_crawl(project, new[12:], "-s", "DENOISE_SITES_IN_MEMORY=1")
        assert "denoise/drifts" not in project.stats
        assert not any(FOOTER in text for text in again.values())

        settings = Settings({"DENOISE_STORE": project.folder / STORE})
        with open_denoiser(project.folder / STORE, DenoiseSettings.from_settings(settings).cleaning()) as denoiser:
            page = Page.parse(new[15], urlopen(new[15]).read())  # noqa: S310 - of this machine
            assert denoiser.clean(page).clean_page.text == again[new[15]]


QUOTA = 6
THINGS = ["lantern", "ferry", "orchard", "kettle", "bridge", "violin", "harbour", "saddle", "pepper", "anvil"]
OLD = """<body class=old><ul class=menu><li>Home<li>News<li>Contact us</ul><div class=story><h1>The {0}</h1>
<p>Nobody had seen a {0} like it since the {1} was sold, and the people of the town said so at length.</p>
<p>By evening the {1} stood in the square again, beside the {2}, as if nothing had happened.</p></div></body>"""
NEW = """<body class=new><main><section class=lead><h2>A {0} at last</h2>
<p>What the {1} could not do in ten years, the {0} did in one long afternoon, to the surprise of all.</p>
<p>The {2} will follow in spring, when the roads are open and the carpenters have come home.</p>
<p>{3}</p></section></main>
<footer><p>All rights reserved by the new owners of this fine paper.</p></footer></body>"""


def unique_sentence(number: int) -> str:
    """Return a sentence that no page with another number has."""
    return " ".join(f"{thing}{number}" for thing in THINGS).capitalize() + "."


def pages(template: str, count: int, site: str = "example.com") -> list[Page]:
    kind = template[12:15]
    return [
        Page.parse(
            f"https://{site}/{kind}/{number}",
            template.format(
                *(f"{THINGS[(number + step) % 10]} {number // 10}" for step in (0, 3, 7)), unique_sentence(number)
            ),
        )
        for number in range(count)
    ]


class Crawled:
    """The site of a crawl that is known by its old pages."""

    def __init__(self, folder: Path, method: str, known: list[Page], quota: int = QUOTA) -> None:
        settings = DenoiseSettings(choice=MethodChoice(method), warmup_pages=quota, store=folder / "s.sqlite")
        self.report = CrawlReport(get_crawler())
        store = GuardedStore(Store(settings.store), report=self.fail)
        self.sites = Sites(settings, store, self.report)
        self.learn(known)

    @staticmethod
    def fail(error: Exception) -> None:
        raise error

    @property
    def drifts(self) -> int:
        return self.report.of("drifts")

    def learn(self, found: list[Page]) -> list[SourcePage]:
        sources = [SourcePage(page, Origin(b"")) for page in found]
        for source in sources:
            self.sites.learn(source)
        return sources

    def texts(self, sources: list[SourcePage]) -> list[str]:
        for source in sources:
            self.sites.clean(source)
        return [source.cleaned.clean_page.text for source in sources if source.cleaned is not None]


@pytest.mark.parametrize("method", ["fusion", "style_tree"])
def test_pages_of_a_new_template_are_judged_as_a_fresh_crawl_judges_them(method: str, tmp_path: Path) -> None:
    old, new = pages(OLD, 12), pages(NEW, 12)
    crawled, fresh = Crawled(tmp_path, method, old), Denoiser(method)
    crawled.learn(new[:11])
    for page in new:
        fresh.learn(page)
    assert crawled.drifts == 1
    (text,) = crawled.texts(crawled.learn(new[11:]))
    assert text == fresh.clean(new[11]).clean_page.text
    assert "to the surprise of all" in text
    assert FOOTER not in text


@pytest.mark.parametrize("method", ["fusion", "style_tree"])
def test_before_enough_of_them_match_new_pages_are_judged_by_each_other(method: str, tmp_path: Path) -> None:
    crawled, fresh, new = Crawled(tmp_path, method, pages(OLD, 12)), Denoiser(method), pages(NEW, QUOTA - 1)
    sources = crawled.learn(new)
    for page in new:
        fresh.learn(page)
    assert crawled.texts(sources) == [fresh.clean(page).clean_page.text for page in new]
    assert crawled.drifts == 0


OLD_PAGES, NEW_PAGES = pages(OLD, 12), pages(NEW, 2 * QUOTA)
ODD_PAGES = [
    Page.parse(f"https://example.com/{name}", f"<div class={name}><p>A {name} of its own kind.</p></div>")
    for name in THINGS
]
SAME_PLACES = [Page.parse(was.url, is_now.markup) for was, is_now in zip(OLD_PAGES, NEW_PAGES, strict=True)]


@pytest.mark.parametrize(
    ("come", "drifts"),
    [
        pytest.param(SAME_PLACES, 1, id="new pages at the same addresses"),
        pytest.param(
            [*NEW_PAGES[:3], OLD_PAGES[0], *NEW_PAGES[3:5], OLD_PAGES[1], *NEW_PAGES[5:]], 1, id="some old"
        ),
        pytest.param(pages(OLD, 60), 0, id="more pages of the known template"),
        pytest.param(ODD_PAGES, 0, id="odd pages that are unlike each other"),
        pytest.param([one for new in NEW_PAGES for one in (new, *OLD_PAGES[:2])], 0, id="fewer than the others"),
        pytest.param(NEW_PAGES[:1] * 3 * QUOTA, 0, id="one strange page again and again"),
    ],
)
def test_a_redesign_is_noticed_and_nothing_else_is_taken_for_one(
    come: list[Page], drifts: int, tmp_path: Path
) -> None:
    crawled = Crawled(tmp_path, "fusion", OLD_PAGES)
    crawled.learn(come)
    assert crawled.drifts == drifts


def test_a_warm_up_is_over_after_a_pause_or_ten_times_as_long_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    crawled = Crawled(tmp_path, "fusion", pages(OLD, 1, "quiet.example"), quota=500)
    for page in pages(OLD, 16, "slow.example"):
        crawled.learn([page])
        assert len(crawled.sites.take_overdue()) == (now == 40)
        now += 20
    assert [(site.name, after) for site, after in crawled.sites.take_overdue()] == [
        ("slow.example", "300 seconds")
    ]
    crawled.learn(pages(OLD, 2, "quiet.example"))
    now += 1_000
    assert crawled.sites.take_overdue() == []


def test_a_site_that_is_known_is_never_overdue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    crawled = Crawled(tmp_path, "fusion", pages(OLD, QUOTA))
    now += 1_000
    assert crawled.sites.take_overdue() == []


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


def denoiser_of(knowledge: CountedKnowledge, method: str, in_memory: int, **options: object) -> Denoiser:
    return Denoiser(MethodChoice(method, options), knowledge=knowledge, sites_in_memory=in_memory)


def in_turn(first: int, last: int) -> list[Page]:
    by_site = [pages(OLD, last, site)[first:] for site in SITES]
    return [page for turn in zip(*by_site, strict=True) for page in turn]


@pytest.mark.parametrize("method", LEARNING)
def test_a_site_that_did_not_change_is_not_written_back(method: str) -> None:
    knowledge = CountedKnowledge()
    denoiser = denoiser_of(knowledge, method, 2)
    for page in in_turn(0, 4):
        denoiser.learn(page)
    denoiser.save()
    assert set(knowledge) == set(SITES)
    knowledge.loads.clear()
    knowledge.writes.clear()
    for page in in_turn(0, 4):  # each is known
        denoiser.learn(page)
        denoiser.clean(page)
    denoiser.save()
    assert all(knowledge.loads[site] >= 4 for site in SITES)
    assert not knowledge.writes


def test_what_could_not_be_written_is_written_as_soon_as_that_works() -> None:
    knowledge = CountedKnowledge()
    denoiser = denoiser_of(knowledge, "fusion", 10)
    for page in pages(OLD, 4, SITES[0]):
        denoiser.learn(page)
    knowledge.works = False
    denoiser.save(SITES[0])
    assert not knowledge
    knowledge.works = True
    denoiser.save()
    assert knowledge.writes == {SITES[0]: 2}
    assert set(knowledge) == {SITES[0]}
