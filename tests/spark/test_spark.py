from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import time
import warnings
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
if shutil.which("java") is None:
    pytest.skip("Java is not installed", allow_module_level=True)

from collections.abc import Callable, Iterable, Iterator

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from denoise_crawler import Writing, denoise_pages
from denoise_crawler.methods import MethodChoice
from denoise_crawler.spark import Limits, clean, read_archive
from denoise_crawler.spark.__main__ import main
from tests import odd_method

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # of py4j and warcio
FEW: dict[str, Any] = {"max_pages": 8}
CHOICE = MethodChoice("fusion", FEW)
QUICK: dict[str, Any] = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "512m",
    # little data: what Spark does for much of it costs more than it saves
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
NAMES = ("alpha", "beta", "gamma", "delta", "river", "stone", "cloud", "ember")


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    before = os.environ.get("PYSPARK_PYTHON")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = SparkSession.builder.master("local[1,4]").config(map=QUICK).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
    os.environ.pop("PYSPARK_PYTHON")
    if before is not None:
        os.environ["PYSPARK_PYTHON"] = before


def page(site: str, number: int) -> tuple[str, str]:
    text = " ".join(NAMES[(number * step) % len(NAMES)] + str(number * step) for step in range(1, 40))
    return (
        f"https://{site}/story/{number}",
        f"<html><head><title>Story {number}</title></head><body><div class=nav><a href=/>Home</a> <a href=/a>All "
        f"news of {site}</a></div><div class=story><h1>Story {number}</h1><p>{text}.</p><p>It went on, {text}.</p>"
        f"</div><div class=foot>All rights reserved by {site}</div></body></html>",
    )


PAGES = [page(f"www.site-{site}.com", number) for site, count in enumerate((20, 5, 1)) for number in range(count)]


def frame(spark: SparkSession, pages: Iterable[tuple[str, str]], partitions: int = 2) -> DataFrame:
    return spark.createDataFrame(list(pages), "url string, html string").repartition(partitions)


def test_each_page_comes_out_as_from_one_process_with_its_other_columns(spark: SparkSession) -> None:
    pages = spark.createDataFrame(
        [(number, html.encode(), url, {"crawl": "x"}) for number, (url, html) in enumerate(PAGES)],
        "number bigint, html binary, url string, tags map<string,string>",
    )
    rows = clean(pages, CHOICE, warmup_pages=6).collect()
    found = {row.url: row.asDict() for row in rows}
    assert len(rows) == len(PAGES)
    for number, expected in enumerate(denoise_pages(PAGES, **FEW)):
        row = found[expected.url]
        assert (row.pop("number"), row.pop("tags")) == (number, {"crawl": "x"})
        assert (row.pop("skipped"), row.pop("error")) == (None, None)
        known = asdict(expected)
        assert row.pop("warm") is (expected.site == "site-0.com")
        assert row == {name: known[name] for name in row}


def test_the_rules_of_a_folder_of_the_driver_are_applied_by_every_worker(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "site-1.com.txt").write_text("body: div.story > p\nstrip: div.story > p + p\ntitle: div.foot")
    rows = clean(frame(spark, PAGES), CHOICE, rules=tmp_path).collect()
    expected = {one.url: one.text for one in denoise_pages(PAGES, rules=tmp_path, **FEW)}
    assert {row.url: row.text for row in rows} == expected
    assert {row.title for row in rows if row.site == "site-1.com"} == {"All rights reserved by www.site-1.com"}
    assert not any("It went on" in row.text for row in rows if row.site == "site-1.com")


def test_the_result_does_not_depend_on_where_pages_stand_or_how_often(spark: SparkSession) -> None:
    changed = [(url, html.replace("story", "tale")) for url, html in PAGES[:6]]
    one = clean(frame(spark, [*PAGES, *changed], 1), CHOICE).collect()
    other = clean(frame(spark, [*changed, *reversed(PAGES)], 3), CHOICE).collect()
    assert sorted(map(tuple, one)) == sorted(map(tuple, other))
    assert len(one) == len(PAGES) + len(changed)


