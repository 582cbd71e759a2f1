"""A site that is redesigned in mid-crawl: pages of one real site, then of another, all under one host.

Each pair is crawled over loopback with the add-on: up to 100 pages of A, then B's, one after the other. Beside it
stands a fresh crawl of B alone. F1 by words is that of the same pages: B's behind its warm-up.
"""

import json
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.bench import folder_with, options, say, table, write_figures
from benchmarks.loopback import crawl_of, gold_by_path, serve_pages
from benchmarks.scale import alone
from denoise_crawler.denoiser import DEFAULT_METHOD
from denoise_crawler.evaluation import mean, score
from denoise_crawler.methods import MethodChoice

SETS = ("daniel", "dragnet", "christianbook")
OF_A_SET = 2_000
PAIRS = (
    ("christianbook.com", "udn.com"),
    ("christianbook.com", "ruvr.ru"),
    ("guardian.co.uk", "nytimes.com"),
    ("nytimes.com", "typepad.com"),
    ("typepad.com", "google.com"),
    ("xinhuanet.com", "ifeng.com"),
    ("ifeng.com", "udn.com"),
    ("google.com", "iatronet.gr"),
    ("ria.ru", "ruvr.ru"),
    ("chinatimes.com", "guardian.co.uk"),
)
MOST = 100


@dataclass
class Row:
    """What became of one pair."""

    before: int
    after: int
    fresh: float
    redesigned: float
    drifts: int


def crawl_texts(urls: Sequence[str], method: str, folder: Path) -> tuple[dict[str, str], int]:
    """Crawl ``urls`` in order; return the text of each, and how many drifts were noticed."""
    feed = folder / "items.jsonl"
    settings = {
        "ADDONS": {"denoise_crawler.Addon": 300},
        "CONCURRENT_REQUESTS": 1,
        "DENOISE_METHOD": method,
        "DENOISE_STORE": str(folder / "denoise.sqlite"),
    }
    process, crawler = crawl_of(urls, feed, settings)
    process.start()
    items = map(json.loads, feed.read_text("utf-8").splitlines())
    drifts = crawler.stats.get_value("denoise/drifts", 0) if crawler.stats else 0
    return {item["url"]: item["text"] for item in items}, drifts


def measure_pair(url: str, gold: dict[str, dict[str, str]], pair: tuple[str, str], method: str) -> Row:
    """Crawl a pair, and its second site alone."""
    before, after = ([url + path for path in list(gold[site])[:MOST]] for site in pair)
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        fresh, _ = alone(crawl_texts, after, method, Path(one))
        redesigned, drifts = alone(crawl_texts, [*before, *after], method, Path(other))

    def f1(texts: dict[str, str], pages: Sequence[str]) -> float:
        return mean(score(texts[page], gold[pair[1]][page.removeprefix(url)]) for page in pages).f1

    behind = after[MethodChoice(method).warmup_pages :]
    return Row(len(before), len(after), f1(fresh, behind), f1(redesigned, behind), drifts)


def _arguments(argv: list[str] | None) -> Namespace:
    parser = options(__doc__)
    parser.add_argument("--method", default=DEFAULT_METHOD, metavar="NAME")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> None:
    """Print the table."""
    arguments = _arguments(argv)
    folder = folder_with(SETS)
    sites = {site for pair in PAIRS for site in pair}
    gold: dict[str, dict[str, str]] = {site: {} for site in sites}
    for path, page in gold_by_path(folder, SETS, OF_A_SET, sites):
        gold[page.site][path] = page.gold or ""
    rows: dict[str, Row] = {}
    with serve_pages(folder, SETS, OF_A_SET, sites) as place:
        for pair in PAIRS:
            name = " → ".join(pair)
            say(name)
            rows[name] = measure_pair(place.url, gold, pair, arguments.method)
    heads = [arguments.method, "pages", "F1, B alone", "F1, B after A", "difference", "drifts"]
    print(table(heads, [[name, *_cells(row)] for name, row in rows.items()]))
    write_figures(arguments.json, {name: asdict(row) for name, row in rows.items()})


def _cells(row: Row) -> list[str]:
    return [
        f"{row.before} + {row.after}",
        f"{row.fresh:.3f}",
        f"{row.redesigned:.3f}",
        f"{row.redesigned - row.fresh:+.3f}",
        str(row.drifts),
    ]


if __name__ == "__main__":
    main()
