from pathlib import Path

import pytest
from hypothesis import given

from denoise_crawler.denoiser import denoise_pages
from denoise_crawler.evaluation import mean, read_gold, score
from denoise_crawler.methods import MethodChoice, apply_guard
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import TEXT, Page
from tests.strategies import html_pages

STORY = "The ferry ran aground.<p>Nobody was hurt.<p>Divers come today."
TEXT_OF_STORY = "The ferry ran aground.\nNobody was hurt.\nDivers come today."


def table(attributes: str, content: str) -> str:
    return f"<table {attributes}><tr><td>{content}</td></tr></table>"


def judged(body: str, **options: object) -> tuple[str, dict[str, str]]:
    """Return what is left of a page, and the reason given for each run of its text."""
    page = Page.parse("https://example.com/1", f"<html><body>{body}</body></html>")
    judgement = MethodChoice("layout_table", options).new().judge(page)
    reasons = {text.strip(): judgement.reason(index) for index, text in enumerate(page.nodes.texts) if text}
    return clean_text(page, judgement.noise), reasons


def kept(body: str, **options: object) -> str:
    return judged(body, **options)[0]


# the paper's list: i to iv


def test_rule_iii_only_one_level_of_a_nest_holds_the_topic() -> None:
    inner = table("width=98%", STORY)
    text, reasons = judged(table("width=760", f"Menu<br>{inner}Imprint"))
    assert text == TEXT_OF_STORY
    assert reasons["Menu"] == (
        "rule 1: width 760 px > 300 px and 1 paragraph mark, but a table of the same nest has 2 paragraph marks"
    )


def test_rule_iv_a_page_without_tables_keeps_its_paragraphs() -> None:
    text, reasons = judged(
        "<div>Home World</div><h1>Ferry</h1><p>It ran aground.</p><div>Nobody<br>was hurt.</div>"
    )
    assert text == "It ran aground.\nNobody\nwas hurt."
    assert reasons["Home World"] == "rule 5: outside the tables and no paragraph text"
    assert reasons["It ran aground."] == "rule 5: outside the tables, 2 paragraph marks"


# the branches of its algorithm: 1 to 5; in each, the same story stands in two tables that the branch alone parts


@pytest.mark.parametrize(
    ("large", "small", "rule"),
    [
        ("width=301", "width=300", "rule 1: width 300 px ≤ 300 px"),
        ("width=61%", "width=60%", "rule 2: width 60 % ≤ 60 %"),
        ("width=61% height=10", "width=60% height=900", "rule 2: width 60 % ≤ 60 %"),
        ("width=61% height=10%", "width=60% height=90%", "rule 2: width 60 % ≤ 60 %"),
        ("width=100 height=51%", "width=900 height=50%", "rule 3: height 50 % ≤ 50 %"),
        ("width=200 height=1000", "width=700 height=100", "rule 4: 700 × 100 px, ratio 7.0 > 5"),
        ("width=301", "height=900", "rule 1: no width"),
        ("width=301", "height=90%", "rule 1: no width"),
    ],
)
def test_each_branch_parts_a_large_table_from_a_small_one(large: str, small: str, rule: str) -> None:
    text, reasons = judged(table(large, "<p>Large") + table(small, "<p>Small"))
    assert text == "Large"
    assert reasons["Small"].startswith(rule)


def test_rule_4_keeps_a_compact_table_without_paragraphs_if_it_fills_much_of_the_page() -> None:
    index, banner = table("width=700 height=400", "All our albums"), table("width=234 height=60", "Buy boots")
    text, reasons = judged(banner + index)
    assert text == "All our albums"
    assert reasons["All our albums"] == (
        "rule 4: 700 × 400 px, ratio 1.8 ≤ 5, no paragraph marks and 58% of the page's area ≥ 30%"
    )
    assert reasons["Buy boots"] == (
        "rule 4: 234 × 60 px, ratio 3.9 ≤ 5, no paragraph marks and 3% of the page's area < 30%"
    )


def test_rule_4_measures_tables_by_the_page_as_drawn_if_it_was() -> None:
    html = f"<html><body>{table('width=700 height=400', 'All our albums')}<p>Imprint</body></html>"
    method = MethodChoice("layout_table").new()
    for height, expected in ((700, "All our albums\nImprint"), (7000, "Imprint")):
        page = Page.parse("https://example.com/1", html, boxes={"/html/body": (0, 0, 1000, height)})
        assert clean_text(page, method.judge(page).noise) == expected


def test_rule_5_also_judges_what_stands_outside_the_tables() -> None:
    body = f"<div>Home</div>{table('width=150', '<p>Shares')}<h2>Ferry</h2><p>It ran<p>aground."
    text, reasons = judged(body)
    assert text == "It ran\naground."
    assert reasons["Ferry"] == "rule 5: outside the tables and no paragraph text"


# nests, ties, sizes


def test_of_nested_candidates_the_one_with_more_marks_of_its_own_is_the_topic() -> None:
    inner = table("width=98%", "Related<br>stories")
    assert kept(table("width=760", f"{STORY}{inner}")) == TEXT_OF_STORY
    inner = table("width=98%", "Related<br>stories<br>and<br>more<br>stories")
    assert kept(table("width=760", f"One<br>two<br>three{inner}")) == "Related\nstories\nand\nmore\nstories"


