"""Rules are derived from judged pages and from samples of a crawl; the work of selectors is bounded."""

import json
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from denoise_crawler.demo.replies import article_path, articles, respond
from denoise_crawler.demo.server import DemoServer
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.errors import SelectorError
from denoise_crawler.evaluation.gold import corpus_folder
from denoise_crawler.page import TEXT, Page
from denoise_crawler.rules.derive import Agreement, JudgedPage, agreement, derive_rules
from denoise_crawler.rules.finding import MOST_WORK
from denoise_crawler.rules.folder import parse_site_file
from denoise_crawler.rules.learned import LearnedRules, as_data, as_site_file, as_text
from denoise_crawler.rules.selectors import compile_selector, find, find_nodes, selector_of
from denoise_crawler.store import Store
from denoise_crawler.store.parked_rows import MAX_CHARACTERS, ParkedPage
from tests.article_spider import SPIDER
from tests.conftest import ADDON, SETTINGS, Project
from tests.crawl.test_crawl import STORE, quota, urls
from tests.scrapy_process import denoise
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


WORK_BOX = (
    "<div class='a b{n}' id=i{n}><h2>H{n}</h2><p>x{n} <b>bold</b> tail<span class=c>s</span></p><ul><li>1"
    "<li class=d>2<li>3</ul><div class=b><p>in<p>in2</div></div>rest"
)
PAGE = Page.parse(
    "https://a.example/",
    "<title>T</title><meta name=a content=b>" + "".join(WORK_BOX.format(n=n) for n in range(12)),
)
AS_XPATH = [
    *("//div//p", "//div[1]//p[1]", "(//p)[1]", "//div//p//b", "//p/ancestor::div", "//p/..", "//b/../.."),
    "//li//..",
    *("//li/following::p", "//li/preceding::p", "//h2/following-sibling::*[1]", "//p/preceding-sibling::*"),
    *("//div/@class", "//div//text()", "//p/text()[1]", "//text()[contains(.,'in2')]/..", "//li/../li[1]"),
    *("//*[@id='i3']/descendant-or-self::*[2]", "//p[2]/following-sibling::p | //h2", "//div/descendant::p[1]"),
    *("//div[descendant::b]//li[position()=2]", "//div[@class='b']/p[last()]", "id('i3')/p", "/html/body/div/p"),
    *("//b/ancestor-or-self::*[@class][1]", "//title", "//meta/@content", "//p/following::li[3]", "//div[p]/*"),
    *("concat(//h2,'-')", "substring-after(//h2,'H')", "//div/@id/parent::div/p", "//h2 | //li | //p//b"),
    "count(//p)",
]
AS_CSS = {
    ".a .b p": "//*[@class='b']/p",
    "h2 + p": "//h2/following-sibling::*[1][self::p]",
    "h2 + p + ul > li + .d": "//li[@class='d']",
    "h2 ~ div": "//div[@class='b']",
    "li:nth-child(2)": "//li[@class='d']",
    "div:has(b) li:last-child": "//li[3]",
}
NESTED = [
    "//*[count(//*[count(//*)>0])>0]/x",
    "//a[descendant::b[following::c]]",
    "//a[.//b[ancestor::c]]",
    "//a[preceding::b[c[//d]]]",
]


@pytest.mark.parametrize("selector", AS_XPATH)
def test_a_selector_finds_step_by_step_what_it_finds_at_once(selector: str) -> None:
    at_once = etree.XPath(selector)(PAGE.root)
    expected = at_once if isinstance(at_once, list) else [at_once] if isinstance(at_once, str) else []
    assert find(PAGE, selector) == expected


@pytest.mark.parametrize("selector", AS_CSS)
def test_css_finds_what_the_xpath_beside_it_finds(selector: str) -> None:
    found = find(PAGE, selector)
    assert found
    assert found == etree.XPath(AS_CSS[selector])(PAGE.root)


