import pytest

from denoise_crawler.kernel.columns import PLACES, Blocks
from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.page import Page
from tests import roads

COMMENT = 1 << PLACES.index("comment")
TEXT = "<p>The pilots met in the old customs house and spoke of the tide for an hour.</p>"


def blocks(markup: str, title: str = "Tides") -> Blocks:
    html = f"<title>{title}</title>{markup}"
    return Page.parse("https://boats.example/", html).once(blocks_of)


def names_of(found: Blocks) -> list[str]:
    return [found.around.names[number] for number in found.around.named if number]


@pytest.fixture(params=roads.ROADS, autouse=True)
def road(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    roads.take(request.param, monkeypatch)


@pytest.mark.parametrize(
    "markup",
    [
        "<section id=results-discussion class=level2><h2>Results and discussion</h2>{}</section>",
        "<section id=discussion><h2>Discussion</h2>{}</section>",
        "<div class=section id=reply-to-the-pilots><span id=x></span><h2>A reply to the pilots</h2>{}</div>",
        "<div id=reviewing-and-replying><div><h3>Reviewing, replying</h3></div>{}</div>",
    ],
)
def test_an_id_made_from_a_heading_says_nothing(markup: str) -> None:
    found = blocks(markup.format(TEXT))
    assert not (found.around.places[found.elements] & COMMENT).any()
    assert not any("discussion" in name or "repl" in name for name in names_of(found))


@pytest.mark.parametrize(
    "markup",
    [
        "<div id=comments><h2>Comments</h2>{}</div>",
        "<section id=comments><h2>Comments (3)</h2>{}</section>",
        "<section id=comments-area><h2>What readers say</h2>{}</section>",
        "<section id=reader-comments><p>So:</p><h2>Reader comments</h2>{}</section>",
        "<section id=results class=comments><h2>Results</h2>{}</section>",
    ],
)
def test_a_name_that_no_heading_made_still_speaks(markup: str) -> None:
    found = blocks(markup.format(TEXT))
    assert found.around.places[found.elements[-1]] & COMMENT


def test_classes_of_the_body_made_from_the_title_say_nothing() -> None:
    title = "How to comment on code"
    found = blocks(f'<body class="single how-to-comment-on-code-7" id=comment-on-code>{TEXT}', title)
    assert names_of(found) == ["single"]
    assert names_of(blocks(f'<body class="single how-to-comment-on-code-7">{TEXT}')) == [
        "single how-to-comment-on-code-0"
    ]


def test_sections_with_ids_of_their_own_stand_in_one_place() -> None:
    found = blocks(
        "".join(f"<section id=the-{one}-tide><h2>The {one} tide</h2></section>" for one in ("low", "high"))
    )
    assert len(set(found.around.paths[found.elements].tolist())) == 1


def test_names_that_differ_in_their_numbers_alone_are_one() -> None:
    posts = "".join(f"<div id=post-{number} class=entry{number}>{TEXT}</div>" for number in (1, 208, "٣"))
    assert names_of(blocks(posts)) == ["entry0 post-0"] * 3
