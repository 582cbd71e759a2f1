import gzip
import lzma
import os
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from lxml import html as lxml_html

from denoise_crawler.demo.articles import article_path, articles, gold_text
from denoise_crawler.demo.pages import article_page
from denoise_crawler.errors import GoldError, MethodError
from denoise_crawler.evaluation import (
    Contender,
    Selection,
    evaluate,
    gold_sets,
    groups_of,
    method,
    summarize,
    visible_text,
)
from denoise_crawler.evaluation.contenders import PEERS, Extractor, PageSource, declared_language, page_by_page
from denoise_crawler.evaluation.contest import Evaluation, sites_of, whole, worst
from denoise_crawler.evaluation.gold import (
    HALVES,
    TUNING,
    Broken,
    GoldPage,
    Score,
    addresses,
    gold_pages,
    half,
    html_pages,
)
from denoise_crawler.evaluation.tables import (
    Figures,
    cost_table,
    escape_cell,
    figures,
    html_report,
    main_tables,
    markdown,
    notes,
    printable,
    quality_table,
)
from denoise_crawler.evaluation.terminal import contenders
from denoise_crawler.evaluation.training.examples import labelled, sample_of, wishes_of
from denoise_crawler.evaluation.training.fitting import FOLDS, fold, fold_file, kind_odds
from denoise_crawler.methods import METHODS
from denoise_crawler.methods.fusion.features import UNSAID, Words
from denoise_crawler.methods.fusion.weights import Model, read_weights
from denoise_crawler.page import Page

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


def test_all_visible_text_keeps_every_word(four: Evaluation) -> None:
    visible = summarize(four, four.results[0], whole(four, "first"))
    assert visible.words.recall == pytest.approx(2 / 3)  # one page does not hold its gold text
    assert visible.text_bytes == len("one two three four" + "noise " + "noise" + "x y") + 3 * len("港湾纪事")


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


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is read in the way of Linux")
def test_the_memory_of_the_caller_is_not_counted() -> None:
    held = b"x" * (300 << 20)
    found = evaluate({"set": FOUR}, [FIRST_WORD_LOST]).results[0].peak_bytes
    assert held
    assert found is not None
    assert found < len(held)


def test_a_contender_that_is_not_installed_is_named_with_what_to_install(four: Evaluation) -> None:
    assert list(four.missing) == ["nobody's"]
    assert four.missing["nobody's"] == "No module named 'a_package_that_nobody_has'; pip install nobodys"
    assert [result.contender for result in four.results] == ["all visible text", "first word lost"]
    assert any("nobody's is left out" in note and "pip install nobodys" in note for note in notes(four))


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="magic-html can be installed here")
def test_a_peer_for_newer_pythons_is_left_out() -> None:
    found = evaluate({"set": FOUR}, [PEERS["magic-html"]])
    assert found.results == []
    assert found.missing["magic-html"].endswith("pip install 'denoise-crawler[peers]' (Python 3.12 or newer)")


def test_a_page_that_cannot_be_read_counts_as_empty_text() -> None:
    found = evaluate({"set": FOUR}, [Contender("raising", partial(raising_at, "noise"))])
    (result,) = found.results
    whys = [one.failure for one in result.pages]
    assert whys == [None, "ValueError: no noise, please", "ValueError: no noise, please", None]
    assert [one.text_bytes for one in result.pages][1:3] == [0, 0]
    assert result.pages[1].words == Score(0.0, 0.0, 0.0)
    assert summarize(found, result, whole(found, "set")).failed == 2
    assert any(note.startswith("raising failed on 2 pages (set 2: ValueError: no noise") for note in notes(found))
    assert cost_table(found, "set").rows[-1][-1].text == "2"


def test_where_an_extractor_breaks_off_the_rest_of_the_site_has_failed() -> None:
    (result,) = evaluate({"set": FOUR}, [Contender("breaking", breaking_off)]).results
    assert [one.failure for one in result.pages] == [None, "OverflowError: too many"] * 2


