"""What the README shows of the demo is what the demo prints. ``DENOISE_WRITE_DOCS=1`` writes it anew."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
SHOWN = re.compile(r"(?<=```\n\$ make demo\n).*?(?=```)", re.DOTALL)
PORT = 39129  # any: the demo takes one that is free


def printed(folder: Path) -> str:
    """Return what the demo prints, but its port and its folder, which differ from run to run."""
    ran = subprocess.run(
        [sys.executable, "-m", "denoise_crawler.demo", "--output", str(folder)],
        env={**os.environ, "COLUMNS": "80"},
        capture_output=True,
        encoding="utf-8",
        timeout=180,
        check=True,
    )
    return re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{PORT}", ran.stdout).replace(
        f"{folder.resolve()}", "demo-output"
    )


def test_the_readme_shows_what_the_demo_prints(tmp_path: Path) -> None:
    now, readme = printed(tmp_path), README.read_text("utf-8")
    if os.environ.get("DENOISE_WRITE_DOCS"):
        README.write_text(SHOWN.sub(lambda _: now, readme, count=1), "utf-8")
    shown = SHOWN.search(readme)
    assert shown is not None
    assert shown[0] == now
