"""Files of others in a shared store: damaged, of another kind, or with names that fit."""

import os
import zlib
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import numpy as np


def numbers(values: Any) -> bytes:
    """Return numbers as trees and sketches have them."""
    return np.asarray(values).astype("<u4").tobytes()


def evidence(pages: list[Any]) -> bytes:
    """Return the bytes of a site's evidence."""
    return b"FSE\x05" + zlib.compress(msgspec.msgpack.encode(pages))


def _named_by_its_hash(folder: Path, data: bytes) -> None:
    (folder / f"{sha256(data).hexdigest()}.knowledge").write_bytes(data)


def record(*parts: Any) -> Callable[[Path], None]:
    """Return what writes a file that holds ``parts``, named as it should be."""
    return lambda folder: _named_by_its_hash(folder, msgspec.msgpack.encode(parts))


def _sparse(folder: Path) -> None:
    with (folder / f"{'0' * 64}.knowledge").open("wb") as file:
        file.truncate(1 << 40)


def _unreadable(folder: Path) -> None:
    record("a", "b", b"")(folder)
    for file in folder.glob("*.knowledge"):
        if file.is_file():
            file.chmod(0)


# What may lie in the folder of a site.
FILES: dict[str, Callable[[Path], object]] = {
    "no MessagePack": lambda folder: _named_by_its_hash(folder, b"no record"),
    "nothing": lambda folder: _named_by_its_hash(folder, b""),
    "a record of other types": record(1, 2, 3),
    "a record too short": record("a"),
    "a record of another site": record("b.example", "fusion", b"FSE\x05"),
    "20 million values": lambda folder: _named_by_its_hash(folder, b"\xdd\x01\x31\x2d\x00" + bytes(20_000_000)),
    "1 TB of nothing": _sparse,
    "a pipe": lambda folder: os.mkfifo(folder / f"{'1' * 64}.knowledge"),
    "a folder": lambda folder: (folder / f"{'2' * 64}.knowledge").mkdir(),
    "a device": lambda folder: (folder / f"{'3' * 64}.knowledge").symlink_to("/dev/zero"),
    "a link to nothing": lambda folder: (folder / f"{'4' * 64}.knowledge").symlink_to("nothing"),
    "a file that may not be read": _unreadable,
}
KNOWLEDGE = {
    "no knowledge": b"no knowledge",
    "knowledge of another version": b"FSE\x09",
    "a damaged page": evidence([[1, [b"\0"] * 9]]),
}
