"""Links, pictures and the posts of threads."""

import pytest
from hypothesis import given

from denoise_crawler import Writing, denoise_pages
from denoise_crawler.output.content.blocks import Block, Embed, Heading, Picture, Text
from denoise_crawler.output.content.builder import Builder
from denoise_crawler.output.content.markdown import to_markdown
from denoise_crawler.page import Page
from denoise_crawler.records.posts import find_posts
from tests.output.content.reading import READER, URL, blocks_of, written
from tests.strategies import html_pages


@pytest.mark.parametrize(
    "html",
    [
        "<h2 id=a><a href=#a>Title</a></h2>",
        "<h2 id=a>Title<a class=headerlink href=#a>¶</a></h2>",
        "<h2 id=a><a href=#a></a>Title <a href=/d/#a aria-label=x>#</a></h2>",
        "<h2><a href=/d/>Title</a></h2>",
    ],
)
def test_a_heading_is_no_link_to_itself(html: str) -> None:
    assert blocks_of(html) == [Heading(2, [Text("Title")])]


def test_a_link_in_brackets_behind_a_heading_is_no_part_of_it() -> None:
    edit = "<span class=x><span>[</span><a href=/edit>edit</a><span>]</span></span>"
    assert blocks_of(f"<h2><span>Title</span>{edit}</h2>") == [Heading(2, [Text("Title")])]
    assert written(f"<h2>{edit}</h2>") == "## [[edit](https://example.com/edit)]"
    assert "edit" in written(f"<p>Title {edit}")


@pytest.mark.parametrize(
    "address",
    [
        "https://twitter.com/intent/tweet?url=x",
        "https://www.facebook.com/sharer/sharer.php?u=x",
        "mailto:?subject=x",
    ],
)
def test_share_links_are_gone(address: str) -> None:
    assert written(f"<p>One <a href='{address}'>Share</a>") == "One"


def test_a_sign_that_leads_back_is_gone() -> None:
    assert written("<p>Note <a href='#'>↩</a>") == "Note"


def test_a_link_to_another_place_of_the_page_is_text_and_one_to_a_page_of_an_application_a_link() -> None:
    assert written("<p><a href='#a'>One</a>") == "One"
    assert written("<p><a href='#/a'>One</a>") == "[One](https://example.com/d/#/a)"


def test_balanced_parentheses_stay_in_a_link() -> None:
    assert written("<p><a href='/Mars_(god)'>Mars</a>") == "[Mars](https://example.com/Mars_(god))"
    assert written("<p><a href='/a)b('>One</a>") == "[One](https://example.com/a%29b%28)"


def test_a_picture_is_no_link_to_itself() -> None:
    small = "<img src=/small/ship.jpg alt=Ship>"
    assert written(f"<p>Text.<p><a href=/large/ship.jpg?w=9>{small}</a>").endswith(
        "\n![Ship](https://example.com/small/ship.jpg)"
    )
    assert written(f"<p>Text.<p><a href=/ship.html>{small}</a>").endswith("](https://example.com/ship.html)")


@pytest.mark.parametrize(
    "address", ["javascript:x()", "JaVa\tscript:x", "data:text/html,x", "vbscript:x", "blob:x"]
)
def test_links_that_run_something_are_text(address: str) -> None:
    for form in ("markdown", "html", "blocks"):
        assert "script" not in str(written(f"<p><a href='{address}'>one</a>", form)).lower()
    assert written(f"<p><a href='{address}'>one</a>") == "one"


@pytest.mark.parametrize(
    "html",
    [
        "<img src=data:image/gif;base64,x data-src=p.png>",
        "<img src=/blank.gif data-original=p.png>",
        "<img srcset='s.png 300w, p.png 800w'>",
        "<img src=placeholder.png data-srcset='p.png 2x, s.png 1x'>",
        "<picture><source srcset='p.png 2x, s.png'><img></picture>",
        "<img src=data:x><noscript><img src=p.png></noscript>",
        "<img src=p.png><img src=p.png>",
    ],
)
def test_a_picture_has_the_address_of_the_real_one(html: str) -> None:
    assert blocks_of(html) == [Picture(f"{URL}p.png")]


@pytest.mark.parametrize(
    "attributes",
    [
        "class=logo src=a.png",
        "src=/img/avatar.png",
        "src=a.png width=1",
        "src=a.png width=16 height=16",
        "src=//x.test/pixel.gif",
    ],
)
def test_decoration_is_no_picture_of_the_content(attributes: str) -> None:
    assert blocks_of(f"<p>One<img {attributes}>") == blocks_of("<p>One")


