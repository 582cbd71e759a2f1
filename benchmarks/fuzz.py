"""Hostile pages by the thousand: parsed, learned, judged, written in every way; none may raise, hang or swell.

Of one site in ten a report is written as well.

Half of the inputs are built by a grammar of HTML, half are pages of the bundled site (and of ``DENOISE_CORPUS``,
where that is set) with some bytes changed. Input N of a seed is always the same: ``--first N --inputs 20`` sends
the site it belongs to again (``--first`` is rounded down to a multiple of 20). What fails is kept in a folder.
With ``--kept DIR`` a long run that was stopped goes on where it was. Then come the inputs that are large in one
way, each in a process of its own.
"""

import json
import shutil
import sys
import tempfile
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from benchmarks import hostile
from benchmarks.bench import options, say, table, write_figures
from denoise_crawler.batch.workers import Worker
from tests.fuzz.fuzz_process import GROUP, ROOT, Chunk, Fuzzer, Result, fuzzing, run

CHUNK = 1_000
TRACED = 25  # one chunk in so many: tracing makes Python several times slower
ROOMS = {
    "page": ("page/",),
    "methods": ("methods/base", "methods/guard", "methods/layout_table", "methods/link_ratio"),
    "fusion": ("methods/fusion/",),
    "style_tree": ("methods/style_tree/",),
    "feature_tree": ("methods/feature_tree/",),
    "node_type": ("methods/node_type.py",),
    "output": ("output/",),
    "report": ("report/",),
}


def chunks(seed: int, first: int, inputs: int, failures: Path, traces: Path | None) -> Iterator[Chunk]:
    """Cut the inputs into chunks; the first of every ``TRACED`` is traced."""
    first -= first % GROUP
    for number, start in enumerate(range(first, first + inputs, CHUNK)):
        trace = traces / f"trace.{seed}-{start}" if traces is not None and number % TRACED == 0 else None
        yield Chunk(seed, start, min(start + CHUNK, first + inputs), failures, trace)


def run_all(arguments: Namespace, kept: Path) -> Result:
    """Run all chunks, some at a time, but those whose result lies in ``kept``."""
    total = Result()
    traces = None if arguments.no_coverage else kept
    todo = list(chunks(arguments.seed, arguments.first, arguments.inputs, arguments.failures, traces))
    with ThreadPoolExecutor(arguments.processes) as threads, ExitStack() as opened:
        workers = [opened.enter_context(fuzzing(chunk)) for chunk in todo]
        for result in threads.map(partial(run_or_read, kept), todo, workers):
            total.add(result)
            say(f"{total.inputs:,} inputs, {len(total.failures)} failures")
    return total


def run_or_read(kept: Path, chunk: Chunk, worker: Worker[Fuzzer]) -> Result:
    """Return the result of a chunk: it lies in ``kept``, or is left there."""
    file = kept / f"result.{chunk.seed}-{chunk.first}-{chunk.end}.json"
    if file.is_file():
        return msgspec.json.decode(file.read_bytes(), type=Result, dec_hook=_counter)
    result = run(chunk, worker)
    file.write_bytes(msgspec.json.encode(result))
    return result


def _counter(_: type, value: dict[str, int]) -> Counter[int]:
    return Counter({int(bits): count for bits, count in value.items()})


def branches(traces: Path) -> dict[str, tuple[int, int]]:
    """Return, by room, the branches that were taken and those there are."""
    import coverage

    files = sorted(map(str, traces.glob("trace.*")))
    whole = coverage.Coverage(data_file=str(traces / "whole"), branch=True, config_file=False)
    whole.combine(files, keep=True)
    report = traces / "branches.json"
    sources = [str(path) for path in (ROOT / "denoise_crawler").rglob("*.py")]
    whole.json_report(morfs=sources, outfile=str(report), ignore_errors=True)
    found: dict[str, Any] = json.loads(report.read_text())["files"]
    taken = {room: [0, 0] for room in ROOMS}
    for file, of_file in found.items():
        inner = Path(file).as_posix().partition("denoise_crawler/")[2]
        for room, places in ROOMS.items():
            if inner.startswith(places):
                taken[room][0] += of_file["summary"]["covered_branches"]
                taken[room][1] += of_file["summary"]["num_branches"]
    return {room: (some, every) for room, (some, every) in taken.items()}


def sizes_table(result: Result) -> str:
    """Return how many inputs there are of each size."""
    rows = []
    for bits in sorted(result.sizes):
        bounds = f"{1 << bits - 1:,} to {(1 << bits) - 1:,}" if bits else "0"
        rows.append([bounds, f"{result.sizes[bits]:,}"])
    return table(["characters or bytes", "inputs"], rows)


def failures_table(result: Result) -> str:
    """Return what failed, each with its file."""
    rows = [[str(failure.number), failure.error, failure.file] for failure in result.failures]
    return table(["input", "error", "file"], rows)


def _arguments(argv: list[str] | None) -> Namespace:
    parser = options(__doc__)
    parser.add_argument("--inputs", type=int, default=200_000, metavar="N", help="send N inputs (200000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="what the inputs are drawn by (1)")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="begin with input N (0)")
    parser.add_argument("--processes", type=int, default=2, metavar="N", help="run N at a time (2)")
    parser.add_argument(
        "--failures", type=Path, default=Path("fuzz-failures"), metavar="DIR", help="keep failures here"
    )
    parser.add_argument("--kept", type=Path, metavar="DIR", help="keep results here, and take those that are here")
    parser.add_argument("--no-coverage", action="store_true", help="do not trace the branches taken")
    parser.add_argument("--no-hostile", action="store_true", help="leave out the inputs that are large in one way")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Print the tables; leave with code 1 if anything failed."""
    arguments = _arguments(argv)
    figures: dict[str, Any] = {"seed": arguments.seed}
    kept = arguments.kept or Path(tempfile.mkdtemp())
    kept.mkdir(parents=True, exist_ok=True)
    result = run_all(arguments, kept)
    print(
        f"{result.inputs:,} inputs of seed {arguments.seed}, {result.texts:,} with text, "
        f"{len(result.failures)} failures; peak RSS of a process {result.peak_bytes >> 20} MiB\n"
    )
    print(sizes_table(result))
    if result.failures:
        print(f"\n{failures_table(result)}")
    if traced := len(list(kept.glob("trace.*"))):
        figures["branches"] = branches(kept)
        rows = [
            [room, f"{some:,} of {every:,}", f"{some / every:.0%}"]
            for room, (some, every) in figures["branches"].items()
        ]
        title = f"Branches taken, traced on {min(traced * CHUNK, result.inputs):,} of the inputs"
        print(f"\n{title}\n\n{table(['', 'branches', ''], rows)}")
    if arguments.kept is None:
        shutil.rmtree(kept)
    figures.update(inputs=result.inputs, sizes=dict(sorted(result.sizes.items())), failures=len(result.failures))
    if not arguments.no_hostile:
        costs = hostile.measure_all()
        print(f"\nInputs that are large in one way, each alone in a process\n\n{hostile.tables(costs)}")
        figures["hostile"] = {cost.name: cost.figures() for cost in costs}
    write_figures(arguments.json, figures)
    sys.exit(1 if result.failures else 0)


if __name__ == "__main__":
    main()