def test_a_process_that_dies_fails_the_pages_of_its_site_and_harms_no_other() -> None:
    found = evaluate({"set": FOUR}, [Contender("dying", dying), FIRST_WORD_LOST], workers=2)
    dead, alive = found.results
    assert [one.failure for one in dead.pages] == [*["the process ended with exit code 3"] * 2, None, None]
    assert dead.peak_bytes is None
    assert not any(one.failure for one in alive.pages)
    assert cost_table(found, "set").rows[1][5].text == "–"


def test_workers_change_no_score(four: Evaluation) -> None:
    sets = {"first": FOUR, "second": [page("1", "a.example", "a b", "b")]}
    at_once = evaluate(sets, [visible_text(), FIRST_WORD_LOST], workers=3)
    assert [result.pages for result in at_once.results] == [result.pages for result in four.results]


def test_progress_counts_each_page_of_each_contender() -> None:
    seen: list[tuple[str, int, int]] = []
    evaluate({"set": FOUR}, [FIRST_WORD_LOST], progress=lambda *step: seen.append(step))
    assert seen == [(name, done, 4) for name in ("lxml parse", "first word lost") for done in (1, 2, 3, 4)]


def test_no_pages_give_an_empty_evaluation() -> None:
    found = evaluate({"set": []}, [FIRST_WORD_LOST])
    assert (found.pages, found.sets, groups_of(found)) == ([], [], [])


