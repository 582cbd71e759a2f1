"""The compiled judge makes of any columns what the reference makes of them, to the last bit."""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denoise_crawler import kernel
from denoise_crawler.kernel import columns as shared
from denoise_crawler.kernel import reference
from denoise_crawler.kernel.columns import Blocks, Elements, Parts, SiteStats, Sketch

if kernel.why_not() is not None:
    pytest.skip(f"nothing is compiled: {kernel.why_not()}", allow_module_level=True)
from denoise_crawler.kernel import judge

ROADS = judge, reference
SEEDS, SIZES = st.integers(0, 2**32 - 1), st.integers(0, 40)
# capitals whose small letters are several, of another length or depend on their place; signs that are no letters
LETTERS = "aAbBzZ09_ -.,:ßẞµÿŸσςΣİıKé\u0301東京都ー・Дж𝐀𐐀½٣²\ud800\0\u3000"
TEXTS = st.lists(st.text(LETTERS, max_size=40), max_size=8)
WORDS = st.lists(
    st.lists(st.sampled_from(["a", "B", "one", "東", "é", "-"]), max_size=9).map(" ".join), max_size=9
)


def same(one: Any, other: Any) -> bool:
    """Return True if two results are equal: the cells, kinds and shapes of arrays, and all parts."""
    if is_dataclass(one):
        parts = ([getattr(side, field.name) for field in fields(one)] for side in (one, other))
        return all(map(same, *parts))
    if isinstance(one, np.ndarray):
        equal = one.dtype == other.dtype and one.shape == other.shape
        return equal and bool(((one == other) | ((one != one) & (other != other))).all())
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def assert_same(name: str, *given: Any) -> Any:
    """Call a function of both roads and return what it gave."""
    found, expected = (getattr(road, name)(*given) for road in ROADS)
    assert same(found, expected), name
    return found


def elements_of(rng: np.random.Generator, size: int, count: int) -> Elements:
    """Return any elements; a few paths and names come back."""
    bounds = np.sort(rng.integers(0, count + 1, (2, size)), axis=0)
    names = ["", "post", "Comments item-7", "nav main", "x" * 50]
    return Elements(
        nodes=np.arange(size),
        parents=np.array([-1, *(int(rng.integers(0, at)) for at in range(1, size))], np.int64),
        first=bounds[0],
        last=bounds[1],
        places=rng.integers(0, 1 << len(shared.PLACES), size),
        tags=rng.integers(0, len(shared.TAGS), size),
        names=names,
        named=rng.integers(0, len(names), size),
        paths=rng.integers(0, 6, size).astype(np.uint32),
        depths=rng.integers(0, 30, size),
    )


