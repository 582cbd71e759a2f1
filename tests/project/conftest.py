import shutil
from pathlib import Path

import pytest

from tests.example_files import write_examples


@pytest.fixture(scope="package")
def documented_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the documentation speaks of."""
    made = tmp_path_factory.mktemp("docs")
    write_examples(made, 4)
    return made


@pytest.fixture
def folder(documented_files: Path, tmp_path: Path) -> Path:
    """A folder of its own with these files."""
    return shutil.copytree(documented_files, tmp_path / "folder")
