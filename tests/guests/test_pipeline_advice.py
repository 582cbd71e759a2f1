"""What is easily got wrong with the pipelines alone is said once, in a line that tells what to do."""

from pathlib import Path

import pytest

from tests.guests.guest_project import ADDON, SPIDER, Guest, addresses
from tests.loopback import Served

LEARNS, CLEANS = "denoise_crawler.pipelines.StyleTreePipeline", "denoise_crawler.pipelines.DenoisePipeline"
BOTH = {LEARNS: 100, CLEANS: 200}
PAGES = 3


def run_crawl(
    folder: Path,
    one_host: list[Served],
    yields: str,
    pipelines: dict[str, int] | None = None,
    us: str = "",
    **more: str,
) -> Guest:
    spider = SPIDER.replace('yield {"url": response.url, "text": ""}', yields)
    us += f"ITEM_PIPELINES = {pipelines or BOTH}\n"
    guest = Guest(folder, us, spider=spider, **more)
    assert len(guest.run(addresses(one_host, PAGES))) == PAGES, guest.log
    return guest


def warnings(guest: Guest) -> list[str]:
    return [line.partition("WARNING: ")[2] for line in guest.log.splitlines() if " WARNING: " in line]


GOOD = 'yield {"url": response.url, "text": "", "html": response.text}'
OWN = """
from denoise_crawler.pipelines import DenoisePipeline, StyleTreePipeline


class Learns(StyleTreePipeline):
    pass


class Cleans(DenoisePipeline):
    pass
"""


@pytest.mark.parametrize(
    ("pipelines", "us"),
    [
        pytest.param(BOTH, "", id="both"),
        pytest.param({"own.Learns": 1, "own.Cleans": 2}, "", id="classes made of both"),
        pytest.param({LEARNS: 1}, ADDON, id="one, but the add-on is in force"),
        pytest.param({LEARNS: 1}, "DENOISE_ENABLED = False\n", id="one, but turned off"),
    ],
)
def test_where_all_is_well_nothing_is_said(
    pipelines: dict[str, int], us: str, one_host: list[Served], tmp_path: Path
) -> None:
    assert warnings(run_crawl(tmp_path, one_host, GOOD, pipelines, us, own=OWN)) == []


@pytest.mark.parametrize(
    ("pipelines", "said"),
    [
        ({LEARNS: 100}, [f"{LEARNS} is enabled without {CLEANS}: only items that wait get text. Enable both."]),
        (
            {CLEANS: 100},
            [
                f"{CLEANS} is enabled without {LEARNS}: no page is learned, and each is judged by what the store "
                "knows already. Enable both."
            ],
        ),
        (
            {CLEANS: 100, LEARNS: 200},
            [
                f"{LEARNS} stands behind {CLEANS}: pages are judged before they are learned. "
                "Give it the lower number."
            ],
        ),
    ],
    ids=["only the first", "only the second", "in the wrong order"],
)
def test_a_pipeline_that_is_missing_or_stands_wrong_is_named(
    pipelines: dict[str, int], said: list[str], one_host: list[Served], tmp_path: Path
) -> None:
    assert warnings(run_crawl(tmp_path, one_host, GOOD, pipelines)) == said


def test_items_with_html_and_no_address_are_told_with_the_setting(one_host: list[Served], tmp_path: Path) -> None:
    guest = run_crawl(tmp_path, one_host, 'yield {"link": response.url, "text": "", "html": response.text}')
    assert warnings(guest) == [
        "dict items have HTML in 'html' and no address in 'url': pages without an address are taken for one site, "
        "and for one page. Add the address, or name the field that has it in DENOISE_URL_FIELD."
    ]
    assert all(item["text"] for item in guest.items())


@pytest.mark.parametrize("body", ["response.text", "' \\ufeff\\n' + response.text"])
def test_html_that_stands_in_another_field_is_told_with_the_setting(
    body: str, one_host: list[Served], tmp_path: Path
) -> None:
    guest = run_crawl(
        tmp_path, one_host, f'yield {{"url": response.url, "text": "", "note": "<b>", "source": {body}}}'
    )
    assert warnings(guest) == [
        "dict items have a page in 'source', but nothing in 'html': set DENOISE_HTML_FIELD = 'source'."
    ]
    assert guest.stats["denoise/untouched"] == PAGES
    again = run_crawl(
        tmp_path,
        one_host,
        f'yield {{"url": response.url, "source": {body}}}',
        us="DENOISE_HTML_FIELD = 'source'\n",
    )
    assert warnings(again) == []
    assert all(item["text"] for item in again.items())


def test_items_without_any_page_and_things_that_are_no_items_pass_without_a_word(
    one_host: list[Served], tmp_path: Path
) -> None:
    spider = SPIDER.replace('yield {"url": response.url, "text": ""}', "yield Thing(response.url)")
    spider += "\n\nclass Thing:\n    def __init__(self, url):\n        self.url = url\n"
    guest = Guest(tmp_path, f"ITEM_PIPELINES = {BOTH}\n", spider=spider)
    guest.run(addresses(one_host, PAGES), feed=None)
    assert guest.stats["item_scraped_count"] == guest.stats["denoise/untouched"] == PAGES, guest.log
    assert warnings(guest) == []
