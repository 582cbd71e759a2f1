"""The public-suffix list: below which names people register names of their own.

The list comes with the package ``publicsuffixlist``; only its file is read. It is loaded for the first host that
needs it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path


def private_part(labels: list[str]) -> str:
    """Return the name that somebody has registered: one label below the longest public suffix.

    Private suffixes of the list count, such as ``github.io``.

    Args:
        labels: The labels of a host, in small letters.

    Returns:
        The name; "" for a public suffix, and where the list lacks the top-level domain.

    Example:
        >>> private_part(["www", "bbc", "co", "uk"]), private_part(["co", "uk"])
        ('bbc.co.uk', '')

    """
    rules = _rules()
    for start in range(len(labels)):
        name, above = ".".join(labels[start:]), ".".join(labels[start + 1 :])
        if f"!{name}" in rules:
            return name
        if name in rules or f"*.{above}" in rules:
            return ".".join(labels[start - 1 :]) if start and labels[start - 1] else ""
    return ""


@cache
def _rules() -> frozenset[str]:
    """Return the rules as the list writes them; those beyond ASCII in ASCII as well."""
    from publicsuffixlist import PSLFILE

    lines = map(str.strip, Path(PSLFILE).read_text("utf-8").splitlines())
    rules = {line for line in lines if line and not line.startswith("//")}
    return frozenset(rules | {_in_ascii(rule) for rule in rules if not rule.isascii()})


def _in_ascii(rule: str) -> str:
    return ".".join(label.encode("idna").decode("ascii") for label in rule.split("."))
