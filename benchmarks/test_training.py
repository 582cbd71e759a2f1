"""Training makes the same weights each time, from pages whose noise is partly planted."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from benchmarks.training.boxes import boxed
from benchmarks.training.examples import LEAST_PAGES, labelled, planted, preferences_of, sample_of
from benchmarks.training.fitting import BOOSTERS, FOLDS, fold, fold_file, kind_odds
from denoise_crawler.evaluation import TUNING, GoldPage, half
from denoise_crawler.kernel.columns import UNSAID
from denoise_crawler.methods.fusion.features import Words
from denoise_crawler.methods.fusion.weights import Model, read_weights
from denoise_crawler.page import Page
from tests.conftest import ROOT
from tests.programs import run_python

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


def test_the_command_makes_the_same_weights_by_the_same_seed_and_a_file_for_each_fold(tmp_path: Path) -> None:
    pytest.importorskip("lightgbm")
    from benchmarks.training.__main__ import main

    news, modern = gold_file(tmp_path / "news.jsonl", SITES[:12]), gold_file(tmp_path / "modern.jsonl", SITES[12:])
    written = []
    for name, seed in (("one", "0"), ("two", "0"), ("three", "1")):
        output = tmp_path / f"{name}.json"
        more = ["--folds", str(tmp_path / name), "--seed", seed]
        main([str(news), "--whole", str(modern), "--trees", "3", "--leaves", "4", "-o", str(output), *more])
        written.append(output.read_bytes())
        assert sorted(file.name for file in (tmp_path / name).iterdir()) == [
            fold_file(one) for one in range(FOLDS)
        ]
    assert written[0] == written[1] != written[2]
    weights = read_weights(written[0])
    tuning = [site for site in SITES[:12] if half(site) == TUNING]
    assert weights.trained_on == {
        "news": {"sites": len(tuning), "pages": 3 * len(tuning)},
        "modern": {"sites": 12, "pages": 36},
    }
    assert len(weights.first_look.trees) == len(weights.second_look.trees) == 3 * BOOSTERS
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
    look = page.look(Words.none())
    said = {preferences_of(page, look, known)[0] for known in range(40)}
    assert said == {float(title), UNSAID}


def test_a_word_speaks_for_a_kind_if_its_pages_have_it_more_often() -> None:
    sites = [{"forum": frozenset({"thread", "nav"})}] * 6 + [{"article": frozenset({"story", "nav"})}] * 6
    odds = kind_odds(sites)
    assert "nav" not in odds
    assert np.argmax(odds["thread"]) == 1
    assert np.argmax(odds["story"]) == 0


def test_pages_of_a_set_of_articles_are_articles_where_nobody_said_a_type() -> None:
    untyped = msgspec.structs.replace(gold_page("a.example", 1), page_type=None)
    typed = msgspec.structs.replace(gold_page("a.example", 2), page_type="forum")
    pages = list(labelled([untyped, typed], page_type="article"))
    assert [page.page_type for page in pages] == ["article", "forum"]
    assert [page.kind for page in pages] == ["", "forum"]  # by which words of the markup are learned


def plain_page(number: int, paragraphs: int = 5) -> GoldPage:
    stories = [STORY.format(day, day + number) for day in range(number * 10, number * 10 + paragraphs)]
    html = f"<title>Nets</title><article>{''.join(f'<p>{story}</p>' for story in stories)}</article>"
    return GoldPage(f"page-{number}", "nets.example", html, gold="\n".join(stories))


def texts_of(page: GoldPage) -> dict[str, bool]:
    (found,) = labelled([page])
    return dict(zip(found.blocks.texts, found.content.tolist(), strict=True))


def test_what_is_planted_stands_inside_the_article_and_is_noise() -> None:
    pages = [plain_page(number) for number in range(6)]
    of_id = {page.id: page for page in pages}
    found = list(planted(pages))
    assert len(found) == 6
    new = [
        [text for text, content in texts_of(page).items() if not content and text not in texts_of(of_id[page.id])]
        for page in found
    ]
    assert sum(map(bool, new)) >= 3
    for page in found:
        told = texts_of(page)
        assert [text for text, content in told.items() if content] == (page.gold or "").splitlines()


def test_the_same_is_planted_each_time() -> None:
    pages = [plain_page(number) for number in range(5)]
    assert list(planted(pages)) == list(planted(pages))


def test_nothing_is_planted_on_a_small_site_or_a_short_page() -> None:
    assert not list(planted([plain_page(number) for number in range(LEAST_PAGES - 1)]))
    assert not list(planted([plain_page(number, paragraphs=2) for number in range(9)]))


def test_boxes_that_are_planted_are_noise_but_for_those_in_the_gold_and_stand_where_they_stood() -> None:
    pages = [plain_page(number) for number in range(12)]
    made = [boxed(page, f"https://a.example/{page.id}") for page in pages]
    assert made == [boxed(page, f"https://a.example/{page.id}") for page in pages]
    with_noise = with_content = 0
    for page, new in zip(pages, made, strict=True):
        assert new is not None
        told, before = texts_of(new), texts_of(page)
        with_noise += any(not content and text not in before for text, content in told.items())
        with_content += any(content and text not in before for text, content in told.items())
    assert with_noise > 6
    assert with_content > 3


def test_no_box_is_planted_on_a_page_without_a_paragraph_of_its_gold() -> None:
    assert boxed(GoldPage("1", "a.example", "<p>Short.</p>", gold="Short."), "https://a.example/") is None


def test_training_without_its_package_ends_in_a_line_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_text("")
    run = "from benchmarks.training.__main__ import main; main(['gold.jsonl', '-o', 'w.json'])"
    ran = run_python(
        "-c",
        f"import sys; sys.modules['lightgbm'] = None\n{run}",
        folder=tmp_path,
        code=None,
        PYTHONPATH=str(ROOT),
    )
    assert (ran.returncode, ran.stderr.count("\n")) == (1, 1)
    assert "lightgbm is not installed: pip install 'denoise-crawler[training]'" in ran.stderr
    assert not (tmp_path / "w.json").exists()
