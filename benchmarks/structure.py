"""What is left of a page's structure: words, headings, lists, links, code, tables, formulas.

The pages are those of ``defuddle`` (gold Markdown) and ``readability`` (gold HTML). Each is judged cold: nothing
is known of its site. The weights that come with the package learned from these pages; ``--folds`` is a folder of
weights that did not (see ``python -m benchmarks.training``).

``fusion`` writes Markdown itself; html2text and markdownify write the clean HTML of the same judgement, so what
differs is the writing; trafilatura chooses and writes. The scorer is no part of this repository: it is a file that
stands beside the corpus (``--scorer``).

``words``, ``headings`` (``levels``: with their level), ``items`` and ``links`` are F1; ``code`` and ``formulas``
the share of the gold's that is found; ``tables`` the F1 of neighbouring cells with the best table. The first line
of a set counts the pages whose gold has the kind.
"""

import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from benchmarks.bench import NO_CORPUS, folder_with, options, say, table, write_figures
from benchmarks.text import folds_of
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.evaluation import GoldPage, read_gold
from denoise_crawler.methods import MethodChoice
from denoise_crawler.output.safe_markup import clean_html
from denoise_crawler.output.writing import Writing
from denoise_crawler.page import Page

Scores: TypeAlias = Mapping[str, float]
Converter: TypeAlias = Callable[[Page, MethodChoice], str]

SCORER = Path("tools/score_structure.py")  # beside the corpus folder
# the address that the gold links of a set are relative to
ADDRESSES = {"defuddle": "", "readability": "http://fakehost/test/page.html"}
KINDS = ("words", "headings", "levels", "items", "links", "code", "tables", "formulas")
MARKDOWN = Writing(form="markdown")


def address_of(name: str, page: GoldPage) -> str:
    """Return the address that a page of the set ``name`` is read at."""
    return ADDRESSES[name] or page.url or f"https://{page.id}"


def by_fusion(page: Page, choice: MethodChoice) -> str:
    """Return the Markdown that we write."""
    return Denoiser(choice, writing=MARKDOWN).clean(page).clean_page.text


def by_trafilatura(page: Page, _: MethodChoice) -> str:
    """Return the Markdown that trafilatura makes of the whole page, with all structure that it can write."""
    from trafilatura import extract

    kinds = dict.fromkeys(("include_tables", "include_links", "include_formatting"), True)
    return extract(page.markup, url=page.url, output_format="markdown", include_comments=False, **kinds) or ""


def by_html2text(page: Page, choice: MethodChoice) -> str:
    """Return the Markdown that html2text makes of our clean HTML."""
    from html2text import HTML2Text

    writer = HTML2Text(baseurl=page.url, bodywidth=0)
    return str(writer.handle(_clean_html(page, choice)))


def by_markdownify(page: Page, choice: MethodChoice) -> str:
    """Return the Markdown that markdownify makes of our clean HTML."""
    from markdownify import ATX, markdownify

    return str(markdownify(_clean_html(page, choice), heading_style=ATX))


def _clean_html(page: Page, choice: MethodChoice) -> str:
    return clean_html(page, Denoiser(choice).judge(page).noise)


CONVERTERS: dict[str, Converter] = {
    "fusion": by_fusion,
    "trafilatura": by_trafilatura,
    "fusion, html2text": by_html2text,
    "fusion, markdownify": by_markdownify,
}


def score_set(
    folder: Path, name: str, converters: Mapping[str, Converter], scorer: ModuleType, folds: Mapping[str, Path]
) -> dict[str, dict[str, Scores]]:
    """Return the scores of each converter, by the id of the page."""
    found: dict[str, dict[str, Scores]] = {converter: {} for converter in converters}
    for gold in read_gold(folder, name):
        choice = MethodChoice(options={"weights": folds[gold.site]} if gold.site in folds else {})
        for converter, convert in converters.items():
            page = Page.parse(address_of(name, gold), gold.html)
            markdown = _converted(converter, partial(convert, page, choice), page.url)
            wanted, is_html = (gold.gold_markdown, False) if gold.gold_markdown else (gold.gold_html, True)
            found[converter][gold.id] = scorer.score_page(markdown, wanted, html=is_html)
    return found


def _converted(name: str, convert: Callable[[], str], url: str) -> str:
    try:
        return convert()
    except Exception as error:  # a page that a converter fails on is a page without text
        say(f"{name} failed on {url}: {error!r:.200}")
        return ""


def lines_of(name: str, found: Mapping[str, Mapping[str, Scores]], scorer: ModuleType) -> list[list[str]]:
    """Return the lines of a set: how many pages have a kind, and the mean score of each converter."""
    means = {converter: scorer.summary(list(rows.values())) for converter, rows in found.items()}
    pages: dict[str, Any] = next(iter(means.values()))
    lines = [[f"{name}: pages", *(str(pages.get(f"{kind}_pages", 0)) for kind in KINDS)]]
    for converter, mean in means.items():
        lines.append([f"– {converter}", *(f"{mean[kind]:.3f}" if kind in mean else "" for kind in KINDS)])
    return lines


def scorer_beside(folder: Path, given: Path | None) -> ModuleType:
    """Load the scorer, ``given`` or beside the corpus; without one, say so and leave with code 2."""
    file = given or folder.resolve().parent / SCORER
    spec = spec_from_file_location("structure_scorer", file) if file.is_file() else None
    if spec is None or spec.loader is None:
        say(f"There is no scorer at {file} (--scorer); nothing was measured.")
        sys.exit(NO_CORPUS)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _arguments(argv: list[str] | None) -> Namespace:
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="+", metavar="SET", choices=list(ADDRESSES), default=list(ADDRESSES))
    parser.add_argument(
        "--converters", nargs="+", metavar="NAME", choices=list(CONVERTERS), default=list(CONVERTERS)
    )
    parser.add_argument("--scorer", type=Path, metavar="FILE", help="a file with score_page() and summary()")
    parser.add_argument("--folds", type=Path, metavar="FOLDER", help="the weights of folds")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    arguments = _arguments(argv)
    folder = folder_with(arguments.sets)
    scorer = scorer_beside(folder, arguments.scorer)
    converters = {name: CONVERTERS[name] for name in arguments.converters}
    folds = folds_of(folder, arguments.folds)
    lines, figures = [], {}
    for name in arguments.sets:
        say(name)
        figures[name] = score_set(folder, name, converters, scorer, folds)
        lines += lines_of(name, figures[name], scorer)
    print(table(["", *KINDS], lines))
    write_figures(arguments.json, figures)


if __name__ == "__main__":
    main()
