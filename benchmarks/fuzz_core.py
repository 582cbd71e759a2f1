"""Mutated pages through both roads, the compiled core and Python: each must come out alike, to the last bit.

The inputs are those of ``benchmarks.fuzz``; twenty are the pages of one site. ``make fuzz-core`` runs it with a
core that was built with sanitizers, which end the run where memory is misused. Every fifth page is also given as a
spider gives it: with a tree of its own, from which it takes elements while we have their nodes.
"""

from __future__ import annotations

import os
import sys
from random import Random
from typing import TYPE_CHECKING, Any

from benchmarks.bench import options, say
from denoise_crawler import core
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.methods.site_knowledge import InMemoryKnowledge
from denoise_crawler.page import Page
from denoise_crawler.page.parsing import parse
from tests.fuzz.inputs import numbered

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

GROUP = 20
SHARED = 5
URL = "https://fuzz.example/{}"


def cleaned(sources: Sequence[str | bytes], mode: str) -> list[Any]:
    """Learn and clean the pages of a site by one road; return all that comes of them."""
    core.choose(mode)
    knowledge = InMemoryKnowledge()
    denoiser = Denoiser("fusion", knowledge=knowledge)
    pages = [Page.parse(URL.format(number), source) for number, source in enumerate(sources)]
    for page in pages:
        denoiser.learn(page)
    found: list[Any] = []
    for page in pages:
        judgement = denoiser.judge(page)
        result = denoiser.write(page, judgement)
        verdict = judgement.noise, judgement.scores, judgement.confidence, judgement.page_type, judgement.guarded
        found.append((*verdict, result.clean_page, result.visible, result.kept, page.skipped))
    denoiser.save()
    return [*found, dict(knowledge)]


def clean_shared(source: str | bytes, random: Random) -> None:
    """Clean a page whose tree is changed by somebody else when its nodes are known."""
    core.choose("require")
    if (root := parse(source)) is None:
        return
    page = Page(URL.format("shared"), root, source=source)
    if page.skipped:
        return
    elements = [one for one in root.iter() if one.getparent() is not None]
    for element in random.sample(elements, len(elements) // 3):
        parent = element.getparent()
        if parent is not None:
            element.clear() if random.random() < 0.5 else parent.remove(element)
    del elements, root
    denoiser = Denoiser("fusion")
    denoiser.learn(page)
    denoiser.clean(page)


def differing(numbers: Sequence[int], seed: int) -> list[int]:
    """Return which inputs of a site come out otherwise by the core than in Python."""
    sources = [numbered(seed, number) for number in numbers]
    compiled, in_python = (cleaned(sources, mode) for mode in ("require", "off"))
    for number in numbers:
        if number % SHARED == 0:
            clean_shared(sources[number - numbers[0]], Random(f"{seed}:{number}"))
    pairs = zip([*numbers, -1], compiled, in_python, strict=True)
    return [number for number, one, other in pairs if one != other]


def _arguments(argv: list[str] | None) -> Namespace:
    parser = options(__doc__)
    parser.add_argument("--inputs", type=int, default=100_000, metavar="N", help="send N inputs (100000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="what the inputs are drawn by (1)")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="begin with input N (0)")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Say how many inputs came out alike; leave with code 1 if any did not."""
    arguments = _arguments(argv)
    before, failed = os.environ.get(core.ENVIRONMENT), list[str]()
    end = arguments.first + arguments.inputs
    try:
        for start in range(arguments.first, end, GROUP):
            numbers = range(start, min(start + GROUP, end))
            failed += [
                f"what is known of the site of input {start}" if number < 0 else f"input {number}"
                for number in differing(numbers, arguments.seed)
            ]
            if (numbers[-1] + 1) % 1_000 < GROUP:
                say(f"{numbers[-1] + 1 - arguments.first:,} inputs, {len(failed)} differ")
    finally:
        if before is not None:
            os.environ[core.ENVIRONMENT] = before
    print(f"{arguments.inputs:,} inputs of seed {arguments.seed} through both roads, {len(failed)} differ")
    for one in failed[:20]:
        print(f"  {one}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
