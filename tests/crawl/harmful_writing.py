"""A function for DENOISE_LOW_CONFIDENCE that writes the text of pages in a worker process, or does harm there."""

import os
import signal
import sys


def write(url: str, html: str) -> str:
    if "deadly" in url:
        os.kill(os.getpid(), signal.SIGKILL)
    if "endless" in url:
        while True:
            pass
    if "huge" in url:
        bytearray(3 << 30)
    if "leaving" in url:
        sys.exit(7)
    if "pid" in url:
        return str(os.getpid())
    return f"{len(html)} characters"
