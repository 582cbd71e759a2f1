"""A style tree is stored as bytes, and nothing else is read as one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denoise_crawler import SiteStyleTree
from denoise_crawler.errors import TreeFormatError
from denoise_crawler.methods.style_tree import codec
from tests.methods.test_site_style_tree import OPTIONS, SITE, learned, page, tree_of


@given(SITE, OPTIONS)
def test_a_tree_comes_back_from_its_bytes(bodies: list[str], options: dict[str, object]) -> None:
    tree = learned([page(number, body) for number, body in enumerate(bodies)], options)
    back = SiteStyleTree.from_bytes(tree.to_bytes(), collapse=options["collapse"], data_node=options["data_node"])
    assert back.to_bytes() == tree.to_bytes()
    for number, body in enumerate(bodies):
        mine, theirs = tree.importances(page(number, body)), back.importances(page(number, body))
        assert [s.importance for s in mine] == pytest.approx([s.importance for s in theirs])


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: b"PK\x03\x04" + data,
        lambda data: data[:3] + b"\x09" + data[4:],
        lambda data: data[: len(data) // 2],
        lambda data: data[:20] + bytes([data[20] ^ 255]) + data[21:],
    ],
)
def test_bytes_that_are_no_tree_are_refused(damage) -> None:  # type: ignore[no-untyped-def]
    data = tree_of("<p>some text</p>", "<p>other text</p>").to_bytes()
    with pytest.raises(TreeFormatError):
        SiteStyleTree.from_bytes(damage(data))


def test_a_tree_with_limits_out_of_range_is_refused_and_takes_nothing_away() -> None:
    tree = tree_of("<p>some text</p>")
    with pytest.raises(TreeFormatError, match="below 1"):
        tree.merge_bytes(codec.encode(codec.Header(0, 64), [], []))
    with pytest.raises(TreeFormatError, match="more than 1,048,575 pages"):
        tree.merge_bytes(codec.encode(codec.Header(2**20, 64), [], []))
    assert tree.pages == 1


@settings(max_examples=200)
@given(st.binary(max_size=60))
def test_no_bytes_but_a_trees_are_read(data: bytes) -> None:
    with pytest.raises(TreeFormatError):
        SiteStyleTree.from_bytes(data)
