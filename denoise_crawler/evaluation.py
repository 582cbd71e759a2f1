"""Gold sets: pages with the text a perfect extractor would give; scores of a text, and of methods, against it."""

from __future__ import annotations

import gzip
import lzma
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import IO

import msgspec

from denoise_crawler.batch import clean_pages
from denoise_crawler.errors import GoldError
from denoise_crawler.methods import MethodChoice
from denoise_crawler.output.clean_text import clean_text
from denoise_crawler.page import Page
from denoise_crawler.page.parsing import decode_html
from denoise_crawler.page.site import site_of
from denoise_crawler.page.text import hash64

CORPUS_VARIABLE = "DENOISE_CORPUS"
TUNING, REPORTING = 0, 1
HALVES = {"tuning": TUNING, "reporting": REPORTING}
_JSONL = (".jsonl", ".jsonl.gz", ".jsonl.xz")
_HTML = (".html", ".htm")
_BOM = b"\xef\xbb\xbf"
_COMMENTS_BEGIN = "!@#$%^&*()"  # begins the line by which ``dragnet`` parts an article from its comments


class Post(msgspec.Struct, frozen=True):
    """A post of a forum thread, who wrote it and when, as the page says it."""

    text: str = ""
    user: str | None = None
    time: str | None = None


class GoldPage(msgspec.Struct):
    """One page of a gold set.

    ``gold`` is None where nobody wrote one; readers' comments that a set parts from it are left out. ``attrs``
    are values it must keep (:attr:`values`), ``posts`` are those of a forum thread, ``page_type`` is what kind of
    page it is (article, forum, product …), where known. ``gold_markdown`` and ``gold_html`` are the
    gold text with its structure, where a set has it, ``must_not`` are lines that are sure to be noise, and
    ``optional`` is text beside the gold that is right to keep and right to drop.
    """

    id: str
    site: str
    html: str
    url: str | None = None
    lang: str | None = None
    gold: str | None = None
    page_type: str | None = None
    attrs: dict[str, list[str] | str] = {}
    posts: list[Post] = []
    gold_markdown: str | None = None
    gold_html: str | None = None
    must_not: list[str] = []
    optional: str | list[str] = ""  # of some sets a list of paragraphs that are in the gold

    def __post_init__(self) -> None:
        if self.gold is not None:
            self.gold = self.gold.partition(_COMMENTS_BEGIN)[0]

    @property
    def answers(self) -> list[str]:
        """The gold text, and that with what is optional."""
        gold = self.gold or ""
        return [gold, f"{gold}\n{self.optional}"] if self.optional and isinstance(self.optional, str) else [gold]

    @property
    def values(self) -> dict[str, list[str]]:
        """The values of each attribute, also where the set gives a single one as it is."""
        return {name: [value] if isinstance(value, str) else value for name, value in self.attrs.items()}

    @property
    def address(self) -> str:
        """The page's URL, or one made of its site and id."""
        return self.url or f"https://{self.site}/{self.id}"

    @property
    def language(self) -> str | None:
        """The language without its region, as in ``zh``."""
        return self.lang.replace("_", "-").partition("-")[0].strip().lower() or None if self.lang else None


class Broken(msgspec.Struct, frozen=True):
    """An invalid line and why it is invalid; line 0: the rest of the file cannot be read."""

    file: str
    line: int
    why: str


def corpus_folder() -> Path | None:
    """Return the folder in the environment variable ``DENOISE_CORPUS``, None without one."""
    folder = os.environ.get(CORPUS_VARIABLE)
    return Path(folder) if folder else None


def read_gold(folder: Path, name: str) -> Iterator[GoldPage]:
    """Yield the pages of ``name``.jsonl.xz in ``folder``; raise :class:`GoldError` at a broken line."""
    return gold_pages(folder / f"{name}.jsonl.xz")


def gold_sets(
    paths: Iterable[Path], on_broken: Callable[[Broken], None] | None = None
) -> dict[str, Iterator[GoldPage]]:
    """Return the gold sets in files and folders, whose pages are read on demand.

    Args:
        paths: Files, folders of JSON files (each a set) and folders of HTML files (one set).
        on_broken: Called with each invalid line, see :func:`gold_pages`.

    Returns:
        The pages of each set, by the name of its file or folder.

    Raises:
        GoldError: A path holds no set, or two sets have the same name.
    """
    sets: dict[str, Iterator[GoldPage]] = {}
    for path in chain.from_iterable(map(_files_of_sets, paths)):
        name = path.resolve().name
        name = next((name.removesuffix(ending) for ending in _JSONL if name.endswith(ending)), name)
        if name in sets:
            raise GoldError(f"{path}: there is another set named {name}")
        sets[name] = html_pages(path) if path.is_dir() else gold_pages(path, on_broken)
    return sets


