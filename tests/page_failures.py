"""A page on which we fail costs a crawl or a batch that page's text. Of our own tests it costs the test.

Such a failure is one line of the log. The log of the test's own process is watched, and those who run crawls in
other processes look through the log of these. A test that makes us fail is marked ``fails_on_a_page``.
"""

import logging
import re
from collections.abc import Generator

import pytest

MARK = "fails_on_a_page"
_FAILED = re.compile(
    r"^.* cannot be (?:learned|cleaned|rendered)(?: because of a bug in denoise_crawler|: \w+Error: ).*",
    re.MULTILINE,
)
_expected: list[bool] = [False]  # by the test that runs


class PageFailedError(AssertionError):
    """We failed on a page, and the test does not expect it."""


class _Watch(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.log: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.log.append(self.format(record))


def check_log(log: str) -> None:
    """Raise PageFailedError if a log says that we failed on a page, and the test that runs does not expect it."""
    if not _expected[0] and (found := _FAILED.search(log)):
        raise PageFailedError(f"{found[0]}\n{log[found.end() :]:.4000}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test in whose process we failed on a page."""
    watch, logger = _Watch(), logging.getLogger("denoise_crawler")
    _expected[0] = item.get_closest_marker(MARK) is not None
    logger.addHandler(watch)
    try:
        result = yield
    finally:
        logger.removeHandler(watch)
    check_log("\n".join(watch.log))
    return result
