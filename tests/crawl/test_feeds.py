import csv

from examples.demo_site.server import DemoServer
from tests.conftest import Project

FEEDS = """
FEEDS = {
    "pages.jsonl": {"format": "jsonlines", "encoding": "utf-8"},
    "pages.csv": {"format": "csv", "fields": ["url", "title", "text"]},
}
"""


def test_a_crawl_writes_the_same_items_as_json_lines_and_csv(project: Project, server: DemoServer) -> None:
    project.write("project_settings.py", (project.folder / "project_settings.py").read_text() + FEEDS)
    start = ("-a", f"start_url={server.url}/en-us", "-a", "max_pages=12", "-s", "DENOISE_WARMUP_PAGES=4")
    items = project.crawl("site", *start, feed="pages.jsonl")
    assert len(items) == 12
    with (project.folder / "pages.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows == [{name: item[name] for name in ("url", "title", "text")} for item in items]
