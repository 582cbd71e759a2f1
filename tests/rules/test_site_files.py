"""Site rules: their files, how they are applied before any evidence, and what docs/rules.md shows of them."""

import os
import pickle
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler import denoise_pages
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.errors import RulesError
from denoise_crawler.output.clean_page import CleanPage
from denoise_crawler.output.writing import Writing
from denoise_crawler.page import Page
from denoise_crawler.rules import IGNORED, OBEYED, PRUNE, SiteRules, parse_site_file
from tests.conftest import ROOT

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
        ("body" + "\t" * 400_000, "has no colon"),
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
        *("b.example.txt is ignored", "c.example.txt is ignored", "large.example.txt is ignored"),
        *["news.example.txt"] * 3,
        *("pipe.example.txt is ignored", "www.News.example.txt is ignored", "zero.example.txt is ignored"),
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


URL = "https://www.a.example/1"
STORY = "The ferry left the harbour before dawn, and half of the town was on it. " * 6
PAGE = f"""<title>Storm | A paper</title><body><nav><a href=/>Home</a></nav><h1>Storm</h1>
<div id=story><p>{STORY}<p class=ad>Buy two boats, pay one boat, today only in our shop at the quay.
<img src=/ads/boat.png><p>It came back late.<div class=related><p>More of it<p class=own>Own words</div></div>
<div class=comments><p>I was there, it was cold.</div>"""


def clean(rules: str, html: str = PAGE, method: str = "fusion", **options: object) -> CleanPage:
    found = denoise_pages(
        [(URL, html)],
        method=method,
        rules=SiteRules(texts={"a.example": rules}),
        writing=Writing(explain=True),
        **options,
    )
    return next(found)


def test_the_body_is_all_that_is_kept_with_the_title() -> None:
    text = clean("title: h1\nbody: #story").text
    assert text.splitlines() == [
        *("Storm", STORY.strip(), "Buy two boats, pay one boat, today only in our shop at the quay."),
        *("It came back late.", "More of it", "Own words"),
    ]


def test_the_title_is_left_out_where_the_text_is_to_be_without() -> None:
    assert clean("title: h1\nbody: #story, h1", title="leave").text.startswith("The ferry")


def test_the_closest_rule_decides_so_that_a_part_of_what_is_stripped_can_be_kept() -> None:
    text = clean("body: #story\nstrip: .related\nkeep: .own\nstrip_id_or_class: ad\nkeep: div.comments").text
    assert text.splitlines()[1:] == ["It came back late.", "Own words", "I was there, it was cold."]


def test_rules_of_this_run_come_before_those_of_the_file_inside_of_what_they_find() -> None:
    rules = SiteRules(texts={"a.example": "body: #story\nkeep: .own\nkeep: .related\nstrip: .ad"})
    rules.add_everywhere("strip", [".related"])
    rules.add_everywhere("keep", ["div.comments, .ad"])
    text = next(denoise_pages([(URL, PAGE)], rules=rules)).text
    assert text.splitlines()[1:] == [
        *("Buy two boats, pay one boat, today only in our shop at the quay.", "It came back late."),
        "I was there, it was cold.",
    ]


def test_the_first_body_rule_that_finds_anything_is_applied() -> None:
    text = clean("body: #article\nbody: div.comments, div#story\nbody: nav").text
    assert "cold" in text
    assert "ferry" in text
    assert "Home" not in text


def test_with_prune_yes_the_method_judges_inside_the_body() -> None:
    inside = clean("body: body\nprune: yes")
    assert inside.confidence is not None
    assert "Home" not in inside.text
    everything = clean("body: body\nprune: no")
    assert everything.confidence is None
    assert "Home" in everything.text


def test_pictures_go_by_their_address() -> None:
    found = denoise_pages(
        [(URL, PAGE)],
        rules=SiteRules(texts={"a.example": "body: #story\nstrip_image_src: /ads/"}),
        writing=Writing("markdown"),
    )
    assert "boat.png" not in next(found).text
    found = denoise_pages(
        [(URL, PAGE)], rules=SiteRules(texts={"a.example": "body: #story"}), writing=Writing("markdown")
    )
    assert "boat.png" in next(found).text


def test_rules_that_leave_next_to_nothing_are_passed_over_and_named() -> None:
    plain = next(denoise_pages([(URL, PAGE)], writing=Writing(explain=True)))
    page = clean("body: nav")
    assert page.text == plain.text
    assert page.explanation is not None
    assert all("a.example.txt is passed over" in block["reason"] for block in page.explanation)
    judged = Denoiser(rules=SiteRules(texts={"a.example": "strip: body"})).judge(Page.parse(URL, PAGE))
    assert (judged.passed_over, judged.rules_applied) == ("a.example.txt", "")


def test_an_explanation_names_the_rule_with_its_file_and_line() -> None:
    blocks = clean("body: #story\n\nstrip: p.ad").explanation
    assert blocks is not None
    reasons = {block["text"][:8]: (block["kept"], block["reason"]) for block in blocks}
    assert reasons["Buy two "] == (False, "a.example.txt, line 3: strip: p.ad")
    assert reasons["The ferr"] == (True, "a.example.txt, line 1: body: #story")
    assert reasons["Home"] == (False, "a.example.txt, line 1: body: #story (outside of it)")


def test_title_author_and_date_come_from_the_first_rule_that_finds_one() -> None:
    html = (
        '<meta name=who content="Bo Li"><b class=by>By Ana Ruiz</b><i class=by>Tom Day</i><time>1 May 2024</time>'
    )
    page = clean(
        "title: .headline\ntitle: substring-before('Storm | Paper', ' |')\nauthor: .by\ndate: #no\ndate: time",
        html + PAGE,
    )
    assert (page.title, page.author, page.date) == ("Storm", "Ana Ruiz; Tom Day", "2024-05-01")
    assert clean("author: //meta[@name='who']/@content", html + PAGE).author == "Bo Li"
    assert clean("title: .headline\ndate: h1", PAGE).title == "Storm"


@pytest.mark.parametrize("method", ["style_tree", "link_ratio", "fusion"])
def test_rules_apply_to_every_method(method: str) -> None:
    assert "cold" in clean("keep: div.comments", method=method).text
    assert "ferry left" not in clean("strip: //p[contains(., 'ferry')]\nkeep: .comments, .ad", method=method).text


def test_pages_of_other_hosts_are_judged_as_ever() -> None:
    rules = SiteRules(texts={"b.example": "body: nav"})
    assert next(denoise_pages([(URL, PAGE)], rules=rules)) == next(denoise_pages([(URL, PAGE)]))


SHOWN_PAGE = (ROOT / "docs" / "rules.md").read_text("utf-8")


def test_the_page_shows_the_lines_that_wrong_rules_give() -> None:
    problems = "\n".join(parse_site_file(WRONG, "news.example.txt").problems)
    assert f"```text\n{problems}\n```" in SHOWN_PAGE


def test_the_page_names_each_directive_and_its_example_is_right() -> None:
    named = set(re.findall(r"`(\w+)`", SHOWN_PAGE)) | {PRUNE}
    assert named >= OBEYED
    assert named & IGNORED
    (example,) = re.findall(r"```text\n(# the story(?:.*\n)*?)```", SHOWN_PAGE)
    found = parse_site_file(example)
    assert found.problems == []
    assert {rule.directive for rule in found.rules} <= OBEYED
    assert len(found.rules) == 7
