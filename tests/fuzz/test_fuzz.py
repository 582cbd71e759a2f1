"""Short runs of the fuzz suite, hostile pages, gold pages; ``python -m benchmarks.fuzz`` is the long one."""

import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denoise_crawler.batch.process_pool import Limits
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.evaluation import by_site, read_gold
from denoise_crawler.methods import METHODS
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import Page
from denoise_crawler.page.consent import _ADDRESS, _NAMES
from tests.fuzz.costs import MOST_BYTES, measure
from tests.fuzz.fuzz_process import run
from tests.fuzz.hostile import ENTITIES, HOSTILE, SENTENCE, around
from tests.fuzz.markup import encoded, page, repeated
from tests.fuzz.mutations import mutated, numbered
from tests.fuzz.road import Road, outcomes, write_all_in_a_report

BUILT = st.builds(
    encoded, st.randoms(), st.one_of(st.builds(page, st.randoms(), st.just(25)), st.builds(repeated, st.randoms()))
)
CHANGED = st.builds(mutated, st.randoms())


@settings(max_examples=40)
@given(sources=st.lists(BUILT, min_size=1, max_size=3))
def test_no_page_that_is_built_raises_or_loses_its_text(sources: list[str | bytes]) -> None:
    road = Road()
    for source in sources:
        road.travel(source)


@settings(max_examples=40)
@given(source=CHANGED)
def test_no_real_page_with_changed_bytes_raises_or_loses_its_text(source: bytes) -> None:
    Road().travel(source)


@pytest.mark.parametrize("method", ["fusion", "style_tree"])
def test_a_report_shows_hostile_pages_whatever_they_are(method: str, tmp_path: Path) -> None:
    write_all_in_a_report([numbered(6, number) for number in range(20)], method, tmp_path)


def test_the_long_run_counts_its_inputs_and_writes_no_failures_where_there_are_none(tmp_path: Path) -> None:
    result = run(range(25), tmp_path / "failures", seed=3)
    assert (result.inputs, result.failures) == (25, {})
    assert not (tmp_path / "failures").exists()


def test_an_input_that_takes_too_long_is_a_failure_that_is_written_and_the_run_goes_on(tmp_path: Path) -> None:
    result = run(range(40, 43), tmp_path, seed=3, limits=Limits(seconds=0.001))
    assert list(result.failures) == [40, 41, 42]
    assert {error for error, _ in result.failures.values()} == {"took more than 0.001 s of CPU time"}
    assert {file for _, file in result.failures.values()} == set(tmp_path.glob("*.html"))


SMALL: dict[str, Callable[[], str | bytes]] = {
    "5,000 siblings": lambda: around("<p>a" * 5_000),
    "a text of 600 KB": lambda: around(SENTENCE * 10_000),
    "500 levels with text in each": lambda: around(f"<div>{SENTENCE}" * 500 + "</div>" * 500),
    "20,000 levels of b": lambda: around("<b>" * 20_000 + SENTENCE),
    "a thousand attributes": lambda: around(("<p " + " ".join(f'a{n}="{n}"' for n in range(1_000)) + ">a") * 20),
    "10,000 words in a tag": lambda: around("<p " + "word " * 10_000 + ">a</p>"),
    "100,000 attributes": lambda: around("<p " + " ".join(f"a{n}" for n in range(100_000)) + ">a</p>"),
    "entity bombs": lambda: ENTITIES + around("&a11;" * 1_000),
    "misnested formatting": lambda: around("<b><i><a href=x><p>a</b></i>" * 500),
    "lists in lists in quotes": lambda: around("<ul><li><blockquote>a" * 200),
    "tables in tables": lambda: around("<table><tr><td>" * 200 + SENTENCE),
    "colspans of a milliard": lambda: around("<table>" + "<tr><td colspan=999999999>a<td>b" * 50 + "</table>"),
    "JSON-LD of nested lists": lambda: around('<script type="application/ld+json">' + "[" * 200_000 + "</script>"),
    "right-to-left marks": lambda: around("\u202e\u200f" * 100_000),
    "UTF-16 that says it is UTF-8": lambda: ("<meta charset=utf-8>" + around("中文" * 300)).encode("utf-16"),
    "GB 18030 that says it is Latin-1": lambda: (
        "<meta charset=iso-8859-1>" + around("据新华网报道，昨天下午的会议在上海举行。" * 20)
    ).encode("gb18030"),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_hostile_page_passes_every_method_and_output_and_keeps_its_text(name: str) -> None:
    source = SMALL[name]()
    assert all(Road().travel(source).values())
    text = clean_text(Page.parse("https://hostile.example/1", source))
    assert "first The boats" in text
    assert "last The boats" in text


def test_a_text_of_50_mb_is_skipped_and_said_so() -> None:
    page = Page.parse("https://hostile.example/1", HOSTILE["a text of 50 MB"]())
    assert page.skipped == "too_large"
    assert Denoiser().clean(page).clean_page.text == ""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured by /proc")
def test_a_page_just_below_the_limits_adds_no_more_memory_than_is_promised() -> None:
    cost = measure("every limit at once", outputs=False)
    assert cost.outcome == ""
    assert {method: added for method, added in cost.added.items() if added > MOST_BYTES} == {}
    assert min(cost.added.values()) > 50_000_000


def test_a_page_above_the_limits_adds_next_to_no_memory() -> None:
    cost = measure("a million siblings", outputs=False)
    assert cost.outcome == "too_large"
    assert max(cost.added.values()) < 2_000_000


def test_a_hostile_record_adds_no_more_memory_than_is_promised_and_costs_no_other() -> None:
    cost = measure("an HTTP header folded 1.2 million times")
    assert cost.outcome.endswith(", 2 pages")
    assert cost.added["read"] <= MOST_BYTES


def test_a_long_address_and_a_long_text_are_no_endless_tags() -> None:
    address = "data:image/png;base64," + "A" * 100_000
    page = Page.parse("https://a.example/1", f'<p>one < two {"word " * 20_000}<img src="{address}" alt=a> three')
    assert page.root is not None
    assert [image.get("src") for image in page.root.iter("img")] == [address]
    text = clean_text(page)
    assert text.startswith("one < two word")
    assert text.endswith("three")
    assert text.count("word") == 20_000


@pytest.mark.parametrize("gold_set", ["wcxb", "christianbook"])
def test_no_gold_page_with_text_comes_out_empty_without_a_stated_reason(corpus: Path, gold_set: str) -> None:
    if not (corpus / f"{gold_set}.jsonl.xz").is_file():
        pytest.skip(f"the corpus has no {gold_set}")
    first = islice(read_gold(corpus, gold_set), 20)
    sites = by_site(page for page in first if (page.gold or "").strip() or page.attrs)
    for name in METHODS:
        for pages in list(sites.values())[:4]:
            assert "empty" not in dict(outcomes(pages[:4], name)).values()


FIRST = 100  # of each set: to decode all of them takes minutes


def test_no_gold_page_is_taken_for_a_wall_that_asks_for_consent(corpus: Path) -> None:
    walls = []
    for file in sorted(corpus.glob("*.jsonl.xz")):
        for gold in islice(read_gold(corpus, file.name.removesuffix(".jsonl.xz")), FIRST):
            url, html = gold.url or f"https://{gold.site}/{gold.id}", gold.html.lower()
            if _ADDRESS.match(url) or any(name in html for name in _NAMES):  # without either, none can be one
                walls += [gold.id] if Page.parse(url, gold.html).skipped == "consent" else []
    assert walls == []