def _files_of_sets(path: Path) -> list[Path]:
    if path.is_file():
        if path.name.endswith(_JSONL):
            return [path]
        raise GoldError(f"{path}: a set is a folder or a file that ends in {', '.join(_JSONL)}")
    if not path.is_dir():
        raise GoldError(f"{path}: no such file or folder")
    if files := sorted(file for file in path.iterdir() if file.name.endswith(_JSONL)):
        return files
    if next(_html_files(path), None) is None:
        raise GoldError(f"{path}: no pages, neither {', '.join(_JSONL)} nor {', '.join(_HTML)}")
    return [path]


def gold_pages(path: Path, on_broken: Callable[[Broken], None] | None = None) -> Iterator[GoldPage]:
    """Yield the pages of a file of JSON lines.

    Invalid lines are left out, and ``on_broken`` is called with each; without it they raise GoldError.
    """
    decoder, number = msgspec.json.Decoder(GoldPage), 0

    def broken(line: int, why: Exception) -> None:
        problem = Broken(path.name, line, str(why) or type(why).__name__)
        if on_broken is None:
            raise GoldError(f"{problem.file}, line {problem.line}: {problem.why}") from why
        on_broken(problem)

    with _open(path) as lines:
        try:
            for number, line in enumerate(lines, 1):
                if not (source := line.removeprefix(_BOM).strip()):
                    continue
                try:
                    page = decoder.decode(source)
                except (msgspec.DecodeError, UnicodeDecodeError) as error:
                    broken(number, error)
                else:
                    yield page
        except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
            broken(0, error)


def _open(path: Path) -> IO[bytes]:
    if path.suffix == ".xz":
        return lzma.open(path, "rb")
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def html_pages(folder: Path) -> Iterator[GoldPage]:
    """Yield the HTML files in ``folder`` and below; their folder's name is their site."""
    for file in sorted(_html_files(folder)):
        text = file.with_suffix(".txt")
        gold = text.read_text("utf-8-sig", errors="replace") if text.is_file() else None
        page_id = file.relative_to(folder).as_posix()
        yield GoldPage(page_id, file.resolve().parent.name, decode_html(file.read_bytes()), gold=gold)


def _html_files(folder: Path) -> Iterator[Path]:
    return (file for file in folder.rglob("*") if file.suffix.lower() in _HTML and file.is_file())


def by_site(pages: Iterable[GoldPage], at_least: int = 1) -> dict[str, list[GoldPage]]:
    """Group pages by site; leave out sites with fewer than ``at_least``."""
    sites: dict[str, list[GoldPage]] = {}
    for page in pages:
        sites.setdefault(page.site, []).append(page)
    return {site: pages for site, pages in sites.items() if len(pages) >= at_least}


def addresses(pages: Sequence[GoldPage]) -> list[str]:
    """Return the URLs of one site's pages.

    These are the pages' own if every page has one of the site. Else all are ``https://SITE/ID``, so that the pages
    stay one site and relative links mean the same on each.
    """
    own = all(page.url and site_of(page.url) == page.site for page in pages)
    return [(page.url if own else None) or f"https://{page.site}/{page.id}" for page in pages]


def addressed(pages: Sequence[GoldPage]) -> list[tuple[str, str]]:
    """Return (url, html) of one site's pages, with the URLs of :func:`addresses`."""
    return [(url, page.html) for url, page in zip(addresses(pages), pages, strict=True)]


def half(site: str) -> int:
    """Return the half that a site belongs to for ever: ``TUNING`` or ``REPORTING``."""
    return hash64(site) & 1


# --- scores and grades of a text against its gold text

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+")

