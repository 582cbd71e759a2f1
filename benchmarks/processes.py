"""The processes that a benchmark started."""

import os
import time
from pathlib import Path


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of all below it."""
    return sum(seconds for _, seconds, _ in processes_below().values()) + time.process_time()


def processes_below() -> dict[int, tuple[int, float, str]]:
    """Return parent, CPU seconds (with those of ended children) and command of all processes below this one."""
    every: dict[int, tuple[int, float, str]] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
            command = (entry / "cmdline").read_text().replace("\0", " ")
        except OSError:
            continue
        every[int(entry.name)] = int(stat[1]), sum(map(int, stat[11:15])) / os.sysconf("SC_CLK_TCK"), command
    below, before = {os.getpid()}, 0
    while len(below) > before:
        before = len(below)
        below |= {pid for pid, (parent, _, _) in every.items() if parent in below}
    return {pid: every[pid] for pid in below - {os.getpid()}}
