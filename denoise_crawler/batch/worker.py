"""The work of one process of a batch: it learns and judges the pages of its sites."""

from __future__ import annotations

import os
import shutil
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from tempfile import gettempdir
from typing import NamedTuple

from filelock import FileLock, Timeout

from denoise_crawler.batch.process_pool import Limits
from denoise_crawler.denoiser import MAX_PARSED_CHARACTERS, Cleaned, Cleaning
from denoise_crawler.output.clean_page import CLEANED, LEARNED, RENDERED, CleanPage, PageFailure, failed_page
from denoise_crawler.output.writing import RENDERINGS
from denoise_crawler.page import Page
from denoise_crawler.page.text import without_lone_surrogates


@dataclass(frozen=True, slots=True)
class Job:
    """The arguments of :func:`denoise_crawler.batch.clean_pages`.

    With one worker all is done in this process, without limits, unless the job is ``isolated``.

    Raises:
        ValueError: An argument is wrong.
    """

    cleaning: Cleaning
    render: str | None
    site: Callable[[str], str]
    workers: int
    limits: Limits = field(default_factory=Limits)
    isolated: bool = False

    def __post_init__(self) -> None:
        if self.render is not None and self.render not in RENDERINGS:
            raise ValueError(f"unknown rendering {self.render!r}; there are {', '.join(RENDERINGS)}")
        if self.workers < 1:
            raise ValueError(f"workers must be at least 1, not {self.workers}")


class Learned(NamedTuple):
    """The result of learning a page: whether its site can count it as readable, and what was raised."""

    is_readable: bool = False
    failure: PageFailure | None = None
    is_kept: bool = False


@dataclass(frozen=True, slots=True)
class BatchResult:
    """One page of a batch: its :class:`CleanPage` and, if asked for, the page as ``rendered``.

    ``visible`` and ``kept`` count characters as in :class:`denoise_crawler.denoiser.Cleaned`, ``html_bytes`` is
    the size of the page (text in UTF-8). ``skipped`` says why the page has no nodes. ``failure`` is what was
    raised while the page was cleaned (then it has no text, and names the error) or rendered (then ``rendered`` is
    None). ``passed_over`` is the file of site rules that would have left next to nothing. A ``dropped`` page
    belongs to a short site, or is unsure, and is not written.
    """

    page: CleanPage
    rendered: str | None = None
    html_bytes: int = 0
    visible: int = 0
    kept: int = 0
    skipped: str | None = None
    failure: PageFailure | None = None
    guarded: bool = False
    passed_over: str = ""
    dropped: bool = False

    @property
    def error(self) -> str | None:
        """The failure in one line, None without one."""
        return None if self.failure is None else self.failure.error


