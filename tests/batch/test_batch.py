import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denoise_crawler import CleanPage, Writing, denoise_pages
from denoise_crawler.batch import BatchResult, BatchStats, Limits, clean_pages
from denoise_crawler.batch.worker import BatchWorker
from denoise_crawler.denoiser import Cleaning
from denoise_crawler.errors import BatchError, MethodError
from denoise_crawler.methods import METHODS, MethodChoice
from denoise_crawler.page import Page
from examples.demo_site.replies import Article, article_path, articles, respond
from tests.batch import no_process_is_left
from tests.odd_method import OddWriting
from tests.strategies import html_pages

SITES = ("one.example", "two.example", "three.example")


@pytest.fixture(autouse=True)
def temporary_folders_and_processes_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every batch, whatever its end, leaves no files and no process."""
    own = tmp_path / "temporary"
    own.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(own))
    yield
    assert list(own.iterdir()) == []
    assert no_process_is_left()


@cache
def english() -> list[Article]:
    return [article for article in articles() if article.lang == "en"][:24]


@cache
def interleaved() -> list[tuple[str, str | bytes]]:
    """Three sites, page by page in turn, some pages twice and once with another content."""
    found = []
    for number, article in enumerate(english()):
        base = f"https://{SITES[number % 3]}"
        found.append((base + article_path(article), respond(article_path(article), base).body))
    again = [(url, b"<body><p>Something else at a known address</p></body>") for url, _ in found[:4]]
    return [*found, ("https://one.example/empty", ""), *again, *found[:2]]


def cleaned(*arguments: Any, **options: Any) -> list[BatchResult]:
    return list(clean_pages(interleaved, *arguments, **options))


# --- the result


@pytest.mark.parametrize("method", sorted(METHODS))
def test_the_result_is_that_of_the_one_road_whatever_the_number_of_workers(method: str) -> None:
    alone = list(denoise_pages(interleaved(), method=method))
    for workers in (1, 2, 3) if method == "style_tree" else (1, 2):
        assert [found.page for found in cleaned(method, workers=workers)] == alone


def test_sites_that_do_not_fit_in_memory_change_nothing() -> None:
    assert cleaned(sites_in_memory=1, workers=1) == cleaned(workers=1)


@pytest.mark.parametrize("form", ["text", "markdown"])
@pytest.mark.parametrize(("room", "most"), [(0, 99), (20_000, 99), (20_000, 3)])
def test_how_many_pages_are_kept_changes_nothing(
    form: str, room: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_stay = cleaned(workers=1, writing=Writing(form))
    monkeypatch.setattr("denoise_crawler.batch.worker.MAX_PARSED_CHARACTERS", room)
    monkeypatch.setattr("denoise_crawler.batch._MOST_EARLY", most)
    assert cleaned(workers=1, writing=Writing(form)) == all_stay


@pytest.mark.parametrize(("site", "room"), [("a.example", 10_000), ("{}.example", 0)])
def test_a_page_that_is_kept_or_alone_on_its_site_is_parsed_once(
    site: str, room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("denoise_crawler.batch.worker.MAX_PARSED_CHARACTERS", room)
    pages = [(f"https://{site.format(number)}/{number}", f"<h1>News</h1><p>Story {number}") for number in range(9)]
    parsed = Counter[str]()
    tree = Page.tree

    def watched(page: Page) -> object:
        parsed[page.url] += page._make_tree is not None
        return tree.__get__(page)

    monkeypatch.setattr(Page, "tree", property(watched))
    assert len(list(clean_pages(lambda: pages, workers=1))) == len(parsed) == 9
    assert set(parsed.values()) == {1}


def test_kept_pages_have_a_bound_and_are_judged_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("denoise_crawler.batch.worker.MAX_PARSED_CHARACTERS", 100)
    worker, small, large = BatchWorker(Cleaning(), None, tmp_path), "<p>" + 60 * "a", "<p>" + 200 * "a"
    kept = [worker.learn("a", str(key), html, key).is_kept for key, html in enumerate((large, small, small))]
    assert kept == [False, True, False]
    assert worker.judge_parsed(0, None) is None
    assert (result := worker.judge_parsed(1, None)) is not None
    assert result.html_bytes == len(small)
    assert worker.judge_parsed(1, None) is None
    assert worker.learn("a", "3", small, 3).is_kept


def test_a_page_that_is_another_one_when_it_is_read_again_is_judged_as_it_is_then() -> None:
    html = iter(
        ["<p>The page that was counted.", "<p>The page that was learned.", "<p>The page that is there now."]
    )
    other = "https://a.example/2", "<p>Another page of the site."
    found, _ = clean_pages(lambda: [("https://a.example/", next(html)), other], workers=1)
    assert found.page.text == "The page that is there now."


def test_options_reach_the_method_in_every_process() -> None:
    options: dict[str, object] = {"threshold": 0.3}
    alone = list(denoise_pages(interleaved(), method="link_ratio", threshold=0.3))
    assert [found.page for found in cleaned(MethodChoice("link_ratio", options), workers=2)] == alone
    assert alone != list(denoise_pages(interleaved(), method="link_ratio"))


@pytest.mark.parametrize("render", ["html", "painted", "annotated"])
def test_a_page_is_rendered_as_asked(render: str) -> None:
    for found in cleaned("link_ratio", workers=1, render=render)[:3]:
        assert found.rendered is not None
        assert found.error is None
        assert found.page.title in found.rendered


def test_clean_html_says_how_it_is_encoded_and_keeps_the_title() -> None:
    html = b"<meta charset=gbk><title>a &lt; b</title><p>\xd6\xd0\xce\xc4"
    (found,) = clean_pages(lambda: [("https://a.example/", html)], "link_ratio", workers=1, render="html")
    assert found.rendered is not None
    again = Page.parse("https://a.example/", found.rendered.encode())
    assert (again.title, again.nodes.texts[-1]) == ("a < b", "中文")


@given(pages=st.lists(st.tuples(st.sampled_from(["https://a.example/", "https://b.example/x", ""]), html_pages())))
@settings(max_examples=30)
def test_any_pages_come_out_one_by_one_as_from_the_one_road(pages: list[tuple[str, str | bytes]]) -> None:
    found = list(clean_pages(lambda: pages, workers=1))
    assert [one.page for one in found] == list(denoise_pages(pages))
    assert not [one for one in found if one.error]


def test_a_tally_sums_up() -> None:
    stats = BatchStats()
    found = cleaned(workers=2, stats=stats)
    assert stats.pages == len(found) == len(interleaved())
    assert stats.sites == set(SITES)
    assert stats.html_bytes == sum(len(html) for _, html in interleaved())
    assert stats.text_bytes == sum(len(one.page.text.encode()) for one in found)
    assert stats.characters_before == sum(sum(Page.parse(*page).characters) for page in interleaved())
    assert stats.characters_after == sum(one.kept for one in found) < stats.characters_before
    assert stats.skipped == {"empty": 1}
    assert (stats.failed, stats.unlearned, stats.cold) == (0, 0, 0)


# --- sites with few pages


def few_and_many() -> list[tuple[str, str | bytes]]:
    return [page for page in interleaved()[:24] if "one.example" in page[0] or page == interleaved()[1]]


def test_pages_of_a_site_with_too_few_are_not_warm() -> None:
    found = list(clean_pages(few_and_many, workers=2, warmup_pages=8))
    assert {one.page.site for one in found if one.page.warm} == {"one.example"}
    assert [one.page.method for one in found if not one.page.warm] == ["fusion"]
    assert all(one.page.warm for one in clean_pages(few_and_many, "link_ratio", workers=1, warmup_pages=99))


@pytest.mark.parametrize(("short_sites", "workers"), [("drop", 1), ("drop", 2), ("clean", 1)])
def test_short_sites_are_cleaned_or_dropped(short_sites: str, workers: int) -> None:
    found = clean_pages(few_and_many, workers=workers, warmup_pages=8, short_sites=short_sites)
    short = next(one for one in found if one.page.site == "two.example")
    assert short.page.warm is False
    assert short.dropped == (short_sites == "drop")
    if short_sites != "drop":
        assert short.page.method == "fusion"


# --- what goes wrong


def pages_called(*names: str) -> list[tuple[str, str | bytes]]:
    return [
        (f"https://a.example/{name}", f"<body><p>This is {name}.</p><div><a href=/>menu</a></div>")
        for name in names
    ]


@pytest.mark.parametrize("method", ["odd_ratio", "odd_learner"])
@pytest.mark.parametrize(
    ("name", "limits", "error"),
    [
        ("die", Limits(), "the process was killed by SIGKILL"),
        ("loop", Limits(seconds=0.5), "took more than 0.5 s of CPU time"),
        ("sleep", Limits(clock=8.0), "took more than 8 s"),
    ],
)
def test_a_page_that_never_ends_or_kills_its_process_costs_itself_alone(
    odd_site: Callable[[str], str],
    caplog: pytest.LogCaptureFixture,
    method: str,
    name: str,
    limits: Limits,
    error: str,
) -> None:
    stats, names = BatchStats(), ("one", name, "two", "three")
    pages = pages_called(*names)
    found = list(
        clean_pages(
            lambda: pages,
            method,
            workers=2,
            site=odd_site,
            writing=OddWriting(),
            stats=stats,
            limits=limits,
            warmup_pages=3,
        )
    )
    assert [result.page.url for result in found] == [url for url, _ in pages]
    assert (found[1].page.text, found[1].page.error) == ("", error)
    assert ["This is" in result.page.text for result in found] == [True, False, True, True]
    assert [result.page.warm for result in found] == [True, False, True, True]
    done = "cleaned" if method == "odd_ratio" else "learned"
    assert [record.getMessage() for record in caplog.records] == [
        f"https://a.example/{name} cannot be {done}: {error}"
    ]
    assert (stats.failed, stats.unlearned, stats.cold) == (1, method != "odd_ratio", 0)


@pytest.mark.fails_on_a_page
def test_a_page_that_eats_memory_costs_itself_alone(odd_site: Callable[[str], str]) -> None:
    pages = pages_called("one", "eat", "two")
    one, eater, two = clean_pages(
        lambda: pages, "odd_ratio", workers=2, site=odd_site, writing=OddWriting(), limits=Limits(memory=1 << 30)
    )
    assert eater.error is not None
    assert eater.error.startswith("MemoryError")
    assert [result.page.text for result in (one, eater, two)] == ["This is one.", "", "This is two."]


def test_what_a_process_that_dies_has_learned_is_learned_again(
    odd_site: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process is killed once, on its 71st page, when it has written what it knows of 64."""
    mark = tmp_path / "died"
    monkeypatch.setenv("ODD_MARK", str(mark))
    pages = pages_called(*map(str, range(70)), "die-once", *map(str, range(70, 80)))
    found = [
        result.page
        for result in clean_pages(lambda: pages, "odd_learner", workers=2, site=odd_site, writing=OddWriting())
    ]
    assert mark.exists()
    assert found == list(denoise_pages(pages, method="odd_learner"))


