"""`partition` in Numba: count each chunk, cumulate, then write; two passes, any threads."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels._tasks import batches, chunks

CHUNK = 65_536  # rows of one node per task
LEAST_CHUNK, SHARES = 16_384, 16  # rows of tasks of one call: so many, or a share of all rows


@numba.njit(cache=True, nogil=True)
def _count(counts, child, tasks, first, last):  # type: ignore[no-untyped-def]
    own = np.empty(counts.shape[1], np.int64)  # threads share no cache line that they write often
    for t in range(first, last):
        own[:] = 0
        for position in range(tasks[t, 1], tasks[t, 2]):
            own[child[position]] += 1
        for each in range(own.size):
            counts[t, each] = own[each]


@numba.njit(cache=True, nogil=True)
def _write_two(out, left, right, rows, child, begin, end):  # type: ignore[no-untyped-def]
    """Write the rows of a task of two children; both places stay in registers."""
    left, right = np.uint64(left), np.uint64(right)
    for position in range(np.uint64(begin), np.uint64(end)):
        to = np.uint64(child[position])
        out[right if to else left] = rows[position]
        right += to
        left += np.uint64(1) - to


@numba.njit(cache=True, nogil=True)
def _write(out, cursor, rows, child, tasks, first, last):  # type: ignore[no-untyped-def]
    own = np.empty(cursor.shape[1], np.int64)
    for t in range(first, last):
        if own.size == 2:
            _write_two(out, cursor[t, 0], cursor[t, 1], rows, child, tasks[t, 1], tasks[t, 2])
            continue
        for each in range(own.size):
            own[each] = cursor[t, each]
        for position in range(np.uint64(tasks[t, 1]), np.uint64(tasks[t, 2])):
            to = child[position]
            out[own[to]] = rows[position]
            own[to] += 1


@numba.njit(cache=True, nogil=True)
def _place(cursor, counts, tasks, start):  # type: ignore[no-untyped-def]
    """Write where each task puts its first row of each child: task by task within a child."""
    first = 0
    while first < tasks.shape[0]:
        node, last = tasks[first, 0], first
        while last < tasks.shape[0] and tasks[last, 0] == node:
            last += 1
        at = start[node]
        for child in range(counts.shape[1]):
            for t in range(first, last):
                cursor[t, child] = at
                at += counts[t, child]
        first = last


@numba.njit(cache=True, nogil=True)
def _keep(out, rows, start, stop):  # type: ignore[no-untyped-def]
    """Copy the rows that no segment holds."""
    begin = 0
    for node in range(start.size):
        for position in range(begin, start[node]):
            out[position] = rows[position]
        begin = stop[node]
    for position in range(begin, rows.size):
        out[position] = rows[position]


def partition(
    rows: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    child: NDArray[Any],
    n_children: int,
) -> NDArray[np.int32]:
    """Return the rows; see the package for the contract."""
    tasks = chunks(start, stop, CHUNK)
    borders = together(tasks)
    counts = np.zeros((len(tasks), n_children), dtype=np.int64)

    def count(index: int) -> None:
        _count(counts, child, tasks, borders[index], borders[index + 1])

    _threads.run(count, len(borders) - 1, work=4 * int((stop - start).sum()))
    given = rows, start, stop, tasks, borders, counts
    return written(*given, functools.partial(write_by_child, rows, child, tasks))


def together(tasks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the borders (n + 1,) of tasks that one call works through."""
    share = int((tasks[:, 2] - tasks[:, 1]).sum()) // SHARES
    borders: NDArray[np.int64] = batches(tasks, max(LEAST_CHUNK, min(CHUNK, share)), 0)
    return borders


def write_by_child(
    rows: NDArray[np.int32],
    child: NDArray[Any],
    tasks: NDArray[np.int64],
    out: NDArray[np.int32],
    cursor: NDArray[np.int64],
    first: int,
    last: int,
) -> None:
    """Write the rows of tasks first … last − 1, each of which goes to child (R,)."""
    _write(out, cursor, rows, child, tasks, first, last)


def written(
    rows: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    tasks: NDArray[np.int64],
    borders: NDArray[np.int64],
    counts: NDArray[np.int64],
    write: Callable[[NDArray[np.int32], NDArray[np.int64], int, int], None],
    out: NDArray[np.int32] | None = None,
    *,
    keep: bool = True,
    each: int = 4,
) -> NDArray[np.int32]:
    """Return the rows from the counts (n, C) of each task, (n, 3) node, first, last.

    write(out, cursor, first, last): of some tasks; cursor (n, C): where each child begins in `out`.
    out: the array to write to, new if None; keep: whether to write what no segment holds, too;
    each: what a row takes, in updates.
    """
    cursor = np.empty_like(counts)
    _place(cursor, counts, tasks, start)
    result = np.empty_like(rows) if out is None else out

    def write_some(index: int) -> None:
        if index > 0:
            write(result, cursor, int(borders[index - 1]), int(borders[index]))
        elif keep:
            _keep(result, rows, start, stop)

    _threads.run(write_some, len(borders), work=each * int((stop - start).sum()))
    return result
