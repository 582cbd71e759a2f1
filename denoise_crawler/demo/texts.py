"""The texts around the articles in both languages, and choices that are the same in every process."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from importlib import resources
from typing import Any, TypeVar

T = TypeVar("T")


def load_json(name: str) -> Any:
    """Return what a JSON file beside this module holds."""
    return json.loads(resources.files(__package__).joinpath(name).read_text(encoding="utf-8"))


_TEXTS = load_json("texts.json")
SITE: dict[str, str] = _TEXTS["site"]
SECTIONS: dict[str, dict[str, str]] = _TEXTS["sections"]
WORDS: dict[str, dict[str, str]] = _TEXTS["words"]
ADS: dict[str, list[str]] = _TEXTS["ads"]
FOOTER: dict[str, list[Any]] = _TEXTS["footer"]
ABOUT: dict[str, dict[str, str]] = _TEXTS["about"]


def seeded_number(seed: str) -> int:
    """Return a number that depends on the seed alone, not on process or machine."""
    return int.from_bytes(hashlib.blake2b(seed.encode(), digest_size=6).digest(), "big")


def pick(seed: str, options: Sequence[T], count: int) -> list[T]:
    """Return ``count`` different options, chosen and ordered by the seed alone."""
    order = sorted(range(len(options)), key=lambda place: seeded_number(f"{seed}|{place}"))
    return [options[place] for place in order[:count]]


def day(lang: str, time: datetime) -> str:
    """Return a date as the language writes it, whatever the machine's locale."""
    if lang == "zh":
        return f"{time.year}年{time.month}月{time.day}日"
    return f"{time.day} {_TEXTS['months'][time.month - 1]} {time.year}"
