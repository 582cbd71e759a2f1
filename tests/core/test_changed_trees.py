"""Callers who read ``page.root`` may change the tree: the core reads no element that was freed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from denoise_crawler import core
from denoise_crawler.page import Page

pytestmark = pytest.mark.skipif(core.why_not() is not None, reason=f"no compiled core: {core.why_not()}")
# in a process of its own, which a use after free ends
CALLER = """
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.page import Page

html = "".join(f"<div class=c{number}><p>Paragraph {number} of the story.</p></div>" for number in range(3_000))
page = Page.parse("https://a.example/1", html)
read_before = "before" in SAID and page.root
assert page.skipped is None
for ad in page.root.xpath("//div[contains(@class, 'c1')]"):
    ad.getparent().remove(ad)
del ad, read_before
denoiser = Denoiser("fusion")
denoiser.learn(page)
print(len(denoiser.clean(page).clean_page.text))
"""


@pytest.mark.parametrize("said", ["read before the nodes", "read when the nodes were known"])
def test_a_caller_who_takes_elements_out_of_the_tree_gets_the_text_of_the_nodes_that_were_read(said: str) -> None:
    program = CALLER.replace("SAID", repr(said))
    found = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={"DENOISE_CORE": mode})
        for mode in ("require", "off")
    ]
    assert [(one.returncode, one.stderr) for one in found] == [(0, "")] * 2
    assert found[0].stdout == found[1].stdout


def test_a_tree_that_nobody_else_reads_is_not_held() -> None:
    page = Page.parse("https://a.example/1", "<p>One<p>Two")
    assert page.skipped is None
    assert page.title == ""
    assert not page._is_shared
    assert page.root is page.tree
    assert page._is_shared