def python_processes(of: int, holding: str) -> list[int]:
    """Return the processes below ``of`` whose command line holds a word."""
    parents: dict[int, int] = {}
    commands: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = int(stat[1])
                commands[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue

    def below(pid: int) -> bool:
        while pid > 1:
            pid = parents.get(pid, 0)
            if pid == of:
                return True
        return False

    return [pid for pid, command in commands.items() if holding in command and below(pid)]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to find the processes of Spark")
def test_a_job_whose_processes_are_killed_ends_with_the_full_result(spark: SparkSession) -> None:
    pages = [page(f"site-{number % 7}.com", number) for number in range(600)]
    result: list[Any] = []
    job = threading.Thread(target=lambda: result.extend(clean(frame(spark, pages)).collect()))
    job.start()
    victims = ["multiprocessing.spawn", "pyspark.daemon"]
    while job.is_alive() and victims:
        for pid in python_processes(os.getpid(), victims[0])[-1:]:
            os.kill(pid, signal.SIGKILL)
            victims.pop(0)
        time.sleep(0.3)
    job.join()
    assert not victims
    assert {row.url: row.text for row in result} == {page.url: page.text for page in denoise_pages(pages)}


def write_warc(path: Path, pages: Iterable[tuple[str, str]]) -> None:
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for url, html in pages:
            headers = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
            writer.write_record(
                writer.create_warc_record(url, "response", payload=BytesIO(html.encode()), http_headers=headers)
            )


def test_archives_are_read_from_paths_and_addresses_json_lines_and_parquet_with_their_columns(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_warc(tmp_path / "one.warc.gz", PAGES[:9])
    write_warc(tmp_path / "two.warc.gz", PAGES[9:])
    pattern = read_archive(spark, [str(tmp_path / "*.warc.gz")])
    address = read_archive(spark, [(tmp_path / "one.warc.gz").as_uri()])
    assert sorted(map(tuple, pattern.collect())) == sorted(PAGES)
    assert sorted(map(tuple, address.collect())) == sorted(PAGES[:9])
    wide = pattern.selectExpr("html as body", "url", "1 as number")
    wide.write.parquet(str(tmp_path / "pages"))
    again = read_archive(spark, [str(tmp_path / "pages")], "parquet", html_field="body")
    again.write.json(str(tmp_path / "lines"))
    lines = read_archive(spark, [str(tmp_path / "lines")], "jsonl")
    assert sorted(map(tuple, lines.select("url", "html", "number").collect())) == [
        (*page, 1) for page in sorted(PAGES)
    ]


def test_more_metadata_and_the_parts_of_a_text_are_columns_where_they_are_asked_for(spark: SparkSession) -> None:
    head = "<meta name=keywords content='port,cranes'><meta name=description content=Two>"
    page = ("https://a.com/", f"{head}<h2>Ports</h2>" + "<p>A crane stands here.</p>" * 9)
    writing = Writing(more_metadata=True, max_chars=60)
    [row] = clean(frame(spark, [page]), "link_ratio", writing=writing).collect()
    assert (row.tags, row.description, row.image) == (["port", "cranes"], "Two", None)
    assert (row.truncated, row.next_part, len(row.text) <= 60) == (True, 2, True)
    assert not {"tags", "truncated", "next_part"} & set(clean(frame(spark, [page]), "link_ratio").columns)


def test_columns_that_are_missing_or_taken_are_named(spark: SparkSession) -> None:
    with pytest.raises(ValueError, match="no column html; there are url, body"):
        clean(spark.createDataFrame([("a", "b")], "url string, body string"))
    with pytest.raises(ValueError, match="the columns text are there already"):
        clean(spark.createDataFrame([("a", "b", "c")], "url string, html string, text string"))


def test_rows_without_address_or_page_come_out(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(None, None), ("https://a.com/", "<p>Hello")], "url string, html string")
    found = {row.url: (row.text, row.skipped, row.method, row.warm) for row in clean(rows, "link_ratio").collect()}
    assert found == {
        None: ("", "empty", "link_ratio", True),
        "https://a.com/": ("Hello", None, "link_ratio", True),
    }


def test_records_and_values_come_as_json(spark: SparkSession) -> None:
    post = "<div class=post><b class=user>{}</b> <i>May 2, 2024</i><p>{}</p></div>"
    html = post.format("Ann", "Is the harbour open?") + post.format("Bob", "It is, until six.") + "<p>SKU: L-7</p>"
    rows = spark.createDataFrame([("https://a.com/", html)], "url string, html string")
    writing = Writing(records=True, fields=True, json_ld=True)
    [row] = clean(rows, "link_ratio", writing=writing).collect()
    [page] = denoise_pages([("https://a.com/", html)], method="link_ratio", writing=writing)
    assert json.loads(row.records) == page.records
    assert [record["user"] for record in page.records or ()] == ["Ann", "Bob"]
    assert (json.loads(row.fields), json.loads(row.json_ld)) == ({"sku": "L-7"}, [])


def test_the_command_cleans_an_archive(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_warc(tmp_path / "crawl.warc.gz", PAGES)
    command = [str(tmp_path / "crawl.warc.gz"), "-o", str(tmp_path / "clean"), "--output-format", "jsonl"]
    (tmp_path / "clean").mkdir()
    (tmp_path / "clean" / "part-0.json.gz").write_bytes(b"left by a job that broke off")
    assert main([*command]) == 1
    assert "PATH_ALREADY_EXISTS" in capsys.readouterr().err
    assert main([*command, "--overwrite"]) == 0
    assert capsys.readouterr().out == "cleaned: 26 pages; nothing to read on 0; 0 failed\n"
    texts = {row.url: row.text for row in spark.read.json(str(tmp_path / "clean")).collect()}
    assert texts == {page.url: page.text for page in denoise_pages(PAGES)}


@pytest.mark.parametrize(
    ("name", "error"), [("die", "the process was killed by SIGKILL"), ("loop", "took more than 2 s of CPU time")]
)
def test_a_page_that_kills_its_process_or_never_ends_costs_itself_alone(
    spark: SparkSession, odd_site: Callable[[str], str], name: str, error: str
) -> None:
    pages = [(f"https://a.example/{path}", f"<p>This is {path}.") for path in ("one", name, "two")]
    df, limits = frame(spark, pages, 1), Limits(seconds=2.0)
    rows = clean(df, "odd_ratio", site=odd_site, writing=odd_method.OddWriting(), limits=limits).collect()
    assert {row.url.rpartition("/")[2]: (row.text, row.error) for row in rows} == {
        "one": ("This is one.", None),
        name: ("", error),
        "two": ("This is two.", None),
    }
