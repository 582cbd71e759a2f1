"""How many bytes an object holds: it, and everything that can be reached from it but not code."""

import gc
import sys
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
