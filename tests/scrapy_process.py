"""``scrapy`` in a process of its own, forked from one that has imported it: so it starts in a tenth of the time.

That a user's own command starts as well is shown where one is typed: in the tests of projects, the demonstration,
scrapyd, signals and terminals.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

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
        "denoise_crawler.crawl.addon",
        "denoise_crawler.commands.denoise",
        "denoise_crawler.crawl.middleware",
        "denoise_crawler.spiders.msn_news",
        "denoise_crawler.spiders.site",
        # what tests/guests crawls with
        "django.db.models",
        "PIL.Image",
        "pydantic",
        "scrapy.pipelines.images",
        "sqlalchemy.orm",
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
