"""``scrapy denoise`` in a process of its own, as a user runs it."""

from __future__ import annotations

import os
import pty
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from scrapy import cmdline

from tests.conftest import ROOT
from tests.scrapy_process import ScrapyProcess


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "scrapy", "denoise", *map(str, arguments)]


def environment(**more: str) -> dict[str, str]:
    """Return this process's environment with ``more``, and the package where it is."""
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": paths, **more}


def denoise(folder: Path, *arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the command in ``folder`` to its end, which must be with this exit code and no traceback."""
    with TemporaryDirectory() as made:
        out, err = Path(made, "out"), Path(made, "err")
        started = ScrapyProcess(folder, "denoise", *map(str, arguments), out=out, err=err)
        try:
            ended = started.wait(timeout=120)
        finally:
            started.kill()
        said, told = out.read_text("utf-8"), err.read_text("utf-8")
    assert ended == code, told
    assert "Traceback" not in told
    return subprocess.CompletedProcess(arguments, ended, said, told)


def denoise_here(*arguments: object) -> int:
    """Run the command in this process and folder, which is quicker; return its exit code."""
    with pytest.raises(SystemExit) as ended:
        cmdline.execute(["scrapy", "denoise", *map(str, arguments)])
    return int(ended.value.code or 0)


def on_a_terminal(folder: Path, *arguments: object, stream: str, **more: str) -> bytes:
    """Run the command with its ``stream`` (stdout or stderr) on a terminal; return what is shown there."""
    ours, theirs = pty.openpty()
    out, err = (theirs if stream == name else None for name in ("stdout", "stderr"))
    with subprocess.Popen(
        command(*arguments), cwd=folder, env=environment(**more), stdout=out, stderr=err
    ) as process:
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # how the other end of a terminal says that it is closed
            while piece := os.read(ours, 4096):
                shown += piece
    os.close(ours)
    assert process.returncode == 0
    return shown


def interrupted_while_fetching(words: list[str], folder: Path) -> tuple[str, int]:
    """Press Ctrl-C while a command waits for a page; return what it said on stderr, and its exit code."""
    with socket.create_server(("127.0.0.1", 0)) as server:  # it takes the question and never answers
        address = f"http://127.0.0.1:{server.getsockname()[1]}/"
        with subprocess.Popen(
            [*words, address],
            cwd=folder,
            env=environment(),
            stderr=subprocess.PIPE,
            text=True,
            # a job in the background of a shell would ignore Ctrl-C
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ) as process:
            server.settimeout(60)
            connection, _ = server.accept()
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
            connection.close()
    return said, process.returncode


def group_lives(group: int) -> bool:
    """Tell whether a group of processes has any left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
