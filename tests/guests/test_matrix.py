"""The matrix: items of every kind, every way to end, every way to have us; beside it the same crawl without us."""

import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.guests.comparison import Comparison, Difference
from tests.guests.crawls import MODES, Crawls, Mode
from tests.guests.endings import ENDINGS, EVERY_PAGE, Run
from tests.guests.guest_project import NOBODY, SPIDER, Guest, addresses, signal_after
from tests.guests.site import hosts
from tests.loopback import Served


@pytest.fixture(scope="module")
def without(three_hosts: list[Served], tmp_path_factory: pytest.TempPathFactory) -> Callable[[bool], Comparison]:
    """All pages crawled without us, once with the pages' HTML in the items and once without it."""
    crawled: dict[bool, Comparison] = {}

    def comparison(html: bool) -> Comparison:
        if html not in crawled:
            crawls = Crawls(tmp_path_factory.mktemp("without") / "project", three_hosts)
            recorded = crawls.run(Run(EVERY_PAGE), Mode({}, html=html))
            assert len(recorded.items("scraped")) > len(EVERY_PAGE) * 20, recorded.log
            assert not recorded.items("failed"), recorded.log
            crawled[html] = Comparison(recorded, crawls.files())
        return crawled[html]

    return comparison


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("mode", MODES)
def test_a_crawl_has_the_same_items_fields_files_and_responses_with_us(
    mode: str, ending: str, three_hosts: list[Served], without: Callable[[bool], Comparison], tmp_path: Path
) -> None:
    crawls = Crawls(tmp_path / "project", three_hosts)
    runs = [crawls.run(run, MODES[mode]) for run in ENDINGS[ending].runs]
    assert len(runs[0].pages("called")) >= 3, runs[0].log
    found = without(MODES[mode].html).difference(ENDINGS[ending], runs, crawls.files())
    assert found == Difference(), found.describe()


def test_the_same_crawl_without_us_differs_in_nothing_but_the_text(
    three_hosts: list[Served], without: Callable[[bool], Comparison], tmp_path: Path
) -> None:
    crawls = Crawls(tmp_path / "project", three_hosts)
    runs = [crawls.run(run, Mode({})) for run in ENDINGS["Ctrl-C"].runs]
    found = without(False).difference(ENDINGS["Ctrl-C"], runs, crawls.files())
    assert found.without_text
    found.without_text = []
    assert found == Difference(), found.describe()


WITH_IMAGE = SPIDER.replace(
    '"text": ""',
    '"text": "", "image_urls": [response.urljoin("/image/" + response.url.rpartition("/")[2] + ".png")]',
)
OF_FILES = WITH_IMAGE.replace("image_urls", "file_urls")
IMAGES = 'ITEM_PIPELINES = {"scrapy.pipelines.images.ImagesPipeline": 400}\n'
FILES = 'ITEM_PIPELINES = {"scrapy.pipelines.files.FilesPipeline": 400}\n'
OWN_IMAGES = 'ITEM_PIPELINES = {"own_images.OwnImages": 400}\n'
OWN_IMAGES_MODULE = """
from scrapy.pipelines.images import ImagesPipeline


class OwnImages(ImagesPipeline):
    pass
"""


@pytest.fixture(scope="module")
def many_hosts() -> Iterator[list[Served]]:
    with hosts(20) as running:
        yield running


def without_text(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    left = [{name: value for name, value in item.items() if name != "text"} for item in items]
    return sorted(left, key=lambda item: str(item["url"]))


@pytest.mark.parametrize(
    ("pipeline", "spider", "sites", "pages"),
    [
        pytest.param(IMAGES, WITH_IMAGE, 20, 3, id="images of 20 short sites"),
        pytest.param(IMAGES, WITH_IMAGE, 1, 4, id="images of fewer pages than the quota"),
        pytest.param(FILES, OF_FILES, 1, 9, id="files of more pages than the quota"),
        pytest.param(FILES, OF_FILES, 2, 2, id="files of two short sites"),
    ],
)
def test_a_crawl_that_finishes_has_as_many_files_as_without_us(
    pipeline: str, spider: str, sites: int, pages: int, many_hosts: list[Served], tmp_path: Path
) -> None:
    urls = addresses(many_hosts[:sites], pages)
    without = Guest(tmp_path / "without", NOBODY, spider=spider, settings=pipeline)
    expected = without.run(urls)
    assert len(without.files()) == len(expected) == len(urls), without.log
    guest = Guest(tmp_path / "with", spider=spider, settings=pipeline)
    items = guest.run(urls)
    assert without_text(items) == without_text(expected)
    assert guest.files() == without.files()
    assert all(item["text"] for item in items)
    assert "ERROR" not in guest.log


@pytest.mark.parametrize(
    ("pipeline", "ending"),
    [
        pytest.param(OWN_IMAGES, signal_after(4, signal.SIGINT), id="Ctrl-C"),
        pytest.param(IMAGES, ("-s", "CLOSESPIDER_PAGECOUNT=4"), id="CLOSESPIDER_PAGECOUNT"),
        pytest.param(OWN_IMAGES, ("-s", "CLOSESPIDER_TIMEOUT=1.5"), id="CLOSESPIDER_TIMEOUT"),
    ],
)
def test_no_item_of_a_crawl_that_is_ended_comes_without_its_files_in_this_run_or_the_next(
    pipeline: str, ending: tuple[str, ...], many_hosts: list[Served], tmp_path: Path
) -> None:
    guest = Guest(tmp_path, spider=WITH_IMAGE, settings=pipeline, own_images=OWN_IMAGES_MODULE)
    late = [f"{many_hosts[1].url}/late/l"]
    first = guest.run([*late, *addresses(many_hosts[:1], 5)], *ending)
    called = guest.stats["denoise/pages"]
    waits = re.search(r"\b(\d+) items?\b.*\bnext run\b", guest.log)
    assert "ERROR" not in guest.log
    assert called >= 4
    assert (int(waits[1]) if waits else 0) == called - len(first)
    then = guest.run([])
    assert "ERROR" not in guest.log
    assert len({item["url"] for item in first + then}) == len(first + then) == called
    assert [len(item["images"]) for item in first + then] == [1] * called
    assert len(guest.files()) == called
