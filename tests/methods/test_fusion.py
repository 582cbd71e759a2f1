import json
import random
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from denoise_crawler import kernel
from denoise_crawler.errors import WeightsError
from denoise_crawler.kernel.columns import Blocks
from denoise_crawler.methods import MethodChoice
from denoise_crawler.methods.fusion.blocks import blocks_of, parts_of
from denoise_crawler.methods.fusion.features import BLOCK_NAMES, LOCAL_NAMES, Look, Preferences, Words
from denoise_crawler.methods.fusion.markup_words import ClassWords, KindWords
from denoise_crawler.methods.fusion.record_blocks import field_reason, record_fields
from denoise_crawler.methods.fusion.site_evidence import SiteEvidence
from denoise_crawler.methods.fusion.weights import (
    Model,
    Weights,
    WrittenForest,
    read_weights,
    shipped_model,
    write_weights,
)
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import TEXT, Page
from denoise_crawler.page.text import collapse_spaces
from tests.strategies import html_pages


def page(number: int, html: str) -> Page:
    return Page.parse(f"https://example.com/{number}", html)


def blocks(html: str) -> Blocks:
    return blocks_of(page(0, html))


def fields_of(look: Look) -> list[int]:
    fields = record_fields(look)
    assert fields is not None
    found: list[int] = np.flatnonzero(fields).tolist()
    return found


def learn(evidence: SiteEvidence, key: int, found: Blocks) -> None:
    """Learn a page of which each block has a score of its own."""
    evidence.add(key, found, np.linspace(-9.0, 9.0, len(found)))


SHOP = """<html><body><ul class="nav"><li><a href="/">Home</a></li><li><a href="/new">New</a></li></ul>
<h1>{title}</h1><div class="price">${price}</div><div class="maker">Made by {maker}</div>
<p>Availability: order within {number} hours and this sturdy little thing leaves our warehouse today.</p>
<div class="foot">All rights reserved</div></body></html>"""
LONG = "<p>The ferry ran aground on the sandbank off the point.</p>"
THINGS = ["Kettle", "Lantern", "Whistle", "Compass", "Hammock", "Anvil", "Bellows"]
MAKERS = ["Orr", "Vane", "Quill", "Marl", "Tarn", "Fell", "Wick"]
SHOP_PAGES = [
    SHOP.format(title=f"{thing} de luxe", price=f"{12 + 7 * number}.50", maker=maker, number=3 + number)
    for number, (thing, maker) in enumerate(zip(THINGS, MAKERS, strict=True))
]


class TestBlocks:
    def test_a_block_is_one_line_of_the_clean_text(self) -> None:
        html = "<div>One <b>and</b> more<p>Two</p>three<br>four</div>"
        assert (
            blocks(html).texts == clean_text(page(0, html)).split("\n") == ["One and more", "Two", "three", "four"]
        )

    @given(html=html_pages())
    def test_blocks_hold_all_text_once_and_elements_hold_their_blocks(self, html: str) -> None:
        one = page(0, html)
        found = blocks_of(one)
        texts = [
            index
            for index, tag in enumerate(one.nodes.tags)
            if tag is TEXT and collapse_spaces(one.nodes.texts[index])
        ]
        assert {*chain(*map(range, found.starts, found.ends))} >= set(texts)
        assert len(found.texts) == len(found.elements) == len(found.link_hashes)
        around = found.around
        for element, parent in enumerate(around.parents.tolist()):
            assert parent < element
            if parent >= 0:
                assert around.first[parent] <= around.first[element] <= around.last[element] <= around.last[parent]
        home = found.elements
        order = np.arange(len(found))
        assert ((around.first[home] <= order) & (order < around.last[home])).all()


