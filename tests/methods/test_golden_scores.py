"""The scores of every method to the last bit: the same on every Python.

``golden/scores.json`` has the distinct scores of two pages by each method, as hexadecimal floats. It also has
values of the logarithms and the exponential that it was made with. Their last bit is the C library's, so where
they differ the test is skipped. ``python -m tests.methods.test_golden_scores`` writes the file anew.
"""

import json
import math
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from denoise_crawler.methods import METHODS, MethodChoice
from denoise_crawler.page import Page
from examples.demo_site.replies import article_path, articles, respond

FILE = Path(__file__).parent / "golden" / "scores.json"
BASE = "https://golden.example"
LANGUAGES = ("en", "zh")
LEARNED = 8
POINTS = np.linspace(0.1, 9.0, 90)


@cache
def pages(language: str) -> list[Page]:
    paths = [article_path(article) for article in articles() if article.lang == language][:LEARNED]
    return [Page.parse(BASE + path, respond(path, BASE).body, site=language) for path in paths]


def hexadecimal(values: Iterable[float]) -> list[str]:
    return [float(value).hex() for value in values]


def functions_here() -> dict[str, list[str]]:
    """Return what this machine's functions give, which methods call."""
    return {
        "log": hexadecimal(map(math.log, POINTS)),
        "exp": hexadecimal(np.exp(-POINTS)),
        "log1p": hexadecimal(np.log1p(POINTS)),
    }


def scores_here(name: str) -> dict[str, list[str]]:
    """Return by language the distinct scores of the first page, the first eight being known."""
    found = {}
    for language in LANGUAGES:
        method = MethodChoice(name).new()
        for page in pages(language):
            method.observe(page)
        found[language] = hexadecimal(sorted(set(method.judge(pages(language)[0]).scores)))
    return found


@cache
def golden() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return read


@pytest.mark.parametrize("name", sorted(METHODS))
def test_the_scores_are_those_of_the_golden_file_to_the_last_bit(name: str) -> None:
    if golden()["functions"] != functions_here():
        pytest.skip("the logarithms of this machine round in another way than those of the golden file")
    assert scores_here(name) == golden()["scores"][name]


if __name__ == "__main__":
    written = {"functions": functions_here(), "scores": {name: scores_here(name) for name in sorted(METHODS)}}
    FILE.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
