"""The process that pages are handled in, so that a page which kills it does not kill the Spark task."""

from __future__ import annotations

import contextlib
import resource
import signal
import sys
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from denoise_crawler.batch.processes import told

if TYPE_CHECKING:
    from denoise_crawler.spark.page_process import Limits


def serve(connection: Connection) -> None:
    """Do the calls that come through ``connection`` until its other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # kills, also inside a library that never comes back
    try:
        make, limits = connection.recv()
        _limit_memory(limits)
        handler = make()
        connection.send(None)
        while True:
            name, arguments = connection.recv()
            connection.send(_outcome(handler, limits, name, arguments))
    except (EOFError, OSError):
        return


def _outcome(handler: Any, limits: Limits, name: str, arguments: tuple[Any, ...]) -> tuple[Any, str]:
    signal.setitimer(signal.ITIMER_PROF, limits.seconds)
    try:
        return getattr(handler, name)(*arguments), ""
    except Exception as error:  # whatever it is, the other pages are to go on
        return None, told(error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _limit_memory(limits: Limits) -> None:
    with contextlib.suppress(OSError, ValueError):  # a system that does not count it, or allows less
        resource.setrlimit(resource.RLIMIT_DATA, (limits.memory, resource.getrlimit(resource.RLIMIT_DATA)[1]))


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
