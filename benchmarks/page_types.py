"""How often the type of a page is said right: the share, and which types are taken for which."""

from collections import Counter
from collections.abc import Sequence

from benchmarks.bench import table
from denoise_crawler.kernel.columns import KINDS


def told_of_types(name: str, wanted: Sequence[str], found: Sequence[str | None]) -> str:
    """Say how many of the pages of a set have the type that was ``wanted``, and which types were found instead."""
    right = sum(one == other for one, other in zip(wanted, found, strict=True))
    counts = Counter(zip(wanted, found, strict=True))
    lines = [[kind, *(str(counts[kind, other] or "") for other in KINDS)] for kind in KINDS if kind in wanted]
    head = f"page types of {name}, {len(wanted)} pages: {right / len(wanted):.1%} right"
    return head if len(lines) < 2 else f"{head}\n\n{table(['is, said:', *KINDS], lines)}\n"