class TestSiteEvidence:
    def test_a_page_is_told_what_the_others_have_and_not_what_it_has_itself(self) -> None:
        evidence = SiteEvidence(128)
        pages = [
            page(number, f"<p class=a>Same</p><p class=b>Only {name}</p>") for number, name in enumerate("xyz")
        ]
        for one in pages:
            learn(evidence, one.key, blocks_of(one))
        site_stats = evidence.site_stats_for(pages[0].key, blocks_of(pages[0]))
        assert site_stats is not None
        assert site_stats.pages == 2
        assert site_stats.texts.tolist() == [2, 0]
        stranger = page(9, "<p class=a>Same</p>")
        site_stats = evidence.site_stats_for(stranger.key, blocks_of(stranger))
        assert site_stats is not None
        assert site_stats.pages == site_stats.texts[0] == 3

    def test_nothing_is_said_without_other_pages(self) -> None:
        evidence, one = SiteEvidence(128), page(1, "<p>x</p>")
        learn(evidence, one.key, blocks_of(one))
        assert evidence.site_stats_for(one.key, blocks_of(one)) is None


def shipped_weights() -> Weights:
    return read_weights((Path(__file__).parents[2] / "denoise_crawler/methods/fusion/weights.json").read_bytes())


class TestTrees:
    def test_weights_come_back_from_their_file_and_other_files_are_refused(self) -> None:
        weights = shipped_weights()
        assert read_weights(write_weights(weights)) == weights
        assert set(weights.first_look.features) <= set(LOCAL_NAMES)
        assert set(weights.second_look.features) <= set(BLOCK_NAMES)
        with pytest.raises(WeightsError, match="no file of weights"):
            read_weights(b"{}")
        with pytest.raises(WeightsError, match="version 9"):
            Model(read_weights(json.dumps({**json.loads(write_weights(weights)), "version": 9}).encode()))

    def test_what_features_add_makes_up_each_score_but_for_a_constant(self) -> None:
        forest = shipped_model().forests.second
        table = np.random.default_rng(7).normal(size=(len(BLOCK_NAMES), 20)).astype(np.float32)
        added = [forest.contributions(row).sum() for row in table.T]
        assert np.ptp(forest.in_kernel.scores(table) - added) < 1e-9


def most_f1(
    chances: NDArray[np.float64], tokens: NDArray[np.float64], shift: float = 0.0
) -> tuple[Any, float, float]:
    found: tuple[Any, float, float] = kernel.active.most_f1(chances, tokens, shift)
    return found


class TestSelection:
    def test_the_expected_f1_is_that_of_the_blocks_taken_and_the_confidence_what_was_found_there(self) -> None:
        tokens = np.array([100.0, 100.0])
        taken, expected, lowest = most_f1(np.array([0.9, 0.1]), tokens)
        assert (taken.tolist(), expected, lowest) == ([True, False], pytest.approx(180 / 200), 0.9)
        taken, expected, lowest = most_f1(np.array([0.9, 0.6]), tokens)
        assert (taken.tolist(), expected, lowest) == ([True, True], pytest.approx(300 / 350), 0.6)
        assert most_f1(tokens[:0], tokens[:0])[1:] == (1.0, 1.0)
        model = Model(msgspec.structs.replace(shipped_weights(), confidence=[[0.5, 0.4], [0.9, 0.8]]))
        assert [model.confidence(expected) for expected in (0.0, 0.5, 0.9, 1.0)] == [0.0, 0.4, 0.8, 0.8]

    @given(
        chances=st.lists(st.floats(0, 1), min_size=1),
        certain=st.lists(st.sampled_from([0.0, 1.0]), min_size=1),
        shift=st.floats(-2, 2),
    )
    def test_a_shift_keeps_the_order_of_chances_and_what_is_certain(
        self, chances: list[float], certain: list[float], shift: float
    ) -> None:
        found, tokens = np.array(chances), np.full(len(chances), 9.0)
        taken, _, lowest = most_f1(found, tokens, shift)
        assert lowest == found[taken].min()
        assert not (found[~taken] > lowest + 1e-12).any()
        sure, tokens = np.array(certain), np.full(len(certain), 9.0)
        assert most_f1(sure, tokens, shift)[0].tolist() == most_f1(sure, tokens)[0].tolist()

    @pytest.mark.parametrize(
        ("text", "inside", "times"),
        [
            ("{text}{text}", LONG, 2),
            ("<div>{text}</div><section>{text}</section>", LONG, 1),
            ("<div>{text}</div><section>{text}</section>", "<p>So short.</p>", 2),
            ("{text}{text}<aside>{text}</aside>{text}", LONG, 3),
        ],
    )
    def test_a_long_text_is_taken_once_but_for_a_refrain_and_a_short_one_as_often_as_it_stands_there(
        self, text: str, inside: str, times: int
    ) -> None:
        one = page(0, text.format(text=inside))
        found = blocks_of(one)
        every, none = np.ones(len(found), bool), np.zeros(len(found), bool)
        given = found, parts_of(one), every, none, np.ones(len(found))
        assert int(kernel.active.take(*given, repeating=False)[-1].sum()) == times
        assert kernel.active.take(*given)[-1].all()


