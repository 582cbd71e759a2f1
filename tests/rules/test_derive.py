"""Rules are derived from judged pages, and reproduce the verdicts on other pages of the site."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler.demo.replies import article_path, articles, respond
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.evaluation.gold import corpus_folder
from denoise_crawler.page import TEXT, Page
from denoise_crawler.rules.derive import Agreement, JudgedPage, agreement, derive_rules
from denoise_crawler.rules.folder import parse_site_file
from denoise_crawler.rules.learned import LearnedRules, as_data, as_site_file, as_text
from denoise_crawler.rules.selectors import find_nodes, selector_of
from tests.strategies import html_pages

BASE = "https://news.example"
BOX = "<div class='box b{n}'><h3>Most read</h3><p>{n} things that you should see today, says nobody.</div>"
SITE = (
    "<title>Story {n} | Paper</title><div id=top><a href=/>Home</a> <a href=/s>Sport</a></div><div class=page>"
    "<h1>Story {n}</h1><div class='story id{n}{n}{n}'>"
    + "<p>Boat {n} went out, and boat {m} came back late.</p>"
    * 9
) + (
    BOX
    + "</div><div class='comments'><p>I was on boat {n}, and it was cold.</div></div><footer>All rights</footer>"
)


def judged(count: int) -> list[JudgedPage]:
    pages = [Page.parse(f"{BASE}/{n}", SITE.format(n=n, m=n * 7)) for n in range(count)]
    return [JudgedPage(page, [not _is_kept(page, node) for node in range(len(page.nodes))]) for page in pages]


def _is_kept(page: Page, node: int) -> bool:
    wanted, other = set(find_nodes(page, ".story, h1")), set(find_nodes(page, ".box"))
    while node > 0:
        if node in wanted | other:
            return node in wanted
        node = page.nodes.parents[node]
    return False


def test_the_rules_of_a_site_are_few_and_short_and_say_what_was_judged() -> None:
    learned = derive_rules("news.example", judged(6))
    assert as_text(learned) == (
        "news.example: derived from 6 judged pages\n\n"
        "the content stands in\n  div.story > p  6 of 6 pages, 76% of their text\n\n"
        "title\n  h1  6 of 6 pages"
    )
    whole = sum((agreement(one.page, one.noise, learned.file()) for one in judged(9)[6:]), Agreement())
    assert whole.f1 == 1.0


def test_the_written_file_is_read_back_as_the_same_rules() -> None:
    learned = derive_rules("news.example", judged(4))
    read = parse_site_file(as_site_file(learned), "news.example.txt")
    assert read.problems == []
    assert [(rule.directive, rule.value) for rule in read.rules] == [
        (rule.directive, rule.value) for rule in learned.file().rules
    ]
    assert json.loads(json.dumps(as_data(learned)))["rules"][0]["css"] == "h1"


def test_css_and_xpath_of_a_rule_find_the_same() -> None:
    learned = derive_rules("news.example", judged(4))
    page = judged(1)[0].page
    for rule in learned.rules:
        assert find_nodes(page, rule.css) == find_nodes(page, rule.xpath)


def test_no_pages_and_pages_without_text_have_no_rules() -> None:
    assert derive_rules("a.example", []).rules == []
    empty = Page.parse("https://a.example/", "")
    assert derive_rules("a.example", [JudgedPage(empty, [False])]).rules == []
    assert "no rule tells content from noise here" in as_text(LearnedRules("a.example"))


def test_on_the_bundled_site_rules_alone_come_close_to_fusion_on_pages_that_were_not_learned() -> None:
    stories = [story for story in articles() if story.lang == "en"][:16]
    paths = [article_path(story) for story in stories]
    pages = [Page.parse(BASE + path, respond(path, BASE).body) for path in paths]
    denoiser = Denoiser()
    for page in pages[:10]:
        denoiser.learn(page)
    learned = derive_rules("news.example", [JudgedPage(page, denoiser.judge(page).noise) for page in pages[:10]])
    file = learned.file()
    whole = sum((agreement(page, denoiser.judge(page).noise, file) for page in pages[10:]), Agreement())
    assert whole.pages == 6
    assert whole.f1 > 0.93  # fusion drops lines of the template between paragraphs as well


@given(st.lists(html_pages(12), min_size=1, max_size=3), st.randoms())
def test_whatever_pages_and_verdicts_the_rules_can_be_written_and_read(htmls: list[str], random: object) -> None:
    some = []
    for number, html in enumerate(htmls):
        page = Page.parse(f"{BASE}/{number}", html)
        noise = [getattr(random, "random")() < 0.5 for _ in page.nodes.tags]  # noqa: B009 - hypothesis gives no type
        some.append(JudgedPage(page, noise))
    learned = derive_rules("news.example", some)
    assert parse_site_file(as_site_file(learned)).problems == []
    assert all(0 < rule.pages <= len(some) for rule in learned.rules)


# --- the selector of a block


@given(html_pages())
def test_the_selector_of_an_element_finds_it_alone(html: str) -> None:
    page = Page.parse(BASE, html)
    for node, tag in enumerate(page.nodes.tags):
        if tag != TEXT and (selector := selector_of(page, node)):
            assert find_nodes(page, selector) == [node]


def test_every_element_of_a_plain_page_has_a_selector() -> None:
    page = judged(1)[0].page
    assert all(selector_of(page, node) for node, tag in enumerate(page.nodes.tags) if tag != TEXT)


def test_an_element_whose_names_need_an_escape_has_no_selector_of_its_own() -> None:
    page = Page.parse("", "<div class='md:w-1/2' id=1a><p>One.<o:p>Two.</o:p></div>")
    found = {tag: selector_of(page, node) for node, tag in enumerate(page.nodes.tags) if tag != TEXT}
    assert found["div"] == "body > div:nth-of-type(1)"
    assert found["o:p"] == ""


# --- real sites


@pytest.mark.skipif(corpus_folder() is None, reason="DENOISE_CORPUS names no folder")
def test_the_benchmark_of_rules_compares_pages_of_real_sites_that_were_not_learned() -> None:
    from denoise_crawler.evaluation.gold import addressed, by_site, read_gold

    folder = corpus_folder()
    assert folder is not None
    site = by_site(page for page in read_gold(folder, "daniel") if page.gold is not None)["huanqiu.com"]
    pages = [Page.parse(url, html, site="huanqiu.com") for url, html in addressed(site)]
    denoiser = Denoiser()
    for page in pages[:8]:
        denoiser.learn(page)
    learned = derive_rules("huanqiu.com", [JudgedPage(page, denoiser.judge(page).noise) for page in pages[:8]])
    file = learned.file()
    whole = sum((agreement(page, denoiser.judge(page).noise, file) for page in pages[8:]), Agreement())
    assert whole.f1 > 0.95


def test_an_address_or_a_name_with_a_line_break_writes_no_line_of_its_own() -> None:
    learned = LearnedRules(
        "a.example\nstrip: b", pages=["https://a.example/0\nstrip: body", "https://a.example/1"]
    )
    found = parse_site_file(as_site_file(learned))
    assert (found.rules, found.problems) == ([], [])
    assert "test_url: https://a.example/1\n" in as_site_file(learned)
    assert as_text(learned).startswith("a.example\ufffdstrip: b: derived from 2 judged pages\n")
