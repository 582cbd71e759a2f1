"""Items that wait are pickles: who may write them is trusted, and nobody but their own crawl reads them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from denoise_crawler.store.file import is_private
from examples.demo_site.server import DemoServer
from tests.article_spider import SPIDER
from tests.conftest import Project
from tests.crawl.test_crawl import STORE, assert_one_item_each, has_waiting_rows, quota, urls


def test_one_file_of_the_package_unpickles_what_a_store_holds() -> None:
    root = Path(__file__).parents[2]
    using = {
        file.relative_to(root).as_posix()
        for top in ("denoise_crawler", "pipelines", "spiders")
        for file in (root / top).rglob("*.py")
        if "pickle.load" in file.read_text("utf-8")
    }
    # these read files without a name, and messages, of their own processes
    own = {
        f"denoise_crawler/{name}.py"
        for name in ("denoiser", "report/explorer", "batch/__init__", "batch/process_pool")
    }
    assert using - own == {"denoise_crawler/crawl/pickled.py"}


@pytest.mark.skipif(os.name != "posix", reason="files have no owners")
@pytest.mark.parametrize("mode", [0o660, 0o602])
def test_in_a_store_that_others_can_write_nothing_waits_and_nothing_is_read(
    mode: int, project: Project, server: DemoServer
) -> None:
    project.spider(SPIDER, urls(server))
    project.crawl("articles", *quota(2))
    store = project.folder / STORE
    assert store.stat().st_mode & 0o777 == 0o600
    assert is_private(store)
    store.chmod(mode)
    assert not is_private(store)
    items = project.crawl("articles", *quota(500), "-s", "DENOISE_METHOD=style_tree", feed="again.jsonl")
    assert_one_item_each(items, 24)
    assert not has_waiting_rows(project, 1)
    assert "denoise/parked" not in project.stats
    assert project.log.count("belongs to another user, or others can write it: no item waits in it") == 1
