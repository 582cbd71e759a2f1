"""The files of site rules: the format of ftr-site-config, and selectors in CSS."""

from __future__ import annotations

import contextlib
import os
import pickle
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler.errors import RulesError, SelectorError
from denoise_crawler.page import Page
from denoise_crawler.rules import SiteRules
from denoise_crawler.rules.folder import parse_site_file
from denoise_crawler.rules.selectors import compile_selector, find_nodes

if TYPE_CHECKING:
    from pathlib import Path

WRONG = """\
# three lines are wrong
title: //h1[@class='headline']
body //div[@id='story']
strip: //div[@class='ad'
stripp: .related
prune: no
"""
OF_OTHERS = """\
title: concat(//h1, ' - ', //h2)
body: //div[@id="story"] | //div[contains(concat(' ',normalize-space(@class),' '),' story ')]
strip_id_or_class: it's
strip_image_src: /ads/
single_page_link: concat(//li[@class='pager']//a/@href, '&all=1')
replace_string(<div style="float:left"): <aside style="float:left"
http_header(user-agent): PHP/5.2
convert_double_br_tags: yes
tidy: no
test_url: http://example.com/1
strip://div[@class="no-space"]
"""


def test_three_wrong_lines_give_one_line_each_that_names_file_and_line() -> None:
    found = parse_site_file(WRONG, "news.example.txt")
    assert [str(rule) for rule in found.rules] == [
        "news.example.txt, line 2: title: //h1[@class='headline']",
        "news.example.txt, line 6: prune: no",
    ]
    assert found.problems == [
        "news.example.txt, line 3: \"body //div[@id='story']\" has no colon",
        "news.example.txt, line 4: strip: \"//div[@class='ad'\" is not an XPath expression (Invalid predicate)",
        "news.example.txt, line 5: there is no directive 'stripp'; did you mean 'strip'?",
    ]


def test_the_format_of_other_tools_is_read_without_a_complaint() -> None:
    found = parse_site_file(OF_OTHERS, "example.com.txt")
    assert found.problems == []
    assert [rule.directive for rule in found.rules] == [
        *("title", "body", "strip_id_or_class", "strip_image_src", "strip")
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("body:", "body has no value"),
        ("prune: maybe", "prune is 'maybe': it can be yes or no"),
        ("strip: div >", "strip: 'div >' is not a CSS selector"),
        (
            "strip: //div[nothing()]",
            "strip: '//div[nothing()]' is not an XPath expression (Unregistered function)",
        ),
        ("title: $name", "title: '$name' is not a CSS selector"),
        ("\x1b[2J: x", "has no colon"),
        ("keep: " + "a" * 5_000, "a selector of more than 4,000 characters"),
    ],
)
def test_a_wrong_line_says_what_is_wrong(line: str, problem: str) -> None:
    found = parse_site_file(line, "a.txt")
    assert found.rules == []
    (said,) = found.problems
    assert problem in said
    assert said.isprintable()


@given(st.text())
def test_any_text_is_read_and_each_of_its_lines_is_a_rule_a_problem_or_passed_over(text: str) -> None:
    found = parse_site_file(text, "a.txt")
    assert len(found.rules) + len(found.problems) <= len(text.split("\n"))


def test_the_file_of_a_host_is_the_closest_one() -> None:
    names = ("a.example", ".a.example", "news.a.example", ".deep.news.a.example", ".test")
    rules = SiteRules(texts=dict.fromkeys(names, "body: main"))
    hosts = {
        "a.example": "a.example.txt",
        "www.a.example": "a.example.txt",
        "A.EXAMPLE:8000": "a.example.txt",
        "sport.a.example": ".a.example.txt",
        "x.y.a.example": ".a.example.txt",
        "news.a.example": "news.a.example.txt",
        "x.deep.news.a.example": ".deep.news.a.example.txt",
        "anything.test": ".test.txt",
        "a.other": None,
        "test": None,
    }
    for host, name in hosts.items():
        found = rules.of(f"https://{host}/1")
        assert (found.name if found else None) == name, host
    assert rules.of("no url") is None
    assert rules.of("") is None


def test_a_folder_is_read_once_and_its_mistakes_are_named(tmp_path: Path) -> None:
    (tmp_path / "news.example.txt").write_text(WRONG)
    (tmp_path / "www.News.example.txt").write_text("body: main")
    (tmp_path / "b.example.txt").write_bytes(b"body: \xff")
    (tmp_path / "c.example.txt").mkdir()
    (tmp_path / "large.example.txt").write_text("#" * 600_000)
    (tmp_path / "README.md").write_text("no rules")
    os.mkfifo(tmp_path / "pipe.example.txt")
    (tmp_path / "zero.example.txt").symlink_to("/dev/zero")
    rules = SiteRules.read(tmp_path)
    assert set(rules.texts) == {"news.example"}
    assert [problem.replace(",", ":").partition(":")[0] for problem in rules.problems] == [
        *("b.example.txt", "c.example.txt", "large.example.txt"),
        *["news.example.txt"] * 3,
        *("pipe.example.txt", "www.News.example.txt", "zero.example.txt"),
    ]
    assert "it is no file but a pipe or a device" in rules.problems[-1]
    (tmp_path / "news.example.txt").unlink()
    assert rules.of("https://news.example/1") is not None
    again = pickle.loads(pickle.dumps(rules))  # noqa: S301 - our own
    assert again.texts == rules.texts
    assert again.problems == []


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RulesError, match="missing cannot be read: No such file"):
        SiteRules.read(tmp_path / "missing")
    assert not SiteRules.read("")


def test_a_selector_is_xpath_or_css_by_how_it_begins() -> None:
    page = Page.parse("", "<div class=story><p>One.</p></div><p>Two.</p>")
    same = [
        "div.story > p",
        ".story p",
        "//div[@class='story']/p",
        "(//p)[1]",
        "id('x') | //div/p",
        "p:first-child",
    ]
    assert [find_nodes(page, selector) for selector in same] == [[2]] * len(same)
    assert find_nodes(page, "p::text") == []
    assert find_nodes(Page.parse("", ""), "p") == []


@given(st.text(max_size=30))
def test_any_text_is_a_selector_or_an_error_of_ours(text: str) -> None:
    with contextlib.suppress(SelectorError):
        compile_selector(text)
