"""What can go wrong done to real crawls of the bundled site, each fault at many random moments with fixed seeds.

``lost`` counts pages that never came out though they were promised, ``duplicated`` those that came twice where
once was promised, ``crashed`` trials that ended otherwise than they should: see ``docs/guarantees.md``.
"""

import sys
import tempfile
from argparse import Namespace
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import monotonic

from benchmarks.bench import options, say, table, write_figures
from examples.demo_site.server import DemoServer
from tests.faults.scenarios import SCENARIOS

TIMES = dict.fromkeys(("Ctrl-C", "Ctrl-C twice", "disk full (file size limit)"), 10)
TIMES |= {"kill -9": 40, "kill -9, the pipelines": 40}
OFTEN = 5


@dataclass
class Row:
    """The sums of one fault's trials."""

    tried: int = 0
    lost: int = 0
    duplicated: int = 0
    crashed: int = 0
    notes: list[str] = field(default_factory=list)


def trials(name: str, times: int, seed: int) -> Row:
    """Run one fault ``times`` times."""
    row = Row()
    with DemoServer() as server:
        for number in range(times):
            with tempfile.TemporaryDirectory() as folder:
                start = monotonic()
                outcome = SCENARIOS[name](Path(folder) / "crawls", server, Random(f"{name}:{seed}:{number}"))
            row.tried += 1
            row.lost += outcome.lost
            row.duplicated += outcome.duplicated
            row.crashed += outcome.crashed
            row.notes += [f"{name}, trial {number}: {note[-2_000:]}" for note in outcome.notes]
            say(f"{name}: trial {number}, {monotonic() - start:.0f} s")
    return row


def _arguments(argv: list[str] | None) -> Namespace:
    parser = options(__doc__)
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="what the moments are drawn by (1)")
    parser.add_argument(
        "--times",
        type=int,
        metavar="N",
        help="trials of each fault (40 kills, 10 or 5 of others)",
    )
    parser.add_argument("--only", action="append", metavar="NAME", help="this fault only; may be given again")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Print the table; leave with code 1 unless all is zero."""
    arguments = _arguments(argv)
    results = {
        name: trials(name, arguments.times or TIMES.get(name, OFTEN), arguments.seed)
        for name in arguments.only or SCENARIOS
    }
    rows = [
        [name, str(row.tried), str(row.lost), str(row.duplicated), str(row.crashed)]
        for name, row in results.items()
    ]
    print(table(["fault", "tried", "lost", "duplicated", "crashed"], rows))
    for row in results.values():
        for note in row.notes:
            say(note)
    figures = {name: [row.tried, row.lost, row.duplicated, row.crashed] for name, row in results.items()}
    write_figures(arguments.json, {"seed": arguments.seed, "tried, lost, duplicated, crashed": figures})
    sys.exit(any(row.lost or row.duplicated or row.crashed for row in results.values()))


if __name__ == "__main__":
    main()
