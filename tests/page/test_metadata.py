"""Metadata that a page declares, and what only stands beside its heading."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler import denoise_pages
from denoise_crawler.output.writing import Writing
from denoise_crawler.page import Page
from denoise_crawler.page.bylines import names_in
from denoise_crawler.page.date_parsing import iso_date, month_of
from denoise_crawler.page.declarations import MAX_JSON_LD_CHARACTERS, declared_texts_of
from denoise_crawler.page.metadata import (
    MORE_FIELDS,
    Metadata,
    MoreMetadata,
    metadata_of,
    more_metadata_of,
)
from tests.strategies import html_pages

URL = "https://example.com/story"


def read(html: str) -> Metadata:
    page = Page.parse(URL, html)
    more_metadata_of(page)
    return metadata_of(page)


def json_ld(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return f'<title>fall-back</title><script type="application/ld+json">{text}</script><p>x'


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2011-12-15", "2011-12-15"),
        ("2011-12-15T10:03:00Z", "2011-12-15T10:03:00+00:00"),
        ("2011-12-15T10:03:20.123-0500", "2011-12-15T10:03:20-05:00"),
        ("2011年12月15日 10:03", "2011-12-15T10:03:00"),
        ("发布时间：2011年1月5日10时03分", "2011-01-05T10:03:00"),
        ("2011/1/5 9:03 PM", "2011-01-05T21:03:00"),
        ("20111215", "2011-12-15"),
        ("20111215T1003Z", "2011-12-15T10:03:00+00:00"),
        ("Thu, 15 Dec 2011 10:03:00 GMT", "2011-12-15T10:03:00+00:00"),
        ("December 15th, 2011 at 12:30 am", "2011-12-15T00:30:00"),
        ("15.12.2011", "2011-12-15"),
        ("12/15/2011", "2011-12-15"),
        ("14 березня 2031 р., 10:03", "2031-03-14"),
        ("١٤ مارس ٢٠٣١", "2031-03-14"),
        ("14 มีนาคม 2574", "2031-03-14"),
        ("2031년 3월 14일", "2031-03-14"),
        ("2031. március 14.", "2031-03-14"),
        ("Jan 5 '17 at 0:40", "2017-01-05T00:40:00"),
        ("12 pages of 2011", None),
        ("05/05/2011", "2011-05-05"),
        ("2011-12-15 99:99", "2011-12-15"),
        ("05/06/2011", None),
        ("2011-13-45", None),
        ("0000-00-00", None),
        ("yesterday", None),
        ("15/12/11", None),
        ("1323943380", None),
        ("", None),
        ("2011-12-15" + " " * 90 + "x", None),
    ],
)
def test_dates_are_read_like_this(text: str, date: str | None) -> None:
    assert iso_date(text) == date


def test_the_names_of_months_are_those_of_cldr() -> None:
    pytest.importorskip("babel")
    root = Path(__file__).parents[2]
    months = run_path(str(root / "docs" / "write_months.py"))["months"]()
    assert len(months) > 1_000
    assert {name: month_of(name) for name in months} == months


@given(st.text(max_size=120) | st.from_regex(r"[0-9]{1,4}[-/.年][0-9]{1,2}[-/.月][0-9]{1,4}.{0,9}"))
def test_no_text_is_a_date_that_raises(text: str) -> None:
    date = iso_date(text)
    assert date is None or iso_date(date) == date


def test_an_article_in_json_ld_says_all() -> None:
    article = {
        "@type": "NewsArticle",
        "headline": "A &amp; B",
        "author": {"name": "Ann"},
        "datePublished": "2011-12-15",
    }
    assert read(json_ld({**article, "inLanguage": "en"})) == Metadata("A & B", "Ann", "2011-12-15", "en")
    assert read(json_ld([{"@type": "Organization", "name": "O"}, article])).title == "A & B"
    assert read(json_ld({"@type": "WebPage", "mainEntity": article})).author == "Ann"


def test_authors_of_a_graph_are_found_by_their_id_and_several_are_joined() -> None:
    graph = [
        {"@type": ["Article", "Thing"], "headline": "Tea", "author": [{"@id": "#a"}, "Bob", {"name": "Bob"}]},
        {"@type": "WebPage", "datePublished": "2011-12-15T10:03:00+01:00", "name": "T - Site"},
        {"@type": "Person", "@id": "#a", "name": "Ann"},
    ]
    assert read(json_ld({"@graph": graph})) == Metadata("Tea", "Ann; Bob", "2011-12-15T10:03:00+01:00", None)


def test_of_several_articles_the_one_with_the_address_of_the_page_counts() -> None:
    two = [
        {"@type": "Article", "headline": name, "url": f"https://example.com/{name}"} for name in ("other", "story")
    ]
    assert read(json_ld(two)).title == "story"
    assert read(json_ld([{"@type": "Article", "headline": name} for name in "ab"])).title == "fall-back"


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[", "null", "7", '"x"', "[[[]]]", '{"@graph": 3}', '{"@type": 3}', "[" * 100_000),
        '{"a":' * 5_000,
        '{"@type": "Article", "headline": 7, "author": [[1]], "datePublished": {"@value": []}}',
    ],
)
def test_broken_json_ld_counts_as_not_there(text: str) -> None:
    assert read(json_ld(text)) == Metadata("fall-back")


@pytest.mark.parametrize(
    "text",
    [
        '<!-- {"@type": "Article", "headline": "Tea"} -->',
        '//<![CDATA[\n{"@type": "Article", "headline": "Tea"}\n//]]>',
        '{"@type": "Article", "headline": " Tea\n", "x": "\\ud800"};',
        '{"@type": "https://schema.org/BlogPosting", "headline": {"@value": "<b>Tea</b>"}}',
    ],
)
def test_json_ld_is_read_as_pages_write_it(text: str) -> None:
    assert read(json_ld(text)).title == "Tea"


def test_lone_surrogates_in_json_ld_become_characters_that_can_be_written() -> None:
    read(json_ld('{"@type": "Article", "headline": "a\\ud800b"}')).title.encode()


def test_nested_microdata_that_leaves_no_text_spends_the_bound_on_what_is_read() -> None:
    nothing = "&amp;lt;a&amp;gt; " * 3_000
    nested = "".join(f"<div itemprop=description>{nothing}" for _ in range(20)) + "</div>" * 20
    page = Page.parse(URL, f"<body>{nested}<p itemprop=recipeIngredient>2 eggs</p>")
    assert declared_texts_of(page) == ()
    assert len(declared_texts_of(Page.parse(URL, "<body><p itemprop=recipeIngredient>2 eggs</p>"))) == 1


def test_huge_json_ld_is_not_read() -> None:
    huge = {"@type": "Article", "headline": "Tea", "articleBody": "x" * MAX_JSON_LD_CHARACTERS}
    assert read(json_ld(huge)).title == "fall-back"
    assert read(json_ld({"@graph": [{"@type": "Thing"}] * 60_000})).title == "fall-back"


@pytest.mark.parametrize(
    ("html", "author", "date", "language"),
    [
        (
            '<meta name=author content="Ann"><meta property="article:published_time" content="2011-12-15">',
            "Ann",
            "2011-12-15",
            None,
        ),
        (
            '<meta name=citation_author content="Lee, A."><meta name=citation_author content="Roy, B.">',
            "Lee, A.; Roy, B.",
            None,
            None,
        ),
        (
            '<meta property="article:author" content="https://facebook.com/x"><a rel=author href=/ann>Ann Lee</a>',
            "Ann Lee",
            None,
            None,
        ),
        ("<p itemprop=author><a href=/x><span itemprop=name>Ann</span></a> reporter", "Ann", None, None),
        (
            "<meta name=DC.Date content=unknown><meta name=pubdate content=2011年12月15日>",
            None,
            "2011-12-15",
            None,
        ),
        ("<time datetime=2011-12-15>then</time>", None, "2011-12-15", None),
        ("<time>15 Dec 2011</time><time>16 Dec 2011</time>", None, None, None),
        ("<time>15 Dec 2011</time><article><time>16 Dec 2011</time></article>", None, "2011-12-16", None),
        ('<meta property="og:locale" content="pt_BR">', None, None, "pt-BR"),
        ('<html lang=zh-CN><meta http-equiv="Content-Language" content="en">', None, None, "zh-CN"),
        ('<meta name="author" content=" "><meta name=date content="">', None, None, None),
    ],
)
def test_metadata_beside_json_ld_is_read(
    html: str, author: str | None, date: str | None, language: str | None
) -> None:
    assert read(html + "<p>x") == Metadata("", author, date, language)


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>Cranes | The Port</title><h1>The Port</h1><h1>Cranes!</h1>", "Cranes!"),
        ('<meta property="og:site_name" content="The Port"><title>Cranes - The Port</title>', "Cranes"),
        ("<title>Example: Cranes at work</title>", "Cranes at work"),
        ("<title>Cranes: a story</title><h1>News</h1>", "Cranes: a story"),
        ('<meta property="og:title" content="Two cranes"><title>Two cranes: all</title><h1>Our two cranes</h1>',
         "Two cranes"),
        ('<meta property="og:title" content="Cranes"><title>Cranes</title><h1>Port Cranes</h1>', "Cranes"),
        ("<title>起重机 - 港口报：港口</title><h1>起重机</h1>", "起重机"),
        ("<h1></h1><h1>Only a heading</h1>", "Only a heading"),
        ("<title>Cranes on the quay | The Ellery Post</title><h1>Cranes on the quay: a story</h1>",
         "Cranes on the quay"),
        ("<title>Cranes at work - Nuhen 100%</title><h1>Cranes at work</h1>", "Cranes at work"),
        ("<title>Cranes at work – Notes from the valley</title><h2>Cranes at work</h2>", "Cranes at work"),
        ("<title>The Valley « Cranes at work</title><h1>Cranes at work</h1>", "Cranes at work"),
        ("<title>起重机在港口-海港大学</title><h1>起重机在港口</h1>", "起重机在港口"),
        ("<title>起重机在港口_时政_海港网</title><h1>海港网</h1>", "起重机在港口"),
        ('<meta property="og:title" content="Example"><title>Cranes at work</title>', "Cranes at work"),
        ("<title>How did you learn to lift a crane? « Questions about cranes and all that they lift</title>"
         "<h1>Questions about cranes and all that they lift</h1>"
         "<h2>How did you learn to lift a crane?</h2>", "How did you learn to lift a crane?"),
        ("<title>Cranes &amp;amp; quays</title>", "Cranes & quays"),
        ("<title>Cranes — Port</title><h1>Cranes<a class=headerlink href='#cranes'>¶</a></h1>", "Cranes"),
        ("<title>Cranes - Port</title><h1><a href='#cranes'>#</a>Cranes</h1>", "Cranes"),
        ("", ""),
    ],
)  # fmt: skip
def test_the_title_is_the_headline_without_the_name_of_the_site(html: str, title: str) -> None:
    assert read(f"{html}<p>x").title == title


@pytest.mark.parametrize(
    ("byline", "names"),
    [
        ("By Ann Lee", ["Ann Lee"]),
        ("by Ann Lee, Bo Ek, and Cy Day, CNN", ["Ann Lee", "Bo Ek", "Cy Day"]),
        ("Ann Lee and Bo Ek", ["Ann Lee", "Bo Ek"]),
        ("Ann Lee und Bo Ek; Cy Day", ["Ann Lee", "Bo Ek", "Cy Day"]),
        ("Ann Lee, Political Correspondent", ["Ann Lee"]),
        ("Von Ann Lee", ["Ann Lee"]),
        ("Von Neumann", ["Von Neumann"]),
        ("Lee, Ann", ["Lee, Ann"]),
        ("Simon and Schuster", ["Simon and Schuster"]),
        ("Staff Reporter", ["Staff Reporter"]),
        ("staff", []),
        ("李安、王波", ["李安、王波"]),
        ("https://example.com/ann", []),
        ("@ann", []),
        ("x" * 201, []),
        ("View Profile", []),
        ("Author Profiles", []),
        ("admin", []),
        ("作者", []),
        ("More by Ann Lee", ["Ann Lee"]),
        ("", []),
    ],
)
def test_names_are_found_in_a_byline(byline: str, names: list[str]) -> None:
    assert names_in(byline) == names


def test_a_person_goes_before_the_name_of_the_site_which_goes_before_nobody() -> None:
    site = '<meta name=author content="Example"><meta property="og:site_name" content="Example">'
    link = "<p>By <a href=/authors/ann-lee>Ann Lee</a> and <a href=/authors/bo-ek>Bo Ek</a></p>"
    others = "<div><ul><li><p><span><a href=/authors/cy-day>Cy Day</a></span></p></li></ul></div>"
    assert read(f"{site}<article><div>{link}</div></article>{others}").author == "Ann Lee; Bo Ek"
    assert read(f"{site}<p>x").author == "Example"


def test_what_two_sources_say_goes_before_a_publisher_that_meta_names() -> None:
    publisher = '<meta name=author content="Conde House"><h1>Cranes</h1>'
    linked = "<p>By <span itemprop=author><a rel=author href=/ann>Ann Lee</a></span></p>"
    assert read(f"{publisher}{linked}").author == "Ann Lee"
    assert read(f"{publisher}<p>By <a rel=author href=/ann>Ann Lee</a></p>").author == "Conde House"
    both = '<meta name=author content="Ann Lee and Bo Ek">'
    assert read(f"{both}{linked}").author == "Ann Lee; Bo Ek"


def test_the_address_tells_the_date_where_nothing_else_does() -> None:
    def date(html: str) -> str | None:
        return metadata_of(Page.parse("https://example.com/2031/3/14/cranes", html)).date

    assert date("<p>x") == "2031-03-14"
    assert date("<meta name=date content=2031-03-15><p>x") == "2031-03-15"
    assert metadata_of(Page.parse("https://example.com/2031/30/14/cranes", "<p>x")).date is None


@pytest.mark.parametrize(
    ("path", "date"),
    [
        ("2031/0314/c1.html", "2031-03-14"),
        ("art/t20310314_12.html", "2031-03-14"),
        ("2031-03-14-cranes", "2031-03-14"),
        ("2031/314/c1.html", None),
        ("p20310314", None),
    ],
)
def test_addresses_of_archives_are_read_like_this(path: str, date: str | None) -> None:
    assert metadata_of(Page.parse(f"https://example.com/{path}", "<p>x")).date == date


_TIME = "<time datetime=2015-01-02>Jan 2, 2015</time>"


@pytest.mark.parametrize(
    "other",
    [
        f"<a href=/2 class=box><h3>Cranes</h3>{_TIME}</a>",
        f"<div class=card><h3>Cranes</h3>{_TIME}</div>",
        f"<aside>{_TIME}</aside>",
        f"<ol class=comment-list><li class=comment><article><b>Bo</b> {_TIME}<p>So good.</article></ol>",
        f"<div id=comments><div>{_TIME} Bo: So good.</div></div>",
    ],
)
def test_a_time_of_another_page_or_of_a_reader_is_not_the_date(other: str) -> None:
    assert byline_read(f"<body><article><h1>A Quiet Harbour</h1>{STORY}</article>{other}").date is None
    dated = f"<body><article><p>May 22, 2031</p><h1>A Quiet Harbour</h1>{STORY}</article>{other}"
    assert byline_read(dated).date == "2031-05-22"


@pytest.mark.parametrize(
    "said",
    [
        "<p>Published May 22, 2031, updated May 25, 2031</p>",
        "<p><span>Updated:</span></p><p>May 25, 2031</p><p>Original:</p><p>May 22, 2031</p>",
        "<div>修改于2031年5月25日</div><div>2031年5月22日</div>",
    ],
)
def test_the_date_of_a_change_is_not_that_of_the_page(said: str) -> None:
    assert byline_read(f"<h1>A Quiet Harbour</h1>{said}{STORY}").date == "2031-05-22"


def test_links_to_more_authors_than_a_page_has_name_none() -> None:
    links = "".join(f"<a href=/authors/{one}>Ann {one}</a> " for one in ("Lee", "Ek", "Day"))
    assert byline_read(f"<div>{links}</div>").author == "Ann Lee; Ann Ek; Ann Day"
    more = "".join(f"<a href=/authors/{one}>Bo {one}</a> " for one in ("Fox", "Owl"))
    assert byline_read(f"<div>{links}{more}</div>").author is None


MORE = """<meta property="og:description" content="Two cranes &amp; a quay."><link rel=canonical href="/cranes">
<meta name=keywords content="port, cranes,port"><meta property="og:site_name" content="Port">
<meta property="og:image" content="/crane.jpg">
<meta property="article:modified_time" content="2031-03-15T10:00:00Z"><p>Two cranes stand on the quay."""
FOUND = MoreMetadata(
    "Two cranes & a quay.",
    "https://example.com/crane.jpg",
    "https://example.com/cranes",
    "Port",
    ["port", "cranes"],
    "2031-03-15T10:00:00+00:00",
)


def test_more_metadata_is_read_from_meta_and_from_json_ld() -> None:
    assert more_metadata_of(Page.parse(URL, MORE)) == FOUND
    article = {
        "@type": "Article",
        "description": "Two cranes &amp; a quay.",
        "image": [{"@type": "ImageObject", "url": "https://example.com/crane.jpg"}],
        "publisher": {"@id": "#port"},
        "keywords": ["port", "cranes"],
        "dateModified": "2031-03-15T10:00:00Z",
    }
    graph = json_ld([article, {"@id": "#port", "@type": "Organization", "name": "Port"}])
    link = '<link rel=canonical href="/cranes">'
    assert more_metadata_of(Page.parse(URL, link + graph)) == FOUND


def test_a_page_that_says_nothing_more_has_nothing_more() -> None:
    for html in ("<p>x", "", '<meta property="og:image" content="javascript:x"><meta name=keywords content=",">'):
        assert more_metadata_of(Page.parse(URL, html)) == MoreMetadata()


def test_clean_pages_carry_more_only_where_it_is_asked_for() -> None:
    [plain] = denoise_pages([(URL, MORE)])
    [asked] = denoise_pages([(URL, MORE)], writing=Writing(more_metadata=True))
    assert all(getattr(plain, name) is None for name in MORE_FIELDS)
    assert MoreMetadata(**{name: getattr(asked, name) for name in MORE_FIELDS}) == FOUND
    assert replace(asked, **dict.fromkeys(MORE_FIELDS)) == plain


def test_clean_pages_carry_their_metadata() -> None:
    html = "<title>T</title><meta name=author content=Ann><meta name=date content=2011-12-15><p lang=en>text"
    [page] = denoise_pages([(URL, html)])
    assert (page.title, page.author, page.date, page.language) == ("T", "Ann", "2011-12-15", None)


@given(html_pages(), st.text())
def test_no_page_raises(html: str, text: str) -> None:
    read(html)
    read(json_ld(text))


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["Article", "#a", "2011-12-15", "x"]),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(
                ["@type", "@id", "@graph", "author", "name", "headline", "datePublished", "url", "@value"]
            )
            | st.sampled_from(["image", "publisher", "keywords", "description", "dateModified", "mainEntity"]),
            inner,
        )
    ),
)


@given(_VALUES)
def test_no_json_ld_raises(value: Any) -> None:
    read(json_ld(value))


def test_the_time_for_json_with_long_white_space_grows_with_its_length() -> None:
    script = '<script type="application/ld+json">[1' + " " * 300_000 + "x]</script>"  # with the square, for hours
    assert metadata_of(Page.parse("", f"{script}<title>A title</title><p>x")).title == "A title"


def test_control_characters_of_a_page_are_replaced_in_its_metadata() -> None:
    said = "Storm\x1b[2J over\x9b\x07 the bay"
    html = (
        f"<title>{said}</title><meta name=author content='A\x1b. Ruiz'>"
        f"<meta property='og:site_name' content='{said}'>"
        f"<meta name=description content='{said}'><meta name=keywords content='a\x01b,\x85c'><h1>{said}</h1>"
        "<link rel=canonical href='https://a.example/\x9b1'>"
    )
    page = Page.parse("https://a.example/1", html)
    found = {**asdict(metadata_of(page)), **asdict(more_metadata_of(page))}
    assert found["title"].startswith("Storm")
    assert found["author"].endswith("Ruiz")
    for value in found.values():
        for text in value if isinstance(value, list) else [value or ""]:
            assert text.isprintable(), text


STORY = "<p>" + "The harbour was quiet in the morning, said one who was there on May 3, 2001. " * 30


def byline_read(body: str, head: str = "<title>A Quiet Harbour - Example</title>") -> Metadata:
    return metadata_of(Page.parse("https://example.com/story", head + body))


@pytest.mark.parametrize(
    ("said", "date"),
    [
        ("2019/04/13", "2019-04-13"),
        ("April 13, 2019", "2019-04-13"),
        ("2019年4月13日", "2019-04-13"),
        ("13 avril 2019", "2019-04-13"),
        ("Publié le 1er août 2019", "2019-08-01"),
        ("13. März 2019, 10:03", "2019-03-13T10:03:00"),
        ("13 de abril de 2019", "2019-04-13"),
        ("Updated April 13, 2019", None),
        ("1970-01-01", None),
        ("1969-12-31", None),
        ("April 13, 1985", None),
    ],
)
def test_a_date_beside_the_heading_is_that_of_the_page(said: str, date: str | None) -> None:
    assert byline_read(f"<h1>A Quiet Harbour</h1><div>{said}</div>{STORY}").date == date
    assert byline_read(f"<div>{said}</div><h1>A Quiet Harbour</h1>{STORY}").date == date


def test_a_date_in_a_sentence_or_far_from_the_heading_is_none_of_the_page() -> None:
    assert byline_read(f"<h1>A Quiet Harbour</h1>{STORY}<div>April 13, 2019</div>").date is None
    assert byline_read("<p>April 13, 2019" + STORY).date is None


def test_a_tag_that_says_the_date_counts_more_than_what_stands_on_the_page() -> None:
    head = "<title>A</title><meta property=article:published_time content=2018-01-02>"
    assert byline_read(f"<h1>A Quiet Harbour</h1><div>April 13, 2019</div>{STORY}", head).date == "2018-01-02"


@pytest.mark.parametrize("date", ["1970-01-01", "1969-12-31T23:59:59Z", "0001-01-01"])
def test_a_clock_that_was_never_set_is_no_date(date: str) -> None:
    head = f"<title>A</title><meta property=article:published_time content={date}>"
    assert byline_read(f"<h1>A Quiet Harbour</h1>{STORY}", head).date is None


@pytest.mark.parametrize(
    ("said", "author"),
    [
        ("<div>By Ann Lee</div>", "Ann Lee"),
        ("<div>By <b>Ann Lee</b>, Bo de la Cruz</div>", "Ann Lee; Bo de la Cruz"),
        ("<p>By <i>ANN LEE</i>, <i>BO EK</i> and <i>CY DAY</i></p>", "ANN LEE; BO EK; CY DAY"),
        ("<div><span>By</span><span>Ann Lee</span> <time>May 3, 2031</time></div>", "Ann Lee"),
        ("<div>Author:</div><div>Ann Lee</div>", "Ann Lee"),
        ("<div>By: Ann Lee @annlee</div>", "Ann Lee"),
        ("<p>Автор: Анна Ли</p>", "Анна Ли"),
        ("<p>2031-05-03 10:03 作者：李安 来源：海港报</p>", "李安"),
        ("<p>文／王小明、李安</p>", "王小明、李安"),
        ("<p>记者：首先欢迎你来到我们的节目</p>", None),
        ("<aside><blockquote>So good. <cite class=author>Ann Lee</cite></blockquote></aside>", None),
        ("<div>By Ann Lee and Bo de la Cruz | Staff</div>", "Ann Lee; Bo de la Cruz"),
        ("<span class=article-byline>Ann O'Neil</span>", "Ann O'Neil"),
        ("<div class=byline><span>Ann Lee for Example</span></div>", "Ann Lee"),
        ("<div class=author-bio>Ann Lee</div>", None),
        ("<div class=author>Ann Lee <b>Founder &amp; Lead Reviewer</b></div>", None),
        ("<div>By the sea it is quiet</div>", None),
        ("<div>Ann Lee</div>", None),
    ],
)
def test_a_byline_is_known_by_its_class_or_by_by(said: str, author: str | None) -> None:
    assert byline_read(f"<h1>A Quiet Harbour</h1>{said}{STORY}").author == author


def test_what_is_no_name_is_taken_from_an_author_and_a_letter_is_none() -> None:
    assert names_in("Ann Lee | Journal Staff Writer") == ["Ann Lee"]
    assert names_in("V") == []
    assert names_in("More stories by Ann Lee") == ["Ann Lee"]


def test_a_title_of_two_letters_counts_if_there_is_no_other() -> None:
    assert byline_read("<h1>It</h1>", "<title>It</title>").title == "It"
    head = "<meta property=og:title content=V><title>A Quiet Harbour</title>"
    assert byline_read("<h1>V</h1>", head).title == "A Quiet Harbour"
