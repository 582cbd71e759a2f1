"""``scrapy`` in a process of its own, forked from one that has imported it: so it starts in a tenth of the time.

That a user's own command starts as well is shown where one is typed: in the tests of projects, the demonstration,
scrapyd, signals and terminals.
"""

import math
import multiprocessing
import os
import pty
import runpy
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from scrapy import cmdline

_STARTER = multiprocessing.get_context("forkserver")
# nothing of these may install a reactor
_STARTER.set_forkserver_preload(
    [
        "scrapy.cmdline",
        "scrapy.commands.crawl",
        "scrapy.core.downloader.handlers.http11",
        "scrapy.core.engine",
        "scrapy.extensions.feedexport",
        "scrapy.extensions.telnet",
        "scrapy_poet.commands",  # Scrapy imports it for each command, where it is installed
        *("denoise_crawler.crawl.middleware", "denoise_crawler.commands.denoise"),
        *("denoise_crawler.spiders.msn_news", "denoise_crawler.spiders.site"),
        # what tests/guests crawls with
        *("django.db.models", "PIL.Image", "pydantic", "scrapy.pipelines.images", "sqlalchemy.orm"),
    ]
)
_UNKNOWN = 255  # what multiprocessing says of a process, ended or not, if the one that forked it is gone


class ScrapyProcess:
    """A ``scrapy`` command that runs in ``folder``; the methods are those of :class:`subprocess.Popen`.

    What it writes goes to the files ``out`` and, unless that is the same, ``err``. A ``passing`` one ends with the
    tests at the latest, and may start no processes. With ``script``, a file in ``folder``, that runs instead.
    """

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        out: Path,
        err: Path | None = None,
        passing: bool = False,
        script: str | None = None,
    ) -> None:
        given = arguments, str(folder), str(out), str(err or out), dict(os.environ), script
        self._process = _STARTER.Process(target=_run, args=given, daemon=passing)
        self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        code = self._process.exitcode
        return None if code == _UNKNOWN and _is_alive(self.pid) else code

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        end = time.monotonic() + (math.inf if timeout is None else timeout)
        self._process.join(timeout)
        while (code := self.returncode) is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired("scrapy", timeout or 0)
            time.sleep(0.05)
        return code

    def send_signal(self, sent: int) -> None:
        if self.returncode is None:
            os.kill(self.pid, sent)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _is_alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def _run(
    arguments: tuple[str, ...], folder: str, out: str, err: str, environment: dict[str, str], script: str | None
) -> None:
    for path, stream in ((out, 1), (err, 2)):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(file, stream)
        os.close(file)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path.insert(0, folder)  # as ``python -m`` does
    sys.argv = [script or "scrapy", *arguments]
    if script is None:
        cmdline.execute()
    else:
        runpy.run_path(script, run_name="__main__")


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "scrapy", "denoise", *map(str, arguments)]


def environment(**more: str) -> dict[str, str]:
    """Return this process's environment with ``more``, and the package where it is."""
    paths = os.pathsep.join([str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")])
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
