"""How many bytes an object holds, with all that can be reached from it but code, and a process at its peak."""

import gc
import sys
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

import numpy as np

_SHARED = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)


def bytes_held(*roots: object) -> int:
    """Return the sum of ``sys.getsizeof`` over all objects reachable from ``roots``, each counted once.

    A NumPy array counts with its buffer, a view with the whole array it looks into. Classes, functions and modules
    are shared by all and do not count. What an extension keeps to itself is not seen.
    """
    seen, waiting, held = set[int](), list(roots), 0
    while waiting:
        found = waiting.pop()
        if id(found) in seen or isinstance(found, _SHARED):
            continue
        seen.add(id(found))
        held += sys.getsizeof(found)
        waiting += gc.get_referents(found)
        if isinstance(found, np.ndarray) and found.base is not None:
            waiting.append(found.base)
    return held


def peak_bytes() -> int | None:
    """Return the peak memory of this process in bytes; None if the system does not say."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux getrusage includes the peak of the parent process
        found = status.read_text().split()
        return int(found[found.index("VmHWM:") + 1]) * 1024
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