def many_pages() -> list[GoldPage]:
    """Pages of sites with 12, 6 and 1 page, in two languages and none."""
    sites = {"twelve.example": 12, "six.example": 6, "one.example": 1}
    languages = ["zh", "en", None]
    return [
        page(f"{site}-{number}", site, f"w{number} of {site}", f"of {site}", languages[number % 3])
        for site, count in sites.items()
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def many() -> Evaluation:
    return evaluate({"set": many_pages()}, [visible_text(), FIRST_WORD_LOST])


def test_groups_are_all_pages_each_language_and_the_larger_sites(many: Evaluation) -> None:
    assert {(group.label, len(group.pages)) for group in groups_of(many)} == {
        ("all", 19),
        ("zh", 7),
        ("en", 6),
        ("language unknown", 6),
        ("sites ≥ 5", 18),
        ("sites ≥ 10", 12),
    }


def test_what_is_all_or_nothing_is_no_group() -> None:
    found = evaluate({"set": many_pages()[:12]}, [], selection=Selection(language="en"))
    assert [(group.label, len(group.pages)) for group in groups_of(found)] == [("all", 4)]


@pytest.mark.parametrize("by", ["language", "site", "half"])
def test_breakdowns_add_up(many: Evaluation, by: str) -> None:
    everything = whole(many, "set")
    labels = {"language": ("zh", "en", "language unknown"), "half": ("tuning half", "reporting half"), "site": ()}[
        by
    ]
    parts = [group for group in groups_of(many, halves=True) if group.label in labels] or sites_of(many, "set")
    assert sorted(number for part in parts for number in part.pages) == everything.pages
    for result in many.results:
        total = summarize(many, result, everything)
        found = [summarize(many, result, part) for part in parts]
        assert sum(part.pages for part in found) == total.pages
        assert sum(part.text_bytes for part in found) == total.text_bytes
        assert sum(part.words.f1 * part.scored for part in found) == pytest.approx(total.words.f1 * total.scored)


def test_sites_stand_by_their_number_of_pages(many: Evaluation) -> None:
    assert [(site.label, len(site.pages)) for site in sites_of(many, "set")] == [
        ("twelve.example", 12),
        ("six.example", 6),
        ("one.example", 1),
    ]


def test_a_selection_takes_pages_by_language_half_and_size_of_site() -> None:
    def sites(**selection: Any) -> dict[str, int]:
        found = evaluate({"set": many_pages()}, [], selection=Selection(**selection))
        return {site.label: len(site.pages) for site in sites_of(found, "set")}

    assert sites(sites_with=6) == {"twelve.example": 12, "six.example": 6}
    assert sites(language="zh") == {"twelve.example": 4, "six.example": 2, "one.example": 1}
    assert sites(language="zh", sites_with=4) == {"twelve.example": 4}
    halves = [sites(half=part) for part in HALVES.values()]
    assert not set(halves[0]) & set(halves[1])
    assert halves[0] | halves[1] == sites()
    assert all(half(site) == part for part, found in enumerate(halves) for site in found)


def test_the_worst_pages_come_first(four: Evaluation) -> None:
    assert worst(four, four.results[1], "first", 2) == [2, 1]


def test_the_tables_show_the_figures(four: Evaluation) -> None:
    shown = quality_table(four, whole(four, "first"))
    assert shown.title == "first: quality, 4 pages of 2 sites"
    assert [cell.text for cell in shown.rows[1]] == [
        *("first word lost", "0.500", "0.667", "0.556", "0.500", "0.667", "0.556"),
        *("33.3", "0.0", "33.3", "33.3"),
    ]
    cost = cost_table(four, "first")
    assert cost.rows[0][0].text == "lxml parse"
    assert cost.rows[1][4].text == "100.0"
    assert cost.rows[2][4].text == f"{100 * 27 / 44:.1f}"


def test_pages_without_gold_text_are_timed_and_not_scored() -> None:
    found = evaluate({"set": [page("1", "a.example", "a b")]}, [FIRST_WORD_LOST])
    assert [cell.text for cell in quality_table(found, whole(found, "set")).rows[0]][1:] == ["–"] * 10
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


def test_the_html_page_escapes_the_names_of_sites(hostile: Evaluation) -> None:
    written = html_report(hostile)
    tree = lxml_html.document_fromstring(written)
    assert not tree.xpath("//script | //img | //td//b | //@src | //@href")
    found: Any = tree.xpath("//td")
    cells = {cell.text_content() for cell in found}
    assert {printable(name) for name in HOSTILE} <= cells
    assert "\x1b" not in written
    assert "\u202e" not in written


def test_the_html_page_is_whole_in_itself(many: Evaluation) -> None:
    written = html_report(many)
    tree = lxml_html.document_fromstring(written)
    assert "url(" not in written
    assert not tree.xpath("//link | //script | //img | //iframe")
    captions: Any = tree.xpath("//caption/text()")
    assert {table.title for table in main_tables(many)} <= set(captions)


def test_markdown_keeps_its_columns_whatever_a_site_is_called(hostile: Evaluation) -> None:
    text = markdown(hostile)
    assert "<script" not in text.replace("\\<", "")
    assert "\x1b" not in text
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


def test_pages_keep_their_own_addresses_if_all_belong_to_the_site() -> None:
    own = [GoldPage("1", "example.com", "", url="http://www.example.com/x"), GoldPage("2", "example.com", "")]
    assert addresses(own[:1]) == ["http://www.example.com/x"]
    assert addresses(own) == ["https://example.com/1", "https://example.com/2"]
    assert addresses([GoldPage("3", "example.com", "", url="http://example.org/x")]) == ["https://example.com/3"]


LINES = [
    b'{"id": "1", "site": "a.example", "html": "<p>x</p>", "gold": "x", "more": [1]}',
    b"",
    b'{"id": "2", "site": "a.example"}',
    b"{oops",
    b'{"id": "3", "site": "a.example", "html": "\xff"}',
    b'{"id": 4, "site": "a.example", "html": ""}',
    b'{"id": "5", "site": "a.example", "html": "", "lang": "zh"}',
]


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "jsonl.xz"])
def test_broken_lines_are_named_and_left_out(tmp_path: Path, ending: str) -> None:
    file, broken = tmp_path / f"news.{ending}", list[Broken]()
    source = b"\xef\xbb\xbf" + b"\r\n".join(LINES)
    packed = {"jsonl": source, "jsonl.gz": gzip.compress(source), "jsonl.xz": lzma.compress(source)}
    file.write_bytes(packed[ending])
    ((name, pages),) = gold_sets([file], broken.append).items()
    assert name == "news"
    assert [(found.id, found.gold, found.lang) for found in pages] == [("1", "x", None), ("5", None, "zh")]
    assert [(line.file, line.line) for line in broken] == [(file.name, number) for number in (3, 4, 5, 6)]
    assert "html" in broken[0].why


