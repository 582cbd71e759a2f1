import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from functools import partial
from multiprocessing import resource_tracker
from operator import methodcaller
from pathlib import Path

import pytest

from denoise_crawler.batch.process_pool import Limits, Task, Worker, open_workers, run_in_order
from denoise_crawler.errors import TaskError, WorkerDiedError, WorkerError
from tests.batch import no_process_is_left

pytestmark = pytest.mark.skipif(os.name != "posix", reason="ends processes by signals")


@pytest.fixture(autouse=True)
def processes_go() -> Iterator[None]:
    yield
    assert no_process_is_left()


def pid(_: object) -> int:
    return os.getpid()


def die(_: object, by: int, log: Path | None = None) -> None:
    if log is not None:
        with log.open("a") as file:
            file.write("died\n")
    os.kill(os.getpid(), by)


def leave(_: object, code: int) -> None:
    os._exit(code)


def allocate(_: object, size: int) -> int:
    return len(bytearray(size))


def sleep(_: object, seconds: float) -> None:
    time.sleep(seconds)


class OddError(Exception):
    """Cannot be pickled and read again."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(one + two)


def raise_oddly(_: object) -> None:
    raise OddError(1, 2)


def number_and_length(state: list[str], number: int) -> tuple[int, int]:
    return number, len(state)


def test_a_worker_keeps_its_state_between_tasks_in_another_process() -> None:
    with Worker(list) as worker:
        for length in (1, 2, 3):
            worker.call(list.append, "page")
            assert worker.call(len) == length
        assert worker.call(pid) != os.getpid()


@pytest.mark.parametrize(
    ("task", "how"),
    [
        (partial(die, by=signal.SIGSEGV), "the process was killed by SIGSEGV"),
        (partial(leave, code=3), "the process ended with exit code 3"),
        (partial(leave, code=0), "the process ended with exit code 0"),
    ],
)
def test_a_process_that_dies_costs_its_task_alone_and_the_error_says_how(task: partial[None], how: str) -> None:
    with Worker(list) as worker:
        with pytest.raises(WorkerDiedError, match=how):
            worker.call(task)
        assert worker.call(len) == 0


def test_a_task_that_raises_or_needs_too_much_memory_leaves_the_process_alive() -> None:
    with Worker(list, Limits(memory=1 << 30)) as worker:
        before = worker.call(pid)
        with pytest.raises(TaskError, match=r"MemoryError: .*\(test_process_pool.py, line \d+\)"):
            worker.call(allocate, 2 << 30)
        with pytest.raises(TaskError, match="OddError: 3"):
            worker.call(raise_oddly)
        assert worker.call(pid) == before


def test_a_task_whose_process_dies_is_tried_again_and_each_process_restores_its_state(tmp_path: Path) -> None:
    with Worker(list, tries=2) as worker:
        worker.on_start.append((list.append, ("what all tasks need",)))
        with pytest.raises(WorkerDiedError, match="SIGKILL"):
            worker.call(die, signal.SIGKILL, tmp_path / "log")
        assert (tmp_path / "log").read_text() == "died\n" * 2
        assert worker.call(len) == 1


def test_a_process_that_is_killed_between_two_tasks_is_an_error_since_its_state_is_gone() -> None:
    with Worker(list) as worker:
        worker.call(list.append, "page")
        os.kill(worker.call(pid), signal.SIGKILL)
        with pytest.raises(WorkerDiedError):
            worker.call(len)
        assert worker.call(len) == 0


def test_a_process_that_dies_before_its_state_is_made_is_no_fault_of_a_task() -> None:
    with Worker(partial(leave, None, 7), tries=2) as worker:
        with pytest.raises(WorkerError, match=r"no worker process can be started: .* exit code 7") as error:
            worker.call(pid)
        assert not isinstance(error.value, WorkerDiedError)


def lets_ctrl_c_through(_: object) -> bool:
    return signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_ctrl_c_ends_no_process_also_the_first_one_that_is_started() -> None:
    resource_tracker._resource_tracker._stop()  # type: ignore[attr-defined]
    with Worker(list) as worker:
        assert not worker.call(lets_ctrl_c_through)


def test_closing_a_worker_ends_its_task_and_it_starts_no_other_process() -> None:
    with ThreadPoolExecutor(1) as thread:
        with Worker(list) as worker:
            worker.call(len)
            under_way = thread.submit(worker.call, sleep, 600.0)
            while not under_way.running():
                time.sleep(0.01)
        assert isinstance(under_way.exception(), (WorkerDiedError, CancelledError))
        with pytest.raises(CancelledError):
            worker.call(len)


def test_results_of_many_workers_come_in_order_and_a_task_runs_where_it_belongs() -> None:
    read = 0

    def tasks() -> Iterator[Task]:
        nonlocal read
        for number in range(400):
            read += 1
            if number % 4 == 3:
                yield Task(methodcaller("call", list.append, "page"), 1)
            else:
                yield Task(methodcaller("call", number_and_length, number), 0)

    with open_workers(list, 2) as workers:
        results = run_in_order(tasks(), workers)
        assert next(results) == (0, 0)
        assert read <= 64
        assert [one for one in results if one] == [(number, 0) for number in range(1, 400) if number % 4 != 3]
        lengths = run_in_order([Task(methodcaller("call", len), number) for number in (1, 0)], workers)
        assert list(lengths) == [100, 0]


def test_tasks_that_may_move_leave_a_busy_worker() -> None:
    with open_workers(list, 2) as workers:
        [busy] = run_in_order([Task(methodcaller("call", pid), 0)], workers)
        tasks = [Task(methodcaller("call", sleep, 0.2), 0)]
        tasks += [Task(methodcaller("call", pid), 0, may_move=True) for _ in range(30)]
        assert set(run_in_order(tasks, workers)) > {busy}
