"""Waiting items are pickled: only the crawl whose store it is may read them, and no command does."""

import pickle
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from denoise_crawler.commands.page_command import run as page_command
from denoise_crawler.methods import MethodChoice
from denoise_crawler.page import Page
from denoise_crawler.store import Store
from denoise_crawler.store.store import ParkedPage, ParkedResponse
from tests.example_files import BASE, SITE, write_examples
from tests.programs import run_python
from tests.scrapy_process import denoise
from tests.store.test_store import waiting

COMMANDS = {
    "tree": ("tree", "--store", "evil.sqlite", "-O", "tree.html"),
    "report": ("report", "evil.sqlite", "-o", "report"),
    "report of pages": ("report", "evil.sqlite", "mirror", "-o", "report"),
    "explain": ("explain", "saved.html", "--store", "evil.sqlite", "--site", SITE),
}


class _Evil:
    """Makes a file when it is unpickled."""

    def __init__(self, made: Path) -> None:
        self.made = made

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.made,)


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    write_examples(folder, 4)
    return folder


@pytest.fixture
def folder(examples: Path, tmp_path: Path) -> Path:
    """Return a folder whose ``evil.sqlite`` makes the file ``it-ran`` when anything of it is unpickled."""
    copy = Path(shutil.copytree(examples, tmp_path / "project"))
    evil = pickle.dumps(_Evil(copy / "it-ran"))
    method = MethodChoice("style_tree").new()
    with closing(Store(copy / "evil.sqlite", owner="one")) as store:
        for number in range(4):
            html = f"<div class=menu>Home</div><p>Story {number} of the harbour and its boats."
            page = Page.parse(f"{BASE}/{number}", html, site=SITE)
            method.observe(page)
            store.park(ParkedPage(SITE, page.url, html, b"%d" % number, ParkedResponse(evil)), evil)
        store.save_knowledge(SITE, method.store_key, method.to_bytes(), lambda parts: parts[-1])
    return copy


def test_what_waits_here_would_run_code(folder: Path) -> None:
    with closing(Store(folder / "evil.sqlite", owner="one")) as store:
        assert store.inherit() == 4
        pickle.loads(next(waiting(store)).item)  # noqa: S301 - that it runs is what is tested
    assert (folder / "it-ran").exists()


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_unpickles_what_waits_in_a_store(name: str, folder: Path) -> None:
    denoise(folder, *COMMANDS[name], "-s", "DENOISE_METHOD=style_tree")
    assert not (folder / "it-ran").exists()


def test_the_command_for_single_pages_unpickles_nothing(folder: Path) -> None:
    assert page_command([str(folder / "saved.html"), "--store", str(folder / "evil.sqlite")]) == 0
    assert not (folder / "it-ran").exists()


def test_the_server_of_a_language_model_unpickles_nothing(folder: Path) -> None:
    pytest.importorskip("mcp")
    code = (
        "import asyncio, sys\nfrom pathlib import Path\n"
        "from denoise_crawler.contrib.mcp import RobotFetcher\n"
        "from denoise_crawler.contrib.mcp import Tools\nfrom denoise_crawler.methods import MethodChoice\n"
        "tools = Tools(RobotFetcher('tests'), MethodChoice('style_tree'), Path('evil.sqlite'))\n"
        f"asyncio.run(tools.clean('{BASE}/9', '<p>A story.'))\n"
    )
    run_python("-c", code, folder=folder)
    assert not (folder / "it-ran").exists()