def test_comments_that_a_set_parts_from_the_text_are_no_gold() -> None:
    assert GoldPage("1", "a.example", "", gold="A story.\n!@#$%^&*() COMMENTS\nFirst!").gold == "A story.\n"


def test_a_value_that_stands_alone_is_a_list_of_one(tmp_path: Path) -> None:
    line = b'{"id": "1", "site": "a.example", "html": "", "attrs": {"title": "T", "price": ["1", "2"]}}'
    (tmp_path / "shop.jsonl").write_bytes(line)
    (found,) = gold_pages(tmp_path / "shop.jsonl")
    assert found.values == {"title": ["T"], "price": ["1", "2"]}


def test_a_file_cut_short_gives_its_pages_and_is_named(tmp_path: Path) -> None:
    file, broken = tmp_path / "news.jsonl.gz", list[Broken]()
    whole_file = gzip.compress(LINES[0] + b"\n") + gzip.compress(LINES[-1] * 100)[:-20]
    file.write_bytes(whole_file)
    assert [found.id for found in gold_pages(file, broken.append)] == ["1"]
    assert [line.line for line in broken] == [0]


def test_without_anyone_to_tell_a_broken_line_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "news.jsonl").write_bytes(b"\n".join(LINES[1:]))
    with pytest.raises(GoldError, match=r"news\.jsonl, line 2: "):
        list(gold_pages(tmp_path / "news.jsonl"))


def test_a_folder_holds_a_set_in_each_of_its_files(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl"):
        (tmp_path / name).write_bytes(LINES[0])
    sets = gold_sets([tmp_path])
    assert list(sets) == ["a", "b"]
    assert [found.id for found in sets["b"]] == ["1"]


def test_a_folder_of_html_files_has_the_gold_text_beside_them(tmp_path: Path) -> None:
    folder = tmp_path / "set" / "news.example"
    folder.mkdir(parents=True)
    (folder / "x.html").write_bytes('<meta charset="gb18030"><p>港湾'.encode("gb18030"))
    (folder / "x.txt").write_text("港湾", encoding="utf-8-sig")
    (folder / "y.HTM").write_text("<p>no gold")
    (tmp_path / "set" / "z.html").write_text("<p>z")
    ((name, pages),) = gold_sets([tmp_path / "set"]).items()
    found = {one.id: (one.site, one.gold) for one in pages}
    assert name == "set"
    assert found == {
        "news.example/x.html": ("news.example", "港湾"),
        "news.example/y.HTM": ("news.example", None),
        "z.html": ("set", None),
    }
    assert "港湾" in next(one.html for one in html_pages(tmp_path / "set") if one.gold)


def test_what_holds_no_set_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "x.csv").touch()
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "x.csv", tmp_path / "empty", tmp_path / "nowhere"):
        with pytest.raises(GoldError, match=path.name):
            gold_sets([path])
    (tmp_path / "a.jsonl").touch()
    (tmp_path / "a.jsonl.gz").touch()
    with pytest.raises(GoldError, match="another set named a"):
        gold_sets([tmp_path])


def test_lone_surrogates_and_the_like_get_through() -> None:
    odd = [page("\ud800", "a b:c", "x \ud800\x00", "\udfff"), GoldPage("empty", "[", "", gold="")]
    found = evaluate({"set": odd}, [visible_text(), method("style_tree"), method("link_ratio")])
    assert not any(one.failure for result in found.results for one in result.pages)
    assert html_report(found)
    assert markdown(found)


STORY = "On day {0} the crew of boat {0} hauled {1} nets before the wind rose, and sold what they had on the quay."
MENU = "".join(f"<li><a href=/{place}>Place {place}</a></li>" for place in range(9))


