"""Programs in a process of their own, as a user starts them."""

import os
import subprocess
import sys
from pathlib import Path


def run_program(
    *command: object, folder: Path | None = None, given: str | None = None, code: int | None = 0, **changed: str
) -> "subprocess.CompletedProcess[str]":
    """Run a program to its end, which must come in time and with ``code``, unless that is None."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env={**os.environ, **changed},
        input=given,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    assert code is None or done.returncode == code, done.stdout + done.stderr
    return done


def run_python(*arguments: object, **options: object) -> "subprocess.CompletedProcess[str]":
    """Run Python as ``run_program`` runs a program."""
    return run_program(sys.executable, *arguments, **options)  # type: ignore[arg-type]
