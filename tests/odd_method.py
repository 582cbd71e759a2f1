"""Methods that fail on the pages whose address says so. A worker that imports this module has them.

In the process of the tests only the fixture ``odd_site`` adds them, or tests of each method were of them, too.
"""

import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path
from typing import ClassVar

from denoise_crawler.methods import METHODS, Judgement
from denoise_crawler.methods.link_ratio import LinkRatio
from denoise_crawler.methods.style_tree import SiteStyleTree
from denoise_crawler.output.writing import Writing
from denoise_crawler.page import Page
from denoise_crawler.page.site import site_of


def odd_site(url: str) -> str:
    if "no-site" in url:
        raise LookupError(url)
    return site_of(url)


def misbehave(url: str) -> None:
    if "die-once" in url:
        mark = Path(os.environ["ODD_MARK"])
        if mark.exists():
            return
        mark.touch()
    if "die" in url:
        os.kill(os.getpid(), signal.SIGKILL)
    if "eat" in url:
        bytearray(2 << 30)
    if "sleep" in url:
        time.sleep(600)
    while "loop" in url:
        pass


class OddWriting(Writing):
    """The default; but a worker that is given them imports this module, and so knows the methods."""


class OddRatio(LinkRatio):
    name: ClassVar[str] = "odd_ratio"

    def judge(self, page: Page) -> Judgement:
        if "raise" in page.url:
            raise ZeroDivisionError("no such page")
        misbehave(page.url)
        return super().judge(page)


class OddTree(SiteStyleTree):
    name: ClassVar[str] = "odd_tree"

    def observe(self, page: Page) -> None:
        if "raise" in page.url:
            raise ZeroDivisionError("not to be learned")
        super().observe(page)

    def to_bytes(self) -> bytes:
        raise OSError("no space left on device")


class OddLearner(SiteStyleTree):
    name: ClassVar[str] = "odd_learner"

    def observe(self, page: Page) -> None:
        if "raise" in page.url:
            raise ZeroDivisionError("not to be learned")
        misbehave(page.url)
        super().observe(page)

    def judge(self, page: Page) -> Judgement:
        if "raise" in page.url:
            raise ZeroDivisionError("no such page")
        return super().judge(page)


if multiprocessing.parent_process() is not None or "pytest" not in sys.modules:
    METHODS.update({method.name: method for method in (OddRatio, OddLearner, OddTree)})
