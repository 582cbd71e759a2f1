import encodings
import pkgutil
from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from parsel import Selector

from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.output.safe_markup import clean_html, repair_page
from denoise_crawler.page import Page
from denoise_crawler.page.nodes import TEXT, Element
from denoise_crawler.page.opaque import is_no_notice, is_read
from denoise_crawler.page.parsing import Markup, is_charset, parse
from tests.strategies import html_pages

URL = "https://example.com/dir/page.html"


def text_of(html: str | bytes) -> str:
    return clean_text(Page.parse(URL, html))


HARD = {
    "300 levels": "<html><body>" + "<div>" * 300 + "deep text" + "</div>" * 300 + "<p>after</p>",
    "3,000 levels": "<html><body>" + "<div>" * 3000 + "deep text" + "</div>" * 3000 + "<p>after</p>",
    "19,000 levels": "<html><body>" + "<div>" * 19_000 + "deep text" + "</div>" * 19_000 + "<p>after</p>",
    "38,000 levels unclosed": "<div><b>" * 19_000 + "deep text after",
    "no body": "<title>t</title><p>deep text after",
    "only text": "deep text after",
    "unclosed everything": "<html><head><title>t</title><body><div><p>deep text<table><tr><td>x<p>after",
    "an unclosed video": "<div><video src=x><p>deep text<p>after",
    "an unclosed button": "<button>Menu<div>deep text</div><p>after",
    "an unclosed select": "<select><option>one<div><p>deep text<p>after",
    "an unclosed object": "<object><table><tr><td>deep text<td>after",
    "an unclosed canvas": "<canvas><h1>deep text</h1>after",
    "unclosed title": "<title>deep text<p>after",
    "NUL bytes": "<p>de\0ep te\0xt</p>\0<p>after",
    "an XML declaration in a str": '<?xml version="1.0" encoding="gb2312"?><html><body>deep text after',
    "lone surrogates": "<p>deep text \ud800 after \udfff",
    "a text node of 1.4 MB": "<p>deep text " + "word " * 280_000 + "after",
    "text after html": "<html><body>deep text</body></html><p>after",
    "text in head": "<head><div>deep text</div>after",
    "two bodies": "<body>deep text</body><body>after</body>",
    "all in noscript": "<body><noscript><p>deep text after</p></noscript>",
    "noframes": "<frameset><frame src=x><noframes><body><p>deep text<p>after</body></noframes></frameset>",
}


@pytest.mark.parametrize("name", HARD)
def test_text_comes_out_of_every_malformed_page(name: str) -> None:
    text = text_of(HARD[name])
    assert "deep text" in text
    assert "after" in text


def test_text_comes_out_of_a_deep_tree_that_a_spider_parsed() -> None:
    html = HARD["3,000 levels"]
    page = Page(URL, Selector(text=html).root, source=html)
    assert clean_text(page).split() == ["deep", "text", "after"]


# names and characters of which the parser makes elements, attributes and texts, and nobody else may
ODD_MARKUP = [
    *("<x\x05y>", "<o:p>", "<a\ufffe>", "<{x}y>", "<p a\x05b=1>", "<p a='\x05'>", "<p b=\ufffe>"),
    *("<p xml:lang=e>", "<p :=1>"),
    *("<p {=1>", "<p '=1>", '<p "=1>', "<p <=1>", "<p 1=2>", "<p xmlns='\x05'>", "<svg xlink:href=a>"),
    "<p a{b}=2>",
    *("&#1;", "&#xfffe;", "&#xffff;", "\x1b", "\x7f", "<script>\x05</script>", "<title>\x1b</title>"),
    "<!-- \x05 -->",
]


@pytest.mark.parametrize("odd", ODD_MARKUP)
def test_a_page_deeper_than_lxml_allows_may_have_any_character_and_name(odd: str) -> None:
    for html in (f"{odd}deep text" + "<div>" * 2_100 + "x\x05y", "<div>" * 2_100 + f"{odd}deep text x\x05y after"):
        for source in (html, html.encode()):
            page = Page.parse(URL, source)
            assert page.skipped is None
            assert "deep text" in clean_text(page)
            assert "xy" in clean_text(page)