def test_of_nested_candidates_with_equal_marks_the_inner_one_is_the_topic() -> None:
    outer = table("width=760", "Menu<br>" + table("width=98%", "The<br>story"))
    assert kept(outer) == "The\nstory"


def test_tables_side_by_side_in_a_frame_may_both_be_the_topic() -> None:
    parts = table("width=90%", "<p>First part") + table("width=90%", "<p>Second part")
    assert kept(table("width=760", f"Menu{parts}")) == "First part\nSecond part"


def test_a_part_with_far_fewer_marks_than_the_richest_is_noise() -> None:
    few, many = table("width=100%", "<p>Imprint"), table("width=100%", "<p>A story" * 6)
    text, reasons = judged(many + few)
    assert "Imprint" not in text
    assert reasons["Imprint"] == (
        "rule 2: width 100 % > 60 % and 1 paragraph mark, under 20% of the 6 that another part has"
    )
    assert "Imprint" in kept(many + few, min_marks_share=0)
    assert kept(table("width=100%", "<p>A<p>B") + few, min_marks_share=1) == "A\nB"


def test_a_table_without_any_size_goes_with_what_it_stands_in() -> None:
    figures = table("border=1", "12 crossings")
    assert kept(table("width=600", STORY + figures)) == f"{TEXT_OF_STORY}\n12 crossings"
    assert kept(f"<p>A story</p>{figures}{table('', '<p>In cells')}") == "A story\nIn cells"


def test_sizes_that_are_no_lengths_are_no_sizes() -> None:
    assert kept(table("width=auto height=*", "<p>A story")) == "A story"


@pytest.mark.parametrize(
    "size", ["width=0 height=0", "width=-1 height=5", f"width={'9' * 400} height={'9' * 400}"]
)
def test_absurd_sizes_are_noise(size: str) -> None:
    assert kept(table(size, "<p>Trap") + table("width=600", STORY)) == TEXT_OF_STORY


def test_a_page_without_a_topic_is_kept_whole() -> None:
    page = Page.parse("https://example.com/1", table("width=100", "<p>Only this"))
    judgement = MethodChoice("layout_table").new().judge(page)
    assert all(judgement.noise)
    assert clean_text(page, apply_guard(page, judgement).noise) == "Only this"


def test_an_element_that_is_kept_for_what_it_holds_says_so() -> None:
    page = Page.parse("https://example.com/1", table("width=100", table("width=600", STORY)))
    judgement = MethodChoice("layout_table").new().judge(page)
    assert judgement.reason(1) == "rule 1: width 100 px ≤ 300 px and no paragraph marks; holds kept text"


# options


@pytest.mark.parametrize(
    ("option", "value", "attributes"),
    [
        ("min_width", 700, "width=600"),
        ("min_width_percent", 95, "width=90%"),
        ("min_height_percent", 95, "width=10 height=90%"),
        ("max_aspect", 1.2, "width=600 height=300"),
    ],
)
def test_each_limit_is_an_option(option: str, value: float, attributes: str) -> None:
    body = table(attributes, "<p>Perhaps") + table("width=100%", "<p>Surely")
    assert kept(body) == "Perhaps\nSurely"
    assert kept(body, **{option: value}) == "Surely"


def test_the_share_of_the_area_is_an_option() -> None:
    body = table("width=300 height=300", "Pictures")
    assert not kept(body)
    assert kept(body, min_area_share=0.1) == "Pictures"


# pages of any kind


@given(body=html_pages())
def test_a_table_of_full_width_around_a_page_without_sizes_never_loses_a_paragraph(body: str) -> None:
    page = Page.parse("https://example.com/1", f"<table width='100%'><tr><td><p>Story {body}")
    noise = MethodChoice("layout_table", {"min_marks_share": 0}).new().judge(page).noise
    sized = [i for i, tag in enumerate(page.nodes.tags) if tag == "table" and page.nodes.elements[i].get("width")]
    if len(sized) == 1:
        first = next(i for i, tag in enumerate(page.nodes.tags) if tag is TEXT)
        assert not noise[first]


def test_five_thousand_tables_in_a_row_are_judged() -> None:
    page = Page.parse("https://example.com/1", table("width=100", "<p>Menu") * 5_000 + table("width=600", STORY))
    judgement = MethodChoice("layout_table").new().judge(page)
    assert clean_text(page, judgement.noise) == TEXT_OF_STORY


def test_it_beats_all_visible_text_on_gold_pages_with_tables(corpus: Path) -> None:
    found = [page for page in read_gold(corpus, "l3s_gn1") if page.gold is not None and "<table" in page.html][:40]
    texts = [clean_text(Page.parse(page.address, page.html)) for page in found]
    cleaned = denoise_pages(((page.address, page.html) for page in found), method="layout_table")
    ours = mean(score(clean.text, page.gold or "") for clean, page in zip(cleaned, found, strict=True))
    assert ours.f1 > mean(score(text, page.gold or "") for text, page in zip(texts, found, strict=True)).f1
