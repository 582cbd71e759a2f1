from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.quality import part_of, sites_of_set
from denoise_crawler.evaluation.gold import CORPUS_VARIABLE, REPORTING, TUNING, half

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


@pytest.mark.parametrize("name", ["quality", "scale", "speed", "matching"])
def test_a_benchmark_without_pages_says_what_to_set(name: str) -> None:
    ran = benchmark(name, corpus=None)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert re.fullmatch(rf"Set {CORPUS_VARIABLE} to a folder of gold pages that has .*\n", ran.stderr)


def test_a_folder_without_the_set_is_as_good_as_none(tmp_path: Path) -> None:
    ran = benchmark("scale", corpus=str(tmp_path))
    assert ran.returncode == 2
    assert "christianbook.jsonl.xz" in ran.stderr


def test_each_site_has_its_half_in_every_process() -> None:
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
    return float(line.split("|")[4])


QUICK = ("--sites", "1", "--sets", "dragnet", "--at-least", "10")


def test_quality_shows_that_the_style_tree_beats_all_visible_text(corpus: Path, tmp_path: Path) -> None:
    files = ("--json", str(tmp_path / "figures.json"), "--html", str(tmp_path / "figures.html"))
    chosen = ("--methods", "style_tree", "--peers", "none")
    ran = benchmark("quality", *QUICK, *chosen, *files, corpus=str(corpus))
    assert ran.returncode == 0, ran.stderr
    everything, reporting = re.split(
        r"^dragnet, reporting half: quality, \d+ pages of 1 site$", ran.stdout, flags=re.M
    )
    assert re.search(r"^dragnet: quality, \d+ pages of 2 sites$", everything, re.M)
    for part in (everything, reporting):
        assert f1(part, "style_tree") > f1(part, "all visible text")
    groups = {
        group["label"]: group["contenders"]
        for group in json.loads((tmp_path / "figures.json").read_text())["groups"]
    }
    assert f1(everything, "style_tree") == pytest.approx(groups["all"]["style_tree"]["words"]["f1"], abs=0.001)
    assert f1(reporting, "style_tree") == pytest.approx(
        groups["reporting half"]["style_tree"]["words"]["f1"], abs=0.001
    )
    assert "dragnet, reporting half" in (tmp_path / "figures.html").read_text("utf-8")


def test_quality_gives_the_f1_of_each_threshold_on_the_tuning_half(corpus: Path) -> None:
    ran = benchmark("quality", "--tune", *QUICK, "--methods", "link_ratio", corpus=str(corpus))
    assert ran.returncode == 0, ran.stderr
    assert re.match(r"Tuning half: dragnet 1 sites, \d+ pages\n\nlink_ratio: best threshold [\d.]+ ", ran.stdout)
    assert len(re.findall(r"^\| 0\.", ran.stdout, re.M)) == 20


def test_tuning_and_reporting_never_share_a_site(corpus: Path) -> None:
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