def test_the_outer_levels_of_a_deep_page_are_as_they_were_and_its_text_reads_on() -> None:
    outer = '<html lang="en"><p class="a&quot;b &amp;lt;" xml:lang="fr">1 &lt; 2 &amp;amp;<br>3</p><o:p>w</o:p>'
    page = Page.parse(
        URL,
        f"{outer}<script>if (a<b) c</script>"
        + "<div>" * 2_100
        + "x\x0cy\x01<b>z</b>"
        + "</div>" * 2_100
        + "<p>after",
    )
    assert clean_text(page).splitlines() == ["1 < 2 &amp;", "3", "w", "x yz", "after"]
    assert next(page.tree.iter("p")).get("class") == 'a"b &lt;'
    assert page.language == "en"
    assert [script.text for script in page.tree.iter("script")] == ["if (a<b) c"]


@given(st.text("<>/&;=\"'{}:-!a1é\x05\x0c\x7f\ufffe \n", max_size=30))
def test_no_markup_before_a_deep_page_raises(markup: str) -> None:
    assert Page.parse(URL, f"<p>{markup}<p>" + "<div>" * 2_050 + "deep text").skipped is None


@pytest.mark.parametrize(
    ("declared", "real"),
    [("gb2312", "utf-8"), ("utf-8", "gb18030"), ("", "gb18030"), ("iso-8859-1", "utf-8"), ("nonsense", "utf-8")],
)
def test_wrong_charset_declarations_do_not_spoil_the_text(declared: str, real: str) -> None:
    text = "中文的内容在这里，是不会错的"
    meta = f'<meta charset="{declared}">' if declared else ""
    assert text_of(f"<html><head>{meta}</head><body>{text}</body>".encode(real)) == text


@pytest.mark.parametrize(
    ("declared", "real"),
    [("", "utf-8"), ("", "gb18030"), ("iso-8859-1", "gb18030"), ("gb2312", "gb18030"), ("utf-8", "utf-8")],
)
@pytest.mark.parametrize("broken", [b"\xff", b"\x81", b"\xe4\xb8"])
def test_a_broken_character_costs_no_more_than_itself(declared: str, real: str, broken: bytes) -> None:
    meta = f'<meta charset="{declared}">' if declared else ""
    sentence = "港湾纪事的记者在这里报道，来自各地的人们不了解他们的故事。" * 4
    source = f"{meta}<p>{sentence}<p>X<p>{sentence}".encode(real).replace(b"X", b"X" + broken + b" Y")
    assert text_of(source).split("X")[0].strip() == sentence
    assert text_of(source).endswith(sentence)


@pytest.mark.parametrize("declared", ["", "utf-8"])
def test_a_western_page_is_not_taken_for_another(declared: str) -> None:
    meta = f'<meta charset="{declared}">' if declared else ""
    text = "Où l’été naît, là-bas, près du château – c’est déjà l’âge d’or des élèves français."
    assert text_of(f"{meta}<p>{text}".encode("cp1252")).count("é") == (0 if declared else 4)


@pytest.mark.parametrize("charset", sorted(found.name for found in pkgutil.iter_modules(encodings.__path__)))
def test_no_codec_of_python_that_a_page_declares_makes_it_raise(charset: str) -> None:
    body = f"<meta charset={charset}><p>" + "The boats came home, caf\xe9 by caf\xe9. " * 400
    assert Page.parse(URL, body.encode("latin-1")).skipped in (None, "empty")


