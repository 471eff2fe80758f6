"""A pool of Python threads for compiled, GIL-free loops.

Numba's own parallel layers do not survive a fork, clash when called from two threads, and fix
the number of threads per process. Plain threads around `nogil` functions do none of that, and a
task's result never depends on who ran it, so the number of threads cannot change a model.
"""

from __future__ import annotations

import functools
import os
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import TypeVar

from vtree_kernels import _pool

Result = TypeVar("Result")

# Waking a thread costs some 20 microseconds; below this much work the caller alone is faster.
UPDATES_PER_THREAD = 100_000
BLOCK = 16_384  # rows

_limit: ContextVar[int] = ContextVar("vtree_kernels_threads", default=0)


def available() -> int:
    """Count the cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def threads(count: int | None) -> Iterator[None]:
    """Allow at most `count` threads to the kernels called inside (None or 0: all cores)."""
    token = _limit.set(count or 0)
    try:
        yield
    finally:
        _limit.reset(token)


def useful(work: int) -> int:
    """Threads worth using for `work` elementary updates."""
    return max(1, min(allowed(), work // UPDATES_PER_THREAD))


def run(task: Callable[[int], object], count: int, *, work: int) -> None:
    """Call `task(0) … task(count - 1)`, each once, on as many threads as `work` deserves."""
    workers = min(useful(work), count)
    if workers <= 1:
        for index in range(count):
            task(index)
        return
    indices = iter(range(count))  # next() on a range iterator is atomic under the GIL

    def drain() -> None:
        for index in indices:
            task(index)

    def exhaust() -> None:
        for _ in indices:
            pass

    # What the caller has set, `threads` and `kernels` too, holds for its tasks wherever they run.
    elsewhere = [functools.partial(copy_context().run, drain) for _ in range(workers - 1)]
    _pool.together(drain, elsewhere, exhaust)


def run_blocks(task: Callable[[slice], object], n_rows: int, *, each: int, times: int = 1) -> None:
    """Call `task` for slices that cover all rows, whose intermediate results stay in the caches.

    each: the elementary updates of a row; times: as many rows in a slice, for loops in which a row
    takes so little time, and keeps nothing, that calls of Python would show.
    """
    size = BLOCK * times
    if 0 < n_rows <= size:
        task(slice(0, n_rows))
        return

    def block(index: int) -> None:
        task(slice(index * size, min((index + 1) * size, n_rows)))

    run(block, -(-n_rows // size), work=n_rows * each)


def allowed() -> int:
    """Return how many threads kernels may use here."""
    return _limit.get() or available()


def ahead(
    task: Callable[[int], Result], count: int, *, workers: int
) -> Generator[Result, None, None]:
    """Yield task(0) … task(count − 1) in order, worked out by `workers` threads at a time.

    For tasks that are whole computations with kernels in them, of which each has an equal share of
    the threads here. No more than `workers` results are held. Whoever asks for no more of them
    waits for the tasks that are being worked out.
    """
    workers = min(workers, count)
    if workers <= 1:
        yield from map(task, range(count))
        return

    def shared(index: int) -> Result:
        with threads(max(1, allowed() // workers)):
            return task(index)

    # Threads of their own: those of the pool may have to wait for its others.
    with ThreadPoolExecutor(workers, thread_name_prefix="vtree_ahead") as pool:
        begun: deque[Future[Result]] = deque()
        try:
            for index in range(count):
                begun.append(pool.submit(copy_context().run, shared, index))
                if len(begun) == workers:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()
        finally:
            for future in begun:
                future.cancel()
