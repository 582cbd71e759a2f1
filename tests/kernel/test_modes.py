"""Which road a process takes: what is compiled, or Python."""

import logging
import os
import sys

import pytest
from lxml import etree

from denoise_crawler import kernel
from denoise_crawler.errors import CoreError
from denoise_crawler.kernel import reference
from tests import roads
from tests.programs import run_python


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("active", "reader"):
        monkeypatch.setattr(kernel, name, getattr(kernel, name))
    monkeypatch.setenv(kernel.ENVIRONMENT, os.environ.get(kernel.ENVIRONMENT, "auto"))


def test_what_is_compiled_can_be_switched_off_here_and_in_processes_that_are_started() -> None:
    kernel.use("off")
    assert (kernel.active, kernel.reader) == (reference, None)
    assert os.environ[kernel.ENVIRONMENT] == "off"


@roads.is_built
def test_what_is_compiled_is_used_where_it_is_there() -> None:
    kernel.use("require")
    assert [one.__file__.endswith((".so", ".pyd")) for one in (kernel.active, kernel.reader)] == [True, True]


def test_a_mode_that_there_is_not_is_named() -> None:
    with pytest.raises(CoreError, match="DENOISE_CORE is 'fast': set it to one of auto, off, require"):
        kernel.use("fast")


@pytest.mark.parametrize("missing", ["judge", "tree"])
def test_what_is_not_built_is_said_once_and_is_an_error_where_it_is_required(
    missing: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, f"{kernel.__name__}.{missing}", None)
    with pytest.raises(CoreError, match="it is not built"):
        kernel.use("require")
    with caplog.at_level(logging.INFO):
        kernel.use("auto")
    assert (kernel.active, kernel.reader) == (reference, None)
    assert [record.message[:57] for record in caplog.records] == [
        "Pages are cleaned without the compiled core, more slowly:"
    ]


def test_an_lxml_that_was_never_tried_gets_the_python_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(etree, "LXML_VERSION", (99, 0, 0, 0))
    assert "not tested with lxml" in str(kernel.why_not())
    with pytest.raises(CoreError, match="not tested"):
        kernel.use("require")


@roads.is_built
def test_both_roads_offer_the_same() -> None:
    compiled, in_python = map(roads.functions, roads.ROADS)
    own = {name for name, one in vars(compiled).items() if getattr(one, "__module__", "") == compiled.__name__}
    own = {name for name in own if not name.startswith("__")}
    assert {name for name in own if not hasattr(in_python, name)} == ONLY_COMPILED


# what tests ask for, and classes that only the functions there use
ONLY_COMPILED = {"hash_of_bytes", "slots_of", "Page", "Runs", "Sums", "Counted", "Lines"}


def test_without_anything_compiled_a_page_comes_out() -> None:
    program = (
        "import sys; sys.modules['denoise_crawler.kernel.judge'] = None\n"
        "from denoise_crawler import denoise_pages\n"
        "html = '<h1>A title</h1><p>One, two. <a href=/>Three</a><p>' + 'Four words stand here. ' * 9\n"
        "print([len(page.text) > 99 for page in denoise_pages([('https://a.example/', html)])])"
    )
    assert run_python("-c", program, DENOISE_CORE="auto").stdout == "[True]\n"
