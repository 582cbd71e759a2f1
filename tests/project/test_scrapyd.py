import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from examples.demo_site.server import DemoServer
from tests.conftest import ROOT
from tests.programs import run_program

pytestmark = pytest.mark.skipif(
    find_spec("scrapyd") is None or find_spec("scrapyd_client") is None,
    reason="scrapyd or scrapyd-client is not installed",
)
EXAMPLE = ROOT / "examples" / "scrapyd"
SECONDS = 90


class Scrapyd:
    """A scrapyd server in a folder with a copy of the example."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        for file in ("scrapy.cfg", "scrapyd.conf"):
            text = (folder / file).read_text()
            assert "6800" in text
            (folder / file).write_text(text.replace("6800", str(self.port)))
        self.environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        self.environment["no_proxy"] = "127.0.0.1"
        with (folder / "scrapyd.log").open("w") as log:
            self.process = subprocess.Popen(
                ["scrapyd"], cwd=folder, env=self.environment, stdout=log, stderr=subprocess.STDOUT
            )

    def ask(self, name: str, **values: str | list[str]) -> dict[str, Any]:
        data = urlencode(values, doseq=True).encode() if name == "schedule" else None
        query = "" if data else f"?{urlencode(values)}"
        with urlopen(f"http://127.0.0.1:{self.port}/{name}.json{query}", data, timeout=30) as answer:
            found: dict[str, Any] = json.load(answer)
        assert found["status"] == "ok", found
        return found

    def wait_for(self, *, finished: int) -> None:
        deadline = time.monotonic() + SECONDS
        while len(self.ask("listjobs", project="stories")["finished"]) < finished:
            assert time.monotonic() < deadline, (self.folder / "scrapyd.log").read_text()
            time.sleep(0.3)

    def wait_until_up(self) -> None:
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                self.ask("daemonstatus")
                return
            except URLError:
                assert self.process.poll() is None, (self.folder / "scrapyd.log").read_text()
                assert time.monotonic() < deadline
                time.sleep(0.2)


@pytest.fixture
def scrapyd(tmp_path: Path) -> Iterator[Scrapyd]:
    shutil.copytree(EXAMPLE, tmp_path / "example")
    running = Scrapyd(tmp_path / "example")
    try:
        running.wait_until_up()
        yield running
    finally:
        running.process.terminate()
        running.process.wait(timeout=30)


def test_the_deployed_example_cleans_and_its_next_job_knows_the_site(scrapyd: Scrapyd, server: DemoServer) -> None:
    deployed = run_program("scrapyd-deploy", folder=scrapyd.folder, code=None, **scrapyd.environment)
    assert '"status": "ok"' in deployed.stdout, deployed.stdout + deployed.stderr
    quick = ["DENOISE_DELAY_MIN=0", "DENOISE_DELAY_MAX=0.01"]
    jobs = []
    for number in (1, 2):
        chosen = {"start": f"{server.url}/en-us", "path": "/ar-", "setting": quick}
        jobs.append(scrapyd.ask("schedule", project="stories", spider="stories", **chosen)["jobid"])
        scrapyd.wait_for(finished=number)
    logs = [(scrapyd.folder / "logs/stories/stories" / f"{job}.log").read_text() for job in jobs]
    feeds = [(scrapyd.folder / "items/stories/stories" / f"{job}.jl").read_text("utf-8") for job in jobs]
    items = [[json.loads(line) for line in feed.splitlines()] for feed in feeds]
    assert len(items[0]) == len(items[1]) >= 20
    assert all(item["text"] and "All rights reserved" not in item["text"] for item in [*items[0], *items[1]])
    assert "'denoise/parked': 6" in logs[0]
    assert "'denoise/parked'" not in logs[1]