# From the report of the frame-and-rules method, whose authors graded by hand; the bounds on F1 are this package's.
GRADES = ("优", "良", "中", "差")
GRADES_IN_ENGLISH = ("excellent", "good", "fair", "poor")
MIN_F1 = (0.95, 0.85, 0.6, 0.0)


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall and F1 of a page, or their means over pages."""

    precision: float
    recall: float
    f1: float


def token_sequence(text: str) -> list[str]:
    """Return the lower-cased tokens of ``text``: characters of Chinese and Japanese, words of other languages."""
    return _TOKEN.findall(text.lower())


def tokens(text: str) -> Counter[str]:
    """Count the tokens of ``text``."""
    return Counter(token_sequence(text))


def characters(text: str) -> Counter[str]:
    """Count the characters of ``text`` without white space."""
    return Counter("".join(text.split()))


def score(extracted: str, gold: str) -> Score:
    """Compare two texts as bags of tokens; two empty texts agree.

    Example:
        >>> score("a story and noise", "a story")
        Score(precision=0.5, recall=1.0, f1=0.6666666666666666)
    """
    return _compare(tokens(extracted), tokens(gold))


def score_by_characters(extracted: str, gold: str) -> Score:
    """Compare two texts as bags of characters, the measure of the node-type-annotation paper (NTA)."""
    return _compare(characters(extracted), characters(gold))


def _compare(got: Counter[str], want: Counter[str]) -> Score:
    if not got and not want:
        return Score(1.0, 1.0, 1.0)
    hits = (got & want).total()
    precision = hits / got.total() if got else 0.0
    recall = hits / want.total() if want else 0.0
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return Score(precision, recall, f1)


def mean(scores: Iterable[Score]) -> Score:
    """Return the mean over pages of equal weight, 0 without pages."""
    rows = [(one.precision, one.recall, one.f1) for one in scores]
    return Score(*map(fmean, zip(*rows, strict=True))) if rows else Score(0.0, 0.0, 0.0)


def grade(f1: float) -> str:
    """Return the grade of a page: the first of ``GRADES`` whose ``MIN_F1`` it reaches."""
    return next(name for name, least in zip(GRADES, MIN_F1, strict=True) if f1 >= least)


def grade_shares(f1s: Sequence[float]) -> tuple[float, ...]:
    """Return the share of pages with each of ``GRADES``; all are 0 without pages."""
    grades = Counter(map(grade, f1s))
    return tuple(grades[name] / len(f1s) if f1s else 0.0 for name in GRADES)


# --- evaluates methods on a gold set: each page is cleaned as in a batch, and its text is scored

VISIBLE_TEXT = "all visible text"


class Evaluation(msgspec.Struct, frozen=True):
    """The means of one method over the pages of a set that have gold text, each page counting the same.

    ``grades`` are the shares of pages with each of ``GRADES``; ``failed`` counts pages that could not be cleaned.
    """

    set: str
    method: str
    pages: int
    words: Score
    characters: Score
    grades: tuple[float, ...]
    failed: int


def select(
    pages: Iterable[GoldPage], *, language: str | None = None, of_half: int | None = None, at_least: int = 1
) -> list[GoldPage]:
    """Return pages by site: of one language, of one half of the sites, of sites with enough such pages.

    Example:
        >>> pages = [GoldPage(str(number), f"{number % 2}.example", "") for number in range(3)]
        >>> [page.id for page in select(pages, at_least=2)]
        ['0', '2']
    """
    chosen = (page for page in pages if language in (None, page.language) and of_half in (None, half(page.site)))
    return [page for site in by_site(chosen, at_least).values() for page in site]


def evaluate(
    name: str, pages: Sequence[GoldPage], method: str | MethodChoice, *, workers: int | None = 1
) -> Evaluation:
    """Return how good the texts of a method are. Each site is learned from all of its pages.

    Args:
        name: The name of the set.
        pages: Its pages, as from :func:`select`. One without gold text is learned, not scored.
        method: The method; ``VISIBLE_TEXT`` stands for the page without its markup.
        workers: The number of processes, as for :func:`~denoise_crawler.batch.clean_pages`.

    Raises:
        MethodError: The method or an option is unknown.
        BatchError: No process can be started.

    Example:
        >>> page = GoldPage("1", "a.example", "<nav><a href=/>Home</a></nav><p>A story.", gold="A story.")
        >>> evaluate("mine", [page], "link_ratio").words
        Score(precision=1.0, recall=1.0, f1=1.0)
    """
    scores, failed = list[tuple[Score, Score]](), 0
    for page, (text, error) in zip(pages, _texts(pages, method, workers), strict=True):
        failed += error is not None
        if page.gold is not None:
            scores.append((score(text, page.gold), score_by_characters(text, page.gold)))
    words, characters = ([both[kind] for both in scores] for kind in (0, 1))
    grades = grade_shares([one.f1 for one in words])
    label = method if isinstance(method, str) else method.name
    return Evaluation(name, label, len(scores), mean(words), mean(characters), grades, failed)


def _texts(
    pages: Sequence[GoldPage], method: str | MethodChoice, workers: int | None
) -> Iterator[tuple[str, str | None]]:
    """Yield the text of each page, and the error of one that could not be cleaned."""
    sources = [source for site in by_site(pages).values() for source in addressed(site)]
    if method == VISIBLE_TEXT:
        yield from ((clean_text(Page.parse(url, html)), None) for url, html in sources)
        return
    for result in clean_pages(lambda: sources, method, workers=workers):
        yield result.page.text, result.page.error
