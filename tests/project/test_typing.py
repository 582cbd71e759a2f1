import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.programs import run_program, run_python

pytest.importorskip("mypy", reason="mypy is not installed")

PROGRAM = """
from collections.abc import Iterator

from denoise_crawler import Addon, CleanPage, Denoiser, Page, Politeness, SiteStyleTree, denoise_pages


def texts(pages: list[tuple[str, str]]) -> Iterator[str]:
    for page in denoise_pages(pages, method="fusion"):
        ratio: float | None = page.noise_ratio
        warm: bool | None = page.warm
        print(page.title, page.author, ratio, warm)
        yield page.text


def cleaned(page: Page) -> CleanPage:
    return Denoiser("fusion").clean(page).clean_page


ADDONS: dict[type[Addon] | type[Politeness], int] = {Addon: 300, Politeness: 310}
TREE: SiteStyleTree = SiteStyleTree()
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with an installed copy of the package, not the checkout."""
    folder = tmp_path_factory.mktemp("installed")
    source = folder / "source"
    source.mkdir()
    for name in ("denoise_crawler", "pipelines", "spiders"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    packages = next((folder / "venv").glob("lib/python*/site-packages"))
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    built = run_python("-m", "pip", "install", "--quiet", "--no-deps", "--target", packages, source, code=None)
    if built.returncode:
        pytest.skip(f"pip cannot build the package here: {built.stderr.splitlines()[-1]}")
    return folder / "venv" / "bin" / "python"


def checked(installed: Path, folder: Path, program: str) -> str:
    (folder / "program.py").write_text(program)
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", installed, "program.py"]
    environment = {**os.environ, "MYPY_CACHE_DIR": str(installed.parent / "cache")}
    done = run_program(*command, folder=folder, code=None, **environment)
    return done.stdout + done.stderr


def test_a_typed_program_of_a_user_passes_strict_mypy(installed: Path, tmp_path: Path) -> None:
    assert "Success" in checked(installed, tmp_path, PROGRAM)
