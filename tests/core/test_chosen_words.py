"""Words that are chosen so that their hashes meet cost no more than others: each process has slots of its own."""

from __future__ import annotations

import subprocess
import sys
from itertools import islice, product
from string import ascii_lowercase
from typing import Any

import numpy as np
import pytest
import xxhash

from denoise_crawler import core
from denoise_crawler.methods.fusion.sketch import Numbered, groups_of
from tests.fuzz.hostile import KNOWN_NUMBER, meeting_words

pytestmark = pytest.mark.skipif(core.why_not() is not None, reason=f"no compiled core: {core.why_not()}")
MANY = 40_000
MOST = 10  # taken slots that a search meets; of keys that meet it is thousands
OTHER_SLOTS = """
import numpy as np
from denoise_crawler import core
print(core.loops("keys").slots_of(np.arange(1, 9, dtype=np.uint64), 63))
"""


def module(name: str) -> Any:
    return core._load_modules()[name]


def meeting_keys() -> np.ndarray:
    """Return keys that a known number sends into a few slots of a table of half a million."""
    keys = np.arange(1, MANY * 130, dtype=np.uint64)
    return keys[(keys * np.uint64(KNOWN_NUMBER) >> np.uint64(32)) % np.uint64(2**19) < 4_096][:MANY]


def taken_slots(keys: np.ndarray, bits: int) -> int:
    """Return how many taken slots are met while keys are put into 2**bits."""
    taken, met = set[int](), 0
    for slot in core.loops("keys").slots_of(keys.view(np.uint64), bits):
        while slot in taken:
            slot, met = (slot + 1) % 2**bits, met + 1
        taken.add(slot)
    return met


@pytest.mark.parametrize("mode", ["require", "off"])
def test_hashes_that_are_chosen_to_meet_meet_no_more_than_others_in_what_is_known_of_a_site(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core, "mode", mode)
    table, hashes = Numbered(), meeting_keys()
    assert table.add(hashes.astype(np.uint32)).tolist() == list(range(1, MANY + 1))
    assert taken_slots(hashes, table._bits) < MOST * MANY


@pytest.mark.parametrize("mode", ["require", "off"])
@pytest.mark.parametrize(
    "keys",
    [meeting_keys().astype(np.int64), np.arange(2**13) << 50, (np.arange(2**12) << 40) + (np.arange(2**12) << 52)],
    ids=["chosen", "alike but for the highest bits", "alike but for bits in the middle and above"],
)
def test_keys_that_are_chosen_to_meet_meet_no_more_than_others_in_groups(
    keys: np.ndarray, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core, "mode", mode)
    first, group = groups_of(keys)
    assert first.tolist() == group.tolist() == list(range(len(keys)))
    assert taken_slots(keys, (2 * len(keys)).bit_length()) < MOST * len(keys)


def test_words_of_a_text_that_are_chosen_to_meet_meet_no_more_than_others() -> None:
    def lowest_bits(word: str) -> int:
        return xxhash.xxh3_64_intdigest(word.encode("utf-32-le")) % 2_048

    every = map("".join, product(ascii_lowercase, repeat=5))
    words = list(islice((word for word in every if lowest_bits(word) < 8), 160))
    sets, found = module("texts").WordSets(frozenset(words), False), np.zeros(1)
    sets.overlap([" ".join(words)], np.array([999.0]), 0.0, 1_000.0, str.split, found)
    assert found[0] == 1.0
    assert sets.collisions < MOST * 3 * len(words)


def test_no_two_processes_have_the_same_slots() -> None:
    said = [subprocess.check_output([sys.executable, "-c", OTHER_SLOTS], text=True) for _ in range(2)]
    assert said[0] != said[1]


def test_the_words_of_the_hostile_pages_met_in_one_slot_of_32() -> None:
    for word in meeting_words(200):
        key = xxhash.xxh3_64_intdigest(word.encode()) & 0xFFFFFFFF
        assert (key * KNOWN_NUMBER % 2**64 >> 32) % 2**19 < 2**14