def gold_page(site: str, number: int, *, title: bool = True) -> GoldPage:
    stories = [STORY.format(day, day + number) for day in range(number * 10, number * 10 + 6)]
    body = "".join(f"<p>{story}</p>" for story in stories)
    html = (
        f"<html><head><title>Nets of day {number}</title></head><body><ul class=menu>{MENU}</ul>"
        f"<div class=story><h1>Nets of day {number}</h1>{body}</div><p class=foot>All rights reserved</p>"
    )
    gold = "\n".join([f"Nets of day {number}"] * title + stories)
    return GoldPage(f"{site}-{number}", site, html, gold=gold, page_type="article")


def gold_file(path: Path, sites: list[str]) -> Path:
    pages = [gold_page(site, number) for site in sites for number in range(3)]
    path.write_bytes(b"\n".join(msgspec.json.encode(page) for page in pages))
    return path


SITES = [f"site{number}.example" for number in range(24)]


def test_the_command_makes_the_same_weights_each_time_and_one_file_for_each_fold(tmp_path: Path) -> None:
    pytest.importorskip("lightgbm")
    from denoise_crawler.evaluation.training.__main__ import main

    news, modern = gold_file(tmp_path / "news.jsonl", SITES[:12]), gold_file(tmp_path / "modern.jsonl", SITES[12:])
    written = []
    for name in ("one", "two"):
        output = tmp_path / f"{name}.json"
        folds = ["--folds", str(tmp_path / name)]
        main([str(news), "--whole", str(modern), "--trees", "3", "--leaves", "4", "-o", str(output), *folds])
        written.append(output.read_bytes())
        assert sorted(file.name for file in (tmp_path / name).iterdir()) == [
            fold_file(one) for one in range(FOLDS)
        ]
    assert written[0] == written[1]
    weights = read_weights(written[0])
    tuning = [site for site in SITES[:12] if half(site) == TUNING]
    assert weights.trained_on == {
        "news": {"sites": len(tuning), "pages": 3 * len(tuning)},
        "modern": {"sites": 12, "pages": 36},
    }
    assert len(weights.blocks.trees) == 3
    page = Page.parse("https://new.example/", gold_page("new.example", 4).html)
    scores = Model(weights).alone(page).scores
    assert scores[10] > scores[0]  # a story, a link of the menu


def test_the_sites_of_a_fold_are_the_same_for_ever() -> None:
    assert [fold(site) for site in SITES[:6]] == [0, 4, 1, 3, 2, 0]


def test_a_sample_has_all_blocks_near_content_and_its_counts_stand_for_all() -> None:
    html = "".join(f"<p>far away {number}</p>" for number in range(400)) + f"<p>{STORY.format(1, 2)}</p>"
    (page,) = labelled([GoldPage("1", "a.example", html, gold=STORY.format(1, 2))])
    sample = sample_of(page)
    assert set(range(394, 401)) <= set(sample.blocks.tolist())
    assert len(sample.blocks) < 200
    assert sample.counts.sum() == pytest.approx(401, rel=0.3)
    assert sample_of(page).blocks.tolist() == sample.blocks.tolist()


@pytest.mark.parametrize("title", [True, False])
def test_the_wish_for_the_title_is_what_the_gold_of_the_page_has_or_unsaid(*, title: bool) -> None:
    (page,) = labelled([gold_page("a.example", 1, title=title)])
    evidence = page.evidence(Words.none())
    said = {wishes_of(page, evidence, known)[0] for known in range(40)}
    assert said == {float(title), UNSAID}


def test_a_word_speaks_for_a_kind_if_its_pages_have_it_more_often() -> None:
    sites = [{"forum": frozenset({"thread", "nav"})}] * 6 + [{"article": frozenset({"story", "nav"})}] * 6
    odds = kind_odds(sites)
    assert "nav" not in odds
    assert np.argmax(odds["thread"]) == 1
    assert np.argmax(odds["story"]) == 0


def test_pages_of_a_set_of_articles_are_articles_where_nobody_said_a_type() -> None:
    untold = msgspec.structs.replace(gold_page("a.example", 1), page_type=None)
    said = msgspec.structs.replace(gold_page("a.example", 2), page_type="forum")
    found = list(labelled([untold, said], page_type="article"))
    assert [page.page_type for page in found] == ["article", "forum"]
    assert [page.kind for page in found] == ["", "forum"]  # by which words of the markup are learned