@pytest.mark.parametrize(
    "charset",
    [
        *("idna", "punycode", "undefined", "rot13", "base64", "hex", "zlib", "bz2_codec", "uu", "quopri"),
        "unicode_escape",
    ],
)
def test_a_codec_that_is_no_charset_is_not_asked(charset: str) -> None:
    page = Page.parse(URL, f"<meta charset={charset}><p>caf\xe9 \\u003c".encode("latin-1"))
    assert clean_text(page) == "caf\xe9 \\u003c"
    assert not is_charset(charset)


def test_a_declared_charset_is_used() -> None:
    assert text_of('<meta charset="windows-1251"><p>Привет'.encode("windows-1251")) == "Привет"
    assert text_of("<p>中文的内容".encode("utf-16")) == "中文的内容"


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        ("", "empty"),
        (b"", "empty"),
        (" \n ", "empty"),
        ("<!-- nothing -->", "empty"),
        ("<html><head></head><body></body></html>", "empty"),
        ("<frameset><frame src='a'></frameset>", "frameset"),
        ("<p>text", None),
        ("<img src=a>", None),
    ],
)
def test_pages_are_skipped_for_a_named_reason_only(html: str | bytes, reason: str | None) -> None:
    assert Page.parse(URL, html).skipped == reason


# By limit, a page that keeps to it when made of that many parts, and does not with one more.
LIMITED = {
    "MAX_HTML_BYTES": (lambda n: "<p>word<script>" + "x" * (n - 15), 8_000_000),
    "MAX_HTML_BYTES of Chinese": (lambda n: "<p>word<i title=a" + "\u4e2d" * n + ">", (8_000_000 - 18) // 3),
    "MAX_HTML_BYTES in bytes": (lambda n: b"<p>word<script>" + b"x" * (n - 15), 8_000_000),
    "MAX_ELEMENTS": (lambda n: "<p>x" * n, 50_000),
    "MAX_ELEMENTS in bytes": (lambda n: b"<p>x" * n, 50_000),
    "MAX_ATTRIBUTES": (lambda n: "<p a b='c'd e=\">\">x" * (n // 4) + "<p>x" + "<p a>" * (n % 4), 100_000),
    "MAX_ATTRIBUTES in bytes": (lambda n: b"<p a b='c'd/e=''>x" * (n // 4) + b"<p a>" * (n % 4), 100_000),
    "MAX_TEXT_BYTES": (lambda n: "<p>" + "w" * n, 1_500_000),
    "MAX_TEXT_BYTES of Chinese": (lambda n: "<p>" + "\u4e2d" * n, 500_000),
    "MAX_TEXT_BYTES in bytes": (lambda n: b"<meta charset=gb18030><p>" + "\u4e2d".encode("gb18030") * n, 500_000),
}


@pytest.mark.parametrize("limit", LIMITED)
def test_a_page_is_read_up_to_each_limit_and_skipped_beyond(limit: str) -> None:
    make, most = LIMITED[limit]
    assert Page.parse(URL, make(most)).skipped is None
    beyond = Page.parse(URL, make(most + 1))
    assert (beyond.skipped, beyond.nodes.tags, clean_text(beyond)) == ("too_large", ["body"], "")
    assert (beyond.root is None) == (not limit.startswith("MAX_TEXT_BYTES"))


def test_tags_that_a_title_swallowed_as_entities_are_counted_as_well() -> None:
    assert clean_text(Page.parse(URL, "<title>" + "&lt;p>word" * 39_000)).count("word") == 39_000
    assert Page.parse(URL, "<title>" + "&lt;p>" * 150_000).skipped == "too_large"


@given(html_pages())
def test_no_tree_has_more_elements_or_attributes_than_are_counted_before_it_is_made(html: str) -> None:
    root = parse(html)
    if root is not None:
        elements, attributes = (int(root.xpath(f"count(//{kind})")) for kind in ("*", "@*"))
        tags = html.count("<")
        assert elements <= tags + len(("html", "body", "p"))
        assert Markup(html).is_larger(size=10**6, tags=tags - 1, attributes=10**6)
        assert not Markup(html).is_larger(size=10**6, tags=tags, attributes=10**6)
        assert attributes == 0 or Markup(html).is_larger(size=10**6, tags=tags, attributes=attributes - 1)


def test_a_run_of_text_is_not_split_by_comments_and_scripts_and_words_are_not_glued() -> None:
    page = Page.parse(URL, "<p>a <b>b</b> <i>c</i><!-- x -->d<script>e</script>f</p>")
    runs = [text for tag, text in zip(page.nodes.tags, page.nodes.texts, strict=True) if tag is TEXT]
    assert runs == ["a ", "b ", "c", "df"]
    assert clean_text(page) == "a b cdf"


def test_nodes_are_nested_ranges_in_document_order() -> None:
    nodes = Page.parse(URL, "<div><p>a<b>b</b></p><ul><li>c</ul></div>d").nodes
    assert nodes.tags == ["body", "div", "p", TEXT, "b", TEXT, "ul", "li", TEXT, TEXT]
    assert [nodes.tags[i] for i in nodes.children(0)] == ["div", TEXT]
    assert nodes.ends[1] == 9


def test_blocks_stand_on_lines_of_their_own_and_controls_are_not_text() -> None:
    html = "<h1>T</h1><p>one <a href=x>two</a>.<br>three<button>Go</button></p><ul><li>a<li>b</ul>x<div>y</div>z"
    assert text_of(html) == "T\none two.\nthree\n- a\n- b\nx\ny\nz"


OPAQUE = st.recursive(
    st.sampled_from(["text", "<p>block</p>", "<br>", "<b>bold</b>", ""]),
    lambda inner: st.builds(
        "<{0}>{1}</{0}>".format,
        st.sampled_from(["video", "audio", "canvas", "object", "b"]),
        st.lists(inner).map("".join),
    ),
)


@given(st.lists(OPAQUE, max_size=6).map("".join))
def test_media_hide_what_stands_in_them_unless_that_holds_a_block(html: str) -> None:
    page = Page.parse(URL, f"<body>{html}")
    if page.root is None:
        return
    shown = {element for element in page.nodes.elements if element.tag != "body"}
    opaque = "ancestor-or-self::*[self::video or self::audio or self::canvas or self::object][not(.//p)]"
    hidden = {
        element for element in page.root.iterfind("body//*") if len(element.xpath(opaque)) > (element in shown)
    }
    assert not shown & hidden
    assert shown | hidden == set(page.root.iterfind("body//*"))


def test_media_that_were_never_closed_are_looked_through_once_not_once_a_level() -> None:
    root = Page.parse(URL, "<video>" * 1_000 + "<br>" * 10 + "<p>block").root
    assert root is not None
    outer, *inner = root.iter("video")
    swallowing: set[Element] = set()
    assert is_read(outer, swallowing)
    assert swallowing == set(inner)


PARAGRAPH = "Every word of this paragraph is for reading, and none of them leads anywhere at all. "


def links_of(html: str) -> list[str]:
    nodes = Page.parse(URL, html).nodes
    return [
        nodes.texts[index].strip() for index, link in enumerate(nodes.links) if nodes.texts[index] and link >= 0
    ]


def test_an_anchor_without_an_address_is_no_link_even_if_it_was_never_closed() -> None:
    assert links_of("<a name=top><p>one<p>two <a href=/x>three</a></p>four") == ["three"]


def test_a_link_around_a_whole_article_is_no_link_and_the_card_of_a_teaser_is_one() -> None:
    card = "<a href=/x><h3>Teaser</h3><p>Read more of it</p></a>"
    assert links_of(f"<a href=/y><h1>Title</h1>{f'<p>{PARAGRAPH}</p>' * 20}</a>{card}") == [
        "Teaser",
        "Read more of it",
    ]


def test_a_noscript_with_more_than_a_notice_is_read_and_a_notice_is_not() -> None:
    notice = "<p>story</p><noscript><p>Please turn scripts on</p></noscript><p>end</p>"
    assert text_of(notice) == "story\nend"
    posts = f"<p>story</p><noscript><div>{f'<p>{PARAGRAPH}</p>' * 20}</div></noscript>"
    assert text_of(posts).count(PARAGRAPH.strip()) == 20
    assert PARAGRAPH.strip() in text_of(f"<noscript><img src=/pixel.gif><p>story</p>{f'<p>{PARAGRAPH}</p>' * 20}")


def test_nested_noscripts_are_looked_through_once_not_once_a_level() -> None:
    root = Page.parse(URL, "<noscript>" * 500 + f"<p>{PARAGRAPH * 20}").root
    assert root is not None
    outer, *inner = root.iter("noscript")
    swallowing: set[Element] = set()
    assert is_no_notice(outer, swallowing)
    assert swallowing >= set(inner)


@pytest.mark.parametrize(
    "html",
    [
        "<h3><button>Do you ship?</button></h3><p>Yes.</p>",
        "<button><h4>Do you ship?</h4></button><p>Yes.</p>",
        "<dl><dt><button>Do you ship?</button></dt><dd>Yes.</dd></dl>",
    ],
)
def test_a_button_that_is_a_heading_is_read(html: str) -> None:
    assert "Do you ship?" in text_of(html)


def test_title_and_language_are_what_the_page_declares() -> None:
    page = Page.parse(URL, '<html lang="zh-CN"><title> A  b </title><h1>c</h1>')
    assert (page.title, page.language) == ("A b", "zh-CN")
    og = '<html><meta property="og:title" content="Open"><title>t</title>'
    assert Page.parse(URL, og).title == "Open"
    assert Page.parse(URL, "<h1>Only</h1>").title == "Only"
    assert Page.parse(URL, "<p>x").language is None


def test_a_repaired_copy_has_absolute_links_and_neither_scripts_nor_comments() -> None:
    html = '<base href="/b/"><p onclick=x><a href="c.html">c</a><script>s</script><!-- k --><img src="//h/i.png">'
    assert clean_html(Page.parse(URL, html)) == (
        '<html><body><p><a href="https://example.com/b/c.html">c</a><img src="https://h/i.png"></p></body></html>'
    )


def test_a_link_that_cannot_be_joined_stays_as_it_is() -> None:
    assert Page.parse(URL, "<p>x").absolute("http://[bad") == "http://[bad"


@given(html_pages())
def test_reading_a_page_never_raises_and_never_changes_its_tree(html: str) -> None:
    root = Page.parse(URL, html).root
    if root is None:
        return
    before = etree.tostring(root)
    page = Page(URL, root, source=html)
    noise = [tag == "b" for tag in page.nodes.tags]
    clean_text(page, noise)
    repair_page(page, noise)
    assert page.title is not None
    assert page.language is None or page.language
    assert etree.tostring(root) == before


@given(st.binary(max_size=300))
def test_no_bytes_raise(data: bytes) -> None:
    page = Page.parse(URL, data)
    assert page.skipped in (None, "empty", "frameset")
    clean_text(page)


@given(st.text(max_size=300))
def test_no_text_raises(text: str) -> None:
    page = Page.parse(URL, text)
    assert len(page.nodes) == len(page.nodes.texts)
    clean_html(page)


LINKS = st.lists(
    st.sampled_from(
        ["/", "//", "http:", "https:", "host", ".", "..", "?", "#", "q", "\t", "\n", " ", ":", "[", "@", ";"]
    ),
    max_size=7,
).map("".join)


@given(
    LINKS,
    st.sampled_from(
        ["", "http://a/b/c?d", "https://a", "//a/b", "about:blank", "ftp://a/b", "http://[a/b", "x/y"]
    ),
)
def test_a_link_is_absolute_as_the_standard_joins_it(link: str, base: str) -> None:
    try:
        joined = urljoin(base, link.strip())
    except ValueError:
        joined = link
    assert Page.parse(base, "<p>x</p>").absolute(link) == joined
