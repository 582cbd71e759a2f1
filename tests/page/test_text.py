from __future__ import annotations

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from denoise_crawler.page.text import collapse_spaces, hash64, words


def test_words_are_runs_of_word_characters_in_lower_case() -> None:
    assert words("Don't PANIC — it's 42°!") == ["don", "t", "panic", "it", "s", "42"]


def test_chinese_is_cut_into_words_and_mixed_text_into_both() -> None:
    assert words("来源：新华网 CCTV") == ["来源", "新华网", "cctv"]


def test_kana_count_one_by_one() -> None:
    assert words("テスト") == ["テ", "ス", "ト"]


def test_jieba_is_loaded_only_when_chinese_text_comes() -> None:
    code = (
        "import sys; from denoise_crawler.page.text import words; "
        "words('plain English'); assert 'jieba' not in sys.modules; "
        "words('中文'); assert 'jieba' in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_hashes_are_the_same_in_every_process() -> None:
    code = "from denoise_crawler.page.text import hash64; print(hash64('中文 page'))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert int(printed) == hash64("中文 page")


@given(st.text())
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    assert collapse_spaces(collapse_spaces(text)) == collapse_spaces(text)


@given(st.text(st.characters()))
def test_no_text_raises(text: str) -> None:
    assert all(words(text))
    assert 0 <= hash64(text) < 1 << 64


def test_the_time_for_a_run_of_chinese_grows_with_its_length_and_no_character_is_lost() -> None:
    run = "的" * 100_000  # with the square, this would take minutes
    assert "".join(words(run)) == run