def test_the_fields_of_a_shop_are_kept_and_its_furniture_goes() -> None:
    method = MethodChoice("fusion").new()
    pages = [page(number, html) for number, html in enumerate(SHOP_PAGES)]
    for one in pages:
        method.observe(one)
    judgement = method.judge(pages[0])
    text = clean_text(pages[0], judgement.noise)
    assert all(value in text for value in ("Kettle de luxe", "$12.50", "Made by Orr"))
    assert "Home" not in text
    assert "All rights reserved" not in text
    found = blocks_of(pages[0])
    site_stats = method.evidence.site_stats_for(pages[0].key, found)  # type: ignore[attr-defined]
    look = Look.of(pages[0], Words.none(), site_stats=site_stats)
    fields = fields_of(look)
    assert [found.texts[block] for block in fields] == ["Kettle de luxe", "$12.50", "Made by Orr"]
    assert "6 of 6 others have" in field_reason(look, fields[2])


def test_a_field_is_one_by_its_place_though_a_third_of_the_pages_share_a_value() -> None:
    makers = ["Orr", "Orr", "Orr", "Vane", "Quill", "Marl", "Tarn", "Fell", "Wick"]
    evidence, pages = SiteEvidence(16), []
    for number, maker in enumerate(makers):
        title, price = f"{maker} thing {number} de luxe", f"{12 + 7 * number}.50"
        pages.append(page(number, SHOP.format(title=title, price=price, maker=maker, number=number)))
        learn(evidence, pages[-1].key, blocks_of(pages[-1]))
    found = blocks_of(pages[0])
    site_stats = evidence.site_stats_for(pages[0].key, found)
    fields = fields_of(Look.of(pages[0], Words.none(), site_stats=site_stats))
    assert "Made by Orr" in [found.texts[block] for block in fields]


def test_a_line_that_quotes_the_heading_on_every_page_is_no_field() -> None:
    evidence, pages = SiteEvidence(16), []
    for number, html in enumerate(SHOP_PAGES):
        title = html.split("<h1>")[1].split("</h1>")[0]
        quoting = f"<p>Read all questions and answers about {title} here</p></body>"
        pages.append(page(number, html.replace("</body>", quoting) if "</body>" in html else html + quoting))
        learn(evidence, pages[-1].key, blocks_of(pages[-1]))
    found = blocks_of(pages[0])
    fields = fields_of(Look.of(pages[0], Words.none(), site_stats=evidence.site_stats_for(pages[0].key, found)))
    assert [found.texts[block] for block in fields] == ["Kettle de luxe", "$12.50", "Made by Orr"]


def test_a_site_without_prices_has_no_fields() -> None:
    evidence = SiteEvidence(8)
    for number, html in enumerate(SHOP_PAGES):
        learn(evidence, number, blocks(html.replace("$", "No. ")))
    one = page(0, SHOP_PAGES[0].replace("$", "No. "))
    site_stats = evidence.site_stats_for(0, blocks_of(one))
    assert record_fields(Look.of(one, Words.none(), site_stats=site_stats)) is None