def blocks_of(seed: int, count: int, texts: Sequence[str] | None = None) -> Blocks:
    """Return any blocks in any elements."""
    rng = np.random.default_rng(seed)
    around = elements_of(rng, int(rng.integers(1, 30)), count)
    characters = rng.choice([1, 2, 20, 39, 40, 79, 100, 500], count).astype(float)
    linked = np.floor(characters * rng.choice([0, 0, 0.3, 0.5, 1], count))
    hashes = [rng.integers(0, 2 + count // 2, count).astype(np.uint32) for _ in range(5)]
    return Blocks(
        texts=rng.choice(["A title", "the end:", "…", "12 €"], count).tolist() if texts is None else list(texts),
        starts=np.arange(1, count + 1),
        ends=np.arange(2, count + 2),
        elements=rng.integers(0, len(around), count),
        characters=characters,
        linked=linked,
        tokens=np.ceil(characters / rng.integers(1, 8, count)),
        commas=rng.integers(0, 4, count).astype(float),
        closed=rng.integers(0, 2, count).astype(float),
        text_hashes=hashes[0],
        masked_hashes=hashes[1],
        link_hashes=hashes[2],
        styles=hashes[3],
        shapes=hashes[4],
        around=around,
    )


def site_stats_of(rng: np.random.Generator, blocks: Blocks) -> SiteStats:
    """Return what any site may say of a page."""
    by_element = {"path_pages", "path_elements", "path_characters", "path_linked", "path_repeated"}
    columns = {
        field.name: rng.integers(0, 9, len(blocks.around if field.name in by_element else blocks)).astype(float)
        for field in fields(SiteStats)
    }
    columns["style_scores"] = rng.normal(size=len(blocks))
    return SiteStats(**columns | {"pages": int(rng.integers(1, 30))})


def trees_of(rng: np.random.Generator, features: int) -> tuple[np.ndarray, ...]:
    """Return the arrays of trees whose tests rule out any leaves."""
    size = int(rng.integers(1, 40)), int(rng.integers(1, 32))
    return (
        rng.integers(0, features, size).astype(np.int32),
        rng.choice([-1, 0, 0.5, 1, 5, np.inf], size).astype(np.float32),
        rng.integers(0, 2**32, size, np.uint32) & rng.integers(0, 2**32, size, np.uint32),
        rng.normal(size=(size[0], shared.MAX_LEAVES)),
    )


def parts_of(rng: np.random.Generator, count: int) -> Parts:
    """Return parts of a page: none of them overlaps another of its kind, but sections."""
    borders = np.unique(rng.integers(0, count + 1, int(rng.integers(0, 9))))
    pairs = np.stack([borders[:-1], borders[1:]], axis=1)
    ends = np.maximum(rng.integers(0, count + 1, len(pairs)), pairs[:, 1])
    kinds = rng.integers(0, len(shared.UNITS), len(pairs))
    return Parts(
        units=np.column_stack([kinds, pairs]).astype(np.int64),
        lists=pairs[::2].copy(),
        headings=np.column_stack([pairs, ends]).astype(np.int64)[1::2].copy(),
        silent=np.flatnonzero(rng.random(count) < 0.2),
    )


@settings(deadline=None)
@given(SEEDS, SIZES, st.text(LETTERS, max_size=30), st.text(LETTERS, max_size=30))
def test_any_page_has_the_same_features(seed: int, count: int, title: str, description: str) -> None:
    rng, blocks = np.random.default_rng(seed), blocks_of(seed, count)
    headline = assert_same("headline_of", [title, "A title", "The 12 €"][seed % 3], blocks)
    named = rng.choice([0.0, -0.5, 2.25], len(blocks.around))
    declared = rng.random((4, rng.choice([1, count]) if count else 1)).astype(np.float32)
    said = headline, description, named, rng.normal(size=len(shared.KINDS)), rng.random(count), declared
    of_page = assert_same("page_table", blocks, *said)
    assert_same("lines_around_text", blocks)
    for site_stats in (None, site_stats_of(rng, blocks)):
        table = assert_same("look_at", blocks, of_page, site_stats, (1.0, 0.0), None)
        trees = trees_of(rng, len(table))
        looked = [road.look_at(blocks, of_page, site_stats, (1.0, 0.0), road.Trees(*trees)) for road in ROADS]
        assert same(*looked)


@settings(deadline=None)
@given(SEEDS, st.integers(0, 1_300))
def test_any_trees_give_any_table_the_same_scores(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    trees, table = trees_of(rng, 5), (4 * rng.normal(size=(5, count))).astype(np.float32)
    found, expected = (road.Trees(*trees) for road in ROADS)
    assert same(found.scores(table), expected.scores(table))


@settings(deadline=None)
@given(SEEDS, SIZES, st.sampled_from([0.0, -0.5, 1.6]), st.booleans(), st.booleans())
def test_of_any_chances_the_same_blocks_are_taken(
    seed: int, count: int, shift: float, wished: bool, repeating: bool
) -> None:
    rng, blocks = np.random.default_rng(seed), blocks_of(seed, count)
    scores, wanted, parts = rng.normal(size=count).round(1) * 4, rng.random(count) < 0.1, parts_of(rng, count)
    title = int(rng.integers(-1, count)) if count else -1
    for site_stats in (None, site_stats_of(rng, blocks)):
        asked = scores, site_stats, parts, wanted, -0.5, wished, title, shift, repeating
        choice = assert_same("decide", blocks, *asked)
        own = assert_same("content_chances", scores, site_stats, -0.5, title, wished)
        chances = reference.joint_chances(own, blocks.tokens, parts.units, parts.silent)
        assert np.allclose(chances, chances_by_formula(own, blocks.tokens, parts))
        likely, *rest = assert_same("most_f1", chances, blocks.tokens, shift)
        steps = assert_same("take", blocks, parts, likely, wanted, chances, title, repeating)
        assert same(tuple(choice), (own, chances, likely, *steps, rest[1], rest[0]))
    columns = SimpleNamespace(parents=np.array([-1, *([0] * count)], np.int32))
    nodes = SimpleNamespace(columns=columns, texts=["", *blocks.texts])
    assert_same("verdicts", nodes, blocks, choice.taken, choice.chances)


def chances_by_formula(own: np.ndarray, tokens: np.ndarray, parts: Parts) -> np.ndarray:
    """Return the chances of units by the formula of docs/how-it-decides.md: both roads call one function."""
    joint, speaking = own.copy(), np.setdiff1d(np.arange(len(own)), parts.silent)
    counted = np.minimum(tokens, shared.MOST_UNIT_TOKENS) + 1.0

    def log_odds(blocks: np.ndarray, weights: np.ndarray) -> float:
        if not weights[blocks].sum() > 0.0:
            return 0.0
        chance = np.average(own[blocks], weights=weights[blocks]).clip(1.0 - shared.SUREST, shared.SUREST)
        return float(np.log(chance / (1.0 - chance)))

    for kind, first, last in parts.units.tolist():
        inside = speaking[(speaking >= first) & (speaking < last)]
        if shared.UNITS[kind] == shared.DEFINITIONS:
            heard = inside if tokens[inside].sum() > 0.0 else np.arange(first, last)
            weights = tokens if tokens[inside].sum() > 0.0 else np.ones(len(own))
            joint[first:last] = np.average(own[heard], weights=weights[heard]) if last > first else 0.0
            continue
        odds = shared.OF_TABLES if shared.UNITS[kind] == shared.TABLE else shared.OF_OTHERS
        odds += shared.OF_OWN * log_odds(inside, tokens)
        odds += shared.OF_BEFORE * log_odds(speaking[speaking < first][-shared.AROUND :], counted)
        odds += shared.OF_AFTER * log_odds(speaking[speaking >= last][: shared.AROUND], counted)
        joint[first:last] = 1.0 / (1.0 + np.exp(-odds))
    return joint


@settings(deadline=None)
@given(WORDS, WORDS, st.data())
def test_any_declared_texts_agree_as_much_with_any_blocks(
    shown: list[str], declared: list[str], data: st.DataObject
) -> None:
    blocks = blocks_of(data.draw(SEEDS), len(shown), shown)
    chosen = data.draw(st.lists(st.integers(0, 6), min_size=len(declared), max_size=len(declared)))
    blocks.around = in_order(blocks)
    assert_same("agreement", blocks, declared, chosen, 7, 0b100010)


def in_order(blocks: Blocks) -> Elements:
    return replace(blocks.around, last=np.maximum(blocks.around.first, blocks.around.last))


@settings(deadline=None)
@given(TEXTS, st.text(LETTERS, max_size=60))
def test_any_texts_resemble_any_title_and_description_as_much(texts: list[str], said: str) -> None:
    blocks = blocks_of(len(said), len(texts), texts)
    blocks.characters = np.array([len("".join(text.split())) for text in texts], float)
    assert_same("headline_of", said, blocks)
    equal = [(words[:, None] == words).tolist() for words in (road.word_hashes(texts)[0] for road in ROADS)]
    assert equal[0] == equal[1]
    assert same(judge.word_hashes(texts)[1], reference.word_hashes(texts)[1])


def sketches_of(seed: int, pages: int) -> list[Sketch]:
    """Return any pages of a site, few of whose hashes are no other's."""
    rng, found = np.random.default_rng(seed), []
    for key in range(pages):
        paths = rng.permutation(9)[: int(rng.integers(1, 9))].astype(np.uint32)
        count = int(rng.integers(0, 9))
        parents = np.array([-1, *(int(rng.integers(0, at)) for at in range(1, len(paths)))], np.int32)
        characters = rng.choice(np.array([3, 50, 300], np.int32), count)
        distinct = [np.unique(rng.integers(0, 12, count)).astype(np.uint32) for _ in range(3)]
        found.append(
            Sketch(
                key=key,
                paths=paths,
                parents=parents,
                elements=rng.integers(1, 5, len(paths), np.int32),
                homes=rng.integers(0, len(paths), count, np.int32),
                texts=rng.integers(0, 12, count).astype(np.uint32),
                characters=characters,
                linked=characters // rng.integers(1, 5, count, np.int32),
                shapes=rng.integers(0, 4, count).astype(np.uint32),
                masked=distinct[0],
                links=distinct[1],
                styles=distinct[2],
                style_tokens=rng.integers(0, 90, len(distinct[2]), np.int32),
                style_scores=rng.integers(-900, 900, len(distinct[2]), np.int32),
            )
        )
    return found


@settings(deadline=None)
@given(SEEDS, SIZES, st.lists(st.integers(0, 11), max_size=30))
def test_any_pages_that_come_and_go_say_the_same(seed: int, count: int, changed: list[int]) -> None:
    blocks, sketches = blocks_of(seed, count), sketches_of(seed, 12)
    found, expected = judge.SiteSums(), reference.SiteSums()
    for key in changed:
        for sums in (found, expected):
            if key in sums:
                sums.remove(key)
            else:
                sums.add(sketches[key])
        assert (len(found), key in found, found.repeated) == (len(expected), key in expected, expected.repeated)
        assert found.novelty(blocks) == expected.novelty(blocks)
        for own in (None, key if key in found and len(found) > 1 else None):
            if len(found):
                assert same(found.site_stats_for(blocks, own), expected.site_stats_for(blocks, own))
