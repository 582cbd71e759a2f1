"""Hostile pages by the thousand: parsed, learned, judged, written in every way; none may raise, hang or swell.

Of one site in ten a report is written as well.

Half of the inputs are built by a grammar of HTML, half are pages of the bundled site (and of ``DENOISE_CORPUS``,
where that is set) with some bytes changed. Input N of a seed is always the same: ``--first N --inputs 20`` sends
the site it belongs to again (``--first`` is rounded down to a multiple of 20). What fails is written to a folder.
"""

import sys
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from benchmarks.bench import options, say, table, write_figures
from tests.fuzz.fuzz_process import GROUP, Result, run

CHUNK = 1_000


def run_all(arguments: Namespace) -> Result:
    """Run all inputs in chunks, some at a time."""
    first = arguments.first - arguments.first % GROUP
    end = first + arguments.inputs
    chunks = [range(start, min(start + CHUNK, end)) for start in range(first, end, CHUNK)]
    total = Result()
    with ThreadPoolExecutor(arguments.processes) as threads:
        for result in threads.map(partial(run, failures=arguments.failures, seed=arguments.seed), chunks):
            total.add(result)
            say(f"{total.inputs:,} inputs, {len(total.failures)} failures")
    return total


def _arguments(argv: list[str] | None) -> Namespace:
    parser = options(__doc__)
    parser.add_argument("--inputs", type=int, default=200_000, metavar="N", help="send N inputs (200000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="what the inputs are drawn by (1)")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="begin with input N (0)")
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="run N at a time (2)")
    parser.add_argument(
        "--failures", type=Path, default=Path("fuzz-failures"), metavar="DIR", help="write failures here"
    )
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Print what came of the inputs; leave with code 1 if anything failed."""
    arguments = _arguments(argv)
    result = run_all(arguments)
    print(
        f"{result.inputs:,} inputs of seed {arguments.seed}, {result.texts:,} with text, "
        f"{len(result.failures)} failures; peak RSS of a process {result.peak_bytes >> 20} MiB"
    )
    if result.failures:
        rows = [[str(number), error, str(file)] for number, (error, file) in result.failures.items()]
        print(f"\n{table(['input', 'error', 'file'], rows)}")
    write_figures(
        arguments.json, {"seed": arguments.seed, "inputs": result.inputs, "failures": len(result.failures)}
    )
    sys.exit(1 if result.failures else 0)


if __name__ == "__main__":
    main()