@pytest.mark.parametrize("selector", NESTED)
def test_an_axis_of_unbounded_reach_in_a_predicate_in_such_a_predicate_is_refused(selector: str) -> None:
    found = parse_site_file(f"keep: b\nstrip: {selector}", "a.example.txt")
    assert [rule.value for rule in found.rules] == ["b"]
    (problem,) = found.problems
    assert problem.startswith(f"a.example.txt, line 2: strip: {selector!r} may take hours on a page: ")


def test_a_has_in_a_has_is_refused() -> None:
    with pytest.raises(SelectorError):
        compile_selector("div:has(p:has(a))")


@pytest.mark.parametrize(
    "selector",
    [
        *("//*[following::x]", "//*[count(//*)>3]", "p:nth-child(2)", "//p[. = //p]", "(//*//*)[1]"),
        *("//*/following-sibling::*[position()>3]", "//text()/..", "//text()/../..", "//p/preceding::*"),
        " | ".join(["//p", "//*", "//text()"] * 40),
        *("/html/body" + "/*/.." * 40, "//*/following::x[1]", "//p/preceding::title[1]"),
    ],
)
def test_what_is_too_much_work_is_refused_on_a_large_page_and_found_on_a_small_one(selector: str) -> None:
    large, small = (Page.parse("https://a.example/", "<body>" + "<p>w" * number) for number in (39_000, 300))
    with pytest.raises(SelectorError, match="takes too much work on this page"):
        find(large, selector)
    assert find(small, selector) == etree.XPath(compile_selector(selector).path)(small.root)
    assert MOST_WORK == 800_000_000


def pages(path: Path) -> list[str]:
    with closing(Store(path, read_only=True)) as store:
        return [page.url for page in store.all_pages()]


def crawl(project: Project, server: DemoServer, *more: str) -> None:
    project.write("project_settings.py", SETTINGS + ADDON)
    project.spider(SPIDER, urls(server))
    assert project.crawl("articles", *quota(5), *more)


def test_a_crawl_leaves_samples_from_which_rules_are_derived(project: Project, server: DemoServer) -> None:
    crawl(project, server, "-s", "DENOISE_SAMPLE_PAGES=6")
    kept = pages(project.folder / STORE)
    assert len(kept) == 6
    site = server.url.partition("//")[2]
    done = denoise(project.folder, "rules", site)
    assert done.stdout.startswith(f"{site}: derived from 6 judged pages\n\nthe content stands in\n")
    assert "section.articlebody" in done.stdout
    crawl(project, server, "-s", "DENOISE_SAMPLE_PAGES=6")
    assert pages(project.folder / STORE) == kept


def test_a_crawl_that_is_not_asked_for_samples_keeps_none(project: Project, server: DemoServer) -> None:
    crawl(project, server)
    assert pages(project.folder / STORE) == []
    done = denoise(project.folder, "rules", server.url.partition("//")[2], code=1)
    assert "keeps no page of" in done.stderr


def test_each_page_is_kept_once_up_to_the_limit_of_its_site_and_no_page_that_is_too_long(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "store.sqlite")) as store:
        assert store.keep_sample("a.example", "https://a.example/1", "<p>One.", 2)
        assert store.keep_sample("a.example", "https://a.example/1", "<p>One.", 2)
        assert store.keep_sample("a.example", "https://a.example/2", "x" * (MAX_CHARACTERS + 1), 2)
        assert store.keep_sample("a.example", "https://a.example/3", "", 2)
        assert not store.keep_sample("a.example", "https://a.example/4", "<p>Two.\ud800", 2)
        assert not store.keep_sample("a.example", "https://a.example/5", "<p>Three.", 2)
        assert store.keep_sample("b.example", "https://b.example/1", "<p>One.", 2)
        store.park(ParkedPage("a.example", "https://a.example/6", "<p>Waits.", b"key", None), b"item")
        for row in store.waiting():
            store.release(row)
    assert pages(tmp_path / "store.sqlite") == [
        *("https://a.example/1", "https://a.example/4", "https://b.example/1")
    ]