@given(html=html_pages())
def test_every_feature_is_a_finite_number_for_each_block(html: str) -> None:
    one = page(0, html)
    evidence = SiteEvidence(4)
    learn(evidence, 1, blocks_of(one))
    found = blocks_of(one)
    for site_stats in (None, evidence.site_stats_for(0, found)):
        alone = Look.of(one, Words(ClassWords({"nav": -1.0}), KindWords({})), shipped_model().forests)
        table = alone.knowing(site_stats, Preferences().columns).table
        assert table.shape == (len(found), len(BLOCK_NAMES))
        assert np.isfinite(table).all()


def test_weights_know_features_by_name_and_one_that_no_release_makes_is_named() -> None:
    weights, one = shipped_weights(), page(0, "<h1>Title</h1><p>Some words, and a few more of them.</p>")
    names, trees = weights.second_look.features, weights.second_look.trees
    backwards = [
        msgspec.structs.replace(tree, features=[len(names) - 1 - one for one in tree.features]) for tree in trees
    ]
    other = msgspec.structs.replace(weights, second_look=WrittenForest(names[::-1], backwards))
    model, same = Model(weights), Model(other)
    assert model.alone(one).scores.tolist() == same.alone(one).scores.tolist()
    unknown = msgspec.structs.replace(weights, second_look=WrittenForest([*names, "another"], trees))
    with pytest.raises(WeightsError, match="does not make: another"):
        Model(unknown)


def test_the_title_stays_though_other_pages_list_it() -> None:
    story = "The ferry ran aground on the sandbank off the point, and its forty passengers came ashore by night."
    links = "".join(f"<li><a href=/{n}>Ferry number {n} aground</a>" for n in range(6))
    method, title = MethodChoice("fusion").new(), "Ferry number {} aground"
    pages = [
        page(n, f"<title>{title.format(n)}</title><h1>{title.format(n)}</h1><p>{story} {n}<ul>{links}</ul>")
        for n in range(6)
    ]
    for one in pages:
        method.observe(one)
    for one in pages:
        assert not method.judge(one).noise[one.nodes.tags.index("h1")]


NOTICE = (
    "The views given here are the author's own, and the harbour news takes no part in them; readers judge alone."
)


def test_a_notice_of_all_short_articles_goes_but_not_one_below_a_heading_of_the_document() -> None:
    kept = []
    for notice in (f"<p>{NOTICE}</p>", f"<h2>Procedure</h2><p>{NOTICE}</p>"):
        method = MethodChoice("fusion").new()
        pages = [
            page(
                n,
                f"<title>Ferry {n} aground</title><div class=top><a href=/>Home</a></div><div class=main>"
                f"<h1>Ferry {n} aground</h1><p>The {n} passengers of {name} came ashore by night, all wet.</p>"
                f"<p>On {name} they had {n + 3} lamps, none of which burnt longer than an hour.</p>{notice}</div>",
            )
            for n, name in enumerate(("Tern", "Gull", "Auk", "Heron", "Skua", "Plover", "Dunlin"))
        ]
        for one in pages:
            method.observe(one)
        kept.append([NOTICE in clean_text(one, method.judge(one).noise) for one in pages])
    assert kept == [[False] * 7, [True] * 7]


