"""Each fault a few times; ``python -m benchmarks.faults`` does each many times and prints the table."""

from pathlib import Path
from random import Random

import pytest

from examples.demo_site.server import DemoServer
from tests.faults.crawls import Crawls, Outcome
from tests.faults.scenarios import SCENARIOS

SEEDS = {"kill -9": 3, "feed fails": 2, "disk full (file size limit)": 2}


@pytest.mark.parametrize(
    ("name", "seed"), [(name, seed) for name in SCENARIOS for seed in range(SEEDS.get(name, 1))]
)
def test_no_page_is_lost_or_comes_twice_and_nothing_crashes(
    name: str, seed: int, tmp_path: Path, server: DemoServer
) -> None:
    outcome = SCENARIOS[name](tmp_path / "crawls", server, Random(f"{name}:{seed}"))
    assert outcome == Outcome(), "\n".join(outcome.notes)


def test_a_wrong_setting_stands_in_the_log_file_too(tmp_path: Path, server: DemoServer) -> None:
    crawls = Crawls(tmp_path, server)
    crawls.run("-s", "DENOISE_METHOD=svm", "--logfile", "own.log", feed="out.jsonl")
    assert "ERROR: The crawl cannot begin: DENOISE_METHOD is 'svm'" in (tmp_path / "own.log").read_text()
