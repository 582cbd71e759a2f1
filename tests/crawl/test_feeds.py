import csv
import io
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denoise_crawler.demo.server import DemoServer
from denoise_crawler.errors import AppendError
from denoise_crawler.output.clean_page import CleanPage
from tests.conftest import Project

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")

from denoise_crawler.parquet import ParquetItemExporter  # noqa: E402

FEEDS = """
FEED_EXPORTERS = {"parquet": "denoise_crawler.parquet.ParquetItemExporter"}
FEEDS = {
    "pages.jsonl": {"format": "jsonlines", "encoding": "utf-8"},
    "pages.csv": {"format": "csv", "fields": ["url", "title", "text"]},
    "pages.parquet": {"format": "parquet", "item_export_kwargs": {"rows_per_group": 5}},
}
"""


def write_parquet(*items: Any, **options: Any) -> Any:
    """What pyarrow reads of a file with ``items``."""
    file = io.BytesIO()
    exporter = ParquetItemExporter(file, **options)
    exporter.start_exporting()
    for item in items:
        exporter.export_item(item)
    exporter.finish_exporting()
    return pq.read_table(io.BytesIO(file.getvalue()))


def test_a_crawl_writes_the_same_items_as_json_lines_csv_and_parquet(project: Project, server: DemoServer) -> None:
    project.write("project_settings.py", (project.folder / "project_settings.py").read_text() + FEEDS)
    start = ("-a", f"start_url={server.url}/en-us", "-a", "max_pages=12", "-s", "DENOISE_WARMUP_PAGES=4")
    items = project.crawl("site", *start, feed="pages.jsonl")
    assert len(items) == 12
    with (project.folder / "pages.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows == [{name: item[name] for name in ("url", "title", "text")} for item in items]
    file = pq.ParquetFile(project.folder / "pages.parquet")
    assert file.num_row_groups == 3
    assert file.read().to_pylist() == items


def test_columns_have_the_types_of_their_values() -> None:
    table = write_parquet(
        CleanPage(url="https://example.com/", text="文", warm=True, noise_ratio=0.25),
        CleanPage(author=None, noise_ratio=None),
    )
    types = {name: str(table.schema.field(name).type) for name in ("url", "author", "warm", "noise_ratio")}
    assert types == {"url": "string", "author": "string", "warm": "bool", "noise_ratio": "double"}
    assert table["noise_ratio"].to_pylist() == [0.25, None]


def test_fields_that_come_later_get_a_column_too() -> None:
    assert write_parquet({"a": 1}, {"b": "x"}).to_pylist() == [{"a": 1, "b": None}, {"a": None, "b": "x"}]


def test_values_of_different_kinds_become_text() -> None:
    table = write_parquet({"v": 1}, {"v": "one"}, {"v": ["a", {"b": None}]}, {"v": True}, {"v": b"raw"})
    assert table["v"].to_pylist() == ["1", "one", '["a", {"b": null}]', "true", "raw"]


def test_whole_numbers_beside_others_become_floats_and_large_ones_text() -> None:
    assert write_parquet({"v": 1}, {"v": 0.5})["v"].to_pylist() == [1.0, 0.5]
    assert write_parquet({"v": 1 << 70})["v"].to_pylist() == [str(1 << 70)]


def test_lone_surrogates_do_not_stop_the_file() -> None:
    assert write_parquet({"v": "a\ud800b"}, {"v": ["\ud800"]})["v"].to_pylist() == ["a?b", '["?"]']


def test_the_chosen_fields_are_the_columns_under_the_chosen_names() -> None:
    table = write_parquet(
        {"text": "x", "url": "u"}, {"url": "v"}, fields_to_export={"url": "address", "text": "words"}
    )
    assert table.to_pylist() == [{"address": "u", "words": "x"}, {"address": "v", "words": None}]


def test_a_feed_without_items_is_a_file_without_rows() -> None:
    assert write_parquet().num_rows == 0


def test_a_file_with_something_in_it_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "old.parquet"
    path.write_bytes(b"PAR1")
    with path.open("ab") as file, pytest.raises(AppendError, match=r"old\.parquet is there already.*use -O"):
        ParquetItemExporter(file).start_exporting()
    assert path.read_bytes() == b"PAR1"


BYTES = st.binary()
KINDS = [
    st.booleans(),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.floats(allow_nan=False),
    st.text(),
    BYTES,
    st.dates(),
    st.datetimes(),
    st.datetimes(
        min_value=datetime(2, 1, 1),
        max_value=datetime(9998, 1, 1),
        timezones=st.just(timezone(timedelta(hours=8))),
    ),
]


@settings(max_examples=40)
@given(st.data())
def test_what_is_of_one_kind_comes_back_as_it_was(data: st.DataObject) -> None:
    columns = {f"c{index}": data.draw(st.sampled_from(KINDS)) for index in range(data.draw(st.integers(1, 3)))}
    items = data.draw(
        st.lists(
            st.fixed_dictionaries({name: st.none() | values for name, values in columns.items()}), max_size=12
        )
    )
    assert write_parquet(*items, rows_per_group=5).to_pylist() == items


PLAIN = st.none() | st.one_of(
    [kind for kind in KINDS if kind is not BYTES]
)  # no feed writes bytes inside of lists
NESTED = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3), max_leaves=5) | BYTES


@settings(max_examples=40)
@given(st.lists(NESTED, min_size=1, max_size=6))
def test_no_value_is_lost_whatever_the_others_are(values: list[Any]) -> None:
    table = write_parquet(*({"v": value} for value in values))
    assert [value is None for value in values] == [value is None for value in table["v"].to_pylist()]