def test_pictures_stay_only_where_they_belong_to_kept_content() -> None:
    html = "<div><img src=a.png>Menu and more</div><p>Story<img src=b.png><div><img src=c.png>Ad</div>"
    noise = [text in ("Menu and more", "Ad") for text in Page.parse(URL, html).nodes.texts]
    found = str(blocks_of(html, noise))
    assert [name in found for name in ("a.png", "b.png", "c.png")] == [False, True, False]


def test_of_a_figure_its_caption_decides_and_without_one_the_text_around_it() -> None:
    figure = "<figure><div><img src=a.png alt=A><span>Credit</span></div><figcaption>{}</figcaption></figure>"
    for caption, around, belongs in [("Quay", "Ad", True), ("Ad", "Story", True), ("Ad", "Ad", False)]:
        html = f"<div><p>{around}</p>{figure.format(caption)}<p>{around}</div><p>Story"
        noise = [text in ("Credit", "Ad") for text in Page.parse(URL, html).nodes.texts]
        assert ("a.png" in str(blocks_of(html, noise))) is belongs


def test_what_stands_in_for_a_picture_is_none() -> None:
    assert blocks_of("<p>One<img src=grey-placeholder.png>") == blocks_of("<p>One")
    assert "loading-dock.png" in str(blocks_of("<p>One<img src=loading-dock.png alt='The dock'>"))


def test_a_caption_is_tied_to_its_picture() -> None:
    html = "<p>One</p><figure><a href=/big><img src=p.png alt=Alt></a><figcaption>A <b>c</b></figcaption></figure>"
    picture = Picture(f"{URL}p.png", "Alt", "https://example.com/big", [Text("A "), Text("c", "strong")])
    assert blocks_of(html)[1] == picture
    assert written(html) == ("One\n\n[![Alt](https://example.com/d/p.png)](https://example.com/big)\\\nA **c**")
    assert "<figcaption>A <strong>c</strong></figcaption></figure>" in written(html, "html")


def test_links_and_pictures_can_be_left_out() -> None:
    html = "<p>One <a href=/2>two</a> <img src=p.png></p><iframe src=https://www.youtube.com/embed/abcdefghijk></iframe>"
    assert written(html, links="leave", pictures="leave") == "One two"
    assert "](https://example.com/2)" in written(html, pictures="leave")


@pytest.mark.parametrize(
    ("html", "address"),
    [
        (
            "<iframe src=//www.youtube.com/embed/abcdefghijk?x=1></iframe>",
            "https://www.youtube.com/watch?v=abcdefghijk",
        ),
        (
            "<iframe src='https://platform.twitter.com/embed/Tweet.html?id=16'></iframe>",
            "https://x.com/i/status/16",
        ),
        ("<video><source src=/a.mp4></video>", "https://example.com/a.mp4"),
    ],
)
def test_embedded_videos_and_posts_are_links(html: str, address: str) -> None:
    assert blocks_of(html) == [Embed(address)]
    assert written(html) == f"<{address}>"
    assert "iframe" not in written(html, "html")


def test_frames_that_nobody_knows_are_left_out() -> None:
    assert blocks_of("<iframe src=https://ads.example/x></iframe><iframe srcdoc=x></iframe>") == []


@given(html_pages())
def test_references_show_the_same_as_links_with_their_addresses(html: str) -> None:
    kept, numbered = (written(html, links=links) for links in ("keep", "references"))
    assert READER.render(numbered) == READER.render(kept)


def test_the_address_of_links_stands_once_behind_markdown() -> None:
    html = "<p><a href=/a>One</a>, <a href=/a>again</a>! <a href=/b>Two</a>"
    assert written(html, links="references").splitlines() == [
        "[One][L1], [again][L1]! [Two][L2]",
        "",
        "[L1]: https://example.com/a",
        "[L2]: https://example.com/b",
    ]


