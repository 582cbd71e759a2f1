"""Mutated pages through the compiled core, the first of them in Python too: both come out alike, to the last bit.

The inputs are those of ``benchmarks.fuzz``; twenty are the pages of one site. ``make fuzz-core`` runs it with a
core that was built with sanitizers, which end the run where memory is misused. Every fifth page is also given as a
spider gives it: with a tree of its own, from which it takes elements while we have their nodes. ``--gold`` sends
every page of the gold sets instead, both roads, as it is, site by site.
"""

import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from benchmarks.bench import addressed, options, say
from denoise_crawler import kernel
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.evaluation import by_site, corpus_folder, gold_sets
from denoise_crawler.methods.base import InMemoryKnowledge
from denoise_crawler.page import Page
from denoise_crawler.page.parsing import parse
from tests.fuzz.mutations import numbered

Pages: TypeAlias = Sequence[tuple[str, str | bytes]]

GROUP = 20
SHARED = 5
URL = "https://fuzz.example/{}"


def cleaned(site: str, pages: Pages, mode: str) -> list[Any]:
    """Learn and clean the pages of a site by one road; return all that comes of them."""
    kernel.use(mode)
    denoiser = Denoiser("fusion", knowledge=(knowledge := InMemoryKnowledge()))
    parsed = [Page.parse(url, source, site=site) for url, source in pages]
    for page in parsed:
        denoiser.learn(page)
    found: list[Any] = []
    for page in parsed:
        judgement = denoiser.judge(page)
        result = denoiser.write(page, judgement)
        verdict = judgement.noise, judgement.scores, judgement.confidence, judgement.page_type, judgement.guarded
        found.append((*verdict, result.clean_page, result.visible, result.kept, page.skipped))
    denoiser.save()
    return [*found, dict(knowledge)]


def clean_shared(source: str | bytes, random: Random) -> None:
    """Clean a page whose tree is changed by somebody else when its nodes are known."""
    kernel.use("require")
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


def differing(site: str, pages: Pages) -> list[str]:
    """Return which pages of a site come out otherwise by the core than in Python, and whether the site does."""
    compiled, in_python = (cleaned(site, pages, mode) for mode in ("require", "off"))
    names = [*(url for url, _ in pages), f"what is known of {site}"]
    return [name for name, one, other in zip(names, compiled, in_python, strict=True) if one != other]


def mutated_sites(inputs: int, seed: int) -> Iterator[tuple[str, Pages]]:
    """Yield the mutated pages as sites; clean some of them in a tree that somebody else changes."""
    for start in range(0, inputs, GROUP):
        numbers = range(start, min(start + GROUP, inputs))
        pages = [(URL.format(number), numbered(seed, number)) for number in numbers]
        yield f"fuzz-{start}.example", pages
        for number, (_, source) in zip(numbers, pages, strict=True):
            if number % SHARED == 0:
                clean_shared(source, Random(f"{seed}:{number}"))


def gold_sites(folder: Path) -> Iterator[tuple[str, Pages]]:
    """Yield the pages of the gold sets, site by site, at most ``GROUP`` at a time."""
    for pages in gold_sets([folder]).values():
        for site, found in by_site(pages).items():
            every = addressed(found)
            for start in range(0, len(every), GROUP):
                yield site, every[start : start + GROUP]


def _arguments(argv: list[str] | None) -> Namespace:
    parser = options(__doc__)
    parser.add_argument("--inputs", type=int, default=100_000, metavar="N", help="send N inputs (100000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="what the inputs are drawn by (1)")
    parser.add_argument("--both", type=int, default=2_000, metavar="N", help="read N of them in Python too (2000)")
    parser.add_argument("--gold", action="store_true", help="send the pages of the gold sets in DENOISE_CORPUS")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Say how many pages came out otherwise in Python; leave with code 1 if any did."""
    given = _arguments(argv)
    folder = corpus_folder() if given.gold else None
    if given.gold and folder is None:
        sys.exit("DENOISE_CORPUS is not set")
    before, failed, count, compared = os.environ.get(kernel.ENVIRONMENT), list[str](), 0, 0
    try:
        for site, pages in mutated_sites(given.inputs, given.seed) if folder is None else gold_sites(folder):
            if given.gold or count < given.both:
                failed += differing(site, pages)
                compared += len(pages)
            else:
                cleaned(site, pages, "require")
            count += len(pages)
            if count % 1_000 < len(pages):
                say(f"{count:,} pages, {len(failed)} differ")
    finally:
        if before is not None:
            os.environ[kernel.ENVIRONMENT] = before
    what = "gold pages" if given.gold else f"inputs of seed {given.seed}"
    print(f"{count:,} {what}; {compared:,} of them in Python too, {len(failed)} differ", *failed[:20], sep="\n  ")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
