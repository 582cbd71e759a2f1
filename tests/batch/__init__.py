import multiprocessing
import time


def no_process_is_left() -> bool:
    """Return True once all child processes have ended: the thread that waits for one notes it a moment later."""
    deadline = time.monotonic() + 10
    while multiprocessing.active_children() and time.monotonic() < deadline:
        time.sleep(0.01)
    return not multiprocessing.active_children()
