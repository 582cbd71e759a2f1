"""Whether a page counts as changed where only its furniture is new, and where a sentence of its text is.

Pages of gold sets are visited twice. Between the visits, a share of each site's furniture is replaced: texts
outside of the gold text that are links or stand on another page of the site, such as menus, teasers and footers.
Each site is learned from its pages as they are at each visit. Then one text of each gold text is changed as well.

A page is falsely changed where it is not ``unchanged`` after the first, and missed where it is after the second.
From one day to the next little of the furniture is new; the share 1 replaces all of it on all pages at once.
"""

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lxml import etree, html

from benchmarks.bench import folder_with, options, say, table, write_figures
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.evaluation.gold import REPORTING, GoldPage, addresses, by_site, half, read_gold
from denoise_crawler.output.writing import MARK_UNCHANGED, Writing
from denoise_crawler.page import Page
from denoise_crawler.page.text import hash64

SETS = ("daniel", "dragnet")
SHARES = (0.1, 0.5, 1.0)
AT_LEAST = 5
_KEPT = frozenset({"script", "style", "title", "noscript"})


def with_new_texts(gold: GoldPage, shared: Container[str], share: float, *, edited: bool) -> str:
    """Return the page with a share of its furniture replaced and, if ``edited``, one of its gold texts changed.

    Args:
        gold: The page.
        shared: The texts that stand on several pages of the site.
        share: How much of the furniture is replaced.
        edited: Whether the gold text is changed as well.
    """
    root, wanted = _tree(gold), _bare(gold.gold or "")
    texts = list(_texts(root))
    for element, name, bare in texts:
        is_furniture = bare not in wanted and (bare in shared or _is_linked(element, name))
        if is_furniture and hash64(bare) % 1_000 < 1_000 * share:
            setattr(element, name, f"{getattr(element, name)} {hash64(bare) % 997}")
    longest = max((text for text in texts if text[2] in wanted), key=lambda text: len(text[2]), default=None)
    if edited and longest is not None:
        element, name, _ = longest
        setattr(element, name, f"{getattr(element, name)} It was said on Sunday.")
    return str(html.tostring(root, encoding="unicode"))


def shared_texts(pages: Sequence[GoldPage]) -> frozenset[str]:
    """Return the texts that stand on more than one of the pages, as letters and digits."""
    times = Counter(bare for page in pages for bare in {bare for *_, bare in _texts(_tree(page))})
    return frozenset(bare for bare, count in times.items() if count > 1)


def _tree(gold: GoldPage) -> Any:
    parser = html.HTMLParser(encoding="utf-8")
    return html.document_fromstring(gold.html.encode("utf-8", "replace"), parser=parser)


def _texts(root: Any) -> Iterator[tuple[Any, str, str]]:
    for element in root.iter(etree.Element):
        for name in ("text", "tail"):
            bare = _bare(getattr(element, name) or "")
            if bare and not (name == "text" and element.tag in _KEPT):
                yield element, name, bare


def _is_linked(element: Any, name: str) -> bool:
    inside = element if name == "text" else element.getparent()
    return inside is not None and (inside.tag == "a" or next(inside.iterancestors("a"), None) is not None)


def visit(pages: Sequence[GoldPage], sources: Sequence[str], history: Path) -> list[bool | None]:
    """Learn a site from its pages, clean them, and return which are unchanged."""
    denoiser = Denoiser(writing=Writing(changes=MARK_UNCHANGED, history=str(history)))
    parsed = [Page.parse(url, source) for url, source in zip(addresses(pages), sources, strict=True)]
    for page in parsed:
        denoiser.learn(page)
    return [denoiser.clean(page).clean_page.unchanged for page in parsed]


def count_marks(folder: Path, name: str, share: float, most: int) -> Counter[str]:
    """Count pages that are falsely changed, and changed ones that are missed."""
    counts: Counter[str] = Counter()
    for number, pages in enumerate(_sites(folder, name, most)):
        say(f"{name}, share {share:g}: site {number + 1}")
        with TemporaryDirectory() as made:
            shared = shared_texts(pages)
            for edited in (False, True):
                history = Path(made, f"{edited}.pages")
                visit(pages, [page.html for page in pages], history)
                sources = [with_new_texts(page, shared, share, edited=edited) for page in pages]
                marks = visit(pages, sources, history)
                wrong = sum(mark is not (not edited) for mark in marks)
                counts["missed" if edited else "falsely changed"] += wrong
        counts["pages"] += len(pages)
    return counts


def _sites(folder: Path, name: str, most: int) -> Iterator[list[GoldPage]]:
    sites = by_site((page for page in read_gold(folder, name) if page.gold), AT_LEAST)
    return islice((pages for site, pages in sorted(sites.items()) if half(site) == REPORTING), most)


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = options(__doc__)
    parser.add_argument("--sites", type=int, default=8, metavar="N", help="sites of each set (8)")
    parser.add_argument(
        "--shares", type=float, nargs="+", default=SHARES, metavar="SHARE", help="of the furniture"
    )
    arguments = parser.parse_args(argv)
    folder, rows, figures = folder_with(SETS), [], {}
    for name in SETS:
        for share in arguments.shares:
            found = count_marks(folder, name, share, arguments.sites)
            figures[f"{name} {share:g}"] = found
            rows.append(
                [name, f"{share:g}", str(found["pages"]), str(found["falsely changed"]), str(found["missed"])]
            )
    heads = ["set", "share of the furniture that is new", "pages", "falsely changed", "changes missed"]
    print(table(heads, rows))
    write_figures(arguments.json, figures)


if __name__ == "__main__":
    main()
