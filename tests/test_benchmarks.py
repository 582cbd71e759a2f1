from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from denoise_crawler.evaluation.gold import CORPUS_VARIABLE

ROOT = Path(__file__).parent.parent
SITES = ["example.com", "nytimes.com", "ria.ru", "udn.com", "bbc.com", "163.com"]


def benchmark(name: str, *arguments: str, corpus: str | None) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != CORPUS_VARIABLE}
    if corpus is not None:
        environment[CORPUS_VARIABLE] = corpus
    command = [sys.executable, "-m", f"benchmarks.{name}", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize("name", ["quality", "scale", "speed"])
def test_a_benchmark_without_pages_says_what_to_set(name: str) -> None:
    ran = benchmark(name, corpus=None)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert re.fullmatch(rf"Set {CORPUS_VARIABLE} to a folder of gold pages that has .*\n", ran.stderr)


def test_a_folder_without_the_set_is_as_good_as_none(tmp_path: Path) -> None:
    ran = benchmark("scale", corpus=str(tmp_path))
    assert ran.returncode == 2
    assert "christianbook.jsonl.xz" in ran.stderr


def test_each_site_has_its_half_in_every_process() -> None:
    pytest.importorskip("trafilatura")
    pytest.importorskip("resiliparse")
    from benchmarks.quality import REPORTING, TUNING, half

    assert {site: half(site) for site in SITES} == {
        "example.com": REPORTING,
        "nytimes.com": REPORTING,
        "ria.ru": TUNING,
        "udn.com": TUNING,
        "bbc.com": TUNING,
        "163.com": TUNING,
    }


def f1(table: str, row: str) -> float:
    line = next(line for line in table.splitlines() if line.startswith(f"| {row} "))
    return float(line.strip("| ").split("|")[-1])


def test_quality_shows_that_the_style_tree_beats_all_visible_text(corpus: Path, tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    ran = benchmark("quality", "--sites", "1", "--sets", "dragnet", "--json", str(figures), corpus=str(corpus))
    assert ran.returncode == 0, ran.stderr
    reporting, everything = ran.stdout.split("All sites")
    assert reporting.startswith("Reporting half: dragnet 1 sites, ")
    assert everything.startswith(" (the tuning half among them): dragnet 2 sites, ")
    for part in (reporting, everything):
        assert f1(part, "style_tree") > f1(part, "all visible text")
    written = json.loads(figures.read_text())["reporting"]["means"]["style_tree"]["dragnet"]["f1"]
    assert f1(reporting, "style_tree") == pytest.approx(written, abs=0.001)


def test_tuning_and_reporting_never_share_a_site(corpus: Path) -> None:
    pytest.importorskip("trafilatura")
    pytest.importorskip("resiliparse")
    from benchmarks.quality import REPORTING, TUNING, part_of, sites_of_set

    sites = sites_of_set(corpus, "dragnet", at_least=10, most=None)
    tuning, reporting = set(part_of(sites, TUNING)), set(part_of(sites, REPORTING))
    assert tuning
    assert reporting
    assert not tuning & reporting
    assert tuning | reporting == set(sites)


def test_scale_shows_a_tree_of_the_pages_so_far(corpus: Path) -> None:
    ran = benchmark("scale", "--pages", "12", "--every", "6", corpus=str(corpus))
    assert ran.returncode == 0, ran.stderr
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in ran.stdout.splitlines()]
    assert [(row[0], row[5]) for row in rows if len(row) == 8][2:] == [
        ("1 to 6", "6"),
        ("7 to 12", "12"),
        ("all", "12"),
    ]