THREAD_URL = "https://forum.example/topic/7"
TEXTS = ("Is the harbour open today?", "It is, until six. Bring a coat.", "Thanks. We went there by bus.")
WHO = ("Ann", "Bob_7", "C. Diaz")
SAID = "\n\n***\n\n".join(
    f"**{who}** · 2024-05-0{day}\n\n{text}" for day, (who, text) in enumerate(zip(WHO, TEXTS, strict=True), 2)
)
BUILDS = {
    "divisions": "<div><a class=user>{who}</a> <i>May {day}, 2024</i><div class=body>{text}</div></div>",
    "a list": "<li class=post><a class=user>{who}</a> <i>May {day}, 2024</i><div class=body>{text}</div></li>",
    "quotations": (
        "<div class=post><b class=user>{who}</b> <i>May {day}, 2024</i><div class=body>"
        "<blockquote class=text>{text}</blockquote></div></div>"
    ),
    "words beside": "<li><p><b>{who}</b> wrote on <i>May {day}, 2024</i></p><div class=body>{text}</div></li>",
    "a rule of its own": "<div class=post><a class=user>{who}</a> <i>May {day}, 2024</i><p>{text}</p></div><hr>",
}


def thread(build: str) -> str:
    posts = enumerate(zip(WHO, TEXTS, strict=True), 2)
    inner = "".join(BUILDS[build].format(who=who, day=day, text=text) for day, (who, text) in posts)
    return f"<h1>The harbour</h1><ol>{inner}</ol>"


def markdown(html: str, noise: list[bool] | None = None) -> str:
    page = Page.parse(THREAD_URL, html)
    return to_markdown(Builder(page, noise, posts=find_posts(page)).build())


@pytest.mark.parametrize(
    "build", [build for build in BUILDS if build not in ("words beside", "a rule of its own")]
)
def test_each_post_has_a_line_of_its_author_and_date_and_a_rule_before_it(build: str) -> None:
    assert markdown(thread(build)) == f"# The harbour\n\n{SAID}"


def test_a_line_of_author_and_date_is_not_said_again() -> None:
    assert "wrote on" not in markdown(thread("words beside"))


def test_a_rule_of_the_page_between_posts_is_not_written_twice() -> None:
    assert "***\n\n***" not in markdown(thread("a rule of its own"))


def test_a_post_that_is_noise_has_no_line() -> None:
    page = Page.parse(THREAD_URL, thread("divisions"))
    last = page.once(find_posts)[-1].own
    noise = [index in last for index in range(len(page.nodes))]
    assert "C. Diaz" not in markdown(thread("divisions"), noise)


def test_text_that_says_itself_who_wrote_it_has_no_line_above() -> None:
    comment = "<li class=comment>{} – <a class=user>{}</a> <i>May {}, 2024</i></li>"
    posts = zip(TEXTS, WHO, (2, 3, 4), strict=True)
    html = "".join(comment.format(*post) for post in posts)
    assert "· 2024" not in markdown(f"<ul>{html}</ul>")
    assert markdown(f"<ul>{html}</ul>").count("Bob_7") == 1


def quotes(control: str) -> list[Block]:
    return Builder(
        Page.parse(THREAD_URL, f"<blockquote><p>It was late.</p>{control}</blockquote><p>So it was.")
    ).build()


@pytest.mark.parametrize(
    "control",
    [
        "<div class=quoteExpand>Click to expand...</div>",
        "<div><a role=button tabindex=0>Zum Vergrößern anklicken</a></div>",
        "<p><button>Mehr</button></p>",
    ],
)
def test_what_opens_a_quotation_is_no_word_of_it(control: str) -> None:
    assert quotes(control) == quotes("")
    assert quotes("<p>We <a href=/home>went home</a>.</p>") != quotes("")


def test_words_that_end_several_quotations_are_a_control() -> None:
    quote = "<blockquote><p>Quotation number {}.</p><p>Show all</p></blockquote><p>Answer.</p>"
    assert "Show all" not in markdown("".join(quote.format(number) for number in range(3)))


def test_comments_of_readers_come_with_their_authors_where_they_are_wished() -> None:
    story = "<h1>The harbour is open</h1>" + "<p>Boats come and go all day, as they did last year in May.</p>" * 8
    comment = (
        "<li class=comment><a class=author>{}</a> <time>May {}, 2024</time><p>{} Then it rained all day.</p></li>"
    )
    comments = "".join(
        comment.format(who, day, text) for day, (who, text) in enumerate(zip(WHO, TEXTS, strict=True), 2)
    )
    pages = [(THREAD_URL, f"<article>{story}</article><ol id=comments>{comments}</ol>")]
    writing = Writing("markdown")
    [left] = denoise_pages(pages, writing=writing)
    [kept] = denoise_pages(pages, writing=writing, comments="keep")
    assert "rained" not in left.text
    assert kept.text.startswith(left.text)
    assert all(f"**{who}** · 2024-05-0" in kept.text for who in WHO)
    assert kept.text.count("rained") == len(WHO)
