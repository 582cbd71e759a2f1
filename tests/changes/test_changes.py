"""Fingerprints, copies and the history of pages."""

import random
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler import Denoiser, Page, Writing, denoise_pages
from denoise_crawler.changes.page_changes import (
    MAX_LINES,
    Copies,
    Fingerprint,
    PageHistory,
    SeenTexts,
    simhash,
    stable_lines,
)
from denoise_crawler.crawl.guarded_store import open_denoiser
from denoise_crawler.denoiser import Cleaning

LINES = st.lists(st.text(min_size=1, max_size=30), max_size=20).map("\n".join)


@pytest.mark.parametrize(
    "line",
    [
        *("3 hours ago", "Updated 12 minutes ago", "Last updated: May 3, 2024 10:15", "Aktualisiert: 03.05.2024"),
        *("1,204 views", "12 Kommentare", "Comments (31)", "10:15 pm", "浏览 120"),
    ],
)
def test_time_stamps_and_counters_say_nothing(line: str) -> None:
    assert list(stable_lines(f"A storm.\n{line}")) == ["a storm."]


@pytest.mark.parametrize(
    "line",
    [
        "12,50 €",
        "May 3, 2024",
        "3 boats sank",
        "Doors open at 10:15 and close at six",
        "He said so 3 years before.",
    ],
)
def test_prices_dates_and_sentences_are_text(line: str) -> None:
    assert list(stable_lines(line)) == [line.casefold()]


@given(LINES, LINES)
def test_a_page_says_the_same_as_itself_and_comes_back_from_its_bytes(text: str, more: str) -> None:
    page = Fingerprint.of(text, f"{text}\n{more}")
    assert page.says_the_same(page)
    assert Fingerprint.from_bytes(page.to_bytes()) == page


def test_another_verdict_is_no_change_but_another_line_is() -> None:
    whole = "Menu\nA storm.\nThree boats sank.\nRead also: A calm."
    before, wider = Fingerprint.of("A storm.\nThree boats sank.", whole), Fingerprint.of(whole, whole)
    assert before.content_hash != wider.content_hash
    assert before.says_the_same(wider)
    assert wider.says_the_same(before)
    for text in ("A storm.\nFour boats sank.", "A storm.", "A storm.\nThree boats sank.\nNobody was hurt."):
        assert not Fingerprint.of(text, f"Menu\n{text}").says_the_same(before)


def test_of_an_endless_page_only_the_hash_is_kept() -> None:
    text = "\n".join(f"Line {number} of many." for number in range(MAX_LINES + 1))
    page = Fingerprint.of(text, text)
    assert len(page.to_bytes()) == 12
    assert not Fingerprint.of(text + "\nOne more.", text).says_the_same(page)


