"""``scrapy denoise evaluate``: methods on gold sets."""

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from denoise_crawler.evaluation import HALVES, VISIBLE_TEXT, GoldPage, evaluate, half, select
from denoise_crawler.methods import Judgement
from denoise_crawler.methods.link_ratio import LinkRatio
from denoise_crawler.page import Page
from examples.demo_site.articles import gold_text
from examples.demo_site.pages import article_page
from examples.demo_site.replies import article_path, articles
from tests.scrapy_process import denoise

SITE = "harbourledger.example"
PAGE = "<nav><a href=/>Home</a> <a href=/w>World</a></nav><p>{}</p>"


@cache
def stories() -> list[GoldPage]:
    """The stories of the bundled site with their text."""
    base = f"https://{SITE}"
    return [
        GoldPage(one.id, SITE, article_page(one, base), base + article_path(one), one.lang, gold_text(one))
        for one in articles()[15:]
    ]


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stories as a file, and two lines that are no pages."""
    lines = [msgspec.json.encode(page).decode() for page in stories()]
    file = tmp_path_factory.mktemp("gold") / "ledger.jsonl"
    file.write_text("\n".join(["{", *lines, '{"id": "1"}']), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def ran(gold: Path) -> "subprocess.CompletedProcess[str]":
    return denoise(gold.parent, "evaluate", gold, "--methods", "link_ratio", "style_tree", "--json", "out.json")


def test_methods_stand_side_by_side_on_a_gold_set(ran: "subprocess.CompletedProcess[str]") -> None:
    assert ran.stdout.startswith(f"ledger: {len(stories())} pages with gold text\n")
    for name in ("all visible text", "link_ratio", "style_tree"):
        assert f"\n {name} " in ran.stdout or f"\n{name} " in ran.stdout
    assert "…" not in ran.stdout


def test_broken_lines_are_counted_and_named(ran: "subprocess.CompletedProcess[str]", gold: Path) -> None:
    last = len(gold.read_text("utf-8").splitlines())
    assert "2 broken lines (ledger.jsonl, line 1: " in ran.stderr
    assert f"ledger.jsonl, line {last}: " in ran.stderr


def test_the_json_holds_the_means(ran: "subprocess.CompletedProcess[str]", gold: Path) -> None:
    assert ran.returncode == 0, ran.stderr
    rows: list[dict[str, Any]] = json.loads((gold.parent / "out.json").read_text("utf-8"))
    f1s = {row["method"]: row["words"]["f1"] for row in rows}
    assert list(f1s) == [VISIBLE_TEXT, "link_ratio", "style_tree"]
    assert f1s["style_tree"] > f1s[VISIBLE_TEXT]
    assert {row["pages"] for row in rows} == {len(stories())}
    assert f"{f1s['style_tree']:.3f}" in ran.stdout


def test_a_choice_without_pages_is_said(gold: Path) -> None:
    ran = denoise(gold.parent, "evaluate", gold, "--sites-with", "1000", "--methods", "link_ratio", code=1)
    assert ran.stdout == ""
    assert "nothing to evaluate" in ran.stderr


def test_pages_are_chosen_by_language_half_and_number() -> None:
    pages = [GoldPage(f"{n}", f"site{n % 5}.example", "", lang="en" if n % 2 else "zh-CN") for n in range(15)]
    assert {page.lang for page in select(pages, language="zh")} == {"zh-CN"}
    parts = [select(pages, of_half=part) for part in HALVES.values()]
    assert sum(map(len, parts)) == len(pages)
    assert all(
        half(page.site) == part for part, found in zip(HALVES.values(), parts, strict=True) for page in found
    )
    assert select(pages, language="en", at_least=3) == []


def test_a_page_without_gold_text_is_learned_and_not_scored() -> None:
    pages = [GoldPage(f"{n}", "a.example", PAGE.format(f"Story {n}."), gold=f"Story {n}.") for n in range(4)]
    untold = [GoldPage("5", "a.example", PAGE.format("Another story."))]
    row = evaluate("mine", [*pages, *untold], "style_tree")
    assert (row.pages, row.words.f1, row.grades[0], row.failed) == (4, 1.0, 1.0, 0)


@pytest.mark.fails_on_a_page
def test_a_page_that_fails_counts_as_empty_text_and_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def judge(_: LinkRatio, page: Page) -> Judgement:
        if page.url.endswith("/raise"):
            raise ZeroDivisionError
        return Judgement.all_kept(page.nodes)

    monkeypatch.setattr(LinkRatio, "judge", judge)
    pages = [GoldPage(name, "a.example", "<p>x", gold="x") for name in ("1", "2", "3", "raise")]
    row = evaluate("mine", pages, "link_ratio")
    assert (row.pages, row.failed, row.words.recall) == (4, 1, 0.75)


def test_lone_surrogates_and_strange_sites_get_through() -> None:
    odd = [
        GoldPage("\ud800", "a b:c", PAGE.format("x \ud800"), gold="\udfff"),
        GoldPage("empty", "[", "", gold=""),
    ]
    assert evaluate("odd", odd, "link_ratio").failed == evaluate("odd", odd, VISIBLE_TEXT).failed == 0
