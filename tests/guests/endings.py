"""How a crawl may end, as a table: what each of its runs fetches, what ends it, what may come twice then."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from typing import Any

# Pages of the first, second and third host. Six make a site known: the first two become so in mid-crawl or at its
# end, the third never.
FIRST = (*(f"0/page/a{number}" for number in range(8)),)
SECOND = (*(f"1/page/b{number}" for number in range(7)),)
THIRD = (*(f"2/page/c{number}" for number in range(2)),)
ALL = FIRST + SECOND + THIRD
FEW = FIRST[:4]
SOME_OF_EACH = (*FIRST[:4], *SECOND[:4], *THIRD)  # so that no site becomes known
EARLIER, LATER = (*FIRST, *SECOND[:4], THIRD[0]), (*SECOND[4:], *THIRD[1:])


@dataclass(frozen=True)
class Run:
    """One crawl: the pages it asks for, each as HOST/PATH, its settings, and how its own extension ends it."""

    pages: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    ending: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Ending:
    """A crawl that ends in one way, and the crawl after it.

    Attributes:
        runs: the crawls, one after the other, in the same folder
        complete: the last run alone has the items of all its pages, each once
        repeats: what came out in a run may come out again in the next
        breaks: the first run has no chance to say goodbye
    """

    runs: tuple[Run, ...]
    complete: bool = False
    repeats: bool = False
    breaks: bool = False


def _closed(setting: str, value: float, pages: tuple[str, ...] = ALL) -> Ending:
    """End a crawl by a CLOSESPIDER setting; the next run fetches nothing."""
    return Ending((Run(pages, {f"CLOSESPIDER_{setting}": value}), Run()))


_CTRL_C = {"signal": int(signal.SIGINT)}
_KILL = {"signal": int(signal.SIGKILL)}
_HELD = ("2/hold/h",)  # a page that does not come, so that the crawl lives until it is killed
_JOB = {"JOBDIR": "job"}

ENDINGS = {
    "finish": Ending((Run(ALL),), complete=True),
    "fewer pages than the quota": Ending((Run(FEW),), complete=True),
    "Ctrl-C": Ending((Run(ALL, ending={**_CTRL_C, "pages": 8}), Run())),
    "Ctrl-C before any site is known": Ending((Run(SOME_OF_EACH, ending={**_CTRL_C, "pages": 3}), Run())),
    "Ctrl-C twice, and the same again": Ending(
        (Run(ALL, ending={**_CTRL_C, "pages": 8, "twice": True}), Run(ALL)),
        complete=True,
        repeats=True,
        breaks=True,
    ),
    "Ctrl-C twice, and other pages": Ending(
        (Run(EARLIER + _HELD, ending={**_CTRL_C, "quiet": len(EARLIER), "twice": True}), Run(LATER)),
        repeats=True,
        breaks=True,
    ),
    "kill -9, and the same again": Ending(
        (Run(ALL, ending={**_KILL, "pages": 11}), Run(ALL)), complete=True, repeats=True, breaks=True
    ),
    "kill -9, and other pages": Ending(
        (Run(EARLIER + _HELD, ending={**_KILL, "quiet": len(EARLIER)}), Run(LATER)), repeats=True, breaks=True
    ),
    "CLOSESPIDER_PAGECOUNT": _closed("PAGECOUNT", 9),
    "CLOSESPIDER_ITEMCOUNT": _closed("ITEMCOUNT", 40),
    "CLOSESPIDER_TIMEOUT": _closed("TIMEOUT", 1.5, ("2/late/l", *FIRST, *SECOND)),
    "CLOSESPIDER_ERRORCOUNT": _closed("ERRORCOUNT", 1, (*FIRST[:4], "0/raises/r", *FIRST[4:], *SECOND)),
    "JOBDIR, paused by Ctrl-C and resumed": Ending((Run(ALL, _JOB, {**_CTRL_C, "pages": 5}), Run(ALL, _JOB))),
}
EVERY_PAGE = (*ALL, "2/late/l", "0/raises/r")
