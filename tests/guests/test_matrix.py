"""The matrix: items of every kind, every way to end, every way to have us; beside it the same crawl without us."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.guests.comparison import Comparison, Difference
from tests.guests.crawls import MODES, Crawls, Mode
from tests.guests.endings import ENDINGS, EVERY_PAGE, Run
from tests.guests.site import hosts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.loopback import Served


@pytest.fixture(scope="module")
def served() -> Iterator[list[Served]]:
    with hosts(3) as running:
        yield running


@pytest.fixture(scope="module")
def without(served: list[Served], tmp_path_factory: pytest.TempPathFactory) -> Callable[[bool], Comparison]:
    """All pages crawled without us, once with the pages' HTML in the items and once without it."""
    crawled: dict[bool, Comparison] = {}

    def comparison(html: bool) -> Comparison:
        if html not in crawled:
            crawls = Crawls(tmp_path_factory.mktemp("without") / "project", served)
            recorded = crawls.run(Run(EVERY_PAGE), Mode({}, html=html))
            assert len(recorded.items("scraped")) > len(EVERY_PAGE) * 20, recorded.log
            assert not recorded.items("failed"), recorded.log
            crawled[html] = Comparison(recorded, crawls.files())
        return crawled[html]

    return comparison


# every ending with the add-on, the pipelines and worker processes; some with pipelines and workers
CASES = [(mode, ending) for mode in MODES for ending in ENDINGS if mode != "pipelines, 2 workers"]
CASES += [("pipelines, 2 workers", ending) for ending in ("finish", "Ctrl-C", "kill -9, and the same again")]


@pytest.mark.parametrize(("mode", "ending"), CASES)
def test_a_crawl_has_the_same_items_fields_files_and_responses_with_us(
    mode: str, ending: str, served: list[Served], without: Callable[[bool], Comparison], tmp_path: Path
) -> None:
    crawls = Crawls(tmp_path / "project", served)
    runs = [crawls.run(run, MODES[mode]) for run in ENDINGS[ending].runs]
    assert len(runs[0].pages("called")) >= 3, runs[0].log
    found = without(MODES[mode].html).difference(ENDINGS[ending], runs, crawls.files())
    assert found == Difference(), found.describe()


def test_the_same_crawl_without_us_differs_in_nothing_but_the_text(
    served: list[Served], without: Callable[[bool], Comparison], tmp_path: Path
) -> None:
    crawls = Crawls(tmp_path / "project", served)
    runs = [crawls.run(run, Mode({})) for run in ENDINGS["Ctrl-C"].runs]
    found = without(False).difference(ENDINGS["Ctrl-C"], runs, crawls.files())
    assert found.without_text
    found.without_text = []
    assert found == Difference(), found.describe()