@pytest.mark.parametrize("data", [b"", b"short", b"\xff" * 12, b"\0" * 13])
def test_damaged_bytes_are_no_fingerprint(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        Fingerprint.from_bytes(data)


def story(seed: int) -> str:
    words = random.Random(seed)
    return " ".join(f"word{words.randrange(3_000)}" for _ in range(300))


def test_a_page_that_says_nearly_the_same_names_the_first_one_of_its_site() -> None:
    seen, text = SeenTexts(), story(1)
    assert seen.see("a.example", "https://a.example/1", "", text, 1) == Copies(None, soft_404=False)
    assert seen.see("b.example", "https://b.example/1", "", text, 1).near_duplicate_of is None
    assert (
        seen.see("a.example", "https://a.example/2", "", text + " more", 2).near_duplicate_of
        == "https://a.example/1"
    )
    assert seen.see("a.example", "https://a.example/3", "", story(2), 3).near_duplicate_of is None
    assert seen.see("a.example", "https://a.example/1", "", text, 1).near_duplicate_of == "https://a.example/2"


def test_no_two_of_many_stories_are_taken_for_copies() -> None:
    seen = SeenTexts()
    found = [seen.see("a.example", f"https://a.example/{seed}", "", story(seed), seed) for seed in range(400)]
    assert {copies.near_duplicate_of for copies in found} == {None}


def test_only_so_many_texts_are_remembered() -> None:
    seen = SeenTexts(max_pages=10)
    for number in range(50):
        seen.see("a.example", f"https://a.example/{number}", "", story(number), number)
    assert seen.see("a.example", "https://a.example/x", "", story(1), 99).near_duplicate_of is None
    assert (
        seen.see("a.example", "https://a.example/y", "", story(49), 98).near_duplicate_of == "https://a.example/49"
    )


def test_texts_without_words_are_no_copies() -> None:
    assert simhash([""]) == simhash([""])
    assert SeenTexts().see("a.example", "https://[broken", "", "", 0) == Copies(None, soft_404=False)


def test_a_history_remembers_pages_from_run_to_run_and_no_more_than_it_may(tmp_path: Path) -> None:
    file, pages = tmp_path / "seen.sqlite", [Fingerprint.of(f"Story {number}.", "") for number in range(600)]
    history = PageHistory(file, max_pages=50)
    assert {history.see(f"https://a.example/{number}", page) for number, page in enumerate(pages)} == {None}
    history.close()
    history = PageHistory(file, max_pages=50)
    assert history.see("https://a.example/599", pages[599]) is True
    assert history.see("https://a.example/598", pages[0]) is False
    assert history.see("https://a.example/0", pages[0]) is None
    history.close()
    with sqlite3.connect(file) as opened:
        assert opened.execute("SELECT count(*) FROM pages").fetchone()[0] <= 50 + 1
    opened.close()


def test_two_processes_may_share_a_history(tmp_path: Path) -> None:
    one, other = PageHistory(tmp_path / "seen.sqlite"), PageHistory(tmp_path / "seen.sqlite")
    page = Fingerprint.of("Story.", "")
    assert one.see("https://a.example/", page) is None
    assert other.see("https://a.example/", page) is True
    one.close()
    other.close()


def test_a_damaged_row_counts_as_never_seen(tmp_path: Path) -> None:
    file, page = tmp_path / "seen.sqlite", Fingerprint.of("Story.", "")
    history = PageHistory(file)
    history.see("https://a.example/", page)
    with sqlite3.connect(file) as opened:
        opened.execute("UPDATE pages SET fingerprint = x'00'")
    opened.close()
    assert history.see("https://a.example/", page) is None
    assert history.see("https://a.example/", page) is True
    history.close()


def test_pages_cleaned_again_are_unchanged_but_those_with_another_text(tmp_path: Path) -> None:
    def run(word: str, ad: str) -> list[bool | None]:
        pages = [
            (
                f"https://a.example/{number}",
                f"<nav>Home</nav><p>{story(number)}{word * (number == 3)}</p><i>{ad}</i>",
            )
            for number in range(6)
        ]
        writing = Writing(changes="mark", history=str(tmp_path / "seen.sqlite"))
        return [page.unchanged for page in denoise_pages(pages, writing=writing)]

    assert run("", "") == [None] * 6
    assert run("", "") == [True] * 6
    assert run(" news", "") == [True, True, True, False, True, True]


def test_dropped_pages_are_not_yielded_again(tmp_path: Path) -> None:
    writing = Writing(changes="drop", history=str(tmp_path / "seen.sqlite"))
    pages = [("https://a.example/", f"<p>{story(1)}</p>")]
    assert [len(list(denoise_pages(pages, writing=writing))) for _ in range(2)] == [1, 0]


def test_to_look_at_a_page_is_no_visit(tmp_path: Path) -> None:
    file = tmp_path / "seen.sqlite"
    writing, page = (
        Writing(changes="mark", history=str(file)),
        Page.parse("https://a.example/", f"<p>{story(1)}</p>"),
    )
    with open_denoiser(None, Cleaning(writing=writing)) as shown:
        assert shown.clean(page).clean_page.unchanged is None
    denoiser = Denoiser(writing=writing)
    assert denoiser.clean(page, watch=False).clean_page.content_hash is None
    assert denoiser.raw(page).clean_page.content_hash is None
    assert not file.exists()
    assert [denoiser.clean(page).clean_page.unchanged for _ in range(2)] == [None, True]
