from __future__ import annotations

from collections import Counter
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler.methods.fusion.blocks import Blocks, blocks_of
from denoise_crawler.methods.fusion.kinds import NO_KINDS
from denoise_crawler.methods.fusion.site_evidence import SiteEvidence
from denoise_crawler.methods.fusion.site_sums import OFTEN
from denoise_crawler.page import Page

URL = "https://a.example/{0}"
LINES = [
    "Follow us",
    "Updated on 3 May",
    "Updated on 9 May",
    "One",
    "Two",
    "Three",
    'Read more: <a href="/x">It</a>',
]


def page(number: int, lines: list[tuple[str, str]]) -> Page:
    html = "".join(f"<{tag}>{line}</{tag}>" for tag, line in lines)
    return Page.parse(URL.format(number), f"<p>Page {'x' * (number + 1)} differs</p>{html}")


def learned(pages: list[Page]) -> SiteEvidence:
    evidence = SiteEvidence(8)
    for one in pages:
        blocks = one.once(blocks_of)
        evidence.add(one.key, blocks, blocks.tokens, NO_KINDS)
    return evidence


def placed(blocks: Blocks) -> list[tuple[int, int]]:
    paths = blocks.around.paths[blocks.elements]
    return list(zip(paths.tolist(), blocks.shapes.tolist(), strict=True))


lines = st.lists(st.tuples(st.sampled_from(["p", "h2", "em"]), st.sampled_from(LINES)), max_size=5)


@given(pages=st.lists(lines, min_size=2, max_size=5), is_learned=st.booleans())
def test_what_stands_at_a_place_is_counted_over_all_pages_but_the_own(
    pages: list[list[tuple[str, str]]], *, is_learned: bool
) -> None:
    found = [page(number, one) for number, one in enumerate(pages)]
    own, others = found[0].once(blocks_of), [one.once(blocks_of) for one in found[1:]]
    standing = learned(found if is_learned else found[1:]).standing(found[0].key, own)
    assert standing is not None
    counts = Counter(pair for blocks in others for pair in set(placed(blocks)))
    for block, (path, shape) in enumerate(placed(own)):
        there = [count for (place, _), count in counts.items() if place == path]
        assert standing.places.shapes[block] == counts[path, shape]
        assert standing.places.held[block] == sum(there)
        assert standing.places.repeated[block] == sum(count for count in there if count >= OFTEN)
        again = sum(count * log(count) for count in there)
        most = sum(there) * log(sum(there)) if sum(there) > 1 else 1e-9
        assert standing.places.sameness[block] == pytest.approx(again / most)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Updated on 3 May", "Updated on 17 May"),
        ("Read more: <a href=/a>Nets are mended</a>", "Read more: <a href=/b>A ship came in</a>"),
    ],
)
def test_texts_of_one_shape_differ_by_numbers_or_by_the_link_at_their_end(one: str, other: str) -> None:
    shapes = [page(1, [("p", line)]).once(blocks_of).shapes[1] for line in (one, other, "Something else")]
    assert shapes[0] == shapes[1] != shapes[2]
