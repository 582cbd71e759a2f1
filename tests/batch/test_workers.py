import multiprocessing
import os
import signal
import time
from collections.abc import Generator, Iterator
from concurrent.futures import Future
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path

import pytest

from denoise_crawler.errors import TaskError, WorkerDiedError, WorkerError
from denoise_crawler.workers import Limits, Task, Worker, Workers, side_by_side

pytestmark = pytest.mark.skipif(os.name != "posix", reason="ends processes by signals")


@pytest.fixture(autouse=True)
def processes_go() -> Iterator[None]:
    yield
    assert multiprocessing.active_children() == []


def pid(_: object) -> int:
    return os.getpid()


def die(_: object, by: int, log: Path | None = None) -> None:
    if log is not None:
        with log.open("a") as file:
            file.write("died\n")
    os.kill(os.getpid(), by)


def leave(_: object, code: int) -> None:
    os._exit(code)


def take(_: object, size: int) -> int:
    return len(bytearray(size))


def work_for_ever(_: object) -> None:
    while True:
        pass


def sleep(_: object, seconds: float) -> None:
    time.sleep(seconds)


class OddError(Exception):
    """Cannot be pickled and read again."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(one + two)


def raise_oddly(_: object) -> None:
    raise OddError(1, 2)


def break_in_sending(_: object) -> bytes:
    """Return what takes long to send, and be killed meanwhile."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    return bytes(400_000_000)


def number_and_length(state: list[str], number: int) -> tuple[int, int]:
    return number, len(state)


def test_a_worker_keeps_its_state_between_tasks_and_does_them_in_their_order() -> None:
    with Worker(list) as worker:
        lengths = [(worker.submit(list.append, "page"), worker.submit(len))[1] for _ in range(3)]
        assert [length.result() for length in lengths] == [1, 2, 3]
        assert worker.call(pid) != os.getpid()


@pytest.mark.parametrize(
    ("task", "how"),
    [
        (partial(die, by=signal.SIGSEGV), "the process was killed by SIGSEGV"),
        (partial(leave, code=3), "the process ended with exit code 3"),
        (partial(leave, code=0), "the process ended with exit code 0"),
        (break_in_sending, "the process was killed by SIGALRM"),
    ],
)
def test_a_process_that_dies_costs_its_task_only_and_is_told_how(task: partial[None], how: str) -> None:
    with Worker(list) as worker:
        lost, next_one = worker.submit(task), worker.submit(len)
        with pytest.raises(WorkerDiedError, match=how):
            lost.result()
        assert next_one.result() == 0


def test_a_task_that_raises_or_takes_too_much_memory_leaves_the_process_alive() -> None:
    with Worker(list, Limits(memory=1 << 30)) as worker:
        before = worker.call(pid)
        with pytest.raises(TaskError, match=r"MemoryError: .*\(test_workers.py, line \d+\)"):
            worker.call(take, 2 << 30)
        with pytest.raises(TaskError, match="OddError: 3"):
            worker.call(raise_oddly)
        assert worker.call(pid) == before


@pytest.mark.parametrize(
    ("task", "limits", "how"),
    [
        (work_for_ever, Limits(seconds=0.2), "took more than 0.2 s of CPU time"),
        (partial(sleep, seconds=600.0), Limits(clock=0.3), "took more than 0.3 s$"),
    ],
)
def test_a_task_that_takes_too_long_is_ended_and_not_tried_again(
    task: partial[None], limits: Limits, how: str
) -> None:
    with Worker(list, limits, tries=2) as worker:
        with pytest.raises(WorkerDiedError, match=how) as error:
            worker.call(task)
        assert error.value.too_long
        assert worker.call(len) == 0


def test_a_task_whose_process_dies_is_tried_again_and_each_process_is_prepared(tmp_path: Path) -> None:
    with Worker(list, tries=2) as worker:
        worker.prepare(list.append, "what all tasks need")
        with pytest.raises(WorkerDiedError, match="SIGKILL"):
            worker.call(die, signal.SIGKILL, tmp_path / "log")
        assert (tmp_path / "log").read_text() == "died\n" * 2
        assert worker.call(len) == 1


def test_a_process_that_is_killed_between_two_tasks_is_told_since_its_state_is_gone() -> None:
    with Worker(list) as worker:
        worker.call(list.append, "page")
        os.kill(worker.call(pid), signal.SIGKILL)
        with pytest.raises(WorkerDiedError):
            worker.call(len)
        assert worker.call(len) == 0


def test_a_state_that_cannot_be_made_is_told_with_each_task() -> None:
    with Worker(partial(int, "no number")) as worker:
        for _ in range(2):
            with pytest.raises(TaskError, match="ValueError: invalid literal"):
                worker.call(pid)


def lets_ctrl_c_through(_: object) -> bool:
    return signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_ctrl_c_ends_no_process_also_the_first_one_that_is_started() -> None:
    resource_tracker._resource_tracker._stop()  # type: ignore[attr-defined]
    with Worker(list) as worker:
        assert not worker.call(lets_ctrl_c_through)


def test_whoever_leaves_waits_for_no_task() -> None:
    with Worker(list) as worker:
        worker.call(len)
        under_way, waiting = worker.submit(sleep, 600.0), worker.submit(len)
    assert (under_way.cancelled() or under_way.exception() is not None, waiting.cancelled()) == (True, True)


def test_tasks_of_many_workers_come_out_in_order_and_a_task_goes_where_it_belongs() -> None:
    taken = 0

    def tasks() -> Iterator[Task]:
        nonlocal taken
        for number in range(40):
            taken += 1
            yield Task(list.append, ("page",), 1) if number % 4 == 3 else Task(number_and_length, (number,), 0)

    with Workers(empty_list, 2) as workers:
        found = workers.run(tasks())
        assert next(found) == (0, 0)
        assert taken <= 8
        assert [one for one in found if one] == [(number, 0) for number in range(1, 40) if number % 4 != 3]
        assert list(workers.run([Task(len, (), 1), Task(len, (), 0)])) == [10, 0]


def empty_list(_: int) -> list[str]:
    return []


def test_a_lost_task_is_told_with_what_it_was_about() -> None:
    with Workers(empty_list, 2) as workers, pytest.raises(WorkerError) as error:
        list(workers.run([Task(pid), Task(die, (signal.SIGKILL,), None, "three pages"), Task(pid)]))
    assert (str(error.value), error.value.about) == ("the process was killed by SIGKILL", "three pages")


def test_jobs_go_on_side_by_side_and_all_end_when_one_raises() -> None:
    ended: list[int] = []

    def job(number: int, tasks: int) -> Generator[Future[int], None, None]:
        with Worker(list) as worker:
            try:
                for _ in range(tasks):
                    yield (done := worker.submit(pid))
                    done.result()
            finally:
                ended.append(number)

    side_by_side([job(1, 2), job(2, 0), job(3, 2)], 2)
    assert sorted(ended) == [1, 2, 3]

    def failing() -> Generator[Future[int], None, None]:
        with Worker(list) as worker:
            yield worker.submit(pid)
            raise LookupError("no more")

    with pytest.raises(LookupError):
        side_by_side([job(4, 1000), failing()], 2)
    assert ended[-1] == 4
