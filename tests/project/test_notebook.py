import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.programs import run_python

NOTEBOOK = ROOT / "examples" / "cleaning.ipynb"
# in a process of its own: Jupyter's packages warn of their own plans
RUN = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
where = {"metadata": {"path": sys.argv[3]}}  # a kernel runs in the folder of its notebook
nbclient.NotebookClient(notebook, timeout=100, kernel_name="python3", resources=where).execute()
nbformat.write(notebook, sys.argv[2])
"""


def outputs(path: Path) -> list[list[str]]:
    cells: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["cells"]
    return [
        ["".join(output.get("text") or output.get("data", {}).get("text/plain", "")) for output in cell["outputs"]]
        for cell in cells
        if cell["cell_type"] == "code"
    ]


@pytest.mark.skipif(
    find_spec("nbclient") is None or find_spec("ipykernel") is None,
    reason="nbclient or ipykernel is not installed",
)
def test_the_notebook_runs_and_shows_clean_text_and_reasons(tmp_path: Path) -> None:
    run_python("-c", RUN, str(NOTEBOOK), str(tmp_path / "run.ipynb"), str(NOTEBOOK.parent))
    shown = outputs(tmp_path / "run.ipynb")
    assert len(shown) == len(outputs(NOTEBOOK))
    assert "of the visible characters were noise" in shown[1][0]
    assert "Skip to main content" not in shown[1][0]
    assert "dropped Skip to main content" in shown[3][0]
    assert "# Ferry treaty ends" in shown[4][0]
