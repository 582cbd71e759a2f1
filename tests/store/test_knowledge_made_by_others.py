"""What is known of a site, as bytes that others made: refused with a ValueError, or no page fails by it."""

import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler.methods import Method, MethodChoice
from denoise_crawler.page import MAX_ELEMENTS, Page
from tests.faults.shared_files import evidence, numbers

HTML = (
    "<body><ul><li><a href=/>Home</a><li>News</ul><div class=story><h1>Title</h1><p>Story {} of today.</p></div>"
)
PAGES = [Page.parse(f"https://a.example/{number}", HTML.format(number)) for number in range(6)]
METHODS = ("fusion", "style_tree", "feature_tree")
ODD = st.one_of(
    st.integers(-(1 << 63), (1 << 64) - 1),
    st.binary(max_size=24),
    st.text(max_size=4),
    st.none(),
    st.just([]),
    st.integers(0, 40).map(lambda size: numbers(range(size))),
)


def learned(name: str) -> bytes:
    method = MethodChoice(name).new()
    for page in PAGES[:4]:
        method.observe(page)
    return method.to_bytes()


LEARNED = {name: learned(name) for name in METHODS}


def use(method: Method) -> None:
    """Do with what is known all that a crawl does."""
    for page in PAGES:
        method.novelty(page)
        method.judge(page)
        method.observe(page)
    other = MethodChoice(method.name).new()
    other.merge_bytes(method.to_bytes())
    other.merge(method)


def changed(value: Any, data: st.DataObject) -> Any:
    """Return ``value`` with one thing in it changed: a number of a column, or a part of a list."""
    if isinstance(value, list) and value and data.draw(st.integers(0, 9)):
        place = data.draw(st.integers(0, len(value) - 1))
        return [*value[:place], changed(value[place], data), *value[place + 1 :]]
    if isinstance(value, list) and value:
        place = data.draw(st.integers(0, len(value) - 1))
        return value[:place] + data.draw(st.sampled_from(([], [value[place]] * 2))) + value[place + 1 :]
    if isinstance(value, bytes) and len(value) >= 4 and data.draw(st.integers(0, 3)):
        column = np.frombuffer(value[: len(value) // 4 * 4], "<u4").copy()
        near = st.integers(0, len(column) + 2)
        column[data.draw(st.integers(0, len(column) - 1))] = data.draw(st.one_of(near, st.integers(0, 2**32 - 1)))
        return column.tobytes()
    return data.draw(ODD)


@pytest.mark.parametrize("name", METHODS)
@given(data=st.data())
def test_knowledge_with_anything_changed_in_it_is_refused_or_judged_by(name: str, data: st.DataObject) -> None:
    written = LEARNED[name]
    record = msgspec.msgpack.decode(zlib.decompress(written[4:]))
    for _ in range(data.draw(st.integers(1, 4))):
        record = changed(record, data)
    method = MethodChoice(name).new()
    with suppress(ValueError):
        method.merge_bytes(written[:4] + zlib.compress(msgspec.msgpack.encode(record)))
        use(method)


def style_tree(*pages: list[Any], labels: list[str] | None = None) -> bytes:
    record = [64, ["body", "p"] if labels is None else labels, list(pages)]
    return b"SST\x03" + zlib.compress(msgspec.msgpack.encode(record))


def style_page(nodes: int, *, deep: bool = False) -> list[Any]:
    """Return a page of many nodes, all below the body, or each below the one before."""
    sizes = range(nodes, 0, -1) if deep else [nodes, *[1] * (nodes - 1)]
    return [1, numbers([0] + [1] * (nodes - 1)), numbers(sizes), numbers([0] * nodes), b"", b""]


def feature_tree(nodes: int) -> bytes:
    page = [1, 1, False, numbers([0] * (nodes - 1)), numbers(range(nodes)), bytes(9 * 8 * nodes)]
    return b"FTR\x02" + zlib.compress(msgspec.msgpack.encode([page]))


def fusion_page(paths: int, blocks: int) -> list[Any]:
    columns = [numbers(range(paths)), numbers(range(-1, paths - 1)), numbers([1] * paths)]
    columns += [numbers([0] * blocks), numbers(range(blocks)), *[numbers([1] * blocks)] * 2]
    columns += [numbers([0] * blocks), *[numbers([])] * 5]
    return [1, columns]


SOUND = {
    "fusion": lambda: evidence([fusion_page(1_000, 1_000)]),
    "style_tree": lambda: style_tree(style_page(1_000), [2, *style_page(1_000, deep=True)[1:]]),
    "feature_tree": lambda: feature_tree(1_000),
}
LARGE: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "gigabytes": ("fusion", lambda: b"FSE\x05" + zlib.compress(bytes(1 << 28)), "cut off or too large"),
    "many pages": ("fusion", lambda: evidence([[1, [b""] * 9]] * 300_000), "more than 2,000,000 values"),
    "many labels": ("style_tree", lambda: style_tree(labels=[""] * 3_000_000), "more than 2,000,000 values"),
    "many paths": (
        "fusion",
        lambda: evidence([fusion_page(2 * MAX_ELEMENTS + 1, 1)]),
        "larger than any that is learned",
    ),
    "many blocks": ("fusion", lambda: evidence([fusion_page(1, 30_000)]), "larger than any that is learned"),
    "many nodes": ("style_tree", lambda: style_tree(style_page(1_000_000)), "larger than any that is learned"),
    "deep nodes": ("style_tree", lambda: style_tree(style_page(5_000, deep=True)), "too deep"),
    "many features": ("feature_tree", lambda: feature_tree(30_000), "more than 20,000 nodes"),
}


@pytest.mark.parametrize("name", SOUND)
def test_knowledge_as_large_as_that_of_pages_is_read(name: str) -> None:
    method = MethodChoice(name).new()
    method.merge_bytes(SOUND[name]())
    assert method.pages_known
    use(method)


@pytest.mark.parametrize("name", LARGE)
def test_knowledge_larger_than_pages_can_make_it_is_refused(name: str) -> None:
    method, make, said = LARGE[name]
    with pytest.raises(ValueError, match=said):
        MethodChoice(method).new().merge_bytes(make())
