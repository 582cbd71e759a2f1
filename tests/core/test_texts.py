"""What words and beginnings are found in texts: the core against the Python code, over all kinds of letters."""

from __future__ import annotations

import re
import sys
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler import core
from denoise_crawler.methods.fusion.blocks import blocks_of
from denoise_crawler.methods.fusion.declared import begins, title_overlap
from denoise_crawler.methods.fusion.kinds import KINDS, KindWords
from denoise_crawler.page import Page
from tests.strategies import html_pages

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(core.why_not() is not None, reason=f"no compiled core: {core.why_not()}")

# capitals whose small letters are several, of another length or depend on their place; signs that are no letters
LETTERS = "aAbBzZ09_ -.ßẞµÿŸσςΣİıKé\u0301東京都Дж𝐀𐐀½٣²"
TEXTS = st.lists(st.text(LETTERS, max_size=40), max_size=8)


def on_both_roads(say: Callable[[], object]) -> list[object]:
    found = []
    for mode in ("require", "off"):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(core, "mode", mode)
            found.append(say())
    return found


@given(texts=TEXTS, title=st.text(LETTERS, max_size=40))
def test_texts_of_any_letters_resemble_a_title_as_much(texts: list[str], title: str) -> None:
    blocks = blocks_of(Page.parse("", "".join(f"<p>{escape(text)}</p>" for text in (*texts, title))))
    one, other = on_both_roads(lambda: title_overlap(title, blocks).tolist())
    assert one == other


@given(texts=TEXTS, skipped=st.integers(0, 9), description=st.text(LETTERS, max_size=40))
def test_texts_of_any_letters_hold_the_beginning_of_a_description(
    texts: list[str], skipped: int, description: str
) -> None:
    blocks = blocks_of(Page.parse("", "".join(f"<p>{escape(text)}</p>" for text in (*texts, description))))
    said = (description, *[text[skipped:] for text in blocks.texts])
    one, other = on_both_roads(lambda: [begins(one, blocks).tolist() for one in said])
    assert one == other


@given(names=st.text("abAB1-_ éΣ", max_size=20))
def test_the_words_of_any_names_are_those_that_a_pattern_finds(names: str) -> None:
    found = {word.lower() for word in re.findall(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}", names)}
    assert on_both_roads(lambda: core.loops("texts").words_of_names(names)) == [tuple(sorted(found))] * 2


def test_of_all_letters_one_becomes_two_small_ones_and_the_others_are_found_as_python_finds_them() -> None:
    letters = [chr(code) for code in range(32, sys.maxunicode + 1)]
    assert [letter for letter in letters if len(letter.lower()) != 1] == ["\u0130"]
    found = np.empty(1)
    begins_in = core._load_modules()["texts"].begins
    for letter in letters:
        begins_in([f"-{letter}"], letter.lower(), found)
        assert found[0] == 1.0


@given(html=html_pages(), seed=st.integers(0, 9))
def test_the_words_of_any_page_speak_as_much_for_each_kind(html: str, seed: int) -> None:
    words = ("menu", "post", "content", "nav", "a", "item", "main", "text", "footer", "comment", "sidebar", "list")
    odds = {word: [((7 * number + 3 * kind + seed) % 11 - 5) / 3 for kind in range(len(KINDS))]
            for number, word in enumerate(words)}  # fmt: skip
    known = KindWords(odds)
    one, other = on_both_roads(lambda: known.of(Page.parse("https://a.example/post/list?item=1", html)).tobytes())
    assert one == other
