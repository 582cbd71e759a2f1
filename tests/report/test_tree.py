"""The style tree as data."""

from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler import SiteStyleTree
from denoise_crawler.page import Page
from denoise_crawler.report.explorer import TreeData, tree_data
from tests.strategies import html_pages

NEWS = [f"<div id=top><a href=/>Home</a></div><p>来源 {name}</p>" for name in ("新华网", "人民网", "CCTV")]


def data_of(*bodies: str, max_nodes: int = 4_000, **options: object) -> TreeData:
    tree = SiteStyleTree(**{"collapse": False, **options})  # type: ignore[arg-type]
    for number, body in enumerate(bodies):
        tree.observe(Page.parse(f"https://example.com/{number}", body))
    return tree_data(tree, [], threshold=0.7, max_nodes=max_nodes)


def labels(data: TreeData) -> list[str]:
    return [data.labels[name] for name in data.names]


def test_the_blogs_worked_example_has_its_nodes_with_their_pages_and_importance() -> None:
    data = data_of(*NEWS)
    assert sorted(zip(labels(data), data.counts, map(round, data.importance, [1] * 7), strict=True)) == [
        ("a", 3, 0.0),
        ("body", 3, 0.3),
        ("div#top", 3, 0.0),
        ("p", 3, 0.7),
        ("text", 3, 0.0),
        ("text", 3, 0.8),
    ]
    kept = {label for label, peak in zip(labels(data), data.peaks, strict=True) if peak >= data.threshold}
    assert kept == {"body", "p", "text"}


def test_no_more_nodes_are_shown_than_allowed_and_the_rest_is_counted() -> None:
    data = data_of(*NEWS, max_nodes=3)
    assert len(data.parents) == 3
    assert data.left_out == sum(data.left.values()) > 0


@given(pages=st.lists(html_pages(), max_size=4), collapse=st.booleans(), most=st.integers(1, 20))
def test_any_tree_can_be_drawn_within_its_limits(pages: list[str], collapse: bool, most: int) -> None:
    data = data_of(*pages, max_nodes=most, collapse=collapse)
    assert 1 <= len(data.parents) <= most
    assert len(data.names) == len(data.counts) == len(data.parents)
