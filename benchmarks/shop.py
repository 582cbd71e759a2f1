"""Where the site decides: the product pages of one shop, whose values every output should keep.

The site is learned from ``--pages`` pages, which are then cleaned, as in a crawl; with ``--later`` those that
follow them are cleaned instead, which the site has never seen. Of each contender: the share of pages
on which each attribute's value is still in the text (of those whose visible text has it), tokens a page, and the
share of tokens in lines that stand on a fifth of the pages or more.

With ``--known 0 5 100 …`` the same of ``fusion`` alone, knowing so many of the pages before those that are cleaned
(as many as it keeps: 128). Its last column is the share of tokens in lines of more than 60 characters that stand
on two other pages that were read: shares of many pages are small, counts are not.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import islice

from benchmarks.bench import folder_with, options, say, table, write_figures
from benchmarks.contest.contenders import PEERS, PageSource
from denoise_crawler.denoiser import Denoiser
from denoise_crawler.evaluation import GoldPage, read_gold, token_sequence
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import Page

SET = "christianbook"
METHODS = ("fusion", "style_tree", "feature_tree", "link_ratio")
REPEATED = 0.2
LONG = 60


def texts_of_method(name: str, known: Sequence[GoldPage], pages: Sequence[GoldPage]) -> list[str]:
    """Learn the site from ``known`` and return the clean texts of ``pages``."""
    denoiser = Denoiser(name)
    for page in known:
        denoiser.learn(Page.parse(page.address, page.html))
    return [denoiser.clean(Page.parse(page.address, page.html)).clean_page.text for page in pages]


def attributes_kept(texts: Sequence[str], visible: Sequence[str], pages: Sequence[GoldPage]) -> dict[str, float]:
    """Return by attribute the share of pages whose text has its values, of the pages that show them."""
    shown: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    for text, whole, page in zip(texts, visible, pages, strict=True):
        for name, values in page.values.items():
            wanted = [value for value in values if _holds(whole, value)]
            if wanted:
                shown[name] += 1
                kept[name] += all(_holds(text, value) for value in wanted)
    return {name: kept[name] / count for name, count in shown.items()}


def _holds(text: str, value: str) -> bool:
    return f" {' '.join(token_sequence(value))} " in f" {' '.join(token_sequence(text))} "


def repeated_share(texts: Sequence[str]) -> float:
    """Return the share of tokens in lines that stand on ``REPEATED`` of the texts or more."""
    lines = [[line for line in text.splitlines() if line.strip()] for text in texts]
    pages_with: Counter[str] = Counter(line for page in lines for line in set(page))
    tokens: defaultdict[bool, int] = defaultdict(int)
    for page in lines:
        for line in page:
            tokens[pages_with[line] >= REPEATED * len(texts)] += len(token_sequence(line))
    return tokens[True] / max(sum(tokens.values()), 1)


def told_twice(lines: Sequence[str], texts: Sequence[str]) -> float:
    """Return the share of tokens in long lines that stand on three or more of the pages with these ``lines``."""
    pages_with = Counter(lines)
    tokens: defaultdict[bool, int] = defaultdict(int)
    for line in (line for text in texts for line in text.splitlines()):
        tokens[len(line) > LONG and pages_with[line] > 2] += len(token_sequence(line))
    return tokens[True] / max(sum(tokens.values()), 1)


def print_curve(known: Sequence[int], count: int) -> None:
    """Print what comes of the last ``count`` pages, knowing some of those before them."""
    pages = list(islice(read_gold(folder_with([SET]), SET), max(known) + count))
    cleaned = pages[-count:]
    visible = [clean_text(Page.parse(page.address, page.html)) for page in pages]
    lines = [line for text in visible for line in set(text.splitlines())]
    rows = []
    for number in known:
        say(f"{number} known")
        texts = texts_of_method(METHODS[0], pages[max(known) - number : max(known)], cleaned)
        kept = attributes_kept(texts, visible[-count:], cleaned)
        tokens = sum(len(token_sequence(text)) for text in texts) / count
        shares = [*kept.values(), repeated_share(texts), told_twice(lines, texts)]
        cells = [f"{100 * share:.1f}" for share in shares]
        rows.append([str(number), *cells[:-2], f"{tokens:.0f}", *cells[-2:]])
    heads = ["known", *(f"{name} %" for name in kept), "tokens a page", "repeated %", "on two others %"]
    print(f"{count} pages of {SET}, none of them known\n\n{table(heads, rows)}")


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    parser = options(__doc__)
    parser.add_argument("--pages", type=int, default=400, metavar="N", help="pages of the site (400)")
    parser.add_argument("--later", action="store_true", help="clean the N pages after those that were learned")
    parser.add_argument("--known", type=int, nargs="+", metavar="N", help="fusion alone, knowing N other pages")
    arguments = parser.parse_args(argv)
    count = arguments.pages
    if arguments.known:
        print_curve(arguments.known, count)
        return
    pages = list(islice(read_gold(folder_with([SET]), SET), 2 * count if arguments.later else count))
    known, cleaned = pages[:count], pages[-count:]
    visible = [clean_text(Page.parse(page.address, page.html)) for page in cleaned]
    texts = {"all visible text": visible}
    for name in METHODS:
        say(name)
        texts[name] = texts_of_method(name, known, cleaned)
    for peer in PEERS.values():
        say(peer.name)
        try:
            extract = peer.load()
        except ImportError as error:
            say(f"  left out: {error}")
            continue
        sources = [PageSource(page.address, page.html, page.lang) for page in cleaned]
        texts[peer.name] = [text if isinstance(text, str) else "" for text in extract(sources)]
    rows, figures = [], {}
    for name, found in texts.items():
        kept = attributes_kept(found, visible, cleaned)
        tokens = sum(len(token_sequence(text)) for text in found) / len(found)
        repeated = repeated_share(found)
        figures[name] = {"kept": kept, "tokens": tokens, "repeated": repeated}
        rows.append(
            [name, *(f"{100 * share:.1f}" for share in kept.values()), f"{tokens:.0f}", f"{100 * repeated:.1f}"]
        )
    heads = ["", *(f"{name} %" for name in kept), "tokens a page", "repeated %"]
    others = "the pages before them" if arguments.later else "them"
    print(f"{len(cleaned)} pages of {SET}, learned from {others}\n\n{table(heads, rows)}")
    write_figures(arguments.json, figures)


if __name__ == "__main__":
    main()
