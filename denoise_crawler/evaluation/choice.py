"""Command line options that choose contenders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from denoise_crawler.batch.number_options import whole_number
from denoise_crawler.evaluation.contenders import extractor_after, extractor_alone, method, visible_text
from denoise_crawler.evaluation.peers import PEERS
from denoise_crawler.methods import DEFAULT_METHOD, METHODS
from denoise_crawler.output.extractors import EXTRACTORS

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterable, Sequence

    from denoise_crawler.evaluation.contenders import Contender

count = whole_number(1)


def add_choices(parser: ArgumentParser) -> None:
    """Add ``--methods``, ``--peers``, ``--extractors``, ``--after`` and ``--workers``."""
    for option, table in (("--methods", METHODS), ("--peers", PEERS)):
        what = f"which of {', '.join(table)}; all (the default) or none"
        choices = [*table, "all", "none"]
        parser.add_argument(option, nargs="+", choices=choices, default=["all"], metavar="NAME", help=what)
    parser.add_argument(
        "--extractors",
        nargs="+",
        choices=[*EXTRACTORS, "all", "none"],
        default=["none"],
        metavar="NAME",
        help=f"which of {', '.join(EXTRACTORS)} to run alone and after the noise is removed; all or none (none)",
    )
    parser.add_argument(
        "--after",
        nargs="+",
        choices=list(METHODS),
        default=[DEFAULT_METHOD],
        metavar="NAME",
        help=f"the methods that remove the noise for --extractors ({DEFAULT_METHOD})",
    )
    parser.add_argument("--workers", type=count, default=1, metavar="N", help="run N contenders at a time (1)")


def contenders(
    methods: Sequence[str],
    peers: Sequence[str],
    extractors: Sequence[str] = ("none",),
    after_methods: Sequence[str] = (DEFAULT_METHOD,),
) -> list[Contender]:
    """Return the contenders with these names, "all" or "none" of each kind; all visible text comes first.

    Args:
        methods: Methods of this package.
        peers: Other extractors.
        extractors: Extractors that come alone and after each of ``after_methods``.
        after_methods: Methods that remove the noise before the extractors.

    """
    ours = [method(name) for name in select_names(methods, METHODS)]
    theirs = [PEERS[name] for name in select_names(peers, PEERS)]
    pairs = [
        contender
        for name in select_names(extractors, EXTRACTORS)
        for contender in (extractor_alone(name), *(extractor_after(before, name) for before in after_methods))
    ]
    return [visible_text(), *ours, *theirs, *pairs]


def select_names(names: Sequence[str], table: Iterable[str]) -> list[str]:
    """Return the entries of ``table`` in ``names``, in the table's order; "all" names every one.

    Example:
        >>> select_names(["b", "a"], ["a", "b", "c"])
        ['a', 'b']

    """
    return [name for name in table if name in names or "all" in names]