class FolderKnowledge:
    """The knowledge of each site as a file of a folder, written by one process and read by all.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     FolderKnowledge(folder).put("a.example", b"known")
        ...     FolderKnowledge(folder).get("a.example"), FolderKnowledge(folder).get("b.example")
        True
        (b'known', None)
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)

    def get(self, site: str) -> bytes | None:
        """Return what is known of ``site``, or None."""
        try:
            return self._file(site).read_bytes()
        except FileNotFoundError:
            return None

    def put(self, site: str, known: bytes) -> bool:
        """Store what is ``known`` of ``site``. A process that is killed meanwhile leaves what was there before."""
        file = self._file(site)
        unfinished = file.with_suffix(".new")
        unfinished.write_bytes(known)
        os.replace(unfinished, file)  # noqa: PTH105 - one call more would be a moment without a file
        return True

    def _file(self, site: str) -> Path:
        return self._folder / sha256(site.encode("utf-8", "surrogatepass")).hexdigest()


class BatchWorker:
    """Learns and judges pages in one process; what is known of sites lies in ``folder``."""

    def __init__(self, cleaning: Cleaning, render: str | None, folder: Path) -> None:
        self._cleaning, self._render = cleaning, render
        self._denoiser = cleaning.denoiser(FolderKnowledge(folder))
        self._readable: Counter[str] = Counter()
        self._parsed: dict[int, Page] = {}
        self._room = MAX_PARSED_CHARACTERS

    def learn(self, site: str, url: str, html: str | bytes, key: int | None = None) -> Learned:
        """Learn a page. With a ``key``, keep it parsed for :meth:`judge_parsed` if there is room.

        One that teaches nothing is not parsed, unless the site may need it to be warm.
        """
        url = without_lone_surrogates(url)
        try:
            page = Page.parse(url, html, site=site)
            is_wanted = self._denoiser.method_for(site).wants(page)
            if not is_wanted and self._readable[site] >= self._cleaning.warmup_pages:
                return Learned()
            self._denoiser.learn(page)
            is_readable = not page.skipped
        except Exception as error:  # whatever it is, the other pages go on
            return Learned(failure=PageFailure.of(url, LEARNED, error))
        self._readable[site] += is_readable
        if key is None or key in self._parsed or not is_wanted or len(html) > self._room:
            return Learned(is_readable)
        self._parsed[key] = page
        self._room -= len(html)
        return Learned(is_readable, is_kept=True)

    def save(self) -> None:
        """Write to disk what was learned since the last time."""
        self._denoiser.save()

    def judge_parsed(self, key: int, short: str | None) -> BatchResult | None:
        """Judge a page that was kept parsed, as :meth:`judge` does; None if the process that kept it has died."""
        page = self._parsed.pop(key, None)
        if page is None:
            return None
        self._room += len(page.source)
        return self._judge(page, short)

    def judge(self, site: str, url: str, html: str | bytes, short: str | None) -> BatchResult:
        """Judge a page. If that raises, the page has no text and names the error.

        ``short`` is what becomes of it if its site has too few pages (see SHORT_SITES); None if it has enough.
        """
        return self._judge(Page.parse(without_lone_surrogates(url), html, site=site), short)

    def _judge(self, page: Page, short: str | None) -> BatchResult:
        denoiser, size = self._denoiser, size_of(page.source)
        if short == "drop":
            return BatchResult(CleanPage(page.url, page.site, warm=False), html_bytes=size, dropped=True)
        try:
            cleaned = denoiser.clean(page, warm=short is None)
            result = _batch_result(cleaned, size, self._render)
            return replace(result, dropped=denoiser.drops(cleaned.clean_page))
        except Exception as error:  # whatever it is, the other pages go on
            return failed_result(page.site, page.source, PageFailure.of(page.url, CLEANED, error))


def site_by(site: Callable[[str], str], url: str) -> str:
    """Return the site of ``url``; "" if the user's function raises."""
    try:
        return without_lone_surrogates(site(url))
    except Exception:
        return ""


def failed_result(site: str, html: str | bytes, failure: PageFailure) -> BatchResult:
    """Return the result of a page that has no text because of a failure."""
    page = failed_page(failure.url, site, failure.error)
    return BatchResult(page, html_bytes=size_of(html), failure=failure)


def size_of(html: str | bytes) -> int:
    """Return the size of a page in bytes, of a text in UTF-8."""
    return len(html) if isinstance(html, bytes) else len(html.encode("utf-8", "surrogatepass"))


def _batch_result(cleaned: Cleaned, size: int, render: str | None) -> BatchResult:
    rendered = failure = None
    if render is not None:
        try:
            rendered = RENDERINGS[render](cleaned.page, cleaned.judgement, cleaned.clean_page.method)
        except Exception as error:
            failure = PageFailure.of(cleaned.page.url, RENDERED, error)
    return BatchResult(
        page=cleaned.clean_page,
        rendered=rendered,
        html_bytes=size,
        visible=cleaned.visible,
        kept=cleaned.kept,
        skipped=cleaned.page.skipped,
        failure=failure,
        guarded=cleaned.guarded,
        passed_over=cleaned.judgement.passed_over,
    )


# --- the folder of what is known of sites; the next process that makes one removes what a killed one has left

_PREFIX = "denoise-"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a new folder below ``TMPDIR`` and remove it at the end, with those that killed processes have left.

    A lock file beside the folder is held as long as the process lives, also if it cannot tidy up.
    """
    root = Path(gettempdir())
    _remove_abandoned(root)
    folder = root / f"{_PREFIX}{uuid.uuid4().hex}"
    lock = FileLock(folder.with_suffix(".lock"))
    with lock.acquire(timeout=0):  # before the folder is there, or another process might take it for abandoned
        try:
            folder.mkdir(mode=0o700)
            yield folder
        finally:
            _remove(folder)


def _remove_abandoned(root: Path) -> None:
    for file in root.glob(f"{_PREFIX}*.lock"):
        with suppress(OSError, Timeout):
            if _is_own(file):
                with FileLock(file).acquire(timeout=0):
                    _remove(file.with_suffix(""))


def _is_own(file: Path) -> bool:
    """Return True for a file of this user: what others put into a shared folder may lead anywhere."""
    return not file.is_symlink() and file.lstat().st_uid == getattr(os, "getuid", lambda: 0)()


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        folder.with_suffix(".lock").unlink()
