"""Rows of nodes cut into tasks, and tasks put together to what is worth a call.

Neither depends on the number of threads. Both are compiled, for a level asks several times.
"""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def chunks(start, stop, size):  # type: ignore[no-untyped-def]
    """Cut nodes into tasks (n, 4): node, begin, end and the private copy to fill (−1: none).

    start, stop (L,) int64: a node's first row and the one after its last. A node's tasks are of
    about equal size, `size` rows at most; the first one fills no copy.
    """
    count = 0
    for node in range(start.size):
        count += max(1, -((start[node] - stop[node]) // size))
    tasks = np.empty((count, 4), np.int64)
    t, copy = 0, 0
    for node in range(start.size):
        length = stop[node] - start[node]
        pieces = max(1, -(-length // size))
        even = -(-length // pieces)
        for piece in range(pieces):
            begin = start[node] + piece * even
            tasks[t, 0], tasks[t, 1] = node, begin
            tasks[t, 2] = min(begin + even, stop[node])
            tasks[t, 3] = copy if piece > 0 else -1
            copy += piece > 0
            t += 1
    return tasks


@numba.njit(cache=True, nogil=True)
def batches(tasks, size, each):  # type: ignore[no-untyped-def]
    """Group consecutive tasks (n, ≥ 3) to about `size` rows a batch; returns the borders (m + 1,).

    A task's rows are tasks[:, 1] to tasks[:, 2]; each: what it costs besides them, in rows.
    """
    borders = np.zeros(tasks.shape[0] + 1, np.int64)
    total = 0
    for t in range(tasks.shape[0]):
        total += tasks[t, 2] - tasks[t, 1] + each
    before, count = 0, 1
    for t in range(tasks.shape[0]):
        following = (before // size + 1) * size  # a border is at the first task from there on
        before += tasks[t, 2] - tasks[t, 1] + each
        if following <= before and following < total and t + 1 < tasks.shape[0]:
            borders[count] = t + 1
            count += 1
    if tasks.shape[0]:
        borders[count] = tasks.shape[0]
        count += 1
    return borders[:count]
