from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from lxml import html as lxml_html

from denoise_crawler.demo.articles import article_path, articles, gold_text
from denoise_crawler.demo.feeds import article_page
from tests.scrapy_command import command, denoise, environment, group_lives

SITE = "harbourledger.example"


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stories of the bundled site with their text, and two lines that are no pages."""
    base = f"https://{SITE}"
    lines = [
        json.dumps(
            {
                "id": article.id,
                "site": SITE,
                "url": base + article_path(article),
                "lang": article.lang,
                "html": article_page(article, base),
                "gold": gold_text(article),
            }
        )
        for article in articles()[15:]
    ]
    file = tmp_path_factory.mktemp("gold") / "ledger.jsonl"
    file.write_text("\n".join(["{", *lines, '{"id": "1"}']), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def ran(gold: Path) -> subprocess.CompletedProcess[str]:
    files = [argument for form in ("json", "html", "markdown") for argument in (f"--{form}", f"out.{form}")]
    options = ("--methods", "link_ratio", "style_tree", "--peers", "none", "--by-site", *files)
    return denoise(gold.parent, "evaluate", gold, *options)


@pytest.fixture(scope="module")
def written(ran: subprocess.CompletedProcess[str], gold: Path) -> dict[str, Any]:
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads((gold.parent / "out.json").read_text("utf-8"))
    return found


def test_methods_stand_side_by_side_on_a_gold_set(ran: subprocess.CompletedProcess[str]) -> None:
    assert "ledger: quality, " in ran.stdout
    for name in ("all visible text", "link_ratio", "style_tree"):
        assert f"\n {name} " in ran.stdout or f"\n{name} " in ran.stdout
    assert "…" not in ran.stdout
    assert SITE in ran.stdout


def test_broken_lines_are_counted_and_named_on_stderr(ran: subprocess.CompletedProcess[str], gold: Path) -> None:
    last = len(gold.read_text("utf-8").splitlines())
    assert "2 broken lines (ledger.jsonl, line 1: " in ran.stderr
    assert f"ledger.jsonl, line {last}: " in ran.stderr


def test_the_json_holds_means_pages_and_versions(written: dict[str, Any]) -> None:
    everything = written["groups"][0]["contenders"]
    assert set(everything) == {"all visible text", "style_tree", "link_ratio"}
    assert everything["style_tree"]["words"]["f1"] > everything["all visible text"]["words"]["f1"]
    evaluation = written["evaluation"]
    assert evaluation["python"] == ".".join(map(str, sys.version_info[:3]))
    for result in evaluation["results"]:
        assert "denoise-crawler" in result["versions"]
        f1s = [page["words"]["f1"] for page in result["pages"]]
        assert len(f1s) == everything[result["contender"]]["pages"] == len(evaluation["pages"])
        assert sum(f1s) / len(f1s) == pytest.approx(everything[result["contender"]]["words"]["f1"])


def test_the_page_and_the_markdown_show_the_figures_of_the_json(written: dict[str, Any], gold: Path) -> None:
    f1 = f"{written['groups'][0]['contenders']['style_tree']['words']['f1']:.3f}"
    tree = lxml_html.document_fromstring((gold.parent / "out.html").read_text("utf-8"))
    cells: Any = tree.xpath("//tr[td[1]='style_tree']/td/text()")
    assert f1 in cells
    row = next(
        line
        for line in (gold.parent / "out.markdown").read_text("utf-8").splitlines()
        if line.startswith("| style_tree ")
    )
    assert f"| {f1} |" in row


def test_one_language_can_be_chosen(gold: Path) -> None:
    chinese = sum(article.lang == "zh" for article in articles())
    ran = denoise(gold.parent, "evaluate", gold, "--language", "zh", "--methods", "link_ratio", "--peers", "none")
    assert f"ledger: quality, {chinese} pages of 1 site" in ran.stdout


def test_a_choice_without_pages_is_said(gold: Path) -> None:
    ran = denoise(
        gold.parent, "evaluate", gold, "--sites-with", "1000", "--peers", "none", "--methods", "none", code=1
    )
    assert ran.stdout == ""
    assert "nothing to evaluate" in ran.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["nowhere.jsonl"], 1, "nowhere.jsonl: no such file or folder"),
        (["ledger.jsonl", "--methods", "best"], 2, "invalid choice: 'best'"),
        (["ledger.jsonl", "--sites-with", "0"], 2, "'0' is not a whole number, 1 or more"),
        ([], 2, "GOLD"),
    ],
)
def test_what_cannot_be_done_is_said(gold: Path, arguments: list[str], code: int, said: str) -> None:
    assert said in denoise(gold.parent, "evaluate", *arguments, code=code).stderr


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="magic-html can be installed here")
def test_a_peer_that_is_not_installed_is_named_and_left_out(gold: Path) -> None:
    ran = denoise(gold.parent, "evaluate", gold, "--peers", "magic-html", "--methods", "none")
    assert "magic-html is left out" in ran.stderr
    assert "pip install 'denoise-crawler[peers]'" in ran.stderr
    assert "magic-html" not in ran.stdout


def test_the_example_in_the_documentation_runs(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "figures.md").read_text("utf-8")
    (tmp_path / "example.py").write_text(text.partition("```python\n")[2].partition("```")[0], encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "example.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "mine all style_tree Score(precision=1.0, recall=1.0, f1=1.0)" in ran.stdout


def test_an_interrupted_run_leaves_no_process_and_no_file(gold: Path, tmp_path: Path) -> None:
    started = subprocess.Popen(
        command("evaluate", gold, "--peers", "none"),
        cwd=tmp_path,
        env=environment(TMPDIR=str(tmp_path)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("denoise_crawler-*/pages")):
        assert started.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(started.pid, signal.SIGINT)
    assert started.wait(timeout=60) != 0
    while group_lives(started.pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert not list(tmp_path.glob("denoise_crawler-*"))
