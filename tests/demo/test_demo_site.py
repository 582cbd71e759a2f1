"""The demo site: its stories, what it plants in them and what is left of it."""

import re
import signal
import subprocess
import sys
from functools import cache
from subprocess import PIPE
from urllib.request import urlopen

import pytest

from denoise_crawler.denoiser import Denoiser
from denoise_crawler.page import Page
from examples.demo_site.articles import load_json
from examples.demo_site.pages import article_page
from examples.demo_site.replies import article_path, articles
from tests.conftest import ROOT


def test_the_module_serves_until_interrupted() -> None:
    command = [sys.executable, "-m", "examples.demo_site.server", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://[0-9.:]+", process.stdout.readline())
        try:
            assert found is not None
            assert urlopen(found[0] + "/").status == 200  # noqa: S310 - on loopback
        finally:
            process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=10) == ("\n", "")
        assert process.returncode == 0


PLANTED_BASE = "https://demo.example"
NOISE = (
    *("follow", "read_more", "newsletter_text", "cookie", "copyright", "noscript", "no_comments", "share"),
    "subscribe",
    *("most_read", "related", "comments"),
)


@cache
def lines_of_texts() -> list[tuple[str, list[str]]]:
    """Return by story its language and the lines of its clean text, all others known."""
    denoiser = Denoiser("fusion")
    pages = [
        (one.lang, Page.parse(PLANTED_BASE + article_path(one), article_page(one, PLANTED_BASE)))
        for one in articles()
    ]
    for _, page in pages:
        denoiser.learn(page)
    return [(lang, denoiser.clean(page).clean_page.text.splitlines()) for lang, page in pages]


@pytest.mark.parametrize("name", NOISE)
def test_no_line_of_this_kind_is_left_where_the_site_is_known(name: str) -> None:
    words = load_json("texts.json")["words"]
    left = [line for lang, lines in lines_of_texts() for line in lines if line.startswith(words[lang][name])]
    assert left == []


def test_every_story_is_kept_whole_but_for_one_line_of_twenty() -> None:
    kept = [set(lines) for _, lines in lines_of_texts()]
    gold = [
        (number, line)
        for number, one in enumerate(articles())
        for block in one.paragraphs
        if block.kind in ("text", "quote", "heading")
        for line in block.lines
    ]
    missing = [line for number, line in gold if not any(line in text for text in kept[number])]
    assert len(missing) * 20 <= len(gold), missing
