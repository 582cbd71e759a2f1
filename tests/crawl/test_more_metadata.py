from __future__ import annotations

from typing import TYPE_CHECKING

from tests.conftest import needs_new_scrapy
from tests.loopback import HTML, Answer, serving

if TYPE_CHECKING:
    from tests.conftest import Project

PAGE = b"""<title>Cranes</title><meta name=description content="Two cranes.">
<meta name=keywords content="port,cranes"><meta property="og:image" content="/crane.jpg">
<p>Two cranes stand on the quay and lift what the ships bring."""
SPIDER = """
import scrapy

class One(scrapy.Spider):
    name = "one"

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        yield {"url": response.url}
"""


def test_items_get_the_metadata_that_the_settings_name(project: Project) -> None:
    project.write("test_spiders.py", SPIDER)
    fields = '{"description": "about", "tags": "topics", "image": "picture", "modified": "changed"}'
    with serving(lambda _: Answer(200, HTML, PAGE)) as (url, _):
        [item] = project.crawl("one", "-a", f"url={url}/", "-s", f"DENOISE_EXTRA_FIELDS={fields}")
    assert (item["about"], item["topics"]) == ("Two cranes.", ["port", "cranes"])
    assert (item["picture"], item["changed"]) == (f"{url}/crane.jpg", None)


@needs_new_scrapy
def test_the_items_of_our_spiders_get_it_where_it_is_asked_for(project: Project) -> None:
    with serving(lambda path: Answer(404 if "robots" in path else 200, HTML, PAGE)) as (url, _):
        given = ("-a", f"start_url={url}/")
        [plain] = project.crawl("site", *given)
        [asked] = project.crawl("site", *given, "-s", "DENOISE_MORE_METADATA=1", feed="asked.jsonl")
    assert (plain["description"], asked["description"]) == (None, "Two cranes.")
    assert (plain["tags"], asked["tags"]) == (None, ["port", "cranes"])
