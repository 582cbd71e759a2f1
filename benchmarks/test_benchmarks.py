import json
import lzma
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lxml import etree

from benchmarks.beside import Texts, drawn
from benchmarks.confidence import Reliability, reliability
from benchmarks.contest.contenders import Extractor, PageSource, page_by_page
from benchmarks.hostile import tables
from benchmarks.plots import NoPlotError, plot, to_svg
from benchmarks.quality import part_of, sites_of_set
from benchmarks.scale import renumber
from benchmarks.text import Row, standard_error
from benchmarks.thread import ThreadScore, score_thread
from denoise_crawler.evaluation import CORPUS_VARIABLE, REPORTING, TUNING, GoldPage, Post, Score, half
from tests.fuzz.costs import measure
from tests.memory import bytes_held

ROOT = Path(__file__).parents[1]
SITES = ["example.com", "nytimes.com", "ria.ru", "udn.com", "bbc.com", "163.com"]


def benchmark(name: str, *arguments: str, corpus: str | None) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != CORPUS_VARIABLE}
    if corpus is not None:
        environment[CORPUS_VARIABLE] = corpus
    command = [sys.executable, "-m", f"benchmarks.{name}", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.parametrize(
    "name",
    ["quality", "text", "structure", "metadata", "records", "scale", "speed", "matching", "crawl"],
)
def test_a_benchmark_without_pages_says_what_to_set(name: str) -> None:
    ran = benchmark(name, corpus=None)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert re.fullmatch(rf"Set {CORPUS_VARIABLE} to a folder of gold pages that has .*\n", ran.stderr)


def test_a_folder_without_the_set_is_as_good_as_none(tmp_path: Path) -> None:
    ran = benchmark("scale", corpus=str(tmp_path))
    assert ran.returncode == 2
    assert "christianbook.jsonl.xz" in ran.stderr


STRUCTURE_PAGE = {
    "id": "quay", "site": "example.com", "html": "<h1>Cranes</h1><p>Two cranes stand on the quay.", "gold": "",
    "gold_markdown": "# Cranes",
}  # fmt: skip
SCORER = """
def score_page(markdown, gold, html=False):
    return {"headings": float(gold in markdown)}
def summary(rows):
    return {"headings": sum(row["headings"] for row in rows), "headings_pages": len(rows)}
"""


def test_structure_needs_a_scorer_and_prints_what_it_finds(tmp_path: Path) -> None:
    with lzma.open(tmp_path / "defuddle.jsonl.xz", "wt") as file:
        file.write(json.dumps(STRUCTURE_PAGE))
    chosen = ("--sets", "defuddle", "--converters", "fusion", "--scorer", str(tmp_path / "scorer.py"))
    ran = benchmark("structure", *chosen, corpus=str(tmp_path))
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "There is no scorer at" in ran.stderr
    (tmp_path / "scorer.py").write_text(SCORER)
    ran = benchmark("structure", *chosen, corpus=str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    pages, fusion = (line.split("|")[1:4] for line in ran.stdout.splitlines()[2:])
    assert [cell.strip() for cell in pages] == ["defuddle: pages", "0", "1"]
    assert [cell.strip() for cell in fusion] == ["– fusion", "", "1.000"]


def test_texts_of_others_are_kept_for_the_next_run_and_a_changed_page_is_read_anew(tmp_path: Path) -> None:
    asked: list[str] = []

    def upper(page: PageSource) -> str:
        asked.append(page.html)
        return page.html.upper()

    def load() -> Extractor:
        return page_by_page(upper)

    pages = [GoldPage("1", "a.example", "crane"), GoldPage("2", "a.example", "quay")]
    assert Texts(tmp_path / "texts").of("upper", load, pages) == ["CRANE", "QUAY"]
    changed = [pages[0], GoldPage("2", "a.example", "quay wall")]
    assert Texts(tmp_path / "texts").of("upper", load, changed) == ["CRANE", "QUAY WALL"]
    assert asked == ["crane", "quay", "quay wall"]


def test_a_difference_that_one_site_makes_is_less_sure_than_one_of_all_sites() -> None:
    sites = [f"{number}.example" for number in range(8)]
    assert str(drawn([0.1] * 8, sites)) == "+0.100 [+0.100, +0.100]"
    by_one = drawn([0.8] + [0.0] * 7, sites)
    assert by_one.mean == pytest.approx(0.1)
    assert by_one.least == 0 < 0.1 < by_one.most


def test_the_text_benchmark_prints_others_beside_ours_with_the_best_and_how_far_it_is(tmp_path: Path) -> None:
    story = "The cranes of the old quay are still in use on all days of the week, says the harbour master. " * 3
    page = {"id": "1", "site": "a.example", "html": f"<h1>Quay</h1><p>{story}", "gold": story}
    with lzma.open(tmp_path / "postlight.jsonl.xz", "wt") as file:
        file.write(json.dumps(page))
    ran = benchmark("text", "--sets", "postlight", "--peers", "resiliparse", corpus=str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in ran.stdout.splitlines()]
    assert ["F1 (P/R)", "pages", "fusion", "fusion cold", "one_look", "resiliparse"] in rows
    assert [row[:3] for row in rows if len(row) == 5][-1] == ["all", "1", "resiliparse"]


ARTICLE = {
    "site": "example.com", "title": "Cranes", "authors": ["Ann Lee", "Bo Ek"], "date": "2031-03-14 10:00:00",
    "html": "<title>Cranes - Port</title><meta name=author content='By Ann Lee and Bo Ek'>"
    "<time datetime=2031-03-14>now</time><h1>Cranes!</h1>",
}  # fmt: skip


def test_metadata_counts_what_is_right_beside_others(tmp_path: Path) -> None:
    with lzma.open(tmp_path / "fundus.jsonl.xz", "wt") as file:
        file.write(f"{json.dumps(ARTICLE)}\n{json.dumps({**ARTICLE, 'authors': None, 'title': 'Ships'})}\n")
    ran = benchmark("metadata", "--sets", "fundus", corpus=str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    ours = next(line for line in ran.stdout.splitlines() if "denoise_crawler" in line)
    assert [cell.strip() for cell in ours.split("|")[1:-1]] == [
        *("fundus", "all", "2", "denoise_crawler"),
        *("0.50", "1.00", "1.00", "1.00", "1.00"),
    ]


THREAD = {
    "id": "thread", "site": "example.com", "posts": [
        {"text": "Are the cranes of the quay still in use?", "user": "Ann"},
        {"text": "They are, on all days of the week.", "user": "Bo"},
    ],
    "html": "<html class=phpbb><body class=viewtopic><nav><a href=/>Board index</a></nav><h1>Topic: cranes</h1>"
    "<div class=post><dl class=postprofile><a class=username href=/members/1>Ann</a></dl><div class=postbody>"
    "<p class=author>May 2, 2024</p><div class=content>Are the cranes of the quay still in use?</div></div></div>"
    "<div class=post><dl class=postprofile><a class=username href=/members/2>Cem</a></dl><div class=postbody>"
    "<p class=author>May 3, 2024</p><div class=content>They are, on all days of the week.</div></div></div>",
}  # fmt: skip
CRANE = {
    "id": "crane", "site": "example.com", "attrs": {"price": ["12.50"], "sku": ["C-7"], "brand": ["Lux"]},
    "html": "<h1>Crane</h1><p class=price>12,50 €</p><p>SKU: C-8</p><p>Brand: Lux</p><p>Not C-7.</p>",
}  # fmt: skip


def test_records_counts_posts_with_their_users_and_values_by_name(tmp_path: Path) -> None:
    for name, page in {"forums": THREAD, "products": CRANE}.items():
        with lzma.open(tmp_path / f"{name}.jsonl.xz", "wt") as file:
            file.write(json.dumps(page))
    ran = benchmark("records", "--json", str(tmp_path / "figures.json"), corpus=str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    found = json.loads((tmp_path / "figures.json").read_text())["reporting"]
    posts, values = found["posts"], found["values"]
    assert (posts["posts"], posts["records"], posts["right"], posts["right with user"]) == (2, 2, 2, 1)
    assert {name: values[f"{name} right"] for name in ("price", "sku", "brand")} == {
        "price": 1,
        "sku": 0,
        "brand": 1,
    }


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
    files = ("--json", str(tmp_path / "figures.json"))
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


def cells(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("| ").split("|")] for line in table.splitlines() if "|" in line]


def test_the_standard_error_counts_sites_and_not_pages() -> None:
    def row(site: str, f1: float) -> Row:
        one = Score(f1, f1, f1)
        return Row("a set", GoldPage("1", site, ""), 1, one, one, one, one, 0.5, 0.5, None, "", "", "")

    alone = [row(f"{number}.example", f1) for number, f1 in enumerate((0.8, 0.9, 1.0))]
    assert standard_error(alone) == pytest.approx((2 * 0.1**2) ** 0.5 / 3)
    assert standard_error([row("a.example", 0.8), row("a.example", 1.0)]) == pytest.approx(0.0)


def test_the_text_benchmark_gives_a_line_for_each_set_and_says_how_sure_it_is(
    corpus: Path, tmp_path: Path
) -> None:
    figures = tmp_path / "figures.json"
    ran = benchmark("text", "--sets", "newspaper4k", "--json", str(figures), corpus=str(corpus))
    assert ran.returncode == 0, ran.stderr
    assert json.loads(figures.read_text())["newspaper4k"]["F1"] > 0.9
    assert "confidence, 13 pages: area for F1 < .8" in ran.stdout


def test_scale_shows_what_is_known_of_the_pages_so_far(corpus: Path, tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    options = ("--pages", "8", "--every", "4", "--sites", "0", "--methods", "style_tree", "--json", str(file))
    ran = benchmark("scale", *options, corpus=str(corpus))
    assert ran.returncode == 0, ran.stderr
    assert [(row[0], row[5]) for row in cells(ran.stdout) if len(row) == 9][2:] == [
        ("1 to 4", "4"),
        ("5 to 8", "8"),
        ("all", "8"),
    ]
    steps = json.loads(file.read_text())["one site"]["style_tree"]["steps"]
    assert [step["pages"] for step in steps] == [4, 4]
    assert 0 < steps[0]["stored_bytes"] < steps[1]["stored_bytes"] < steps[1]["memory_bytes"]


def test_other_pages_of_the_same_template_differ_in_the_digits_of_their_text_only() -> None:
    assert renumber('<p class="a1">No 19, 5</p>', 1) == '<p class="a1">No 20, 6</p>'
    assert renumber("<p>19</p>", 0) == renumber("<p>19</p>", 10) == "<p>19</p>"


def test_bytes_held_count_each_array_once_with_its_buffer() -> None:
    array = np.zeros(1_000)
    alone = bytes_held(array)
    assert 8_000 <= alone < 8_300
    assert bytes_held([array, array], array[:10]) < alone + 400
    assert bytes_held({"a": array[:10]}) > 8_000


def test_a_crawl_on_loopback_is_measured_with_and_without_the_add_on(corpus: Path, tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    options = ("--sets", "dragnet", "--pages", "12", "--methods", "link_ratio", "--json", str(file))
    ran = benchmark("crawl", *options, corpus=str(corpus))
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stderr
    crawls = json.loads(file.read_text())
    assert list(crawls) == ["all sites", "the largest sites"]
    found = crawls["all sites"]
    assert list(crawls["the largest sites"]) == list(found)
    assert list(found) == ["without", "link_ratio", "link_ratio, sites known"]
    assert {crawl["items"] for crawl in found.values()} == {12}
    assert found["without"]["pause_ratios"] is None
    assert found["link_ratio"]["pause_ratios"]["largest"] >= found["link_ratio"]["pause_ratios"]["median"] > 0


def test_an_archive_is_cleaned_by_each_contender(corpus: Path, tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    ran = benchmark("archive", "--sets", "dragnet", "--pages", "6", "--json", str(file), corpus=str(corpus))
    assert ran.returncode == 0, ran.stderr
    assert "6 pages of" in ran.stdout
    contenders = ["scrapy denoise clean", "the same, one_look", "trafilatura", "resiliparse"]
    assert list(json.loads(file.read_text())) == contenders


STEP = {"pages": 5, "parse_seconds": 1, "learn_seconds": 2, "clean_seconds": 3}
STEPS = [{**STEP, "stored_bytes": 9, "memory_bytes": 99}] * 3


@pytest.mark.parametrize(
    ("figures", "shows"),
    [
        ({"daniel": {"0": [0.7, 40], "5": [0.8, 40]}, "dragnet": {"0": [0.8, 9]}}, ["daniel", "dragnet", "F1"]),
        ({"one site": {"fusion": {"steps": STEPS}}}, ["fusion", "lxml parse alone", "pages of the site"]),
        ({"all": {"lxml parse alone": {"ratio": 1.0}, "nodes": {"ratio": 0.9}}}, ["nodes", "0.90"]),
    ],
)
def test_the_figures_of_a_benchmark_are_drawn(tmp_path: Path, figures: object, shows: list[str]) -> None:
    (tmp_path / "figures.json").write_text(json.dumps(figures))
    ran = benchmark("plots", str(tmp_path / "figures.json"), "-o", str(tmp_path / "plot.svg"), corpus=None)
    assert ran.returncode == 0, ran.stderr
    svg = etree.fromstring((tmp_path / "plot.svg").read_bytes())
    text = " ".join(str(part) for part in svg.itertext())
    assert all(word in text for word in shows)
    assert not list(svg.iter("{*}script"))


def test_other_extractors_are_level_lines_beside_the_learning_curve() -> None:
    group = {"set": "daniel", "label": "reporting half", "contenders": {"trafilatura": {"words": {"f1": 0.75}}}}
    chart = plot({"daniel": {"0": [0.7, 40], "5": [0.8, 40]}}, {"groups": [group, {**group, "label": "all"}]})
    assert b"trafilatura, daniel" in to_svg(chart)


@pytest.mark.parametrize("figures", [[], {}, {"a": 1}, {"all": {}, "a": {"b": 1}}, {"one site": {}}])
def test_what_is_no_figures_of_a_benchmark_is_not_drawn(figures: object) -> None:
    with pytest.raises(NoPlotError, match="it holds"):
        plot(figures)


def test_a_file_that_cannot_be_drawn_is_named(tmp_path: Path) -> None:
    (tmp_path / "figures.json").write_text("{")
    ran = benchmark("plots", str(tmp_path / "figures.json"), "-o", str(tmp_path / "plot.svg"), corpus=None)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert re.fullmatch(r".*figures\.json cannot be drawn: .*\n", ran.stderr)


def test_the_cost_of_each_shape_stands_beside_the_bounds() -> None:
    costs = [measure(name, outputs=False) for name in ("a small page", "charset=idna")]
    told = tables(costs)
    assert "bounds 10 s and 220 MB for fusion and style_tree" in told
    assert "| a small page |" in told
    assert "| charset=idna |" in told
    assert all(cost.within_bounds for cost in costs)
    assert not replace(costs[0], added={"fusion": 220_000_001}).within_bounds
    assert not replace(costs[0], outcome="! crashed").within_bounds


POSTS = [
    Post("The pump fails when it is cold outside, does anyone know why?", "ann", "2 May"),
    Post("Check the valve first. Mine was stuck for years before I looked.", "bob", "3 May"),
]


def test_a_post_is_found_when_nine_tenths_of_its_words_stand_together_in_order() -> None:
    whole = "\n".join(f"{post.user} {post.time}\n{post.text}" for post in POSTS)
    assert score_thread(whole, POSTS) == ThreadScore(1.0, 0.0)
    half, other = POSTS[0].text[:25], POSTS[1].text
    assert score_thread(f"{half}\n{other}", POSTS).found == 0.5
    assert score_thread(" ".join(reversed(whole.split())), POSTS).found == 0.0
    assert score_thread("", POSTS) == ThreadScore(0.0, 0.0)


def test_words_of_no_post_are_noise_and_the_writers_name_is_none() -> None:
    found = score_thread(f"ann 2 May {POSTS[0].text} Advertisement Advertisement", POSTS)
    assert found.noise == pytest.approx(2 / 17)


def test_a_confidence_that_is_the_f1_is_never_off_and_parts_the_bad_pages_from_the_good() -> None:
    f1s = [number / 100 for number in range(100)]
    assert reliability(f1s, f1s) == Reliability(1.0, 0.09, pytest.approx(0.95), 0.0)  # type: ignore[arg-type]
    assert reliability([1 - f1 for f1 in f1s], f1s).area == 0.0


def test_a_confidence_that_is_always_the_same_tells_nothing() -> None:
    found = reliability([0.95] * 4, [1.0, 0.5, 1.0, 0.5])
    assert found == Reliability(0.5, 1.0, 0.75, pytest.approx(0.25))  # type: ignore[arg-type]
    assert reliability([], []) == Reliability(0.5, 0.0, 0.0, 0.0)
