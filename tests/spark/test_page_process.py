from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from denoise_crawler.spark.page_process import CallError, Limits, PageKilledError, PageProcess


class Handler:
    """Handles pages, some of which are poison."""

    def __init__(self) -> None:
        self.site = ""

    def enter(self, site: str) -> None:
        self.site = site

    def entered(self) -> str:
        return self.site

    def die(self, log: str) -> None:
        with Path(log).open("a") as file:
            file.write("died\n")
        os.kill(os.getpid(), signal.SIGSEGV)

    def take(self, size: int) -> int:
        return len(bytearray(size))


def test_a_call_that_kills_its_process_or_takes_too_much_memory_costs_only_itself(tmp_path: Path) -> None:
    process = PageProcess(Handler, Limits(memory=1 << 30))
    process.prepare("enter", "a.example")
    with pytest.raises(PageKilledError, match="the process was killed by SIGSEGV"):
        process.call("die", str(tmp_path / "log"))
    assert (tmp_path / "log").read_text() == "died\n" * 2
    assert process.call("entered") == "a.example"
    with pytest.raises(CallError, match="MemoryError"):
        process.call("take", 2 << 30)
    assert process.call("entered") == "a.example"
    process.close()