@pytest.mark.fails_on_a_page
def test_a_full_disk_ends_the_work_with_its_message(odd_site: Callable[[str], str]) -> None:
    with pytest.raises(BatchError, match="OSError: no space left on device"):
        list(
            clean_pages(
                lambda: pages_called("one", "raise"), "odd_tree", workers=2, site=odd_site, writing=OddWriting()
            )
        )


def test_pages_that_cannot_be_read_any_more_end_the_work() -> None:
    def broken() -> Iterator[tuple[str, str | bytes]]:
        yield from interleaved()
        raise EOFError("the disk is gone")

    with pytest.raises(EOFError, match="the disk is gone"):
        list(clean_pages(broken, workers=2))


def test_whoever_has_enough_pages_can_stop() -> None:
    pages = clean_pages(interleaved, "link_ratio", workers=2)
    assert isinstance(next(pages).page, CleanPage)
    pages.close()  # type: ignore[attr-defined]


def test_wrong_arguments_raise_at_once() -> None:
    with pytest.raises(MethodError, match="unknown method"):
        cleaned("none")
    with pytest.raises(MethodError):
        cleaned(MethodChoice("link_ratio", {"threshold": 7}))
    for wrong, said in (
        ({"render": "pdf"}, "html, painted"),
        ({"short_sites": "keep"}, "clean, drop"),
        ({"workers": 0}, "at least 1"),
    ):
        with pytest.raises(ValueError, match=said):
            clean_pages(interleaved, **wrong)
