from importlib.util import find_spec

import pytest

from examples.demo_site.server import DemoServer
from tests.conftest import Project

SETTINGS = """
EXTENSIONS["spidermon.contrib.scrapy.extensions.Spidermon"] = 500
SPIDERMON_ENABLED = True
SPIDERMON_SPIDER_CLOSE_EXPRESSION_MONITORS = [
    {
        "name": "Cleaning",
        "tests": [
            {"name": "all have text", "expression": "stats.get('denoise/failed', 0) == 0"},
            {"name": "pages were read", "expression": "stats['denoise/characters_before'] > 0"},
            {"name": "nothing stays", "expression": "stats['denoise/characters_after'] == 0"},
        ],
    }
]
"""


@pytest.mark.skipif(find_spec("spidermon") is None, reason="spidermon is not installed")
def test_the_expressions_of_spidermon_read_the_stats_of_a_crawl(project: Project, server: DemoServer) -> None:
    project.write("project_settings.py", (project.folder / "project_settings.py").read_text() + SETTINGS)
    project.crawl(
        "site", "-a", f"start_url={server.url}/en-us", "-a", "max_pages=5", "-s", "DENOISE_WARMUP_PAGES=3"
    )
    stats = project.stats
    assert stats["denoise/pages"] == stats["denoise/cleaned"] == stats["item_scraped_count"] == 5
    assert stats["denoise/parked"] == stats["denoise/replayed"] == 3
    for name, result in ("all have text", "OK"), ("pages were read", "OK"), ("nothing stays", "FAIL"):
        assert f"{name}... {result}" in project.log
