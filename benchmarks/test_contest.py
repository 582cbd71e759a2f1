"""The contest: contenders on gold pages, its tables, and its command."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchmarks.contest.contenders import (
    PEERS,
    Contender,
    Extractor,
    PageSource,
    declared_language,
    extractor_after,
    extractor_alone,
    method,
    page_by_page,
    visible_text,
)
from benchmarks.contest.contest import (
    Evaluation,
    evaluate,
    summarize,
    whole,
)
from benchmarks.contest.tables import (
    Figures,
    cost_table,
    escape_cell,
    figures,
    markdown,
    notes,
    quality_table,
)
from benchmarks.contest.terminal import contenders
from denoise_crawler.errors import ExtractorError, MethodError
from denoise_crawler.evaluation import GoldPage, Score, mean
from denoise_crawler.methods import METHODS
from examples.demo_site.articles import article_path, articles, gold_text
from examples.demo_site.pages import article_page
from examples.demo_site.replies import respond
from tests.conftest import ROOT
from tests.programs import run_python

PAGE = "<html><body><p>{}</p></body></html>"


def page(page_id: str, site: str, text: str, gold: str | None = None, lang: str | None = None) -> GoldPage:
    return GoldPage(page_id, site, PAGE.format(text), gold=gold, lang=lang)


def reversing() -> Extractor:
    """Gives the text of the paragraph without its first word."""
    return page_by_page(lambda source: source.html.partition("<p>")[2].partition("</p>")[0].partition(" ")[2])


def raising_at(word: str) -> Extractor:
    """Cannot read pages that hold a word."""

    def extract(source: PageSource) -> str:
        if word in source.html:
            raise ValueError(f"no {word}, please")
        return source.html

    return page_by_page(extract)


def breaking_off() -> Extractor:
    """Gives the text of the first page of a site, then breaks."""

    def extractor(pages: Iterable[PageSource]) -> Iterator[str]:
        yield next(iter(pages)).html
        raise OverflowError("too many")

    return extractor


def dying() -> Extractor:
    """Takes its process with it at a page in Chinese."""

    def extract(source: PageSource) -> str:
        if source.language == "zh":
            os._exit(3)
        return source.html

    return page_by_page(extract)


def not_installed() -> Extractor:
    import a_package_that_nobody_has  # type: ignore[import-not-found]

    extractor: Extractor = a_package_that_nobody_has.extractor
    return extractor


def addresses_seen() -> Extractor:
    return page_by_page(lambda source: f"{source.url} {source.language}")


def learning_from_all() -> Extractor:
    """Gives the number of the pages that came together."""

    def extractor(pages: Iterable[PageSource]) -> Iterator[str]:
        count = len(list(pages))
        return iter([f"n{count}"] * count)

    return extractor


FIRST_WORD_LOST = Contender("first word lost", reversing)
FOUR = [
    page("1", "a.example", "one two three four", "two three four", "en"),
    page("2", "a.example", "noise 港湾纪事", "港湾", "zh-CN"),
    page("3", "b.example", "noise", "text", "en"),
    page("4", "b.example", "x y", None),
]


@pytest.fixture(scope="module")
def four() -> Evaluation:
    """Four pages of two sites in two sets, as two contenders see them, and one that is not installed."""
    missing = Contender("nobody's", not_installed, install="pip install nobodys")
    return evaluate(
        {"first": FOUR, "second": [page("1", "a.example", "a b", "b")]}, [visible_text(), FIRST_WORD_LOST, missing]
    )


def test_scores_bytes_and_means_are_those_worked_out_by_hand(four: Evaluation) -> None:
    lost = four.results[1]
    assert [found.words for found in lost.pages] == [
        Score(1.0, 1.0, 1.0),
        Score(0.5, 1.0, 2 * 0.5 / 1.5),
        Score(0.0, 0.0, 0.0),
        None,
        Score(1.0, 1.0, 1.0),
    ]
    found = summarize(four, lost, whole(four, "first"))
    assert (found.pages, found.scored, found.failed) == (4, 3, 0)
    assert (found.words.precision, found.words.recall, found.words.f1) == pytest.approx((1 / 2, 2 / 3, 5 / 9))
    assert (found.characters.precision, found.characters.recall) == pytest.approx((1 / 2, 2 / 3))
    assert found.grades == pytest.approx((1 / 3, 0, 1 / 3, 1 / 3))
    assert found.html_bytes == sum(len(page.html.encode()) for page in FOUR)
    assert found.text_bytes == len("two three four" + "y") + 3 * len("港湾纪事")
    assert found.kept == found.text_bytes / found.html_bytes


def test_every_contender_reads_every_page_once_with_its_address_and_language() -> None:
    pages = [page("1", "b.example", "", None, "en_US"), page("2", "a.example", ""), page("3", "b.example", "")]
    found = evaluate({"set": pages}, [Contender("addresses", addresses_seen)])
    assert [(one.site, one.id, one.language) for one in found.pages] == [
        ("b.example", "1", "en"),
        ("b.example", "3", None),
        ("a.example", "2", None),
    ]
    lengths = [len(f"https://{one.site}/{one.id} {one.language}") for one in found.pages]
    assert [one.text_bytes for one in found.results[0].pages] == lengths


def test_a_site_is_learned_from_all_of_its_pages_of_the_set_alone() -> None:
    sets = {"one": [page(str(number), "a.example", "", "n3") for number in range(3)], "two": FOUR}
    (found,) = evaluate(sets, [Contender("counting", learning_from_all)]).results
    assert [one.words.f1 for one in found.pages if one.words] == [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]


def test_time_and_memory_are_counted_by_set_and_contender(four: Evaluation) -> None:
    for result in (four.parse, *four.results):
        assert set(result.seconds) == {"first", "second"}
        assert all(seconds >= 0 for seconds in result.seconds.values())
        assert result.peak_bytes is None or result.peak_bytes > 1 << 20


def test_a_contender_that_is_not_installed_is_named_with_what_to_install(four: Evaluation) -> None:
    assert list(four.missing) == ["nobody's"]
    assert four.missing["nobody's"] == "No module named 'a_package_that_nobody_has'; pip install nobodys"
    assert [result.contender for result in four.results] == ["all visible text", "first word lost"]
    assert any("nobody's is left out" in note and "pip install nobodys" in note for note in notes(four))


def test_a_page_that_cannot_be_read_counts_as_empty_text() -> None:
    found = evaluate({"set": FOUR}, [Contender("raising", partial(raising_at, "noise"))])
    (result,) = found.results
    whys = [one.failure for one in result.pages]
    assert whys == [None, "ValueError: no noise, please", "ValueError: no noise, please", None]
    assert [one.text_bytes for one in result.pages][1:3] == [0, 0]
    assert result.pages[1].words == Score(0.0, 0.0, 0.0)
    assert summarize(found, result, whole(found, "set")).failed == 2
    assert any(note.startswith("raising failed on 2 pages (set 2: ValueError: no noise") for note in notes(found))
    assert cost_table(found, "set").rows[-1][-1] == "2"


def test_where_an_extractor_breaks_off_the_rest_of_the_site_has_failed() -> None:
    (result,) = evaluate({"set": FOUR}, [Contender("breaking", breaking_off)]).results
    assert [one.failure for one in result.pages] == [None, "OverflowError: too many"] * 2


def test_a_process_that_dies_fails_the_pages_of_its_site_and_harms_no_other() -> None:
    found = evaluate({"set": FOUR}, [Contender("dying", dying), FIRST_WORD_LOST], workers=2)
    dead, alive = found.results
    assert [one.failure for one in dead.pages] == [*["the process ended with exit code 3"] * 2, None, None]
    assert dead.peak_bytes is None
    assert not any(one.failure for one in alive.pages)
    assert cost_table(found, "set").rows[1][5] == "–"


def test_the_tables_show_the_figures(four: Evaluation) -> None:
    shown = quality_table(four, whole(four, "first"))
    assert shown.title == "first: quality, 4 pages of 2 sites"
    assert shown.rows[1] == [
        *("first word lost", "0.500", "0.667", "0.556", "0.500", "0.667", "0.556"),
        *("33.3", "0.0", "33.3", "33.3"),
    ]
    cost = cost_table(four, "first")
    assert cost.rows[0][0] == "lxml parse"
    assert cost.rows[1][4] == "100.0"
    assert cost.rows[2][4] == f"{100 * 27 / 44:.1f}"


def test_pages_without_gold_text_are_timed_and_not_scored() -> None:
    found = evaluate({"set": [page("1", "a.example", "a b")]}, [FIRST_WORD_LOST])
    assert quality_table(found, whole(found, "set")).rows[0][1:] == ["–"] * 10
    assert notes(found) == ["1 page has no gold text and is not scored"]


def test_the_figures_as_json_give_the_evaluation_back(four: Evaluation) -> None:
    found = msgspec.json.decode(figures(four), type=Figures)
    assert found.evaluation == four
    assert [(group.set, group.label) for group in found.groups][:2] == [("first", "all"), ("first", "en")]
    assert found.sites[0].contenders["first word lost"].scored == 2


HOSTILE = ['<script>alert("1")</script>', "a|b`c*d\n| e", "\x1b[31mred\x00\u202egnp", "&lt;b&gt;"]


@pytest.fixture(scope="module")
def hostile() -> Evaluation:
    pages = [page(f"{name}/{number}", name, "x", "y") for number, name in enumerate(HOSTILE)]
    return evaluate({'<img src="x">': pages}, [Contender("raising", partial(raising_at, "x"))])


def test_markdown_keeps_its_columns_whatever_a_site_is_called(hostile: Evaluation) -> None:
    text = markdown(hostile)
    assert "<script" not in text.replace("\\<", "")
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert escape_cell("a|b`c*d") == "a\\|b\\`c\\*d"


def test_there_is_a_contender_for_every_method_and_every_peer() -> None:
    assert [found.name for found in contenders(["all"], ["all"])] == ["all visible text", *METHODS, *PEERS]
    assert [found.name for found in contenders(["none"], ["none"])] == ["all visible text"]
    assert [found.name for found in contenders(["link_ratio"], ["justext"])][1:] == ["link_ratio", "justext"]


def test_a_method_with_options_is_a_contender_of_its_own() -> None:
    assert method("link_ratio", threshold=0.5).name == "link_ratio, threshold=0.5"
    with pytest.raises(MethodError):
        method("link_ratio", threshold=2.0)
    with pytest.raises(MethodError):
        method("no_such_method")


@pytest.mark.parametrize("name", list(PEERS))
def test_a_peer_that_is_installed_finds_the_article(name: str) -> None:
    article = articles()[0]
    base = "https://a.example"
    html, url = article_page(article, base), base + article_path(article)
    story = GoldPage("1", "a.example", html, url, gold=gold_text(article))
    found = evaluate({"set": [story]}, [PEERS[name]])
    if found.missing:
        pytest.skip(found.missing[name])
    (result,) = found.results
    assert result.pages[0].failure is None
    assert result.pages[0].words is not None
    assert result.pages[0].words.f1 > 0.7
    assert all(version != "unknown" for version in result.versions.values())


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ('<!DOCTYPE html><HTML class="a" LANG="zh-CN"><body>', "zh"),
        ("<html lang=el>", "el"),
        ("<html xml:lang='en'>", None),
        ('<html><p lang="fr">', None),
        ("", None),
    ],
)
def test_the_language_of_stop_words_is_the_declared_one(html: str, language: str | None) -> None:
    assert declared_language(html) == language


# --- an extractor alone, and after the noise is removed

ENGLISH = [article for article in articles() if article.lang == "en"]


def english_pages(count: int) -> list[tuple[str, bytes]]:
    base = "https://news.example"
    return [(base + article_path(one), respond(article_path(one), base).body) for one in ENGLISH[:count]]


def test_an_extractor_stands_in_the_tables_alone_and_after_each_method() -> None:
    found = [one.name for one in contenders(["none"], ["none"], ["trafilatura"], ["fusion", "link_ratio"])]
    assert found == [
        "all visible text",
        "trafilatura alone",
        "trafilatura after fusion",
        "trafilatura after link_ratio",
    ]
    with pytest.raises(ExtractorError):
        extractor_after("fusion", "newspaper")


def test_alone_it_reads_the_page_and_after_the_method_what_is_left() -> None:
    gold = [
        GoldPage(str(index), "news.example", html.decode(), url, "en", gold_text(ENGLISH[index]))
        for index, (url, html) in enumerate(english_pages(8))
    ]
    evaluation = evaluate(
        {"demo": gold}, [extractor_alone("resiliparse"), extractor_after("fusion", "resiliparse")]
    )
    before, then = (mean(page.words for page in result.pages if page.words) for result in evaluation.results)
    assert [result.contender for result in evaluation.results] == ["resiliparse alone", "resiliparse after fusion"]
    assert then.precision > before.precision
    assert evaluation.results[1].versions.keys() == {"denoise-crawler", "resiliparse"}


# --- the command

SITE = "harbourledger.example"


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stories of the bundled site with their text, and two lines that are no pages."""
    base = f"https://{SITE}"
    lines = [
        json.dumps(
            {
                "id": article.id,
                "site": SITE,
                "url": base + article_path(article),
                "lang": article.lang,
                "html": article_page(article, base),
                "gold": gold_text(article),
            }
        )
        for article in articles()[15:]
    ]
    file = tmp_path_factory.mktemp("gold") / "ledger.jsonl"
    file.write_text("\n".join(["{", *lines, '{"id": "1"}']), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def ran(gold: Path) -> "subprocess.CompletedProcess[str]":
    files = [argument for form in ("json", "markdown") for argument in (f"--{form}", f"out.{form}")]
    options = ("--methods", "link_ratio", "style_tree", "--peers", "none", "--by-site", *files)
    return run_python("-m", "benchmarks.contest", gold, *options, folder=gold.parent, PYTHONPATH=str(ROOT))


@pytest.fixture(scope="module")
def written(ran: "subprocess.CompletedProcess[str]", gold: Path) -> dict[str, Any]:
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads((gold.parent / "out.json").read_text("utf-8"))
    return found


def test_methods_stand_side_by_side_on_a_gold_set(ran: "subprocess.CompletedProcess[str]") -> None:
    assert "ledger: quality, " in ran.stdout
    for name in ("all visible text", "link_ratio", "style_tree"):
        assert f"\n {name} " in ran.stdout or f"\n{name} " in ran.stdout
    assert "…" not in ran.stdout
    assert SITE in ran.stdout


def test_the_json_holds_means_pages_and_versions(written: dict[str, Any]) -> None:
    everything = written["groups"][0]["contenders"]
    assert set(everything) == {"all visible text", "style_tree", "link_ratio"}
    assert everything["style_tree"]["words"]["f1"] > everything["all visible text"]["words"]["f1"]
    evaluation = written["evaluation"]
    assert evaluation["python"] == ".".join(map(str, sys.version_info[:3]))
    for result in evaluation["results"]:
        assert "denoise-crawler" in result["versions"]
        f1s = [page["words"]["f1"] for page in result["pages"]]
        assert len(f1s) == everything[result["contender"]]["pages"] == len(evaluation["pages"])
        assert sum(f1s) / len(f1s) == pytest.approx(everything[result["contender"]]["words"]["f1"])


def test_the_markdown_shows_the_figures_of_the_json(written: dict[str, Any], gold: Path) -> None:
    f1 = f"{written['groups'][0]['contenders']['style_tree']['words']['f1']:.3f}"
    row = next(
        line
        for line in (gold.parent / "out.markdown").read_text("utf-8").splitlines()
        if line.startswith("| style_tree ")
    )
    assert f"| {f1} |" in row