@pytest.mark.parametrize("label", ["<h2>{}</h2>", "<p><b>{}</b></p>"])
def test_labels_that_all_documents_have_between_their_own_texts_stay_with_what_is_below(label: str) -> None:
    method, same = MethodChoice("fusion").new(), ["Procedure", "Two thirds of the members", "Entry", NOTICE]
    text = "<p>The {0} of the harbour extends what the council {1} near the weir since {1}, as the {0} asked.</p>"
    note, basis, procedure, entry = map(label.format, ("Note", "Basis", same[0], same[2]))
    pages = [
        page(
            n,
            f"<title>On the {name}</title><div><a href=/>All</a></div><div><h1>On the {name}</h1>{note}"
            f"{text.format(name, 1900 + n) * 2}{basis}{text.format(name, 1800 + n)}"
            f"{procedure}<p>{same[1]}</p>{entry}<p>{same[3]}</p></div>",
        )
        for n, name in enumerate(("lock", "mill", "toll", "quay", "ford", "pier"))
    ]
    for one in pages:
        method.observe(one)
    for one in pages:
        assert clean_text(one, method.judge(one).noise).splitlines()[-4:] == same


@pytest.mark.parametrize(("box", "stays"), [("{}", True), ("<a href=/1>{}</a>", False)])
def test_prose_in_a_box_behind_the_last_paragraph_stays_if_it_is_no_link(box: str, *, stays: bool) -> None:
    story = (
        "<p>The ferry ran aground on the sandbank off the point, and its {} passengers came ashore by night.</p>"
    )
    facts = box.format("The pier is 41 metres long and was finished by the widow of its builder in 1874.")
    html = f"<h1>A pier is mended</h1><div>{''.join(map(story.format, range(40, 46)))}<section><h3>In numbers</h3>"
    one = page(0, f"<title>A pier is mended</title><a href=/>Home</a>{html}<p>{facts}</p></section></div>")
    assert ("41 metres" in clean_text(one, MethodChoice("fusion").new().judge(one).noise)) == stays


def test_a_clear_story_is_surer_than_a_page_of_scraps() -> None:
    story = (
        "<h1>The ferry ran aground</h1>"
        + "<p>The crew and all passengers left it over a ladder before noon.</p>" * 2
    )
    paragraphs = "".join(
        f"<p>Paragraph {n} tells in some length of what the harbour master said of it.</p>" for n in range(9)
    )
    scraps = "".join(f"<div><a href=/{n}>Offer {n}</a> now {n}.99 or later</div>" for n in range(40))
    method = MethodChoice("fusion").new()
    clear, unclear = (
        method.judge(page(n, html)).confidence for n, html in enumerate((story + paragraphs, scraps))
    )
    assert clear is not None
    assert unclear is not None
    assert 0 <= unclear < clear <= 1


NOUNS = [
    "river",
    "harbour",
    "winter",
    "market",
    "engine",
    "letter",
    "garden",
    "signal",
    "copper",
    "window",
    "thread",
]


def guide(number: int) -> Page:
    """Return a page of six sections behind a table of their headings."""
    chance = random.Random(number)

    def words(count: int) -> str:
        return " ".join(chance.choices(NOUNS, k=count)).capitalize()

    title, headings = words(4), [words(3 * chance.randint(1, 3)) for _ in range(6)]
    entries = "".join(f'<li><a href="#{at}"><span>1.{at}</span> {one}</a>' for at, one in enumerate(headings))
    sections = "".join(
        f'<h2 id="{at}">{one}</h2><p>{words(25)}. {words(20)}, {words(9)}.<pre>{words(4)}\n{words(5)}</pre>'
        for at, one in enumerate(headings)
    )
    contents = f'<div class="sidebar"><ol class="post-toc">{entries}</ol></div>'
    return page(number, f"<title>{title}</title><article><h1>{title}</h1>{contents}{sections}</article>")


def test_a_known_site_keeps_no_entry_of_a_table_of_contents_that_the_page_alone_leaves_out() -> None:
    pages = [guide(number) for number in range(12)]
    alone, known = MethodChoice("fusion").new(), MethodChoice("fusion").new()
    for one in pages:
        known.observe(one)
    for one in pages:
        entries = [index for index in range(len(one.nodes)) if one.nodes.link_of(index) >= 0]
        by_site, by_page = (method.judge(one).noise for method in (known, alone))
        assert len(entries) >= 12
        assert all(by_site[index] >= by_page[index] for index in entries)
