import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from vtree_kernels import _pool, _threads, kernels, mode

ROOT = Path(__file__).resolve().parents[2]
MUCH = 1 << 40  # work enough for any number of threads


@pytest.fixture
def four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_threads, "available", lambda: 4)


@pytest.mark.parametrize("count", [0, 1, 3, 1000])
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_each_task_runs_once(count: int, workers: int) -> None:
    calls: list[int] = []
    with _threads.threads(workers):
        _threads.run(calls.append, count, work=MUCH)
    assert sorted(calls) == list(range(count))


@pytest.mark.usefixtures("four_cores")
def test_after_an_error_no_task_runs() -> None:
    caller, running, done = threading.get_ident(), threading.Event(), threading.Event()

    def task(index: int) -> None:
        if threading.get_ident() == caller:
            assert running.wait(30.0)
            raise ValueError("of the caller's share")
        running.set()
        time.sleep(0.2)
        done.set()

    with pytest.raises(ValueError, match="of the caller's share"):
        _threads.run(task, 1_000_000, work=MUCH)
    assert done.is_set()
    done.clear()
    assert not done.wait(0.5)


@pytest.mark.parametrize("n_rows", [0, 1, _threads.BLOCK, 3 * _threads.BLOCK + 5])
@pytest.mark.usefixtures("four_cores")
def test_blocks_cover_each_row_once(n_rows: int) -> None:
    times = np.zeros(n_rows, dtype=np.int64)

    def block(rows: slice) -> None:
        times[rows] += 1

    _threads.run_blocks(block, n_rows, each=1000)
    assert (times == 1).all()


@pytest.mark.usefixtures("four_cores")
def test_small_work_stays_with_the_caller() -> None:
    names = set()
    _threads.run(lambda _: names.add(threading.current_thread().name), 50, work=10)
    assert names == {threading.current_thread().name}


@pytest.mark.usefixtures("four_cores")
def test_a_limit_holds_inside_only() -> None:
    assert _threads.useful(MUCH) == 4
    with _threads.threads(3):
        assert _threads.useful(MUCH) == 3
        assert _threads.useful(2 * _threads.UPDATES_PER_THREAD) == 2
        with _threads.threads(None):
            assert _threads.useful(MUCH) == 4
        assert _threads.useful(MUCH) == 3
    assert _threads.useful(MUCH) == 4
    assert _threads.useful(0) == 1


@pytest.mark.usefixtures("four_cores")
def test_all_threads_of_the_limit_work_at_once() -> None:
    together = threading.Barrier(4, timeout=60)
    _threads.run(lambda _: together.wait(), 4, work=MUCH)


@pytest.mark.usefixtures("four_cores")
def test_an_error_in_a_task_reaches_the_caller() -> None:
    def task(index: int) -> None:
        if index == 7:
            raise ArithmeticError("task 7")

    with pytest.raises(ArithmeticError, match="task 7"):
        _threads.run(task, 20, work=MUCH)
    test_each_task_runs_once(100, 4)  # and the pool is not the worse for it


@pytest.mark.usefixtures("four_cores")
def test_what_the_caller_has_set_holds_in_its_tasks() -> None:
    together = threading.Barrier(3, timeout=60)
    found = []

    def task(index: int) -> None:
        together.wait()
        found.append((_threads.allowed(), mode()))

    with _threads.threads(3), kernels("reference"):
        _threads.run(task, 3, work=MUCH)
    assert found == [(3, "reference")] * 3


@pytest.mark.usefixtures("four_cores")
def test_tasks_of_tasks_end_though_every_thread_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    have, asked = [_pool.Helper() for _ in range(2)], []

    def helper() -> _pool.Helper | None:
        asked.append(bool(have))
        return have.pop() if have else None

    monkeypatch.setattr(_pool, "helper", helper)
    together = threading.Barrier(3, timeout=60)
    done: list[int] = []

    def task(index: int) -> None:
        together.wait()
        _threads.run(done.append, 4, work=MUCH)

    with _threads.threads(3):
        _threads.run(task, 3, work=MUCH)
    assert sorted(done) == sorted([*range(4)] * 3)
    assert False in asked


@pytest.mark.parametrize("workers", [1, 3, 50])
@pytest.mark.usefixtures("four_cores")
def test_results_come_in_order_from_shares_of_the_threads(workers: int) -> None:
    def task(index: int) -> tuple[int, int]:
        return index, _threads.allowed()

    found = list(_threads.ahead(task, 9, workers=workers))
    assert found == [(index, max(1, 4 // workers)) for index in range(9)]
    assert list(_threads.ahead(task, 0, workers=workers)) == []


def test_tasks_ahead_run_at_once_and_end_with_who_asked_for_them() -> None:
    together = threading.Barrier(3, timeout=60)
    begun: list[int] = []

    def task(index: int) -> int:
        begun.append(index)
        if index < 3:
            together.wait()
        if index == 4:
            raise ArithmeticError("task 4")
        return index

    growth = _threads.ahead(task, 100, workers=3)
    assert next(growth) == 0
    growth.close()
    assert len(begun) <= 6
    with pytest.raises(ArithmeticError, match="task 4"):
        list(_threads.ahead(lambda index: task(index + 3), 100, workers=3))


def test_available_counts_what_the_process_may_use() -> None:
    assert 1 <= _threads.available() <= (os.cpu_count() or 1)


# A pool whose threads run, a fork, and the same work in the child: exit code 0 says that it ended.
FORK = """
import os, sys
import numpy as np
from vtree_kernels import _threads
from vtree_kernels.bincode import bincode
values, edges = np.arange(200_000.0)[:, None], np.arange(255.0)
def encode():
    with _threads.threads(2):
        return bincode(values, [0], edges, [0, 255], np.uint16)
before = encode()
child = os.fork()
if child == 0:
    os._exit(0 if (encode() == before).all() else 3)
assert (encode() == before).all()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.timeout(120)
def test_kernels_survive_a_fork() -> None:
    packages = os.pathsep.join([str(ROOT), str(ROOT / "kernels")])
    # Python 3.12 warns of every fork with threads, which is the case this is about.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORK]
    environment = os.environ | {"PYTHONPATH": packages}
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=100)
    assert run.returncode == 0, run.stderr.decode()
